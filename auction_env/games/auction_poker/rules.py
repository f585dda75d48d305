"""Auction Poker: deal, what is legal, act, award; rulings are cited by number (``RULES.md``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.core.jit import inner, kernel
from auction_env.games.auction_poker.state import (
    BET,
    BID,
    BID_0,
    BOTH,
    BOTH_FAILED,
    CALL,
    CHECK,
    CHECKED,
    DECLARE,
    DECLARE_BOTH,
    DECLARE_HIGH,
    DECLARE_LOW,
    FOLD,
    HIGH,
    LOW,
    MAKE_BET,
    MAX_AUCTIONS,
    MAX_PLAYERS,
    MAX_RAISES,
    NO_CARD,
    OVER,
    PICK,
    PICK_0,
    RAISE,
    WON_ALL,
    WON_HIGH,
    WON_LOW,
)
from auction_env.games.cards import EMPTY, card_bit, draw_below, next_seat, shuffle_deck
from auction_env.games.hands import few_key, high_key, low_key

# --- dealing --------------------------------------------------------------------------------------------------------


@inner
def new_match(s: Any) -> None:
    """Equal stacks and a first dealer drawn from the generator; nothing is dealt yet."""
    s.deal_number = 0
    s.carried_pot = 0
    s.match_over = 0
    s.total_chips = s.num_players * s.starting_chips
    for seat in range(s.num_players):
        s.stacks[seat] = s.starting_chips
    s.dealer = draw_below(s, s.num_players)


@inner
def deal(s: Any, given: Any) -> None:
    """Ante, shuffle and deal (A1, A2, A13); the first ``given`` cards of the deck stay as they are."""
    s.num_in = 0
    for seat in range(MAX_PLAYERS):
        s.dealt_in[seat] = seat < s.num_players and s.stacks[seat] >= s.reserve
        s.num_in += s.dealt_in[seat]
        s.paid[seat] = 0
        s.award[seat] = 0
        s.exposed_key[seat] = 0
        s.num_bets[seat] = 0
        s.seat_level[seat] = 0
        s.folded[seat] = 0
        s.declared[seat] = 0
        s.verdict[seat] = 0
    for auction in range(MAX_AUCTIONS):  # bounds that the compiler knows make one block of each
        for seat in range(MAX_PLAYERS):
            s.bids[auction, seat] = 0
            s.picks[auction, seat] = NO_CARD
    for seat in range(MAX_PLAYERS):
        for place in range(MAX_RAISES + 2):
            s.bets[seat, place] = 0
    shuffle_deck(s, given, s.num_in * (s.hole_cards + s.num_auctions))
    s.carried_in = s.carried_pot
    s.pot = s.carried_pot
    s.carried_pot = 0
    s.num_in = 0
    seat = s.dealer
    for _ in range(s.num_players):
        seat = next_seat(seat, s.num_players)
        if s.dealt_in[seat]:
            s.order[s.num_in] = seat
            s.tie_place[seat] = s.num_in
            s.num_in += 1
            _pay(s, seat, s.ante)
    s.active = s.num_in
    s.level = 0
    s.to_answer = 0
    s.opener = -1
    s.auction = 0
    _open_auction(s)


@inner
def deal_again(s: Any) -> None:
    """Go back to the start of the deal, with the same cards."""
    for seat in range(s.num_players):
        s.stacks[seat] += s.paid[seat]
    s.carried_pot = s.carried_in
    deal(s, np.int64(s.num_ranks) * s.num_suits)


@inner
def action_taken(now: Any, past: Any) -> Any:
    """What the seat to act at ``past`` did there, in a deal that stands at ``now``; -1 if that is not public yet."""
    seat = past.to_act
    if past.phase == BID:
        return BID_0 + now.bids[past.auction, seat] if bids_are_in(now, past.auction) else -1
    if past.phase == PICK:
        card = now.picks[past.auction, seat]
        return np.int64(card) if card != NO_CARD else -1
    if past.phase == BET and past.num_bets[seat] < now.num_bets[seat]:
        return now.bets[seat, past.num_bets[seat]] - CHECKED + CHECK
    return -1


@inner
def bids_are_in(s: Any, auction: Any) -> Any:
    """Whether the bids of an auction are public: it is finished, or all bids are in (A3)."""
    return auction < s.auction or (auction == s.auction and s.phase == PICK)


@inner
def next_deal(s: Any) -> None:
    """Pass the deal to the next seat still in the match, and deal (A15)."""
    s.deal_number += 1
    dealer = s.dealer
    for _ in range(s.num_players):
        dealer = next_seat(dealer, s.num_players)
        if s.stacks[dealer] >= s.reserve:
            break
    s.dealer = dealer
    deal(s, 0)


@inner
def _pay(s: Any, seat: Any, chips: Any) -> None:
    s.stacks[seat] -= chips
    s.paid[seat] += chips
    s.pot += chips


@inner
def order_index(s: Any, seat: Any) -> Any:
    """A seat's place in ``order``, -1 if it was not dealt in."""
    found: Any = -1
    for place in range(s.num_in):  # no early end: a branch that cannot be foreseen costs more
        found += (place + 1) * (s.order[place] == seat)
    return found


