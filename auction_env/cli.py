"""The command line: lists games, settings, agents and interfaces; plays at a table in the terminal; replays records."""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import shutil
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from auction_env.engine.agent import Player, PlayerError
from auction_env.engine.record import RecordError, make_record, read_record, replay, write_record
from auction_env.engine.table import Table
from auction_env.games import available, get_game
from auction_env.games.game import Game
from auction_env.interfaces.opponents import Words, choose_at, resolve, seed_players, warm_up
from auction_env.rendering.text import show, text

INTERRUPTED = 130  # as shells report Ctrl-C
HELP = """\
Type the number of an action, its name, or the beginning of its name.
  t  the table again      a  what you can do      q  stop playing      ?  this help"""


class Stop(Exception):
    """The person at the terminal wants no more."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns:
        The exit status: 0; 1 if an agent failed; 2 for bad arguments or files; 130 after Ctrl-C.
    """
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except (Stop, EOFError):
        print("\nStopped.")
        return 0
    except KeyboardInterrupt:
        print("\nStopped.")
        return INTERRUPTED
    except BrokenPipeError:  # whoever reads has seen enough
        sys.stderr.close()
        return 0
    except PlayerError as error:
        print(f"auction_env: {error}", file=sys.stderr)
        return 1
    except (ValueError, RecordError, OSError) as error:
        print(f"auction_env: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m auction_env", description=__doc__)
    parser.set_defaults(run=_list)
    commands = parser.add_subparsers(metavar="command")
    commands.add_parser("list", help="games, settings, agents and interfaces; also without a command")
    player = commands.add_parser("play", help="play at a table")
    player.set_defaults(run=_play)
    player.add_argument("game", nargs="?", default="auction_poker", help="name of the game (default: %(default)s)")
    player.add_argument("--seat", type=int, default=0, help="your seat, from 0 (default: %(default)s)")
    player.add_argument(
        "--opponents",
        default="random",
        metavar="AGENT[,AGENT...]",
        help="one for all the other seats, or one for each, clockwise from you: rules,ppo:runs/x (default: random)",
    )
    player.add_argument("--seed", type=int, help="of the deals and the agents (default: a fresh one)")
    player.add_argument("--set", action="append", default=[], metavar="key=value", help="a setting of the game")
    player.add_argument("--record", type=Path, metavar="FILE", help="write the record of what was played here")
    replayer = commands.add_parser("replay", help="step through a record")
    replayer.set_defaults(run=_replay)
    replayer.add_argument("file", type=Path, help="JSON as env.record() or play --record gives it")
    replayer.add_argument("--seat", type=int, help="show what this seat could see (default: everything)")
    replayer.add_argument("--all", action="store_true", help="print all steps without waiting")
    return parser


def _read(prompt: str) -> str:
    """A line of the person's, small letters; shown again where no terminal has shown it. Raises EOFError."""
    answer = input(prompt)
    if not sys.stdin.isatty():
        print(answer)
    return answer.strip().lower()


# --- listing ---------------------------------------------------------------------------------------------------------


def _list(options: argparse.Namespace) -> int:
    for name in available():
        print(f"\n{_describe_game(get_game(name))}")
    from auction_env import agents

    print("\nAgents:")
    for name, meaning in agents.available().items():
        print(f"  {name:12} {meaning}")
    print("\npython -m auction_env play --help and replay --help tell more.")
    return 0


def _describe_game(game: Game) -> str:
    from auction_env import gymnasium_id

    module = f"{game.NAME}_v{game.VERSION}"
    lines = [f"{game.TITLE} ({game.NAME}), version {game.VERSION}, at most {game.MAX_PLAYERS} players", "  Settings:"]
    for field in dataclasses.fields(game.Settings):
        meaning = field.metadata.get("meaning", "")
        lines += textwrap.wrap(
            f"{field.name}={field.default}: {meaning}", 112, initial_indent="    ", subsequent_indent="      "
        )
    interfaces = (
        ("PettingZoo AEC", f"auction_env.{module}.env()"),
        ("PettingZoo parallel", f"auction_env.{module}.parallel_env()"),
        ("Gymnasium", f'gymnasium.make("{gymnasium_id(game.NAME)}", opponents=["random", ...])'),
        ("Gymnasium VectorEnv", f'gymnasium.make_vec("{gymnasium_id(game.NAME)}", num_envs=1024)'),
        ("stable-baselines3", f'auction_env.interfaces.sb3_vec_env.SelfPlayVecEnv("{game.NAME}", num_tables=1024)'),
        ("batch of tables", f'auction_env.engine.batch.Batch("{game.NAME}", num_tables=1024)'),
        ("one table", f'auction_env.Table("{game.NAME}")'),
    )
    return "\n".join([*lines, "  Interfaces:", *(f"    {name:20} {call}" for name, call in interfaces)])


# --- playing ---------------------------------------------------------------------------------------------------------


def parse_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Settings of texts ``key=value``; values are JSON, or else text. Raises ValueError when there is no ``=``."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"--set {pair}: write key=value")
        try:
            settings[key] = json.loads(value)
        except ValueError:
            settings[key] = value
    return settings


def _play(options: argparse.Namespace) -> int:
    names = re.split(r",(?!\w+=)", options.opponents)  # montecarlo:rollouts=100,policy=random is one agent
    opponents = names if len(names) > 1 else names[0]
    game, settings, players = resolve(options.game, opponents, parse_settings(options.set))
    if not 0 <= options.seat < settings.num_players:
        raise ValueError(f"--seat {options.seat}: seats are 0 to {settings.num_players - 1}")
    if options.record and not options.record.parent.is_dir():
        raise ValueError(f"--record: there is no folder {options.record.parent}")
    if options.record and options.record.is_dir():
        raise ValueError(f"--record: {options.record} is a folder, name a file in it")
    warm_up(game, settings, players)
    table = Table(game, settings)
    table.reset(options.seed)
    try:
        _play_match(table, options.seat, players)
        print(f"(--seed {table.seed} deals this again)")
    finally:
        if options.record:
            write_record(options.record, make_record(table))
            print(f"Record: {options.record}")
    return 0


