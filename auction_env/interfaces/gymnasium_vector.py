"""Gymnasium's vector interface: many tables as one ``VectorEnv`` over the batch engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from auction_env.engine.batch import Batch
from auction_env.engine.kernels import seed_words
from auction_env.engine.opponents import LEARNER, step_opponents
from auction_env.engine.table import Table
from auction_env.games.game import Game, IllegalActionError, SetupError
from auction_env.interfaces.gymnasium_env import ROTATE, check_seat, learner_space
from auction_env.interfaces.opponents import Opponents, RandomStreams, illegal_penalty, resolve, seed_players
from auction_env.interfaces.pettingzoo_aec import ActionSpace
from auction_env.rendering.text import RENDER_MODES, check_render_mode, render


class AuctionVectorEnv(VectorEnv[Any, Any, Any]):
    """``num_envs`` learners, each at a table of its own; ``gymnasium.make_vec("auction_env/AuctionPoker-v0", ...)``.

    Row by row it is ``SingleEnv`` with the same seeds and actions, in every number, as long as the opponents' chance
    comes from the row: those without chance of their own, and those that take words or imagined states for it (see
    ``engine.agent.Player``; the shipped agents do). Networks compute in another order for other numbers of rows,
    so that once in millions of decisions they may draw another action.

    Autoreset is ``AutoresetMode.SAME_STEP``: the step that ends an episode returns the first observation of the next.
    ``infos["final_obs"]`` holds the last observations (an object array, None elsewhere) and ``infos["final_info"]``
    their infos, at the rows of the mask ``infos["_final_obs"]``. ``infos["action_mask"]``, int8[num_envs, actions], and
    ``infos["seat"]`` are of the observations returned.

    Arguments and errors as ``SingleEnv``, but for ``num_envs`` and ``threads`` (of the tables' loop; None chooses).
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - as in Gymnasium
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": list(RENDER_MODES),
        "render_fps": 2,
    }

    def __init__(
        self,
        game: str | Game | ModuleType,
        num_envs: int = 1,
        *,
        opponents: Opponents = "random",
        seat: int | str = ROTATE,
        flat: bool = False,
        render_mode: str | None = None,
        reveal: bool = False,
        threads: int | None = 1,
        **settings: Any,
    ) -> None:
        check_render_mode(render_mode)
        module, made, self.opponents = resolve(game, opponents, settings)
        check_seat(seat, made)
        self.batch = Batch(module, made, num_envs, threads=threads)
        self.num_envs, self.flat, self.render_mode, self.reveal = num_envs, flat, render_mode, reveal
        self.single_observation_space = learner_space(module, made, flat)
        self.single_action_space = ActionSpace(len(self.batch.action_names))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.seat_rule = seat
        self.seats = np.zeros(num_envs, np.int64)  # of the learners
        self._words = RandomStreams(num_envs)
        self._started = False
        self._players = list({id(player): player for player in self.opponents}.values())
        numbers = [next(k for k, other in enumerate(self._players) if other is player) for player in self.opponents]
        self._line = np.array([LEARNER, *numbers], np.int64)  # players clockwise from the learner
        self._control = np.zeros((num_envs, made.num_players), np.int64)
        self._actions = np.zeros(num_envs, np.int64)
        self._begin_step(stepping=False)

    # --- the Gymnasium interface ---

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start a match at every table.

        Args:
            seed: row i gets ``seed + i``, or ``seed[i]``; None goes on with the generators (the first time, with
                fresh entropy).
            options: as ``Table.reset`` takes them, for every table.

        Raises:
            ValueError: seeds are not integers from 0 to 2**63 - 1, or not one for each row.
            SetupError: an option is inconsistent, or leaves a learner out of the deal.
        """
        words = self._seed_words(seed)
        seats = self._first_seats(words)
        states = self._set_up(words, seats, options) if options else None
        super().reset(seed=None if seed is None else int(words[0]))  # type: ignore[index]
        self.batch.reset(words)
        for row, state in enumerate(states or ()):
            self.batch.put(row, state)
        if words is not None:
            self._words.seed(slice(None), words)
            seed_players(self.opponents, int(words[0]))
        self._begin_step(stepping=False)
        self._sit(self.batch.all_rows, seats)
        self._play_on(self.batch.all_rows[:0])
        return self._observations(), self._infos()

    def _seed_words(self, seed: int | Sequence[int] | None) -> np.ndarray | None:
        if seed is None:
            return None if self._started else seed_words(None, self.num_envs)
        if isinstance(seed, (int, np.integer)):
            return seed_words(seed, self.num_envs)
        if not isinstance(seed, (Sequence, np.ndarray)) or isinstance(seed, str):
            raise ValueError(f"seed is {seed!r}: give one integer, or one for each of {self.num_envs} rows")
        if len(seed) != self.num_envs:
            raise ValueError(f"{len(seed)} seeds for {self.num_envs} rows: give one for each, or one integer")
        if any(word is None for word in seed):
            raise ValueError("seeds: give an integer for each row, or None for all")
        return np.concatenate([seed_words(word) for word in seed])

    def _first_seats(self, words: np.ndarray | None) -> np.ndarray:
        if self.seat_rule != ROTATE:
            return np.full(self.num_envs, self.seat_rule, np.int64)
        n = self.batch.settings.num_players
        return (self.seats + 1) % n if words is None else (words % np.uint64(n)).astype(np.int64)

    def _set_up(self, words: np.ndarray | None, seats: np.ndarray, options: dict[str, Any]) -> list[np.ndarray]:
        """The tables that the options ask for; ``seats`` move on to those dealt in. Nothing changes yet."""
        if not isinstance(options, Mapping):
            raise SetupError(f"options is {options!r}: give a mapping, as Table.reset takes it")
        if "reset_mask" in options:
            raise SetupError("reset_mask: tables reset by themselves here (AutoresetMode.SAME_STEP), leave it out")
        states = []
        for row in range(self.num_envs):
            table = Table(self.batch.game, self.batch.settings)
            table.states, table.seed = self.batch.states[row : row + 1].copy(), 0
            table.reset(None if words is None else int(words[row]), options)
            dealt_in, n = table.deals[-1].dealt_in, self.batch.settings.num_players
            if self.seat_rule != ROTATE and seats[row] not in dealt_in:
                raise SetupError(f"stacks: the learner's seat {seats[row]} is not dealt in")
            seats[row] = next(seat % n for seat in range(seats[row], seats[row] + n) if seat % n in dealt_in)
            states.append(table.states)
        return states

    def _sit(self, rows: np.ndarray, seats: np.ndarray) -> None:
        """Seat the learners of some rows, and their opponents clockwise from them."""
        n = self.batch.settings.num_players
        self.seats[rows] = seats
        self._control[rows] = self._line[(np.arange(n) - seats[:, None]) % n]
        self.batch.out.watched[rows] = seats

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Act for every learner and play on.

        Args:
            actions: integer[num_envs]. An illegal one ends its row's episode, as in ``SingleEnv``.

        Returns:
            Observations, rewards float64, terminations bool, truncations bool (never) and infos; all fresh arrays.

        Raises:
            ValueError: actions are not one integer for each row, or nothing has been dealt yet.
            PlayerError: an opponent failed or acted illegally; it is named, and all tables need a reset.
        """
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise ValueError(
                f"actions are {actions.dtype}{list(actions.shape)}: give one integer for each of {self.num_envs} rows"
            )
        if not self._started:
            raise ValueError("nothing has been dealt yet, or an opponent has failed: call reset first")
        masks = self.batch.out.masks
        known = (actions >= 0) & (actions < masks.shape[1])
        legal = known & (masks[self.batch.all_rows, np.where(known, actions, 0)] != 0)
        self._begin_step()
        illegal = np.flatnonzero(~legal)
        if len(illegal):
            self._end_illegal(illegal, actions)
        rows = np.flatnonzero(legal)
        self.batch.step(actions[rows], rows)
        self._play_on(rows)
        return (
            self._observations(),
            self._rewards,
            self._terminated,
            np.zeros(self.num_envs, np.bool_),
            self._infos(),
        )

    def _begin_step(self, stepping: bool = True) -> None:
        self._stepping = stepping
        self._rewards = np.zeros(self.num_envs, np.float64)
        self._terminated = np.zeros(self.num_envs, np.bool_)
        self._final_obs = np.full(self.num_envs, None, object)
        self._final_seats = np.zeros(self.num_envs, np.int64)
        self._illegal: dict[int, str] = {}

    def _end_illegal(self, rows: np.ndarray, actions: np.ndarray) -> None:
        for row in rows.tolist():
            table = Table(self.batch.game, self.batch.settings)  # it knows how to say what is wrong
            table.states = self.batch.states[row : row + 1].copy()
            table.refresh()
            try:
                table.act(int(actions[row]))
            except IllegalActionError as error:
                self._illegal[row] = str(error)
        self._rewards[rows] = -illegal_penalty(self.batch.settings)
        self._end(rows, self.batch.out.observations)
        self.batch.restart(rows)
        self._sit(rows, self._following(rows))

    def _end(self, rows: np.ndarray, observations: np.ndarray) -> None:
        """End episodes, their last observations as given."""
        self._terminated[rows] = True
        self._final_seats[rows] = self.seats[rows]
        for row in rows.tolist():
            self._final_obs[row] = observations[row].copy() if self.flat else self._final_dict(observations[row])

    def _final_dict(self, observation: np.ndarray) -> dict[str, np.ndarray]:
        return {"observation": observation.copy(), "action_mask": np.zeros(len(self.batch.action_names), np.int8)}

    def _following(self, rows: np.ndarray) -> np.ndarray:
        """The learners' seats in their next episodes."""
        if self.seat_rule != ROTATE:
            return self.seats[rows]
        return (self.seats[rows] + 1) % self.batch.settings.num_players

    def _play_on(self, rows: np.ndarray) -> None:
        self._started = False  # if an opponent fails it is still to act, and a step would act for its seat
        step_opponents(
            self.batch,
            self._control,
            self._players.__getitem__,
            self._words.take,
            rows,
            self._finish_deals,
            self._actions,
        )
        self._started = True

    def _finish_deals(self, over: np.ndarray) -> None:
        """Credit deals that have ended; end the episodes of which they were the last."""
        out = self.batch.out
        fresh = over[~self._terminated[over]]  # what comes before a first decision belongs to no step
        self._rewards[fresh] += out.payoffs[fresh, self.seats[fresh]]
        done = out.match_over[over] | (self.batch.states["dealt_in"][over, self.seats[over]] == 0)
        if self._stepping:
            self._end(over[done & ~self._terminated[over]], out.final)
        rows = over[done]
        busted = rows[~out.match_over[rows]]
        if len(busted):
            self.batch.restart(busted)
        self._sit(rows, self._following(rows))

    def _observations(self) -> Any:
        observations = self.batch.out.observations.copy()
        return observations if self.flat else {"observation": observations, "action_mask": self.batch.out.masks.copy()}

    def _infos(self) -> dict[str, Any]:
        everywhere, out = np.ones(self.num_envs, np.bool_), self.batch.out
        infos: dict[str, Any] = {
            "action_mask": out.masks.copy(),
            "_action_mask": everywhere,
            "seat": self.seats.copy(),
            "_seat": everywhere.copy(),
        }
        done = self._terminated
        if done.any():
            final: dict[str, Any] = {
                "action_mask": np.zeros_like(out.masks),
                "_action_mask": done.copy(),
                "seat": self._final_seats,
                "_seat": done.copy(),
            }
            if self._illegal:
                final["illegal_action"] = np.full(self.num_envs, None, object)
                for row, message in self._illegal.items():
                    final["illegal_action"][row] = message
                final["_illegal_action"] = final["illegal_action"] != None  # noqa: E711 - elementwise
            infos |= {"final_obs": self._final_obs, "_final_obs": done.copy()}
            infos |= {"final_info": final, "_final_info": done.copy()}
        return infos

    def action_masks(self) -> np.ndarray:
        """Masks of the learners, bool[num_envs, actions]; a fresh array."""
        return self.batch.out.masks.astype(np.bool_)

    def render(self) -> tuple[Any, ...] | None:
        """Every table as its learner may see it (or all of it, with ``reveal``), in the form of ``render_mode``."""
        if self.render_mode is None:
            return None
        game, seats = self.batch.game, [None if self.reveal else int(seat) for seat in self.seats]
        views = [game.view(row, seat) for row, seat in zip(self.batch.states, seats, strict=True)]
        return tuple(render(view, seat, self.render_mode) for view, seat in zip(views, seats, strict=True))


__all__ = ["AuctionVectorEnv"]
