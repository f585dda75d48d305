"""How ``rules`` plays Auction Flop Poker.

Every choice is valued in chips, from what the seat may know: the share of the pot to expect for the strength that the
hand promises, if every other seat beats it with the same chance. It discards what costs less than it promises to bring,
bids for a flop up to what the best of it adds, keeps that, and refuses a flop when that costs less than taking it would
harm. Small random noise mixes choices of nearly the same value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.core.jit import inner
from auction_env.games.auction_flop import (
    BID,
    DISCARD,
    DISCARD_0,
    KEEP,
    KEEP_0,
    MAKE_BID,
    MAKE_REFUSAL,
    NOT_YET,
    PASS,
    TAKE,
    hand_set,
    legal,
)
from auction_env.games.auction_flop.features import STRENGTHS, live_cards, without
from auction_env.games.cards import card_bit, count, draw_word
from auction_env.games.hand_strength import high_promise, tempered

# --- style ----------------------------------------------------------------------------------------------------------

APPETITE, NOISE, VENTURE = range(3)
# appetite: chips it sees in what a flop adds, over what that is worth
# noise: temperature of choices, in chips
# venture: chips it sees in what discards promise, over what that is worth in the present pot (others add to it)
STYLES = {
    "balanced": (1.0, 0.1, 3.0),
    "tight": (0.7, 0.1, 1.8),
    "loose": (1.4, 0.4, 5.0),
    "aggressive": (1.6, 0.1, 3.0),
}


@inner
def choose(s: Any, style: Any, ints: Any, floats: Any) -> Any:
    """A legal action for ``s.to_act``, from what it may know; draws from ``s.rng``."""
    hand, live = hand_set(s, s.to_act), live_cards(s, s.to_act)
    if s.phase == DISCARD:
        return _choose_discard(s, hand, live, style, ints)
    subset, value = _best_subset(s, hand, live)
    if s.phase == KEEP:
        return KEEP_0 + subset
    now = _worth(s, hand, live)
    if s.phase == BID:
        gain = tempered((value - now) * style[APPETITE], style[NOISE], draw_word(s))
        loss = tempered(s.price + 1.0, style[NOISE], draw_word(s))
        return MAKE_BID if gain > loss and legal(s, ints) > 1 else PASS
    cost = 1 - s.cost[s.num_flops - 1]
    take, refuse = tempered(value, style[NOISE], draw_word(s)), tempered(now - cost, style[NOISE], draw_word(s))
    return MAKE_REFUSAL if refuse > take and legal(s, ints) > 1 else TAKE


@inner
def redraw_pending(s: Any, me: Any, style: Any, ints: Any, floats: Any) -> None:
    """Nothing: no choice is pending in this game, seats choose one after the other."""


# --- what a hand is worth -------------------------------------------------------------------------------------------


@inner
def _worth(s: Any, cards: Any, live: Any) -> Any:
    """Chips to expect of the pot for the hand that these cards promise to become."""
    draws = s.hand_size - count(cards)
    others = 0  # open seats, or seats that may become so
    for seat in range(s.num_players):
        others += seat != s.to_act and (s.discarded[seat] == NOT_YET or s.held[seat] < s.hand_size)
    reach = s.flop_size * (0.8 if others else 1.0)
    strength = high_promise(cards, live, draws, reach / max(count(live), 1), s.hand_size, STRENGTHS[s.num_players - 2])
    return (s.pot + 2.0 * others) * _share(s, min(max(strength, 0.01), 0.99))


@inner
def _share(s: Any, strength: Any) -> Any:
    """The share of the pot for a hand that beats each other one with this chance (B9)."""
    rivals = s.num_players - 1
    parts = 0.0
    chance = strength**rivals  # that all are beaten; then all but one, ...
    share = 0.0
    for better in range(s.num_players):
        parts += s.shares[better]
        share += chance * s.shares[better]
        chance *= (rivals - better) * (1.0 - strength) / ((better + 1) * strength)
    return share / parts


@inner
def _best_subset(s: Any, hand: Any, live: Any) -> Any:
    """Which cards of the flop on the table to keep, and what the hand is worth with them."""
    best, chosen = -1.0, 1
    flop, room = s.num_flops - 1, s.hand_size - s.held[s.to_act]
    for subset in range(1, 1 << np.int64(s.flop_size)):
        cards, size = hand, 0
        for place in range(s.flop_size):
            if subset >> place & 1:
                cards |= card_bit(s.flops[flop, place])
                size += 1
        if size <= room:
            value = _worth(s, cards, live)
            if value > best:
                best, chosen = value, subset
    return chosen, best


# --- discarding -----------------------------------------------------------------------------------------------------


@inner
def _choose_discard(s: Any, hand: Any, live: Any, style: Any, ints: Any) -> Any:
    """The discard that promises most beyond its fee, against standing pat."""
    stand = _worth(s, hand, live)
    best, chosen = -np.inf, DISCARD_0
    for place in range(legal(s, ints)):
        subset = ints[place] - DISCARD_0
        kept = without(hand, subset)
        gain = (_worth(s, kept, live) - stand) * style[VENTURE] - s.fees[s.hand_size - count(kept)]
        value = tempered(gain, style[NOISE], draw_word(s))
        if value > best:
            best, chosen = value, ints[place]
    return chosen
