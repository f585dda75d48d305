"""Play through the PettingZoo AEC environment: what several test files share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from strategies import player_counts

import auction_env
from auction_env import available
from auction_env.engine.table import no_info

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


# --- masks and observations ------------------------------------------------------------------------------------------


def check_moment(env: Any) -> None:
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
        facts = table.info(seat) if acts else no_info(table.game, table.settings)
        assert list(info) == [*facts, "illegal_action"] and facts.items() <= info.items()
        assert {type(value) for value in info.values()} == {int}, "numbers only"
        again = env.observe(agent)
        for part, values in observation.items():
            assert np.array_equal(values, again[part])
            assert not np.shares_memory(values, again[part])
            assert values.base is None


# --- rewards and seats that leave ------------------------------------------------------------------------------------


def check_dicts(env: Any) -> None:
    agents = set(env.agents)
    for name in ("rewards", "terminations", "truncations", "infos"):
        assert set(getattr(env, name)) == agents
    assert agents <= set(env.possible_agents)
    assert env.num_agents == len(env.agents) == len(agents)
    assert not env.agents or env.agent_selection in agents
