"""The learning curve as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from auction_env.agents.learning.evaluation import Point

from auction_env.core.plots import drawing, save_picture

PICTURE, EXPLOITABILITY_PICTURE = "curve.png", "exploitability.png"
_COLOURS = {"random": "tab:grey", "rules": "tab:blue", "pool": "tab:green"}


@contextmanager
def _axes(path: Path, title: str) -> Iterator[Any]:
    """Axes of chips over decisions to draw into; then they are a picture, whatever MPLBACKEND says."""
    with drawing():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 4.5), dpi=120, layout="constrained")
        FigureCanvasAgg(figure)
        axis = figure.add_subplot()
        axis.set_xlabel("decisions learned from, millions")
        axis.set_title(title)
        axis.grid(alpha=0.3)
        yield axis
        save_picture(figure, path)


def draw_exploitability(folder: Path, curve: Sequence[Point], title: str) -> Path | None:
    """Exact exploitability over decisions, ``exploitability.png`` in the folder; None if it was not computed."""
    points = [point for point in curve if point.exploitability]
    if not points:
        return None
    path = folder / EXPLOITABILITY_PICTURE
    with _axes(path, title) as axis:
        for name in points[0].exploitability:
            values = [point.exploitability[name] for point in points]
            axis.plot([point.timesteps / 1e6 for point in points], values, ".-", label=f"{name} weights", linewidth=1.2)
        axis.set_ylabel("exploitability, chips per deal")
        axis.set_ylim(bottom=0)
        axis.legend()
    return path


def draw_curve(folder: Path, curve: Sequence[Point], title: str) -> Path:
    """Chips a deal against each opponent, with 95 % intervals, over decisions; ``curve.png`` in the folder.

    Chips against random players are of another size than the others, so they have an axis of their own. An interval
    that is not known, since one deck alone was played, is not drawn.
    """
    path = folder / PICTURE
    with _axes(path, f"{title}: learning by self-play, all seats learn") as axis:
        twin = axis.twinx()
        for name in dict.fromkeys(name for point in curve for name in point.chips):
            place = twin if name == "random" else axis
            points = [point for point in curve if name in point.chips]
            millions = [point.timesteps / 1e6 for point in points]
            means = np.array([point.chips[name].mean for point in points])
            widths = np.array([point.chips[name].half_width for point in points])
            widths[~np.isfinite(widths)] = 0.0
            colour, label = _COLOURS.get(name), f"against {name}"
            (line,) = place.plot(millions, means, ".-", label=label, color=colour, linewidth=1.2)
            place.fill_between(millions, means - widths, means + widths, alpha=0.2, color=line.get_color(), linewidth=0)
        axis.axhline(0, color="black", linewidth=0.8)
        axis.set_ylabel("chips per deal, 95 % interval")
        twin.set_ylabel("chips per deal against random players")
        twin.set_ylim(bottom=0)
        lines = [*axis.get_lines()[:-1], *twin.get_lines()]
        axis.legend(lines, [str(line.get_label()) for line in lines], loc="lower right")
    return path
