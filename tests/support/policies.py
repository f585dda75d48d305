"""What tests of exported policies share: policies of both kinds, and states of the game to ask them at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from auction_env.agents.learning.network_agent import agent_of
from auction_env.agents.learning.networks import Shape, build_network
from auction_env.agents.learning.policy_file import Policy, layout_of, network_shape, save_policy

from auction_env.engine.batch import Batch
from auction_env.evaluation.match import plain_settings
from auction_env.games import get_game
from auction_env.games.game import make_settings

GAMES, KINDS = ("auction_poker", "auction_flop"), ("cards", "mlp")
TABLES = 100


def random_policy(name: str, kind: str, **settings: Any) -> tuple[Any, Any, Policy]:
    """A game, its Settings, and a policy whose weights are large enough for choices to be far from even."""
    game = get_game(name)
    made = make_settings(game, settings)
    torch.manual_seed(3)
    shape: Shape = network_shape(game, made, kind, [24, 16], 8)
    actor = build_network(shape, layout_of(game, made, kind), made.num_players - 1)
    for parameter in actor.parameters():
        torch.nn.init.normal_(parameter, 0, 0.3)
    return game, made, Policy(actor, shape, (made.num_players,), plain_settings(made), 0.7)


def agent_from(game: Any, settings: Any, policy: Policy) -> Any:
    """The agent that plays a policy."""
    return agent_of(policy.actor, policy.shape, game, settings, 0, policy.temperature)


def saved(path: Path, game: Any, settings: Any, policy: Policy) -> Path:
    """The policy's file."""
    save_policy(path, policy, game, settings)
    return path


def visited(game: Any, settings: Any, number: int) -> Any:
    """Tables under random play, ``number`` states in all, ``TABLES`` at a time: the batch at each moment."""
    batch, rng = Batch(game, settings, TABLES, threads=1), np.random.default_rng(1)
    out = batch.reset(2)
    for _ in range(number // TABLES):
        yield batch
        for _ in range(3):
            batch.step((rng.random(out.masks.shape) * out.masks).argmax(axis=1))


def told(agent: Any, batch: Batch) -> np.ndarray:
    """Probabilities of an agent at all tables of a batch, float32[tables, actions]."""
    seen = batch.states if hasattr(agent, "act_states") else batch.out.observations
    return np.asarray(agent.probabilities(seen, batch.out.masks))


def inputs(agent: Any, batch: Batch) -> np.ndarray:
    """What the network of an agent is given at all tables: rows of features, or whole flat observations."""
    if not hasattr(agent, "act_states"):
        return batch.out.observations
    rows = np.empty((batch.num_tables, agent.rows.size), np.float32)
    agent.rows.write(batch.states, batch.all_rows, rows)
    return rows
