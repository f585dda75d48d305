"""How strong a search is by how long it thinks: chips a deal against the champion, over milliseconds a decision.

``python -m benchmarks.search_strength`` plays, in Auction Poker with three seats, the search over the learned policy
and the search by script, each with more and more playouts a decision, against two of ``champion``, and writes
``benchmarks/results/search_strength.json``, the table in ``docs/training_study.md`` and its picture. What was played
before, with the same policies and as many deals, is kept: the command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import ROOT
from benchmarks.shipped_agents import policies_digest

RESULTS = ROOT / "benchmarks" / "results" / "search_strength.json"
PAGE = ROOT / "docs" / "training_study.md"
PICTURE = ROOT / "docs" / "images" / "search_strength.png"
START, END = "<!-- written by benchmarks.search_strength -->", "<!-- to here -->"
GAME, SEATS, OPPONENT = "auction_poker", 3, "champion"
SEARCHES = {"over the champion's policy": "montecarlo:policy=champion,", "by script": "montecarlo:"}
DEALS = {16: 9_000, 64: 9_000, 256: 3_000, 1024: 600}  # by playouts a decision; the longest are the dearest
TIMED = 200  # decisions by which a search is timed


def main(argv: list[str] | None = None) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=max(DEALS), choices=DEALS, help="playouts a decision, at most")
    most = parser.parse_args(argv).most

    import torch

    torch.set_num_threads(1)
    content = _standing()
    for rollouts, deals in DEALS.items():
        for title, start in SEARCHES.items():
            agent = f"{start}rollouts={rollouts}"
            if rollouts <= most and agent not in {row["agent"] for row in content["rows"]}:
                content["rows"].append({"search": title, **_measure(agent, rollouts, deals)})
                _write(content)
    _write(content)
    return 0


def _standing() -> dict[str, Any]:
    """The results so far, if they are of the policies that are in the box now."""
    from auction_env.agents.learning.checkpoint import provenance

    content = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    digest = policies_digest()
    rows = content["rows"] if content.get("policies") == digest else []
    return {"policies": digest, **provenance(), "rows": rows}


def _measure(agent: str, rollouts: int, deals: int) -> dict[str, Any]:
    """One search against copies of the opponent, every deck in all seatings; and what a decision of it takes."""
    from auction_env import agents
    from auction_env.engine.table import settings_of
    from auction_env.evaluation.match import play_match
    from auction_env.games import get_game

    game = get_game(GAME)
    settings = settings_of(game, {"num_players": SEATS})
    search, other = agents.make(agent, game, settings, 1), agents.make(OPPONENT, game, settings, 2)
    result = play_match(game, settings, [search, *[other] * (SEATS - 1)], deals, 6_2026)
    found = {
        "agent": agent,
        "rollouts": rollouts,
        "deals": result.deals,
        "chips": [result.agent(0).mean, result.agent(0).half_width],
        "milliseconds": _milliseconds(search, game, settings),
        "digest": result.digest,
    }
    print(agent, result.agent(0), f"{found['milliseconds']:.1f} ms a decision", flush=True)
    return found


def _milliseconds(search: Any, game: Any, settings: Any) -> float:
    """Processor time of a decision where there is more than one choice, of those that come up between scripts."""
    from auction_env import agents
    from auction_env.engine.agent import ask
    from auction_env.engine.batch import Batch

    batch, rng = Batch(game, settings, 8), np.random.default_rng(0)
    batch.reset(3)
    script, out, taken, decisions = agents.make("rules", game, settings, 3), batch.out, 0.0, 0
    while decisions < TIMED:
        given = (game, batch.states, out.seats, out.observations, out.masks)
        begun = time.process_time()
        ask(search, *given, rng)
        taken += time.process_time() - begun
        decisions += int((out.masks.sum(axis=1) > 1).sum())
        for _ in range(5):
            batch.step(ask(script, game, batch.states, out.seats, out.observations, out.masks, rng))
    return 1000 * taken / decisions


def _write(content: dict[str, Any]) -> None:
    from auction_env.core.files import write_file, write_json

    write_json(RESULTS, content)
    page = PAGE.read_text(encoding="utf-8")
    head, rest = page.split(START)
    write_file(PAGE, f"{head}{START}\n\n{table(content['rows'])}\n\n{END}{rest.split(END, 1)[1]}")
    draw(content["rows"], PICTURE)


def table(rows: list[dict[str, Any]]) -> str:
    """The figures as Markdown, a row for each number of playouts."""
    lines = ["| playouts a decision | " + " | ".join(f"{title}: chips a deal, ms | deals" for title in SEARCHES) + " |"]
    lines.append("| --- |" + " --- |" * (2 * len(SEARCHES)))
    found = {(row["rollouts"], row["search"]): row for row in rows}
    for rollouts in sorted({row["rollouts"] for row in rows}):
        cells = []
        for title in SEARCHES:
            row = found.get((rollouts, title))
            cells += [f"{row['chips'][0]:+.2f} ± {row['chips'][1]:.2f}, {row['milliseconds']:.1f} ms"] if row else [""]
            cells += [f"{row['deals']:,}"] if row else [""]
        lines.append(f"| {rollouts:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """The curve: chips a deal over milliseconds, a line for each search."""
    from auction_env.core.plots import import_matplotlib

    import_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    for title, colour in zip(SEARCHES, ("#0b6e4f", "#9a9a9a"), strict=True):
        mine = sorted((row for row in rows if row["search"] == title), key=lambda row: row["milliseconds"])
        at, mean, width = (
            [row["milliseconds"] for row in mine],
            [row["chips"][0] for row in mine],
            [row["chips"][1] for row in mine],
        )
        axes.errorbar(at, mean, width, marker="o", color=colour, capsize=3, label=f"search {title}")
    axes.axhline(0, color="#444444", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlabel("processor time a decision, milliseconds")
    axes.set_ylabel("chips a deal against two of champion")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, facecolor="white", dpi=160)


if __name__ == "__main__":
    sys.exit(main())
