"""The terminal of ``play`` and ``replay``: lines that fit its width, suit signs, colours where they are wanted."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap

from auction_env.core.terminal import printable, read_line, show
from auction_env.games.game import TableView
from auction_env.rendering.text import card_text, text

COLORS = ("auto", "always", "never")
_CARD = re.compile(r"(?<![\w-])[2-9TJQKA][cdhs](?![\w-])")
_RED, _BOLD, _PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[0m"
_color = False
_unread = 0  # lines printed since the last question
_skipping = False  # until the next question


class Stop(Exception):
    """The person at the terminal wants no more."""


def set_color(choice: str) -> None:
    """Whether cards of red suits are red and seats to act bold: ``auto`` is on a terminal, unless NO_COLOR is set."""
    global _color
    dull = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb" or not _on_terminal()
    _color = choice == "always" or (choice == "auto" and not dull)


def _on_terminal() -> bool:
    """Whether standard output is a terminal; it may be closed, or nothing at all."""
    stream = sys.stdout
    return stream is not None and not stream.closed and stream.isatty()


def columns() -> int:
    """The terminal's width in characters, at least 40."""
    return max(40, shutil.get_terminal_size().columns)


def with_signs(line: str) -> str:
    """A text with its cards as on the table: ``J♠`` for ``Js``."""
    return _CARD.sub(lambda found: card_text(found[0]), line)


def say(line: str = "", *, wrap: bool = True) -> None:
    """Print a line, folded to the terminal's width."""
    if wrap:
        line = "\n".join(map(folded, line.split("\n")))
    _put(line)


def rows() -> int:
    """The terminal's height in lines."""
    return shutil.get_terminal_size().lines


def folded(line: str) -> str:
    """A line as several that fit the terminal's width."""
    if len(line) <= columns():
        return line
    start = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(line, columns(), subsequent_indent=start + "  ", drop_whitespace=True, break_on_hyphens=False)


def prose(markdown: str) -> list[str]:
    """A page's paragraphs, list items and rows of tables, each as one line without marks, to be folded to any width.

    Empty lines part the blocks.
    """
    blocks: list[str] = []
    fresh = True
    for line in markdown.splitlines():
        words = re.sub(r"\*+|`|\[([^]]*)\]\([^)]*\)", r"\1", line).strip()
        if words.startswith("|"):
            cells = [cell.strip() for cell in words.strip("|").split("|")]
            if any(cell.strip("- ") for cell in cells):
                blocks.append(": ".join(filter(None, [cells[0], ", ".join(filter(None, cells[1:]))])))
            fresh = True
        elif not words or fresh or words.startswith(("#", "- ")):
            blocks.append(words.lstrip("# ") if words.startswith("#") else words)
            fresh = not words or words.startswith("#")
        else:
            blocks[-1] += " " + words
    return blocks


def tell(lines: str) -> None:
    """Print lines that belong together; on a terminal, wait for the reader before unread ones leave it. Raises Stop."""
    global _skipping
    lines = "\n".join(map(folded, lines.split("\n")))
    full = _unread + lines.count("\n") + 1 >= rows()
    if full and _unread > 1 and not _skipping and _on_terminal() and sys.stdin.isatty():
        answer = ask("Enter: more, s: skip, q: stop> ")
        if answer.startswith("q"):
            raise Stop
        _skipping = answer.startswith("s")
    _put(lines)


def table_text(view: TableView, seat: int | None) -> str:
    """A table, no wider than the terminal."""
    return with_signs(text(view, seat, columns()))


def show_table(view: TableView, seat: int | None) -> None:
    """Print a table."""
    _put(table_text(view, seat))


def _put(lines: str) -> None:
    global _unread
    _unread += lines.count("\n") + 1
    show(_painted(printable(lines)) if _color else lines, escape=not _color)


def _painted(lines: str) -> str:
    red = re.sub(r"[2-9TJQKA][♥♦]", lambda found: _RED + found[0] + _PLAIN, lines)
    return re.sub(r"^>.{3}player_\d+( \(you\))?", lambda found: _BOLD + found[0] + _PLAIN, red, flags=re.MULTILINE)


def ask(prompt: str) -> str:
    """A line of the person's, in small letters. Raises EOFError."""
    global _unread, _skipping
    answer = read_line(prompt).strip().lower()
    _unread, _skipping = 1, False
    return answer
