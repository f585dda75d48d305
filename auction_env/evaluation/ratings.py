"""Round robins: a population at tables of n seats, chips with intervals, and summaries of the table in one number.

The chips are the truth. A rating (Plackett-Luce, by openskill) sees who finished before whom at each table, not by how
many chips; alpha-rank (Omidshafiei et al. 2019, where OpenSpiel is installed) sees the mean differences of pairs. They
summarise, each in its own way, and prove nothing that the intervals do not.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np

from auction_env.evaluation.match import plain_settings
from auction_env.evaluation.results import Estimate, columns, digest_of, estimate, plain
from auction_env.evaluation.runner import Make, MatchConfig, Workers, play
from auction_env.games.game import Game

MAX_LINEUPS = 60


@dataclasses.dataclass(frozen=True)
class RoundRobin:
    """Results of a population.

    Attributes:
        names: of the agents.
        settings: of the game, as plain values.
        lineups: int[lineups, seats]: the agents at the tables of each.
        possible: how many line-ups there are.
        chips: float64[decks, agents]: chips per deal of each agent on each deck, all its tables together.
        pairs: float64[decks, agents, agents]: mean difference of two agents on each deck, at tables that both sit at.
        finishes: int64[lineups, decks, seatings, seats]: results at each table, by place of the line-up.
    """

    game: str
    settings: dict[str, Any]
    seed: int
    names: list[str]
    lineups: np.ndarray
    possible: int
    chips: np.ndarray
    pairs: np.ndarray
    finishes: list[np.ndarray]

    @property
    def deals(self) -> int:
        """Tables played."""
        return sum(net.shape[0] * net.shape[1] for net in self.finishes)

    @property
    def decks(self) -> int:
        """Decks: each is played by every line-up."""
        return len(self.chips)

    def agent(self, index: int) -> Estimate:
        """Chips per deal of an agent over all its tables; interval over decks."""
        return estimate(self.chips[:, index])

    def pair(self, index: int, other: int) -> Estimate:
        """Mean difference in chips per deal at the tables where both sit; interval over decks."""
        return estimate(self.pairs[:, index, other])

    @property
    def differences(self) -> np.ndarray:
        """Mean differences of all pairs, float64[agents, agents], antisymmetric."""
        return self.pairs.mean(axis=0)

    @property
    def digest(self) -> str:
        """Hex digest of settings, seed, agents and every result."""
        nets = [digest_of(net.tolist()) for net in self.finishes]
        return digest_of([self.game, self.settings, self.seed, self.names, self.lineups.tolist(), nets])

    def summary(self, ratings: Sequence[Rating]) -> dict[str, Any]:
        """All numbers as plain data."""
        mass = alpha_rank(self.differences)[0]
        return {
            "game": self.game,
            "settings": self.settings,
            "seed": self.seed,
            "deals": self.deals,
            "decks": self.decks,
            "lineups": self.lineups.tolist(),
            "lineups_possible": self.possible,
            "agents": [
                {
                    "name": name,
                    "chips_per_deal": plain(self.agent(index)),
                    "rating": dataclasses.asdict(ratings[index]),
                    "alpha_rank": None if mass is None else float(mass[index]),
                }
                for index, name in enumerate(self.names)
            ],
            "pairs": [
                {"agents": [self.names[a], self.names[b]], "difference": plain(self.pair(a, b))}
                for a, b in combinations(range(len(self.names)), 2)
            ],
            "digest": self.digest,
        }

    def text(self, ratings: Sequence[Rating]) -> str:
        """Tables to print, best agent first."""
        order = sorted(range(len(self.names)), key=lambda index: -self.agent(index).mean)
        mass, note = alpha_rank(self.differences)
        heads = ["agent", "chips per deal", "rating", *(["alpha-rank"] if mass is not None else [])]
        rows = [
            [
                self.names[index],
                str(self.agent(index)),
                f"{ratings[index].mu:.2f} ± {2 * ratings[index].sigma:.2f}",
                *([f"{mass[index]:.3f}"] if mass is not None else []),
            ]
            for index in order
        ]
        pair_heads = ["row less column", *(self.names[index] for index in order)]
        pair_rows = [[self.names[a], *("" if a == b else str(self.pair(a, b)) for b in order)] for a in order]
        settings = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        drawn = "" if len(self.lineups) == self.possible else f" (drawn from {self.possible})"
        return "\n".join(
            [
                f"{self.deals} deals: {len(self.lineups)} line-ups{drawn} of {self.lineups.shape[1]} seats, each on "
                f"the same {self.decks} decks; ± of chips is half a 95 % interval, over decks",
                columns(heads, rows),
                "",
                "mean difference in chips per deal, at the tables where both sit:",
                columns(pair_heads, pair_rows),
                "",
                "The chips are the truth; the rest summarise them. rating: Plackett-Luce by openskill, from the order "
                "of finish at each table, mu ± 2 sigma of its own model.",
                note,
                "illegal actions: 0, errors: 0, timeouts: 0",
                f"{self.game}: {settings}",
                f"seed {self.seed}, digest {self.digest}",
            ]
        )


def choose_lineups(agents: int, seats: int, seed: int, limit: int = MAX_LINEUPS) -> tuple[list[tuple[int, ...]], int]:
    """Line-ups of a population, and how many there are.

    All sets of different agents; if there are fewer agents than seats, all line-ups with at least two different ones in
    which agents sit several times. More than ``limit``: so many are drawn that every agent is in equally many, or one
    more.

    Raises:
        ValueError: fewer than two agents.
    """
    if agents < 2:
        raise ValueError(f"a round robin needs at least two agents, not {agents}")
    if agents < seats:
        every = [line for line in combinations_with_replacement(range(agents), seats) if len(set(line)) > 1]
        return every, len(every)
    possible = math.comb(agents, seats)
    if possible <= limit:
        return list(combinations(range(agents), seats)), possible
    rng = np.random.default_rng([seed, 0x4B0B])
    chosen: list[tuple[int, ...]] = []
    count = np.zeros(agents, np.int64)
    while len(chosen) < limit:
        line = np.lexsort((rng.random(agents), count))[:seats]  # who sat least, ties at random
        count[line] += 1
        chosen.append(tuple(sorted(line.tolist())))
    return chosen, possible


def round_robin(
    game: Game,
    settings: Any,
    agents: Sequence[str],
    deals: int,
    make: Make,
    seed: int = 0,
    *,
    contents: Sequence[str] = (),
    workers: Workers = 1,
    state: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    **plan: Any,
) -> RoundRobin:
    """Play a population against itself: every line-up on the same decks, each through its seatings.

    Args:
        game: the game.
        settings: its Settings; its seats may be more or fewer than the agents.
        agents: the population, as texts, all different.
        deals: tables to play, about; at least two decks are.
        make: makes an agent of a text.
        seed: of everything.
        contents: digests of the files behind the agents.
        workers: as ``tournament.play``.
        state: as ``tournament.play``: a folder for each line-up in it.
        progress: as ``tournament.play``.
        plan: other arguments of ``MatchConfig``.

    Raises:
        ValueError: agents are named twice, are too few, or as ``tournament.play``.
        PlayerError: an agent failed; it is named.
    """
    if len(set(agents)) < len(agents):
        raise ValueError("an agent is named twice: a round robin seats each against all others")
    if deals < 1:
        raise ValueError(f"deals is {deals}: it must be at least 1")
    lineups, possible = choose_lineups(len(agents), settings.num_players, seed)
    known = tuple(contents) or ("",) * len(agents)

    def plan_of(line: tuple[int, ...], tables: int) -> MatchConfig:
        names = tuple(agents[index] for index in line)
        found = tuple(known[index] for index in line)
        return MatchConfig(game, settings, names, tables, make, seed, contents=found, **plan)

    seatings = [plan_of(line, 1).schedule.seatings for line in lineups]
    decks = max(2, -(-deals // sum(seatings)))
    total, before, results = decks * sum(seatings), 0, []
    for number, (line, count) in enumerate(zip(lineups, seatings, strict=True)):
        folder = state / f"lineup_{number:03d}" if state else None
        told = None if progress is None else _shifted(progress, before, total)
        results.append(play(plan_of(line, decks * count), workers=workers, state=folder, progress=told).result)
        before += decks * count
    chips, pairs = _by_deck(len(agents), lineups, [result.payoffs for result in results])
    plain_values = plain_settings(settings)
    nets = [result.payoffs for result in results]
    return RoundRobin(game.NAME, plain_values, seed, list(agents), np.array(lineups), possible, chips, pairs, nets)


def _shifted(progress: Callable[[int, int], None], before: int, total: int) -> Callable[[int, int], None]:
    return lambda done, _: progress(before + done, total)


def _by_deck(agents: int, lineups: Sequence[tuple[int, ...]], nets: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Chips of agents, and differences of pairs, by deck. A table at which an agent has two places is one table."""
    decks = len(nets[0])
    chips, tables = np.zeros((decks, agents)), np.zeros(agents)
    pairs, shared = np.zeros((decks, agents, agents)), np.zeros((agents, agents))
    for line, net in zip(lineups, nets, strict=True):
        present = sorted(set(line))
        own = {a: net[:, :, np.array(line) == a].mean(axis=2).sum(axis=1) for a in present}
        for a in present:
            chips[:, a] += own[a]
            tables[a] += net.shape[1]
            for b in present:
                pairs[:, a, b] += own[a] - own[b]
                shared[a, b] += net.shape[1]
    with np.errstate(invalid="ignore"):  # two agents that never met: no number
        return chips / tables, pairs / shared


