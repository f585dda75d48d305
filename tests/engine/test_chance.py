"""Chance taken from outside: any order of the cards can be given, one card at a time, and the rules play on from it."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from strategies import chooser, fields_of, some_settings

from auction_env import Table, get_game
from auction_env.engine.chance import CHANCE, TABLE_NAMES, ChanceTable, chance_kernels, has_chance, require_chance
from auction_env.engine.kernels import kernels
from auction_env.games.cards import cards_of, deck_cards
from auction_env.games.game import IllegalActionError, make_settings

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
    with pytest.raises(ValueError, match=r"it does not define num_draws, .*recorded_draw"):
        require_chance(game, TABLE_NAMES)


# --- a table that asks for its chance -----------------------------------------------------------------------------


def played(table: ChanceTable, rng: np.random.Generator, most: int = 10_000) -> ChanceTable:
    """So many choices further, or to the end of the match; all at random."""
    while table.player is not None and most:
        table, most = table.after(int(rng.choice(table.choices()))), most - 1
    return table


def test_a_table_that_asks_for_its_chance_plays_as_any_other(game):
    """The deck that chance brought, given to a Table, and the same actions: all sees, and is paid, alike."""
    rng = np.random.default_rng(5)
    for _ in range(15):
        values = some_settings(game, chooser(rng), {"num_deals": 1})
        start = ChanceTable(game, make_settings(game, values))
        over = played(start, rng)
        if game.NAME == "auction_flop" and over.states["first_shuffle"][0] != game.NEVER:
            continue
        cards = [choice for player, choice in over.history[1:] if player == CHANCE]
        other = Table(game, values)
        other.reset(0, {"deck": cards, "dealer": over.history[0][1]})
        table = start
        for player, choice in over.history:
            table = table.after(choice)
            won = other.act(choice) if player != CHANCE else None
            if table.player not in (CHANCE, None):
                assert table.player == other.to_act and table.choices() == other.legal()
                for seat in range(table.settings.num_players):
                    assert np.array_equal(table.observe(seat), other.observe(seat))
        assert won == list(over.returns)


def test_a_table_never_changes_and_goes_through_pickle(game):
    rng = np.random.default_rng(6)
    table = ChanceTable(game, make_settings(game, {"num_deals": 3, "starting_chips": 300}))
    while table.player is not None:
        before, row = (table.player, table.choices(), table.history), table.states.tobytes()
        after = table.after(int(rng.choice(table.choices())))
        assert (table.player, table.choices(), table.history) == before and table.states.tobytes() == row
        table = after
    again = pickle.loads(pickle.dumps(table))
    assert copy.deepcopy(table) is table
    assert again.history == table.history and again.returns == table.returns and sum(table.returns) == 0
    for seat in range(table.settings.num_players):
        assert np.array_equal(again.final_observations(seat), table.final_observations(seat))
    assert len(table.finals) == 2


def test_before_anything_is_dealt_nothing_is_seen_and_chance_names_the_dealer(game):
    table = ChanceTable(game, make_settings(game, {"num_players": 2}))
    assert table.player == CHANCE and table.choices() == [0, 1] and table.seen is None and not table.observe(0).any()
    fixed = ChanceTable(game, table.settings, dealer=1)
    assert fixed.choices() == deck_cards(13, 4) and fixed.seen is None
    assert np.array_equal(fixed.after(3).states, table.after(1).after(3).states)


def test_choices_that_cannot_be_are_refused_by_name(game):
    table = ChanceTable(game, make_settings(game, {"num_players": 2}), dealer=0)
    with pytest.raises(IllegalActionError, match="chance cannot bring 7: it is one of "):
        table.after(7).after(7)
    rng = np.random.default_rng(7)
    while table.player == CHANCE:
        with pytest.raises(ValueError, match="chance is to choose"):
            table.resample_from_infostate(0, 1)
        table = played(table, rng, 1)
    with pytest.raises(IllegalActionError, match="action 999 is not legal now: legal is one of"):
        table.after(999)
    with pytest.raises(IllegalActionError, match="the match is over"):
        played(table, rng).after(0)
    with pytest.raises(ValueError, match="dealer is 2: it must be a seat, 0 to 1, or None"):
        ChanceTable(game, table.settings, dealer=2)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("auction_poker", {}),
        ("auction_poker", {"num_deals": 2, "num_players": 4, "num_auctions": 2}),
        ("auction_flop", RESHUFFLES),
        ("auction_flop", {"num_deals": 2, "num_players": 2, "observation": "compact"}),
    ],
)
def test_a_deal_drawn_anew_looks_the_same_to_who_looks(name, values):
    """At every decision of a match, with a course that leads there by the rules; often to another deal."""
    rng, others = np.random.default_rng(8), 0
    for _ in range(4):
        table = ChanceTable(name, make_settings(get_game(name), values))
        while table.player is not None:
            if table.player != CHANCE:
                seat = int(rng.integers(table.settings.num_players))
                world = table.resample_from_infostate(seat, int(rng.integers(2**63)))
                assert [player for player, _ in world.history] == [player for player, _ in table.history]
                assert world.player == table.player and np.array_equal(world.observe(seat), table.observe(seat))
                assert [c for p, c in world.history if p == seat] == [c for p, c in table.history if p == seat]
                others += world.history != table.history
            table = played(table, rng, 1)
    assert others > 20


def test_a_deal_drawn_anew_is_any_that_the_seat_cannot_tell_apart():
    """Four cards, one each hidden: the other's card is each of the remaining ones that can be, equally often."""
    settings = make_settings(
        get_game("auction_poker"),
        {"num_players": 2, "hole_cards": 1, "num_auctions": 1, "num_ranks": 3, "num_suits": 2, "max_bid": 2},
    )
    table = ChanceTable("auction_poker", settings, dealer=0)
    for _ in range(4):
        table = table.after(table.choices()[0])
    first = table.choices()[0]
    table = table.after(first)  # a bid that the other seat does not know
    seat = table.player
    own = next(choice for player, choice in table.history[:2] if table.observe(seat)[_hole(table) + choice])
    seen: Counter[tuple[int, ...]] = Counter()
    trials = 1500
    for word in range(trials):
        world = table.resample_from_infostate(seat, word * 2**40 + 7)
        seen[tuple(choice for _, choice in world.history if choice != own)] += 1
    # 3 cards may be the other's, in either order of the row's two (which is seen as a set), and it may have bid 1 or 2
    assert len({cards[0] for cards in seen}) == 3
    by_card_and_bid = Counter((cards[0], cards[-1]) for cards in seen.elements())
    expected = trials / len(by_card_and_bid)
    assert len(by_card_and_bid) == 6
    assert sum((count - expected) ** 2 / expected for count in by_card_and_bid.values()) < 25


def _hole(table: ChanceTable) -> int:
    """Where the field of a seat's own concealed cards begins in its observation."""
    start = 0
    for field in table.game.observation_fields(table.settings):
        if field.name == "hole":
            return start
        start += field.size
    raise AssertionError
