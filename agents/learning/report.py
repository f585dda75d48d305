"""The learning curve as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from auction_env.agents.learning.selfplay import Evaluation

PICTURE = "curve.png"


def draw_curve(folder: Path, curve: list[Evaluation], title: str, num_players: int) -> Path:
    """Chips a deal against random opponents, and the policy's entropy, over decisions; ``curve.png`` in the folder."""
    import matplotlib

    matplotlib.use("Agg", force=False)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), dpi=120, layout="constrained")
    axis = figure.add_subplot()
    millions = [point.decisions / 1e6 for point in curve]
    chips = [point.chips for point in curve]
    low = [point.chips - point.half_width for point in curve]
    high = [point.chips + point.half_width for point in curve]
    axis.fill_between(millions, low, high, alpha=0.25, color="tab:blue", linewidth=0)
    axis.plot(millions, chips, color="tab:blue", label="chips per deal (95 % interval)")
    axis.axhline(0, color="grey", linewidth=0.8)
    axis.set_xlabel("learner decisions, millions")
    axis.set_ylabel(f"chips per deal against {num_players - 1} random opponents")
    axis.set_title(f"{title}: learning by self-play, {num_players} seats")
    axis.grid(alpha=0.3)
    twin = axis.twinx()
    twin.plot(
        millions, [point.entropy for point in curve], color="tab:orange", linewidth=1, label="entropy of the policy"
    )
    twin.set_ylabel("entropy, nats")
    twin.set_ylim(bottom=0)
    lines = axis.get_lines()[:1] + twin.get_lines()
    axis.legend(lines, [str(line.get_label()) for line in lines], loc="center right")
    path = folder / PICTURE
    figure.savefig(path)
    return path
