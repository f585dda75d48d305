"""Auction Flop Poker without suits: where they decide nothing, and which of several equal actions stands for others."""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.core.jit import inner
from auction_env.games.auction_flop.rules import hand_set, top_card
from auction_env.games.auction_flop.state import DISCARD, DISCARD_0, KEEP, KEEP_0, MAX_HAND, Settings
from auction_env.games.cards import card_bit


def suits_matter(settings: Settings) -> bool:
    """Whether some hand can hold a flush, or a card can come up again (B8): then it matters which one it is."""
    dealt, flops = settings.num_players * settings.hand_size, settings.max_flops * settings.flop_size
    return (settings.hand_size >= 5 and settings.num_ranks >= 5) or (
        dealt + flops > settings.num_ranks * settings.num_suits
    )


@inner
def plain_action(s: Any, action: Any) -> Any:
    """A legal action that does the same, suits aside: of equal ranks those that come first in sorted order are chosen.

    These are cards to be discarded (B2) or kept (B5).
    """
    if s.phase == DISCARD:
        return DISCARD_0 + _first_of_equals(_sorted_ranks(hand_set(s, s.to_act)), action - DISCARD_0)
    if s.phase == KEEP:
        ranks: Any = 0
        for place in range(s.flop_size):
            ranks |= (1 + np.int64(s.flops[s.num_flops - 1, place] >> 2)) << (4 * place)
        return KEEP_0 + _first_of_equals(ranks, action - KEEP_0)
    return action


@inner
def _sorted_ranks(cards: Any) -> Any:
    """The ranks of a card set in sorted order, counted from 1, four bits each."""
    ranks: Any = 0
    place = 0
    while cards:
        card = top_card(cards)
        cards ^= card_bit(card)
        ranks |= (1 + (card >> 2)) << (4 * place)
        place += 1
    return ranks


@inner
def _first_of_equals(ranks: Any, subset: Any) -> Any:
    """The subset with as many cards of each rank, moved to the first places of that rank; equal ranks lie together."""
    chosen: Any = 0
    start = 0
    while start < MAX_HAND and ranks >> (4 * start):
        end, number = start, 0
        while ranks >> (4 * end) & 15 and ranks >> (4 * end) & 15 == ranks >> (4 * start) & 15:
            number += subset >> end & 1
            end += 1
        chosen |= ((1 << number) - 1) << start
        start = end
    return chosen
