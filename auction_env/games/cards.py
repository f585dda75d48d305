"""Cards, their notation, and each table's own generator of chance.

A card is an index from 0 (``2c``) to 51 (``As``): four times the rank's place in ``23456789TJQKA`` plus the suit's
place in ``cdhs``. A set of cards is one unsigned 64-bit integer with a lane of 16 bits per suit, clubs lowest; bit
``r`` of a lane is rank ``r``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from auction_env.core.jit import inner, popcount

RANKS = "23456789TJQKA"
SUITS = "cdhs"
NUM_CARDS = 52
CARD_NAMES = tuple(rank + suit for rank in RANKS for suit in SUITS)
_INDEX = {name: index for index, name in enumerate(CARD_NAMES)}
EMPTY = np.uint64(0)


class CardError(ValueError):
    """A card is malformed, repeated, or not in the deck."""


def card_name(card: int) -> str:
    """Text of a card index: ``card_name(51) == "As"``. Raises CardError outside 0..51."""
    if not 0 <= card < NUM_CARDS:
        raise CardError(f"there is no card {card}: cards are 0 (2c) to 51 (As)")
    return CARD_NAMES[card]


def parse_cards(cards: str | Iterable[str | int]) -> list[int]:
    """Card indices of a text such as ``"As Kd 9c"`` or of a sequence of names or indices.

    ``|`` and commas may stand between cards as separators.

    Raises:
        CardError: naming the first card that is malformed or stands twice.
    """
    if isinstance(cards, str):
        cards = cards.replace("|", " ").replace(",", " ").split()
    if not isinstance(cards, Iterable):
        raise CardError(f"{cards!r} holds no cards: give cards as text such as 'As Td', or a list of names or indices")
    found: list[int] = []
    for card in cards:
        index = _parse_card(card)
        if index in found:
            raise CardError(f"card {CARD_NAMES[index]} stands twice: each card exists once")
        found.append(index)
    return found


def _parse_card(card: str | int) -> int:
    if isinstance(card, str):
        if card not in _INDEX:
            raise CardError(f"{card!r} is not a card: write rank then suit, as 'Td' (ranks {RANKS}, suits {SUITS})")
        return _INDEX[card]
    if isinstance(card, (int, np.integer)) and not isinstance(card, bool):
        return _INDEX[card_name(int(card))]
    raise CardError(f"{card!r} is not a card: give names such as 'Td' or indices from 0 to 51")


def deck_cards(num_ranks: int = 13, num_suits: int = 4) -> list[int]:
    """The cards of a deck, ascending: the ``num_ranks`` highest ranks (ace always) in the first suits of ``cdhs``."""
    return [4 * rank + suit for rank in range(13 - num_ranks, 13) for suit in range(num_suits)]


def complete_deck(cards: str | Iterable[str | int], num_ranks: int, num_suits: int) -> tuple[list[int], int]:
    """A deck that starts with the given cards, and how many were given.

    Raises:
        CardError: a card is malformed, repeated, or not in a deck of this size.
    """
    given = parse_cards(cards)
    deck = deck_cards(num_ranks, num_suits)
    for card in given:
        if card not in deck:
            raise CardError(
                f"card {CARD_NAMES[card]} is not in this deck of {num_ranks} ranks and {num_suits} suits "
                f"({CARD_NAMES[deck[0]]} to {CARD_NAMES[deck[-1]]})"
            )
    return given + [card for card in deck if card not in given], len(given)


def cards_of(mask: int) -> list[int]:
    """Card indices of a card set, highest rank first."""
    mask = int(mask)
    return [card for card in reversed(range(NUM_CARDS)) if mask >> (16 * (card & 3) + (card >> 2)) & 1]


def names_of(cards: Iterable[int]) -> str:
    """``"As Kd"`` of card indices."""
    return " ".join(CARD_NAMES[int(card)] for card in cards)


def mask_of(cards: Iterable[int]) -> np.uint64:
    """The card set of some card indices."""
    mask = 0
    for card in cards:
        mask |= 1 << (16 * (card & 3) + (card >> 2))
    return np.uint64(mask)


@inner
def card_bit(card: Any) -> Any:
    """The card set of one card."""
    return np.uint64(1) << np.uint64((card & 3) * 16 + (card >> 2))


# Of a set of ranks (13 bits): its highest rank.
TOP = np.array([max(bits.bit_length() - 1, 0) for bits in range(1 << 13)], dtype=np.uint8)
_RANKS_MASK = np.uint64(0x1FFF)
_EACH_SUIT = np.uint64(0x0001000100010001)


@inner
def suit_ranks(cards: Any, suit: Any) -> Any:
    """The ranks that a card set holds in a suit, 13 bits."""
    return np.int64((cards >> np.uint64(16 * suit)) & _RANKS_MASK)


@inner
def any_suit(ranks: Any) -> Any:
    """The card set of all cards that have one of some ranks (13 bits)."""
    return np.uint64(ranks) * _EACH_SUIT


@inner
def count(cards: Any) -> Any:
    """How many cards are in a set; or ranks, in a set of ranks."""
    return popcount(cards)


@inner
def count_of(cards: Any, ranks: Any) -> Any:
    """How many cards of a set have one of some ranks (13 bits)."""
    return popcount(cards & any_suit(ranks))


@inner
def mark_set(cards: Any, out: Any, at: Any) -> None:
    """Write 1 to ``out[at + card]`` for each card of a set."""
    for suit in range(4):
        ranks = suit_ranks(cards, suit)
        while ranks:
            top = np.int64(TOP[ranks])
            ranks ^= 1 << top
            out[at + 4 * top + suit] = 1


# --- seats: without division, which is slow and needed dozens of times a step -----------------------------------------


@inner
def clockwise(start: Any, seat: Any, n: Any) -> Any:
    """How many seats clockwise from ``start`` a seat is, 0 to n - 1."""
    steps = np.int64(seat) - start
    return steps + n if steps < 0 else steps


@inner
def next_seat(seat: Any, n: Any) -> Any:
    """The next seat clockwise."""
    return 0 if seat + 1 == n else seat + 1


# --- chance: SplitMix64 (Steele, Lea and Flood 2014), one 64-bit word per table -------------------------------------

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LOW_32 = np.uint64(0xFFFFFFFF)
_U27, _U30, _U31, _U32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@inner
def mix(word: Any) -> Any:
    """SplitMix64's output function: a bijection of 64-bit words."""
    word = (word ^ (word >> _U30)) * _MIX_1
    word = (word ^ (word >> _U27)) * _MIX_2
    return word ^ (word >> _U31)


