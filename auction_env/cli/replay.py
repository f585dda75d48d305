"""The command ``replay``: a record, step by step, or as pictures."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from auction_env.cli import pictures, screen
from auction_env.cli.screen import Stop, ask, say, with_signs
from auction_env.engine.record import make_record, read_record, replay
from auction_env.engine.table import Table


def run(options: argparse.Namespace) -> int:
    """Show a record's moves, as everybody or one seat saw them."""
    pictures.check(options)
    record = read_record(options.file)
    moves: list[tuple[np.ndarray, int | None, np.ndarray]] = []
    table = replay(record, on_move=lambda *move: moves.append(move))
    if options.seat is not None:
        table.view(options.seat)  # ValueError: there is no such seat
    if any(pictures.wanted(options).values()):
        dealt: list[list[Any]] = []
        for _, action, after in moves:
            if action is None:
                dealt.append([])
            dealt[-1].append(after[0])
        pictures.write(options, table.game, dealt)
        return 0
    deals = 0
    for before, action, after in moves:
        if action is None:
            deals += 1
            say(f"\n--- Deal {deals} of {len(table.deals)}: player_{after['dealer'][0]} deals ---")
        tell(table, before[0], action, after[0], options)
        pause(options)
    say(f"\nThe record ends here. Its digest:\n{make_record(table)['digest']}")
    return 0


def tell(table: Table, before: Any, action: int | None, after: Any, options: argparse.Namespace) -> None:
    """Print a move (None: there was none), and the table after it, as everybody or one seat may see them.

    Unless ``options.all``, it waits for the reader where a screen does not hold both. Raises Stop.
    """
    seat, put = options.seat, say if options.all else screen.tell
    if action is not None:
        for line in _told(table, before, action, after, seat):
            put(with_signs(line))
    put("\n" + screen.table_text(table.game.view(after, seat), seat))


def pause(options: argparse.Namespace) -> None:
    """Wait for the reader, unless ``options.all``. Raises Stop."""
    if options.all:
        return
    answer = ask("\nEnter: next, a: all the rest, q: stop> ")
    if answer == "q":
        raise Stop
    options.all = answer == "a"


def _told(table: Table, before: Any, action: int, after: Any, seat: int | None) -> list[str]:
    """A move as lines: who did what, if that is known to the reader, and what became public by it."""
    known = seat is None or before.to_act == seat
    own = [f"\nplayer_{before.to_act}: {table.action_names[action]}"] if known else []
    return own + [f"  {line}" for line in table.game.narrate(before, action, after)]
