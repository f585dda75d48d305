"""PettingZoo: its tests as shipped, its loop for environments with masks, its conversions.

pip install auction_env
python examples/clients/with_pettingzoo.py
"""

from __future__ import annotations

import warnings

import pettingzoo
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test, state_test
from pettingzoo.utils.conversions import parallel_to_aec, turn_based_aec_to_parallel

import auction_env  # noqa: F401 - registers the games
from auction_env import auction_flop_v0, auction_poker_v0


def play(env: pettingzoo.AECEnv, seed: int) -> dict[str, float]:
    """The loop of PettingZoo's documentation, random legal play; what each agent won."""
    env.reset(seed=seed)
    won = dict.fromkeys(env.agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        won[agent] += reward
        if termination or truncation:
            action = None
        else:
            if "action_mask" in info:
                mask = info["action_mask"]
            elif isinstance(observation, dict) and "action_mask" in observation:
                mask = observation["action_mask"]
            else:
                mask = None
            action = env.action_space(agent).sample(mask)
        env.step(action)
    env.close()
    return won


def main() -> None:
    for module in (auction_poker_v0, auction_flop_v0):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Observation")  # its words on every observation that is a dict
            api_test(module.env(num_deals=2), num_cycles=100)
            api_test(parallel_to_aec(module.parallel_env()), num_cycles=100)
        api_test(module.env(flat=True), num_cycles=100)
        seed_test(module.env)
        render_test(module.env)
        state_test(module.env(), module.parallel_env())
        parallel_api_test(module.parallel_env(), num_cycles=100)
        parallel_seed_test(module.parallel_env)
        for flat in (False, True):
            assert sum(play(module.env(flat=flat, num_deals=3), 1).values()) == 0
    made = pettingzoo.make("aec", "auction_env/auction_poker-v0", num_players=4)
    print(f"tests as shipped pass; a deal of {made}: {play(made, 1)}")
    # Two seats and no choices at once: the one conversion of turns to parallel steps that fits is PettingZoo's own.
    turns = turn_based_aec_to_parallel(parallel_to_aec(auction_flop_v0.parallel_env(num_players=2)))
    turns.reset(seed=1)


if __name__ == "__main__":
    main()
