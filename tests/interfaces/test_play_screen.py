"""What a person at the terminal sees: lines that fit, own cards valued, long menus in short, colours if wanted."""

from __future__ import annotations

import re

import pytest

from auction_env import Table, cli
from auction_env.cli import screen
from auction_env.cli.menu import is_long, matching, menu
from auction_env.rendering.text import text


class Terminal:
    """Answers each question by the first wish that is an action now, or else the first action."""

    def __init__(self, monkeypatch, width: int, *wishes: str) -> None:
        self.wishes, self.table, self.typed = wishes, None, []
        terminal = self

        class Watched(Table):
            def __init__(self, *arguments):
                super().__init__(*arguments)
                terminal.table = self

        monkeypatch.setattr("auction_env.cli.play.Table", Watched)
        monkeypatch.setattr("builtins.input", self)
        monkeypatch.setenv("COLUMNS", str(width))

    def __call__(self, prompt=""):
        names = [self.table.action_names[action] for action in sorted(self.table.legal())]
        self.typed.append(next((wish for wish in self.wishes if wish in names), names[0]))
        return self.typed[-1]


@pytest.mark.parametrize("width", [60, 80])
def test_nothing_is_wider_than_the_terminal(game, width, monkeypatch, capsys):
    Terminal(monkeypatch, width, "declare both", "call", "bid")
    settings = ["--set", f"num_players={game.MAX_PLAYERS}"]
    assert cli.main(["play", game.NAME, "--seed", "7", *settings]) == 0
    assert cli.main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    wide = [line for line in lines if len(line) > width and "auction_env." not in line and "gymnasium." not in line]
    assert len(lines) > 60 and not wide, "calls that are there to be copied are not folded"


def test_a_narrow_table_says_all_that_a_wide_one_says(game):
    table = Table(game, {"num_players": 4})
    table.reset(5)
    while table.to_act is not None:
        view = table.view(0)
        narrow = text(view, 0, 60)
        assert max(map(len, narrow.splitlines())) <= 60
        words = [word for word in text(view, 0).split() if not word.startswith("---")]
        assert sorted(words) == sorted(word for word in narrow.split() if not word.startswith("---"))
        table.act(int(table.legal()[-1]))


def test_own_cards_are_valued_whenever_one_decides(monkeypatch, capsys):
    """In Auction Poker while declaring: of all seven cards, high and low, as they rank."""
    terminal = Terminal(monkeypatch, 200, "call", "check", "bid 1")
    assert cli.main(["play", "--seed", "4", "--opponents", "rules"]) == 0
    out = capsys.readouterr().out
    seat = terminal.table.view(0).seats[0]
    assert len(seat.cards + seat.bought) == 7, "nobody folded"
    high, low = _high_and_low(seat.cards + seat.bought)
    declaring = out.split("| declaring |")[1]
    assert f"You hold high: {high}; low: {low}." in declaring


def _high_and_low(cards):
    from auction_env import high_rank, low_rank
    from auction_env.games.hands import describe_high, describe_low

    return describe_high(high_rank(cards)), describe_low(low_rank(cards))


def test_many_discards_are_one_line_and_cards_are_named_by_place():
    table = Table("auction_flop")
    table.reset(4)
    names = [table.action_names[action] for action in sorted(table.legal())]
    assert len(names) == 32 and is_long(names) and len(menu(names).splitlines()) == 1 and len(menu(names)) < 80
    for answer, name in (
        ("discard none", "discard none"),
        ("none", "discard none"),
        ("discard 2 0", "discard 0 2"),
        ("4 1", "discard 1 4"),
        ("3", "discard 3"),
        ("discard 0 1 2 3 4", "discard 0 1 2 3 4"),
    ):
        assert [names[index] for index in matching(answer, names)] == [name], answer
    assert matching("5", names) == [] and matching("", names) == [] and len(matching("disc", names)) == 32


def test_few_actions_stay_a_numbered_menu():
    names = ["pick 7h", "pick Js"]
    assert not is_long(names) and menu(names) == "  1 pick 7♥    2 pick J♠"
    for answer in ("2", "pick js", "pick j♠", "pick j"):
        assert matching(answer, names) == [1]


def test_cards_have_one_form_in_all_that_is_printed(game, monkeypatch, capsys):
    terminal = Terminal(monkeypatch, 80)
    cli.main(["play", game.NAME, "--seed", "3"])
    printed = capsys.readouterr().out.splitlines()
    out = "\n".join(line for line in printed if line not in terminal.typed)
    assert "♠" in out and not re.findall(r"(?<![\w-])[2-9TJQKA][cdhs](?!\w)", out)


def test_colours_are_optional(monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm")
    for choice, colored in (("never", False), ("auto", False), ("always", True)):
        Terminal(monkeypatch, 80)
        cli.main(["play", "--seed", "3", "--color", choice])
        out = capsys.readouterr().out
        assert ("\x1b[31m" in out) == colored, "standard output is no terminal here"
        if colored:
            plain = re.sub(r"\x1b\[\d+m", "", out)
            assert re.search(r"\x1b\[31m[2-9TJQKA]♥\x1b\[0m", out) and "\x1b" not in plain
    screen.set_color("never")


def test_no_color_is_obeyed_on_a_terminal(monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for value, colored in (("", True), ("1", False)):
        monkeypatch.setenv("NO_COLOR", value)
        screen.set_color("auto")
        assert screen._color is colored
    screen.set_color("never")


def test_words_that_look_like_cards_stay_words_where_no_cards_are_told(capsys):
    assert cli.main(["list"]) == 0
    assert "As strong as" in " ".join(capsys.readouterr().out.split())


def test_texts_of_others_are_escaped_where_there_are_colours_too(capsys):
    screen.set_color("always")
    screen.say("player_1 is \x1b]0;owned\x07; it shows 5♥")
    screen.set_color("never")
    assert capsys.readouterr().out == "player_1 is \\x1b]0;owned\\x07; it shows \x1b[31m5♥\x1b[0m\n"
