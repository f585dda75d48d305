"""Auction Flop Poker: deal, what is legal, act, award; rulings are cited by number (``RULES.md``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.core.jit import inner, kernel
from auction_env.games.auction_flop.state import (
    BID,
    BID_WORDS,
    BIDS_PER_WORD,
    DISCARD,
    DISCARD_0,
    KEEP,
    KEEP_0,
    MAKE_BID,
    MAKE_REFUSAL,
    NEVER,
    NOT_YET,
    OVER,
    PASS,
    REFUSE,
    SUBSET_SIZE,
    TAKE,
    WHOLE_HAND,
)
from auction_env.games.cards import (
    EMPTY,
    NUM_CARDS,
    TOP,
    card_bit,
    clockwise,
    draw_below,
    draw_word,
    next_seat,
    shuffle_deck,
    suit_ranks,
)
from auction_env.games.hands import high_key

# --- dealing --------------------------------------------------------------------------------------------------------


@inner
def new_match(s: Any) -> None:
    """Equal stacks and a first dealer drawn from the generator (B1); nothing is dealt yet."""
    s.deal_number = 0
    s.carried_pot = 0
    s.match_over = 0
    s.total_chips = np.int64(s.num_players) * s.starting_chips
    for seat in range(s.num_players):
        s.stacks[seat] = s.starting_chips
    s.dealer = draw_below(s, s.num_players)


@inner
def deal(s: Any, given: Any) -> None:
    """Ante, shuffle and deal (B1); the first ``given`` cards of the deck stay as they are.

    The order that reshuffles will bring is settled now too, by the state of ``s.chance`` (B8).
    """
    shuffle_deck(s, given, deck_size(s))
    s.chance = draw_word(s)
    s.pot = 0
    for seat in range(s.num_players):
        s.dealt_in[seat] = 1
        s.paid[seat] = 0
        s.award[seat] = 0
        s.high[seat] = 0
        s.place[seat] = 0
        s.discards[seat] = 0
        s.discarded[seat] = NOT_YET
        s.held[seat] = s.hand_size
        _pay(s, seat, s.ante)
    for word in range(BID_WORDS):
        s.bid_log[word] = 0
    s.num_bids = 0
    s.num_flops = 0
    s.num_open = 0
    s.price = 0
    s.bidder = -1
    s.passes = 0
    s.first_shuffle = NEVER
    s.last_shuffle = NEVER
    s.tail = 0
    s.stock_at = 0
    stock_from_deck(s)
    s.voice = s.dealer
    s.phase = DISCARD
    s.to_act = next_seat(s.dealer, s.num_players)


@inner
def next_deal(s: Any) -> None:
    """Pass the deal to the left, and deal (B1)."""
    s.deal_number += 1
    s.dealer = next_seat(s.dealer, s.num_players)
    deal(s, 0)


@inner
def _pay(s: Any, seat: Any, chips: Any) -> None:
    s.stacks[seat] -= chips
    s.paid[seat] += chips
    s.pot += chips


@inner
def num_dealt(s: Any) -> Any:
    """How many cards are dealt to the seats: places of the deck before the stock."""
    return np.int64(s.num_players) * s.hand_size


@inner
def deck_size(s: Any) -> Any:
    """Cards in the deck."""
    return np.int64(s.num_ranks) * s.num_suits


@inner
def stock_from_deck(s: Any) -> None:
    """The stock as it is after the deal: what the deck holds beyond the cards dealt."""
    dealt = num_dealt(s)
    s.stock_size = deck_size(s) - dealt
    for place in range(s.stock_size):
        s.stock[place] = s.deck[dealt + place]


# --- sets of cards --------------------------------------------------------------------------------------------------


@inner
def count_cards(cards: Any) -> Any:
    """How many cards are in a set."""
    count = 0
    while cards != EMPTY:
        cards &= cards - np.uint64(1)
        count += 1
    return count


@inner
def top_card(cards: Any) -> Any:
    """The first card of a set in sorted order: highest rank first, equal ranks s h d c."""
    top: Any = -1
    for suit in range(4):
        ranks = suit_ranks(cards, suit)
        if ranks:
            top = max(top, 4 * np.int64(TOP[ranks]) + suit)
    return top


@inner
def cards_chosen(cards: Any, subset: Any) -> Any:
    """The cards of a set at some places of its sorted order, as a set."""
    chosen = EMPTY
    while subset and cards != EMPTY:
        bit = card_bit(top_card(cards))
        cards ^= bit
        if subset & 1:
            chosen |= bit
        subset >>= 1
    return chosen


@kernel
def deck_set(s: Any) -> Any:
    """All cards of the deck as a card set."""
    cards = EMPTY
    for place in range(deck_size(s)):
        cards |= card_bit(s.deck[place])
    return cards


@inner
def hole_position(s: Any, seat: Any, turn: Any) -> Any:
    """The place in the deck of a seat's card: dealt one at a time, clockwise from the dealer (B1)."""
    n = np.int64(s.num_players)
    return turn * n + clockwise(next_seat(s.dealer, n), seat, n)