# --- ratings --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Rating:
    """A skill on openskill's scale (it starts at 25), and its standard deviation by the rating's own model."""

    mu: float
    sigma: float


def rate(found: RoundRobin) -> list[Rating]:
    """Plackett-Luce ratings from the order of finish at each table; equal chips are ties.

    Tables are taken deck by deck, the line-ups of a deck in turn, for a rating depends somewhat on the order. An agent
    with several places at a table enters once, with the mean of its chips.

    Raises:
        ValueError: openskill is not installed.
    """
    try:
        from openskill.models import PlackettLuce
    except ImportError as error:
        raise ValueError("ratings need openskill: pip install 'auction_env[evaluate]'") from error
    model = PlackettLuce()
    ratings = [model.rating() for _ in found.names]
    for deck in range(found.decks):
        for line, net in zip(found.lineups.tolist(), found.finishes, strict=True):
            present = sorted(set(line))
            chips = np.stack([net[deck][:, np.array(line) == agent].mean(axis=1) for agent in present], axis=1)
            for table in chips.tolist():
                new = model.rate([[ratings[agent]] for agent in present], scores=table)
                for agent, (rating,) in zip(present, new, strict=True):
                    ratings[agent] = rating
    return [Rating(float(rating.mu), float(rating.sigma)) for rating in ratings]


def alpha_rank(differences: np.ndarray) -> tuple[np.ndarray | None, str]:
    """Alpha-rank (infinite alpha, one population) of the mean differences of pairs, by OpenSpiel.

    Args:
        differences: float[agents, agents], antisymmetric, in chips per deal.

    Returns:
        mass of each agent, float[agents], or None where OpenSpiel is not installed; and a line to print about it.
    """
    if not np.isfinite(differences).all():
        return None, "no alpha-rank: some agents never met."
    try:
        from open_spiel.python.egt import alpharank
    except ImportError as error:
        return None, f"no alpha-rank: it needs OpenSpiel and scipy ({error})."
    mass = alpharank.compute([differences], use_inf_alpha=True, inf_alpha_eps=1e-4)[2]
    note = "alpha-rank: infinite alpha, one population, of the mean differences of pairs as if exact; by OpenSpiel."
    return np.asarray(mass, np.float64), note