@kernel
def hole_set(s: Any, seat: Any) -> Any:
    """The concealed cards of a seat as a card set: dealt one at a time, clockwise from the dealer (A1)."""
    cards, place = EMPTY, order_index(s, seat)
    if place >= 0:
        for turn in range(s.hole_cards):
            cards |= card_bit(s.deck[turn * s.num_in + place])
    return cards


@kernel
def exposed_set(s: Any, seat: Any) -> Any:
    """The cards a seat has picked, as a card set."""
    cards = EMPTY
    for auction in range(s.num_auctions):
        card = s.picks[auction, seat]
        if card != NO_CARD:
            cards |= card_bit(card)
    return cards


# --- legal actions --------------------------------------------------------------------------------------------------


@inner
def legal(s: Any, out: Any) -> Any:
    """Write the legal actions of ``s.to_act``; return how many, none when the deal is over (A3, A4, A6, A8)."""
    if s.phase == BID:
        for bid in range(s.max_bid):
            out[bid] = BID_0 + 1 + bid
        return np.int64(s.max_bid)
    if s.phase == PICK:
        for place in range(s.row_count):
            out[place] = PICK_0 + s.row[place]
        return np.int64(s.row_count)
    if s.phase == DECLARE:
        out[0] = DECLARE_LOW
        out[1] = DECLARE_HIGH
        out[2] = DECLARE_BOTH
        return 3
    if s.phase != BET:
        return 0
    if s.level == s.seat_level[s.to_act]:  # not facing a bet
        out[0] = CHECK
        out[1] = MAKE_BET
        return 2
    out[0] = CALL
    count = 1
    if s.level <= s.max_raises:
        out[1] = RAISE
        count = 2
    out[count] = FOLD
    return count + 1


# --- acting ---------------------------------------------------------------------------------------------------------


@inner
def act(s: Any, action: Any) -> None:
    """Apply a legal action of the seat to act."""
    if s.phase == BID:
        _bid(s, action - BID_0)
    elif s.phase == PICK:
        _pick(s, action - PICK_0)
    elif s.phase == BET:
        _bet(s, action)
    else:
        _declare(s, action - DECLARE_LOW + LOW)


@inner
def _open_auction(s: Any) -> None:
    """Turn up a row of one card a seat, in deck order (A1)."""
    first = s.num_in * (s.hole_cards + s.auction)
    s.row_count = s.num_in
    for place in range(s.num_in):
        s.row[place] = s.deck[first + place]
    s.phase = BID
    s.turn = 0
    s.to_act = s.order[0]


