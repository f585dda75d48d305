"""RLlib, new API stack: PPO with masks on the Gymnasium, the AEC and the parallel form.

pip install auction_env 'ray[rllib]' torch
python examples/clients/with_rllib.py
"""

from __future__ import annotations

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import ParallelPettingZooEnv, PettingZooEnv
from ray.tune.registry import register_env

from auction_env import auction_poker_v0
from auction_env.interfaces.rllib import MaskedPPOModule

# RLlib checks environments with actions that are not masked; ours end such a match, and would say so.
BASE = (
    PPOConfig()
    .environment(disable_env_checking=True)
    .env_runners(num_env_runners=0)
    .training(train_batch_size=512, minibatch_size=128, num_epochs=1)
    .debugging(log_level="ERROR", seed=0)
)
MODULE = RLModuleSpec(
    module_class=MaskedPPOModule, model_config={"head_fcnet_hiddens": [64], "head_fcnet_activation": "relu"}
)


def single() -> PPOConfig:
    return BASE.copy().environment("auction_env:auction_env/AuctionPoker-v0").rl_module(rl_module_spec=MODULE)


def many(name: str, **settings: int) -> PPOConfig:
    """All seats play, and teach, one policy."""
    return (
        BASE.copy()
        .environment(name, env_config=settings)
        .multi_agent(policies={"all"}, policy_mapping_fn=lambda agent, *rest, **more: "all")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"all": MODULE}))
    )


def main(iterations: int = 2) -> None:
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR")
    register_env("aec", lambda config: PettingZooEnv(auction_poker_v0.env(**config)))
    register_env("parallel", lambda config: ParallelPettingZooEnv(auction_poker_v0.parallel_env(**config)))
    configs = {
        "Gymnasium": single(),
        "AEC": many("aec", num_players=3),
        "parallel": many("parallel", num_players=4, num_deals=8, starting_chips=34),
    }
    for name, config in configs.items():
        algorithm = config.build_algo()
        for _ in range(iterations):
            result = algorithm.train()["env_runners"]
        print(f"{name}: {result['num_episodes']} episodes, mean return {result['episode_return_mean']:+.2f}")
        algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
