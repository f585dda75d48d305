"""Matches: duplicate decks through all rotations, honest intervals, agents that misbehave are named."""

from __future__ import annotations

import json

import numpy as np
import pytest

import agents
from agents.base import Agent, AgentError
from auction_env.games import available, get_game
from auction_env.games.contract import make_settings
from auction_env.match import estimate, play_match
from auction_env.players import PlayerError


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
    """Over the rotations of a deck an agent that meets itself takes every seat's result once: their sum, zero."""
    settings = make_settings(game, {})
    result = play_match(game, settings, [First()] * settings.num_players, 120, seed=1)
    assert (result.net.sum(axis=1) == 0).all()
    assert result.agent(0).mean == 0 and result.agent(0).half_width == 0
    assert not result.agent(0).above_zero


def test_rotations_play_the_same_decks(game):
    """With one odd agent among equal ones, each deck's rotations differ only by where it sits."""
    settings = make_settings(game, {"num_players": 2})
    result = play_match(game, settings, [First(), Last()], 60, seed=2)
    swapped = play_match(game, settings, [Last(), First()], 60, seed=2)
    assert np.array_equal(result.net, swapped.net[:, ::-1, ::-1])
    assert (result.net.sum(axis=2) == 0).all()


def test_result_does_not_depend_on_how_many_tables_play_at_once(game):
    settings = make_settings(game, {})
    line = [First(), *[Last() for _ in range(settings.num_players - 1)]]
    whole = play_match(game, settings, line, 200, seed=3)
    parts = play_match(game, settings, line, 200, seed=3, tables=24)
    assert whole.digest == parts.digest
    assert whole.digest != play_match(game, settings, line, 200, seed=4).digest


def test_deals_are_rounded_up_to_whole_rotations_and_progress_is_told(game):
    settings = make_settings(game, {})
    n, told = settings.num_players, []
    result = play_match(game, settings, [First()] * n, 10 * n - 1, tables=2 * n, progress=told.append)
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


def test_pairing_is_respected(game):
    """The interval of an agent is over decks, each averaged over its rotations, not over single deals."""
    settings = make_settings(game, {})
    line = [First(), *[Last() for _ in range(settings.num_players - 1)]]
    result = play_match(game, settings, line, 300, seed=5)
    by_deck = result.net[:, :, 0].mean(axis=1)
    assert result.agent(0).half_width == pytest.approx(1.959963984540054 * by_deck.std(ddof=1) / len(by_deck) ** 0.5)


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        (lambda masks: masks.argmin(axis=1), "agent bad acted illegally"),
        (lambda masks: np.full(len(masks), -1), "agent bad acted illegally"),
        (lambda masks: np.full(len(masks), masks.shape[1]), "agent bad acted illegally"),
        (lambda masks: masks.argmax(axis=1)[:-1], "not one integer for each seat"),
        (lambda masks: masks.argmax(axis=1) * 1.0, "not one integer for each seat"),
        (lambda masks: 1 / 0, "agent bad failed: ZeroDivisionError"),
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
    assert (result.net.sum(axis=(1, 2)) == 0).all()
    assert np.abs(result.net).max() > 20  # more than one deal's losses
