"""Auction Flop Poker: what a seat has seen and done, as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.core.jit import inner
from auction_env.games.auction_flop.rules import bidder_of, discard_set, flop_set, flop_up, hand_set, top_card
from auction_env.games.auction_flop.state import BID, NOT_YET, OVER, SUBSET_SIZE, Settings
from auction_env.games.cards import NUM_CARDS, card_bit, clockwise, mark_set
from auction_env.games.game import ObservationField
from auction_env.games.hands import high_key

# --- observation ----------------------------------------------------------------------------------------------------

_CARD = 17  # a card as 13 ranks and 4 suits, one of each set
_STEPS = 16  # chips that ``price_steps`` tells apart


def observation_fields(settings: Settings) -> tuple[ObservationField, ...]:
    """The observation of a seat, in order. Seats are counted from the observer: 0 is itself, 1 the next clockwise."""
    n, hand, flop = settings.num_players, settings.hand_size, settings.flop_size
    return (
        ObservationField("phase", (5,), "which phase: discard, bid, refuse, keep, over"),
        ObservationField("turn", (n,), "the seat to act"),
        ObservationField("dealer", (n,), "the dealer"),
        ObservationField("first_voice", (n,), "the seat with the first voice for the flop on the table"),
        ObservationField("bidder", (n,), "the seat that bid highest for the flop on the table"),
        ObservationField("discarded", (n, hand + 1), "how many cards each seat discarded, once it has"),
        ObservationField("held", (n, hand + 1), "how many cards each seat holds"),
        ObservationField(
            "hand",
            (hand, _CARD),
            "own cards in sorted order: 13 ranks, then 4 suits",
            cards="one",
            places_of="hand",
        ),
        ObservationField("own_discards", (52,), "cards the seat discarded from its hand, by card index", cards="set"),
        ObservationField(
            "flop",
            (flop, _CARD),
            "the flop on the table in sorted order: 13 ranks, then 4 suits",
            cards="one",
            places_of="flop",
        ),
        ObservationField("hand_made", (9,), "category of the own hand as it is"),
        ObservationField(
            "keep_made",
            ((1 << flop) - 1, 9),
            "category the own hand would have with each subset of the flop",
            derived=True,
        ),
        ObservationField(
            "price_steps", (_STEPS,), "whether the highest bid for the flop on the table is at least 1, 2, ... 16"
        ),
        ObservationField("price", (1,), "the highest bid over all chips of the match", fraction=True),
        ObservationField(
            "refusals", (1,), "refusals of the flop on the table, over the most that chips allow", fraction=True
        ),
        ObservationField("stacks", (n,), "chips of each seat over all chips of the match", fraction=True),
        ObservationField("pot", (1,), "chips in the pot over all chips of the match", fraction=True),
        ObservationField(
            "deals_left", (1,), "deals to come after this one, over the match's number of deals", fraction=True
        ),
        *(_full_pieces(settings) if settings.observation == "full" else _compact_pieces(settings)),
        ObservationField(
            "shown",
            (n - 1, 52),
            "the hands of the other seats, shown at the end, by card index",
            final_only=True,
            cards="set",
        ),
    )


def _full_pieces(settings: Settings) -> tuple[ObservationField, ...]:
    n, flop, flops = settings.num_players, settings.flop_size, settings.max_flops
    return (
        ObservationField(
            "flops",
            (flops, flop, _CARD),
            "the cards of each flop so far: 13 ranks, then 4 suits",
            cards="one",
            places_of="flops",
        ),
        ObservationField("buyers", (flops, n), "the seat that got each flop"),
        ObservationField("prices", (flops,), "what each flop was sold for over all chips of the match", fraction=True),
        ObservationField(
            "all_refusals", (flops,), "refusals of each flop, over the most that chips allow", fraction=True
        ),
        ObservationField("kept", (flops, flop), "how many of each flop's cards the buyer kept: 1, 2, 3"),
        ObservationField("own_kept", (flops, flop), "which cards of each flop the seat itself kept", places_of="flops"),
        ObservationField(
            "bids",
            (settings.bid_slots, n + 1),
            "every bid in order: the seat, then whether it was the first bid for its flop",
        ),
    )


def _compact_pieces(settings: Settings) -> tuple[ObservationField, ...]:
    return (
        ObservationField(
            "bought", (settings.num_players, 52), "the cards of all flops each seat has got, by card index", cards="set"
        ),
    )


# --- observing ------------------------------------------------------------------------------------------------------


@inner
def _mark_card(card: Any, out: Any, at: Any) -> None:
    out[at + (card >> 2)] = 1
    out[at + 13 + (card & 3)] = 1


@inner
def observe(s: Any, me: Any, out: Any, full: Any) -> None:
    """Write what seat ``me`` has seen and done to ``out`` (zeros; the fields in order); ``full`` stands for 1.0."""
    n = np.int64(s.num_players)  # as plain Python, int8 would overflow
    hand = hand_set(s, me)
    at: Any = _observe_public(s, me, out)
    left = hand
    for place in range(s.held[me]):
        card = top_card(left)
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
                mark_set(flop_set(s, flop, flop + 1), out, at + clockwise(me, s.buyer[flop], n) * NUM_CARDS)
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
            if s.held[me] + SUBSET_SIZE[subset] <= s.hand_size:
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
            out[kept + flop * size + SUBSET_SIZE[s.kept[flop]] - 1] = 1
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
