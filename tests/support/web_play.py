"""What the tests of the web server share: a server, people at its tables, and whole deals."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from starlette.testclient import TestClient

from auction_env.web.lobby import OpenRoom, ServerConfig
from auction_env.web.server import create_app

HOST = "localhost"
AGENTS = ("random", "rules", "montecarlo")


@contextmanager
def serving(**config: Any) -> Iterator[TestClient]:
    """A server in this process whose agents do not wait."""
    app = create_app(ServerConfig(**{"agents": AGENTS, "pace": 0.0, "seed": 5, **config}))
    with TestClient(app, base_url=f"http://{HOST}") as client:
        yield client


def open_table(client: TestClient, game: str, seats: list[str | None], **settings: Any) -> str:
    """A new table; its number."""
    answer = client.post("/api/tables", json={"game": game, "seats": seats, "settings": settings})
    assert answer.status_code == 201, answer.text
    return answer.json()["table"]


def opened(client: TestClient, table: str) -> OpenRoom:
    """A table inside the server."""
    return client.app.state.lobby.rooms[table]


class Person:
    """Somebody at a table: keeps every text that came, and the newest state."""

    def __init__(self, socket: Any) -> None:
        self.socket, self.texts, self.state, self.token = socket, [], {}, ""

    def send(self, kind: str, **fields: Any) -> None:
        """Send a message."""
        self.socket.send_text(json.dumps({"type": kind, **fields}))

    def receive(self) -> dict[str, Any]:
        """The next message."""
        text = self.socket.receive_text()
        message: dict[str, Any] = json.loads(text)
        if message["type"] == "state":
            self.state = message
            self.texts.append(text)
        elif message["type"] == "seated":
            self.token = message["token"]
        return message

    def until(self, wanted: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """The next message of which something holds; errors of the server fail, unless they are what is waited for."""
        for _ in range(2000):
            message = self.receive()
            if wanted(message):
                return message
            assert message["type"] != "error", message
        raise AssertionError("it never came")

    def turn(self) -> None:
        """Wait until it is this person's turn."""
        while not self.state.get("choosing"):
            self.until(lambda message: message["type"] == "state")

    def sit(self, seat: int, name: str) -> None:
        """Take a seat."""
        self.send("sit", seat=seat, name=name)
        self.until(lambda message: message["type"] == "state" and message["you"] == seat)

    def catch_up(self) -> None:
        """Receive all that was to be sent up to now: the answer to a ping, and what came with it."""
        self.send("ping")
        self.until(lambda message: message["type"] == "pong")
        self.send("ping")
        self.until(lambda message: message["type"] == "pong")


@contextmanager
def at_table(client: TestClient, table: str) -> Iterator[Person]:
    """Somebody connected to a table."""
    with client.websocket_connect(f"ws://{HOST}/socket/{table}") as socket:
        yield Person(socket)


def play_deal(person: Person, choice: Callable[[list[dict[str, Any]]], dict[str, Any]]) -> dict[str, Any]:
    """Choose whenever it is this person's turn until the deal is over; the last state."""
    while not person.state.get("payoffs"):
        if person.state.get("choosing"):
            person.send("choose", action=choice(person.state["legal"])["action"])
        person.until(lambda message: message["type"] == "state")
    return person.state
