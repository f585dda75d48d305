"""Experience of all seats: each decision is credited with what its own seat got, and only the learner's are kept."""

from __future__ import annotations

import copy
from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
import torch
from auction_env.agents.learning.algorithm import NetworkPolicy
from auction_env.agents.learning.networks import build_network
from auction_env.agents.learning.policy_file import layout_of, network_shape
from auction_env.agents.learning.rollouts import AllSeatsVecEnv, SeatRolloutBuffer, credit_seats
from sb3_contrib import MaskablePPO

from auction_env import agents
from auction_env.engine.opponents import LEARNER
from auction_env.games import get_game
from auction_env.games.game import make_settings


def make_env(name: str = "auction_poker", seats: tuple[int, ...] = (3,), tables: int = 12, **named: Any):
    game = get_game(name)
    return AllSeatsVecEnv(game, [make_settings(game, {"num_players": n}) for n in seats], tables, **named)


def random_actions(env: AllSeatsVecEnv, rng: np.random.Generator) -> np.ndarray:
    """A legal action of each table."""
    return (env.action_masks() * rng.random((env.num_envs, env.action_space.n))).argmax(1)


# --- credit ---


def by_hand(seats, ended, payoffs, values, gae_lambda):
    """Advantages and whether they are known, from the definition, decision by decision."""
    steps, tables = seats.shape
    advantages, known = np.zeros((steps, tables)), np.zeros((steps, tables), bool)
    for table in range(tables):
        for step in range(steps):
            ends = [later for later in range(step, steps) if ended[later, table]]
            last = ends[0] if ends else steps - 1
            seat = seats[step, table]
            own = [values[t, table] for t in range(step, last + 1) if seats[t, table] == seat]
            if ends:
                own.append(payoffs[last, table, seat])
            known[step, table] = len(own) > 1
            for number, (before, after) in enumerate(pairwise(own)):
                advantages[step, table] += gae_lambda**number * (after - before)
    return advantages, known


