"""One step down a game's tree for many tables at once: what is legal, what follows, and what chance may bring then.

Compiled loops over the engine's own functions; they know no rule. A table is a row of the game's STATE with a
decision pending. Its children are copies, one for each legal action, in each of which chance is then settled in every
way that it can be (``engine.chance``). Choices and cards that are the same but for the names of suits are one, as far
as a ``symmetry.Reading`` says.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from auction_env.core.jit import inner, kernel
from auction_env.engine.chance import CHANCE_NAMES, has_chance
from auction_env.games.cards import EMPTY, NUM_CARDS, card_bit
from auction_env.games.game import Game
from auction_env.solve.symmetry import fold_rows, folded, knows_cards, mark_chosen, read, reading, same_cards

MAX_ACTIONS = 256  # that can be legal at once, in any game
_OF_CARDS = np.uint64(1 << 63)  # set in the keys of actions that choose cards


class Expansion(NamedTuple):
    """Compiled loops of one game.

    ``how``: a ``symmetry.Reading``. ``lanes``: uint64[N, 52], what is known of each card at each row. ``before``,
    ``parents``: rows before a move, and which of them each row comes from.
    """

    read: Callable[..., None]  # states, seats, whose, how, lanes, rest: add what each has seen: ``symmetry.read``
    legal: Callable[..., int]  # states, how, lanes, actions int16[N, MAX_LEGAL], counts -> sum of counts: of actions
    # that are the same the first, in an order that suits have no say in
    places: Callable[..., None]  # states, how, lanes, masks int8[N, actions], places int64: legal actions, and which of
    # those that ``legal`` gives each is or is the same as
    mark_actions: Callable[..., None]  # before, parents, actions, lanes: note which cards were chosen
    num_draws: Callable[..., None]  # before, parents, states, out: cards that chance settles by the move of each row
    count_cards: Callable[..., int]  # before, parents, states, draw -> sum: cards that one draw can be, at all tables
    list_cards: Callable[..., int]  # before, parents, states, draw, how, lanes, rows, cards, shares -> how many: of
    # cards that are the same the first, each with its row and how likely it is there
    draw: Callable[..., None]  # before, parents, states, draw, words, rows, cards, out_words, out: settle them; words
    # are the same rows as uint64
    payoffs: Callable[..., None]  # states, out float64[N, seats]


@inner
def _sort(actions: Any, keys: Any, count: Any) -> None:
    """Sort actions by their keys, and those with one key by number."""
    for place in range(1, count):
        action, key, slot = actions[place], keys[place], place
        while slot > 0 and (keys[slot - 1] > key or (keys[slot - 1] == key and actions[slot - 1] > action)):
            actions[slot], keys[slot] = actions[slot - 1], keys[slot - 1]
            slot -= 1
        actions[slot], keys[slot] = action, key


@cache
def expansion(game: Any) -> Expansion:
    """The loops of a game. Raises ValueError if it cannot take its chance from outside."""
    if not has_chance(game):
        raise ValueError(f"{game.NAME} cannot be enumerated: it defines no {', '.join(CHANCE_NAMES)}")
    owner = game.NAME
    legal, observe = game.legal, game.observe
    num_draws, draw_choices, settle_draw = game.num_draws, game.draw_choices, game.settle_draw
    action_cards = game.action_cards if knows_cards(game) else _no_cards

    @kernel(owner=owner)
    def read_rows(states: Any, seats: Any, whose: Any, how: Any, lanes: Any, rest: Any) -> None:
        out = np.zeros(how.size, np.float32)
        bits = out.view(np.uint32)
        for row in range(states.shape[0]):
            out[:] = 0
            observe(states[row], seats[row], out, 1.0)
            rest[row] += read(bits, how, whose, lanes[row])

    @inner
    def sorted_actions(s: Any, how: Any, lanes: Any, chosen: Any, actions: Any, keys: Any) -> Any:
        """Write what is legal, in an order that suits have no say in; actions that are the same have one key."""
        number = legal(s, actions)
        for place in range(number):
            action = np.int64(actions[place])
            keys[place] = np.uint64(action)
            cards = action_cards(s, action) if how.symmetry else EMPTY
            if cards != EMPTY:
                chosen[:] = lanes
                mark_chosen(chosen, cards)
                keys[place] = folded(chosen, how.symmetry) | _OF_CARDS
        _sort(actions, keys, number)
        return number

    @kernel(owner=owner)
    def legal_rows(states: Any, how: Any, lanes: Any, actions: Any, counts: Any) -> Any:
        chosen, keys, total = np.zeros(NUM_CARDS, np.uint64), np.zeros(MAX_ACTIONS, np.uint64), 0
        for row in range(states.shape[0]):
            number, kept = sorted_actions(states[row], how, lanes[row], chosen, actions[row], keys), 0
            for place in range(number):
                if place == 0 or keys[place] != keys[place - 1]:
                    actions[row, kept] = actions[row, place]
                    kept += 1
            counts[row] = kept
            total += kept
        return total

    @kernel(owner=owner)
    def place_rows(states: Any, how: Any, lanes: Any, masks: Any, places: Any) -> None:
        chosen, keys = np.zeros(NUM_CARDS, np.uint64), np.zeros(MAX_ACTIONS, np.uint64)
        actions = np.zeros(MAX_ACTIONS, np.int16)
        for row in range(states.shape[0]):
            number, kept = sorted_actions(states[row], how, lanes[row], chosen, actions, keys), -1
            for place in range(number):
                kept += place == 0 or keys[place] != keys[place - 1]
                masks[row, actions[place]] = 1
                places[row, actions[place]] = kept

    @kernel(owner=owner)
    def mark_actions(before: Any, parents: Any, actions: Any, lanes: Any) -> None:
        for row in range(parents.shape[0]):
            if before[parents[row]].to_act >= 0:
                mark_chosen(lanes[row], action_cards(before[parents[row]], np.int64(actions[row])))

    @kernel(owner=owner)
    def num_draws_rows(before: Any, parents: Any, states: Any, out: Any) -> None:
        for row in range(states.shape[0]):
            out[row] = 0 if states[row].to_act < 0 else num_draws(before[parents[row]], states[row])

    @kernel(owner=owner)
    def count_cards(before: Any, parents: Any, states: Any, number: Any) -> Any:
        total = 0
        for row in range(states.shape[0]):
            cards = draw_choices(before[parents[row]], states[row], number)
            for card in range(NUM_CARDS):
                total += cards & card_bit(card) != EMPTY
        return total

    @kernel(owner=owner)
    def list_cards(
        before: Any, parents: Any, states: Any, number: Any, how: Any, lanes: Any, rows: Any, found: Any, shares: Any
    ) -> Any:
        to = 0
        for row in range(states.shape[0]):
            cards = draw_choices(before[parents[row]], states[row], number)
            left, size, first = cards, 0, to
            for card in range(NUM_CARDS):
                size += cards & card_bit(card) != EMPTY
                if left & card_bit(card) != EMPTY:
                    same = same_cards(lanes[row], cards, card, how.symmetry)
                    left &= ~same
                    alike = 0
                    for other in range(card, NUM_CARDS):
                        alike += same & card_bit(other) != EMPTY
                    rows[to], found[to], shares[to] = row, card, alike
                    to += 1
            for place in range(first, to):
                shares[place] /= size
        return to

    @kernel(owner=owner)
    def draw_rows(
        before: Any, parents: Any, states: Any, number: Any, words: Any, rows: Any, cards: Any, out_words: Any, out: Any
    ) -> None:
        for to in range(rows.shape[0]):
            out_words[to] = words[rows[to]]
            settle_draw(before[parents[rows[to]]], out[to], number, np.int64(cards[to]))

    @kernel(owner=owner)
    def payoff_rows(states: Any, out: Any) -> None:
        for row in range(states.shape[0]):
            for seat in range(out.shape[1]):
                out[row, seat] = states[row].award[seat] - states[row].paid[seat]

    return Expansion(
        *(read_rows, legal_rows, place_rows, mark_actions, num_draws_rows, count_cards, list_cards, draw_rows),
        payoff_rows,
    )


@inner
def _no_cards(s: Any, action: Any) -> Any:
    return EMPTY


class Reader:
    """Tables of a game, read so that what is the same but for the names of suits reads the same.

    Args:
        game: the game.
        settings: its Settings.
        symmetry: what is left out of suits: see ``symmetry.symmetry_of``.
    """

    def __init__(self, game: Game, settings: Any, symmetry: str) -> None:
        self.steps, self.how = expansion(game), reading(game, settings, symmetry)
        self._num_actions = len(game.action_names(settings))

    def read(self, states: np.ndarray, seats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What these seats have seen and done: lanes of all cards, uint64[N, 52], and a key for it all, uint64[N]."""
        lanes, keys = np.zeros((len(states), NUM_CARDS), np.uint64), np.zeros(len(states), np.uint64)
        self.steps.read(states, seats, 0, self.how, lanes, keys)
        fold_rows(lanes, self.how.symmetry, keys)
        return lanes, keys | np.uint64(1)

    def choices(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of the seats to act: keys as ``read``; what is legal, int8[N, actions]; and places, int64[N, actions].

        A place is that of the action among those that differ by more than names of suits, -1 where it is illegal.
        """
        lanes, keys = self.read(states, states["to_act"].astype(np.int64))
        masks = np.zeros((len(states), self._num_actions), np.int8)
        places = np.full(masks.shape, -1, np.int64)
        self.steps.places(states, self.how, lanes, masks, places)
        return keys, masks, places
