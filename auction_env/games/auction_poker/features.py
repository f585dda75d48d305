"""What a seat's information state means for its hand: the features of Auction Poker (see ``games.features``).

They say in the terms that decide the game what the observation says card by card: what the own hand is and may become,
what the others show, what each card of the row would make. *Own*: the table and the own hand. *Other*: one vector of
each other seat, the next clockwise first. *Option*: one of each card of the row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.core.jit import inner
from auction_env.games.auction_poker.rules import exposed_set, hole_set
from auction_env.games.auction_poker.state import (
    BET,
    CHECK,
    MAX_AUCTIONS,
    MAX_PLAYERS,
    MAX_RAISES,
    PICK,
    Settings,
    action_names,
)
from auction_env.games.cards import EMPTY, card_bit, clockwise, count, mix, suit_ranks
from auction_env.games.features import FeatureLayout, hand_fields, offset, rank_counts, write_hand, write_low
from auction_env.games.game import ObservationField
from auction_env.games.hand_strength import high_promise, low_promise, whole_deck
from auction_env.games.hands import compare_by_rank, compare_low, few_key, high_key, low_key, low_ranks

# Strength by category of the high hand, and by highest rank of the low hand (ace 1; the last entry: a pair), for 2 to 7
# seats: how often such a hand beats another one that goes the same way, as measured when ``rules`` plays itself.
HIGH_STRENGTH = np.array(
    (
        (0, 0.001, 0.263, 0.598, 0.695, 0.798, 0.925, 0.992, 0.998, 1),
        (0, 0.001, 0.129, 0.389, 0.466, 0.587, 0.819, 0.977, 0.994, 1),
        (0, 0.001, 0.068, 0.255, 0.315, 0.417, 0.701, 0.953, 0.988, 1),
        (0, 0.001, 0.028, 0.15, 0.199, 0.267, 0.572, 0.907, 0.979, 1),
        (0, 0.001, 0.013, 0.08, 0.116, 0.154, 0.426, 0.841, 0.973, 1),
        (0, 0.001, 0.009, 0.046, 0.072, 0.101, 0.314, 0.756, 0.965, 1),
    )
)
LOW_STRENGTH = np.array(
    (
        (1, 1, 1, 1, 1, 0.955, 0.858, 0.672, 0.422, 0.159, 0.034, 0.006, 0.004, 0.002, 0),
        (1, 1, 1, 1, 1, 0.875, 0.658, 0.409, 0.223, 0.079, 0.021, 0.006, 0.004, 0.002, 0),
        (1, 1, 1, 1, 1, 0.763, 0.478, 0.288, 0.151, 0.053, 0.015, 0.006, 0.004, 0.002, 0),
        (1, 1, 1, 1, 1, 0.62, 0.359, 0.214, 0.104, 0.041, 0.014, 0.007, 0.004, 0.002, 0),
        (1, 1, 1, 1, 1, 0.537, 0.325, 0.176, 0.083, 0.037, 0.014, 0.007, 0.004, 0.002, 0),
        (1, 1, 1, 1, 1, 0.539, 0.327, 0.168, 0.075, 0.032, 0.014, 0.007, 0.004, 0.002, 0),
    )
)

# --- layout ---------------------------------------------------------------------------------------------------------

_LEVELS = 6  # bets and raises told apart
_Field = ObservationField
OWN = (
    _Field("phase", (4,), "which phase: bid, pick, bet, declare"),
    _Field("auction", (MAX_AUCTIONS,), "auctions finished; empty after the last of seven"),
    _Field("num_in", (MAX_PLAYERS - 1,), "seats dealt in, 2 to 7"),
    *hand_fields("hand", "the own cards", low=True),
    _Field("hand_share", (2,), "its strengths, high and low, to the power of half the rivals", fraction=True),
    *hand_fields("shown", "the own exposed cards", low=True),
    _Field("ranks", (3, 13), "whether the seat holds at least one, two, three cards of each rank"),
    _Field("live_ranks", (13,), "cards of each rank not seen yet, over 4", fraction=True),
    _Field("hole_ranks", (13,), "own concealed cards of each rank, over 4", fraction=True),
    _Field("pot", (2,), "the pot over the reserve, and over that of all seats", fraction=True),
    _Field("paid", (1,), "chips paid in this deal, over the reserve", fraction=True),
    _Field("owed", (5,), "bets and raises to call, 0 to 4 or more"),
    _Field("level", (_LEVELS,), "bets and raises made, 0 to 5 or more"),
    _Field("can_raise", (1,), "whether the bet may still be raised"),
    _Field("active", (MAX_PLAYERS,), "seats that have not folded, 1 to 7"),
    _Field("to_answer", (1,), "seats that have to act before the betting ends, over all", fraction=True),
    _Field("tie_place", (1,), "place in the order of equal bids, over n - 1", fraction=True),
    _Field("position", (1,), "seats clockwise from the dealer, over n", fraction=True),
    _Field("bids", (MAX_AUCTIONS,), "own bid in each auction, over the highest", fraction=True),
    _Field("auctions_left", (1,), "auctions to come or on, over 7", fraction=True),
    _Field("turn", (1,), "choices made in this phase, over n", fraction=True),
    _Field(
        "wins", (4,), "after the auctions: chance to have the best high hand, low hand, both, either", fraction=True
    ),
)
OTHER = (
    _Field("dealt_in", (1,), "whether the seat is in this deal"),
    _Field("folded", (1,), "whether it folded"),
    *hand_fields("shown", "its exposed cards", low=True),
    _Field("ranks", (2, 13), "whether it shows at least one, two cards of each rank"),
    _Field("bids", (MAX_AUCTIONS,), "its bid in each finished auction, over the highest", fraction=True),
    _Field("mean_bid", (1,), "mean of them", fraction=True),
    _Field("steps", (1,), "seats clockwise from the observer, over n", fraction=True),
    _Field("ties_ahead", (1,), "whether it comes first when bids are equal"),
    _Field("last_bet", (6,), "its last betting action: none, check, bet, call, raise, fold"),
    _Field("bets", (5,), "how often it checked, bet, called, raised, folded, over the most", fraction=True),
    _Field("level", (1,), "bets and raises it paid, over the most", fraction=True),
    _Field("opener", (1,), "whether it opened the betting"),
    _Field("bid_now", (1,), "while cards are picked: its bid, over the highest", fraction=True),
    _Field("later", (1,), "whether it picks, or sits, after the observer"),
    _Field("next_to_pick", (1,), "whether it picks next after the observer"),
    _Field(
        "beaten", (4,), "chances, its concealed cards being any: beaten high, tied; beaten low, tied", fraction=True
    ),
    _Field("behind", (1,), "whether the own high hand beats what it shows"),
)
OPTION = (
    _Field("present", (1,), "1"),
    _Field("rank", (13,), "rank of the card"),
    *hand_fields("hand", "the own cards with it", low=True),
    _Field("hand_share", (2,), "its strengths, high and low, to the power of half the rivals", fraction=True),
    _Field("rival_groups", (1,), "best that it makes of what a rival shows: categories gained, over 3", fraction=True),
    _Field("rival_suited", (1,), "most cards of its suit that a rival shows, over 5", fraction=True),
    _Field("rival_gain", (2,), "most strength that it adds to what a rival shows, high and low", fraction=True),
    _Field("rival_strength", (2,), "greatest strength of what a rival shows with it, high and low", fraction=True),
)


def feature_layout(settings: Settings) -> FeatureLayout:
    """The fields of each group; the same for any number of seats and auctions."""
    return FeatureLayout(OWN, OTHER, OPTION, settings.num_players, tuple(range(CHECK, len(action_names(settings)))))


def _starts(fields: tuple[ObservationField, ...], *names: str) -> tuple[int, ...]:
    return tuple(offset(fields, name) for name in names)


_HAND, _LOW_HAND = hand_fields("", "", low=True), offset(hand_fields("", "", low=True), "_low_gap")
_O_HAND, _O_SHARE, _O_SHOWN, _O_RANKS, _O_LIVE, _O_HOLE = _starts(
    OWN, "hand_category", "hand_share", "shown_category", "ranks", "live_ranks", "hole_ranks"
)
_O_AUCTION, _O_NUM_IN, _O_POT, _O_PAID, _O_OWED, _O_LEVEL = _starts(
    OWN, "auction", "num_in", "pot", "paid", "owed", "level"
)
_O_CAN_RAISE, _O_ACTIVE, _O_TO_ANSWER, _O_TIE, _O_POSITION = _starts(
    OWN, "can_raise", "active", "to_answer", "tie_place", "position"
)
_O_BIDS, _O_LEFT, _O_TURN, _O_WINS = _starts(OWN, "bids", "auctions_left", "turn", "wins")
_S_SHOWN, _S_RANKS, _S_BIDS, _S_MEAN, _S_STEPS, _S_TIES = _starts(
    OTHER, "shown_category", "ranks", "bids", "mean_bid", "steps", "ties_ahead"
)
_S_LAST, _S_BETS, _S_LEVEL, _S_OPENER, _S_BID_NOW = _starts(OTHER, "last_bet", "bets", "level", "opener", "bid_now")
_S_LATER, _S_NEXT, _S_BEATEN, _S_BEHIND = _starts(OTHER, "later", "next_to_pick", "beaten", "behind")
_C_RANK, _C_HAND, _C_SHARE, _C_GROUPS = _starts(OPTION, "rank", "hand_category", "hand_share", "rival_groups")
_C_SUITED, _C_GAIN, _C_STRENGTH = _starts(OPTION, "rival_suited", "rival_gain", "rival_strength")
_HIGH_AT, _LOW_AT = offset(_HAND, "_strength"), offset(_HAND, "_low_strength")  # in the fields of a hand

# --- writing --------------------------------------------------------------------------------------------------------


@inner
def features(s: Any, me: Any, own: Any, others: Any, options: Any, actions: Any, cards: Any) -> Any:
    """Write the features of seat ``me``; not once the deal is over.

    Args:
        s: the table.
        me: the seat; it need not be the one to act.
        own: float32, zeros, one vector of the group.
        others: float32[num_players - 1, size], zeros.
        options: float32[max_options, size], zeros.
        actions: int64[max_options], -1 in each: gets the action of each option that may be chosen now.
        cards: uint64[52], to work in.

    Returns:
        how many options there are.
    """
    hole, shown = hole_set(s, me), exposed_set(s, me)
    hand, live = hole | shown, _live(s, hole)
    _write_own(s, me, hand, hole, shown, live, own)
    for steps in range(1, s.num_players):
        seat = (me + steps) % s.num_players
        if s.dealt_in[seat]:
            _write_other(s, me, seat, steps, live, others[steps - 1])
    if s.phase >= BET:
        _write_wins(s, me, hand, live, own, others, cards)
        return 0
    for place in range(s.row_count):
        _write_option(s, np.int64(s.row[place]), hand, live, options[place])
        if s.phase == PICK:
            actions[place] = s.row[place]
    for steps in range(1, s.num_players):
        seat = (me + steps) % s.num_players
        if s.dealt_in[seat] and (s.phase != PICK or others[steps - 1, _S_LATER] != 0):  # who may yet take a card
            _write_rival(s, exposed_set(s, seat), live, others[steps - 1], options)
    return np.int64(s.row_count)


@inner
def _live(s: Any, hole: Any) -> Any:
    """The cards that one who holds ``hole`` has not seen."""
    cards = whole_deck(s) & ~hole
    for place in range(s.num_in * s.hole_cards, s.num_in * (s.hole_cards + min(s.auction + 1, s.num_auctions))):
        cards &= ~card_bit(s.deck[place])
    return cards


@inner
def _pace(s: Any) -> Any:
    """Cards among which a seat chooses one, at the mean over its places in the order, over those not seen."""
    unseen = s.num_ranks * s.num_suits - s.hole_cards - np.int64(s.num_in) * min(s.auction + 1, s.num_auctions)
    return 0.5 * (np.int64(s.num_in) + 1) / max(unseen, 1)


@inner
def _write_cards(s: Any, cards: Any, live: Any, draws: Any, out: Any, at: Any) -> None:
    """The fields of a hand, with as many cards to come."""
    n, pace, size = s.num_in, _pace(s), s.hole_cards + s.num_auctions
    write_hand(cards, live, draws, pace, size, HIGH_STRENGTH[n - 2], out, at)
    write_low(cards, live, draws, pace, size, LOW_STRENGTH[n - 2], out, at)


@inner
def _write_share(s: Any, out: Any, hand: Any, at: Any) -> None:
    rivals = 0.5 * (s.num_in - 1)  # that go the same way
    out[at] = out[hand + _HIGH_AT] ** rivals
    out[at + 1] = out[hand + _LOW_AT] ** rivals


@inner
def _write_own(s: Any, me: Any, hand: Any, hole: Any, shown: Any, live: Any, own: Any) -> None:
    n, draws = np.int64(s.num_players), np.int64(s.num_auctions - s.auction)
    own[s.phase] = 1
    if s.auction < MAX_AUCTIONS:
        own[_O_AUCTION + s.auction] = 1
    own[_O_NUM_IN + s.num_in - 2] = 1
    _write_cards(s, hand, live, draws, own, _O_HAND)
    _write_share(s, own, _O_HAND, _O_SHARE)
    _write_cards(s, shown, live, draws, own, _O_SHOWN)
    for rank in range(13):
        number = rank_counts(hand, rank)
        for least in range(1, 4):
            own[_O_RANKS + 13 * (least - 1) + rank] = number >= least
        own[_O_LIVE + rank] = rank_counts(live, rank) / 4.0
        own[_O_HOLE + rank] = rank_counts(hole, rank) / 4.0
    own[_O_POT] = s.pot / s.reserve
    own[_O_POT + 1] = s.pot / (s.reserve * n)
    own[_O_PAID] = s.paid[me] / s.reserve
    owed: Any = min(np.int64(s.level - s.seat_level[me]), 4)
    level: Any = min(np.int64(s.level), _LEVELS - 1)
    own[_O_OWED + owed] = 1
    own[_O_LEVEL + level] = 1
    own[_O_CAN_RAISE] = s.level <= s.max_raises
    own[_O_ACTIVE + s.active - 1] = 1
    own[_O_TO_ANSWER] = s.to_answer / n
    own[_O_TIE] = s.tie_place[me] / (n - 1)
    own[_O_POSITION] = clockwise(s.dealer, me, n) / n
    for auction in range(s.auction):
        own[_O_BIDS + auction] = s.bids[auction, me] / s.max_bid
    own[_O_LEFT] = draws / MAX_AUCTIONS
    own[_O_TURN] = s.turn / n if s.phase == PICK else 0.0  # how many have bid or declared is nobody's to use


@inner
def _pick_place(s: Any, seat: Any) -> Any:
    """A seat's place in the picking order."""
    found: Any = 0
    for place in range(s.num_in):
        found += place * (s.pick_order[place] == seat)
    return found


