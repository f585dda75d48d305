"""Auction Poker, seven-card high-low. The rules, ruling by ruling (A1 to A15), are in ``auction_poker.md`` beside this.

In order: settings, state, actions, observation, then the functions: deal, legal, act (bidding, picking, betting,
declaring), award, observe, resample; last what people read: views and accounts of what happened.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from auction_env.games.cards import (
    CARD_NAMES,
    EMPTY,
    RANKS,
    SUITS,
    card_bit,
    cards_of,
    clockwise,
    draw_below,
    mark_set,
    names_of,
    next_seat,
    shuffle_deck,
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
from auction_env.games.hands import (
    HIGH_CATEGORIES,
    LOW_CATEGORIES,
    describe_high,
    describe_low,
    few_key,
    high_key,
    low_key,
)
from auction_env.kernel import inner, kernel

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


def max_deal_length(settings: Settings) -> int:
    """Most decisions in a deal: n bids and n - 1 picks an auction, the longest betting, n declarations."""
    n = settings.num_players
    betting = (n - 1) + 1 + (settings.max_raises + 1) * (n - 1)
    return settings.num_auctions * (2 * n - 1) + betting + n


# --- observation ----------------------------------------------------------------------------------------------------

_CARD = 17  # a card as 13 ranks and 4 suits, one of each set


def pieces(settings: Settings) -> tuple[Piece, ...]:
    """The observation of a seat, in order. Seats are counted from the observer: 0 is itself, 1 the next clockwise."""
    n, auctions = settings.num_players, settings.num_auctions
    return (
        Piece("phase", (5,), "which phase: bid, pick, bet, declare, over"),
        Piece("turn", (n,), "the seat to act while picking or betting; empty while choices are hidden"),
        Piece("dealer", (n,), "the dealer"),
        Piece("dealt_in", (n,), "seats in this deal"),
        Piece("hole", (52,), "own concealed cards, by card index"),
        Piece("row", (52,), "cards on the table, by card index"),
        Piece("picks", (auctions, n, _CARD), "the card each seat took in each auction: 13 ranks, then 4 suits"),
        Piece("bids", (auctions, n, settings.max_bid), "each seat's bid in each auction, once revealed; own at once"),
        Piece(
            "bets", (n, settings.max_raises + 2, 5), "each seat's betting actions in order: check bet call raise fold"
        ),
        Piece("bet_level", (settings.max_raises + 2,), "how many bets and raises have been made"),
        Piece("opener", (n,), "the seat that opened the betting"),
        Piece("folded", (n,), "seats that folded"),
        Piece("declared", (n, 3), "low, high, both: once revealed; own at once"),
        Piece(
            "high_made", (n, 9), "category of the high hand: own cards; of others the exposed ones, finished auctions"
        ),
        Piece("low_ranks", (13,), "ranks of the own best low hand, ace first"),
        Piece("low_made", (6,), "category of the own best low hand"),
        Piece("tie_place", (n,), "place of each seat in the order of equal bids, over n - 1", fraction=True),
        Piece("stacks", (n,), "chips of each seat over all chips of the match", fraction=True),
        Piece("pot", (1,), "chips in the pot over all chips of the match", fraction=True),
        Piece("chip_scale", (1,), "the reserve (A2) over all chips of the match", fraction=True),
        Piece("deals_left", (1,), "deals to come after this one, over the match's number of deals", fraction=True),
        Piece(
            "shown",
            (n - 1, 52),
            "concealed cards of the other seats turned up at a showdown, by card index",
            final_only=True,
        ),
    )


# --- dealing --------------------------------------------------------------------------------------------------------


@inner
def new_match(s: Any) -> None:
    """Equal stacks and a first dealer drawn from the generator; nothing is dealt yet."""
    s.deal_number = 0
    s.carried_pot = 0
    s.match_over = 0
    s.total_chips = s.num_players * s.starting_chips
    for seat in range(s.num_players):
        s.stacks[seat] = s.starting_chips
    s.dealer = draw_below(s, s.num_players)


@inner
def deal(s: Any, given: Any) -> None:
    """Ante, shuffle and deal (A1, A2, A13); the first ``given`` cards of the deck stay as they are."""
    s.num_in = 0
    for seat in range(MAX_PLAYERS):
        s.dealt_in[seat] = seat < s.num_players and s.stacks[seat] >= s.reserve
        s.num_in += s.dealt_in[seat]
        s.paid[seat] = 0
        s.award[seat] = 0
        s.exposed_key[seat] = 0
        s.num_bets[seat] = 0
        s.seat_level[seat] = 0
        s.folded[seat] = 0
        s.declared[seat] = 0
        s.verdict[seat] = 0
    for auction in range(MAX_AUCTIONS):  # bounds that the compiler knows make one block of each
        for seat in range(MAX_PLAYERS):
            s.bids[auction, seat] = 0
            s.picks[auction, seat] = NO_CARD
    for seat in range(MAX_PLAYERS):
        for place in range(MAX_RAISES + 2):
            s.bets[seat, place] = 0
    shuffle_deck(s, given, s.num_in * (s.hole_cards + s.num_auctions))
    s.carried_in = s.carried_pot
    s.pot = s.carried_pot
    s.carried_pot = 0
    s.num_in = 0
    seat = s.dealer
    for _ in range(s.num_players):
        seat = next_seat(seat, s.num_players)
        if s.dealt_in[seat]:
            s.order[s.num_in] = seat
            s.tie_place[seat] = s.num_in
            s.num_in += 1
            _pay(s, seat, s.ante)
    s.active = s.num_in
    s.level = 0
    s.to_answer = 0
    s.opener = -1
    s.auction = 0
    _open_auction(s)


@inner
def next_deal(s: Any) -> None:
    """Pass the deal to the next seat still in the match, and deal (A15)."""
    s.deal_number += 1
    dealer = s.dealer
    for _ in range(s.num_players):
        dealer = next_seat(dealer, s.num_players)
        if s.stacks[dealer] >= s.reserve:
            break
    s.dealer = dealer
    deal(s, 0)


@inner
def _pay(s: Any, seat: Any, chips: Any) -> None:
    s.stacks[seat] -= chips
    s.paid[seat] += chips
    s.pot += chips


@inner
def _place_of(s: Any, seat: Any) -> Any:
    """A seat's place in ``order``, -1 if it was not dealt in."""
    found: Any = -1
    for place in range(s.num_in):  # no early end: a branch that cannot be foreseen costs more
        found += (place + 1) * (s.order[place] == seat)
    return found


