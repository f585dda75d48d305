"""What a match found: chips with intervals over decks, by agent, seat and pair; and which results may be compared."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from auction_env.core.limits import naming, read_json, shorten

Z_95 = 1.959963984540054  # normal quantile of a two-sided 95 % interval
RESULT_FORMAT = "auction_env.result/1"


class ResultError(ValueError):
    """A stored result cannot be read, or two results may not be compared; the message says why."""


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A mean in chips with the half width of its 95 % interval (normal approximation, over decks).

    One deck says nothing of its spread: the half width is infinite then, null in JSON, and ``± unknown`` in texts.
    """

    mean: float
    half_width: float

    @property
    def above_zero(self) -> bool:
        """Whether the interval lies above zero."""
        return self.mean - self.half_width > 0

    @property
    def below_zero(self) -> bool:
        """Whether the interval lies below zero."""
        return self.mean + self.half_width < 0

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ± {f'{self.half_width:.3f}' if np.isfinite(self.half_width) else 'unknown'}"


def estimate(values: Any) -> Estimate:
    """Mean and half width of a 95 % interval of independent values."""
    values = np.asarray(values, np.float64)
    spread = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.inf
    return Estimate(float(values.mean()), float(Z_95 * spread))


@dataclasses.dataclass(frozen=True)
class MatchResult:
    """Outcome of a match.

    A *place* is an entry of the line-up; places of one agent are told apart only here, never in a number shown.

    Attributes:
        game: its name.
        version: its VERSION.
        settings: of the game, as plain values.
        seed: of the decks and of the agents' chance.
        names: of the agents, by place.
        payoffs: int64[decks, seatings, places]: chips won or lost (A14), summed over a match if it has several deals.
        seats: int8[decks or 1, seatings, places]: the seat of each place; one line for all decks if they share it.
        groups: which agent plays each place: agents are numbered in the order of their first places.
        possible: how many distinct seatings there are; more than are played: they were drawn at random.
        contents: digests of the files behind the agents, by place; empty where there are none.
        part: decks played together, between fresh starts of the agents' chance.
    """

    game: str
    version: int
    settings: dict[str, Any]
    seed: int
    names: list[str]
    payoffs: np.ndarray
    seats: np.ndarray
    groups: tuple[int, ...]
    possible: int
    contents: tuple[str, ...] = ()
    part: int = 0

    @property
    def decks(self) -> int:
        """Decks played."""
        return self.payoffs.shape[0]

    @property
    def deals(self) -> int:
        """Tables played: decks times seatings."""
        return self.payoffs.shape[0] * self.payoffs.shape[1]

    @property
    def agent_places(self) -> list[int]:
        """The first place of each distinct agent."""
        return [self.groups.index(group) for group in range(max(self.groups) + 1)]

    def _places(self, place: int) -> list[int]:
        return [other for other, group in enumerate(self.groups) if group == self.groups[place]]

    def by_table(self, place: int) -> np.ndarray:
        """Chips of an agent at each table, float64[decks, seatings]; the mean over its places if it has several."""
        return self.payoffs[:, :, self._places(place)].mean(axis=2)

    def by_deck(self, place: int) -> np.ndarray:
        """Chips per deal of an agent on each deck, float64[decks]: tables of a deck share its luck."""
        return self.by_table(place).mean(axis=1)

    def agent(self, place: int) -> Estimate:
        """Chips per deal of an agent over all its places and seats; the tables of a deck are averaged first."""
        return estimate(self.by_deck(place))

    def seat(self, place: int, seat: int) -> Estimate:
        """Chips per deal of an agent at one seat."""
        own = self._places(place)
        here = np.broadcast_to(self.seats[:, :, own] == seat, self.payoffs[:, :, own].shape)
        count = here.sum(axis=(1, 2))
        chips = np.where(here, self.payoffs[:, :, own], 0).sum(axis=(1, 2))
        return estimate(chips[count > 0] / count[count > 0]) if count.any() else Estimate(np.nan, np.inf)

    def pair(self, place: int, other: int) -> Estimate:
        """Head to head: mean difference in chips per deal between two agents at the same tables."""
        return estimate(self.by_deck(place) - self.by_deck(other))

    def variance_reduction(self, place: int) -> float:
        """Variance of the mean over as many independent deals, over that of this mean.

        Infinite where decks do not differ; NaN where nothing varies, or one deck alone was played.

        Measured on the same tables: an independent deal varies as a table of this match does, whatever its deck.
        """
        single, deck = self.by_table(place).var(), self.by_deck(place)
        if len(deck) < 2 or not single > 0:
            return float("nan")
        spread = deck.var(ddof=1)
        return float(single / (self.payoffs.shape[1] * spread)) if spread > 0 else float("inf")

    @property
    def sampled(self) -> bool:
        """Whether the seatings of each deck were drawn at random, for there are more than were played."""
        return self.payoffs.shape[1] < self.possible

    @property
    def task(self) -> dict[str, Any]:
        """Everything but the first agent and its results: results of equal tasks may be compared."""
        return {
            "game": self.game,
            "version": self.version,
            "settings": self.settings,
            "seed": self.seed,
            "deals": self.deals,
            "seatings": self.payoffs.shape[1],
            "part": self.part,
            "opponents": [[name, content] for name, content in list(zip(self.names, self._contents, strict=True))[1:]],
        }

    @property
    def _contents(self) -> tuple[str, ...]:
        return self.contents or ("",) * len(self.names)

    @property
    def digest(self) -> str:
        """Hex digest of the settings, seed, agents and every result: equal for equal runs."""
        head = [self.game, self.version, self.settings, self.seed, self.names, self.groups, self.contents]
        whole = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
        whole.update(self.seats.astype("i1").tobytes())
        whole.update(self.payoffs.astype("<i8").tobytes())
        return whole.hexdigest()[:16]

    def summary(self) -> dict[str, Any]:
        """All numbers as plain data."""
        return {
            "format": RESULT_FORMAT,
            "task": self.task,
            "task_digest": digest_of(self.task),
            "game": self.game,
            "settings": self.settings,
            "seed": self.seed,
            "deals": self.deals,
            "decks": self.decks,
            "seatings": self.payoffs.shape[1],
            "seatings_possible": self.possible,
            "illegal_actions": 0,  # a match with one has no result; nor with an error, or a player too slow
            "agents": [self._agent_summary(place) for place in self.agent_places],
            "pairs": [
                {"agents": [self.names[a], self.names[b]], "difference": plain(self.pair(a, b))}
                for a in self.agent_places
                for b in self.agent_places
                if a < b
            ],
            "by_deck": self.payoffs[:, :, self._places(0)].sum(axis=(1, 2)).tolist(),  # of the first agent, whole chips
            "digest": self.digest,
        }

    def _agent_summary(self, place: int) -> dict[str, Any]:
        factor = self.variance_reduction(place)
        return {
            "name": self.names[place],
            "places": len(self._places(place)),
            "chips_per_deal": plain(self.agent(place)),
            "by_seat": [plain(self.seat(place, seat)) for seat in range(len(self.names))],
            "variance_reduction": factor if np.isfinite(factor) else None,
        }

    def text(self) -> str:
        """Tables to print."""
        rows = [
            [
                self.names[place],
                str(self.agent(place)),
                _factor(self.variance_reduction(place)),
                *(str(self.seat(place, seat)) for seat in range(len(self.names))),
            ]
            for place in self.agent_places
        ]
        heads = ["agent", "chips per deal", "less variance", *(f"at seat {seat}" for seat in range(len(self.names)))]
        shown = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        return "\n".join(
            [
                f"{self.deals} deals: {self.decks} decks, each {seating_words(self.payoffs.shape[1], self.possible)}; "
                "± is half a 95 % interval, over decks",
                columns(heads, rows),
                *self._pair_lines(),
                "less variance: how many times as many independent deals would give the same interval",
                "illegal actions: 0, errors: 0, timeouts: 0",
                f"{self.game}-v{self.version}: {shown}",
                f"seed {self.seed}, digest {self.digest}, task {digest_of(self.task)}",
            ]
        )

    def _pair_lines(self) -> list[str]:
        places = self.agent_places
        pairs = [(a, b) for a in places for b in places if a < b]
        if not pairs:
            return []
        rows = [[f"{self.names[a]} less {self.names[b]}", str(self.pair(a, b))] for a, b in pairs]
        return [columns(["head to head", "chips per deal"], rows)]


