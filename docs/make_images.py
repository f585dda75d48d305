"""Draw the pictures of ``docs/images`` again: ``python docs/make_images.py [folder]``.

Each is one moment of a deal that a seed and random play lead to; anything that changes how tables look, or what a seed
deals, changes them.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import numpy as np
from PIL import Image

from auction_env.engine.table import Table
from auction_env.games.game import TableView
from auction_env.rendering.text import draw

HERE = Path(__file__).parent / "images"


@dataclasses.dataclass(frozen=True)
class Moment:
    """A table after ``moves`` random moves from a seed, as ``viewer`` sees it (None: everything)."""

    game: str
    seed: int
    moves: int
    viewer: int | None
    settings: dict[str, int]


MOMENTS = {
    "table.png": Moment("auction_poker", 2135, 26, 0, {"num_players": 4}),
    "showdown.png": Moment("auction_poker", 329, 1000, 0, {"num_players": 4}),
}


def view(moment: Moment) -> TableView:
    """The view of a moment."""
    table = Table(moment.game, moment.settings)
    table.reset(moment.seed)
    choose = np.random.default_rng(moment.seed)
    for _ in range(moment.moves):
        if table.to_act is None:
            break
        table.act(int(choose.choice(np.sort(table.legal()))))
    return table.view(moment.viewer)


def main(folder: Path) -> None:
    """Write all pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, moment in MOMENTS.items():
        Image.fromarray(draw(view(moment))).save(folder / name, optimize=True)
        print(folder / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
