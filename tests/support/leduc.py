"""Leduc poker (Southey et al. 2005, "Bayes' Bluff") as a game module: two seats, six cards, two rounds of bets.

Its best responses can be computed exactly, so it checks the learner where bluffing takes two rounds.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from auction_env.core.jit import inner
from auction_env.engine.table import Table
from auction_env.games import get_game
from auction_env.games.cards import CARD_NAMES, EMPTY, card_bit, draw_below, shuffle_deck
from auction_env.games.game import ObservationField, SeatView, TableView, entries, require_int, setting

NAME = "leduc"
VERSION = 0
TITLE = "Leduc poker"
MAX_PLAYERS = 2
MAX_LEGAL = 3
PHASES = ("bet", "over")
BET, OVER = range(2)
HIDDEN_PHASES = ()
CARRIES_POT = False
FOLD, CALL, RAISE = range(3)
RANKS, CARDS = 3, 6
PUBLIC = 2  # where the public card lies in the deck
ROUND = 4  # most actions in a round: call, raise, raise, call
LINES = 2 * ROUND
SIZES = (2, 4)  # of a raise, by round
MOST_RAISES = 2
COST = 1 + MOST_RAISES * (SIZES[0] + SIZES[1])


@dataclasses.dataclass(frozen=True)
class Settings:
    num_players: int = setting(2, "always 2")
    num_ranks: int = setting(RANKS, "always 3")
    num_suits: int = setting(2, "always 2")
    num_deals: int = setting(1, "deals in a match")
    starting_chips: int = setting(COST, "what a deal can cost")

    def __post_init__(self) -> None:
        require_int("num_players", self.num_players, 2, 2)
        require_int("num_ranks", self.num_ranks, RANKS, RANKS)
        require_int("num_suits", self.num_suits, 2, 2)
        require_int("num_deals", self.num_deals, 1, 1)
        require_int("starting_chips", self.starting_chips, COST, COST)


STATE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("rng", "u8"),
                ("deal_number", "i4"),
                ("carried_pot", "i4"),
                ("total_chips", "i4"),
                ("stacks", "i4", (2,)),
                ("award", "i4", (2,)),
                ("paid", "i4", (2,)),
                ("deck", "u1", (52,)),
                ("num_players", "i1"),
                ("num_ranks", "i1"),
                ("num_suits", "i1"),
                ("dealer", "i1"),
                ("dealt_in", "i1", (2,)),
                ("phase", "i1"),
                ("to_act", "i1"),
                ("match_over", "i1"),
                ("round", "i1"),
                ("count", "i1"),  # actions in this round
                ("raises", "i1"),  # in this round
                ("showdown", "i1"),
                ("line", "i1", (LINES,)),  # 1 + the action, by round; 0: none
            ],
            align=True,
        ),
    )
)


def new_state(settings: Settings) -> np.ndarray:
    states = np.zeros(1, STATE)
    row = states[0]
    row.num_players, row.num_ranks, row.num_suits = 2, RANKS, 2
    row.phase, row.to_act, row.match_over = OVER, -1, 1
    return states


def action_names(settings: Settings) -> tuple[str, ...]:
    return ("fold", "call", "raise")


def max_game_length(settings: Settings) -> int:
    return LINES


def observation_fields(settings: Settings) -> tuple[ObservationField, ...]:
    return (
        ObservationField("card", (RANKS,), "own card, lowest rank first"),
        ObservationField("public", (RANKS,), "the public card, in the second round"),
        ObservationField("first", (1,), "whether the observer acts first"),
        ObservationField("line", (LINES, 3), "the actions so far, by round: fold, call, raise"),
        ObservationField("other", (RANKS,), "the other card, at a showdown", final_only=True),
    )


@inner
def new_match(s: Any) -> None:
    s.deal_number, s.match_over, s.total_chips = 0, 0, 2 * COST
    s.stacks[0], s.stacks[1] = COST, COST
    s.dealer = draw_below(s, 2)


@inner
def deal(s: Any, given: Any) -> None:
    shuffle_deck(s, given, s.num_ranks * s.num_suits)
    for seat in range(2):
        s.dealt_in[seat], s.award[seat], s.paid[seat] = 1, 0, 1
        s.stacks[seat] -= 1
    for step in range(LINES):
        s.line[step] = 0
    s.round, s.count, s.raises, s.showdown = 0, 0, 0, 0
    s.phase, s.to_act = BET, 1 - s.dealer


@inner
def next_deal(s: Any) -> None:
    s.deal_number += 1
    s.dealer = 1 - s.dealer
    deal(s, 0)


@inner
def rank_at(s: Any, index: Any) -> Any:
    return np.int64(s.deck[index] >> 2) - 13 + RANKS


@inner
def index_of(s: Any, seat: Any) -> Any:
    return np.int64((seat != 1 - s.dealer) * 1)


@inner
def strength(s: Any, seat: Any) -> Any:
    rank = rank_at(s, index_of(s, seat))
    return rank + RANKS * (rank == rank_at(s, PUBLIC))


@inner
def legal(s: Any, out: Any) -> Any:
    if s.phase == OVER:
        return 0
    count = 0
    if s.paid[1 - s.to_act] > s.paid[s.to_act]:
        out[count] = FOLD
        count += 1
    out[count] = CALL
    count += 1
    if s.raises < MOST_RAISES:
        out[count] = RAISE
        count += 1
    return count


@inner
def finish(s: Any, first_share: Any) -> None:
    """End the deal: halves of the pot that seat 0 gets."""
    pot = s.paid[0] + s.paid[1]
    s.award[0] = pot * first_share // 2
    s.award[1] = pot - s.award[0]
    for seat in range(2):
        s.stacks[seat] += s.award[seat]
    s.phase, s.to_act, s.match_over = OVER, -1, 1


@inner
def act(s: Any, action: Any) -> None:
    seat = np.int64(s.to_act)
    s.line[s.round * ROUND + s.count] = action + 1
    if action == FOLD:
        finish(s, 2 * seat)
        return
    owed = s.paid[1 - seat] - s.paid[seat]
    if action == RAISE:
        owed += 2 + 2 * s.round
        s.raises += 1
    s.paid[seat] += owed
    s.stacks[seat] -= owed
    s.count += 1
    if action == RAISE or s.count == 1:
        s.to_act = 1 - seat
    elif s.round == 0:
        s.round, s.count, s.raises, s.to_act = 1, 0, 0, 1 - s.dealer
    else:
        s.showdown = 1
        one, two = strength(s, 0), strength(s, 1)
        finish(s, 1 + (one > two) - (one < two))


@inner
def observe(s: Any, me: Any, out: Any, full: Any) -> None:
    out[rank_at(s, index_of(s, me))] = 1
    if s.round == 1:
        out[RANKS + rank_at(s, PUBLIC)] = 1
    out[2 * RANKS] = s.dealer != me
    for step in range(LINES):
        if s.line[step]:
            out[2 * RANKS + 1 + 3 * step + s.line[step] - 1] = 1
    if s.showdown:
        out[2 * RANKS + 1 + 3 * LINES + rank_at(s, index_of(s, 1 - me))] = 1


@inner
def known_at(s: Any, me: Any, index: Any) -> Any:
    if index == PUBLIC:
        return s.round == 1
    return index == index_of(s, me) or (s.showdown == 1 and index < 2)


@inner
def resample_from_infostate(s: Any, me: Any) -> None:
    for index in range(CARDS - 1):
        if known_at(s, me, index):
            continue
        other = index + draw_below(s, CARDS - index)
        while known_at(s, me, other):
            other = index + draw_below(s, CARDS - index)
        card = s.deck[index]
        s.deck[index] = s.deck[other]
        s.deck[other] = card


@inner
def num_draws(before: Any, s: Any) -> Any:
    if before.phase == OVER:
        return 2
    return (s.round - before.round) * (s.phase == BET)


@inner
def draw_choices(before: Any, s: Any, draw: Any) -> Any:
    cards = EMPTY
    for index in range(draw if before.phase == OVER else PUBLIC, CARDS):
        cards |= card_bit(s.deck[index])
    return cards


@inner
def settle_draw(before: Any, s: Any, draw: Any, card: Any) -> None:
    index = draw if before.phase == OVER else PUBLIC
    for other in range(index, CARDS):
        if s.deck[other] == card:
            s.deck[other] = s.deck[index]
            s.deck[index] = card


def eligibility(s: Any, seat: int) -> str:
    return ""


def info(rows: Any, seat: Any) -> dict[str, Any]:
    return {"phase": entries(rows, "phase")}


def pending(s: Any) -> int:
    return 0


def public_name(settings: Settings, action: int) -> str:
    return action_names(settings)[action]


def visible_deck(s: Any, seat: int) -> list[bool]:
    mine = int(seat != 1 - s.dealer)
    return [
        index == mine or bool(index == PUBLIC and s.round == 1) or bool(s.showdown and index < 2)
        for index in range(CARDS)
    ]


def view(s: Any, seat: int | None) -> TableView:
    seen = [True] * CARDS if seat is None else visible_deck(s, seat)
    cards = [CARD_NAMES[card] if known else "??" for card, known in zip(s.deck[:3], seen, strict=False)]
    seats = [
        SeatView(k, int(s.stacks[k]), [cards[int(k != 1 - s.dealer)]], [], [], bool(s.dealer == k), bool(s.to_act == k))
        for k in range(2)
    ]
    board = [cards[PUBLIC]] if s.round else []
    return TableView(TITLE, PHASES[s.phase], int(s.paid[:2].sum()), board, "", seats, [])


def narrate(before: Any, action: int, after: Any) -> list[str]:
    return [f"player_{before.to_act} {action_names(Settings())[action]}s."]


# --- exact values ---------------------------------------------------------------------------------------------------

Policy = Mapping[tuple[int, int, str], Any]  # (own rank, public rank or -1, line) to the probabilities of the actions


@dataclasses.dataclass(frozen=True)
class Node:
    """A history without its cards. ``line`` has a digit an action and '/' between rounds."""

    line: str = ""
    round: int = 0
    count: int = 0
    raises: int = 0
    paid: tuple[int, int] = (1, 1)
    over: str = ""  # "fold" (by who was to act), "showdown"

    @property
    def to_act(self) -> int:
        """0: who acts first."""
        return self.count % 2

    def legal(self) -> list[int]:
        """Legal actions."""
        seat = self.to_act
        folds = [FOLD] if self.paid[1 - seat] > self.paid[seat] else []
        return [*folds, CALL, *([RAISE] if self.raises < MOST_RAISES else [])]

    def after(self, action: int) -> Node:
        """The history one action later."""
        line = f"{self.line}{action}"
        if action == FOLD:
            return dataclasses.replace(self, line=line, over="fold")
        paid = list(self.paid)
        paid[self.to_act] = max(paid) + (SIZES[self.round] if action == RAISE else 0)
        same = Node(line, self.round, self.count + 1, self.raises + (action == RAISE), (paid[0], paid[1]))
        if action == RAISE or self.count == 0:
            return same
        if self.round == 0:
            return Node(line + "/", 1, 0, 0, same.paid)
        return dataclasses.replace(same, over="showdown")


def best_response_value(policy: Policy, responder: int) -> float:
    """Chips a deal that the best response wins (as who acts first: 0, or second: 1) against a policy, exactly."""

    def value(card: int, public: int, node: Node, reach: dict[int, float]) -> float:
        if node.over:
            return sum(weight * _won(card, other, public, node, responder) for other, weight in reach.items())
        if node.round == 1 and public < 0:
            return sum(value(card, drawn, node, _reach_after(card, drawn, reach)) for drawn in range(RANKS))
        if node.to_act == responder:
            return max(value(card, public, node.after(action), reach) for action in node.legal())
        return sum(
            value(card, public, node.after(a), {b: w * policy[b, public, node.line][a] for b, w in reach.items()})
            for a in node.legal()
        )

    return sum(
        value(card, -1, Node(), {other: (2 - (other == card)) / 15 for other in range(RANKS)}) for card in range(RANKS)
    )


def _reach_after(card: int, drawn: int, reach: dict[int, float]) -> dict[int, float]:
    """What of each other card's probability is left when a public card is drawn."""
    return {other: weight * (2 - (drawn == card) - (drawn == other)) / 4 for other, weight in reach.items()}


