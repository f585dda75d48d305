"""AgileRL: DQN on the vector environment and IPPO on the parallel form, masks in the infos as it wants them.

IPPO of AgileRL 2.7.1 looks for ``None`` in a list of masks, which numpy refuses: it takes masks as lists.

    pip install auction_env agilerl
    python examples/clients/with_agilerl.py
"""

from __future__ import annotations

import gymnasium
import numpy as np
from agilerl.algorithms import DQN, IPPO

import auction_env  # noqa: F401 - registers the games
from auction_env import auction_poker_v0


def single(steps: int = 100) -> None:
    envs = gymnasium.make_vec("auction_env/AuctionPoker-v0", num_envs=8, flat=True)
    agent = DQN(envs.single_observation_space, envs.single_action_space)
    observations, infos = envs.reset(seed=0)
    won = []
    for _ in range(steps):
        actions = agent.get_action(observations, epsilon=0.2, action_mask=infos["action_mask"])
        observations, rewards, terminated, _, infos = envs.step(actions)
        assert not envs.unwrapped.why_illegal
        won += rewards[terminated].tolist()
    print(f"DQN: {len(won)} deals, {np.mean(won):+.2f} chips a deal, none illegal")


def many(steps: int = 300) -> None:
    env = auction_poker_v0.parallel_env(num_players=3, flat=True)
    agents = env.possible_agents
    ippo = IPPO(
        observation_spaces=[env.observation_space(agent) for agent in agents],
        action_spaces=[env.action_space(agent) for agent in agents],
        agent_ids=agents,
    )
    observations, infos = env.reset(seed=0)
    deals = 0
    for _ in range(steps):
        for info in infos.values():
            info["action_mask"] = info["action_mask"].tolist()  # glue
        actions, *_ = ippo.get_action(obs=observations, infos=infos)
        observations, _, terminated, _, infos = env.step({agent: int(actions[agent][0]) for agent in env.agents})
        assert not env.why_illegal
        if all(terminated.values()):
            deals += 1
            observations, infos = env.reset()
    print(f"IPPO: {deals} deals in {steps} steps, none illegal")


if __name__ == "__main__":
    single()
    many()