@kernel
def hole_set(s: Any, seat: Any) -> Any:
    """The concealed cards of a seat as a card set: dealt one at a time, clockwise from the dealer (A1)."""
    cards, place = EMPTY, _place_of(s, seat)
    if place >= 0:
        for turn in range(s.hole_cards):
            cards |= card_bit(s.deck[turn * s.num_in + place])
    return cards


@kernel
def exposed_set(s: Any, seat: Any) -> Any:
    """The cards a seat has picked, as a card set."""
    cards = EMPTY
    for auction in range(s.num_auctions):
        card = s.picks[auction, seat]
        if card != NO_CARD:
            cards |= card_bit(card)
    return cards


# --- legal actions --------------------------------------------------------------------------------------------------


@inner
def legal(s: Any, out: Any) -> Any:
    """Write the legal actions of ``s.to_act``; return how many, none when the deal is over (A3, A4, A6, A8)."""
    if s.phase == BID:
        for bid in range(s.max_bid):
            out[bid] = BID_0 + 1 + bid
        return np.int64(s.max_bid)
    if s.phase == PICK:
        for place in range(s.row_count):
            out[place] = PICK_0 + s.row[place]
        return np.int64(s.row_count)
    if s.phase == DECLARE:
        out[0] = DECLARE_LOW
        out[1] = DECLARE_HIGH
        out[2] = DECLARE_BOTH
        return 3
    if s.phase != BET:
        return 0
    if s.level == s.seat_level[s.to_act]:  # not facing a bet
        out[0] = CHECK
        out[1] = MAKE_BET
        return 2
    out[0] = CALL
    count = 1
    if s.level <= s.max_raises:
        out[1] = RAISE
        count = 2
    out[count] = FOLD
    return count + 1


# --- acting ---------------------------------------------------------------------------------------------------------


@inner
def act(s: Any, action: Any) -> None:
    """Apply a legal action of the seat to act."""
    if s.phase == BID:
        _bid(s, action - BID_0)
    elif s.phase == PICK:
        _pick(s, action - PICK_0)
    elif s.phase == BET:
        _bet(s, action)
    else:
        _declare(s, action - DECLARE_LOW + LOW)


