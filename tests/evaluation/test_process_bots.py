"""Bots in processes of their own: the reference bots play; bad ones end in time, and are named with what they did."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from auction_env.agents import AgentError
from auction_env.agents.process import Options, ProcessAgent, parse

from auction_env import Table, agents, cli, get_game
from auction_env.core.line_process import LineProgram
from auction_env.engine.agent import PlayerError, TooSlowError, ask
from auction_env.engine.batch import Batch
from auction_env.evaluation.match import play_match

ROOT = Path(__file__).parents[2]
BAD = Path(__file__).parents[1] / "support" / "bad_bot.py"
PYTHON_BOT = f"{sys.executable} {ROOT / 'examples' / 'bots' / 'cautious.py'}"
NODE_BOT = f"node {ROOT / 'examples' / 'bots' / 'cautious.js'}"


def bad(way: str, **limits: float) -> str:
    words = "".join(f"{name}={value} " for name, value in limits.items())
    return f"process:{words}{sys.executable} {BAD} {way}"


def decide(spec: str, number: int = 2) -> np.ndarray:
    """A bot's choices at the first decision of some tables."""
    game = get_game("auction_poker")
    batch = Batch(game, num_tables=number)
    out = batch.reset(np.arange(number, dtype=np.uint64))
    bot = agents.make(spec, game, batch.settings)
    try:
        rng = np.random.default_rng(0)
        return ask(bot, game, batch.states, out.seats, out.observations, out.masks, rng)
    finally:
        bot.close(0)


def match(command: str, game: Any, **settings: Any) -> Any:
    made = game.Settings(**settings)
    bot, other = agents.make(f"process:{command}", game, made), agents.make("random", game, made)
    try:
        return play_match(game, made, [bot] + [other] * (made.num_players - 1), 6, seed=3).payoffs
    finally:
        assert bot.close(30), "it ends when its input is closed"


# --- good bots ----------------------------------------------------------------------------------------------------


def test_the_reference_bot_plays_matches_that_can_be_repeated_and_is_told_results(game, tmp_path):
    log = tmp_path / "bot.log"
    payoffs = match(f"log={log} {PYTHON_BOT}", game, num_players=2)
    assert np.array_equal(payoffs, match(PYTHON_BOT, game, num_players=2))
    told = sorted(int(line.split()[-1]) for line in log.read_text().splitlines())
    assert told == sorted(payoffs[..., 0].ravel().tolist())


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_reference_bot_in_javascript_plays(game):
    assert match(NODE_BOT, game, num_players=2, num_deals=2).shape[-1] == 2


def test_conformance_is_checked_by_command(capsys):
    assert cli.main(["check-bot", PYTHON_BOT, "--game", "auction_poker", "--deals", "1"]) == 0
    said = capsys.readouterr().out
    assert said.count("  ok  ") == 5 and "The bot keeps to the protocol." in said
    assert cli.main(["check-bot", bad("illegal").removeprefix("process:"), "--game", "auction_poker"]) == 1
    said = capsys.readouterr().out
    assert "FAILED  plays whole deals" in said and "it chose 'fly': legal is" in said.replace("\n    ", " ")


def test_messages_say_all_that_a_seat_sees_and_no_more(game, monkeypatch):
    """The lines for two worlds that a seat cannot tell apart are the same to the byte."""
    lines: list[str] = []

    def answer(self: Any, line: str, seconds: float) -> str:
        message = json.loads(line)
        if message["type"] == "hello":
            return '{"type":"ready","protocol":1}'
        lines.append(line)
        choices = [request["legal"][0] for request in message["requests"]]
        return json.dumps({"type": "choices", "id": message["id"], "choices": choices})

    monkeypatch.setattr(LineProgram, "ask", answer)
    table, rng = Table(game), np.random.default_rng(1)
    bot = ProcessAgent(parse(PYTHON_BOT), game, table.settings)
    table.reset(4)
    while table.to_act is not None:
        seat, mask = table.to_act, table.mask(table.to_act)
        for world in (table, table.resample_from_infostate(seat, 9)):
            bot._messages = 0
            bot.act_states(world.states, mask[None])
        assert lines[-1] == lines[-2]
        (request,) = json.loads(lines[-1])["requests"]
        assert request["legal"] == [table.action_names[action] for action in table.legal()]
        assert request["text"] == table.describe(seat) and request["seat"] == seat
        for name, values in request["observation"].items():
            assert np.allclose(np.array(values, np.float32), table.observe_named(seat)[name], atol=1e-7)
        table.act(int(rng.choice(table.legal())))
    bot.close(0)


