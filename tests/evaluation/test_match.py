"""Matches: duplicate decks through all rotations, honest intervals, agents that misbehave are named."""

from __future__ import annotations

import json
import sys
import time
from itertools import permutations

import numpy as np
import pytest
from auction_env.agents.base import Agent, AgentError

from auction_env import agents
from auction_env.core.files import write_json
from auction_env.engine.agent import PlayerError
from auction_env.evaluation.match import (
    Schedule,
    all_seatings,
    count_seatings,
    drawn_seatings,
    number_groups,
    play_match,
)
from auction_env.evaluation.results import Estimate, ResultError, compare, estimate, load_result
from auction_env.games import available, get_game
from auction_env.games.game import make_settings


class First(Agent):
    """Takes the first legal action: no chance of its own."""

    name = "first"

    def act_batch(self, observations, masks):
        return masks.argmax(axis=1)


class Last(Agent):
    name = "last"

    def act_batch(self, observations, masks):
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


@pytest.fixture(params=available())
def game(request):
    return get_game(request.param)


def test_one_policy_in_all_seats_wins_exactly_nothing(game):
    """Over the seatings of a deck an agent that meets itself takes every seat's result once: their sum, zero."""
    settings = make_settings(game, {"num_players": 3})
    result = play_match(game, settings, [First(), First(), First()], 120, seed=1)
    assert result.payoffs.shape == (20, 6, 3)
    assert (result.payoffs.sum(axis=1) == 0).all()
    assert result.agent(0).mean == 0 and result.agent(0).half_width == 0
    assert not result.agent(0).above_zero and not result.agent(0).below_zero
    assert result.variance_reduction(0) == np.inf and "exact" in result.text()
    once = play_match(game, settings, [First()] * 3, 20, seed=1)
    assert once.payoffs.shape == (20, 1, 3), "one agent has but one distinct seating"
    assert once.agent(0).mean == 0 and np.isnan(once.variance_reduction(0))


def test_rotations_play_the_same_decks(game):
    """With one odd agent among equal ones, each deck's rotations differ only by where it sits."""
    settings = make_settings(game, {"num_players": 2})
    result = play_match(game, settings, [First(), Last()], 60, seed=2)
    swapped = play_match(game, settings, [Last(), First()], 60, seed=2)
    assert np.array_equal(result.payoffs, swapped.payoffs[:, ::-1, ::-1])
    assert (result.payoffs.sum(axis=2) == 0).all()


def test_result_does_not_depend_on_how_many_tables_play_at_once(game):
    settings = make_settings(game, {})
    line = [First(), *[Last() for _ in range(settings.num_players - 1)]]
    whole = play_match(game, settings, line, 200, seed=3)
    parts = play_match(game, settings, line, 200, seed=3, part_tables=24)
    assert whole.digest == parts.digest
    assert whole.digest != play_match(game, settings, line, 200, seed=4).digest


def test_deals_are_rounded_up_to_whole_rotations_and_progress_is_told(game):
    settings = make_settings(game, {})
    n, told = settings.num_players, []
    line = [First(), *[Last()] * (n - 1)]
    result = play_match(game, settings, line, 10 * n - 1, part_tables=2 * n, progress=told.append)
    assert result.deals == 10 * n
    assert told[-1] == 10 * n and told == sorted(told)


def test_summary_is_plain_data_and_the_text_says_what_was_played(game):
    settings = make_settings(game, {"num_players": 2})
    result = play_match(game, settings, [First(), Last()], 40)
    summary = json.loads(json.dumps(result.summary()))
    assert summary["illegal_actions"] == 0 and summary["digest"] == result.digest
    assert summary["agents"][1]["by_seat"][0]["mean"] == pytest.approx(result.seat(1, 0).mean)
    for part in (result.digest, "illegal actions: 0", "num_players=2", "20 decks", "first", "last"):
        assert part in result.text()


