"""Features of Auction Flop Poker for a network that reads cards by what they make, not one by one.

For the seat to act there are three things, all float32 and about -1 to 2 in size:

- ``g[G]``: the seat's own hand, the flop on the table, the money and the auction (``GLOBAL``);
- ``o[n - 1, O]``: a row for each other seat, clockwise from the actor: what is public about it (``SEAT``);
- ``c[k, C]``: a row for each *option*, the hand that a choice would make (``OPTION``): the 2**hand_size discards in the
  discard phase (k = 32 by default), and else the subsets 1 to 7 of the flop on the table. While a seat bids or may
  refuse, options tell what the flop is worth; when it keeps, they are its actions.

Everything is a function of what the seat has seen in this deal: resampling what it cannot know changes nothing. Suits
count only by how many cards share one, so that renaming suits changes nothing either. The chip values ("worth", "gain")
are those that the scripted policy ``rules`` goes by. The compiled writers allocate nothing.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from auction_env.core.jit import inner
from auction_env.games.auction_flop.rules import flop_up, hand_set, hole_set
from auction_env.games.auction_flop.state import (
    BID,
    DISCARD,
    DISCARD_0,
    KEEP,
    KEEP_0,
    MAKE_REFUSAL,
    MAX_FLOP,
    MAX_HAND,
    NEVER,
    NOT_YET,
    REFUSE,
    Settings,
)
from auction_env.games.cards import EMPTY, NUM_CARDS, card_bit, clockwise, count, count_of, next_seat, suit_ranks
from auction_env.games.features import FeatureLayout, rank_counts, size_of
from auction_env.games.game import ObservationField
from auction_env.games.hand_strength import high_promise, whole_deck
from auction_env.games.hands import high_key

# Strength of a final hand by category, for 2 to 8 seats: how often it beats another one when about half of the hands
# are mended (as measured when an earlier form of this policy played itself).
STRENGTHS = np.array(
    (
        (0, 0.48, 0.909, 0.962, 0.986, 0.993, 0.997, 0.999, 1, 1),
        (0, 0.198, 0.845, 0.914, 0.946, 0.977, 0.997, 0.999, 1, 1),
        (0, 0.086, 0.64, 0.813, 0.897, 0.96, 0.996, 0.999, 1, 1),
        (0, 0.12, 0.54, 0.75, 0.86, 0.93, 0.985, 0.999, 0.999, 1),
        (0, 0.2, 0.55, 0.74, 0.85, 0.92, 0.97, 0.998, 0.999, 1),
        (0, 0.25, 0.56, 0.74, 0.85, 0.92, 0.97, 0.997, 1, 1),
        (0, 0.25, 0.56, 0.74, 0.85, 0.92, 0.97, 0.997, 1, 1),
    )
)

# --- the layout -----------------------------------------------------------------------------------------------------


def offsets_of(name: str, fields: tuple[ObservationField, ...]) -> Any:
    """Where each group starts, as a named tuple that compiled code reads as constants."""
    starts = np.cumsum([0, *(field.size for field in fields)])[:-1]
    made: Any = namedtuple(name, [field.name for field in fields])  # type: ignore[misc]
    return made(*(int(start) for start in starts))


_Field = ObservationField
MAX_SEATS = 8
CHIPS = 20.0  # chips that count as 1 in the features of money
STEPS = 16  # chips that ``price_steps`` tells apart
TIED = 1e-3  # chips by which options count as equally good: so that no suit comes before another
VENTURE = 3.0  # chips that rules' standard style sees in a discard, over what it promises in the present pot

HAND = (
    _Field("category", (9,), "category of the cards as they are, one-hot"),
    _Field("top", (3,), "the three first ranks of their key, deuce 1 to ace 13, over 13"),
    _Field("short", (6,), "cards missing to a whole hand, one-hot"),
    _Field("suited", (1,), "most cards of one suit, over 5"),
    _Field("flush", (2,), "whether all are of one suit; then the live cards of that suit over 13"),
    _Field(
        "straight", (2,), "windows of five ranks that hold all of them, over 5; live cards that fill these, over 16"
    ),
    _Field("outs", (3,), "live cards of the ranks held once, twice, three times, over 12, 4 and 2"),
    _Field("promise", (2,), "chance to beat one other hand, by rules' estimate; to beat all of them"),
    _Field("share", (1,), "share of the pot to expect with that"),
    _Field("worth", (1,), "chips of the pot to expect with that, over CHIPS"),
)
HAND_AT, HAND_SIZE = offsets_of("HandAt", HAND), size_of(HAND)

GLOBAL = (
    _Field("phase", (4,), "discard, bid, refuse, keep"),
    _Field("seats", (MAX_SEATS - 1,), "2 to 8 seats, one-hot"),
    _Field("hand", (HAND_SIZE,), "the own hand as it is, see HAND"),
    _Field("ranks", (3, 13), "ranks held at least once, twice, three times"),
    _Field("live_ranks", (13,), "cards of each rank that may still come, over 4"),
    _Field("flop_ranks", (13,), "cards of each rank in the flop on the table, over 2"),
    _Field("flop_equal", (2,), "most cards of the flop of one suit and of one rank, less 1, over 2"),
    _Field("chips", (3,), "pot over CHIPS and over 10 * CHIPS; own stack over 5 * CHIPS"),
    _Field("paid", (1,), "own chips in the pot over CHIPS"),
    _Field("price_steps", (STEPS,), "whether the highest bid is at least 1, 2, ... 16"),
    _Field("price", (2,), "highest bid over CHIPS; the next one over the pot"),
    _Field("refusal", (1,), "what a refusal costs now, over 5"),
    _Field("first_voice", (1,), "whether the actor has the first voice"),
    _Field("bid_stands", (1,), "whether somebody has bid for the flop"),
    _Field("to_pass", (MAX_SEATS,), "open seats that have yet to pass for the auction to end, the actor too, one-hot"),
    _Field("open", (MAX_SEATS + 1,), "seats that lack cards, one-hot"),
    _Field("to_discard", (1,), "seats that have yet to discard, over the seats"),
    _Field("lacking", (2,), "cards that the other seats lack, over 10; the most that one of them lacks, over 5"),
    _Field("dealer", (1,), "steps clockwise from the dealer, over the seats"),
    _Field("flops", (1,), "flops turned up so far, over 10"),
    _Field("stock", (2,), "cards in the stock, over 52; whether it has been reshuffled"),
    _Field("best_worth", (1,), "worth of the best option over CHIPS"),
    _Field(
        "gain", (3,), "chips that the best option brings over doing without: over CHIPS; over 5 and over 1, in [-1, 1]"
    ),
    _Field("surplus", (3,), "the gain less what a bid costs, or than not refusing: as ``gain``"),
)
G_AT = offsets_of("GlobalAt", GLOBAL)

SEAT = (
    _Field("present", (1,), "1"),
    _Field("distance", (1,), "steps clockwise from the actor, over the seats"),
    _Field("after_dealer", (1,), "whether it acts after the actor in the discard round"),
    _Field("discarded", (7,), "cards it discarded, 0 to 5, or not yet, one-hot"),
    _Field("short", (6,), "cards it lacks, one-hot"),
    _Field("next_open", (1,), "whether it is the next open seat"),
    _Field("first_voice", (1,), "whether it has the first voice"),
    _Field("bidder", (1,), "whether its bid is the highest"),
    _Field("passed", (1,), "whether it has passed since the last bid, or refused the flop"),
    _Field("chips", (2,), "stack over 5 * CHIPS; chips it paid in this deal, over CHIPS"),
    _Field("bought", (2,), "flops it got, over 5; cards it kept of them, over 5"),
    _Field("prices", (2,), "price of its last flop, over CHIPS; refusals before it got it, over 5"),
    _Field("kept", (3,), "cards it kept of its last flop, one-hot"),
    _Field("kept_ranks", (13,), "expected cards of each rank that it kept, over 2"),
    _Field("kept_equal", (2,), "most cards of its flops that may be of one suit and of one rank, over 5 and over 3"),
)
O_AT = offsets_of("SeatAt", SEAT)

OPTION = (
    _Field("present", (1,), "1: the option exists (a chance of it need not)"),
    _Field("hand", (HAND_SIZE,), "the hand that it makes, see HAND"),
    _Field("cards", (6,), "cards discarded or kept, one-hot"),
    _Field("fee", (1,), "chips that it costs, over CHIPS"),
    _Field("gain", (2,), "chips it brings over the hand as it is: over CHIPS; over 5, in [-1, 1]"),
    _Field("behind", (3,), "chips by which it is worse than the best option, as rules values it: over CHIPS, 5 and 1"),
    _Field("best", (1,), "whether it is the best option as rules values it, or as good"),
)
C_AT = offsets_of("OptionAt", OPTION)

FLOP_OPTIONS = (1 << MAX_FLOP) - 1
MAX_OPTIONS = 1 << MAX_HAND
# Subset x of the flop is option x - 1; subset x of the hand, to discard, is option x.


@inner
def options_of(s: Any) -> Any:
    """How many options the seat to act has rows for: of these ``present`` marks the ones that the rules allow."""
    return 1 << np.int64(s.hand_size) if s.phase == DISCARD else FLOP_OPTIONS


@inner
def option_action(phase: Any, option: Any) -> Any:
    """The action that takes an option; -1 where it is none, as no cards are chosen now."""
    if phase == DISCARD:
        return DISCARD_0 + option
    return KEEP_0 + 1 + option if phase == KEEP else -1


@inner
def live_cards(s: Any, me: Any) -> Any:
    """Cards that may still come: not its own, nor in a flop since the stock was last shuffled."""
    cards = whole_deck(s)
    first = 0
    if s.last_shuffle == NEVER:
        cards &= ~hole_set(s, me)
    else:
        cards &= ~hand_set(s, me)
        first = s.last_shuffle
    for flop in range(first, s.num_flops):
        for place in range(s.flop_size):
            cards &= ~card_bit(s.flops[flop, place])
    return cards


@inner
def without(hand: Any, subset: Any) -> Any:
    """A hand without the cards at some places of its sorted order (highest rank first, then s h d c)."""
    kept, place = EMPTY, 0
    for below in range(NUM_CARDS):
        bit = card_bit(NUM_CARDS - 1 - below)
        if hand & bit:
            if subset >> place & 1 == 0:
                kept |= bit
            place += 1
    return kept


# --- what a hand promises -------------------------------------------------------------------------------------------


class Stakes(NamedTuple):
    """What hands are valued by: the same for all options of a decision."""

    live: Any  # cards that may still come, as a set
    num_live: Any
    pace: Any  # cards offered for each card to come, over the live ones
    pot: Any  # chips that rules expects in it
    rivals: Any
    hand_size: Any


@inner
def stakes_of(s: Any, me: Any) -> Any:
    """What ``me`` values hands by (as ``rules`` does)."""
    waiting = 0  # other seats that may still want flops
    for seat in range(s.num_players):
        waiting += seat != me and (s.discarded[seat] == NOT_YET or s.held[seat] < s.hand_size)
    live = live_cards(s, me)
    number = count(live)
    reach = s.flop_size * (0.8 if waiting else 1.0)
    return Stakes(live, number, reach / max(number, 1), s.pot + 2.0 * waiting, s.num_players - 1, np.int64(s.hand_size))


@inner
def share_of(s: Any, strength: Any, rivals: Any) -> Any:
    """The share of the pot for a hand that beats each other one with this chance (B9)."""
    strength = min(max(strength, 0.01), 0.99)
    parts, share, chance = 0.0, 0.0, 1.0
    for _ in range(rivals):
        chance *= strength
    odds = (1.0 - strength) / strength
    for better in range(rivals + 1):
        parts += s.shares[better]
        share += chance * s.shares[better]
        chance *= (rivals - better) * odds / (better + 1)
    return share / parts


@inner
def write_hand(s: Any, cards: Any, stakes: Any, out: Any, at: Any) -> Any:
    """Write HAND for a card set; return its worth in chips."""
    if cards != EMPTY:
        key = high_key(cards)
        out[at + HAND_AT.category + (key >> 20)] = 1
        for place in range(3):
            out[at + HAND_AT.top + place] = (key >> (16 - 4 * place) & 15) / 13.0
    short = stakes.hand_size - count(cards)
    out[at + HAND_AT.short + short] = 1
    a, b, c, d = suit_ranks(cards, 0), suit_ranks(cards, 1), suit_ranks(cards, 2), suit_ranks(cards, 3)
    one, two = a | b | c | d, (a & b) | (c & d) | ((a | b) & (c | d))
    three = (a & b & (c | d)) | (c & d & (a | b))
    _write_flush(cards, stakes, short, out, at)
    if two == 0 and short > 0:
        _write_straight(one, stakes, out, at)
    out[at + HAND_AT.outs] = count_of(stakes.live, one & ~two) / 12.0
    out[at + HAND_AT.outs + 1] = count_of(stakes.live, two & ~three) / 4.0
    out[at + HAND_AT.outs + 2] = count_of(stakes.live, three) / 2.0
    return _write_promise(s, cards, stakes, short, out, at)


@inner
def _write_flush(cards: Any, stakes: Any, short: Any, out: Any, at: Any) -> None:
    most: Any = 0
    live: Any = 0
    for suit in range(4):
        number, there = count(suit_ranks(cards, suit)), count(suit_ranks(stakes.live, suit))
        if number > most or (number == most and there > live):
            most, live = number, there
    out[at + HAND_AT.suited] = most / 5.0
    if most == stakes.hand_size - short and most > 0:
        out[at + HAND_AT.flush] = 1
        out[at + HAND_AT.flush + 1] = live / 13.0


@inner
def _write_straight(ranks: Any, stakes: Any, out: Any, at: Any) -> None:
    """Windows of five ranks, the ace also below the deuce, that hold all of some different ranks."""
    wheel = (ranks << 1) | (ranks >> 12)
    held = count(ranks)
    windows, gaps = 0, 0
    for lowest in range(10):
        window = 31 << lowest
        if count((wheel & window) >> lowest) == held:
            windows += 1
            gap = window & ~wheel
            gaps |= (gap >> 1) | (gap & 1) << 12
    out[at + HAND_AT.straight] = windows / 5.0
    out[at + HAND_AT.straight + 1] = count_of(stakes.live, gaps) / 16.0


@inner
def _write_promise(s: Any, cards: Any, stakes: Any, short: Any, out: Any, at: Any) -> Any:
    table = STRENGTHS[stakes.rivals - 1]
    strength = high_promise(cards, stakes.live, short, stakes.pace, stakes.hand_size, table)
    all_beaten = 1.0
    for _ in range(stakes.rivals):
        all_beaten *= strength
    share = share_of(s, strength, stakes.rivals)
    out[at + HAND_AT.promise] = strength
    out[at + HAND_AT.promise + 1] = all_beaten
    out[at + HAND_AT.share] = share
    out[at + HAND_AT.worth] = share * stakes.pot / CHIPS
    return share * stakes.pot


# --- options --------------------------------------------------------------------------------------------------------


@inner
def _clipped(value: Any, unit: Any) -> Any:
    return min(max(value / unit, -1.0), 1.0)


@inner
def write_options(s: Any, me: Any, hand: Any, now: Any, stakes: Any, c: Any) -> Any:
    """Write OPTION for each option; return the greatest worth of one in chips (``now`` if there is none)."""
    best_value, best_worth = -1e9, now
    for option in range(options_of(s)):
        subset = option if s.phase == DISCARD else option + 1
        cards, fee = _option_cards(s, me, hand, subset)
        if fee < 0:
            continue
        row = c[option]
        row[C_AT.present] = 1
        worth = write_hand(s, cards, stakes, row, C_AT.hand)
        row[C_AT.cards + _members(subset)] = 1
        row[C_AT.fee] = fee / CHIPS
        row[C_AT.gain] = (worth - now) / CHIPS
        row[C_AT.gain + 1] = _clipped(worth - now, 5.0)
        value = (worth - now) * VENTURE - fee if s.phase == DISCARD else worth
        row[C_AT.behind] = value  # less the best one's, below
        if value > best_value:
            best_value, best_worth = value, worth
    for option in range(options_of(s)):
        row = c[option]
        if row[C_AT.present] > 0:
            behind = best_value - row[C_AT.behind]
            row[C_AT.behind] = behind / CHIPS
            row[C_AT.behind + 1] = _clipped(behind, 5.0)
            row[C_AT.behind + 2] = _clipped(behind, 1.0)
            row[C_AT.best] = behind < TIED
    return best_worth


@inner
def _members(subset: Any) -> Any:
    return count(subset)


@inner
def _option_cards(s: Any, me: Any, hand: Any, subset: Any) -> Any:
    """The hand that an option makes and its cost in chips, -1 where the rules forbid it."""
    number = _members(subset)
    if s.phase == DISCARD:
        fee = np.int64(s.fees[number])
        return without(hand, subset), fee if fee <= s.stacks[me] else -1
    allowed = subset >> np.int64(s.flop_size) == 0 and number <= s.hand_size - s.held[me]
    cards = hand
    for place in range(s.flop_size):
        if subset >> place & 1:
            cards |= card_bit(s.flops[s.num_flops - 1, place])
    return cards, 0 if allowed else -1


# --- the others -----------------------------------------------------------------------------------------------------


@inner
def write_seats(s: Any, me: Any, o: Any) -> None:
    """Write SEAT for each other seat."""
    n = np.int64(s.num_players)
    up = flop_up(s)
    opens, to_pass, seat = 0, np.int64(s.passes), me
    for step in range(1, n):
        seat = next_seat(seat, n)
        row = o[step - 1]
        row[O_AT.present] = 1
        row[O_AT.distance] = step / n
        row[O_AT.after_dealer] = clockwise(s.dealer, seat, n) == 0 or (
            clockwise(s.dealer, seat, n) > clockwise(s.dealer, me, n) > 0
        )
        row[O_AT.discarded + (6 if s.discarded[seat] == NOT_YET else np.int64(s.discarded[seat]))] = 1
        row[O_AT.short + s.hand_size - s.held[seat]] = 1
        is_open = s.held[seat] < s.hand_size
        row[O_AT.next_open] = is_open and opens == 0
        opens += is_open
        if up:
            row[O_AT.first_voice] = s.voice == seat
            row[O_AT.bidder] = s.bidder == seat
        row[O_AT.chips] = s.stacks[seat] / (5.0 * CHIPS)
        row[O_AT.chips + 1] = s.paid[seat] / CHIPS
        _write_bought(s, seat, row)
    for step in range(n - 1, 0, -1):  # the last to act before the actor first
        row = o[step - 1]
        if s.phase == BID and to_pass > 0 and row[O_AT.short] == 0:
            row[O_AT.passed] = 1
            to_pass -= 1
    if s.phase == REFUSE:
        _mark_refusals(s, me, o)


@inner
def _mark_refusals(s: Any, me: Any, o: Any) -> None:
    """Mark the open seats that have refused the flop on the table: the last ones before the actor."""
    left = -np.int64(s.cost[s.num_flops - 1])
    for step in range(s.num_players - 1, 0, -1):
        row = o[step - 1]
        if left > 0 and row[O_AT.short] == 0:
            row[O_AT.passed] = 1
            left -= 1


@inner
def _write_bought(s: Any, seat: Any, row: Any) -> None:
    """What the flops that a seat got tell: which cards it kept of them is not public, only how many."""
    flops, cards, same_suit, same_rank = 0, 0, 0, 0
    for flop in range(s.num_flops):
        if s.buyer[flop] != seat or s.kept[flop] == 0:
            continue
        number = _members(np.int64(s.kept[flop]))
        flops += 1
        cards += number
        for size in range(1, MAX_FLOP + 1):
            row[O_AT.kept + size - 1] = size == number
        row[O_AT.prices] = max(s.cost[flop], 0) / CHIPS
        row[O_AT.prices + 1] = max(-s.cost[flop], 0) / 5.0
        for place in range(s.flop_size):
            row[O_AT.kept_ranks + (s.flops[flop, place] >> 2)] += 0.5 * number / s.flop_size
        suit, rank = _most_equal(s, flop)
        same_suit += min(suit, number)
        same_rank = max(same_rank, min(rank, number))
    row[O_AT.bought] = flops / 5.0
    row[O_AT.bought + 1] = cards / 5.0
    row[O_AT.kept_equal] = same_suit / 5.0
    row[O_AT.kept_equal + 1] = same_rank / 3.0


@inner
def _most_equal(s: Any, flop: Any) -> Any:
    """The most cards of a flop that share a suit, and a rank."""
    suit, rank = 1, 1
    for place in range(s.flop_size):
        suits, ranks = 0, 0
        for other in range(s.flop_size):
            suits += s.flops[flop, other] & 3 == s.flops[flop, place] & 3
            ranks += s.flops[flop, other] >> 2 == s.flops[flop, place] >> 2
        suit, rank = max(suit, suits), max(rank, ranks)
    return suit, rank


# --- the table ------------------------------------------------------------------------------------------------------


@inner
def write_table(s: Any, me: Any, g: Any) -> None:
    """Write the money and the auction."""
    n = np.int64(s.num_players)
    g[G_AT.phase + s.phase] = 1
    g[G_AT.seats + n - 2] = 1
    g[G_AT.chips] = s.pot / CHIPS
    g[G_AT.chips + 1] = s.pot / (10.0 * CHIPS)
    g[G_AT.chips + 2] = s.stacks[me] / (5.0 * CHIPS)
    g[G_AT.paid] = s.paid[me] / CHIPS
    g[G_AT.open + s.num_open] = 1
    g[G_AT.dealer] = clockwise(s.dealer, me, n) / n
    g[G_AT.flops] = s.num_flops / 10.0
    g[G_AT.stock] = (s.stock_size - s.stock_at) / 52.0
    g[G_AT.stock + 1] = s.first_shuffle != NEVER
    to_discard: Any = 0
    lacking: Any = 0
    most: Any = 0
    for seat in range(n):
        to_discard += s.discarded[seat] == NOT_YET
        if seat != me:
            short = np.int64(s.hand_size - s.held[seat])
            lacking += short
            most = max(most, short)
    g[G_AT.to_discard] = to_discard / n
    g[G_AT.lacking] = lacking / 10.0
    g[G_AT.lacking + 1] = most / 5.0
    if flop_up(s):
        _write_auction(s, me, g)


@inner
def _write_auction(s: Any, me: Any, g: Any) -> None:
    price = np.int64(s.price)
    steps: Any = min(price, STEPS)
    for step in range(steps):
        g[G_AT.price_steps + step] = 1
    g[G_AT.price] = price / CHIPS
    g[G_AT.price + 1] = (price + 1.0) / max(s.pot, 1)
    g[G_AT.refusal] = (1 - s.cost[s.num_flops - 1]) / 5.0 if s.phase == REFUSE else 0.0
    g[G_AT.first_voice] = s.voice == me
    g[G_AT.bid_stands] = s.bidder >= 0
    if s.phase == BID:
        g[G_AT.to_pass + max(s.num_open - s.passes - (s.bidder >= 0), 1) - 1] = 1
    flop = s.num_flops - 1
    for place in range(s.flop_size):
        g[G_AT.flop_ranks + (s.flops[flop, place] >> 2)] += 0.5
    suit, rank = _most_equal(s, flop)
    g[G_AT.flop_equal] = (suit - 1) / 2.0
    g[G_AT.flop_equal + 1] = (rank - 1) / 2.0


@inner
def _write_ranks(hand: Any, live: Any, g: Any) -> None:
    for rank in range(13):
        held, there = rank_counts(hand, rank), rank_counts(live, rank)
        for least in range(3):
            g[G_AT.ranks + 13 * least + rank] = held > least
        g[G_AT.live_ranks + rank] = there / 4.0


@inner
def _write_scaled(chips: Any, g: Any, at: Any) -> None:
    g[at] = chips / CHIPS
    g[at + 1] = _clipped(chips, 5.0)
    g[at + 2] = _clipped(chips, 1.0)


@inner
def features(s: Any, me: Any, own: Any, others: Any, options: Any, actions: Any, cards: Any) -> Any:
    """Write the features of seat ``me``; not once the deal is over.

    Args:
        s: the table.
        me: the seat; it need not be the one to act.
        own: float32, zeros, one vector of the group.
        others: float32[num_players - 1, size], zeros.
        options: float32[max_options, size], zeros.
        actions: [max_options], -1 in each: gets the action of each option that may be chosen now.
        cards: not used.

    Returns:
        how many options have a row; of these ``present`` marks the ones that the rules allow.
    """
    hand, stakes = hand_set(s, me), stakes_of(s, me)
    write_table(s, me, own)
    _write_ranks(hand, stakes.live, own)
    now = write_hand(s, hand, stakes, own, G_AT.hand)
    best = write_options(s, me, hand, now, stakes, options)
    write_seats(s, me, others)
    own[G_AT.best_worth] = best / CHIPS
    _write_scaled(best - now, own, G_AT.gain)
    cost = s.price + 1.0 if s.phase == BID else s.cost[s.num_flops - 1] - 1.0 if s.phase == REFUSE else 0.0
    _write_scaled(best - now - cost, own, G_AT.surplus)
    number = options_of(s)
    for option in range(number):
        if options[option, C_AT.present] > 0:
            actions[option] = option_action(s.phase, option)
    return number


def feature_layout(settings: Settings) -> FeatureLayout:
    """The fields of each group; the same for any number of seats."""
    options = max(1 << settings.hand_size, FLOP_OPTIONS)
    return FeatureLayout(GLOBAL, SEAT, OPTION, options, tuple(range(MAKE_REFUSAL + 1)))
