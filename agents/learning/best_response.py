"""How exploitable is an agent at least? A learner is trained against frozen copies of it, and measured on fresh deals.

The learner first imitates the agent (which alone would win nothing: it is one more copy), then learns by playing it.

What a learned response wins is a lower bound of what the best one would: the true exploitability may be larger by any
amount, so nothing here is called exploitability.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from auction_env.agents.base import Agent
from auction_env.agents.learning.checkpoint import CHECKPOINT
from auction_env.agents.learning.config import Config
from auction_env.agents.learning.runs import begin, go_on
from auction_env.agents.learning.trainer import MODEL, Stopped, Trainer

from auction_env import agents
from auction_env.core.terminal import mention
from auction_env.evaluation.match import MatchResult, play_match
from auction_env.evaluation.results import Estimate, plain
from auction_env.games.game import Game

_MEASURING = 40_000  # decks that no choice was made by


@dataclasses.dataclass(frozen=True)
class BestResponse:
    """What a learned response won from an agent.

    Attributes:
        agent: who was frozen.
        match: of the response at the first place against copies of the agent at all others, on fresh decks.
        decisions: that the learner made in training, against the agent: as many as it was given, and up to the end of
            the last iteration.
        imitated: decisions of the agent that it imitated before.
        temperature: at which the response plays.
        kept: which weights it plays: "last", "averaged" over iterations, or "best" of those measured while learning.
        shown: chips a deal at the last measurement while learning, of averaged weights at temperature 1, on the decks
            that the choice was made by; a progress bar ends with it. None: it was never measured.
    """

    agent: str
    match: MatchResult
    decisions: int
    imitated: int
    temperature: float
    kept: str
    shown: Estimate | None

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
            "imitated": self.imitated,
            "temperature": self.temperature,
            "kept": self.kept,
            "while_learning": plain(self.shown) if self.shown else None,
            "match": self.match.summary(),
        }

    def text(self) -> str:
        """The verdict, and the match it rests on."""
        n = len(self.match.names)
        if self.at_least is None:
            verdict = f"nothing found: the response won {self.gain} chips a deal"
        else:
            verdict = f"{self.agent} is exploitable by at least {self.at_least:.3f} chips a deal: {self.gain} was won"
        others = "its opponent" if n == 2 else f"all of its {n - 1} opponents"
        budget = f"{self.decisions} decisions (whole iterations of all tables)"
        if self.imitated:
            budget = f"{self.imitated} decisions that it imitated, and then {budget}"
        return (
            f"{verdict}. It learned from {budget}, with {self.agent} as {others}, and was measured over "
            f"{self.match.deals} fresh deals; a better response may win more{self._shown_text()}\n{self.match.text()}"
        )

    def _shown_text(self) -> str:
        """Why the verdict's number is not the one that stood beside the progress bar."""
        if self.shown is None:
            return ""
        return (
            f". While it learned, {self.shown.mean:+.2f} was shown last: of the averaged weights at temperature 1, on "
            f"the decks of the choice; chosen were the {self.kept} weights at temperature {self.temperature:g}"
        )


def best_response(
    game: Game | ModuleType,
    settings: Any,
    agent: Agent,
    config: Config,
    deals: int = 30_000,
    folder: Path | None = None,
    say: Callable[[str], object] = mention,
) -> BestResponse:
    """Train a learner against an agent at all other seats, and measure it on decks that no choice was made by.

    Args:
        game: the game; its name and settings in ``config`` must be the same.
        settings: its Settings.
        agent: the agent, which does not learn.
        config: of the learner; its keys about opponents are not used, and ``warm_start`` only as whether there is one.
        deals: fresh deals, at least.
        folder: keeps the run, so that calling again with the same goes on where it stopped, and the response as a
            policy that ``ppo:FOLDER`` plays; None: nothing is kept.
        say: called with lines for people.

    Raises:
        Stopped: Ctrl-C; with a folder, everything is saved.
        ValueError: ``deals`` is not positive, the config is of another game or settings, or the folder holds a response
            to another agent, or learned otherwise.
        FolderInUseError: another process works in the folder.
    """
    if config.resolve(game)[1] != settings:  # type: ignore[arg-type]
        raise ValueError("the config has other settings than the table: give it the same")
    if deals < 1:
        raise ValueError(f"deals is {deals}: it must be at least 1")
    with tempfile.TemporaryDirectory() as passing:
        learner = Trainer(config, folder or Path(passing), say, game, rival=agent)  # type: ignore[arg-type]
        if (learner.folder / CHECKPOINT).exists():
            go_on(learner)
            say(f"going on from {learner.model.num_timesteps} decisions: {learner.folder}")
        else:
            begin(learner)
        learner.run()
        response = agents.make(f"ppo:{learner.folder / MODEL}", learner.game, settings, config.seed)
        response.name = "response"
        line = [response, *[agent] * (settings.num_players - 1)]
        match = play_match(learner.game, settings, line, deals, _MEASURING + config.seed)
    imitated = learner.imitated.timesteps if learner.imitated else 0
    shown = learner.curve[-1].chips.get(agent.name) if learner.curve else None
    return BestResponse(
        agent.name, match, learner.model.num_timesteps, imitated, learner.temperature, learner.kept, shown
    )


__all__ = ["BestResponse", "Stopped", "best_response"]
