"""The command ``watch``: agents alone at a table in the terminal, all cards in view."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from auction_env.cli.arguments import check_seats, integer, parse_settings
from auction_env.cli.replay import pause, tell
from auction_env.cli.screen import say, show_table
from auction_env.core.files import check_output
from auction_env.engine.record import make_record, write_record
from auction_env.engine.table import Table
from auction_env.games import get_game
from auction_env.games.game import make_settings
from auction_env.interfaces.opponents import RandomStreams, choose_at, make_players, seed_players, warm_up


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command, apart from colours."""
    add = parser.add_argument
    parser.set_defaults(run=run)
    add("agents", nargs="+", metavar="AGENT", help="one for each seat: champion hard rules")
    add("--game", default="auction_poker", help="name of the game (default: %(default)s)")
    add("--seat", type=integer, help="show what this seat can see (default: everything)")
    add("--seed", type=integer, help="of the deals and the agents (default: a fresh one)")
    add("--set", action="append", default=[], metavar="key=value", help="a setting of the game: num_deals=3")
    add("--all", action="store_true", help="print all steps without waiting")
    add("--record", type=Path, metavar="FILE", help="write the record of what was played here")


def run(options: argparse.Namespace) -> int:
    """Let agents play a match, step by step; returns the exit status."""
    check_seats(options.agents)
    game = get_game(options.game)
    settings = make_settings(game, {**parse_settings(options.set), "num_players": len(options.agents)})
    if options.record:
        check_output(options.record, "--record")
    players = make_players(options.agents, game, settings)
    warm_up(game, settings, players)
    table, words = Table(game, settings), RandomStreams(1)
    table.reset(options.seed)
    if options.seat is not None:
        table.view(options.seat)  # ValueError: there is no such seat
    words.seed([0], np.array([table.seed], np.uint64))
    seed_players(players, table.seed or 0)
    try:
        while True:
            _deal(table, options, players, words)
            if table.match_over:
                break
            table.next_deal()
        say(f"\n(--seed {table.seed} deals this again)")
    finally:
        if options.record:
            write_record(options.record, {**make_record(table), "agents": options.agents})
            say(f"Record: {options.record}")
    return 0


def _deal(table: Table, options: argparse.Namespace, players: list, words: RandomStreams) -> None:
    """A deal to its end."""
    seats = ", ".join(f"player_{seat} is {name}" for seat, name in enumerate(options.agents))
    say(f"\n--- Deal {len(table.deals)}: player_{table.deals[-1].dealer} deals; {seats} ---\n")
    show_table(table.view(options.seat), options.seat)
    while table.to_act is not None:
        pause(options)
        before = table.states.copy()
        action = choose_at(table, players[table.to_act], words.take([0]))
        table.act(action)
        tell(table, before[0], action, table.state, options)
    won = ", ".join(f"player_{seat} {chips:+d}" for seat, chips in enumerate(table.deals[-1].payoffs or []))
    say(f"\nThe deal is over: {won}.")
