"""A warm start: the policy learns to do what a named agent does, before it plays itself.

The agent plays every seat at the tables. The actor learns its choices (cross-entropy), the critic what each deal gave
the seat: so the first updates of self-play already start from estimates that mean something.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from auction_env.agents.base import Agent
from auction_env.agents.learning.algorithm import NetworkPolicy, gradient_step, masked_log_softmax, shards_of
from auction_env.agents.learning.rollouts import AllSeatsVecEnv, Tables, credit_seats

from auction_env.engine.agent import ask

IMITATION = 0x1417  # stream of the seed
FINAL_RATE = 0.05  # of the learning rate at the end, linear between


@dataclasses.dataclass(frozen=True)
class Imitated:
    """What a warm start came to: decisions seen, and over the last chunk of them the mean losses."""

    timesteps: int
    cross_entropy: float
    value_loss: float


def imitate(
    policy: NetworkPolicy,
    env: AllSeatsVecEnv,
    teacher: Agent,
    *,
    timesteps: int,
    learning_rate: float,
    batch_size: int,
    n_epochs: int,
    vf_coef: float,
    max_grad_norm: float,
    seed: int,
    steps: int,
    show: Callable[[int], None] = lambda done: None,
) -> Imitated:
    """Fit actor and critic to an agent that plays all seats.

    Args:
        policy: whose networks are trained, by an optimiser of their own.
        env: tables to play at; reset before and afterwards.
        teacher: the agent.
        timesteps: decisions to learn from, at least.
        learning_rate: Adam's step size at the start; a twentieth of it at the end.
        batch_size: decisions in a gradient step.
        n_epochs: passes over each chunk of decisions.
        vf_coef: weight of the value loss.
        max_grad_norm: gradients are clipped to this norm.
        seed: of the teacher's chance and of the order of decisions.
        steps: decisions a table in a chunk.
        show: called with the decisions made so far.

    Raises:
        PlayerError: the teacher failed or acted illegally.
        DivergedError: a loss or a gradient is not finite.
    """
    optimizer = torch.optim.Adam(policy.parameters(), lr=learning_rate, eps=1e-5, fused=True)
    rng = np.random.default_rng([seed, IMITATION])
    env.set_pool([], [], 0.0)
    rows = env.reset()
    done, losses = 0, [0.0, 0.0]
    while done < timesteps:
        chunk = _play(env, teacher, rows, steps, rng)
        rows = chunk.pop("last")
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * max(FINAL_RATE, 1 - done / timesteps)
        done += steps * env.num_envs
        for _ in range(n_epochs):
            losses = _fit(policy, optimizer, chunk, rng, batch_size, vf_coef, max_grad_norm)
        show(min(done, timesteps))
    return Imitated(done, *losses)


def _play(
    env: AllSeatsVecEnv, teacher: Agent, rows: np.ndarray, steps: int, rng: np.random.Generator
) -> dict[str, Any]:
    """Some decisions of the teacher at every table, with what each deal gave its seats."""
    shape = (steps, env.num_envs)
    seen = np.empty((*shape, rows.shape[1]), np.float32)
    masks = np.empty((*shape, int(env.action_space.n)), np.bool_)  # type: ignore[attr-defined]
    actions, seats, ended = np.empty(shape, np.int64), np.empty(shape, np.int8), np.empty(shape, np.bool_)
    payoffs = np.empty((*shape, env.max_seats), np.float32)
    for step in range(steps):
        seen[step], masks[step] = rows, env.action_masks()
        for tables in env.tables:
            actions[step, tables.slice] = _choices(env, tables, teacher, rng)
        rows, _, _, _ = env.step(actions[step])
        seats[step], ended[step], payoffs[step] = env.acted, env.ended, env.payoffs
    values, returns = np.zeros(shape, np.float32), np.empty(shape, np.float32)
    known = np.empty(shape, np.bool_)
    credit_seats(seats, ended, payoffs, values, 1.0, np.empty(shape, np.float32), returns, known)
    arrays = {"rows": seen, "masks": masks, "actions": actions, "returns": returns, "known": known}
    flat = {
        name: torch.from_numpy(array.reshape(steps * env.num_envs, *array.shape[2:])) for name, array in arrays.items()
    }
    return {**flat, "last": rows}


def _choices(env: AllSeatsVecEnv, tables: Tables, teacher: Agent, rng: np.random.Generator) -> np.ndarray:
    batch = tables.batch
    out = batch.out
    return ask(teacher, env.game, batch.states, out.seats, out.observations, out.masks, rng)


def _fit(
    policy: NetworkPolicy,
    optimizer: torch.optim.Optimizer,
    chunk: dict[str, Any],
    rng: np.random.Generator,
    batch_size: int,
    vf_coef: float,
    max_grad_norm: float,
) -> list[float]:
    """One pass over a chunk; mean cross-entropy and value loss."""

    def loss(places: torch.Tensor) -> tuple[torch.Tensor, list[float]]:
        known = chunk["known"][places]
        logits, values = policy.mlp_extractor(chunk["rows"][places])
        logs = masked_log_softmax(logits, chunk["masks"][places])
        cross_entropy = -logs.gather(1, chunk["actions"][places].view(-1, 1)).mean()
        errors = (values[:, 0] - chunk["returns"][places])[known]
        value_loss = errors.square().mean() if len(errors) else errors.sum()
        return cross_entropy + vf_coef * value_loss, [float(one.detach()) for one in (cross_entropy, value_loss)]

    losses = []
    for places in torch.from_numpy(rng.permutation(len(chunk["actions"]))).split(batch_size):
        parts = places.tensor_split(shards_of(len(places)))
        shares = [len(part) / len(places) for part in parts]
        losses.append(gradient_step(policy, optimizer, loss, parts, shares, max_grad_norm))
    return [float(mean) for mean in np.mean(losses, 0)]
