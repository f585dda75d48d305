"""SuperSuit on the parallel environment: one policy learns in all seats, with stock MaskablePPO.

    python examples/supersuit_shared_policy.py

Works with SuperSuit 3.11. Each seat of each table is a row of the vector environment. In phases that are not secret,
seats that wait have the no-op alone: those rows cost time and teach nothing. ``train.py`` has no such rows.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import supersuit
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnvWrapper

import auction_env


class Masks(VecEnvWrapper):
    """Gives sb3-contrib the masks that SuperSuit leaves in the observations."""

    def reset(self) -> Any:
        self.observations = self.venv.reset()
        return self.observations

    def step_wait(self) -> Any:
        self.observations, rewards, dones, infos = self.venv.step_wait()
        return self.observations, rewards, dones, infos

    def has_attr(self, attr_name: str) -> bool:
        return attr_name == "action_masks"

    def env_method(self, method_name: str, *arguments: Any, **named: Any) -> np.ndarray:
        assert method_name == "action_masks"
        return self.observations["action_mask"].astype(bool)


def main(arguments: list[str] | None = None) -> MaskablePPO:
    """Train, and return the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="auction_poker")
    parser.add_argument("--tables", type=int, default=8)
    parser.add_argument("--rollout", type=int, default=256, help="steps of each row between updates")
    parser.add_argument("--steps", type=int, default=100_000)
    options = parser.parse_args(arguments)
    game = auction_env.get_game(options.game)
    parallel = getattr(auction_env, f"{game.NAME}_v{game.VERSION}").parallel_env(num_players=3)
    rows = supersuit.pettingzoo_env_to_vec_env_v1(parallel)
    env = Masks(supersuit.concat_vec_envs_v1(rows, options.tables, base_class="stable_baselines3"))
    batch = options.rollout * env.num_envs // 4
    model = MaskablePPO("MultiInputPolicy", env, n_steps=options.rollout, batch_size=batch, ent_coef=0.05, verbose=1)
    return model.learn(options.steps)


if __name__ == "__main__":
    main()