@inner
def _open_auction(s: Any) -> None:
    """Turn up a row of one card a seat, in deck order (A1)."""
    first = s.num_in * (s.hole_cards + s.auction)
    s.row_count = s.num_in
    for place in range(s.num_in):
        s.row[place] = s.deck[first + place]
    s.phase = BID
    s.turn = 0
    s.to_act = s.order[0]


@inner
def _bid(s: Any, bid: Any) -> None:
    s.bids[s.auction, s.to_act] = bid
    s.turn += 1
    if s.turn < s.num_in:
        s.to_act = s.order[s.turn]
        return
    for place in range(s.num_in):  # all are in: now, and only now, the chips move (A3)
        seat = s.order[place]
        _pay(s, seat, s.bids[s.auction, seat])
    _set_pick_order(s)
    s.phase = PICK
    s.turn = 0
    s.to_act = s.pick_order[0]


@inner
def _set_pick_order(s: Any) -> None:
    """Highest bid first; equal bids by ``tie_place`` (A4).

    Each seat's place is the number of seats before it: without branches, which could not be foreseen here.
    """
    for place in range(s.num_in):
        seat, before = s.order[place], 0
        mine = np.int64(s.bids[s.auction, seat]) * 8 - s.tie_place[seat]
        for rival in range(s.num_in):
            other = s.order[rival]
            before += np.int64(s.bids[s.auction, other]) * 8 - s.tie_place[other] > mine
        s.pick_order[before] = seat


@inner
def _set_tie_places(s: Any) -> None:
    """The order of equal bids: by the exposed hand, strongest first, then clockwise from the dealer (A4)."""
    for place in range(s.num_in):
        seat, before = s.order[place], 0
        key = s.exposed_key[seat]
        for rival in range(s.num_in):
            other = s.exposed_key[s.order[rival]]
            before += (other > key) | ((other == key) & (rival < place))
        s.tie_place[seat] = before


@inner
def _pick(s: Any, card: Any) -> None:
    _take(s, s.to_act, card)
    s.turn += 1
    if s.row_count > 1:
        s.to_act = s.pick_order[s.turn]
        return
    _take(s, s.pick_order[s.turn], s.row[0])  # the last card goes without a decision (A4)
    s.auction += 1
    for place in range(s.num_in):
        seat = s.order[place]
        exposed = exposed_set(s, seat)
        s.exposed_key[seat] = few_key(exposed) if s.auction < 5 else high_key(exposed)
    _set_tie_places(s)
    if s.auction < s.num_auctions:
        _open_auction(s)
    else:
        _open_betting(s)


@inner
def _take(s: Any, seat: Any, card: Any) -> None:
    s.picks[s.auction, seat] = card
    left = 0
    for place in range(s.row_count):
        other = s.row[place]
        s.row[left] = other
        left += other != card
    s.row_count = left


@inner
def _open_betting(s: Any) -> None:
    """The strongest exposed hand opens; a tie goes clockwise from the dealer (A6)."""
    opener = 0
    for seat in range(s.num_players):
        if s.dealt_in[seat] and s.tie_place[seat] == 0:
            opener = seat
    s.opener = opener
    s.phase = BET
    s.to_act = opener
    s.to_answer = s.num_in


@inner
def _bet(s: Any, action: Any) -> None:
    seat = s.to_act
    s.bets[seat, s.num_bets[seat]] = action - CHECK + CHECKED
    s.num_bets[seat] += 1
    s.to_answer -= 1
    if action == FOLD:
        s.folded[seat] = 1
        s.active -= 1
        if s.active == 1:
            _win_uncontested(s)
            return
    elif action != CHECK:
        if action != CALL:
            s.level += 1
            s.to_answer = s.active - 1
        _pay(s, seat, (s.level - s.seat_level[seat]) * s.bet_size)
        s.seat_level[seat] = s.level
    if s.to_answer == 0:
        s.phase = DECLARE
        s.to_act = s.dealer
        s.turn = 0
    s.to_act = _next_active(s, s.to_act)


@inner
def _next_active(s: Any, seat: Any) -> Any:
    """The next seat clockwise that was dealt in and has not folded."""
    seat = next_seat(seat, s.num_players)
    while s.folded[seat] or not s.dealt_in[seat]:
        seat = next_seat(seat, s.num_players)
    return seat


@inner
def _declare(s: Any, declaration: Any) -> None:
    s.declared[s.to_act] = declaration
    s.turn += 1
    if s.turn < s.active:
        s.to_act = _next_active(s, s.to_act)
        return
    _rank_hands(s)
    _award_declared(s)
    _finish_deal(s)


