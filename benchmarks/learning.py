"""Train a config with several seeds and report chips per deal against agents: mean and interval over seeds.

``python -m benchmarks.learning configs/auction_poker.toml --seeds 5`` writes ``benchmarks/results/learning_GAME.json``
and a learning curve of all seeds, ``docs/images/learning_GAME.png``. Finished runs are kept under ``runs/learning`` and
not made again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
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
    from auction_env.agents.learning.checkpoint import provenance
    from auction_env.agents.learning.config import load_config

    from auction_env.core.files import write_json

    runs = []
    for seed in range(options.seeds):
        folder = Path("runs") / "learning" / f"{Path(options.config).stem}_{seed}"
        config = load_config(options.config, [*options.overrides, f"seed={seed}", f"run={folder}"])
        runs.append(_run(config, folder, seed))
    game, settings = config.resolve()
    report = {
        "command": " ".join(
            ["python -m benchmarks.learning", options.config, *options.overrides, f"--seeds {options.seeds}"]
        ),
        "timesteps": config.total_timesteps,
        "against": {name: _against(runs, name) for name in config.eval_opponents},
        "runs": runs,
        **provenance(),
    }
    write_json(ROOT / "benchmarks" / "results" / f"learning_{game.NAME}.json", report)
    draw(report, game.TITLE, settings.num_players, ROOT / "docs" / "images" / f"learning_{game.NAME}.png")
    print(table(report))
    return 0


def _run(config: Any, folder: Path, seed: int) -> dict[str, Any]:
    """One seed: its curve, its evaluation, its seconds; an unfinished run goes on where it stopped."""
    from auction_env.agents.learning.checkpoint import CHECKPOINT
    from auction_env.agents.learning.runs import resume_run, start_run

    begun = time.process_time()
    trainer = resume_run(folder, []) if (folder / CHECKPOINT).exists() else start_run(config)
    if not (folder / "evaluation.json").exists():
        trainer.run()
        trainer.final_evaluation()
    found = json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))
    evaluation = {name: _without_decks(result) for name, result in found.items()}
    curve = json.loads((folder / "curve.json").read_text(encoding="utf-8"))
    run = {"seed": seed, "seconds": curve[-1]["seconds"], "cpu_seconds": round(time.process_time() - begun, 1)}
    print(f"seed {seed}: {run['seconds']:.0f} s, {_by_name(evaluation)}", flush=True)
    return {**run, "curve": curve, "evaluation": evaluation}


def _without_decks(result: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in result.items() if name != "by_deck"}


def _by_name(evaluation: dict[str, Any]) -> dict[str, float]:
    return {name: round(found["agents"][0]["chips_per_deal"]["mean"], 2) for name, found in evaluation.items()}


def _against(runs: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """Over seeds, in all seats and seat by seat, and the least lower bound that any seed has in any seat."""
    agents = [run["evaluation"][name]["agents"][0] for run in runs]
    by_seat = np.array([[seat["mean"] for seat in agent["by_seat"]] for agent in agents]).T
    return {
        "chips_per_deal": _over_seeds(np.array([agent["chips_per_deal"]["mean"] for agent in agents])),
        "by_seat": [_over_seeds(seat) for seat in by_seat],
        "worst_lower_bound": min(seat["mean"] - seat["half_width"] for agent in agents for seat in agent["by_seat"]),
    }


def table(report: dict[str, Any]) -> str:
    """The figures as Markdown: a row a seed, and one over seeds."""
    names = list(report["against"])
    lines = ["| seed | " + " | ".join(f"against `{name}`" for name in names) + " | in the worst seat |"]
    lines.append("| --- |" + " --- |" * (len(names) + 1))
    for run in report["runs"]:
        agents = [run["evaluation"][name]["agents"][0] for name in names]
        cells = [_words(agent["chips_per_deal"]) for agent in agents]
        worst = min(agents[-1]["by_seat"], key=lambda seat: seat["mean"] - seat["half_width"])
        lines.append(f"| {run['seed']} | " + " | ".join(cells) + f" | {_words(worst)} |")
    over = [_words(report["against"][name]["chips_per_deal"]) for name in names]
    lines.append("| all | " + " | ".join(over) + " | |")
    return "\n".join(lines)


def _over_seeds(values: np.ndarray) -> dict[str, float]:
    """Mean over seeds with half a 95 % interval (Student's t) and the extremes."""
    half = T_95[len(values) - 1] * values.std(ddof=1) / np.sqrt(len(values))
    return {"mean": values.mean(), "half_width": half, "least": values.min(), "most": values.max()}


def _words(found: dict[str, float]) -> str:
    return f"{found['mean']:+.2f} ± {found['half_width']:.2f}"


def draw(report: dict[str, Any], title: str, num_players: int, path: Path) -> None:
    """Learning curves of all seeds against the strongest of the agents they were measured by, the last one named."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.2), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)  # whatever MPLBACKEND says
    axis, name = figure.add_subplot(), list(report["against"])[-1]
    for run in report["runs"]:
        points = [point for point in run["curve"] if name in point["chips"]]
        millions = [point["timesteps"] / 1e6 for point in points]
        chips = np.array([point["chips"][name]["mean"] for point in points])
        half = np.array([point["chips"][name]["half_width"] for point in points])
        (line,) = axis.plot(millions, chips, ".-", linewidth=1.2, label=f"seed {run['seed']}")
        axis.fill_between(millions, chips - half, chips + half, alpha=0.12, color=line.get_color(), linewidth=0)
    axis.axhline(0, color="black", linewidth=0.8, label=f"one more `{name}`")
    axis.set_xlabel("decisions learned from, millions (after the warm start)")
    axis.set_ylabel(f"chips per deal against {num_players - 1} `{name}`")
    axis.set_title(f"{title}: self-play, averaged weights as they learn (bands: 95 %)")
    axis.grid(alpha=0.3)
    axis.legend(loc="lower right")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


if __name__ == "__main__":
    sys.exit(main())
