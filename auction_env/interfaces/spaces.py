"""Spaces of the PettingZoo and Gymnasium interfaces."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

_INT8 = np.dtype(np.int8)  # numpy has one object for it


class ActionSpace(spaces.Discrete):
    """Gymnasium's Discrete, with its two most frequent questions answered faster."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self._mask_shape = (n,)

    def contains(self, x: Any) -> bool:
        """Whether ``x`` is one of the actions."""
        if type(x) is int or (isinstance(x, np.integer) and x.ndim == 0):
            return bool(0 <= x < self.n)
        return super().contains(x)

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """A uniform draw, under an int8 mask from the actions where it is 1."""
        if type(mask) is np.ndarray and probability is None and mask.dtype is _INT8 and mask.shape == self._mask_shape:
            legal = mask.nonzero()[0]
            if len(legal):  # a double holds every choice; drawing an integer takes five times as long
                return legal[int(self.np_random.random() * len(legal))]
        return super().sample(mask, probability)


def observation_space(size: int, actions: int, flat: bool) -> spaces.Space[Any]:
    """What a seat is given: Box float32[size] in [0, 1], or unless ``flat`` a Dict of that and the mask, int8[actions].

    Every call makes a space with a generator of its own.
    """
    observation = spaces.Box(0.0, 1.0, (size,), np.float32)
    if flat:
        return observation
    return spaces.Dict({"observation": observation, "action_mask": spaces.Box(0, 1, (actions,), np.int8)})
