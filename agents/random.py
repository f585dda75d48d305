"""Plays each legal action with the same probability."""

from __future__ import annotations

from typing import Any

import numpy as np
from auction_env.agents.base import Agent, AgentError

from auction_env.games.game import Game


class RandomAgent(Agent):
    """Uniform over the legal actions, from its own generator."""

    def __init__(self, seed: int = 0) -> None:
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """See Agent."""
        self.rng = np.random.default_rng([seed, 0x4A4D])

    def act_batch(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See Agent."""
        count = np.cumsum(masks, axis=1, dtype=np.int32)
        chosen = self.rng.integers(0, count[:, -1])
        return (count > chosen[:, None]).argmax(axis=1)

    def act_seeded(self, observations: np.ndarray, masks: np.ndarray, words: np.ndarray) -> np.ndarray:
        """See Player: word ``w`` takes legal action number ``w mod count``, whose bias is below 2**-55."""
        if len(masks) == 1:
            legal = masks[0].nonzero()[0]
            return legal[[int(words[0]) % len(legal)]]
        count = np.cumsum(masks, axis=1, dtype=np.int32)
        chosen = words % count[:, -1].astype(np.uint64)
        return (count > chosen[:, None]).argmax(axis=1)

    def probabilities(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Probability of each action, float64[B, actions]."""
        return masks / masks.sum(axis=1, keepdims=True, dtype=np.float64)

    def random_state(self) -> Any:
        """See Agent."""
        return self.rng.bit_generator.state

    def set_random_state(self, state: Any) -> None:
        """See Agent."""
        self.rng.bit_generator.state = state


def make_agent(argument: str, game: Game, settings: Any, seed: int) -> RandomAgent:
    """``random``: takes no argument."""
    if argument:
        raise AgentError(f"agent 'random' takes no argument, not {argument!r}")
    return RandomAgent(seed)
