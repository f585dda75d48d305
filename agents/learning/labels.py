"""Decisions labelled by playing all their likely actions: counterfactual actions, or search, as a teaching signal.

A decision of a rollout says what one action came to. Here a few tables are copied, each likely action is tried there,
and the policy plays the deal to its end for everybody: the same cards for all actions (common random numbers), so
that their differences are much less noisy than their values. With ``worlds`` 0 it is the table as it stands,
concealed cards and all (what is learned from it does not see them, so it learns the mean over them); otherwise so many
worlds are drawn that the seat can imagine, as the search does.

The gradient is that of all actions at once, sum over a of pi(a) A(a) (Sutton et al. 2000, NIPS 12; Asadi et al. 2017,
arXiv 1709.00503).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from auction_env.agents.learning.network_agent import CardAgent
from auction_env.agents.learning.network_search import NetworkSearchAgent
from auction_env.agents.learning.rollouts import AllSeatsVecEnv
from torch import nn

LABELS = 0x1ABE1  # stream of the seed
LEAST = 0.02  # actions that the policy takes more rarely are not tried


class Labels(NamedTuple):
    """Labelled decisions."""

    rows: torch.Tensor  # float32[B, inputs]
    illegal: torch.Tensor  # bool[B, actions]: not to be taken, or not tried
    gains: torch.Tensor  # float32[B, actions]: what each action tried brings beyond the policy; 0 where not tried

    def split(self, number: int) -> list[Labels]:
        """Cut into so many parts of nearly equal size."""
        parts = (tensor.tensor_split(number) for tensor in self)
        return [Labels(*part) for part in zip(*parts, strict=True)]


class Labeller:
    """Labels decisions at the tables of an environment.

    Args:
        env: the environment, with network "cards".
        agents: who plays on at the tables of each number of seats, in the order of ``env.tables``.
        worlds: drawn for each decision; 0: the table as it stands.
    """

    def __init__(self, env: AllSeatsVecEnv, agents: list[CardAgent], worlds: int) -> None:
        self.env, self.agents, self.worlds = env, agents, worlds
        number = int(env.action_space.n)  # type: ignore[attr-defined]
        self.searches = [NetworkSearchAgent(env.game, agent, number, beliefs=False) for agent in agents]
        self.seed(0)

    def seed(self, seed: int) -> None:
        """Start all chance anew: which decisions, which worlds, how they are played."""
        self.rng = np.random.default_rng([seed, LABELS])
        for search in self.searches:
            search.seed(seed)

    def label(self, decisions: int, rows: np.ndarray) -> Labels | None:
        """Label decisions that are due at some of the tables; None if there is a choice at none.

        Args:
            decisions: at how many tables, drawn without replacement.
            rows: float32[N, inputs], what the seats to act see.
        """
        drawn = np.sort(self.rng.permutation(self.env.num_envs)[:decisions])
        parts = []
        for tables, agent, search in zip(self.env.tables, self.agents, self.searches, strict=True):
            here = drawn[(drawn >= tables.slice.start) & (drawn < tables.slice.stop)]
            places = here - tables.slice.start
            states, masks = tables.batch.states[places].copy(), tables.batch.out.masks[places]
            shares = agent.probabilities(states, masks)
            tried = (shares >= LEAST) & (masks != 0)
            chosen = tried.sum(1) > 1
            if chosen.any():
                gains = self._gains(search, states[chosen], tried[chosen], shares[chosen])
                parts.append((rows[here[chosen]], ~tried[chosen], gains))
        if not parts:
            return None
        return Labels(*(torch.from_numpy(np.concatenate(part)) for part in zip(*parts, strict=True)))

    def _gains(
        self, search: NetworkSearchAgent, states: np.ndarray, tried: np.ndarray, shares: np.ndarray
    ) -> np.ndarray:
        """What each action tried brings beyond the policy's mean over them, float32[B, actions], in reward units."""
        choices = int(tried.sum(1).max())
        options = np.argsort(~tried, axis=1, kind="stable")[:, :choices]
        alive = np.take_along_axis(tried, options, 1)
        _, payoffs = search.try_actions(states, options, alive, self.worlds)
        values = payoffs.mean(1) * self.env.reward_scale
        weights = np.take_along_axis(shares, options, 1) * alive
        weights /= weights.sum(1, keepdims=True)
        values -= (weights * values).sum(1, keepdims=True)
        gains = np.zeros(tried.shape, np.float32)
        np.put_along_axis(gains, options, np.where(alive, values, 0).astype(np.float32), 1)
        return gains


def label_gain(logits: torch.Tensor, labels: Labels) -> torch.Tensor:
    """Mean over labelled decisions of sum over a of pi(a) A(a), pi among the actions tried, A in its own deviations."""
    chances = logits.masked_fill(labels.illegal, -torch.inf).softmax(1)
    spread = labels.gains[~labels.illegal].std() + 1e-8
    return (chances * labels.gains).sum(1).mean() / spread


def playing(agent: CardAgent, actor: nn.Module) -> None:
    """Let an agent play the weights of a network as they are now."""
    agent.actor.load_state_dict(actor.state_dict())
