"""Rooms that are open, what plays in them, and who is told: the part of the server that waits for others."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any, Protocol

from auction_env.core.limits import shorten
from auction_env.core.processes import thread_limit
from auction_env.core.terminal import complain
from auction_env.engine.agent import PlayerError
from auction_env.engine.record import make_record
from auction_env.engine.table import Table
from auction_env.games import available, get_game
from auction_env.games.game import make_settings
from auction_env.web import limits
from auction_env.web.advice import Players
from auction_env.web.limits import Buckets, MessageError
from auction_env.web.room import Room, frame
from auction_env.web.store import Store
from auction_env.web.watch import Recording

AGENTS = (
    "easy",
    "medium",
    "hard",
    "champion",
    "rules",
    "rules:tight",
    "rules:loose",
    "rules:aggressive",
    "montecarlo",
    "random",
)
STAND_IN = "rules"  # plays for people who are gone, if it may be named
PACE = 0.7  # seconds before an agent's move at a table with people
UNHURRIED = 3  # agents at a table that take that long; where there are more, each is quicker
MOST_FRAMES = 4000  # of a deal that are kept for those who watch


@dataclasses.dataclass(frozen=True)
class ServerConfig:
    """How a server is run.

    Args:
        agents: names that may sit down, as ``agents.make`` takes them.
        hosts: names and addresses by which it is reached, besides those of this machine.
        store: the file that keeps tables; None: they end with the server.
        recordings: records to look at.
        pace: seconds before an agent's move at a table with people; less where there are more than three agents.
        seed: of the deals, for tests; None: a fresh one for each table.
        warm: names of agents that are loaded and compiled before anybody sits down, in the background.
    """

    agents: tuple[str, ...] = AGENTS
    hosts: tuple[str, ...] = ()
    store: Path | None = None
    recordings: tuple[Recording, ...] = ()
    pace: float = PACE
    seed: int | None = None
    warm: tuple[str, ...] = ()


class Listener(Protocol):
    """Somebody connected to a room."""

    seat: int | None

    def wake(self) -> None:
        """Something may have changed."""
        ...


class OpenRoom:
    """A room with those who are connected to it; agents play in a task of its own.

    Args:
        room: the room.
        lobby: whose it is.
    """

    def __init__(self, room: Room, lobby: Lobby) -> None:
        self.room, self.lobby = room, lobby
        self.listeners: set[Listener] = set()
        self.frames: list[dict[str, Any]] = []  # of the deal, in rooms without people
        self.used = time.monotonic()
        self.gone: dict[int, float] = {}  # when each absent person was last here
        self._choices: list[dict[str, Any]] = []  # of a hidden phase, whose frames come with the last
        self._due = asyncio.Event()
        self._task = asyncio.create_task(self._drive())
        if not room.for_people:
            self._note([])

    @property
    def deal(self) -> int:
        """Number of the deal, from 1."""
        return len(self.room.table.deals)

    def changed(self, save: bool = True) -> None:
        """Tell everybody, keep the room, and let agents go on."""
        self.used = time.monotonic()
        if save and self.lobby.store is not None:
            self.lobby.store.save(self.room)
        for listener in list(self.listeners):
            listener.wake()
        self._due.set()

    def join(self, listener: Listener) -> None:
        """Somebody has connected, or has taken another seat."""
        self.listeners.add(listener)
        self._see_who_is_here()

    def part(self, listener: Listener) -> None:
        """Somebody has gone."""
        self.listeners.discard(listener)
        self._see_who_is_here()

    def _see_who_is_here(self) -> None:
        room, now = self.room, time.monotonic()
        here = {listener.seat for listener in self.listeners if listener.seat is not None}
        for seat in room.present - here:
            self.gone[seat] = now
        for seat in here:
            self.gone.pop(seat, None)
            room.seats[seat].stand_in = None
        room.present = here
        self.changed(save=room.deal_if_ready())

    def stand_in(self, seat: int) -> None:
        """Let an agent play for a person who has been gone for a while. Raises MessageError."""
        if not 0 <= seat < len(self.room.seats) or self.room.seats[seat].agent or seat in self.room.present:
            raise MessageError("nobody is away from this seat")
        if time.monotonic() - self.gone.get(seat, 0.0) < limits.ABSENT_SECONDS:
            raise MessageError(f"wait {limits.ABSENT_SECONDS:.0f} seconds for whoever left")
        self.room.seats[seat].stand_in = self.lobby.stand_in_agent

    # --- agents ---

    async def _drive(self) -> None:
        """Let agents choose whenever it is their turn."""
        while True:
            await self._due.wait()
            self._due.clear()
            try:
                while self.listeners and await self._agents_choose():
                    pass
            except Exception as error:  # one table's trouble is not another's
                complain("auction-env serve", f"table {self.room.number} stops: {type(error).__name__}: {error}")

    async def _agents_choose(self) -> bool:
        """One choice of each agent whose turn it is; whether there was any."""
        room = self.room
        asked = {seat: player for seat in room.choosers() if (player := room.seats[seat].player) is not None}
        if not asked:
            return False
        if room.for_people and self.lobby.config.pace:
            agents = sum(seat.player is not None for seat in room.seats)
            await asyncio.sleep(self.lobby.config.pace * min(1.0, UNHURRIED / agents))
        for seat, player in asked.items():
            if seat not in room.choosers():
                continue
            table = room.table.asking(seat)
            try:
                choice, advice = await self.lobby.work(self._ask, player, table)
            except (PlayerError, ValueError) as error:
                complain("auction-env serve", f"table {room.number}: {error}")
                room.seats[seat].agent, room.seats[seat].stand_in = "random", None
                return True
            if seat in room.choosers() and room.seats[seat].player == player:
                room.choose(seat, choice)
                if not room.for_people:
                    self._note([{"seat": seat, **advice}])
        self.changed()
        return True

    def _ask(self, player: str, table: Any) -> tuple[int, dict[str, Any]]:
        """What an agent chooses; where nobody but agents plays, what it thinks of its options too."""
        if self.room.for_people:
            return self.lobby.players.choose(player, table), {}
        advice = self.lobby.players.advise(player, table, sample=True)
        return int(advice["action"]), advice

    def _note(self, choices: list[dict[str, Any]]) -> None:
        """Keep a frame for those who watch; in a hidden phase, those of all choices come with the last."""
        room = self.room
        self._choices += choices
        if room.committed:
            return
        choices, self._choices = self._choices, []
        by_seat = {choice["seat"]: choice for choice in choices}
        moments = room.moments[len(room.moments) - len(choices) :]
        rows = [moment.before[0] for moment in moments[1:]] + [room.table.state.copy()]
        for place, row in enumerate(rows):
            last = place == len(rows) - 1
            shown = frame(room.game, row, room.latest if last and choices else [])
            if choices:
                shown["choice"] = by_seat[moments[place].seat]
            self.frames.append(shown)
        del self.frames[MOST_FRAMES:]

    async def recording(self) -> Recording:
        """The match so far, to look at any moment of it. Raises MessageError: where people played, nobody may."""
        seats = self.room.seats
        if any(seat.name != seat.agent for seat in seats):
            raise MessageError("people play here: only what is open may be seen")
        record = {**make_record(self.room.table), "agents": [seat.name for seat in seats]}
        recording: Recording = await self.lobby.work(Recording, self.room.number, record)
        return recording

    def next_watched(self) -> None:
        """Deal on in a room without people, for those who have seen the deal. Raises MessageError."""
        if not self.room.deal_over or self.room.table.match_over:
            raise MessageError("there is no next deal now")
        self.room.next_deal()
        self.frames = []
        self._note([])

    def abandon(self) -> None:
        """Stop what plays here."""
        self._task.cancel()

    async def close(self) -> None:
        """Stop what plays here, and wait for it."""
        self.abandon()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task


class Lobby:
    """All rooms of a server. Made inside a running event loop."""

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self.players = Players(config.agents)
        self.rooms: dict[str, OpenRoom] = {}
        self.sockets = 0
        self.store = Store(config.store) if config.store is not None else None
        self._pool = ThreadPoolExecutor(max(1, min(4, thread_limit())), "agents")
        self._warming = ThreadPoolExecutor(1, "warming")  # so that nobody waits for what nobody asked for
        self._opening = Buckets(limits.ROOM_RATE, limits.ROOM_BURST)
        # Games first, so that a table can be opened while agents are still made ready.
        self._games = {name: self._warming.submit(_play_once, name) for name in available()}
        self._warm = [self._warming.submit(self._ask_once, *pair) for pair in product(available(), config.warm)]
        if self.store is not None:
            rooms, lost = self.store.load()
            for line in lost:
                complain("auction-env serve", line)
            for room in rooms[-limits.MAX_ROOMS :]:
                self.rooms[room.number] = OpenRoom(room, self)

    def warm(self) -> tuple[int, int]:
        """How much of what is compiled when the server first runs is ready, and how much there is in all."""
        work = [*self._games.values(), *self._warm]
        return sum(one.done() for one in work), len(work)

    def _ask_once(self, game: str, agent: str) -> None:
        """Let an agent choose once at a table of nobody's. What fails here will be told to whoever asks for it."""
        table = Table(game)
        table.reset(0)
        with contextlib.suppress(ValueError, PlayerError):
            self.players.advise(agent, table)

    @property
    def stand_in_agent(self) -> str:
        """Who plays for people who are gone."""
        return STAND_IN if STAND_IN in self.config.agents else self.config.agents[0]

    async def work(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run what takes time on a thread for it."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)

    async def open(self, body: Any, client: str) -> OpenRoom:
        """Open a room as a client, known by its address, asks for it. Raises MessageError."""
        game, settings, seats = _opening(body, self.config.agents)
        if not self._opening.take(client):
            raise MessageError("too many tables are opened at once: wait a little")
        self._make_room()
        try:
            for name in {seat for seat in seats if seat is not None}:
                await self.work(self.players.get, name, game, settings)
        except ValueError as error:
            raise MessageError(shorten(error, 300)) from error
        await asyncio.wrap_future(self._games[game.NAME])  # or all others would wait while it is compiled
        room = Room(secrets.token_urlsafe(6), game, settings, seats, self.config.seed)
        self.rooms[room.number] = opened = OpenRoom(room, self)
        opened.changed()
        return opened

    def _make_room(self) -> None:
        """Close rooms that nobody has used for long; if there are too many, the oldest that nobody is in.

        Those in which nothing was played go first, so that whoever opens many puts an end to nobody's match.
        """
        now = time.monotonic()
        unused = [one for one in self.rooms.values() if not one.listeners]
        empty = sorted(unused, key=lambda one: (bool(one.room.moves), one.used))
        for one in empty:
            if now - one.used > limits.IDLE_SECONDS or len(self.rooms) >= limits.MAX_ROOMS:
                self._forget(one)
        if len(self.rooms) >= limits.MAX_ROOMS:
            raise MessageError("all tables are in use: try again later")

    def _forget(self, opened: OpenRoom) -> None:
        del self.rooms[opened.room.number]
        if self.store is not None:
            self.store.forget(opened.room.number)
        opened.abandon()

    def listed(self) -> list[dict[str, Any]]:
        """The rooms, for somebody who looks for one: newest first."""
        return [
            {
                **one.room.head(),
                "people": one.room.for_people,
                "watching": len(one.listeners),
                "over": one.room.table.match_over,
            }
            for one in sorted(self.rooms.values(), key=lambda one: -one.used)
        ]

    async def close(self) -> None:
        """Stop everything; what is kept is on disk."""
        for one in self.rooms.values():
            await one.close()
        await asyncio.get_running_loop().run_in_executor(None, self._end_work)

    def _end_work(self) -> None:
        for pool in (self._warming, self._pool):
            pool.shutdown(wait=True, cancel_futures=True)
        if self.store is not None:
            self.store.close()


def _play_once(game: str) -> None:
    """A deal at a table of nobody's: whatever a table needs of the game is compiled by that."""
    table = Table(game)
    table.reset(0)
    while table.to_act is not None:
        before, action = table.states.copy(), table.legal()[0]
        for seat in table.choosers():
            table.asking(seat).clone().act(int(table.asking(seat).legal()[0]))
        table.act(action)
        table.game.narrate(before[0], action, table.state)
        table.game.info(table.states, 0)


def _opening(body: Any, agents: tuple[str, ...]) -> tuple[Any, Any, list[str | None]]:
    """Game, Settings and seats that a client asks for. Raises MessageError."""
    if not isinstance(body, dict) or not set(body) <= {"game", "settings", "seats"}:
        raise MessageError("ask for a table with game, settings and seats")
    if body.get("game") not in available():
        raise MessageError(f"the games are {', '.join(available())}")
    game, seats, given = get_game(body["game"]), body.get("seats"), body.get("settings", {})
    if not isinstance(seats, list) or not 2 <= len(seats) <= game.MAX_PLAYERS:
        raise MessageError(f"seats must be a list of 2 to {game.MAX_PLAYERS}")
    for seat in seats:
        if seat is not None and (not isinstance(seat, str) or seat not in agents):
            raise MessageError(f"a seat is null, for a person, or one of {', '.join(agents)}")
    if not isinstance(given, dict) or len(given) > 16:
        raise MessageError("settings must be an object of values by name")
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    try:
        settings = make_settings(game, {**given, "num_players": len(seats)})
    except (ValueError, TypeError) as error:
        raise MessageError(shorten(error, 300)) from error
    if settings.num_deals > limits.MAX_DEALS:
        raise MessageError(f"num_deals: a match has at most {limits.MAX_DEALS} deals here")
    if settings.starting_chips > limits.MAX_CHIPS:
        raise MessageError(f"starting_chips: at most {limits.MAX_CHIPS} here")
    return game, settings, list(seats)
