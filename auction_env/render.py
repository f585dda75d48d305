"""A table as people see it: text, and a picture without a window."""

from __future__ import annotations

import numpy as np

from auction_env.games.contract import SeatView, TableView

SUIT_SIGNS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}


def card_text(card: str) -> str:
    """``"A♠"`` of ``"As"``; a card face down stays ``"??"``."""
    return card[0] + SUIT_SIGNS.get(card[1], card[1])


def cards_text(cards: list[str]) -> str:
    """Several cards, a space between."""
    return " ".join(card_text(card) for card in cards)


def text(view: TableView, seat: int | None) -> str:
    """The table as lines of text, without a newline at the end; ``seat`` is marked as the reader's own."""
    head = f"{view.title} | {view.phase} | pot {view.pot}"
    centre = [f"{view.centre_label}: {cards_text(view.centre)}"] if view.centre else []
    width = max(len(cards_text(other.cards)) for other in view.seats)
    bought = max(len(cards_text(other.bought)) for other in view.seats)
    seats = [_seat_line(other, seat, width, bought) for other in view.seats]
    return "\n".join([head, "-" * len(head), *view.lines, *centre, *seats])


def _seat_line(seat: SeatView, reader: int | None, width: int, bought: int) -> str:
    mark = ">" if seat.to_act else " "
    dealer = "D" if seat.dealer else " "
    name = f"player_{seat.seat}" + (" (you)" if seat.seat == reader else "")
    cards = f"[{cards_text(seat.cards):{width}}] {cards_text(seat.bought):{bought}}"
    return f"{mark}{dealer} {name:14} {seat.stack:>5} chips  {cards}  {', '.join(seat.notes)}".rstrip()


def draw(view: TableView) -> np.ndarray:
    """A picture of the table: uint8[height, width, 3]."""
    raise NotImplementedError
