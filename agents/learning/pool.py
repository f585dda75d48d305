"""Who sits at the tables beside the learner: what it was before, and agents by name."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from auction_env.agents.base import Agent

FLOOR = 0.05  # of a weight, so that nobody is forgotten


class OpponentPool:
    """Snapshots of the policy, the oldest first, and agents that do not learn.

    Snapshots are at most ``size``, spread as evenly as can be in the log of age. Draws go to the named agents with
    probability ``agents_prob`` in all, to the snapshots otherwise; within a group by priority: uniformly, or, with
    ``prioritized``, by what the learner last lost to each (Vinyals et al. 2019, prioritised fictitious self-play).

    Args:
        size: of the pool of snapshots.
        agents: the named agents.
        agents_prob: see above; 1 while there are no snapshots, 0 if there are no named agents.
        prioritized: see above.
    """

    def __init__(self, size: int, agents: Sequence[Agent], agents_prob: float, prioritized: bool) -> None:
        self.size, self.agents, self.agents_prob, self.prioritized = size, list(agents), agents_prob, prioritized
        self.taken: list[int] = []  # the iteration each snapshot was taken in
        self.snapshots: list[Agent] = []
        self.gains: dict[int, float] = {}  # chips a deal that the learner last won from an agent, by its id

    def add(self, snapshot: Agent, iteration: int) -> None:
        """Add a snapshot; when there are too many, drop the one whose neighbours in age are nearest to each other."""
        if not self.size:
            return
        self.taken.append(iteration)
        self.snapshots.append(snapshot)
        if len(self.taken) <= self.size:
            return
        ages = [math.log2(iteration - taken + 1) for taken in self.taken]
        gaps = [ages[index - 1] - ages[index + 1] for index in range(1, len(ages) - 1)]
        drop = 1 + int(np.argmin(gaps)) if gaps else 0
        self.gains.pop(id(self.snapshots[drop]), None)
        del self.taken[drop], self.snapshots[drop]

    def note(self, agent: Agent, gain: float) -> None:
        """Remember what the learner won from an agent, in chips a deal."""
        self.gains[id(agent)] = gain

    @property
    def everyone(self) -> list[Agent]:
        """Named agents, then snapshots."""
        return [*self.agents, *self.snapshots]

    def weights(self) -> list[float]:
        """With which each of ``everyone`` is drawn; they sum to 1, or there is nobody."""
        share = self.agents_prob if self.snapshots else 1.0
        if not self.agents:
            share = 0.0
        return [*_spread(share, self._priorities(self.agents)), *_spread(1 - share, self._priorities(self.snapshots))]

    def seated(self, draws: int, rng: np.random.Generator) -> tuple[list[Agent], list[float]]:
        """Who of ``everyone`` may play in an iteration, and with which weights.

        A few at a time meet the learner as often, over several iterations, as all of them would, and are quicker: who
        plays is asked at every step, for however few decisions.

        Args:
            draws: how many agents, drawn by their weights; 0: all.
            rng: of the draw.
        """
        everyone, weights = self.everyone, self.weights()
        if not 0 < draws < np.count_nonzero(weights):
            return everyone, weights
        drawn = rng.choice(len(everyone), draws, replace=False, p=weights)
        return [everyone[number] for number in drawn], [1 / draws] * draws

    def _priorities(self, agents: Sequence[Agent]) -> list[float]:
        if not self.prioritized:
            return [1.0] * len(agents)
        gains = [self.gains.get(id(agent), 0.0) for agent in agents]
        most = max(gains, default=0.0)
        return [most - gain + FLOOR for gain in gains]


def _spread(total: float, priorities: Sequence[float]) -> list[float]:
    scale = sum(priorities)
    return [total * priority / scale for priority in priorities] if scale > 0 else []
