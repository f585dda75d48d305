"""Features of many seats at once: rows of numbers for a network, see ``games.features``.

A row holds the own vector, then those of the other seats, then those of the options, then the action of each option (or
-1), all float32. It has room for as many seats and options as the caller asks for, so that tables of several numbers of
seats can share a network; what is not there is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

import numpy as np

from auction_env.core.jit import kernel
from auction_env.core.threads import run_parts
from auction_env.engine.kernels import Compiled
from auction_env.games.features import FeatureLayout
from auction_env.games.game import Game

ROWS_PER_THREAD = 128  # fewer are not worth a thread


def has_features(game: Game) -> bool:
    """Whether a game defines features."""
    return hasattr(game, "features") and hasattr(game, "feature_layout")


@cache
def feature_kernel(game: Any) -> Any:
    """Compiled ``(states, rows, own, others, options, actions, cards)``: features of the seat to act at each row."""
    features = game.features

    @kernel(owner=game.NAME)
    def write_features(states: Any, rows: Any, own: Any, others: Any, options: Any, actions: Any, cards: Any) -> None:
        for place in range(rows.shape[0]):
            s = states[rows[place]]
            features(s, s.to_act, own[place], others[place], options[place], actions[place], cards)

    return write_features


class FeatureRows(Compiled):
    """Writes rows of features of a game.

    Args:
        game: a game that defines features.
        settings: its Settings.
        num_others: other seats that a row has room for; at least ``num_players - 1``, which is the default.
        max_options: options that it has room for; at least those of the game's layout, the default.
        threads: that share the rows where there are many; what is written does not depend on it.

    Raises:
        ValueError: the game defines no features, or a row would be too small.
    """

    CODE: ClassVar[dict[str, Callable[[Any], Any]]] = {"_write": feature_kernel}

    def __init__(
        self,
        game: Game,
        settings: Any,
        num_others: int | None = None,
        max_options: int | None = None,
        threads: int = 1,
    ) -> None:
        if not has_features(game):
            raise ValueError(f"{game.NAME} defines no features: a network for it reads the flat observation")
        self.layout: FeatureLayout = game.feature_layout(settings)  # type: ignore[attr-defined]
        self.num_others = settings.num_players - 1 if num_others is None else num_others
        self.max_options = self.layout.max_options if max_options is None else max_options
        if self.num_others < settings.num_players - 1 or self.max_options < self.layout.max_options:
            raise ValueError(
                f"rows for {self.num_others} other seats and {self.max_options} options are too small for "
                f"{settings.num_players} seats with up to {self.layout.max_options} options"
            )
        own, other, option = self.layout.sizes
        self.starts = (own, own + self.num_others * other, own + self.num_others * other + self.max_options * option)
        self.size = self.starts[2] + self.max_options
        self.game, self._write = game, feature_kernel(game)
        self._cards = np.zeros((threads, 64), np.uint64)  # to work in, a line for each thread

    def write(self, states: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
        """Write what the seats to act at some tables see.

        Args:
            states: rows of the game's STATE, shape (T,).
            rows: int64[B], which of them; a seat is to act at each.
            out: float32[B, size], overwritten; entries of a row next to each other.
        """
        threads = min(len(self._cards), max(1, len(rows) // ROWS_PER_THREAD))

        def part(number: int) -> None:
            some = slice(len(rows) * number // threads, len(rows) * (number + 1) // threads)
            mine = out[some]
            # Parts of one row alone are contiguous, which would be machine code of its own: it has a second row below.
            work = mine if len(mine) > 1 else np.empty((2, self.size), np.float32)
            work[:] = 0
            work[:, self.starts[2] :] = -1
            self._write(states, rows[some], *self.views(work), self._cards[number])
            if work is not mine:
                mine[:] = work[: len(mine)]

        run_parts(part, threads)

    def of(self, state: np.ndarray) -> np.ndarray:
        """A fresh row, float32[size], of one table with a seat to act: its state, shape (1,)."""
        out = np.empty((1, self.size), np.float32)
        self.write(state, np.zeros(1, np.int64), out)
        return out[0]

    def nobody(self) -> np.ndarray:
        """A fresh row, float32[size], of no seat: zeros, and -1 for the action of each option."""
        out = np.zeros(self.size, np.float32)
        out[self.starts[2] :] = -1
        return out

    def write_oracle(self, states: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
        """Write what the *other* seats see of themselves: for a critic, in training only.

        Args:
            states, rows: as in ``write``.
            out: float32[B, num_others, own], C-contiguous, overwritten: the own vector of each other seat, the next
                clockwise first; zeros where there is none.
        """
        out[:] = 0
        _, other, option = self.layout.sizes
        others = np.zeros((self.num_others, other), np.float32)
        options = np.zeros((self.max_options, option), np.float32)
        actions = np.zeros(self.max_options, np.int64)
        oracle_kernel(self.game)(states, rows, out, others, options, actions, self._cards[0])

    def views(self, out: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Views of rows: own [B, .], others [B, num_others, .], options [B, max_options, .], actions [B, .]."""
        _, other, option = self.layout.sizes
        first, second, third = self.starts
        return (
            out[:, :first],
            _grouped(out[:, first:second], self.num_others, other),
            _grouped(out[:, second:third], self.max_options, option),
            out[:, third:],
        )


def _grouped(part: np.ndarray, groups: int, size: int) -> np.ndarray:
    """A view [B, groups, size] of [B, groups * size], whose rows need not be contiguous."""
    row, entry = part.strides
    return np.lib.stride_tricks.as_strided(part, (len(part), groups, size), (row, size * entry, entry))


@cache
def oracle_kernel(game: Any) -> Any:
    """Compiled ``(states, rows, out, others, options, actions, cards)``: see ``FeatureRows.write_oracle``."""
    features = game.features

    @kernel(owner=game.NAME)
    def write_oracle(states: Any, rows: Any, out: Any, others: Any, options: Any, actions: Any, cards: Any) -> None:
        for place in range(rows.shape[0]):
            s = states[rows[place]]
            for steps in range(1, s.num_players):
                others[:], options[:] = 0, 0
                seat = (s.to_act + steps) % s.num_players
                if s.dealt_in[seat]:
                    features(s, seat, out[place, steps - 1], others, options, actions, cards)

    return write_oracle
