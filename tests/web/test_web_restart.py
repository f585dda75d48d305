"""A server that is killed outright and started again: its tables go on, and people keep their seats and hands."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("websockets")

from web_play import Person
from websockets.sync.client import connect

pytestmark = pytest.mark.slow
START_SECONDS = 240  # compiling included


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def served(port: int, tables: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The command itself, in a process of its own; ended by kill -9."""
    command = [sys.executable, "-m", "auction_env", "serve", "--port", str(port), "--tables", str(tables)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + START_SECONDS
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).close()
                break
            except OSError:
                assert process.poll() is None and time.monotonic() < until, "the server did not start"
                time.sleep(0.1)
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(30)


class Socket:
    """A socket as ``Person`` uses it."""

    def __init__(self, port: int, table: str) -> None:
        self._socket = ExitStack().enter_context(connect(f"ws://127.0.0.1:{port}/socket/{table}"))

    def send_text(self, text: str) -> None:
        self._socket.send(text)

    def receive_text(self) -> str:
        return str(self._socket.recv(timeout=60))


def open_at(port: int, game: str, seats: list[str | None]) -> str:
    body = json.dumps({"game": game, "seats": seats, "settings": {"num_deals": 3, "starting_chips": 200}}).encode()
    headers = {"content-type": "application/json"}
    asked = urllib.request.Request(f"http://127.0.0.1:{port}/api/tables", body, headers)
    with urllib.request.urlopen(asked, timeout=START_SECONDS) as answer:
        return str(json.load(answer)["table"])


def own_cards(person: Person) -> list[str]:
    seat: dict[str, Any] = person.state["view"]["seats"][person.state["you"]]
    return list(seat["cards"])


@pytest.mark.parametrize("game_name", ["auction_poker", "auction_flop"])
def test_killed_outright_tables_go_on_and_seats_keep_their_hands(tmp_path, game_name):
    """Killed twice without warning, at once after choices: at most those of the last moment are not on disk yet."""
    port, rng, tables = free_port(), np.random.default_rng(3), tmp_path / "tables.db"
    table, before = "", []
    for life in range(3):
        with served(port, tables):
            table = table or open_at(port, game_name, [None, None])
            people = [Person(Socket(port, table)) for _ in range(2)]
            for seat, person in enumerate(people):
                if life == 0:
                    person.sit(seat, f"person {seat}")
                    continue
                token, lines, cards, deal = before[seat]
                person.send("resume", token=token)
                state = person.until(lambda message: message["type"] == "state" and message["you"] is not None)
                assert state["you"] == seat
                # What came after the last write may be lost; what is there is what was, and the hand is the seat's own.
                there = len(state["lines"])
                assert state["deal"] == deal and (life == 2 or there == len(lines)) and state["lines"] == lines[:there]
                assert "??" not in own_cards(person) and (there < len(lines) or own_cards(person) == cards)
                person.token = token
            for _ in range(4):
                for person in people:
                    person.catch_up()
                    if person.state["choosing"]:
                        person.send("choose", action=int(rng.choice([one["action"] for one in person.state["legal"]])))
                        person.catch_up()
            for person in people:
                person.catch_up()
            before = [(one.token, one.state["lines"], own_cards(one), one.state["deal"]) for one in people]
            assert all("??" not in cards for _, _, cards, _ in before)
            if life == 0:
                time.sleep(1)  # what was said by now is on disk
    assert before[0][1], "something was played in the last life, too"


def test_what_is_on_disk_is_what_was_seen(tmp_path):
    port, tables = free_port(), tmp_path / "tables.db"
    with served(port, tables):
        table = open_at(port, "auction_poker", [None, "rules"])
        ana = Person(Socket(port, table))
        ana.sit(0, "Ana")
        for _ in range(5):
            ana.turn()
            ana.send("choose", action=ana.state["legal"][0]["action"])
            ana.state = {}
        ana.turn()
        time.sleep(0.5)
    before = ana.state
    with served(port, tables):
        again = Person(Socket(port, table))
        again.send("resume", token=ana.token)
        state = again.until(lambda message: message["type"] == "state" and message["choosing"])
        for part in ("view", "lines", "legal", "own", "deal", "seats"):
            assert state[part] == before[part]
