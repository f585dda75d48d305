"""What goes to the terminal and comes from it, one place for all: nothing printed can command the terminal.

Texts of records, results, errors and file names come from others. They are printed with control characters escaped.
Signs that the terminal's encoding lacks are replaced, and a reader who has seen enough (``| head``) is no error.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from typing import Any, TextIO

# Controls (C0 but newline and tab, DEL, C1), marks that turn or hide text, line separators, and halves of surrogates.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufff9-\ufffb]"
)
_PLAIN_SIGNS = {"±": "+/-", "♣": "c", "♦": "d", "♥": "h", "♠": "s", "…": "...", "–": "-", "—": "-", "×": "x", "−": "-"}


def printable(text: object) -> str:
    """A text with its control characters escaped, as in ``\\x1b``; newlines and tabs stay."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), str(text))


def one_line(text: object, limit: int = 2000) -> str:
    """``printable`` on one line, cut to ``limit`` characters: for messages of errors."""
    line = printable(text).replace("\n", "\\n").replace("\t", "\\t")
    return line if len(line) <= limit else f"{line[:limit]} ... ({len(line) - limit} more characters)"


def encodable(text: str, encoding: str | None) -> str:
    """A text in the signs of an encoding: ``+/-`` for ``±``, letters for suits, ``\\u....`` for the rest."""
    encoding = encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        pass
    except LookupError:
        encoding = "ascii"
    else:
        return text
    for sign, plain in _PLAIN_SIGNS.items():
        if sign in text and not _has(sign, encoding):
            text = text.replace(sign, plain)
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _has(sign: str, encoding: str) -> bool:
    try:
        sign.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def show(text: object = "", *, end: str = "\n", file: TextIO | None = None, escape: bool = True) -> bool:
    """Print a text to standard output, or another stream.

    Args:
        text: what to print.
        end: what follows it.
        file: the stream; None: standard output.
        escape: ``printable``; False only for texts made here, with colours in them.

    Returns:
        whether it was printed: a closed pipe and a closed stream take nothing, and that is no error.

    Raises:
        OSError: the stream is full or broken in another way.
    """
    stream = sys.stdout if file is None else file
    if stream is None:
        return False
    whole = encodable(printable(text) if escape else str(text), getattr(stream, "encoding", None)) + end
    try:
        stream.write(whole)
        stream.flush()
    except BrokenPipeError:
        _silence(stream)
        return False
    except ValueError:  # closed
        return False
    return True


def mention(text: object = "", *, file: TextIO | None = None) -> None:
    """Print a line on the way, as ``show``; where it cannot be printed, no work stops for it."""
    with contextlib.suppress(OSError):
        show(text, file=file)


def hush() -> None:
    """After a ``BrokenPipeError``: let what is still to be printed go nowhere, or Python complains of it at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except BrokenPipeError:
            _silence(stream)
        except (OSError, ValueError):  # full, or closed
            pass


def _silence(stream: TextIO) -> None:
    """Let the rest of a stream go nowhere, or Python complains of the closed pipe at its end."""
    try:
        target = os.open(os.devnull, os.O_WRONLY)
        os.dup2(target, stream.fileno())
        os.close(target)
    except (OSError, ValueError, AttributeError):
        pass


def complain(program: str, error: object) -> None:
    """Print a message of an error, one line, to standard error; where that cannot be, say nothing."""
    if sys.stderr is not None:
        mention(f"{program}: {one_line(error)}", file=sys.stderr)


class _Forgiving:
    """A stream that takes everything: what it cannot print, or nobody reads any more, is dropped."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def isatty(self) -> bool:
        return self._stream is not None and not self._stream.closed and self._stream.isatty()

    def write(self, text: str) -> int:
        if self._stream is not None:
            with contextlib.suppress(OSError):
                show(text, end="", file=self._stream, escape=False)
        return len(text)

    def flush(self) -> None:
        """Nothing: ``write`` did."""


def progress_bar(**options: Any) -> Any:
    """tqdm's bar on standard error, no wider than the terminal; no work stops where it cannot be drawn.

    Args:
        options: tqdm's. Texts of others among them must be ``one_line`` already: the bar draws with control characters.

    Raises:
        ImportError: tqdm is not installed.
    """
    from tqdm import tqdm

    return tqdm(file=_Forgiving(sys.stderr), dynamic_ncols=True, **options)


def read_line(prompt: str = "") -> str:
    """A line that a person typed, or a program wrote, without the newline.

    Byte-order marks, carriage returns, NUL bytes and bytes that are no text of the encoding are no error: they are left
    out or replaced. Where no terminal has shown the line it is printed.

    Raises:
        EOFError: there is no more, or standard input is closed.
    """
    source: Any = sys.stdin
    if source is None or getattr(source, "closed", False):
        raise EOFError
    if hasattr(source, "reconfigure") and source.errors == "strict":
        source.reconfigure(errors="replace")
    try:
        answer = input(prompt)
    except RuntimeError as error:  # input() says so if a stream is lost
        raise EOFError from error
    answer = re.sub("[\r\x00\ufeff\ufffd]", "", answer.removeprefix("\xef\xbb\xbf"))
    if not source.isatty():
        show(answer)
    return answer
