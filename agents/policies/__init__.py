"""Scripted policies, a module for each game, as compiled functions that agents call and search with.

A module ``agents/policies/GAME.py`` defines

- ``STYLES``: name of each style and its numbers; the first is the default;
- ``choose(s, style, ints, floats)``, compiled: a legal action for ``s.to_act``, from what this seat may know of the
  row ``s`` and chance from ``s.rng``; it changes nothing else. ``ints``, ``floats``: arrays to work in, WORK entries;
- ``redraw_pending(s, me, style, ints, floats)``, compiled: draw the secret choices that seats other than ``me`` have
  made already as the policy would make them.

A policy is given whole rows, as a search plays with them: that it looks at nothing its seat may not know is tested.
"""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache
from typing import Any

import numpy as np

from auction_env.core.jit import kernel
from auction_env.games.game import Game

WORK = 128


def policy_of(game: Game) -> Any | None:
    """The module with the scripted policy for a game, or None if there is none."""
    name = f"{__name__}.{game.NAME}"
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def work_arrays() -> tuple[np.ndarray, np.ndarray]:
    """Fresh arrays for ``choose`` to work in: int64[WORK], float64[WORK]."""
    return np.zeros(WORK, np.int64), np.zeros(WORK, np.float64)


@cache
def choosing_kernel(game: Any) -> Any:
    """Compiled ``(states, style, ints, floats, out)``: the policy's action at each row, for its ``to_act``."""
    choose = policy_of(game).choose  # type: ignore[union-attr]

    @kernel(owner=game.NAME)
    def choose_rows(states: Any, style: Any, ints: Any, floats: Any, out: Any) -> None:
        for row in range(states.shape[0]):
            out[row] = choose(states[row], style, ints, floats)

    return choose_rows
