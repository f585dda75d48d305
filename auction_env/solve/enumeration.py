"""Enumerating a setting through the engine: every deal, every action, every card that can come."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from auction_env.engine.table import settings_of
from auction_env.games import get_game
from auction_env.games.game import Game
from auction_env.solve.expansion import expansion
from auction_env.solve.index import Index
from auction_env.solve.symmetry import symmetry_of
from auction_env.solve.tree import Counts, Forest, Tree
from auction_env.solve.walk import Points, TooLargeError, Walk

CHUNK = 4096  # tables expanded at once
MOST_BYTES = 8 << 30  # of a tree, unless the caller says otherwise
_HUGE = 1e13  # histories: an estimate that comes so far ends there

Visit = Callable[[int, np.ndarray, np.ndarray], None]  # seat, its new information states, a table at each
Watch = Callable[[int, np.ndarray, np.ndarray, np.ndarray], None]  # seat, information states, sequences, chances


@dataclasses.dataclass(frozen=True)
class Size:
    """What a tree is estimated to have: see ``estimate_size``."""

    histories: float
    ends: float
    num_bytes: float

    def __str__(self) -> str:
        about = "over" if self.histories >= _HUGE else "about"
        return f"{about} {self.histories:.2g} histories, {self.ends:.2g} of them ends: {_gigabytes(self.num_bytes)}"


def _gigabytes(number: float) -> str:
    return f"{number / 2**30:.2g} GiB"


# --- the tree ---------------------------------------------------------------------------------------------------------


def resolve(game: str | Game | ModuleType, settings: Mapping[str, Any] | Any = None) -> tuple[Game, Any]:
    """A game and its Settings, fit for solving.

    Raises:
        ValueError: as Table; or the match has more than one deal, or the game's chance cannot be enumerated.
    """
    game = get_game(game)
    settings = settings_of(game, settings)
    if settings.num_deals != 1:
        raise ValueError(f"num_deals is {settings.num_deals}: one deal is solved, set it to 1")
    expansion(game)
    return game, settings


def enumerate_tree(
    game: str | Game | ModuleType,
    settings: Mapping[str, Any] | Any = None,
    *,
    fold: bool = True,
    most_bytes: int = MOST_BYTES,
    visit: Visit | None = None,
    watch: Watch | None = None,
    progress: Callable[[int, float], None] | None = None,
) -> Tree:
    """The whole tree of one deal of a setting.

    Args:
        game: a game's name or module; it must let chance be settled from outside.
        settings: keyword values, or the game's Settings.
        fold: leave the names of suits out, and suits where they decide nothing (``solve.symmetry``). Exact for players
            who do not look at them; to measure one that may, say no.
        most_bytes: a tree estimated to be larger is refused; one that grows larger all the same is given up.
        visit: called with a seat, its information states met for the first time, int64[B], and a table at each, rows of
            STATE: all of them over time, each once, in order of their numbers.
        watch: called for all points at which some seat is to act: with the seat, its information states int32[B], the
            sequences of all seats int32[B, seats], and chance's part of the probability float64[B].
        progress: called with the histories so far, and the part of the tree that they are, from 0 to 1.

    Raises:
        TooLargeError: the tree is too large.
        RecallError: an observation does not say all that its seat has seen and done.
        ValueError: as ``resolve``.
    """
    game, settings = resolve(game, settings)
    symmetry = symmetry_of(game, settings, fold)
    size = estimate_size(game, settings, fold=fold)
    if size.num_bytes > most_bytes:
        raise TooLargeError(f"{_shown(game, settings)} is too large to be solved here: {size}, {_advice(most_bytes)}")
    walk, indices = Walk(game, settings, symmetry), [Index() for _ in range(settings.num_players)]
    ends: list[np.ndarray] = []
    worth: list[np.ndarray] = []
    histories = ended = 0
    waiting = [walk.first()]
    num_first = len(waiting[0])
    while waiting:
        points = waiting.pop()
        if len(points) > CHUNK:
            waiting.append(points.at(slice(CHUNK, None)))
            points = points.at(slice(CHUNK))
        lanes, keys = walk.read(points)
        actions, counts = walk.legal(points, lanes)
        firsts = _first_sequences(points, keys, indices, actions, counts, visit, watch)
        children, parents, places, chosen = walk.act(points, actions, counts)
        rows = np.arange(len(children))
        children.sequences[rows, points.states["to_act"][parents]] = firsts[parents] + places
        over = children.states["to_act"] < 0
        ends.append(children.sequences[over])
        worth.append(walk.payoffs(children)[over])
        histories, ended = histories + len(points) + len(ends[-1]), ended + len(ends[-1])
        if ended * _end_bytes(walk.seats) > most_bytes:
            raise TooLargeError(f"{_shown(game, settings)} has over {histories:.2g} histories, {_advice(most_bytes)}")
        following = walk.settle(points.states, parents[~over], chosen[~over], children.at(~over))
        if len(following):
            waiting.append(following)
        if progress is not None:
            progress(histories, min(histories / size.histories, 1.0))
    forests = tuple(index.forest() for index in indices)
    states = tuple(forest.num_states for forest in forests)
    counted = Counts(histories, ended, states, walk.chance_outcomes, num_first)
    return _assembled(game, settings, symmetry, forests, np.concatenate(ends), np.concatenate(worth), counted)


def _first_sequences(
    points: Points,
    keys: np.ndarray,
    indices: list[Index],
    actions: np.ndarray,
    counts: np.ndarray,
    visit: Visit | None,
    watch: Watch | None,
) -> np.ndarray:
    """Of the information state at each point, the first of its sequences, int64[N]; new ones are noted."""
    firsts = np.zeros(len(points), np.int64)
    seats = points.states["to_act"]
    for seat, index in enumerate(indices):
        rows = np.flatnonzero(seats == seat)
        if len(rows):
            parents = np.ascontiguousarray(points.sequences[rows, seat])
            before = index.number
            numbers, new = index.find(keys[rows], parents, actions[rows], counts[rows])
            firsts[rows] = index.starts[numbers]
            if visit is not None and len(new):
                visit(seat, np.arange(before, index.number), points.at(rows[new]).states)
            if watch is not None:
                watch(seat, numbers, points.sequences[rows], points.chances[rows])
    return firsts


def _assembled(
    game: Game,
    settings: Any,
    symmetry: str,
    forests: tuple[Forest, ...],
    ends: np.ndarray,
    worth: np.ndarray,
    counts: Counts,
) -> Tree:
    """The tree, of ends in order, those that agree in all sequences added up; ``worth`` is what ``payoffs`` gives."""
    chips, chances = worth[:, :-1], worth[:, -1:]
    bounds = np.array([chips.min(), chips.max()])
    zero_sum = len(forests) == 2 and not (chips[:, 0] + chips[:, 1]).any()
    chips = chips[:, :1] if zero_sum else chips
    if len(forests) == 2:
        pairs = ends[:, 0].astype(np.int64) << 32 | ends[:, 1]
        order = np.argsort(pairs, kind="stable")
        new = np.flatnonzero(np.diff(pairs[order], prepend=-1))
    else:
        order = np.lexsort(ends.T[::-1])
        new = np.flatnonzero(np.r_[True, (np.diff(ends[order], axis=0) != 0).any(axis=1)])
    total = np.add.reduceat((chips * chances)[order], new, axis=0)
    where = np.ascontiguousarray(ends[order[new]].T)
    return Tree(game, settings, symmetry, forests, where, np.ascontiguousarray(total.T), counts, bounds)


# --- how large it will be ---------------------------------------------------------------------------------------------


def estimate_size(
    game: str | Game | ModuleType, settings: Mapping[str, Any] | Any = None, *, fold: bool = True, seed: int = 0
) -> Size:
    """About how large a tree is, in a second: level by level a sample is followed (Knuth 1975; Chen 1992).

    Exact for small trees; where there are many thousands of ways to deal it is too high, as orders count.

    Args:
        game, settings, fold: as ``enumerate_tree``.
        seed: of the samples.
    """
    game, settings = resolve(game, settings)
    walk = Walk(game, settings, symmetry_of(game, settings, fold), np.random.default_rng(seed))
    points = walk.sampled(walk.first())
    histories = ends = 0.0
    while len(points) and histories + ends < _HUGE:
        histories += points.chances.sum()
        lanes, _ = walk.read(points)
        actions, counts = walk.legal(points, lanes)
        children, parents, _, chosen = walk.act(points, actions, counts)
        over = children.states["to_act"] < 0
        ends += children.chances[over].sum()
        points = walk.sampled(walk.settle(points.states, parents[~over], chosen[~over], children.at(~over)))
    ends += points.chances.sum()  # where it was broken off: each point has an end at least
    return Size(histories + ends, ends, ends * _end_bytes(walk.seats))


def _end_bytes(seats: int) -> int:
    """Memory for an end of the tree while it is put in order."""
    return 2 * (4 * seats + 8 * (seats + 1))


def _advice(most_bytes: int) -> str:
    return (
        f"and the most is {_gigabytes(most_bytes)}: fewer seats, cards, auctions or bids, "
        "or one suit, make a setting smaller"
    )


def _shown(game: Game, settings: Any) -> str:
    changed = [
        f"{field.name}={getattr(settings, field.name)}"
        for field in dataclasses.fields(settings)
        if getattr(settings, field.name) != field.default
    ]
    return f"{game.NAME} ({', '.join(changed)})"
