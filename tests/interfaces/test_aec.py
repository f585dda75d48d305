"""The PettingZoo environment: masks, rewards, seats that leave, hidden choices, copies, illegal moves."""

from __future__ import annotations

import copy
import importlib
import itertools
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pettingzoo
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st
from pettingzoo.test import api_test, performance_benchmark, render_test, seed_test
from pettingzoo.test.api_test import test_observation as check_observation
from pettingzoo.utils.wrappers import OrderEnforcingWrapper
from strategies import chooser, dealt, match_settings, player_counts, settings_values, sits_out, snapshot, some_settings

import auction_env
from auction_env import IllegalActionError, SettingsError, SetupError, Table, available
from auction_env.interfaces.pettingzoo_aec import RENDER_MODES, AuctionEnv, make_env
from auction_env.rendering.text import text

# PettingZoo says these of every environment whose observations are dicts with a mask; nothing else may be said.
EXPECTED_WARNINGS = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}
EVERY_COUNT = [(name, players) for name in available() for players in player_counts(auction_env.get_game(name))]

Choose = Callable[[Any, np.ndarray], int]


def env_module(game: Any) -> Any:
    return getattr(auction_env, f"{game.NAME}_v{game.VERSION}")


def randomly(rng: np.random.Generator) -> Choose:
    return lambda env, mask: int(rng.choice(np.flatnonzero(mask)))


def leaning(rng: np.random.Generator, *words: str) -> Choose:
    def choose(env: Any, mask: np.ndarray) -> int:
        legal = np.flatnonzero(mask)
        liked = [action for action in legal if env.unwrapped.action_name(action).split()[0] in words]
        return int(rng.choice(liked or legal))

    return choose


def move(env: Any, choose: Choose) -> None:
    """One step of the agent selected."""
    observation, _, terminated, truncated, _ = env.last()
    env.step(None if terminated or truncated else choose(env, observation["action_mask"]))


def run(env: Any, choose: Choose) -> Iterator[str]:
    """Play on to the end of the match as a user would, giving each agent before it acts."""
    for agent in env.agent_iter():
        yield agent
        move(env, choose)


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


# --- masks and observations ------------------------------------------------------------------------------------------


def _check_moment(env: Any) -> None:
    """At any moment every agent's mask, info and observation are right, in their spaces, and fresh."""
    raw = env.unwrapped
    table = raw.table
    for agent in env.agents:
        seat = int(agent.split("_")[1])
        observation, info = env.observe(agent), env.infos[agent]
        mask = observation["action_mask"]
        acts = seat == table.to_act and not env.terminations[agent]
        assert set(observation) == {"observation", "action_mask"}
        assert env.observation_space(agent).contains(observation)
        assert observation["observation"].dtype == np.float32 and mask.dtype == np.int8
        assert np.flatnonzero(mask).tolist() == (sorted(table.legal()) if acts else [])
        assert mask.any() == acts
        assert np.array_equal(info["action_mask"], mask) and info["action_mask"].dtype == np.int8
        assert ("phase" in info) == acts
        again = env.observe(agent)
        for part, values in observation.items():
            assert np.array_equal(values, again[part])
            assert not np.shares_memory(values, again[part])
            assert values.base is None and not np.shares_memory(values, info["action_mask"])


@given(st.data())
def test_masks_infos_and_observations_are_right_for_every_seat_at_every_moment(game, data):
    env = env_module(game).env(**data.draw(settings_values(game)))
    env.reset(seed=data.draw(st.integers(0, 10**6)))
    rng = np.random.default_rng(0)
    _check_moment(env)
    for _ in run(env, randomly(rng)):
        _check_moment(env)


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
    info["action_mask"][:] = 1
    assert env.observe(agent)["observation"].any()
    before = snapshot(env.table)
    for action in illegal:
        with pytest.raises(IllegalActionError):
            env.step(int(action))
    assert snapshot(env.table) == before


# --- rewards and seats that leave ------------------------------------------------------------------------------------


def _check_dicts(env: Any) -> None:
    agents = set(env.agents)
    for name in ("rewards", "terminations", "truncations", "infos"):
        assert set(getattr(env, name)) == agents
    assert agents <= set(env.possible_agents)
    assert env.num_agents == len(env.agents) == len(agents)
    assert not env.agents or env.agent_selection in agents