@inner
def _hole_part(s: Any, seat: Any, turns: Any) -> Any:
    """The cards a seat was dealt in some turns, a bit each, as a card set."""
    cards = EMPTY
    for turn in range(s.hand_size):
        if turns >> turn & 1:
            cards |= card_bit(s.deck[hole_position(s, seat, turn)])
    return cards


@kernel
def hole_set(s: Any, seat: Any) -> Any:
    """The cards a seat was dealt, as a card set (B1)."""
    return _hole_part(s, seat, WHOLE_HAND)


@kernel
def discard_set(s: Any, seat: Any) -> Any:
    """The cards a seat has discarded, as a card set (B2)."""
    return _hole_part(s, seat, s.discards[seat])


@inner
def held_hole_set(s: Any, seat: Any) -> Any:
    """The cards a seat was dealt and has not discarded, as a card set."""
    return _hole_part(s, seat, WHOLE_HAND ^ s.discards[seat])


@inner
def _kept_set(s: Any, flop: Any) -> Any:
    """The cards of a flop that its buyer kept, as a card set."""
    cards = EMPTY
    for place in range(s.flop_size):
        if s.kept[flop] >> place & 1:
            cards |= card_bit(s.flops[flop, place])
    return cards


@kernel
def hand_set(s: Any, seat: Any) -> Any:
    """The cards a seat holds, as a card set."""
    cards = held_hole_set(s, seat)
    for flop in range(s.num_flops):
        if s.buyer[flop] == seat:
            cards |= _kept_set(s, flop)
    return cards


@inner
def hands_set(s: Any) -> Any:
    """The cards in all hands, as a card set."""
    cards = EMPTY
    for seat in range(s.num_players):
        cards |= hand_set(s, seat)
    return cards


@inner
def flop_set(s: Any, first: Any, last: Any) -> Any:
    """All cards of the flops from ``first`` up to, but without, ``last``, as a card set."""
    cards = EMPTY
    for flop in range(first, last):
        for place in range(s.flop_size):
            cards |= card_bit(s.flops[flop, place])
    return cards


@kernel
def flop_up(s: Any) -> Any:
    """Whether a flop lies on the table; it is the last of ``s.num_flops``."""
    return s.phase == BID or s.phase == REFUSE or s.phase == KEEP


# --- legal actions --------------------------------------------------------------------------------------------------


@inner
def legal(s: Any, out: Any) -> Any:
    """Write the legal actions of ``s.to_act``; return how many, none when the deal is over (B2, B4, B5, B6)."""
    count = 0
    if s.phase == DISCARD:
        for subset in range(1 << s.hand_size):
            if s.fees[SUBSET_SIZE[subset]] <= s.stacks[s.to_act]:
                out[count] = DISCARD_0 + subset
                count += 1
    elif s.phase == BID:
        out[0] = PASS
        count = 1
        if s.stacks[s.to_act] > s.price:
            out[1] = MAKE_BID
            count = 2
    elif s.phase == REFUSE:
        out[0] = TAKE
        count = 1
        if s.stacks[s.to_act] >= refusal_price(s):
            out[1] = MAKE_REFUSAL
            count = 2
    elif s.phase == KEEP:
        room = s.hand_size - s.held[s.to_act]
        for subset in range(1, 1 << s.flop_size):
            if SUBSET_SIZE[subset] <= room:
                out[count] = KEEP_0 + subset
                count += 1
    return count


