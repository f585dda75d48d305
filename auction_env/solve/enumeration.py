"""Enumerating a setting through the engine: every deal, every action, every card that can come."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from auction_env.core.jit import kernel
from auction_env.engine.kernels import kernels
from auction_env.engine.playout import playout
from auction_env.engine.table import settings_of
from auction_env.games import get_game
from auction_env.games.cards import NUM_CARDS, card_bit, deck_cards, mix
from auction_env.games.game import Game
from auction_env.solve.expansion import expansion
from auction_env.solve.symmetry import knows_cards, reading, symmetry_of
from auction_env.solve.tree import Counts, Forest, Tree

CHUNK = 4096  # tables expanded at once
MOST_BYTES = 8 << 30  # of a tree, unless the caller says otherwise
_MOST_DRAWN = 1 << 22  # tables at once while chance is settled
_SAMPLE = 1000  # tables that an estimate follows
_MOST_FOLLOWED = 1 << 13  # and those that it settles the next card of
_CARD_BITS = np.array([card_bit(card) for card in range(NUM_CARDS)], np.uint64)
_HUGE = 1e13  # histories: an estimate that comes so far ends there

Visit = Callable[[int, np.ndarray, np.ndarray], None]  # seat, its new information states, a table at each
Watch = Callable[[int, np.ndarray, np.ndarray, np.ndarray], None]  # seat, information states, sequences, chances


class TooLargeError(ValueError):
    """A setting is too large to be enumerated; the message has its estimated size."""


class RecallError(ValueError):
    """An observation does not say all that its seat has seen and done."""


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


@dataclasses.dataclass
class _Points:
    """Tables with a decision pending."""

    dtype: np.dtype[Any]  # STATE
    words: np.ndarray  # uint64 [N, words of STATE]: rows of it as words, which numpy copies five times faster
    sequences: np.ndarray  # int32 [N, seats]
    chances: np.ndarray  # float64 [N], chance's part of the probability

    def __len__(self) -> int:
        return len(self.words)

    @property
    def states(self) -> np.ndarray:
        """Rows of STATE [N], a view."""
        return self.words.reshape(-1).view(self.dtype)

    def at(self, rows: Any) -> _Points:
        return _Points(self.dtype, self.words[rows], self.sequences[rows], self.chances[rows])


class _Moves(NamedTuple):
    """Tables after moves: from which row each came, the place of the action among those there, and the action."""

    children: _Points
    parents: np.ndarray
    places: np.ndarray
    actions: np.ndarray


class _Walk:
    """The steps that a walk through a tree takes, for many tables at once.

    With a generator it follows samples: ``chances`` of points then say for how many each of them stands.
    """

    def __init__(self, game: Game, settings: Any, symmetry: str, rng: np.random.Generator | None = None) -> None:
        self.game, self.settings, self.rng = game, settings, rng
        self.steps, self.how = expansion(game), reading(game, settings, symmetry)
        self.knows_cards = knows_cards(game)
        self.seats = settings.num_players
        self.chance_outcomes = 0

    def first(self) -> _Points:
        """All ways to deal, the last seat dealing."""
        run, before = kernels(self.game), self.game.new_state(self.settings)
        run.new_match(before, 0)
        before["dealer"] = self.seats - 1
        states = before.copy()
        deck = deck_cards(self.settings.num_ranks, self.settings.num_suits)
        states["deck"][0, : len(deck)] = deck
        run.deal(states, 0, len(deck))
        words = states.view(np.uint64).reshape(1, -1)
        start = _Points(self.game.STATE, words, np.zeros((1, self.seats), np.int32), np.ones(1))
        return self.settle(before, np.zeros(1, np.int64), np.zeros(1, np.int64), start)

    def keys(self, states: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """Of what these seats have seen and done, uint64[N]."""
        found = np.zeros(len(states), np.uint64)
        self.steps.keys(states, seats, self.how, found)
        return found

    def legal(self, points: _Points) -> tuple[np.ndarray, np.ndarray]:
        """Legal actions, int16[N, most], and how many at each table, int64[N]; of those that are the same, one."""
        actions = np.zeros((len(points), self.game.MAX_LEGAL), np.int16)
        counts = np.zeros(len(points), np.int64)
        self.steps.legal(points.states, self.how, actions, counts)
        return actions, counts

    def act(self, points: _Points, actions: np.ndarray, counts: np.ndarray) -> _Moves:
        """Every table after each of its actions."""
        parents = np.repeat(np.arange(len(points)), counts)
        places = np.arange(len(parents)) - np.repeat(np.cumsum(counts) - counts, counts)
        chosen = actions[parents, places].astype(np.int64)
        children = points.at(parents)
        playout(self.game).act(children.states, np.arange(len(parents)), chosen)
        return _Moves(children, parents, places, chosen)

    def settle(self, before: np.ndarray, parents: np.ndarray, actions: np.ndarray, moved: _Points) -> _Points:
        """Tables after a move, in all ways that chance can settle it; ways that are the same to all seats are one.

        Args:
            before: rows of STATE before the move.
            parents: of each table, which of these rows it comes from, int64[N].
            actions: the action that was taken there, int64[N].
            moved: the tables.

        Raises:
            TooLargeError: they are too many.
        """
        draws = np.zeros(len(moved), np.int64)
        self.steps.num_draws(before, parents, moved.states, draws)
        if not draws.any():
            return moved
        quiet = np.flatnonzero(draws == 0)
        parts = [moved.at(quiet)] if len(quiet) else []
        for number in np.unique(draws[draws > 0]):
            rows = np.flatnonzero(draws == number)
            drawn = self._settle_all(before, parents[rows], actions[rows], moved.at(rows), int(number))
            self.chance_outcomes += len(drawn)
            parts.append(drawn)
        return _joined(parts)

    def _settle_all(
        self, before: np.ndarray, parents: np.ndarray, actions: np.ndarray, points: _Points, draws: int
    ) -> _Points:
        origins, drawn, cut = np.arange(len(points)), np.zeros(len(points), np.uint64), False
        known = np.zeros((len(points), NUM_CARDS), np.uint64)
        if self.knows_cards:
            self.steps.lanes_before(before, parents, actions, self.how, known)
        for draw in range(draws):
            if self.rng and len(points) > _MOST_FOLLOWED:
                cut = True
                kept = self.rng.permutation(len(points))[:_SAMPLE]
                share = len(points) / len(kept)
                points, origins, drawn = points.at(kept), origins[kept], drawn[kept]
                points.chances *= share
            size = self.steps.count_cards(before, parents[origins], points.states, draw)
            rows, cards, shares = np.zeros(size, np.int64), np.zeros(size, np.int8), np.zeros(size)
            total = self.steps.list_cards(
                *(before, parents[origins], points.states, draw, self.how, known, origins, drawn),
                *(rows, cards, shares),
            )
            if total > _MOST_DRAWN:
                raise TooLargeError(f"chance alone has over {_MOST_DRAWN:.1g} outcomes at once")
            rows, cards = rows[:total], cards[:total]
            words = np.zeros((total, points.words.shape[1]), np.uint64)
            self.steps.draw(
                *(before, parents[origins], points.states, draw, points.words, rows, cards),
                *(words, words.reshape(-1).view(points.dtype)),
            )
            chances = points.chances[rows] if self.rng else points.chances[rows] * shares[:total]
            points = _Points(points.dtype, words, points.sequences[rows], chances)
            origins, drawn = origins[rows], drawn[rows] | _CARD_BITS[cards]
            if self.knows_cards and draw < draws - 1 and not cut:
                marks = np.zeros(total, np.uint64)
                self.steps.drawn_keys(points.states, self.how, known, origins, drawn, marks)
                points, kept = self._merged(points, marks)
                origins, drawn = origins[kept], drawn[kept]
        if cut:
            return self.sampled(points)
        marks = np.zeros(len(points), np.uint64)
        self.steps.joint_keys(points.states, origins, self.how, marks)
        return self._merged(points, marks)[0]

    def _merged(self, points: _Points, marks: np.ndarray) -> tuple[_Points, np.ndarray]:
        """Points that have one mark made one, the first of them; and which those are, int64[N], ascending."""
        _, firsts, which = np.unique(marks, return_index=True, return_inverse=True)
        order = np.argsort(firsts)
        merged = points.at(firsts[order])
        if not self.rng:
            merged.chances = np.bincount(which, points.chances, len(firsts))[order]
        return merged, firsts[order]

    def sampled(self, points: _Points) -> _Points:
        """Some of these points, for all of them, if they are many."""
        assert self.rng is not None
        if len(points) <= _SAMPLE:
            return points
        sample = points.at(np.sort(self.rng.permutation(len(points))[:_SAMPLE]))
        sample.chances *= len(points) / _SAMPLE
        return sample

    def payoffs(self, points: _Points) -> np.ndarray:
        """Of deals that are over: chips of each seat, then chance's part of the probability, float64[N, seats + 1]."""
        found = np.zeros((len(points), self.seats + 1))
        self.steps.payoffs(points.states, found[:, :-1])
        found[:, -1] = points.chances
        return found


