"""The rules of Auction Poker once more, in plain Python, written from the rulings and not from the engine.

Slow and short, for comparison: hands are tried five by five and ranked as tuples, a deal is one generator read from
top to bottom. Cards are names such as ``"As"``, actions are names such as ``"bid 2"``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

HIGH_ORDER = "23456789TJQKA"
LOW_ORDER = "A23456789TJQK"
WHEEL = (12, 3, 2, 1, 0)

Rank = tuple[int, tuple[int, ...]]


def best_high(cards: Sequence[str]) -> Rank:
    """The best high hand (A5, A9); the larger tuple is the better hand."""
    return max(_high(hand) for hand in combinations(cards, min(5, len(cards))))


def best_low(cards: Sequence[str]) -> Rank:
    """The best ace-to-five low (A9); the smaller tuple is the better hand."""
    shapes = {(1, 1): 0, (2, 1): 1, (2, 2): 2, (3, 1): 3, (3, 2): 4, (4, 1): 5}
    return min(_grouped(hand, LOW_ORDER, shapes) for hand in combinations(cards, min(5, len(cards))))


def _grouped(hand: Sequence[str], ranks: str, shapes: Mapping[Any, int]) -> Rank:
    """Category by the two largest groups of equal ranks; then the ranks, larger groups first, then higher ones."""
    groups = sorted(Counter(ranks.index(card[0]) for card in hand).items(), key=lambda g: (g[1], g[0]), reverse=True)
    shape = (*(count for _, count in groups), 1, 1)[:2]
    return shapes[shape], tuple(rank for rank, _ in groups)


def _high(hand: Sequence[str]) -> Rank:
    category, ranks = _grouped(hand, HIGH_ORDER, {(1, 1): 0, (2, 1): 1, (2, 2): 2, (3, 1): 3, (3, 2): 6, (4, 1): 7})
    if len(ranks) < 5:
        return category, ranks
    flush = len({card[1] for card in hand}) == 1
    if ranks == WHEEL or ranks[0] - ranks[4] == 4:
        return (8 if flush else 4), (3 if ranks == WHEEL else ranks[0],)
    return (5 if flush else 0), ranks


def picking_order(clockwise: Sequence[int], bids: Mapping[int, int], exposed: Mapping[int, Sequence[str]]) -> list[int]:
    """Highest bid first, then the stronger exposed hand, then clockwise from the dealer (A4)."""
    return sorted(clockwise, key=lambda seat: (bids[seat], best_high(exposed[seat])), reverse=True)


def shares(chips: int, clockwise: Sequence[int]) -> dict[int, int]:
    """Equal shares, the chips left over one each in order (A12)."""
    share, left_over = divmod(chips, len(clockwise))
    return {seat: share + (place < left_over) for place, seat in enumerate(clockwise)}


def divide(
    pot: int, declared: Mapping[int, str], high: Mapping[int, Any], low: Mapping[int, Any], clockwise: Sequence[int]
) -> tuple[dict[int, int], int]:
    """Who gets what of a pot, and what is carried (A10 to A12). Larger ``high`` and smaller ``low`` are better."""
    for seat, way in declared.items():
        rivals = [other for other in declared if other != seat]
        if (
            way == "both"
            and all(high[seat] > high[other] for other in rivals if declared[other] != "low")
            and all(low[seat] < low[other] for other in rivals if declared[other] != "high")
        ):
            return {seat: pot}, 0
    highs = [seat for seat in clockwise if declared.get(seat) == "high"]
    lows = [seat for seat in clockwise if declared.get(seat) == "low"]
    if not highs and not lows:
        return {}, pot
    high_part = pot if not lows else 0 if not highs else (pot + 1) // 2
    award: dict[int, int] = {}
    if highs:
        best = max(high[seat] for seat in highs)
        award |= shares(high_part, [seat for seat in highs if high[seat] == best])
    if lows:
        best = min(low[seat] for seat in lows)
        award |= shares(pot - high_part, [seat for seat in lows if low[seat] == best])
    return award, 0


@dataclass
class Ask:
    """A decision: who, in which phase, what is legal, and the chips as everybody sees them."""

    seat: int
    phase: str
    legal: set[str]
    pot: int
    stacks: list[int]


@dataclass
class Result:
    """How a deal ended. ``award`` and ``net`` have one entry a seat; ``declarers`` are clockwise from the dealer."""

    award: list[int]
    payoffs: list[int]
    stacks: list[int]
    carried: int
    declarers: list[int]


def reserve(rules: Any) -> int:
    """The most a deal can cost a seat (A2)."""
    return rules.ante + rules.num_auctions * rules.max_bid + rules.bet_size * (1 + rules.max_raises)


def seats_from(dealer: int, stacks: Sequence[int], rules: Any) -> list[int]:
    """Seats that are dealt in, clockwise from the dealer (A2)."""
    n = len(stacks)
    return [seat for seat in ((dealer + 1 + k) % n for k in range(n)) if stacks[seat] >= reserve(rules)]


def play_deal(
    rules: Any, deck: Sequence[str], dealer: int, before: Sequence[int], carried: int
) -> Generator[Ask, str, Result]:
    """A deal (A1 to A12, A14): yields each decision, is sent an action's name, returns the result."""
    stacks, pot, cards = list(before), carried, iter(deck)
    seats = seats_from(dealer, stacks, rules)

    def pay(seat: int, chips: int) -> None:
        nonlocal pot
        stacks[seat] -= chips
        pot += chips

    def ask(seat: int, phase: str, *legal: str) -> Ask:
        return Ask(seat, phase, set(legal), pot, list(stacks))

    for seat in seats:
        pay(seat, rules.ante)
    concealed: dict[int, list[str]] = {seat: [] for seat in seats}
    exposed: dict[int, list[str]] = {seat: [] for seat in seats}
    for _ in range(rules.hole_cards):
        for seat in seats:
            concealed[seat].append(next(cards))

    for _ in range(rules.num_auctions):
        row, bids = [next(cards) for _ in seats], {}
        for seat in seats:
            answer = yield ask(seat, "bid", *(f"bid {bid}" for bid in range(1, rules.max_bid + 1)))
            bids[seat] = int(answer.removeprefix("bid "))
        for seat in seats:
            pay(seat, bids[seat])
        order, taken = picking_order(seats, bids, exposed), {}
        for seat in order[:-1]:
            answer = yield ask(seat, "pick", *(f"pick {card}" for card in row))
            taken[seat] = answer.removeprefix("pick ")
            row.remove(taken[seat])
        taken[order[-1]] = row.pop()
        for seat, card in taken.items():
            exposed[seat].append(card)

    live, level, paid = list(seats), 0, dict.fromkeys(seats, 0)
    opener = picking_order(seats, dict.fromkeys(seats, 0), exposed)[0]
    waiting = _turned(live, opener)
    while waiting and len(live) > 1:
        seat = waiting.pop(0)
        if level == paid[seat]:
            answer = yield ask(seat, "bet", "check", "bet")
        else:
            answer = yield ask(seat, "bet", "call", "fold", *(["raise"] if level < 1 + rules.max_raises else []))
        if answer in ("bet", "raise"):
            level += 1
            waiting = _turned(live, seat)[1:]
        if answer == "fold":
            live.remove(seat)
        else:
            pay(seat, (level - paid[seat]) * rules.bet_size)
            paid[seat] = level

    declared: dict[int, str] = {}
    if len(live) == 1:
        award, carry = {live[0]: pot}, 0
    else:
        for seat in live:
            answer = yield ask(seat, "declare", "declare low", "declare high", "declare both")
            declared[seat] = answer.removeprefix("declare ")
        hands = {seat: concealed[seat] + exposed[seat] for seat in live}
        high = {seat: best_high(hand) for seat, hand in hands.items()}
        low = {seat: best_low(hand) for seat, hand in hands.items()}
        award, carry = divide(pot, declared, high, low, seats)
    won = [award.get(seat, 0) for seat in range(len(stacks))]
    after = [stack + chips for stack, chips in zip(stacks, won, strict=True)]
    net = [new - old for new, old in zip(after, before, strict=True)]
    return Result(won, net, after, carry, list(declared))


def _turned(clockwise: list[int], first: int) -> list[int]:
    """The same seats, beginning with ``first``."""
    at = clockwise.index(first)
    return clockwise[at:] + clockwise[:at]


def end_match(result: Result) -> Result:
    """The result of a match's last deal: a pot it leaves is shared among the seats that declared (A13, "split")."""
    if not result.carried:
        return result
    extra = shares(result.carried, result.declarers)
    seats = range(len(result.award))
    return Result(
        award=[result.award[seat] + extra.get(seat, 0) for seat in seats],
        payoffs=[result.payoffs[seat] + extra.get(seat, 0) for seat in seats],
        stacks=[result.stacks[seat] + extra.get(seat, 0) for seat in seats],
        carried=0,
        declarers=result.declarers,
    )


def next_dealer(dealer: int, stacks: Sequence[int], rules: Any) -> int:
    """The next seat clockwise that is still in the match (A15)."""
    return seats_from(dealer, stacks, rules)[0]
