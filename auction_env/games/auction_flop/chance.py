"""Auction Flop Poker: the cards that chance settles, one at a time, for those who enumerate or choose them."""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.core.jit import inner
from auction_env.games.auction_flop.rules import deck_size, num_dealt, sort_flop
from auction_env.games.auction_flop.state import NEVER, OVER, Settings
from auction_env.games.cards import EMPTY, card_bit

# A card matters from when it is dealt or turned up. All that lies behind it in the deck or stock then is equally likely
# to be there: so it can be settled as late as that. After a reshuffle (B8) what was left of the stock comes first.


def max_draws(settings: Settings) -> int:
    """The most cards that chance settles in a deal: all hands, and the most flops."""
    return settings.num_players * settings.hand_size + settings.max_flops * settings.flop_size


@inner
def num_draws(before: Any, s: Any) -> Any:
    """How many cards chance has settled by a move: dealt and turned up since the row ``before`` it.

    A row whose deal is over, or new, stands for the time before the next deal.
    """
    if before.phase == OVER:
        return num_dealt(s)
    return np.int64(s.flop_size) * (s.num_flops - before.num_flops)


@inner
def _reshuffled(s: Any) -> Any:
    """Whether the stock ran out before the last flop."""
    return s.first_shuffle != NEVER and s.last_shuffle == s.num_flops - 1


@inner
def _stock_end(before: Any, s: Any, place: Any) -> Any:
    """The end of the part of the stock whose cards may be at a place of it: they are exchangeable."""
    left = np.int64(before.stock_size) - before.stock_at
    return left if _reshuffled(s) and place < left else np.int64(s.stock_size)


@inner
def draw_choices(before: Any, s: Any, draw: Any) -> Any:
    """The cards, as a card set, that draw number ``draw`` of a move is equally likely to be, given those before it."""
    cards = EMPTY
    if before.phase == OVER:
        for index in range(draw, deck_size(s)):
            cards |= card_bit(s.deck[index])
    else:
        place = np.int64(s.stock_at) - s.flop_size + draw
        for index in range(place, _stock_end(before, s, place)):
            cards |= card_bit(s.stock[index])
    return cards


@inner
def settle_draw(before: Any, s: Any, draw: Any, card: Any) -> None:
    """Let draw number ``draw`` of a move be one of its choices: draws in order, right after the move."""
    dealt, size = num_dealt(s), deck_size(s)
    if before.phase == OVER:
        _swap_card(s.deck, draw, size, card)
        for index in range(dealt, size):
            s.stock[index - dealt] = s.deck[index]
        return
    place = np.int64(s.stock_at) - s.flop_size + draw
    end = _stock_end(before, s, place)
    _swap_card(s.stock, place, end, card)
    if s.first_shuffle == NEVER:
        _swap_card(s.deck, dealt + place, size, card)
    elif _reshuffled(s) and s.first_shuffle == s.last_shuffle and end < s.stock_size:
        _swap_card(s.deck, size - end + place, size, card)  # what was left lay last in the deck
    sort_flop(s)


@inner
def _swap_card(cards: Any, place: Any, end: Any, card: Any) -> None:
    """Bring a card to a place of an array from that place or one behind it."""
    for other in range(place, end):
        if cards[other] == card:
            cards[other] = cards[place]
            cards[place] = card
