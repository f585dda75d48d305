"""What RLlib's new API stack needs to learn here: its PPO module with masks, reading observations by our names.

::

    from ray.rllib.core.rl_module.rl_module import RLModuleSpec
    from auction_env.interfaces.rllib import MaskedPPOModule

    config.environment("auction_env:auction_env/AuctionPoker-v0")
    config.rl_module(rl_module_spec=RLModuleSpec(module_class=MaskedPPOModule))

``examples/clients/with_rllib.py`` has the multi-agent forms. Extra ``ray``.
"""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

from auction_env.core.extras import require

require("ray")

from ray.rllib.core.columns import Columns  # noqa: E402
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule  # noqa: E402


class MaskedPPOModule(ActionMaskingTorchRLModule):
    """RLlib's PPO module with masks, for observations ``{"observation": ..., "action_mask": ...}``.

    RLlib's own calls the first ``observations``. Arguments are those of any RLModule.
    """

    def __init__(self, *, observation_space: spaces.Dict, **given: Any) -> None:
        super().__init__(observation_space=spaces.Dict(_renamed(observation_space)), **given)

    def _preprocess_batch(self, batch: Any, **given: Any) -> Any:
        batch[Columns.OBS] = _renamed(batch[Columns.OBS])
        return super()._preprocess_batch(batch, **given)


def _renamed(parts: Any) -> dict[str, Any]:
    return {"observations": parts["observation"], "action_mask": parts["action_mask"]}


__all__ = ["MaskedPPOModule"]
