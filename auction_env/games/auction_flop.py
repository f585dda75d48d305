"""Auction Flop Poker. The rules, ruling by ruling (B1 to B10), are in ``auction_flop.md`` beside this.

In order: settings, state, actions, observation, then the functions: deal, legal, act (discarding, bidding, refusing,
keeping), award, observe, resample; last what people read: views and accounts of what happened.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from auction_env.games.cards import (
    CARD_NAMES,
    EMPTY,
    NUM_CARDS,
    TOP,
    card_bit,
    cards_of,
    clockwise,
    draw_below,
    draw_word,
    mark_set,
    names_of,
    next_seat,
    shuffle_deck,
    suit_ranks,
)
from auction_env.games.contract import (
    Piece,
    SeatView,
    SettingsError,
    TableView,
    plain_integers,
    require_int,
    setting,
)
from auction_env.games.hands import HIGH_CATEGORIES, describe_high, high_key
from auction_env.kernel import inner, kernel

NAME = "auction_flop"
VERSION = 0
TITLE = "Auction Flop Poker"
MIN_PLAYERS, MAX_PLAYERS = 2, 8
MAX_HAND = 5
MAX_FLOP = 3
MAX_FLOPS = MAX_PLAYERS * MAX_HAND  # each flop sold fills at least one of the places that discards have left
MAX_CHIPS = 1_000_000
MAX_FEE = 255
MAX_SHARE = 255

_BIDS_A_WORD = 21  # seats, three bits each, in a 64-bit word
_BID_WORDS = 37
MAX_BIDS = _BIDS_A_WORD * _BID_WORDS  # of one deal that a table recalls: 8 seats with 97 chips each have fewer

# --- settings -------------------------------------------------------------------------------------------------------

OBSERVATIONS = ("full", "compact")


@dataclasses.dataclass(frozen=True)
class Settings:
    """Every number of the rules. Nonsense raises SettingsError when constructed."""

    num_players: int = setting(4, "seats at the table, 2 to 8")
    ante: int = setting(3, "chips each seat pays before a deal, 0 to 1000 (B1)")
    starting_chips: int = setting(
        100, "chips of each seat when a match starts, at least the ante and 1, at most 1000000 (B1)"
    )
    num_deals: int = setting(1, "deals in a match, 1 to 1000000 (B10)")
    discard_fees: tuple[int, ...] = setting(
        (0, 1, 3, 6, 10, 15),
        "chips for discarding none (0), one, two, ... cards; numbers past hand_size are not used (B2)",
    )
    pot_shares: tuple[int, ...] = setting(
        (3, 2, 1),
        "parts of the pot for the best hand, the second, ...; at most 8, none larger than the one before (B9)",
    )
    flop_size: int = setting(3, "cards in a flop, 1 to 3 (B3)")
    hand_size: int = setting(5, "cards dealt to each seat and held by all at the end, 1 to 5 (B1)")
    num_ranks: int = setting(13, "ranks in the deck, 1 to 13, the highest: 3 means Q K A")
    num_suits: int = setting(4, "suits in the deck, 1 to 4, the first of c d h s")
    observation: str = setting(
        "full", "'full': all that a seat has seen and done; 'compact': without the course of auctions that are over"
    )

    def __post_init__(self) -> None:
        require_int("num_players", self.num_players, MIN_PLAYERS, MAX_PLAYERS)
        require_int("ante", self.ante, 0, 1000)
        require_int("starting_chips (at least the ante)", self.starting_chips, max(self.ante, 1), MAX_CHIPS)
        require_int("num_deals", self.num_deals, 1, 1_000_000)
        require_int("flop_size", self.flop_size, 1, MAX_FLOP)
        require_int("hand_size", self.hand_size, 1, MAX_HAND)
        require_int("num_ranks", self.num_ranks, 1, 13)
        require_int("num_suits", self.num_suits, 1, 4)
        self._set_numbers("discard_fees", self.hand_size + 1, MAX_HAND + 1, 0, MAX_FEE)
        self._set_numbers("pot_shares", 1, MAX_PLAYERS, 1, MAX_SHARE)
        plain_integers(self)
        self._check_meaning()

    def _set_numbers(self, name: str, fewest: int, most: int, low: int, high: int) -> None:
        """Make a sequence setting a tuple; SettingsError unless its length and numbers are in range."""
        values = getattr(self, name)
        if not isinstance(values, (tuple, list, np.ndarray)) or not fewest <= len(values) <= most:
            raise SettingsError(f"{name} is {values!r}: give {fewest} to {most} numbers")
        for place, value in enumerate(values):
            require_int(f"{name}[{place}]", value, low, high)
        object.__setattr__(self, name, tuple(values))

    def _check_meaning(self) -> None:
        if self.discard_fees[0] != 0:
            raise SettingsError(
                f"discard_fees[0] is {self.discard_fees[0]}: keeping all cards must cost 0, for a seat without chips"
            )
        if list(self.pot_shares) != sorted(self.pot_shares, reverse=True):
            raise SettingsError(f"pot_shares is {self.pot_shares}: no share may be larger than the one before it")
        hands, size = self.num_players * self.hand_size, self.num_ranks * self.num_suits
        if hands - 1 + self.flop_size > size:
            raise SettingsError(
                f"num_players {self.num_players} x hand_size {self.hand_size} - 1 + flop_size {self.flop_size} = "
                f"{hands - 1 + self.flop_size} cards are needed for the last flop, more than the deck's num_ranks "
                f"{self.num_ranks} x num_suits {self.num_suits} = {size}: lower one of them or enlarge the deck"
            )
        if self.observation not in OBSERVATIONS:
            raise SettingsError(f"observation is {self.observation!r}: it must be 'full' or 'compact'")

    @property
    def chips_in_play(self) -> int:
        """Chips of all seats after the first antes: the most that a deal's discards and auctions can cost."""
        return self.num_players * (self.starting_chips - self.ante)

    @property
    def max_flops(self) -> int:
        """The most flops in a deal: each fills at least one place left by a discard (B5)."""
        return self.num_players * self.hand_size

    @property
    def bid_slots(self) -> int:
        """Bids of one deal that the full observation holds: all that the chips in play allow, up to MAX_BIDS."""
        return min(max(self.chips_in_play, 1), MAX_BIDS)

    @property
    def max_refusals(self) -> int:
        """The most refusals of one flop that all chips in play could pay for: 1 + 2 + 3 + ... (B6)."""
        return (math.isqrt(8 * self.chips_in_play + 1) - 1) // 2


# --- state: one row is one table ------------------------------------------------------------------------------------

