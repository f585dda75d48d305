"""Leduc poker: the module against its own exact tree, that against a published value, and the learner against both."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import leduc
import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from auction_env.agents.learning.config import Config
from auction_env.agents.learning.network_agent import MlpAgent
from auction_env.agents.learning.trainer import Trainer

from auction_env.engine.table import Table
from auction_env.games import get_game

RANKS = "QKA"
CONFIG = Config(
    game="leduc",
    network="mlp",
    total_timesteps=2_000_000,
    num_envs=128,
    n_steps=32,
    net_arch=[64, 64],
    learning_rate=1e-3,
    learning_rate_end=1e-4,
    n_epochs=4,
    batch_size=1024,
    ent_coef=0.1,
    ent_coef_end=0.1,
    gae_lambda=0.95,
    reward_scale=0.2,
    average=0.3,
    opponent_pool_prob=0.0,
    eval_opponents=[],
    select_by="",
    evaluate_every=1_000_000,
    checkpoint_every=1_000_000,
    threads=1,
)


def table_at(card: int, other: int, public: int, line: str) -> Table:
    """A table after these actions; ``card`` is of who acts first."""
    free = {rank: [f"{RANKS[rank]}{suit}" for suit in "cd"] for rank in range(3)}
    deck = [free[rank].pop() for rank in (card, other, public)]
    deck += [name for names in free.values() for name in names]
    table = Table(get_game(leduc))
    table.reset(0, {"deck": " ".join(deck), "dealer": 1})
    for action in line.replace("/", ""):
        table.act(int(action))
    return table


def test_best_responses_to_uniform_play_win_the_published_sum():
    """NashConv 4.7472: OpenSpiel's value for its leduc_poker."""
    assert 2 * leduc.exploitability(leduc.uniform()) == pytest.approx(4.747222, abs=1e-6)


def test_legal_actions_and_payoffs_of_the_module_are_those_of_the_tree():
    deals = [(0, 1, 2), (2, 1, 0), (1, 2, 1), (0, 2, 2), (1, 1, 0)]
    nodes, ends = [leduc.Node()], 0
    while nodes:
        node = nodes.pop()
        if not node.over:
            table = table_at(0, 1, 2, node.line)
            assert table.to_act == node.to_act
            assert np.flatnonzero(table.mask(node.to_act)).tolist() == node.legal()
            nodes += [node.after(action) for action in node.legal()]
            continue
        ends += 1
        for first, second, public in deals if node.over == "showdown" else deals[:1]:
            table = table_at(first, second, public, node.line[:-1])
            net = table.act(int(node.line[-1]))
            won = leduc._won(first, second, public if node.round else -1, node, 0)
            assert net == [won, -won], node.line
    assert ends == 4 + 5 * (4 + 5), "of a round: four folds, five ways to close it"


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
        table = table_at(*((card, other) if node.to_act == 0 else (other, card)), shown, node.line)
        observation = table.observe(node.to_act)[None]
        agent = MlpAgent(actor, observation.shape[1] - 3)
        strategy[card, public, node.line] = agent.probabilities(observation, table.mask(node.to_act)[None])[0]
    return strategy


def learned(folder: Path, seed: int, ent_coef: float) -> tuple[float, float]:
    """Exploitability of the last and of the averaged weights."""
    config = dataclasses.replace(CONFIG, seed=seed, ent_coef=ent_coef, ent_coef_end=ent_coef)
    trainer = Trainer(config, folder, lambda _: None, game=leduc)
    trainer.run()
    return leduc.exploitability(strategy_of(trainer.actor)), leduc.exploitability(strategy_of(trainer.average))


@pytest.mark.slow
def test_averaged_weights_come_near_the_solution_and_without_entropy_they_do_not(tmp_path):
    with_entropy = [learned(tmp_path / f"a{seed}", seed, 0.1)[1] for seed in range(2)]
    without = learned(tmp_path / "b", 0, 0.0)
    assert max(with_entropy) <= 0.25, with_entropy
    assert min(without) > 0.5, without
