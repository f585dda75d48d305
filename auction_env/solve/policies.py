"""Policies of a tree that come from a player: it is asked for its probabilities at every information state."""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.engine.agent import Player, action_probabilities, choose
from auction_env.engine.kernels import kernels
from auction_env.solve.enumeration import enumerate_tree
from auction_env.solve.expansion import Reader
from auction_env.solve.tree import Tree
from auction_env.solve.values import Layout, PolicyError

AT_ONCE = 4096  # information states that a player is asked about together


class Positions:
    """A table at every information state of a tree, to ask players with: it is walked through once more.

    Args:
        tree: the tree.

    Attributes:
        states: of each seat, rows of STATE [K], one at each of its information states.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        found: list[list[np.ndarray]] = [[np.zeros(0, tree.game.STATE)] for _ in tree.forests]

        def keep(seat: int, numbers: np.ndarray, states: np.ndarray) -> None:
            found[seat].append(states)

        enumerate_tree(tree.game, tree.settings, fold=tree.folded, visit=keep)
        self.states = [np.concatenate(parts) for parts in found]
        self._reader = Reader(tree.game, tree.settings, tree.symmetry)
        self._size = sum(field.size for field in tree.game.observation_fields(tree.settings))

    def policy(self, player: Player, layout: Layout, samples: int = 100, seed: int = 0) -> np.ndarray:
        """The policy of a player, as ``values`` has them.

        Where suits were left out, a player is asked about one hand of each that are equal but for suits, and actions
        that are equal but for suits are added up: exact for one that does not look at them.

        Args:
            player: whoever plays: its ``probabilities`` are asked for; where it tells none it chooses ``samples`` times
                at each information state, and the policy is how often it chose what.
            layout: of the tree.
            samples: choices at each.
            seed: of chance in them.

        Raises:
            PlayerError, AgentError: the player failed.
            PolicyError: what it says are no probabilities of legal actions.
        """
        policy, rng = layout.new(), np.random.default_rng(seed)
        policy[:, 0] = 1
        for seat, states in enumerate(self.states):
            starts = self.tree.forests[seat].starts
            for first in range(0, len(states), AT_ONCE):
                some = states[first : first + AT_ONCE]
                _, masks, places = self._reader.choices(some)
                shares = self._shares(player, some, seat, masks, samples, rng)
                low, high = starts[first], starts[first + len(some)]
                rows, actions = np.nonzero(places >= 0)
                to = starts[first : first + len(some)][rows] + places[rows, actions]
                part = np.bincount(to - low, shares[rows, actions], high - low)
                totals = np.add.reduceat(part, starts[first : first + len(some)] - low)
                if not (np.isfinite(totals).all() and (part >= 0).all() and (abs(totals - 1) < 1e-3).all()):
                    name = getattr(player, "name", type(player).__name__)
                    raise PolicyError(f"agent {name} gives numbers that are no probabilities of the legal actions")
                policy[seat, low:high] = part / np.repeat(totals, np.diff(starts[first : first + len(some) + 1]))
        return policy

    def _shares(
        self, player: Any, states: np.ndarray, seat: int, masks: np.ndarray, samples: int, rng: np.random.Generator
    ) -> np.ndarray:
        game, run = self.tree.game, kernels(self.tree.game)
        observations = np.zeros((len(states), self._size), np.float32)
        for row in range(len(states)):
            run.observe(states, row, seat, observations[row], 1.0)
        seats = np.full(len(states), seat)
        told = action_probabilities(player, game, states, seats, observations, masks, rng)
        if told is not None:
            if told.shape != masks.shape or (told[masks == 0] != 0).any():
                raise PolicyError(f"agent {getattr(player, 'name', '')} gives probabilities of illegal actions")
            return told.astype(np.float64)
        counts = np.zeros(masks.shape)
        rows = np.arange(len(states))
        for _ in range(samples):
            words = rng.integers(0, 2**64, len(states), np.uint64)
            counts[rows, choose(player, game, states, seats, observations, masks.copy(), words)] += 1
        return counts / samples