def seating_words(played: int, possible: int) -> str:
    """How the decks were seated, in words."""
    if played == 1 and possible > 1:
        return f"in one seating, drawn at random (of {possible}): independent deals"
    if played < possible:
        return f"in {played} seatings: random orders of the agents, each through all rotations (of {possible} seatings)"
    return f"in all {possible} distinct seatings" if possible > 1 else "in the only distinct seating"


def plain(found: Estimate) -> dict[str, float | None]:
    """An estimate as JSON has it: null for what is not a number."""
    return {key: value if np.isfinite(value) else None for key, value in dataclasses.asdict(found).items()}


def _factor(factor: float) -> str:
    return f"x {factor:.2f}" if np.isfinite(factor) else ("exact" if factor == np.inf else "-")


def columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table to print: the first column to the left, the others to the right."""
    widths = [max(map(len, cells)) for cells in zip(heads, *rows, strict=True)]
    lines = []
    for cells in (heads, *rows):
        rest = [f"{cell:>{width}}" for cell, width in zip(cells[1:], widths[1:], strict=True)]
        lines.append("  ".join([f"{cells[0]:{widths[0]}}", *rest]))
    return "\n".join(lines)


def digest_of(content: Any) -> str:
    """Hex digest (16 characters) of plain data, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


# --- comparing stored results ---------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The first agents of two results of one task, deck by deck."""

    names: tuple[str, str]
    means: tuple[float, float]
    difference: Estimate

    def text(self) -> str:
        """One verdict; "better" only where the interval of the difference excludes zero."""
        first, second = self.names
        known = np.isfinite(self.difference.half_width)
        verdict = f"no difference shown: {'the interval holds zero' if known else 'one deck alone has no interval'}"
        if self.difference.above_zero:
            verdict = f"{first} is better"
        if self.difference.below_zero:
            verdict = f"{second} is better"
        return (
            f"{first}: {self.means[0]:+.3f} chips per deal; {second}: {self.means[1]:+.3f}\n"
            f"difference, over the same decks: {self.difference}: {verdict}"
        )


