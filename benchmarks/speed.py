"""How fast each layer is, beside peers in the same run: ``make bench`` or ``python -m benchmarks.speed [row ...]``.

Prints a table; writes ``benchmarks/results/speed.json``, the pictures ``docs/images/speed*.png`` and the tables of
``docs/benchmarks.md``. Rows given by name are measured anew and the others kept from the file.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from auction_env import get_game
from benchmarks import costs, layers, learners
from benchmarks.games import MAIN_GAME, all_games, threads_name
from benchmarks.measure import ROOT, TINY, Effort, OthersLoad, machine, three_digits, times

RESULTS = ROOT / "benchmarks" / "results" / "speed.json"
IMAGES = ROOT / "docs" / "images"
PAGE, README = ROOT / "docs" / "benchmarks.md", ROOT / "README.md"
ROWS: dict[str, Callable[[Effort, Sequence[str]], dict[str, Any]]] = {
    "rollouts": layers.rollouts,
    "batch_step": layers.batch_step,
    "one_table": layers.one_table,
    "aec": layers.aec,
    "hands": layers.hands,
    "learning": learners.learning,
    "vecenv": learners.vecenv,
    "startup": costs.startup,
    "memory": costs.memory,
    "growth": costs.growth,
}
BEGIN, END = "<!-- written by make bench -->", "<!-- to here -->"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="row", help=f"of {', '.join(ROWS)}; all if none is given")
    parser.add_argument("--tiny", action="store_true", help="as little as can be: shows that it runs, measures nothing")
    parser.add_argument("--out", type=Path, help="write the JSON here, and no pictures or pages")
    parser.add_argument("--row-to", type=Path, help=argparse.SUPPRESS)  # of a child process: one row, its data only
    options = parser.parse_args(arguments)
    for row in options.rows:
        if row not in ROWS:
            parser.error(f"there is no row {row!r}: the rows are {', '.join(ROWS)}")
    effort = TINY if options.tiny else Effort()
    if options.row_to:
        options.row_to.write_text(json.dumps(ROWS[options.rows[0]](effort, all_games())), encoding="utf-8")
        return 0
    if options.tiny and not options.out:
        parser.error("--tiny measures nothing: give it a file of its own with --out")
    target = options.out or RESULTS
    report = measure(options.rows or list(ROWS), options.tiny, target)
    print(text(report))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    if options.out is None:
        from benchmarks.pictures import draw_all

        draw_all(report, IMAGES)
        write_page(tables(report), PAGE)
        write_page(short_table(report), README)
    return 0


def measure(names: Sequence[str], tiny: bool, before: Path) -> dict[str, Any]:
    """Measure some rows, each in a process of its own; rows that are not asked for come from the file ``before``."""
    old: dict[str, Any] = json.loads(before.read_text(encoding="utf-8")) if before.exists() else {}
    kept = old.get("rows", {}) if set(names) != set(ROWS) else {}
    load = OthersLoad().start()
    time.sleep(0 if tiny else 3)
    idle = load.stop()
    print(f"other programs keep {idle} of {os.cpu_count()} cores busy now", file=sys.stderr, flush=True)
    # As train.py decides it: threads that wait spin on idle cores, and sleep where others use them.
    busy = idle is not None and idle > (os.cpu_count() or 1) / 2
    environment = {"OMP_WAIT_POLICY": "PASSIVE"} if busy else {}
    rows: dict[str, Any] = {}
    for name in ROWS:
        if name in names:
            rows[name] = _in_own_process(name, tiny, environment)
        elif name in kept:
            rows[name] = kept[name]
    return {"machine": machine(), "others_cores_before": idle, "games": list(all_games()), "rows": rows}


def _in_own_process(name: str, tiny: bool, environment: Mapping[str, str]) -> dict[str, Any]:
    """A row, measured in a new process: what one leaves behind (threads, memory) does not touch the next."""
    print(f"{name} ...", end=" ", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "row.json"
        command = [sys.executable, "-m", "benchmarks.speed", name, "--row-to", str(file), *(["--tiny"] if tiny else [])]
        load, begun = OthersLoad().start(), time.perf_counter()
        run = subprocess.run(
            command, cwd=ROOT, env={**environment, **os.environ}, capture_output=True, text=True, check=False
        )
        taken, others = time.perf_counter() - begun, load.stop()
        if run.returncode:
            raise RuntimeError(f"row {name} failed:\n{run.stderr}")
        row: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    print(f"{taken:.0f} s, others used {others} cores", file=sys.stderr, flush=True)
    for line in row["skipped"]:
        print(f"  {line}", file=sys.stderr, flush=True)
    return {**row, "others_cores": others, "seconds": round(taken, 1)}


# --- what people read ------------------------------------------------------------------------------------------------


def amount(value: float, unit: str) -> str:
    """A figure in words: ``41.2 million``, ``18,300``, ``0.31``, ``31 %``, ``45 MiB``."""
    if unit == "of an iteration's time":
        return f"{value:.0%}".replace("%", " %")
    if unit == "bytes":
        return f"{value / 2**20:.0f} MiB" if value >= 2**20 else f"{value:.0f} bytes"
    if unit == "s":
        return f"{value:.1f} s"
    if value >= 1e6:
        return f"{value / 1e6:.1f} million" if value < 1e8 else f"{value / 1e6:.0f} million"
    return f"{three_digits(value):,.0f}"


def _spread_words(entry: Mapping[str, Any], unit: str) -> str:
    if entry["p10"] == entry["p90"]:
        return amount(entry["median"], unit)
    return f"{amount(entry['median'], unit)} ({amount(entry['p10'], unit)} to {amount(entry['p90'], unit)})"


def text(report: Mapping[str, Any]) -> str:
    """The whole report as text for a terminal."""
    lines = []
    for row in report["rows"].values():
        if not row["figures"]:
            continue
        lines.append(f"\n{row['title']}  [{row['unit']}]")
        for figure in row["figures"]:
            ratios = [
                f"{times(entry['median'])} {entry['peer']}"
                for entry in row["ratios"]
                if entry["name"] == figure["name"]
            ]
            mark = "*" if figure["game"] else " "
            lines.append(f" {mark} {figure['name']:<58} {_spread_words(figure, row['unit']):<42} {'; '.join(ratios)}")
        lines += [f"   target: {target['what']}: {verdict(target, row['unit'])}" for target in row["targets"]]
        lines += [f"   {line}" for line in row["skipped"]]
        lines.append(f"   others used {row['others_cores']} cores meanwhile")
    return "\n".join(lines)


def verdict(target: Mapping[str, Any], unit: str) -> str:
    """Whether a target is met, and by what."""
    if target["met"] is None:
        return "not measured"
    found = times(target["found"]) if target["peer"] else amount(target["found"], unit)
    return ("met" if target["met"] else "NOT met") + f", {found}"


def tables(report: Mapping[str, Any]) -> str:
    """The tables of the docs page, as Markdown."""
    made = report["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in made["versions"].items())
    lines = [
        f"Measured on {made['cpu']}, {made['cores']} cores, {made['memory_gib']} GiB, {made['system']}, "
        f"Python {made['python']}; {versions}.",
        "",
        "| layer | ours | | peer in the same run | | ratio |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in report["rows"].values():
        figures = {figure["name"]: figure for figure in row["figures"]}
        for place, head in enumerate(row["headlines"]):
            peers = head["peers"] or [None]
            for number, peer in enumerate(peers):
                ours = f"{_label(head)} | {_spread_words(figures[head['name']], row['unit'])}" if number == 0 else "|"
                lines.append(
                    f"| {_title(row) if place == 0 and number == 0 else ''} | {ours} | {_beside(row, head, peer)} |"
                )
    lines += ["", "| asked of Auction Poker | | found |", "| --- | --- | --- |"]
    for row in report["rows"].values():
        lines += [f"| {row['title']} | {t['what']} | {verdict(t, row['unit'])} |" for t in row["targets"]]
    skipped = [line for row in report["rows"].values() for line in row["skipped"]]
    return "\n".join([*lines, *([""] if skipped else []), *(f"- {line}" for line in skipped)])


def _title(row: Mapping[str, Any]) -> str:
    return f"{row['title']}, {row['unit']}" if "/" in row["unit"] else str(row["title"])


def _label(head: Mapping[str, Any]) -> str:
    """Our contender's name, with the game's title for its module's name."""
    return str(head["name"]).replace(head["game"], get_game(head["game"]).TITLE)


