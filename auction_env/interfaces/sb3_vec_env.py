"""A stable-baselines3 ``VecEnv`` for self-play: the learner sits at every table, other policies act in batches.

At each table the learner has one seat, which moves on from deal to deal; the other seats are played by policies that
are asked for whole arrays of decisions at once. A step of the environment acts for the learner and then plays each
table on to the learner's next decision. An episode is a deal, the reward the learner's own result in chips, at its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

from auction_env.engine.agent import Player
from auction_env.engine.batch import Batch
from auction_env.engine.kernels import decision_size, seed_words
from auction_env.engine.opponents import LEARNER, step_opponents
from auction_env.engine.table import settings_of
from auction_env.games import get_game
from auction_env.games.game import Game
from auction_env.rendering.text import draw

PRESENT = 0  # entry of ``control``, beside LEARNER; higher numbers are other policies


class SelfPlayVecEnv(VecEnv):
    """``num_tables`` tables as one vectorised environment for one learner.

    Observations are the part of the seat's observation that can differ while a deal is played (``decision_size``
    entries, float32 in [0, 1]); ``terminal_observation`` in a finished table's info has the same part of the final one.
    ``env_method("action_masks")`` gives the masks, bool[num_tables, actions], as sb3-contrib wants them.

    Who sits where is drawn when a deal starts and stays so until it ends: with probability ``1 - mixed`` all seats but
    the learner's are played by the present policy; otherwise 1 to n - 1 of them (uniformly) each by one of the others,
    drawn uniformly, and the rest by the present policy.

    Args:
        game: a game's name or module.
        settings: keyword values, or the game's Settings.
        num_tables: number of tables.
        present: the opponents' policy, usually the learner's own; may be set later with ``set_opponents``.
        others: other policies: snapshots, scripted agents.
        mixed: fraction of the deals in which others sit at the table; ignored while there are none.
        seed: of the tables (table i: seed + i) and of the seating.
        reward_scale: rewards are chips times this.
        render_mode: None, or "rgb_array" for ``get_images``, ``render`` and stable-baselines3's VecVideoRecorder.
        threads: of the tables' loop; one is best beside a network on the same few cores.
    """

    def __init__(
        self,
        game: str | Game | ModuleType,
        settings: Mapping[str, Any] | Any = None,
        num_tables: int = 1024,
        *,
        present: Player | None = None,
        others: Sequence[Player] = (),
        mixed: float = 0.2,
        seed: int = 0,
        reward_scale: float = 1.0,
        render_mode: str | None = None,
        threads: int = 1,
    ) -> None:
        module = get_game(game)
        self.settings = settings = settings_of(module, settings)
        size = decision_size(module, settings)
        self.batch = Batch(module, settings, num_tables, size=size, threads=threads)
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode is {render_mode!r}: it must be None or rgb_array, the form of get_images")
        self.render_mode = render_mode
        super().__init__(
            num_tables, spaces.Box(0.0, 1.0, (size,), np.float32), spaces.Discrete(len(self.batch.action_names))
        )
        self.reward_scale = reward_scale
        seed_words(seed)  # refuses what is no seed, now and not at the first reset
        self._next_seed: int | None = seed
        self.rng = np.random.default_rng([seed, 0x5EA7])
        self.learner = self.batch.all_rows % settings.num_players
        self.control = np.zeros((num_tables, settings.num_players), np.int32)
        self.policies: dict[int, Player] = {}
        self._last_id = PRESENT
        self.set_opponents(present, others, mixed)
        self._spare = np.zeros_like(self.batch.out.observations)
        self._actions = np.zeros(num_tables, np.int64)

    @property
    def game(self) -> Game:
        """The game that is played."""
        return self.batch.game

    # --- opponents ---

    def set_opponents(self, present: Player | None, others: Sequence[Player] = (), mixed: float = 0.2) -> list[int]:
        """Who sits at the tables from the next deals on. Deals being played keep the policies they started with.

        Returns:
            the numbers that the others have in ``control``.

        Raises:
            ValueError: ``mixed`` is not from 0 to 1.
        """
        if not 0 <= mixed <= 1:
            raise ValueError(f"mixed is {mixed!r}: it must be a fraction from 0 to 1")
        seated = set(np.unique(self.control[self.control > PRESENT]).tolist())
        self.policies = {number: policy for number, policy in self.policies.items() if number in seated}
        if present is not None:
            self.policies[PRESENT] = present
        known = {id(policy): number for number, policy in self.policies.items() if number != PRESENT}
        self.others: list[int] = []
        for policy in others:
            if id(policy) not in known:
                self._last_id += 1
                known[id(policy)] = self._last_id
                self.policies[self._last_id] = policy
            self.others.append(known[id(policy)])
        self.mixed = mixed if self.others else 0.0
        return self.others

    def _seat_players(self, rows: np.ndarray) -> None:
        """Give each seat of freshly dealt tables its player; the learner moves on to the next seat dealt in."""
        n = self.settings.num_players
        dealt_in = self.batch.states["dealt_in"][rows, :n] > 0
        order = (self.learner[rows][:, None] + 1 + np.arange(n)) % n
        ahead = np.take_along_axis(dealt_in, order, 1).argmax(1)
        self.learner[rows] = order[np.arange(len(rows)), ahead]
        control = np.full((len(rows), n), PRESENT, np.int32)
        if self.mixed:
            count = np.where(self.rng.random(len(rows)) < self.mixed, self.rng.integers(1, n, len(rows)), 0)
            places = self.rng.permuted(np.broadcast_to(np.arange(1, n), (len(rows), n - 1)), axis=1)
            drawn = self.rng.choice(self.others, (len(rows), n - 1))
            for place in range(n - 1):
                chosen = np.flatnonzero(count > place)
                control[chosen, (self.learner[rows[chosen]] + places[chosen, place]) % n] = drawn[chosen, place]
        control[np.arange(len(rows)), self.learner[rows]] = LEARNER
        self.control[rows] = control
        self.batch.out.watched[rows] = self.learner[rows]

    def _play_on(self, rows: np.ndarray, rewards: np.ndarray, dones: np.ndarray) -> None:
        """Act for everyone but the learner, until it is to act at all tables. ``rows`` are those just stepped."""
        out = self.batch.out

        def finish(over: np.ndarray) -> None:
            # A deal in which the learner had no decision cannot be credited to any; the first result counts.
            fresh = over[~dones[over]]
            rewards[fresh] = out.payoffs[fresh, self.learner[fresh]]
            dones[fresh] = True
            self._seat_players(over)

        step_opponents(self.batch, self.control, self._policy, lambda rows: self.rng, rows, finish, self._actions)

    def _policy(self, number: int) -> Player:
        if number not in self.policies:
            raise RuntimeError("no policy plays the opponents: call set_opponents with the present policy first")
        return self.policies[number]

    # --- the VecEnv interface ---

    def reset(self) -> np.ndarray:
        """Start a match at every table; observations float32[num_tables, decision_size] of the learner."""
        if self._seeds[0] is not None:
            self._next_seed = self._seeds[0]
            self._reset_seeds()
        if self._next_seed is not None:
            self.rng = np.random.default_rng([self._next_seed, 0x5EA7])
            self.learner = self.batch.all_rows % self.settings.num_players
        self.batch.reset(self._next_seed)
        self._next_seed = None
        self._seat_players(self.batch.all_rows)
        self._play_on(self.batch.all_rows[:0], np.zeros(self.num_envs, np.float32), np.zeros(self.num_envs, np.bool_))
        return self.batch.out.observations.copy()

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the learner's actions, integer[num_tables], for ``step_wait``."""
        self._pending = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Observations, rewards float32, dones bool and infos, each [num_tables].

        Raises:
            IllegalActionError: naming the table; no table has changed.
        """
        rewards = np.zeros(self.num_envs, np.float32)
        dones = np.zeros(self.num_envs, np.bool_)
        # The caller still holds the last observations: write to the other array and swap back next time.
        self.batch.out, self._spare = self.batch.out._replace(observations=self._spare), self.batch.out.observations
        try:
            self.batch.step(self._pending)
        except ValueError:
            self.batch.out, self._spare = self.batch.out._replace(observations=self._spare), self.batch.out.observations
            raise
        self._play_on(self.batch.all_rows, rewards, dones)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        size = self.batch.observation_size
        for row in np.flatnonzero(dones):
            infos[row]["terminal_observation"] = self.batch.out.final[row, :size].copy()
        return self.batch.out.observations, rewards * np.float32(self.reward_scale), dones, infos

    def action_masks(self) -> np.ndarray:
        """Masks of the learner's seats, bool[num_tables, actions]; a fresh array."""
        return self.batch.out.masks.astype(np.bool_)

    def get_images(self) -> list[np.ndarray]:
        """A picture of each table as its learner may see it, uint8[height, width, 3]."""
        seats = self.learner.tolist()
        views = [self.game.view(row, seat) for row, seat in zip(self.batch.states, seats, strict=True)]
        return [draw(view) for view in views]

    def close(self) -> None:
        """Nothing to release."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of this object, once for each table asked for."""
        value = getattr(self, attr_name)
        return [value] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute; there is one for all tables."""
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        """Only ``action_masks``: one line for each table asked for."""
        if method_name != "action_masks":
            raise AttributeError(f"tables have no method {method_name!r} here: only action_masks")
        masks = self.action_masks()
        return masks if indices is None else masks[list(self._get_indices(indices))]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """No table is wrapped."""
        return [False] * len(list(self._get_indices(indices)))

    # --- for resuming ---

    def get_state(self) -> dict[str, np.ndarray]:
        """Everything that changes, as arrays, except the policies."""
        out = self.batch.out
        return {
            "states": self.batch.states.view(np.uint8).copy(),
            "learner": self.learner.copy(),
            "control": self.control.copy(),
            "watched": out.watched.copy(),
        }

    def set_state(self, state: Mapping[str, np.ndarray], policies: Mapping[int, Player]) -> None:
        """Go on from ``get_state``; ``policies`` are those with the numbers in its ``control``.

        Raises:
            ValueError: the state is of another number of tables, of other rules, or not one that play can reach.
        """
        out = self.batch.out
        places: dict[str, np.ndarray] = {
            "states": self.batch.states.view(np.uint8),
            "learner": self.learner,
            "control": self.control,
            "watched": out.watched,
        }
        for name, place in places.items():
            if state[name].shape != place.shape or state[name].dtype != place.dtype:
                raise ValueError(
                    f"{name} is {state[name].dtype}{list(state[name].shape)}, but these tables have "
                    f"{place.dtype}{list(place.shape)}: it was saved with other settings or another version"
                )
        self._check_seats(state, policies)
        self.batch.set_states(state["states"].view(self.batch.states.dtype))
        for name in ("learner", "control", "watched"):
            places[name][...] = state[name]
        self._next_seed = None
        self.policies.update(policies)
        self._last_id = max([self._last_id, *policies])

    def _check_seats(self, state: Mapping[str, np.ndarray], policies: Mapping[int, Player]) -> None:
        """Raise ValueError unless all seats and policies that a state names are there."""
        seats = self.settings.num_players
        for name, least in (("learner", 0), ("watched", -1)):
            if state[name].min(initial=0) < least or state[name].max(initial=0) >= seats:
                raise ValueError(f"{name} is to be a seat, {least} to {seats - 1}, at every table: it is damaged")
        if (state["control"][self.batch.all_rows, state["learner"]] != LEARNER).any():
            raise ValueError("control does not seat the learner: it is damaged")
        strange = set(np.unique(state["control"]).tolist()) - {LEARNER, PRESENT, *self.policies, *policies}
        if strange:
            raise ValueError(f"control names policy {min(strange)}, which is not given: it is damaged")
