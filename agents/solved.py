"""Plays a solved policy of a small setting: ``solved:FILE``, as ``auction-env solve`` writes it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
from auction_env.agents.base import AgentError, StateAgent

from auction_env.games.game import Game
from auction_env.solve.expansion import Reader
from auction_env.solve.files import FileError
from auction_env.solve.policy_file import StoredPolicy, load_policy, plain_settings

POLICY_FILE = "policy.npz"


class SolvedAgent(StateAgent):
    """Draws its actions from a stored policy. Where that knows nothing, any legal action is as likely as another.

    It knows all that can come about at its settings. Of choices that are the same but for the names of suits each is as
    likely as the others.
    """

    def __init__(self, policy: StoredPolicy, seed: int = 0) -> None:
        self.policy = policy
        self._reader = Reader(policy.game, policy.settings, policy.symmetry)
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """See Agent."""
        self._rng = np.random.default_rng([seed, 0x501FED])

    def random_state(self) -> Any:
        """See Agent."""
        return self._rng.bit_generator.state

    def set_random_state(self, state: Any) -> None:
        """See Agent."""
        self._rng.bit_generator.state = state

    def probabilities(self, states: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Probability of each action at tables as in ``act_states``, float64[B, actions], zero where illegal."""
        rows, actions, places, found = self._find(states, masks)
        chances = np.where(found[:, None] >= 0, 0.0, masks / masks.sum(axis=1, keepdims=True))
        alike = np.unique(np.stack([rows, places]), axis=1, return_inverse=True, return_counts=True)
        chances[rows, actions] = self.policy.chances[places] / alike[2][alike[1].ravel()]
        return chances / chances.sum(axis=1, keepdims=True)

    def action_values(self, states: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """What each action is worth at tables as in ``act_states``, when all play by the policy from then on.

        Returns:
            float64[B, actions], chips that the seat gets in the deal on average; NaN for actions that the policy knows
            nothing of.
        """
        rows, actions, places, found = self._find(states, masks)
        values = np.full(masks.shape, np.nan)
        come = self.policy.reaches[found[rows]] > 0
        values[rows[come], actions[come]] = self.policy.values[places[come]]
        return values

    def _find(self, states: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Where the policy has what is asked for.

        Returns:
            of each action that it knows: its row, itself, and its place among all actions of the file; and of each row
            the number of its information state, -1 where it is not known.
        """
        policy, (keys, _, places) = self.policy, self._reader.choices(states)
        found = np.minimum(np.searchsorted(policy.keys, keys), len(policy.keys) - 1)
        known = (policy.keys[found] == keys) & (np.diff(policy.starts)[found] == places.max(axis=1) + 1)
        rows, actions = np.nonzero((places >= 0) & known[:, None])
        return rows, actions, policy.starts[found[rows]] + places[rows, actions], np.where(known, found, -1)

    def act_states(self, states: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See StateAgent."""
        totals = np.cumsum(self.probabilities(states, masks), axis=1)
        drawn = self._rng.random((len(masks), 1)) * totals[:, -1:]
        return np.minimum((totals <= drawn).sum(axis=1), masks.shape[1] - 1)


def files(argument: str) -> list[Path]:
    """The policy file; see ``agents.files``."""
    return [_file(argument)] if argument else []


def bound_to(argument: str) -> dict[str, Any]:
    """The game and settings of the policy file; see ``agents.bound_to``."""
    try:
        policy = load_policy(_file(argument))
    except FileError as error:
        raise AgentError(str(error)) from error
    return {"game": policy.game.NAME, "settings": plain_settings(policy.settings)}


def _file(argument: str) -> Path:
    path = Path(argument)
    return path / POLICY_FILE if path.is_dir() else path


def make_agent(argument: str, game: Game, settings: Any, seed: int) -> SolvedAgent:
    """``solved:runs/solve/x`` or ``solved:policy.npz``, at the settings that it was solved for."""
    if not argument:
        raise AgentError("agent 'solved' needs a policy file or the folder of one: solved:runs/solve/x")
    try:
        policy = load_policy(_file(argument), game)
    except FileError as error:
        raise AgentError(str(error)) from error
    if policy.game.NAME != game.NAME:
        raise AgentError(f"{argument} is solved for {policy.game.NAME}, not for {game.NAME}")
    differ = [
        f"{field.name} is {getattr(settings, field.name)!r}, not {getattr(policy.settings, field.name)!r}"
        for field in dataclasses.fields(settings)
        if getattr(settings, field.name) != getattr(policy.settings, field.name)
    ]
    if differ:
        raise AgentError(f"{argument} is solved for other settings: {'; '.join(differ)}")
    return SolvedAgent(policy, seed)
