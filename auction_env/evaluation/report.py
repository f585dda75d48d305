"""A page about a match: the tables, and how the agents behaved, in pictures; one HTML file that needs no other."""

from __future__ import annotations

import html
import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from auction_env.core.plots import drawing
from auction_env.evaluation.results import Estimate, MatchResult, digest_of, seating_words
from auction_env.evaluation.statistics import Choices, Measured, choices_of, measure, statistics_of
from auction_env.games.game import Game

MIN_SHOWN = 20  # observations that a mark in a picture stands for, at least; the tables have all

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; border-top: 1px solid #ddd; padding-top: 1rem; }
table { border-collapse: collapse; margin: .5rem 0; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .15rem .7rem; text-align: right; white-space: nowrap; border-bottom: 1px solid #eee; }
th:first-child, td:first-child { text-align: left; }
.wide { overflow-x: auto; } .note { color: #555; } svg { width: 100%; height: auto; }
summary { cursor: pointer; color: #555; } code { font-size: .85rem; }
"""
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#f0e442")  # Okabe and Ito


def report(game: Game, settings: Any, result: MatchResult, notes: dict[str, np.ndarray]) -> str:
    """The page, as HTML.

    Args:
        game: the game.
        settings: its Settings.
        result: of the match.
        notes: what ``auction_env.evaluation.statistics.StatisticsRecorder`` kept of some of its deals.
    """
    states = np.ascontiguousarray(notes["finals"]).view(game.STATE).reshape(-1)
    names = [result.names[place] for place in result.agent_places]
    sections = [_match_section(result)]
    for fact in statistics_of(game, settings, states):
        sections.append(_fact_section(measure(fact, names, notes["seated"].astype(np.int64), notes["decks"])))
    for found in choices_of(game, settings, notes["counts"].sum(axis=0)):
        sections.append(_choice_section(found, names))
    shown = ", ".join(f"{name}={value}" for name, value in result.settings.items())
    title = f"{game.TITLE}: {', '.join(names)}"
    head = [
        f"<h1>{_text(title)}</h1>",
        f"<p>{result.deals} deals: {result.decks} decks, each "
        f"{_text(seating_words(result.payoffs.shape[1], result.possible))}. Behaviour is read from "
        f"{len(states)} of them. "
        "± and bars of error are halves of 95 % intervals; deals of one deck are taken together. "
        f"Pictures leave out what was seen fewer than {MIN_SHOWN} times.</p>",
        f"<p class='note'>{game.NAME}-v{result.version}: {_text(shown)}<br>seed {result.seed}, digest "
        f"<code>{result.digest}</code>, task <code>{digest_of(result.task)}</code></p>",
    ]
    return (
        f"<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><title>{_text(title)}</title>"
        f"<meta name='viewport' content='width=device-width'><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(head + sections)
        + "\n</body></html>\n"
    )


def _match_section(result: MatchResult) -> str:
    seats = range(len(result.names))
    rows = [
        [result.names[place], str(result.agent(place)), *(str(result.seat(place, seat)) for seat in seats)]
        for place in result.agent_places
    ]
    tables = [_table(["agent", "chips per deal", *(f"at seat {seat}" for seat in seats)], rows)]
    pairs = [(a, b) for a in result.agent_places for b in result.agent_places if a < b]
    if pairs:
        lines = [[f"{result.names[a]} less {result.names[b]}", str(result.pair(a, b))] for a, b in pairs]
        tables.append(_table(["head to head, at the same tables", "chips per deal"], lines))
    return "<h2>Chips</h2>\n" + "\n".join(tables)


def _fact_section(found: Measured) -> str:
    fact, used = found.fact, np.flatnonzero(found.counts.sum(axis=0))
    if not len(used):
        return _section(fact.title, fact.note, "<p>It never happened.</p>")
    labels = [fact.labels[label] for label in used]
    means = [[line[label] for label in used] for line in found.means]
    scale = 100.0 if fact.share else 1.0
    shown = found.counts[:, used] >= MIN_SHOWN
    rows = [
        [label, *(_cell(line[place], scale, int(found.counts[agent, used[place]])) for agent, line in enumerate(means))]
        for place, label in enumerate(labels)
    ]
    picture = _chart(
        fact.title,
        labels,
        found.agents,
        np.where(shown, [[one.mean * scale for one in line] for line in means], np.nan),
        np.array([[one.half_width * scale for one in line] for line in means]),
        "%" if fact.share else fact.unit,
        fact.ordered and len(labels) > 1,
    )
    return _section(fact.title, fact.note, picture + _folded_table(["", *found.agents], rows))


def _choice_section(found: Choices, names: Sequence[str]) -> str:
    total = found.counts.sum(axis=1, keepdims=True)
    shares = 100 * found.counts / np.maximum(total, 1)
    rows = [
        [label, *(f"{shares[agent, place]:.1f} % ({found.counts[agent, place]})" for agent in range(len(names)))]
        for place, label in enumerate(found.labels)
    ]
    picture = _chart(found.title, found.labels, names, np.where(total > 0, shares, np.nan), None, "%", False)
    note = "Share of all decisions of the agent in this phase; no interval, for those of one deal go together."
    return _section(found.title, note, picture + _folded_table(["", *names], rows))


def _cell(found: Estimate, scale: float, count: int) -> str:
    if not count:
        return ""
    width = f" ± {found.half_width * scale:.2f}" if np.isfinite(found.half_width) else ""
    return f"{found.mean * scale:.2f}{width} ({count})"


def _chart(
    title: str,
    labels: Sequence[str],
    names: Sequence[str],
    means: np.ndarray,
    errors: np.ndarray | None,
    unit: str,
    lines: bool,
) -> str:
    """A chart as inline SVG: bars side by side, or lines, one colour an agent."""
    with drawing(svg_fonttype="none", svg_hashsalt=title, font_family="sans-serif", font_size=10):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 3.4), layout="constrained")
        axis = figure.add_subplot()
        places = np.arange(len(labels))
        width = 0.8 / len(names)
        for agent, name in enumerate(names):
            colour = _COLOURS[agent % len(_COLOURS)]
            error = None if errors is None else np.where(np.isfinite(errors[agent]), errors[agent], 0)
            if lines:
                axis.errorbar(places, means[agent], error, color=colour, label=name, marker="o", capsize=3)
            else:
                at = places + (agent - (len(names) - 1) / 2) * width
                axis.bar(at, means[agent], width * 0.92, yerr=error, color=colour, label=name, capsize=2)
        axis.set_xticks(places, labels, rotation=25 if max(map(len, labels)) * len(labels) > 90 else 0)
        axis.set_ylabel(unit)
        axis.axhline(0, color="grey", linewidth=0.8)
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(axis="y", alpha=0.3)
        figure.legend(loc="outside upper right", ncols=min(len(names), 4), frameon=False)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    svg = out.getvalue()
    return svg[svg.index("<svg") :].replace("<svg ", f"<svg role='img' aria-label='{_text(title)}' ", 1)


def _section(title: str, note: str, content: str) -> str:
    return f"<h2>{_text(title)}</h2>\n<p class='note'>{_text(note)}</p>\n{content}"


def _folded_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return f"<details><summary>numbers (and of how many observations)</summary>{_table(heads, rows)}</details>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{_text(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "\n".join(line(row, "td") for row in rows)
    return f"<div class='wide'><table>{line(heads, 'th')}\n{body}</table></div>"


def _text(text: str) -> str:
    return html.escape(text, quote=True)
