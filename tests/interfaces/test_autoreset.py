"""The three ways to go on after an episode: row by row they are Gymnasium's, and its vector wrappers take them all."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import gymnasium.wrappers.vector as wrappers
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode
from test_vector import both, choices

from auction_env import SettingsError, SetupError, gymnasium_id
from auction_env.games.cards import names_of
from auction_env.interfaces.gymnasium_vector import AuctionVectorEnv

OTHER_MODES = (AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED)
if gymnasium.__version__.startswith("1.1."):
    pytest.skip("Gymnasium 1.1 has other infos and wrappers in these modes", allow_module_level=True)


def same(mine: Any, theirs: Any) -> None:
    assert data_equivalence(mine, theirs, exact=True)


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("seat", ["rotate", 0])
@pytest.mark.parametrize("mode", OTHER_MODES)
def test_row_by_row_it_is_gymnasiums_vector_in_every_mode(game, mode, seat, flat):
    """Everything that reset and step return, over episodes, illegal actions, and in DISABLED partial resets."""
    envs, singles = both(game, 5, mode, opponents="random", seat=seat, flat=flat, num_players=3)
    rng, ended = np.random.default_rng(3), 0
    for seed in (7, None, [5, 0, 5, 2**40, 8]):
        got, expected = envs.reset(seed=seed), singles.reset(seed=seed)
        same(got, expected)
        for _ in range(45):
            actions = choices(got[-1]["action_mask"], rng, illegal=0.02)
            got, expected = envs.step(actions), singles.step(actions)
            same(got, expected)
            assert np.array_equal(envs.action_masks(), got[4]["action_mask"].astype(bool))
            assert got[0] in envs.observation_space
            over = got[2]
            ended += over.sum()
            assert not got[4]["action_mask"][over].any() and "final_obs" not in got[4]
            if mode is AutoresetMode.DISABLED and over.any():
                extra = over | (rng.random(5) < 0.2)  # rows in the middle of an episode may be reset too
                again = None if rng.random() < 0.5 else int(rng.integers(1000))
                got = envs.reset(seed=again, options={"reset_mask": extra.copy()})
                expected = singles.reset(seed=again, options={"reset_mask": extra.copy()})
                same(got, expected)
                assert np.array_equal(got[1]["_seat"], extra)
                got[1]["action_mask"][~extra] = envs.action_masks()[~extra]
    assert ended > 10


def test_rows_out_of_chips_start_a_new_match_in_every_mode():
    settings = {"num_players": 4, "num_deals": 8, "starting_chips": 34}
    from auction_env import get_game

    envs, singles = both(get_game("auction_poker"), 6, AutoresetMode.NEXT_STEP, opponents="random", **settings)
    got, expected = envs.reset(seed=3), singles.reset(seed=3)
    rng = np.random.default_rng(3)
    for _ in range(200):
        actions = choices(got[-1]["action_mask"], rng)
        got, expected = envs.step(actions), singles.step(actions)
        same(got, expected)


def test_a_mode_is_known_everywhere(game):
    for mode in AutoresetMode:
        for given in (mode, mode.value):
            envs = gymnasium.make_vec(gymnasium_id(game.NAME), num_envs=2, autoreset_mode=given)
            assert envs.metadata["autoreset_mode"] is mode is envs.unwrapped.autoreset_mode
    assert AuctionVectorEnv.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP, "of the default, and unchanged"
    with pytest.raises(SettingsError, match=r"autoreset_mode is 'never': it must be one of AutoresetMode\.NEXT_STEP"):
        AuctionVectorEnv(game, 2, autoreset_mode="never")


def test_disabled_refuses_a_step_of_ended_episodes(game):
    envs = AuctionVectorEnv(game, 4, autoreset_mode=AutoresetMode.DISABLED)
    _, infos = envs.reset(seed=0)
    over = np.zeros(4, bool)
    while not over.any():
        _, _, over, _, infos = envs.step(infos["action_mask"].argmax(axis=1))
    before = envs.batch.states.copy()
    with pytest.raises(ResetNeeded, match=f"of rows {np.flatnonzero(over)[0]}"):
        envs.step(np.zeros(4, int))
    assert (envs.batch.states == before).all()
    envs.reset(options={"reset_mask": over})
    envs.step(envs.action_masks().argmax(axis=1))


def test_a_part_cannot_be_reset_first(game):
    with pytest.raises(SetupError, match="reset all rows first"):
        AuctionVectorEnv(game, 3).reset(seed=0, options={"reset_mask": np.array([True, False, True])})


def test_options_and_masks_together(game):
    """A deck for some rows only; the rows that are not reset stay where they are."""
    envs = AuctionVectorEnv(game, 3, autoreset_mode="Disabled", seat=0)
    observations, infos = envs.reset(seed=0)
    observations = envs.step(infos["action_mask"].argmax(axis=1))[0]
    mask = np.array([False, True, False])
    again, _ = envs.reset(options={"reset_mask": mask, "deck": "As Ks Qs Js Ts 9s 8s 7s", "dealer": 2})
    assert names_of(envs.batch.states["deck"][1, :8].tolist()) == "As Ks Qs Js Ts 9s 8s 7s"
    assert envs.batch.states["dealer"][1] == 2
    assert np.array_equal(again["observation"][~mask], observations["observation"][~mask])


# --- Gymnasium's vector wrappers -------------------------------------------------------------------------------------

BY_ROW = Box(0.0, 1.0, (3,), np.float32)
ALL_MODES = tuple(AutoresetMode)
# Gymnasium's wrappers of observations refuse SAME_STEP of any environment; NormalizeObservation, DISABLED too.
WRAPPERS = {
    "RecordEpisodeStatistics": (ALL_MODES, wrappers.RecordEpisodeStatistics),
    "DictInfoToList": (OTHER_MODES, wrappers.DictInfoToList),
    "TransformObservation": (
        OTHER_MODES,
        lambda e: wrappers.TransformObservation(e, lambda o: o / 2, e.observation_space),
    ),
    "VectorizeTransformObservation": (
        OTHER_MODES,
        lambda e: wrappers.VectorizeTransformObservation(
            e,
            gymnasium.wrappers.TransformObservation,
            func=lambda o: o[:3],
            observation_space=BY_ROW,
        ),
    ),
    "FlattenObservation": (OTHER_MODES, wrappers.FlattenObservation),
    "ReshapeObservation": (
        OTHER_MODES,
        lambda e: wrappers.ReshapeObservation(e, (1, *e.single_observation_space.shape)),
    ),
    "RescaleObservation": (OTHER_MODES, lambda e: wrappers.RescaleObservation(e, -1.0, 1.0)),
    "DtypeObservation": (OTHER_MODES, lambda e: wrappers.DtypeObservation(e, np.float64)),
    "NormalizeObservation": ((AutoresetMode.NEXT_STEP,), wrappers.NormalizeObservation),
    "TransformAction": (
        ALL_MODES,
        lambda e: wrappers.TransformAction(e, lambda a: a, e.action_space, e.single_action_space),
    ),
    "TransformReward": (ALL_MODES, lambda e: wrappers.TransformReward(e, lambda r: r / 10)),
    "VectorizeTransformReward": (
        ALL_MODES,
        lambda e: wrappers.VectorizeTransformReward(e, gymnasium.wrappers.TransformReward, func=lambda r: r / 10),
    ),
    "ClipReward": (ALL_MODES, lambda e: wrappers.ClipReward(e, -1.0, 1.0)),
    "NormalizeReward": (ALL_MODES, wrappers.NormalizeReward),
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_every_vector_wrapper_of_gymnasium_works_in_the_modes_that_it_takes(name):
    modes, wrap = WRAPPERS[name]
    for mode in modes:
        envs = AuctionVectorEnv("auction_poker", 3, flat=True, autoreset_mode=mode)
        wrapped = wrap(envs)
        wrapped.reset(seed=1)
        rng, ended = np.random.default_rng(0), 0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(40):
                observations, _, over, _, _ = wrapped.step(choices(envs.action_masks().astype(int), rng))
                ended += over.sum()
                assert np.isfinite(observations).all()
                if mode is AutoresetMode.DISABLED and over.any():
                    wrapped.reset(options={"reset_mask": over.copy()})
        assert ended > 2, (name, mode)


def test_masks_in_observations_pass_through_gymnasiums_filter():
    envs = wrappers.FilterObservation(AuctionVectorEnv("auction_poker", 3, autoreset_mode="Disabled"), ["action_mask"])
    observations, _ = envs.reset(seed=0)
    assert list(observations) == ["action_mask"]
    observations, _, _, _, infos = envs.step(observations["action_mask"].argmax(axis=1))
    assert np.array_equal(observations["action_mask"], infos["action_mask"])


def test_a_video_of_many_tables(tmp_path):
    """RecordVideo asks for pictures only, and moviepy writes them: here the pictures."""
    envs = AuctionVectorEnv("auction_poker", 2, render_mode="rgb_array", autoreset_mode="NextStep")
    envs.reset(seed=0)
    shown = envs.render()
    assert len(shown) == 2 and shown[0].dtype == np.uint8 and shown[0].shape == shown[1].shape
