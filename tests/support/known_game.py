"""How the learner is set up for a game with a known solution."""

from __future__ import annotations

from typing import Any


def config(game: str, seed: int, ent_coef: float, **changes: Any) -> Any:
    """A config of plain self-play by a small network on one thread, measured by nobody."""
    from auction_env.agents.learning.config import Config

    values = {
        "network": "mlp",
        "num_envs": 128,
        "n_steps": 16,
        "net_arch": [64, 64],
        "learning_rate": 1e-3,
        "learning_rate_end": 0.0,
        "n_epochs": 4,
        "batch_size": 512,
        "gae_lambda": 0.95,
        "reward_scale": 1.0,
        "opponent_pool_prob": 0.0,
        "eval_opponents": [],
        "select_by": "",
        "evaluate_every": 1_000_000,
        "checkpoint_every": 1_000_000,
        "threads": 1,
    }
    return Config(game=game, seed=seed, ent_coef=ent_coef, ent_coef_end=ent_coef, **{**values, **changes})
