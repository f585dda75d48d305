"""The command ``play``: a person at a table in the terminal, agents in the other seats."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from importlib import resources

import numpy as np

from auction_env.cli.arguments import parse_settings
from auction_env.cli.menu import is_long, matching, menu, not_one
from auction_env.cli.screen import Stop, ask, folded, prose, rows, say, show_table, table_text, tell, with_signs
from auction_env.core.files import check_output
from auction_env.engine.agent import Player
from auction_env.engine.record import make_record, write_record
from auction_env.engine.table import Table
from auction_env.interfaces.opponents import RandomStreams, choose_at, resolve, seed_players, warm_up

HELP = """\
Type the number of an action, its name, or the beginning of its name.
  t  the table again      a  what you can do      q  stop playing
  r  the rules            ?  this help"""


def run(options: argparse.Namespace) -> int:
    """Play a match; returns the exit status."""
    names = re.split(r",(?!\w+=)", options.opponents)  # montecarlo:rollouts=100,policy=random is one agent
    opponents = names if len(names) > 1 else names[0]
    game, settings, players = resolve(options.game, opponents, parse_settings(options.set))
    if not 0 <= options.seat < settings.num_players:
        raise ValueError(f"--seat {options.seat}: seats are 0 to {settings.num_players - 1}")
    if options.record:
        check_output(options.record, "--record")
    warm_up(game, settings, players)
    table = Table(game, settings)
    table.reset(options.seed)
    try:
        _play_match(table, options.seat, players)
        say(f"(--seed {table.seed} deals this again)")
    finally:
        if options.record:
            write_record(options.record, make_record(table))
            say(f"Record: {options.record}")
    return 0


def _play_match(table: Table, seat: int, players: Sequence[Player]) -> None:
    words, total, n = RandomStreams(1), 0, table.settings.num_players
    words.seed([0], np.array([table.seed], np.uint64))
    seed_players(players, table.seed or 0)
    others = ", ".join(
        f"player_{(seat + place) % n} is {getattr(player, 'name', 'an agent')}"
        for place, player in enumerate(players, 1)
    )
    say(f"{table.game.TITLE}. You are player_{seat}; {others}.\n{HELP}")
    if _hides_places(table):
        say("Actions name cards by their places: 0 is the first of those shown, 1 the second.")
    while True:
        net = _play_deal(table, seat, players, words)
        total += net[seat]
        verdict = f"you {'win' if net[seat] >= 0 else 'lose'} {abs(net[seat])}"
        over = f"The deal is over: {verdict}. {total:+d} in this match so far."
        tell("\n".join(["", table_text(table.view(seat), seat), "", over]))
        if table.match_over:
            say("The match is over.")
            return
        table.next_deal()


def _hides_places(table: Table) -> bool:
    """Whether the game has actions of which the others do not learn all: those that name cards by place."""
    names = enumerate(table.action_names)
    return any(table.game.public_name(table.settings, action) != name for action, name in names)


def _play_deal(table: Table, seat: int, players: Sequence[Player], words: RandomStreams) -> list[int]:
    """Play a deal to its end, telling what happens as it becomes public; everybody's result in chips."""
    say(f"\n--- Deal {len(table.deals)}: player_{table.deals[-1].dealer} deals ---")
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
            tell(f"  {with_signs(line)}")
        if net is not None:
            return net


def _ask_person(table: Table, seat: int) -> int:
    """An action of the person's, who is shown the table and asked again until it is one."""
    legal = sorted(table.legal())
    names = [table.action_names[action] for action in legal]
    tell("\n".join(["", table_text(table.view(seat), seat), *_holding(table, seat), "", menu(names)]))
    while True:
        answer = ask(f"player_{seat}> ")
        if answer in ("q", "quit", "exit"):
            raise Stop
        if answer in ("?", "h", "help"):
            say(HELP)
        elif answer in ("r", "rules"):
            _tell_rules(table)
        elif answer in ("t", "table"):
            show_table(table.view(seat), seat)
        elif answer in ("a", "actions"):
            say(menu(names), wrap=is_long(names))
        else:
            found = matching(answer, names)
            if len(found) == 1:
                return legal[found[0]]
            say(not_one(answer, [names[each] for each in found]))


def _tell_rules(table: Table) -> None:
    """Print the page of rules beside a game's code, a screen at a time."""
    name, spec = getattr(table.game, "__name__", ""), getattr(table.game, "__spec__", None)
    page = resources.files(name) / "RULES.md" if spec and spec.submodule_search_locations else None
    if page is None or not page.is_file():
        say(f"{table.game.TITLE}: no page of rules comes with it")
        return
    text = re.split(r"^## Actions$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[0]
    text = re.sub(r"\n(\|.*\n)+", "", text, count=1)  # the first table, and all after, is about programs
    lines = "\n".join(map(folded, prose(text))).split("\n")
    height = max(5, rows() - 2)
    for first in range(0, len(lines), height):
        say("\n".join(lines[first : first + height]), wrap=False)
        if first + height < len(lines) and ask("Enter: more, q: back to the table> ").startswith("q"):
            return
    say(f"({page})")


def _holding(table: Table, seat: int) -> list[str]:
    """A line of what the person's cards make, all of them, or none where the game does not say."""
    describe = getattr(table.game, "own_hand", None)
    words = describe(table.state, seat) if describe else ""
    return [f"You hold {words}."] if words else []
