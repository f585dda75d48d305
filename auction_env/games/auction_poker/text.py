"""Auction Poker: what people read: views and accounts of what happened."""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.games.auction_poker.observation import CARD_ENTRIES, shows_cards
from auction_env.games.auction_poker.resample import mark_seen
from auction_env.games.auction_poker.rules import exposed_set, hole_set
from auction_env.games.auction_poker.state import (
    BET,
    BID,
    BOTH_FAILED,
    CALL,
    CHECK,
    DECLARE,
    FOLD,
    HIDDEN_PHASES,
    HIGH,
    LOW,
    MAKE_BET,
    NO_CARD,
    OVER,
    PICK,
    PICK_0,
    RAISE,
    TITLE,
    WON_ALL,
    WON_HIGH,
    WON_LOW,
    Settings,
    action_names,
)
from auction_env.games.cards import CARD_NAMES, RANKS, SUITS, cards_of, names_of
from auction_env.games.game import SeatView, TableView, entries
from auction_env.games.hands import HIGH_CATEGORIES, LOW_CATEGORIES, describe_high, describe_low, high_rank, low_rank

# --- what people read -----------------------------------------------------------------------------------------------

_DECLARATIONS = ("", "low", "high", "both")
_BET_WORDS = ("", "checks", "bets", "calls", "raises", "folds")
_RESULTS = {WON_ALL: "wins all", WON_HIGH: "wins high", WON_LOW: "wins low", BOTH_FAILED: "both failed"}


def eligibility(s: Any, seat: int) -> str:
    """Empty when a seat can be dealt in, otherwise the reason why not (A2)."""
    if s.stacks[seat] >= s.reserve:
        return ""
    return f"player_{seat} has {s.stacks[seat]} chips and needs the reserve of {s.reserve}"


def info(rows: Any, seat: Any) -> dict[str, Any]:
    """Public facts for the seat to act: the phase's number, and the chips owed to stay in (0 unless facing a bet)."""
    phase = entries(rows, "phase")
    if type(phase) is int and phase != BET:
        return {"phase": phase, "to_call": 0}
    owed = (entries(rows, "level") - entries(rows, "seat_level", seat)) * entries(rows, "bet_size")
    return {"phase": phase, "to_call": owed * (phase == BET)}


def pending(s: Any) -> int:
    """How many of the latest actions are still secret: bids and declarations until the last is in (A3, A8)."""
    return int(s.turn) if s.phase in HIDDEN_PHASES else 0


def public_name(settings: Settings, action: int) -> str:
    """An action's name as the other seats see it, once it is revealed: all of it."""
    return action_names(settings)[action]


def visible_deck(s: Any, seat: int) -> list[bool]:
    """For each place of the deck, whether a seat has seen the card there."""
    seen = np.zeros(int(s.num_ranks) * int(s.num_suits), np.bool_)
    mark_seen(s, seat, seen)
    return seen.tolist()


def view(s: Any, seat: int | None) -> TableView:
    """The table as a seat sees it; with None, everything."""
    rows_up = min(int(s.auction) + 1, int(s.num_auctions))
    titles = {
        BID: f"auction {rows_up} of {s.num_auctions}: bidding",
        PICK: f"auction {rows_up} of {s.num_auctions}: picking",
    }
    phase = titles.get(int(s.phase), {BET: "betting", DECLARE: "declaring", OVER: "deal over"}.get(int(s.phase), ""))
    lines = [f"Deal {s.deal_number + 1} of {s.num_deals}. Reserve {s.reserve}."]
    if s.carried_in:
        lines.append(f"{s.carried_in} chips were carried into this pot.")
    if s.phase == PICK:
        lines.append("Picking order: " + ", ".join(f"player_{other}" for other in s.pick_order[: s.num_in]) + ".")
    if s.phase == BET and s.level:
        lines.append(f"The bet stands at {s.level * s.bet_size}.")
    if s.phase == OVER and s.award.any():
        lines.append(f"The pot of {s.award.sum()} has been awarded.")
    return TableView(
        title=TITLE,
        phase=phase,
        pot=int(s.pot) + int(s.carried_pot),
        centre=[CARD_NAMES[card] for card in s.row[: s.row_count]],
        centre_label="row",
        seats=[_seat_view(s, other, seat) for other in range(s.num_players)],
        lines=lines,
    )


