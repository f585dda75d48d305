"""Stock sb3-contrib on the Gymnasium environment: MaskablePPO over a SubprocVecEnv, none of our own training code.

    python examples/stock_maskable_ppo.py --start-method forkserver
    python examples/stock_maskable_ppo.py --ours

Measured in turn on two cores busy with much other work (--steps 12000, updates included), decisions a second with four
processes, and with --ours right after: fork 583 and 2,239; spawn 387 and 1,619; forkserver 402 and 2,025. The same
learner is four to five times as fast on tables of ours in one process: the opponents' moves at 256 tables are asked for
at once, and no observation crosses a process boundary. ``train.py`` is faster still (README).
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import gymnasium
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import SubprocVecEnv, VecEnv


def make_env(game: str) -> gymnasium.Env:
    """One environment: ``flat`` observations, so that the mask goes by ``action_masks()`` alone."""
    import auction_env  # registers the games, in a fresh process too

    return gymnasium.make(auction_env.gymnasium_id(game), opponents="random", flat=True)


def our_tables(game: str, tables: int) -> VecEnv:
    """The same learner's view of many tables in one process: opponents are asked for all of them at once."""
    from auction_env import agents
    from auction_env.engine.batch import Batch
    from auction_env.interfaces.sb3_vec_env import SelfPlayVecEnv

    batch = Batch(game, num_tables=1)
    return SelfPlayVecEnv(game, num_tables=tables, present=agents.make("random", batch.game, batch.settings))


def main(arguments: list[str] | None = None) -> float:
    """Train; returns the learner's decisions a second, updates included."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="auction_poker")
    parser.add_argument("--envs", type=int, default=4, help="processes")
    parser.add_argument("--start-method", default="forkserver", choices=["fork", "spawn", "forkserver"])
    parser.add_argument("--ours", action="store_true", help="SelfPlayVecEnv in place of SubprocVecEnv, 256 tables")
    parser.add_argument("--rollout", type=int, default=4096, help="decisions in a rollout, over all tables")
    parser.add_argument("--steps", type=int, default=32_768)
    options = parser.parse_args(arguments)
    if options.ours:
        env: VecEnv = our_tables(options.game, 256)
    else:
        env = SubprocVecEnv([partial(make_env, options.game)] * options.envs, start_method=options.start_method)
    n_steps = max(1, options.rollout // env.num_envs)
    model = MaskablePPO("MlpPolicy", env, n_steps=n_steps, batch_size=min(1024, n_steps * env.num_envs), seed=0)
    start = time.perf_counter()
    model.learn(options.steps)
    speed = model.num_timesteps / (time.perf_counter() - start)
    print(f"{type(env).__name__}, {env.num_envs} tables: {speed:,.0f} decisions a second")
    env.close()
    return speed


if __name__ == "__main__":
    main()
