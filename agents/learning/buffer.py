"""sb3-contrib's rollout buffer with fewer copies: minibatches are gathered by torch, from the arrays as they lie."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import torch
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples


class GatheringRolloutBuffer(MaskableRolloutBuffer):
    """Gives the same minibatches as its parent, for flat observations on the CPU.

    The parent first copies all observations into another order and then copies each minibatch twice, in one thread; for
    thousands of decisions of some hundred numbers that is a good part of an update.
    """

    def get(self, batch_size: int | None = None) -> Generator[MaskableRolloutBufferSamples, None, None]:  # type: ignore[override]
        """Minibatches in random order, each decision once; ``batch_size`` None gives all at once."""
        assert self.full, "the buffer is filled before it is read"
        steps, tables = self.buffer_size, self.n_envs
        drawn = np.random.permutation(steps * tables)
        rows = torch.from_numpy(drawn % steps * tables + drawn // steps)  # the parent counts table by table
        names = ("observations", "actions", "values", "log_probs", "advantages", "returns", "action_masks")
        fields = [torch.from_numpy(getattr(self, name)).flatten(0, 1) for name in names]
        for chosen in rows.split(batch_size or steps * tables):
            yield MaskableRolloutBufferSamples(*(field.index_select(0, chosen) for field in fields))