def test_the_page_shows_the_fields_of_the_messages():
    """Keys of each message in docs/bots.md are those that are sent."""
    page = (ROOT / "docs" / "bots.md").read_text(encoding="utf-8")
    shown = {message["type"]: message for message in map(json.loads, re.findall(r"^(\{.*\})$", page, re.MULTILINE))}
    bot = agents.make(f"process:{PYTHON_BOT}", get_game("auction_poker"), get_game("auction_poker").Settings())
    assert set(shown["hello"]) == set(bot._hello())
    assert set(shown["choose"]["requests"][0]) == {"seat", "legal", "observation", "text"}
    assert set(shown["results"]["results"][0]) == {"seat", "payoffs", "observation", "text"}
    assert set(shown) == {"hello", "ready", "seed", "choose", "choices", "results", "error"}


# --- bad bots -----------------------------------------------------------------------------------------------------

FAULTS = {
    "crash": "it ended with status 1; its last words: out of ideas",
    "killed": "it was ended by SIGKILL",
    "garbage": r"it answered no JSON",
    "illegal": r"it chose 'fly': legal is bid 1, bid 2, bid 3",
    "giant": "it wrote a line longer than 1048576 bytes: 'xxx",
    "deep": "nested 5000 levels deep",
    "few": r"choices is \[\]: it must be a list of 2 names of actions",
    "late": "it answered message 0, and was asked by message 1",
    "twice": "it wrote more than it was asked for",
    "error": "it says: I give up",
    "mute": "it closed its input or output",
    "old": "it speaks protocol 2: this is 1",
    "greedy": r"wants is \['cards'\]: it must be a list of some of observation, text",
}


@pytest.mark.parametrize("way", FAULTS)
def test_a_bot_that_goes_wrong_is_named_with_what_it_did(way):
    with pytest.raises(PlayerError, match=FAULTS[way]) as raised:
        decide(bad(way))
    assert str(raised.value).startswith(f"agent process:{sys.executable}")


@pytest.mark.parametrize(("way", "limits"), [("hang", {"timeout": 0.2}), ("slow", {"start": 0.2})])
def test_a_bot_that_hangs_is_ended_in_time(way, limits):
    begun = time.monotonic()
    with pytest.raises(TooSlowError, match="is too slow: it did not answer in time"):
        decide(bad(way, **limits))
    assert time.monotonic() - begun < 10


def test_a_bot_that_only_complains_is_ended_in_time_too():
    with pytest.raises(TooSlowError, match=r"its last words: .*no! no!"):
        decide(bad("complaining", timeout=0.3))


def test_much_on_standard_error_is_no_fault():
    assert len(decide(bad("loud"))) == 2


def test_one_that_does_not_end_by_itself_is_ended_with_all_that_it_started():
    game = get_game("auction_poker")
    for way in ("stays", "parent"):
        bot = agents.make(bad(way), game, game.Settings())
        bot.start()
        assert bot._program is not None
        while way == "parent" and not bot._program.last_words:
            time.sleep(0.01)
        child = int(bot._program.last_words or 0)
        assert bot.close(0.1 if way == "stays" else 30) == (way == "parent")
        assert not child or _is_gone(child)


def _is_gone(pid: int) -> bool:
    for _ in range(500):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("", "needs a command: write process:"),
        ("timeout=5", "needs a command"),
        ("no-such-program --fast", "there is no program 'no-such-program'"),
        ("timeout=0 cat", "timeout is '0': it must be seconds, above 0"),
        ("start=soon cat", "start is 'soon': it must be seconds"),
        ("cat 'open", "No closing quotation"),
    ],
)
def test_commands_that_make_no_sense_are_refused(argument, message):
    with pytest.raises(AgentError, match=message):
        agents.make(f"process:{argument}", get_game("auction_poker"), get_game("auction_poker").Settings())


@pytest.mark.parametrize("spec", ["process:cat", "mix:0.1:(process:cat):random"])
def test_a_file_that_names_a_bot_must_be_trusted(spec):
    with pytest.raises(AgentError, match=r"task t\.toml names 'process:cat', code that is not of this package"):
        agents.check_trust("task t.toml", ["random", spec], trust=False)
    agents.check_trust("task t.toml", [spec], trust=True)


def test_options_stand_before_the_command(tmp_path):
    assert parse(f"timeout=2 start=5 log={tmp_path} cat timeout=3") == Options(("cat", "timeout=3"), 2.0, 5.0, tmp_path)
    assert agents.files(f"process:{PYTHON_BOT}") == [ROOT / "examples" / "bots" / "cautious.py"]
