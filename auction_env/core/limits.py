"""Bounds on what comes from outside, checked before any work on it: the size, depth and kind of a file or text.

Parsers answer deep nesting with a ``RecursionError``, a pipe by waiting, and a large file with all the memory there is.
Every reader of JSON and TOML in this package comes here first, and gets one kind of error.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import stat
import tomllib
from collections import Counter
from collections.abc import Iterator
from typing import Any

MAX_DEPTH = 64  # levels of lists and tables; our own files have 10 at most
MAX_TEXT_BYTES = 1 << 20  # of a config, a task or a value on the command line
MAX_JSON_BYTES = 64 << 20  # of a record or a result
MAX_MESSAGE = 200  # characters of somebody else's text that an error repeats

_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{(]|[\]})]', re.DOTALL)
_OPENING = frozenset("[{(")


class LimitError(ValueError):
    """A file or text is larger, deeper or of another kind than what is read here; the message says which."""


def shorten(text: object, most: int = MAX_MESSAGE) -> str:
    """A text for a message: the beginning and the end of what is longer than ``most`` characters."""
    whole = text if isinstance(text, str) else str(text)
    if len(whole) <= most:
        return whole
    return f"{whole[: most * 2 // 3]}... ({len(whole)} characters) ...{whole[-most // 6 :]}"


def depth_of(text: str) -> int:
    """How deep brackets of any kind are nested in a text; those in double quotes do not count."""
    depth = deepest = 0
    for found in _STRING_OR_BRACKET.finditer(text):
        mark = found[0]
        if mark in _OPENING:
            depth += 1
            deepest = max(deepest, depth)
        elif mark[0] != '"':
            depth -= 1
    return deepest


def check_depth(text: str, most: int = MAX_DEPTH) -> None:
    """Raise LimitError if brackets are nested deeper in a text than ``most`` levels."""
    found = depth_of(text)
    if found > most:
        raise LimitError(f"it is nested {found} levels deep, the most is {most}")


def read_limited(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """The content of a regular file of limited size.

    Raises:
        OSError: it cannot be read.
        LimitError: it is no regular file (a pipe would wait for a writer), or larger than ``max_bytes``.
    """
    check_file(path, max_bytes)
    with open(path, "rb") as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise LimitError(f"it grew beyond {_size(max_bytes)}")
    return content


def check_file(path: str | os.PathLike[str], max_bytes: int) -> int:
    """Size of a file in bytes, without opening it. Errors as ``read_limited``."""
    found = os.stat(path)
    if stat.S_ISDIR(found.st_mode):
        raise LimitError("it is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise LimitError("it is not a regular file: copy what it gives to one first")
    if found.st_size > max_bytes:
        raise LimitError(f"it has {_size(found.st_size)}, the most is {_size(max_bytes)}")
    return found.st_size


def _size(number: int) -> str:
    return f"{number / 2**20:.0f} MiB" if number >= 1 << 20 else f"{number} bytes"


def parse_json(text: str | bytes, max_bytes: int = MAX_JSON_BYTES, max_depth: int = MAX_DEPTH) -> Any:
    """Plain data from JSON, as the standard has it: every number finite, no name twice in an object.

    Raises:
        LimitError: the text is too large or nested too deep.
        ValueError: it is not JSON; the message says why.
    """
    text = _decoded(text, max_bytes)
    check_depth(text, max_depth)
    return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)


def read_json(path: str | os.PathLike[str], max_bytes: int = MAX_JSON_BYTES, max_depth: int = MAX_DEPTH) -> Any:
    """Plain data from a file of JSON. Errors as ``read_limited`` and ``parse_json``."""
    return parse_json(read_limited(path, max_bytes), max_bytes, max_depth)


def parse_toml(text: str | bytes, max_bytes: int = MAX_TEXT_BYTES, max_depth: int = MAX_DEPTH) -> dict[str, Any]:
    """A table from TOML, every number finite. Errors as ``parse_json``."""
    text = _decoded(text, max_bytes)
    check_depth(text, max_depth)
    if any(line.partition("=")[0].count(".") > max_depth for line in text.splitlines()):
        raise LimitError(f"a key has more than {max_depth} parts")
    return tomllib.loads(text, parse_float=_finite)


def read_toml(path: str | os.PathLike[str], max_bytes: int = MAX_TEXT_BYTES) -> dict[str, Any]:
    """A table from a file of TOML. Errors as ``read_limited`` and ``parse_toml``."""
    return parse_toml(read_limited(path, max_bytes), max_bytes)


def parse_value(text: str, max_bytes: int = 1 << 16) -> Any:
    """A value as TOML writes it, such as ``[3, 2, 1]``; what is not TOML is text, so that quotes may be left out.

    Raises:
        LimitError: the text is too long or nested too deep.
    """
    text = _decoded(text, max_bytes)
    check_depth(text)
    if "\n" in text or "\r" in text:
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except ValueError:
        return text


def whole(value: Any) -> Any:
    """A value, its whole floats of 1e3 and more as integers: ``1e9`` is meant as a number of things."""
    if isinstance(value, float) and value.is_integer() and 1e3 <= abs(value) < 1e18:
        return int(value)
    return value


def as_toml(value: Any) -> str:
    """A plain value as it can be typed back: ``[3, 2, 1]``, ``true``, ``"text"``."""
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(as_toml, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {as_toml(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def reason(error: Exception) -> str:
    """Why a file could not be read, for a message that names the file: the system's words, or the parser's, cut."""
    if isinstance(error, OSError):
        return error.strerror or shorten(str(error))
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text: byte {error.start} is {error.object[error.start]:#04x}"
    return shorten(str(error))


@contextlib.contextmanager
def naming(
    kind: type[Exception], what: str, otherwise: str, damaged: tuple[type[Exception], ...] = (ValueError,)
) -> Iterator[None]:
    """Turn what reading a file raises into one kind of error that names the file.

    Args:
        kind: of the error; one that is raised inside goes through as it is.
        what: is read, such as ``result x.json``.
        otherwise: what to say of content that cannot be parsed, such as ``is not JSON``.
        damaged: what parsers raise for such content.

    Raises:
        Exception: of ``kind``, for an OSError, a LimitError, or one of ``damaged``.
    """
    try:
        yield
    except kind:
        raise
    except OSError as error:
        raise kind(f"{what} cannot be read: {reason(error)}") from error
    except LimitError as error:
        raise kind(f"{what} is not read: {reason(error)}") from error
    except damaged as error:
        raise kind(f"{what} {otherwise}: {reason(error)}") from error


def _decoded(text: str | bytes, max_bytes: int) -> str:
    if len(text) > max_bytes:
        raise LimitError(f"it has {_size(len(text))}, the most is {_size(max_bytes)}")
    return text.decode("utf-8-sig") if isinstance(text, bytes) else text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = counts.most_common(1)[0][0]
        raise ValueError(f"the name {shorten(repr(twice), 60)} stands twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{shorten(text, 40)} is not a finite number")
    return value