# --- the award ------------------------------------------------------------------------------------------------------


@inner
def _win_uncontested(s: Any) -> None:
    """All others have folded: the whole pot, without a declaration (A7)."""
    winner = _next_active(s, s.to_act)
    s.award[winner] = s.pot
    s.verdict[winner] = WON_ALL
    s.pot = 0
    _finish_deal(s)


@inner
def _rank_hands(s: Any) -> None:
    for seat in range(s.num_players):
        if s.declared[seat]:
            cards = hole_set(s, seat) | exposed_set(s, seat)
            s.high[seat] = high_key(cards)
            s.low[seat] = low_key(cards)


@inner
def _beats(s: Any, seat: Any, other: Any, direction: Any) -> Any:
    """Whether a seat's hand beats another's, high or low (A9)."""
    if direction == HIGH:
        return s.high[seat] > s.high[other]
    return s.low[seat] < s.low[other]


@inner
def _wins_outright(s: Any, seat: Any, direction: Any) -> Any:
    """Whether a seat beats every other contender in a direction: those who declared it or both (A10)."""
    for other in range(s.num_players):
        if other != seat and s.declared[other] & direction and not _beats(s, seat, other, direction):
            return False
    return True


@inner
def _award_declared(s: Any) -> None:
    """Divide the pot among the declarations (A10, A11), or carry it."""
    num_low, num_high = 0, 0
    for seat in range(s.num_players):
        if s.declared[seat] == BOTH:
            if _wins_outright(s, seat, HIGH) and _wins_outright(s, seat, LOW):
                s.award[seat] = s.pot
                s.verdict[seat] = WON_ALL
                s.pot = 0
            else:
                s.verdict[seat] = BOTH_FAILED
        num_low += s.declared[seat] == LOW
        num_high += s.declared[seat] == HIGH
    if num_low == 0 and num_high == 0:
        s.carried_pot = s.pot
    elif s.pot > 0:
        low_half = s.pot // 2  # an odd chip goes to the high half (A12)
        if num_high == 0:
            low_half = s.pot
        elif num_low == 0:
            low_half = 0
        if num_high:
            _award_direction(s, s.pot - low_half, HIGH, WON_HIGH)
        if num_low:
            _award_direction(s, low_half, LOW, WON_LOW)
    s.pot = 0


@inner
def _award_direction(s: Any, chips: Any, direction: Any, won: Any) -> None:
    """Give a portion to the best hands that declared one direction alone (A11, A12)."""
    winners = 0
    for seat in range(s.num_players):
        if s.declared[seat] == direction:
            best = True
            for other in range(s.num_players):
                best &= not (s.declared[other] == direction and _beats(s, other, seat, direction))
            if best:
                s.verdict[seat] = won
                winners += 1
    share, left_over = chips // winners, chips % winners
    for place in range(s.num_in):
        seat = s.order[place]
        if s.verdict[seat] == won:
            s.award[seat] = share + (left_over > 0)
            left_over -= left_over > 0


@inner
def _finish_deal(s: Any) -> None:
    """Move the award to the stacks; end the match if no further deal can be played (A2, A13)."""
    s.phase = OVER
    s.to_act = -1
    can_play, declarers = 0, 0
    for seat in range(s.num_players):
        s.stacks[seat] += s.award[seat]
        can_play += s.stacks[seat] >= s.reserve
        declarers += s.declared[seat] > 0
    s.match_over = can_play < 2 or s.deal_number + 1 >= s.num_deals
    if s.match_over and s.carried_pot and not s.keep_carry:
        share, left_over = s.carried_pot // declarers, s.carried_pot % declarers
        for place in range(s.num_in):
            seat = s.order[place]
            if s.declared[seat]:
                chips = share + (left_over > 0)
                left_over -= left_over > 0
                s.award[seat] += chips
                s.stacks[seat] += chips
        s.carried_pot = 0


# --- observing ------------------------------------------------------------------------------------------------------


@inner
def bids_revealed(s: Any, auction: Any) -> Any:
    """Whether the bids of an auction are public: it is finished, or all bids are in (A3)."""
    return auction < s.auction or (auction == s.auction and s.phase == PICK)


@kernel
def shows_cards(s: Any, seat: Any) -> Any:
    """Whether a seat's concealed cards are turned up: it declared, and all have declared (A7, A8)."""
    return s.phase == OVER and s.declared[seat] > 0


