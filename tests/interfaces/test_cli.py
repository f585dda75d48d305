"""The command line, by scripted people: what there is, a deal in the terminal, a record step by step."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auction_env import Table, agents, available, cli, get_game, gymnasium_id, make_record, replay
from auction_env.cli import play
from auction_env.cli.screen import with_signs
from auction_env.core.limits import as_toml
from auction_env.games.cards import card_name
from auction_env.games.game import make_settings
from auction_env.interfaces.gymnasium_env import SingleEnv
from auction_env.rendering.text import card_text

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "auction_env", *arguments],
        input=stdin,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(ROOT), "COLUMNS": "110"},
    )


class Person:
    """Answers at the terminal: by a rule from the numbered actions on the screen, or from a list."""

    def __init__(self, answers: Iterator[str] | None = None, rng: np.random.Generator | None = None) -> None:
        self.answers, self.rng = answers, rng or np.random.default_rng(0)
        self.table: Any = None
        self.prefer: tuple[str, ...] = ()
        self.before_answer: Callable[[], None] = lambda: None

    def __call__(self, prompt: str = "") -> str:
        print(prompt, end="")
        self.before_answer()
        if self.answers is not None:
            try:
                return next(self.answers)
            except StopIteration:
                raise EOFError from None
        liked = [name for name in self.prefer if name in self.names()]
        return liked[0] if liked else str(self.rng.choice(self.names()))

    def names(self) -> list[str]:
        return [self.table.action_names[action] for action in sorted(self.table.legal())]


@pytest.fixture
def person(monkeypatch):
    someone = Person()

    class Watched(Table):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            someone.table = self

    monkeypatch.setattr("builtins.input", someone)
    monkeypatch.setattr(play, "Table", Watched)
    monkeypatch.setenv("COLUMNS", "1000")
    return someone


# --- listing ---------------------------------------------------------------------------------------------------------


def test_the_list_has_every_game_setting_agent_and_interface():
    result = run()
    assert result.returncode == 0 and not result.stderr
    for name in available():
        game = get_game(name)
        assert f"{game.TITLE} ({name}), version {game.VERSION}" in result.stdout
        for field in dataclasses.fields(game.Settings):
            default = "" if field.default is None else f"={as_toml(field.default)}"
            assert f"    {field.name}{default}: " in result.stdout
        for part in (f"{name}_v{game.VERSION}.env()", "parallel_env()", gymnasium_id(name), "SelfPlayVecEnv", "Batch("):
            assert part in result.stdout
    for name, meaning in agents.available().items():
        assert name in result.stdout and meaning in " ".join(result.stdout.split())
    assert run("list").stdout == result.stdout


def test_every_interface_of_the_list_works(capsys):
    """Each call that the list prints is evaluated as it stands."""
    import gymnasium

    import auction_env
    import auction_env.engine.batch

    pytest.importorskip("stable_baselines3")
    import auction_env.interfaces.sb3_vec_env

    cli.main([])
    calls = re.findall(r"^    \S.*?  +(\w[\w.]*\(.*\))$", capsys.readouterr().out, re.MULTILINE)
    assert len(calls) == 7 * len(available())
    for call in calls:
        small = call.replace("1024", "2").replace('opponents=["random", ...]', 'opponents=["random"]')
        assert eval(small, {"gymnasium": gymnasium, "auction_env": auction_env}) is not None


# --- playing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", [0, 1])
def test_a_deal_from_end_to_end_is_the_gymnasium_environments(game, seat, person, tmp_path, capsys):
    """Seed, seat, opponents and actions as in ``SingleEnv``: the same record, and each line of the account of it."""
    file = tmp_path / "record.json"
    options = ["--seat", str(seat), "--opponents", "random,random", "--seed", "5", "--record", str(file)]
    assert cli.main(["play", game.NAME, *options]) == 0
    out = capsys.readouterr().out
    record = json.loads(file.read_text(encoding="utf-8"))
    env = SingleEnv(game, opponents=["random", "random"], seat=seat)
    env.reset(seed=5)
    for actor, action, _ in record["deals"][0]["actions"]:
        if actor == seat:
            env.step(action)
    assert env.record()["digest"] == record["digest"] == make_record(replay(record))["digest"]
    told: list[str] = []
    replay(record, on_move=lambda b, a, n: told.extend(game.narrate(b[0], a, n[0]) if a is not None else []))
    printed = iter(out.splitlines())
    assert len(told) > 10 and all(f"  {with_signs(line)}" in printed for line in told), "every line, in this order"
    net = record["deals"][0]["net"][seat]
    assert f"you {'win' if net >= 0 else 'lose'} {abs(net)}. {net:+d} in this match" in out
    assert "--seed 5 deals this again" in out


def test_the_account_of_an_auction_names_bids_tie_hands_and_order(person, capsys):
    """No amount without "by" or "to"."""
    person.rng = np.random.default_rng(1)
    assert cli.main(["play", "--seed", "3", "--opponents", "random,random,random"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"Bids: player_\d \d, player_\d \d, player_\d \d, player_\d \d\. The pot is \d+\.", out)
    assert "by exposed hand, then clockwise from the dealer: player_" in out
    assert out.count("Picking order: player_") >= 5


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_printed_that_the_seat_may_not_know(game, seed, person, capsys):
    """At every question, and at the end: no card whose place in the deck the seat has not seen."""
    printed = ""
    checks = 0

    def check() -> None:
        nonlocal printed, checks
        printed += capsys.readouterr().out
        table = person.table
        visible = table.game.visible_deck(table.state, 1)
        for card, seen in zip(table.deals[-1].deck, visible, strict=True):
            if not seen:
                for form in (card_name(card), card_text(card_name(card))):
                    assert not re.search(rf"(?<!\w){re.escape(form)}(?!\w)", printed), (form, printed)
                    checks += 1
        assert str(table.seed) not in printed or table.to_act is None

    person.before_answer = check
    settings = ["--set", "num_players=4"]
    assert cli.main(["play", game.NAME, "--seat", "1", "--seed", str(10**12 + seed), *settings]) == 0
    check()
    assert checks > 100


def test_bad_input_is_asked_again_and_help_is_there(person, capsys):
    answers = ["", "99", "0", "0000000019", "000000000000000019", "9" * 5000, "fly", "bid", "?", "t", "a", "BID  2"]
    person.answers = iter(answers)
    assert cli.main(["play", "--seed", "1"]) == 0
    out = capsys.readouterr().out
    assert "'99' is none of the actions" in out and "'0' is none" in out and "'fly' is none" in out
    assert "'' is none" in out
    assert "'bid' may be bid 1, bid 2, bid 3: type more of it." in out
    assert out.count(play.HELP) == 2 and out.count("bid 1    2 bid 2    3 bid 3") == 2
    assert out.endswith("Stopped.\n") and "Bids: " in out, "the end of input, after one good answer"
    own = next(action for actor, action in person.table.deals[0].actions if actor == 0)
    assert person.table.action_names[own] == "bid 2"


@pytest.mark.parametrize("answer", ["q", "quit"])
def test_stopping_keeps_the_record(answer, person, tmp_path, capsys):
    person.answers = iter(["1", answer])
    file = tmp_path / "r.json"
    assert cli.main(["play", "--seed", "1", "--record", str(file)]) == 0
    assert capsys.readouterr().out.endswith("Stopped.\n")
    assert replay(json.loads(file.read_text(encoding="utf-8"))).to_act is not None


def test_control_c_ends_cleanly(person, monkeypatch, capsys):
    def interrupted(prompt: str = "") -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    assert cli.main(["play"]) == cli.INTERRUPTED
    assert capsys.readouterr().err.endswith("stopped\n")


def test_a_match_of_several_deals_with_a_person_who_falls_out(person, capsys):
    person.prefer = ("fold", "bid 3", "bet", "declare both")
    settings = ["--set", "num_deals=8", "--set", "starting_chips=24", "--set", "num_players=4"]
    outs = 0
    for seed in range(6):
        assert cli.main(["play", "--seed", str(seed), *settings]) == 0
        out = capsys.readouterr().out
        assert out.rstrip().splitlines()[-2] == "The match is over."
        assert out.count("The deal is over") == len(person.table.deals) == out.count("--- Deal ")
        outs += any(0 not in log.dealt_in for log in person.table.deals)
    assert outs


def test_as_a_program_end_of_input_is_no_error():
    """A real process: input ends in the middle, output is a pipe that cannot take suit signs."""
    result = run("play", "--seat", "1", "--opponents", "random,random", "--seed", "2", stdin="1\n1\n")
    assert result.returncode == 0 and result.stdout.endswith("Stopped.\n") and not result.stderr
    ascii_only = subprocess.run(
        [sys.executable, "-m", "auction_env", "play", "--seed", "2"],
        input=b"1\n",
        cwd=ROOT,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)},
    )
    assert ascii_only.returncode == 0 and b"Traceback" not in ascii_only.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["play", "bridge"], "there is no game 'bridge'"),
        (["play", "--seat", "3"], "--seat 3: seats are 0 to 2"),
        (["play", "--opponents", "nobody"], "there is no agent 'nobody'"),
        (["play", "--opponents", "ppo:nowhere,random"], "nowhere"),
        (["play", "--opponents", "random,random", "--set", "num_players=2"], "2 opponents for 1 other seats"),
        (["play", "--set", "max_bid"], "write key=value"),
        (["play", "--set", "maxbid=2"], "did you mean 'max_bid'"),
        (["play", "--set", "max_bid=__import__('os')"], "max_bid is"),
        (["play", "--seed", "-1"], "seed is -1"),
        (["play", "--record", "/nowhere/at/all.json"], "there is no folder"),
        (["play", "--record", str(ROOT)], "is a folder, name a file in it"),
        (["play", "--opponents", "montecarlo:rollouts=1,policy=none,random"], "policy 'none' is not rules or random"),
        (["replay", "/nowhere.json"], "/nowhere.json cannot be read: No such file"),
    ],
)
def test_bad_arguments_are_one_line(arguments, reason, person, capsys):
    assert cli.main(arguments) == 2
    error = capsys.readouterr().err
    assert reason in error and error.startswith("auction_env: ") and len(error.splitlines()) == 1


def test_an_agent_that_fails_is_named(person, monkeypatch, capsys):
    class Broken(agents.Agent):
        name = "broken"

        def act_batch(self, observations, masks):
            raise ZeroDivisionError("oops")

    monkeypatch.setattr(agents, "make", lambda *arguments: Broken())
    assert cli.main(["play"]) == 1
    assert "agent broken failed: ZeroDivisionError: oops" in capsys.readouterr().err


def test_settings_are_toml_or_text_and_never_code():
    pairs = ["a=3", "b=[1, 2]", "c=split", "d=__import__('os')", "e=x=y", "f=true", "g=2e3", 'h="text"', "i=0.5"]
    parsed = cli.parse_settings(pairs)
    assert parsed == {
        "a": 3,
        "b": [1, 2],
        "c": "split",
        "d": "__import__('os')",
        "e": "x=y",
        "f": True,
        "g": 2000,
        "h": "text",
        "i": 0.5,
    }
    assert type(parsed["g"]) is int


def test_defaults_that_the_list_prints_can_be_typed_back(game, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "1000")
    cli.main(["list"])
    block = capsys.readouterr().out.split(f"({game.NAME}), version")[1].split("  Interfaces:")[0]
    pairs = re.findall(r"^    (\w+=.*?): ", block, re.MULTILINE)
    assert make_settings(game, cli.parse_settings(pairs)) == make_settings(game, {}) and len(pairs) > 5


def test_places_in_actions_are_those_of_the_cards_shown(person, capsys):
    """Auction Flop Poker: "discard 0" is the first card of the line on the screen."""
    cli.main(["play", "auction_flop", "--seed", "4"])
    assert "0 is the first of those shown" in capsys.readouterr().out
    cli.main(["play", "auction_poker", "--seed", "4"])
    assert "0 is the first of those shown" not in capsys.readouterr().out
    for seed in range(20):
        table = Table("auction_flop")
        table.reset(seed)
        seat = table.to_act
        shown = table.view(seat).seats[seat].cards
        for place in range(5):
            twin = table.clone()
            twin.act(f"discard {place}")
            assert twin.view(seat).seats[seat].cards == shown[:place] + shown[place + 1 :]


# --- replaying -------------------------------------------------------------------------------------------------------


@pytest.fixture
def record_file(game, tmp_path):
    table, rng = Table(game, {"num_deals": 2}), np.random.default_rng(0)
    table.reset(3)
    while True:
        while table.to_act is not None:
            table.act(int(rng.choice(table.legal())))
        if table.match_over:
            break
        table.next_deal()
    file = tmp_path / "record.json"
    file.write_text(json.dumps(make_record(table)), encoding="utf-8")
    return file


def test_replay_shows_every_move_and_the_digest(game, record_file, capsys):
    record = json.loads(record_file.read_text(encoding="utf-8"))
    assert cli.main(["replay", str(record_file), "--all"]) == 0
    out = capsys.readouterr().out
    printed = iter(out.splitlines())
    for deal in record["deals"]:
        assert all(f"player_{actor}: {with_signs(name)}" in printed for actor, _, name in deal["actions"])
    assert f"--- Deal 1 of {len(record['deals'])}: player_" in out
    assert out.endswith(f"The record ends here. Its digest:\n{record['digest']}\n")


def test_replay_steps(record_file, monkeypatch, capsys):
    answers = iter(["", "", "q"])
    monkeypatch.setattr("builtins.input", lambda prompt="": next(answers))
    assert cli.main(["replay", str(record_file)]) == 0
    assert len(re.findall(r"^player_\d: ", capsys.readouterr().out, re.MULTILINE)) == 2
    answers = iter(["", "a"])
    assert cli.main(["replay", str(record_file)]) == 0
    assert "The record ends here" in capsys.readouterr().out
    result = run("replay", str(record_file), stdin="\n")
    assert result.returncode == 0 and result.stdout.endswith("Stopped.\n")


def test_replay_for_a_seat_shows_what_it_could_see(game, record_file, capsys):
    assert cli.main(["replay", str(record_file), "--all", "--seat", "1"]) == 0
    out = capsys.readouterr().out
    record = json.loads(record_file.read_text(encoding="utf-8"))
    first = out.split("--- Deal 2")[0]
    log = replay(record).deals[0]
    for card, seen in zip(log.deck, game.visible_deck(log.final[0], 1), strict=True):
        if not seen:
            assert not re.search(rf"(?<!\w){card_name(card)}(?!\w)|{re.escape(card_text(card_name(card)))}", first)
    secret = [name for actor, _, name in record["deals"][0]["actions"] if actor != 1]
    assert not any(re.search(rf"^player_[02]: {re.escape(name)}$", first, re.MULTILINE) for name in secret)
    assert cli.main(["replay", str(record_file), "--seat", "9"]) == 2
    assert "there is no seat 9" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["{", "[" * 100_000, "[]", "{}", '{"format": "auction_env.engine.record/1"}'])
def test_what_is_not_a_record_is_refused_by_name(content, tmp_path, capsys):
    file = tmp_path / "odd.json"
    file.write_text(content, encoding="utf-8")
    assert cli.main(["replay", str(file)]) == 2
    assert capsys.readouterr().err.startswith("auction_env: ")


def test_a_record_for_one_seat_is_refused(game, tmp_path, capsys):
    table = Table(game)
    table.reset(0)
    file = tmp_path / "seat.json"
    file.write_text(json.dumps(make_record(table, 1)), encoding="utf-8")
    assert cli.main(["replay", str(file)]) == 2
    assert "for seat 1 only" in capsys.readouterr().err
