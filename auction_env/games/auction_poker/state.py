"""Auction Poker: settings, the state of a table, and the actions."""

from __future__ import annotations

import dataclasses

import numpy as np

from auction_env.games.cards import CARD_NAMES
from auction_env.games.game import SettingsError, plain_integers, require_int, setting

NAME = "auction_poker"
VERSION = 0
TITLE = "Auction Poker"
MIN_PLAYERS, MAX_PLAYERS = 2, 7
MAX_AUCTIONS = 7
MAX_BID = 20
MAX_RAISES = 6
MAX_HAND = 7
MAX_CHIPS = 1_000_000

# --- settings -------------------------------------------------------------------------------------------------------

CARRY_RULES = ("split", "keep")


@dataclasses.dataclass(frozen=True)
class Settings:
    """Every number of the rules. Nonsense raises SettingsError when constructed."""

    num_players: int = setting(3, "seats at the table, 2 to 7")
    ante: int = setting(1, "chips each seat pays to be dealt in, 0 to 1000 (A1)")
    hole_cards: int = setting(2, "concealed cards of each seat, 0 to 6 (A1)")
    num_auctions: int = setting(5, "auctions in a deal, 1 to 7; with hole_cards at most 7 (A3)")
    max_bid: int = setting(3, "highest bid, 1 to 20; the lowest is 1 (A3)")
    bet_size: int = setting(1, "chips of a bet and of each raise, 1 to 1000 (A6)")
    max_raises: int = setting(3, "raises allowed after the bet, 0 to 6 (A6)")
    num_ranks: int = setting(13, "ranks in the deck, 1 to 13, the highest: 3 means Q K A")
    num_suits: int = setting(4, "suits in the deck, 1 to 4, the first of c d h s")
    num_deals: int = setting(1, "deals in a match, 1 to 1000000 (A2)")
    starting_chips: int = setting(
        None, "chips of each seat when a match starts, at least the reserve, the default (A2)"
    )
    final_carry: str = setting("split", "a pot carried out of a match's last deal: 'split' or 'keep' (A13)")

    def __post_init__(self) -> None:
        plain_integers(self)
        require_int("num_players", self.num_players, MIN_PLAYERS, MAX_PLAYERS)
        require_int("ante", self.ante, 0, 1000)
        require_int("hole_cards", self.hole_cards, 0, MAX_HAND - 1)
        require_int("num_auctions", self.num_auctions, 1, MAX_AUCTIONS)
        require_int("max_bid", self.max_bid, 1, MAX_BID)
        require_int("bet_size", self.bet_size, 1, 1000)
        require_int("max_raises", self.max_raises, 0, MAX_RAISES)
        require_int("num_ranks", self.num_ranks, 1, 13)
        require_int("num_suits", self.num_suits, 1, 4)
        require_int("num_deals", self.num_deals, 1, 1_000_000)
        needed, size = self.num_players * (self.hole_cards + self.num_auctions), self.num_ranks * self.num_suits
        if needed > size:
            raise SettingsError(
                f"num_players {self.num_players} x (hole_cards {self.hole_cards} + num_auctions {self.num_auctions}) = "
                f"{needed} cards, more than the {size} of the deck: lower one of them or enlarge the deck"
            )
        if self.hole_cards + self.num_auctions > MAX_HAND:
            raise SettingsError(
                f"hole_cards {self.hole_cards} + num_auctions {self.num_auctions} is more than {MAX_HAND} cards, "
                "the most that a hand is ranked on: lower one of them"
            )
        if self.starting_chips is None:
            object.__setattr__(self, "starting_chips", self.reserve)
        require_int("starting_chips (at least the reserve of A2)", self.starting_chips, self.reserve, MAX_CHIPS)
        if self.final_carry not in CARRY_RULES:
            raise SettingsError(f"final_carry is {self.final_carry!r}: it must be 'split' or 'keep'")

    @property
    def zero_sum(self) -> bool:
        """Whether the seats' results of a match sum to zero: unless a pot is carried out of it (A13, A14)."""
        return self.final_carry == "split"

    @property
    def recalls_all(self) -> bool:
        """Whether an observation tells all that a seat has seen and done in a deal: always."""
        return True

    @property
    def reserve(self) -> int:
        """Chips a seat needs to be dealt in: the most that a deal can cost it (A2)."""
        return self.ante + self.num_auctions * self.max_bid + self.bet_size * (1 + self.max_raises)


# --- state: one row is one table ------------------------------------------------------------------------------------

PHASES = ("bid", "pick", "bet", "declare", "over")
BID, PICK, BET, DECLARE, OVER = range(5)
HIDDEN_PHASES = (BID, DECLARE)
CARRIES_POT = True
NO_CARD = 255
CHECKED, BET_MADE, CALLED, RAISED, FOLDED = range(1, 6)  # entries of ``bets``
LOW, HIGH, BOTH = 1, 2, 3  # entries of ``declared``
WON_LOW, WON_HIGH, WON_ALL, BOTH_FAILED = 1, 2, 4, 8  # bits of ``verdict``

