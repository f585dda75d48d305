"""What an agent is: something that chooses actions from what its seat may see, and nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np


class AgentError(ValueError):
    """An agent does not exist, cannot play this game, or acted illegally; the message names it."""


class Agent(ABC):
    """A player. It is given what its seat has seen, never the table.

    An agent that searches, or reads the table rather than an observation, derives from ``StateAgent``.
    """

    name: str = "agent"

    @abstractmethod
    def act_batch(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Choose for many seats at once.

        Args:
            observations: float32[B, size], each what its seat has seen; at least the decision-relevant part.
            masks: int8[B, actions], 1 where legal; each row has a 1.

        Returns:
            integer[B], an action legal in each row.
        """

    def seed(self, seed: int) -> None:  # noqa: B027 - nothing to do without chance
        """Start the agent's own chance anew; matches do so for each part that they play on its own."""

    def random_state(self) -> Any:
        """State of the agent's own chance as JSON-able data, for runs that are resumed; None if it has none."""
        return None

    def set_random_state(self, state: Any) -> None:  # noqa: B027 - nothing to do without chance
        """Go on from ``random_state``."""

    def act(self, observation: np.ndarray, mask: np.ndarray, info: Mapping[str, Any] | None = None) -> int:
        """Choose for one seat: observation float32[size], mask int8[actions]."""
        return int(self.act_batch(observation[None], mask[None])[0])


class StateAgent(Agent):
    """A player asked by ``act_states``: it is given tables in which all that its seat cannot know is drawn anew."""

    @abstractmethod
    def act_states(self, states: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Choose for many seats at once.

        Args:
            states: rows of the game's STATE, shape (B,), as each ``to_act`` may imagine it.
            masks: int8[B, actions], 1 where legal; each row has a 1.

        Returns:
            integer[B], an action legal in each row.
        """

    def act_batch(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Not for this agent: it needs the table as its seat may imagine it."""
        raise AgentError(f"agent {self.name} is asked with states: by auction_env.engine.agent.ask, or act_states")
