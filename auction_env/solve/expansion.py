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
from auction_env.solve.symmetry import folded, knows_cards, mark_chosen, mixed, read, same_cards

MAX_ACTIONS = 256  # that can be legal at once, in any game
_OF_CARDS = np.uint64(1 << 63)  # set in the keys of actions that choose cards


class Expansion(NamedTuple):
    """Compiled loops of one game; ``how``: a ``symmetry.Reading``. ``before``, ``parents``: rows before a move."""

    keys: Callable[..., None]  # states, seats, how, uint64[N]: of what each seat has seen and done
    joint_keys: Callable[..., None]  # states, origins, how, uint64[N]: of that of all seats, and of where it came from
    legal: Callable[..., int]  # states, how, actions int16[N, MAX_LEGAL], counts -> sum of counts: of actions that are
    # the same the first, in an order that suits have no say in
    places: Callable[..., None]  # states, how, masks int8[N, actions], places int64: legal actions, and which of those
    # that ``legal`` gives each is or is the same as
    num_draws: Callable[..., None]  # before, parents, states, out: cards that chance settles by the move of each row
    lanes_before: Callable[..., None]  # before, parents, actions, how, uint64[N, 52]: what all seats together know of
    # each card when they have been taken
    count_cards: Callable[..., int]  # before, parents, states, draw -> sum: cards that one draw can be, at all tables
    list_cards: Callable[..., int]  # before, parents, states, draw, how, lanes, origins, drawn, rows, cards, shares
    # -> how many: of cards that are the same the first, each with its row and how likely it is there
    draw: Callable[..., None]  # before, parents, states, draw, words, rows, cards, out_words, out: settle them
    drawn_keys: Callable[..., None]  # states, how, lanes, origins, drawn, uint64[N]: of the cards drawn so far
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

    @inner
    def add_lanes(s: Any, seat: Any, how: Any, out: Any, lanes: Any) -> Any:
        """Add what a seat knows of each card to the lanes; returns a number for all else that it knows."""
        out[:] = 0
        observe(s, seat, out, 1.0)
        return read(out, out.view(np.uint32), how, seat, lanes)

    @inner
    def sorted_actions(s: Any, how: Any, out: Any, lanes: Any, chosen: Any, actions: Any, keys: Any) -> Any:
        """Write what is legal, in an order that suits have no say in; actions that are the same have one key."""
        number, looked = legal(s, actions), False
        for place in range(number):
            action = np.int64(actions[place])
            keys[place] = np.uint64(action)
            cards = action_cards(s, action) if how.symmetry else EMPTY
            if cards != EMPTY:
                if not looked:
                    lanes[:] = 0
                    add_lanes(s, s.to_act, how, out, lanes)
                    looked = True
                chosen[:] = lanes
                mark_chosen(chosen, cards)
                keys[place] = folded(chosen, how) | _OF_CARDS
        _sort(actions, keys, number)
        return number

    @kernel(owner=owner)
    def key_rows(states: Any, seats: Any, how: Any, found: Any) -> None:
        out, lanes = np.zeros(how.size, np.float32), np.zeros(NUM_CARDS, np.uint64)
        for row in range(states.shape[0]):
            lanes[:] = 0
            key = add_lanes(states[row], seats[row], how, out, lanes)
            found[row] = (key + folded(lanes, how)) | np.uint64(1)

    @kernel(owner=owner)
    def joint_key_rows(states: Any, origins: Any, how: Any, found: Any) -> None:
        out, lanes = np.zeros(how.size, np.float32), np.zeros(NUM_CARDS, np.uint64)
        for row in range(states.shape[0]):
            lanes[:] = 0
            key = mixed(np.uint64(origins[row]))
            for seat in range(states[row].num_players):
                key += add_lanes(states[row], seat, how, out, lanes)
            found[row] = key + folded(lanes, how)

    @kernel(owner=owner)
    def legal_rows(states: Any, how: Any, actions: Any, counts: Any) -> Any:
        out, keys = np.zeros(how.size, np.float32), np.zeros(MAX_ACTIONS, np.uint64)
        lanes, chosen = np.zeros(NUM_CARDS, np.uint64), np.zeros(NUM_CARDS, np.uint64)
        total = 0
        for row in range(states.shape[0]):
            number, kept = sorted_actions(states[row], how, out, lanes, chosen, actions[row], keys), 0
            for place in range(number):
                if place == 0 or keys[place] != keys[place - 1]:
                    actions[row, kept] = actions[row, place]
                    kept += 1
            counts[row] = kept
            total += kept
        return total

    @kernel(owner=owner)
    def place_rows(states: Any, how: Any, masks: Any, places: Any) -> None:
        out, keys = np.zeros(how.size, np.float32), np.zeros(MAX_ACTIONS, np.uint64)
        lanes, chosen = np.zeros(NUM_CARDS, np.uint64), np.zeros(NUM_CARDS, np.uint64)
        actions = np.zeros(MAX_ACTIONS, np.int16)
        for row in range(states.shape[0]):
            number, kept = sorted_actions(states[row], how, out, lanes, chosen, actions, keys), -1
            for place in range(number):
                kept += place == 0 or keys[place] != keys[place - 1]
                masks[row, actions[place]] = 1
                places[row, actions[place]] = kept

    @kernel(owner=owner)
    def num_draws_rows(before: Any, parents: Any, states: Any, out: Any) -> None:
        for row in range(states.shape[0]):
            out[row] = 0 if states[row].to_act < 0 else num_draws(before[parents[row]], states[row])

    @kernel(owner=owner)
    def lanes_before(before: Any, parents: Any, actions: Any, how: Any, lanes: Any) -> None:
        out = np.zeros(how.size, np.float32)
        for row in range(parents.shape[0]):
            s = before[parents[row]]
            if s.to_act >= 0:
                for seat in range(s.num_players):
                    add_lanes(s, seat, how, out, lanes[row])
                mark_chosen(lanes[row], action_cards(s, np.int64(actions[row])))

    @inner
    def lanes_with(s: Any, how: Any, out: Any, before: Any, drawn: Any, lanes: Any) -> None:
        """What is known of each card once some are drawn: the others that the table shows are not settled yet."""
        lanes[:] = 0
        if drawn != EMPTY:
            for seat in range(s.num_players):
                add_lanes(s, seat, how, out, lanes)
        for card in range(NUM_CARDS):
            lanes[card] = before[card] + (lanes[card] if drawn & card_bit(card) != EMPTY else np.uint64(0))

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
        before: Any,
        parents: Any,
        states: Any,
        number: Any,
        how: Any,
        known: Any,
        origins: Any,
        drawn: Any,
        rows: Any,
        found: Any,
        shares: Any,
    ) -> Any:
        out, lanes, to = np.zeros(how.size, np.float32), np.zeros(NUM_CARDS, np.uint64), 0
        for row in range(states.shape[0]):
            cards = draw_choices(before[parents[row]], states[row], number)
            if how.symmetry:
                lanes_with(states[row], how, out, known[origins[row]], drawn[row], lanes)
            left, size, first = cards, 0, to
            for card in range(NUM_CARDS):
                size += cards & card_bit(card) != EMPTY
                if left & card_bit(card) != EMPTY:
                    same = same_cards(lanes, cards, card, how)
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
    def drawn_key_rows(states: Any, how: Any, known: Any, origins: Any, drawn: Any, found: Any) -> None:
        out, lanes = np.zeros(how.size, np.float32), np.zeros(NUM_CARDS, np.uint64)
        for row in range(states.shape[0]):
            lanes_with(states[row], how, out, known[origins[row]], drawn[row], lanes)
            found[row] = mixed(np.uint64(origins[row])) + folded(lanes, how)

    @kernel(owner=owner)
    def payoff_rows(states: Any, out: Any) -> None:
        for row in range(states.shape[0]):
            for seat in range(out.shape[1]):
                out[row, seat] = states[row].award[seat] - states[row].paid[seat]

    return Expansion(
        *(key_rows, joint_key_rows, legal_rows, place_rows, num_draws_rows, lanes_before),
        *(count_cards, list_cards, draw_rows, drawn_key_rows, payoff_rows),
    )


@inner
def _no_cards(s: Any, action: Any) -> Any:
    return EMPTY