def _collect(env: Any, choose: Choose) -> dict[str, list[float]]:
    """Every reward that ``last`` hands to each agent, in order."""
    given_out: dict[str, list[float]] = {agent: [] for agent in env.agents}
    for agent in run(env, choose):
        _check_dicts(env)
        given_out[agent].append(env.last(observe=False)[1])
    assert env.agents == []
    return given_out


def _check_rewards(env: Any, given_out: dict[str, list[float]]) -> None:
    """Each agent got each of its results once: the sums agree, and no more rewards are not zero than deals (A14)."""
    deals = env.unwrapped.table.deals
    for seat, agent in enumerate(env.possible_agents):
        nets = [deal.net[seat] for deal in deals if seat in deal.dealt_in]
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
        finished = [deal for deal in table.deals if deal.net is not None]
        acted = table.deals[-1].actions
        just_ended = finished and not acted and not table.match_over
        if just_ended or (table.match_over and len(env.agents) == len(env.possible_agents)):
            assert list(env.rewards.values()) == finished[-1].net
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
            _check_dicts(env)
            _check_moment(env)
            _, reward, terminated, _, _ = env.last(observe=False)
            given_out[agent] += reward
            if terminated:
                left.append(agent)
                assert table.match_over or int(agent[-1]) not in table.deals[-1].dealt_in
        assert sorted(left) == env.possible_agents
        first = table.deals[0]
        fallen = [seat for seat in range(4) if first.stacks[seat] + first.net[seat] < reserve]
        if len(table.deals) > 1:
            assert left[: len(fallen)] == [f"player_{seat}" for seat in fallen]
        for seat, agent in enumerate(env.possible_agents):
            assert given_out[agent] == sum(deal.net[seat] for deal in table.deals)


def test_a_seat_that_cannot_be_dealt_in_from_the_start_never_acts(game):
    if not sits_out(game):
        return  # then no deal starts (tests of the table)
    env = env_module(game).env(**match_settings(game, 2, num_players=3))
    usual = env.unwrapped.table.settings.starting_chips
    rng = np.random.default_rng(0)
    env.reset(seed=1, options={"stacks": [usual, 0, usual]})
    for agent in run(env, randomly(rng)):
        _check_dicts(env)
        _check_moment(env)
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
            env.step(int(np.flatnonzero(env.infos[agent]["action_mask"])[0]))
    assert env.agents == []


# --- reset -----------------------------------------------------------------------------------------------------------


def test_reset_takes_seed_and_options_as_the_table_does(game):
    env = env_module(game).env()
    env.reset(seed=3, options={"dealer": 1, "deck": "As Kd", "unknown": 1})
    assert snapshot(env.unwrapped.table) == snapshot(dealt(game, {}, 3, dealer=1, deck="As Kd"))
    env.reset()
    table = dealt(game, {}, 3, dealer=1, deck="As Kd")
    table.reset()
    assert snapshot(env.unwrapped.table) == snapshot(table)


def test_a_refused_reset_leaves_the_environment_as_it_was(game):
    env = env_module(game).env()
    env.reset(seed=3)
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    before, agent = snapshot(env.unwrapped.table), env.agent_selection
    with pytest.raises(SetupError, match="dealer is 99"):
        env.reset(seed=4, options={"dealer": 99})
    with pytest.raises(ValueError, match="seed is -4"):
        env.reset(seed=-4)
    assert snapshot(env.unwrapped.table) == before and env.agent_selection == agent
    _check_moment(env)


def test_the_environment_plays_as_the_table_does(game):
    """Same seed, settings and actions: the same deals through both (RULES, "Both")."""
    for seed in range(6):
        values = some_settings(game, chooser(np.random.default_rng(seed)), {"num_deals": 2})
        env, table, rng = env_module(game).env(**values), Table(game, values), np.random.default_rng(seed)
        env.reset(seed=seed)
        table.reset(seed)
        for agent in env.agent_iter():
            if env.terminations[agent]:
                env.step(None)
                continue
            assert agent == f"player_{table.to_act}"
            action = int(rng.choice(np.flatnonzero(env.observe(agent)["action_mask"])))
            env.step(action)
            if table.act(action) is not None and not table.match_over:
                table.next_deal()
        assert snapshot(table) == snapshot(env.unwrapped.table)


