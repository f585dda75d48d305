"""Auction Poker: what a seat has seen and done, as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.core.jit import inner, kernel
from auction_env.games.auction_poker.rules import bids_are_in, exposed_set, hole_set, order_index
from auction_env.games.auction_poker.state import BET, DECLARE, NO_CARD, OVER, PICK, Settings
from auction_env.games.cards import clockwise, mark_set
from auction_env.games.game import ObservationField
from auction_env.games.hands import high_key, low_key

# --- observation ----------------------------------------------------------------------------------------------------

CARD_ENTRIES = 17  # a card as 13 ranks and 4 suits, one of each set


def observation_fields(settings: Settings) -> tuple[ObservationField, ...]:
    """The observation of a seat, in order. Seats are counted from the observer: 0 is itself, 1 the next clockwise."""
    n, auctions = settings.num_players, settings.num_auctions
    return (
        ObservationField("phase", (5,), "which phase: bid, pick, bet, declare, over"),
        ObservationField("turn", (n,), "the seat to act while picking or betting; empty while choices are hidden"),
        ObservationField("dealer", (n,), "the dealer"),
        ObservationField("dealt_in", (n,), "seats in this deal"),
        ObservationField("hole", (52,), "own concealed cards, by card index", cards="set"),
        ObservationField("row", (52,), "cards on the table, by card index", cards="set"),
        ObservationField(
            "picks",
            (auctions, n, CARD_ENTRIES),
            "the card each seat took in each auction: 13 ranks, then 4 suits",
            cards="one",
        ),
        ObservationField(
            "bids", (auctions, n, settings.max_bid), "each seat's bid in each auction, once revealed; own at once"
        ),
        ObservationField(
            "bets", (n, settings.max_raises + 2, 5), "each seat's betting actions in order: check bet call raise fold"
        ),
        ObservationField("bet_level", (settings.max_raises + 2,), "how many bets and raises have been made"),
        ObservationField("opener", (n,), "the seat that opened the betting"),
        ObservationField("folded", (n,), "seats that folded"),
        ObservationField("declared", (n, 3), "low, high, both: once revealed; own at once"),
        ObservationField(
            "high_made", (n, 9), "category of the high hand: own cards; of others the exposed ones, finished auctions"
        ),
        ObservationField("low_ranks", (13,), "ranks of the own best low hand, ace first"),
        ObservationField("low_made", (6,), "category of the own best low hand"),
        ObservationField("tie_place", (n,), "place of each seat in the order of equal bids, over n - 1", fraction=True),
        ObservationField("stacks", (n,), "chips of each seat over all chips of the match", fraction=True),
        ObservationField("pot", (1,), "chips in the pot over all chips of the match", fraction=True),
        ObservationField("chip_scale", (1,), "the reserve (A2) over all chips of the match", fraction=True),
        ObservationField(
            "deals_left", (1,), "deals to come after this one, over the match's number of deals", fraction=True
        ),
        ObservationField(
            "shown",
            (n - 1, 52),
            "concealed cards of the other seats turned up at a showdown, by card index",
            final_only=True,
            cards="set",
        ),
    )


# --- observing ------------------------------------------------------------------------------------------------------


@kernel
def shows_cards(s: Any, seat: Any) -> Any:
    """Whether a seat's concealed cards are turned up: it declared, and all have declared (A7, A8)."""
    return s.phase == OVER and s.declared[seat] > 0


@inner
def observe(s: Any, me: Any, out: Any, full: Any) -> None:
    """Write what seat ``me`` has seen and done to ``out`` (zeros; the fields in order); ``full`` stands for 1.0."""
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
    mine = order_index(s, me)
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
    bids = at + s.num_auctions * n * CARD_ENTRIES
    for auction in range(min(s.auction + 1, s.num_auctions)):
        revealed = bids_are_in(s, auction)
        for seat in range(n):
            place = auction * n + clockwise(me, seat, n)
            card, bid = s.picks[auction, seat], s.bids[auction, seat]
            if card != NO_CARD:
                out[at + place * CARD_ENTRIES + (card >> 2)] = 1
                out[at + place * CARD_ENTRIES + 13 + (card & 3)] = 1
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
