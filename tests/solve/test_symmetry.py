"""Suits by other names: what reads the same, and that nothing is lost by it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from auction_env.agents.solved import SolvedAgent
from test_values import TWO_SUITS

from auction_env.engine.kernels import kernels
from auction_env.engine.table import Table
from auction_env.games import get_game
from auction_env.games.cards import CARD_NAMES, cards_of, deck_cards
from auction_env.games.game import make_settings
from auction_env.solve import Layout, Positions, enumerate_tree
from auction_env.solve.expansion import Reader
from auction_env.solve.policy_file import StoredPolicy
from auction_env.solve.symmetry import NOTHING, RANKS, SUITS, symmetry_of

# One seat can hold all five cards of a suit; all ten are dealt.
FLUSH = {"num_players": 2, "num_auctions": 1, "hole_cards": 4, "num_ranks": 5, "num_suits": 2}
FLUSH |= {"max_bid": 1, "max_raises": 0}
# Six cards, of which two are left for four flops: what was discarded comes up again.
AGAIN = {"num_players": 2, "ante": 1, "starting_chips": 2, "hand_size": 2, "flop_size": 1, "num_ranks": 3}
AGAIN |= {"num_suits": 2, "discard_fees": (0, 1, 1), "pot_shares": (2, 1)}


def test_how_much_of_suits_is_left_out():
    def found(name, fold=True, **values):
        return symmetry_of(get_game(name), make_settings(get_game(name), values), fold)

    assert found("auction_poker", **TWO_SUITS) == RANKS
    assert found("auction_poker", **FLUSH) == found("auction_poker") == found("auction_flop") == SUITS
    assert found("auction_flop", **AGAIN) == RANKS
    assert found("auction_poker", **{**FLUSH, "num_suits": 1, "num_ranks": 10}) == NOTHING
    assert found("auction_poker", fold=False) == NOTHING


@pytest.mark.parametrize(
    ("name", "values", "symmetry"),
    [
        ("auction_poker", {"num_players": 3}, SUITS),
        ("auction_poker", {"num_players": 3, "hole_cards": 1, "num_auctions": 3}, RANKS),
        ("auction_flop", {"num_players": 2}, SUITS),
        ("auction_flop", {"num_players": 2, "hand_size": 4, "discard_fees": (0, 1, 3, 6, 10)}, RANKS),
    ],
)
def test_a_deal_with_other_suits_reads_the_same_at_every_decision(name, values, symmetry):
    """Played twice, card by card with suits renamed: all of them alike, or those of each rank apart."""
    game, rng = get_game(name), np.random.default_rng(0)
    settings = make_settings(game, values)
    reader, whole = Reader(game, settings, symmetry), Reader(game, settings, NOTHING)
    assert symmetry_of(game, settings) == symmetry
    other_names = 0
    for _ in range(5):
        suits = [rng.permutation(4) for _ in range(13)] if symmetry == RANKS else [rng.permutation(4)] * 13
        renamed = [4 * (card >> 2) + int(suits[card >> 2][card & 3]) for card in range(52)]
        deck = rng.permutation(deck_cards())
        tables = [Table(game, settings), Table(game, settings)]
        for table, cards in zip(tables, (deck, [renamed[card] for card in deck]), strict=True):
            table.reset(0, {"deck": [CARD_NAMES[card] for card in cards], "dealer": 0})
        while tables[0].state.to_act >= 0:
            states = np.concatenate([table.states for table in tables])
            keys, _, places = reader.choices(states)
            other_names += len(set(whole.choices(states)[0].tolist())) - 1
            assert keys[0] == keys[1]
            chosen = [
                {meaning(game, row, action, suits): action for action in np.flatnonzero(mine >= 0)}
                for row, mine, suits in zip(states, places, (renamed, range(52)), strict=True)
            ]
            assert chosen[0].keys() == chosen[1].keys()
            for what, action in chosen[0].items():
                assert places[0, action] == places[1, chosen[1][what]]
            what = list(chosen[0])[rng.integers(len(chosen[0]))]
            for table, actions in zip(tables, chosen, strict=True):
                table.act(int(actions[what]))
    assert other_names > 20


def meaning(game, row, action, renamed):
    """The cards that an action chooses, renamed; or if it chooses none, itself."""
    cards = sorted(renamed[card] for card in cards_of(game.action_cards(row, action)))
    return tuple(cards) or int(action)


@pytest.mark.parametrize(
    ("name", "values", "fewer"),
    [
        ("auction_poker", FLUSH, 1.9),
        ("auction_poker", TWO_SUITS, 3),
        ("auction_flop", {**AGAIN, "num_ranks": 2}, 3),
        ("auction_flop", AGAIN, 6),
    ],
)
def test_nothing_is_lost(name, values, fewer):
    """Any policy of the folded tree, played in the whole one: the same values and best responses."""
    whole, small = (enumerate_tree(name, values, fold=fold) for fold in (False, True))
    assert whole.counts.histories > fewer * small.counts.histories
    layout, folded = Layout(whole), Layout(small)
    policy = folded.normalized(np.random.default_rng(1).random(folded.new().shape) ** 4)
    lifted = Positions(whole).policy(make_agent(folded, policy), layout)
    expected, found = folded.evaluate(policy), layout.evaluate(lifted)
    assert found.values == pytest.approx(expected.values, abs=1e-9)
    assert found.best_responses == pytest.approx(expected.best_responses, abs=1e-9)


def make_agent(layout, policy):
    """The solved agent with a policy in double precision, which files do not keep."""
    forests, order = layout.tree.forests, np.argsort(np.concatenate([f.keys for f in layout.tree.forests]))
    parts = [policy[seat, a:b] for seat, f in enumerate(forests) for a, b in itertools.pairwise(f.starts)]
    lengths = np.array([len(parts[state]) for state in order])
    keys = np.concatenate([forest.keys for forest in forests])[order]
    chances = np.concatenate([parts[state] for state in order])
    tree, starts = layout.tree, np.r_[0, np.cumsum(lengths)].astype(np.int32)
    stored = StoredPolicy(
        tree.game, tree.settings, tree.symmetry, keys, starts, chances, chances, np.ones(len(keys)), {}
    )
    return SolvedAgent(stored)


def test_information_states_are_as_many_as_renaming_them_one_by_one_leaves():
    """Every observation of the whole tree with its two suits swapped, entry by entry: pairs are one, others stay."""
    whole, small = (enumerate_tree("auction_poker", FLUSH, fold=fold) for fold in (False, True))
    swapped, at = [], 0
    for field in whole.game.observation_fields(whole.settings):
        entries = at + np.arange(field.size)
        if field.cards == "set":
            entries = entries.reshape(-1, 4)[:, [1, 0, 2, 3]].ravel()
        elif field.cards == "one":
            entries = entries.reshape(-1, 17)[:, [*range(13), 14, 13, 15, 16]].ravel()
        swapped.append(entries)
        at += field.size
    order = np.concatenate(swapped)
    run = kernels(whole.game)
    for seat, states in enumerate(Positions(whole).states):
        seen = np.zeros((len(states), at), np.float32)
        for row in range(len(states)):
            run.observe(states, row, seat, seen[row], 1.0)
        orbits = {min(one.tobytes(), two.tobytes()) for one, two in zip(seen, seen[:, order], strict=True)}
        assert len(orbits) == small.forests[seat].num_states
