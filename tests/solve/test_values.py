"""Exact values: published ones of Kuhn and Leduc, a brute force of its own, and the linear programme."""

from __future__ import annotations

import functools
import itertools

import kuhn
import leduc
import numpy as np
import pytest
from brute_force import exact_best_response, uniform

from auction_env.games import get_game
from auction_env.games.game import make_settings
from auction_env.solve import (
    METHODS,
    Layout,
    Parameters,
    PolicyError,
    ProgramError,
    Solver,
    enumerate_tree,
    solve_program,
)
from auction_env.solve.action_values import action_values

# 2 seats, 1 auction, a deck of 4 cards: exact best response to uniform play 2.308, by brute force in another test.
SMALL = {"num_players": 2, "num_auctions": 1, "hole_cards": 1, "num_ranks": 4, "num_suits": 1, "max_bid": 2}
TWO_SUITS = {**SMALL, "num_ranks": 3, "num_suits": 2, "max_bid": 1, "max_raises": 0}
FLOP = {
    **{"num_players": 2, "ante": 1, "starting_chips": 3, "hand_size": 1, "flop_size": 1, "num_ranks": 5},
    **{"num_suits": 1, "discard_fees": (0, 1), "pot_shares": (2, 1)},
}


@functools.cache
def layout(name: str) -> Layout:
    games = {"kuhn": (kuhn, {}), "leduc": (leduc, {})}
    games |= {"poker": ("auction_poker", {**SMALL, "max_raises": 0}), "flop": ("auction_flop", FLOP)}
    game, settings = games[name]
    return Layout(enumerate_tree(game, settings))


@pytest.mark.parametrize(("name", "expected"), [("kuhn", 11 / 12), ("leduc", 4.747222222222222)])
def test_best_responses_to_uniform_play_win_the_published_sums(name, expected):
    exact = layout(name).evaluate(layout(name).uniform())
    assert exact.nash_conv == pytest.approx(expected, abs=1e-9)
    assert exact.exploitability == exact.nash_conv / 2
    assert exact.values.sum() == pytest.approx(0, abs=1e-12)


def test_an_equilibrium_of_kuhn_poker_is_worth_its_value_and_cannot_be_exploited():
    """Kuhn 1950: -1/18 for who acts first; one of his equilibria, alpha 1/3."""
    bet_chance = {
        **{(0, ""): 1 / 3, (1, ""): 0.0, (2, ""): 1.0, (0, "pb"): 0.0, (1, "pb"): 2 / 3, (2, "pb"): 1.0},
        **{(0, "p"): 1 / 3, (1, "p"): 0.0, (2, "p"): 1.0, (0, "b"): 0.0, (1, "b"): 1 / 3, (2, "b"): 1.0},
    }
    found = layout("kuhn").evaluate(kuhn_policy(layout("kuhn"), bet_chance))
    assert found.values == pytest.approx([-1 / 18, 1 / 18], abs=1e-12)
    assert found.nash_conv == pytest.approx(0, abs=1e-12)
    values, _ = action_values(layout("kuhn"), kuhn_policy(layout("kuhn"), bet_chance))
    forest = layout("kuhn").tree.forests[0]
    at = forest.starts[:-1][forest.parents == 0]
    first = np.unique(np.stack([values[0, at], values[0, at + 1]], axis=1).round(9), axis=0)
    # A jack loses its ante by either; a queen's bet is a mistake; a king wins 7/6 by either.
    assert first == pytest.approx(np.array([[-1, -1], [-1 / 3, -1 / 2], [7 / 6, 7 / 6]]), abs=1e-8)


def kuhn_policy(layout, bet_chance):
    """The policy of a table of Kuhn's game, its information states found through the tables themselves."""
    from auction_env.solve import Positions

    policy = layout.uniform()
    for seat, states in enumerate(Positions(layout.tree).states):
        for number, row in enumerate(states):
            line = "".join("pb"[move] for move in row.line[: row.count])
            start = layout.tree.forests[seat].starts[number]
            bet = bet_chance[int(kuhn.card_of(row, seat) >> 2) - 10, line]
            policy[seat, start : start + 2] = 1 - bet, bet
    return policy


def test_random_tables_of_kuhn_s_game_are_worth_what_its_own_tree_says():
    rng = np.random.default_rng(0)
    for _ in range(20):
        table = dict(zip(kuhn.INFORMATION_STATES, rng.random(12), strict=True))
        found = layout("kuhn").evaluate(kuhn_policy(layout("kuhn"), table))
        assert found.exploitability == pytest.approx(kuhn.exploitability(table), abs=1e-12)


@pytest.mark.parametrize(("name", "values"), [("poker", {**SMALL, "max_raises": 0}), ("flop", FLOP)])
def test_best_responses_of_both_games_are_those_of_a_brute_force(name, values):
    """All decks, dealers, seats and histories one after the other, without any of what makes enumeration small."""
    game = get_game(layout(name).tree.game)
    exact = layout(name).evaluate(layout(name).uniform())
    found = exact_best_response(game, make_settings(game, values), uniform)
    assert exact.best_responses.mean() == pytest.approx(found, abs=1e-9)
    if name == "poker":
        assert found == pytest.approx(2.308, abs=5e-4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("name", "value"), [("kuhn", -1 / 18), ("leduc", -0.0856064)])
