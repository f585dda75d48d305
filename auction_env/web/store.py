"""Rooms on disk (SQLite): how each was opened, who sits there, and its moves, so that a restart deals them again."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from auction_env.core.limits import parse_json
from auction_env.games import get_game
from auction_env.games.game import make_settings
from auction_env.web.room import Room, Seat

FORMAT = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS rooms (
    number TEXT PRIMARY KEY, opening TEXT NOT NULL, seats TEXT NOT NULL, used REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS moves (
    number TEXT NOT NULL, place INTEGER NOT NULL, move INTEGER NOT NULL, PRIMARY KEY (number, place)
) WITHOUT ROWID;
"""


class StoreError(ValueError):
    """The file of rooms cannot be used; the message names it and says why."""


def check_store(path: Path) -> None:
    """Raise StoreError unless a file can be used for rooms."""
    Store(path).close()


class Store:
    """A file of rooms. Whatever is written is written in order, by one thread of its own, and not waited for.

    Args:
        path: the file; it is made where there is none.

    Raises:
        StoreError: the file cannot be opened, or is of another kind.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._thread = ThreadPoolExecutor(1, "rooms")
        self._written: dict[str, int] = {}  # moves of each room that are on disk, or on their way
        try:
            self._connection = self._thread.submit(self._open).result()
        except (sqlite3.Error, OSError) as error:
            self._thread.shutdown()
            raise StoreError(f"{path} cannot be used for tables: {error}") from error

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, isolation_level=None)
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, FORMAT) or (
            version == 0 and connection.execute("SELECT * FROM sqlite_master").fetchone()
        ):
            connection.close()
            raise sqlite3.DatabaseError("it is a database of something else")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.executescript(_SCHEMA)
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        self.path.chmod(0o600)
        return connection

    def save(self, room: Room) -> Future[None]:
        """Keep a room as it is now."""
        opening = {
            "game": room.game.NAME,
            "version": room.game.VERSION,
            "settings": dataclasses.asdict(room.table.settings),
            "seed": room.table.seed,
            "committed": list(room.committed.items()),
        }
        seats = json.dumps([dataclasses.asdict(seat) for seat in room.seats])
        done = self._written.get(room.number, 0)
        moves = [(room.number, place, move) for place, move in enumerate(room.moves[done:], done)]
        self._written[room.number] = len(room.moves)
        return self._thread.submit(self._write, room.number, json.dumps(opening), seats, moves)

    def _write(self, number: str, opening: str, seats: str, moves: list[tuple[str, int, int]]) -> None:
        connection = self._connection
        with connection:
            connection.execute("BEGIN")
            connection.execute("REPLACE INTO rooms VALUES (?, ?, ?, ?)", (number, opening, seats, time.time()))
            connection.executemany("REPLACE INTO moves VALUES (?, ?, ?)", moves)

    def forget(self, number: str) -> None:
        """Keep a room no longer."""
        self._written.pop(number, None)
        self._thread.submit(self._delete, number)

    def _delete(self, number: str) -> None:
        for table in ("rooms", "moves"):
            self._connection.execute(f"DELETE FROM {table} WHERE number = ?", (number,))

    def load(self) -> tuple[list[Room], list[str]]:
        """All rooms that can be played on, and why others cannot, a line each (those are forgotten)."""
        rooms, lost = [], []
        for number, opening, seats, moves in self._thread.submit(lambda: list(self._rows())).result():
            try:
                room = _room(number, parse_json(opening), parse_json(seats), moves)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                lost.append(f"table {number} of {self.path} is dropped: {error}")
                self.forget(number)
                continue
            self._written[number] = len(room.moves)
            rooms.append(room)
        return rooms, lost

    def _rows(self) -> Iterator[tuple[str, str, str, list[int]]]:
        for number, opening, seats in self._connection.execute("SELECT number, opening, seats FROM rooms").fetchall():
            moves = self._connection.execute("SELECT move FROM moves WHERE number = ? ORDER BY place", (number,))
            yield number, opening, seats, [move for (move,) in moves]

    def close(self) -> None:
        """Write what is left, and close the file."""
        self._thread.submit(self._connection.close)
        self._thread.shutdown()


def _room(number: str, opening: Any, seats: Any, moves: list[int]) -> Room:
    game = get_game(opening["game"])
    if opening["version"] != game.VERSION:
        raise ValueError(f"it was played by version {opening['version']} of {game.NAME}")
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in opening["settings"].items()}
    room = Room(number, game, make_settings(game, values), [None] * len(seats), opening["seed"])
    room.seats = [Seat(**seat) for seat in seats]
    room.replay(moves)
    for seat, action in opening["committed"]:
        room.choose(seat, action)
    return room
