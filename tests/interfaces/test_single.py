"""The Gymnasium environment: the learner's own observation, mask and reward; opponents in the other seats."""

from __future__ import annotations

import copy
import json
import pickle
import random
import subprocess
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from auction_env.agents.base import Agent, StateAgent
from golden_tool import DIGEST_SEEDS, DIGESTS, digest_settings, drawn
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import FlattenObservation
from strategies import dealt, differing_world, match_settings, play, random_policy, some_settings

from auction_env import SettingsError, SetupError, Table, available, get_game, gymnasium_id
from auction_env.engine.agent import PlayerError
from auction_env.interfaces.gymnasium_env import SingleEnv

SOME_COUNTS = [(name, players) for name in available() for players in (2, 3, get_game(name).MAX_PLAYERS)]


class First(Agent):
    """The first legal action, always."""

    name = "first"

    def act_batch(self, observations, masks):
        assert masks.any(axis=1).all(), "a player is never asked where nothing is legal"
        return masks.argmax(axis=1)


class Last(First):
    name = "last"

    def act_batch(self, observations, masks):
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


class Imagining(StateAgent):
    """Acts on what it imagines: the deck's last card settles the action."""

    name = "imagining"

    def act_states(self, states, masks):
        places = np.cumsum(masks, axis=1)
        wanted = states["deck"][:, 30].astype(int) % places[:, -1]
        return (places > wanted[:, None]).argmax(axis=1)


def choose(info: dict[str, Any], rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(info["action_mask"])))


def run(env: Any, rng: np.random.Generator, **reset: Any) -> list[Any]:
    """One episode: what reset and each step gave."""
    moments = [env.reset(**reset)]
    over, info = False, moments[0][1]
    while not over:
        moments.append(env.step(choose(info, rng)))
        over, info = moments[-1][2], moments[-1][4]
    return moments


# --- what the ecosystem checks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("flat", [False, True])
def test_check_env_of_gymnasium_and_of_stable_baselines3_without_a_warning(game, flat, capsys):
    pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.env_checker import check_env as check_env_sb3

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(gymnasium_id(game.NAME), flat=flat).unwrapped)
        check_env_sb3(gymnasium.make(gymnasium_id(game.NAME), flat=flat, render_mode="ansi"))


def test_the_registry_has_every_game_by_its_name_and_version():
    assert gymnasium_id("auction_poker") == "auction_env/AuctionPoker-v0"
    assert gymnasium_id("auction_flop") == "auction_env/AuctionFlop-v0"
    for name in available():
        spec = gymnasium.spec(gymnasium_id(name))
        assert spec.kwargs == {"game": name} and spec.vector_entry_point
        env = gymnasium.make(gymnasium_id(name), opponents=["random", "random"], seat=1, num_deals=2)
        assert env.unwrapped.table.settings.num_players == 3 and env.unwrapped.table.settings.num_deals == 2
        assert gymnasium.make(env.spec).unwrapped.seat_rule == 1


def test_masks_reach_sb3_contrib_through_gymnasiums_wrappers(game):
    utils = pytest.importorskip("sb3_contrib.common.maskable.utils")
    from stable_baselines3.common.vec_env import DummyVecEnv

    envs = DummyVecEnv([lambda: FlattenObservation(gymnasium.make(gymnasium_id(game.NAME), flat=True))] * 3)
    envs.seed(4)
    envs.reset()
    assert utils.is_masking_supported(envs)
    masks = utils.get_action_masks(envs)
    assert masks.dtype == np.bool_ and masks.shape == (3, envs.action_space.n) and masks.any(axis=1).all()


def test_sb3_contribs_action_masker_takes_the_methods_name(game):
    masker = pytest.importorskip("sb3_contrib.common.wrappers").ActionMasker
    env = masker(gymnasium.make(gymnasium_id(game.NAME), flat=True), "action_masks")
    _, info = env.reset(seed=1)
    assert np.array_equal(env.action_masks(), info["action_mask"].astype(bool))


def test_gymnasium_imports_the_package_by_the_prefix_of_an_id():
    code = "import gymnasium; print(gymnasium.make('auction_env:auction_env/AuctionPoker-v0'))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.startswith("<SingleEnv<auction_env/AuctionPoker-v0>>")


