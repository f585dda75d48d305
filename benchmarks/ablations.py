"""What each part of the learner is worth: the default config with one part changed, several seeds, all else equal.

``python -m benchmarks.ablations --seeds 3`` writes ``benchmarks/results/ablations.json``, the table of
``docs/training_study.md`` and its picture, ``docs/images/ablations.png``. A run that stands in the results is not
made again.

The runs are shortened. What is reported is the kept policy, at the temperature that the run chose, on decks that no
choice was made by: chips a deal against two ``rules``, and against two of the policy in the box that plays all numbers
of seats, whom no run has met.
"""

from __future__ import annotations

import argparse
import functools
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learning import T_95

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "ablations.json"
PAGE = ROOT / "docs" / "training_study.md"
PICTURE = ROOT / "docs" / "images" / "ablations.png"
START, END = "<!-- written by benchmarks.ablations -->", "<!-- to here -->"
CONFIG = ROOT / "configs" / "auction_poker.toml"
SHORT = (
    "total_timesteps=600000",
    "num_envs=1024",
    "batch_size=1024",
    "warm_start_timesteps=200000",
    "evaluate_deals=1000",
    "threads=1",
    "opponent_pool_draws=0",
)
HELD_OUT = f"ppo:{ROOT}/auction_env/data/agents/auction_poker_champion.safetensors?temperature=0.3"
MEASURED = {"rules": "rules", "held out": HELD_OUT}
WIDER = ('opponents=["rules", "rules:tight", "rules:loose", "rules:aggressive"]', "snapshot_every=2")
VARIANTS: dict[str, tuple[str, ...]] = {
    "default, shortened": (),
    "one of the pool an iteration": ("opponent_pool_draws=1",),
    "flat observation, MLP 256 x 128": ('network="mlp"', "net_arch=[256, 128]"),
    "no warm start": ('warm_start=""',),
    "no `rules` among the opponents": ("opponents=[]",),
    "no pool: self-play alone": ("opponents=[]", "opponent_pool_prob=0.0"),
    "magnet, KL 0.05": ("kl_coef=0.05",),
    "pool of all styles, snapshots five times as often": WIDER,
    "the same pool, by priority": (*WIDER, "prioritized=true"),
    "entropy bonus 0": ("ent_coef=0.0", "ent_coef_end=0.0"),
    "entropy bonus 0.05": ("ent_coef=0.05",),
    "lambda 0.95": ("gae_lambda=0.95",),
    "critic that sees all cards": ("oracle_critic=true",),
    "counterfactual actions, 1,024 an iteration": ("label_decisions=1024",),
    "counterfactual actions, a tenth of the weight": ("label_decisions=1024", "label_coef=0.1"),
    "search labels, 256 x 4 worlds an iteration": ("label_decisions=256", "label_worlds=4"),
    "search labels, a tenth of the weight": ("label_decisions=256", "label_worlds=4", "label_coef=0.1"),
}


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--deals", type=int, default=4000, help="of each measurement")
    parser.add_argument("--variants", nargs="*", default=list(VARIANTS), help="some of them, by name")
    options = parser.parse_args()
    run = functools.partial(_run, deals=options.deals)
    _write(run_missing(RESULTS, options.seeds, options.variants, run, _write))
    return 0


def run_missing(
    results: Path,
    seeds: int,
    variants: Sequence[str],
    run: Callable[[str, int], dict[str, Any]],
    write: Callable[[list[dict[str, Any]]], None],
) -> list[dict[str, Any]]:
    """Run each variant with each seed, but those that stand in the results; all runs are written after each."""
    runs = json.loads(results.read_text(encoding="utf-8"))["runs"] if results.exists() else []
    done = {(one["variant"], one["seed"]) for one in runs}
    for seed in range(seeds):
        for variant in variants:
            if (variant, seed) not in done:
                runs.append(run(variant, seed))
                write(runs)
    return runs


