"""How strong the agents of this package are, and how fast: ``python -m benchmarks.agents``.

One agent plays among others of one kind, on fresh decks, each through all seat rotations. Writes
``benchmarks/results/agents.json`` and the tables of ``docs/agents.md`` between its marks.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from auction_env import agents, get_game
from auction_env.engine.agent import choose
from auction_env.engine.batch import Batch
from auction_env.evaluation.match import play_match
from auction_env.games.game import make_settings
from benchmarks.measure import ROOT, machine, three_digits

RESULTS = ROOT / "benchmarks" / "results" / "agents.json"
PAGE = ROOT / "docs" / "agents.md"
SEARCH = "montecarlo:rollouts=100"
SEED = 2026
# Deals of each pairing by game and seats: the searching agent needs fewer to be told apart, and takes longer.
QUICK_DEALS = {"auction_poker": {2: 8000, 3: 8000, 4: 8000, 7: 8000}, "auction_flop": {2: 8000, 4: 8000, 8: 8000}}
SEARCH_DEALS = {"auction_poker": {2: 1000, 3: 999, 4: 600, 7: 350}, "auction_flop": {2: 12000, 4: 3000, 8: 1504}}
STYLES = ("rules:tight", "rules:loose", "rules:aggressive")


def pairing(game_name: str, seats: int, one: str, others: str, deals: int) -> dict[str, Any]:
    """One agent among others of a kind: chips per deal with half a 95 % interval, deals and digest."""
    game = get_game(game_name)
    settings = make_settings(game, {"num_players": seats})
    made = [agents.make(spec, game, settings, SEED + place) for place, spec in enumerate((one, others))]
    players = [made[0]] + [made[1]] * (seats - 1)  # one object for all the others: seats are told apart by it
    result = play_match(game, settings, players, deals, SEED)
    print(f"{game_name}, {seats} seats: {one} among {others}: {result.agent(0)} ({result.deals} deals)", flush=True)
    return {
        "game": game_name,
        "seats": seats,
        "agent": one,
        "others": others,
        "deals": result.deals,
        "chips_per_deal": dataclasses.asdict(result.agent(0)),
        "digest": result.digest,
    }


def strengths(scale: float) -> list[dict[str, Any]]:
    """All pairings: each agent among the next weaker one, and the styles among ``rules``."""
    found = []
    for game, counts in QUICK_DEALS.items():
        for seats, deals in counts.items():
            found.append(pairing(game, seats, "rules", "random", int(deals * scale)))
        for seats, deals in SEARCH_DEALS[game].items():
            found.append(pairing(game, seats, SEARCH, "rules", int(deals * scale)))
        for style in STYLES:
            found.append(pairing(game, 4, style, "rules", int(counts[4] * scale)))
    return found


def decisions_per_second(game_name: str, spec: str, seats: int, tables: int, seconds: float) -> dict[str, Any]:
    """Decisions of one agent, asked for many tables at once, in one thread; the tables' own steps are not counted."""
    game = get_game(game_name)
    settings = make_settings(game, {"num_players": seats})
    agent = agents.make(spec, game, settings, SEED)
    batch = Batch(game, settings, tables, threads=1)
    out, rng = batch.reset(SEED), np.random.default_rng(SEED)
    rates: list[float] = []
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds or len(rates) < 8:
        start = time.perf_counter()
        actions = choose(agent, game, batch.states, out.seats, out.observations, out.masks, rng)
        rates.append(time.perf_counter() - start)
        batch.step(actions)
    return {
        "game": game_name,
        "seats": seats,
        "agent": spec,
        "tables": tables,
        "per_second": tables / np.mean(rates[1:]),
    }


def speeds(seconds: float) -> list[dict[str, Any]]:
    """Decisions per second of each agent at four seats."""
    return [
        decisions_per_second(game, spec, 4, 16 if spec == SEARCH else 4096, seconds)
        for game in QUICK_DEALS
        for spec in ("random", "rules", SEARCH)
    ]


# --- the page -------------------------------------------------------------------------------------------------------


def tables(report: dict[str, Any]) -> str:
    """The measured tables of the page, in Markdown."""
    lines = ["| game | seats | agent | among | chips per deal | deals |", "| --- | --- | --- | --- | --- | --- |"]
    for row in report["strengths"]:
        chips = row["chips_per_deal"]
        lines.append(
            f"| {get_game(row['game']).TITLE} | {row['seats']} | `{row['agent']}` | `{row['others']}` | "
            f"{chips['mean']:+.2f} ± {chips['half_width']:.2f} | {row['deals']:,} |"
        )
    lines += ["", "| game | agent | decisions per second |", "| --- | --- | --- |"]
    lines += [
        f"| {get_game(row['game']).TITLE} | `{row['agent']}` | {three_digits(row['per_second']):,.0f} |"
        for row in report["speeds"]
    ]
    return "\n".join(lines)


def fill_page(text: str, report: dict[str, Any]) -> str:
    """The page's text with its measured part replaced."""
    before, _, rest = text.partition("<!-- measured -->\n")
    after = rest.partition("<!-- end -->")[2]
    return f"{before}<!-- measured -->\n{tables(report)}\n<!-- end -->{after}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of deals (default: %(default)s)")
    options = parser.parse_args(arguments)

    from auction_env.core.files import write_json

    report = {
        "command": "python -m benchmarks.agents",
        "seed": SEED,
        "scale": options.scale,
        "strengths": strengths(options.scale),
        "speeds": speeds(2.0),
        "machine": machine(),
    }
    write_json(RESULTS, report)
    PAGE.write_text(fill_page(PAGE.read_text(encoding="utf-8"), report), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
