"""Pictures of a record: ``replay --gif``, ``--mp4`` and ``--svg``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from auction_env.cli.arguments import integer
from auction_env.cli.screen import say
from auction_env.core.extras import require
from auction_env.core.files import check_outputs, write_file
from auction_env.games.game import Game, TableView

MOST_PICTURES = 5000  # in one film
_PACES = (0.1, 60.0)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of ``replay`` that ask for pictures."""
    add = parser.add_argument_group("pictures, instead of text").add_argument
    add("--gif", type=Path, metavar="FILE", help="write what happened as a GIF")
    add("--mp4", type=Path, metavar="FILE", help="write it as an MP4: pip install 'auction_env[video]'")
    add("--svg", type=Path, metavar="FILE", help="write one state as an SVG: the last, or that of --deal and --step")
    add("--deal", type=integer, help="of this deal alone, from 1 (default: all; of --svg: the last)")
    add("--step", type=integer, help="with --svg: after so many decisions of the deal, from 0 (default: all)")
    add("--pace", type=float, default=1.2, help="seconds of a decision (default: %(default)s)")
    add("--width", type=integer, default=780, help="of --gif and --mp4, in pixels (default: %(default)s)")


def wanted(options: argparse.Namespace) -> dict[str, Path | None]:
    """The files that were asked for, by option."""
    return {f"--{kind}": getattr(options, kind) for kind in ("gif", "mp4", "svg")}


def check(options: argparse.Namespace) -> None:
    """Raise ValueError or OutputError for what cannot be had, before any work."""
    check_outputs(wanted(options))
    if options.mp4:
        require("video")
    if not _PACES[0] <= options.pace <= _PACES[1]:
        raise ValueError(f"--pace {options.pace:g}: give {_PACES[0]:g} to {_PACES[1]:g} seconds")
    if not 64 <= options.width <= 4096:
        raise ValueError(f"--width {options.width}: give 64 to 4096 pixels")
    if options.step is not None and not options.svg:
        raise ValueError("--step is of --svg: films show all of a deal")


def write(options: argparse.Namespace, game: Game, deals: Sequence[Sequence[Any]]) -> None:
    """Write the files.

    Args:
        options: checked.
        game: the game.
        deals: for each, its rows of STATE: as dealt, and after each decision.

    Raises:
        ValueError: there is no such deal or step, or too much to show.
        OSError: a file cannot be written.
    """
    from auction_env.rendering.animation import write_gif, write_mp4
    from auction_env.rendering.picture import paint, svg

    number = options.deal if options.deal is not None else len(deals)
    if not 1 <= number <= len(deals):
        raise ValueError(f"--deal {number}: the record has deals 1 to {len(deals)}")

    def view(row: Any) -> TableView:
        return game.view(row, options.seat)

    if options.svg:
        deal = deals[number - 1]
        step = options.step if options.step is not None else len(deal) - 1
        if not 0 <= step < len(deal):
            raise ValueError(f"--step {step}: deal {number} has steps 0 to {len(deal) - 1}")
        write_file(options.svg, svg(view(deal[step])))
        say(f"Deal {number}, step {step}: {options.svg}")
    rows = deals[number - 1] if options.deal is not None else [row for deal in deals for row in deal]
    for path, make in ((options.gif, write_gif), (options.mp4, write_mp4)):
        if path is None:
            continue
        if len(rows) > MOST_PICTURES:
            raise ValueError(f"{len(rows)} pictures are too many for a film, at most {MOST_PICTURES}: name a --deal")
        make(path, (paint(view(row)) for row in rows), options.pace, options.width)
        say(f"{len(rows)} pictures: {path}")
