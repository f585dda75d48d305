"""Numbers for information states, found by their keys."""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.core.jit import kernel
from auction_env.games.cards import mix
from auction_env.solve.tree import Forest


class RecallError(ValueError):
    """An observation does not say all that its seat has seen and done."""


class Index:
    """Numbers for the information states of one seat, in the order in which they are met; a table of hashed keys."""

    def __init__(self) -> None:
        self.number, self.sequences = 0, 1
        self.table = np.full(1 << 12, -1, np.int32)
        self.keys = np.zeros(1 << 10, np.uint64)
        self.parents = np.zeros(1 << 10, np.int32)
        self.starts = np.ones((1 << 10) + 1, np.int32)
        self.actions = np.full(1 << 12, -1, np.int16)

    def reserve(self, states: int, most_actions: int) -> None:
        """Make room for so many more information states."""
        if self.number + states > len(self.keys):
            size = 2 * (self.number + states)
            self.keys, self.parents = _grown(self.keys, size), _grown(self.parents, size)
            self.starts = _grown(self.starts, size + 1)
        if self.sequences + states * most_actions > len(self.actions):
            self.actions = _grown(self.actions, 2 * self.sequences + states * most_actions)
        if 2 * (self.number + states) > len(self.table):
            self.table = np.full(1 << int(4 * (self.number + states)).bit_length(), -1, np.int32)
            _fill(self.keys, self.number, self.table)

    def find(
        self, keys: np.ndarray, parents: np.ndarray, actions: np.ndarray, counts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of these information states, int32[N], new ones in order; and the rows that met a new one first.

        Raises:
            RecallError: one has come by two different sequences of its seat, or with two numbers of actions.
        """
        self.reserve(len(keys), actions.shape[1])
        numbers, new = np.zeros(len(keys), np.int32), np.zeros(len(keys), np.int64)
        before = self.number
        self.number, self.sequences, wrong = _find(
            *(keys, parents, actions, counts, self.number, self.sequences, self.table, self.keys, self.parents),
            *(self.starts, self.actions, numbers, new),
        )
        if wrong >= 0:
            raise RecallError(
                "one observation stands for two histories of its seat: solving needs one that holds all that the seat "
                "has seen and done (Auction Flop Poker: observation 'full')"
            )
        return numbers, new[: self.number - before]

    def forest(self) -> Forest:
        """All of them as arrays."""
        number, sequences = self.number, self.sequences
        return Forest(
            self.parents[:number].copy(),
            self.starts[: number + 1].copy(),
            self.keys[:number].copy(),
            self.actions[:sequences].copy(),
        )


def _grown(array: np.ndarray, size: int) -> np.ndarray:
    larger = np.full(size, -1, array.dtype) if array.dtype == np.int16 else np.zeros(size, array.dtype)
    larger[: len(array)] = array
    return larger


@kernel
def _fill(keys: Any, number: Any, table: Any) -> None:
    mask = table.shape[0] - 1
    for state in range(number):
        slot = np.int64(mix(keys[state]) & np.uint64(mask))
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = state


@kernel
def _find(
    keys: Any,
    parents: Any,
    actions: Any,
    counts: Any,
    number: Any,
    sequences: Any,
    table: Any,
    all_keys: Any,
    all_parents: Any,
    starts: Any,
    all_actions: Any,
    numbers: Any,
    new: Any,
) -> Any:
    mask, met, wrong = table.shape[0] - 1, 0, -1
    for row in range(keys.shape[0]):
        slot = np.int64(mix(keys[row]) & np.uint64(mask))
        while table[slot] >= 0 and all_keys[table[slot]] != keys[row]:
            slot = (slot + 1) & mask
        if table[slot] < 0:
            table[slot] = number
            all_keys[number], all_parents[number] = keys[row], parents[row]
            starts[number] = sequences
            for place in range(counts[row]):
                all_actions[sequences + place] = actions[row, place]
            sequences += counts[row]
            new[met] = row
            number += 1
            met += 1
            starts[number] = sequences
        state = table[slot]
        numbers[row] = state
        if all_parents[state] != parents[row] or starts[state + 1] - starts[state] != counts[row]:
            wrong = row
    return number, sequences, wrong