def _beside(row: Mapping[str, Any], head: Mapping[str, Any], peer: str | None) -> str:
    """Three cells: a peer, its figure, and the ratio of ours to it."""
    if peer is None:
        return "| |"
    theirs = next(figure for figure in row["figures"] if figure["name"] == peer)
    found = next(r for r in row["ratios"] if r["name"] == head["name"] and r["peer"] == peer)
    words = f"**{times(found['median'])}** ({times(found['p10'])} to {times(found['p90'])})"
    return f"{peer} | {_spread_words(theirs, row['unit'])} | {words}"


# Of the rows in README.md: the row, what it is there, our contender (of the main game), the peer.
SHORT = (
    (
        "rollouts",
        "compiled rollouts, {threads}",
        "{game}, {threads}",
        "OpenSpiel limit hold'em, C++ rollouts, 1 thread",
    ),
    ("batch_step", "`Batch.step`, 4,096 tables, with observations and masks", "{game}, int8", "pgx Leduc"),
    (
        "one_table",
        "`Table`, with observations",
        "{game}, with observations",
        "OpenSpiel limit hold'em, with observations",
    ),
    ("aec", "PettingZoo AEC `env()`", "{game}", "PettingZoo texas_holdem_v4"),
    ("hands", "high hands of seven cards", "high", "eval7 high, inside its C loop"),
    ("hands", "low hands of seven cards, a call each", "low, `low_rank`, a call a hand", "pokerkit low, a call a hand"),
    ("learning", "`MaskablePPO` by self-play", "{game}", "MaskablePPO, tutorial's way, PettingZoo texas_holdem_v4"),
)


def short_table(report: Mapping[str, Any]) -> str:
    """The table of README.md, as Markdown: the main game beside one peer a layer."""
    lines = ["| layer | a second | beside it | a second | ratio |", "| --- | --- | --- | --- | --- |"]
    words = {"game": MAIN_GAME, "threads": threads_name(report["machine"]["cores"] or 1)}
    for name, layer, ours, peer in SHORT:
        row = report["rows"].get(name, {"figures": [], "ratios": []})
        figures = {figure["name"]: amount(figure["median"], row["unit"]) for figure in row["figures"]}
        wanted = ours.format(**words)
        found = [r for r in row["ratios"] if (r["name"], r["peer"]) == (wanted, peer)]
        if found:
            ratio = f"**{times(found[0]['median'])}** ({times(found[0]['p10'])} to {times(found[0]['p90'])})"
            unit = row["unit"].removesuffix("/s")
            lines.append(f"| {layer.format(**words)} | {figures[wanted]} {unit} | {peer} | {figures[peer]} | {ratio} |")
    return "\n".join(lines)


def write_page(content: str, page: Path) -> None:
    """Put text in a page, between its two marks."""
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n\n{content}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