@kernel
def refusal_price(s: Any) -> Any:
    """Chips to refuse the flop on the table, after those who have refused it already (B6)."""
    return 1 - s.cost[s.num_flops - 1]


# --- acting ---------------------------------------------------------------------------------------------------------


@inner
def act(s: Any, action: Any) -> None:
    """Apply a legal action of the seat to act."""
    if s.phase == DISCARD:
        _discard(s, action - DISCARD_0)
    elif action == PASS:
        _pass(s)
    elif action == MAKE_BID:
        _bid(s)
    elif action == TAKE:
        _sell(s, s.to_act)
    elif action == MAKE_REFUSAL:
        _refuse(s)
    else:
        _keep(s, action - KEEP_0)


@inner
def _discard(s: Any, subset: Any) -> None:
    """Discard, pay, and go on to the next seat clockwise; the dealer is last (B2)."""
    seat, number = s.to_act, SUBSET_SIZE[subset]
    chosen = cards_chosen(hole_set(s, seat), subset)
    for turn in range(s.hand_size):
        if chosen & card_bit(s.deck[hole_position(s, seat, turn)]):
            s.discards[seat] |= 1 << turn
    s.discarded[seat] = number
    s.held[seat] -= number
    s.num_open += number > 0
    _pay(s, seat, s.fees[number])
    if seat == s.dealer:
        _open_flop(s)
    else:
        s.to_act = next_seat(seat, s.num_players)


@inner
def _next_open(s: Any, seat: Any) -> Any:
    """The next seat clockwise that holds fewer cards than a hand has."""
    seat = next_seat(seat, s.num_players)
    while s.held[seat] == s.hand_size:
        seat = next_seat(seat, s.num_players)
    return seat


@inner
def _open_flop(s: Any) -> None:
    """Turn up a flop for the next first voice (B3); one seat alone gets it (B7); if no hand is open the deal ends."""
    if s.num_open == 0:
        _award(s)
        return
    _turn_up(s)
    s.voice = _next_open(s, s.voice)
    s.to_act = s.voice
    s.price = 0
    s.bidder = -1
    s.passes = 0
    s.phase = BID
    if s.num_open == 1:
        _sell(s, s.voice)


@inner
def _turn_up(s: Any) -> None:
    """Put the next cards of the stock on the table, sorted (B3)."""
    if s.stock_size - s.stock_at < s.flop_size:
        _reshuffle(s)
    flop = s.num_flops
    s.stock_at += s.flop_size
    s.buyer[flop] = -1
    s.kept[flop] = 0
    s.cost[flop] = 0
    s.num_flops += 1
    sort_flop(s)


@inner
def sort_flop(s: Any) -> None:
    """Write the last flop, sorted: the cards of the stock that were turned up last."""
    flop = s.num_flops - 1
    first = s.stock_at - s.flop_size
    for place in range(s.flop_size):
        card = s.stock[first + place]
        slot = place
        while slot > 0 and s.flops[flop, slot - 1] < card:
            s.flops[flop, slot] = s.flops[flop, slot - 1]
            slot -= 1
        s.flops[flop, slot] = card


@inner
def _reshuffle(s: Any) -> None:
    """Shuffle the discard pile and place it under what is left of the stock (B8)."""
    pile = deck_set(s) ^ hands_set(s)
    left = 0
    for place in range(s.stock_at, s.stock_size):
        s.stock[left] = s.stock[place]
        pile ^= card_bit(s.stock[place])
        left += 1
    size = left
    for card in range(NUM_CARDS):
        if pile & card_bit(card):
            s.stock[size] = card
            size += 1
    s.stock_at = 0
    s.stock_size = size
    _shuffle_pile(s, left)
    if s.first_shuffle == NEVER:
        s.first_shuffle = s.num_flops
        s.tail = left
    s.last_shuffle = s.num_flops


@inner
def _shuffle_pile(s: Any, first: Any) -> None:
    """Shuffle the stock from a place on, with the deal's own generator (Fisher and Yates)."""
    rng = s.rng
    s.rng = s.chance
    for place in range(first, s.stock_size - 1):
        other = place + draw_below(s, s.stock_size - place)
        card = s.stock[place]
        s.stock[place] = s.stock[other]
        s.stock[other] = card
    s.chance = s.rng
    s.rng = rng


