"""The Gymnasium VectorEnv: row by row it is the single environment, its ends, infos and autoreset included."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from strategies import match_settings
from test_single import Imagining, Last

from auction_env import SettingsError, SetupError, Table, gymnasium_id
from auction_env.engine.agent import PlayerError
from auction_env.engine.opponents import LEARNER
from auction_env.interfaces.gymnasium_env import SingleEnv
from auction_env.interfaces.gymnasium_vector import AuctionVectorEnv
from auction_env.interfaces.opponents import RandomStreams


def both(
    game: Any, rows: int, mode: AutoresetMode = AutoresetMode.SAME_STEP, **arguments: Any
) -> tuple[AuctionVectorEnv, SyncVectorEnv]:
    """The vector environment and Gymnasium's own over single ones, with the same autoreset."""
    envs = gymnasium.make_vec(gymnasium_id(game.NAME), num_envs=rows, autoreset_mode=mode, **arguments)
    singles = gymnasium.make_vec(
        gymnasium_id(game.NAME),
        num_envs=rows,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": mode},
        **arguments,
    )
    return envs.unwrapped, singles


def choices(masks: np.ndarray, rng: np.random.Generator, illegal: float = 0.0) -> np.ndarray:
    """A legal action for each row, or now and then any integer near the actions."""
    actions = (masks * rng.random(masks.shape)).argmax(axis=1)
    return np.where(rng.random(len(masks)) < illegal, rng.integers(-1, masks.shape[1] + 1, len(masks)), actions)


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("seat", ["rotate", 1])
@pytest.mark.parametrize("opponents", ["random", "deterministic", "imagining"])
def test_row_by_row_it_is_gymnasiums_vector_of_single_environments(game, flat, seat, opponents):
    """Everything: observations, rewards, ends, infos, final_obs, final_info, over episodes, illegal actions too."""
    players = {"random": ["random"] * 2, "deterministic": Last(), "imagining": ["random", Imagining()]}[opponents]
    settings = match_settings(game, 2, num_players=3) if opponents == "random" else {"num_players": 3}
    envs, singles = both(game, 5, opponents=players, seat=seat, flat=flat, **settings)
    rng, ended = np.random.default_rng(7), 0
    for seed in (11, None, [5, 0, 5, 2**40, 8]):
        got, expected = envs.reset(seed=seed), singles.reset(seed=seed) if seed is not None else None
        if expected is None:
            expected = singles.reset()
        assert data_equivalence(got[0], expected[0], exact=True)
        assert data_equivalence(got[1], expected[1], exact=True)
        for _ in range(45):
            actions = choices(got[-1]["action_mask"], rng, illegal=0.02)
            got, expected = envs.step(actions), singles.step(actions)
            for mine, theirs in zip(got[:4], expected[:4], strict=True):
                assert data_equivalence(mine, theirs, exact=True)
            assert data_equivalence(got[4], expected[4], exact=True)
            assert np.array_equal(envs.action_masks(), got[4]["action_mask"].astype(bool))
            assert got[0] in envs.observation_space
            ended += got[2].sum()
    assert ended > 10


def test_learners_without_chips_start_a_new_match():
    """Seats that fall out of a match in its middle: row by row as the single environment, too."""
    settings = {"num_players": 4, "num_deals": 8, "starting_chips": 34}
    from auction_env import get_game

    envs, singles = both(get_game("auction_poker"), 6, opponents="random", **settings)
    got, expected = envs.reset(seed=3), singles.reset(seed=3)
    rng, early = np.random.default_rng(3), 0
    for _ in range(300):
        actions = choices(got[-1]["action_mask"], rng)
        got, expected = envs.step(actions), singles.step(actions)
        early += int((got[2] & ~envs.batch.out.match_over).sum())
        assert data_equivalence(got[:4], expected[:4], exact=True)
        assert data_equivalence(got[4], expected[4], exact=True)
    assert early > 2


def test_autoreset_and_spaces_are_stated(game):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        envs = gymnasium.make_vec(gymnasium_id(game.NAME), num_envs=3, vectorization_mode="vector_entry_point")
    assert isinstance(envs, VectorEnv) and envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    single = gymnasium.make(gymnasium_id(game.NAME))
    assert envs.single_observation_space == single.observation_space
    assert envs.single_action_space == single.action_space
    assert envs.num_envs == 3 and envs.action_space.shape == (3,)
    assert repr(envs) == f"AuctionVectorEnv({gymnasium_id(game.NAME)}, num_envs=3)"
    envs.close()


