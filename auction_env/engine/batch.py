"""Many tables of one game at once: one array of states, one compiled loop a step."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from auction_env.core.threads import most_threads, run_parts
from auction_env.engine.kernels import Compiled, Outputs, decision_size, kernels, observation_size, seed_words
from auction_env.engine.table import settings_of
from auction_env.engine.validation import check_states
from auction_env.games import get_game
from auction_env.games.game import Game, IllegalActionError

ROWS_PER_THREAD = 2048  # below this a second thread costs more than it brings


def _is_count(value: Any, most: int) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 1 <= int(value) <= most


def _part(number: int, part: int, parts: int) -> slice:
    """The ``part``-th of ``parts`` nearly equal runs of 0 to ``number`` - 1."""
    return slice(part * number // parts, (part + 1) * number // parts)


class Batch(Compiled):
    """``num_tables`` tables that step together.

    When a deal ends its result is written to ``out.payoffs``, and the same step deals the next one (or starts a new
    match, once a match is over), so that a seat is to act at every table at all times. Each has its own generator:
    results do not depend on the number of tables or threads.

    ``states`` is there to be read. Compiled code does not check what it finds in it: what comes from outside is written
    by ``set_states`` or ``put``, or is followed by ``show``, which check it.

    Args:
        game: a game's name or module.
        settings: keyword values, or the game's Settings.
        num_tables: number of tables, N.
        dtype: of observations: float32, or int8 with fractions in units of 1/127, rounded down.
        size: entries of an observation: all, or down to ``decision_size`` of them, the ones a decision can depend on.
        threads: for steps; None chooses by the number of tables.

    Raises:
        SettingsError, ValueError: as Table; or num_tables, dtype or threads make no sense.
    """

    def __init__(
        self,
        game: str | Game | ModuleType,
        settings: Mapping[str, Any] | Any = None,
        num_tables: int = 1024,
        dtype: Any = np.float32,
        size: int | None = None,
        threads: int | None = None,
    ) -> None:
        self.game = get_game(game)
        settings = settings_of(self.game, settings)
        if not _is_count(num_tables, 1 << 24):
            raise ValueError(f"num_tables is {num_tables!r}: it must be an integer from 1 to {1 << 24}")
        if np.dtype(dtype) not in (np.float32, np.int8):
            raise ValueError(f"dtype is {dtype!r}: observations are float32 or int8")
        cores = most_threads()
        if threads is None:
            threads = min(cores, max(1, num_tables // ROWS_PER_THREAD))
        if not _is_count(threads, cores):
            raise ValueError(
                f"threads is {threads!r}: it must be an integer from 1 to {cores}, the threads numba may use"
            )
        most, least = observation_size(self.game, settings), decision_size(self.game, settings)
        if size is not None and not (_is_count(size, most) and size >= least):
            raise ValueError(
                f"size is {size!r}: an observation has {most} entries, of which {least} are always written"
            )
        self.settings, self.num_tables, self.threads = settings, num_tables, threads
        self.action_names = self.game.action_names(settings)
        self.observation_size = most if size is None else size
        self.full = 127.0 if np.dtype(dtype) == np.int8 else 1.0
        self.states = np.repeat(self.game.new_state(settings), num_tables)
        self.all_rows = np.arange(num_tables)
        # A line for each thread, padded so that no two threads write to one cache line.
        self._scratch = np.zeros((threads, self.game.MAX_LEGAL + 64), np.int16)
        self._allowed = np.zeros((num_tables, -(-len(self.action_names) // 64)), np.uint64)
        self._kernels = kernels(self.game)
        self._seeded = False
        self.out = self.new_outputs(np.dtype(dtype))

    def new_outputs(self, dtype: Any) -> Outputs:
        """A fresh set of output arrays."""
        tables, seats = self.num_tables, self.settings.num_players
        return Outputs(
            observations=np.zeros((tables, self.observation_size), dtype),
            masks=np.zeros((tables, len(self.action_names)), np.int8),
            seats=np.zeros(tables, np.int8),
            payoffs=np.zeros((tables, seats), np.float32),
            deal_over=np.zeros(tables, np.bool_),
            match_over=np.zeros(tables, np.bool_),
            watched=np.full(tables, -1, np.int8),
            final=np.zeros((tables, observation_size(self.game, self.settings)), dtype),
        )

    def reset(self, seed: int | np.ndarray | None = None, rows: np.ndarray | None = None) -> Outputs:
        """Start a match at every table, or at those in ``rows``.

        Args:
            seed: table i gets ``seed + i``, as a single table seeded so; or an array uint64[N]; None: go on with the
                generators as they are (fresh entropy the first time).
            rows: int64 indices of tables, each at most once; None: all.

        Returns:
            Outputs: see ``step``.

        Raises:
            ValueError: the seed is no integer from 0 to 2**63 - 1, and no array of one for each table; ``rows`` are no
                indices, or not all of them the first time.
        """
        rows = self.all_rows if rows is None else self._check_rows(rows)
        if not self._seeded and len(rows) < self.num_tables:
            raise ValueError("nothing has been dealt yet: reset all tables first")
        if seed is not None or not self._seeded:
            words = self._words(seed) if isinstance(seed, np.ndarray) else seed_words(seed, self.num_tables)
            seeded = self.states[rows]
            self._kernels.seed(seeded, words[rows])
            self.states[rows] = seeded
            self._seeded = True
        return self.restart(rows)

    def _words(self, seeds: np.ndarray) -> np.ndarray:
        good = seeds.dtype.kind in "iu" and seeds.shape == (self.num_tables,) and (seeds >= 0).all()
        if not good:
            raise ValueError(
                f"seed is {seeds.dtype}{list(seeds.shape)}: give one integer, at least 0, for each of "
                f"{self.num_tables} tables"
            )
        return seeds.astype(np.uint64)

    def step(self, actions: np.ndarray, rows: np.ndarray | None = None) -> Outputs:
        """Act at every table, or at those in ``rows`` (each at most once).

        Args:
            actions: integer[N] (or one for each of ``rows``): an action of each table's seat to act.
            rows: int64 indices of tables.

        Returns:
            Outputs: the arrays of ``out``, which the next step overwrites: copy what you keep. Rows not stepped are as
            they were.

        Raises:
            IllegalActionError: naming the table and the action; no table has changed.
            ValueError: ``rows`` are not indices of tables, each at most once.
        """
        rows = self.all_rows if rows is None else self._check_rows(rows)
        actions = np.asarray(actions)
        if actions.shape != rows.shape or actions.dtype.kind not in "iu":
            raise IllegalActionError(
                f"actions are {actions.dtype}{list(actions.shape)}: give one integer for each of {len(rows)} tables"
            )
        actions = actions.astype(np.int64, copy=False)
        threads = min(self.threads, max(1, len(rows) // ROWS_PER_THREAD)) if self.threads > 1 else 1
        illegal = self._step_parts(rows, actions, threads) if threads > 1 else self._step(rows, actions)
        if illegal >= 0:
            self._refuse(int(rows[illegal]), int(actions[illegal]))
        return self.out

    def _step(self, rows: np.ndarray, actions: np.ndarray) -> int:
        """Act on one thread; -1, or the index of the first illegal action, and nothing is done."""
        return self._kernels.step(self.states, rows, actions, self._scratch, self._allowed, self.out, self.full)

    def _step_parts(self, rows: np.ndarray, actions: np.ndarray, parts: int) -> int:
        """The same on ``parts`` threads."""
        illegal = self._kernels.first_illegal(rows, actions, self._allowed, self.out)
        if illegal < 0:

            def advance(part: int) -> None:
                mine, scratch = _part(len(rows), part, parts), self._scratch[part : part + 1]
                self._kernels.advance(
                    self.states, rows[mine], actions[mine], scratch, self._allowed, self.out, self.full
                )

            run_parts(advance, parts)
        return illegal

    def _refuse(self, row: int, action: int) -> None:
        if self.states["to_act"][row] < 0:
            raise IllegalActionError(f"table {row}: nothing has been dealt yet: call reset first")
        legal = np.flatnonzero(self.out.masks[row])
        raise IllegalActionError(
            f"table {row}: action {action} is not legal for player_{self.out.seats[row]}; legal now: "
            + ", ".join(f"{self.action_names[index]!r} ({index})" for index in legal)
        )

    def _check_rows(self, rows: Any) -> np.ndarray:
        rows = np.asarray(rows)
        good = rows.ndim == 1 and (rows.dtype.kind in "iu" or not len(rows))
        if good and len(rows):
            good = rows.min() >= 0 and rows.max() < self.num_tables
            if good:
                chosen = np.zeros(self.num_tables, np.bool_)
                chosen[rows] = True
                good = np.count_nonzero(chosen) == len(rows)
        if not good:
            raise ValueError(f"rows must be indices of tables, 0 to {self.num_tables - 1}, each at most once")
        return rows.astype(np.int64, copy=False)

    def restart(self, rows: np.ndarray) -> Outputs:
        """Start a new match at some tables, wherever they stand; their generators go on. Errors as ``step``."""
        rows = self._check_rows(rows)
        self._kernels.start(self.states, rows, self._scratch, self._allowed, self.out, self.full)
        self.out.deal_over[rows] = False
        return self.out

    def put(self, row: int, state: np.ndarray) -> None:
        """Put the state of a table with a deal on (``Table.states``, shape (1,)) in a row, say one set up by hand.

        Raises:
            ValueError: the state is not one that play at these settings can reach, or there is no such row; nothing has
                changed.
        """
        rows = self._check_rows([row])
        if not isinstance(state, np.ndarray) or state.dtype != self.states.dtype or state.shape != (1,):
            raise ValueError(f"the state is not one row of {self.game.NAME}'s STATE: give the states of such a table")
        self.set_states(state, rows)

    def set_states(self, states: np.ndarray, rows: np.ndarray | None = None) -> Outputs:
        """Go on from states that come from elsewhere, say a file: each is checked by playing its deal again.

        Args:
            states: rows of the game's STATE, a deal on at each, shape (N,) or one for each of ``rows``; copied.
            rows: int64 indices of tables; None: all.

        Returns:
            Outputs: as ``show``.

        Raises:
            ValueError: ``rows`` are no indices, or a state is not one that play at these settings can reach: the
                message names its row and field (``StateError``). Nothing has changed.
        """
        rows = self.all_rows if rows is None else self._check_rows(rows)
        if np.shape(states) != rows.shape:
            raise ValueError(f"states have shape {list(np.shape(states))}: give one for each of {len(rows)} tables")
        check_states(self.game, self.settings, states)
        self.states[rows] = states
        self._seeded = self._seeded or len(rows) == self.num_tables
        return self._show(rows)

    def show(self, rows: np.ndarray | None = None) -> Outputs:
        """Write ``out`` anew for tables whose rows of ``states`` were written to (all, or ``rows``), before a step.

        What the last deal gave (``payoffs``, ``deal_over``, ``match_over``, ``final``) stays as it was.

        Raises:
            ValueError: what was written is no state that play can reach, as ``set_states``: do not step these tables.
        """
        rows = self.all_rows if rows is None else self._check_rows(rows)
        check_states(self.game, self.settings, self.states[rows])
        return self._show(rows)

    def _show(self, rows: np.ndarray) -> Outputs:
        self._kernels.show(self.states, rows, self._scratch, self._allowed, self.out, self.full)
        return self.out

    def rollout(self, decisions: int) -> tuple[int, np.ndarray]:
        """Random legal play for ``decisions`` decisions at every table, without observations.

        Returns:
            deals finished, and the results in chips summed over them, int64[N, seats]. ``out`` is stale afterwards:
            reset before stepping again.

        Raises:
            ValueError: decisions is no integer from 1, or nothing has been dealt yet.
        """
        if not self._seeded:
            raise ValueError("nothing has been dealt yet: call reset first")
        if not _is_count(decisions, 1 << 62):
            raise ValueError(f"decisions is {decisions!r}: it must be an integer, at least 1")
        payoffs = np.zeros((self.num_tables, self.settings.num_players), np.int64)
        threads = min(self.threads, self.num_tables)

        def play(part: int) -> int:
            mine, scratch = _part(self.num_tables, part, threads), self._scratch[part : part + 1]
            return int(self._kernels.rollout(self.states[mine], decisions, scratch, payoffs[mine]))

        return sum(run_parts(play, threads)), payoffs
