"""PettingZoo's parallel form: hidden choices truly at once, a no-op for those who wait, the record of the AEC form."""

from __future__ import annotations

import copy
import json
import warnings
from typing import Any

import numpy as np
import pettingzoo
import pytest
from golden_tool import DIGEST_SEEDS, DIGESTS, digest_settings, drawn
from gymnasium import spaces
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, state_test
from pettingzoo.utils.conversions import parallel_to_aec
from strategies import dealt, differing_world, match_settings, random_policy, sits_out
from test_aec import EVERY_COUNT, env_module

import auction_env
from auction_env import SetupError, Table, get_game
from auction_env.interfaces.pettingzoo_parallel import AuctionParallelEnv


def sample(env: Any, observations: dict[str, Any], rng: np.random.Generator) -> dict[str, int]:
    return {agent: int(rng.choice(np.flatnonzero(observations[agent]["action_mask"]))) for agent in env.agents}


@pytest.mark.parametrize(("name", "players"), EVERY_COUNT)
def test_parallel_api_test_and_seed_test_without_a_warning(name, players):
    make = env_module(get_game(name)).parallel_env
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(make(num_players=players), num_cycles=60)
        parallel_seed_test(lambda: make(num_players=players), num_cycles=60)


def test_state_test_of_both_forms(game):
    module = env_module(game)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        state_test(module.env(), module.parallel_env())


def test_state_is_every_seats_observation(game):
    module, rng = env_module(game), np.random.default_rng(0)
    env, table = module.parallel_env(), Table(game)
    observations, _ = env.reset(seed=3)
    table.reset(3)
    while env.agents:
        assert env.state_space.contains(env.state())
        expected = [env.table.observe(seat) for seat in range(len(env.possible_agents))]
        assert np.array_equal(env.state(), np.concatenate(expected))
        assert np.array_equal(env.table.observe_all(), expected)
        observations = env.step(sample(env, observations, rng))[0]
    aec = module.env()
    aec.reset(seed=3)
    assert np.array_equal(aec.state(), table.observe_all().ravel())


def test_registered_and_truthful_metadata(game):
    name = f"{game.NAME}_v{game.VERSION}"
    env = pettingzoo.make("parallel", f"auction_env/{game.NAME}-v{game.VERSION}", num_players=3)
    assert isinstance(env.unwrapped, AuctionParallelEnv) and env.unwrapped.table.settings.num_players == 3
    module = env_module(game)
    assert module.parallel_env().metadata["is_parallelizable"] is True and str(module.parallel_env()) == name
    with pytest.raises(AssertionError, match="parallel"):
        pettingzoo.utils.conversions.aec_to_parallel(module.env())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(parallel_to_aec(module.parallel_env()), num_cycles=40)


@pytest.mark.parametrize("seats", [2, 4, 7])
def test_the_digests_of_the_stored_seeds(game, seats):
    """The same deal and the same choices: the record of engine and AEC environment, to the digest."""
    stored = json.loads(DIGESTS.read_text(encoding="utf-8"))[game.NAME][str(seats)]
    for seed, digest in list(zip(DIGEST_SEEDS, stored, strict=True))[:6]:
        env, number = env_module(game).parallel_env(**digest_settings(game.NAME, seats)), 0
        env.reset(seed=seed)
        while env.agents:
            actions = dict.fromkeys(env.agents, env.no_op)
            for seat, mask in env._choosers.items():
                legal = np.flatnonzero(mask).tolist()
                actions[f"player_{seat}"] = drawn({"seed": seed}, number, legal, env.table.action_names)
                number += 1
            env.step(actions)
        assert env.record()["digest"] == digest