@pytest.mark.skipif(gymnasium.__version__.startswith("1.1."), reason="its wrapper loses rewards of steps that reset")
def test_an_episodes_statistics_come_out_of_gymnasiums_wrapper(game):
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(AuctionVectorEnv(game, 8, flat=True))
    _, infos = envs.reset(seed=0)
    rng, told = np.random.default_rng(0), []
    for _ in range(120):
        _, rewards, ends, _, infos = envs.step(choices(infos["action_mask"], rng))
        if ends.any():
            assert np.array_equal(infos["episode"]["r"][ends], rewards[ends]), "a deal's reward comes at its end"
            told += infos["episode"]["r"][ends].tolist()
    assert len(told) > 8


def test_what_was_returned_is_the_callers_own(game):
    envs, twin = (AuctionVectorEnv(game, 4) for _ in range(2))
    observations, infos = envs.reset(seed=0)
    expected, _ = twin.reset(seed=0)
    for _ in range(60):
        actions = infos["action_mask"].argmax(axis=1)
        for array in (*observations.values(), infos["action_mask"], infos["seat"]):
            array[:] = 1
        following = envs.step(actions)
        expected = twin.step(actions)
        assert data_equivalence(following[:4], expected[:4], exact=True)
        if "final_obs" in following[4]:
            for final in following[4]["final_obs"][following[4]["_final_obs"]]:
                final["observation"][:] = 1
            following[1][:] = 99
        observations, infos = following[0], {name: value.copy() for name, value in expected[4].items() if name in infos}


def test_seeds(game):
    envs = AuctionVectorEnv(game, 3)
    first = envs.reset(seed=4)[0]["observation"]
    assert np.array_equal(envs.reset(seed=[4, 5, 6])[0]["observation"], first)
    assert not np.array_equal(envs.reset()[0]["observation"], first)
    assert np.array_equal(envs.reset(seed=np.int64(4))[0]["observation"], first)
    fresh = [AuctionVectorEnv(game, 1).reset()[0]["observation"].tobytes() for _ in range(3)]
    assert len(set(fresh)) == 3
    for seed, reason in (
        ([1, 2], "2 seeds for 3 rows"),
        ([1, None, 2], "an integer for each row"),
        (-1, "seed is -1"),
        ([0, 1, 1.5], "seed is 1.5"),
    ):
        with pytest.raises(ValueError, match=reason):
            envs.reset(seed=seed)


def test_options_set_up_every_table(game):
    deck = Table(game, {"num_players": 3})
    deck.reset(123)
    options = {"deck": deck.deals[0].deck, "dealer": 1}
    envs, singles = both(game, 4, opponents="random", num_players=3)
    for seed in (2, None, 2):
        got = envs.reset(seed=seed, options=options)
        expected = singles.reset(seed=seed, options=dict(options))
        assert data_equivalence(got[0], expected[0], exact=True)
    before = envs.batch.states.copy()
    for bad, reason in (
        ({"dealer": 9}, "dealer"),
        ({"dek": deck}, "there is no option 'dek': did you mean 'deck'"),
        ({"reset_mask": np.ones(3, bool)}, r"give bool\[4\], True somewhere"),
        ({"reset_mask": np.zeros(4, bool)}, "True somewhere"),
        ({"reset_mask": [True] * 4}, "reset_mask is"),
    ):
        with pytest.raises(SetupError, match=reason):
            envs.reset(options=bad)
    assert (envs.batch.states == before).all()


def test_settings_hold_on_every_later_deal_and_options_on_one(game):
    """Autoreset passes neither on: settings are the constructor's, and a deck set up is dealt once."""
    changed = {"num_players": 2, "ante": 2, "num_ranks": 11}
    envs = AuctionVectorEnv(game, 3, opponents="random", autoreset_mode=AutoresetMode.SAME_STEP, **changed)
    deck = Table(game, changed)
    deck.reset(123)
    observations, _ = envs.reset(seed=0, options={"deck": deck.deals[0].deck})
    assert len({row.tobytes() for row in envs.batch.states["deck"]}) == 1
    dealt, rng = [], np.random.default_rng(0)
    while len(dealt) < 30:
        observations, _, terminated, _, _ = envs.step(choices(observations["action_mask"], rng))
        dealt += [row.tobytes() for row in envs.batch.states["deck"][terminated]]
        for name, value in changed.items():
            assert (envs.batch.states[name] == value).all()
    assert len(set(dealt)) == len(dealt)


