"""Matches between agents: the same decks through all distinct seatings, in parts that can be played anywhere.

A match is cut into parts of a fixed number of decks. Each part starts the agents' chance anew, from the match's seed
and the part's number, so its results are the same whoever plays it, when, and beside what else.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property
from itertools import permutations
from typing import Any, NamedTuple, Protocol

import numpy as np

from auction_env.engine.agent import Player, PlayerError, ask, resample_from_infostate
from auction_env.engine.batch import Batch
from auction_env.engine.kernels import decision_size, kernels, seed_words
from auction_env.evaluation.results import Estimate, MatchResult, estimate
from auction_env.games.game import Game

MAX_SEATINGS = 24  # of a deck, unless told otherwise: all of four different agents
MAX_DEALS = 10**9  # whose results fit in memory
PART_TABLES = (512, 4096)  # fewest and most tables in a part
PARTS = 16  # that a match has at least, if its parts are not too small then
_CHANCE, _SEATING, _IMAGINING = 0xC4A9CE, 0x5EA7, 0x1DEA  # streams of a seed


class Decisions(NamedTuple):
    """Decisions made at once, one at each of some tables of a part; whoever sees this sees all cards."""

    tables: np.ndarray  # int64[B]: table d * seatings + s plays deck d of the part in seating s
    states: np.ndarray  # STATE[B], before the decisions
    seats: np.ndarray  # int8[B]
    observations: np.ndarray  # float32[B, size], of these seats
    masks: np.ndarray  # int8[B, actions]
    actions: np.ndarray  # int64[B]
    groups: np.ndarray  # int64[B]: the agent that chose each


class MatchCallback(Protocol):
    """Is told what happens at the tables, with everything in view: for reports, never for agents."""

    def decided(self, decisions: Decisions) -> None:
        """Decisions, as they are made."""
        ...

    def ended(self, finals: np.ndarray, groups: np.ndarray, decks: np.ndarray) -> None:
        """Deals that ended: rows of STATE after the award; int[B, seats], the agent at each seat; int[B], the deck."""
        ...


def number_groups(keys: Sequence[Hashable], first_apart: bool = False) -> tuple[int, ...]:
    """Which agent plays each place: equal keys are one agent; agents are numbered in order of their first places.

    Args:
        keys: of the agents, by place.
        first_apart: the first place is an agent of its own, whoever sits at the others: then the seatings of a task do
            not depend on who is measured.
    """
    marked = [(place == 0 and first_apart, key) for place, key in enumerate(keys)]
    order = list(dict.fromkeys(marked))
    return tuple(order.index(key) for key in marked)


def count_seatings(groups: Sequence[int]) -> int:
    """How many distinct seatings a line-up has: orders of its places, those of one agent not told apart."""
    return math.factorial(len(groups)) // math.prod(math.factorial(groups.count(group)) for group in set(groups))


def all_seatings(groups: Sequence[int]) -> np.ndarray:
    """Every distinct seating, int8[seatings, places]: the seat of each place, places of one agent in seat order."""
    found = []
    for line in sorted(set(permutations(groups))):  # the agent at each seat
        free = {group: [seat for seat, there in enumerate(line) if there == group] for group in line}
        found.append([free[group].pop(0) for group in groups])
    return np.array(found, np.int8)


def drawn_seatings(num_places: int, decks: int, seatings: int, rng: np.random.Generator) -> np.ndarray:
    """Seatings int8[decks, seatings, places] of each deck: random orders, each through all rotations; or just one."""
    orders = max(1, seatings // num_places)
    places = np.broadcast_to(np.arange(num_places), (decks, orders, num_places))
    first = rng.permuted(places, axis=2)
    if seatings == 1:
        return first.astype(np.int8)
    turns = np.arange(num_places)[:, None]
    return ((first[:, :, None, :] + turns) % num_places).reshape(decks, -1, num_places).astype(np.int8)


@dataclasses.dataclass(frozen=True)
class Schedule:
    """What is played in a match, apart from who the agents are.

    Args:
        game: the game.
        settings: its Settings.
        groups: which agent plays each place, see ``number_groups``.
        min_deals: tables to play at least; rounded up to whole decks.
        seed: of the decks, of seatings drawn, and of the agents' chance.
        seatings: of each deck: all distinct ones if there are no more than this, or else random orders, each through
            all rotations, as many as fit; None: 24; 1: one seating drawn for each deck, so that deals are independent.
        part_tables: tables played at once, at most (but a deck is never cut); None: by the number of deals. Agents
            with chance of their own play other games with other parts.

    Raises:
        ValueError: a number makes no sense, or there is not one agent for each seat; the message says what to do.
    """

    game: Game
    settings: Any
    groups: tuple[int, ...]
    min_deals: int
    seed: int = 0
    max_seatings: int | None = None
    part_tables: int | None = None

    def __post_init__(self) -> None:
        seats, places = self.settings.num_players, len(self.groups)
        if places != seats:
            raise ValueError(f"{places} agents for {seats} seats: name one for each, or set num_players={places}")
        if not 1 <= self.min_deals <= MAX_DEALS:
            raise ValueError(f"deals is {self.min_deals}: it must be from 1 to {MAX_DEALS}")
        seed_words(self.seed)
        fewest, limit = min(seats, self.possible), self.max_seatings
        if limit is not None and limit != 1 and limit < fewest:
            raise ValueError(
                f"seatings is {limit}: it must be at least {fewest}, so that every agent sits at every seat, "
                "or 1 for independent deals"
            )
        if self.part_tables is not None and self.part_tables < 1:
            raise ValueError(f"part_tables is {self.part_tables}: it must be at least 1")

    @cached_property
    def possible(self) -> int:
        """How many distinct seatings there are."""
        return count_seatings(self.groups)

    @cached_property
    def seatings(self) -> int:
        """Seatings played of each deck."""
        limit = MAX_SEATINGS if self.max_seatings is None else self.max_seatings
        if limit == 1 or limit >= self.possible:
            return min(limit, self.possible)
        return limit // len(self.groups) * len(self.groups)

    @property
    def decks(self) -> int:
        """Decks played."""
        return -(-self.min_deals // self.seatings)

    @property
    def deals(self) -> int:
        """Tables played."""
        return self.decks * self.seatings

    @cached_property
    def part_decks(self) -> int:
        """Decks in a part; the last may have fewer."""
        fewest, most = PART_TABLES
        tables = self.part_tables or min(most, max(fewest, -(-self.deals // PARTS)))
        return max(1, min(self.decks, tables // self.seatings))

    @property
    def parts(self) -> int:
        """Number of parts."""
        return -(-self.decks // self.part_decks)

    def words(self, part: int) -> np.ndarray:
        """Seeds of a part's decks, uint64[decks]."""
        return self._words[part * self.part_decks : (part + 1) * self.part_decks]

    @cached_property
    def _words(self) -> np.ndarray:
        return np.random.SeedSequence(self.seed).generate_state(self.decks, np.uint64)

    @cached_property
    def _fixed(self) -> np.ndarray | None:
        return all_seatings(self.groups)[None] if self.seatings == self.possible else None

    def seats(self, part: int) -> np.ndarray:
        """The seat of each place, int8[decks of the part or 1, seatings, places]."""
        if self._fixed is not None:
            return self._fixed
        rng = np.random.default_rng([self.seed, _SEATING, part])
        return drawn_seatings(len(self.groups), len(self.words(part)), self.seatings, rng)

    def part_deals(self, part: int) -> int:
        """Tables in a part."""
        return len(self.words(part)) * self.seatings

    def play(
        self,
        part: int,
        players: Sequence[Player],
        callback: MatchCallback | None = None,
        time_limit: float | None = None,
    ) -> np.ndarray:
        """Play a part.

        Args:
            part: its number.
            players: the agents, by number of group; the chance of each starts anew.
            callback: is told what happens.
            time_limit: seconds that any one decision may take: agents are then asked for one at a time, and each has
                decided once before, unmeasured (what it compiles or loads then does not count); None: any.

        Returns:
            results int64[decks, seatings, places].

        Raises:
            ValueError: the time limit is not above 0.
            PlayerError: an agent failed, acted illegally or was too slow; it is named.
        """
        if time_limit is not None and not time_limit > 0:
            raise ValueError(f"time_limit is {time_limit}: it must be above 0, or None for no limit")
        if time_limit is not None:
            _warm_up(self.game, self.settings, players)
        for group, player in enumerate(players):
            restart = getattr(player, "seed", None)
            if restart is not None:
                restart(
                    int(np.random.SeedSequence([self.seed, _CHANCE, part, group]).generate_state(1, np.uint64)[0] >> 1)
                )
        words, seats = self.words(part), self.seats(part)
        tables = np.broadcast_to(seats, (len(words), *seats.shape[1:])).reshape(-1, len(self.groups)).astype(np.int64)
        rng = np.random.default_rng([self.seed, _IMAGINING, part])
        net = _play_tables(
            self,
            players,
            np.repeat(words, self.seatings),
            np.array(self.groups)[np.argsort(tables)],
            rng,
            callback,
            time_limit,
            part * self.part_decks,
        )
        return np.take_along_axis(net, tables, axis=1).reshape(len(words), self.seatings, -1)

    def result(self, names: Sequence[str], parts: Sequence[np.ndarray], contents: Sequence[str] = ()) -> MatchResult:
        """The match's result, from those of all its parts in order."""
        seats = self._fixed
        if seats is None:
            seats = np.concatenate([self.seats(part) for part in range(self.parts)])
        return MatchResult(
            game=self.game.NAME,
            version=self.game.VERSION,
            settings=plain_settings(self.settings),
            seed=self.seed,
            names=list(names),
            payoffs=np.concatenate(parts),
            seats=seats,
            groups=self.groups,
            possible=self.possible,
            contents=tuple(contents),
            part=self.part_decks,
        )