def test_interval_is_that_of_the_mean_over_decks():
    rng = np.random.default_rng(0)
    misses = 0
    for _ in range(2000):
        found = estimate(rng.normal(1.0, 3.0, 100))
        misses += abs(found.mean - 1.0) > found.half_width
    assert 60 <= misses <= 150  # 5 % of 2,000, within four standard errors, and the normal quantile's small excess
    assert estimate([5.0]).half_width == np.inf


def test_one_deck_has_no_interval_and_the_texts_say_so(tmp_path):
    game = get_game("auction_poker")
    match = play_match(game, make_settings(game, {"num_players": 3}), [Last(), First(), First()], 3)
    assert match.decks == 1 and "± unknown" in match.text() and "exact" not in match.text()
    write_json(tmp_path / "one.json", match.summary())
    one = load_result(tmp_path / "one.json")
    assert one["agents"][0]["chips_per_deal"]["half_width"] is None
    assert "± unknown: no difference shown: one deck alone has no interval" in compare(one, one).text()


def test_pairing_is_respected(game):
    """The interval of an agent is over decks, each averaged over its rotations, not over single deals."""
    settings = make_settings(game, {})
    line = [First(), *[Last() for _ in range(settings.num_players - 1)]]
    result = play_match(game, settings, line, 300, seed=5)
    by_deck = result.payoffs[:, :, 0].mean(axis=1)
    assert result.agent(0).half_width == pytest.approx(1.959963984540054 * by_deck.std(ddof=1) / len(by_deck) ** 0.5)


def _allow_all(masks):
    last = masks.shape[1] - masks[:, ::-1].argmin(axis=1) - 1
    masks[:] = 1
    return last


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        (lambda masks: masks.argmin(axis=1), "agent bad acted illegally"),
        (lambda masks: np.full(len(masks), -1), "agent bad acted illegally"),
        (lambda masks: np.full(len(masks), masks.shape[1]), "agent bad acted illegally"),
        (lambda masks: masks.argmax(axis=1)[:-1], "not one integer for each seat"),
        (lambda masks: masks.argmax(axis=1) * 1.0, "not one integer for each seat"),
        (lambda masks: 1 / 0, "agent bad failed: ZeroDivisionError"),
        (lambda masks: sys.exit(0), "agent bad failed: SystemExit: 0"),
        (_allow_all, "agent bad acted illegally"),
    ],
)
def test_agents_that_misbehave_are_named_and_lose_the_run(game, behaviour, message):
    class Bad(First):
        name = "bad"

        def act_batch(self, observations, masks):
            return behaviour(masks)

    settings = make_settings(game, {"num_players": 2})
    with pytest.raises(PlayerError, match=message):
        play_match(game, settings, [First(), Bad()], 20)


def test_agents_that_are_too_slow_lose_the_run():
    class Slow(First):
        name = "slow"

        def act_batch(self, observations, masks):
            time.sleep(0.01 * len(masks))
            return super().act_batch(observations, masks)

    game = get_game("auction_poker")
    settings = make_settings(game, {"num_players": 2})
    with pytest.raises(PlayerError, match="agent slow is too slow"):
        play_match(game, settings, [First(), Slow()], 4, time_limit=1e-3)
    assert play_match(game, settings, [First(), First()], 4, time_limit=10).deals == 4


def test_agents_see_only_the_decision_part(game):
    """An agent is given numbers, nothing that leads to the table."""
    settings = make_settings(game, {"num_players": 2})
    given = []

    class Spy(First):
        def act_batch(self, observations, masks):
            given.append((observations, masks))
            return super().act_batch(observations, masks)

    play_match(game, settings, [Spy(), First()], 20)
    for observations, masks in given:
        assert type(observations) is np.ndarray and observations.base is None and observations.dtype == np.float32
        assert type(masks) is np.ndarray and masks.base is None and masks.dtype == np.int8


