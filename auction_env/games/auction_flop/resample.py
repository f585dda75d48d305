"""Auction Flop Poker: what a seat may not know, drawn anew."""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.core.jit import inner, kernel
from auction_env.games.auction_flop.rules import (
    count_cards,
    deck_set,
    deck_size,
    flop_set,
    hands_set,
    held_hole_set,
    hole_position,
    hole_set,
    num_dealt,
    stock_from_deck,
)
from auction_env.games.auction_flop.state import MAX_HAND, NEVER, OVER, SUBSET_SIZE
from auction_env.games.cards import EMPTY, NUM_CARDS, card_bit, draw_below, draw_word

# --- what a seat may not know, drawn anew ---------------------------------------------------------------------------
# A seat knows what it was dealt, discarded and kept, every flop, and at the end every hand. Before a reshuffle (B8) all
# else is equally likely. After one, a card that comes up again has not been kept by the buyer of the earlier flop; a
# card that comes up for the first time was discarded from a hand, or is one of the ``tail`` cards of the old stock,
# which are all in the first flop after the reshuffle. All assignments that satisfy this are equally likely.


@inner
def _unseen(s: Any, me: Any) -> Any:
    """Cards that seat ``me`` has neither been dealt nor seen in a flop before a reshuffle, nor in a hand shown."""
    cards = deck_set(s) ^ hole_set(s, me) ^ flop_set(s, 0, min(s.first_shuffle, s.num_flops))
    if s.phase == OVER:
        for seat in range(s.num_players):
            if seat != me:
                cards ^= held_hole_set(s, seat)
    return cards


@inner
def _tail_choice(s: Any, me: Any) -> Any:
    """Cards of the first flop after a reshuffle that, for all that ``me`` knows, may have been in the old stock."""
    if s.first_shuffle == NEVER:
        return EMPTY
    return _unseen(s, me) & flop_set(s, s.first_shuffle, s.first_shuffle + 1)


@inner
def _deck_place_seen(s: Any, me: Any, place: Any) -> Any:
    """Whether seat ``me`` knows the card at a place of the deck."""
    dealt = num_dealt(s)
    if place < dealt:
        owner = (s.dealer + 1 + place % s.num_players) % s.num_players
        return owner == me or (s.phase == OVER and s.discards[owner] >> place // s.num_players & 1 == 0)
    if place < dealt + min(s.first_shuffle, s.num_flops) * np.int64(s.flop_size):
        return True
    return s.first_shuffle != NEVER and count_cards(_tail_choice(s, me)) == s.tail


@kernel
def mark_seen(s: Any, me: Any, seen: Any) -> None:
    """Write for each place of the deck whether seat ``me`` knows the card there."""
    for place in range(deck_size(s)):
        seen[place] = _deck_place_seen(s, me, place)


@inner
def _draw_card(s: Any, cards: Any) -> Any:
    """A random card of a set."""
    skip = draw_below(s, count_cards(cards))
    found = 0
    for card in range(NUM_CARDS):
        if cards & card_bit(card):
            if skip == 0:
                found = card
            skip -= 1
    return found


@inner
def resample_from_infostate(s: Any, me: Any) -> None:
    """Draw anew, with ``s.rng``, all that seat ``me`` cannot know, uniformly among what agrees with what it does know.

    That is the cards of the other seats, which of them they discarded, which cards of their flops they kept, and the
    order of the stock, now and after later reshuffles. The numbers of cards discarded and kept are public.
    """
    if s.phase != OVER:
        for flop in range(s.num_flops):
            if s.buyer[flop] != me and s.kept[flop]:
                _redraw_kept(s, flop)
    rest = _redraw_holes(s, me)
    if s.first_shuffle == NEVER:
        for place in range(num_dealt(s) + s.num_flops * np.int64(s.flop_size), deck_size(s)):
            card = _draw_card(s, rest)
            rest ^= card_bit(card)
            s.deck[place] = card
        stock_from_deck(s)
    else:
        _redraw_stock(s)
    s.chance = draw_word(s)


@inner
def _draw_subset(s: Any, places: Any, number: Any) -> Any:
    """A random subset, of a given number, of some places (a bit each)."""
    left, subset = SUBSET_SIZE[places], 0
    for place in range(MAX_HAND):
        if places >> place & 1:
            if draw_below(s, left) < number:
                subset |= 1 << place
                number -= 1
            left -= 1
    return subset


@inner
def _redraw_kept(s: Any, flop: Any) -> None:
    """Choose which cards of a flop its buyer kept: as many as it did, none that has come up again since."""
    again, places = flop_set(s, flop + 1, s.num_flops), 0
    for place in range(s.flop_size):
        if again & card_bit(s.flops[flop, place]) == EMPTY:
            places |= 1 << place
    s.kept[flop] = _draw_subset(s, places, SUBSET_SIZE[s.kept[flop]])


@inner
def _redraw_tail(s: Any, me: Any) -> Any:
    """Choose which cards were left in the stock at the first reshuffle; return them as a card set."""
    choice = _tail_choice(s, me)
    known = count_cards(choice) == s.tail
    cards = EMPTY
    for place in range(deck_size(s) - s.tail, deck_size(s)):
        if not known:
            card = _draw_card(s, choice)
            choice ^= card_bit(card)
            s.deck[place] = card
        cards |= card_bit(s.deck[place])
    return cards


@inner
def _redraw_holes(s: Any, me: Any) -> Any:
    """Deal the other seats' cards and discards anew; return the unseen cards that are left."""
    unseen, turned = _unseen(s, me), EMPTY
    if s.first_shuffle != NEVER:
        unseen ^= _redraw_tail(s, me)
        turned = unseen & flop_set(s, s.first_shuffle, s.num_flops)  # these were discarded from the others' hands
    rest = unseen ^ turned
    left = 0  # places for discards
    for seat in range(s.num_players):
        if seat != me and s.phase != OVER:
            s.discards[seat] = _draw_subset(s, (1 << s.hand_size) - 1, s.discarded[seat])
        left += SUBSET_SIZE[s.discards[seat]] if seat != me else 0
    for seat in range(s.num_players):
        for turn in range(s.hand_size):
            gone = s.discards[seat] >> turn & 1
            if seat == me or (s.phase == OVER and not gone):
                continue
            again = gone and draw_below(s, left) < count_cards(turned)
            card = _draw_card(s, turned if again else rest)
            turned &= ~card_bit(card)
            rest &= ~card_bit(card)
            left -= gone
            s.deck[hole_position(s, seat, turn)] = card
    return rest


@inner
def _redraw_stock(s: Any) -> None:
    """After a reshuffle: the stock is what is in no hand and has not been turned up since, in random order."""
    cards = deck_set(s) & ~(hands_set(s) | flop_set(s, s.last_shuffle, s.num_flops))
    for place in range(s.stock_at, s.stock_size):
        card = _draw_card(s, cards)
        cards ^= card_bit(card)
        s.stock[place] = card
