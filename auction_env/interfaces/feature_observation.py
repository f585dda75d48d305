"""Features as a Gymnasium environment's observation: what hands are and may become, not cards one by one."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from auction_env.interfaces.gymnasium_env import SingleEnv


class FeatureObservation(gymnasium.ObservationWrapper[Any, Any, Any]):
    """``SingleEnv`` with the rows of ``Table.observe_features``, float32[size], as observations.

    Networks of the kind "cards" read them, as ``auction-env export`` writes them. At the end of an episode, when
    nothing is to be decided, the row is empty: zeros, and -1 for the action of each option.

    Args:
        env: ``gymnasium.make("auction_env/AuctionPoker-v0", ...)``; its own observations go unused.

    Raises:
        TypeError: it is another environment.
        ValueError: its game defines no features.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        if not isinstance(env.unwrapped, SingleEnv):
            raise TypeError(f"{env} is no environment of auction_env: features are of its games only")
        self._single = env.unwrapped
        self.observation_space = spaces.Box(-np.inf, np.inf, self._single.observe_features().shape, np.float32)

    def observation(self, observation: Any) -> np.ndarray:
        """The learner's features; what the environment observed is left aside."""
        return self._single.observe_features()

    def action_masks(self) -> np.ndarray:
        """As ``SingleEnv.action_masks``, for sb3-contrib."""
        return self._single.action_masks()


__all__ = ["FeatureObservation"]
