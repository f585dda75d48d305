"""The pictures of the speed report: ours beside the peers, growth of cost, where a training iteration's time goes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from auction_env.core.plots import import_matplotlib

import_matplotlib()
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from auction_env import get_game
from benchmarks.measure import times

OURS, PEER = ("#0b6e4f", "#5aa786", "#9ccbb5"), "#9a9a9a"
RATE_UNITS = ("decisions/s", "hands/s", "learner decisions/s")


def draw_all(report: Mapping[str, Any], folder: Path) -> None:
    """``speed.png``, ``speed_growth.png`` and ``speed_training.png``, as far as their rows were measured."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = {name: row for name, row in report["rows"].items() if row["unit"] in RATE_UNITS and row["headlines"]}
    if rows:
        draw_layers(rows, folder / "speed.png")
    if "growth" in report["rows"]:
        draw_growth(report["rows"]["growth"], folder / "speed_growth.png")
    if "vecenv" in report["rows"]:
        draw_training(report["rows"]["vecenv"], folder / "speed_training.png")


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, facecolor="white")


def _title(name: str) -> str:
    return get_game(name).TITLE


# --- layers ----------------------------------------------------------------------------------------------------------


def _bars(row: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any], str, str]]:
    """(label, figure, colour, note) of a row's bars: each game's headlines, then the peers they are set against."""
    figures = {figure["name"]: figure for figure in row["figures"]}
    games = list(dict.fromkeys(head["game"] for head in row["headlines"]))
    found = []
    for head in row["headlines"]:
        chief = next((r for r in row["ratios"] if r["name"] == head["name"] and r["peer"] in head["peers"][:1]), None)
        note = times(chief["median"]) if chief else ""
        label = head["name"].replace(head["game"], _title(head["game"])).replace("`", "")
        found.append((label, figures[head["name"]], OURS[games.index(head["game"]) % len(OURS)], note))
    peers = dict.fromkeys(peer for head in row["headlines"] for peer in head["peers"])
    return found + [(peer, figures[peer], PEER, "") for peer in peers]


