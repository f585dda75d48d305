"""The same games and methods in OpenSpiel: exploitabilities agree to 1e-9, iteration by iteration."""

from __future__ import annotations

import pytest
from test_values import layout

from auction_env.solve import Solver

pyspiel = pytest.importorskip("pyspiel")

GAMES = {"kuhn": "kuhn_poker", "leduc": "leduc_poker(suit_isomorphism=true)"}


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(("method", "solver"), [("cfr", "CFRSolver"), ("cfr+", "CFRPlusSolver")])
def test_cfr_and_cfr_plus_go_the_way_that_openspiel_s_go(name, method, solver):
    game = pyspiel.load_game(GAMES[name])
    ours, theirs = Solver(layout(name), method), getattr(pyspiel, solver)(game)
    for iterations in (1, 9, 40):
        ours.iterate(iterations)
        for _ in range(iterations):
            theirs.evaluate_and_update_policy()
        expected = pyspiel.nash_conv(game, theirs.average_policy())
        assert ours.evaluate().nash_conv == pytest.approx(expected, abs=1e-9)
