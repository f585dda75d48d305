"""A game's whole tree as flat arrays: what seats can know and do, and what each way to the end is worth.

This is the sequence form (von Stengel 1996; Koller, Megiddo and von Stengel 1996). A *sequence* of a seat is what it
has done on the way to a point, decision by decision; sequence 0 is having done nothing yet. A seat's strategy gives
each of its sequences a weight, and the chance of an end is the product of all seats' weights and of chance's own part.
So the histories themselves need not be kept: ends that share all sequences are one.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from auction_env.games.game import Game
from auction_env.solve.symmetry import NOTHING


@dataclasses.dataclass(frozen=True)
class Forest:
    """The information states of one seat, K of them, a parent always before its children; and its S sequences.

    Attributes:
        parents: int32[K], the sequence that leads to each information state.
        starts: int32[K + 1], its sequences: information state k has ``starts[k]`` to ``starts[k + 1] - 1``, one for
            each action, as ``Expansion.legal`` orders them. ``starts[0]`` is 1.
        keys: uint64[K], of its observation (``expansion.Expansion.keys``).
        actions: int16[S], the action that ends each sequence, at the table where the information state was met first;
            -1 for sequence 0. It stands for those that are the same but for the names of suits.
    """

    parents: np.ndarray
    starts: np.ndarray
    keys: np.ndarray
    actions: np.ndarray

    @property
    def num_states(self) -> int:
        """Information states, K."""
        return len(self.parents)

    @property
    def num_sequences(self) -> int:
        """Sequences, S, with the empty one."""
        return len(self.actions)


@dataclasses.dataclass(frozen=True)
class Counts:
    """How large a tree is, as enumerated.

    Attributes:
        histories: points of the tree at which a seat is to act, or the deal is over.
        ends: of these, those at which it is over.
        information_states: of each seat.
        chance_outcomes: ways that chance goes on, over all points where it does; the first deal is one such point.
        first_outcomes: of these, the ways to deal.
    """

    histories: int
    ends: int
    information_states: tuple[int, ...]
    chance_outcomes: int
    first_outcomes: int


@dataclasses.dataclass(frozen=True)
class Tree:
    """A setting's tree. The dealer is the last seat, so that seat 0 acts first; by symmetry that says all.

    Attributes:
        game: the game.
        settings: its Settings.
        symmetry: what was left out of suits: see ``symmetry.symmetry_of``.
        forests: of each seat.
        ends: int32[seats, T], the sequence of each seat at each end, sorted; ends that agree in all are one.
        worth: float64[seats, T], chips that each seat gets there times the probability that chance lets it come to
            this. Of a zero-sum game of two seats only that of seat 0 is kept: float64[1, T].
        counts: sizes.
        chips: float64[2], the least and most that a seat gets at any end.
    """

    game: Game
    settings: Any
    symmetry: str
    forests: tuple[Forest, ...]
    ends: np.ndarray
    worth: np.ndarray
    counts: Counts
    chips: np.ndarray

    @property
    def num_seats(self) -> int:
        """Seats."""
        return len(self.forests)

    @property
    def zero_sum(self) -> bool:
        """Whether what one of two seats gets the other pays: only then the methods here come to a solution."""
        return self.num_seats == 2 and len(self.worth) == 1

    @property
    def folded(self) -> bool:
        """Whether something was left out of suits."""
        return self.symmetry != NOTHING

    @property
    def num_bytes(self) -> int:
        """Memory of all arrays."""
        arrays = [self.ends, self.worth]
        arrays += [array for forest in self.forests for array in vars(forest).values()]
        return sum(array.nbytes for array in arrays)
