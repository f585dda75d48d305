"""Trees: sizes that can be counted by hand, information states, chance, and settings that are too large."""

from __future__ import annotations

import math

import kuhn
import leduc
import numpy as np
import pytest
from test_values import SMALL, TWO_SUITS

from auction_env.engine.kernels import kernels
from auction_env.solve import RecallError, TooLargeError, enumerate_tree, estimate_size

# Without auctions worth the name: 2 seats, no card of one's own, a deck of two cards, bids of 1, no raise.
LEAST = {"num_players": 2, "hole_cards": 0, "num_auctions": 1, "max_bid": 1, "max_raises": 0}
LEAST |= {"num_ranks": 2, "num_suits": 1}


def test_kuhn_poker_has_the_histories_that_everybody_counts():
    """Six deals, nine histories each (four points, five ends); six information states a seat."""
    counts = enumerate_tree(kuhn).counts
    assert (counts.histories, counts.ends) == (6 * 9, 6 * 5)
    assert counts.information_states == (6, 6) and counts.first_outcomes == counts.chance_outcomes == 6


def test_leduc_poker_without_suits_has_288_information_states():
    """3 * 6 before the public card, 9 * 30 after it. OpenSpiel's 936 tell suits apart."""
    counts = enumerate_tree(leduc).counts
    assert sum(counts.information_states) == len(leduc.information_states()) == 288
    assert counts.first_outcomes == 9


def test_the_least_auction_poker_can_be_counted_by_hand():
    """One row of the two cards: both bid 1, the first seat picks one of two, the other has the rest.

    Who got the ace opens. Check check; check bet and call or fold; bet and call or fold: three ends by a showdown, each
    with three declarations of each of two seats, and two by a fold. Twice, for what was picked.
    """
    counts = enumerate_tree("auction_poker", LEAST).counts
    assert counts.first_outcomes == counts.chance_outcomes == 1
    declarations = 3 + 9  # points: of the second seat after each of three, and ends
    assert counts.ends == 2 * (3 * 9 + 2)
    before = 1 + 1 + 1  # two bids, a pick
    betting = 1 + 1 + 1 + 1  # the opener; after a check; after a bet; after check and bet
    assert counts.histories == before + 2 * (betting + 3 * (1 + declarations) + 2)


@pytest.mark.parametrize(("game", "settings"), [(kuhn, {}), (leduc, {}), ("auction_poker", TWO_SUITS)])
def test_information_states_are_visited_once_parents_before_children(game, settings):
    found = []
    tree = enumerate_tree(game, settings, visit=lambda seat, numbers, states: found.append((seat, numbers)))
    for seat, forest in enumerate(tree.forests):
        numbers = np.concatenate([part for who, part in found if who == seat])
        assert numbers.tolist() == list(range(forest.num_states))
        assert (forest.parents < forest.starts[:-1]).all()
        assert len(set(forest.keys.tolist())) == forest.num_states


def test_a_table_at_an_information_state_has_its_actions():
    tree = enumerate_tree("auction_poker", {**SMALL, "max_raises": 1})

    def check(seat, numbers, states):
        run, scratch = kernels(tree.game), np.zeros(64, np.int16)
        for number, row in zip(numbers, range(len(states)), strict=True):
            assert states["to_act"][row] == seat
            legal = sorted(scratch[: run.legal(states, row, scratch)].tolist())
            first, last = tree.forests[seat].starts[number : number + 2]
            assert tree.forests[seat].actions[first:last].tolist() == legal

    enumerate_tree("auction_poker", {**SMALL, "max_raises": 1}, visit=check)


def test_estimates_of_small_trees_are_near_and_of_large_ones_in_range():
    tree = enumerate_tree("auction_poker", {**SMALL, "max_raises": 1})
    assert estimate_size("auction_poker", {**SMALL, "max_raises": 1}).histories == pytest.approx(
        tree.counts.histories, rel=0.1
    )
    assert estimate_size(kuhn).histories == 54
    large = estimate_size("auction_poker", {"num_players": 2, "num_auctions": 2, "num_ranks": 8, "num_suits": 1})
    assert math.log10(large.histories) == pytest.approx(9.5, abs=1.5)


def test_too_large_a_setting_is_refused_with_its_size_before_memory_is_spent():
    with pytest.raises(TooLargeError, match=r"num_auctions=2.*about \S+ histories, .*GiB, and the most is 8 GiB"):
        enumerate_tree("auction_poker", {"num_players": 2, "num_auctions": 2})
    with pytest.raises(TooLargeError, match=r"auction_poker \(.*\) is too large.*over \S+e\+\d\d histories"):
        enumerate_tree("auction_poker")
    with pytest.raises(TooLargeError, match=r"the most is 9\.3e-07 GiB"):
        enumerate_tree(kuhn, most_bytes=1000)


def test_what_cannot_be_solved_is_refused():
    with pytest.raises(ValueError, match="num_deals is 2: one deal is solved"):
        enumerate_tree("auction_poker", {**SMALL, "num_deals": 2})
    compact = {"num_players": 2, "ante": 1, "starting_chips": 3, "hand_size": 2, "flop_size": 1, "num_ranks": 4}
    compact |= {"num_suits": 2, "discard_fees": (0, 1, 1), "observation": "compact"}
    with pytest.raises(RecallError, match="observation 'full'"):
        enumerate_tree("auction_flop", compact)