PHASES = ("discard", "bid", "refuse", "keep", "over")
DISCARD, BID, REFUSE, KEEP, OVER = range(5)
HIDDEN_PHASES = ()
CARRIES_POT = False
NEVER = 127  # entry of ``first_shuffle`` and ``last_shuffle``
NOT_YET = -1  # entry of ``discarded``

_SEATS = (MAX_PLAYERS,)
STATE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("rng", "u8"),  # the table's generator (SplitMix64)
                ("chance", "u8"),  # a generator for the reshuffles of this deal, started when it was dealt (B8)
                ("bid_log", "u8", (_BID_WORDS,)),  # seats of all bids of the deal, in order, three bits each
                # settings
                ("ante", "i4"),
                ("starting_chips", "i4"),
                ("num_deals", "i4"),
                # the match
                ("deal_number", "i4"),  # from 0
                ("carried_pot", "i4"),  # always 0: this game carries no pot
                ("total_chips", "i4"),  # stacks + pot: constant in a match
                ("stacks", "i4", _SEATS),
                # the deal
                ("pot", "i4"),
                ("award", "i4", _SEATS),  # chips received at its end
                ("paid", "i4", _SEATS),  # ante, fee, prices and refusals of this deal
                ("high", "i4", _SEATS),  # high key of the whole hand; set at the end
                ("cost", "i4", (MAX_FLOPS,)),  # price of each flop; minus the number of refusals of one nobody bid for
                ("price", "i4"),  # highest bid for the flop on the table, 0: none
                ("max_refusals", "i2"),  # as in Settings
                ("bid_slots", "i2"),  # as in Settings
                ("num_bids", "i2"),  # in bid_log
                ("deck", "u1", (NUM_CARDS,)),  # in deal order; the first num_ranks * num_suits places count
                ("stock", "u1", (NUM_CARDS,)),  # flops come from places stock_at to stock_size - 1
                ("flops", "u1", (MAX_FLOPS, MAX_FLOP)),  # the cards of each flop turned up, sorted
                ("kept", "u1", (MAX_FLOPS,)),  # which of them the buyer kept: bit i is place i; 0: not said yet
                ("buyer", "i1", (MAX_FLOPS,)),  # who got each flop, -1: nobody yet
                ("fees", "u1", (MAX_HAND + 1,)),  # discard_fees
                ("shares", "u1", _SEATS),  # pot_shares; 0 past the last
                ("num_players", "i1"),
                ("hand_size", "i1"),
                ("flop_size", "i1"),
                ("num_ranks", "i1"),
                ("num_suits", "i1"),
                ("full_view", "i1"),  # 1: observation is "full"
                ("match_over", "i1"),
                ("dealer", "i1"),
                ("phase", "i1"),
                ("to_act", "i1"),  # seat, -1 when the deal is over
                ("dealt_in", "i1", _SEATS),  # all, always (B10)
                ("discards", "u1", _SEATS),  # what each seat discarded: bit i is the card it was dealt i-th, from 0
                ("discarded", "i1", _SEATS),  # how many cards that are, or NOT_YET
                ("held", "i1", _SEATS),  # number of cards in each hand
                ("place", "i1", _SEATS),  # at the end, how many hands are better
                ("num_open", "i1"),  # seats that have discarded some cards and do not hold hand_size yet
                ("voice", "i1"),  # the first voice of the last flop turned up
                ("bidder", "i1"),  # who bid ``price``, -1: nobody
                ("passes", "i1"),  # since the last bid, or since the flop was turned up
                ("num_flops", "i1"),  # turned up so far
                ("stock_at", "i1"),
                ("stock_size", "i1"),
                ("first_shuffle", "i1"),  # flops turned up before the first reshuffle, NEVER: there was none (B8)
                ("last_shuffle", "i1"),  # flops turned up before the latest one
                ("tail", "i1"),  # cards of the stock that were left over the discard pile at the first reshuffle
            ],
            align=True,
        ),
    )
)


def new_state(settings: Settings) -> np.ndarray:
    """One table with these settings, nothing dealt: shape (1,), dtype STATE."""
    states = np.zeros(1, STATE)
    row = states[0]
    for name in (
        *("ante", "starting_chips", "num_deals", "max_refusals", "bid_slots"),
        *("num_players", "hand_size", "flop_size", "num_ranks", "num_suits"),
    ):
        row[name] = getattr(settings, name)
    row.fees[: len(settings.discard_fees)] = settings.discard_fees
    shares = settings.pot_shares[: settings.num_players]
    row.shares[: len(shares)] = shares
    row.full_view = settings.observation == "full"
    row.phase, row.to_act, row.match_over = OVER, -1, 1
    row.first_shuffle = row.last_shuffle = NEVER
    return states


# --- actions: an index means the same in every deal and for every setting -------------------------------------------
# Cards of a hand and of a flop are counted from 0 in their sorted order: highest rank first, equal ranks s h d c.
# A subset is a number whose bit i stands for place i.

PASS, MAKE_BID, TAKE, MAKE_REFUSAL = range(4)
KEEP_0 = 3  # keep subset x of the flop: KEEP_0 + x, x from 1 to 7
DISCARD_0 = 11  # discard subset x of the hand: DISCARD_0 + x, x from 0 to 2**hand_size - 1
MAX_LEGAL = 1 << MAX_HAND

_SIZE = np.array([subset.bit_count() for subset in range(1 << MAX_HAND)], np.int8)  # of a subset
_ALL = (1 << MAX_HAND) - 1


def _places(subset: int) -> str:
    return " ".join(str(place) for place in range(MAX_HAND) if subset >> place & 1) or "none"


_FIXED_NAMES = ("pass", "bid", "take", "refuse", *(f"keep {_places(subset)}" for subset in range(1, 1 << MAX_FLOP)))


def action_names(settings: Settings) -> tuple[str, ...]:
    """Name of each action index; ``11 + 2**hand_size`` of them, 43 by default."""
    return _FIXED_NAMES + tuple(f"discard {_places(subset)}" for subset in range(1 << settings.hand_size))


def max_deal_length(settings: Settings) -> int:
    """A bound on the decisions in a deal of a match, whatever its stacks; the page proves it.

    When ``a`` seats discard, a flop while m of them are open takes at most m + 2 decisions (one, if m is 1), and at
    most ``a - 1`` more for each chip it costs; the flops that complete a hand leave 1, 2, ..., a - 1 seats open.
    """
    n, fees = settings.num_players, settings.discard_fees

    def flop(num_open: int) -> int:
        return num_open + 2 if num_open > 1 else 1

    def discards(a: int) -> int:
        """The most that one seat's choice of what to discard brings: flops, less what its fee would have paid for."""
        return max((number - 1) * flop(a) - (a - 1) * fees[number] for number in range(1, settings.hand_size + 1))

    return n + max(
        [0]
        + [
            (a - 1) * settings.chips_in_play + sum(flop(m) for m in range(1, a + 1)) + a * discards(a)
            for a in range(1, n + 1)
        ]
    )