def test_infos_hold_numbers_and_the_same_keys_at_all_times(game):
    env, rng = SingleEnv(game), np.random.default_rng(0)
    for episode in range(3):
        for moment in run(env, rng, seed=episode):
            info = moment[-1]
            assert list(info) == ["action_mask", "seat", *env.table.info(env.seat), "illegal_action"]
            assert all(isinstance(value, (int, np.ndarray)) for value in info.values())
    env.reset()
    assert list(env.step(-1)[4]) == list(info)


# --- against one table, move by move ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "players"), SOME_COUNTS)
def test_every_step_is_what_a_table_gives_the_learner(name, players):
    """Observation, mask, info, reward and end of each step, against a table played move by move, over some matches."""
    game, rng = get_game(name), np.random.default_rng(players)
    settings = match_settings(game, 2, num_players=players)
    env = SingleEnv(name, opponents=Last(), **settings)
    table = Table(name, settings)
    table.reset(9)
    seat = 9 % players

    def catch_up(result: list[int] | None) -> float:
        """Play the table on to the learner's next decision or the end."""
        reward = 0.0
        while True:
            if result is not None:
                reward += result[seat]
                if table.match_over:
                    return reward
                table.next_deal()
            if table.to_act == seat:
                return reward
            result = table.act(max(table.legal()))

    catch_up(None)
    observation, info = env.reset(seed=9)
    seats = []
    for _ in range(players + 1):
        seats.append(seat)
        over = False
        while not over:
            assert np.array_equal(observation["observation"], table.observe(seat))
            assert np.array_equal(observation["action_mask"], table.mask(seat))
            assert np.array_equal(info["action_mask"], table.mask(seat)) and info["action_mask"].dtype == np.int8
            assert np.array_equal(env.action_masks(), table.mask(seat).astype(bool))
            assert info["seat"] == seat and {**info, **table.info(seat)}.items() >= table.info(seat).items()
            assert observation in env.observation_space
            action = choose(info, rng)
            observation, reward, over, truncated, info = env.step(action)
            assert reward == catch_up(table.act(action))
            assert over == table.match_over and not truncated and type(reward) is float and type(over) is bool
        assert np.array_equal(observation["observation"], table.observe(seat)), "the end, cards shown"
        assert not observation["action_mask"].any() and not env.action_masks().any()
        observation, info = env.reset()
        table.reset()
        seat = (seat + 1) % players
        catch_up(None)
    assert set(seats) == set(range(players))


def test_reward_is_the_learners_own():
    """A deal known from end to end (declarations high, low, low net +6, -11, +5): each seat gets what it earned."""
    deck = "Qc 7d 9h Qd 5s 9s Ac 6d Kh 8c 4c Jd Qh 2h 3s Ts 3d 5c 8d Kc As"
    script = {
        0: "bid 1, bid 2, pick 8c, bid 1, pick Qh, bid 1, pick Ts, bid 1, pick 8d, call, call, declare high",
        1: "bid 3, pick Kh, bid 2, pick Jd, bid 1, pick 2h, bid 1, pick 3d, bid 1, pick Kc, check, raise, declare low",
        2: "bid 3, pick 6d, bid 1, bid 1, bid 1, bid 1, bet, call, declare low",
    }

    class Scripted(Agent):
        def __init__(self, names: list[str]) -> None:
            self.names = names

        def act_batch(self, observations, masks):
            return np.array([ACTIONS.index(self.names.pop(0))])

    ACTIONS = Table("auction_poker").action_names
    for seat, net in ((0, 6), (1, -11), (2, 5)):
        lines = {other: text.split(", ") for other, text in script.items()}
        others = [Scripted(lines[(seat + place) % 3]) for place in (1, 2)]
        env = SingleEnv("auction_poker", opponents=others, seat=seat)
        env.reset(seed=0, options={"deck": deck, "dealer": 0})
        rewards = []
        while lines[seat]:
            _, reward, over, _, _ = env.step(ACTIONS.index(lines[seat].pop(0)))
            rewards.append(reward)
        assert over and rewards[-1] == net and not any(rewards[:-1]) and not any(lines.values())


