"""Auction Flop Poker: the actions of a deal, read back from its state.

The course of an auction is not kept where the observation does not show it. Any course that ends in the same sale
leaves the same state, so the buyer is made to bid the price at once. What reshuffles brought is not kept either, but
the flops are: after a reshuffle the stock is a set of cards, of which the flops that came must be part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from auction_env.games.auction_flop.state import (
    BID,
    BIDS_PER_WORD,
    DISCARD,
    DISCARD_0,
    KEEP,
    KEEP_0,
    MAKE_BID,
    MAKE_REFUSAL,
    NEVER,
    NOT_YET,
    PASS,
    REFUSE,
    TAKE,
)


def retrace(row: Any, target: Any, act: Callable[[int], None]) -> None:
    """Bring a row, just dealt, where the target is: each seat to act does what the target says that it did.

    Args:
        row: a row of STATE, changed.
        target: a row of STATE with the same deck, dealer and chips; nothing else of it is trusted.
        act: applies an action to ``row``; raises IllegalActionError.

    Raises:
        ValueError: the target's flops, stock or bids cannot have come.
    """
    while row.to_act >= 0:
        action = recorded_action(row, target)
        if action is None:
            break
        flops, left = int(row.num_flops), int(row.stock_size) - int(row.stock_at)
        act(action)
        if row.num_flops > flops and row.first_shuffle != NEVER:
            _turn_up_as(row, target, left if row.last_shuffle == flops else 0)
    _settle_stock(row, target)
    _settle_bids(row, target)


def recorded_action(row: Any, target: Any) -> int | None:
    """What happened next: an action of the seat to act, or None if the target is reached.

    An auction that is over may have gone otherwise: bids are told to end at the price, no more.
    """
    if row.phase == DISCARD:
        return None if target.discarded[row.to_act] == NOT_YET else DISCARD_0 + _discarded(row, target)
    flop = row.num_flops - 1
    now = target.num_flops == row.num_flops  # the flop on the row's table is the target's last
    if row.phase == BID:
        return _bid_or_pass(row, target, int(flop), bool(now and target.phase == BID))
    if row.phase == REFUSE:
        if row.cost[flop] > target.cost[flop]:
            return MAKE_REFUSAL
        return None if now and target.phase == REFUSE else TAKE
    if row.phase == KEEP and target.kept[flop] and not (now and target.phase == KEEP):
        return KEEP_0 + int(target.kept[flop])
    return None


def recorded_draw(row: Any, draw: int, choices: list[int], target: Any) -> int:
    """The card among ``choices`` that draw number ``draw`` of the move to ``row`` brought, in the target's deal.

    The order of a flop's cards says nothing, but that what was left of the stock came first (B8).
    """
    if row.num_flops == 0:
        return int(target.deck[draw])
    return next(card for card in target.flops[row.num_flops - 1, : row.flop_size].tolist() if card in choices)


def _discarded(row: Any, target: Any) -> int:
    """The subset that the seat to act discarded, by its cards' places in sorted order."""
    seat, seats = int(row.to_act), int(row.num_players)
    first = (seat - row.dealer - 1) % seats
    cards = [int(row.deck[turn * seats + first]) for turn in range(row.hand_size)]
    ordered = sorted(cards, reverse=True)
    gone = [card for turn, card in enumerate(cards) if target.discards[seat] >> turn & 1]
    return sum(1 << ordered.index(card) for card in gone)


def _bid_or_pass(row: Any, target: Any, flop: int, going_on: bool) -> int | None:
    price = int(target.price if going_on else target.cost[flop])
    bidder = int(target.bidder if going_on else target.buyer[flop])
    if row.bidder < 0 and price > 0:
        if not 0 <= bidder < row.num_players or row.held[bidder] >= row.hand_size:
            raise ValueError(f"seat {bidder} cannot have bid {price} for flop {flop}")
        if row.passes or (price > 1 and not _others_can_bid(row, bidder, price - 1)):
            raise ValueError(f"price is {price}: nobody else can have bid {price - 1} for flop {flop}")
        row.price, row.to_act = price - 1, bidder
        return MAKE_BID
    return None if going_on and row.passes >= target.passes else PASS


def _others_can_bid(row: Any, bidder: int, price: int) -> bool:
    return any(
        row.held[seat] < row.hand_size and row.stacks[seat] >= price
        for seat in range(row.num_players)
        if seat != bidder
    )


def _turn_up_as(row: Any, target: Any, left: int) -> None:
    """Let a flop turned up from a shuffled stock be the target's; its first ``left`` cards were sure to come."""
    flop, size = int(row.num_flops) - 1, int(row.flop_size)
    start, end = int(row.stock_at) - size, int(row.stock_size)
    stock, cards = row.stock[start:end].tolist(), target.flops[flop, :size].tolist()
    sure = set(stock[:left])
    if sorted(set(cards), reverse=True) != cards or not sure <= set(cards) <= set(stock):
        raise ValueError(f"flops is {cards} at flop {flop}: these cards cannot have come from the stock")
    row.stock[start:end] = cards + [card for card in stock if card not in cards]
    row.flops[flop, :size] = cards


def _settle_stock(row: Any, target: Any) -> None:
    """After a reshuffle the rest of the stock is in any order."""
    if row.first_shuffle != NEVER:
        rest = slice(int(row.stock_at), int(row.stock_size))
        if sorted(row.stock[rest].tolist()) != sorted(target.stock[rest].tolist()):
            raise ValueError(f"stock is {target.stock[rest].tolist()}: these are not the cards that are left")
        row.stock[rest] = target.stock[rest]


def _settle_bids(row: Any, target: Any) -> None:
    """The bids that are kept may be any that lead to the sales: their number follows, each is by a seat."""
    number = 0
    if row.full_view:
        sold = np.maximum(row.cost[: row.num_flops].astype(np.int64), 0).sum()
        number = min(int(sold) + (int(row.price) if row.phase == BID else 0), int(row.bid_slots))
    row.num_bids = number
    shifts = np.uint64(3) * np.arange(BIDS_PER_WORD, dtype=np.uint64)
    bidders = (target.bid_log[:, None] >> shifts & np.uint64(7)).ravel()
    bidders[number:] = 0
    if bidders.max(initial=0) >= row.num_players:
        raise ValueError(f"bid_log says that seat {bidders.max()} has bid, of {row.num_players} seats")
    row.bid_log[:] = np.bitwise_or.reduce(bidders.reshape(-1, BIDS_PER_WORD) << shifts, axis=1)


def settled(row: Any) -> dict[str, Any]:
    """The part of each field that says something while a deal is on, of those that do not in full; None: nothing."""
    flops = slice(int(row.num_flops))
    size = int(row.flop_size)
    return {
        "chance": None,
        "high": None,
        "place": None,
        "deck": slice(int(row.num_ranks) * int(row.num_suits)),
        "stock": slice(int(row.stock_at), int(row.stock_size)),
        "flops": (flops, slice(size)),
        "kept": flops,
        "buyer": flops,
        "cost": flops,
    }