@inner
def _write_other(s: Any, me: Any, seat: Any, steps: Any, live: Any, out: Any) -> None:
    n = np.int64(s.num_players)
    shown = exposed_set(s, seat)
    out[0] = 1
    out[1] = s.folded[seat]
    _write_cards(s, shown, live, np.int64(s.num_auctions - s.auction), out, _S_SHOWN)
    for rank in range(13):
        number = rank_counts(shown, rank)
        out[_S_RANKS + rank] = number >= 1
        out[_S_RANKS + 13 + rank] = number >= 2
    total = 0
    for auction in range(s.auction):
        out[_S_BIDS + auction] = s.bids[auction, seat] / s.max_bid
        total += s.bids[auction, seat]
    out[_S_MEAN] = total / max(s.auction * s.max_bid, 1)
    out[_S_STEPS] = steps / n
    out[_S_TIES] = s.tie_place[seat] < s.tie_place[me]
    number = s.num_bets[seat]
    out[_S_LAST + (s.bets[seat, number - 1] if number else 0)] = 1
    for place in range(number):
        out[_S_BETS + s.bets[seat, place] - 1] += 1.0 / (MAX_RAISES + 2)
    out[_S_LEVEL] = s.seat_level[seat] / (s.max_raises + 1)
    out[_S_OPENER] = s.opener == seat
    if s.phase == PICK:
        lead = _pick_place(s, seat) - _pick_place(s, me)
        out[_S_BID_NOW] = s.bids[s.auction, seat] / s.max_bid
        out[_S_LATER] = lead > 0
        out[_S_NEXT] = lead == 1
    else:
        out[_S_LATER] = clockwise(s.dealer, seat, n) > clockwise(s.dealer, me, n)


