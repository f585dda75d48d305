"""Measure agents. Without a command, agents named one for each seat play a match.

Each deck is played through all distinct seatings; chips per deal come with 95 % intervals. Agents sample their moves.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from auction_env.cli import measure
from auction_env.cli.arguments import Parser, finish, integer
from auction_env.core.extras import MissingExtraError, require
from auction_env.core.files import check_outputs
from auction_env.core.terminal import show

DEALS = 30_000
OUTPUTS = ("json", "report", "output")  # options that name a file to write


class Command(NamedTuple):
    """A subcommand: what it is for, an example of its arguments, its options, and what it does."""

    meaning: str
    example: str
    options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None, program: str = "evaluate.py") -> int:
    """Run the command line.

    Args:
        arguments: what follows the program's name; None: ``sys.argv``.
        program: its name in help and messages.

    Returns:
        the exit status: 0; 1 if an agent failed; 2 for bad arguments or files; 130 for Ctrl-C. Of options that argparse
        refuses, ``SystemExit`` with status 2.
    """
    line = list(sys.argv[1:] if arguments is None else arguments)
    if line[:1] in (["-h"], ["--help"]):
        show(_overview(program), end="")
        return 0
    name = line.pop(0) if line and line[0] in COMMANDS else "match"
    command = COMMANDS[name]
    options = _parser(program, name).parse_intermixed_args(line)
    options.program = program

    from auction_env.agents.learning import share_cores

    share_cores()

    def work() -> int:
        check_outputs({f"--{each}": getattr(options, each, None) for each in OUTPUTS})
        return command.run(options)

    return finish(program, work, lambda: _stopped(options))


def _stopped(options: argparse.Namespace) -> str:
    folder = getattr(options, "checkpoint_dir", None)
    if folder:
        return f"stopped; the same command goes on from {folder}"
    return "stopped (--checkpoint-dir keeps what is played)" if hasattr(options, "checkpoint_dir") else "stopped"


def _overview(program: str) -> str:
    width = max(map(len, COMMANDS))
    rows = [f"  {name:{width}}  {command.meaning}\n" for name, command in COMMANDS.items()]
    examples = [
        f"  {program} {'' if name == 'match' else name + ' '}{command.example}\n" for name, command in COMMANDS.items()
    ]
    return (
        f"usage: {program} [command] ...\n\n{__doc__}\ncommands:\n{''.join(rows)}\n"
        f"examples:\n{''.join(examples)}\n{program} COMMAND --help tells more of each.\n"
    )


def _parser(program: str, name: str) -> argparse.ArgumentParser:
    command = COMMANDS[name]
    parser = Parser(
        prog=f"{program} {name}",
        description=f"{command.meaning[0].upper()}{command.meaning[1:]}.",
        epilog=f"example: {program} {name} {command.example}",
        allow_abbrev=False,
    )
    command.options(parser)
    return parser


# --- options, in groups ---------------------------------------------------------------------------------------------


def _table(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--game", help="name of the game (default: that of the first run named, or auction_poker)")
    add(
        "--set",
        action="append",
        default=[],
        metavar="key=value",
        help="a setting of the game (default: those of the first run named)",
    )


def _seats(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seats", type=integer, help="seats at the table, where the agents do not say it")


def _play(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--deals", type=integer, default=DEALS, help="tables played in all, at least (default: %(default)s)")
    add("--seed", type=integer, default=0, help="seed of the decks and agents (default: %(default)s)")
    add(
        "--seatings", type=_seatings, help="of each deck: at most so many, 'all', or 1: independent deals (default: 24)"
    )
    add(
        "--time-limit",
        type=_seconds,
        metavar="SECONDS",
        help="that any one decision may take; agents are then asked for one decision at a time",
    )
    add("--part", type=integer, metavar="TABLES", help="tables in a part: fewer for slow agents (part of the match)")


def _machine(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--workers",
        type=_workers,
        metavar="N|ray[:ADDRESS]",
        help="processes (default: one for each core), or a cluster of Ray: that at ADDRESS or RAY_ADDRESS, else one "
        "started here; the result is the same",
    )
    add(
        "--checkpoint-dir",
        metavar="DIR",
        type=Path,
        help="keep what is finished in this folder, and go on from there",
    )


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", metavar="FILE", type=Path, help="write all numbers to this file too")


def _seatings(text: str) -> int:
    return 1 << 30 if text == "all" else integer(text)


def _workers(text: str) -> int | str:
    if text.partition(":")[0] != "ray":
        return integer(text)
    try:
        require("ray", "ray")
    except MissingExtraError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text}: it must be above 0 seconds; leave it out for no limit")
    return value


def _match(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agents", nargs="+", help="one for each seat, such as: random, ppo:runs/x, ppo:runs/x?greedy")
    watched = parser.add_mutually_exclusive_group()
    watched.add_argument("--report", metavar="FILE", type=Path, help="write a page about how they played: out.html")
    watched.add_argument(
        "--aivat", action="store_true", help="take luck out of the estimates: unbiased, less variance, much slower"
    )
    watched.add_argument(
        "--records",
        nargs=2,
        metavar=("N", "DIR"),
        help="write the first N tables to this folder, for `replay` and `serve --record`",
    )
    for group in (_table, _play, _machine, _json):
        group(parser)


def _round_robin(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agents", nargs="+", help="two or more")
    for group in (_seats, _table, _play, _machine, _json):
        group(parser)


def _best_response(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("agent", help="who sits, frozen, at all seats but one")
    add(
        "overrides",
        nargs="*",
        metavar="key=value",
        help="config keys of the learner, as in train.py: total_timesteps=2e6 (its default here)",
    )
    _seats(parser)
    _table(parser)
    add("--deals", type=integer, default=DEALS, help="fresh deals that it is measured on (default: %(default)s)")
    add("--seed", type=integer, default=0, help="seed of the learner (default: %(default)s)")
    add(
        "--checkpoint-dir",
        metavar="DIR",
        type=Path,
        help="keep the run in this folder, and go on from there; then ppo:DIR plays the response",
    )
    _json(parser)


def _benchmark(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", help="'list', a name that it prints, or a file")
    parser.add_argument("agents", nargs="*", help="to measure, each on its own")
    parser.add_argument("--trust", action="store_true", help="let plug-ins run that a task file names as opponents")
    _machine(parser)
    _json(parser)


def _leaderboard(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("agents", nargs="*", help="besides the shipped agents")
    add("--output", metavar="FILE", type=Path, required=True, help="the page to write: LEADERBOARD.md")
    add(
        "--without",
        metavar="NAME",
        action="append",
        default=[],
        help="leave a shipped agent out; the page says so",
    )
    _machine(parser)


def _compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="that --json wrote, with one result or several")


COMMANDS = {
    "match": Command(
        "play agents against each other, one for each seat",
        "rules rules:tight random --report out.html",
        _match,
        measure.match,
    ),
    "round-robin": Command(
        "all line-ups of some agents, with ratings",
        "random rules rules:tight rules:loose --seats 3",
        _round_robin,
        measure.round_robin,
    ),
    "best-response": Command(
        "train a learner against an agent, to say by how much it is exploitable at least",
        "rules --seats 2 total_timesteps=2e6",
        _best_response,
        measure.best_response,
    ),
    "benchmark": Command(
        "measure agents at a standing benchmark",
        "auction_poker-4p-v0 rules --json a.json",
        _benchmark,
        measure.benchmark,
    ),
    "leaderboard": Command(
        "all standing benchmarks, the shipped agents and those named: write a page",
        "rules:tight montecarlo:rollouts=100 --output LEADERBOARD.md",
        _leaderboard,
        measure.leaderboard,
    ),
    "compare": Command(
        "results of one task, deck by deck: the first with each of the others",
        "a.json b.json",
        _compare,
        measure.compare,
    ),
}
