"""Auction Flop Poker where the names of suits do not count: what suits decide, and which cards an action chooses."""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.core.jit import inner
from auction_env.games.auction_flop.rules import cards_chosen, hand_set
from auction_env.games.auction_flop.state import DISCARD, DISCARD_0, KEEP, KEEP_0, Settings
from auction_env.games.cards import EMPTY, card_bit


def suits_matter(settings: Settings) -> bool:
    """Whether some hand can hold a flush: nothing else depends on suits (B9)."""
    return settings.hand_size >= 5 and settings.num_ranks >= 5


@inner
def action_cards(s: Any, action: Any) -> Any:
    """The cards that a legal action chooses, as a card set: those discarded (B2) or kept (B5)."""
    if s.phase == DISCARD:
        return cards_chosen(hand_set(s, s.to_act), np.int64(action) - DISCARD_0)
    cards = EMPTY
    if s.phase == KEEP:
        for place in range(s.flop_size):
            if (np.int64(action) - KEEP_0) >> place & 1:
                cards |= card_bit(s.flops[s.num_flops - 1, place])
    return cards
