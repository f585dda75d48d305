"""Features of a seat's information state, for networks that read cards by what they make: layout and shared parts.

A game that defines ``feature_layout(settings)`` and the compiled ``features(...)`` gives, beside its observation, three
groups of numbers: one vector of the seat's *own* view, one of each *other* seat, and one of each *option*, a choice
that is best described by the hand it leads to (a card to pick, cards to keep or to discard). They are functions of
what the seat has seen and of nothing else, and unchanged when suits are renamed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from auction_env.core.jit import inner
from auction_env.games.cards import EMPTY, count, count_of, suit_ranks
from auction_env.games.game import ObservationField
from auction_env.games.hand_strength import from_wheel, high_promise, low_promise, window_counts
from auction_env.games.hands import high_key


class FeatureLayout(NamedTuple):
    """The fields of each group, in order.

    The first field of the groups ``other`` and ``option`` has one entry, 1 where there is such a seat or option.
    """

    own: tuple[ObservationField, ...]
    other: tuple[ObservationField, ...]
    option: tuple[ObservationField, ...]
    max_options: int  # that a seat can have at once
    plain_actions: tuple[int, ...]  # indices of the actions that are never options

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Entries of a vector of each group."""
        return size_of(self.own), size_of(self.other), size_of(self.option)


def size_of(fields: tuple[ObservationField, ...]) -> int:
    """Entries of a vector made of these fields."""
    return sum(field.size for field in fields)


def offset(fields: tuple[ObservationField, ...], name: str) -> int:
    """Where a field starts. Raises KeyError if there is none of that name."""
    start = 0
    for field in fields:
        if field.name == name:
            return start
        start += field.size
    raise KeyError(name)


def hand_fields(prefix: str, whose: str, low: bool) -> tuple[ObservationField, ...]:
    """The fields that ``write_hand`` writes, about the cards ``whose``; ``low``: with those of the low hand."""
    fields = [
        ObservationField(f"{prefix}_category", (9,), f"category of the high hand of {whose}"),
        ObservationField(f"{prefix}_top", (2,), "its first two ranks, deuce 1 to ace 13, over 13", fraction=True),
        ObservationField(f"{prefix}_groups", (2,), "paired ranks over 3, different ranks over 7", fraction=True),
        ObservationField(f"{prefix}_suited", (8,), "cards of the longest suit, 0 to 7"),
        ObservationField(f"{prefix}_suit_live", (1,), "cards of that suit not seen yet, over 13", fraction=True),
        ObservationField(f"{prefix}_window", (6,), "most different ranks among five in a row"),
        ObservationField(
            f"{prefix}_window_live", (2,), "such windows over 10; unseen cards that add to one, over 16", fraction=True
        ),
        ObservationField(f"{prefix}_strength", (1,), "expected strength of the final high hand", fraction=True),
    ]
    if low:
        fields += [
            ObservationField(
                f"{prefix}_low_gap", (9,), "cards short of five ranks up to five, six, ... king, over 5", fraction=True
            ),
            ObservationField(f"{prefix}_low_strength", (1,), "expected strength of the final low hand", fraction=True),
        ]
    return tuple(fields)


_GROUPS, _SUITED, _WINDOW, _STRENGTH, _LOW_GAP, _LOW_STRENGTH = (
    offset(hand_fields("", "", True), name)
    for name in ("_groups", "_suited", "_window", "_strength", "_low_gap", "_low_strength")
)
_TOP = offset(hand_fields("", "", True), "_top")


@inner
def write_hand(cards: Any, live: Any, draws: Any, pace: Any, size: Any, high: Any, out: Any, at: Any) -> None:
    """Write the fields of ``hand_fields`` without those of the low hand.

    Args:
        cards: the card set.
        live: cards that may still come, as a set.
        draws: cards still to be added.
        pace: cards among which each of them is chosen, over the number of live ones.
        size: cards of the final hand.
        high: strengths by category, see ``hand_strength``.
        out: zeros.
        at: where to write.
    """
    if cards != EMPTY:
        key = high_key(cards)
        out[at + (key >> 20)] = 1
        out[at + _TOP] = (key >> 16 & 15) / 13.0
        out[at + _TOP + 1] = (key >> 12 & 15) / 13.0
    a, b, c, d = suit_ranks(cards, 0), suit_ranks(cards, 1), suit_ranks(cards, 2), suit_ranks(cards, 3)
    one, two = a | b | c | d, (a & b) | (c & d) | ((a | b) & (c | d))
    out[at + _GROUPS] = count(two) / 3.0
    out[at + _GROUPS + 1] = count(one) / 7.0
    _write_suit(cards, live, out, at + _SUITED)
    _write_window(one, live, out, at + _WINDOW)
    out[at + _STRENGTH] = high_promise(cards, live, draws, pace, size, high)


@inner
def write_low(cards: Any, live: Any, draws: Any, pace: Any, size: Any, low: Any, out: Any, at: Any) -> None:
    """Write the fields of the low hand of ``hand_fields``, where the high ones start ``at``. Arguments as there."""
    ranks = suit_ranks(cards, 0) | suit_ranks(cards, 1) | suit_ranks(cards, 2) | suit_ranks(cards, 3)
    held = (ranks << 1 & 0x1FFF) | (ranks >> 12)
    for top in range(5, 14):
        out[at + _LOW_GAP + top - 5] = (5 - min(5, count(held & ((1 << top) - 1)))) / 5.0
    out[at + _LOW_STRENGTH] = low_promise(cards, live, draws, pace, size, low)


@inner
def _write_suit(cards: Any, live: Any, out: Any, at: Any) -> None:
    most, alive = 0, 0
    for suit in range(4):
        number, there = count(suit_ranks(cards, suit)), count(suit_ranks(live, suit))
        if number > most or (number == most and there > alive):  # so that no suit comes before another
            most, alive = number, there
    out[at + most] = 1
    out[at + 8] = alive / 13.0


@inner
def _write_window(ranks: Any, live: Any, out: Any, at: Any) -> None:
    wheel = (ranks << 1) | (ranks >> 12)  # the ace below the deuce as well
    ones, twos, fours = window_counts(wheel)
    most, best = 0, 0x3FF
    for digit, windows in ((4, fours), (2, twos), (1, ones)):
        if best & windows:
            most, best = most + digit, best & windows
    missing = (best | best << 1 | best << 2 | best << 3 | best << 4) & ~wheel
    out[at + most] = 1
    out[at + 6] = count(best) / 10.0
    out[at + 7] = count_of(live, from_wheel(missing)) / 16.0


@inner
def rank_counts(cards: Any, rank: Any) -> Any:
    """How many cards of a rank a set holds."""
    return count_of(cards, 1 << rank)
