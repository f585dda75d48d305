"""Suits by other names: which deals, hands and choices are the same but for the names of suits.

No rule of the games here puts one suit above another. So renaming them, in the whole deal, changes nothing; and where
no hand can hold a flush, the cards of each rank may change their suits apart from those of other ranks. Situations that
such a change turns into each other are one, which is exact (Gilpin and Sandholm 2007; Waugh 2013): whatever a player
can win in the whole game it can win by playing alike in them.

To tell whether two situations are one, nothing is renamed. What a seat knows of each card is added up by card, in its
*lane*: where it saw it, what it did with it. A number for a situation adds up its lanes so that it does not say which
suit they are of.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from auction_env.core.jit import inner, kernel
from auction_env.engine.kernels import observation_size
from auction_env.games.cards import EMPTY, NUM_CARDS, card_bit, mix
from auction_env.games.game import Game

NOTHING, SUITS, RANKS = SYMMETRIES = ("none", "suits", "ranks")
_SUITS, _RANKS = 1, 2
_SLOT = np.uint64(0x9E3779B97F4A7C15)
_SEAT = np.uint64(1 << 32)
_CHOSEN = np.uint64(1 << 40)
_NUM_RANKS, _NUM_SUITS, _BLOCK = 13, 4, 17
_REST, _NOTHING, _BLOCK_AT = -1, -2, 64


class Reading(NamedTuple):
    """How an observation is read: which entries say something of a card, and so go to its lane.

    Attributes:
        symmetry: what may change: 0 nothing; 1 suits as wholes; 2 those of each rank apart.
        size: entries of an observation.
        about: int32[E], of each entry that decisions can depend on: the card that it is about, _BLOCK_AT + where that
            card is shown, _REST: no card, or _NOTHING: it counts for nothing.
        marks: int32[E], what it says: entries with one mark say the same.
    """

    symmetry: int
    size: int
    about: np.ndarray
    marks: np.ndarray


def symmetry_of(game: Game, settings: Any, fold: bool = True) -> str:
    """How much of the names of suits can be left out: ``"ranks"``, ``"suits"`` or ``"none"``."""
    if not (fold and settings.num_suits > 1 and knows_cards(game)):
        return NOTHING
    return SUITS if game.suits_matter(settings) else RANKS  # type: ignore[attr-defined]


def knows_cards(game: Game) -> bool:
    """Whether a game says which cards its choices are about, and so by its observation all that is known of cards."""
    return hasattr(game, "suits_matter") and hasattr(game, "action_cards")


def reading(game: Game, settings: Any, symmetry: str) -> Reading:
    """How the observations of a game are read."""
    fields = [field for field in game.observation_fields(settings) if not field.final_only]
    starts, at = {}, 0
    for field in fields:
        starts[field.name] = at
        at += field.size
    about, marks = np.full(at, _REST, np.int32), np.arange(at, dtype=np.int32)
    for field in fields:
        entries = np.arange(field.size)
        here = slice(starts[field.name], starts[field.name] + field.size)
        if field.derived:
            about[here] = _NOTHING
        elif field.cards == "set":
            about[here] = entries % NUM_CARDS
            marks[here] -= entries % NUM_CARDS
        elif field.cards == "one":  # its suit tells the card, together with its rank
            size = _BLOCK * (field.shape[-2] if field.places_of else 1)
            about[here] = np.where(entries % _BLOCK < _NUM_RANKS, _NOTHING, _BLOCK_AT + marks[here] - entries % _BLOCK)
            marks[here] -= entries % size
        elif field.places_of:
            about[here] = _BLOCK_AT + starts[field.places_of] + _BLOCK * entries
            marks[here] -= entries % field.shape[-1]
    return Reading(SYMMETRIES.index(symmetry), observation_size(game, settings), about, marks)


@inner
def mixed(word: Any) -> Any:
    """A word that any other word of its kind is unlikely to give."""
    return mix(word + _SLOT)


@inner
def read(bits: Any, how: Any, whose: Any, lanes: Any) -> Any:
    """Add what a seat's observation says of each card to its lane, uint64[52]; returns a number for all the rest.

    ``bits``: the observation as words of 32 bits. ``whose``: a number, so that several seats' can be added to one.
    """
    salt, key = np.uint64(whose) * _SEAT, np.uint64(0)
    for entry in range(how.about.shape[0]):
        if bits[entry]:
            about, mark = how.about[entry], salt + np.uint64(how.marks[entry])
            if about == _REST:
                key += mixed(mixed(mark) ^ np.uint64(bits[entry]))
            elif about >= 0:
                lanes[about if about < NUM_CARDS else _shown_at(bits, about - _BLOCK_AT)] += mixed(mark)
    return key


@inner
def _shown_at(bits: Any, start: Any) -> Any:
    """The card that 13 ranks, then 4 suits show."""
    rank, suit = 0, 0
    while rank < _NUM_RANKS - 1 and not bits[start + rank]:
        rank += 1
    while suit < _NUM_SUITS - 1 and not bits[start + _NUM_RANKS + suit]:
        suit += 1
    return _NUM_SUITS * rank + suit


@inner
def folded(lanes: Any, symmetry: Any) -> Any:
    """A number for what is known of all cards, the same when suits change their names as far as they may."""
    key = np.uint64(0)
    if symmetry == _RANKS:
        for rank in range(_NUM_RANKS):
            total = np.uint64(0)
            for card in range(_NUM_SUITS * rank, _NUM_SUITS * rank + _NUM_SUITS):
                if lanes[card]:
                    total += mixed(lanes[card])
            if total:
                key += mixed(total ^ mixed(np.uint64(rank)))
    elif symmetry == _SUITS:
        for suit in range(_NUM_SUITS):
            key += mixed(suit_lane(lanes, suit))
    else:
        for card in range(NUM_CARDS):
            if lanes[card]:
                key += mixed(lanes[card] ^ mixed(np.uint64(card)))
    return key


@kernel
def fold_rows(lanes: Any, symmetry: Any, keys: Any) -> None:
    """Add a number for what is known of all cards to the key of each row."""
    for row in range(lanes.shape[0]):
        keys[row] += folded(lanes[row], symmetry)


@kernel
def show_drawn(lanes: Any, before: Any, origins: Any, drawn: Any) -> None:
    """Of what tables show of cards keep what is settled: of those drawn so far; and add what was known before."""
    for row in range(lanes.shape[0]):
        for card in range(NUM_CARDS):
            if drawn[row] & card_bit(card) == EMPTY:
                lanes[row, card] = np.uint64(0)
            lanes[row, card] += before[origins[row], card]


@kernel
def mix_words(first: Any, second: Any) -> Any:
    """Words that stand for pairs of words, uint64[N]."""
    out = np.zeros(first.shape[0], np.uint64)
    for row in range(out.shape[0]):
        out[row] = mix(mixed(first[row]) ^ second[row])
    return out


@inner
def suit_lane(lanes: Any, suit: Any) -> Any:
    """What is known of all cards of a suit, as one number."""
    total = np.uint64(0)
    for rank in range(_NUM_RANKS):
        lane = lanes[_NUM_SUITS * rank + suit]
        if lane:
            total += mixed(lane ^ mixed(np.uint64(rank)))
    return total


@inner
def mark_chosen(lanes: Any, cards: Any) -> None:
    """Note in their lanes that cards were chosen."""
    for card in range(NUM_CARDS):
        if cards & card_bit(card) != EMPTY:
            lanes[card] += mixed(_CHOSEN)


@inner
def same_cards(lanes: Any, cards: Any, card: Any, symmetry: Any) -> Any:
    """The cards of a set that are the same as one of them but for the names of suits, that one included."""
    same = card_bit(card)
    if symmetry == 0:
        return same
    first = card & ~3
    for other in range(first, first + _NUM_SUITS):
        alike = other != card and cards & card_bit(other) != EMPTY and lanes[other] == lanes[card]
        if alike and (symmetry == _RANKS or suit_lane(lanes, other & 3) == suit_lane(lanes, card & 3)):
            same |= card_bit(other)
    return same
