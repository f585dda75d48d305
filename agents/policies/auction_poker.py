"""How ``rules`` plays Auction Poker.

Every choice is valued in chips, from what the seat may know. While cards are sold: the share of the pot that the hand
promises with each card of the row, high, low or both ways, and the chance to be among the first to pick. Afterwards:
the share that each declaration wins in worlds in which the concealed cards of the others are drawn at random and they
declare what they hold. Small random noise mixes choices of nearly the same value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.core.jit import inner
from auction_env.games.auction_poker import (
    BET,
    BID,
    BID_0,
    BOTH,
    CALL,
    CHECK,
    DECLARE,
    DECLARE_BOTH,
    DECLARE_HIGH,
    DECLARE_LOW,
    FOLD,
    HIGH,
    LOW,
    MAKE_BET,
    PICK,
    PICK_0,
    RAISE,
    exposed_set,
    hole_set,
)
from auction_env.games.auction_poker.features import HIGH_STRENGTH, LOW_STRENGTH
from auction_env.games.cards import EMPTY, card_bit, draw_below, draw_word
from auction_env.games.hand_strength import (
    high_promise,
    high_strength,
    low_promise,
    low_strength,
    tempered,
    unit,
    whole_deck,
)
from auction_env.games.hands import high_key, low_key

# --- style ----------------------------------------------------------------------------------------------------------

APPETITE, BID_NOISE, DENIAL, BET_EDGE, BLUFF, CALL_EDGE, BOTH_EDGE, WORLDS = range(8)
# appetite: chips it sees in an improvement, over what it is worth
# bid noise: temperature of bids, in chips
# denial: weight of the card that the next seat to pick wants
# bet edge: bets or raises with this many times a fair share of the pot
# bluff: chance to bet or raise without it
# call edge: calls when the share won is this many times the price
# both edge: declares both when that wins this many times as much as one way
# worlds: drawn for a decision
STYLES = {
    "balanced": (1.1, 0.2, 0.6, 1.15, 0.05, 1.0, 1.0, 16.0),
    "tight": (0.6, 0.3, 0.6, 1.4, 0.02, 1.5, 1.1, 16.0),
    "loose": (1.6, 0.6, 0.6, 1.15, 0.08, 0.5, 0.9, 16.0),
    "aggressive": (1.3, 0.3, 0.8, 0.8, 0.2, 0.8, 0.9, 16.0),
}

_TASTE = 0.4  # chance that a seat ahead takes the card that this one wants most
_AT_BIDS, _AT_CHANCES = 32, 64  # places in ``floats``


@inner
def choose(s: Any, style: Any, ints: Any, floats: Any) -> Any:
    """A legal action for ``s.to_act``, from what it may know; draws from ``s.rng``."""
    if s.phase == BID:
        return _choose_bid(s, style, floats)
    if s.phase == PICK:
        return _choose_pick(s, style, floats)
    low, high, both = _shares(s, style, ints)
    if s.phase == BET:
        return _choose_bet(s, style, max(low, high, both))
    if both > max(low, high) * style[BOTH_EDGE]:
        return DECLARE_BOTH
    if low == high:
        return DECLARE_LOW + draw_below(s, 2)
    return DECLARE_LOW if low > high else DECLARE_HIGH


@inner
def redraw_pending(s: Any, me: Any, style: Any, ints: Any, floats: Any) -> None:
    """Draw the secret choices that other seats have made already as this policy would make them."""
    to_act = s.to_act
    for seat in range(s.num_players):
        if seat != me and s.phase == BID and s.bids[s.auction, seat]:
            s.to_act = seat
            s.bids[s.auction, seat] = choose(s, style, ints, floats) - BID_0
        if seat != me and s.phase == DECLARE and s.declared[seat]:
            s.to_act = seat
            s.declared[seat] = choose(s, style, ints, floats) - DECLARE_LOW + LOW
    s.to_act = to_act


# --- buying cards ---------------------------------------------------------------------------------------------------


@inner
def _live(s: Any, hole: Any) -> Any:
    """The cards that one who holds ``hole`` has not seen."""
    cards = whole_deck(s) & ~hole
    for place in range(s.num_in * s.hole_cards, s.num_in * (s.hole_cards + min(s.auction + 1, s.num_auctions))):
        cards &= ~card_bit(s.deck[place])
    return cards


@inner
def _count_live(s: Any) -> Any:
    """How many cards a seat has not seen."""
    return s.num_ranks * s.num_suits - s.hole_cards - s.num_in * min(s.auction + 1, s.num_auctions)


@inner
def _promised_share(s: Any, cards: Any, live: Any) -> Any:
    """The share of the pot that cards promise, once the auction on now is over."""
    draws = s.num_auctions - s.auction - 1
    pace = 0.5 * (s.num_in + 1) / max(_count_live(s), 1)
    size = s.hole_cards + s.num_auctions
    rivals = 0.5 * (s.num_in - 1)  # that go the same way
    high = high_promise(cards, live, draws, pace, size, HIGH_STRENGTH[s.num_in - 2]) ** rivals
    low = low_promise(cards, live, draws, pace, size, LOW_STRENGTH[s.num_in - 2]) ** rivals
    return 0.5 * max(high, low) + 0.5 * high * low


@inner
def _final_pot(s: Any) -> Any:
    """The pot to expect at the end."""
    auctions = s.num_auctions - s.auction - (s.phase == PICK)
    return s.pot + s.num_in * (0.5 * auctions * (1 + s.max_bid) + s.bet_size)


@inner
def _choose_bid(s: Any, style: Any, floats: Any) -> Any:
    """The bid whose place in the picking order is worth most beyond its price."""
    me = s.to_act
    hole = hole_set(s, me)
    held, live = hole | exposed_set(s, me), _live(s, hole)
    worth = _final_pot(s) * style[APPETITE]
    for place in range(s.row_count):  # what each card makes of the hand, best first
        value = worth * _promised_share(s, held | card_bit(s.row[place]), live)
        slot = place
        while slot > 0 and floats[slot - 1] < value:
            floats[slot] = floats[slot - 1]
            slot -= 1
        floats[slot] = value
    best, chosen = -np.inf, 1
    for bid in range(1, s.max_bid + 1):
        value = tempered(_worth_of_bid(s, me, bid, floats) - bid, style[BID_NOISE], draw_word(s))
        if value > best:
            best, chosen = value, bid
    return BID_0 + chosen


@inner
def _worth_of_bid(s: Any, me: Any, bid: Any, floats: Any) -> Any:
    """Expected value of the card got with a bid, if each seat that picks before takes the best with some chance."""
    for taken in range(s.num_in):
        floats[_AT_CHANCES + taken] = taken == 0
    before_me = True
    for place in range(s.num_in):
        seat = s.order[place]
        if seat == me:
            before_me = False
            continue
        ahead = s.exposed_key[seat] > s.exposed_key[me] or (s.exposed_key[seat] == s.exposed_key[me] and before_me)
        chance = _TASTE * _chance_ahead(s, seat, bid, ahead)
        for taken in range(s.num_in - 1, 0, -1):
            floats[_AT_CHANCES + taken] += chance * (floats[_AT_CHANCES + taken - 1] - floats[_AT_CHANCES + taken])
        floats[_AT_CHANCES] *= 1.0 - chance
    value = 0.0
    for taken in range(s.num_in):
        value += floats[_AT_CHANCES + taken] * floats[taken]
    return value


@inner
def _chance_ahead(s: Any, seat: Any, bid: Any, first_if_equal: Any) -> Any:
    """Chance that a seat picks before one that bids ``bid``: all bids alike at first, then by its own bids so far."""
    ahead = 0.0
    for auction in range(s.auction):
        past = s.bids[auction, seat]
        ahead += past > bid or (past == bid and first_if_equal)
    return (s.max_bid - bid + first_if_equal + ahead) / (s.max_bid + s.auction)


@inner
def _choose_pick(s: Any, style: Any, floats: Any) -> Any:
    """The card that promises most, and keeps most from the next seat to pick."""
    me = s.to_act
    hole = hole_set(s, me)
    held, live = hole | exposed_set(s, me), _live(s, hole)
    wanted, loss = 0, 0.0
    if s.num_in <= 4:  # with more seats, what one of them loses hardly comes back
        wanted, loss = _wanted_by(s, s.pick_order[s.turn + 1], live)
        loss *= style[DENIAL] / (s.num_in - 1)
    best, chosen = -np.inf, s.row[0]
    for place in range(s.row_count):
        card = s.row[place]
        value = _promised_share(s, held | card_bit(card), live)
        if loss > 0.0 and card == wanted:
            value += loss
        if value > best:
            best, chosen = value, card
    return PICK_0 + chosen


@inner
def _wanted_by(s: Any, seat: Any, live: Any) -> Any:
    """The card that makes most of a seat's exposed cards, and how much more than the second best."""
    exposed = exposed_set(s, seat)
    best, second, wanted = 0.0, 0.0, s.row[0]
    for place in range(s.row_count):
        value = _promised_share(s, exposed | card_bit(s.row[place]), live)
        if value > best:
            best, second, wanted = value, best, s.row[place]
        elif value > second:
            second = value
    return wanted, best - second


