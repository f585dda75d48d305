"""OpenSpiel's own algorithms on a small auction game, none of them changed: CFR, MCCFR, Deep CFR, and IS-MCTS.

    pip install '.[openspiel,train]'
    python examples/openspiel_algorithms.py

Prints how exploitable uniform play is, then each solver's average policy, in chips a deal; then what IS-MCTS wins in
seat 0 of the full game against random play. ``--iterations`` scales all solvers.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.algorithms import cfr, exploitability, external_sampling_mccfr, ismcts, mcts
from open_spiel.python.policy import Policy, UniformRandomPolicy, tabular_policy_from_callable

import auction_env.interfaces.openspiel  # noqa: F401 - registers the games

SMALL = "auction_poker(players=2,num_ranks=2,num_suits=2,hole_cards=1,num_auctions=1,max_bid=2,max_raises=0,dealer=0)"
FULL = "auction_poker(players=3)"


def solve_by_cfr(game: Any, iterations: int) -> Policy:
    solver = cfr.CFRSolver(game)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    return solver.average_policy()


def solve_by_mccfr(game: Any, iterations: int) -> Policy:
    """External sampling, in Python: an iteration looks at few deals, so it gets a hundred times as many."""
    solver = external_sampling_mccfr.ExternalSamplingSolver(game)
    for _ in range(100 * iterations):
        solver.iteration()
    return solver.average_policy()


def solve_by_deep_cfr(game: Any, iterations: int) -> Policy:
    from open_spiel.python.pytorch.deep_cfr import DeepCFRSolver

    solver = DeepCFRSolver(
        game,
        policy_network_layers=(64, 64),
        advantage_network_layers=(64, 64),
        num_iterations=iterations,
        num_traversals=50,
        batch_size_advantage=256,
        batch_size_strategy=256,
        memory_capacity=100_000,
        seed=1,
    )
    solver.solve()
    return tabular_policy_from_callable(game, solver.action_probabilities)


SOLVERS = {"CFR": solve_by_cfr, "MCCFR": solve_by_mccfr, "Deep CFR": solve_by_deep_cfr}


def search_against_random(text: str, deals: int, simulations: int) -> list[float]:
    """What IS-MCTS wins in seat 0, deal by deal."""
    game, random = pyspiel.load_game(text), np.random.RandomState(1)
    won = []
    for _ in range(deals):
        bot = ismcts.ISMCTSBot(
            game=game,
            evaluator=mcts.RandomRolloutEvaluator(1, random),
            uct_c=float(game.max_utility()),
            max_simulations=simulations,
            random_state=random,
        )
        state = game.new_initial_state()
        while not state.is_terminal():
            searching = state.current_player() == 0
            state.apply_action(bot.step(state) if searching else int(random.choice(state.legal_actions())))
        won.append(state.returns()[0])
    return won


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default=SMALL, help="of the solvers, as OpenSpiel writes it")
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--deals", type=int, default=20, help="of IS-MCTS")
    parser.add_argument("--simulations", type=int, default=50, help="of IS-MCTS, at each decision")
    options = parser.parse_args(arguments)
    game = pyspiel.load_game(options.game)
    print(f"uniform: exploitable by {exploitability.exploitability(game, UniformRandomPolicy(game)):.3f}")
    for name, solve in SOLVERS.items():
        policy = solve(game, options.iterations)
        print(f"{name}: exploitable by {exploitability.exploitability(game, policy):.3f}", flush=True)
    won = search_against_random(FULL, options.deals, options.simulations)
    print(f"IS-MCTS: {np.mean(won):+.2f} ± {1.96 * np.std(won) / len(won) ** 0.5:.2f} chips a deal against random play")


if __name__ == "__main__":
    main()