def _joined(parts: list[_Points]) -> _Points:
    if len(parts) == 1:
        return parts[0]
    return _Points(
        parts[0].dtype,
        np.concatenate([part.words for part in parts]),
        np.concatenate([part.sequences for part in parts]),
        np.concatenate([part.chances for part in parts]),
    )


# --- information states by their keys ---------------------------------------------------------------------------------


class _Index:
    """Numbers for the information states of one seat, in the order in which they are met; a table of hashed keys."""

    def __init__(self) -> None:
        self.number, self.sequences = 0, 1
        self.table = np.full(1 << 12, -1, np.int32)
        self.keys = np.zeros(1 << 10, np.uint64)
        self.parents = np.zeros(1 << 10, np.int32)
        self.starts = np.ones((1 << 10) + 1, np.int32)
        self.actions = np.full(1 << 12, -1, np.int16)

    def reserve(self, states: int, most_actions: int) -> None:
        """Make room for so many more information states."""
        if self.number + states > len(self.keys):
            size = 2 * (self.number + states)
            self.keys, self.parents = _grown(self.keys, size), _grown(self.parents, size)
            self.starts = _grown(self.starts, size + 1)
        if self.sequences + states * most_actions > len(self.actions):
            self.actions = _grown(self.actions, 2 * self.sequences + states * most_actions)
        if 2 * (self.number + states) > len(self.table):
            self.table = np.full(1 << int(4 * (self.number + states)).bit_length(), -1, np.int32)
            _fill(self.keys, self.number, self.table)

    def find(
        self, keys: np.ndarray, parents: np.ndarray, actions: np.ndarray, counts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of these information states, int32[N], new ones in order; and the rows that met a new one first.

        Raises:
            RecallError: one has come by two different sequences of its seat, or with two numbers of actions.
        """
        self.reserve(len(keys), actions.shape[1])
        numbers, new = np.zeros(len(keys), np.int32), np.zeros(len(keys), np.int64)
        before = self.number
        self.number, self.sequences, wrong = _find(
            *(keys, parents, actions, counts, self.number, self.sequences, self.table, self.keys, self.parents),
            *(self.starts, self.actions, numbers, new),
        )
        if wrong >= 0:
            raise RecallError(
                "one observation stands for two histories of its seat: solving needs one that holds all that the seat "
                "has seen and done (Auction Flop Poker: observation 'full')"
            )
        return numbers, new[: self.number - before]

    def forest(self) -> Forest:
        number, sequences = self.number, self.sequences
        return Forest(
            self.parents[:number].copy(),
            self.starts[: number + 1].copy(),
            self.keys[:number].copy(),
            self.actions[:sequences].copy(),
        )


def _grown(array: np.ndarray, size: int) -> np.ndarray:
    larger = np.full(size, -1, array.dtype) if array.dtype == np.int16 else np.zeros(size, array.dtype)
    larger[: len(array)] = array
    return larger


@kernel
def _fill(keys: Any, number: Any, table: Any) -> None:
    mask = table.shape[0] - 1
    for state in range(number):
        slot = np.int64(mix(keys[state]) & np.uint64(mask))
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = state


@kernel
def _find(
    keys: Any,
    parents: Any,
    actions: Any,
    counts: Any,
    number: Any,
    sequences: Any,
    table: Any,
    all_keys: Any,
    all_parents: Any,
    starts: Any,
    all_actions: Any,
    numbers: Any,
    new: Any,
) -> Any:
    mask, met, wrong = table.shape[0] - 1, 0, -1
    for row in range(keys.shape[0]):
        slot = np.int64(mix(keys[row]) & np.uint64(mask))
        while table[slot] >= 0 and all_keys[table[slot]] != keys[row]:
            slot = (slot + 1) & mask
        if table[slot] < 0:
            table[slot] = number
            all_keys[number], all_parents[number] = keys[row], parents[row]
            starts[number] = sequences
            for place in range(counts[row]):
                all_actions[sequences + place] = actions[row, place]
            sequences += counts[row]
            new[met] = row
            number += 1
            met += 1
            starts[number] = sequences
        state = table[slot]
        numbers[row] = state
        if all_parents[state] != parents[row] or starts[state + 1] - starts[state] != counts[row]:
            wrong = row
    return number, sequences, wrong


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
    walk, indices = _Walk(game, settings, symmetry), [_Index() for _ in range(settings.num_players)]
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
        actions, counts = walk.legal(points)
        firsts = _first_sequences(walk, points, indices, actions, counts, visit, watch)
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
    walk: _Walk,
    points: _Points,
    indices: list[_Index],
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
            states = points.words[rows].reshape(-1).view(points.dtype)
            keys = walk.keys(states, np.full(len(rows), seat))
            parents = np.ascontiguousarray(points.sequences[rows, seat])
            before = index.number
            numbers, new = index.find(keys, parents, actions[rows], counts[rows])
            firsts[rows] = index.starts[numbers]
            if visit is not None and len(new):
                visit(seat, np.arange(before, index.number), states[new])
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
    walk = _Walk(game, settings, symmetry_of(game, settings, fold), np.random.default_rng(seed))
    points = walk.sampled(walk.first())
    histories = ends = 0.0
    while len(points) and histories + ends < _HUGE:
        histories += points.chances.sum()
        actions, counts = walk.legal(points)
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
