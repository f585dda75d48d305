"""Auction Flop Poker: settings, the state of a table, and the actions."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from auction_env.games.cards import NUM_CARDS
from auction_env.games.game import SettingsError, plain_integers, require_int, setting

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

BIDS_PER_WORD = 21  # seats, three bits each, in a 64-bit word
BID_WORDS = 37
MAX_BIDS = BIDS_PER_WORD * BID_WORDS  # of one deal that a table recalls: 8 seats with 97 chips each have fewer

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
        number = f"exactly {most}" if fewest == most else f"{fewest} to {most}"
        if not isinstance(values, (tuple, list, np.ndarray)) or not fewest <= len(values) <= most:
            raise SettingsError(f"{name} is {values!r}: give {number} numbers")
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
    def zero_sum(self) -> bool:
        """Whether the seats' results sum to zero: always (B9)."""
        return True

    @property
    def recalls_all(self) -> bool:
        """Whether an observation tells all that a seat has seen and done in a deal."""
        return self.observation == "full" and self.chips_in_play <= MAX_BIDS

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
                ("bid_log", "u8", (BID_WORDS,)),  # seats of all bids of the deal, in order, three bits each
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

SUBSET_SIZE = np.array([subset.bit_count() for subset in range(1 << MAX_HAND)], np.int8)  # of a subset
WHOLE_HAND = (1 << MAX_HAND) - 1


def _places(subset: int) -> str:
    return " ".join(str(place) for place in range(MAX_HAND) if subset >> place & 1) or "none"


_FIXED_NAMES = ("pass", "bid", "take", "refuse", *(f"keep {_places(subset)}" for subset in range(1, 1 << MAX_FLOP)))


def action_names(settings: Settings) -> tuple[str, ...]:
    """Name of each action index; ``11 + 2**hand_size`` of them, 43 by default."""
    return _FIXED_NAMES + tuple(f"discard {_places(subset)}" for subset in range(1 << settings.hand_size))


def max_game_length(settings: Settings) -> int:
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