@pytest.mark.parametrize(("name", "players"), EVERY_COUNT)
def test_who_chooses_and_what_everybody_gets(name, players):
    """Masks, infos, rewards and ends in every step of a match, against a table played seat by seat."""
    game, rng = get_game(name), np.random.default_rng(players)
    settings = match_settings(game, 2, num_players=players)
    env, table = env_module(game).parallel_env(**settings), Table(game, settings)
    observations, infos = env.reset(seed=players)
    table.reset(players)
    together = 0
    while env.agents:
        hidden = table.state.phase in game.HIDDEN_PHASES
        choosing = [agent for agent in env.agents if not observations[agent]["action_mask"][-1]]
        together += len(choosing) > 1
        assert len(choosing) == 1 or hidden
        for agent in env.agents:
            seat, mask = int(agent[7:]), observations[agent]["action_mask"]
            assert env.observation_space(agent).contains(observations[agent])
            assert np.array_equal(observations[agent]["observation"], table.observe(seat))
            assert "action_mask" not in infos[agent], "in one place only"
            if agent not in choosing:
                assert np.flatnonzero(mask).tolist() == [env.no_op]
        actions = sample(env, observations, rng)
        before = table.clone()
        result = None
        for _ in choosing:
            agent = f"player_{table.to_act}"
            assert agent in choosing and np.array_equal(
                observations[agent]["action_mask"][:-1], table.mask(table.to_act)
            )
            result = table.act(actions[agent])
        if hidden and result is None:
            assert table.phase != before.phase, "one step takes all choices that are secret from each other"
        agents = env.agents
        observations, rewards, ends, truncations, infos = env.step(actions)
        assert rewards == {agent: float(result[int(agent[7:])]) if result else 0.0 for agent in agents}
        if result is not None and not table.match_over:
            table.next_deal()
        assert ends == dict.fromkeys(agents, table.match_over) and not any(truncations.values())
        assert set(observations) == set(infos) == set(agents)
    assert bool(together) == bool(game.HIDDEN_PHASES)
    assert not any(observation["action_mask"].any() for observation in observations.values())


def test_seats_that_can_no_longer_be_dealt_in_leave(game):
    if not sits_out(game):
        return
    chips = Table(game, {"num_players": 4}).settings.starting_chips
    env, rng = (
        env_module(game).parallel_env(num_players=4, num_deals=8, starting_chips=chips + 14),
        np.random.default_rng(0),
    )
    left = 0
    for seed in range(20):
        observations, _ = env.reset(seed=seed)
        while env.agents:
            agents = env.agents
            observations, _, ends, _, _ = env.step(sample(env, observations, rng))
            assert env.agents == [agent for agent in agents if not ends[agent]]
            if env.agents:
                dealt_in = env.table.deals[-1].dealt_in
                assert env.agents == [f"player_{seat}" for seat in dealt_in]
                left += len(env.agents) < len(agents)
    assert left > 3
    env.reset(seed=0, options={"stacks": [chips, 0, chips, chips]})
    assert env.agents == ["player_0", "player_2", "player_3"]


@pytest.mark.parametrize("wrong", ["no-op of a chooser", "choice of one who waits", -1, 10**6, None, 0.5, True])
def test_an_illegal_action_ends_the_match_for_all(game, wrong):
    env = env_module(game).parallel_env(num_players=3)
    observations, _ = env.reset(seed=1)
    rng = np.random.default_rng(0)
    while len(env._choosers) > 1:
        observations = env.step(sample(env, observations, rng))[0]
    (chooser,) = (f"player_{seat}" for seat in env._choosers)
    actions = sample(env, observations, rng)
    offender, action = chooser, wrong
    if wrong == "no-op of a chooser":
        action = env.no_op
    elif wrong == "choice of one who waits":
        offender = next(agent for agent in env.agents if agent != chooser)
        action = actions[chooser]
    before = env.table.states.copy()
    last, rewards, ends, truncations, infos = env.step({**actions, offender: action})
    settings = env.table.settings
    penalty = float(getattr(settings, "reserve", settings.starting_chips))
    assert rewards == {agent: -penalty if agent == offender else 0.0 for agent in actions}
    assert all(ends.values()) and not any(truncations.values()) and env.agents == []
    assert {agent: infos[agent]["illegal_action"] for agent in actions} == {a: int(a == offender) for a in actions}
    assert set(env.why_illegal) == {offender} and "legal now" in env.why_illegal[offender]
    assert (env.table.states == before).all()
    assert not any(observation["action_mask"].any() for observation in last.values())


def test_actions_of_other_agents_than_those_alive_are_refused(game):
    env = env_module(game).parallel_env(num_players=2)
    with pytest.raises(ValueError, match="call reset first"):
        env.step({})
    observations, _ = env.reset(seed=0)
    before = env.table.states.copy()
    actions = sample(env, observations, np.random.default_rng(0))
    for bad in ({"player_0": actions["player_0"]}, {**actions, "player_7": 0}, {}):
        with pytest.raises(ValueError, match="give one for each of player_0, player_1, no other"):
            env.step(bad)
    with pytest.raises(ValueError, match=r"actions of 0, player_0, player_1: give one"):
        env.step({0: 1})
    for bad in (None, 5, [0, 0]):
        with pytest.raises(TypeError, match="give a mapping, with an action for each of player_0, player_1"):
            env.step(bad)
    assert (env.table.states == before).all()
    env.step(actions)
    with pytest.raises(SetupError):
        env.reset(options={"dealer": 7})


