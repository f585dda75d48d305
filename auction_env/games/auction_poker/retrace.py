"""Auction Poker: the actions of a deal, read back from its state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from auction_env.games.auction_poker.state import (
    BET,
    BID,
    BID_0,
    CHECK,
    CHECKED,
    DECLARE_LOW,
    LOW,
    MAX_PLAYERS,
    NO_CARD,
    PICK,
    PICK_0,
)


def retrace(row: Any, target: Any, act: Callable[[int], None]) -> None:
    """Bring a row, just dealt, where the target is: each seat to act does what the target says that it did.

    Args:
        row: a row of STATE, changed.
        target: a row of STATE with the same deck, dealer and chips; nothing else of it is trusted.
        act: applies an action to ``row``; raises IllegalActionError.
    """
    while row.to_act >= 0:
        action = recorded_action(row, target)
        if action is None:
            return
        act(action)


def recorded_action(row: Any, target: Any) -> int | None:
    """What the seat to act did next, None if it has not acted yet."""
    seat = row.to_act
    if row.phase == BID:
        bid = int(target.bids[row.auction, seat])
        return BID_0 + bid if bid else None
    if row.phase == PICK:
        card = int(target.picks[row.auction, seat])
        return PICK_0 + card if card != NO_CARD else None
    if row.phase == BET:
        number = int(row.num_bets[seat])
        return int(target.bets[seat, number]) - CHECKED + CHECK if number < target.num_bets[seat] else None
    declared = int(target.declared[seat])
    return declared - LOW + DECLARE_LOW if declared else None


def recorded_draw(row: Any, draw: int, choices: list[int], target: Any) -> int:
    """The card among ``choices`` that draw number ``draw`` of the move to ``row`` brought, in the target's deal."""
    return int(target.deck[draw if row.auction == 0 else row.num_in * (row.hole_cards + row.auction) + draw])


def settled(row: Any) -> dict[str, Any]:
    """The part of each field that says something while a deal is on, of those that do not in full; None: nothing."""
    dealt_in = row.dealt_in[:MAX_PLAYERS] != 0
    return {
        "high": None,
        "low": None,
        "deck": slice(int(row.num_ranks) * int(row.num_suits)),
        "row": slice(int(row.row_count)),
        "order": slice(int(row.num_in)),
        "pick_order": slice(int(row.num_in)) if row.phase == PICK else None,
        "tie_place": np.flatnonzero(dealt_in),
    }