def test_no_step_copies_the_game_as_a_whole(game, monkeypatch):
    """Deepcopy in a step is what makes card environments slow."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("deepcopy in a step")

    env = env_module(game).env(**match_settings(game, 2))
    monkeypatch.setattr(copy, "deepcopy", refuse)
    env.reset(seed=1)
    for _ in run(env, randomly(np.random.default_rng(1))):
        pass
    env.reset()


def test_interleaved_environments_do_not_disturb_each_other(game):
    def results(env: Any, seed: int) -> Iterator[Any]:
        env.reset(seed=seed)
        rng = np.random.default_rng(seed)
        for agent in run(env, randomly(rng)):
            yield agent, env.observe(agent)["observation"].tolist(), dict(env.rewards)

    make = env_module(game).env
    alone = [list(results(make(), seed)) for seed in (1, 2)]
    together: list[list[Any]] = [[], []]
    for pair in itertools.zip_longest(results(make(), 1), results(make(), 2)):
        for found, moment in zip(together, pair, strict=True):
            if moment is not None:
                found.append(moment)
    assert together == alone


# --- hidden choices --------------------------------------------------------------------------------------------------


def _seen_of(env: Any, agent: str) -> dict[str, Any]:
    raw = env.unwrapped
    seat = int(agent.split("_")[1])
    view = raw.table.view(seat)
    return {
        "observation": env.observe(agent)["observation"].tolist(),
        "mask": env.observe(agent)["action_mask"].tolist(),
        "info": {name: repr(value) for name, value in env.infos[agent].items()},
        "text": text(view, seat),
        "pot": view.pot,
        "stacks": [other.stack for other in view.seats],
        "record": [entry for entry in raw.record(agent)["deals"][-1]["actions"] if entry[2] != "hidden"],
    }


def _seen_by_all(env: Any) -> dict[str, Any]:
    return {
        "rewards": dict(env.rewards),
        "cumulative": dict(env._cumulative_rewards),
        "terminations": dict(env.terminations),
        "truncations": dict(env.truncations),
        "agents": list(env.agents),
        "repr": repr(env.unwrapped),
        "str": str(env),
        "table": repr(env.unwrapped.table),
    }


def test_nothing_anyone_sees_changes_until_the_last_hidden_choice_is_in(game):
    """A3, A8: the seat that chose sees its own choice, the next one that it is asked; nobody sees anything else."""
    checked = set()
    for seed in range(12 if game.HIDDEN_PHASES else 0):
        values = some_settings(game, chooser(np.random.default_rng(seed)), {"num_players": 2 + seed % 4})
        env, rng = env_module(game).env(**values), np.random.default_rng(seed)
        env.reset(seed=seed)
        table = env.unwrapped.table
        while not any(env.terminations.values()):
            mover, phase = env.agent_selection, table.phase
            hidden = table.state.phase in game.HIDDEN_PHASES
            before = {agent: _seen_of(env, agent) for agent in env.agents if hidden}
            public, row = _seen_by_all(env), table.states.copy()
            public["rewards"] = dict.fromkeys(env.agents, 0.0)  # those of an ended deal are gone after any step,
            public["cumulative"][mover] = 0.0  # and the mover has had its own
            action = int(rng.choice(table.legal()))
            env.step(action)
            if not hidden or game.pending(table.states[0]) == 0:
                continue
            checked.add(phase)
            assert _seen_by_all(env) == public
            assert table.phase == phase
            assert game.narrate(row[0], action, table.states[0]) == []
            for agent in env.agents:
                now = _seen_of(env, agent)
                if agent == mover:
                    del now["observation"], now["text"], now["record"]
                if agent in (mover, env.agent_selection):
                    del now["mask"], now["info"]
                assert now == {name: before[agent][name] for name in now}
    assert checked == {game.PHASES[phase] for phase in game.HIDDEN_PHASES}


def test_a3_the_pot_grows_only_when_the_last_bid_is_in():
    """Three antes, then bids 3, 3, 1: the pot reads 3, 3, 3, then 10, for every seat and in the text."""
    env = auction_env.auction_poker_v0.env(render_mode="ansi")
    env.reset(seed=1, options={"dealer": 0})
    table, pots = env.unwrapped.table, []
    for bid in ("bid 3", "bid 3", "bid 1", None):
        pots.append(table.view(0).pot)
        assert len({table.view(seat).pot for seat in (0, 1, 2, None)}) == 1
        assert f"pot {pots[-1]}" in env.render()
        if bid:
            env.step(env.unwrapped.action_table().index(bid))
    assert pots == [3, 3, 3, 10]


def test_a_hidden_choice_looks_the_same_whether_asked_first_or_last():
    """Which bids are in does not show in a seat's observation."""
    for seed in range(5):
        env = auction_env.auction_poker_v0.env(num_players=4)
        env.reset(seed=seed)
        first = {agent: env.observe(agent)["observation"].tolist() for agent in env.agents}
        for _ in range(3):
            agent = env.agent_selection
            assert env.observe(agent)["observation"].tolist() == first[agent]
            env.step(60)
        assert env.observe(env.agent_selection)["observation"].tolist() == first[env.agent_selection]


