"""Make and measure the agents in the box.

``python -m benchmarks.shipped_agents make auction_poker`` trains ``configs/agents/champion_auction_poker.toml`` (or
goes on with its run) and copies two policies of that run into the package: the one that was kept, which ``champion``
plays, and the imitation of ``rules`` that it started from, which the levels below play, with more and more chance.

``python -m benchmarks.shipped_agents measure`` plays the levels against each other and against scripts and searches,
at every number of seats of the tables below, and writes ``benchmarks/results/shipped_agents.json`` and the tables of
``docs/agents_in_the_box.md`` after each. A match that stands in the results, of as many deals, is not played again,
unless the policies have changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "auction_env" / "data" / "agents"
RESULTS = ROOT / "benchmarks" / "results" / "shipped_agents.json"
PAGE = ROOT / "docs" / "agents_in_the_box.md"
START, END = "<!-- written by benchmarks.shipped_agents -->", "<!-- to here -->"
TEMPERATURES = {"hard": 1.0, "medium": 2.0, "easy": 4.0}  # of the imitation
SEATS = {"auction_poker": (2, 3, 4, 5, 6, 7), "auction_flop": (2, 3, 4, 5, 6, 7, 8)}
# Deals against searches, which are slow, by number of seats.
SEARCH_DEALS = {"auction_poker": {2: 4000, 3: 4000, 4: 1600, 7: 420}, "auction_flop": {2: 100_000, 4: 2000, 8: 1600}}
SEARCH = "montecarlo:rollouts=100"
PART = 64  # tables that a match against it finishes at once
PAIRS = (("champion", "hard"), ("hard", "medium"), ("medium", "easy"), ("easy", "random"))


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make", help="train and copy the policies of a game")
    making.add_argument("game", choices=sorted(SEATS))
    making.add_argument("--run", type=Path, help="a finished run of that config, in place of training")
    making.add_argument(
        "--seats", type=int, help="the champion of this number of seats alone, from a config of its own"
    )
    measuring = commands.add_parser("measure", help="play and write the tables")
    measuring.add_argument("--deals", type=int, default=20_000)
    measuring.add_argument("--part", choices=("all", "levels", "searches"), default="all")
    options = parser.parse_args()
    if options.command == "make":
        make(options.game, options.run, options.seats)
    else:
        measure(options.deals, options.part)
    return 0


# --- making -----------------------------------------------------------------------------------------------------------


def make(game: str, run: Path | None, seats: int | None) -> None:
    """Put the policies of a game's champion run into the package; for a number of seats alone, only the champion."""
    suffix = f"_{seats}" if seats else ""
    run = run or _train(ROOT / "configs" / "agents" / f"champion_{game}{suffix}.toml")
    FOLDER.mkdir(parents=True, exist_ok=True)
    path, champion = FOLDER / "levels.toml", f"{game}_champion{suffix}.safetensors"
    levels = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    shutil.copyfile(run / "model.safetensors", FOLDER / champion)
    entry = {"file": champion, "temperature": _temperature(run)}
    if seats:
        levels[game]["champion"][str(seats)] = entry
    else:
        shutil.copyfile(run / "imitation.safetensors", FOLDER / f"{game}_imitation.safetensors")
        levels[game] = {"champion": entry}
        for level, temperature in TEMPERATURES.items():
            levels[game][level] = {"file": f"{game}_imitation.safetensors", "temperature": temperature}
    path.write_text(_toml(levels), encoding="utf-8")
    print(f"wrote {path}: a run of {_seconds(run):.0f} s")


def _train(config: Path) -> Path:
    from auction_env.agents.learning.checkpoint import CHECKPOINT
    from auction_env.agents.learning.config import load_config
    from auction_env.agents.learning.runs import resume_run, start_run

    values = load_config(config)
    folder = Path(values.run)
    return (resume_run(folder, []) if (folder / CHECKPOINT).exists() else start_run(values)).run()


def _temperature(run: Path) -> float:
    from safetensors import safe_open

    with safe_open(run / "model.safetensors", "pt") as stored:
        return float(json.loads(stored.metadata()["json"])["temperature"])


def _seconds(run: Path) -> float:
    return float(json.loads((run / "curve.json").read_text(encoding="utf-8"))[-1]["seconds"])


def _toml(levels: dict[str, dict[str, dict[str, Any]]]) -> str:
    lines = ["# Which policy each level plays, at which temperature. Written by `python -m benchmarks.shipped_agents`."]
    for game in sorted(levels):
        for level, entry in levels[game].items():
            lines.append(f"\n[{game}.{level}]")
            lines += [f"{key} = {_value(value)}" for key, value in entry.items()]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(inside)}" for key, inside in value.items()) + " }"
    return json.dumps(value)


# --- measuring --------------------------------------------------------------------------------------------------------