def test_wrong_numbers_of_agents_and_deals_are_refused(game):
    settings = make_settings(game, {"num_players": 2})
    with pytest.raises(ValueError, match="3 agents for 2 seats"):
        play_match(game, settings, [First()] * 3, 10)
    with pytest.raises(ValueError, match="deals is 0"):
        play_match(game, settings, [First()] * 2, 0)


def test_random_agent_is_uniform_and_repeats_with_its_seed():
    game = get_game("auction_poker")
    settings = make_settings(game, {})
    masks = np.zeros((30_000, 5), np.int8)
    masks[:, [1, 3, 4]] = 1
    agent = agents.make("random", game, settings, 3)
    chosen = agent.act_batch(np.zeros((30_000, 1), np.float32), masks)
    counts = np.bincount(chosen, minlength=5)
    assert counts[0] == counts[2] == 0
    assert (np.abs(counts[[1, 3, 4]] - 10_000) < 5 * np.sqrt(30_000 * 2 / 9)).all()
    again = agents.make("random", game, settings, 3).act_batch(np.zeros((30_000, 1), np.float32), masks)
    assert np.array_equal(chosen, again)


def test_unknown_agents_are_refused_by_name():
    game = get_game("auction_poker")
    settings = make_settings(game, {})
    with pytest.raises(AgentError, match=r"no agent 'rnadom': the agents are .*random"):
        agents.make("rnadom", game, settings)
    with pytest.raises(AgentError, match="takes no argument"):
        agents.make("random:5", game, settings)
    with pytest.raises(AgentError, match="needs a run's folder"):
        agents.make("ppo", game, settings)
    assert "random" in agents.available() and "ppo" in agents.available()


def test_matches_of_several_deals_count_whole_matches():
    game = get_game("auction_poker")
    settings = make_settings(game, {"num_deals": 4, "starting_chips": 80, "num_players": 3})
    result = play_match(game, settings, [First()] * 3, 60)
    assert (result.payoffs.sum(axis=(1, 2)) == 0).all()
    assert np.abs(result.payoffs).max() > 20  # more than one deal's losses


# --- seatings, seats and pairs ---


@pytest.mark.parametrize(
    ("groups", "number"), [((0, 1, 1), 3), ((0, 1, 2, 3), 24), ((0, 0, 1, 1), 6), ((0, 0), 1), ((0, 1, 1, 2, 2), 30)]
)
def test_all_distinct_seatings_and_each_agent_at_each_seat_equally_often(groups, number):
    seats = all_seatings(groups)
    assert len(seats) == count_seatings(groups) == number
    lines = {tuple(np.array(groups)[np.argsort(seating)]) for seating in seats}
    assert len(lines) == number and all(sorted(seating) == list(range(len(groups))) for seating in seats.tolist())
    for group in set(groups):
        own = np.array(groups) == group
        assert len(set(np.bincount(seats[:, own].ravel(), minlength=len(groups)))) == 1


def test_drawn_seatings_are_whole_rotations_of_orders_that_differ_from_deck_to_deck():
    seats = drawn_seatings(5, 400, 24, np.random.default_rng(0))
    assert seats.shape == (400, 20, 5)
    assert (np.sort(seats, axis=1) == np.repeat(np.arange(5), 4)[None, :, None]).all(), "each place at each seat alike"
    gaps = (seats[:, ::5, 1:] - seats[:, ::5, :1]) % 5
    assert {tuple(gap) for gap in gaps.reshape(-1, 4)} == set(permutations(range(1, 5))), "every order round the table"
    single = drawn_seatings(3, 6000, 1, np.random.default_rng(1))
    counts = np.unique(single[:, 0], axis=0, return_counts=True)[1]
    assert len(counts) == 6 and (abs(counts - 1000) < 150).all()


