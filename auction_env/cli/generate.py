"""The command ``generate``: games of any agents as a file of rows and columns, and a check of such a file."""

from __future__ import annotations

import argparse
from pathlib import Path

from auction_env.cli import lineup
from auction_env.cli.arguments import check_seats, integer
from auction_env.core.extras import require
from auction_env.core.files import check_output
from auction_env.core.terminal import show

DEALS = 10_000


def add_options(parser: argparse.ArgumentParser) -> None:
    """What ``generate`` takes."""
    parser.set_defaults(run=run, program=parser.prog)
    add = parser.add_argument
    add("agents", nargs="*", metavar="AGENT", help="one for each seat, as in `evaluate`: champion rules rules")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--output", type=Path, metavar="FILE", help="parquet file to write: games.parquet")
    what.add_argument("--verify", type=Path, metavar="FILE", help="play such a file again and compare every cell")
    add("--game", help="name of the game (default: that of the first run named, or auction_poker)")
    add("--set", action="append", default=[], metavar="key=value", help="a setting of the game: num_deals=5")
    add("--deals", type=integer, default=DEALS, help="tables to play (default: %(default)s)")
    add("--seed", type=integer, default=0, help="seed of the decks, seats and agents (default: %(default)s)")
    add("--workers", type=integer, help="processes (default: one for each core); the file is the same")


def run(options: argparse.Namespace) -> int:
    """Write a file of games, or check one; returns the exit status."""
    require("data")
    from auction_env.evaluation import dataset

    if options.verify:
        if options.agents:
            raise ValueError(f"--verify asks no agents: leave {' '.join(options.agents)} out")
        with lineup.deals_bar() as progress:
            digest = dataset.verify(options.verify, progress)
        show(f"{options.verify}: every cell is what the engine plays; digest {digest}")
        return 0
    if not options.agents:
        raise ValueError("name the agents, one for each seat: generate rules rules random --output games.parquet")
    check_seats(options.agents)
    check_output(options.output, "--output")
    game, settings = lineup.table(options, options.agents, len(options.agents))
    with lineup.deals_bar() as progress:
        found = dataset.generate(
            options.output,
            game,
            settings,
            options.agents,
            options.deals,
            lineup.maker(),
            options.seed,
            contents=lineup.contents_of(options.agents),
            workers=lineup.workers(options),
            progress=progress,
        )
    size = options.output.stat().st_size
    show(f"{options.output}: {found['deals']:,} deals, {found['rows']:,} decisions, {size:,} bytes")
    show(f"digest {found['digest']}")
    return 0
