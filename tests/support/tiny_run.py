"""A training run of a few seconds, and what tests of learning share."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from auction_env.agents.learning.config import Config, make_config

ROOT = Path(__file__).parents[2]
TINY: dict[str, Any] = {
    "total_timesteps": 768,
    "num_envs": 16,
    "n_steps": 8,
    "net_arch": [16],
    "embedding": 8,
    "batch_size": 64,
    "warm_start": "",
    "opponents": [],
    "snapshot_every": 1,
    "opponent_pool_prob": 0.5,
    "opponent_pool_size": 2,
    "evaluate_every": 3,
    "evaluate_deals": 30,
    "eval_opponents": ["random"],
    "select_by": "random",
    "final_deals": 60,
    "checkpoint_every": 1,
    "temperatures": [1.0, 0.5],
    "threads": 1,
}


def tiny(run: Path, **changes: Any) -> Config:
    """A config of six iterations."""
    return make_config({**TINY, "run": str(run), **changes})


def tiny_arguments(run: Path) -> list[str]:
    """The same as overrides on a command line."""
    return [f"{key}={json.dumps(value)}" for key, value in TINY.items()] + [f"run={run}"]


def copied(run: Path, to: Path) -> Path:
    """A copy of a run's folder, to go on with or to damage."""
    shutil.copytree(run, to, ignore=shutil.ignore_patterns("tensorboard"))
    return to


def quiet(_: str) -> None:
    """Say nothing."""