@pytest.mark.parametrize("seats", [2, 4, 7])
def test_the_digests_of_the_stored_seeds(game, seats):
    """Rulings, "Both": the same deal through every interface; here all seats draw by the digest file's rule."""
    seats = min(seats, game.MAX_PLAYERS)
    stored = json.loads(DIGESTS.read_text(encoding="utf-8"))[game.NAME][str(seats)]
    whole = 0

    class Drawing(Agent):
        number = 0

        def draw(self, mask: np.ndarray, seed: int) -> int:
            self.number += 1
            return drawn({"seed": seed}, self.number - 1, np.flatnonzero(mask).tolist(), env.table.action_names)

        def act_batch(self, observations, masks):
            return np.array([self.draw(masks[0], seed)])

    for seed, digest in list(zip(DIGEST_SEEDS, stored, strict=True))[:4]:
        player = Drawing()
        env = SingleEnv(game, opponents=player, **digest_settings(game.NAME, seats))
        _, info = env.reset(seed=seed)
        over = False
        while not over:
            _, _, over, _, info = env.step(player.draw(info["action_mask"], seed))
        if env.table.match_over:  # else the learner is out of chips, and the others would play on
            assert env.record()["digest"] == digest
            whole += 1
    assert whole > 1


# --- seats, seeds, options -------------------------------------------------------------------------------------------


def test_the_seat_is_the_seeds_and_then_goes_round(game):
    env = SingleEnv(game, num_players=4 if game.MAX_PLAYERS >= 4 else 2)
    n = env.table.settings.num_players
    assert [env.reset(seed=seed)[1]["seat"] for seed in range(2 * n)] == [*range(n), *range(n)]
    assert [env.reset()[1]["seat"] for _ in range(n)] == [(2 * n - 1 + k + 1) % n for k in range(n)]
    fixed = SingleEnv(game, seat=1)
    assert {fixed.reset(seed=seed)[1]["seat"] for seed in range(6)} == {1}


def test_seeds_repeat_and_go_on(game):
    def episodes(env: SingleEnv, **reset: Any) -> list[Any]:
        rng = np.random.default_rng(0)
        return [run(env, rng, **reset), run(env, rng)]

    env = SingleEnv(game, opponents=["random", Imagining()])
    random.seed(1)
    np.random.seed(1)
    before = random.getstate(), np.random.get_state()[1].tolist()
    first = episodes(env, seed=0)
    episodes(env, seed=3)
    assert gymnasium.utils.env_checker.data_equivalence(first, episodes(env, seed=0), exact=True)
    other = SingleEnv(game, opponents=["random", Imagining()])
    assert gymnasium.utils.env_checker.data_equivalence(first, episodes(other, seed=0), exact=True)
    assert not gymnasium.utils.env_checker.data_equivalence(first, episodes(env, seed=1))
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before, "nobody else's chance is touched"
    fresh = [SingleEnv(game) for _ in range(2)]
    for one in fresh:
        one.reset()
    assert fresh[0].table.deals[0].deck != fresh[1].table.deals[0].deck


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True, 2**63])
def test_bad_seeds_and_options_change_nothing(game, seed):
    env = SingleEnv(game)
    env.reset(seed=1)
    before, seat = env.table.states.copy(), env.seat
    with pytest.raises(ValueError, match="seed is"):
        env.reset(seed=seed)
    with pytest.raises(SetupError, match="dealer"):
        env.reset(options={"dealer": 99})
    assert (env.table.states == before).all() and env.seat == seat
    env.step(int(env.action_masks().argmax()))


def test_a_learner_is_never_left_out_of_the_deal():
    usual = Table("auction_poker").settings.reserve
    stacks = [usual, 0, usual]
    env = SingleEnv("auction_poker")
    assert env.reset(seed=1, options={"stacks": stacks})[1]["seat"] == 2, "seat 1 by the seed, but it is not dealt in"
    with pytest.raises(SetupError, match="the learner's seat 1 is not dealt in"):
        SingleEnv("auction_poker", seat=1).reset(seed=1, options={"stacks": stacks})


