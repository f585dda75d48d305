"""Train a config with several seeds and report chips per deal against each opponent: mean and interval over seeds.

``python -m benchmarks.learning configs/auction_poker.toml --seeds 5`` writes ``benchmarks/results/learning_GAME.json``
and a learning curve of all seeds, ``docs/images/learning_GAME.png``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
# Two-sided 95 % quantiles of Student's t by degrees of freedom: seeds are few.
T_95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config")
    parser.add_argument("overrides", nargs="*", metavar="key=value")
    parser.add_argument("--seeds", type=int, default=5, choices=range(2, 11), metavar="2..10")
    options = parser.parse_args()

    from auction_env.agents.learning import share_cores

    share_cores()
    from auction_env.agents.learning.checkpoint import provenance, write_json
    from auction_env.agents.learning.config import load_config
    from auction_env.agents.learning.runs import start_run
    from auction_env.agents.learning.trainer import Trainer

    runs: list[dict[str, Any]] = []
    trainer: Trainer | None = None
    for seed in range(options.seeds):
        folder = Path(tempfile.mkdtemp()) / "run"
        config = load_config(options.config, [*options.overrides, f"seed={seed}", f"run={folder}"])
        trainer = start_run(config)
        trainer.run()
        results = trainer.final_evaluation()
        runs.append(
            {
                "seed": seed,
                "seconds": trainer.curve[-1].seconds,
                "curve": json.loads((folder / "curve.json").read_text()),
                "evaluation": {name: _without_decks(result.summary()) for name, result in results.items()},
            }
        )
        gains = ", ".join(f"{result.agent(0)} against {name}" for name, result in results.items())
        print(f"seed {seed}: chips per deal {gains}; {trainer.curve[-1].seconds:.0f} s", flush=True)
        shutil.rmtree(folder.parent)
    assert trainer is not None
    game, n = trainer.game, trainer.settings.num_players
    report = {
        "command": f"python -m benchmarks.learning {options.config} --seeds {options.seeds}",
        "total_timesteps": trainer.config.total_timesteps,
        "against": {name: _against(runs, name) for name in trainer.config.eval_opponents},
        "runs": runs,
        **provenance(),
    }
    write_json(ROOT / "benchmarks" / "results" / f"learning_{game.NAME}.json", report)
    draw(report, trainer.config.select_by, game.TITLE, n, ROOT / "docs" / "images" / f"learning_{game.NAME}.png")
    for name, found in report["against"].items():
        print(f"{game.TITLE}, {n} seats, {options.seeds} seeds, chips per deal against {name}:", end=" ")
        print(_words(found["chips_per_deal"]))
        for seat, one in enumerate(found["by_seat"]):
            print(f"  at seat {seat}: {_words(one)}")
    return 0


def _without_decks(summary: dict[str, Any]) -> dict[str, Any]:
    """A match's summary without the result of each deck, which is long."""
    return {name: value for name, value in summary.items() if name != "by_deck"}


def _against(runs: Sequence[dict[str, Any]], opponent: str) -> dict[str, Any]:
    """What the kept policies of all seeds win from an opponent: over seeds, at each seat, and in the worst case."""
    first = [run["evaluation"][opponent]["agents"][0] for run in runs]
    by_seat = np.array([[seat["mean"] for seat in one["by_seat"]] for one in first]).T
    return {
        "chips_per_deal": _over_seeds(np.array([one["chips_per_deal"]["mean"] for one in first])),
        "by_seat": [_over_seeds(seat) for seat in by_seat],
        "worst_lower_bound": min(seat["mean"] - seat["half_width"] for one in first for seat in one["by_seat"]),
    }


def _over_seeds(values: np.ndarray) -> dict[str, float]:
    """Mean over seeds with half a 95 % interval (Student's t) and the extremes."""
    half = T_95[len(values) - 1] * values.std(ddof=1) / np.sqrt(len(values))
    return {"mean": values.mean(), "half_width": half, "least": values.min(), "most": values.max()}


def _words(found: dict[str, float]) -> str:
    return f"{found['mean']:+.2f} ± {found['half_width']:.2f} (least {found['least']:+.2f}, most {found['most']:+.2f})"


def draw(report: dict[str, Any], opponent: str, title: str, num_players: int, path: Path) -> None:
    """Learning curves of all seeds against one opponent."""
    from auction_env.core.plots import import_matplotlib

    import_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.2), dpi=120, layout="constrained")
    axis = figure.add_subplot()
    for run in report["runs"]:
        points = [point for point in run["curve"] if opponent in point["chips"]]
        millions = [point["timesteps"] / 1e6 for point in points]
        chips = np.array([point["chips"][opponent]["mean"] for point in points])
        half = np.array([point["chips"][opponent]["half_width"] for point in points])
        (line,) = axis.plot(millions, chips, linewidth=1.2, label=f"seed {run['seed']}")
        axis.fill_between(millions, chips - half, chips + half, alpha=0.12, color=line.get_color(), linewidth=0)
    axis.axhline(0, color="grey", linewidth=0.8)
    axis.set_xlabel("decisions learned from, millions")
    axis.set_ylabel("chips per deal")
    axis.set_title(f"{title}: self-play, measured against {num_players - 1} of {opponent} (bands: 95 %)")
    axis.grid(alpha=0.3)
    axis.legend(loc="lower right")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


if __name__ == "__main__":
    sys.exit(main())