def test_more_seatings_than_are_played_are_drawn_and_said_so():
    game = get_game("auction_poker")
    settings = make_settings(game, {"num_players": 5})
    line = [agents.make("random", game, settings, 0) for _ in range(5)]
    result = play_match(game, settings, line, 200, seed=1)
    assert result.payoffs.shape == (10, 20, 5) and result.sampled
    assert "in 20 seatings: random orders of the agents, each through all rotations (of 120 seatings)" in result.text()
    every = play_match(game, settings, line, 120, seed=1, seatings=120)
    assert every.payoffs.shape == (1, 120, 5) and not every.sampled and "all 120 distinct" in every.text()
    single = play_match(game, settings, line, 50, seed=1, seatings=1)
    assert single.payoffs.shape == (50, 1, 5) and "independent deals" in single.text()
    with pytest.raises(ValueError, match="at least 5, so that every agent sits at every seat, or 1"):
        play_match(game, settings, line, 50, seatings=4)


class Teller(Agent):
    """Takes the first legal action, under a name of its own."""

    def __init__(self, name):
        self.name = name

    def act_batch(self, observations, masks):
        return masks.argmax(axis=1)


def test_results_are_booked_to_who_sat_where():
    """Equal deterministic agents: a table's result per seat is the deck's, whoever sits there."""
    game = get_game("auction_poker")
    settings = make_settings(game, {"num_players": 3})
    result = play_match(game, settings, [Teller("a"), Teller("b"), Teller("c")], 60, seed=3)
    by_seat = np.zeros_like(result.payoffs)
    np.put_along_axis(by_seat, np.broadcast_to(result.seats, result.payoffs.shape).astype(int), result.payoffs, axis=2)
    assert (by_seat == by_seat[:, :1]).all() and by_seat.any()
    for place in range(3):
        for seat in range(3):
            assert result.seat(place, seat).mean == pytest.approx(by_seat[:, 0, seat].mean())
    assert result.pair(0, 2).mean == 0 and result.pair(0, 2).half_width == 0


def test_places_of_one_agent_are_pooled_and_pairs_are_differences():
    game = get_game("auction_poker")
    settings = make_settings(game, {"num_players": 4})
    first, last = First(), Last()
    result = play_match(game, settings, [first, last, first, last], 120, seed=3)
    assert result.payoffs.shape == (20, 6, 4) and result.agent_places == [0, 1]
    assert result.agent(0) == result.agent(2) and result.agent(0).mean == pytest.approx(-result.agent(1).mean)
    assert result.pair(0, 1).mean == pytest.approx(2 * result.agent(0).mean)
    summary = result.summary()
    assert [agent["places"] for agent in summary["agents"]] == [2, 2] and len(summary["pairs"]) == 1


def test_variance_reduction_is_that_of_the_interval_over_independent_deals(game):
    """Stated factor against two matches of the same agents and deals: duplicate, and independent."""
    settings = make_settings(game, {"num_players": 2})
    line = [First(), Last()]
    duplicate = play_match(game, settings, line, 6000, seed=1)
    single = play_match(game, settings, line, 6000, seed=2, seatings=1)
    measured = (single.agent(0).half_width / duplicate.agent(0).half_width) ** 2
    assert duplicate.variance_reduction(0) == pytest.approx(measured, rel=0.15)
    assert single.variance_reduction(0) == pytest.approx(1, abs=1e-3)
    assert abs(single.agent(0).mean - duplicate.agent(0).mean) < single.agent(0).half_width * 2


def test_always_the_same_play_wins_nothing_from_itself_within_any_interval():
    """A known value: a policy against itself has mean 0 over the seatings, whatever its first place is called."""
    game = get_game("auction_poker")
    settings = make_settings(game, {"num_players": 3})
    schedule = Schedule(game, settings, number_groups(["first"] * 3, first_apart=True), 300, 5)
    assert schedule.groups == (0, 1, 1) and schedule.seatings == 3
    parts = [schedule.play(part, [First(), First()]) for part in range(schedule.parts)]
    assert schedule.result(["first"] * 3, parts).agent(0) == Estimate(0.0, 0.0)