def draw_layers(rows: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """A panel for each layer: rates on a log scale, whiskers from the 10th to the 90th percentile."""
    bars = {name: _bars(row) for name, row in rows.items()}
    heights = [len(found) + 1.3 for found in bars.values()]
    figure = Figure(figsize=(11, 0.27 * sum(heights) + 0.6), dpi=110, layout="constrained")
    panels = figure.subplots(len(rows), 1, height_ratios=heights, squeeze=False)[:, 0]
    for axis, (name, row) in zip(panels, rows.items(), strict=True):
        _draw_layer(axis, row, bars[name])
    figure.suptitle(
        "Green: auction_env, with its ratio to the first peer below; grey: peers in the same run", fontsize=10
    )
    _save(figure, path)


def _draw_layer(axis: Axes, row: Mapping[str, Any], bars: list[tuple[str, Mapping[str, Any], str, str]]) -> None:
    for place, (_label, figure, colour, note) in enumerate(bars):
        middle = figure["median"]
        whiskers = [[middle - figure["p10"]], [figure["p90"] - middle]]
        axis.barh(
            place, middle, color=colour, height=0.72, xerr=whiskers, error_kw={"linewidth": 1, "ecolor": "#333333"}
        )
        axis.annotate(
            f"{_short(middle)}{'   ' + note if note else ''}",
            (max(middle, figure["p90"]), place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            fontweight="bold" if note else "normal",
        )
    axis.set_yticks(range(len(bars)), [bar[0] for bar in bars], fontsize=8)
    axis.invert_yaxis()
    axis.set_xscale("log")
    axis.set_xlim(min(bar[1]["p10"] for bar in bars) / 2, 10 * max(bar[1]["p90"] for bar in bars))
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.tick_params(axis="x", labelsize=7)
    axis.grid(axis="x", alpha=0.25)
    axis.set_axisbelow(True)
    axis.set_title(f"{row['title'].replace('`', '')}  [{row['unit']}]", fontsize=9, loc="left", fontweight="bold")
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def _short(value: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g} {letter}"
    return f"{value:.3g}"


# --- growth ----------------------------------------------------------------------------------------------------------


def draw_growth(row: Mapping[str, Any], path: Path) -> None:
    """Cost by tables, cost by seats, memory and speed over a long run; a line of panels for each game."""
    games = list(row["tables"])
    figure = Figure(figsize=(12, 3.6 * len(games)), dpi=110, layout="constrained")
    for axes, name in zip(figure.subplots(len(games), 3, squeeze=False), games, strict=True):
        _by_tables(axes[0], row["tables"][name], _title(name))
        _by_seats(axes[1], row["seats"][name], _title(name))
        _long_run(axes[2], row["long_run"][name], row["long_run_aec"][name], _title(name))
    _save(figure, path)


def _by_tables(axis: Axes, found: Mapping[str, Any], title: str) -> None:
    counts = found["tables"]
    for label, colour in (("1 thread", OURS[0]), ("threads chosen by Batch", "#c46210")):
        steps = found[label]["microseconds_per_step"]
        middle = [step["median"] for step in steps]
        axis.plot(counts, middle, "o-", markersize=3.5, linewidth=1.3, color=colour, label=label)
        axis.fill_between(
            counts, [s["p10"] for s in steps], [s["p90"] for s in steps], color=colour, alpha=0.15, linewidth=0
        )
    last = found["1 thread"]["microseconds_per_step"][-1]["median"]
    axis.plot(counts, [last * count / counts[-1] for count in counts], ":", color="grey", label="proportional")
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xlabel("tables")
    axis.set_ylabel("microseconds a step")
    axis.set_title(f"{title}: Batch.step by tables", fontsize=9)
    axis.legend(fontsize=7)
    axis.grid(alpha=0.25)


def _by_seats(axis: Axes, found: list[Mapping[str, Any]], title: str) -> None:
    seats = [fact["seats"] for fact in found]
    right = axis.twinx()
    for kind, label, colour, side in (("step", "Batch.step", OURS[0], axis), ("rollout", "rollouts", "#c46210", right)):
        costs = [fact[f"{kind}_ns_per_decision"] for fact in found]
        middle = [cost["median"] for cost in costs]
        side.plot(seats, middle, "o-", markersize=3.5, linewidth=1.3, color=colour, label=label)
        side.fill_between(
            seats, [c["p10"] for c in costs], [c["p90"] for c in costs], color=colour, alpha=0.15, linewidth=0
        )
        side.set_ylim(0, 1.35 * max(cost["p90"] for cost in costs))
        side.set_ylabel(f"{label}: nanoseconds a decision", color=colour)
    axis.set_xlabel("seats")
    axis.set_xticks(seats)
    axis.set_title(f"{title}: by seats, one thread", fontsize=9)
    axis.grid(alpha=0.25)


def _long_run(axis: Axes, batch: Mapping[str, Any], aec: Mapping[str, Any], title: str) -> None:
    for found, label, colour in ((batch, "Batch.step", OURS[0]), (aec, "AEC loop", "#c46210")):
        points = found["points"]
        last = points[-1]["decisions"]
        axis.plot(
            [point["decisions"] / last for point in points],
            [point["resident_bytes"] / 2**20 for point in points],
            "o-",
            markersize=3,
            linewidth=1.3,
            color=colour,
            label=f"{label}, {_short(last)} decisions",
        )
    most = max(point["resident_bytes"] for found in (batch, aec) for point in found["points"]) / 2**20
    axis.set_ylim(0, 1.2 * most)
    axis.set_xlim(0, 1)
    axis.set_xlabel("fraction of the run")
    axis.set_ylabel("MiB in use by the process")
    axis.set_title(f"{title}: memory while playing", fontsize=9)
    axis.legend(fontsize=7, loc="lower right")
    axis.grid(alpha=0.25)


# --- training --------------------------------------------------------------------------------------------------------

_COLOURS = ("#0b6e4f", "#5aa786", "#9ccbb5", "#cfe6db", "#c46210", "#e0a169", "#bdbdbd", "tab:cyan", "tab:olive")


def draw_training(row: Mapping[str, Any], path: Path) -> None:
    """Where the time of a training iteration goes: one bar for each game, what is inside ``VecEnv.step`` in green."""
    from benchmarks.learners import IN_VECENV, LEARNER, REST, UPDATES

    names = list(row["shares"])
    figure = Figure(figsize=(10, 1.4 + 0.6 * len(names)), dpi=110, layout="constrained")
    axis = figure.subplots()
    for place, name in enumerate(names):
        left = 0.0
        for part, colour in zip((*IN_VECENV, LEARNER, UPDATES, REST), _COLOURS, strict=False):
            share = row["shares"][name].get(part, 0.0)
            axis.barh(place, share, left=left, color=colour, height=0.6, label=part if place == 0 else None)
            if share > 0.03:
                axis.text(left + share / 2, place, f"{share:.0%}", ha="center", va="center", fontsize=8)
            left += share
    axis.axvline(1 / 3, color="black", linewidth=0.8, linestyle=":")
    axis.set_yticks(range(len(names)), [f"{_title(n)}, {row['trained'][n]['seats']} seats" for n in names], fontsize=8)
    axis.set_xlim(0, 1)
    axis.set_xticks([0, 0.25, 1 / 3, 0.5, 0.75, 1], ["0", "1/4", "1/3", "1/2", "3/4", "1"], fontsize=8)
    axis.set_title("Share of a training iteration's time; green is inside VecEnv.step", fontsize=9)
    figure.legend(loc="outside lower center", ncols=4, fontsize=8)
    _save(figure, path)
