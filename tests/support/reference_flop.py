"""The rules of Auction Flop Poker once more, in plain Python, written from the rulings and not from the engine.

Slow and short, for comparison: a deal is one generator read from top to bottom. Cards are names such as ``"As"``,
actions are names such as ``"discard 0 2"``; hands and flops are lists, sorted highest rank first.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from reference import best_high

RANKS, SUITS = "23456789TJQKA", "cdhs"

Shuffle = Callable[[list[str]], list[str]]


def tidy(cards: Iterable[str]) -> list[str]:
    """Highest rank first, equal ranks in the order s h d c."""
    return sorted(cards, key=lambda card: (RANKS.index(card[0]), SUITS.index(card[1])), reverse=True)


def subsets(size: int, fewest: int, most: int) -> list[tuple[int, ...]]:
    """All choices of places among ``size``, with ``fewest`` to ``most`` of them."""
    return [places for number in range(fewest, most + 1) for places in combinations(range(size), number)]


def name_of(verb: str, places: Sequence[int]) -> str:
    """``"keep 0 2"``, ``"discard none"``."""
    return f"{verb} {' '.join(map(str, places)) or 'none'}"


def places_of(name: str) -> list[int]:
    """The places in an action's name."""
    return [int(word) for word in name.split()[1:] if word != "none"]


def place_chips(pot: int, shares: Sequence[int]) -> list[int]:
    """What each place gets: the whole chips of its share, the rest one each from the best down (B9)."""
    exact = [Fraction(pot * share, sum(shares)) for share in shares]
    whole = [int(part) for part in exact]
    left_over = pot - sum(whole)
    return [chips + (place < left_over) for place, chips in enumerate(whole)]


def divide(pot: int, shares: Sequence[int], strength: dict[int, Any], clockwise: Sequence[int]) -> dict[int, int]:
    """Who gets what (B9): place by place from the best hand, tied hands pooling the places they fill."""
    chips = place_chips(pot, shares[: len(clockwise)])
    chips += [0] * (len(clockwise) - len(chips))
    award: dict[int, int] = {}
    for best in sorted(set(strength.values()), reverse=True):
        tied = [seat for seat in clockwise if strength[seat] == best]
        pool, chips = sum(chips[: len(tied)]), chips[len(tied) :]
        share, left_over = divmod(pool, len(tied))
        award |= {seat: share + (place < left_over) for place, seat in enumerate(tied)}
    return award


@dataclass
class Ask:
    """A decision: who, in which phase, what is legal, the chips, and where all cards are."""

    seat: int
    phase: str
    legal: set[str]
    pot: int
    stacks: list[int]
    hands: dict[int, list[str]]
    stock: list[str]
    flop: list[str]
    pile: list[str]


@dataclass
class Result:
    """How a deal ended."""

    award: list[int]
    stacks: list[int]
    hands: dict[int, list[str]]


def play_deal(
    rules: Any, deck: Sequence[str], dealer: int, before: Sequence[int], shuffle: Shuffle
) -> Generator[Ask, str, Result]:
    """A deal (B1 to B9): yields each decision, is sent an action's name, returns the result."""
    n, full = len(before), rules.hand_size
    clockwise = [(dealer + 1 + k) % n for k in range(n)]
    stacks, pot, stock, pile, flop = list(before), 0, list(deck), [], []
    hands: dict[int, list[str]] = {seat: [] for seat in clockwise}

    def pay(seat: int, chips: int) -> None:
        nonlocal pot
        stacks[seat] -= chips
        pot += chips

    def ask(seat: int, phase: str, *legal: str) -> Ask:
        copies = {owner: list(cards) for owner, cards in hands.items()}
        return Ask(seat, phase, set(legal), pot, list(stacks), copies, list(stock), list(flop), list(pile))

    def open_seats(first: int) -> list[int]:
        return [seat for seat in ((first + k) % n for k in range(n)) if len(hands[seat]) < full]

    for seat in clockwise:
        pay(seat, rules.ante)
    for _ in range(full):
        for seat in clockwise:
            hands[seat].append(stock.pop(0))
    hands = {seat: tidy(cards) for seat, cards in hands.items()}

    for seat in clockwise:
        payable = [places for places in subsets(full, 0, full) if rules.discard_fees[len(places)] <= stacks[seat]]
        answer = yield ask(seat, "discard", *(name_of("discard", places) for places in payable))
        gone = places_of(answer)
        pay(seat, rules.discard_fees[len(gone)])
        pile += [hands[seat][place] for place in gone]
        hands[seat] = [card for place, card in enumerate(hands[seat]) if place not in gone]

    voice = dealer
    while len(waiting := open_seats(voice + 1)) > 0:
        voice = waiting[0]
        if len(stock) < rules.flop_size:
            stock, pile = stock + shuffle(pile), []
        flop, stock = tidy(stock[: rules.flop_size]), stock[rules.flop_size :]
        buyer, price = voice, 0
        if len(waiting) > 1:
            buyer, price, turn, passes = -1, 0, 0, 0
            while passes < len(waiting) - (buyer >= 0):
                seat = waiting[turn % len(waiting)]
                answer = yield ask(seat, "bid", "pass", *(["bid"] if stacks[seat] >= price + 1 else []))
                turn, passes = turn + 1, passes + 1
                if answer == "bid":
                    buyer, price, passes = seat, price + 1, 0
            refusal = 1
            while buyer < 0:
                seat = waiting[(refusal - 1) % len(waiting)]
                answer = yield ask(seat, "refuse", "take", *(["refuse"] if stacks[seat] >= refusal else []))
                if answer == "take":
                    buyer = seat
                else:
                    pay(seat, refusal)
                    refusal += 1
        pay(buyer, price)
        room = min(rules.flop_size, full - len(hands[buyer]))
        answer = yield ask(buyer, "keep", *(name_of("keep", places) for places in subsets(rules.flop_size, 1, room)))
        kept = places_of(answer)
        hands[buyer] = tidy(hands[buyer] + [flop[place] for place in kept])
        pile += [card for place, card in enumerate(flop) if place not in kept]
        flop = []

    strength = {seat: best_high(hand) for seat, hand in hands.items()}
    award = divide(pot, rules.pot_shares, strength, clockwise)
    won = [award[seat] for seat in range(n)]
    return Result(won, [stack + chips for stack, chips in zip(stacks, won, strict=True)], hands)


def match_is_over(rules: Any, deals: int, stacks: Sequence[int]) -> bool:
    """After so many deals (B10)."""
    return deals == rules.num_deals or min(stacks) < rules.ante
