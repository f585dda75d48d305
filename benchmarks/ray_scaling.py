"""Training on Ray with 1, 2, ... workers, in turn, in one process: who takes how long, and how many bytes travel.

``python -m benchmarks.ray_scaling`` (where Ray is installed) writes ``benchmarks/results/ray_scaling.json`` and prints
the tables of docs/ray.md: what was measured, and what follows from it for larger clusters. Medians are over the
iterations of all rounds but the first of each, in which things are loaded.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from auction_env.agents.learning.config import load_config
from auction_env.agents.learning.ray_engine import Costs, RayPPO
from auction_env.agents.learning.runs import start_run

from auction_env.core.files import write_json
from auction_env.core.provenance import provenance

ROOT = Path(__file__).parent.parent
RESULT = ROOT / "benchmarks" / "results" / "ray_scaling.json"
NETWORK = 1.25e9  # bytes a second of the learner's node, both ways: 10 Gbit
NODES = (1, 2, 10, 100)  # of two workers each, in the model


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", nargs="?", default=str(ROOT / "configs" / "auction_poker.toml"))
    parser.add_argument("overrides", nargs="*", metavar="key=value")
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=20)
    options = parser.parse_args()
    taken: dict[int, list[tuple[Costs, float]]] = {number: [] for number in options.workers}
    for _ in range(options.rounds):
        for number in options.workers:
            taken[number] += run(options.config, options.overrides, number, options.iterations)
    rows = [row(number, found) for number, found in taken.items()]
    report = {"rows": rows, "model": model(rows[0]), **provenance(("ray", "torch", "numpy"))}
    write_json(RESULT, report)
    print(table(report))


def run(path: str, overrides: list[str], workers: int, iterations: int) -> list[tuple[Costs, float]]:
    """Costs of each iteration but the first, and the seconds that it took in all; no evaluations within."""
    base = load_config(path, overrides)
    with tempfile.TemporaryDirectory() as folder:
        values = {
            "engine": "ray",
            "workers": workers,
            "total_timesteps": base.num_envs * base.n_steps * iterations,
            "run": Path(folder) / "run",
            "warm_start": "",
            "threads": 1,
            "evaluate_every": 10**6,
            "checkpoint_every": 10**6,
        }
        quick = ["eval_opponents=[]", "select_by=", "evaluate_deals=2"]
        config = load_config(path, [*(f"{name}={value}" for name, value in values.items()), *quick, *overrides])
        trainer = start_run(config, lambda _: None)
        ends: list[float] = []
        after = trainer.after_iteration

        def timed(progress: Any) -> None:
            ends.append(time.perf_counter())
            after(progress)

        trainer.after_iteration = timed  # type: ignore[method-assign]
        trainer.run()
    assert isinstance(trainer.model, RayPPO)
    whole = [later - before for before, later in pairwise(ends)]
    return list(zip(trainer.model.costs[1:], whole, strict=True))


def row(workers: int, found: list[tuple[Costs, float]]) -> dict[str, float]:
    """Medians over iterations."""

    def median(values: Any) -> float:
        return float(statistics.median(values))

    return {
        "workers": workers,
        "decisions": median(cost.decisions for cost, _ in found),
        "learned": median(cost.learned for cost, _ in found),
        "playing": median(cost.decisions / cost.playing for cost, _ in found),
        "learning": median(cost.decisions / cost.learning for cost, _ in found),
        "whole": median(cost.decisions / seconds for cost, seconds in found),
        "weights": median(cost.weights for cost, _ in found),
        "experience": median(cost.experience / cost.decisions for cost, _ in found),
    }


def model(one: dict[str, float]) -> list[dict[str, float]]:
    """What bounds a cluster: seconds an iteration of playing, of each way over the network, and of learning.

    Workers play as one does; the learner's node sends each the weights and takes all experience in, at NETWORK bytes a
    second; learning takes as long as here. All four come one after the other, as they do in RLlib's PPO.
    """
    rows = []
    for nodes in NODES:
        workers = 2 * nodes
        seconds = {
            "playing": one["decisions"] / (one["playing"] * workers),
            "experience": one["decisions"] * one["experience"] / NETWORK,
            "weights": one["weights"] * workers / NETWORK,
            "learning": one["decisions"] / one["learning"],
        }
        whole = one["decisions"] / sum(seconds.values())
        rows.append({"nodes": nodes, "workers": workers, **seconds, "whole": whole})
    return rows


def table(report: dict[str, Any]) -> str:
    """Both tables, for docs/ray.md."""
    first = report["rows"][0]
    lines = [
        "| workers | decisions/s played | ratio | decisions/s learned | decisions/s in all | ratio |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for one in report["rows"]:
        cells = [f"{one['workers']:.0f}"]
        for name in ("playing", "learning", "whole"):
            cells.append(f"{one[name]:,.0f}")
            cells += [] if name == "learning" else [f"{one[name] / first[name]:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        f"Weights: {first['weights'] / 1e3:.0f} kB to each worker and iteration. Experience: {first['experience']:.0f} "
        f"bytes a decision, {first['experience'] * first['decisions'] / 1e6:.0f} MB an iteration of "
        f"{first['decisions']:,.0f} decisions, {first['learned'] / first['decisions']:.0%} of which are learned from.",
        "",
        "| nodes | playing, s | experience, s | weights, s | learning, s | decisions/s in all |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for one in report["model"]:
        cells = [f"{one[name]:.3f}" for name in ("playing", "experience", "weights", "learning")]
        lines.append(f"| {one['nodes']} | {' | '.join(cells)} | {one['whole']:,.0f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