# --- observation ----------------------------------------------------------------------------------------------------

_CARD = 17  # a card as 13 ranks and 4 suits, one of each set
_STEPS = 16  # chips that ``price_steps`` tells apart


def pieces(settings: Settings) -> tuple[Piece, ...]:
    """The observation of a seat, in order. Seats are counted from the observer: 0 is itself, 1 the next clockwise."""
    n, hand, flop = settings.num_players, settings.hand_size, settings.flop_size
    return (
        Piece("phase", (5,), "which phase: discard, bid, refuse, keep, over"),
        Piece("turn", (n,), "the seat to act"),
        Piece("dealer", (n,), "the dealer"),
        Piece("first_voice", (n,), "the seat with the first voice for the flop on the table"),
        Piece("bidder", (n,), "the seat that bid highest for the flop on the table"),
        Piece("discarded", (n, hand + 1), "how many cards each seat discarded, once it has"),
        Piece("held", (n, hand + 1), "how many cards each seat holds"),
        Piece("hand", (hand, _CARD), "own cards in sorted order: 13 ranks, then 4 suits"),
        Piece("own_discards", (52,), "cards the seat discarded from its hand, by card index"),
        Piece("flop", (flop, _CARD), "the flop on the table in sorted order: 13 ranks, then 4 suits"),
        Piece("hand_made", (9,), "category of the own hand as it is"),
        Piece("keep_made", ((1 << flop) - 1, 9), "category the own hand would have with each subset of the flop"),
        Piece("price_steps", (_STEPS,), "whether the highest bid for the flop on the table is at least 1, 2, ... 16"),
        Piece("price", (1,), "the highest bid over all chips of the match", fraction=True),
        Piece("refusals", (1,), "refusals of the flop on the table, over the most that chips allow", fraction=True),
        Piece("stacks", (n,), "chips of each seat over all chips of the match", fraction=True),
        Piece("pot", (1,), "chips in the pot over all chips of the match", fraction=True),
        Piece("deals_left", (1,), "deals to come after this one, over the match's number of deals", fraction=True),
        *(_full_pieces(settings) if settings.observation == "full" else _compact_pieces(settings)),
        Piece("shown", (n - 1, 52), "the hands of the other seats, shown at the end, by card index", final_only=True),
    )


def _full_pieces(settings: Settings) -> tuple[Piece, ...]:
    n, flop, flops = settings.num_players, settings.flop_size, settings.max_flops
    return (
        Piece("flops", (flops, flop, _CARD), "the cards of each flop so far: 13 ranks, then 4 suits"),
        Piece("buyers", (flops, n), "the seat that got each flop"),
        Piece("prices", (flops,), "what each flop was sold for over all chips of the match", fraction=True),
        Piece("all_refusals", (flops,), "refusals of each flop, over the most that chips allow", fraction=True),
        Piece("kept", (flops, flop), "how many of each flop's cards the buyer kept: 1, 2, 3"),
        Piece("own_kept", (flops, flop), "which cards of each flop the seat itself kept"),
        Piece(
            "bids",
            (settings.bid_slots, n + 1),
            "every bid in order: the seat, then whether it was the first bid for its flop",
        ),
    )


def _compact_pieces(settings: Settings) -> tuple[Piece, ...]:
    return (Piece("bought", (settings.num_players, 52), "the cards of all flops each seat has got, by card index"),)


# --- dealing --------------------------------------------------------------------------------------------------------


@inner
def new_match(s: Any) -> None:
    """Equal stacks and a first dealer drawn from the generator (B1); nothing is dealt yet."""
    s.deal_number = 0
    s.carried_pot = 0
    s.match_over = 0
    s.total_chips = np.int64(s.num_players) * s.starting_chips
    for seat in range(s.num_players):
        s.stacks[seat] = s.starting_chips
    s.dealer = draw_below(s, s.num_players)


@inner
def deal(s: Any, given: Any) -> None:
    """Ante, shuffle and deal (B1); the first ``given`` cards of the deck stay as they are.

    The order that reshuffles will bring is settled now too, by the state of ``s.chance`` (B8).
    """
    shuffle_deck(s, given, _deck_size(s))
    s.chance = draw_word(s)
    s.pot = 0
    for seat in range(s.num_players):
        s.dealt_in[seat] = 1
        s.paid[seat] = 0
        s.award[seat] = 0
        s.high[seat] = 0
        s.place[seat] = 0
        s.discards[seat] = 0
        s.discarded[seat] = NOT_YET
        s.held[seat] = s.hand_size
        _pay(s, seat, s.ante)
    for word in range(_BID_WORDS):
        s.bid_log[word] = 0
    s.num_bids = 0
    s.num_flops = 0
    s.num_open = 0
    s.price = 0
    s.bidder = -1
    s.passes = 0
    s.first_shuffle = NEVER
    s.last_shuffle = NEVER
    s.tail = 0
    s.stock_at = 0
    _stock_from_deck(s)
    s.voice = s.dealer
    s.phase = DISCARD
    s.to_act = next_seat(s.dealer, s.num_players)


@inner
def next_deal(s: Any) -> None:
    """Pass the deal to the left, and deal (B1)."""
    s.deal_number += 1
    s.dealer = next_seat(s.dealer, s.num_players)
    deal(s, 0)


@inner
def _pay(s: Any, seat: Any, chips: Any) -> None:
    s.stacks[seat] -= chips
    s.paid[seat] += chips
    s.pot += chips


@inner
def _dealt(s: Any) -> Any:
    """How many cards are dealt to the seats: places of the deck before the stock."""
    return np.int64(s.num_players) * s.hand_size


@inner
def _deck_size(s: Any) -> Any:
    return np.int64(s.num_ranks) * s.num_suits


@inner
def _stock_from_deck(s: Any) -> None:
    dealt = _dealt(s)
    s.stock_size = _deck_size(s) - dealt
    for place in range(s.stock_size):
        s.stock[place] = s.deck[dealt + place]


# --- sets of cards --------------------------------------------------------------------------------------------------


@inner
def _count(cards: Any) -> Any:
    """How many cards are in a set."""
    count = 0
    while cards != EMPTY:
        cards &= cards - np.uint64(1)
        count += 1
    return count


