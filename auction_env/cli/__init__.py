"""The command line: what there is; play at a table in the terminal; replay records; train; evaluate; solve."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from auction_env.cli import check_bot, exchange, generate, listing, pictures, play, replay, serve, watch
from auction_env.cli.arguments import INTERRUPTED, Parser, finish, integer, parse_settings
from auction_env.cli.screen import COLORS, Stop, set_color
from auction_env.core.terminal import show

PROGRAM = "auction-env"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns:
        The exit status: 0; 1 if an agent failed; 2 for bad arguments or files; 130 after Ctrl-C.
    """
    line = list(sys.argv[1:] if arguments is None else arguments)
    if line[:1] == ["train"]:
        from auction_env.cli import train

        return train.main(line[1:], f"{PROGRAM} train")
    if line[:1] == ["evaluate"]:
        from auction_env.cli import evaluate

        return evaluate.main(line[1:], f"{PROGRAM} evaluate")
    if line[:1] == ["solve"]:
        from auction_env.cli import solve

        return solve.main(line[1:], f"{PROGRAM} solve")
    options = _parser().parse_args(line)
    set_color(getattr(options, "color", "auto"))

    def work() -> int:
        try:
            return int(options.run(options))
        except (Stop, EOFError):
            show("\nStopped.")
            return 0

    return finish("auction_env", work)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog=PROGRAM, description=__doc__)
    parser.set_defaults(run=listing.run)
    commands = parser.add_subparsers(metavar="command")
    commands.add_parser("list", help="games, settings, agents and interfaces; also without a command")
    _add_play(commands.add_parser("play", help="play at a table"))
    _add_replay(commands.add_parser("replay", help="step through a record, or make pictures of it"))
    _add_watch(commands.add_parser("watch", help="agents alone at a table"))
    serve.add_options(commands.add_parser("serve", help="the table in a browser: play, watch, learn"))
    check_bot.add_options(commands.add_parser("check-bot", help="check a bot: a program in any language"))
    exchange.add_export(commands.add_parser("export", help="a policy as ONNX, or as a zip for sb3-contrib"))
    exchange.add_import(commands.add_parser("import", help="a zip of stable-baselines3 as a policy file"))
    generate.add_options(commands.add_parser("generate", help="games of any agents as a parquet file"))
    commands.add_parser("train", help="learn to play by self-play: train --help")
    commands.add_parser("evaluate", help="measure agents: evaluate --help")
    commands.add_parser("solve", help="solve a small setting exactly: solve --help")
    return parser


def _add_play(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    parser.set_defaults(run=play.run)
    add("game", nargs="?", default="auction_poker", help="name of the game (default: %(default)s)")
    add("--seat", type=integer, default=0, help="your seat, from 0 (default: %(default)s)")
    add(
        "--opponents",
        default="random",
        metavar="AGENT[,AGENT...]",
        help="one for all the other seats, or one for each, clockwise from you: rules,ppo:runs/x (default: random)",
    )
    add("--seed", type=integer, help="of the deals and the agents (default: a fresh one)")
    add("--set", action="append", default=[], metavar="key=value", help="a setting of the game: pot_shares=[3,2,1]")
    add("--record", type=Path, metavar="FILE", help="write the record of what was played here")
    _add_color(parser)


def _add_replay(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=replay.run)
    parser.add_argument("file", type=Path, help="JSON as env.record() or play --record gives it")
    parser.add_argument("--seat", type=integer, help="show what this seat could see (default: everything)")
    parser.add_argument("--all", action="store_true", help="print all steps without waiting")
    pictures.add_options(parser)
    _add_color(parser)


def _add_watch(parser: argparse.ArgumentParser) -> None:
    watch.add_options(parser)
    _add_color(parser)


def _add_color(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--color", choices=COLORS, default="auto", help="red suits in red (default: auto, on a terminal)"
    )


__all__ = ["INTERRUPTED", "PROGRAM", "main", "parse_settings"]