def _seat_view(s: Any, seat: int, viewer: int | None) -> SeatView:
    knows = viewer in (None, seat)
    if not s.dealt_in[seat]:
        return SeatView(seat, int(s.stacks[seat]), [], [], ["sits out"], out=True, dealer=bool(s.dealer == seat))
    holes = [CARD_NAMES[card] for card in cards_of(hole_set(s, seat))]
    notes = []
    if s.phase in (BID, PICK) and s.bids[s.auction, seat] and (knows or s.phase == PICK):
        notes.append(f"bids {s.bids[s.auction, seat]}")
    if s.folded[seat]:
        notes.append("folded")
    elif s.phase == BET and s.num_bets[seat]:
        paid = f" ({s.seat_level[seat] * s.bet_size} in)" if s.seat_level[seat] else ""
        notes.append(_BET_WORDS[s.bets[seat, s.num_bets[seat] - 1]] + paid)
    if s.declared[seat] and (knows or s.phase == OVER):
        notes.append(f"declares {_DECLARATIONS[s.declared[seat]]}")
    if s.phase == OVER:
        if s.verdict[seat]:
            share = f": {s.award[seat]}" if s.award[seat] else ""
            notes.append(_RESULTS[int(s.verdict[seat])] + share)
        notes.append(f"{s.award[seat] - s.paid[seat]:+d}")
    taken = [auction for auction in range(s.num_auctions) if s.picks[auction, seat] != NO_CARD]
    return SeatView(
        seat=seat,
        stack=int(s.stacks[seat]),
        cards=holes if knows or shows_cards(s, seat) else ["??"] * int(s.hole_cards),
        bought=[CARD_NAMES[s.picks[auction, seat]] for auction in taken],
        prices=[int(s.bids[auction, seat]) for auction in taken],
        hand=_hand_words(s, seat),
        notes=notes,
        dealer=bool(s.dealer == seat),
        to_act=_is_asked(s, seat, viewer),
        folded=bool(s.folded[seat]),
    )


def _is_asked(s: Any, seat: int, viewer: int | None) -> bool:
    """Whether a seat is shown as to act: all that choose at once, as nobody sees who of the others has chosen."""
    if viewer is None or s.phase not in HIDDEN_PHASES:
        return bool(s.to_act == seat)
    chosen = s.bids[s.auction, seat] if s.phase == BID else s.declared[seat]
    return bool(s.dealt_in[seat] and not s.folded[seat] and not (seat == viewer and chosen))


def _hand_words(s: Any, seat: int) -> str:
    """What everybody knows a seat to hold: its exposed hand (A5), after a showdown the hand it declared (A9)."""
    if s.phase == OVER and s.declared[seat]:
        high = f"high: {describe_high(int(s.high[seat]))}"
        low = f"low: {describe_low(int(s.low[seat]))}"
        return {HIGH: high, LOW: low}.get(int(s.declared[seat]), f"{high}; {low}")
    return f"shows {describe_high(int(s.exposed_key[seat]))}" if s.exposed_key[seat] else ""


def own_hand(s: Any, seat: int) -> str:
    """What all cards of a seat make, high and low, for its own eyes; empty while it has none."""
    cards = cards_of(hole_set(s, seat) | exposed_set(s, seat))
    if not cards:
        return ""
    return f"high: {describe_high(high_rank(cards))}; low: {describe_low(low_rank(cards))}"


def narrate(before: Any, action: int, after: Any) -> list[str]:
    """Public account of a move, in sentences; empty while choices are hidden."""
    seat = int(before.to_act)
    if before.phase == BID:
        return _narrate_bids(before, after) if after.phase == PICK else []
    if before.phase == PICK:
        lines = [f"player_{seat} picks {CARD_NAMES[action - PICK_0]}."]
        if after.phase != PICK:
            last = int(before.pick_order[before.turn + 1])
            lines.append(f"player_{last} gets {CARD_NAMES[after.picks[before.auction, last]]}, the last card.")
        if after.phase == BET:
            hand = describe_high(int(after.exposed_key[after.opener]))
            lines.append(f"player_{after.opener} opens the betting with the strongest exposed hand ({hand}).")
        return lines
    if before.phase == BET:
        return _narrate_bet(before, action, after)
    return _narrate_award(after) if after.phase == OVER else []