@inner
def _top_card(cards: Any) -> Any:
    """The first card of a set in sorted order: highest rank first, equal ranks s h d c."""
    top: Any = -1
    for suit in range(4):
        ranks = suit_ranks(cards, suit)
        if ranks:
            top = max(top, 4 * np.int64(TOP[ranks]) + suit)
    return top


@inner
def _chosen(cards: Any, subset: Any) -> Any:
    """The cards of a set at some places of its sorted order, as a set."""
    chosen = EMPTY
    while subset and cards != EMPTY:
        bit = card_bit(_top_card(cards))
        cards ^= bit
        if subset & 1:
            chosen |= bit
        subset >>= 1
    return chosen


@kernel
def deck_set(s: Any) -> Any:
    """All cards of the deck as a card set."""
    cards = EMPTY
    for place in range(_deck_size(s)):
        cards |= card_bit(s.deck[place])
    return cards


@inner
def _hole_place(s: Any, seat: Any, turn: Any) -> Any:
    """The place in the deck of a seat's card: dealt one at a time, clockwise from the dealer (B1)."""
    n = np.int64(s.num_players)
    return turn * n + clockwise(next_seat(s.dealer, n), seat, n)


@inner
def _hole_part(s: Any, seat: Any, turns: Any) -> Any:
    """The cards a seat was dealt in some turns, a bit each, as a card set."""
    cards = EMPTY
    for turn in range(s.hand_size):
        if turns >> turn & 1:
            cards |= card_bit(s.deck[_hole_place(s, seat, turn)])
    return cards


@kernel
def hole_set(s: Any, seat: Any) -> Any:
    """The cards a seat was dealt, as a card set (B1)."""
    return _hole_part(s, seat, _ALL)


@kernel
def discard_set(s: Any, seat: Any) -> Any:
    """The cards a seat has discarded, as a card set (B2)."""
    return _hole_part(s, seat, s.discards[seat])


@inner
def _held_hole_set(s: Any, seat: Any) -> Any:
    """The cards a seat was dealt and has not discarded, as a card set."""
    return _hole_part(s, seat, _ALL ^ s.discards[seat])


@inner
def _kept_set(s: Any, flop: Any) -> Any:
    """The cards of a flop that its buyer kept, as a card set."""
    cards = EMPTY
    for place in range(s.flop_size):
        if s.kept[flop] >> place & 1:
            cards |= card_bit(s.flops[flop, place])
    return cards


@kernel
def hand_set(s: Any, seat: Any) -> Any:
    """The cards a seat holds, as a card set."""
    cards = _held_hole_set(s, seat)
    for flop in range(s.num_flops):
        if s.buyer[flop] == seat:
            cards |= _kept_set(s, flop)
    return cards


@inner
def _hands(s: Any) -> Any:
    """The cards in all hands, as a card set."""
    cards = EMPTY
    for seat in range(s.num_players):
        cards |= hand_set(s, seat)
    return cards


@inner
def _flop_set(s: Any, first: Any, last: Any) -> Any:
    """All cards of the flops from ``first`` up to, but without, ``last``, as a card set."""
    cards = EMPTY
    for flop in range(first, last):
        for place in range(s.flop_size):
            cards |= card_bit(s.flops[flop, place])
    return cards


@kernel
def flop_up(s: Any) -> Any:
    """Whether a flop lies on the table; it is the last of ``s.num_flops``."""
    return s.phase == BID or s.phase == REFUSE or s.phase == KEEP


# --- legal actions --------------------------------------------------------------------------------------------------


@inner
def legal(s: Any, out: Any) -> Any:
    """Write the legal actions of ``s.to_act``; return how many, none when the deal is over (B2, B4, B5, B6)."""
    count = 0
    if s.phase == DISCARD:
        for subset in range(1 << s.hand_size):
            if s.fees[_SIZE[subset]] <= s.stacks[s.to_act]:
                out[count] = DISCARD_0 + subset
                count += 1
    elif s.phase == BID:
        out[0] = PASS
        count = 1
        if s.stacks[s.to_act] > s.price:
            out[1] = MAKE_BID
            count = 2
    elif s.phase == REFUSE:
        out[0] = TAKE
        count = 1
        if s.stacks[s.to_act] >= _refusal(s):
            out[1] = MAKE_REFUSAL
            count = 2
    elif s.phase == KEEP:
        room = s.hand_size - s.held[s.to_act]
        for subset in range(1, 1 << s.flop_size):
            if _SIZE[subset] <= room:
                out[count] = KEEP_0 + subset
                count += 1
    return count


@kernel
def _refusal(s: Any) -> Any:
    """Chips to refuse the flop on the table, after those who have refused it already (B6)."""
    return 1 - s.cost[s.num_flops - 1]


# --- acting ---------------------------------------------------------------------------------------------------------


@inner
def act(s: Any, action: Any) -> None:
    """Apply a legal action of the seat to act."""
    if s.phase == DISCARD:
        _discard(s, action - DISCARD_0)
    elif action == PASS:
        _pass(s)
    elif action == MAKE_BID:
        _bid(s)
    elif action == TAKE:
        _sell(s, s.to_act)
    elif action == MAKE_REFUSAL:
        _refuse(s)
    else:
        _keep(s, action - KEEP_0)


@inner
def _discard(s: Any, subset: Any) -> None:
    """Discard, pay, and go on to the next seat clockwise; the dealer is last (B2)."""
    seat, number = s.to_act, _SIZE[subset]
    chosen = _chosen(hole_set(s, seat), subset)
    for turn in range(s.hand_size):
        if chosen & card_bit(s.deck[_hole_place(s, seat, turn)]):
            s.discards[seat] |= 1 << turn
    s.discarded[seat] = number
    s.held[seat] -= number
    s.num_open += number > 0
    _pay(s, seat, s.fees[number])
    if seat == s.dealer:
        _open_flop(s)
    else:
        s.to_act = next_seat(seat, s.num_players)


@inner
def _next_open(s: Any, seat: Any) -> Any:
    """The next seat clockwise that holds fewer cards than a hand has."""
    seat = next_seat(seat, s.num_players)
    while s.held[seat] == s.hand_size:
        seat = next_seat(seat, s.num_players)
    return seat


@inner
def _open_flop(s: Any) -> None:
    """Turn up a flop for the next first voice (B3); one seat alone gets it (B7); if no hand is open the deal ends."""
    if s.num_open == 0:
        _award(s)
        return
    _turn_up(s)
    s.voice = _next_open(s, s.voice)
    s.to_act = s.voice
    s.price = 0
    s.bidder = -1
    s.passes = 0
    s.phase = BID
    if s.num_open == 1:
        _sell(s, s.voice)