@inner
def seed_generator(state: Any, seed: Any) -> None:
    """Start ``state.rng`` from a seed. Neighbouring seeds give unrelated streams; 0 is a seed like any other."""
    state.rng = mix(np.uint64(seed) + _GOLDEN)


@inner
def draw_word(state: Any) -> Any:
    """The next 64 random bits of a table's generator."""
    state.rng = state.rng + _GOLDEN
    return mix(state.rng)


@inner
def draw_below(state: Any, bound: Any) -> Any:
    """A uniform integer from 0 to ``bound - 1``, without bias (Lemire 2019)."""
    size = np.uint64(bound)
    product = (draw_word(state) >> _U32) * size
    if (product & _LOW_32) < size:
        threshold = (np.uint64(0x100000000) - size) % size
        while (product & _LOW_32) < threshold:
            product = (draw_word(state) >> _U32) * size
    return np.int64(product >> _U32)


@inner
def shuffle_deck(state: Any, given: Any, needed: Any) -> None:
    """Put a fresh deck in ``state.deck`` and shuffle its first ``needed`` places (Fisher and Yates).

    The first ``given`` places are left as they are; when ``given`` is positive the whole deck was put there before.
    Places from ``needed`` on hold the cards left over, in no particular order.
    """
    size = state.num_ranks * state.num_suits
    if given == 0:
        lowest = 4 * (13 - state.num_ranks)
        if state.num_suits == 4:  # the same as below, in a loop that vectorises
            for place in range(size):
                state.deck[place] = lowest + place
        else:
            for place in range(size):
                state.deck[place] = lowest + 4 * (place // state.num_suits) + place % state.num_suits
    for place in range(given, min(needed, size - 1)):
        other = place + draw_below(state, size - place)
        card = state.deck[place]
        state.deck[place] = state.deck[other]
        state.deck[other] = card