def test_nothing_that_an_agent_gets_depends_on_what_it_may_not_know(game):
    """Tables that a seat cannot tell apart give it the same observation, mask, info and record; and the same picture
    to somebody without a seat, whatever anybody holds."""
    rng = np.random.default_rng(3)
    env = env_module(game).parallel_env(render_mode="ansi")
    for seed in range(6):
        table, policy = dealt(game, seed=seed), random_policy(rng)
        while table.to_act is not None:
            env.table, env.agents = table, list(env.possible_agents)
            shown = []
            for world in (table, *(differing_world(table, seat, rng) for seat in range(len(env.possible_agents)))):
                env.table = world
                env._find_choosers()
                shown.append((env._observations(env.agents), env._infos(env.agents), env.render()))
            for seat, agent in enumerate(env.possible_agents):
                for part in (0, 1):
                    mine, twin = shown[0][part][agent], shown[1 + seat][part][agent]
                    assert all(np.array_equal(mine[name], twin[name]) for name in mine)
            assert len({picture for _, _, picture in shown}) == 1
            table.act(policy(table))


def test_actions_of_agents_that_are_out_do_nothing():
    """Tools that keep an action for every agent send them on; those of nobody are still refused."""
    twins = [auction_env.auction_poker_v0.parallel_env(num_players=4, num_deals=8, starting_chips=34) for _ in "ab"]
    rng, ignored = np.random.default_rng(0), 0
    for seed in range(6):
        (observations, _), _ = (env.reset(seed=seed) for env in twins)
        while twins[0].agents:
            actions = sample(twins[0], observations, rng)
            out = [agent for agent in twins[0].possible_agents if agent not in twins[0].agents]
            ignored += len(out)
            observations, *given = twins[0].step(actions)
            _, *other = twins[1].step({**actions, **dict.fromkeys(out, 10**6)})
            assert given[:3] == other[:3] and twins[0].record()["digest"] == twins[1].record()["digest"]
    assert ignored > 10
    twins[0].reset(seed=0)
    with pytest.raises(ValueError, match="actions of player_9: give one"):
        twins[0].step({**dict.fromkeys(twins[0].agents, 60), "player_9": 0})


def test_infos_hold_numbers_and_the_same_keys_at_all_times(game):
    env, rng = env_module(game).parallel_env(), np.random.default_rng(0)
    observations, infos = env.reset(seed=0)
    keys = [*env.table.info(0), "illegal_action"]
    while env.agents:
        for agent, info in infos.items():
            assert list(info) == keys and all(type(value) is int for value in info.values())
            chooses = int(agent[7:]) in env._choosers
            assert info["phase"] == (env.table.states["phase"][0] if chooses else -1)
        observations, *_, infos = env.step(sample(env, observations, rng))
    assert all(list(info) == keys for info in infos.values())


def test_render_of_nobodys_seat_and_of_everything(game):
    env = env_module(game).parallel_env(render_mode="ansi")
    env.reset(seed=0)
    assert "(you)" not in env.render() and env.render().count("??") > 5
    assert env_module(game).parallel_env().render() is None
    revealed = env_module(game).parallel_env(render_mode="ansi", reveal=True)
    revealed.reset(seed=0)
    assert "??" not in revealed.render()


def test_copies_go_their_own_way(game):
    env = env_module(game).parallel_env()
    observations, _ = env.reset(seed=5)
    twin = copy.deepcopy(env)
    record = json.dumps(twin.record())
    rng = np.random.default_rng(0)
    while env.agents:
        observations = env.step(sample(env, observations, rng))[0]
    assert json.dumps(twin.record()) == record and twin.agents
    assert repr(env) == f"{env}({env.table.settings})"


def test_names_spaces_and_views(game):
    env = env_module(game).parallel_env()
    env.reset(seed=0)
    actions = len(env.table.action_names)
    assert env.action_space("player_0") == spaces.Discrete(actions + 1)
    assert env.action_name(actions) == "no_op" and env.action_name(0) == env.table.action_names[0]
    with pytest.raises(IndexError):
        env.action_name(actions + 1)
    assert env.observe_named("player_1").keys() == env.table.observe_named(1).keys()
    assert env.record("player_1")["seat"] == 1
    assert auction_env.auction_poker_v0.parallel_env is not None


def test_no_actions_once_all_is_over_give_nothing_as_pettingzoos_own_environments_do():
    env = AuctionParallelEnv("auction_poker", num_players=2)
    with pytest.raises(ValueError, match="call reset first"):
        env.step({})  # nothing has begun
    observations, _ = env.reset(seed=1)
    rng = np.random.default_rng(0)
    while env.agents:
        observations, *_ = env.step(sample(env, observations, rng))
    assert env.step({}) == ({}, {}, {}, {}, {})
    with pytest.raises(ValueError, match="call reset first"):
        env.step({"player_0": 0})
