"""The actions that a person may choose from: shown in columns or in short, and found from what was typed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from auction_env.cli.screen import columns, with_signs

SHOWN = 16  # more actions than this that only differ in the cards they name are shown in one line
_BY_PLACES = re.compile(r"(\w+) (none|\d+(?: \d+)*)")


def is_long(names: Sequence[str]) -> bool:
    """Whether the actions are too many to show, all of them one word with places of cards after it."""
    found = [_BY_PLACES.fullmatch(name) for name in names]
    return len(names) > SHOWN and all(found) and len({match[1] for match in found if match}) == 1


def menu(names: Sequence[str]) -> str:
    """Numbered actions in columns; many that name cards by their places, in short."""
    if is_long(names):
        word = names[0].split()[0]
        last = max(int(number) for name in names for number in re.findall(r"\d+", name))
        return f"{word} none, or the places of cards, 0 to {last}: {word} 0 {last} (or only: 0 {last})"
    cells = [f"{number:3} {with_signs(name)}" for number, name in enumerate(names, 1)]
    width = max(len(cell) for cell in cells) + 2
    across = max(1, min(6, (columns() + 2) // width))
    rows = [cells[start : start + across] for start in range(0, len(cells), across)]
    return "\n".join("".join(f"{cell:{width}}" for cell in row).rstrip() for row in rows)


def matching(answer: str, names: Sequence[str]) -> list[int]:
    """Indices of the actions that an answer may mean: one if it is clear.

    Args:
        answer: in small letters: a number of the menu, a name or its beginning; where the menu is in short, places of
            cards in any order, with or without the word before them.
        names: of the actions.
    """
    answer = " ".join(answer.split())
    if is_long(names):
        answer = _in_order(answer, names[0].split()[0])
    elif answer.isascii() and answer.isdigit():
        number = int(answer) if len(answer) < 10 else 0  # of thousands of digits Python makes no number
        return [number - 1] if 1 <= number <= len(names) else []
    forms = [{name.lower(), with_signs(name).lower()} for name in names]
    exact = [index for index, form in enumerate(forms) if answer in form]
    return exact or [
        index for index, form in enumerate(forms) if answer and any(name.startswith(answer) for name in form)
    ]


def _in_order(answer: str, word: str) -> str:
    """Places as the names have them, ``discard 0 2`` of ``2 0``; another answer stays."""
    rest = answer.removeprefix(word).strip()
    if re.fullmatch(r"\d{1,3}(?: \d{1,3})*", rest):
        return f"{word} {' '.join(map(str, sorted(map(int, rest.split()))))}"
    return f"{word} none" if rest == "none" else answer


def not_one(answer: str, found: Sequence[str]) -> str:
    """What to say of an answer that means several actions, or none."""
    if found:
        several = ", ".join(map(with_signs, found[:8])) + (", ..." if len(found) > 8 else "")
        return f"{answer!r} may be {several}: type more of it."
    shown = answer if len(answer) <= 60 else f"{answer[:60]}..."
    return f"{shown!r} is none of the actions: type a number or a name of those shown ('a' shows them, '?' helps)."