# --- copies ----------------------------------------------------------------------------------------------------------

COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}


def _course(env: Any, seed: int) -> list[Any]:
    rng, seen = np.random.default_rng(seed), []
    for agent in run(env, randomly(rng)):
        observation, *rest = env.last()
        seen.append((agent, observation["observation"].tolist(), rest[:3], dict(env.rewards)))
    return seen


@pytest.mark.parametrize("make_copy", COPIES.values(), ids=COPIES.keys())
@pytest.mark.parametrize("form", ["env", "raw_env"])
def test_a_copy_in_mid_match_plays_on_alike_and_apart(game, form, make_copy):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        env = getattr(env_module(game), form)(render_mode="ansi", **match_settings(game, 2))
        env.reset(seed=seed)
        moves = int(rng.integers(0, 30))
        for _ in range(moves):
            if env.agents:
                move(env, randomly(rng))
        before = snapshot(env.unwrapped.table), env.render(), env.agent_selection
        twin = make_copy(env)
        assert type(twin) is type(env) and twin.unwrapped is not env.unwrapped
        assert (snapshot(twin.unwrapped.table), twin.render(), twin.agent_selection) == before
        theirs = _course(twin, seed)
        assert (snapshot(env.unwrapped.table), env.render(), env.agent_selection) == before
        assert _course(env, seed) == theirs
        twin.reset(seed=seed)
        assert env.agents == [] and twin.agents == twin.possible_agents


@pytest.mark.parametrize("make_copy", COPIES.values(), ids=COPIES.keys())
def test_a_copy_before_reset_or_among_dead_agents_works(game, make_copy):
    env = make_copy(env_module(game).env())
    env.reset(seed=1)
    while not any(env.terminations.values()):
        env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    env.step(None)
    twin = make_copy(env)
    assert _course(twin, 0) == _course(env, 0)
    assert twin.agents == env.agents == []


def test_deepcopy_keeps_shared_parts_shared(game):
    env = env_module(game).raw_env()
    env.reset(seed=1)
    pair = copy.deepcopy([env, env])
    assert pair[0] is pair[1] and pair[0] is not env


def test_spaces_of_a_copy_draw_on_their_own(game):
    env = env_module(game).env()
    env.reset(seed=1)
    env.action_space("player_0").seed(5)
    twin = copy.deepcopy(env)
    drawn = [env.action_space("player_0").sample() for _ in range(20)]
    assert [twin.action_space("player_0").sample() for _ in range(20)] == drawn


# --- illegal moves ---------------------------------------------------------------------------------------------------

NO_ACTIONS = [None, -1, 10**6, 1.5, True, "nothing", np.array([0]), np.float32(0), object()]