@inner
def _pass(s: Any) -> None:
    """Pass; the flop is sold when all other open seats have passed on a bid (B5), or goes begging (B6)."""
    s.passes += 1
    if s.bidder >= 0 and s.passes == s.num_open - 1:
        s.cost[s.num_flops - 1] = s.price
        _pay(s, s.bidder, s.price)
        _sell(s, s.bidder)
    elif s.passes == s.num_open:
        s.phase = REFUSE
        s.to_act = s.voice
    else:
        s.to_act = _next_open(s, s.to_act)


@inner
def _bid(s: Any) -> None:
    """Bid one more than the highest bid (B4)."""
    s.price += 1
    s.bidder = s.to_act
    s.passes = 0
    if s.full_view and s.num_bids < s.bid_slots:
        s.bid_log[s.num_bids // BIDS_PER_WORD] |= np.uint64(s.to_act) << np.uint64(3 * (s.num_bids % BIDS_PER_WORD))
        s.num_bids += 1
    s.to_act = _next_open(s, s.to_act)


@inner
def bidder_of(s: Any, bid: Any) -> Any:
    """The seat that made a bid of this deal, counted from 0."""
    return np.int64(s.bid_log[bid // BIDS_PER_WORD] >> np.uint64(3 * (bid % BIDS_PER_WORD)) & np.uint64(7))


@inner
def _refuse(s: Any) -> None:
    """Pay to refuse the flop; the next open seat is asked for one chip more (B6)."""
    _pay(s, s.to_act, refusal_price(s))
    s.cost[s.num_flops - 1] -= 1
    s.to_act = _next_open(s, s.to_act)


@inner
def _sell(s: Any, seat: Any) -> None:
    """A seat gets the flop on the table, and is asked what it keeps of it (B5)."""
    s.buyer[s.num_flops - 1] = seat
    s.phase = KEEP
    s.to_act = seat


@inner
def _keep(s: Any, subset: Any) -> None:
    """Keep some of the flop and discard the rest; then the next flop is due (B5)."""
    seat = s.to_act
    s.kept[s.num_flops - 1] = subset
    s.held[seat] += SUBSET_SIZE[subset]
    s.num_open -= s.held[seat] == s.hand_size
    _open_flop(s)


# --- the award ------------------------------------------------------------------------------------------------------


@inner
def _award(s: Any) -> None:
    """All hands are shown, the pot divided; end the match if no further deal can be played (B9, B10)."""
    s.phase = OVER
    s.to_act = -1
    for seat in range(s.num_players):
        s.high[seat] = high_key(hand_set(s, seat))
    for seat in range(s.num_players):
        better = 0
        for other in range(s.num_players):
            better += s.high[other] > s.high[seat]
        s.place[seat] = better
        s.award[seat] = _share(s, seat)
    all_can_pay = True
    for seat in range(s.num_players):
        s.stacks[seat] += s.award[seat]
        all_can_pay &= s.stacks[seat] >= s.ante
    s.pot = 0
    s.match_over = not all_can_pay or s.deal_number + 1 >= s.num_deals


@inner
def _share(s: Any, seat: Any) -> Any:
    """What a seat gets: tied hands pool the places they fill; odd chips go clockwise from the dealer (B9)."""
    tied, before = 0, 0
    other = s.dealer
    met = False
    for _ in range(s.num_players):
        other = next_seat(other, s.num_players)
        met |= other == seat
        if s.high[other] == s.high[seat]:
            tied += 1
            before += not met
    chips = 0
    for place in range(s.place[seat], s.place[seat] + tied):
        chips += place_chips(s, place)
    return chips // tied + (before < chips % tied)


@inner
def place_chips(s: Any, place: Any) -> Any:
    """The chips of a place: the whole chips of its share, and those left over one each from the best down (B9)."""
    pot = np.int64(s.pot)
    parts: Any = 0
    given: Any = 0
    for other in range(s.num_players):
        parts += np.int64(s.shares[other])
    for other in range(s.num_players):
        given += pot * np.int64(s.shares[other]) // parts
    return pot * np.int64(s.shares[place]) // parts + (place < pot - given)
