"""The same ten decisions through every interface: ``python docs/ten_decisions.py`` plays them and compares.

All seats decide by one rule from what they may see. So if every interface shows a seat the same, all make the same
decisions; the documentation shows this file, and a test runs it.
"""

from __future__ import annotations

from collections.abc import Callable

import gymnasium
import numpy as np

from auction_env import Table, auction_poker_v0, make_record
from auction_env.engine.batch import Batch

SEED = 7
NAMES = Table("auction_poker").action_names
Decisions = list[tuple[int, str]]  # seat, action


def decide(observation: np.ndarray, mask: np.ndarray) -> int:
    """The rule: how much a seat has seen picks one of its legal actions."""
    legal = np.flatnonzero(mask)
    return int(legal[np.count_nonzero(observation) % len(legal)])


class Opponent:
    """A player for the interfaces that have one learner: it decides by the same rule, and notes what it did."""

    name = "opponent"

    def __init__(self, done: list[str]) -> None:
        self.done = done

    def act_batch(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See auction_env.engine.agent.Player."""
        actions = [decide(observation, mask) for observation, mask in zip(observations, masks, strict=True)]
        self.done += [NAMES[action] for action in actions]
        return np.array(actions)


def recorded(record: dict) -> Decisions:
    """The first ten decisions of a match's record."""
    return [(seat, name) for seat, _, name in record["deals"][0]["actions"][:10]]


def with_table() -> Decisions:
    """One table, by hand."""
    table = Table("auction_poker")
    table.reset(SEED)
    for _ in range(10):
        seat = table.to_act
        table.act(decide(table.observe(seat), table.mask(seat)))
    return recorded(make_record(table))


def with_batch() -> Decisions:
    """Many tables a step; here one."""
    batch, done = Batch("auction_poker", num_tables=1), []
    out = batch.reset(SEED)
    for _ in range(10):
        action = decide(out.observations[0], out.masks[0])
        done.append((int(out.seats[0]), NAMES[action]))
        out = batch.step(np.array([action]))
    return done


def with_aec() -> Decisions:
    """PettingZoo, agents in turn."""
    env = auction_poker_v0.env()
    env.reset(seed=SEED)
    for _ in range(10):
        observation, _, _, _, _ = env.last()
        env.step(decide(observation["observation"], observation["action_mask"]))
    return recorded(env.unwrapped.record())


def with_parallel() -> Decisions:
    """PettingZoo, all agents in every step: those that wait do nothing; secret bids are made at once."""
    env = auction_poker_v0.parallel_env()
    observations, _ = env.reset(seed=SEED)
    while len(env.record()["deals"][0]["actions"]) < 10:
        actions = {agent: decide(seen["observation"], seen["action_mask"]) for agent, seen in observations.items()}
        observations, _, _, _, _ = env.step(actions)
    return recorded(env.record())


def with_gymnasium() -> Decisions:
    """Gymnasium, one learner: it has seat 7 mod 3 = 1; opponents act inside of ``step``."""
    env = gymnasium.make("auction_env/AuctionPoker-v0", opponents=Opponent([]))
    observation, _ = env.reset(seed=SEED)
    while len(env.unwrapped.record()["deals"][0]["actions"]) < 10:
        observation, _, _, _, _ = env.step(decide(observation["observation"], observation["action_mask"]))
    return recorded(env.unwrapped.record())


def with_vector_env() -> Decisions:
    """Gymnasium's vector form; here of one row. Row i has seed 7 + i."""
    done: list[str] = []
    envs = gymnasium.make_vec("auction_env/AuctionPoker-v0", num_envs=1, opponents=Opponent(done))
    observations, _ = envs.reset(seed=SEED)
    while len(done) < 10:
        actions = [decide(observations["observation"][0], observations["action_mask"][0])]
        done.append(NAMES[actions[0]])
        observations, _, _, _, _ = envs.step(np.array(actions))
    return list(zip(seats(), done[:10], strict=True))


def with_sb3() -> Decisions:
    """stable-baselines3: the learner's observations are the part that can differ before a deal's end."""
    from auction_env.interfaces.sb3_vec_env import SelfPlayVecEnv

    done: list[str] = []
    envs = SelfPlayVecEnv("auction_poker", num_tables=1, present=Opponent(done), seed=SEED)
    observations = envs.reset()
    while len(done) < 10:
        actions = [decide(observations[0], envs.action_masks()[0])]
        done.append(NAMES[actions[0]])
        observations, _, _, _ = envs.step(np.array(actions))
    return list(zip(seats(), done[:10], strict=True))


def seats() -> list[int]:
    """Who makes the ten decisions: interfaces for one learner do not tell who their opponents are."""
    return [seat for seat, _ in with_table()]


INTERFACES: dict[str, Callable[[], Decisions]] = {
    "Table": with_table,
    "Batch": with_batch,
    "PettingZoo AEC": with_aec,
    "PettingZoo parallel": with_parallel,
    "Gymnasium": with_gymnasium,
    "Gymnasium VectorEnv": with_vector_env,
    "stable-baselines3 VecEnv": with_sb3,
}

if __name__ == "__main__":
    for name, play in INTERFACES.items():
        print(f"{name:24} {'; '.join(f'{seat}: {action}' for seat, action in play())}")
