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


class Reading(NamedTuple):
    """Where the entries of an observation go: into the lanes of cards, or into the rest.

    Attributes:
        symmetry: what may change: 0 nothing; 1 suits as wholes; 2 those of each rank apart.
        size: entries of an observation.
        entries: int32[E], those that say nothing of single cards.
        sets: int32[C, 2]: where each set of cards begins, and its mark.
        cards: int32[P, 3]: an entry that says whether (-1: always), where the card begins that it is about, its mark.
    """

    symmetry: int
    size: int
    entries: np.ndarray
    sets: np.ndarray
    cards: np.ndarray


def symmetry_of(game: Game, settings: Any, fold: bool = True) -> str:
    """How much of the names of suits can be left out: ``"ranks"``, ``"suits"`` or ``"none"``."""
    if not (fold and settings.num_suits > 1 and knows_cards(game)):
        return NOTHING
    return SUITS if game.suits_matter(settings) else RANKS  # type: ignore[attr-defined]


def knows_cards(game: Game) -> bool:
    """Whether a game says which cards its choices are about, and so by its observation all that is known of cards."""
    return hasattr(game, "suits_matter") and hasattr(game, "action_cards")


def reading(game: Game, settings: Any, symmetry: str) -> Reading:
    """How the observations of a game are read, as far as decisions can depend on them."""
    entries: list[int] = []
    sets: list[tuple[int, int]] = []
    cards: list[tuple[int, int, int]] = []
    starts, at = {}, 0
    for field in game.observation_fields(settings):
        starts[field.name] = at
        at += field.size
        if field.final_only or field.derived:
            continue
        here = range(starts[field.name], at)
        if field.cards == "set":
            sets += [(start, start) for start in here[::NUM_CARDS]]
        elif field.cards == "one":
            row = field.shape[-2] if field.places_of else 1  # cards that lie in sorted order: places do not count
            cards += [(-1, start, here[number // row * row * _BLOCK]) for number, start in enumerate(here[::_BLOCK])]
        elif field.places_of:
            row, first = field.shape[-1], starts.get(field.places_of, 0)
            cards += [(entry, first + number * _BLOCK, here[number // row * row]) for number, entry in enumerate(here)]
        else:
            entries += here
    return Reading(
        SYMMETRIES.index(symmetry),
        observation_size(game, settings),
        np.array(entries, np.int32),
        np.array(sets, np.int32).reshape(-1, 2),
        np.array(cards, np.int32).reshape(-1, 3),
    )


@inner
def mixed(word: Any) -> Any:
    """A word that any other word of its kind is unlikely to give."""
    return mix(word + _SLOT)


@inner
def read(bits: Any, how: Any, seat: Any, lanes: Any) -> Any:
    """Add what a seat's observation says of each card to its lane, uint64[52]; returns a number for all the rest.

    ``bits``: the observation as words of 32 bits.
    """
    salt, key = np.uint64(seat) * _SEAT, np.uint64(0)
    for place in range(how.entries.shape[0]):
        entry = how.entries[place]
        if bits[entry]:
            key += mixed(mixed(salt + np.uint64(entry)) ^ np.uint64(bits[entry]))
    for place in range(how.sets.shape[0]):
        start, mark = how.sets[place, 0], salt + np.uint64(how.sets[place, 1])
        for card in range(NUM_CARDS):
            if bits[start + card]:
                lanes[card] += mixed(mark)
    for place in range(how.cards.shape[0]):
        entry, start = how.cards[place, 0], how.cards[place, 1]
        card = _card_at(bits, start) if entry < 0 or bits[entry] else -1
        if card >= 0:
            lanes[card] += mixed(salt + np.uint64(how.cards[place, 2]))
    return key


@inner
def _card_at(bits: Any, start: Any) -> Any:
    """The card that 13 ranks, then 4 suits show; -1: none."""
    for rank in range(_NUM_RANKS):
        if bits[start + rank]:
            for suit in range(_NUM_SUITS):
                if bits[start + _NUM_RANKS + suit]:
                    return _NUM_SUITS * rank + suit
    return -1


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
