"""Auction Flop Poker: discards, what flops cost and brought, and who ends where."""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.evaluation.statistics import CARD_BITS, Statistic, choices, every_seat
from auction_env.games import auction_flop as game
from auction_env.games.hands import HIGH_CATEGORIES, high_keys

_SHOWN_FLOPS = 8  # flops told apart; later ones are one


def facts(states: np.ndarray, settings: Any) -> list[Statistic]:
    """The facts of finished deals."""
    deals, seats = every_seat(states, settings)
    holes, discards = (
        np.array([read(states[deal], seat) for deal, seat in zip(deals, seats, strict=True)], np.uint64)
        for read in (game.hole_set, game.discard_set)
    )
    return [
        *_discards(states, settings, deals, seats, categories(holes)),
        *_flops(states, settings, (holes & ~discards).reshape(len(states), -1)),
        *_ends(states, settings, deals, seats),
    ]


def categories(sets: np.ndarray) -> np.ndarray:
    """Index of the high category of card sets, by ``HIGH_CATEGORIES``; of no cards 0."""
    keys = np.zeros(sets.size, np.int64)
    high_keys(np.ascontiguousarray(sets).ravel(), keys)
    return (keys >> 20).reshape(sets.shape)


def _discards(
    states: np.ndarray, settings: Any, deals: np.ndarray, seats: np.ndarray, made: np.ndarray
) -> list[Statistic]:
    number = states["discarded"][deals, seats].astype(np.int64)
    sizes = [str(size) for size in range(settings.hand_size + 1)]
    return [
        choices("Cards discarded", "Share of deals, by the number of cards discarded.", sizes, deals, seats, number),
        Statistic(
            "Discards by hand dealt",
            "Cards discarded, by the category of the five cards dealt.",
            list(HIGH_CATEGORIES),
            deals,
            seats,
            made,
            number.astype(np.float64),
            unit="cards",
        ),
    ]


def _flops(states: np.ndarray, settings: Any, hands: np.ndarray) -> list[Statistic]:
    """Facts of every flop, from the hands after the discards, uint64[deals, seats]."""
    hands = hands.copy()
    all_deals = np.arange(len(states))
    logged = np.zeros(len(states), np.int64)
    bought: list[tuple[np.ndarray, ...]] = []
    bids: list[tuple[np.ndarray, ...]] = []
    for flop in range(int(states["num_flops"].max(initial=0))):
        up = all_deals[flop < states["num_flops"]]
        before = categories(hands[up])
        cost, buyer = states["cost"][up, flop].astype(np.int64), states["buyer"][up, flop].astype(np.int64)
        open_seats = np.bitwise_count(hands[up]) < settings.hand_size
        if settings.observation == "full":
            highest = _highest_bids(states, up, logged, np.maximum(cost, 0), settings.num_players)
            places = np.nonzero(open_seats & (open_seats.sum(axis=1) > 1)[:, None])
            bids.append((up[places[0]], places[1], before[places], highest[places]))
            logged[up] += np.maximum(cost, 0)
        kept = states["kept"][up, flop]
        for place in range(settings.flop_size):
            card = CARD_BITS[states["flops"][up, flop, place]]
            hands[up, buyer] |= np.where(kept >> place & 1, card, np.uint64(0))
        lone = open_seats.sum(axis=1) == 1
        how = np.where(lone, 2, np.where(cost > 0, 0, 1))
        gain = categories(hands[up, buyer]) - before[np.arange(len(up)), buyer]
        bought.append((up, buyer, np.full(len(up), flop), how, np.maximum(cost, 0), gain))
    if not bought:
        return []
    deals, seats, number, how, price, gain = (np.concatenate(column) for column in zip(*bought, strict=True))
    return [*_sales(deals, seats, number, how, price, gain), *_bid_facts(bids)]


