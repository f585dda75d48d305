"""What strategies are worth against each other in a tree: reaches, values of actions, best responses, NashConv.

A *policy* is float64[seats, most sequences]: at each information state the probabilities of its actions, at the places
of the sequences that they end; entry 0 and entries past a seat's last sequence are 1 and 0. *Reaches*, of the same
shape, are products of these along each sequence.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from auction_env.core.jit import kernel
from auction_env.core.threads import run_parts
from auction_env.solve.tree import Tree

ENDS_PER_THREAD = 20_000  # fewer are not worth a thread


class PolicyError(ValueError):
    """Numbers are no policy of a tree: of another shape, not probabilities, or not finite."""


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """What a policy is worth, exactly.

    Attributes:
        values: float64[seats], chips a deal that each seat gets when all play it.
        best_responses: float64[seats], chips a deal that the best response of each seat gets when the others play it.
    """

    values: np.ndarray
    best_responses: np.ndarray

    @property
    def gains(self) -> np.ndarray:
        """Chips a deal that each seat could gain by a best response, float64[seats]."""
        return self.best_responses - self.values

    @property
    def nash_conv(self) -> float:
        """The sum of all gains: 0 at an equilibrium, with any number of seats."""
        return float(self.gains.sum())

    @property
    def exploitability(self) -> float:
        """NashConv divided by the number of seats."""
        return self.nash_conv / len(self.values)


class Layout:
    """A tree's arrays as the compiled loops take them: a row for each seat, as long as the longest.

    Args:
        tree: the tree.
        threads: that share the ends, where there are many; what comes out does not depend on it but for rounding.
    """

    def __init__(self, tree: Tree, threads: int = 1) -> None:
        self.tree = tree
        forests = tree.forests
        most = max(forest.num_states for forest in forests)
        self.width = max(forest.num_sequences for forest in forests)
        self.num_states = np.array([forest.num_states for forest in forests])
        self.parents = np.zeros((len(forests), most), np.int32)
        self.starts = np.ones((len(forests), most + 1), np.int32)
        for seat, forest in enumerate(forests):
            self.parents[seat, : forest.num_states] = forest.parents
            self.starts[seat, : forest.num_states + 1] = forest.starts
        ends = tree.ends.shape[1]
        self.threads = max(1, min(threads, ends // ENDS_PER_THREAD))
        # A zero-sum game of two seats has the worth of the first alone: the other's is what that pays.
        two = len(tree.worth) == 1 and len(forests) == 2
        self.rows = (0, 0) if two else tuple(range(len(forests)))
        self.signs = (1.0, -1.0) if two else (1.0,) * len(forests)
        self._parts = np.zeros((self.threads, self.width))

    def new(self) -> np.ndarray:
        """Zeros, float64[seats, most sequences]."""
        return np.zeros((self.tree.num_seats, self.width))

    def gradient(self, seat: int, reaches: np.ndarray, out: np.ndarray) -> None:
        """What each sequence of a seat is worth by the ends that it leads to at once, float64[most sequences]."""
        ends, worth, sign = self.tree.ends, self.tree.worth[self.rows[seat]], self.signs[seat]
        out[:] = 0
        if self.threads == 1:
            add_ends(ends, worth, sign, seat, reaches, out, 0, ends.shape[1])
            return
        total = ends.shape[1]

        def add(part: int) -> None:
            self._parts[part] = 0
            bounds = (part * total // self.threads, (part + 1) * total // self.threads)
            add_ends(ends, worth, sign, seat, reaches, self._parts[part], *bounds)

        run_parts(add, self.threads)
        out += self._parts.sum(axis=0)

    def reaches_of(self, policy: np.ndarray) -> np.ndarray:
        """Products of a policy's probabilities along each sequence."""
        reaches = self.new()
        for seat in range(len(reaches)):
            reach(self.num_states[seat], self.parents[seat], self.starts[seat], policy[seat], reaches[seat])
        return reaches

    def evaluate(self, policy: np.ndarray) -> Evaluation:
        """Values and best responses. Raises PolicyError."""
        self.check(policy)
        reaches, gains = self.reaches_of(policy), np.zeros(self.width)
        seats = self.tree.num_seats
        values, best = np.zeros(seats), np.zeros(seats)
        for seat in range(seats):
            self.gradient(seat, reaches, gains)
            values[seat] = gains @ reaches[seat]
            best[seat] = respond(self.num_states[seat], self.parents[seat], self.starts[seat], gains, self._parts[0])
        return Evaluation(values, best)

    def best_response(self, policy: np.ndarray, seat: int) -> np.ndarray:
        """A policy in which a seat plays a best response to the others', who play on as before. Raises PolicyError."""
        self.check(policy)
        gains, changed = np.zeros(self.width), policy.copy()
        self.gradient(seat, self.reaches_of(policy), gains)
        respond(self.num_states[seat], self.parents[seat], self.starts[seat], gains, changed[seat])
        return changed

    def uniform(self) -> np.ndarray:
        """The policy by which all actions are equally likely."""
        return self.normalized(self.new())

    def normalized(self, weights: np.ndarray) -> np.ndarray:
        """The policy of weights of each action, at least 0; where all are 0 it is uniform."""
        policy = self.new()
        for seat in range(len(policy)):
            normalize(self.num_states[seat], self.starts[seat], weights[seat], policy[seat])
        return policy

    def check(self, policy: np.ndarray) -> None:
        """Raise PolicyError unless these numbers are a policy of this tree, up to rounding."""
        if policy.shape != (self.tree.num_seats, self.width) or policy.dtype != np.float64:
            raise PolicyError(
                f"a policy is float64[{self.tree.num_seats}, {self.width}], not {policy.dtype}{list(policy.shape)}"
            )
        for seat, forest in enumerate(self.tree.forests):
            chances = policy[seat, 1 : forest.num_sequences]
            totals = np.add.reduceat(chances, forest.starts[:-1] - 1) if forest.num_states else np.ones(1)
            if not (np.isfinite(chances).all() and (chances >= 0).all() and (abs(totals - 1) < 1e-6).all()):
                raise PolicyError(f"the numbers of seat {seat} are not probabilities that add up to 1")