_SEATS = (MAX_PLAYERS,)
STATE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("rng", "u8"),  # the table's generator (SplitMix64)
                # settings
                ("ante", "i4"),
                ("bet_size", "i4"),
                ("reserve", "i4"),
                ("starting_chips", "i4"),
                ("num_deals", "i4"),
                # the match
                ("deal_number", "i4"),  # from 0
                ("carried_pot", "i4"),  # chips carried out of the last deal; 0 while one is played
                ("carried_in", "i4"),  # chips of this deal's pot that the deal before left
                ("total_chips", "i4"),  # stacks + pot + carried_pot: constant in a match
                ("stacks", "i4", _SEATS),
                # the deal
                ("pot", "i4"),
                ("award", "i4", _SEATS),  # chips received at its end
                ("exposed_key", "i4", _SEATS),  # high key of the exposed hand, as of the last finished auction
                ("high", "i4", _SEATS),  # high key of the whole hand of a seat that declared; set at the end
                ("low", "i4", _SEATS),  # low key likewise; smaller is better
                ("paid", "i2", _SEATS),  # ante, bids and bets of this deal
                ("deck", "u1", (52,)),  # in deal order; the first num_ranks * num_suits places count
                ("row", "u1", _SEATS),  # cards on the table, row_count of them
                ("picks", "u1", (MAX_AUCTIONS, MAX_PLAYERS)),  # card each seat took in each auction, or NO_CARD
                ("num_players", "i1"),
                ("hole_cards", "i1"),
                ("num_auctions", "i1"),
                ("max_bid", "i1"),
                ("max_raises", "i1"),
                ("num_ranks", "i1"),
                ("num_suits", "i1"),
                ("keep_carry", "i1"),  # 1: final_carry is "keep"
                ("match_over", "i1"),
                ("dealer", "i1"),
                ("phase", "i1"),
                ("to_act", "i1"),  # seat, -1 when the deal is over
                ("auction", "i1"),  # auctions finished
                ("turn", "i1"),  # choices made so far in a bid, pick or declare phase
                ("num_in", "i1"),  # seats dealt in
                ("row_count", "i1"),
                ("level", "i1"),  # the bet and raises made so far
                ("active", "i1"),  # seats that have not folded
                ("to_answer", "i1"),  # seats that still have to act before the betting ends
                ("dealt_in", "i1", _SEATS),
                ("order", "i1", _SEATS),  # seats dealt in, clockwise from the dealer, num_in of them
                ("tie_place", "i1", _SEATS),  # place of each seat dealt in among equal bids, from 0
                ("pick_order", "i1", _SEATS),
                ("bids", "i1", (MAX_AUCTIONS, MAX_PLAYERS)),  # 0: not made
                ("bets", "i1", (MAX_PLAYERS, MAX_RAISES + 2)),  # each seat's own betting actions in order, 0: none
                ("num_bets", "i1", _SEATS),  # how many of them
                ("seat_level", "i1", _SEATS),  # how many bets and raises a seat has paid
                ("folded", "i1", _SEATS),
                ("declared", "i1", _SEATS),
                ("verdict", "i1", _SEATS),
                ("opener", "i1"),  # who opened the betting
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
        *("ante", "bet_size", "reserve", "starting_chips", "num_deals"),
        *("num_players", "hole_cards", "num_auctions", "max_bid", "max_raises", "num_ranks", "num_suits"),
    ):
        row[name] = getattr(settings, name)
    row.keep_carry = settings.final_carry == "keep"
    row.phase, row.to_act, row.match_over = OVER, -1, 1
    return states


# --- actions: an index means the same in every deal and for every setting -------------------------------------------

PICK_0 = 0  # pick card c: PICK_0 + c
CHECK, MAKE_BET, CALL, RAISE, FOLD = range(52, 57)
DECLARE_LOW, DECLARE_HIGH, DECLARE_BOTH = 57, 58, 59
BID_0 = 59  # bid b: BID_0 + b
MAX_LEGAL = MAX_BID

_FIXED_NAMES = (
    *(f"pick {name}" for name in CARD_NAMES),
    *("check", "bet", "call", "raise", "fold"),
    *("declare low", "declare high", "declare both"),
)


def action_names(settings: Settings) -> tuple[str, ...]:
    """Name of each action index; ``60 + max_bid`` of them."""
    return _FIXED_NAMES + tuple(f"bid {bid}" for bid in range(1, settings.max_bid + 1))


def max_game_length(settings: Settings) -> int:
    """Most decisions in a deal: n bids and n - 1 picks an auction, the longest betting, n declarations."""
    n = settings.num_players
    betting = (n - 1) + 1 + (settings.max_raises + 1) * (n - 1)
    return settings.num_auctions * (2 * n - 1) + betting + n
