"""PufferLib: its emulation of the Gymnasium and the parallel form, in its vector environments.

    pip install auction_env psutil rich rich-argparse torch && pip install --no-deps pufferlib-core
    python examples/clients/with_pufferlib.py

``pufferlib-core`` asks for one old version of torch, and needs nothing of it here.
"""

from __future__ import annotations

from functools import partial

import gymnasium
import numpy as np
import pufferlib.vector
from pufferlib.emulation import GymnasiumPufferEnv, PettingZooPufferEnv

import auction_env  # noqa: F401 - registers the games
from auction_env import auction_poker_v0


def play(name: str, creator: partial, steps: int = 300) -> None:
    envs = pufferlib.vector.make(creator, num_envs=4, backend=pufferlib.vector.Serial)
    envs.async_reset(seed=0)
    rng, ends = np.random.default_rng(0), 0
    for _ in range(steps):
        observations, _, terminals, *_ = envs.recv()
        masks = observations.view(envs.driver_env.obs_dtype)["action_mask"].reshape(len(observations), -1)
        assert (masks.any(axis=1) == ~terminals).all()  # rows of seats that are out, and after the end, have none
        ends += int(terminals.sum())
        envs.send((masks * rng.random(masks.shape)).argmax(axis=1))
    assert ends
    for env in envs.envs:
        assert not env.env.unwrapped.why_illegal
    print(f"{name}: {steps} steps of {envs.num_agents} rows, {ends} ends")


def main() -> None:
    make = partial(gymnasium.make, "auction_env/AuctionPoker-v0")
    play("Gymnasium", partial(GymnasiumPufferEnv, env_creator=make))
    match = partial(auction_poker_v0.parallel_env, num_players=4, num_deals=8, starting_chips=34)
    play("parallel", partial(PettingZooPufferEnv, env_creator=match))


if __name__ == "__main__":
    main()
