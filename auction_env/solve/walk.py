"""Walking through a game's tree: many tables at once, by every action and by every card that can come."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from auction_env.engine.kernels import kernels
from auction_env.engine.playout import playout
from auction_env.games.cards import NUM_CARDS, card_bit, deck_cards
from auction_env.games.game import Game
from auction_env.solve.expansion import Reader
from auction_env.solve.symmetry import fold_rows, knows_cards, mix_words, show_drawn

_LANES_AT_ONCE = 1 << 14  # tables of which it is held what is known of each card
_MOST_DRAWN = 1 << 22  # tables at once while chance is settled
_SAMPLE = 1000  # tables that an estimate follows
_MOST_FOLLOWED = 1 << 13  # and those that it settles the next card of
_CARD_BITS = np.array([card_bit(card) for card in range(NUM_CARDS)], np.uint64)


class TooLargeError(ValueError):
    """A setting is too large to be enumerated; the message has its estimated size."""


@dataclasses.dataclass
class Points:
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

    def at(self, rows: Any) -> Points:
        """Those at these rows."""
        return Points(self.dtype, self.words[rows], self.sequences[rows], self.chances[rows])


class Moves(NamedTuple):
    """Tables after moves: from which row each came, the place of the action among those there, and the action."""

    children: Points
    parents: np.ndarray
    places: np.ndarray
    actions: np.ndarray


class Walk:
    """The steps that a walk through a tree takes, for many tables at once.

    With a generator it follows samples: ``chances`` of points then say for how many each of them stands.
    """

    def __init__(self, game: Game, settings: Any, symmetry: str, rng: np.random.Generator | None = None) -> None:
        self.game, self.settings, self.rng = game, settings, rng
        self.reader = Reader(game, settings, symmetry)
        self.steps, self.how = self.reader.steps, self.reader.how
        self.knows_cards = knows_cards(game)
        self.seats = settings.num_players
        self.chance_outcomes = 0

    def first(self) -> Points:
        """All ways to deal, the last seat dealing."""
        run, before = kernels(self.game), self.game.new_state(self.settings)
        run.new_match(before, 0)
        before["dealer"] = self.seats - 1
        states = before.copy()
        deck = deck_cards(self.settings.num_ranks, self.settings.num_suits)
        states["deck"][0, : len(deck)] = deck
        run.deal(states, 0, len(deck))
        words = states.view(np.uint64).reshape(1, -1)
        start = Points(self.game.STATE, words, np.zeros((1, self.seats), np.int32), np.ones(1))
        return self.settle(before, np.zeros(1, np.int64), np.zeros(1, np.int64), start)

    def read(self, points: Points) -> tuple[np.ndarray, np.ndarray]:
        """What the seats to act have seen and done: see ``Reader.read``."""
        return self.reader.read(points.states, points.states["to_act"].astype(np.int64))

    def legal(self, points: Points, lanes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Legal actions, int16[N, most], and how many at each table, int64[N]; of those that are the same, one."""
        actions = np.zeros((len(points), self.game.MAX_LEGAL), np.int16)
        counts = np.zeros(len(points), np.int64)
        self.steps.legal(points.states, self.how, lanes, actions, counts)
        return actions, counts

    def act(self, points: Points, actions: np.ndarray, counts: np.ndarray) -> Moves:
        """Every table after each of its actions."""
        parents = np.repeat(np.arange(len(points)), counts)
        places = np.arange(len(parents)) - np.repeat(np.cumsum(counts) - counts, counts)
        chosen = actions[parents, places].astype(np.int64)
        children = points.at(parents)
        playout(self.game).act(children.states, np.arange(len(parents)), chosen)
        return Moves(children, parents, places, chosen)

    def settle(self, before: np.ndarray, parents: np.ndarray, actions: np.ndarray, moved: Points) -> Points:
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
        self, before: np.ndarray, parents: np.ndarray, actions: np.ndarray, points: Points, draws: int
    ) -> Points:
        origins, drawn, cut = np.arange(len(points)), np.zeros(len(points), np.uint64), False
        known = self._joint(before)[0][parents]
        self.steps.mark_actions(before, parents, actions, known)
        for draw in range(draws):
            if self.rng and len(points) > _MOST_FOLLOWED:
                cut = True
                kept = self.rng.permutation(len(points))[:_SAMPLE]
                share = len(points) / len(kept)
                points, origins, drawn = points.at(kept), origins[kept], drawn[kept]
                points.chances *= share
            rows, cards, shares = self._draws(before, parents, points, draw, known, origins, drawn)
            words = np.zeros((len(rows), points.words.shape[1]), np.uint64)
            self.steps.draw(
                *(before, parents[origins], points.states, draw, points.words, rows, cards),
                *(words, words.reshape(-1).view(points.dtype)),
            )
            chances = points.chances[rows] if self.rng else points.chances[rows] * shares
            points = Points(points.dtype, words, points.sequences[rows], chances)
            origins, drawn = origins[rows], drawn[rows] | _CARD_BITS[cards]
            if (self.knows_cards or draw == draws - 1) and not cut:
                marks = np.zeros(len(points), np.uint64)
                for part in _chunks(len(points)):
                    lanes, marks[part] = self._known(points.at(part), known, origins[part], drawn[part])
                    fold_rows(lanes, self.how.symmetry, marks[part])
                points, kept = self._merged(points, mix_words(marks, origins.astype(np.uint64)))
                origins, drawn = origins[kept], drawn[kept]
        return self.sampled(points) if cut else points

    def _draws(
        self,
        before: np.ndarray,
        parents: np.ndarray,
        points: Points,
        draw: int,
        known: np.ndarray,
        origins: np.ndarray,
        drawn: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows with each card that one draw can be there, of those that are the same one; and how likely they are."""
        found, total = [], 0
        for part in _chunks(len(points)):
            some = points.at(part)
            lanes, _ = self._known(some, known, origins[part], drawn[part])
            at = before, parents[origins[part]], some.states, draw
            size = self.steps.count_cards(*at)
            rows, cards, shares = np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size)
            size = self.steps.list_cards(*at, self.how, lanes, rows, cards, shares)
            found.append((part.start + rows[:size], cards[:size], shares[:size]))
            total += size
            if total > _MOST_DRAWN:
                raise TooLargeError(f"chance alone has over {_MOST_DRAWN:.1g} outcomes at once")
        rows, cards, shares = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        return rows, cards, shares

    def _joint(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What all seats together have seen and done, as ``read``; nothing where no deal is on."""
        lanes, rest = np.zeros((len(states), NUM_CARDS), np.uint64), np.zeros(len(states), np.uint64)
        for seat in range(self.seats):
            self.steps.read(states, np.full(len(states), seat), seat, self.how, lanes, rest)
        lanes[states["to_act"] < 0] = 0
        return lanes, rest

    def _known(
        self, points: Points, known: np.ndarray, origins: np.ndarray, drawn: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same of tables of which the cards ``drawn`` are settled and others that they show are not yet.

        The rest of it follows from the cards, and from what was before, if the game knows what is known of cards.
        """
        if self.knows_cards and not drawn.any():
            return known[origins], np.zeros(len(points), np.uint64)
        lanes, rest = self._joint(points.states)
        if self.knows_cards:
            show_drawn(lanes, known, origins, drawn)
            rest[:] = 0
        return lanes, rest

    def _merged(self, points: Points, marks: np.ndarray) -> tuple[Points, np.ndarray]:
        """Points that have one mark made one, the first of them; and which those are, int64[N], ascending."""
        _, firsts, which = np.unique(marks, return_index=True, return_inverse=True)
        if len(firsts) == len(points):
            return points, np.arange(len(points))
        order = np.argsort(firsts)
        merged = points.at(firsts[order])
        if not self.rng:
            merged.chances = np.bincount(which, points.chances, len(firsts))[order]
        return merged, firsts[order]

    def sampled(self, points: Points) -> Points:
        """Some of these points, for all of them, if they are many."""
        assert self.rng is not None
        if len(points) <= _SAMPLE:
            return points
        sample = points.at(np.sort(self.rng.permutation(len(points))[:_SAMPLE]))
        sample.chances *= len(points) / _SAMPLE
        return sample

    def payoffs(self, points: Points) -> np.ndarray:
        """Of deals that are over: chips of each seat, then chance's part of the probability, float64[N, seats + 1]."""
        found = np.zeros((len(points), self.seats + 1))
        self.steps.payoffs(points.states, found[:, :-1])
        found[:, -1] = points.chances
        return found


def _chunks(number: int) -> list[slice]:
    return [slice(first, first + _LANES_AT_ONCE) for first in range(0, number, _LANES_AT_ONCE)]


def _joined(parts: list[Points]) -> Points:
    if len(parts) == 1:
        return parts[0]
    return Points(
        parts[0].dtype,
        np.concatenate([part.words for part in parts]),
        np.concatenate([part.sequences for part in parts]),
        np.concatenate([part.chances for part in parts]),
    )
