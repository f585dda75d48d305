"""Gymnasium's vector interface: many tables as one ``VectorEnv`` over the batch engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from auction_env.core.limits import shorten
from auction_env.engine.batch import Batch
from auction_env.engine.kernels import seed_words
from auction_env.engine.opponents import LEARNER, step_opponents
from auction_env.engine.table import Table, check_options, no_info
from auction_env.games.game import Game, IllegalActionError, SettingsError, SetupError
from auction_env.interfaces.gymnasium_env import ROTATE, check_seat
from auction_env.interfaces.opponents import Opponents, RandomStreams, illegal_penalty, resolve, seed_players
from auction_env.interfaces.spaces import ActionSpace, observation_space
from auction_env.rendering.text import RENDER_MODES, check_render_mode, render


class AuctionVectorEnv(VectorEnv[Any, Any, Any]):
    """``num_envs`` learners, each at a table of its own; ``gymnasium.make_vec("auction_env/AuctionPoker-v0", ...)``.

    Row by row it is ``SingleEnv`` with the same seeds and actions, in every number, as long as the opponents' chance
    comes from the row: those without chance of their own, and those that take words or imagined states for it (see
    ``engine.agent.Player``; the shipped agents do). Networks compute in another order for other numbers of rows,
    so that once in millions of decisions they may draw another action.

    Infos are those of ``SingleEnv``, an array for each key: ``action_mask`` int8[num_envs, actions], the others
    int64[num_envs]. They are of the observations returned.

    Args:
        game: as ``SingleEnv``; so are the arguments that are not named here.
        num_envs: rows.
        autoreset_mode: what follows the end of an episode.
            ``AutoresetMode.SAME_STEP`` (default): the same step returns the first observation of the next one;
            ``infos["final_obs"]`` holds the last observations (an object array, None elsewhere) and
            ``infos["final_info"]`` their infos, at the rows of the mask ``infos["_final_obs"]``.
            ``NEXT_STEP``: the step returns the last observation, with an empty mask; the next one ignores the row's
            action and returns the first observation of the next episode, its reward 0.
            ``DISABLED``: ``reset(options={"reset_mask": rows})`` starts the next episode; a step before is refused.
        threads: of the tables' loop; None chooses.

    Raises:
        SettingsError, ValueError, TypeError: as ``SingleEnv``; or there is no such autoreset mode.
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
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
        threads: int | None = 1,
        **settings: Any,
    ) -> None:
        check_render_mode(render_mode)
        self.autoreset_mode = _autoreset_mode(autoreset_mode)
        self.metadata = {**type(self).metadata, "autoreset_mode": self.autoreset_mode}
        module, made, self.opponents = resolve(game, opponents, settings)
        check_seat(seat, made)
        self.batch = Batch(module, made, num_envs, threads=threads)
        self.num_envs, self.flat, self.render_mode, self.reveal = num_envs, flat, render_mode, reveal
        actions = len(self.batch.action_names)
        self.single_observation_space = observation_space(self.batch.observation_size, actions, flat)
        self.single_action_space = ActionSpace(actions)
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
        self._no_info = no_info(module, made)
        # Rows whose episode has ended; the next one is dealt, but not shown yet (never so in SAME_STEP).
        self._waiting = np.zeros(num_envs, np.bool_)
        self._final = np.zeros_like(self.batch.out.observations)  # the last observation of the latest episode to end
        self._final_seats = np.zeros(num_envs, np.int64)
        self.why_illegal: dict[int, str] = {}  # by row: of the last step
        self._begin_step(stepping=False)

    # --- the Gymnasium interface ---

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start a match at every table.

        Args:
            seed: row i gets ``seed + i``, or ``seed[i]``; None goes on with the generators (the first time, with
                fresh entropy).
            options: as ``Table.reset`` takes them, for every table; and ``reset_mask``, bool[num_envs]: the rows to
                reset. The others stay as they are, and infos say nothing of them.

        Raises:
            ValueError: seeds are not integers from 0 to 2**63 - 1, or not one for each row.
            SetupError: an option is unknown or inconsistent, or leaves a learner out of the deal.
        """
        chosen, options = self._split(options)
        rows, words = np.flatnonzero(chosen), self._seed_words(seed)
        if not self._started and len(rows) < self.num_envs:
            raise SetupError("reset_mask: nothing has been dealt yet, or an opponent has failed: reset all rows first")
        seats = self._first_seats(words)
        states = self._set_up(rows, words, seats, options) if options else []
        super().reset(seed=None if seed is None else int(words[0]))  # type: ignore[index]
        if words is None and not options:
            rows = rows[~self._waiting[rows]]  # what the others go on with is dealt already
        self.batch.reset(words, rows)
        for row, state in zip(rows.tolist(), states, strict=False):
            self.batch.put(row, state)
        if words is not None:
            self._words.seed(rows, words[rows])
            if len(rows) == self.num_envs:
                seed_players(self.opponents, int(words[0]))
        self._begin_step(stepping=False)
        self._waiting[chosen] = False
        self._sit(rows, seats[rows])
        self._play_on(rows[:0])
        return self._observations(), self._infos(chosen)

    def _split(self, options: Any) -> tuple[np.ndarray, dict[str, Any]]:
        """The rows to reset, bool[num_envs], and the options of their tables."""
        mask = None
        if isinstance(options, Mapping) and "reset_mask" in options:
            mask = options["reset_mask"]
            options = {name: value for name, value in options.items() if name != "reset_mask"}
            good = isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.shape == (self.num_envs,)
            if not good or not mask.any():
                raise SetupError(f"reset_mask is {shorten(repr(mask))}: give bool[{self.num_envs}], True somewhere")
        check_options(options)
        return np.ones(self.num_envs, np.bool_) if mask is None else mask.copy(), dict(options or {})

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
        if words is not None:
            return (words % np.uint64(self.batch.settings.num_players)).astype(np.int64)
        return np.where(self._waiting, self.seats, self._following(self.batch.all_rows))

    def _set_up(
        self, rows: np.ndarray, words: np.ndarray | None, seats: np.ndarray, options: dict[str, Any]
    ) -> list[np.ndarray]:
        """The tables that the options ask for; ``seats`` move on to those dealt in. Nothing changes yet."""
        states = []
        for row in rows.tolist():
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
            raise ResetNeeded("nothing has been dealt yet, or an opponent has failed: call reset first")
        waiting = self._waiting
        if self.autoreset_mode is AutoresetMode.DISABLED and waiting.any():
            ended = ", ".join(map(str, np.flatnonzero(waiting)[:10].tolist()))
            raise ResetNeeded(f"episodes are over, of rows {ended}: call reset with the option reset_mask first")
        masks = self.batch.out.masks
        known = (actions >= 0) & (actions < masks.shape[1])
        legal = known & (masks[self.batch.all_rows, np.where(known, actions, 0)] != 0)
        self._begin_step()
        illegal = np.flatnonzero(~legal & ~waiting)
        if len(illegal):
            self._end_illegal(illegal, actions)
        rows = np.flatnonzero(legal & ~waiting)
        self.batch.step(actions[rows], rows)
        self._play_on(rows)
        if self.autoreset_mode is not AutoresetMode.SAME_STEP:
            self._waiting = self._terminated.copy()
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
        self.why_illegal = {}

    def _end_illegal(self, rows: np.ndarray, actions: np.ndarray) -> None:
        for row in rows.tolist():
            table = Table(self.batch.game, self.batch.settings)  # it knows how to say what is wrong
            table.states = self.batch.states[row : row + 1].copy()
            table.refresh()
            try:
                table.act(int(actions[row]))
            except IllegalActionError as error:
                self.why_illegal[row] = str(error)
        self._rewards[rows] = -illegal_penalty(self.batch.settings)
        self._end(rows, self.batch.out.observations)
        self.batch.restart(rows)
        self._sit(rows, self._following(rows))

    def _end(self, rows: np.ndarray, observations: np.ndarray) -> None:
        """End episodes, their last observations as given."""
        self._terminated[rows] = True
        self._final_seats[rows] = self.seats[rows]
        self._final[rows] = observations[rows]

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
        observations, hidden = self.batch.out.observations.copy(), self._waiting
        if hidden.any():
            observations[hidden] = self._final[hidden]
        return observations if self.flat else {"observation": observations, "action_mask": self._masks()}

    def _masks(self) -> np.ndarray:
        masks = self.batch.out.masks.copy()
        masks[self._waiting] = 0
        return masks

    def _infos(self, chosen: np.ndarray | None = None) -> dict[str, Any]:
        """The infos of a step; of a reset, with the rows that it began (``chosen``)."""
        batch = self.batch
        values = {"action_mask": self._masks(), "seat": self.seats.copy()}
        values |= batch.game.info(batch.states, self.seats)
        values["illegal_action"] = np.zeros(self.num_envs, np.int64)
        if self._waiting.any():
            self._tell_ended(values, self._waiting)
        if chosen is None:
            chosen = np.ones(self.num_envs, np.bool_)
        elif not chosen.all():
            for value in values.values():
                value[~chosen] = 0
        infos = _with_masks(values, chosen)
        done = self._terminated
        if self.autoreset_mode is AutoresetMode.SAME_STEP and done.any():
            final = {name: np.zeros_like(value) for name, value in values.items()}
            self._tell_ended(final, done)
            infos |= _with_masks({"final_obs": self._final_obs(done), "final_info": _with_masks(final, done)}, done)
        return infos

    def _tell_ended(self, values: dict[str, np.ndarray], rows: np.ndarray) -> None:
        """Write the infos of ended episodes to some rows; masks are empty."""
        values["seat"][rows] = self._final_seats[rows]
        for name, value in self._no_info.items():
            values[name][rows] = value
        values["illegal_action"][list(self.why_illegal)] = 1

    def _final_obs(self, rows: np.ndarray) -> np.ndarray:
        """The last observations of ended episodes, an object each."""
        found = np.full(self.num_envs, None, object)
        actions = len(self.batch.action_names)
        for row in np.flatnonzero(rows).tolist():
            last = self._final[row].copy()
            found[row] = last if self.flat else {"observation": last, "action_mask": np.zeros(actions, np.int8)}
        return found

    def action_masks(self) -> np.ndarray:
        """Masks of the learners, bool[num_envs, actions]; a fresh array. Empty where an episode is over."""
        return self._masks().astype(np.bool_)

    def render(self) -> tuple[Any, ...] | None:
        """Every table as its learner may see it (or all of it, with ``reveal``), in the form of ``render_mode``."""
        if self.render_mode is None:
            return None
        game, seats = self.batch.game, [None if self.reveal else int(seat) for seat in self.seats]
        views = [game.view(row, seat) for row, seat in zip(self.batch.states, seats, strict=True)]
        return tuple(render(view, seat, self.render_mode) for view, seat in zip(views, seats, strict=True))


def _autoreset_mode(mode: Any) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        known = ", ".join(str(known) for known in AutoresetMode)
        raise SettingsError(f"autoreset_mode is {mode!r}: it must be one of {known}") from None


def _with_masks(values: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
    """Infos as Gymnasium has them: beside each key, ``_key`` says at which rows it holds."""
    infos: dict[str, Any] = {}
    for name, value in values.items():
        infos |= {name: value, f"_{name}": rows.copy()}
    return infos


__all__ = ["AuctionVectorEnv"]