def _play_match(table: Table, seat: int, players: Sequence[Player]) -> None:
    words, total, n = Words(1), 0, table.settings.num_players
    words.seed([0], np.array([table.seed], np.uint64))
    seed_players(players, table.seed or 0)
    others = ", ".join(
        f"player_{(seat + place) % n} is {getattr(player, 'name', 'an agent')}"
        for place, player in enumerate(players, 1)
    )
    print(f"{table.game.TITLE}. You are player_{seat}; {others}.\n{HELP}")
    if _hides_places(table):
        print("Actions name cards by their places: 0 is the first of those shown, 1 the second.")
    while True:
        net = _play_deal(table, seat, players, words)
        total += net[seat]
        print()
        show(table.describe(seat))
        print(f"\nThe deal is over: you {'win' if net[seat] >= 0 else 'lose'} {abs(net[seat])}.", end=" ")
        print(f"{total:+d} in this match so far.")
        if table.match_over:
            print("The match is over.")
            return
        table.next_deal()


def _hides_places(table: Table) -> bool:
    """Whether the game has actions of which the others do not learn all: those that name cards by place."""
    names = enumerate(table.action_names)
    return any(table.game.public_name(table.settings, action) != name for action, name in names)


def _play_deal(table: Table, seat: int, players: Sequence[Player], words: Words) -> list[int]:
    """Play a deal to its end, telling what happens as it becomes public; everybody's result in chips."""
    print(f"\n--- Deal {len(table.deals)}: player_{table.deals[-1].dealer} deals ---")
    while True:
        before, actor = table.states.copy(), table.to_act
        assert actor is not None
        if actor == seat:
            action = _ask_person(table, seat)
        else:
            player = players[(actor - seat) % table.settings.num_players - 1]
            action = choose_at(table, player, words.take([0]))
        net = table.act(action)
        for line in table.game.narrate(before[0], action, table.state):
            print(f"  {line}")
        if net is not None:
            return net


def _ask_person(table: Table, seat: int) -> int:
    """An action of the person's, who is shown the table and asked again until it is one."""
    print()
    show(table.describe(seat))
    legal = sorted(table.legal())
    names = [table.action_names[action] for action in legal]
    print("\n" + _menu(names))
    while True:
        answer = _read(f"player_{seat}> ")
        if answer in ("q", "quit", "exit"):
            raise Stop
        if answer in ("?", "h", "help"):
            print(HELP)
        elif answer in ("t", "table"):
            show(table.describe(seat))
        elif answer in ("a", "actions"):
            print(_menu(names))
        else:
            found = _matching(answer, names)
            if len(found) == 1:
                return legal[found[0]]
            print(_not_one(answer, [names[place] for place in found]))


def _menu(names: Sequence[str]) -> str:
    """Numbered actions in columns."""
    cells = [f"{place:3} {name}" for place, name in enumerate(names, 1)]
    width = max(len(cell) for cell in cells) + 2
    columns = max(1, min(6, shutil.get_terminal_size().columns // width))
    rows = [cells[start : start + columns] for start in range(0, len(cells), columns)]
    return "\n".join("".join(f"{cell:{width}}" for cell in row).rstrip() for row in rows)


def _matching(answer: str, names: Sequence[str]) -> list[int]:
    """Places of the actions that an answer may mean: one if it is clear."""
    if answer.isascii() and answer.isdigit():
        number = int(answer) if len(answer) < 10 else 0  # of thousands of digits Python makes no number
        return [number - 1] if 1 <= number <= len(names) else []
    answer = " ".join(answer.split())
    exact = [place for place, name in enumerate(names) if name.lower() == answer]
    return exact or [place for place, name in enumerate(names) if answer and name.lower().startswith(answer)]


def _not_one(answer: str, found: Sequence[str]) -> str:
    if found:
        return f"{answer!r} may be {', '.join(found)}: type more of it."
    return f"{answer!r} is none of the actions: type a number or a name of those shown ('a' shows them, '?' helps)."


# --- replaying -------------------------------------------------------------------------------------------------------


def _replay(options: argparse.Namespace) -> int:
    record = read_record(options.file)
    moves: list[tuple[np.ndarray, int | None, np.ndarray]] = []
    table = replay(record, on_move=lambda *move: moves.append(move))
    if options.seat is not None:
        table.view(options.seat)  # ValueError: there is no such seat
    deals = 0
    for before, action, after in moves:
        if action is None:
            deals += 1
            print(f"\n--- Deal {deals} of {len(table.deals)}: player_{after['dealer'][0]} deals ---")
        else:
            for line in _told(table, before[0], action, after[0], options.seat):
                print(line)
        print()
        show(text(table.game.view(after[0], options.seat), options.seat))
        if not options.all:
            answer = _read("\nEnter: next, a: all the rest, q: stop> ")
            if answer == "q":
                raise Stop
            options.all = answer == "a"
    print(f"\nThe record ends here. Digest {make_record(table)['digest']}.")
    return 0


def _told(table: Table, before: Any, action: int, after: Any, seat: int | None) -> list[str]:
    """A move as lines: who did what, if that is known to the reader, and what became public by it."""
    known = seat is None or before.to_act == seat
    own = [f"\nplayer_{before.to_act}: {table.action_names[action]}"] if known else []
    return own + [f"  {line}" for line in table.game.narrate(before, action, after)]
