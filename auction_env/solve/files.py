"""Arrays with a plain JSON header in one ``.npz`` file: written whole or not at all, read without running code.

A file somebody else made is measured before anything is done with it: its kind and size, what its members say that they
unpack to, and the size and nesting of its header. Pickles are refused.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from auction_env.core.files import writing
from auction_env.core.limits import LimitError, check_file, naming, parse_json, shorten

MAX_FILE_BYTES = 4 << 30
_HEADER, _MOST_HEADER = "header", 1 << 20


class FileError(ValueError):
    """A file is missing, damaged, too large or of another format; the message names it."""


def save_arrays(path: Path, arrays: Mapping[str, np.ndarray], header: Mapping[str, Any]) -> None:
    """Write arrays and a JSON header to one file: beside it first, then renamed into place. Raises OSError."""
    text = json.dumps(header, allow_nan=False).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path) as beside, open(beside, "wb") as file:
        np.savez(file, **{**arrays, _HEADER: np.frombuffer(text, np.uint8)})  # type: ignore[arg-type]


def load_arrays(path: Path, file_format: str, names: Mapping[str, str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and header of a file that ``save_arrays`` wrote.

    Args:
        path: the file.
        file_format: what the header's ``format`` must be.
        names: of the arrays that must be in it, each with the kind and number of axes that it must have: ``"f4:1"``.

    Raises:
        FileError: the file is missing, too large, damaged or of another format; or a number in it is not finite.
    """
    damaged = (ValueError, KeyError, EOFError, MemoryError, zipfile.BadZipFile, NotImplementedError)
    with naming(FileError, str(path), "is damaged or not a file of ours", damaged):
        size = check_file(path, MAX_FILE_BYTES)
        with zipfile.ZipFile(path) as archive:
            if sum(member.file_size for member in archive.infolist()) > size:
                raise LimitError("it would unpack to more than it is: such files are not compressed here")
        with np.load(path, allow_pickle=False) as stored:
            header = parse_json(stored[_HEADER].tobytes(), _MOST_HEADER) if _HEADER in stored.files else None
            if not isinstance(header, dict) or header.get("format") != file_format:
                found = header.get("format") if isinstance(header, dict) else None
                raise FileError(f"{path} has format {shorten(repr(found), 60)}: this version reads {file_format!r}")
            arrays = {name: stored[name] for name in names}
    for name, kind in names.items():
        wanted, _, axes = kind.partition(":")
        array = arrays[name]
        if array.dtype != np.dtype(wanted) or array.ndim != int(axes):
            raise FileError(
                f"{path}: {name} is {array.dtype}{list(array.shape)}, not {np.dtype(wanted)} of {axes} axes"
            )
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise FileError(f"{path}: {name} holds numbers that are not finite")
    return arrays, header
