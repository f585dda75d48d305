"""How exploitable is an agent at least? A learner is trained against frozen copies of it, and measured on fresh deals.

What a learned response wins is a lower bound of what the best one would: the true exploitability may be larger by any
amount, so nothing here is called exploitability.
"""

from __future__ import annotations

import copy
import dataclasses
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from auction_env.agents.base import Agent
from auction_env.agents.learning.config import Config
from auction_env.agents.learning.network import NetworkAgent, save_policy
from auction_env.agents.learning.selfplay import MODEL, Evaluation, Stopped, Trainer
from torch import nn

from auction_env.evaluation.match import MatchResult, play_match
from auction_env.evaluation.results import Estimate, plain
from auction_env.games.game import Game

_CHOOSING, _MEASURING = 1, 2  # streams of the seed: decks to choose among responses by, and fresh ones


@dataclasses.dataclass(frozen=True)
class BestResponse:
    """What a learned response won from an agent.

    Attributes:
        agent: who was frozen.
        match: of the response at the first place against copies of the agent at all others, on fresh decks.
        decisions: that the learner made in training.
        greedy: whether the response takes its likeliest action always.
    """

    agent: str
    match: MatchResult
    decisions: int
    greedy: bool

    @property
    def gain(self) -> Estimate:
        """Chips per deal that the response wins, over all seats; the agent in its place would win nothing."""
        return self.match.agent(0)

    @property
    def at_least(self) -> float | None:
        """The lower end of the gain's 95 % interval, or None if that is not above zero."""
        return self.gain.mean - self.gain.half_width if self.gain.above_zero else None

    def summary(self) -> dict[str, Any]:
        """All numbers as plain data."""
        return {
            "agent": self.agent,
            "exploitable_by_at_least": self.at_least,
            "gain": plain(self.gain),
            "by_seat": [plain(self.match.seat(0, seat)) for seat in range(len(self.match.names))],
            "decisions": self.decisions,
            "greedy": self.greedy,
            "match": self.match.summary(),
        }

    def text(self) -> str:
        """The verdict, and the match it rests on."""
        n = len(self.match.names)
        if self.at_least is None:
            verdict = f"nothing found: a learner of {self.decisions} decisions won {self.gain} chips a deal"
        else:
            verdict = f"{self.agent} is exploitable by at least {self.at_least:.3f} chips a deal: {self.gain} was won"
        others = "its opponent" if n == 2 else f"all of its {n - 1} opponents"
        return (
            f"{verdict}, by a response learned in {self.decisions} decisions with {self.agent} as {others}, over "
            f"{self.match.deals} fresh deals; a better response may win more\n{self.match.text()}"
        )


class _Responder(Trainer):
    """A learner whose opponents are one frozen agent, at all other seats; it keeps the weights that win most."""

    def __init__(
        self, config: Config, folder: Path, frozen: Agent, say: Callable[[str], None], game: ModuleType | Game
    ) -> None:
        super().__init__(config, folder, say, game)  # type: ignore[arg-type]
        self.frozen, self.versus = frozen, frozen.name
        self.env.set_opponents(frozen)
        self.best, self.best_chips = copy.deepcopy(self.actor), -np.inf

    def seat_opponents(self) -> None:
        """Always the same."""
        self.env.set_opponents(self.frozen)

    def save(self, seconds: float) -> None:
        """No checkpoints: a response is learned in one go."""

    def against(self, actor: nn.Module, greedy: bool, deals: int, stream: int) -> MatchResult:
        """A match of a response against copies of the frozen agent."""
        size = int(self.env.observation_space.shape[0])  # type: ignore[index]
        learner = NetworkAgent(actor, size, greedy=greedy)
        learner.name = "response"
        line: list[Agent] = [learner, *[self.frozen] * (self.settings.num_players - 1)]
        return play_match(self.game, self.settings, line, deals, self.config.seed * 1009 + stream)

    def evaluate(self, seconds: float) -> Estimate:
        """Add a point to the curve, and keep the weights if none before won more."""
        found = self.against(self.actor, False, self.config.evaluate_deals, _CHOOSING).agent(0)
        self.curve.append(Evaluation(self.model.num_timesteps, seconds, found.mean, found.half_width, self.entropy()))
        if found.mean > self.best_chips:
            self.best, self.best_chips = copy.deepcopy(self.actor), found.mean
        return found

    def finish(self) -> None:
        """Nothing: ``choose`` does it."""

    def choose(self) -> tuple[nn.Module, bool]:
        """The weights, and the way to play them, that win most on decks kept for this choice."""
        candidates = [(actor, greedy) for actor in (self.best, self.average) for greedy in (False, True)]
        chips = [self.against(*one, self.config.evaluate_deals, _CHOOSING).agent(0).mean for one in candidates]
        return candidates[int(np.argmax(chips))]


def best_response(
    game: Game | ModuleType,
    settings: Any,
    agent: Agent,
    config: Config,
    deals: int = 30_000,
    folder: Path | None = None,
    say: Callable[[str], None] = print,
) -> BestResponse:
    """Train a learner against an agent at all other seats, and measure it on decks that no choice was made by.

    Args:
        game: the game; its name and settings in ``config`` must be the same.
        settings: its Settings.
        agent: the agent, which does not learn.
        config: of the learner; its keys about opponents are not used.
        deals: fresh deals, at least.
        folder: keeps the response as a policy that ``ppo:FOLDER`` plays; None: it is not kept.
        say: called with lines for people.

    Raises:
        Stopped: Ctrl-C.
        ValueError: ``deals`` is not positive, or the config is of another game or settings.
    """
    if config.resolve(game)[1] != settings:  # type: ignore[arg-type]
        raise ValueError("the config has other settings than the table: give it the same")
    if deals < 1:
        raise ValueError(f"deals is {deals}: it must be at least 1")
    with tempfile.TemporaryDirectory() as passing:
        learner = _Responder(config, folder or Path(passing), agent, say, game)
        learner.folder.mkdir(parents=True, exist_ok=True)
        learner.run()
        actor, greedy = learner.choose()
        match = learner.against(actor, greedy, deals, _MEASURING)
        if folder:
            save_policy(folder / MODEL, actor, learner.game, settings, config.hidden)
    return BestResponse(agent.name, match, learner.model.num_timesteps, greedy)


__all__ = ["BestResponse", "Stopped", "best_response"]