@inner
def _turn_up(s: Any) -> None:
    """Put the next cards of the stock on the table, sorted (B3)."""
    if s.stock_size - s.stock_at < s.flop_size:
        _reshuffle(s)
    flop = s.num_flops
    for place in range(s.flop_size):
        card = s.stock[s.stock_at + place]
        slot = place
        while slot > 0 and s.flops[flop, slot - 1] < card:
            s.flops[flop, slot] = s.flops[flop, slot - 1]
            slot -= 1
        s.flops[flop, slot] = card
    s.stock_at += s.flop_size
    s.buyer[flop] = -1
    s.kept[flop] = 0
    s.cost[flop] = 0
    s.num_flops += 1


@inner
def _reshuffle(s: Any) -> None:
    """Shuffle the discard pile and place it under what is left of the stock (B8)."""
    pile = deck_set(s) ^ _hands(s)
    left = 0
    for place in range(s.stock_at, s.stock_size):
        s.stock[left] = s.stock[place]
        pile ^= card_bit(s.stock[place])
        left += 1
    size = left
    for card in range(NUM_CARDS):
        if pile & card_bit(card):
            s.stock[size] = card
            size += 1
    s.stock_at = 0
    s.stock_size = size
    _shuffle_pile(s, left)
    if s.first_shuffle == NEVER:
        s.first_shuffle = s.num_flops
        s.tail = left
    s.last_shuffle = s.num_flops


@inner
def _shuffle_pile(s: Any, first: Any) -> None:
    """Shuffle the stock from a place on, with the deal's own generator (Fisher and Yates)."""
    rng = s.rng
    s.rng = s.chance
    for place in range(first, s.stock_size - 1):
        other = place + draw_below(s, s.stock_size - place)
        card = s.stock[place]
        s.stock[place] = s.stock[other]
        s.stock[other] = card
    s.chance = s.rng
    s.rng = rng


@inner
def _pass(s: Any) -> None:
    """Pass; the flop is sold when all other open seats have passed on a bid (B5), or goes begging (B6)."""
    s.passes += 1
    if s.bidder >= 0 and s.passes == s.num_open - 1:
        s.cost[s.num_flops - 1] = s.price
        _pay(s, s.bidder, s.price)
        _sell(s, s.bidder)
    elif s.passes == s.num_open:
        s.phase = REFUSE
        s.to_act = s.voice
    else:
        s.to_act = _next_open(s, s.to_act)