def measure(deals: int, part: str) -> None:
    """All matches of a part."""
    import torch

    torch.set_num_threads(1)
    wanted = []
    if part != "searches":
        for game, all_seats in SEATS.items():
            for seats in all_seats:
                some = deals if seats in SEARCH_DEALS[game] else max(deals // 5, 2)
                wanted += [(game, seats, "champion", "rules", some)]
                wanted += [(game, seats, *pair, max(deals // 10, 2)) for pair in PAIRS]
    if part != "levels":
        wanted += [
            (game, seats, "champion", SEARCH, some)
            for game, of_game in SEARCH_DEALS.items()
            for seats, some in of_game.items()
        ]
    content = _standing()
    for *which, some in wanted:
        others = [m for m in content["matches"] if [m["game"], m["seats"], m["agent"], m["opponents"]] != which]
        if not any(m["deals"] >= some for m in content["matches"] if m not in others):
            content["matches"] = [*others, _match(*which, some)]
            _write(content)
    _write(content)


def _standing() -> dict[str, Any]:
    """The results so far, if they are of the policies that are in the box now."""
    from auction_env.agents.learning.checkpoint import provenance

    content = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    digest = policies_digest()
    if content.get("policies") != digest:
        content = {"matches": []}
    return {"policies": digest, **provenance(), "matches": content["matches"]}


def policies_digest() -> str:
    """Of all policies in the box: results are of them, and of no others."""
    digest = hashlib.sha256()
    for path in sorted(FOLDER.iterdir()):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _match(name: str, seats: int, first: str, other: str, deals: int) -> dict[str, Any]:
    """One agent against copies of another at all other seats, every deck in all distinct seatings.

    Matches against a search keep what they have finished, and go on from there.
    """
    from auction_env import agents
    from auction_env.engine.table import settings_of
    from auction_env.evaluation.runner import MatchConfig, play
    from auction_env.games import get_game

    game = get_game(name)
    settings = settings_of(game, {"num_players": seats})
    line, search = (first, *[other] * (seats - 1)), other == SEARCH
    contents = (policies_digest(),) * seats
    part = PART if search else None
    plan = MatchConfig(game, settings, line, deals, agents.make, 5_2026, contents, part_tables=part)
    folder = ROOT / "runs" / "shipped_agents" / f"{name}-{seats}" if search else None
    begun = time.perf_counter()
    result = play(plan, state=folder).result
    by_seat = [result.seat(0, seat) for seat in range(seats)]
    found = {
        "game": name,
        "seats": seats,
        "agent": first,
        "opponents": other,
        "deals": result.deals,
        "seconds": round(time.perf_counter() - begun, 1),
        "chips": [result.agent(0).mean, result.agent(0).half_width],
        "by_seat": [[one.mean, one.half_width] for one in by_seat],
        "digest": result.digest,
    }
    print(name, seats, first, "against", other, result.agent(0), flush=True)
    return found


def _write(content: dict[str, Any]) -> None:
    from auction_env.core.files import write_json

    write_json(RESULTS, content)
    page = PAGE.read_text(encoding="utf-8")
    before, after = page[: page.index(START)], page[page.index(END) :]
    PAGE.write_text(f"{before}{START}\n\n{tables(content)}\n{after}", encoding="utf-8")


def tables(content: dict[str, Any]) -> str:
    """The figures as Markdown: a table for each game, a row for each number of seats."""
    from auction_env.games import get_game

    parts = []
    for game, all_seats in SEATS.items():
        matches = {(m["seats"], m["agent"], m["opponents"]): m for m in content["matches"] if m["game"] == game}
        heads = [("champion", "rules"), ("champion", SEARCH), *PAIRS]
        lines = [
            f"## {get_game(game).TITLE}: chips a deal",
            "",
            "| seats | " + " | ".join(f"`{a}` against `{b}`" for a, b in heads) + " | least seat of `champion` |",
            "| --- |" + " --- |" * (len(heads) + 1),
        ]
        for seats in all_seats:
            row = [_cell(matches.get((seats, *head))) for head in heads]
            lines.append(
                f"| {seats} | " + " | ".join(row) + f" | {_least(matches.get((seats, 'champion', 'rules')))} |"
            )
        searches = [f"{m['deals']:,} with {s}" for (s, _, other), m in sorted(matches.items()) if other == SEARCH]
        lines += ["", f"Deals against `{SEARCH}`, by seats: {', '.join(searches)}."]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _cell(match: dict[str, Any] | None) -> str:
    if match is None:
        return ""
    mean, width = match["chips"]
    digits = 3 if width < 0.05 else 2
    return f"{mean:+.{digits}f} ± {width:.{digits}f}"


def _least(match: dict[str, Any] | None) -> str:
    if match is None:
        return ""
    mean, width = min(match["by_seat"], key=lambda one: one[0] - one[1])
    return f"{mean:+.2f} ± {width:.2f}"


if __name__ == "__main__":
    sys.exit(main())
