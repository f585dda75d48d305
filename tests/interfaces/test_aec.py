"""The PettingZoo AEC environment: its own tests, construction, masks, rewards, seats that leave."""

from __future__ import annotations

import importlib
import itertools
import sys
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pettingzoo
import pytest
from aec_play import (
    EVERY_COUNT,
    EXPECTED_WARNINGS,
    Choose,
    check_dicts,
    check_moment,
    env_module,
    leaning,
    randomly,
    run,
)
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st
from pettingzoo.test import api_test, performance_benchmark, render_test, seed_test
from pettingzoo.test.api_test import test_observation as check_observation
from pettingzoo.utils.wrappers import OrderEnforcingWrapper
from strategies import match_settings, settings_values, sits_out, snapshot

import auction_env
from auction_env import IllegalActionError, SettingsError, SetupError
from auction_env.interfaces.pettingzoo_aec import RENDER_MODES, AuctionEnv

# --- PettingZoo's own tests ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "players"), EVERY_COUNT)
def test_api_test_warns_of_nothing_but_dict_observations(name, players):
    module = env_module(auction_env.get_game(name))
    for values in ({}, {"num_deals": 3}):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            api_test(module.env(num_players=players, **values), num_cycles=60)
        assert {str(warning.message) for warning in caught} == EXPECTED_WARNINGS


@pytest.mark.parametrize(("name", "players"), EVERY_COUNT)
def test_seed_test_without_a_warning(name, players):
    module = env_module(auction_env.get_game(name))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seed_test(lambda: module.env(num_players=players, num_deals=2), num_cycles=30)


def test_render_test(game, capsys):
    render_test(env_module(game).env)
    render_test(lambda render_mode: env_module(game).env(render_mode=render_mode, reveal=True))
    assert capsys.readouterr().out


def test_performance_benchmark_runs(game, monkeypatch, capsys):
    """Its five seconds of wall time are told in a hundred reads of the clock."""
    clock = itertools.count(0, 0.05)
    module = sys.modules["pettingzoo.test.performance_benchmark"]
    monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: next(clock)))
    performance_benchmark(env_module(game).env())
    assert "turns per second" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "players"), EVERY_COUNT)
def test_bombardment_with_random_play(name, players):
    """PettingZoo's bombardment_test reads an observation from what step returns, which is nothing in an AEC
    environment; this does what it means to: many random games, every observation looked at."""
    env = env_module(auction_env.get_game(name)).env(num_players=players)
    rng = np.random.default_rng(players)
    env.reset(seed=players)
    first = env.last()[0]["observation"]
    for _ in range(4):
        for agent in run(env, randomly(rng)):
            observation = env.observe(agent)
            assert env.observation_space(agent).contains(observation)
            check_observation(observation["observation"], first)
        env.reset()


# --- construction ----------------------------------------------------------------------------------------------------


def test_the_module_gives_wrapped_and_raw_environments(game):
    module = importlib.import_module(f"auction_env.{game.NAME}_v{game.VERSION}")
    assert module is env_module(game)
    assert isinstance(module.env(), OrderEnforcingWrapper)
    assert type(module.raw_env()) is AuctionEnv
    assert type(module.env().unwrapped) is AuctionEnv
    assert module.game is game


def test_pettingzoo_make_builds_it_with_settings(game):
    env = pettingzoo.make("aec", f"auction_env/{game.NAME}-v{game.VERSION}", num_players=2, render_mode="ansi")
    env.reset(seed=1)
    assert env.possible_agents == ["player_0", "player_1"]
    assert isinstance(env.render(), str)
    again = env_module(game).env(num_players=2)
    again.reset(seed=1)
    assert snapshot(again.unwrapped.table) == snapshot(env.unwrapped.table)


def test_bad_arguments_are_refused_by_name(game):
    module = env_module(game)
    for make in (module.env, module.raw_env):
        with pytest.raises(SettingsError, match="num_players"):
            make(num_players=99)
        with pytest.raises(SettingsError, match="did you mean 'num_players'"):
            make(num_player=3)
        with pytest.raises(ValueError, match="render_mode is 'rgb'"):
            make(render_mode="rgb")


def test_metadata_says_what_is_true(game):
    env = env_module(game).env(num_players=2)
    assert env.metadata["name"] == f"{game.NAME}_v{game.VERSION}" == str(env.unwrapped)
    assert env.metadata["render_modes"] == list(RENDER_MODES)
    assert env.metadata["is_parallelizable"] is False
    assert env.max_num_agents == 2


