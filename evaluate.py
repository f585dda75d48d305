"""Play agents against each other: ``python evaluate.py ppo:runs/auction_poker random random --deals 30000``.

Each deck is played through all distinct seatings; chips per deal come with 95 % intervals. Agents sample their moves.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from auction_env.evaluation.runner import Played

DEALS = 30_000
EVERY_DEAL = 1 << 60
FIXED_BY_TASKS = ("deals", "seed", "set", "game", "seats", "seatings", "part", "time_limit")
REPORT_DEALS = 20_000  # that behaviour is read from, at most, rounded up to parts


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status: 0, 1 if an agent failed, 2 for bad arguments, 130 for Ctrl-C."""
    options = _parser().parse_args(arguments)

    from auction_env.agents.learning import share_cores

    share_cores()
    from auction_env.engine.agent import PlayerError

    try:
        return _mode(options)(options)
    except (ValueError, OSError) as error:  # of arguments, settings, agents, files
        print(f"evaluate.py: {error}", file=sys.stderr)
        return 2
    except PlayerError as error:
        print(f"evaluate.py: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        kept = (
            f"; the same command goes on from {options.state}" if options.state else " (--state keeps what is played)"
        )
        print(f"\nevaluate.py: stopped{kept}", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("agents", nargs="*", help="one for each seat, such as: random, ppo:runs/x, ppo:runs/x?greedy")
    modes = parser.add_argument_group("instead of a match (see docs/evaluation.md)").add_mutually_exclusive_group()
    mode = modes.add_argument
    mode("--round-robin", action="store_true", help="all line-ups of the agents at --seats seats, with ratings")
    mode("--task", metavar="NAME", help="measure each agent at a standing benchmark: 'list', a name or a .toml file")
    mode("--leaderboard", metavar="FILE", type=Path, help="all tasks, the shipped agents and those named: write FILE")
    mode("--compare", action="store_true", help="two files of --json: the first agents of one task, deck by deck")
    mode(
        "--best-response",
        action="store_true",
        help="train a learner against the agent: how exploitable is it at least?",
    )
    add("--seats", type=int, help="seats at the table, where the agents do not say it")
    add(
        "--without",
        metavar="NAME",
        action="append",
        default=[],
        help="leave a shipped agent out of a leaderboard; the page says so",
    )
    add("--decisions", type=int, default=2_000_000, help="of a best response's learner (default: %(default)s)")
    add("--report", metavar="FILE", type=Path, help="write a page with the agents' behaviour in pictures: out.html")
    add(
        "--luck",
        action="store_true",
        help="take luck out of the estimates (AIVAT): unbiased, less variance, much slower",
    )
    add("--game", help="name of the game (default: that of the first run named, or auction_poker)")
    add(
        "--set",
        action="append",
        default=[],
        metavar="key=value",
        help="a setting of the game (default: those of the first run named)",
    )
    add("--deals", type=int, help=f"tables played in all, at least (default: {DEALS})")
    add("--seed", type=int, help="seed of the decks and agents (default: 0)")
    add(
        "--seatings", type=_seatings, help="of each deck: at most so many, 'all', or 1: independent deals (default: 24)"
    )
    add("--time-limit", type=float, metavar="SECONDS", help="a decision may take, on average over those asked at once")
    add("--json", metavar="FILE", type=Path, help="write all numbers to this file too")
    add("--workers", type=int, help="processes (default: one for each core); the result is the same")
    add(
        "--state",
        "--resume",
        metavar="DIR",
        type=Path,
        help="keep finished parts in this folder, and go on from there; the policy of a best response",
    )
    add("--part", type=int, metavar="TABLES", help="tables in a part: fewer for slow agents (part of what is played)")
    return parser


def _seatings(text: str) -> int:
    try:
        return 1 << 30 if text == "all" else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor 'all'") from None


def _mode(options: argparse.Namespace) -> Callable[[argparse.Namespace], int]:
    """What to do."""
    for name in ("json", "report", "leaderboard"):
        path = getattr(options, name)
        if path and not path.parent.is_dir():
            raise ValueError(f"--{name}: there is no folder {path.parent}")
        if path and path.is_dir():
            raise ValueError(f"--{name}: {path} is a folder, name a file in it")
    if options.time_limit is not None and not options.time_limit > 0:
        raise ValueError(f"--time-limit {options.time_limit:g}: it must be above 0 seconds; leave it out for no limit")
    plain = not (options.round_robin or options.task or options.leaderboard or options.compare or options.best_response)
    if not plain and (options.report or options.luck):
        raise ValueError(f"{'--report' if options.report else '--luck'} goes with a match only")
    if options.task or options.leaderboard:
        given = [name for name in FIXED_BY_TASKS if getattr(options, name) not in (None, [])]
        if given:
            names = ", ".join(f"--{name.replace('_', '-')}" for name in given)
            raise ValueError(f"a task fixes what is played: leave out {names}, or play a match")
    options.deals = DEALS if options.deals is None else options.deals
    options.seed = options.seed or 0
    if options.compare:
        return _compare
    if options.leaderboard:
        return _leaderboard
    if options.task:
        return _task
    if not options.agents:
        raise ValueError("name the agents, one for each seat: evaluate.py random random random")
    if options.best_response:
        return _best_response
    return _round_robin if options.round_robin else _match


def _match(options: argparse.Namespace) -> int:
    if options.luck and options.report:
        raise ValueError("--luck and --report watch a match each in its own way: ask for one at a time")
    if options.seats not in (None, len(options.agents)):
        raise ValueError(
            f"--seats {options.seats}: a match has a seat for each agent named, here {len(options.agents)}"
        )
    played = _play(options, options.agents)
    summary = played.result.summary()
    print(played.result.text())
    if options.luck:
        from auction_env.agents.aivat import adjust, text

        found = adjust(played.result, played.notes["luck"])
        summary["luck_taken_out"] = [one.summary() for one in found]
        print(text(found))
    _write_json(options, summary)
    if options.report:
        from auction_env.core.files import write_file
        from auction_env.evaluation.report import report

        game, settings = _table(options, options.agents, len(options.agents))
        write_file(options.report, report(game, settings, played.result, played.notes))
        print(f"report: {options.report}")
    return 0


def _round_robin(options: argparse.Namespace) -> int:
    from auction_env.evaluation.ratings import rate, round_robin

    game, settings = _table(options, options.agents, options.seats)
    with _bar() as progress:
        found = round_robin(
            game,
            settings,
            options.agents,
            options.deals,
            _make(),
            options.seed,
            contents=_contents(options.agents),
            state=options.state,
            workers=_workers(options),
            progress=progress,
            seatings=options.seatings,
            part_tables=options.part,
            time_limit=options.time_limit,
        )
    ratings = rate(found)
    print(found.text(ratings))
    _write_json(options, found.summary(ratings))
    return 0


def _best_response(options: argparse.Namespace) -> int:
    from auction_env.agents.learning.best_response import best_response
    from auction_env.agents.learning.config import make_config

    from auction_env import agents

    if len(options.agents) != 1:
        raise ValueError(
            "--best-response takes one agent, who sits at all seats but one: evaluate.py --best-response rules"
        )
    game, settings = _table(options, options.agents, options.seats)
    values = {**_table_of(options.agents, options.game), "seed": options.seed}
    values |= {
        "total_timesteps": options.decisions,
        "warm_start": "rules",
        "run": str(options.state or "best response"),
    }
    config = make_config(values, _overrides(options, options.seats))
    frozen = agents.make(options.agents[0], game, settings, options.seed)
    found = best_response(game, settings, frozen, config, options.deals, options.state)
    print(found.text())
    _write_json(options, found.summary())
    return 0


def _task(options: argparse.Namespace) -> int:
    from auction_env.evaluation.benchmarks import available, load_task, play_board

    if options.task == "list":
        print("\n".join(available()))
        return 0
    if not options.agents:
        raise ValueError(f"name the agents to measure: evaluate.py --task {options.task} random")
    task = load_task(options.task)
    with _bar() as progress:
        board = play_board(
            task,
            options.agents,
            _make(),
            _content(),
            workers=_workers(options),
            state=options.state,
            progress=progress,
        )
    if board.skipped:
        raise ValueError(next(iter(board.skipped.values())))
    print(board.text(), end="")
    if options.json:
        found = [result.summary() for result in board.results]
        _write_json(options, found[0] if len(found) == 1 else found)
    return 0


def _leaderboard(options: argparse.Namespace) -> int:
    from auction_env import agents
    from auction_env.core.files import write_file
    from auction_env.evaluation.benchmarks import available, leaderboard, load_task, play_board, shipped_entries

    shipped = [name for name in agents.available() if name not in options.without]
    entries = shipped_entries(shipped, options.agents)
    boards = []
    for name in available():
        print(name, file=sys.stderr)
        with _bar() as progress:
            boards.append(
                play_board(
                    load_task(name),
                    entries,
                    _make(),
                    _content(),
                    workers=_workers(options),
                    state=options.state,
                    progress=progress,
                )
            )
        boards[-1].skipped.update(dict.fromkeys(options.without, "left out of this run by `--without`"))
    left_out = "".join(f" --without {name}" for name in options.without)
    command = f"make leaderboard AGENTS='{' '.join(options.agents)}{left_out}'"
    write_file(options.leaderboard, leaderboard(boards, command))
    print(f"wrote {options.leaderboard}")
    return 0


def _compare(options: argparse.Namespace) -> int:
    from auction_env.evaluation.results import compare, load_result

    if len(options.agents) != 2:
        raise ValueError("--compare takes two files that --json wrote: evaluate.py --compare a.json b.json")
    print(compare(*(load_result(path) for path in options.agents)).text())
    return 0


def _play(options: argparse.Namespace, agents: list[str]) -> Played:
    """Play a match of the agents named."""
    from auction_env.evaluation.runner import Plan, play

    notes: Any = None
    if options.luck:
        from auction_env.agents.aivat import LuckNotes

        notes = LuckNotes
    elif options.report:
        from auction_env.evaluation.statistics import BehaviourNotes

        notes = BehaviourNotes
    game, settings = _table(options, agents, len(agents))
    with _bar() as progress:
        return play(
            Plan(
                game,
                settings,
                tuple(agents),
                options.deals,
                _make(),
                options.seed,
                contents=_contents(agents),
                seatings=options.seatings,
                part_tables=options.part,
                time_limit=options.time_limit,
                notes=notes,
                noted_deals=EVERY_DEAL if options.luck else REPORT_DEALS,
            ),
            workers=_workers(options),
            state=options.state,
            progress=progress,
        )


def _workers(options: argparse.Namespace) -> int:
    from auction_env.core.processes import usable_workers
    from auction_env.core.terminal import complain

    return usable_workers(options.workers, lambda line: complain("evaluate.py", line))


def _make() -> Any:
    from auction_env import agents

    return agents.make


def _content() -> Callable[[str], str]:
    from auction_env.agents.digests import content_digest

    return content_digest


def _contents(specs: list[str]) -> tuple[str, ...]:
    return tuple(_content()(spec) for spec in specs)


def _table(options: argparse.Namespace, agents: list[str], seats: int | None) -> tuple[Any, Any]:
    """The game and its settings."""
    from auction_env.agents.learning.config import make_config

    return make_config(_table_of(agents, options.game), _overrides(options, seats)).resolve()


def _overrides(options: argparse.Namespace, seats: int | None) -> list[str]:
    given = [] if seats is None else [f"settings.num_players={seats}"]
    return [*given, *(f"settings.{text}" for text in options.set)]


def _table_of(specs: list[str], game: str | None) -> dict[str, Any]:
    """Game and settings: those that the first run among the agents was trained with, unless another game is named."""
    for spec in specs:
        stored = Path(spec.partition(":")[2].partition("?")[0]) / "run.json"
        if spec.startswith("ppo:") and stored.is_file():
            config = _stored_config(stored)
            if game in (None, config.get("game")):
                return {key: config[key] for key in ("game", "settings") if key in config}
    return {"game": game or "auction_poker"}


def _stored_config(path: Path) -> dict[str, Any]:
    """The config in a run's ``run.json``; ValueError naming the file if there is none."""
    try:
        config = json.loads(path.read_text(encoding="utf-8")).get("config", {})
        return {**config}
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise ValueError(f"{path} is no account of a run: {error}") from error


@contextlib.contextmanager
def _bar() -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on a terminal, if tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield None
        return
    with tqdm(unit=" deals", disable=None, leave=False, unit_scale=True) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield show


def _write_json(options: argparse.Namespace, content: Any) -> None:
    if options.json:
        from auction_env.core.files import write_file

        write_file(options.json, json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
