"""Plays by rules of thumb that know poker: ``rules``, or with a style ``rules:tight``, ``loose``, ``aggressive``."""

from __future__ import annotations

from typing import Any

import numpy as np
from auction_env.agents.base import AgentError, StateAgent
from auction_env.agents.policies import choosing_kernel, policy_of, work_arrays

from auction_env.games.game import Game


class RulesAgent(StateAgent):
    """The scripted policy of a game, in one of its styles. Its mixed choices come from its own generator."""

    def __init__(self, game: Game, style: tuple[float, ...], seed: int = 0) -> None:
        self._choose = choosing_kernel(game)
        self._style = np.array(style)
        self._work = work_arrays()
        self.seed(seed)
        self.act_states(np.zeros(0, game.STATE), np.zeros((0, 0), np.int8))  # compiles: limits of time count play alone

    def seed(self, seed: int) -> None:
        """See Agent."""
        self.rng = np.random.default_rng([seed, 0x52C5])

    def act_states(self, states: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See StateAgent. Writes to ``states``."""
        states["rng"] = self.rng.integers(0, 2**64, len(states), np.uint64)
        actions = np.empty(len(states), np.int64)
        self._choose(states, self._style, *self._work, actions)
        return actions

    def random_state(self) -> Any:
        """See Agent."""
        return self.rng.bit_generator.state

    def set_random_state(self, state: Any) -> None:
        """See Agent."""
        self.rng.bit_generator.state = state


def style_of(game: Game, name: str, agent: str) -> tuple[float, ...]:
    """The numbers of a style, the default one for ''. Raises AgentError naming ``agent``."""
    policy = policy_of(game)
    if policy is None:
        raise AgentError(f"agent {agent!r} does not play {game.NAME}: there is no agents/policies/{game.NAME}.py")
    styles: dict[str, tuple[float, ...]] = policy.STYLES
    if name and name not in styles:
        raise AgentError(f"agent {agent!r} has no style {name!r}: the styles are {', '.join(styles)}")
    return styles[name or next(iter(styles))]


def make_agent(argument: str, game: Game, settings: Any, seed: int) -> RulesAgent:
    """``rules`` or ``rules:STYLE``."""
    return RulesAgent(game, style_of(game, argument, "rules"), seed)
