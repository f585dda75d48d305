"""A page about a policy in Markdown: what it does, hand by hand, where play most often comes."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

import numpy as np

from auction_env.games.game import TableView
from auction_env.solve.action_values import reach_of
from auction_env.solve.enumeration import enumerate_tree
from auction_env.solve.symmetry import RANKS
from auction_env.solve.values import Evaluation, Layout

MOST_SHOWN = 20_000  # information states of a seat that are looked at: the likeliest
_CARD = re.compile(r"(?<!\w)([2-9TJQKA])[cdhs](?!\w)")
_LEAST = 0.0005  # probability of an action that is told
_RAREST = 1e-6  # of what comes in a deal


def page(layout: Layout, policy: np.ndarray, found: Evaluation, summary: str, rows: int = 40) -> str:
    """The page.

    Args:
        layout: of the tree.
        policy: as ``values`` has them.
        found: what it is worth.
        summary: lines for the top.
        rows: of a table: the likeliest.
    """
    tree, reach = layout.tree, reach_of(layout, policy)
    plain = tree.symmetry == RANKS
    shown = [np.sort(np.argsort(-likely)[:MOST_SHOWN]) for likely in reach]
    tables: list[dict[str, _Table]] = [{} for _ in tree.forests]

    def visit(seat: int, numbers: np.ndarray, states: np.ndarray) -> None:
        at = np.searchsorted(shown[seat], numbers)
        mine = (at < len(shown[seat])) & (shown[seat][np.minimum(at, len(shown[seat]) - 1)] == numbers)
        for row in np.flatnonzero(mine & (reach[seat][numbers] > 0)):
            number = int(numbers[row])
            first, last = tree.forests[seat].starts[number : number + 2]
            view = tree.game.view(states[row], seat)
            table = tables[seat].setdefault(view.phase, _Table(len(tree.game.action_names(tree.settings))))
            table.add(
                _cells(view, seat, plain),
                float(reach[seat][number]),
                tree.forests[seat].actions[first:last],
                policy[seat, first:last],
            )

    enumerate_tree(tree.game, tree.settings, fold=tree.folded, visit=visit)
    names = [_told(name, plain) for name in tree.game.action_names(tree.settings)]
    lines = [f"# {tree.game.TITLE}, solved", "", *(f"- {line}" for line in summary.splitlines()), ""]
    settings = ", ".join(f"{name} {value}" for name, value in vars(tree.settings).items())
    lines += [f"Settings: {settings}.", ""]
    lines += [
        "Seats are counted from the dealer's left. *In 1,000 deals*: how often play by this policy comes there; what",
        "comes less than once in a million is left out. Where a row stands for several histories its numbers are their",
        "mean, weighted by that.",
        "",
    ]
    for seat, phases in enumerate(tables):
        for phase, table in phases.items():
            if not any(weight >= _RAREST for weight in table.weights.values()):
                continue
            lines += [f"## player_{seat}, {phase}", "", *table.lines(names, rows), ""]
    return "\n".join(lines)


class _Table:
    """What one seat does in one phase: rows by what it sees, each with its weight and mean probabilities."""

    def __init__(self, num_actions: int) -> None:
        self.weights: defaultdict[tuple[str, ...], float] = defaultdict(float)
        self.chances: defaultdict[tuple[str, ...], Any] = defaultdict(lambda: np.zeros(num_actions))

    def add(self, cells: tuple[str, ...], weight: float, actions: np.ndarray, chances: np.ndarray) -> None:
        self.weights[cells] += weight
        self.chances[cells][actions] += weight * chances

    def lines(self, names: list[str], rows: int) -> list[str]:
        likeliest = sorted(
            (cells for cells in self.weights if self.weights[cells] >= _RAREST), key=lambda cells: -self.weights[cells]
        )
        lines = ["| own cards | on the table | so far | in 1,000 deals | plays |", "| --- | --- | --- | --- | --- |"]
        for cells in likeliest[:rows]:
            weight = self.weights[cells]
            shares = self.chances[cells] / weight
            plays = ", ".join(
                f"{names[action]} {shares[action]:.1%}" for action in np.argsort(-shares) if shares[action] > _LEAST
            )
            lines.append(f"| {' | '.join(cells)} | {1000 * weight:,.3f} | {plays} |")
        if len(likeliest) > rows:
            part = sum(self.weights[cells] for cells in likeliest[:rows]) / sum(self.weights.values())
            lines += ["", f"{rows} of {len(likeliest)} rows: {part:.0%} of what happens here."]
        return lines


def _cells(view: TableView, seat: int, plain: bool) -> tuple[str, str, str]:
    """What the seat sees: own cards, cards on the table, and what each seat has bought and done."""
    own = view.seats[seat]
    past = []
    for other in view.seats:
        done = [f"has {' '.join(other.bought)}"] if other.bought else []
        if done or other.notes:
            past.append(f"player_{other.seat} {', '.join([*done, *other.notes])}")
    return (
        _told(" ".join(own.cards), plain),
        _told(" ".join(view.centre), plain),
        _told("; ".join(past), plain),
    )


def _told(text: str, plain: bool) -> str:
    """A text, its cards as ranks where suits decide nothing."""
    return _CARD.sub(r"\1", text) if plain else text