@inner
def observe(s: Any, me: Any, out: Any, full: Any) -> None:
    """Write what seat ``me`` has seen and done to ``out`` (zeros; the pieces in order); ``full`` stands for 1.0."""
    n = np.int64(s.num_players)  # as plain Python, int8 would overflow
    out[s.phase] = 1
    at: Any = 5
    if s.phase == PICK or s.phase == BET:
        out[at + clockwise(me, s.to_act, n)] = 1
    at += n
    out[at + clockwise(me, s.dealer, n)] = 1
    at += n
    for seat in range(n):
        out[at + clockwise(me, seat, n)] = s.dealt_in[seat]
    at += n
    mine = _place_of(s, me)
    if mine >= 0:
        for turn in range(s.hole_cards):
            out[at + s.deck[turn * s.num_in + mine]] = 1
    at += 52
    for place in range(s.num_in):
        out[at + s.row[place]] += place < s.row_count
    at += 52
    at = _observe_auctions(s, me, out, at)
    at = _observe_betting(s, me, out, at)
    if s.phase >= DECLARE:
        for seat in range(n):
            if s.declared[seat] and (seat == me or s.phase == OVER):
                out[at + clockwise(me, seat, n) * 3 + s.declared[seat] - 1] = 1
    at += 3 * n
    at = _observe_hands(s, me, out, at)
    at = _observe_chips(s, me, out, at, full)
    if s.phase == OVER:
        for seat in range(n):
            if seat != me and shows_cards(s, seat):
                mark_set(hole_set(s, seat), out, at + (clockwise(me, seat, n) - 1) * 52)


@inner
def _observe_auctions(s: Any, me: Any, out: Any, at: Any) -> Any:
    n, most = np.int64(s.num_players), np.int64(s.max_bid)
    bids = at + s.num_auctions * n * _CARD
    for auction in range(min(s.auction + 1, s.num_auctions)):
        revealed = bids_revealed(s, auction)
        for seat in range(n):
            place = auction * n + clockwise(me, seat, n)
            card, bid = s.picks[auction, seat], s.bids[auction, seat]
            if card != NO_CARD:
                out[at + place * _CARD + (card >> 2)] = 1
                out[at + place * _CARD + 13 + (card & 3)] = 1
            if bid and (revealed or seat == me):
                out[bids + place * most + bid - 1] = 1
    return bids + s.num_auctions * n * most


@inner
def _observe_betting(s: Any, me: Any, out: Any, at: Any) -> Any:
    n, places = np.int64(s.num_players), np.int64(s.max_raises) + 2
    level = at + n * places * 5
    opener = level + places
    folded = opener + n
    out[level + s.level] = 1
    if s.opener >= 0:
        out[opener + clockwise(me, s.opener, n)] = 1
        for seat in range(n):
            steps = clockwise(me, seat, n)
            out[folded + steps] = s.folded[seat]
            for place in range(s.num_bets[seat]):
                out[at + (steps * places + place) * 5 + s.bets[seat, place] - 1] = 1
    return folded + n


@inner
def _observe_hands(s: Any, me: Any, out: Any, at: Any) -> Any:
    n = np.int64(s.num_players)  # as plain Python, int8 would overflow
    own = hole_set(s, me) | exposed_set(s, me)
    for seat in range(n):
        if seat != me:
            out[at + clockwise(me, seat, n) * 9 + (s.exposed_key[seat] >> 20)] = s.dealt_in[seat]
    out[at + (high_key(own) >> 20)] = s.dealt_in[me]
    at += 9 * n
    if s.dealt_in[me]:
        key = low_key(own)
        out[at + 13 + (key >> 20)] = 1
        for place in range(5):
            rank = (key >> (4 * place)) & 15
            if rank:
                out[at + rank - 1] = 1
    return at + 13 + 6


@inner
def _observe_chips(s: Any, me: Any, out: Any, at: Any, full: Any) -> Any:
    n = np.int64(s.num_players)  # as plain Python, int8 would overflow
    for seat in range(n):
        if s.dealt_in[seat]:
            out[at + clockwise(me, seat, n)] = full * s.tie_place[seat] / (n - 1)
    at += n
    for seat in range(n):
        out[at + clockwise(me, seat, n)] = full * s.stacks[seat] / s.total_chips
    at += n
    out[at] = full * (s.pot + s.carried_pot) / s.total_chips
    out[at + 1] = full * min(s.reserve, s.total_chips) / s.total_chips
    out[at + 2] = full * (s.num_deals - 1 - s.deal_number) / s.num_deals
    return at + 3