def load_result(path: str | Path) -> dict[str, Any]:
    """A result that ``MatchResult.summary`` gave, from its JSON file.

    Raises:
        ResultError: the file cannot be read, or holds something else or several results.
    """
    found = load_results(path)
    if len(found) != 1:
        raise ResultError(f"{path} holds {len(found)} results: one is wanted here")
    return found[0]


def load_results(path: str | Path) -> list[dict[str, Any]]:
    """The results in a JSON file: one as ``MatchResult.summary`` gives it, or a list of them.

    Raises:
        ResultError: the file cannot be read, or holds something else.
    """
    with naming(ResultError, f"result {path}", "is not JSON"):
        content = read_json(path)
    return [_checked(entry, path) for entry in (content if isinstance(content, list) and content else [content])]


def _checked(found: Any, path: str | Path) -> dict[str, Any]:
    wanted = ("task", "task_digest", "by_deck", "agents", "seatings", "decks")
    if not isinstance(found, dict) or found.get("format") != RESULT_FORMAT or any(key not in found for key in wanted):
        raise ResultError(f"{path} is no result of this version (format {RESULT_FORMAT}): play it again with --json")
    if digest_of(found["task"]) != found["task_digest"]:
        raise ResultError(f"{path} was changed: its task does not have the digest that it states")
    if wrong := _wrong_entry(found):
        raise ResultError(f"{path} is damaged: {wrong}")
    return found


def _wrong_entry(found: Mapping[str, Any]) -> str:
    """What is wrong with the numbers that a comparison reads, or an empty text."""
    for name in ("decks", "seatings"):
        if not _is_count(found[name]):
            return f"{name} is {shorten(repr(found[name]), 60)}, but must be an integer from 1"
    agents, chips = found["agents"], found["by_deck"]
    if not isinstance(found["task"], dict) or not isinstance(agents, list) or not agents:
        return "task must be an object, and agents a list that is not empty"
    named = all(isinstance(agent, dict) and isinstance(agent.get("name"), str) for agent in agents)
    if not named or not all(_is_count(agent.get("places")) for agent in agents):
        return "each of agents must have a name, and places that is an integer from 1"
    if not isinstance(chips, list) or len(chips) != found["decks"]:
        return f"by_deck must list a number for each of {found['decks']} decks"
    if not all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in chips):
        return "by_deck holds what is no number"
    return "" if all(abs(value) < 2**53 for value in chips) else "by_deck holds more chips than there can be"


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value < 2**53


def compare(first: Mapping[str, Any], second: Mapping[str, Any]) -> Comparison:
    """The difference between the first agents of two results, over the same decks.

    Raises:
        ResultError: the results are of different tasks (game, version, settings, seed, deals, opponents): what differs
            is named.
    """
    if first["task_digest"] != second["task_digest"]:
        a, b = first["task"], second["task"]
        lines = [f"{key}: {a.get(key)} and {b.get(key)}" for key in sorted({*a, *b}) if a.get(key) != b.get(key)]
        raise ResultError(
            f"these results are of different tasks ({first['task_digest']} and {second['task_digest']}), so their "
            "numbers cannot be compared: " + "; ".join(lines)
        )
    chips = [
        np.asarray(found["by_deck"], np.float64) / (found["seatings"] * found["agents"][0]["places"])
        for found in (first, second)
    ]
    return Comparison(
        (first["agents"][0]["name"], second["agents"][0]["name"]),
        (float(chips[0].mean()), float(chips[1].mean())),
        estimate(chips[0] - chips[1]),
    )