@inner
def _write_option(s: Any, card: Any, hand: Any, live: Any, out: Any) -> None:
    """A card of the row: what it makes of the own hand."""
    out[0] = 1
    out[_C_RANK + (card >> 2)] = 1
    _write_cards(s, hand | card_bit(card), live, np.int64(s.num_auctions - s.auction - 1), out, _C_HAND)
    _write_share(s, out, _C_HAND, _C_SHARE)


@inner
def _write_rival(s: Any, shown: Any, live: Any, other: Any, options: Any) -> None:
    """What each card of the row makes of the cards that a rival shows, where that is more than of those before it."""
    draws, pace, size = np.int64(s.num_auctions - s.auction - 1), _pace(s), s.hole_cards + s.num_auctions
    groups, table = few_key(shown) >> 20, s.num_in - 2
    for place in range(s.row_count):
        card, out = np.int64(s.row[place]), options[place]
        cards = shown | card_bit(card)
        high = high_promise(cards, live, draws, pace, size, HIGH_STRENGTH[table])
        low = low_promise(cards, live, draws, pace, size, LOW_STRENGTH[table])
        out[_C_GROUPS] = max(out[_C_GROUPS], np.float32(((few_key(cards) >> 20) - groups) / 3.0))
        out[_C_SUITED] = max(out[_C_SUITED], np.float32(count(suit_ranks(shown, card & 3)) / 5.0))
        out[_C_GAIN] = max(out[_C_GAIN], np.float32(high - other[_S_SHOWN + _HIGH_AT]))
        out[_C_GAIN + 1] = max(out[_C_GAIN + 1], np.float32(low - other[_S_SHOWN + _LOW_AT]))
        out[_C_STRENGTH] = max(out[_C_STRENGTH], np.float32(high))
        out[_C_STRENGTH + 1] = max(out[_C_STRENGTH + 1], np.float32(low))


