"""Decisions a second of the default config's training loop, and how much of an iteration each part takes.

``python -m benchmarks.training_speed [config] [key=value ...]`` writes ``benchmarks/results/training_speed.json``.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
ITERATIONS, WARM_UP = 30, 5


def main(arguments: list[str]) -> int:
    """Run the command line."""
    from auction_env.agents.learning import share_cores

    share_cores()
    from auction_env.agents.learning.checkpoint import provenance
    from auction_env.agents.learning.config import load_config
    from auction_env.agents.learning.trainer import Trainer
    from stable_baselines3.common.logger import configure

    from auction_env.core.files import write_json

    config = load_config(arguments[0] if arguments else ROOT / "configs" / "auction_poker.toml", arguments[1:])
    trainer = Trainer(config, Path(tempfile.mkdtemp()))
    model = trainer.model
    model.set_logger(configure(None, []))
    parts = {"tables, features and opponents": 0.0, "network": 0.0, "updates": 0.0}

    def timed(owner: Any, name: str, part: str) -> None:
        function = getattr(owner, name)

        def wrapped(*values: Any, **named: Any) -> Any:
            begun = time.perf_counter()
            try:
                return function(*values, **named)
            finally:
                parts[part] += time.perf_counter() - begun

        setattr(owner, name, wrapped)

    timed(trainer.env, "step_wait", "tables, features and opponents")
    timed(model.policy, "forward", "network")
    timed(model, "train", "updates")
    per_iteration = config.num_envs * config.n_steps
    rates = []
    for iteration in range(ITERATIONS + WARM_UP):
        if iteration == WARM_UP:
            parts.update(dict.fromkeys(parts, 0.0))
        trainer.before_iteration()
        begun = time.perf_counter()
        model.learn(per_iteration, reset_num_timesteps=False)
        if iteration >= WARM_UP:
            rates.append(per_iteration / (time.perf_counter() - begun))
    total = sum(per_iteration / rate for rate in rates)
    shares = {name: seconds / total for name, seconds in parts.items()}
    shares["bookkeeping"] = 1 - sum(shares.values())
    low, median, high = np.percentile(rates, [10, 50, 90])
    print(f"{median:,.0f} decisions a second (10 % of iterations below {low:,.0f}, 10 % above {high:,.0f})")
    print(f"network {config.network!r}, net_arch {config.net_arch}, {config.num_envs} tables, {_seats(trainer)} seats")
    for name, share in shares.items():
        print(f"  {name}: {share:.0%} of the time")
    report = {"decisions_per_second": {"p10": low, "median": median, "p90": high}, "shares": shares, **provenance()}
    write_json(ROOT / "benchmarks" / "results" / "training_speed.json", report)
    return 0


def _seats(trainer: Any) -> str:
    return ", ".join(str(one.num_players) for one in trainer.all_settings)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
