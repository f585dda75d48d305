"""Agents that play a network: they sample from its distribution over the legal actions, as it learned to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from auction_env.agents.base import Agent, AgentError, StateAgent
from auction_env.agents.learning.networks import CardNetwork, Shape
from torch import nn

from auction_env.engine.features import FeatureRows
from auction_env.games.game import Game

CHUNK = 8192  # rows read at once, so that memory stays bounded


def draw(probabilities: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
    """A column of each row, int64[B]: where a number float32[B, 1] of [0, 1) falls in its summed probabilities."""
    reached = probabilities.cumsum(dim=1)
    total = reached[:, -1:].contiguous()
    drawn = torch.minimum(uniform * total, torch.nextafter(total, torch.zeros(1)))  # rounding must not reach it
    return torch.searchsorted(reached, drawn, right=True).squeeze(1)


class _Chance:
    """What both agents share: sampling, and their own generator."""

    temperature: float
    generator: torch.Generator

    def _draw(self, logits: torch.Tensor, uniform: Callable[[], torch.Tensor]) -> np.ndarray:
        """Draw from the softmax of each row."""
        if self.temperature == 0:
            return logits.argmax(dim=1).numpy()
        return draw((logits / self.temperature).softmax(dim=1), uniform()).numpy()

    def _shares(self, logits: torch.Tensor) -> np.ndarray:
        if self.temperature == 0:
            return nn.functional.one_hot(logits.argmax(dim=1), logits.shape[1]).numpy().astype(np.float32)
        return (logits / self.temperature).softmax(dim=1).numpy()

    def seed(self, seed: int) -> None:
        """See Agent."""
        self.generator.manual_seed(seed)

    def random_state(self) -> Any:
        """See Agent."""
        return self.generator.get_state().numpy().tobytes().hex()

    def set_random_state(self, state: Any) -> None:
        """See Agent."""
        self.generator.set_state(torch.frombuffer(bytearray.fromhex(state), dtype=torch.uint8))


class MlpAgent(_Chance, Agent):
    """Plays a network that reads the flat observation.

    Args:
        actor: rows to logits.
        observation_size: entries that it reads.
        seed: of its own chance.
        temperature: logits are divided by it; 0 takes the likeliest action always.
    """

    def __init__(self, actor: nn.Module, observation_size: int, seed: int = 0, temperature: float = 1.0) -> None:
        self.actor, self.observation_size, self.temperature = actor.eval(), observation_size, temperature
        self.generator = torch.Generator().manual_seed(seed)

    def act_batch(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See Agent."""
        logits = self._logits(observations, masks)
        return self._draw(logits, lambda: torch.rand((len(masks), 1), generator=self.generator))

    def act_seeded(self, observations: np.ndarray, masks: np.ndarray, words: np.ndarray) -> np.ndarray:
        """See Agent: the upper 24 bits of a word are the random number of its row."""
        uniform = (words >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)
        return self._draw(self._logits(observations, masks), lambda: torch.from_numpy(uniform[:, None]))

    def probabilities(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Probability of each action, float32[B, actions], zero where illegal."""
        return self._shares(self._logits(observations, masks))

    @torch.inference_mode()
    def _logits(self, observations: np.ndarray, masks: np.ndarray) -> torch.Tensor:
        logits = self.actor(torch.from_numpy(np.ascontiguousarray(observations[:, : self.observation_size])))
        return logits.masked_fill_(torch.from_numpy(masks) == 0, -torch.inf)


class CardAgent(_Chance, StateAgent):
    """Plays a network that reads features, which it computes from the table as its seat may imagine it.

    Args:
        actor: rows to logits, with room for the seats and options of ``rows``.
        rows: writes them.
        seed, temperature: as MlpAgent.
    """

    def __init__(self, actor: nn.Module, rows: FeatureRows, seed: int = 0, temperature: float = 1.0) -> None:
        self.actor, self.rows, self.temperature = actor.eval(), rows, temperature
        self.generator = torch.Generator().manual_seed(seed)

    def act_states(self, states: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See StateAgent."""
        logits = self._logits(states, masks)
        return self._draw(logits, lambda: torch.rand((len(masks), 1), generator=self.generator))

    def probabilities(self, states: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Probability of each action at tables as in ``act_states``, float32[B, actions], zero where illegal."""
        return self._shares(self._logits(states, masks))

    @torch.inference_mode()
    def _logits(self, states: np.ndarray, masks: np.ndarray) -> torch.Tensor:
        parts = [torch.zeros((0, masks.shape[1]))]
        for start in range(0, len(states), CHUNK):
            chosen = np.arange(start, min(start + CHUNK, len(states)))
            rows = np.empty((len(chosen), self.rows.size), np.float32)
            self.rows.write(states, chosen, rows)
            parts.append(self.actor(torch.from_numpy(rows)))
        return torch.cat(parts).masked_fill_(torch.from_numpy(masks) == 0, -torch.inf)


def agent_of(
    actor: nn.Module, shape: Shape, game: Game, settings: Any, seed: int = 0, temperature: float = 1.0
) -> MlpAgent | CardAgent:
    """An agent that plays a network at a table; the network may have room for more seats than there are."""
    if shape.kind == "mlp":
        return MlpAgent(actor, shape.inputs, seed, temperature)
    assert isinstance(actor, CardNetwork)
    return CardAgent(actor, FeatureRows(game, settings, actor.num_others, actor.max_options), seed, temperature)


def check_network(agent: Any, source: str) -> None:
    """Raise AgentError unless an agent plays one network that can be written out."""
    if not isinstance(agent, MlpAgent | CardAgent):
        raise AgentError(
            f"agent {source!r} is no single network: export ppo:RUN, ppo:FILE, easy, medium, hard or champion"
        )