@inner
def _bid(s: Any, bid: Any) -> None:
    s.bids[s.auction, s.to_act] = bid
    s.turn += 1
    if s.turn < s.num_in:
        s.to_act = s.order[s.turn]
        return
    for place in range(s.num_in):  # all are in: now, and only now, the chips move (A3)
        seat = s.order[place]
        _pay(s, seat, s.bids[s.auction, seat])
    _set_pick_order(s)
    s.phase = PICK
    s.turn = 0
    s.to_act = s.pick_order[0]


@inner
def _set_pick_order(s: Any) -> None:
    """Highest bid first; equal bids by ``tie_place`` (A4).

    Each seat's place is the number of seats before it: without branches, which could not be foreseen here.
    """
    for place in range(s.num_in):
        seat, before = s.order[place], 0
        mine = np.int64(s.bids[s.auction, seat]) * 8 - s.tie_place[seat]
        for rival in range(s.num_in):
            other = s.order[rival]
            before += np.int64(s.bids[s.auction, other]) * 8 - s.tie_place[other] > mine
        s.pick_order[before] = seat


@inner
def _set_tie_places(s: Any) -> None:
    """The order of equal bids: by the exposed hand, strongest first, then clockwise from the dealer (A4)."""
    for place in range(s.num_in):
        seat, before = s.order[place], 0
        key = s.exposed_key[seat]
        for rival in range(s.num_in):
            other = s.exposed_key[s.order[rival]]
            before += (other > key) | ((other == key) & (rival < place))
        s.tie_place[seat] = before


@inner
def _pick(s: Any, card: Any) -> None:
    _take(s, s.to_act, card)
    s.turn += 1
    if s.row_count > 1:
        s.to_act = s.pick_order[s.turn]
        return
    _take(s, s.pick_order[s.turn], s.row[0])  # the last card goes without a decision (A4)
    s.auction += 1
    for place in range(s.num_in):
        seat = s.order[place]
        exposed = exposed_set(s, seat)
        s.exposed_key[seat] = few_key(exposed) if s.auction < 5 else high_key(exposed)
    _set_tie_places(s)
    if s.auction < s.num_auctions:
        _open_auction(s)
    else:
        _open_betting(s)


@inner
def _take(s: Any, seat: Any, card: Any) -> None:
    s.picks[s.auction, seat] = card
    left = 0
    for place in range(s.row_count):
        other = s.row[place]
        s.row[left] = other
        left += other != card
    s.row_count = left


@inner
def _open_betting(s: Any) -> None:
    """The strongest exposed hand opens; a tie goes clockwise from the dealer (A6)."""
    opener = 0
    for seat in range(s.num_players):
        if s.dealt_in[seat] and s.tie_place[seat] == 0:
            opener = seat
    s.opener = opener
    s.phase = BET
    s.to_act = opener
    s.to_answer = s.num_in


@inner
def _bet(s: Any, action: Any) -> None:
    seat = s.to_act
    s.bets[seat, s.num_bets[seat]] = action - CHECK + CHECKED
    s.num_bets[seat] += 1
    s.to_answer -= 1
    if action == FOLD:
        s.folded[seat] = 1
        s.active -= 1
        if s.active == 1:
            _win_uncontested(s)
            return
    elif action != CHECK:
        if action != CALL:
            s.level += 1
            s.to_answer = s.active - 1
        _pay(s, seat, (s.level - s.seat_level[seat]) * s.bet_size)
        s.seat_level[seat] = s.level
    if s.to_answer == 0:
        s.phase = DECLARE
        s.to_act = s.dealer
        s.turn = 0
    s.to_act = _next_active(s, s.to_act)


@inner
def _next_active(s: Any, seat: Any) -> Any:
    """The next seat clockwise that was dealt in and has not folded."""
    seat = next_seat(seat, s.num_players)
    while s.folded[seat] or not s.dealt_in[seat]:
        seat = next_seat(seat, s.num_players)
    return seat


@inner
def _declare(s: Any, declaration: Any) -> None:
    s.declared[s.to_act] = declaration
    s.turn += 1
    if s.turn < s.active:
        s.to_act = _next_active(s, s.to_act)
        return
    _rank_hands(s)
    _award_declared(s)
    _finish_deal(s)


