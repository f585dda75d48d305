"""Chance taken from outside: any order of the cards can be given, one card at a time, and the rules play on from it."""

from __future__ import annotations

from collections import Counter
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from strategies import chooser, fields_of, some_settings

from auction_env import get_game
from auction_env.engine.chance import chance_kernels, has_chance
from auction_env.engine.kernels import kernels
from auction_env.games.cards import cards_of, deck_cards
from auction_env.games.game import make_settings

RESHUFFLES = {
    **{"num_players": 3, "hand_size": 3, "flop_size": 2, "num_ranks": 4, "num_suits": 3, "starting_chips": 30},
    "discard_fees": (0, 0, 0, 0),
}


class Course:
    """One deal, move by move, its cards given by ``choose(cards)``; plain Python over the engine's functions."""

    def __init__(self, game: Any, values: dict[str, Any], choose: Any) -> None:
        self.game, self.settings, self.choose = game, make_settings(game, values), choose
        self.run, self.chance = kernels(game), chance_kernels(game)
        self.states = game.new_state(self.settings)
        self.scratch = np.zeros(game.MAX_LEGAL, np.int16)
        self.drawn: list[list[int]] = []
        self.run.new_match(self.states, 0)
        before = self.states.copy()
        deck = deck_cards(self.settings.num_ranks, self.settings.num_suits)
        self.states["deck"][0, : len(deck)] = deck
        self.run.deal(self.states, 0, len(deck))
        self.settle(before)

    def settle(self, before: np.ndarray) -> None:
        cards = []
        for draw in range(self.chance.num_draws(before, self.states, 0)):
            choices = cards_of(self.chance.draw_choices(before, self.states, 0, draw))
            cards.append(self.choose(choices))
            self.chance.settle_draw(before, self.states, 0, draw, cards[-1])
        if cards:
            self.drawn.append(cards)

    def legal(self) -> list[int]:
        return sorted(self.scratch[: self.run.legal(self.states, 0, self.scratch)].tolist())

    def act(self, action: int) -> None:
        before = self.states.copy()
        mask = np.zeros(len(self.game.action_names(self.settings)), np.int8)
        assert self.run.act(self.states, 0, action, self.scratch, mask) >= 0
        self.settle(before)


def play_out(course: Course, rng: np.random.Generator) -> list[int]:
    """Random actions to the end of the deal, which they are."""
    actions = []
    while course.states["to_act"][0] >= 0:
        actions.append(int(rng.choice(course.legal())))
        course.act(actions[-1])
    return actions