def test_every_method_comes_to_the_published_value(method, name, value):
    solver = Solver(layout(name), method)
    solver.iterate(2000)
    found = solver.evaluate()
    assert found.exploitability < (0.05 if method in ("mmd", "cfr") else 1e-3)
    # The value lies between what the best response leaves one seat and what the other's takes.
    assert -found.best_responses[1] - 1e-9 <= value <= found.best_responses[0] + 1e-9


@pytest.mark.parametrize("name", ["kuhn", "leduc", "poker", "flop"])
def test_the_linear_programme_agrees(name):
    pytest.importorskip("scipy")
    value, weights = solve_program(layout(name).tree)
    expected = {"kuhn": -1 / 18, "leduc": -0.08560642407800062}
    if name in expected:
        assert value == pytest.approx(expected[name], abs=1e-9)
    solver = Solver(layout(name), "cfr+")
    solver.iterate(10_000)
    found = solver.evaluate()
    assert -found.best_responses[1] - 1e-7 <= value <= found.best_responses[0] + 1e-7
    assert found.values[0] == pytest.approx(value, abs=max(1e-6, 2 * found.nash_conv))
    # The programme's own strategy secures the value.
    policy = layout(name).uniform()
    starts = layout(name).tree.forests[0].starts
    for first, last in itertools.pairwise(starts):
        total = weights[first:last].sum()
        if total > 0:
            policy[0, first:last] = weights[first:last] / total
    assert layout(name).evaluate(policy).best_responses[1] == pytest.approx(-value, abs=1e-6)


def test_values_do_not_depend_on_whether_suits_are_left_out():
    """The linear programme of the whole tree, and of the one without suits: one value, one best response."""
    pytest.importorskip("scipy")
    whole, plain = (enumerate_tree("auction_poker", TWO_SUITS, fold=fold) for fold in (False, True))
    assert plain.folded and not whole.folded and plain.counts.histories < whole.counts.histories / 3
    assert solve_program(whole)[0] == pytest.approx(solve_program(plain)[0], abs=1e-8)
    exact = [Layout(tree).evaluate(Layout(tree).uniform()) for tree in (whole, plain)]
    assert exact[0].best_responses == pytest.approx(exact[1].best_responses, abs=1e-9)


def test_two_threads_compute_what_one_does(monkeypatch):
    from auction_env.solve import values

    monkeypatch.setattr(values, "ENDS_PER_THREAD", 10)
    one, two = (Layout(layout("leduc").tree, threads) for threads in (1, 2))
    assert two.threads == 2
    for method in METHODS:
        both = [Solver(each, method) for each in (one, two)]
        for solver in both:
            solver.iterate(30)
        assert np.allclose(both[0].policy(), both[1].policy(), atol=1e-9), method


def test_iterations_in_two_parts_are_those_in_one():
    for method in METHODS:
        whole, parts = (Solver(layout("kuhn"), method) for _ in range(2))
        whole.iterate(30)
        parts.iterate(11)
        parts.iterate(19)
        assert parts.iteration == 30 and np.array_equal(whole.policy(), parts.policy())


def test_three_seats_have_a_nash_conv_of_at_least_zero():
    tree = enumerate_tree("auction_poker", {**SMALL, "num_players": 3, "num_ranks": 6, "max_bid": 1, "max_raises": 0})
    assert not tree.zero_sum and tree.num_seats == 3
    solver = Solver(Layout(tree), "cfr+")
    before = solver.evaluate()
    assert (before.gains > 0).all() and before.values.sum() == pytest.approx(0, abs=1e-9)
    solver.iterate(200)
    after = solver.evaluate()
    assert (after.gains > -1e-9).all() and after.nash_conv < before.nash_conv / 10
    with pytest.raises(ProgramError, match="two seats"):
        solve_program(tree)


def test_a_best_response_is_a_policy_that_is_worth_what_was_said():
    found = layout("leduc").evaluate(layout("leduc").uniform())
    for seat in range(2):
        changed = layout("leduc").best_response(layout("leduc").uniform(), seat)
        assert layout("leduc").evaluate(changed).values[seat] == pytest.approx(found.best_responses[seat], abs=1e-9)


def test_what_is_no_policy_is_refused():
    policy = layout("kuhn").uniform()
    for wrong in (policy[:1], policy.astype(np.float32), 2 * policy, np.where(policy == 0.5, np.nan, policy)):
        with pytest.raises(PolicyError):
            layout("kuhn").evaluate(wrong)
    with pytest.raises(ValueError, match=r"method is 'cfr\+\+'"):
        Solver(layout("kuhn"), "cfr++", Parameters())
