"""Hands, high and low: the published vectors, counts of all hands, and a brute-force reference (A5, A9)."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from reference import best_high, best_low

from auction_env import describe, high_rank, low_rank
from auction_env.core.jit import kernel
from auction_env.games.cards import CARD_NAMES, card_bit, deck_cards, mask_of
from auction_env.games.hands import (
    HIGH_CATEGORIES,
    LOW_CATEGORIES,
    compare_by_rank,
    compare_low,
    few_key,
    high_key,
    high_keys,
    low_key,
    low_keys,
    low_ranks,
    rank_key,
)


def high(hand: str) -> str:
    """The category and ranks of the high hand in words."""
    return describe(hand).partition("; low: ")[0].removeprefix("high: ")


def low(hand: str) -> str:
    return describe(hand).partition("; low: ")[2]


# --- vectors --------------------------------------------------------------------------------------------------------

HIGH_WINS = [
    ("As 2d 3h 4c 5s 9d 9h", "9c 9s Kd Kh 2c 7d 8h"),  # wheel over two pair
    ("Ah 2h 3h 4h 5h Kd Qd", "2c 3d 4s 5c 6h Ac Kc"),  # steel wheel over straight
    ("2c 3d 4s 5c 6h Ac Kc", "Ah 2d 3h 4h 5s Kd Qd"),  # six high over five high
    ("2c 3d 4s 5c 6h Ac Kc", "As 2d 3h 4c 5s 9d 9h"),
    ("9c Th Jh Qh Kh 2h 3h", "9d Td Js Qs Ks 2d 3d"),  # flush over straight
    ("Ts Th 2s 3s 2h 3h 3d", "9s 9h 2c 3c 2d 3s 3h"),  # threes full of tens over threes full of nines
    ("Jh Jd Jc 6d 6c Ts Th", "Js Jh Jc 6h 6s 9s 9h"),  # the higher of two pairs fills
    ("3s 4s 5s Ts Ks 2d 2c", "4h 5h 7h Th Qh 2s 2h"),  # flush by its highest card
    ("7h 7d 7s 7c 3d 3s 2c", "7h 7d 7s 7c 2d 2s 2h"),  # quads by the best kicker
    ("Kc Tc 5c 4c 3c", "Qd Td 7d 5d 4d"),
    ("6c 6d 5c 5d 3h", "6h 6s 2c 2d Ah"),  # the second pair before any kicker
]
HIGH_TIES = [
    ("Kc Qd Js 2h Ad 7c 8s", "Kd Qh Jc 3s As 7d 8d"),  # no wrap: A K Q J 8 both
    ("Ts Js 6c Qc Ad 6s Ac", "3s 3d 6h Qd As 6d Ah"),  # three pairs: kicker queen
    ("2c 4s 5h 4h 5c 9h 9c", "2d 4c 5d 4d 5s 9s 9d"),  # kicker four, from the third pair
    ("5h 5d 5s 2h 2d 2s Kc", "5h 5d 5c 2h 2d 3s Kd"),  # two triplets: fives full of deuces
    ("Ah Kh Qd 9s 7c", "As Ks Qh 9d 7h"),  # suits never decide (A5)
]
LOW_WINS = [
    ("Kh Kd Qc Jc Ts 9s 9d", "As Ah Ad 2c 2d 3h 4s"),  # any five ranks over a pair of aces
    ("As Ah Kc Kd Qh Qd Js", "2s 2h 3c 3d 4h 4c 5s"),  # pair of aces over pair of deuces
    ("2d 3d 3c Td Th Kh Ks", "5c 5d 6c 6s 9h Qd Qs"),  # the pair before the kickers
    ("As Ah Ad 2c 2d 3h 3s", "2s 2h 3c 3d 4c 4d 4h"),  # two pair 2-A, 3 over two pair 3-2, 4
    ("Ac Ad Ah 2s 2h 3s 3c", "Kc Kd Kh Ks Qc Qd Qh"),  # two pair over full house
    ("Ac Ad Ah As Jc Jd Jh", "Kc Kd Kh Ks Qc Qd Qh"),  # forced full houses: three aces over three queens
    ("Ah 2h 3h 4h 5h 9c 9d", "As 2c 3d 4s 6c Kd Kc"),  # straights and flushes do not exist
    ("As 2d 3h 4c 5s 9d 9h", "6s 6d 6c Ks Kd 2h 3c"),  # the wheel
    ("8d 6c 5d 4h 3c Qd Qh", "8s 7c 3d 2h Ac Kd Kh"),  # 8-6 over 8-7
    ("Ks Qd Jh Tc 9h 8s 8d", "As Kd Qh Jc 9s 9d 9c"),  # Q J T 9 8 over K Q J 9 A
    ("2s 2h 2d 4h 5c 7h 8s", "3s 3h 3d 4c 5d 6h 9s"),  # 8 7 5 4 2 over 9 6 5 4 3
    ("Kh Kd Qc Jc Ts 9s 9d", "As Ah Ad 2c 2d 3h 3s"),  # five ranks over two pair
]


@pytest.mark.parametrize(("better", "worse"), HIGH_WINS)
def test_high_hands_compare_as_published(better: str, worse: str) -> None:
    assert high_rank(better) > high_rank(worse)


@pytest.mark.parametrize(("one", "other"), HIGH_TIES)
def test_high_hands_tie_as_published(one: str, other: str) -> None:
    assert high_rank(one) == high_rank(other)


@pytest.mark.parametrize(("better", "worse"), LOW_WINS)
def test_low_hands_compare_as_published(better: str, worse: str) -> None:
    assert low_rank(better) < low_rank(worse)


def test_low_hands_tie_as_published() -> None:
    assert low_rank("As 2s 2h 3c 4d 8c 7h") == low_rank("Ad 2d 3h 4c 4s 8d 7s")
    assert low("As 2s 2h 3c 4d 8c 7h") == "7-4-3-2-A"


def test_the_wheel_wins_low_and_loses_high_to_a_full_house() -> None:
    assert high_rank("6s 6d 6c Ks Kd 2h 3c") > high_rank("As 2d 3h 4c 5s 9d 9h")


@pytest.mark.parametrize(
    ("hand", "words"),
    [
        ("As 2d 3h 4c 5s 9d 9h", "straight, five high"),
        ("2c 3d 4s 5c 6h Ac Kc", "straight, six high"),
        ("Ah 2h 3h 4h 5h Kd Qd", "straight flush, five high"),
        ("9c Th Jh Qh Kh 2h 3h", "flush, K Q J T 3"),
        ("Qc Jd Ts 9h 8d", "straight, queen high"),
        ("Tc Jd Qs Kh Ad", "straight, ace high"),
        ("Ts Js 6c Qc Ad 6s Ac", "two pair, aces and sixes, Q"),
        ("2c 4s 5h 4h 5c 9h 9c", "two pair, nines and fives, 4"),
        ("Ts Th 2s 3s 2h 3h 3d", "full house, threes full of tens"),
        ("7h 7d 7s 7c 3d 3s 2c", "four of a kind, sevens, 3"),
        ("9h 9d 9s Ac 3d 4s 2c", "three of a kind, nines, A 4"),
        ("Kc Qd Js 2h Ad 7c 8s", "high card, A K Q J 8"),
        ("As", "high card, A"),
        ("8s 8d", "pair of eights"),
        ("8s 8d Kc", "pair of eights, K"),
        ("8s 8d Kc Kd", "two pair, kings and eights"),
        ("8s 8d 8h 8c", "four of a kind, eights"),
    ],
)
def test_high_hands_in_words(hand: str, words: str) -> None:
    assert high(hand) == words


@pytest.mark.parametrize(
    ("hand", "words"),
    [
        ("As 2d 3h 4c 5s 9d 9h", "5-4-3-2-A"),
        ("Kh Kd Qc Jc Ts 9s 9d", "K-Q-J-T-9"),
        ("As Ah Kc Kd Qh Qd Js", "pair of aces, K Q J"),
        ("As Ah Ad 2c 2d 3h 3s", "two pair, deuces and aces, 3"),
        ("Ac Ad Ah As Jc Jd Jh", "full house, aces full of jacks"),
        ("Ac Ad Ah Kc Qd", "three of a kind, aces, K Q"),
        ("Ac Ad Ah As Qd", "four of a kind, aces, Q"),
        ("6c 6d", "pair of sixes"),
        ("Ac Kd", "K-A"),
    ],
)
def test_low_hands_in_words(hand: str, words: str) -> None:
    assert low(hand) == words


@pytest.mark.parametrize("hand", ["Kc Qd Js 2h Ad", "Kc Qd 3s 2h Ad", "Kc 4d 3s 2h Ad", "4c 5d 6s 7h 9d"])
def test_what_looks_like_a_straight_and_is_none(hand: str) -> None:
    assert high(hand).startswith("high card")


@pytest.mark.parametrize("hand", ["Qc Jd Ts 9h Ad", "Kc Qd Js Th 2d", "2h 3h 4h 5h", "Ac 2c 3c 4c", "Ah Kh Qh Jh"])
def test_four_to_a_straight_or_flush_is_nothing(hand: str) -> None:
    assert high(hand).startswith("high card")  # A5


# --- fewer than five cards ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ladder",
    [
        "2c 2d 2h 2s > Ac Ad Ah Ks > Ac Ad Kc Kd > Ac Ad Qc Qd > Kc Kd Qc Qd > Ac Ad Kc Qd > 2c 2d 4h 3s > Ac Kd Qh Js"
        " > Ac Kd Qh Ts > 2h 3h 4h 5h",
        "2c 2d 2h > Ac Ad Kh > Ac Ad Qh > 2c 2d 3h > Ac Kd Qh > Ac Qd Jh > 4c 3d 2h",
        "2c 2d > Ac Kd > Ac Qd > Kc Qd > 3c 2d",
        "Ac > Kd > 2h",
    ],
)
def test_exposed_hands_of_one_to_four_cards_rank_by_equal_ranks_then_kickers(ladder: str) -> None:
    """A5, from the strongest down."""
    ranks = [high_rank(hand) for hand in ladder.split(" > ")]
    assert ranks == sorted(set(ranks), reverse=True)


@pytest.mark.parametrize(
    "ladder",
    [
        "Ac 2d 3h 4s > 2c 3d 4h 5s > Kc Qd Jh Ts > Ac Ad 2h 3s > Ac Ad Kh Qs > 2c 2d Ah 3s > 2c 2d Ah As > Kc Kd Ah As"
        " > Kc Kd Qh Qs > Ac Ad Ah 2s > Ac Ad Ah Ks > Kc Kd Kh Qs > Ac Ad Ah As",
        "Ac 2d 3h > Kc Qd Jh > Ac Ad 2h > Kc Kd Qh > Ac Ad Ah > Kc Kd Kh",
        "Ac 2d > Kc Qd > Ac Ad > Kc Kd",
        "Ac > 2d > Kh",
    ],
)
def test_low_hands_of_one_to_four_cards_rank_all_they_hold(ladder: str) -> None:
    """A9 for small settings, from the best down: nothing can be left out of a hand of fewer than five."""
    ranks = [low_rank(hand) for hand in ladder.split(" > ")]
    assert ranks == sorted(set(ranks))


# --- all hands, and a reference -------------------------------------------------------------------------------------


@kernel
def _count_all(high_count: Any, low_count: Any, high_seen: Any, low_seen: Any) -> None:
    """Categories of all five-card hands, and which keys occur."""
    for a in range(52):
        for b in range(a):
            for c in range(b):
                for d in range(c):
                    four = card_bit(a) | card_bit(b) | card_bit(c) | card_bit(d)
                    for e in range(d):
                        key = high_key(four | card_bit(e))
                        high_count[key >> 20] += 1
                        high_seen[key] = True
                        key = low_key(four | card_bit(e))
                        low_count[key >> 20] += 1
                        low_seen[key] = True


def test_categories_of_all_five_card_hands() -> None:
    counts = [np.zeros(9, np.int64), np.zeros(6, np.int64)]
    seen = [np.zeros(9 << 20, np.bool_), np.zeros(6 << 20, np.bool_)]
    _count_all(*counts, *seen)
    assert dict(zip(HIGH_CATEGORIES, counts[0].tolist(), strict=True)) == {
        "straight flush": 40,
        "four of a kind": 624,
        "full house": 3_744,
        "flush": 5_108,
        "straight": 10_200,
        "three of a kind": 54_912,
        "two pair": 123_552,
        "pair": 1_098_240,
        "high card": 1_302_540,
    }
    assert dict(zip(LOW_CATEGORIES, counts[1].tolist(), strict=True)) == {
        "no pair": 1_302_540 + 40 + 5_108 + 10_200,
        "pair": 1_098_240,
        "two pair": 123_552,
        "three of a kind": 54_912,
        "full house": 3_744,
        "four of a kind": 624,
    }
    # As many different hands as there are: 1277 + 2860 + 858 + 858 + 10 + 1277 + 156 + 156 + 10; low has no runs.
    assert seen[0].sum() == 7_462
    assert seen[1].sum() == 1_287 + 2_860 + 858 + 858 + 156 + 156


def _dealt(rng: random.Random, count: int, size: int, deck: list[int]) -> list[list[str]]:
    return [[CARD_NAMES[card] for card in rng.sample(deck, size)] for _ in range(count)]


def _keys(hands: list[list[str]], keys: Callable[..., None]) -> list[int]:
    out = np.zeros(len(hands), np.int64)
    keys(np.array([mask_of(CARD_NAMES.index(card) for card in hand) for hand in hands], np.uint64), out)
    return out.tolist()


@pytest.mark.parametrize("ranks", [13, 5, 3, 2])
@pytest.mark.parametrize("sizes", [(1,), (2,), (3,), (4,), (5, 6, 7)])
def test_keys_order_random_hands_as_brute_force_does(sizes: tuple[int, ...], ranks: int) -> None:
    """Hands of up to seven cards, also dealt from few ranks, where groups of equal ranks abound."""
    rng = random.Random(100 * ranks + sizes[0])
    # the highest ranks; and the lowest ones with the ace, where the wheel is
    few = [card for card in range(52) if card < 4 * (ranks - 1) or card >= 48]
    hands = [hand for size in sizes for deck in (deck_cards(ranks), few) for hand in _dealt(rng, 250, size, deck)]
    for keys, reference in ((high_keys, best_high), (low_keys, best_low)):
        found = sorted(zip(_keys(hands, keys), map(reference, hands), hands, strict=True))
        for (key, rank, hand), (next_key, next_rank, next_hand) in pairwise(found):
            assert (key == next_key) == (rank == next_rank), (hand, next_hand)
            assert key == next_key or rank < next_rank, (hand, next_hand)


def test_hands_with_flushes_and_runs_agree_with_brute_force_too() -> None:
    """Two suits only: nearly every hand of seven has a flush, many a straight, some both."""
    rng = random.Random(8)
    hands = [hand for size in (5, 6, 7) for hand in _dealt(rng, 500, size, deck_cards(13, 2))]
    order = sorted(zip(_keys(hands, high_keys), map(best_high, hands), strict=True))
    assert [rank for _, rank in order] == sorted(rank for _, rank in order)
    assert len({key for key, _ in order}) == len({rank for _, rank in order})
    assert {key >> 20 for key, _ in order} >= {0, 4, 5, 8}


def test_the_order_of_the_cards_does_not_matter() -> None:
    rng = random.Random(18)
    for hand in _dealt(rng, 200, 7, deck_cards()):
        shuffled = [rng.sample(hand, 7) for _ in range(20)]
        assert len({high_rank(" ".join(cards)) for cards in shuffled}) == 1
        assert len({low_rank(cards) for cards in shuffled}) == 1
        assert len({describe(cards) for cards in shuffled}) == 1


def test_documented_directions_hold() -> None:
    """``high_rank``: larger is better; ``low_rank``: smaller is better; both say so."""
    assert high_rank("Ac Ad") > high_rank("Kc Qd") and "larger is better" in str(high_rank.__doc__)
    assert low_rank("Kc Qd") < low_rank("Ac Ad") and "smaller is better" in str(low_rank.__doc__)
    assert describe("8s 7d") == "high: high card, 8 7; low: 8-7"


def test_few_cards_rank_as_the_whole_evaluator_ranks_them():
    """The short form used for exposed hands of one to four cards is the same key."""
    rng = np.random.default_rng(4)
    hands = [rng.choice(52, size, replace=False).tolist() for size in (1, 2, 3, 4) for _ in range(500)]
    hands += [list(cards) for cards in combinations((0, 1, 2, 3, 4, 5, 48, 49, 50, 51), 4)]
    for cards in hands:
        assert few_key(mask_of(cards)) == high_key(mask_of(cards))


@pytest.mark.parametrize("size", range(1, 8))
def test_hands_compare_as_their_keys_do(size: int) -> None:
    """The quick comparisons, of hands of as many cards; of a short deck too, where ties and groups are frequent."""
    rng = np.random.default_rng(size)
    for deck in (np.arange(52), np.arange(28, 52)):
        masks = [mask_of(rng.choice(deck, size, replace=False).tolist()) for _ in range(1500)]
        for mine, other in pairwise(masks):
            high, low = high_key(mine), low_key(mine)
            assert np.sign(compare_by_rank(high, other)) == np.sign(high - rank_key(other))
            assert np.sign(compare_low(low, low_ranks(low), other)) == np.sign(low_key(other) - low)
