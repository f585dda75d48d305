"""The learner on a game with a known answer; and that a game outside the package works through every layer."""

from __future__ import annotations

from pathlib import Path

import known_game
import kuhn
import pytest

pytest.importorskip("sb3_contrib")

from auction_env.agents.learning.network_agent import MlpAgent
from auction_env.agents.learning.trainer import Trainer

from auction_env.engine.table import Table
from auction_env.games import get_game

UNIFORM = dict.fromkeys(kuhn.INFORMATION_STATES, 0.5)
# One of Kuhn's equilibria (his alpha at 1/3 times 1): bluff a third with the lowest, bet always with the highest.
EQUILIBRIUM = {
    **{(0, ""): 1 / 3, (1, ""): 0.0, (2, ""): 1.0, (0, "pb"): 0.0, (1, "pb"): 2 / 3, (2, "pb"): 1.0},
    **{(0, "p"): 1 / 3, (1, "p"): 0.0, (2, "p"): 1.0, (0, "b"): 0.0, (1, "b"): 1 / 3, (2, "b"): 1.0},
}


def test_known_values_of_uniform_play_and_of_an_equilibrium():
    assert kuhn.exploitability(UNIFORM) * 2 == pytest.approx(11 / 12)
    assert kuhn.exploitability(EQUILIBRIUM) == pytest.approx(0, abs=1e-12)
    assert kuhn.best_response_value(EQUILIBRIUM, 0) == pytest.approx(-1 / 18)
    assert kuhn.best_response_value(EQUILIBRIUM, 1) == pytest.approx(1 / 18)


def test_payoffs_of_the_module_are_those_of_the_tree():
    for deck in ("Qc Kc Ac", "Qc Ac Kc", "Kc Qc Ac", "Kc Ac Qc", "Ac Qc Kc", "Ac Kc Qc"):
        for line in sorted(kuhn.TERMINAL):
            table = Table(get_game(kuhn))
            table.reset(0, {"deck": deck, "dealer": 1})
            for move in line:
                assert table.to_act is not None
                net = table.act("bp".index(move) ^ 1)
            cards = ["QKA".index(card[0]) for card in deck.split()]
            assert net == [kuhn.payoff(line, cards[0], cards[1]), -kuhn.payoff(line, cards[0], cards[1])]


def strategy_of(actor) -> dict[tuple[int, str], float]:
    """The probability of betting in each information state."""
    found = {}
    for card, line in kuhn.INFORMATION_STATES:
        table = Table(get_game(kuhn))
        others = [c for c in "QKA" if c != "QKA"[card]]
        first = len(line) % 2 == 0
        deck = f"{'QKA'[card]}c {others[0]}c" if first else f"{others[0]}c {'QKA'[card]}c"
        table.reset(0, {"deck": deck, "dealer": 1})
        for move in line:
            table.act("bp".index(move) ^ 1)
        observation = table.observe(table.to_act)[None]
        agent = MlpAgent(actor, len(observation[0]) - 3)
        found[card, line] = float(agent.probabilities(observation, table.mask(table.to_act)[None])[0, 1])
    return found


def learned(folder: Path, seed: int, ent_coef: float, timesteps: int) -> tuple[float, float]:
    """Exploitability of the last and of the averaged weights after so many decisions."""
    config = known_game.config("kuhn", seed, ent_coef, total_timesteps=timesteps)
    trainer = Trainer(config, folder, lambda _: None, game=kuhn)
    trainer.run()
    return kuhn.exploitability(strategy_of(trainer.actor)), kuhn.exploitability(strategy_of(trainer.average))


def test_self_play_comes_nearer_the_solution_than_uniform_play(tmp_path):
    _, averaged = learned(tmp_path, 0, 0.1, 120_000)
    assert averaged < 0.15 < kuhn.exploitability(UNIFORM)


@pytest.mark.slow
def test_averaged_weights_come_near_the_solution_and_without_entropy_they_do_not(tmp_path):
    with_entropy = [learned(tmp_path / f"a{seed}", seed, 0.1, 500_000)[1] for seed in range(2)]
    without = [min(learned(tmp_path / f"b{seed}", seed, 0.0, 500_000)) for seed in range(2)]
    assert max(with_entropy) <= 0.05, with_entropy
    assert min(without) > 0.1, without
