"""What some cards promise to become: the expected strength of the final hand, from made hands and live outs.

A strength is the chance, from 0 to 1, to beat one opponent who goes the same way. Made hands have the strength of their
category (a table that a game gives, as it depends on how hands are filled there), draws that of what they may become
times the chance that enough of the ``draws`` cards to come hit. Outs are counted among the cards not seen yet.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from auction_env.core.jit import inner
from auction_env.games.cards import EMPTY, count, count_of, suit_ranks
from auction_env.games.hands import high_key, low_key

_LENGTH = np.array([bits.bit_length() for bits in range(1 << 13)], np.uint8)  # of the highest rank, counted from 1
_LEVELS = 32
_MOST_DRAWS = 7
# Chance of at least f hits in r draws, each with chance level / 32.
_HITS = np.array(
    [
        [
            [
                sum(math.comb(r, k) * (x / _LEVELS) ** k * (1 - x / _LEVELS) ** (r - k) for k in range(f, r + 1))
                for x in range(_LEVELS + 1)
            ]
            for f in range(6)
        ]
        for r in range(_MOST_DRAWS + 1)
    ]
)
# f different cards are needed, and each hit must be another one: f! / f**f, softened as there is some choice.
_DISTINCT = np.array([1.0, 1.0, 0.6, 0.35, 0.2, 0.1])

HIGH_CARD, PAIR, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL, QUADS = range(8)


@inner
def whole_deck(s: Any) -> Any:
    """All cards of a table's deck as a card set: its highest ranks in its first suits."""
    ranks = np.uint64((1 << 13) - (1 << (13 - np.int64(s.num_ranks))))
    cards = EMPTY
    for suit in range(s.num_suits):
        cards |= ranks << np.uint64(16 * suit)
    return cards


@inner
def _hit(draws: Any, needed: Any, outs: Any, pace: Any) -> Any:
    """Chance that ``needed`` of the draws hit one of some outs; ``pace``: cards seen for each draw over cards live."""
    if needed > draws:
        return 0.0
    rate = outs * pace
    level = min(rate / (1.0 + 0.55 * rate), 0.97)  # close to 1 - exp(-rate)
    return _HITS[draws, needed, np.int64(level * _LEVELS + 0.5)]


@inner
def high_strength(key: Any, table: Any) -> Any:
    """Strength of a made high hand: between its category's entry of the table and the next one, by its first ranks."""
    category = key >> 20
    ranks = ((key >> 16 & 15) * 13.0 + (key >> 12 & 15)) / 182.0
    return table[category] + (table[category + 1] - table[category]) * ranks


@inner
def low_strength(key: Any, table: Any) -> Any:
    """Strength of a made low hand, from a table by its highest rank (ace 1); that of its last place if it is paired."""
    if key >> 20:
        return table[14] * (1.0 - (key >> 16 & 15) / 14.0) / (key >> 20)
    top, second = key >> 16 & 15, key >> 12 & 15
    return table[top] + (table[top - 1] - table[top]) * (top - 1 - second) / max(top - 1, 1)


@inner
def _raised(value: Any, chance: Any, to: Any) -> Any:
    return value + chance * max(to - value, 0.0)


@inner
def high_promise(cards: Any, live: Any, draws: Any, pace: Any, size: Any, table: Any) -> Any:
    """Expected strength of the high hand.

    Args:
        cards: the card set held.
        live: cards that may still come, as a set.
        draws: cards still to be added.
        pace: cards among which each is chosen, over the number of live ones.
        size: cards of the final hand.
        table: strengths by category, 10 entries (one past the last category).
    """
    value = high_strength(high_key(cards), table) if cards else 0.0
    if draws == 0:
        return value
    a, b, c, d = suit_ranks(cards, 0), suit_ranks(cards, 1), suit_ranks(cards, 2), suit_ranks(cards, 3)
    one = a | b | c | d
    two = (a & b) | (c & d) | ((a | b) & (c | d))
    three = (a & b & (c | d)) | (c & d & (a | b))
    value = _raised_by_groups(value, one, two, three, live, draws, pace, table)
    if size >= 5:
        value = _raised(value, _straight_chance(one, live, draws, pace), 0.5 * (table[STRAIGHT] + table[FLUSH]))
        for suit in range(4):
            needed = 5 - count(suit_ranks(cards, suit))
            if needed > 0 and needed <= draws:
                chance = _hit(draws, needed, count(suit_ranks(live, suit)), pace)
                value = _raised(value, chance, 0.5 * (table[FLUSH] + table[FULL]))
    return value


