"""The two ways to rank a hand: high (ordinary poker) and low (ace to five), for any number of cards from one up.

The compiled functions take a card set and give an exact integer key: the category, then five ranks of four bits, so
that comparing keys compares hands. Of more than five cards the best five count; fewer than five are all the hand, and
then straights and flushes do not exist (A5, A9).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from auction_env.core.jit import inner, kernel
from auction_env.games.cards import TOP, CardError, count, mask_of, parse_cards

HIGH_CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
LOW_CATEGORIES = ("no pair", "pair", "two pair", "three of a kind", "full house", "four of a kind")

_HIGH_CARD, _PAIR, _TWO_PAIR, _TRIPS, _STRAIGHT, _FLUSH, _FULL, _QUADS, _STRAIGHT_FLUSH = range(9)
_LOW_FULL, _LOW_QUADS = 4, 5
_LANE = 0x1FFF

_1, _12, _16, _32, _48 = (np.uint64(shift) for shift in (1, 12, 16, 32, 48))
_LANES = np.uint64(0x1FFF1FFF1FFF1FFF)
_LANES_UP = np.uint64(0x1FFE1FFE1FFE1FFE)
_LANES_ACE = np.uint64(0x0001000100010001)


@inner
def _lane(cards: Any, shift: Any) -> Any:
    return np.int64((cards >> shift) & np.uint64(_LANE))


@inner
def _groups(cards: Any) -> Any:
    """Rank sets held at least once, twice, three and four times."""
    a, b, c, d = _lane(cards, np.uint64(0)), _lane(cards, _16), _lane(cards, _32), _lane(cards, _48)
    ab, cd = a & b, c & d
    a_or_b, c_or_d = a | b, c | d
    return a_or_b | c_or_d, ab | cd | (a_or_b & c_or_d), (ab & c_or_d) | (cd & a_or_b), ab & cd


@inner
def _pack(ranks: Any, places: Any) -> Any:
    """The ``places`` highest ranks of a set, four bits each, counted from 1; zero where there are too few."""
    key: Any = 0
    for _ in range(places):
        key <<= 4
        if ranks:
            top = np.int64(TOP[ranks])
            key |= top + 1
            ranks ^= 1 << top
    return key


@inner
def _top_bit(ranks: Any) -> Any:
    return 1 << np.int64(TOP[ranks])


@inner
def _straight(ranks: Any) -> Any:
    """The key (1 to 13) of the highest card of the best straight in a rank set, or 0."""
    wheel = (ranks << 1) | (ranks >> 12)  # the ace below the deuce as well
    runs = wheel & (wheel >> 1) & (wheel >> 2) & (wheel >> 3) & (wheel >> 4)
    if runs == 0:
        return 0
    return np.int64(TOP[runs]) + 4  # the run's lowest place is one above its rank; its top is four higher


@inner
def _group_key(one: Any, two: Any, three: Any, four: Any) -> Any:
    """Key by equal ranks alone, from the rank sets of ``_groups``."""
    if four:
        best = _top_bit(four)
        return (_QUADS << 20) | (_pack(best, 1) << 16) | (_pack(one ^ best, 1) << 12)
    if three:
        best = _top_bit(three)
        if two ^ best:
            return (_FULL << 20) | (_pack(best, 1) << 16) | (_pack(two ^ best, 1) << 12)
        return (_TRIPS << 20) | (_pack(best, 1) << 16) | (_pack(one ^ best, 2) << 8)
    if two:
        best = _top_bit(two)
        if two ^ best:
            pairs = best | _top_bit(two ^ best)
            return (_TWO_PAIR << 20) | (_pack(pairs, 2) << 12) | (_pack(one ^ pairs, 1) << 8)
        return (_PAIR << 20) | (_pack(best, 1) << 16) | (_pack(one ^ best, 3) << 4)
    return _pack(one, 5)


@inner
def few_key(cards: Any) -> Any:
    """The high key of fewer than five cards, for which straights and flushes do not exist (A5)."""
    one, two, three, four = _groups(cards)
    return _group_key(one, two, three, four)


@kernel
def high_key(cards: Any) -> Any:
    """Key of the best high hand in a card set; larger is better (A5, A9).

    Bits 20 up: the category, an index of ``HIGH_CATEGORIES``; below: five ranks, deuce 1 to ace 13.
    """
    flush = 0
    for shift in (0, 16, 32, 48):
        suited = _lane(cards, np.uint64(shift))
        if count(suited) >= 5:
            run = _straight(suited)
            if run:
                return (_STRAIGHT_FLUSH << 20) | (run << 16)
            flush = max(flush, (_FLUSH << 20) | _pack(suited, 5))
    key = rank_key(cards)
    return flush if flush and key < _FULL << 20 else key


@inner
def rank_key(cards: Any) -> Any:
    """The high key if there were no flushes: a function of the ranks alone."""
    one, two, three, four = _groups(cards)
    key = _group_key(one, two, three, four)
    if key >= _FULL << 20:
        return key
    run = _straight(one)
    if run:
        return (_STRAIGHT << 20) | (run << 16)
    return key


@inner
def _rank_category(one: Any, two: Any, three: Any, four: Any) -> Any:
    """The category of ``rank_key``, from the rank sets of ``_groups``."""
    if four:
        return _QUADS
    if three and two & (two - 1):
        return _FULL
    if _straight(one):
        return _STRAIGHT
    if three:
        return _TRIPS
    if two:
        return _TWO_PAIR if two & (two - 1) else _PAIR
    return _HIGH_CARD


@inner
def compare_by_rank(key: Any, cards: Any) -> Any:
    """How a high key compares with ``rank_key(cards)``: positive if it is better, 0 if equal; quicker than the key."""
    one, two, three, four = _groups(cards)
    lead = (key >> 20) - _rank_category(one, two, three, four)
    return lead if lead else key - rank_key(cards)


@inner
def _lowest(ranks: Any, places: Any) -> Any:
    """The ``places`` lowest ranks of a set, as a set."""
    found = 0
    for _ in range(places):
        bit = ranks & -ranks
        found |= bit
        ranks ^= bit
    return found


@kernel
def low_key(cards: Any) -> Any:
    """Key of the best low hand, ace to five, in a card set; smaller is better (A9).

    Bits 20 up: the category, an index of ``LOW_CATEGORIES``; below: five ranks, ace 1 to king 13, main groups first.
    """
    one, two, three, four = _groups(((cards << _1) & _LANES_UP) | ((cards >> _12) & _LANES_ACE))
    ranks, pairs = count(one), count(two)
    if ranks >= 5:
        return _pack(_lowest(one, 5), 5)
    # With five cards or more a hand is chosen, with as many different ranks as there are; with fewer it is all of them.
    choice = ranks + pairs + count(three) + count(four) >= 5
    if (choice and ranks == 4) or (not choice and pairs == 1 and three == 0):
        main = _lowest(two, 1)
        return (_PAIR << 20) | (_pack(main, 1) << 16) | (_pack(one ^ main, 3) << 4)
    if pairs >= 2 and (ranks == 3 or not choice):
        main = _lowest(two, 2)
        return (_TWO_PAIR << 20) | (_pack(main, 2) << 12) | (_pack(one ^ main, 1) << 8)
    if pairs == 2:
        main = _lowest(three, 1)
        return (_LOW_FULL << 20) | (_pack(main, 1) << 16) | (_pack(two ^ main, 1) << 12)
    if four and ranks <= 2:
        return (_LOW_QUADS << 20) | (_pack(four, 1) << 16) | (_pack(one ^ four, 1) << 12)
    if three:
        return (_TRIPS << 20) | (_pack(three, 1) << 16) | (_pack(one ^ three, 2) << 8)
    return _pack(one, 5)


@inner
def low_ranks(key: Any) -> Any:
    """The ranks of a low key as a set, ace lowest, if they are five different ones; otherwise a set above all those."""
    ranks: Any = 1 << 13
    if key >> 20 == 0 and key & 15:
        ranks = 0
        for shift in (0, 4, 8, 12, 16):
            ranks |= 1 << (key >> shift & 15) >> 1
    return ranks


@inner
def compare_low(key: Any, ranks: Any, cards: Any) -> Any:
    """How a low key compares with ``low_key(cards)``: positive if it is better, 0 if equal; quicker than the key.

    Args:
        key: of a hand of as many cards.
        ranks: ``low_ranks(key)``. Of five different ranks the sets compare as the hands do.
        cards: the other hand.
    """
    one, _, _, _ = _groups(cards)
    number = count(one)
    if number < 5:
        return low_key(cards) - key
    held = (one << 1 & _LANE) | (one >> 12)
    for _ in range(5, number):
        held ^= _top_bit(held)
    return held - ranks


@kernel
def high_keys(cards: Any, out: Any) -> None:
    """High keys of many card sets: uint64[N] in, int64[N] out."""
    for row in range(cards.shape[0]):
        out[row] = high_key(cards[row])


@kernel
def low_keys(cards: Any, out: Any) -> None:
    """Low keys of many card sets: uint64[N] in, int64[N] out."""
    for row in range(cards.shape[0]):
        out[row] = low_key(cards[row])


def _key_of(cards: str | Iterable[str | int], keys: Any) -> int:
    hand = parse_cards(cards)
    if not 1 <= len(hand) <= 7:
        raise CardError(f"a hand has 1 to 7 cards, not {len(hand)}")
    out = np.zeros(1, np.int64)
    keys(np.array([mask_of(hand)], np.uint64), out)
    return int(out[0])


def high_rank(cards: str | Iterable[str | int]) -> int:
    """Rank of the best high hand in one to seven cards: **larger is better**, equal ranks tie (A5, A9).

    Args:
        cards: text such as ``"As Kd 9c"``, or names or indices (0..51).

    Raises:
        CardError: a card is malformed or stands twice, or there are not one to seven of them.
    """
    return _key_of(cards, high_keys)


def low_rank(cards: str | Iterable[str | int]) -> int:
    """Rank of the best ace-to-five low hand in one to seven cards: **smaller is better**, equal ranks tie (A9).

    Arguments and errors as in ``high_rank``.
    """
    return _key_of(cards, low_keys)


_HIGH_NAMES = ("deuce", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace")
_HIGH_LETTERS = "-23456789TJQKA"
_LOW_LETTERS = "-A23456789TJQK"


def _plural(name: str) -> str:
    return name + ("es" if name == "six" else "s")


def _ranks(key: int) -> list[int]:
    places = [key >> shift & 15 for shift in (16, 12, 8, 4, 0)]
    return [place for place in places if place]


def describe_high(key: int) -> str:
    """Words for a high key: ``"full house, threes full of tens"``."""
    return _describe(HIGH_CATEGORIES[key >> 20], _ranks(key), _HIGH_NAMES, _HIGH_LETTERS)


def describe_low(key: int) -> str:
    """Words for a low key: ``"7-5-4-2-A"`` or ``"pair of aces, K Q J"``."""
    category, ranks = LOW_CATEGORIES[key >> 20], _ranks(key)
    if category == "no pair":
        return "-".join(_LOW_LETTERS[rank] for rank in ranks)
    return _describe(category, ranks, ("ace", *_HIGH_NAMES[:-1]), _LOW_LETTERS)


def _describe(category: str, ranks: list[int], names: tuple[str, ...], letters: str) -> str:
    """Words for a hand of a category, from its ranks (1 the lowest), main groups first."""
    if not ranks:
        return "no cards"
    word = [names[rank - 1] for rank in ranks]
    kickers = " ".join(letters[rank] for rank in ranks)
    if category in ("straight", "straight flush"):
        return f"{category}, {word[0]} high"
    if category in ("high card", "flush"):
        return f"{category}, {kickers}"
    if category == "full house":
        return f"full house, {_plural(word[0])} full of {_plural(word[1])}"
    if category == "two pair":
        text, main = f"two pair, {_plural(word[0])} and {_plural(word[1])}", 2
    else:
        text, main = f"{category}{' of' if category == 'pair' else ','} {_plural(word[0])}", 1
    return text + (f", {kickers[2 * main :]}" if len(ranks) > main else "")


def describe(cards: str | Iterable[str | int]) -> str:
    """Both readings of one to seven cards in words, as in ``"high: straight, five high; low: 5-4-3-2-A"``.

    Arguments and errors as in ``high_rank``.
    """
    return f"high: {describe_high(high_rank(cards))}; low: {describe_low(low_rank(cards))}"
