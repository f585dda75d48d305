"""The learner on Leduc poker, where bluffing takes two rounds: how far its play is from the solution, exactly."""

from __future__ import annotations

from pathlib import Path

import known_game
import leduc
import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from auction_env.agents.learning.network_agent import MlpAgent
from auction_env.agents.learning.trainer import Trainer


def strategy_of(actor) -> dict[tuple[int, int, str], np.ndarray]:
    """What a network plays in every information state that the cards allow; elsewhere, uniformly."""
    strategy = leduc.uniform()
    for card, public, node in leduc.information_states():
        left = {rank: 2 - (rank == card) - (rank == public) for rank in range(3)}
        if min(left.values()) < 0:
            continue
        other = next(rank for rank in left if left[rank])
        left[other] -= 1
        shown = public if public >= 0 else next(rank for rank in left if left[rank])
        table = leduc.table_at(*((card, other) if node.to_act == 0 else (other, card)), shown, node.line)
        observation = table.observe(node.to_act)[None]
        agent = MlpAgent(actor, observation.shape[1] - 3)
        strategy[card, public, node.line] = agent.probabilities(observation, table.mask(node.to_act)[None])[0]
    return strategy


def learned(folder: Path, seed: int, ent_coef: float) -> tuple[float, float]:
    """Exploitability of the last and of the averaged weights."""
    config = known_game.config(
        "leduc",
        seed,
        ent_coef,
        total_timesteps=2_000_000,
        n_steps=32,
        batch_size=1024,
        learning_rate_end=1e-4,
        reward_scale=0.2,
        average=0.3,
    )
    trainer = Trainer(config, folder, lambda _: None, game=leduc)
    trainer.run()
    return leduc.exploitability(strategy_of(trainer.actor)), leduc.exploitability(strategy_of(trainer.average))


@pytest.mark.slow
def test_averaged_weights_come_near_the_solution_and_without_entropy_they_do_not(tmp_path):
    with_entropy = [learned(tmp_path / f"a{seed}", seed, 0.1)[1] for seed in range(2)]
    without = learned(tmp_path / "b", 0, 0.0)
    assert max(with_entropy) <= 0.25, with_entropy
    assert min(without) > 0.5, without