# --- what a seat may not know, drawn anew ---------------------------------------------------------------------------


@inner
def _deck_place_seen(s: Any, me: Any, place: Any) -> Any:
    """Whether seat ``me`` has seen the card at a place of the deck."""
    holes = s.num_in * s.hole_cards
    if place < holes:
        owner = s.order[place % s.num_in]
        return owner == me or shows_cards(s, owner)
    rows_up = s.auction + (s.phase == BID or s.phase == PICK)
    return place < holes + s.num_in * rows_up


@kernel
def _mark_seen(s: Any, me: Any, seen: Any) -> None:
    """Write for each place of the deck whether seat ``me`` has seen the card there."""
    for place in range(s.num_ranks * s.num_suits):
        seen[place] = _deck_place_seen(s, me, place)


@inner
def resample(s: Any, me: Any) -> None:
    """Draw anew, with ``s.rng``, what seat ``me`` cannot know: unseen cards, uniformly; others' pending choices."""
    size = s.num_ranks * s.num_suits
    seen: Any = 0  # a bit for each place of the deck
    hidden = EMPTY
    for place in range(size):
        known = np.int64(_deck_place_seen(s, me, place))
        seen |= known << place
        if not known:
            hidden |= card_bit(s.deck[place])
    card: Any = 0
    for place in range(size):  # in a fixed order first: the outcome must not depend on where they are in truth
        if not seen >> place & 1:
            while hidden & card_bit(card) == EMPTY:
                card += 1
            s.deck[place] = card
            card += 1
    for place in range(size - 1):
        if seen >> place & 1:
            continue
        other = place + draw_below(s, size - place)
        while seen >> other & 1:
            other = place + draw_below(s, size - place)
        card = s.deck[place]
        s.deck[place] = s.deck[other]
        s.deck[other] = card
    for seat in range(s.num_players):
        if seat != me and s.phase == BID and s.bids[s.auction, seat]:
            s.bids[s.auction, seat] = 1 + draw_below(s, s.max_bid)
        if seat != me and s.phase == DECLARE and s.declared[seat]:
            s.declared[seat] = 1 + draw_below(s, 3)


# --- what people read -----------------------------------------------------------------------------------------------

_DECLARATIONS = ("", "low", "high", "both")
_BET_WORDS = ("", "checks", "bets", "calls", "raises", "folds")
_RESULTS = {WON_ALL: "wins all", WON_HIGH: "wins high", WON_LOW: "wins low", BOTH_FAILED: "both failed"}


def eligibility(s: Any, seat: int) -> str:
    """Empty when a seat can be dealt in, otherwise the reason why not (A2)."""
    if s.stacks[seat] >= s.reserve:
        return ""
    return f"player_{seat} has {s.stacks[seat]} chips and needs the reserve of {s.reserve}"


def info(states: np.ndarray, seat: int) -> dict[str, Any]:
    """Public facts for the seat to act: the phase, and the chips it owes to stay in (0 unless facing a bet)."""
    phase, owed = int(states["phase"][0]), 0
    if phase == BET:
        owed = int(states["level"][0] - states["seat_level"][0, seat]) * int(states["bet_size"][0])
    return {"phase": PHASES[phase], "to_call": owed}


def pending(s: Any) -> int:
    """How many of the latest actions are still secret: bids and declarations until the last is in (A3, A8)."""
    return int(s.turn) if s.phase in HIDDEN_PHASES else 0


def public_name(settings: Settings, action: int) -> str:
    """An action's name as the other seats see it, once it is revealed: all of it."""
    return action_names(settings)[action]


def visible_deck(s: Any, seat: int) -> list[bool]:
    """For each place of the deck, whether a seat has seen the card there."""
    seen = np.zeros(int(s.num_ranks) * int(s.num_suits), np.bool_)
    _mark_seen(s, seat, seen)
    return seen.tolist()