def _narrate_bids(before: Any, after: Any) -> list[str]:
    seats = [int(seat) for seat in after.order[: after.num_in]]
    bids = after.bids[after.auction]
    lines = [
        "Bids: " + ", ".join(f"player_{seat} {bids[seat]}" for seat in seats) + f". The pot is {after.pot}.",
    ]
    order = [int(seat) for seat in after.pick_order[: after.num_in]]
    for bid in sorted({int(bids[seat]) for seat in seats}, reverse=True):
        tied = [seat for seat in order if bids[seat] == bid]
        if len(tied) > 1:
            hands = ", ".join(f"player_{seat} ({describe_high(int(before.exposed_key[seat]))})" for seat in tied)
            lines.append(f"Equal bids of {bid}, by exposed hand, then clockwise from the dealer: {hands}.")
    return [*lines, "Picking order: " + ", ".join(f"player_{seat}" for seat in order) + "."]


def _narrate_bet(before: Any, action: int, after: Any) -> list[str]:
    seat, unit = int(before.to_act), int(before.bet_size)
    owed = int(before.level - before.seat_level[seat]) * unit
    text = {
        CHECK: "checks",
        MAKE_BET: f"bets {unit}",
        CALL: f"calls {owed}",
        RAISE: f"raises by {unit} to {(before.level + 1) * unit}",
        FOLD: "folds",
    }[action]
    lines = [f"player_{seat} {text}."]
    if after.phase == OVER:
        winner = int(np.argmax(after.verdict))
        lines.append(f"All others have folded: player_{winner} wins the pot of {after.award[winner]}.")
    return lines


def _narrate_award(after: Any) -> list[str]:
    lines = []
    for seat in (int(seat) for seat in after.order[: after.num_in]):
        if after.declared[seat]:
            concealed = names_of(cards_of(hole_set(after, seat)))
            lines.append(
                f"player_{seat} declares {_DECLARATIONS[after.declared[seat]]}"
                + (f", holding {concealed}" if concealed else "")
                + f" (high: {describe_high(int(after.high[seat]))}; low: {describe_low(int(after.low[seat]))})."
            )
    words = {
        WON_ALL: "wins both ways",
        WON_HIGH: "wins high",
        WON_LOW: "wins low",
        BOTH_FAILED: "fails to win both ways",
    }
    for seat in range(after.num_players):
        if after.verdict[seat]:
            share = f" and gets {after.award[seat]}" if after.award[seat] else ""
            lines.append(f"player_{seat} {words[int(after.verdict[seat])]}{share}.")
    if after.carried_pot:
        where = "is left unawarded" if after.match_over else "is carried into the next deal"
        lines.append(f"Nobody wins: the pot of {after.carried_pot} {where}.")
    elif not any(after.verdict[seat] & (WON_ALL | WON_HIGH | WON_LOW) for seat in range(after.num_players)):
        lines.append("Nobody wins, and the match is over: the seats that declared share the pot.")
    return lines + _narrate_odd_chips(after)


def _narrate_odd_chips(after: Any) -> list[str]:
    """Where chips went that could not be divided (A12, A13)."""
    seats, lines = range(after.num_players), []
    high, low, shared = (
        [int(after.award[seat]) for seat in seats if after.verdict[seat] == won and after.award[seat]]
        for won in (WON_HIGH, WON_LOW, BOTH_FAILED)
    )
    if high and low and sum(high) != sum(low):
        lines.append("The odd chip of the pot goes to the high half.")
    if any(len(set(portion)) > 1 for portion in (high, low, shared)):
        lines.append("Chips that cannot be shared equally go one each, clockwise from the dealer.")
    return lines


assert len(HIGH_CATEGORIES) == 9 and len(LOW_CATEGORIES) == 6 and len(RANKS + SUITS) == CARD_ENTRIES
