"""Kuhn poker (Kuhn 1950) as a game module: two seats, three cards, a known value and known exploitability.

It checks the learner, and that a module outside the package can be a game.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from auction_env.core.jit import inner
from auction_env.games.cards import CARD_NAMES, EMPTY, card_bit, draw_below, shuffle_deck
from auction_env.games.game import ObservationField, SeatView, TableView, entries, require_int, setting

NAME = "kuhn"
VERSION = 0
TITLE = "Kuhn poker"
MAX_PLAYERS = 2
MAX_LEGAL = 2
PHASES = ("bet", "over")
BET, OVER = range(2)
HIDDEN_PHASES = ()
CARRIES_POT = False
PASS, BET_OR_CALL = 0, 1
LINES = 3  # most actions in a deal


@dataclasses.dataclass(frozen=True)
class Settings:
    num_players: int = setting(2, "always 2")
    num_ranks: int = setting(3, "ranks in the deck, of one suit")
    num_suits: int = setting(1, "always 1")
    num_deals: int = setting(1, "deals in a match")
    starting_chips: int = setting(2, "what a deal can cost")

    def __post_init__(self) -> None:
        require_int("num_players", self.num_players, 2, 2)
        require_int("num_ranks", self.num_ranks, 3, 13)
        require_int("num_suits", self.num_suits, 1, 1)
        require_int("num_deals", self.num_deals, 1, 1)
        require_int("starting_chips", self.starting_chips, 2, 2)


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
                ("count", "i1"),  # actions so far
                ("line", "i1", (LINES,)),  # the actions
            ],
            align=True,
        ),
    )
)


def new_state(settings: Settings) -> np.ndarray:
    states = np.zeros(1, STATE)
    row = states[0]
    row.num_players, row.num_ranks, row.num_suits = 2, settings.num_ranks, 1
    row.phase, row.to_act, row.match_over = OVER, -1, 1
    return states


def action_names(settings: Settings) -> tuple[str, ...]:
    return ("pass", "bet")


def max_game_length(settings: Settings) -> int:
    return LINES


def observation_fields(settings: Settings) -> tuple[ObservationField, ...]:
    return (
        ObservationField("card", (settings.num_ranks,), "own card, lowest rank first"),
        ObservationField("first", (1,), "whether the observer acts first"),
        ObservationField("line", (LINES, 2), "the actions so far: pass, bet"),
        ObservationField("other", (settings.num_ranks,), "the other card, at a showdown", final_only=True),
    )


@inner
def new_match(s: Any) -> None:
    s.deal_number, s.match_over, s.total_chips = 0, 0, 4
    s.stacks[0], s.stacks[1] = 2, 2
    s.dealer = draw_below(s, 2)


@inner
def deal(s: Any, given: Any) -> None:
    shuffle_deck(s, given, s.num_ranks * s.num_suits)
    for seat in range(2):
        s.dealt_in[seat], s.award[seat], s.paid[seat] = 1, 0, 1
        s.stacks[seat] -= 1
    s.count, s.phase, s.to_act = 0, BET, 1 - s.dealer


@inner
def next_deal(s: Any) -> None:
    s.deal_number += 1
    s.dealer = 1 - s.dealer
    deal(s, 0)


@inner
def card_of(s: Any, seat: Any) -> Any:
    return s.deck[(seat != 1 - s.dealer) * 1]


@inner
def legal(s: Any, out: Any) -> Any:
    if s.phase == OVER:
        return 0
    out[0], out[1] = PASS, BET_OR_CALL
    return 2


@inner
def act(s: Any, action: Any) -> None:
    seat = s.to_act
    s.line[s.count] = action
    s.count += 1
    bets = 0
    for place in range(s.count):
        bets += s.line[place]
    if action == BET_OR_CALL:
        s.stacks[seat] -= 1
        s.paid[seat] += 1
    if s.count >= 2 and not (s.count == 2 and bets == 1 and action == BET_OR_CALL):
        winner = 1 - seat  # of a pass facing a bet
        if bets != 1:
            winner = 0 if card_of(s, 0) > card_of(s, 1) else 1
        s.award[winner] = s.paid[0] + s.paid[1]
        s.stacks[winner] += s.award[winner]
        s.phase, s.to_act, s.match_over = OVER, -1, 1
    else:
        s.to_act = 1 - seat


@inner
def observe(s: Any, me: Any, out: Any, full: Any) -> None:
    ranks = np.int64(s.num_ranks)
    out[(card_of(s, me) >> 2) - 13 + ranks] = 1
    out[ranks] = s.dealer != me
    bets = 0
    for place in range(s.count):
        out[ranks + 1 + 2 * place + s.line[place]] = 1
        bets += s.line[place]
    if s.phase == OVER and bets != 1:
        out[ranks + 1 + 2 * LINES + (card_of(s, 1 - me) >> 2) - 13 + ranks] = 1


@inner
def resample_from_infostate(s: Any, me: Any) -> None:
    bets = 0
    for place in range(s.count):
        bets += s.line[place]
    mine = (me != 1 - s.dealer) * 1
    start = 0
    if s.phase == OVER and bets != 1:
        start = 2
    for place in range(start, s.num_ranks - 1):
        if place == mine:
            continue
        other = place + draw_below(s, s.num_ranks - place)
        while other == mine:
            other = place + draw_below(s, s.num_ranks - place)
        card = s.deck[place]
        s.deck[place] = s.deck[other]
        s.deck[other] = card


@inner
def num_draws(before: Any, s: Any) -> Any:
    return 2 * (before.phase == OVER)


@inner
def draw_choices(before: Any, s: Any, draw: Any) -> Any:
    cards = EMPTY
    for index in range(draw, np.int64(s.num_ranks)):
        cards |= card_bit(s.deck[index])
    return cards


@inner
def settle_draw(before: Any, s: Any, draw: Any, card: Any) -> None:
    for other in range(draw, np.int64(s.num_ranks)):
        if s.deck[other] == card:
            s.deck[other] = s.deck[draw]
            s.deck[draw] = card


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
    shown = s.phase == OVER and s.line[: s.count].sum() != 1
    return [place == mine or bool(shown and place < 2) for place in range(int(s.num_ranks))]


def view(s: Any, seat: int | None) -> TableView:
    seen = [True, True] if seat is None else visible_deck(s, seat)[:2]
    cards = [CARD_NAMES[card] if known else "??" for card, known in zip(s.deck[:2], seen, strict=True)]
    seats = [
        SeatView(k, int(s.stacks[k]), [cards[int(k != 1 - s.dealer)]], [], [], bool(s.dealer == k), bool(s.to_act == k))
        for k in range(2)
    ]
    return TableView(TITLE, PHASES[s.phase], int(s.paid[:2].sum()), [], "", seats, [])


def narrate(before: Any, action: int, after: Any) -> list[str]:
    return [f"player_{before.to_act} {action_names(Settings())[action]}es."]


# --- exact values ---------------------------------------------------------------------------------------------------

TERMINAL = {"pp", "bp", "bb", "pbp", "pbb"}


def payoff(line: str, first_card: int, second_card: int) -> int:
    """Chips won by who acts first, at the end of a line of passes and bets."""
    if line in ("bp", "pbp"):
        return 1 if line == "bp" else -1
    return (2 if line.count("b") == 2 else 1) * (1 if first_card > second_card else -1)


def best_response_value(bet_chance: dict[tuple[int, str], float], responder: int) -> float:
    """Chips a deal that the best response wins in one place (0 acts first) against a strategy, exactly.

    Args:
        bet_chance: of (card 0..2, line so far): the probability of betting or calling.
        responder: the place that responds.
    """

    def value(card: int, line: str, reach: dict[int, float]) -> float:
        if line in TERMINAL:
            return sum(
                weight * (payoff(line, card, other) if responder == 0 else -payoff(line, other, card))
                for other, weight in reach.items()
            )
        if len(line) % 2 == responder:
            return max(value(card, line + move, reach) for move in "pb")
        total = 0.0
        for move in "pb":
            chance = {k: bet_chance[k, line] if move == "b" else 1 - bet_chance[k, line] for k in reach}
            total += value(card, line + move, {k: weight * chance[k] for k, weight in reach.items()})
        return total

    return sum(value(card, "", {other: 1 / 6 for other in range(3) if other != card}) for card in range(3))


def exploitability(bet_chance: dict[tuple[int, str], float]) -> float:
    """NashConv over the number of seats: what best responses win against a strategy, averaged over both places."""
    return (best_response_value(bet_chance, 0) + best_response_value(bet_chance, 1)) / 2


INFORMATION_STATES = [(card, line) for card in range(3) for line in ("", "p", "b", "pb")]