def view(s: Any, seat: int | None) -> TableView:
    """The table as a seat sees it; with None, everything."""
    rows_up = min(int(s.auction) + 1, int(s.num_auctions))
    titles = {
        BID: f"auction {rows_up} of {s.num_auctions}: bidding",
        PICK: f"auction {rows_up} of {s.num_auctions}: picking",
    }
    phase = titles.get(int(s.phase), {BET: "betting", DECLARE: "declaring", OVER: "deal over"}.get(int(s.phase), ""))
    lines = [f"Deal {s.deal_number + 1} of {s.num_deals}. Reserve {s.reserve}."]
    if s.carried_in:
        lines.append(f"{s.carried_in} chips were carried into this pot.")
    if s.phase == PICK:
        lines.append("Picking order: " + ", ".join(f"player_{other}" for other in s.pick_order[: s.num_in]) + ".")
    if s.phase == BET and s.level:
        lines.append(f"The bet stands at {s.level * s.bet_size}.")
    if s.phase == OVER and s.award.any():
        lines.append(f"The pot of {s.award.sum()} has been awarded.")
    return TableView(
        title=TITLE,
        phase=phase,
        pot=int(s.pot) + int(s.carried_pot),
        centre=[CARD_NAMES[card] for card in s.row[: s.row_count]],
        centre_label="row",
        seats=[_seat_view(s, other, seat) for other in range(s.num_players)],
        lines=lines,
    )


def _seat_view(s: Any, seat: int, viewer: int | None) -> SeatView:
    knows = viewer in (None, seat)
    if not s.dealt_in[seat]:
        return SeatView(seat, int(s.stacks[seat]), [], [], ["sits out"], out=True, dealer=bool(s.dealer == seat))
    holes = [CARD_NAMES[card] for card in cards_of(hole_set(s, seat))]
    notes = []
    if s.phase in (BID, PICK) and s.bids[s.auction, seat] and (knows or s.phase == PICK):
        notes.append(f"bids {s.bids[s.auction, seat]}")
    if s.folded[seat]:
        notes.append("folded")
    elif s.phase == BET and s.num_bets[seat]:
        paid = f" ({s.seat_level[seat] * s.bet_size} in)" if s.seat_level[seat] else ""
        notes.append(_BET_WORDS[s.bets[seat, s.num_bets[seat] - 1]] + paid)
    if s.declared[seat] and (knows or s.phase == OVER):
        notes.append(f"declares {_DECLARATIONS[s.declared[seat]]}")
    if s.phase == OVER:
        if s.verdict[seat]:
            share = f": {s.award[seat]}" if s.award[seat] else ""
            notes.append(_RESULTS[int(s.verdict[seat])] + share)
        notes.append(f"{s.award[seat] - s.paid[seat]:+d}")
    taken = [auction for auction in range(s.num_auctions) if s.picks[auction, seat] != NO_CARD]
    return SeatView(
        seat=seat,
        stack=int(s.stacks[seat]),
        cards=holes if knows or shows_cards(s, seat) else ["??"] * int(s.hole_cards),
        bought=[CARD_NAMES[s.picks[auction, seat]] for auction in taken],
        prices=[int(s.bids[auction, seat]) for auction in taken],
        hand=_hand_words(s, seat),
        notes=notes,
        dealer=bool(s.dealer == seat),
        to_act=_is_asked(s, seat, viewer),
        folded=bool(s.folded[seat]),
    )


def _is_asked(s: Any, seat: int, viewer: int | None) -> bool:
    """Whether a seat is shown as to act: all that choose at once, as nobody sees who of the others has chosen."""
    if viewer is None or s.phase not in HIDDEN_PHASES:
        return bool(s.to_act == seat)
    chosen = s.bids[s.auction, seat] if s.phase == BID else s.declared[seat]
    return bool(s.dealt_in[seat] and not s.folded[seat] and not (seat == viewer and chosen))


def _hand_words(s: Any, seat: int) -> str:
    """What everybody knows a seat to hold: its exposed hand (A5), after a showdown the hand it declared (A9)."""
    if s.phase == OVER and s.declared[seat]:
        high = f"high: {describe_high(int(s.high[seat]))}"
        low = f"low: {describe_low(int(s.low[seat]))}"
        return {HIGH: high, LOW: low}.get(int(s.declared[seat]), f"{high}; {low}")
    return f"shows {describe_high(int(s.exposed_key[seat]))}" if s.exposed_key[seat] else ""


