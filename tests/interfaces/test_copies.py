"""Copies and pickles of what holds many tables, and forms whose observation is the array alone."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from aec_play import env_module
from gymnasium.utils.env_checker import data_equivalence
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from strategies import match_settings
from test_autoreset import choices
from test_parallel import sample

from auction_env import SettingsError, agents, gymnasium_id
from auction_env.engine.batch import Batch
from auction_env.games.game import UnknownSettingError
from auction_env.interfaces.gymnasium_vector import AuctionVectorEnv

COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}
make_copies = pytest.mark.parametrize("make_copy", COPIES.values(), ids=COPIES.keys())


@make_copies
def test_a_copied_batch_goes_its_own_way(game, make_copy):
    batch, rng = Batch(game, num_tables=8), np.random.default_rng(0)
    batch.reset(3)
    for _ in range(20):
        batch.step(choices(batch.out.masks, rng))
    twin = make_copy(batch)
    before = twin.states.copy(), twin.out.observations.copy()
    chosen = np.random.default_rng(1), np.random.default_rng(1)
    for _ in range(40):
        batch.step(choices(batch.out.masks, chosen[0]))
    assert (twin.states == before[0]).all() and np.array_equal(twin.out.observations, before[1])
    for _ in range(40):
        twin.step(choices(twin.out.masks, chosen[1]))
    assert (twin.states == batch.states).all() and np.array_equal(twin.out.observations, batch.out.observations)
    assert twin.game is batch.game and not np.shares_memory(twin.out.masks, batch.out.masks)


def run_on(envs: AuctionVectorEnv) -> list[Any]:
    rng, moments = np.random.default_rng(2), []
    for _ in range(30):
        moments.append(envs.step(choices(envs.action_masks().astype(int), rng)))
    return moments


@make_copies
@pytest.mark.parametrize("opponents", ["random", "rules", "mix:0.5:random:rules"])
def test_a_copied_vector_environment_goes_its_own_way(game, make_copy, opponents):
    envs = AuctionVectorEnv(game, 4, opponents=opponents, autoreset_mode="NextStep")
    envs.reset(seed=1)
    run_on(envs)
    twin = make_copy(envs)
    expected = run_on(envs)
    assert data_equivalence(run_on(twin), expected, exact=True)
    assert twin.batch.game is game


@make_copies
def test_copies_before_the_first_reset_too(game, make_copy):
    twin = make_copy(gymnasium.make_vec(gymnasium_id(game.NAME), num_envs=2))
    assert data_equivalence(twin.reset(seed=1), AuctionVectorEnv(game, 2).reset(seed=1), exact=True)


@make_copies
def test_every_agent_in_the_box_can_be_copied_with_its_environment(game, make_copy):
    for name in agents.available():
        if name in ("process", "ppo", "solved", "mix"):
            continue  # a program, files that are not there; and one that takes others
        envs = AuctionVectorEnv(game, 1, opponents=name)
        assert type(make_copy(envs).opponents[0]) is type(envs.opponents[0])


@make_copies
def test_a_copied_self_play_environment_goes_its_own_way(game, make_copy):
    pytest.importorskip("stable_baselines3")
    from auction_env.interfaces.sb3_vec_env import SelfPlayVecEnv

    def course(env: SelfPlayVecEnv) -> list[Any]:
        rng = np.random.default_rng(4)
        return [env.step(choices(env.action_masks().astype(int), rng)) for _ in range(30)]

    made = Batch(game, num_tables=1)
    policies = [agents.make(name, game, made.settings) for name in ("random", "rules")]
    env = SelfPlayVecEnv(game, num_tables=6, present=policies[0], others=policies[1:], mixed=0.5)
    env.reset()
    course(env)
    twin = make_copy(env)
    assert twin.game is game
    expected = course(env)
    assert data_equivalence(course(twin), expected, exact=True)


def test_pictures_of_a_self_play_environment(game):
    pytest.importorskip("stable_baselines3")
    from auction_env.interfaces.sb3_vec_env import SelfPlayVecEnv
    from auction_env.rendering.text import draw

    made = Batch(game, num_tables=1)
    player = agents.make("random", game, made.settings)
    env = SelfPlayVecEnv(game, num_tables=3, present=player, render_mode="rgb_array")
    env.reset()
    images = env.get_images()
    for row, image in enumerate(images):
        assert np.array_equal(image, draw(game.view(env.batch.states[row], int(env.learner[row]))))
    height, width, colours = images[0].shape
    assert env.render().shape == (2 * height, 2 * width, colours), "tiled, four places for three tables"
    with pytest.raises(ValueError, match="render_mode is 'ansi': it must be None or rgb_array"):
        SelfPlayVecEnv(game, num_tables=1, render_mode="ansi")


# --- flat ------------------------------------------------------------------------------------------------------------


def test_pettingzoos_tests_of_flat_environments_without_a_warning(game):
    module = env_module(game)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        api_test(module.env(flat=True, num_deals=2), num_cycles=60)
        seed_test(lambda: module.env(flat=True), num_cycles=30)
        parallel_api_test(module.parallel_env(flat=True), num_cycles=60)
        parallel_seed_test(lambda: module.parallel_env(flat=True), num_cycles=30)


def test_flat_observations_are_the_others_without_the_mask(game):
    module, settings, rng = env_module(game), match_settings(game, 2), np.random.default_rng(0)
    flat, full = module.env(flat=True, **settings), module.env(**settings)
    flat.reset(seed=1)
    full.reset(seed=1)
    while full.agents:
        mine, theirs = flat.last(), full.last()
        assert np.array_equal(mine[0], theirs[0]["observation"]) and mine[1:4] == theirs[1:4]
        assert mine[0] in flat.observation_space(flat.agent_selection)
        assert np.array_equal(mine[4]["action_mask"], theirs[0]["action_mask"])
        action = None if mine[2] else int(rng.choice(np.flatnonzero(mine[4]["action_mask"])))
        flat.step(action)
        full.step(action)
    assert not flat.agents


def test_flat_parallel_observations_are_the_others_without_the_mask(game):
    module, rng = env_module(game), np.random.default_rng(0)
    flat, full = module.parallel_env(flat=True), module.parallel_env()
    mine, theirs = flat.reset(seed=1), full.reset(seed=1)
    while full.agents:
        for agent in full.agents:
            assert np.array_equal(mine[0][agent], theirs[0][agent]["observation"])
            assert mine[0][agent] in flat.observation_space(agent)
            assert np.array_equal(mine[-1][agent]["action_mask"], theirs[0][agent]["action_mask"])
        actions = sample(full, theirs[0], rng)
        mine, theirs = flat.step(actions), full.step(actions)
        assert mine[1:4] == theirs[1:4]


def test_an_unknown_keyword_is_the_type_error_that_callers_wait_for(game):
    """Tools try a keyword and go on without it after a TypeError; people read the suggestion."""
    module = env_module(game)
    makers = (module.env, module.parallel_env, lambda **given: gymnasium.make(gymnasium_id(game.NAME), **given))
    for make in makers:
        for error in (TypeError, SettingsError, UnknownSettingError):
            with pytest.raises(error, match="has no setting 'num_deal': did you mean 'num_deals'"):
                make(num_deal=3)
