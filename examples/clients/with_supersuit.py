"""SuperSuit: its wrappers on both PettingZoo forms, and many tables as one vector environment.

    pip install auction_env supersuit
    python examples/clients/with_supersuit.py

A shared policy learns on such a vector environment in ``examples/supersuit_shared_policy.py``.
"""

from __future__ import annotations

import numpy as np
import supersuit
from pettingzoo.test import api_test, parallel_api_test

from auction_env import auction_poker_v0


def main() -> None:
    env = supersuit.frame_stack_v1(supersuit.dtype_v0(auction_poker_v0.env(flat=True), np.float32), 2)
    api_test(supersuit.reward_lambda_v0(env, lambda reward: reward / 10), num_cycles=100)
    match = auction_poker_v0.parallel_env(flat=True, num_players=4, num_deals=8, starting_chips=34)
    alive = supersuit.black_death_v3(match)  # seats that are out keep a row: zeros
    parallel_api_test(supersuit.pad_observations_v0(supersuit.pad_action_space_v0(alive)), num_cycles=100)
    rows = supersuit.concat_vec_envs_v1(supersuit.pettingzoo_env_to_vec_env_v1(alive), 4, base_class="gymnasium")
    observations, infos = rows.reset(seed=0)
    rng, ends, actions = np.random.default_rng(0), 0, rows.action_space.n
    for _ in range(300):
        # Seats that are out have an empty info, and may do anything.
        masks = np.array([info.get("action_mask", np.ones(actions, np.int8)) for info in infos])
        chosen = (masks * rng.random(masks.shape)).argmax(axis=1)
        observations, _, terminated, _, infos = rows.step(chosen)
        ends += int(terminated.sum())
    assert observations.shape == (rows.num_envs, *rows.observation_space.shape) and ends
    print(f"{rows.num_envs} rows, {ends} ends of seats in 300 steps")


if __name__ == "__main__":
    main()
