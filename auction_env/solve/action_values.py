"""How likely play comes to each information state, and what each action is worth there. By one walk of the tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.core.jit import kernel
from auction_env.solve.enumeration import enumerate_tree
from auction_env.solve.values import Layout


def reach_of(layout: Layout, policy: np.ndarray, own: bool = True) -> list[np.ndarray]:
    """How likely play by a policy comes to each information state, float64[K] for each seat.

    ``own=False``: how likely chance and all others let it come there, whatever the seat itself does.
    """
    tree, reaches = layout.tree, layout.reaches_of(policy)
    found = [np.zeros(forest.num_states) for forest in tree.forests]

    def watch(seat: int, numbers: np.ndarray, sequences: np.ndarray, chances: np.ndarray) -> None:
        weights = chances.copy()
        for other in range(tree.num_seats):
            if own or other != seat:
                weights *= reaches[other][sequences[:, other]]
        np.add.at(found[seat], numbers, weights)

    enumerate_tree(tree.game, tree.settings, fold=tree.folded, watch=watch)
    return found


def action_values(layout: Layout, policy: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """What each action is worth at its information state, when all play by a policy from then on.

    Returns:
        float64[seats, most sequences]: chips that the seat gets in the deal, on average, after the action that ends
        each sequence; 0 where the others never let it come there. And ``reach_of(..., own=False)``, which says where.
    """
    values, reaches, others = layout.new(), layout.reaches_of(policy), reach_of(layout, policy, own=False)
    for seat, forest in enumerate(layout.tree.forests):
        layout.gradient(seat, reaches, values[seat])
        play_on(layout.num_states[seat], layout.parents[seat], layout.starts[seat], policy[seat], values[seat])
        weights = np.repeat(others[seat], np.diff(forest.starts))
        mine = values[seat, 1 : forest.num_sequences]
        mine[:] = np.divide(mine, weights, out=np.zeros_like(mine), where=weights > 0)
    return values, others


@kernel
def play_on(number: Any, parents: Any, starts: Any, policy: Any, gains: Any) -> None:
    """Change ``gains``, as ``Layout.gradient`` writes them, to what each sequence is worth, played on by a policy."""
    for state in range(number - 1, -1, -1):
        total = 0.0
        for sequence in range(starts[state], starts[state + 1]):
            total += policy[sequence] * gains[sequence]
        gains[parents[state]] += total