# --- betting and declaring ------------------------------------------------------------------------------------------


@inner
def _shares(s: Any, style: Any, ints: Any) -> Any:
    """Shares of the pot won by declaring low, high, both: means over worlds that the seat to act can imagine."""
    me = s.to_act
    hole = hole_set(s, me)
    mine = hole | exposed_set(s, me)
    my_high, my_low = high_key(mine), low_key(mine)
    unseen = _list_cards(_live(s, hole), ints)
    worlds: Any = max(np.int64(style[WORLDS]), 1)
    low, high, both = 0.0, 0.0, 0.0
    for _ in range(worlds):
        best_high, best_low, highs, lows = _rivals(s, me, unseen, ints)
        wins_high, wins_low = _won(my_high - best_high), _won(best_low - my_low)
        high += wins_high * (1.0 if lows == 0 else 0.5)
        low += wins_low * (1.0 if highs == 0 else 0.5)
        both += wins_high == 1.0 and wins_low == 1.0
    return low / worlds, high / worlds, both / worlds


@inner
def _won(lead: Any) -> Any:
    """1 for a win, half for a tie."""
    return 1.0 if lead > 0 else 0.5 if lead == 0 else 0.0


@inner
def _list_cards(cards: Any, ints: Any) -> Any:
    """Write the cards of a set as card sets of one; return how many."""
    number = 0
    one = np.uint64(1)
    while cards != EMPTY:
        rest = cards & (cards - one)
        ints[number] = np.int64(cards ^ rest)
        cards = rest
        number += 1
    return number


