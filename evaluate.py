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
    from auction_env.tournament import Played


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status: 0, 1 if an agent failed, 2 for bad arguments, 130 for Ctrl-C."""
    options = _parser().parse_args(arguments)

    from agents.learning import share_cores

    share_cores()
    from auction_env.players import PlayerError

    try:
        return _mode(options)(options)
    except ValueError as error:  # of arguments, settings, agents, files
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
    add("--game", help="name of the game (default: that of the first run named, or auction_poker)")
    add(
        "--set",
        action="append",
        default=[],
        metavar="key=value",
        help="a setting of the game (default: those of the first run named)",
    )
    add("--deals", type=int, default=30_000, help="tables played in all, at least (default: %(default)s)")
    add("--seed", type=int, default=0, help="seed of the decks and agents (default: %(default)s)")
    add(
        "--seatings", type=_seatings, help="of each deck: at most so many, 'all', or 1: independent deals (default: 24)"
    )
    add("--time-limit", type=float, metavar="SECONDS", help="a decision may take, on average over those asked at once")
    add("--json", metavar="FILE", type=Path, help="write all numbers to this file too")
    add("--workers", type=int, help="processes (default: one for each core); the result is the same")
    add(
        "--state", "--resume", metavar="DIR", type=Path, help="keep finished parts in this folder, and go on from there"
    )
    add("--part", type=int, metavar="TABLES", help="tables in a part: fewer for slow agents (part of what is played)")
    return parser


def _seatings(text: str) -> int:
    return 1 << 30 if text == "all" else int(text)


def _mode(options: argparse.Namespace) -> Callable[[argparse.Namespace], int]:
    """What to do."""
    if options.json and not options.json.parent.is_dir():
        raise ValueError(f"--json: there is no folder {options.json.parent}")
    if not options.agents:
        raise ValueError("name the agents, one for each seat: evaluate.py random random random")
    return _match


def _match(options: argparse.Namespace) -> int:
    played = _play(options, options.agents)
    print(played.result.text())
    _write_json(options, played.result.summary())
    return 0


def _play(options: argparse.Namespace, agents: list[str], **plan: Any) -> Played:
    """Play a match of the agents named."""
    from auction_env.tournament import Plan, cores, play

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
                **plan,
            ),
            workers=cores() if options.workers is None else options.workers,
            state=options.state,
            progress=progress,
        )


def _make() -> Any:
    import agents

    return agents.make


def _contents(specs: list[str]) -> tuple[str, ...]:
    from agents.contents import content_digest

    return tuple(content_digest(spec) for spec in specs)


def _table(options: argparse.Namespace, agents: list[str], seats: int) -> tuple[Any, Any]:
    """The game and its settings."""
    from agents.learning.config import make_config

    overrides = [f"settings.num_players={seats}", *(f"settings.{text}" for text in options.set)]
    return make_config(_table_of(agents, options.game), overrides).resolve()


def _table_of(specs: list[str], game: str | None) -> dict[str, Any]:
    """Game and settings: those that the first run among the agents was trained with, unless another game is named."""
    for spec in specs:
        stored = Path(spec.partition(":")[2].partition("?")[0]) / "run.json"
        if spec.startswith("ppo:") and stored.is_file():
            config = json.loads(stored.read_text(encoding="utf-8")).get("config", {})
            if game in (None, config.get("game")):
                return {key: config[key] for key in ("game", "settings") if key in config}
    return {"game": game or "auction_poker"}


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
        from auction_env.results import write_file

        write_file(options.json, json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