def _won(card: int, other: int, public: int, node: Node, responder: int) -> float:
    if node.over == "fold":
        return -node.paid[responder] if node.to_act == responder else node.paid[1 - responder]
    one, two = (rank + RANKS * (rank == public) for rank in (card, other))
    return node.paid[0] * ((one > two) - (one < two))


def exploitability(policy: Policy) -> float:
    """NashConv over the number of seats: what best responses win against a policy, averaged over both places."""
    return (best_response_value(policy, 0) + best_response_value(policy, 1)) / 2


def information_states() -> list[tuple[int, int, Node]]:
    """Own rank, public rank or -1, and history, of every decision."""
    found, nodes = [], [Node()]
    while nodes:
        node = nodes.pop()
        if node.over:
            continue
        publics = range(RANKS) if node.round else (-1,)
        found += [(card, public, node) for card in range(RANKS) for public in publics]
        nodes += [node.after(action) for action in node.legal()]
    return found


def uniform() -> dict[tuple[int, int, str], np.ndarray]:
    """Each legal action equally likely."""
    policy = {}
    for card, public, node in information_states():
        chances = np.zeros(3)
        chances[node.legal()] = 1 / len(node.legal())
        policy[card, public, node.line] = chances
    return policy


def table_at(card: int, other: int, public: int, line: str) -> Table:
    """A table after these actions; ``card`` is of who acts first."""
    free = {rank: [f"{'QKA'[rank]}{suit}" for suit in "cd"] for rank in range(3)}
    deck = [free[rank].pop() for rank in (card, other, public)]
    deck += [name for names in free.values() for name in names]
    table = Table(get_game(sys.modules[__name__]))
    table.reset(0, {"deck": " ".join(deck), "dealer": 1})
    for action in line.replace("/", ""):
        table.act(int(action))
    return table