def narrate(before: Any, action: int, after: Any) -> list[str]:
    """Public account of a move, in sentences; empty while choices are hidden."""
    seat = int(before.to_act)
    if before.phase == BID:
        return _narrate_bids(before, after) if after.phase == PICK else []
    if before.phase == PICK:
        lines = [f"player_{seat} picks {CARD_NAMES[action - PICK_0]}."]
        if after.phase != PICK:
            last = int(before.pick_order[before.turn + 1])
            lines.append(f"player_{last} gets {CARD_NAMES[after.picks[before.auction, last]]}, the last card.")
        if after.phase == BET:
            hand = describe_high(int(after.exposed_key[after.opener]))
            lines.append(f"player_{after.opener} opens the betting with the strongest exposed hand ({hand}).")
        return lines
    if before.phase == BET:
        return _narrate_bet(before, action, after)
    return _narrate_award(after) if after.phase == OVER else []


def _narrate_bids(before: Any, after: Any) -> list[str]:
    seats = [int(seat) for seat in after.order[: after.num_in]]
    bids = after.bids[after.auction]
    lines = [
        "Bids: " + ", ".join(f"player_{seat} {bids[seat]}" for seat in seats) + f". The pot is {after.pot}.",
    ]
    order = [int(seat) for seat in after.pick_order[: after.num_in]]
    for bid in sorted({int(bids[seat]) for seat in seats}, reverse=True):
        tied = [seat for seat in order if bids[seat] == bid]
        if len(tied) > 1:
            hands = ", ".join(f"player_{seat} ({describe_high(int(before.exposed_key[seat]))})" for seat in tied)
            lines.append(f"Equal bids of {bid}, by exposed hand, then clockwise from the dealer: {hands}.")
    return [*lines, "Picking order: " + ", ".join(f"player_{seat}" for seat in order) + "."]


def _narrate_bet(before: Any, action: int, after: Any) -> list[str]:
    seat, unit = int(before.to_act), int(before.bet_size)
    owed = int(before.level - before.seat_level[seat]) * unit
    text = {
        CHECK: "checks",
        MAKE_BET: f"bets {unit}",
        CALL: f"calls {owed}",
        RAISE: f"raises by {unit} to {(before.level + 1) * unit}",
        FOLD: "folds",
    }[action]
    lines = [f"player_{seat} {text}."]
    if after.phase == OVER:
        winner = int(np.argmax(after.verdict))
        lines.append(f"All others have folded: player_{winner} wins the pot of {after.award[winner]}.")
    return lines


def _narrate_award(after: Any) -> list[str]:
    lines = []
    for seat in (int(seat) for seat in after.order[: after.num_in]):
        if after.declared[seat]:
            concealed = names_of(cards_of(hole_set(after, seat)))
            lines.append(
                f"player_{seat} declares {_DECLARATIONS[after.declared[seat]]}"
                + (f", holding {concealed}" if concealed else "")
                + f" (high: {describe_high(int(after.high[seat]))}; low: {describe_low(int(after.low[seat]))})."
            )
    words = {
        WON_ALL: "wins both ways",
        WON_HIGH: "wins high",
        WON_LOW: "wins low",
        BOTH_FAILED: "fails to win both ways",
    }
    for seat in range(after.num_players):
        if after.verdict[seat]:
            share = f" and gets {after.award[seat]}" if after.award[seat] else ""
            lines.append(f"player_{seat} {words[int(after.verdict[seat])]}{share}.")
    if after.carried_pot:
        where = "is left unawarded" if after.match_over else "is carried into the next deal"
        lines.append(f"Nobody wins: the pot of {after.carried_pot} {where}.")
    elif not any(after.verdict[seat] & (WON_ALL | WON_HIGH | WON_LOW) for seat in range(after.num_players)):
        lines.append("Nobody wins, and the match is over: the seats that declared share the pot.")
    return lines + _narrate_odd_chips(after)


def _narrate_odd_chips(after: Any) -> list[str]:
    """Where chips went that could not be divided (A12, A13)."""
    seats, lines = range(after.num_players), []
    high, low, shared = (
        [int(after.award[seat]) for seat in seats if after.verdict[seat] == won and after.award[seat]]
        for won in (WON_HIGH, WON_LOW, BOTH_FAILED)
    )
    if high and low and sum(high) != sum(low):
        lines.append("The odd chip of the pot goes to the high half.")
    if any(len(set(portion)) > 1 for portion in (high, low, shared)):
        lines.append("Chips that cannot be shared equally go one each, clockwise from the dealer.")
    return lines


assert len(HIGH_CATEGORIES) == 9 and len(LOW_CATEGORIES) == 6 and len(RANKS + SUITS) == _CARD