def test_cards_given_from_outside_are_what_the_deal_has(game):
    """The cards drawn lie in the deck's order, each once, and the chips stay as many as they were."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        course = Course(game, some_settings(game, chooser(rng), {"num_deals": 1}), chooser(rng))
        play_out(course, rng)
        row, cards = course.states[0], [card for part in course.drawn for card in part]
        if game.NAME == "auction_poker" or row.first_shuffle == game.NEVER:
            assert row.deck[: len(cards)].tolist() == cards
        assert row.stacks.sum() + row.carried_pot == row.total_chips
        assert sorted(row.deck[: row.num_ranks * row.num_suits].tolist()) == deck_cards(row.num_ranks, row.num_suits)


def test_the_same_cards_from_the_deck_play_alike(game):
    """A deal whose cards were given one at a time equals one dealt from the deck that they make, field by field."""
    rng = np.random.default_rng(1)
    compared = 0
    for _ in range(40):
        course = Course(game, some_settings(game, chooser(rng), {"num_deals": 1}), chooser(rng))
        actions = play_out(course, rng)
        if game.NAME == "auction_flop" and course.states["first_shuffle"][0] != game.NEVER:
            continue
        states, size = game.new_state(course.settings), course.settings.num_ranks * course.settings.num_suits
        course.run.new_match(states, 0)
        states["deck"][0, :size] = course.states["deck"][0, :size]
        course.run.deal(states, 0, size)
        for action in actions:
            assert course.run.act(states, 0, action, course.scratch, np.zeros(200, np.int8)) >= 0
        assert fields_of(states) == fields_of(course.states)
        compared += 1
    assert compared >= 20


def test_reshuffled_flops_come_from_outside():
    """B8: what was left of the stock comes first, then any card of the pile; no card in a hand comes up again."""
    game, rng = get_game("auction_flop"), np.random.default_rng(2)
    seen: Counter[str] = Counter()
    for _ in range(200):
        course = Course(game, RESHUFFLES, chooser(rng))
        while course.states["to_act"][0] >= 0:
            row = course.states[0].copy()
            left = set(row.stock[row.stock_at : row.stock_size].tolist())
            course.act(int(rng.choice(course.legal())))
            now = course.states[0]
            if now.num_flops == row.num_flops:
                continue
            flop = course.drawn[-1]
            assert now.flops[now.num_flops - 1, : now.flop_size].tolist() == sorted(flop, reverse=True)
            held = {card for seat in range(3) for card in cards_of(game.hand_set(now, seat))}
            if now.last_shuffle != row.last_shuffle:
                seen["reshuffles"] += 1
                seen["later ones"] += row.first_shuffle != game.NEVER
                seen["with cards left"] += bool(left)
                assert set(flop[: len(left)]) == left
                assert not held & set(now.stock[: now.stock_size].tolist())
            else:
                assert set(flop) <= left
            stock = now.stock[: now.stock_size].tolist()
            assert sorted(stock) == sorted(set(stock)), "no card lies in the stock twice"
    assert seen["reshuffles"] > 100 and seen["later ones"] > 10 and seen["with cards left"] > 20, seen


@pytest.mark.parametrize("values", [RESHUFFLES, {**RESHUFFLES, "flop_size": 3, "num_ranks": 5}])
def test_what_cannot_be_known_is_drawn_anew_from_settled_cards_too(values):
    """``resample_from_infostate`` reads where settled cards lie: a world drawn anew shows the seat the same."""
    game, rng = get_game("auction_flop"), np.random.default_rng(3)
    for seed in range(60):
        course = Course(game, values, chooser(rng))
        size = sum(field.size for field in game.observation_fields(course.settings))
        while course.states["to_act"][0] >= 0:
            seat = int(rng.integers(3))
            world = course.states.copy()
            course.run.resample_from_infostate(world, np.array([seat]), np.array([seed], np.uint64))
            both = [np.zeros(size, np.float32) for _ in range(2)]
            for states, out in zip((course.states, world), both, strict=True):
                course.run.observe(states, 0, seat, out, 1.0)
            assert np.array_equal(*both)
            course.act(int(rng.choice(course.legal())))


def test_every_choice_is_equally_likely_in_the_engine_itself():
    """The flops that the generator's reshuffle brings are distributed as the choices say: uniform over the pile."""
    game, rng = get_game("auction_flop"), np.random.default_rng(4)
    course = Course(game, RESHUFFLES, chooser(rng))
    while True:
        action, before = int(rng.choice(course.legal())), course.states.copy()
        course.act(action)
        if course.states["last_shuffle"][0] != before["last_shuffle"][0]:
            break
        if course.states["to_act"][0] < 0:
            course = Course(game, RESHUFFLES, chooser(rng))
    left = int(before["stock_size"][0] - before["stock_at"][0])
    counts: Counter[int] = Counter()
    trials = 3000
    for _ in range(trials):
        states = before.copy()
        states["chance"] = rng.integers(2**63)
        course.run.act(states, 0, action, course.scratch, np.zeros(200, np.int8))
        choices = cards_of(course.chance.draw_choices(before, states, 0, left))
        counts[int(states["stock"][0, left])] += 1
    assert sorted(counts) == sorted(choices)
    expected = trials / len(choices)
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 3 * len(choices) + 15


def test_a_game_without_these_functions_is_refused():
    game = ModuleType("shuffled")
    game.NAME = "shuffled"
    assert not has_chance(game)
    with pytest.raises(ValueError, match="shuffled cannot take its chance from outside"):
        chance_kernels(game)