@inner
def _rivals(s: Any, me: Any, unseen: Any, ints: Any) -> Any:
    """Deal the others concealed cards from a list; the best high and low keys declared, and how many of each."""
    best_high, best_low, highs, lows = -1, 1 << 24, 0, 0
    dealt = 0
    for place in range(s.num_in):
        seat = s.order[place]
        if seat == me or s.folded[seat]:
            continue
        cards = exposed_set(s, seat)
        for _ in range(s.hole_cards):
            other = dealt + draw_below(s, unseen - dealt)
            card = ints[other]
            ints[other] = ints[dealt]
            ints[dealt] = card
            cards |= np.uint64(card)
            dealt += 1
        high, low = high_key(cards), low_key(cards)
        declared = _natural(
            high_strength(high, HIGH_STRENGTH[s.num_in - 2]), low_strength(low, LOW_STRENGTH[s.num_in - 2])
        )
        if declared & HIGH:
            best_high = max(best_high, high)
            highs += 1
        if declared & LOW:
            best_low = min(best_low, low)
            lows += 1
    return best_high, best_low, highs, lows


@inner
def _natural(high: Any, low: Any) -> Any:
    """What a seat with hands of these strengths declares."""
    if min(high, low) > 0.85:
        return BOTH
    return HIGH if high > low else LOW


@inner
def _choose_bet(s: Any, style: Any, share: Any) -> Any:
    """Bet and raise with more than a fair share of the pot, or now and then without; call what pays."""
    owed = np.int64(s.level - s.seat_level[s.to_act]) * s.bet_size
    strong = share * s.active > style[BET_EDGE] or unit(draw_word(s)) < style[BLUFF]
    if owed == 0:
        return MAKE_BET if strong else CHECK
    if strong and s.level <= s.max_raises:
        return RAISE
    return CALL if share * (s.pot + owed) >= style[CALL_EDGE] * owed else FOLD
