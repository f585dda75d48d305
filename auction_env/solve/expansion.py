"""One step down a game's tree for many tables at once: what is legal, what follows, and what chance may bring then.

Compiled loops over the engine's own functions; they know no rule. A table is a row of the game's STATE with a
decision pending. Its children are copies, one for each legal action, in each of which chance is then settled in every
way that it can be (``engine.chance``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from auction_env.core.jit import inner, kernel
from auction_env.engine.chance import CHANCE_NAMES, has_chance
from auction_env.engine.kernels import decision_size
from auction_env.games.cards import EMPTY, NUM_CARDS, card_bit, mix
from auction_env.games.game import Game

_SLOT = np.uint64(0x9E3779B97F4A7C15)
_NO_SLOT = -1
MAX_ACTIONS = 256  # that can be legal at once, in any game


class Expansion(NamedTuple):
    """Compiled loops of one game. ``plain``: whether actions equal but for suits count once, and cards as ranks."""

    keys: Callable[..., None]  # states, seats, slots, out, bits, keys: uint64[N], what each seat has seen and done
    legal: Callable[..., int]  # states, plain, actions int16[N, MAX_LEGAL], counts -> sum of counts
    places: Callable[
        ..., None
    ]  # states, plain, masks int8[N, actions], places int64: legal actions, and which of those
    # that ``legal`` gives each is or is equal to
    num_draws: Callable[..., None]  # before, parents, states, out: cards that chance settles by the move of each row
    count_draws: Callable[..., int]  # before, parents, states, draw, plain, counts -> sum: outcomes of one draw
    draw: Callable[..., None]  # before, parents, states, draw, plain, words, out_words, out, rows, shares: write them,
    # from which row each came and how likely it is there; words are the same rows as uint64
    payoffs: Callable[..., None]  # states, out float64[N, seats]


@inner
def _mixed(word: Any) -> Any:
    return mix(word + _SLOT)


@inner
def observation_key(out: Any, bits: Any, slots: Any) -> Any:
    """A 64-bit number for an observation: a sum over its entries, so that equal ranks can share a slot."""
    key = np.uint64(0)
    for entry in range(slots.shape[0]):
        if bits[entry] and slots[entry] >= 0:
            key += _mixed(_mixed(np.uint64(slots[entry])) ^ np.uint64(bits[entry]))
    return key | np.uint64(1)


@inner
def _same_rank(cards: Any, card: Any) -> Any:
    """How many cards of a set have a card's rank."""
    found = 0
    for suit in range(4):
        found += (cards & card_bit((card & ~3) + suit)) != EMPTY
    return found


@inner
def _first_of_rank(cards: Any, card: Any) -> Any:
    """Whether no card of a set has the same rank and an earlier suit."""
    found = True
    for other in range(card & ~3, card):
        found &= (cards & card_bit(other)) == EMPTY
    return found


@inner
def _sort(actions: Any, count: Any) -> None:
    for place in range(1, count):
        action, slot = actions[place], place
        while slot > 0 and actions[slot - 1] > action:
            actions[slot] = actions[slot - 1]
            slot -= 1
        actions[slot] = action