@pytest.mark.parametrize("gae_lambda", [0.0, 0.8, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_credit_by_seat_is_that_of_the_definition(seed, gae_lambda):
    rng = np.random.default_rng(seed)
    steps, tables, num_seats = rng.integers(1, 20), 6, rng.integers(2, 5)
    seats = rng.integers(0, num_seats, (steps, tables)).astype(np.int8)
    ended = rng.random((steps, tables)) < 0.2
    payoffs = rng.normal(size=(steps, tables, num_seats)).astype(np.float32)
    values = rng.normal(size=(steps, tables)).astype(np.float32)
    advantages, returns = np.empty((2, steps, tables), np.float32)
    known = np.empty((steps, tables), bool)
    credit_seats(seats, ended, payoffs, values, gae_lambda, advantages, returns, known)
    expected, expected_known = by_hand(seats, ended, payoffs, values, gae_lambda)
    assert np.array_equal(known, expected_known)
    assert np.allclose(advantages, expected, atol=1e-5)
    assert np.allclose(returns[known], (advantages + values)[known], atol=1e-5)


class Diary:
    """Writes down, of every table, each decision and each result, as the engine itself gives them."""

    def __init__(self, env: AllSeatsVecEnv) -> None:
        self.env, self.deals, self.step = env, defaultdict(lambda: [[]]), -1
        self.results: dict[int, list[np.ndarray]] = defaultdict(list)
        for tables in env.tables:
            tables.batch.step = self._watched(tables, tables.batch.step)

    def _watched(self, tables, step):
        def wrapped(actions, rows=None):
            at = tables.batch.all_rows if rows is None else rows
            if rows is None and tables is self.env.tables[0]:
                self.step += 1
            seats, control = tables.batch.out.seats[at].copy(), tables.control[at].copy()
            out = step(actions) if rows is None else step(actions, rows)
            for row, seat, sitting in zip(at, seats, control, strict=True):
                table = tables.slice.start + int(row)
                learned = self.step if rows is None else None
                self.deals[table][-1].append((learned, int(seat), tuple(sitting)))
                if out.deal_over[row]:
                    self.results[table].append(out.payoffs[row].copy())
                    self.deals[table].append([])
            return out

        return wrapped


def played(env: AllSeatsVecEnv, steps: int, change: Any = None) -> tuple[Diary, SeatRolloutBuffer]:
    """Random play of the learner, kept in a buffer with values 0 and lambda 1: returns are payoffs."""
    rng = np.random.default_rng(0)
    rows = env.reset()
    diary = Diary(env)
    buffer = SeatRolloutBuffer(
        steps, env.observation_space, env.action_space, "cpu", gae_lambda=1.0, n_envs=env.num_envs, vec_env=env
    )
    buffer.reset()
    zeros = torch.zeros(env.num_envs)
    for step in range(steps):
        if change is not None and step == steps // 2:
            change(env)
        actions, masks, before = random_actions(env, rng), env.action_masks(), rows
        rows, rewards, dones, _ = env.step(actions)
        assert not rewards.any()
        buffer.add(before, actions[:, None], rewards, dones, zeros, zeros, action_masks=masks)
    buffer.compute_returns_and_advantage(zeros, np.zeros(env.num_envs))
    return diary, buffer


@pytest.mark.parametrize("name", ["auction_poker", "auction_flop"])
@pytest.mark.parametrize("prob", [0.0, 0.6])
def test_what_a_seat_got_reaches_its_own_decisions_and_the_pools_are_not_learned_from(name, prob):
    env = make_env(name, (2, 4), tables=10, seed=3, reward_scale=0.5)
    pool = [agents.make("random", env.game, env.tables[0].settings, seed) for seed in (1, 2)]
    env.set_pool(pool, [1.0, 3.0], prob)
    steps = 120
    diary, buffer = played(env, steps)
    rewarded = np.zeros((steps, env.num_envs), bool)
    others = 0
    for table, deals in diary.deals.items():
        for deal, result in zip(deals, diary.results[table], strict=False):
            for step, seat, sitting in deal:
                if step is None:
                    others += 1
                    assert sitting[seat] != LEARNER
                    continue
                assert sitting[seat] == LEARNER and buffer.seats[step, table] == seat
                assert buffer.returns[step, table] == pytest.approx(0.5 * result[seat]), (step, table)
                assert not rewarded[step, table]
                rewarded[step, table] = True
    assert rewarded.sum() > steps * env.num_envs / 2 and bool(others) == (prob > 0)
    assert (buffer.known | ~rewarded).all(), "what is over is known"


def test_deals_keep_their_agents_though_the_pool_changes_and_seats_are_drawn_as_told():
    env = make_env(tables=300, seed=1)
    first, second = (agents.make("random", env.game, env.tables[0].settings, seed) for seed in (1, 2))
    env.set_pool([first], [1.0], 1.0)

    def change(env):
        env.set_pool([second], [1.0], 0.5)
        assert set(env.agents.values()) == {first, second}, "who still has a seat is kept"

    diary, _ = played(env, 60, change)
    counts = np.zeros(3)
    for deals in diary.deals.values():
        for deal in deals:
            assert len({sitting for _, _, sitting in deal}) <= 1
        for deal in deals[2:-1]:
            counts[sum(number != LEARNER for number in deal[0][2])] += 1
    assert counts[1] > 100 and 0.8 < counts[1] / counts[2] < 1.25, "one or both others, equally often"


def test_a_lone_learner_has_one_seat_of_each_deal_all_seats_in_turn():
    env = make_env(tables=200, seed=2)
    env.set_pool([agents.make("random", env.game, env.tables[0].settings, 1)], [1.0], 1.0, lone_learner=True)
    env.reset()
    alone = env.tables[0].control == LEARNER
    assert (alone.sum(1) == 1).all() and (alone.sum(0) > 40).all()
    with pytest.raises(ValueError, match=r"opponent_pool_prob is 1\.5"):
        env.set_pool([], [], 1.5)


def test_the_flat_observation_is_for_one_number_of_seats():
    with pytest.raises(ValueError, match="plays one number of seats"):
        make_env(seats=(2, 3), network="mlp")
    env = make_env(network="mlp", tables=4)
    rows = env.reset()
    assert rows.shape == (4, env.tables[0].batch.observation_size)
    assert np.array_equal(rows, env.tables[0].batch.out.observations)


def test_tables_go_on_from_a_state_as_if_never_stopped():
    env = make_env(seats=(2, 3), seed=5)
    named = agents.make("random", env.game, env.tables[1].settings, 9)
    env.set_pool([named], [1.0], 0.7)
    env.reset()
    rng = np.random.default_rng(0)
    for _ in range(25):
        env.step(random_actions(env, rng))
    state, seating = {k: v.copy() for k, v in env.get_state().items()}, env.rng.bit_generator.state
    chance, rolls, seated = copy.deepcopy(named.random_state()), copy.deepcopy(rng), dict(env.agents)

    def going_on(env, rng):
        seen = []
        for _ in range(25):
            rows, _, ended, _ = env.step(random_actions(env, rng))
            seen.append((rows, ended, env.payoffs.copy()))
        return seen

    expected = going_on(env, rng)
    other = make_env(seats=(2, 3), seed=6)
    other.set_pool([named], [1.0], 0.7)
    other.reset()
    named.set_random_state(chance)
    other.set_state(state, seated)
    other.rng.bit_generator.state = seating
    for one, two in zip(expected, going_on(other, rolls), strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one[:2], two[:2], strict=True))
        assert np.array_equal(one[2][one[1]], two[2][two[1]])


# --- the buffer and stock MaskablePPO ---


def test_minibatches_are_the_known_decisions_once_each_and_small_rests_are_dropped():
    _, buffer = played(make_env(seed=4), 40)
    known = int(buffer.known.sum())
    assert 0 < known < 40 * 12
    (everything,) = buffer.get(None)
    assert len(everything.observations) == known
    rewards = sorted(buffer.returns[buffer.known].tolist())
    assert sorted(everything.returns.tolist()) == rewards
    sizes = [len(batch.actions) for batch in buffer.get(50)]
    assert sizes == [50] * (known // 50)
    rows = buffer.observations.reshape(-1, buffer.observations.shape[-1])[buffer.known.reshape(-1)]
    assert np.allclose(np.sort(everything.observations.sum(1)), np.sort(rows.sum(1)), atol=1e-4)


@pytest.mark.parametrize("network", ["cards", "mlp"])
def test_stock_maskable_ppo_trains_on_it(network):
    env = make_env(network=network, tables=32, reward_scale=0.1)
    game, settings = env.game, env.tables[0].settings
    shape, layout = network_shape(game, settings, network, [16], 8), layout_of(game, settings, network)

    def build() -> tuple[torch.nn.Module, torch.nn.Module]:
        others = settings.num_players - 1
        return build_network(shape, layout, others), build_network(shape, layout, others, critic=True)

    model = MaskablePPO(
        NetworkPolicy,
        env,
        n_steps=16,
        batch_size=64,
        n_epochs=2,
        gamma=1.0,
        rollout_buffer_class=SeatRolloutBuffer,
        rollout_buffer_kwargs={"vec_env": env},
        policy_kwargs={"build": build},
        device="cpu",
        seed=0,
    )
    before = {name: value.clone() for name, value in model.policy.state_dict().items()}
    model.learn(2 * 32 * 16)
    assert model.num_timesteps == 2 * 32 * 16
    after = model.policy.state_dict()
    assert all(torch.isfinite(value).all() for value in after.values())
    changed = {name for name, value in after.items() if not torch.equal(value, before[name])}
    assert any(name.startswith("mlp_extractor.actor") for name in changed)
    assert any(name.startswith("mlp_extractor.critic") for name in changed)
