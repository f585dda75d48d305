"""Auction Flop Poker: what people read: views and accounts of what happened."""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.games.auction_flop.resample import mark_seen
from auction_env.games.auction_flop.rules import discard_set, flop_up, hand_set, refusal_price
from auction_env.games.auction_flop.state import (
    BID,
    DISCARD,
    DISCARD_0,
    KEEP,
    KEEP_0,
    MAKE_BID,
    MAKE_REFUSAL,
    NOT_YET,
    OVER,
    PASS,
    PHASES,
    REFUSE,
    STATE,
    SUBSET_SIZE,
    TAKE,
    TITLE,
    Settings,
    action_names,
)
from auction_env.games.cards import CARD_NAMES, cards_of, names_of
from auction_env.games.game import SeatView, TableView, entries
from auction_env.games.hands import HIGH_CATEGORIES, describe_high, high_rank

# --- what people read -----------------------------------------------------------------------------------------------

_PLACES = ("best", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def eligibility(s: Any, seat: int) -> str:
    """Empty when a seat can be dealt in, otherwise the reason why not: all seats can or none (B10)."""
    for other in range(s.num_players):
        if s.stacks[other] < s.ante:
            return f"player_{other} has {s.stacks[other]} chips and cannot pay the ante of {s.ante}: the match is over"
    return ""


def info(rows: Any, seat: Any) -> dict[str, Any]:
    """Public facts for the seat to act.

    The phase's number; the highest bid (0: none); what a bid or a refusal costs now (0 where there is neither); the
    number of cards its hand still has room for.
    """
    phase, price = entries(rows, "phase"), entries(rows, "price")
    refused = -entries(rows, "cost", entries(rows, "num_flops") - 1)
    cost = (price + 1) * (phase == BID) + (refused + 1) * (phase == REFUSE)
    room = entries(rows, "hand_size") - entries(rows, "held", seat)
    return {"phase": phase, "price": price, "cost": cost, "room": room}


def pending(s: Any) -> int:
    """How many of the latest actions are still secret: none, seats choose one after the other."""
    return 0


def public_name(settings: Settings, action: int) -> str:
    """An action's name as the other seats see it: how many cards are discarded or kept, not which."""
    if action >= DISCARD_0:
        return f"discard {_cards_text(int(SUBSET_SIZE[action - DISCARD_0]))}"
    if action > KEEP_0:
        return f"keep {_cards_text(int(SUBSET_SIZE[action - KEEP_0]))}"
    return action_names(settings)[action]


def _cards_text(number: int) -> str:
    if number == 0:
        return "none"
    return f"{number} card{'s' if number > 1 else ''}"


def visible_deck(s: Any, seat: int) -> list[bool]:
    """For each place of the deck, whether a seat has seen the card there."""
    seen = np.zeros(int(s.num_ranks) * int(s.num_suits), np.bool_)
    mark_seen(s, seat, seen)
    return seen.tolist()


def view(s: Any, seat: int | None) -> TableView:
    """The table as a seat sees it; with None, everything."""
    up = bool(flop_up(s))
    number = f"flop {s.num_flops}: "
    phase = {
        DISCARD: "discarding",
        BID: number + "bidding",
        REFUSE: number + "take or refuse",
        KEEP: number + "keeping",
        OVER: "deal over",
    }[int(s.phase)]
    return TableView(
        title=TITLE,
        phase=phase,
        pot=int(s.pot),
        centre=[CARD_NAMES[card] for card in s.flops[s.num_flops - 1, : s.flop_size]] if up else [],
        centre_label="flop",
        seats=[_seat_view(s, other, seat, up) for other in range(s.num_players)],
        lines=_view_lines(s, up),
    )


def _view_lines(s: Any, up: bool) -> list[str]:
    lines = [f"Deal {s.deal_number + 1} of {s.num_deals}."]
    last = int(s.num_flops) - 1 - up
    if last >= 0:
        kept = f", who kept {_cards_text(int(SUBSET_SIZE[s.kept[last]]))},"
        lines.append(f"Flop {last + 1} was {_flop_text(s, last)}. {_sale_text(s, last, kept).rstrip(',')}.")
    if s.phase == BID:
        lines.append(f"player_{s.bidder} bids {s.price}." if s.price else "Nobody has bid yet.")
    if s.phase == REFUSE:
        lines.append(f"All have passed: player_{s.to_act} takes the flop, or pays {refusal_price(s)} to refuse it.")
    if s.phase == KEEP:
        lines.append(_sale_text(s, last + 1) + ".")
    return lines


def _flop_text(s: Any, flop: int) -> str:
    return names_of(s.flops[flop, : s.flop_size])


def _sale_text(s: Any, flop: int, kept: str = "") -> str:
    """Who got a flop, and what for; ``kept`` follows the buyer."""
    buyer, cost = f"player_{s.buyer[flop]}{kept}", int(s.cost[flop])
    if cost > 0:
        return f"Sold for {cost} to {buyer}"
    after = f" after {-cost} refusal{'s' if cost < -1 else ''}" if cost else ""
    return f"Taken for nothing by {buyer}{after}"


def _seat_view(s: Any, seat: int, viewer: int | None, up: bool) -> SeatView:
    knows = viewer in (None, seat)
    hand = hand_set(s, seat)
    notes = []
    if s.discarded[seat] != NOT_YET:
        cards = f" ({names_of(cards_of(discard_set(s, seat)))})" if knows and s.discarded[seat] else ""
        notes.append(f"discarded {s.discarded[seat] or 'none'}{cards}")
    if up and s.voice == seat:
        notes.append("first voice")
    if s.phase == BID and s.bidder == seat:
        notes.append(f"bids {s.price}")
    if s.phase == OVER:
        if s.award[seat]:
            notes.append(f"{_PLACES[s.place[seat]]} hand: {s.award[seat]}")
        notes.append(f"{s.award[seat] - s.paid[seat]:+d}")
    return SeatView(
        seat=seat,
        stack=int(s.stacks[seat]),
        cards=names_of(cards_of(hand)).split() if knows or s.phase == OVER else ["??"] * int(s.held[seat]),
        bought=[],
        hand=describe_high(int(s.high[seat])) if s.phase == OVER else "",
        notes=notes,
        dealer=bool(s.dealer == seat),
        to_act=bool(s.to_act == seat),
    )


def own_hand(s: Any, seat: int) -> str:
    """What all cards of a seat make, for its own eyes; empty while it has none."""
    cards = cards_of(hand_set(s, seat))
    return describe_high(high_rank(cards)) if cards else ""


def narrate(before: Any, action: int, after: Any) -> list[str]:
    """Public account of a move, in sentences."""
    lines = _narrate_move(before, action)
    if after.phase == REFUSE and before.phase == BID:
        lines.append(
            f"All have passed: player_{after.to_act} takes the flop, or pays {refusal_price(after)} to refuse it."
        )
    if after.phase == KEEP and before.phase == BID and before.num_flops == after.num_flops:
        lines.append(_sale_text(after, int(after.num_flops) - 1) + ".")
    if after.num_flops > before.num_flops:
        lines += _narrate_flop(before, after)
    if after.phase == OVER:
        lines += _narrate_award(after)
    return lines


def _narrate_move(before: Any, action: int) -> list[str]:
    who = f"player_{before.to_act}"
    if action >= DISCARD_0:
        number = int(SUBSET_SIZE[action - DISCARD_0])
        fee = f" for {before.fees[number]}" if number else ""
        return [f"{who} discards {_cards_text(number)}{fee}."]
    if action > KEEP_0:
        return [f"{who} keeps {_cards_text(int(SUBSET_SIZE[action - KEEP_0]))}."]
    return [
        {
            PASS: f"{who} passes.",
            MAKE_BID: f"{who} bids {before.price + 1}.",
            TAKE: f"{who} takes the flop.",
            MAKE_REFUSAL: f"{who} pays {refusal_price(before) if before.num_flops else 0} to refuse the flop.",
        }[action]
    ]


def _narrate_flop(before: Any, after: Any) -> list[str]:
    lines = []
    if after.last_shuffle == after.num_flops - 1:
        lines.append("The stock has run out: the discard pile is shuffled and placed under it.")
    flop = f"Flop {after.num_flops}: {_flop_text(after, int(after.num_flops) - 1)}."
    if after.phase == KEEP:
        return [*lines, f"{flop} player_{after.to_act} alone is incomplete and takes it for nothing."]
    return [*lines, f"{flop} player_{after.voice} has the first voice."]


def _narrate_award(after: Any) -> list[str]:
    pot = int(after.award[: after.num_players].sum())
    lines = [f"All hands are complete; the pot of {pot} is divided."]
    for seat in sorted(range(after.num_players), key=lambda seat: (int(after.place[seat]), _distance(after, seat))):
        hand = f"{names_of(cards_of(hand_set(after, seat)))}: {describe_high(int(after.high[seat]))}"
        tied = "tied for " if (after.high[: after.num_players] == after.high[seat]).sum() > 1 else ""
        share = f" and gets {after.award[seat]}" if after.award[seat] else ""
        lines.append(f"player_{seat} shows {hand}; {tied}{_PLACES[after.place[seat]]}{share}.")
    return lines


def _distance(s: Any, seat: int) -> int:
    """Places clockwise from the seat after the dealer."""
    return (seat - int(s.dealer) - 1) % int(s.num_players)


assert len(HIGH_CATEGORIES) == 9 and len(PHASES) == 5 and STATE.itemsize < 1024
