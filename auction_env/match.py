"""Matches between agents: the same decks through all seat rotations, chips with intervals, one digest."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from auction_env.batch import Batch
from auction_env.games.contract import Game
from auction_env.loops import decision_size
from auction_env.players import Player, ask

Z_95 = 1.959963984540054  # normal quantile of a two-sided 95 % interval


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A mean in chips with the half width of its 95 % interval (normal approximation, over decks)."""

    mean: float
    half_width: float

    @property
    def above_zero(self) -> bool:
        """Whether the interval lies above zero."""
        return self.mean - self.half_width > 0

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ± {self.half_width:.3f}"


@dataclasses.dataclass(frozen=True)
class MatchResult:
    """Outcome of a match.

    Attributes:
        names: of the agents, by place; place p sits at seat (p + r) mod n in rotation r.
        net: int64[decks, rotations, places]: chips won or lost (A14), summed over a match if it has several deals.
        settings: of the game, as plain values.
    """

    game: str
    settings: dict[str, Any]
    seed: int
    names: list[str]
    net: np.ndarray

    @property
    def deals(self) -> int:
        """Tables played: decks times rotations."""
        return self.net.shape[0] * self.net.shape[1]

    def agent(self, place: int) -> Estimate:
        """Chips per deal of an agent over all seats; rotations of a deck are averaged first, as they share its luck."""
        return estimate(self.net[:, :, place].mean(axis=1))

    def seat(self, place: int, seat: int) -> Estimate:
        """Chips per deal of an agent at one seat."""
        return estimate(self.net[:, (seat - place) % len(self.names), place])

    @property
    def digest(self) -> str:
        """Hex digest of the settings, seed, agents and every result: equal for equal runs."""
        head = json.dumps([self.game, self.settings, self.seed, self.names], sort_keys=True)
        return hashlib.sha256(head.encode() + self.net.astype("<i8").tobytes()).hexdigest()[:16]

    def summary(self) -> dict[str, Any]:
        """All numbers as plain data."""
        places = range(len(self.names))
        return {
            "game": self.game,
            "settings": self.settings,
            "seed": self.seed,
            "deals": self.deals,
            "decks": self.net.shape[0],
            "illegal_actions": 0,  # a match with one has no result
            "agents": [
                {
                    "name": self.names[place],
                    "chips_per_deal": dataclasses.asdict(self.agent(place)),
                    "by_seat": [dataclasses.asdict(self.seat(place, seat)) for seat in places],
                }
                for place in places
            ],
            "digest": self.digest,
        }

    def text(self) -> str:
        """A table to print."""
        places = range(len(self.names))
        width = max(5, *(len(name) for name in self.names))
        head = f"{'agent':{width}}  {'chips per deal':>16}  " + "  ".join(f"{f'at seat {seat}':>16}" for seat in places)
        rows = [
            f"{self.names[place]:{width}}  {self.agent(place)!s:>16}  "
            + "  ".join(f"{self.seat(place, seat)!s:>16}" for seat in places)
            for place in places
        ]
        shown = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        return "\n".join(
            [
                f"{self.deals} deals: {self.net.shape[0]} decks, each through {self.net.shape[1]} seat rotations; "
                "± is half a 95 % interval, over decks",
                head,
                *rows,
                "illegal actions: 0",
                f"{self.game}: {shown}",
                f"seed {self.seed}, digest {self.digest}",
            ]
        )


def estimate(values: np.ndarray) -> Estimate:
    """Mean and half width of a 95 % interval of independent values."""
    values = np.asarray(values, np.float64)
    spread = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.inf
    return Estimate(float(values.mean()), float(Z_95 * spread))


def play_match(
    game: Game,
    settings: Any,
    agents: Sequence[Player],
    deals: int,
    seed: int = 0,
    *,
    tables: int = 4096,
    progress: Callable[[int], None] | None = None,
) -> MatchResult:
    """Play decks through all seat rotations: ``deals`` tables in all, rounded up to whole rotations.

    Args:
        game: the game.
        settings: its Settings; one agent for each of its seats.
        agents: the players; the same object may sit twice.
        deals: number of deals (of matches, if the settings have several deals in one).
        seed: of the decks.
        tables: played at once; does not change what an agent without chance of its own does.
        progress: called with the number of deals finished so far.

    Raises:
        ValueError: the number of agents is not the number of seats, or ``deals`` is not positive.
        PlayerError: an agent failed or acted illegally; it is named, and there is no result.
    """
    seats = settings.num_players
    if len(agents) != seats:
        raise ValueError(f"{len(agents)} agents for {seats} seats: name one for each, or set num_players={len(agents)}")
    if deals < 1:
        raise ValueError(f"deals is {deals}: it must be at least 1")
    decks = -(-deals // seats)
    words = np.random.SeedSequence(seed).generate_state(decks, np.uint64)
    chunk = max(1, min(decks, tables // seats))
    parts = []
    for start in range(0, decks, chunk):
        parts.append(_play_decks(game, settings, agents, words[start : start + chunk]))
        if progress:
            progress(min(decks, start + chunk) * seats)
    plain = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    return MatchResult(game.NAME, plain, seed, [agent.name for agent in agents], np.concatenate(parts))


def _play_decks(game: Game, settings: Any, agents: Sequence[Player], words: np.ndarray) -> np.ndarray:
    """Results int64[decks, rotations, places] of some decks; table d * n + r plays deck d in rotation r."""
    n = settings.num_players
    batch = Batch(game, settings, len(words) * n, size=decision_size(game, settings), threads=1)
    out = batch.reset(np.repeat(words, n))
    rotation = batch.all_rows % n
    net = np.zeros((batch.num_tables, n), np.int64)
    actions = np.zeros(batch.num_tables, np.int64)
    rows = batch.all_rows
    rng = np.random.default_rng(words)
    while len(rows):
        place = (out.seats[rows] - rotation[rows]) % n
        for index in np.unique(place):
            chosen = rows[place == index]
            actions[chosen] = ask(
                agents[index],
                game,
                batch.states[chosen],
                out.seats[chosen],
                out.observations[chosen],
                out.masks[chosen],
                rng,
            )
        batch.step(actions[rows], rows)
        over = rows[out.deal_over[rows]]
        net[over] += out.net[over].astype(np.int64)
        rows = rows[~(out.deal_over[rows] & out.match_over[rows])]
    by_place = (np.arange(n) + rotation[:, None]) % n
    return np.take_along_axis(net, by_place, axis=1).reshape(len(words), n, n)
