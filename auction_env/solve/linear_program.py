"""The exact solution of a zero-sum tree of two seats as a linear programme, by HiGHS: a cross-check of the methods.

The programme is Koller, Megiddo and von Stengel's (1996): seat 0 chooses weights of its sequences so that what the
other seat's best response leaves it is the most.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.core.extras import require
from auction_env.solve.tree import Forest, Tree


class ProgramError(ValueError):
    """There is no linear programme for this tree, or the library found no solution."""


def solve_program(tree: Tree) -> tuple[float, np.ndarray]:
    """Value for seat 0, and its sequences' weights in an optimal strategy, float64[S].

    Raises:
        ProgramError: the tree is not zero-sum with two seats, or no solution was found.
        MissingExtraError: scipy is not installed.
    """
    if not tree.zero_sum:
        raise ProgramError("a linear programme solves two seats and sums of zero: this tree is none such")
    require("solve", "scipy")
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, hstack

    ours, theirs = tree.forests
    shape = (theirs.num_sequences, ours.num_sequences)
    payoffs = csr_array((tree.worth[0], (tree.ends[1], tree.ends[0])), shape)
    # Variables: weights x of our sequences, then for each information state of theirs what it is worth to us, v; v[0]
    # is of the whole game. For each of their sequences: v[its state] - sum of v[states that follow] <= (payoffs x).
    flow, values = _flow(ours), _flow(theirs)
    answer = linprog(
        c=np.r_[np.zeros(ours.num_sequences), -1.0, np.zeros(theirs.num_states)],
        A_ub=hstack([-payoffs, values.T], format="csr"),
        b_ub=np.zeros(theirs.num_sequences),
        A_eq=hstack([flow, csr_array((flow.shape[0], values.shape[0]))], format="csr"),
        b_eq=np.r_[1.0, np.zeros(ours.num_states)],
        bounds=[(0, None)] * ours.num_sequences + [(None, None)] * values.shape[0],
        method="highs",
    )
    if not answer.success:
        raise ProgramError(f"no solution was found: {answer.message}")
    return float(-answer.fun), np.asarray(answer.x[: ours.num_sequences])


def _flow(forest: Forest) -> Any:
    """Sparse [1 + K, S]: row 0 is the empty sequence; row 1 + k is the sequences of state k, less its parent."""
    from scipy.sparse import csr_array

    states = np.arange(forest.num_states)
    of_sequence = np.repeat(states, np.diff(forest.starts))
    rows = np.r_[0, 1 + of_sequence, 1 + states]
    columns = np.r_[0, np.arange(1, forest.num_sequences), forest.parents]
    entries = np.r_[1.0, np.ones(len(of_sequence)), -np.ones(len(states))]
    return csr_array((entries, (rows, columns)), (1 + forest.num_states, forest.num_sequences))