# --- the award ------------------------------------------------------------------------------------------------------


@inner
def _win_uncontested(s: Any) -> None:
    """All others have folded: the whole pot, without a declaration (A7)."""
    winner = _next_active(s, s.to_act)
    s.award[winner] = s.pot
    s.verdict[winner] = WON_ALL
    s.pot = 0
    _finish_deal(s)


@inner
def _rank_hands(s: Any) -> None:
    for seat in range(s.num_players):
        if s.declared[seat]:
            cards = hole_set(s, seat) | exposed_set(s, seat)
            s.high[seat] = high_key(cards)
            s.low[seat] = low_key(cards)


@inner
def _beats(s: Any, seat: Any, other: Any, direction: Any) -> Any:
    """Whether a seat's hand beats another's, high or low (A9)."""
    if direction == HIGH:
        return s.high[seat] > s.high[other]
    return s.low[seat] < s.low[other]


@inner
def _wins_outright(s: Any, seat: Any, direction: Any) -> Any:
    """Whether a seat beats every other contender in a direction: those who declared it or both (A10)."""
    for other in range(s.num_players):
        if other != seat and s.declared[other] & direction and not _beats(s, seat, other, direction):
            return False
    return True


@inner
def _award_declared(s: Any) -> None:
    """Divide the pot among the declarations (A10, A11), or carry it."""
    num_low, num_high = 0, 0
    for seat in range(s.num_players):
        if s.declared[seat] == BOTH:
            if _wins_outright(s, seat, HIGH) and _wins_outright(s, seat, LOW):
                s.award[seat] = s.pot
                s.verdict[seat] = WON_ALL
                s.pot = 0
            else:
                s.verdict[seat] = BOTH_FAILED
        num_low += s.declared[seat] == LOW
        num_high += s.declared[seat] == HIGH
    if num_low == 0 and num_high == 0:
        s.carried_pot = s.pot
    elif s.pot > 0:
        low_half = s.pot // 2  # an odd chip goes to the high half (A12)
        if num_high == 0:
            low_half = s.pot
        elif num_low == 0:
            low_half = 0
        if num_high:
            _award_direction(s, s.pot - low_half, HIGH, WON_HIGH)
        if num_low:
            _award_direction(s, low_half, LOW, WON_LOW)
    s.pot = 0


@inner
def _award_direction(s: Any, chips: Any, direction: Any, won: Any) -> None:
    """Give a portion to the best hands that declared one direction alone (A11, A12)."""
    winners = 0
    for seat in range(s.num_players):
        if s.declared[seat] == direction:
            best = True
            for other in range(s.num_players):
                best &= not (s.declared[other] == direction and _beats(s, other, seat, direction))
            if best:
                s.verdict[seat] = won
                winners += 1
    share, left_over = chips // winners, chips % winners
    for place in range(s.num_in):
        seat = s.order[place]
        if s.verdict[seat] == won:
            s.award[seat] = share + (left_over > 0)
            left_over -= left_over > 0


@inner
def _finish_deal(s: Any) -> None:
    """Move the award to the stacks; end the match if no further deal can be played (A2, A13)."""
    s.phase = OVER
    s.to_act = -1
    can_play, declarers = 0, 0
    for seat in range(s.num_players):
        s.stacks[seat] += s.award[seat]
        can_play += s.stacks[seat] >= s.reserve
        declarers += s.declared[seat] > 0
    s.match_over = can_play < 2 or s.deal_number + 1 >= s.num_deals
    if s.match_over and s.carried_pot and not s.keep_carry:
        share, left_over = s.carried_pot // declarers, s.carried_pot % declarers
        for place in range(s.num_in):
            seat = s.order[place]
            if s.declared[seat]:
                chips = share + (left_over > 0)
                left_over -= left_over > 0
                s.award[seat] += chips
                s.stacks[seat] += chips
        s.carried_pot = 0
