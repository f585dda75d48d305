"""Auction Poker where the names of suits do not count: what suits decide, and which cards an action chooses."""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.core.jit import inner
from auction_env.games.auction_poker.state import PICK, PICK_0, Settings
from auction_env.games.cards import EMPTY, card_bit


def suits_matter(settings: Settings) -> bool:
    """Whether some hand can hold a flush: nothing else depends on suits (A5, A9)."""
    return settings.hole_cards + settings.num_auctions >= 5 and settings.num_ranks >= 5


@inner
def action_cards(s: Any, action: Any) -> Any:
    """The cards that a legal action chooses, as a card set: the one that is picked (A4)."""
    return card_bit(np.int64(action) - PICK_0) if s.phase == PICK else EMPTY
