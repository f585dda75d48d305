"""Auction Poker: what a seat may not know, drawn anew."""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.core.jit import inner, kernel
from auction_env.games.auction_poker.observation import shows_cards
from auction_env.games.auction_poker.state import BID, DECLARE, PICK
from auction_env.games.cards import EMPTY, card_bit, draw_below

# --- what a seat may not know, drawn anew ---------------------------------------------------------------------------


@inner
def _deck_place_seen(s: Any, me: Any, place: Any) -> Any:
    """Whether seat ``me`` has seen the card at a place of the deck."""
    holes = s.num_in * s.hole_cards
    if place < holes:
        owner = s.order[place % s.num_in]
        return owner == me or shows_cards(s, owner)
    rows_up = s.auction + (s.phase == BID or s.phase == PICK)
    return place < holes + s.num_in * rows_up


@kernel
def mark_seen(s: Any, me: Any, seen: Any) -> None:
    """Write for each place of the deck whether seat ``me`` has seen the card there."""
    for place in range(s.num_ranks * s.num_suits):
        seen[place] = _deck_place_seen(s, me, place)


@inner
def resample_from_infostate(s: Any, me: Any) -> None:
    """Draw anew, with ``s.rng``, what seat ``me`` cannot know: unseen cards, uniformly; others' pending choices."""
    size = s.num_ranks * s.num_suits
    seen: Any = 0  # a bit for each place of the deck
    hidden = EMPTY
    for place in range(size):
        known = np.int64(_deck_place_seen(s, me, place))
        seen |= known << place
        if not known:
            hidden |= card_bit(s.deck[place])
    card: Any = 0
    for place in range(size):  # in a fixed order first: the outcome must not depend on where they are in truth
        if not seen >> place & 1:
            while hidden & card_bit(card) == EMPTY:
                card += 1
            s.deck[place] = card
            card += 1
    for place in range(size - 1):
        if seen >> place & 1:
            continue
        other = place + draw_below(s, size - place)
        while seen >> other & 1:
            other = place + draw_below(s, size - place)
        card = s.deck[place]
        s.deck[place] = s.deck[other]
        s.deck[other] = card
    for seat in range(s.num_players):
        if seat != me and s.phase == BID and s.bids[s.auction, seat]:
            s.bids[s.auction, seat] = 1 + draw_below(s, s.max_bid)
        if seat != me and s.phase == DECLARE and s.declared[seat]:
            s.declared[seat] = 1 + draw_below(s, 3)
