"""The learner on a game with a known answer; and that a game outside the package works through every layer."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import kuhn
import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from auction_env.agents.learning.config import Config
from auction_env.agents.learning.network import NetworkAgent
from auction_env.agents.learning.selfplay import Trainer

from auction_env.engine.table import Table
from auction_env.games import get_game

UNIFORM = dict.fromkeys(kuhn.INFORMATION_STATES, 0.5)
# One of Kuhn's equilibria (his alpha at 1/3 times 1): bluff a third with the lowest, bet always with the highest.
EQUILIBRIUM = {
    **{(0, ""): 1 / 3, (1, ""): 0.0, (2, ""): 1.0, (0, "pb"): 0.0, (1, "pb"): 2 / 3, (2, "pb"): 1.0},
    **{(0, "p"): 1 / 3, (1, "p"): 0.0, (2, "p"): 1.0, (0, "b"): 0.0, (1, "b"): 1 / 3, (2, "b"): 1.0},
}
CONFIG = Config(
    game="kuhn",
    decisions=500_000,
    tables=512,
    steps=16,
    hidden=[64, 64],
    learning_rate=1e-3,
    epochs=4,
    minibatch=2048,
    entropy=0.1,
    reward_scale=1.0,
    opponents=[],
    evaluate_every=1_000_000,
    evaluate_deals=200,
    checkpoint_every=1_000_000,
    threads=1,
)


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
        agent = NetworkAgent(actor, len(observation[0]) - 3)
        found[card, line] = float(agent.probabilities(observation, table.mask(table.to_act)[None])[0, 1])
    return found


def learned(folder: Path, seed: int, entropy: float, decisions: int) -> tuple[float, float]:
    """Exploitability of the last and of the averaged weights after so many decisions."""
    config = dataclasses.replace(CONFIG, seed=seed, entropy=entropy, decisions=decisions)
    trainer = Trainer(config, folder, lambda _: None, game=kuhn)
    trainer.run()
    return kuhn.exploitability(strategy_of(trainer.actor)), kuhn.exploitability(strategy_of(trainer.average))


def test_self_play_comes_near_the_solution_and_without_entropy_it_does_not(tmp_path):
    last, averaged = learned(tmp_path / "entropy", 0, 0.1, 500_000)
    assert averaged < 0.2 and last < 0.2
    assert min(learned(tmp_path / "none", 0, 0.0, 500_000)) > max(last, averaged) + 0.1


@pytest.mark.slow
def test_several_seeds_at_half_a_million_decisions(tmp_path):
    with_entropy = [learned(tmp_path / f"a{seed}", seed, 0.1, 500_000) for seed in range(3)]
    without = [learned(tmp_path / f"b{seed}", seed, 0.0, 500_000) for seed in range(3)]
    assert np.max(with_entropy) < 0.2
    assert np.mean(without) > np.mean(with_entropy) + 0.1