@pytest.mark.parametrize(("name", "players"), EVERY_COUNT)
def test_spaces(name, players):
    env = env_module(auction_env.get_game(name)).env(num_players=players)
    raw = env.unwrapped
    size = sum(piece.size for piece in raw.observation_layout())
    assert env.possible_agents == [f"player_{seat}" for seat in range(players)]
    for agent in env.possible_agents:
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
        assert env.action_space(agent) == spaces.Discrete(len(raw.action_table()))
        assert env.observation_space(agent)["observation"] == spaces.Box(0, 1, (size,), np.float32)
        assert env.observation_space(agent)["action_mask"] == spaces.Box(0, 1, (len(raw.action_table()),), np.int8)


def test_action_names(game):
    raw = env_module(game).raw_env()
    table = raw.action_table()
    assert [raw.action_name(action) for action in range(len(table))] == list(table)
    assert raw.action_name(np.int64(3)) == table[3]
    for action in (-1, len(table), 10**9):
        with pytest.raises(IndexError, match=f"there is no action {action}"):
            raw.action_name(action)


def test_nothing_works_before_reset_and_the_errors_say_so(game):
    raw = env_module(game).raw_env(render_mode="ansi")
    with pytest.raises(SetupError, match="call reset first"):
        raw.observe("player_0")
    with pytest.raises(IllegalActionError, match="call reset first"):
        raw.step(0)
    with pytest.raises(SetupError, match="call reset first"):
        raw.render()
    with pytest.raises(AttributeError, match="before reset"):
        _ = env_module(game).env().agents


@given(st.data())
def test_masks_infos_and_observations_are_right_for_every_seat_at_every_moment(game, data):
    env = env_module(game).env(**data.draw(settings_values(game)))
    env.reset(seed=data.draw(st.integers(0, 10**6)))
    rng = np.random.default_rng(0)
    check_moment(env)
    for _ in run(env, randomly(rng)):
        check_moment(env)


@pytest.mark.parametrize("players", range(2, 8))
def test_right_after_reset_the_mask_of_auction_poker_is_three_bids(players):
    env = auction_env.auction_poker_v0.env(num_players=players)
    env.reset(seed=players)
    for agent in env.agents:
        mask = env.observe(agent)["action_mask"]
        names = [env.unwrapped.action_name(action) for action in np.flatnonzero(mask)]
        assert names == (["bid 1", "bid 2", "bid 3"] if agent == env.agent_selection else [])


def test_last_agrees_with_the_dicts(game):
    env = env_module(game).env(num_deals=2)
    env.reset(seed=2)
    rng = np.random.default_rng(2)
    for agent in run(env, randomly(rng)):
        observation, reward, terminated, truncated, info = env.last()
        assert agent == env.agent_selection
        assert np.array_equal(observation["observation"], env.observe(agent)["observation"])
        assert (terminated, truncated) == (env.terminations[agent], env.truncations[agent])
        assert info is env.infos[agent] and reward == env._cumulative_rewards[agent]
        assert env.last(observe=False)[0] is None


def test_changing_what_an_agent_was_given_changes_nothing(game):
    """A mask overwritten by an agent does not make an illegal move legal."""
    env = env_module(game).raw_env()
    env.reset(seed=1)
    agent = env.agent_selection
    observation, *_, info = env.last()
    illegal = np.flatnonzero(observation["action_mask"] == 0)
    observation["action_mask"][:] = 1
    observation["observation"][:] = 0
    info.clear()
    assert env.observe(agent)["observation"].any()
    before = snapshot(env.table)
    for action in illegal:
        with pytest.raises(IllegalActionError):
            env.step(int(action))
    assert snapshot(env.table) == before


def _collect(env: Any, choose: Choose) -> dict[str, list[float]]:
    """Every reward that ``last`` hands to each agent, in order."""
    given_out: dict[str, list[float]] = {agent: [] for agent in env.agents}
    for agent in run(env, choose):
        check_dicts(env)
        given_out[agent].append(env.last(observe=False)[1])
    assert env.agents == []
    return given_out


def _check_rewards(env: Any, given_out: dict[str, list[float]]) -> None:
    """Each agent got each of its results once: the sums agree, and no more rewards are not zero than deals (A14)."""
    deals = env.unwrapped.table.deals
    for seat, agent in enumerate(env.possible_agents):
        nets = [deal.payoffs[seat] for deal in deals if seat in deal.dealt_in]
        assert sum(given_out[agent]) == sum(nets)
        assert all(type(reward) is float or reward == 0 for reward in given_out[agent])
        received = [reward for reward in given_out[agent] if reward]
        assert len(received) <= len([net for net in nets if net])
    carried = deals[-1].carried_out - deals[0].carried_pot
    assert sum(map(sum, given_out.values())) == -carried