def test_a_learner_is_never_left_out_of_the_deal():
    chips = Table("auction_poker").settings.reserve
    options = {"stacks": [chips, 0, chips]}
    envs = AuctionVectorEnv("auction_poker", 3)
    assert envs.reset(seed=0, options=options)[1]["seat"].tolist() == [0, 2, 2]
    with pytest.raises(SetupError, match="the learner's seat 1 is not dealt in"):
        AuctionVectorEnv("auction_poker", 3, seat=1).reset(seed=0, options=options)


def test_bad_calls_change_nothing_and_say_why(game):
    envs = AuctionVectorEnv(game, 3)
    with pytest.raises(ResetNeeded, match="call reset first"):
        envs.step(np.zeros(3, int))
    envs.reset(seed=0)
    before = envs.batch.states.copy()
    for actions in (np.zeros(2, int), np.zeros(3), np.zeros((3, 1), int), [None] * 3):
        with pytest.raises(ValueError, match="give one integer for each of 3 rows"):
            envs.step(actions)
    assert (envs.batch.states == before).all()
    with pytest.raises(ValueError, match="render_mode is 'gif'"):
        AuctionVectorEnv(game, 1, render_mode="gif")
    with pytest.raises(SettingsError, match="seat is 77"):
        AuctionVectorEnv(game, 1, seat=77)
    for seed in (1.5, "12", {0: 1, 1: 2, 2: 3}):
        with pytest.raises(ValueError, match="give one integer, or one for each of 3 rows"):
            envs.reset(seed=seed)
    with pytest.raises(SetupError, match="options is 5: give a mapping"):
        envs.reset(options=5)
    assert (envs.batch.states == before).all()
    for number in (0, 2.5, "4", True):
        with pytest.raises(ValueError, match=f"num_tables is {number!r}: it must be an integer"):
            AuctionVectorEnv(game, number)


def test_an_opponent_that_misbehaves_is_named(game):
    class Wrong(Last):
        name = "wrong"

        def act_batch(self, observations, masks):
            return np.full(len(masks), -5)

    envs = AuctionVectorEnv(game, 64, opponents=Wrong())
    with pytest.raises(PlayerError, match="agent wrong acted illegally"):
        envs.reset(seed=0)
    before = envs.batch.states.copy()
    with pytest.raises(ResetNeeded, match="an opponent has failed: call reset first"):
        envs.step(envs.action_masks().argmax(axis=1))  # some are legal for opponents, who are still to act
    assert (envs.batch.states == before).all()


def test_the_same_player_in_many_seats_is_asked_once_for_all(game):
    calls = []

    class Counting(Last):
        def act_batch(self, observations, masks):
            calls.append(len(masks))
            return super().act_batch(observations, masks)

    envs = AuctionVectorEnv(game, 256, opponents=Counting(), num_players=3)
    envs.reset(seed=0)
    assert set(np.unique(envs._control)) == {LEARNER, 0}
    assert max(calls) > 128


def test_render_shows_what_each_learner_may_see(game):
    envs = gymnasium.make_vec(gymnasium_id(game.NAME), num_envs=2, render_mode="ansi").unwrapped
    envs.reset(seed=1)
    for row, shown in enumerate(envs.render()):
        single = SingleEnv(game)
        single.reset(seed=1 + row)
        assert shown == single.table.describe(single.seat)
    assert AuctionVectorEnv(game, 2).render() is None


def test_words_are_a_stream_for_each_table():
    words, alone = RandomStreams(3), RandomStreams(1)
    words.seed(slice(None), np.array([5, 6, 7]))
    alone.seed([0], np.array([6]))
    mixed = [words.take([1])[0], words.take([0, 1])[1], words.take([1, 2])[0]]
    assert mixed == [alone.take([0])[0] for _ in range(3)]
    many = RandomStreams(20_000)
    many.seed(slice(None), np.arange(20_000))
    drawn = many.take(np.arange(20_000)) % np.uint64(6)
    counts = np.bincount(drawn.astype(int), minlength=6)
    assert ((counts - 20_000 / 6) ** 2 / (20_000 / 6)).sum() < 25.7, "chi-square, 5 degrees, 1e-4"
