"""The learning curve as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from auction_env.agents.learning.evaluation import Point

from auction_env.core.plots import import_matplotlib

PICTURE = "curve.png"
_COLOURS = {"random": "tab:grey", "rules": "tab:blue", "pool": "tab:green"}


EXPLOITABILITY_PICTURE = "exploitability.png"


def draw_exploitability(folder: Path, curve: Sequence[Point], title: str) -> Path | None:
    """Exact exploitability over decisions, ``exploitability.png`` in the folder; None if it was not computed."""
    points = [point for point in curve if point.exploitability]
    if not points:
        return None
    import_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.add_subplot()
    for name in points[0].exploitability:
        values = [point.exploitability[name] for point in points]
        axis.plot([point.timesteps / 1e6 for point in points], values, ".-", label=f"{name} weights", linewidth=1.2)
    axis.set_xlabel("decisions learned from, millions")
    axis.set_ylabel("exploitability, chips per deal")
    axis.set_title(title)
    axis.set_ylim(bottom=0)
    axis.grid(alpha=0.3)
    axis.legend()
    path = folder / EXPLOITABILITY_PICTURE
    figure.savefig(path)
    return path


def draw_curve(folder: Path, curve: Sequence[Point], title: str) -> Path:
    """Chips a deal against each opponent, with 95 % intervals, over decisions; ``curve.png`` in the folder.

    Chips against random players are of another size than the others, so they have an axis of their own.
    """
    import_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)  # whatever MPLBACKEND says
    axis = figure.add_subplot()
    twin = axis.twinx()
    for name in dict.fromkeys(name for point in curve for name in point.chips):
        place = twin if name == "random" else axis
        points = [point for point in curve if name in point.chips]
        millions = [point.timesteps / 1e6 for point in points]
        means = [point.chips[name].mean for point in points]
        widths = [point.chips[name].half_width for point in points]
        (line,) = place.plot(millions, means, ".-", label=f"against {name}", color=_COLOURS.get(name), linewidth=1.2)
        low, high = ([m + sign * w for m, w in zip(means, widths, strict=True)] for sign in (-1, 1))
        place.fill_between(millions, low, high, alpha=0.2, color=line.get_color(), linewidth=0)
    axis.axhline(0, color="black", linewidth=0.8)
    axis.set_xlabel("decisions learned from, millions")
    axis.set_ylabel("chips per deal, 95 % interval")
    axis.set_title(f"{title}: learning by self-play, all seats learn")
    axis.grid(alpha=0.3)
    twin.set_ylabel("chips per deal against random players")
    twin.set_ylim(bottom=0)
    lines = [*axis.get_lines()[:-1], *twin.get_lines()]
    axis.legend(lines, [str(line.get_label()) for line in lines], loc="lower right")
    path = folder / PICTURE
    figure.savefig(path)
    return path
