"""Exact values of very small two-seat games by the plainest means, over every order of the deck: an independent check.

Nothing here takes chance card by card: a ``Table`` is set up with each deck in turn, and decks are equally likely. So
settings must be such that the deck is never shuffled again in a deal (B8).
"""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations
from typing import Any

import numpy as np

from auction_env import Table
from auction_env.games.cards import deck_cards
from auction_env.games.game import make_settings

Policy = dict[Any, dict[int, float]]  # by seat and what it sees: probability of each action


class Node:
    """A decision, with what follows each action; or an end, with what seat 0 wins."""

    def __init__(self, table: Table, payoffs: list[int] | None) -> None:
        self.won = None if payoffs is None else float(payoffs[0])
        self.seat = table.to_act
        self.key = None if payoffs else (self.seat, table.observe(self.seat).tobytes())
        self.children: dict[int, Node] = {}
        for action in [] if payoffs else table.legal():
            after = table.clone()
            self.children[action] = Node(after, after.act(action))


def trees(game: Any, values: dict[str, Any], dealer: int) -> list[Node]:
    """One tree for each order of the deck."""
    settings = make_settings(game, values)
    found = []
    for deck in permutations(deck_cards(settings.num_ranks, settings.num_suits)):
        table = Table(game, values)
        table.reset(0, {"deck": list(deck), "dealer": dealer})
        found.append(Node(table, None))
    return found


def uniform(roots: list[Node]) -> Policy:
    """Every action equally likely."""
    found: Policy = {}

    def visit(node: Node) -> None:
        if node.won is None:
            found[node.key] = {action: 1 / len(node.children) for action in node.children}
            for child in node.children.values():
                visit(child)

    for root in roots:
        visit(root)
    return found


def value(roots: list[Node], policy: Policy) -> float:
    """What seat 0 wins a deal when both play a policy."""

    def of(node: Node) -> float:
        if node.won is not None:
            return node.won
        return sum(policy[node.key][action] * of(child) for action, child in node.children.items())

    return float(np.mean([of(root) for root in roots]))


def best_response_value(roots: list[Node], policy: Policy, seat: int) -> float:
    """What a seat wins a deal with the best answer to a policy."""
    sign = 1 if seat == 0 else -1
    together: dict[Any, list[tuple[Node, float]]] = defaultdict(list)  # nodes that the seat cannot tell apart
    chosen: dict[Any, int] = {}

    def gather(node: Node, reach: float) -> None:
        if node.won is None:
            if node.seat == seat:
                together[node.key].append((node, reach))
            for action, child in node.children.items():
                gather(child, reach if node.seat == seat else reach * policy[node.key][action])

    def of(node: Node) -> float:
        if node.won is not None:
            return sign * node.won
        if node.seat != seat:
            return sum(policy[node.key][action] * of(child) for action, child in node.children.items())
        if node.key not in chosen:
            worth = {
                action: sum(reach * of(same.children[action]) for same, reach in together[node.key])
                for action in node.children
            }
            chosen[node.key] = max(worth, key=lambda action: worth[action])
        return of(node.children[chosen[node.key]])

    for root in roots:
        gather(root, 1.0)
    return float(np.mean([of(root) for root in roots]))


def exploitability(roots: list[Node], policy: Policy) -> float:
    """Half the sum of what best responses win."""
    return (best_response_value(roots, policy, 0) + best_response_value(roots, policy, 1)) / 2


def cfr(roots: list[Node], iterations: int) -> Policy:
    """The average policy of counterfactual regret minimisation (Zinkevich et al. 2007), seats updated in turn."""
    policy = uniform(roots)
    regrets = {key: dict.fromkeys(actions, 0.0) for key, actions in policy.items()}
    sums = {key: dict.fromkeys(actions, 0.0) for key, actions in policy.items()}

    def visit(node: Node, seat: int, own: float, others: float) -> float:
        """What ``seat`` wins from here on; regrets and sums of its decisions go up."""
        if node.won is not None:
            return node.won if seat == 0 else -node.won
        now = policy[node.key]
        if node.seat != seat:
            return sum(
                now[action] * visit(child, seat, own, others * now[action]) for action, child in node.children.items()
            )
        worth = {action: visit(child, seat, own * now[action], others) for action, child in node.children.items()}
        expected = sum(now[action] * worth[action] for action in worth)
        for action, won in worth.items():
            regrets[node.key][action] += others * (won - expected)
            sums[node.key][action] += own * now[action]
        return expected

    for _ in range(iterations):
        for seat in (0, 1):
            for root in roots:
                visit(root, seat, 1.0, 1.0 / len(roots))
            for key, regret in regrets.items():
                if key[0] == seat:
                    positive = {action: max(amount, 0.0) for action, amount in regret.items()}
                    policy[key] = _shares(positive)
    return {key: _shares(actions) for key, actions in sums.items()}


def _shares(amounts: dict[int, float]) -> dict[int, float]:
    total = sum(amounts.values())
    return {action: amount / total if total else 1 / len(amounts) for action, amount in amounts.items()}
