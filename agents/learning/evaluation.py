"""Measuring a learner while it learns: against named agents and its own pool; choosing what is kept by play."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from auction_env.agents.base import Agent
from torch import nn

from auction_env import agents
from auction_env.core.files import write_json
from auction_env.evaluation.match import MatchResult, play_match
from auction_env.evaluation.results import Estimate, plain
from auction_env.solve import Layout, Positions, enumerate_tree

if TYPE_CHECKING:
    from auction_env.agents.learning.trainer import Trainer

CURVE = "curve.json"
MOST_TREE_BYTES = 1 << 28  # of a tree whose exploitability is computed while learning
AVERAGE_OF_POOL = "pool"  # name of the measure against the oldest and the middle snapshot
# Decks of their own for each purpose; training's evaluations add the iteration.
_TRAINING, _CHOOSING, _FINAL = 10_000, 20_000, 30_000


@dataclasses.dataclass(frozen=True)
class Point:
    """A point of the learning curve.

    Attributes:
        timesteps: decisions learned from.
        seconds: of the run.
        entropy: of the policy, in nats.
        chips: chips a deal against each opponent, mean over all seats and numbers of seats, with 95 % intervals.
        exploitability: chips a deal, exactly, of the ``averaged`` and the ``last`` weights, if the config asks for it.
    """

    timesteps: int
    seconds: float
    entropy: float
    chips: dict[str, Estimate]
    exploitability: dict[str, float] = dataclasses.field(default_factory=dict)


class Evaluator:
    """Plays a trainer's networks; every opponent sits at all other seats, decks are played in all distinct seatings."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer
        self.names = list(trainer.config.eval_opponents)
        self._truth: tuple[Positions, Layout] | None = None

    def exploitability(self, actors: Mapping[str, nn.Module]) -> dict[str, float]:
        """Chips a deal that best responses would win from networks, exactly; the tree is enumerated at the first call.

        Raises:
            TooLargeError: the setting is too large.
        """
        trainer = self.trainer
        if self._truth is None:
            tree = enumerate_tree(trainer.game, trainer.settings, fold=False, most_bytes=MOST_TREE_BYTES)
            self._truth = Positions(tree), Layout(tree)
        positions, layout = self._truth
        return {
            name: layout.evaluate(positions.policy(trainer.agent(actor, stream=7), layout)).exploitability
            for name, actor in actors.items()
        }

    def _opponent(self, name: str, settings: Any) -> Agent:
        return agents.make(name, self.trainer.game, settings, 100)

    def match(
        self, actor: nn.Module, opponent: Agent | str, settings: Any, deals: int, seed: int, temperature: float
    ) -> Any:
        """A match of a network against copies of an agent."""
        learner = self.trainer.agent(actor, settings, temperature, stream=7)
        learner.name = "learner"
        other = self._opponent(opponent, settings) if isinstance(opponent, str) else opponent
        line = [learner, *[other] * (settings.num_players - 1)]
        return play_match(self.trainer.game, settings, line, deals, seed)

    def against(
        self, actor: nn.Module, opponent: Agent | str, deals: int, seed: int, temperature: float = 1.0
    ) -> Estimate:
        """Chips a deal over all numbers of seats of the run, which share the deals equally."""
        tables = self.trainer.all_settings
        each = max(deals // len(tables), 2)
        return _mean([self.match(actor, opponent, one, each, seed, temperature).agent(0) for one in tables])

    def measure(self, actor: nn.Module, iteration: int) -> dict[str, Estimate]:
        """Against each of ``eval_opponents`` (or the rival, where there is one), and the pool."""
        trainer, seed = self.trainer, _TRAINING + iteration
        deals = trainer.config.evaluate_deals
        if trainer.rival is not None:
            return {trainer.rival.name: self.against(actor, trainer.rival, deals, _CHOOSING)}
        found = {name: self.against(actor, name, deals, seed) for name in self.names}
        for agent, name in zip(trainer.pool.agents, trainer.config.opponents, strict=True):
            if name in found:
                trainer.pool.note(agent, found[name].mean)
        found |= self._against_pool(actor, deals, seed)
        return found

    def _against_pool(self, actor: nn.Module, deals: int, seed: int) -> dict[str, Estimate]:
        snapshots = self.trainer.pool.snapshots
        if not snapshots:
            return {}
        places = sorted({0, len(snapshots) // 2})
        one = self.trainer.settings
        gains = []
        for place in places:
            gain = self.match(actor, snapshots[place], one, deals // len(places), seed, 1.0).agent(0)
            self.trainer.pool.note(snapshots[place], gain.mean)
            gains.append(gain)
        return {AVERAGE_OF_POOL: _mean(gains)}

    def score(self, found: Mapping[str, Estimate]) -> float:
        """By which weights are compared: chips against ``select_by``, or against all if that is empty."""
        chosen = self.trainer.config.select_by
        if self.trainer.rival is None and chosen:
            return found[chosen].mean
        return float(np.mean([estimate.mean for estimate in found.values()])) if found else -math.inf

    def choose(self, candidates: Mapping[str, nn.Module], temperatures: Sequence[float]) -> tuple[str, float]:
        """The weights, and the temperature to play them at, that win most on decks kept for this choice."""
        trainer = self.trainer
        opponent = trainer.rival or trainer.config.select_by or (self.names[0] if self.names else None)
        if opponent is None:
            return "averaged", 1.0
        deals, options = trainer.config.evaluate_deals, list(itertools.product(candidates, temperatures))
        gains = [
            self.against(candidates[name], opponent, deals, _CHOOSING, temperature).mean
            for name, temperature in options
        ]
        return options[int(np.argmax(gains))]

    def final(self, model: Path, deals: int) -> dict[str, MatchResult]:
        """Matches of a policy file against each of ``eval_opponents``, at the config's table."""
        trainer = self.trainer
        results = {}
        for name in self.names:
            learner = agents.make(f"ppo:{model}", trainer.game, trainer.settings, trainer.config.seed)
            others = [self._opponent(name, trainer.settings)] * (trainer.settings.num_players - 1)
            results[name] = play_match(trainer.game, trainer.settings, [learner, *others], deals, _FINAL)
        return results


def _mean(estimates: Sequence[Estimate]) -> Estimate:
    """Of independent estimates, equally weighed."""
    number = len(estimates)
    width = float(np.sqrt(sum(estimate.half_width**2 for estimate in estimates))) / number
    return Estimate(sum(estimate.mean for estimate in estimates) / number, width)


def write_curve(folder: Path, curve: Sequence[Point]) -> None:
    """The learning curve as JSON in a run's folder."""
    write_json(folder / CURVE, plain_points(curve))


def plain_points(curve: Sequence[Point]) -> list[dict[str, Any]]:
    """Points as plain data; an interval that is not known, since one deck alone was played, is null."""
    return [
        {**dataclasses.asdict(point), "chips": {name: plain(value) for name, value in point.chips.items()}}
        for point in curve
    ]


def read_points(content: Sequence[Mapping[str, Any]]) -> list[Point]:
    """The points that ``plain_points`` gave. Raises KeyError, TypeError or ValueError where they are none."""
    return [
        Point(
            int(point["timesteps"]),
            float(point["seconds"]),
            float(point["entropy"]),
            {
                str(name): Estimate(float(value["mean"]), _width(value["half_width"]))
                for name, value in point["chips"].items()
            },
            {str(name): float(value) for name, value in point.get("exploitability", {}).items()},
        )
        for point in content
    ]


def _width(value: Any) -> float:
    return math.inf if value is None else float(value)