def _sales(
    deals: np.ndarray, seats: np.ndarray, number: np.ndarray, how: np.ndarray, price: np.ndarray, gain: np.ndarray
) -> list[Statistic]:
    sold = how == 0
    chips = price.astype(np.float64)
    labels = [f"flop {flop + 1}" for flop in range(_SHOWN_FLOPS - 1)] + [f"flop {_SHOWN_FLOPS} and later"]
    return [
        choices(
            "How flops are got",
            "Share of the flops that an agent got: bought, taken after all had passed, or alone.",
            ("bought", "taken", "alone"),
            deals,
            seats,
            how,
        ),
        Statistic(
            "Price by round",
            "Chips paid for a flop that was bought, by which flop of the deal it was.",
            labels,
            deals[sold],
            seats[sold],
            np.minimum(number[sold], _SHOWN_FLOPS - 1),
            chips[sold],
            ordered=True,
        ),
        Statistic(
            "Price by what it bought",
            "Chips paid for a flop that was bought, by how many categories better it made the hand.",
            ["not better", "by 1", "by 2", "by 3 or more"],
            deals[sold],
            seats[sold],
            np.clip(gain[sold], 0, 3),
            chips[sold],
        ),
        Statistic(
            "Improvements",
            "Share of flops that made the hand's category better, by how they were got.",
            ["bought", "taken", "alone"],
            deals,
            seats,
            how,
            (gain > 0).astype(np.float64),
            share=True,
        ),
        _per_improvement(deals[sold], seats[sold], chips[sold], gain[sold] > 0),
    ]


def _per_improvement(deals: np.ndarray, seats: np.ndarray, chips: np.ndarray, better: np.ndarray) -> Statistic:
    keys, place = np.unique(deals * 64 + seats, return_inverse=True)
    spent, number = np.bincount(place, chips, len(keys)), np.bincount(place, better, len(keys))
    some = number > 0
    return Statistic(
        "Price paid per improvement",
        "Chips paid in a deal for flops bought, over the number of them that made the hand's category better; deals "
        "with none are left out.",
        ["chips per improvement"],
        keys[some] // 64,
        keys[some] % 64,
        np.zeros(int(some.sum()), np.int64),
        spent[some] / number[some],
    )


def _highest_bids(states: np.ndarray, up: np.ndarray, logged: np.ndarray, number: np.ndarray, seats: int) -> np.ndarray:
    """Each seat's highest bid for a flop, int64[deals, seats], 0 for none: bids go up by one from 1 (B4)."""
    found = np.zeros((len(up), seats), np.int64)
    for row, (deal, start, count) in enumerate(zip(up.tolist(), logged[up].tolist(), number.tolist(), strict=True)):
        state = states[deal]
        for price in range(1, count + 1):
            found[row, game.bidder_of(state, start + price - 1)] = price
    return found


def _bid_facts(bids: list[tuple[np.ndarray, ...]]) -> list[Statistic]:
    if not bids:
        return []
    deals, seats, made, highest = (np.concatenate(column) for column in zip(*bids, strict=True))
    return [
        Statistic(
            "Bids by hand",
            "Highest bid of each seat that could bid for a flop (0 for none), by the category of its hand so far.",
            list(HIGH_CATEGORIES),
            deals,
            seats,
            made,
            highest.astype(np.float64),
        ),
        Statistic(
            "Passes by hand",
            "Share of the flops a seat could bid for and did not, by the category of its hand so far.",
            list(HIGH_CATEGORIES),
            deals,
            seats,
            made,
            (highest == 0).astype(np.float64),
            share=True,
        ),
    ]


def _ends(states: np.ndarray, settings: Any, deals: np.ndarray, seats: np.ndarray) -> list[Statistic]:
    place = states["place"][deals, seats].astype(np.int64)
    made = (states["high"][deals, seats] >> 20).astype(np.int64)
    net = states["award"][deals, seats].astype(np.float64) - states["paid"][deals, seats]
    names = ["best", "second", "third", *(f"{number}th" for number in range(4, 9))][: settings.num_players]
    return [
        choices(
            "Finishing place",
            "Share of deals, by the place of the hand (ties share the better).",
            names,
            deals,
            seats,
            place,
        ),
        choices("Hand at the end", "Share of deals, by the category of the hand.", HIGH_CATEGORIES, deals, seats, made),
        Statistic(
            "Chips by hand at the end",
            "Chips won or lost in a deal, by the category of the hand at its end.",
            list(HIGH_CATEGORIES),
            deals,
            seats,
            made,
            net,
        ),
        Statistic(
            "Chips paid in a deal",
            "Ante, discards, flops and refusals, by the number of cards discarded.",
            [str(size) for size in range(settings.hand_size + 1)],
            deals,
            seats,
            states["discarded"][deals, seats].astype(np.int64),
            states["paid"][deals, seats].astype(np.float64),
            ordered=True,
        ),
    ]
