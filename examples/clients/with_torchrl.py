"""TorchRL: AEC, parallel with seats that go bust, single and vector Gymnasium environments; its own checks of specs.

    pip install auction_env torchrl
    python examples/clients/with_torchrl.py

TorchRL refuses ``NEXT_STEP`` of any vector environment, and with ``SAME_STEP`` reads flat observations only.
"""

from __future__ import annotations

import gymnasium
import torch
from torchrl.envs import ActionMask, EnvBase, GymEnv, GymWrapper, PettingZooWrapper, TransformedEnv, check_env_specs

from auction_env import auction_poker_v0


def rollout(name: str, env: EnvBase, steps: int = 200) -> None:
    check_env_specs(env)
    data = env.rollout(steps, break_when_any_done=False)
    assert not any(torch.isnan(leaf).any() for leaf in data.values(True, True) if leaf.is_floating_point())
    print(f"{name}: rollout of {list(data.shape)}")


def main() -> None:
    torch.manual_seed(0)
    for flat in (False, True):
        aec = auction_poker_v0.env(num_players=3, flat=flat)
        rollout("AEC", PettingZooWrapper(aec, use_mask=True, categorical_actions=True))
        assert not aec.unwrapped.why_illegal
        match = auction_poker_v0.parallel_env(num_players=4, num_deals=8, starting_chips=34, flat=flat)
        rollout("parallel", PettingZooWrapper(match, use_mask=True, categorical_actions=True))
        assert not match.why_illegal
    single = GymEnv("auction_env:auction_env/AuctionPoker-v0", categorical_action_encoding=True)
    rollout("single", TransformedEnv(single, ActionMask()))
    assert not single.unwrapped.why_illegal
    for mode, flat in (("Disabled", False), ("SameStep", True)):
        envs = gymnasium.make_vec("auction_env/AuctionPoker-v0", num_envs=4, autoreset_mode=mode, flat=flat)
        rollout(f"vector, {mode}", TransformedEnv(GymWrapper(envs, categorical_action_encoding=True), ActionMask()))
        assert not envs.unwrapped.why_illegal


if __name__ == "__main__":
    main()