def _run(variant: str, seed: int, deals: int) -> dict[str, Any]:
    """Train one variant with one seed and measure it."""
    from auction_env.agents.learning.config import load_config
    from auction_env.agents.learning.runs import start_run

    from auction_env import agents
    from auction_env.evaluation.match import play_match

    folder = Path(tempfile.mkdtemp()) / "run"
    config = load_config(CONFIG, [*SHORT, *VARIANTS[variant], f"seed={seed}", f"run={folder}"])
    begun = time.process_time()
    trainer = start_run(config, lambda _: None)
    trainer.run()
    seconds = time.process_time() - begun
    game, settings = trainer.game, trainer.settings
    learner = agents.make(f"ppo:{folder}", game, settings, 1)
    chips = {}
    for name, spec in MEASURED.items():
        others = [agents.make(spec, game, settings, 2)] * (settings.num_players - 1)
        found = play_match(game, settings, [learner, *others], deals, 77).agent(0)
        chips[name] = [found.mean, found.half_width]
    shutil.rmtree(folder.parent)
    print(f"{variant}, seed {seed}: {chips}, {seconds:.0f} CPU s", flush=True)
    return {"variant": variant, "seed": seed, "cpu_seconds": round(seconds, 1), "deals": deals, "chips": chips}


def _write(runs: list[dict[str, Any]]) -> None:
    from auction_env.agents.learning.checkpoint import provenance

    from auction_env.core.files import write_json

    write_json(RESULTS, {"command": "python -m benchmarks.ablations", "short": SHORT, "runs": runs, **provenance()})
    page = PAGE.read_text(encoding="utf-8")
    before, after = page[: page.index(START)], page[page.index(END) :]
    PAGE.write_text(f"{before}{START}\n\n{table(runs)}\n{after}", encoding="utf-8")
    draw(runs)


def over_seeds(runs: list[dict[str, Any]], variant: str, name: str) -> tuple[float, float, int]:
    """Mean over seeds, half a 95 % interval (Student's t; NaN for one seed), and how many seeds."""
    values = np.array([run["chips"][name][0] for run in runs if run["variant"] == variant])
    if len(values) < 2:
        return (float(values.mean()) if len(values) else np.nan), np.nan, len(values)
    return float(values.mean()), float(T_95[len(values) - 1] * values.std(ddof=1) / np.sqrt(len(values))), len(values)


def _variants(runs: list[dict[str, Any]]) -> list[str]:
    made = {run["variant"] for run in runs}
    return [variant for variant in VARIANTS if variant in made]


def table(runs: list[dict[str, Any]]) -> str:
    """The figures as Markdown, a row a variant."""
    lines = [
        "| variant | against two `rules` | against two held out | seeds | CPU s |",
        "| --- | --- | --- | --- | --- |",
    ]
    for variant in _variants(runs):
        cells = []
        for name in MEASURED:
            mean, width, number = over_seeds(runs, variant, name)
            cells.append(f"{mean:+.2f} ± {width:.2f}")
        seconds = np.mean([run["cpu_seconds"] for run in runs if run["variant"] == variant])
        lines.append(f"| {variant} | " + " | ".join(cells) + f" | {number} | {seconds:.0f} |")
    return "\n".join(lines) + "\n"


def draw(runs: list[dict[str, Any]]) -> None:
    """Each seed a point, each variant a line with its mean."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    variants = _variants(runs)[::-1]
    figure = Figure(figsize=(8, 0.45 * len(variants) + 1.4), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.add_subplot()
    for name, colour in zip(MEASURED, ("tab:blue", "tab:orange"), strict=True):
        for line, variant in enumerate(variants):
            values = [run["chips"][name][0] for run in runs if run["variant"] == variant]
            axis.plot(values, [line] * len(values), "o", color=colour, alpha=0.5, markersize=5)
            axis.plot(
                np.mean(values),
                line,
                "|",
                color=colour,
                markersize=16,
                label=f"against two {name}" if not line else None,
            )
    axis.axvline(0, color="black", linewidth=0.8)
    axis.set_yticks(range(len(variants)), [variant.replace("`", "") for variant in variants])
    axis.set_xlabel("chips a deal; a point a seed, a bar their mean")
    axis.grid(alpha=0.3, axis="x")
    figure.legend(loc="outside upper center", ncols=2)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE)


if __name__ == "__main__":
    sys.exit(main())
