"""The self-play VecEnv: the learner's own observation, mask and reward, in every seat; opponents that stay."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from auction_env.agents.base import Agent
from auction_env.agents.random import RandomAgent
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

from auction_env import Table
from auction_env.games import available
from auction_env.games.game import IllegalActionError
from auction_env.interfaces.sb3_vec_env import LEARNER, PRESENT, SelfPlayVecEnv

GAMES = available()


class First(Agent):
    """The first legal action, always."""

    def act_batch(self, observations, masks):
        assert masks.any(axis=1).all(), "a policy is never asked where nothing is legal"
        return masks.argmax(axis=1)


class Last(First):
    def act_batch(self, observations, masks):
        super().act_batch(observations, masks)
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("settings", [{}, {"num_players": 2}, {"num_players": 5}])
def test_each_table_is_a_single_table_seen_from_the_learners_seat(game, settings):
    """Observation, mask, reward, end and final observation, against single tables played move by move."""
    env = SelfPlayVecEnv(game, settings, 12, present=First(), seed=40)
    n, size = env.settings.num_players, env.observation_space.shape[0]
    observations = env.reset()
    tables = []
    for row in range(12):
        table = Table(game, settings)
        table.reset(40 + row)
        tables.append(table)
    learner = [row % n for row in range(12)]
    learner = [(seat + 1) % n for seat in learner]
    seats_seen, rng = set(), np.random.default_rng(0)

    def play_opponents(row: int) -> tuple[list[int] | None, np.ndarray | None]:
        result, final = None, None
        table = tables[row]
        while table.to_act != learner[row]:
            net = table.act(table.legal()[int(np.argmin(table.legal()))])
            if net is not None:
                assert result is None
                result, final = net, table.observe(learner[row])
                table.reset()
                learner[row] = (learner[row] + 1) % n
        return result, final

    for row in range(12):
        play_opponents(row)
    for _ in range(150):
        masks = get_action_masks(env)
        for row, table in enumerate(tables):
            seats_seen.add((row, learner[row]))
            assert np.array_equal(observations[row], table.observe(learner[row])[:size])
            assert np.array_equal(masks[row], table.mask(learner[row]).astype(bool))
        actions = (masks * rng.random(masks.shape)).argmax(axis=1)
        kept = observations.copy()
        following, rewards, dones, infos = env.step(actions)
        assert np.array_equal(observations, kept), "the last observations stay as they were"
        observations = following
        for row, table in enumerate(tables):
            seat = learner[row]
            net, final = table.act(int(actions[row])), None
            if net is not None:
                final = table.observe(seat)
                table.reset()
                learner[row] = (learner[row] + 1) % n
                play_opponents(row)
            else:
                net, final = play_opponents(row)
            assert dones[row] == (net is not None)
            assert rewards[row] == (0 if net is None else net[seat])
            assert ("terminal_observation" in infos[row]) == dones[row]
            if final is not None:
                assert np.array_equal(infos[row]["terminal_observation"], final[:size])
    assert {seat for _, seat in seats_seen} == set(range(n))


def test_reward_is_the_learners_own_not_its_neighbours():
    """A deal known from end to end: declarations high, low, low net +6, -11, +5; each to the seat that earned it."""
    deck = "Qc 7d 9h Qd 5s 9s Ac 6d Kh 8c 4c Jd Qh 2h 3s Ts 3d 5c 8d Kc As"
    script = {
        0: "bid 1, bid 2, pick 8c, bid 1, pick Qh, bid 1, pick Ts, bid 1, pick 8d, call, call, declare high",
        1: "bid 3, pick Kh, bid 2, pick Jd, bid 1, pick 2h, bid 1, pick 3d, bid 1, pick Kc, check, raise, declare low",
        2: "bid 3, pick 6d, bid 1, bid 1, bid 1, bid 1, bet, call, declare low",
    }
    for seat, net in ((0, 6), (1, -11), (2, 5)):
        env = SelfPlayVecEnv("auction_poker", {}, 1, present=First(), seed=0, reward_scale=0.5)
        env.reset()
        lines = {k: [env.batch.action_names.index(name) for name in text.split(", ")] for k, text in script.items()}

        class Scripted(Agent):
            def act_batch(self, observations, masks, env=env, lines=lines):
                line = lines[int(env.batch.out.seats[0])]
                return np.array([line.pop(0)]) if line else masks.argmax(axis=1)

        table = Table("auction_poker")
        table.reset(0, {"deck": deck, "dealer": 0})
        env.batch.put(0, table.states)
        env.set_opponents(Scripted())
        env.learner[0], env.control[0] = seat, PRESENT
        env.control[0, seat] = LEARNER
        env._play_on(env.batch.all_rows[:0], np.zeros(1, np.float32), np.zeros(1, np.bool_))
        rewards, dones = np.zeros(1), np.zeros(1, np.bool_)
        while not dones[0]:
            assert rewards[0] == 0
            _, rewards, dones, _ = env.step(np.array([lines[seat].pop(0)]))
        assert not any(lines.values())
        assert rewards[0] == net * 0.5


@pytest.mark.parametrize("game", GAMES)
def test_seating_follows_the_stated_rule(game):
    """1 - mixed of the deals are pure; in the rest 1 to n - 1 seats, all numbers and all others equally often."""
    others = [Last(), RandomAgent(1), RandomAgent(2)]
    env = SelfPlayVecEnv(game, {"num_players": 4}, 4000, present=First(), others=others, mixed=0.25, seed=3)
    env.reset()
    foreign = env.control > PRESENT
    count = foreign.sum(axis=1)
    assert ((env.control == LEARNER).sum(axis=1) == 1).all()
    mixed = count[count > 0]
    assert abs(len(mixed) - 1000) < 5 * np.sqrt(4000 * 0.25 * 0.75)
    expected = len(mixed) / 3
    assert sum((np.sum(mixed == k) - expected) ** 2 / expected for k in (1, 2, 3)) < 18.4  # chi-square, 2 degrees, 1e-4
    seated = env.control[foreign]
    share = len(seated) / 3
    assert sum((np.sum(seated == number) - share) ** 2 / share for number in env.others) < 18.4
    full = env.control[count == 3]
    assert any(len(set(row[row > PRESENT].tolist())) > 1 for row in full), "a table has different others"


def test_opponents_change_between_deals_only():
    """A new set of opponents waits for the next deal; a deal under way keeps who sat down to it."""
    first, second = Last(), Last()
    env = SelfPlayVecEnv("auction_poker", {}, 64, present=First(), others=[first], mixed=1.0, seed=0)
    env.reset()
    (old,) = env.others
    (new,) = env.set_opponents(First(), [second], 1.0)
    assert new != old and (env.control[env.control > PRESENT] == old).all()
    ended = np.zeros(64, bool)
    for _ in range(40):
        before = env.control.copy()
        _, _, dones, _ = env.step(env.action_masks().argmax(axis=1))
        assert np.array_equal(env.control[~dones], before[~dones])
        assert not (env.control[dones] == old).any()
        ended |= dones
    assert ended.all()
    env.set_opponents(First(), [second], 1.0)
    assert old not in env.policies and env.policies[new] is second


def test_a_policy_must_be_set_first():
    with pytest.raises(RuntimeError, match="call set_opponents"):
        SelfPlayVecEnv("auction_poker", {}, 4).reset()
    with pytest.raises(ValueError, match=r"mixed is 1\.5"):
        SelfPlayVecEnv("auction_poker", {}, 4, present=First(), others=[Last()], mixed=1.5)


def test_masks_as_sb3_contrib_asks_for_them():
    env = SelfPlayVecEnv("auction_poker", {}, 8, present=First())
    env.reset()
    assert is_masking_supported(env)
    masks = get_action_masks(env)
    assert masks.shape == (8, env.action_space.n) and masks.dtype == np.bool_ and masks.any(axis=1).all()
    masks[:] = False
    assert env.action_masks().any(axis=1).all(), "masks are fresh arrays"
    assert len(env.env_method("action_masks", indices=[1, 2])) == 2
    with pytest.raises(AttributeError, match="only action_masks"):
        env.env_method("fly")


def test_an_illegal_action_changes_nothing():
    env = SelfPlayVecEnv("auction_poker", {}, 4, present=First())
    observations = env.reset()
    before, kept = env.batch.states.copy(), observations.copy()
    actions = env.action_masks().argmax(axis=1)
    actions[2] = 0
    with pytest.raises(IllegalActionError, match="table 2"):
        env.step(actions)
    assert (env.batch.states == before).all()
    actions[2] = env.action_masks()[2].argmax()
    env.step(actions)
    assert np.array_equal(observations, kept)


def test_a_match_goes_on_with_a_learner_who_is_still_in_it():
    """In matches where seats fall out, the learner's seat is always one that was dealt in."""
    env = SelfPlayVecEnv("auction_poker", {"num_deals": 6, "num_players": 4, "starting_chips": 34}, 64, present=Last())
    env.reset()
    rng = np.random.default_rng(0)
    short = 0
    for _ in range(400):
        rows = np.arange(64)
        assert (env.batch.states["dealt_in"][rows, env.learner] == 1).all()
        assert np.array_equal(env.batch.out.seats, env.learner)
        short += (env.batch.states["num_in"] < 4).sum()
        masks = env.action_masks()
        env.step((masks * rng.random(masks.shape)).argmax(axis=1))
    assert short > 0


def test_seed_of_the_vecenv_interface_repeats():
    env = SelfPlayVecEnv("auction_poker", {}, 8, present=First(), seed=1)
    first = env.reset()
    going_on = env.reset()
    env.seed(1)
    assert np.array_equal(env.reset(), first)
    assert not np.array_equal(going_on, first)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"settings": 5}, "settings is 5: give keyword values"),
        ({"num_tables": 2.5}, "num_tables is 2.5"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 1.5}, "seed is 1.5"),
        ({"threads": 0}, "threads is 0"),
        ({"mixed": 2}, "mixed is 2"),
    ],
)
def test_arguments_that_make_no_sense_are_named(arguments, reason):
    with pytest.raises(ValueError, match=reason):
        SelfPlayVecEnv(GAMES[0], **{"num_tables": 4, **arguments})
