"""Tensors with a plain JSON header in one safetensors file: written whole or not at all, read without running code.

A file somebody else made is measured before anything is done with it: its kind and size, the size and nesting of its
header, the names, types and shapes in it. Only then are tensors read, and every number in them must be finite.
"""

from __future__ import annotations

import errno
import json
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from auction_env.agents.base import AgentError
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from auction_env.core.files import writing
from auction_env.core.limits import LimitError, check_file, naming, parse_json, reason, shorten

MAX_FILE_BYTES = 256 << 20
HEADER_PART = 64  # a header may have this part of the largest file: 4 MiB of a policy, 64 MiB of a checkpoint
MOST_HEADER_BYTES = 64 << 20
MAX_HEADER_DEPTH = 48
DTYPES = frozenset({"F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8", "BOOL"})


def save_tensors(path: Path, tensors: Mapping[str, torch.Tensor], header: Mapping[str, Any]) -> None:
    """Write tensors and a JSON header to one file: beside it first, then renamed into place.

    What ``load_tensors`` would refuse is not written, and the file that was there stays.

    Raises:
        AgentError: a number is not finite (a training that has diverged), or the header cannot be read back.
        OSError: the file cannot be written.
    """
    for name, tensor in tensors.items():
        _check_finite(path, name, tensor)
    text = _header_text(path, header)
    path.parent.mkdir(parents=True, exist_ok=True)
    copies = {name: value.detach().contiguous().clone() for name, value in tensors.items()}
    with writing(path) as beside:
        try:
            save_file(copies, beside, {"json": text})
        except SafetensorError as error:  # of the disk, say: the library has a kind of its own for it
            code = re.search(r"os error (\d+)", str(error))
            number = int(code[1]) if code else errno.EIO
            raise OSError(number, os.strerror(number)) from error


def _header_text(path: Path, header: Mapping[str, Any]) -> str:
    try:
        text = json.dumps(header, allow_nan=False)
        if len(text) > MOST_HEADER_BYTES // 2:  # quotes are written as two characters
            raise LimitError(f"it has {len(text)} characters")
        parse_json(text, MOST_HEADER_BYTES, MAX_HEADER_DEPTH)
    except (TypeError, ValueError, RecursionError) as error:
        raise AgentError(f"{path}: the header cannot be written: {reason(error)}") from error
    return text


def load_tensors(
    path: Path, file_format: str, max_bytes: int = MAX_FILE_BYTES
) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Tensors and header of a file that ``save_tensors`` wrote. Nothing in it can run code.

    Args:
        path: the file.
        file_format: what the header's ``format`` must be.
        max_bytes: the largest file that is read; its header may have a ``HEADER_PART``-th of that.

    Raises:
        AgentError: the file is missing, too large, truncated, of another format, or holds numbers that are not finite.
    """
    damaged = (SafetensorError, ValueError, RuntimeError, MemoryError)
    with naming(AgentError, str(path), "is damaged or not a safetensors file", damaged):
        size = check_file(path, max_bytes)
        header = _header_of(path, size, min(max_bytes // HEADER_PART, MOST_HEADER_BYTES))
        if header.get("format") != file_format:
            found = shorten(repr(header.get("format")), 60)
            raise AgentError(f"{path} has format {found}: this version reads {file_format!r}")
        with safe_open(path, "pt") as stored:
            tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118 - not a dict
    for name, tensor in tensors.items():
        _check_finite(path, name, tensor)
    return tensors, header


def _header_of(path: Path, size: int, most: int) -> dict[str, Any]:
    """Our own header, from the file's, which lists the tensors. Raises AgentError, LimitError or ValueError."""
    with open(path, "rb") as file:
        start = file.read(8)
        if start[:4] == b"PK\x03\x04":
            raise AgentError(f"{path} is not a policy of ours: {_kind_of_zip(path)}")
        if len(start) < 8:
            raise ValueError(f"it has {len(start)} bytes")
        length = int.from_bytes(start, "little")
        if length > size - 8:
            raise ValueError("it is shorter than its first bytes say")
        if length > most:
            raise LimitError(f"its header has {length} bytes, the most is {most}")
        table = parse_json(file.read(length), most, MAX_HEADER_DEPTH)
    if not isinstance(table, dict):
        raise ValueError("its header is no object")
    for name, entry in table.items():
        kind = entry.get("dtype") if isinstance(entry, dict) else None
        if name != "__metadata__" and not (isinstance(kind, str) and kind in DTYPES):
            raise ValueError(f"tensor {shorten(repr(name), 60)} is of no type that is read here")
    metadata = table.get("__metadata__")
    text = metadata.get("json") if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise AgentError(f"{path} is a safetensors file, but not one of ours: it has no header of plain JSON")
    header = parse_json(text, most, MAX_HEADER_DEPTH)
    if not isinstance(header, dict):
        raise ValueError("our header in it is no object")
    return header


def _kind_of_zip(path: Path) -> str:
    """What a zip archive is, in words; nothing in it is unpacked."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except Exception:  # a damaged archive: the library raises many kinds
        names = set()
    danger = "it holds pickles, and loading those can run code; a policy is a file *.safetensors"
    if "_stable_baselines3_version" in names or "policy.pth" in names:
        convert = "auction-env import FILE.zip FILE.safetensors --trust makes one of it, if you trust it"
        return f"this is a stable-baselines3 zip: {danger} ({convert})"
    if any(name.endswith("data.pkl") for name in names):
        return f"this is a file of torch.save: {danger}"
    return "this is a zip archive"


def _check_finite(path: Path, name: str, tensor: torch.Tensor) -> None:
    if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
        raise AgentError(f"{path}: tensor {shorten(repr(name), 60)} holds numbers that are not finite")