@cache
def expansion(game: Any) -> Expansion:
    """The loops of a game. Raises ValueError if it cannot take its chance from outside."""
    if not has_chance(game):
        raise ValueError(f"{game.NAME} cannot be enumerated: it defines no {', '.join(CHANCE_NAMES)}")
    owner = game.NAME
    legal, observe = game.legal, game.observe
    num_draws, draw_choices, settle_draw = game.num_draws, game.draw_choices, game.settle_draw
    plain_action = getattr(game, "plain_action", None) or _every_action

    @kernel(owner=owner)
    def keys(states: Any, seats: Any, slots: Any, out: Any, bits: Any, found: Any) -> None:
        for row in range(states.shape[0]):
            out[:] = 0
            observe(states[row], seats[row], out, 1.0)
            found[row] = observation_key(out, bits, slots)

    @kernel(owner=owner)
    def legal_rows(states: Any, plain: Any, actions: Any, counts: Any) -> Any:
        total = 0
        for row in range(states.shape[0]):
            s = states[row]
            number = legal(s, actions[row])
            if plain:
                kept = 0
                for place in range(number):
                    action = np.int64(actions[row, place])
                    if plain_action(s, action) == action:
                        actions[row, kept] = action
                        kept += 1
                number = kept
            _sort(actions[row], number)
            counts[row] = number
            total += number
        return total

    @kernel(owner=owner)
    def place_rows(states: Any, plain: Any, masks: Any, places: Any) -> None:
        for row in range(states.shape[0]):
            s = states[row]
            scratch = np.zeros(MAX_ACTIONS, np.int16)
            number, place = legal(s, scratch), 0
            _sort(scratch, number)
            for index in range(number):
                action = np.int64(scratch[index])
                masks[row, action] = 1
                if not plain or plain_action(s, action) == action:
                    places[row, action] = place
                    place += 1
            for index in range(number):
                action = np.int64(scratch[index])
                if places[row, action] < 0:
                    places[row, action] = places[row, plain_action(s, action)]

    @kernel(owner=owner)
    def num_draws_rows(before: Any, parents: Any, states: Any, out: Any) -> None:
        for row in range(states.shape[0]):
            out[row] = 0 if states[row].to_act < 0 else num_draws(before[parents[row]], states[row])

    @kernel(owner=owner)
    def count_draws(before: Any, parents: Any, states: Any, number: Any, plain: Any, counts: Any) -> Any:
        total = 0
        for row in range(states.shape[0]):
            cards = draw_choices(before[parents[row]], states[row], number)
            counts[row] = 0
            for card in range(NUM_CARDS):
                counts[row] += (cards & card_bit(card)) != EMPTY and (not plain or _first_of_rank(cards, card))
            total += counts[row]
        return total

    @kernel(owner=owner)
    def draw_rows(
        before: Any,
        parents: Any,
        states: Any,
        number: Any,
        plain: Any,
        words: Any,
        out_words: Any,
        out: Any,
        rows: Any,
        shares: Any,
    ) -> None:
        to = 0
        for row in range(states.shape[0]):
            cards = draw_choices(before[parents[row]], states[row], number)
            size = 0
            for card in range(NUM_CARDS):
                size += (cards & card_bit(card)) != EMPTY
            for card in range(NUM_CARDS):
                if cards & card_bit(card) and (not plain or _first_of_rank(cards, card)):
                    out_words[to] = words[row]
                    settle_draw(before[parents[row]], out[to], number, card)
                    rows[to] = row
                    shares[to] = (_same_rank(cards, card) if plain else 1) / size
                    to += 1

    @kernel(owner=owner)
    def payoff_rows(states: Any, out: Any) -> None:
        for row in range(states.shape[0]):
            for seat in range(out.shape[1]):
                out[row, seat] = states[row].award[seat] - states[row].paid[seat]

    return Expansion(keys, legal_rows, place_rows, num_draws_rows, count_draws, draw_rows, payoff_rows)


@inner
def _every_action(s: Any, action: Any) -> Any:
    return action


def slots_of(game: Game, settings: Any, plain: bool) -> np.ndarray:
    """Of each entry of an observation, the number under which it counts in a key, -1: it does not.

    Args:
        game: the game.
        settings: its Settings.
        plain: suits do not count: entries of cards of one rank share a number.

    Returns:
        int32[size of the part that decisions can depend on].
    """
    fields = [field for field in game.observation_fields(settings) if not field.final_only]
    slots = np.arange(decision_size(game, settings), dtype=np.int32)
    if not plain:
        return slots
    at = 0
    for field in fields:
        mine = slots[at : at + field.size]
        if field.cards == "set":  # by card index: four of each rank
            mine -= np.arange(field.size, dtype=np.int32) % 52 % 4
        elif field.cards == "one":
            mine[np.arange(field.size) % 17 >= 13] = _NO_SLOT
        at += field.size
    return slots


def suits_left_out(game: Game, settings: Any) -> bool:
    """Whether suits decide nothing, by what the game says, so that cards may count as ranks."""
    matter = getattr(game, "suits_matter", None)
    return settings.num_suits > 1 and matter is not None and not matter(settings)