# --- after the auctions: chances against what the others may hold -----------------------------------------------------

_SAMPLES = 256  # of concealed hands, where there are more than two concealed cards a seat
_STREAM, _GOLDEN = (
    np.uint64(0x5EED0FBEA7E4),
    np.uint64(0x9E3779B97F4A7C15),
)  # the same draws always: a feature is a function of what the seat has seen


@inner
def _write_wins(s: Any, me: Any, hand: Any, live: Any, own: Any, others: Any, cards: Any) -> None:
    """The chance to beat each seat still in, its concealed cards being any unseen ones, and to beat all of them."""
    high, low = high_key(hand), low_key(hand)
    number = _list_by_rank(live, cards)
    all_high, all_low = 1.0, 1.0
    for steps in range(1, s.num_players):
        seat = (me + steps) % s.num_players
        if not s.dealt_in[seat] or s.folded[seat]:
            continue
        out = others[steps - 1]
        _write_beaten(s, high, low, exposed_set(s, seat), live, cards, number, out)
        out[_S_BEHIND] = high > s.exposed_key[seat]
        all_high *= out[_S_BEATEN] + 0.5 * out[_S_BEATEN + 1]
        all_low *= out[_S_BEATEN + 2] + 0.5 * out[_S_BEATEN + 3]
    own[_O_WINS] = all_high
    own[_O_WINS + 1] = all_low
    own[_O_WINS + 2] = all_high * all_low
    own[_O_WINS + 3] = max(all_high, all_low)


