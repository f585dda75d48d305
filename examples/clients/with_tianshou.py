"""Tianshou: a DQN in each seat of the AEC environment learns against random players, by its MARL tutorial.

pip install auction_env tianshou
python examples/clients/with_tianshou.py
"""

from __future__ import annotations

import numpy as np
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Collector, CollectStats, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from auction_env import auction_poker_v0


def make_env() -> PettingZooEnv:
    return PettingZooEnv(auction_poker_v0.env(num_players=3))


def main(epochs: int = 2) -> None:
    np.random.seed(0)
    torch.manual_seed(0)
    env = make_env()
    net = Net(
        state_shape=env.observation_space["observation"].shape,
        action_shape=env.action_space.n,
        hidden_sizes=[64, 64],
    )
    policy = DiscreteQLearningPolicy(
        model=net,
        action_space=env.action_space,
        observation_space=env.observation_space,
        eps_training=0.1,
        eps_inference=0.0,
    )
    learner = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=0.99, target_update_freq=100)
    others = [MARLRandomDiscreteMaskedOffPolicyAlgorithm(env.action_space) for _ in range(2)]
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[learner, *others], env=env)
    training, test = DummyVectorEnv([make_env] * 4), DummyVectorEnv([make_env] * 2)
    collector = Collector[CollectStats](algorithm, training, VectorReplayBuffer(20_000, 4), exploration_noise=True)
    collector.reset()
    collector.collect(n_step=500)
    result = algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            test_collector=Collector[CollectStats](algorithm, test),
            max_epochs=epochs,
            epoch_num_steps=1000,
            collection_step_num_env_steps=100,
            update_step_num_gradient_steps_per_sample=0.1,
            test_step_num_episodes=20,
            batch_size=64,
            multi_agent_return_reduction=lambda rewards: rewards[:, 0],
        )
    )
    for worker in (*training.workers, *test.workers):
        assert not worker.env.env.unwrapped.why_illegal
    print(f"{result.train_step} steps, best {result.best_reward:+.2f} chips a deal for seat 0")


if __name__ == "__main__":
    main()
