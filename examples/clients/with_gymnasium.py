"""Gymnasium: its environment checker, vector environments and wrappers.

    pip install auction_env
    python examples/clients/with_gymnasium.py

Every vector wrapper in every autoreset mode: ``tests/interfaces/test_autoreset.py``.
"""

from __future__ import annotations

import gymnasium
import gymnasium.wrappers.vector as wrappers
from gymnasium.utils.env_checker import check_env
from gymnasium.utils.performance import benchmark_step
from gymnasium.vector import AutoresetMode

IDS = ("auction_env:auction_env/AuctionPoker-v0", "auction_env:auction_env/AuctionFlop-v0")


def main() -> None:
    for name in IDS:
        for flat in (False, True):
            check_env(gymnasium.make(name, flat=flat).unwrapped)
        assert benchmark_step(gymnasium.make(name, flat=True), target_duration=1) > 0
        for mode in AutoresetMode:
            envs = wrappers.RecordEpisodeStatistics(gymnasium.make_vec(name, num_envs=8, autoreset_mode=mode))
            observations, _ = envs.reset(seed=0)
            episodes = 0
            for _ in range(60):
                actions = observations["action_mask"].argmax(axis=1)  # the first that is legal
                observations, _, terminated, *_ = envs.step(actions)
                episodes += int(terminated.sum())
                if mode is AutoresetMode.DISABLED and terminated.any():
                    observations, _ = envs.reset(options={"reset_mask": terminated})
            assert not envs.unwrapped.why_illegal
            print(f"{name.rpartition('/')[2]}, {mode.value}: {episodes} episodes, the last: {envs.return_queue[-1]}")


if __name__ == "__main__":
    main()