@pytest.mark.parametrize("action", NO_ACTIONS, ids=[repr(a)[:20] for a in NO_ACTIONS])
def test_the_raw_environment_raises_and_changes_nothing(game, action):
    env = env_module(game).raw_env()
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(10):
        move(env, randomly(rng))
        before, public = snapshot(env.table), _seen_by_all(env)
        selected, infos = env.agent_selection, repr(env.infos)
        if not env.terminations[selected]:
            with pytest.raises(IllegalActionError):
                env.step(action)
        assert (snapshot(env.table), _seen_by_all(env)) == (before, public)
        assert (env.agent_selection, repr(env.infos)) == (selected, infos)


@pytest.mark.parametrize("action", [-1, 10**6, 1.5, "nothing", np.array([0, 1])])
def test_the_wrapped_environment_asserts_that_an_action_is_in_its_space(game, action):
    env = env_module(game).env()
    env.reset(seed=1)
    before = snapshot(env.unwrapped.table)
    with pytest.raises(AssertionError, match="action is not in action space"):
        env.step(action)
    assert snapshot(env.unwrapped.table) == before


@pytest.mark.parametrize("ask_last", [True, False])
def test_an_illegal_move_in_the_wrapped_environment_ends_the_match_at_the_movers_cost(game, ask_last, capfd):
    env = env_module(game).env(num_deals=2)
    settings = env.unwrapped.table.settings
    penalty = getattr(settings, "reserve", settings.starting_chips)
    env.reset(seed=1)
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    mover, mask = env.agent_selection, env.infos[env.agent_selection]["action_mask"]
    if ask_last:
        env.last()
    env.step(int(np.flatnonzero(mask == 0)[0]))
    assert all(env.terminations.values()) and env.agents == env.possible_agents
    paid = {}
    for agent in env.agent_iter():
        _check_dicts(env)
        _check_moment(env)  # no mask offers anything any more
        observation, reward, *_ = env.last()
        assert not observation["action_mask"].any()
        paid[agent] = reward
        env.step(None)
    assert paid == {agent: -float(penalty) if agent == mover else 0.0 for agent in env.possible_agents}
    env.reset(seed=1)
    assert not any(env.terminations.values())
    _check_moment(env)


def test_numpy_integers_are_actions_raw_and_wrapped(game):
    for form in ("env", "raw_env"):
        ends = []
        for kind in (int, np.int32, np.int64, np.array):
            env = getattr(env_module(game), form)()
            env.reset(seed=2)
            rng = np.random.default_rng(2)
            for _ in run(env, lambda env, mask, kind=kind, rng=rng: kind(rng.choice(np.flatnonzero(mask)))):
                pass
            ends.append(snapshot(env.unwrapped.table))
        assert all(end == ends[0] for end in ends)


# --- rendering through the environment -------------------------------------------------------------------------------


def test_render_shows_what_the_acting_seat_may_see_unless_asked_to_reveal(game):
    for reveal in (False, True):
        env = env_module(game).env(render_mode="ansi", reveal=reveal)
        env.reset(seed=1)
        rng = np.random.default_rng(1)
        for _ in run(env, randomly(rng)):
            table = env.unwrapped.table
            seat = None if reveal else table.to_act
            if table.to_act is not None:
                assert env.render() == text(table.view(seat), seat)


def test_human_mode_prints_each_move_and_returns_nothing(game, capsys):
    env = env_module(game).env(render_mode="human")
    env.reset(seed=1)
    assert env.render() is None
    shown = capsys.readouterr().out
    assert "player_0" in shown
    env.step(int(np.flatnonzero(env.last()[0]["action_mask"])[0]))
    assert "player_0" in capsys.readouterr().out
    assert env_module(game).raw_env().render() is None


def test_make_env_takes_a_module_too(game):
    env = make_env(game, num_players=2)
    env.reset(seed=1)
    assert env.num_agents == 2


def test_a_seat_that_is_not_dealt_in_at_the_start_is_no_agent():
    """It sits out for good (A2): nothing will ever be asked of it, so there is nobody to wait for."""
    env = auction_env.auction_poker_v0.env(num_deals=3)
    env.reset(seed=1, options={"stacks": [60, 60, 5]})
    assert env.agents == ["player_0", "player_1"] and set(env.infos) == set(env.rewards) == set(env.agents)
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else env.action_space(agent).sample(observation["action_mask"]))
    env.reset(seed=1)
    assert len(env.agents) == 3