@inner
def _bid(s: Any) -> None:
    """Bid one more than the highest bid (B4)."""
    s.price += 1
    s.bidder = s.to_act
    s.passes = 0
    if s.full_view and s.num_bids < s.bid_slots:
        s.bid_log[s.num_bids // _BIDS_A_WORD] |= np.uint64(s.to_act) << np.uint64(3 * (s.num_bids % _BIDS_A_WORD))
        s.num_bids += 1
    s.to_act = _next_open(s, s.to_act)


@inner
def bidder_of(s: Any, bid: Any) -> Any:
    """The seat that made a bid of this deal, counted from 0."""
    return np.int64(s.bid_log[bid // _BIDS_A_WORD] >> np.uint64(3 * (bid % _BIDS_A_WORD)) & np.uint64(7))


@inner
def _refuse(s: Any) -> None:
    """Pay to refuse the flop; the next open seat is asked for one chip more (B6)."""
    _pay(s, s.to_act, _refusal(s))
    s.cost[s.num_flops - 1] -= 1
    s.to_act = _next_open(s, s.to_act)


@inner
def _sell(s: Any, seat: Any) -> None:
    """A seat gets the flop on the table, and is asked what it keeps of it (B5)."""
    s.buyer[s.num_flops - 1] = seat
    s.phase = KEEP
    s.to_act = seat


@inner
def _keep(s: Any, subset: Any) -> None:
    """Keep some of the flop and discard the rest; then the next flop is due (B5)."""
    seat = s.to_act
    s.kept[s.num_flops - 1] = subset
    s.held[seat] += _SIZE[subset]
    s.num_open -= s.held[seat] == s.hand_size
    _open_flop(s)


# --- the award ------------------------------------------------------------------------------------------------------


@inner
def _award(s: Any) -> None:
    """All hands are shown, the pot divided; end the match if no further deal can be played (B9, B10)."""
    s.phase = OVER
    s.to_act = -1
    for seat in range(s.num_players):
        s.high[seat] = high_key(hand_set(s, seat))
    for seat in range(s.num_players):
        better = 0
        for other in range(s.num_players):
            better += s.high[other] > s.high[seat]
        s.place[seat] = better
        s.award[seat] = _share(s, seat)
    all_can_pay = True
    for seat in range(s.num_players):
        s.stacks[seat] += s.award[seat]
        all_can_pay &= s.stacks[seat] >= s.ante
    s.pot = 0
    s.match_over = not all_can_pay or s.deal_number + 1 >= s.num_deals


@inner
def _share(s: Any, seat: Any) -> Any:
    """What a seat gets: tied hands pool the places they fill; odd chips go clockwise from the dealer (B9)."""
    tied, before = 0, 0
    other = s.dealer
    met = False
    for _ in range(s.num_players):
        other = next_seat(other, s.num_players)
        met |= other == seat
        if s.high[other] == s.high[seat]:
            tied += 1
            before += not met
    chips = 0
    for place in range(s.place[seat], s.place[seat] + tied):
        chips += place_chips(s, place)
    return chips // tied + (before < chips % tied)


@inner
def place_chips(s: Any, place: Any) -> Any:
    """The chips of a place: the whole chips of its share, and those left over one each from the best down (B9)."""
    pot = np.int64(s.pot)
    parts: Any = 0
    given: Any = 0
    for other in range(s.num_players):
        parts += np.int64(s.shares[other])
    for other in range(s.num_players):
        given += pot * np.int64(s.shares[other]) // parts
    return pot * np.int64(s.shares[place]) // parts + (place < pot - given)


# --- observing ------------------------------------------------------------------------------------------------------


@inner
def _mark_card(card: Any, out: Any, at: Any) -> None:
    out[at + (card >> 2)] = 1
    out[at + 13 + (card & 3)] = 1


@inner
def observe(s: Any, me: Any, out: Any, full: Any) -> None:
    """Write what seat ``me`` has seen and done to ``out`` (zeros; the pieces in order); ``full`` stands for 1.0."""
    n = np.int64(s.num_players)  # as plain Python, int8 would overflow
    hand = hand_set(s, me)
    at: Any = _observe_public(s, me, out)
    left = hand
    for place in range(s.held[me]):
        card = _top_card(left)
        left ^= card_bit(card)
        _mark_card(card, out, at + place * _CARD)
    at += s.hand_size * _CARD
    mark_set(discard_set(s, me), out, at)
    at += NUM_CARDS
    at = _observe_flop(s, me, hand, out, at)
    at = _observe_chips(s, me, out, at, full)
    if s.full_view:
        at = _observe_flops(s, me, out, at, full)
        at = _observe_bids(s, me, out, at)
    else:
        for flop in range(s.num_flops):
            if s.buyer[flop] >= 0:
                mark_set(_flop_set(s, flop, flop + 1), out, at + clockwise(me, s.buyer[flop], n) * NUM_CARDS)
        at += n * NUM_CARDS
    if s.phase == OVER:
        for seat in range(n):
            if seat != me:
                mark_set(hand_set(s, seat), out, at + (clockwise(me, seat, n) - 1) * NUM_CARDS)


@inner
def _observe_public(s: Any, me: Any, out: Any) -> Any:
    n, counts = np.int64(s.num_players), np.int64(s.hand_size) + 1
    out[s.phase] = 1
    at: Any = 5
    if s.phase != OVER:
        out[at + clockwise(me, s.to_act, n)] = 1
    at += n
    out[at + clockwise(me, s.dealer, n)] = 1
    at += n
    if flop_up(s):
        out[at + clockwise(me, s.voice, n)] = 1
        if s.bidder >= 0:
            out[at + n + clockwise(me, s.bidder, n)] = 1
    at += 2 * n
    for seat in range(n):
        slot = at + clockwise(me, seat, n) * counts
        if s.discarded[seat] != NOT_YET:
            out[slot + s.discarded[seat]] = 1
        out[slot + n * counts + s.held[seat]] = 1
    return at + 2 * n * counts


@inner
def _observe_flop(s: Any, me: Any, hand: Any, out: Any, at: Any) -> Any:
    """The flop on the table, the category of the own hand, and what it would be with each subset of the flop."""
    subsets = 1 << np.int64(s.flop_size)
    made = at + s.flop_size * _CARD
    if hand:
        out[made + (high_key(hand) >> 20)] = 1
    if flop_up(s):
        flop = s.num_flops - 1
        for place in range(s.flop_size):
            _mark_card(s.flops[flop, place], out, at + place * _CARD)
        for subset in range(1, subsets):
            if s.held[me] + _SIZE[subset] <= s.hand_size:
                cards = hand
                for place in range(s.flop_size):
                    if subset >> place & 1:
                        cards |= card_bit(s.flops[flop, place])
                out[made + 9 * subset + (high_key(cards) >> 20)] = 1
    return made + 9 * subsets


@inner
def _observe_chips(s: Any, me: Any, out: Any, at: Any, full: Any) -> Any:
    n = np.int64(s.num_players)
    total = max(s.total_chips, 1)
    if flop_up(s):
        for step in range(min(s.price, _STEPS)):
            out[at + step] = 1
        out[at + _STEPS] = full * s.price / total
        out[at + _STEPS + 1] = _refusal_fraction(s, s.num_flops - 1, full)
    at += _STEPS + 2
    for seat in range(n):
        out[at + clockwise(me, seat, n)] = full * s.stacks[seat] / total
    out[at + n] = full * s.pot / total
    out[at + n + 1] = full * (s.num_deals - 1 - s.deal_number) / s.num_deals
    return at + n + 2


@inner
def _refusal_fraction(s: Any, flop: Any, full: Any) -> Any:
    return full * min(max(-s.cost[flop], 0), s.max_refusals) / max(s.max_refusals, 1)


@inner
def _observe_flops(s: Any, me: Any, out: Any, at: Any, full: Any) -> Any:
    """Each flop: its cards, who got it at what price or after how many refusals, and how many cards were kept."""
    n, size = np.int64(s.num_players), np.int64(s.flop_size)
    most = n * s.hand_size
    buyers = at + most * size * _CARD
    prices = buyers + most * n
    refusals = prices + most
    kept = refusals + most
    own = kept + most * size
    for flop in range(s.num_flops):
        for place in range(size):
            _mark_card(s.flops[flop, place], out, at + (flop * size + place) * _CARD)
        if s.buyer[flop] >= 0:
            out[buyers + flop * n + clockwise(me, s.buyer[flop], n)] = 1
        out[prices + flop] = full * max(s.cost[flop], 0) / max(s.total_chips, 1)
        out[refusals + flop] = _refusal_fraction(s, flop, full)
        if s.kept[flop]:
            out[kept + flop * size + _SIZE[s.kept[flop]] - 1] = 1
            for place in range(size):
                if s.buyer[flop] == me and s.kept[flop] >> place & 1:
                    out[own + flop * size + place] = 1
    return own + most * size


@inner
def _observe_bids(s: Any, me: Any, out: Any, at: Any) -> Any:
    """Every bid in order. Passes follow from the order of the seats and from whose turn it is."""
    n = np.int64(s.num_players)
    bid = 0
    for flop in range(s.num_flops):
        number = s.price if flop == s.num_flops - 1 and s.phase == BID else max(s.cost[flop], 0)
        for place in range(number):
            if bid < s.num_bids:
                slot = at + bid * (n + 1)
                out[slot + clockwise(me, bidder_of(s, bid), n)] = 1
                out[slot + n] = place == 0
                bid += 1
    return at + s.bid_slots * (n + 1)


# --- what a seat may not know, drawn anew ---------------------------------------------------------------------------
# A seat knows what it was dealt, discarded and kept, every flop, and at the end every hand. Before a reshuffle (B8) all
# else is equally likely. After one, a card that comes up again has not been kept by the buyer of the earlier flop; a
# card that comes up for the first time was discarded from a hand, or is one of the ``tail`` cards of the old stock,
# which are all in the first flop after the reshuffle. All assignments that satisfy this are equally likely.


@inner
def _unseen(s: Any, me: Any) -> Any:
    """Cards that seat ``me`` has neither been dealt nor seen in a flop before a reshuffle, nor in a hand shown."""
    cards = deck_set(s) ^ hole_set(s, me) ^ _flop_set(s, 0, min(s.first_shuffle, s.num_flops))
    if s.phase == OVER:
        for seat in range(s.num_players):
            if seat != me:
                cards ^= _held_hole_set(s, seat)
    return cards


@inner
def _tail_choice(s: Any, me: Any) -> Any:
    """Cards of the first flop after a reshuffle that, for all that ``me`` knows, may have been in the old stock."""
    if s.first_shuffle == NEVER:
        return EMPTY
    return _unseen(s, me) & _flop_set(s, s.first_shuffle, s.first_shuffle + 1)


@inner
def _deck_place_seen(s: Any, me: Any, place: Any) -> Any:
    """Whether seat ``me`` knows the card at a place of the deck."""
    dealt = _dealt(s)
    if place < dealt:
        owner = (s.dealer + 1 + place % s.num_players) % s.num_players
        return owner == me or (s.phase == OVER and s.discards[owner] >> place // s.num_players & 1 == 0)
    if place < dealt + min(s.first_shuffle, s.num_flops) * np.int64(s.flop_size):
        return True
    return s.first_shuffle != NEVER and _count(_tail_choice(s, me)) == s.tail


@kernel
def _mark_seen(s: Any, me: Any, seen: Any) -> None:
    """Write for each place of the deck whether seat ``me`` knows the card there."""
    for place in range(_deck_size(s)):
        seen[place] = _deck_place_seen(s, me, place)


@inner
def _draw_card(s: Any, cards: Any) -> Any:
    """A random card of a set."""
    skip = draw_below(s, _count(cards))
    found = 0
    for card in range(NUM_CARDS):
        if cards & card_bit(card):
            if skip == 0:
                found = card
            skip -= 1
    return found


@inner
def resample(s: Any, me: Any) -> None:
    """Draw anew, with ``s.rng``, all that seat ``me`` cannot know, uniformly among what agrees with what it does know.

    That is the cards of the other seats, which of them they discarded, which cards of their flops they kept, and the
    order of the stock, now and after later reshuffles. The numbers of cards discarded and kept are public.
    """
    if s.phase != OVER:
        for flop in range(s.num_flops):
            if s.buyer[flop] != me and s.kept[flop]:
                _redraw_kept(s, flop)
    rest = _redraw_holes(s, me)
    if s.first_shuffle == NEVER:
        for place in range(_dealt(s) + s.num_flops * np.int64(s.flop_size), _deck_size(s)):
            card = _draw_card(s, rest)
            rest ^= card_bit(card)
            s.deck[place] = card
        _stock_from_deck(s)
    else:
        _redraw_stock(s)
    s.chance = draw_word(s)


@inner
def _draw_subset(s: Any, places: Any, number: Any) -> Any:
    """A random subset, of a given number, of some places (a bit each)."""
    left, subset = _SIZE[places], 0
    for place in range(MAX_HAND):
        if places >> place & 1:
            if draw_below(s, left) < number:
                subset |= 1 << place
                number -= 1
            left -= 1
    return subset


@inner
def _redraw_kept(s: Any, flop: Any) -> None:
    """Choose which cards of a flop its buyer kept: as many as it did, none that has come up again since."""
    again, places = _flop_set(s, flop + 1, s.num_flops), 0
    for place in range(s.flop_size):
        if again & card_bit(s.flops[flop, place]) == EMPTY:
            places |= 1 << place
    s.kept[flop] = _draw_subset(s, places, _SIZE[s.kept[flop]])


@inner
def _redraw_tail(s: Any, me: Any) -> Any:
    """Choose which cards were left in the stock at the first reshuffle; return them as a card set."""
    choice = _tail_choice(s, me)
    known = _count(choice) == s.tail
    cards = EMPTY
    for place in range(_deck_size(s) - s.tail, _deck_size(s)):
        if not known:
            card = _draw_card(s, choice)
            choice ^= card_bit(card)
            s.deck[place] = card
        cards |= card_bit(s.deck[place])
    return cards


@inner
def _redraw_holes(s: Any, me: Any) -> Any:
    """Deal the other seats' cards and discards anew; return the unseen cards that are left."""
    unseen, turned = _unseen(s, me), EMPTY
    if s.first_shuffle != NEVER:
        unseen ^= _redraw_tail(s, me)
        turned = unseen & _flop_set(s, s.first_shuffle, s.num_flops)  # these were discarded from the others' hands
    rest = unseen ^ turned
    left = 0  # places for discards
    for seat in range(s.num_players):
        if seat != me and s.phase != OVER:
            s.discards[seat] = _draw_subset(s, (1 << s.hand_size) - 1, s.discarded[seat])
        left += _SIZE[s.discards[seat]] if seat != me else 0
    for seat in range(s.num_players):
        for turn in range(s.hand_size):
            gone = s.discards[seat] >> turn & 1
            if seat == me or (s.phase == OVER and not gone):
                continue
            again = gone and draw_below(s, left) < _count(turned)
            card = _draw_card(s, turned if again else rest)
            turned &= ~card_bit(card)
            rest &= ~card_bit(card)
            left -= gone
            s.deck[_hole_place(s, seat, turn)] = card
    return rest


@inner
def _redraw_stock(s: Any) -> None:
    """After a reshuffle: the stock is what is in no hand and has not been turned up since, in random order."""
    cards = deck_set(s) & ~(_hands(s) | _flop_set(s, s.last_shuffle, s.num_flops))
    for place in range(s.stock_at, s.stock_size):
        card = _draw_card(s, cards)
        cards ^= card_bit(card)
        s.stock[place] = card


# --- what people read -----------------------------------------------------------------------------------------------

_PLACES = ("best", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def eligibility(s: Any, seat: int) -> str:
    """Empty when a seat can be dealt in, otherwise the reason why not: all seats can or none (B10)."""
    for other in range(s.num_players):
        if s.stacks[other] < s.ante:
            return f"player_{other} has {s.stacks[other]} chips and cannot pay the ante of {s.ante}: the match is over"
    return ""


def info(states: np.ndarray, seat: int) -> dict[str, Any]:
    """Public facts for the seat to act.

    The phase; the highest bid (0: none); what a bid or a refusal costs now (0 where there is neither); the number of
    cards its hand still has room for.
    """
    phase, price, cost = int(states["phase"][0]), int(states["price"][0]), 0
    if phase == BID:
        cost = price + 1
    elif phase == REFUSE:
        cost = 1 - int(states["cost"][0, states["num_flops"][0] - 1])
    room = int(states["hand_size"][0] - states["held"][0, seat])
    return {"phase": PHASES[phase], "price": price, "cost": cost, "room": room}


def pending(s: Any) -> int:
    """How many of the latest actions are still secret: none, seats choose one after the other."""
    return 0


def public_name(settings: Settings, action: int) -> str:
    """An action's name as the other seats see it: how many cards are discarded or kept, not which."""
    if action >= DISCARD_0:
        return f"discard {_cards_text(int(_SIZE[action - DISCARD_0]))}"
    if action > KEEP_0:
        return f"keep {_cards_text(int(_SIZE[action - KEEP_0]))}"
    return action_names(settings)[action]


def _cards_text(number: int) -> str:
    if number == 0:
        return "none"
    return f"{number} card{'s' if number > 1 else ''}"


def visible_deck(s: Any, seat: int) -> list[bool]:
    """For each place of the deck, whether a seat has seen the card there."""
    seen = np.zeros(int(s.num_ranks) * int(s.num_suits), np.bool_)
    _mark_seen(s, seat, seen)
    return seen.tolist()


def view(s: Any, seat: int | None) -> TableView:
    """The table as a seat sees it; with None, everything."""
    up = bool(flop_up(s))
    number = f"flop {s.num_flops}: "
    phase = {
        DISCARD: "discarding",
        BID: number + "bidding",
        REFUSE: number + "take or refuse",
        KEEP: number + "keeping",
        OVER: "deal over",
    }[int(s.phase)]
    return TableView(
        title=TITLE,
        phase=phase,
        pot=int(s.pot),
        centre=[CARD_NAMES[card] for card in s.flops[s.num_flops - 1, : s.flop_size]] if up else [],
        centre_label="flop",
        seats=[_seat_view(s, other, seat, up) for other in range(s.num_players)],
        lines=_view_lines(s, up),
    )


def _view_lines(s: Any, up: bool) -> list[str]:
    lines = [f"Deal {s.deal_number + 1} of {s.num_deals}."]
    last = int(s.num_flops) - 1 - up
    if last >= 0:
        kept = _cards_text(int(_SIZE[s.kept[last]]))
        lines.append(f"Flop {last + 1} was {_flop_text(s, last)}. {_sale_text(s, last)}, who kept {kept}.")
    if s.phase == BID:
        lines.append(f"player_{s.bidder} bids {s.price}." if s.price else "Nobody has bid yet.")
    if s.phase == REFUSE:
        lines.append(f"All have passed: player_{s.to_act} takes the flop, or pays {_refusal(s)} to refuse it.")
    if s.phase == KEEP:
        lines.append(_sale_text(s, last + 1) + ".")
    return lines


def _flop_text(s: Any, flop: int) -> str:
    return names_of(s.flops[flop, : s.flop_size])


def _sale_text(s: Any, flop: int) -> str:
    """Who got a flop, and what for."""
    buyer, cost = f"player_{s.buyer[flop]}", int(s.cost[flop])
    if cost > 0:
        return f"Sold for {cost} to {buyer}"
    after = f" after {-cost} refusal{'s' if cost < -1 else ''}" if cost else ""
    return f"Taken for nothing{after} by {buyer}"


def _seat_view(s: Any, seat: int, viewer: int | None, up: bool) -> SeatView:
    knows = viewer in (None, seat)
    hand = hand_set(s, seat)
    notes = []
    if s.discarded[seat] != NOT_YET:
        cards = f" ({names_of(cards_of(discard_set(s, seat)))})" if knows and s.discarded[seat] else ""
        notes.append(f"discarded {s.discarded[seat] or 'none'}{cards}")
    if up and s.voice == seat:
        notes.append("first voice")
    if s.phase == BID and s.bidder == seat:
        notes.append(f"bids {s.price}")
    if s.phase == OVER:
        if s.award[seat]:
            notes.append(f"{_PLACES[s.place[seat]]} hand: {s.award[seat]}")
        notes.append(f"{s.award[seat] - s.paid[seat]:+d}")
    return SeatView(
        seat=seat,
        stack=int(s.stacks[seat]),
        cards=names_of(cards_of(hand)).split() if knows or s.phase == OVER else ["??"] * int(s.held[seat]),
        bought=[],
        hand=describe_high(int(s.high[seat])) if s.phase == OVER else "",
        notes=notes,
        dealer=bool(s.dealer == seat),
        to_act=bool(s.to_act == seat),
    )


def narrate(before: Any, action: int, after: Any) -> list[str]:
    """Public account of a move, in sentences."""
    lines = _narrate_move(before, action)
    if after.phase == REFUSE and before.phase == BID:
        lines.append(f"All have passed: player_{after.to_act} takes the flop, or pays {_refusal(after)} to refuse it.")
    if after.phase == KEEP and before.phase == BID and before.num_flops == after.num_flops:
        lines.append(_sale_text(after, int(after.num_flops) - 1) + ".")
    if after.num_flops > before.num_flops:
        lines += _narrate_flop(before, after)
    if after.phase == OVER:
        lines += _narrate_award(after)
    return lines


def _narrate_move(before: Any, action: int) -> list[str]:
    who = f"player_{before.to_act}"
    if action >= DISCARD_0:
        number = int(_SIZE[action - DISCARD_0])
        fee = f" for {before.fees[number]}" if number else ""
        return [f"{who} discards {_cards_text(number)}{fee}."]
    if action > KEEP_0:
        return [f"{who} keeps {_cards_text(int(_SIZE[action - KEEP_0]))}."]
    return [
        {
            PASS: f"{who} passes.",
            MAKE_BID: f"{who} bids {before.price + 1}.",
            TAKE: f"{who} takes the flop.",
            MAKE_REFUSAL: f"{who} pays {_refusal(before) if before.num_flops else 0} to refuse the flop.",
        }[action]
    ]


def _narrate_flop(before: Any, after: Any) -> list[str]:
    lines = []
    if after.last_shuffle == after.num_flops - 1:
        lines.append("The stock has run out: the discard pile is shuffled and placed under it.")
    flop = f"Flop {after.num_flops}: {_flop_text(after, int(after.num_flops) - 1)}."
    if after.phase == KEEP:
        return [*lines, f"{flop} player_{after.to_act} alone is incomplete and takes it for nothing."]
    return [*lines, f"{flop} player_{after.voice} has the first voice."]


def _narrate_award(after: Any) -> list[str]:
    pot = int(after.award[: after.num_players].sum())
    lines = [f"All hands are complete; the pot of {pot} is divided."]
    for seat in sorted(range(after.num_players), key=lambda seat: (int(after.place[seat]), _distance(after, seat))):
        hand = f"{names_of(cards_of(hand_set(after, seat)))}: {describe_high(int(after.high[seat]))}"
        tied = "tied for " if (after.high[: after.num_players] == after.high[seat]).sum() > 1 else ""
        share = f" and gets {after.award[seat]}" if after.award[seat] else ""
        lines.append(f"player_{seat} shows {hand}; {tied}{_PLACES[after.place[seat]]}{share}.")
    return lines


def _distance(s: Any, seat: int) -> int:
    """Places clockwise from the seat after the dealer."""
    return (seat - int(s.dealer) - 1) % int(s.num_players)


assert len(HIGH_CATEGORIES) == 9 and len(PHASES) == 5 and STATE.itemsize < 1024