@kernel
def add_ends(ends: Any, worth: Any, sign: Any, seat: Any, reaches: Any, out: Any, first: Any, last: Any) -> None:
    """Add what ends ``first`` to ``last`` - 1 are worth to a seat to its sequences, by the reaches of all others."""
    if ends.shape[0] == 2 and seat == 0:  # ends are sorted by the first seat's sequences
        others = reaches[1]
        end = first
        while end < last:
            sequence = ends[0, end]
            total = 0.0
            while end < last and ends[0, end] == sequence:
                total += worth[end] * others[ends[1, end]]
                end += 1
            out[sequence] += sign * total
        return
    if ends.shape[0] == 2:
        for end in range(first, last):
            out[ends[1, end]] += sign * worth[end] * reaches[0, ends[0, end]]
        return
    for end in range(first, last):
        product = sign * worth[end]
        for other in range(ends.shape[0]):
            if other != seat:
                product *= reaches[other, ends[other, end]]
        out[ends[seat, end]] += product


@kernel
def reach(number: Any, parents: Any, starts: Any, policy: Any, out: Any) -> None:
    """Reaches of one seat's sequences, from its probabilities."""
    out[0] = 1.0
    for state in range(number):
        weight = out[parents[state]]
        for sequence in range(starts[state], starts[state + 1]):
            out[sequence] = weight * policy[sequence]


@kernel
def respond(number: Any, parents: Any, starts: Any, gains: Any, choice: Any) -> Any:
    """A best response of one seat: 1 in ``choice`` for the action taken, 0 for others; returns what it is worth.

    ``gains``, as ``Layout.gradient`` writes them, are changed: to what each sequence is worth, played on so.
    """
    choice[0] = 1.0
    for state in range(number - 1, -1, -1):
        best = starts[state]
        for sequence in range(starts[state], starts[state + 1]):
            choice[sequence] = 0.0
            if gains[sequence] > gains[best]:
                best = sequence
        choice[best] = 1.0
        gains[parents[state]] += gains[best]
    return gains[0]


@kernel
def normalize(number: Any, starts: Any, weights: Any, out: Any) -> None:
    """Probabilities of one seat from weights of its actions; uniform where all are 0."""
    out[0] = 1.0
    for state in range(number):
        total = 0.0
        for sequence in range(starts[state], starts[state + 1]):
            total += weights[sequence]
        for sequence in range(starts[state], starts[state + 1]):
            share = 1.0 / (starts[state + 1] - starts[state])
            out[sequence] = weights[sequence] / total if total > 0 else share