def test_a_learner_that_is_out_of_chips_ends_its_episode():
    """Rewards of a match add up to the change of its stack; the others may have deals left to play."""
    env = SingleEnv("auction_poker", opponents="random", num_players=4, num_deals=8, starting_chips=34)
    rng, early = np.random.default_rng(0), 0
    for episode in range(60):
        moments = run(env, rng, seed=episode)
        net = sum(log.payoffs[env.seat] for log in env.table.deals if log.payoffs)
        assert sum(moment[1] for moment in moments[1:]) == net
        early += not env.table.match_over
    assert early > 5


# --- illegal actions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["first illegal", -1, 10**6, None, 1.5, True, "fly", np.float32(0), [0]])
def test_an_illegal_action_ends_the_episode_and_changes_nothing(game, action):
    env = SingleEnv(game)
    observation, info = env.reset(seed=2)
    before = env.table.states.copy()
    wrong = int((info["action_mask"] == 0).argmax()) if action == "first illegal" else action
    last, reward, terminated, truncated, info = env.step(wrong)
    settings = env.table.settings
    assert reward == -getattr(settings, "reserve", settings.starting_chips)
    assert terminated and not truncated and info["illegal_action"] == 1 and "legal now" in env.why_illegal
    assert (env.table.states == before).all()
    assert np.array_equal(last["observation"], observation["observation"]) and not last["action_mask"].any()
    with pytest.raises(ResetNeeded, match="call reset first"):
        env.step(0)
    assert env.reset()[1]["illegal_action"] == 0 and not env.why_illegal


def test_numpy_integers_are_actions(game):
    env = SingleEnv(game)
    for kind in (np.int64, np.int8, np.array):
        env.reset(seed=3)
        assert not env.step(kind(int(env.action_masks().argmax())))[4]["illegal_action"]


def test_nothing_works_before_reset(game):
    with pytest.raises(ResetNeeded, match="call reset first"):
        SingleEnv(game).step(0)


# --- opponents -------------------------------------------------------------------------------------------------------


def test_opponents_sit_clockwise_from_the_learner(game):
    asked: list[tuple[int, int]] = []

    class Telling(First):
        def __init__(self, place: int) -> None:
            self.place = place

        def act_batch(self, observations, masks):
            asked.append((self.place, int(env.table.to_act)))
            return super().act_batch(observations, masks)

    env = SingleEnv(game, opponents=[Telling(1), Telling(2), Telling(3)])
    for seed in range(4):
        asked.clear()
        run(env, np.random.default_rng(0), seed=seed)
        assert set(asked) == {(place, (env.seat + place) % 4) for place in (1, 2, 3)}


def test_opponents_settle_the_number_of_seats_and_errors_name_the_fix(game):
    assert SingleEnv(game, opponents=["random"]).table.settings.num_players == 2
    assert SingleEnv(game, opponents="random", num_players=5).table.settings.num_players == 5
    same = SingleEnv(game, opponents=["random", "random"])
    assert same.opponents[0] is same.opponents[1], "one agent in two seats"
    with pytest.raises(SettingsError, match="2 opponents for 3 other seats"):
        SingleEnv(game, opponents=["random", "random"], num_players=4)
    with pytest.raises(ValueError, match="there is no agent 'nobody'"):
        SingleEnv(game, opponents=["nobody"])
    with pytest.raises(TypeError, match="opponent is 7"):
        SingleEnv(game, opponents=[7])
    with pytest.raises(SettingsError, match="did you mean 'num_players'"):
        SingleEnv(game, num_player=3)
    for seat in (-1, 99, "first", True):
        with pytest.raises(SettingsError, match="seat is"):
            SingleEnv(game, seat=seat)
    assert SingleEnv(game, seat=np.int64(1)).seat == 1
    with pytest.raises(ValueError, match="render_mode is 'gif'"):
        SingleEnv(game, render_mode="gif")


