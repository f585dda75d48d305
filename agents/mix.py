"""Plays another agent with a probability: ``mix:0.2:random:rules`` is random in 20 % of decisions, else rules."""

from __future__ import annotations

from typing import Any

import numpy as np
from auction_env.agents.base import Agent, AgentError

from auction_env import agents
from auction_env.core.limits import depth_of
from auction_env.games.game import Game

MAX_NESTING = 16  # of mixes in mixes
SEEDS = 1 << 63  # some generators take no larger ones

_FORM = "write mix:CHANCE:OTHER:MAIN, and brackets round an agent with a colon of its own: mix:0.2:(rules:tight):random"


class MixAgent(Agent):
    """One agent's choice with a probability and another's otherwise, drawn anew for each decision.

    Each of the two is asked only for the decisions that are its own, in whatever way it is asked (``players.choose``).
    """

    def __init__(self, chance: float, other: Agent, main: Agent, seed: int = 0) -> None:
        self.chance, self.parts = chance, (main, other)
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """See Agent: the two agents' chance too."""
        self.rng = np.random.default_rng([seed, 0x317C])
        for place, part in enumerate(self.parts):
            part.seed((2 * seed + place) % SEEDS)

    def delegate(self, number: int) -> list[tuple[Agent, np.ndarray]]:
        """Who chooses at which of ``number`` decisions: int64 rows for each agent that has some."""
        drawn = self.rng.random(number) < self.chance
        rows = (np.flatnonzero(~drawn), np.flatnonzero(drawn))
        return [(part, own) for part, own in zip(self.parts, rows, strict=True) if len(own)]

    def act_batch(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See Agent; for two agents that observe."""
        actions = np.zeros(len(masks), np.int64)
        for part, rows in self.delegate(len(masks)):
            actions[rows] = part.act_batch(observations[rows], masks[rows])
        return actions

    def random_state(self) -> Any:
        """See Agent."""
        return [self.rng.bit_generator.state, *(part.random_state() for part in self.parts)]

    def set_random_state(self, state: Any) -> None:
        """See Agent."""
        self.rng.bit_generator.state = state[0]
        for part, own in zip(self.parts, state[1:], strict=True):
            part.set_random_state(own)


def _first_part(text: str) -> tuple[str, str]:
    """The text up to the first colon that stands in no brackets, without brackets round it; and the rest."""
    depth, end = 0, len(text)
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == ":" and depth == 0:
            end = place
            break
    return _bare(text[:end]), text[end + 1 :]


def _bare(text: str) -> str:
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def _parts(argument: str) -> tuple[str, str, str]:
    """The chance, as it was written, and the two agents: the other and the main one."""
    if depth_of(argument) > MAX_NESTING:
        raise AgentError(f"agent 'mix' holds mixes {depth_of(argument)} levels deep, the most is {MAX_NESTING}")
    chance, rest = _first_part(argument)
    other, main = _first_part(rest)
    return chance, other, _bare(main)


def parts(argument: str) -> list[str]:
    """The two agents; see ``agents.parts``."""
    return [spec for spec in _parts(argument)[1:] if spec]


def make_agent(argument: str, game: Game, settings: Any, seed: int) -> MixAgent:
    """``mix:CHANCE:OTHER:MAIN``; either may be a mix in brackets."""
    chance_text, other, main = _parts(argument)
    try:
        chance = float(chance_text)
    except ValueError:
        chance = -1.0
    if not 0 <= chance <= 1:
        raise AgentError(f"agent 'mix': the chance is {chance_text!r}, it must be a number from 0 to 1: {_FORM}")
    if not other or not main:
        raise AgentError(f"agent 'mix' needs two agents, not {argument.partition(':')[2]!r}: {_FORM}")
    parts = [agents.make(spec, game, settings, (2 * seed + place) % SEEDS) for place, spec in enumerate((main, other))]
    return MixAgent(chance, parts[1], parts[0], seed)