@pytest.mark.parametrize(("name", "players"), EVERY_COUNT)
@pytest.mark.parametrize("words", [("fold", "pass", "refuse"), ("bet", "raise", "call"), ()])
def test_rewards_are_delivered_once_to_all_seats_folded_ones_too(name, players, words):
    game = auction_env.get_game(name)
    rng = np.random.default_rng(players)
    for values in ({"num_players": players}, match_settings(game, 3, num_players=players)):
        env = env_module(game).env(**values)
        env.reset(seed=players)
        choose = leaning(rng, *words) if words else randomly(rng)
        _check_rewards(env, _collect(env, choose))


@given(st.data())
def test_rewards_under_any_settings(game, data):
    env = env_module(game).env(**data.draw(settings_values(game)))
    env.reset(seed=data.draw(st.integers(0, 10**6)))
    _check_rewards(env, _collect(env, randomly(np.random.default_rng(1))))


def test_rewards_are_zero_but_in_the_step_that_ends_a_deal(game):
    env = env_module(game).env(**match_settings(game, 3))
    env.reset(seed=4)
    table, rng = env.unwrapped.table, np.random.default_rng(4)
    for _ in run(env, randomly(rng)):
        finished = [deal for deal in table.deals if deal.payoffs is not None]
        acted = table.deals[-1].actions
        just_ended = finished and not acted and not table.match_over
        if just_ended or (table.match_over and len(env.agents) == len(env.possible_agents)):
            assert list(env.rewards.values()) == finished[-1].payoffs
        else:
            assert not any(env.rewards.values())


@pytest.mark.parametrize("out", [[0], [1], [2], [0, 2]])
def test_seats_that_fall_out_in_the_middle_of_a_match_leave_once_and_the_rest_play_on(out):
    """A2: a seat below the reserve after a deal terminates with its reward; the next deal is played without it."""
    game = auction_env.get_game("auction_poker")
    env = env_module(game).env(num_players=4, num_deals=3, starting_chips=60)
    reserve = env.unwrapped.table.settings.reserve
    stacks = [reserve if seat in out else 200 for seat in range(4)]
    for seed in range(12):
        rng = np.random.default_rng(seed)
        env.reset(seed=seed, options={"stacks": stacks})
        table, left, given_out = env.unwrapped.table, [], dict.fromkeys(env.agents, 0.0)
        for agent in run(env, leaning(rng, "fold")):
            check_dicts(env)
            check_moment(env)
            _, reward, terminated, _, _ = env.last(observe=False)
            given_out[agent] += reward
            if terminated:
                left.append(agent)
                assert table.match_over or int(agent[-1]) not in table.deals[-1].dealt_in
        assert sorted(left) == env.possible_agents
        first = table.deals[0]
        fallen = [seat for seat in range(4) if first.stacks[seat] + first.payoffs[seat] < reserve]
        if len(table.deals) > 1:
            assert left[: len(fallen)] == [f"player_{seat}" for seat in fallen]
        for seat, agent in enumerate(env.possible_agents):
            assert given_out[agent] == sum(deal.payoffs[seat] for deal in table.deals)


def test_a_seat_that_cannot_be_dealt_in_from_the_start_never_acts(game):
    if not sits_out(game):
        return  # then no deal starts (tests of the table)
    env = env_module(game).env(**match_settings(game, 2, num_players=3))
    usual = env.unwrapped.table.settings.starting_chips
    rng = np.random.default_rng(0)
    env.reset(seed=1, options={"stacks": [usual, 0, usual]})
    for agent in run(env, randomly(rng)):
        check_dicts(env)
        check_moment(env)
        assert agent != "player_1" or env.terminations[agent]


def test_a_single_deal_ends_for_all_at_once(game):
    env = env_module(game).env()
    for seed in range(10):
        rng = np.random.default_rng(seed)
        env.reset(seed=seed)
        for _ in run(env, leaning(rng, "fold")):
            assert len(set(env.terminations.values())) == 1
            assert not any(env.truncations.values())


def test_after_the_match_a_step_is_refused_until_reset(game):
    env = env_module(game).raw_env()
    env.reset(seed=1)
    for _ in run(env, randomly(np.random.default_rng(1))):
        pass
    with pytest.raises(IllegalActionError, match="call reset first"):
        env.step(None)
    env.reset(seed=1)
    assert env.agents == env.possible_agents


def test_a_dead_agent_may_only_be_stepped_with_none(game):
    env = env_module(game).raw_env()
    env.reset(seed=1)
    for agent in env.agent_iter():
        if env.terminations[agent]:
            with pytest.raises(ValueError, match="None"):
                env.step(0)
            env.step(None)
        else:
            env.step(int(np.flatnonzero(env.observe(agent)["action_mask"])[0]))
    assert env.agents == []