def test_agents_chance_starts_anew_in_each_part():
    """A part gives the same results alone as after others; another seed gives others."""
    game = get_game("auction_poker")
    settings = make_settings(game, {})
    players = [agents.make("random", game, settings, 9)]
    schedule = Schedule(game, settings, (0, 0, 0), 60, 4, None, 20)
    assert schedule.parts == 3
    whole = [schedule.play(part, players) for part in range(3)]
    assert np.array_equal(schedule.play(2, [agents.make("random", game, settings, 1)]), whole[2])
    assert not np.array_equal(whole[0], whole[1])


def test_watchers_are_told_every_decision_and_the_table_as_each_deal_ended(game):
    class Notes:
        def __init__(self):
            self.decisions, self.payoffs, self.seen = 0, [], set()

        def decided(self, decisions):
            assert (decisions.states["to_act"] == decisions.seats).all() and (decisions.seats >= 0).all()
            assert (np.take_along_axis(decisions.masks, decisions.actions[:, None], 1) == 1).all()
            assert len({len(part) for part in decisions}) == 1
            self.decisions += len(decisions.tables)
            self.seen |= set(decisions.groups.tolist())

        def ended(self, finals, groups, decks):
            assert (finals["to_act"] < 0).all() and sorted(set(groups.ravel())) == [0, 1]
            self.payoffs += (finals["award"].astype(int) - finals["paid"])[:, :2].tolist()

    settings = make_settings(game, {"num_players": 2})
    notes = Notes()
    result = play_match(game, settings, [First(), Last()], 60, seed=8, callback=notes)
    assert notes.seen == {0, 1} and notes.decisions >= 60 * 4
    assert sorted(map(sorted, notes.payoffs)) == sorted(map(sorted, result.payoffs.reshape(-1, 2).tolist()))
    assert result.digest == play_match(game, settings, [First(), Last()], 60, seed=8).digest


# --- stored results ---


def stored(path, agent, seed=0, deals=300, **settings):
    game = get_game("auction_poker")
    made = make_settings(game, {"num_players": 2, **settings})
    path.write_text(json.dumps(play_match(game, made, [agent, First()], deals, seed).summary()), encoding="utf-8")
    return load_result(path)


def test_results_of_one_task_are_compared_deck_by_deck(tmp_path):
    a, b = stored(tmp_path / "a", Last()), stored(tmp_path / "b", Teller("last"))
    found = compare(a, b)
    assert found.means[0] == pytest.approx(a["agents"][0]["chips_per_deal"]["mean"])
    assert found.difference.mean == pytest.approx(found.means[0] - found.means[1])
    assert "no difference shown" in compare(a, a).text()
    worse = found if found.difference.below_zero else compare(b, a)
    assert worse.difference.below_zero and f"{worse.names[1]} is better" in worse.text()


def test_results_of_different_tasks_are_refused_and_what_differs_is_named(tmp_path):
    a = stored(tmp_path / "a", Last())
    for name, change, words in (
        ("b", {"seed": 1}, "seed: 0 and 1"),
        ("c", {"deals": 400}, "deals: 300 and 400"),
        ("d", {"max_bid": 2}, "settings: .*'max_bid': 3.* and .*'max_bid': 2"),
    ):
        with pytest.raises(ResultError, match=f"different tasks.*{words}"):
            compare(a, stored(tmp_path / name, Last(), **change))
    with pytest.raises(ResultError, match="is not JSON"):
        load_result(__file__)
    with pytest.raises(ResultError, match="cannot be read"):
        load_result(tmp_path / "none")
    (tmp_path / "e").write_text("[]")
    with pytest.raises(ResultError, match="no result of this version"):
        load_result(tmp_path / "e")
    (tmp_path / "f").write_text(json.dumps({**a, "task": {**a["task"], "seed": 1}}))
    with pytest.raises(ResultError, match="was changed"):
        load_result(tmp_path / "f")
