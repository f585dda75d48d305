"""Auction Flop Poker played by name: what several test files share."""

from __future__ import annotations

from typing import Any

import numpy as np
from reference_flop import tidy

from auction_env import Table
from auction_env.games.cards import CARD_NAMES, card_name

ONE_EACH = {"num_players": 3}  # the appendix's table: 3 seats, 100 chips, dealer 0, each discards one card


# --- playing by name ------------------------------------------------------------------------------------------------


def begin(seed: int = 1, settings: dict[str, Any] | None = None, **options: Any) -> Table:
    """A table with a deal on; ``options`` as in ``Table.reset``, dealer 0 unless said."""
    table = Table("auction_flop", settings)
    table.reset(seed, {"dealer": 0, **options})
    return table


def legal(table: Table) -> set[str]:
    return {table.action_names[action] for action in table.legal()}


def play(table: Table, *actions: str) -> list[int] | None:
    """Act by name, one seat after the other; the result if a deal ended."""
    result = None
    for action in actions:
        result = table.act(action)  # type: ignore[arg-type]
    return result


def after_discards(*numbers: int, settings: dict[str, Any] | None = None, **options: Any) -> Table:
    """A table whose seats have discarded so many cards, clockwise from the dealer."""
    table = begin(settings={"num_players": len(numbers), **(settings or {})}, **options)
    for number in numbers:
        play(table, " ".join(["discard", *(map(str, range(number))), *([] if number else ["none"])]))
    return table


def stacks(table: Table) -> list[int]:
    return table.state.stacks[: table.settings.num_players].tolist()


def held(table: Table) -> list[int]:
    return table.state.held[: table.settings.num_players].tolist()


def dealt(row: Any, seat: int, gone: bool) -> list[str]:
    """The cards a seat was dealt and has, or has not, discarded."""
    n, gone_turns = int(row.num_players), int(row.discards[seat])
    places = [turn * n + (seat - int(row.dealer) - 1) % n for turn in range(row.hand_size)]
    return tidy(CARD_NAMES[row.deck[place]] for turn, place in enumerate(places) if gone_turns >> turn & 1 == gone)


def hand(table: Table, seat: int) -> list[str]:
    """The cards a seat holds, read from the row in plain Python."""
    row = table.states[0]
    cards = dealt(row, seat, False)
    for number in range(row.num_flops):
        if row.buyer[number] == seat:
            kept = int(row.kept[number])
            cards += [CARD_NAMES[row.flops[number, place]] for place in range(3) if kept >> place & 1]
    return tidy(cards)


def flop(table: Table) -> list[str]:
    """The cards on the table."""
    row = table.states[0]
    if table.phase not in ("bid", "refuse", "keep"):
        return []
    return [CARD_NAMES[card] for card in row.flops[row.num_flops - 1, : table.settings.flop_size]]


def stock(table: Table) -> list[str]:
    row = table.state
    return [card_name(int(card)) for card in row.stock[row.stock_at : row.stock_size]]


def random_deal(table: Table, rng: np.random.Generator) -> list[int]:
    """Play the deal out, each legal action equally likely."""
    while True:
        result = table.act(int(rng.choice(table.legal())))
        if result is not None:
            return result