def plain_settings(settings: Any) -> dict[str, Any]:
    """Settings as plain values, such as JSON has."""
    values = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def play_match(
    game: Game,
    settings: Any,
    agents: Sequence[Player],
    deals: int,
    seed: int = 0,
    *,
    seatings: int | None = None,
    part_tables: int | None = None,
    progress: Callable[[int], None] | None = None,
    callback: MatchCallback | None = None,
    time_limit: float | None = None,
) -> MatchResult:
    """Play decks through all distinct seatings: ``deals`` tables in all, rounded up to whole decks.

    Places of the same object are one agent, whose places are not told apart. An agent with a method ``seed`` has its
    chance started anew for each part, so that the result does not depend on what it did before.

    Args:
        game: the game.
        settings: its Settings; one agent for each of its seats.
        agents: the players; the same object may sit at several places.
        deals: number of deals (of matches, if the settings have several deals in one).
        seed: of the decks, the seatings and the agents' chance.
        seatings: see ``Schedule``.
        part_tables: see ``Schedule``.
        progress: called with the number of deals finished so far.
        callback: is told what happens.
        time_limit: see ``Schedule.play``.

    Raises:
        ValueError: as ``Schedule``.
        PlayerError: an agent failed, acted illegally or was too slow; it is named, and there is no result.
    """
    groups = number_groups([id(agent) for agent in agents])
    schedule = Schedule(game, settings, groups, deals, seed, seatings, part_tables)
    players = [agents[groups.index(group)] for group in range(max(groups) + 1)]
    parts, done = [], 0
    for part in range(schedule.parts):
        parts.append(schedule.play(part, players, callback, time_limit))
        done += schedule.part_deals(part)
        if progress:
            progress(done)
    return schedule.result([agent.name for agent in agents], parts)


