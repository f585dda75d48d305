"""Leduc poker: the module against its own exact tree, and the learner on it."""

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
    num_envs=256,
    n_steps=16,
    net_arch=[128, 128],
    learning_rate=1e-3,
    learning_rate_end=1e-4,
    n_epochs=4,
    batch_size=512,
    ent_coef=0.2,
    ent_coef_end=0.02,
    gae_lambda=0.95,
    reward_scale=0.5,
    opponent_pool_prob=0.0,
    opponent_pool_size=0,
    average=0.3,
    eval_opponents=["random"],
    select_by="random",
    evaluate_every=1_000_000,
    evaluate_deals=200,
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


def cards_for(card: int, public: int) -> tuple[int, int]:
    """Some other card, and a public one, that may lie beside these."""
    drawn = public if public >= 0 else (card + 1) % 3
    return next(rank for rank in range(3) if [card, drawn].count(rank) + 1 <= 2 and rank != card), drawn


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
    """The probabilities of the actions in each information state."""
    keys, rows, masks = [], [], []
    for card, public, node in leduc.information_states():
        other, drawn = cards_for(card, public)
        first = (card, other) if node.to_act == 0 else (other, card)
        table = table_at(*first, drawn, node.line)
        keys.append((card, public, node.line))
        rows.append(table.observe(node.to_act))
        masks.append(table.mask(node.to_act))
    size = len(rows[0]) - leduc.RANKS
    found = MlpAgent(actor, size).probabilities(np.array(rows, np.float32), np.array(masks))
    return dict(zip(keys, found.astype(float), strict=True))


def learned(folder: Path, seed: int, **changes) -> tuple[float, float]:
    """Exploitability of the last and of the averaged weights."""
    trainer = Trainer(dataclasses.replace(CONFIG, seed=seed, **changes), folder, lambda _: None, game=leduc)
    trainer.run()
    return leduc.exploitability(strategy_of(trainer.actor)), leduc.exploitability(strategy_of(trainer.average))
