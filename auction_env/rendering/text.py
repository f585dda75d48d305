"""A table as people see it: text, and a picture without a window."""

from __future__ import annotations

import textwrap

import numpy as np

from auction_env.core.terminal import show
from auction_env.games.game import SeatView, TableView

SUIT_SIGNS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}


def card_text(card: str) -> str:
    """``"A♠"`` of ``"As"``; a card face down stays ``"??"``."""
    return card[0] + SUIT_SIGNS.get(card[1], card[1])


def cards_text(cards: list[str]) -> str:
    """Several cards, a space between."""
    return " ".join(card_text(card) for card in cards)


def text(view: TableView, seat: int | None, width: int | None = None) -> str:
    """The table as lines of text, without a newline at the end.

    A head with the phase and the pot, public facts, the cards in the middle, and one line a seat: ``>`` marks seats
    that are to act, ``D`` the dealer, ``(you)`` the reader.

    Args:
        view: what to show.
        seat: the reader's seat, or None.
        width: characters that a line may have; where a seat's line would have more, its remarks stand below it. None:
            any, but facts are folded at 100.
    """
    head = f"{view.title} | {view.phase} | pot {view.pot}"
    facts = textwrap.wrap(" ".join(view.lines), min(width or 100, 100))
    centre = [f"{view.centre_label}: {cards_text(view.centre)}"] if view.centre else []
    cells = [_seat_cells(other, seat) for other in view.seats]
    seats = _columns(cells)
    if width is not None and max(map(len, seats)) > width:
        seats = _below(cells, width)
    above = [head, *facts, *centre]
    return "\n".join([*above, "-" * max(map(len, above + seats)), *seats])


def _below(cells: list[tuple[str, ...]], width: int) -> list[str]:
    """As ``_columns``, with the remarks on lines of their own and what is still too long folded."""
    heads, *rows = _columns([(*row[:-1], "") for row in cells])
    lines = textwrap.wrap(heads, width, drop_whitespace=False) if len(heads) > width else [heads]
    for row, (*_, remarks) in zip(rows, cells, strict=True):
        lines += (
            textwrap.wrap(row, width, subsequent_indent=" " * 6, drop_whitespace=False) if len(row) > width else [row]
        )
        lines += textwrap.wrap(remarks, width, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return [line.rstrip() for line in lines]


_HEADS = ("", "seat", "chips", "hand", "bought", "paid", "")


def _seat_cells(seat: SeatView, reader: int | None) -> tuple[str, ...]:
    """A seat's line, cell by cell, under ``_HEADS``."""
    marks = (">" if seat.to_act else " ") + ("D" if seat.dealer else " ")
    name = f"player_{seat.seat}" + (" (you)" if seat.seat == reader else "")
    prices = " ".join(str(price) for price in seat.prices)
    remarks = ", ".join(seat.notes)
    if seat.hand:
        remarks = f"{remarks}; {seat.hand}" if remarks else seat.hand
    return marks, name, str(seat.stack), cards_text(seat.cards), cards_text(seat.bought), prices, remarks


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    """A heading and rows in columns, chips to the right; columns that are empty throughout are left out."""
    lines = [""] * (len(rows) + 1)
    for cells in zip(_HEADS, *rows, strict=True):
        if any(cells[1:]):
            width = max(len(cell) for cell in cells)
            padded = (f"{cell:>{width}}" if cells[0] == "chips" else f"{cell:{width}}" for cell in cells)
            lines = [f"{line}  {cell}" for line, cell in zip(lines, padded, strict=True)]
    return [line[2:].rstrip() for line in lines]


RENDER_MODES = ("ansi", "human", "rgb_array")


def check_render_mode(mode: str | None) -> None:
    """Raise ValueError unless there is such a render mode."""
    if mode is not None and mode not in RENDER_MODES:
        raise ValueError(f"render_mode is {mode!r}: it must be None or one of {', '.join(RENDER_MODES)}")


def render(view: TableView, seat: int | None, mode: str | None) -> str | np.ndarray | None:
    """What environments' ``render`` gives: text for "ansi", a picture for "rgb_array"; "human" prints the text."""
    if mode is None:
        return None
    if mode == "rgb_array":
        return draw(view)
    picture = text(view, seat)
    if mode == "ansi":
        return picture
    show(picture)
    return None


def draw(view: TableView) -> np.ndarray:
    """A picture of the table: uint8[680, 1040, 3], RGB, the same for the same view.

    Pillow alone makes it: no window, no display, no fonts of the system. It takes some milliseconds; the first, more.
    """
    from auction_env.rendering.picture import paint  # imported when first used: training never draws

    return paint(view)