def _warm_up(game: Game, settings: Any, players: Sequence[Player]) -> None:
    """Ask each player for one decision at a table of no match: what it loads or compiles first is not measured."""
    batch = Batch(game, settings, 1, size=decision_size(game, settings), threads=1)
    out = batch.reset(np.zeros(1, np.uint64))
    for player in players:
        given = (batch.states.copy(), out.seats.copy(), out.observations.copy(), out.masks.copy())
        ask(player, game, *given, np.random.default_rng(0))


def _play_tables(
    schedule: Schedule,
    players: Sequence[Player],
    words: np.ndarray,
    agent_at: np.ndarray,
    rng: np.random.Generator,
    callback: MatchCallback | None,
    time_limit: float | None,
    first_deck: int,
) -> np.ndarray:
    """Results int64[tables, seats] of a match at each table; ``agent_at`` says who sits at each seat."""
    game, settings = schedule.game, schedule.settings
    batch = Batch(game, settings, len(words), size=decision_size(game, settings), threads=1)
    out = batch.reset(words)
    net = np.zeros(agent_at.shape, np.int64)
    actions = np.zeros(batch.num_tables, np.int64)
    rows = batch.all_rows
    told = [group for group, player in enumerate(players) if hasattr(player, "ended")]
    while len(rows):
        who = agent_at[rows, out.seats[rows]]
        for group, chosen in _split(rows, who, len(players)):
            actions[chosen] = ask(
                players[group],
                game,
                batch.states[chosen],
                out.seats[chosen],
                out.observations[chosen],
                out.masks[chosen],
                rng,
                time_limit=time_limit,
            )
        before = batch.states[rows] if told or callback is not None else None
        if callback is not None and before is not None:
            seen = out.seats[rows], out.observations[rows], out.masks[rows]
            callback.decided(Decisions(rows, before, *seen, actions[rows], who))
        batch.step(actions[rows], rows)
        ended = out.deal_over[rows]
        over = rows[ended]
        if before is not None and len(over):
            finals = _finals(game, before[ended], actions[over])
            for group in told:
                _tell(players[group], game, finals, agent_at[over] == group)
            if callback is not None:
                callback.ended(finals, agent_at[over], first_deck + over // schedule.seatings)
        net[over] += out.payoffs[over].astype(np.int64)
        rows = rows[~(ended & out.match_over[rows])]
    return net


def _tell(player: Any, game: Game, finals: np.ndarray, there: np.ndarray) -> None:
    """Tell a player of deals that are over: ``there`` says at which of them it had which seats, bool[B, seats]."""
    rows, seats = np.nonzero(there)
    if len(rows):
        try:
            player.ended(resample_from_infostate(game, finals[rows], seats, rows.astype(np.uint64)), seats)
        except Exception as error:
            raise PlayerError(f"agent {player.name} failed: {type(error).__name__}: {error}") from error


def _split(rows: np.ndarray, who: np.ndarray, groups: int) -> Iterator[tuple[int, np.ndarray]]:
    """The rows of each agent that is to act anywhere."""
    for group in range(groups):
        chosen = rows[who == group]
        if len(chosen):
            yield group, chosen


def _finals(game: Game, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """Tables after the last actions of their deals: a batch itself goes on to the next deal at once."""
    scratch, act = np.zeros(game.MAX_LEGAL, np.int16), kernels(game).act
    for row, action in enumerate(actions):
        act(states, row, int(action), scratch, np.zeros(0, np.int8))  # nothing is legal after a deal's last action
    return states


__all__ = ["Estimate", "MatchCallback", "MatchResult", "Schedule", "estimate", "number_groups", "play_match"]
