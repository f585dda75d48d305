"""Auction Poker without suits: where they decide nothing, and which of several equal actions stands for the others."""

from __future__ import annotations

from typing import Any

from auction_env.core.jit import inner
from auction_env.games.auction_poker.state import PICK, PICK_0, Settings


def suits_matter(settings: Settings) -> bool:
    """Whether some hand can hold a flush: nothing else depends on suits (A5, A9)."""
    return settings.hole_cards + settings.num_auctions >= 5 and settings.num_ranks >= 5


@inner
def plain_action(s: Any, action: Any) -> Any:
    """A legal action that does the same, suits aside: of equal ranks the card of the first suit is picked."""
    plain = action
    if s.phase == PICK:
        for place in range(s.row_count):
            card = PICK_0 + s.row[place]
            if card >> 2 == action >> 2 and card < plain:
                plain = card
    return plain