def test_an_opponent_that_misbehaves_is_named(game):
    class Wrong(First):
        name = "wrong"

        def act_batch(self, observations, masks):
            return np.full(len(masks), 10**6)

    env = SingleEnv(game, opponents=Wrong())
    with pytest.raises(PlayerError, match="agent wrong acted illegally"):
        for seed in range(10):
            run(env, np.random.default_rng(0), seed=seed)
    before = env.table.states.copy()
    with pytest.raises(ResetNeeded):
        env.step(env.table.legal()[0])  # legal for the opponent, who is still to act
    assert (env.table.states == before).all() and not env.action_masks().any()


def test_an_opponent_sees_only_what_its_seat_may(game):
    """Two tables that differ only in what an opponent cannot know are the same to it."""
    seen: list[bytes] = []

    class Spy(First):
        def act_batch(self, observations, masks):
            seen.append(observations.tobytes() + masks.tobytes())
            return super().act_batch(observations, masks)

    rng, asked = np.random.default_rng(5), 0
    env = SingleEnv(game, opponents=Spy(), seat=0)
    for seed in range(6):
        for table in play(dealt(game, seed=seed), random_policy(rng)):
            if table.to_act not in (0, None):
                for world in (table, differing_world(table, table.to_act, rng)):
                    env.table = world.clone()
                    env._act_for_opponent()
                assert seen[-1] == seen[-2]
                asked += 1
    assert asked > 50


# --- the rest --------------------------------------------------------------------------------------------------------


def test_what_was_returned_is_the_callers_own(game):
    env = SingleEnv(game, seat=0)
    observation, info = env.reset(seed=0)
    again = SingleEnv(game, seat=0)
    expected, _ = again.reset(seed=0)
    kept = {name: value.copy() for name, value in observation.items()}
    action = int(info["action_mask"].argmax())
    observation["observation"][:], observation["action_mask"][:], info["action_mask"][:] = 1, 1, 1
    assert np.array_equal(env.action_masks(), kept["action_mask"].astype(bool))
    following, expected_following = env.step(action)[0], again.step(action)[0]
    assert np.array_equal(expected["observation"], kept["observation"])
    assert np.array_equal(following["observation"], expected_following["observation"])


def test_copies_and_pickles_go_their_own_way(game):
    env = SingleEnv(game, opponents="random")
    env.reset(seed=6)
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    expected = run_on(env)
    for twin in twins:
        assert gymnasium.utils.env_checker.data_equivalence(expected, run_on(twin), exact=True)


def run_on(env: SingleEnv) -> list[Any]:
    moments, rng = [], np.random.default_rng(1)
    while not env._over:
        moments.append(env.step(int(rng.choice(np.flatnonzero(env.action_masks())))))
    return moments


def test_observations_stay_in_their_space_for_many_settings(game):
    rng = np.random.default_rng(8)
    for trial in range(15):
        settings = some_settings(game, lambda options: options[int(rng.integers(len(options)))])
        env = SingleEnv(game, opponents="random", flat=bool(trial % 2), **settings)
        for moment in run(env, rng, seed=trial):
            assert moment[0] in env.observation_space


def test_render_shows_what_the_learner_may_see(game, capsys):
    env = gymnasium.make(gymnasium_id(game.NAME), render_mode="ansi", seat=1)
    env.reset(seed=0)
    raw = env.unwrapped
    assert env.render() == raw.table.describe(1) != raw.table.describe(None)
    assert raw.table.describe(1).count("??")
    env = SingleEnv(game, render_mode="human", reveal=True, seat=1)
    env.reset(seed=0)
    assert capsys.readouterr().out.strip() == env.table.describe(None)
    assert env.render() is None
    picture = SingleEnv(game, render_mode="rgb_array")
    picture.reset(seed=0)
    assert picture.render().std() > 0 and picture.render().dtype == np.uint8
    assert SingleEnv(game).render() is None


def test_names(game):
    env = SingleEnv(game)
    env.reset(seed=0)
    assert [env.action_name(k) for k in range(env.action_space.n)] == list(env.table.action_names)
    with pytest.raises(IndexError, match="there is no action -1"):
        env.action_name(-1)
    named = env.observe_named()
    assert np.array_equal(np.concatenate([part.ravel() for part in named.values()]), env.table.observe(env.seat))
    assert repr(env).startswith(f"SingleEnv({game.NAME!r}")