@inner
def _raised_by_groups(value: Any, one: Any, two: Any, three: Any, live: Any, draws: Any, pace: Any, table: Any) -> Any:
    """The value raised by the chances to pair what is held: two pair, trips, full house."""
    full = 0.5 * (table[FULL] + table[QUADS])
    if three:
        return _raised(value, _hit(draws, 1, count_of(live, one), pace), full)
    pairs = count(two)
    if pairs >= 2:
        return _raised(value, _hit(draws, 1, count_of(live, two), pace), full)
    trips = 0.5 * (table[TRIPS] + table[STRAIGHT])
    two_pair = 0.5 * (table[TWO_PAIR] + table[TRIPS])
    to_pair = count_of(live, one)
    if pairs == 1:
        value = _raised(value, _hit(draws, 1, to_pair - count_of(live, two), pace), two_pair)
        value = _raised(value, _hit(draws, 1, count_of(live, two), pace), trips)
        return _raised(value, 0.5 * _hit(draws, 2, to_pair, pace), full)
    best = table[PAIR] + (table[TWO_PAIR] - table[PAIR]) * _LENGTH[one] / 14.0
    value = _raised(value, _hit(draws, 1, to_pair, pace), best)
    return _raised(value, 0.6 * _hit(draws, 2, to_pair, pace), two_pair)


@inner
def window_counts(wheel: Any) -> Any:
    """How many ranks a set holds of each window of five in a row, for all ten windows at once.

    Args:
        wheel: a set of ranks with the ace below the deuce as well (14 bits).

    Returns:
        three numbers whose bits, at the place of a window's lowest rank, are the binary digits of its count.
    """
    a, b, c, d, e = wheel, wheel >> 1, wheel >> 2, wheel >> 3, wheel >> 4
    three = a ^ b ^ c  # two full adders, and one more for what they carry
    carry, other = (a & b) | (c & (a ^ b)), (three & d) | (e & (three ^ d))
    return (three ^ d ^ e) & 0x3FF, (carry ^ other) & 0x3FF, carry & other & 0x3FF


@inner
def from_wheel(wheel: Any) -> Any:
    """The set of ranks (13 bits) of one with the ace below the deuce."""
    return wheel >> 1 | (wheel & 1) << 12


@inner
def _straight_chance(ranks: Any, live: Any, draws: Any, pace: Any) -> Any:
    """Chance of a straight: of each of the ten windows of five ranks, taken together."""
    wheel = (ranks << 1) | (ranks >> 12)  # the ace below the deuce as well
    ones, twos, fours = window_counts(wheel)
    windows = fours & ~ones  # one rank short
    if draws >= 2:
        windows |= twos & ones
    if draws >= 3:
        windows |= twos
    miss = 1.0
    while windows:
        gap = (31 << count((windows & -windows) - 1)) & ~wheel
        windows &= windows - 1
        needed = count(gap)
        miss *= 1.0 - _DISTINCT[needed] * _hit(draws, needed, count_of(live, from_wheel(gap)), pace)
    return 1.0 - miss


@inner
def low_promise(cards: Any, live: Any, draws: Any, pace: Any, size: Any, table: Any) -> Any:
    """Expected strength of the ace-to-five low hand; arguments as ``high_promise``, the table by highest rank."""
    if draws == 0:
        return low_strength(low_key(cards), table)
    ranks = suit_ranks(cards, 0) | suit_ranks(cards, 1) | suit_ranks(cards, 2) | suit_ranks(cards, 3)
    held = (ranks << 1 & 0x1FFF) | (ranks >> 12)
    value, before = 0.0, 0.0
    for top in range(min(size, 5), 14):
        below = (1 << top) - 1
        missing = below & ~held
        needed = min(size, 5) - count(held & below)
        chance = 1.0
        if needed > 0:
            outs = count_of(live, from_wheel(missing))
            chance = _hit(draws, needed, outs * (1.0 - 0.1 * (needed - 1)), pace) if needed <= draws else 0.0
            chance = max(chance, before)
        value += (chance - before) * 0.5 * (table[top] + table[top - 1])
        before = chance
        if needed <= 0:
            break
    return value


@inner
def unit(word: Any) -> Any:
    """A random fraction, at least 0 and less than 1, of 64 random bits."""
    return np.float64(word >> np.uint64(11)) / 9007199254740992.0


@inner
def tempered(value: Any, noise: Any, word: Any) -> Any:
    """A value plus noise, such that choosing the greatest draws from a softmax at this temperature (Gumbel's trick)."""
    if noise <= 0.0:
        return value
    return value - noise * math.log(-math.log(unit(word) + 1e-16) + 1e-16)