@inner
def _list_by_rank(cards: Any, out: Any) -> Any:
    """Write the cards of a set as card sets of one, from the lowest rank up; return how many."""
    number = 0
    for card in range(52):
        bit = card_bit(card)
        if cards & bit != EMPTY:
            out[number] = bit
            number += 1
    return number


@inner
def _write_beaten(s: Any, high: Any, low: Any, shown: Any, live: Any, cards: Any, number: Any, out: Any) -> None:
    """Exactly, over all pairs, where two cards are concealed; otherwise over hands drawn, the same ones always."""
    hands = 0
    if s.hole_cards == 2:
        hands = number * (number - 1) // 2
        _compare_pairs(high, low, shown, live, cards, out)
    else:
        word = _STREAM
        for _ in range(_SAMPLES):
            other = shown
            for _ in range(s.hole_cards):
                word, bit = _draw_card(word, other, cards, number)
                other |= bit
            _count(high - high_key(other), 1, out, _S_BEATEN)
            _count(low_key(other) - low, 1, out, _S_BEATEN + 2)
            hands += 1
    for place in range(4):
        out[_S_BEATEN + place] /= max(hands, 1)


@inner
def _draw_card(word: Any, taken: Any, cards: Any, number: Any) -> Any:
    """A card of the list that is not taken yet, and the stream's next word."""
    bit = EMPTY
    while bit == EMPTY or taken & bit != EMPTY:
        word = word + _GOLDEN
        bit = cards[np.int64(mix(word) >> np.uint64(33)) % number]
    return word, bit


