"""Auction Poker: bids, what they bought, betting and declarations."""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.evaluation.statistics import CARD_BITS, Statistic, choices, every_seat
from auction_env.games import auction_poker as game
from auction_env.games.hands import HIGH_CATEGORIES, high_keys

_DECLARATIONS = ("folded", "low", "high", "both", "won as the others folded")
_ANSWERS = ("call", "raise", "fold")
_LOW_RANKS = 8  # a low card is an ace to an eight
_LOW_CARDS = np.uint64(sum(int(CARD_BITS[card]) for card in range(52) if card >> 2 == 12 or card >> 2 < _LOW_RANKS - 1))


def facts(states: np.ndarray, settings: Any) -> list[Statistic]:
    """The facts of finished deals."""
    deals, seats = every_seat(states, settings)
    sets = hands(states, settings, deals, seats)
    return [
        *_bids(states, settings, deals, seats, sets),
        *_purchases(states, settings, deals, seats, sets),
        *_betting(states, settings, deals, seats),
        *_declarations(states, deals, seats, sets[-1]),
    ]


def hands(states: np.ndarray, settings: Any, deals: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """Card sets of seats before each auction and at the end, uint64[auctions + 1, N]."""
    found = np.zeros((settings.num_auctions + 1, len(deals)), np.uint64)
    found[0] = [game.hole_set(states[deal], seat) for deal, seat in zip(deals, seats, strict=True)]
    for auction in range(settings.num_auctions):
        found[auction + 1] = found[auction] | CARD_BITS[states["picks"][deals, auction, seats]]
    return found


def categories(sets: np.ndarray) -> np.ndarray:
    """Index of the high category of card sets, by ``HIGH_CATEGORIES``."""
    keys = np.zeros(sets.size, np.int64)
    high_keys(np.ascontiguousarray(sets).ravel(), keys)
    return (keys >> 20).reshape(sets.shape)


def low_cards(sets: np.ndarray) -> np.ndarray:
    """Different ranks from ace to eight in card sets, at most five: what a good low is made of."""
    ranks: np.ndarray = np.zeros(sets.shape, np.uint64)
    for suit in range(4):
        bits = [CARD_BITS[4 * rank + suit] for rank in range(13)]
        for rank, bit in enumerate(bits):
            ranks |= ((sets & _LOW_CARDS & bit) != 0).astype(np.uint64) << np.uint64(rank)
    return np.minimum(np.bitwise_count(ranks), 5).astype(np.int64)


def _bids(states: np.ndarray, settings: Any, deals: np.ndarray, seats: np.ndarray, sets: np.ndarray) -> list[Statistic]:
    auctions, count = settings.num_auctions, len(deals)
    bids = states["bids"][deals, :auctions, seats].T.ravel().astype(np.float64)
    where: dict[str, Any] = {"deals": np.tile(deals, auctions), "seats": np.tile(seats, auctions), "values": bids}
    made = categories(sets[:-1]).ravel()
    return [
        Statistic(
            "Bids by round",
            "Chips bid in each auction.",
            [f"auction {auction + 1}" for auction in range(auctions)],
            bins=np.repeat(np.arange(auctions), count),
            ordered=True,
            **where,
        ),
        Statistic(
            "Bids by high hand",
            "Chips bid, by the high category of the bidder's own cards before the auction.",
            list(HIGH_CATEGORIES),
            bins=made,
            **where,
        ),
        Statistic(
            "Bids by low cards",
            "Chips bid, by how many different ranks from ace to eight the bidder held before it; five make a low.",
            [str(number) for number in range(6)],
            bins=low_cards(sets[:-1]).ravel(),
            ordered=True,
            **where,
        ),
    ]


def _purchases(
    states: np.ndarray, settings: Any, deals: np.ndarray, seats: np.ndarray, sets: np.ndarray
) -> list[Statistic]:
    auctions, count = settings.num_auctions, len(deals)
    bids = states["bids"][deals, :auctions, seats].T.astype(np.float64)
    better_high = np.diff(categories(sets), axis=0) > 0
    better_low = np.diff(low_cards(sets), axis=0) > 0
    better = better_high | better_low
    where: dict[str, Any] = {"deals": np.tile(deals, auctions), "seats": np.tile(seats, auctions)}
    rounds = [f"auction {auction + 1}" for auction in range(auctions)]
    kinds = np.where(better_high & better_low, 3, np.where(better_low, 2, np.where(better_high, 1, 0)))
    improved = better.ravel()
    number = better.sum(axis=0)
    some = number > 0
    return [
        Statistic(
            "Improvements by round",
            "Share of auctions whose card made the high category better, or brought a new rank from ace to eight while "
            "the seat had fewer than five.",
            rounds,
            bins=np.repeat(np.arange(auctions), count),
            values=improved.astype(np.float64),
            share=True,
            ordered=True,
            **where,
        ),
        Statistic(
            "Price by what it bought",
            "Chips bid, by what the card that came of it made better.",
            ["nothing", "high", "low", "both"],
            bins=kinds.ravel(),
            values=bids.ravel(),
            **where,
        ),
        Statistic(
            "Price paid per improvement",
            "Chips bid in all auctions of a deal over the number of cards that made something better; deals with none "
            "are left out.",
            ["chips per improvement"],
            deals[some],
            seats[some],
            np.zeros(int(some.sum()), np.int64),
            bids.sum(axis=0)[some] / number[some],
        ),
    ]


def _betting(states: np.ndarray, settings: Any, deals: np.ndarray, seats: np.ndarray) -> list[Statistic]:
    bets = states["bets"][deals, seats][:, : settings.max_raises + 2]
    rows, _ = np.nonzero(bets >= game.CALLED)
    answer = bets[bets >= game.CALLED] - game.CALLED
    return [
        choices(
            "Answers to a bet",
            "What a seat did each time that it faced a bet or a raise.",
            _ANSWERS,
            deals[rows],
            seats[rows],
            answer,
        ),
        Statistic(
            "Folds by place from the dealer",
            "Share of deals in which the seat folded.",
            [*(str(place + 1) for place in range(settings.num_players - 1)), "dealer"],
            deals,
            seats,
            (seats - states["dealer"][deals] - 1) % settings.num_players,
            states["folded"][deals, seats].astype(np.float64),
            share=True,
        ),
    ]


def _declarations(states: np.ndarray, deals: np.ndarray, seats: np.ndarray, sets: np.ndarray) -> list[Statistic]:
    declared = states["declared"][deals, seats].astype(np.int64)
    folded = states["folded"][deals, seats] > 0
    end = np.where(folded, 0, np.where(declared == 0, 4, declared))
    net = states["award"][deals, seats].astype(np.float64) - states["paid"][deals, seats]
    both = declared == game.BOTH
    high = declared > 0
    return [
        choices("How deals end", "Share of deals: folded, or what was declared.", _DECLARATIONS, deals, seats, end),
        Statistic(
            "Chips by how deals end",
            "Chips won or lost in a deal, by what the seat did at its end.",
            list(_DECLARATIONS),
            deals,
            seats,
            end,
            net,
        ),
        Statistic(
            "Success of both",
            "Share of declarations of both that won both ways.",
            ["won both ways"],
            deals[both],
            seats[both],
            np.zeros(int(both.sum()), np.int64),
            (states["verdict"][deals[both], seats[both]] == game.WON_ALL).astype(np.float64),
            share=True,
        ),
        Statistic(
            "High or both, by high hand",
            "Share of declarations that were high or both, by the category of the seat's best high hand.",
            list(HIGH_CATEGORIES),
            deals[high],
            seats[high],
            categories(sets[high]),
            (declared[high] >= game.HIGH).astype(np.float64),
            share=True,
            ordered=True,
        ),
    ]
