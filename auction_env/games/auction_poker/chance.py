"""Auction Poker: the cards that chance settles, one at a time, for those who enumerate or choose them."""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.core.jit import inner
from auction_env.games.auction_poker.state import BID, OVER, Settings
from auction_env.games.cards import EMPTY, card_bit

# A card of the deck matters from when it is dealt or turned up. All that lies behind it then is equally likely to be
# there, and nothing that was done depends on it: so it can be settled as late as that.


def max_draws(settings: Settings) -> int:
    """The most cards that chance settles in a deal: concealed ones, and a row an auction."""
    return settings.num_players * (settings.hole_cards + settings.num_auctions)


@inner
def num_draws(before: Any, s: Any) -> Any:
    """How many cards chance has settled by a move: dealt and turned up since the row ``before`` it.

    A row whose deal is over, or new, stands for the time before the next deal.
    """
    if before.phase == OVER:
        return s.num_in * (np.int64(s.hole_cards) + 1)
    return np.int64(s.num_in) if s.phase == BID and s.auction > before.auction else 0


@inner
def _draw_index(before: Any, s: Any, draw: Any) -> Any:
    """The place in the deck of a card that was settled."""
    return draw if before.phase == OVER else s.num_in * (np.int64(s.hole_cards) + s.auction) + draw


@inner
def draw_choices(before: Any, s: Any, draw: Any) -> Any:
    """The cards, as a card set, that draw number ``draw`` of a move is equally likely to be, given those before it."""
    cards = EMPTY
    for index in range(_draw_index(before, s, draw), np.int64(s.num_ranks) * s.num_suits):
        cards |= card_bit(s.deck[index])
    return cards


@inner
def settle_draw(before: Any, s: Any, draw: Any, card: Any) -> None:
    """Let draw number ``draw`` of a move be one of its choices: draws in order, right after the move."""
    index = _draw_index(before, s, draw)
    for other in range(index, np.int64(s.num_ranks) * s.num_suits):
        if s.deck[other] == card:
            s.deck[other] = s.deck[index]
            s.deck[index] = card
    first = s.num_in * (np.int64(s.hole_cards) + s.auction)
    for index in range(s.num_in):
        s.row[index] = s.deck[first + index]
