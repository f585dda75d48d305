"""How agents behave: facts read from finished deals. A game's own are in the file of its name here; a game without one
has those that every game has.

A file defines ``facts(states, settings) -> list[Statistic]`` over rows of the game's STATE after the award. Nothing
here is for agents: it reads all cards.
"""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np

from auction_env.engine.agent import Player
from auction_env.evaluation.match import Decisions
from auction_env.evaluation.results import Z_95, Estimate
from auction_env.games.cards import mask_of
from auction_env.games.game import Game

CARD_BITS = np.array([mask_of([card]) for card in range(52)], np.uint64)  # each card as a card set
MOST_BARS = 12  # kinds of action of a phase that a chart shows apart


@dataclasses.dataclass(frozen=True)
class Statistic:
    """Observations of one quantity, each at a seat of a deal and under a label.

    Attributes:
        title: of its chart.
        note: what exactly is counted, in a sentence.
        labels: along the chart.
        deals: int[N]: the row each observation is from.
        seats: int[N]: whose it is.
        bins: int[N]: its label.
        values: float[N].
        share: whether values are 0 or 1, so that means are shares.
        ordered: whether the labels are an order, to be joined by lines.
        unit: of the values, unless they are shares.
    """

    title: str
    note: str
    labels: list[str]
    deals: np.ndarray
    seats: np.ndarray
    bins: np.ndarray
    values: np.ndarray
    share: bool = False
    ordered: bool = False
    unit: str = "chips"


@dataclasses.dataclass(frozen=True)
class Measured:
    """A fact by agent: estimates and counts, by agent and label; an Estimate of NaN where nothing was observed."""

    fact: Statistic
    agents: list[str]
    means: list[list[Estimate]]
    counts: np.ndarray


def choices(
    title: str,
    note: str,
    labels: Sequence[str],
    deals: np.ndarray,
    seats: np.ndarray,
    chosen: np.ndarray,
) -> Statistic:
    """Shares of choices: each observation is one choice among the labels, by number."""
    width = len(labels)
    return Statistic(
        title,
        note,
        list(labels),
        np.repeat(deals, width),
        np.repeat(seats, width),
        np.tile(np.arange(width), len(deals)),
        (np.asarray(chosen)[:, None] == np.arange(width)).ravel().astype(np.float64),
        share=True,
    )


def measure(fact: Statistic, agents: Sequence[str], seated: np.ndarray, decks: np.ndarray) -> Measured:
    """Means of a fact by agent and label, with 95 % intervals over decks.

    Args:
        fact: the fact.
        agents: names of the agents.
        seated: int[deals, seats]: the agent at each seat.
        decks: int[deals]: the deck of each deal: observations of one deck are not independent.
    """
    who = seated[fact.deals, fact.seats]
    means = [
        [
            _clustered(fact.values[chosen], decks[fact.deals[chosen]])
            for label in range(len(fact.labels))
            for chosen in [np.flatnonzero((who == agent) & (fact.bins == label))]
        ]
        for agent in range(len(agents))
    ]
    counts = np.zeros((len(agents), len(fact.labels)), np.int64)
    np.add.at(counts, (who, fact.bins), 1)
    return Measured(fact, list(agents), means, counts)


def _clustered(values: np.ndarray, decks: np.ndarray) -> Estimate:
    """A mean, and half its 95 % interval when observations of one deck go together (a ratio estimate over decks)."""
    if not len(values):
        return Estimate(float("nan"), float("inf"))
    _, deck = np.unique(decks, return_inverse=True)
    sums, counts = np.bincount(deck, values), np.bincount(deck)
    mean, clusters = values.mean(), len(counts)
    if clusters < 2:
        return Estimate(float(mean), float("inf"))
    spread = np.sqrt(clusters / (clusters - 1) * ((sums - mean * counts) ** 2).sum()) / len(values)
    return Estimate(float(mean), float(Z_95 * spread))


# --- every game -----------------------------------------------------------------------------------------------------


def statistics_of(game: Game, settings: Any, states: np.ndarray) -> list[Statistic]:
    """All facts of a game's finished deals: those of every game, then its own."""
    found = [_chips_by_place(states, settings)]
    name = f"{__name__}.{game.NAME}"
    if importlib.util.find_spec(name) is not None:
        found += importlib.import_module(name).facts(states, settings)
    return found


def every_seat(states: np.ndarray, settings: Any) -> tuple[np.ndarray, np.ndarray]:
    """Row and seat of each seat that was dealt in, int[N] each."""
    deals, seats = np.nonzero(states["dealt_in"][:, : settings.num_players])
    return deals, seats


def _chips_by_place(states: np.ndarray, settings: Any) -> Statistic:
    n = settings.num_players
    deals, seats = every_seat(states, settings)
    place = (seats - states["dealer"][deals] - 1) % n
    labels = [f"{number + 1}" for number in range(n - 1)] + ["dealer"]
    net = states["award"][deals, seats].astype(np.float64) - states["paid"][deals, seats]
    return Statistic(
        "Chips by place from the dealer",
        "Chips won or lost in a deal, by how many seats clockwise from the dealer an agent sits.",
        labels,
        deals,
        seats,
        place,
        net,
    )


@dataclasses.dataclass(frozen=True)
class Choices:
    """How often each action of a phase was chosen: int64[agents, labels]."""

    title: str
    labels: list[str]
    counts: np.ndarray


def choices_of(game: Game, settings: Any, counts: np.ndarray) -> list[Choices]:
    """Actions by phase, from int64[agents, phases, actions]; phases of one action, or with very many, are left out."""
    names, found = game.action_names(settings), []
    for phase, title in enumerate(game.PHASES):
        used = np.flatnonzero(counts[:, phase].sum(axis=0))
        if 1 < len(used) <= MOST_BARS:
            found.append(Choices(f"Choices: {title}", [names[action] for action in used], counts[:, phase][:, used]))
    return found


class StatisticsRecorder:
    """Watches a part of a match and keeps what the facts are read from (``auction_env.evaluation.runner.Recorder``)."""

    def __init__(self, game: Game, settings: Any, players: Sequence[Player], tables: int) -> None:
        self.counts = np.zeros((len(players), len(game.PHASES), len(game.action_names(settings))), np.int64)
        self.finals: list[np.ndarray] = []
        self.seated: list[np.ndarray] = []
        self.decks: list[np.ndarray] = []

    def decided(self, decisions: Decisions) -> None:
        """See MatchCallback."""
        np.add.at(self.counts, (decisions.groups, decisions.states["phase"], decisions.actions), 1)

    def ended(self, finals: np.ndarray, groups: np.ndarray, decks: np.ndarray) -> None:
        """See MatchCallback."""
        self.finals.append(np.ascontiguousarray(finals).view(np.uint8).reshape(len(finals), -1))
        self.seated.append(groups.astype(np.int8))
        self.decks.append(decks)

    def arrays(self) -> dict[str, np.ndarray]:
        """Counts int64[1, agents, phases, actions]; of each deal its last STATE as bytes, who sat where, its deck."""
        return {
            "counts": self.counts[None],
            "finals": np.concatenate(self.finals),
            "seated": np.concatenate(self.seated),
            "decks": np.concatenate(self.decks).astype(np.int64),
        }