@inner
def _count(lead: Any, times: Any, out: Any, at: Any) -> None:
    """Count so many more hands beaten or tied, by the sign of the lead over them."""
    out[at] += times * (lead > 0)
    out[at + 1] += times * (lead == 0)


@inner
def _most_suited(cards: Any) -> Any:
    """How many cards of one suit a set holds at most."""
    most: Any = 0
    for suit in range(4):
        most = max(most, count(suit_ranks(cards, suit)))
    return most


@inner
def _flush_suits(cards: Any) -> Any:
    """All cards of the suits in which two more could make a flush."""
    found = EMPTY
    for suit in range(4):
        if count(suit_ranks(cards, suit)) >= 3:
            found |= np.uint64(0x1FFF) << np.uint64(16 * suit)
    return found


@inner
def _compare_pairs(high: Any, low: Any, shown: Any, live: Any, cards: Any, out: Any) -> None:
    """Compare with ``shown`` and each pair of live cards: pairs of the same ranks make the same hand, but for flushes.

    ``cards`` lists the live ones by rank.
    """
    needed, suits, ranks, counts = 5 - _most_suited(shown), _flush_suits(shown), low_ranks(low), 0
    for rank in range(13):
        counts |= rank_counts(live, rank) << 3 * rank
    upper = 0  # where the cards of the rank begin
    for rank in range(13):
        number, lower = counts >> 3 * rank & 7, 0
        for other in range(rank + 1):
            others = counts >> 3 * other & 7
            pairs = number * others if other < rank else number * (number - 1) // 2
            if pairs > 0:
                hand = shown | cards[upper] | cards[lower + (other == rank)]
                _count(compare_low(low, ranks, hand), pairs, out, _S_BEATEN + 2)
                if needed <= 2:
                    for first in range(number):
                        suited = cards[upper + first] & suits != EMPTY
                        for second in range(others if other < rank else first):
                            if suited + (cards[lower + second] & suits != EMPTY) < needed:
                                continue
                            held = shown | cards[upper + first] | cards[lower + second]
                            if _most_suited(held) >= 5:
                                _count(high - high_key(held), 1, out, _S_BEATEN)
                                pairs -= 1
                _count(compare_by_rank(high, hand), pairs, out, _S_BEATEN)
            lower += others
        upper += number
