"""The server: pages, tables over sockets, records. ``create_app`` makes it; ``serve`` runs it."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import hashlib
import json
import mimetypes
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib import resources
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from auction_env.agents import bound_to
from auction_env.core.limits import parse_json
from auction_env.core.version import __version__
from auction_env.games import available, get_game
from auction_env.web import limits
from auction_env.web.advice import table_at
from auction_env.web.guard import LOCAL_HOSTS, Guard
from auction_env.web.limits import Bucket, MessageError, parse_message
from auction_env.web.lobby import Lobby, OpenRoom, ServerConfig
from auction_env.web.watch import Recording

MOST_STRIKES = 20  # messages that make no sense, after which a client is sent away
_GONE = (WebSocketDisconnect, RuntimeError, OSError, TimeoutError)  # what a client that has gone brings about
_BUSY, _MISSING, _RUDE = 1013, 4404, 1008  # codes of closed sockets


def dumps(content: Any) -> str:
    """JSON as it is sent."""
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False)


class Connection:
    """A client in a room: what it sends is checked and done; it is sent the newest state, not each one.

    Args:
        socket: accepted.
        opened: the room.
        lobby: for agents.
    """

    def __init__(self, socket: WebSocket, opened: OpenRoom, lobby: Lobby) -> None:
        self.socket, self.opened, self.lobby = socket, opened, lobby
        self.seat: int | None = None
        self._replies: list[str] = []
        self._shown, self._stale = "", True  # the state sent last, and whether it may have changed
        self._deal, self._frames = 0, 0  # sent of a room without people
        self._due = asyncio.Event()
        self._messages = Bucket(limits.MESSAGE_RATE, limits.MESSAGE_BURST)
        self._thoughts = Bucket(limits.THINK_RATE, limits.THINK_BURST)
        self._strikes, self._code = 0, 1000

    def wake(self) -> None:
        """See Listener."""
        self._stale = True
        self._due.set()

    async def run(self) -> None:
        """Serve the client until it goes, or is sent away."""
        self.opened.join(self)
        try:
            async with anyio.create_task_group() as tasks:
                for part in (self._send, self._receive):
                    tasks.start_soon(self._until_end, part, tasks.cancel_scope)
        finally:
            self.opened.part(self)
            with anyio.move_on_after(limits.SEND_SECONDS, shield=True), contextlib.suppress(*_GONE):
                await self.socket.close(self._code)

    async def _until_end(self, part: Callable[[], Awaitable[None]], scope: anyio.CancelScope) -> None:
        """When either part ends, both do: the client has gone, does not read, or was sent away."""
        with contextlib.suppress(*_GONE):
            await part()
        scope.cancel()

    # --- to the client ---

    async def _send(self) -> None:
        while True:
            await self._due.wait()
            self._due.clear()
            replies, self._replies = self._replies, []
            for text in (*replies, *self._news()):
                with anyio.fail_after(limits.SEND_SECONDS):
                    await self.socket.send_text(text)

    def _news(self) -> list[str]:
        """What has changed for this client since it was last told."""
        if not self._stale:
            return []
        self._stale, room = False, self.opened.room
        state = dumps(room.state(self.seat))
        news = [] if state == self._shown else [state]
        self._shown = state
        if not room.for_people:
            if self._deal != self.opened.deal:
                self._deal, self._frames = self.opened.deal, 0
            frames = self.opened.frames[self._frames :]
            if frames:
                news.append(dumps({"type": "frames", "deal": self._deal, "from": self._frames, "frames": frames}))
            self._frames += len(frames)
        return news

    def reply(self, **content: Any) -> None:
        """Answer the client."""
        if len(self._replies) < limits.MAX_REPLIES:
            self._replies.append(dumps(content))
        self._due.set()

    # --- from the client ---

    async def _receive(self) -> None:
        while self._strikes < MOST_STRIKES and self._messages.take():
            received = await self.socket.receive()
            if received["type"] == "websocket.disconnect":
                return
            try:
                text = received.get("text")
                if text is None or len(text) > limits.MAX_MESSAGE_BYTES:
                    raise MessageError("a message is a short text")
                await self._do(parse_message(text))
            except MessageError as error:
                self._strikes += 1
                self.reply(type="error", message=str(error))
        self._code = _RUDE

    async def _do(self, message: dict[str, Any]) -> None:
        opened, room = self.opened, self.opened.room
        kind = message.pop("type")
        if kind == "sit":
            if self.seat is not None:
                raise MessageError("you have a seat already")
            self._seated(message["seat"], room.sit(**message))
        elif kind == "resume":
            self._seated(room.resume(message["token"]), message["token"])
        elif kind == "ping":
            self.reply(type="pong")
        elif kind == "next" and not room.for_people:
            opened.next_watched()
            opened.changed()
        elif self.seat is None:
            raise MessageError("take a seat first")
        else:
            await self._do_seated(kind, message, self.seat)

    def _seated(self, seat: int, token: str) -> None:
        self.seat = seat
        self.reply(type="seated", seat=seat, token=token)
        self.opened.join(self)
        self.opened.changed()

    async def _do_seated(self, kind: str, message: dict[str, Any], seat: int) -> None:
        opened, room = self.opened, self.opened.room
        if room.seats[seat].agent is not None:  # left by another connection
            self.seat = None
            raise MessageError("this seat is not yours any more")
        if kind in ("hint", "review"):
            await self._think(kind, message, seat)
            return
        if kind == "choose":
            room.choose(seat, message["action"])
        elif kind == "next":
            room.want_next(seat)
        elif kind == "stand_in":
            opened.stand_in(message["seat"])
        elif kind == "fill":
            await self._fill(message["seat"], message["agent"])
        elif kind == "leave":
            room.leave(seat, self.lobby.stand_in_agent)
            self.seat = None
            opened.join(self)
        opened.changed()

    async def _fill(self, seat: int, agent: str) -> None:
        room = self.opened.room
        try:
            await self.lobby.work(self.lobby.players.get, agent, room.game, room.table.settings)
        except ValueError as error:
            raise MessageError(str(error)) from error
        room.fill(seat, agent)

    async def _think(self, kind: str, message: dict[str, Any], seat: int) -> None:
        """A hint, or what the choices of a deal cost."""
        room, players = self.opened.room, self.lobby.players
        if not self._thoughts.take():
            raise MessageError("one thing after the other: wait a little")
        try:
            if kind == "hint":
                if seat not in room.choosers():
                    raise MessageError("it is not your turn")
                advice = await self.lobby.work(players.advise, message["agent"], room.table.asking(seat))
                self.reply(type="hint", **advice)
            else:
                if not room.deal_over:
                    raise MessageError("the deal is not over")
                deal, moments = self.opened.deal, list(room.moments)
                found = await self.lobby.work(players.review, room.game, room.table.settings, moments, seat)
                self.reply(type="review", deal=deal, choices=found)
        except ValueError as error:
            raise MessageError(str(error)) from error


# --- requests -------------------------------------------------------------------------------------------------------


class Pages:
    """The files of the page, read once; each with a tag, so that a browser asks for news only."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[bytes, bytes, str, str]] = {}
        folder = resources.files("auction_env.web") / "static"
        for file in folder.iterdir():
            content = file.read_bytes()
            kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            kind = "text/javascript" if file.name.endswith(".js") else kind
            tag = f'"{hashlib.sha256(content).hexdigest()[:20]}"'
            self.files[file.name] = content, gzip.compress(content, mtime=0), f"{kind}; charset=utf-8", tag

    def answer(self, request: Request) -> Response:
        """A file by its name; the page itself without one."""
        found = self.files.get(request.path_params.get("name", "index.html"))
        if found is None:
            return Response("There is no such page.\n", 404, media_type="text/plain")
        content, packed, kind, tag = found
        headers = {"cache-control": "no-cache", "etag": tag, "vary": "accept-encoding", "content-type": kind}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(packed, headers={**headers, "content-encoding": "gzip"})
        return Response(content, headers=headers)


def _answer(content: Any, status: int = 200) -> Response:
    return JSONResponse(content, status, headers={"cache-control": "no-store"})


async def _body(request: Request) -> Any:
    """The JSON of a request. Raises MessageError."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise MessageError("send application/json")
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > limits.MAX_BODY_BYTES:
            raise MessageError(f"a request has at most {limits.MAX_BODY_BYTES} bytes")
    try:
        return parse_json(content, limits.MAX_BODY_BYTES, max_depth=8)
    except (ValueError, RecursionError) as error:
        raise MessageError(f"this is not JSON: {str(error)[:100]}") from error


class Requests:
    """What is answered without a socket."""

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self.bound = {name: bound for name in config.agents if (bound := bound_to(name)) is not None}
        self.lobby: Lobby  # while the server runs

    async def setup(self, request: Request) -> Response:
        """What can be opened here."""
        games = [get_game(name) for name in available()]
        return _answer(
            {
                "version": __version__,
                "games": [{"name": game.NAME, "title": game.TITLE, "most": game.MAX_PLAYERS} for game in games],
                "agents": self.config.agents,
                "bound": self.bound,
                "most_deals": limits.MAX_DEALS,
                "most_chips": limits.MAX_CHIPS,
                "recordings": [one.summary() for one in self.config.recordings],
            }
        )

    async def tables(self, request: Request) -> Response:
        """All tables, or a new one."""
        if request.method == "GET":
            return _answer(self.lobby.listed())
        try:
            client = request.client.host if request.client else ""
            opened = await self.lobby.open(await _body(request), client)
        except MessageError as error:
            return _answer({"error": str(error)}, 400)
        return _answer({"table": opened.room.number}, 201)

    async def warm(self, request: Request) -> Response:
        """How far what is compiled when the server first runs has come."""
        done, of = self.lobby.warm()
        return _answer({"done": done, "of": of})

    async def frames(self, request: Request) -> Response:
        """A deal of a record, or of a match of agents."""
        try:
            recording, deal = await self._recording(request), request.path_params["deal"]
            return _answer(await self.lobby.work(recording.frames, deal, self.lobby.players.options))
        except LookupError:
            return _answer({"error": "there is no such deal"}, 404)
        except ValueError as error:
            return _answer({"error": str(error)}, 400)

    async def advice(self, request: Request) -> Response:
        """What an agent would have done at a step of a record, or of a match of agents."""
        try:
            recording = await self._recording(request)
            after = recording.deals[request.path_params["deal"]][request.path_params["step"]].after
            if after["to_act"][0] < 0:
                raise MessageError("nobody is to act here")
            table = table_at(recording.table.game, recording.table.settings, after)
            return _answer(
                await self.lobby.work(self.lobby.players.advise, request.query_params.get("agent", ""), table)
            )
        except LookupError:
            return _answer({"error": "there is no such step"}, 404)
        except ValueError as error:
            return _answer({"error": str(error)}, 400)

    async def _recording(self, request: Request) -> Recording:
        """What a request looks at. Raises LookupError, MessageError."""
        number = request.path_params.get("number")
        if number is not None:
            return self.config.recordings[number]
        return await self.lobby.rooms[request.path_params["table"]].recording()

    async def socket(self, socket: WebSocket) -> None:
        """A client of a table."""
        await socket.accept()
        opened = self.lobby.rooms.get(socket.path_params["table"])
        if opened is None:
            await socket.close(_MISSING)
        elif self.lobby.sockets >= limits.MAX_SOCKETS or len(opened.listeners) >= limits.MAX_ROOM_SOCKETS:
            await socket.close(_BUSY)
        else:
            self.lobby.sockets += 1
            try:
                await Connection(socket, opened, self.lobby).run()
            finally:
                self.lobby.sockets -= 1


def create_app(config: ServerConfig) -> Any:
    """The server as an ASGI application.

    Raises:
        AgentError: the file of an agent cannot be read.
        StoreError: when it starts, the file of tables cannot be used.
    """
    requests, pages = Requests(config), Pages()

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        requests.lobby = app.state.lobby = Lobby(config)
        try:
            yield
        finally:
            await requests.lobby.close()

    async def page(request: Request) -> Response:
        return pages.answer(request)

    app = Starlette(
        routes=[
            Route("/", page),
            Route("/static/{name}", page),
            Route("/api/setup", requests.setup),
            Route("/api/tables", requests.tables, methods=["GET", "POST"]),
            Route("/api/warm", requests.warm),
            *(
                route
                for what in ("records/{number:int}", "tables/{table}")
                for route in (
                    Route(f"/api/{what}/{{deal:int}}", requests.frames),
                    Route(f"/api/{what}/{{deal:int}}/{{step:int}}", requests.advice),
                )
            ),
            WebSocketRoute("/socket/{table}", requests.socket),
        ],
        lifespan=lifespan,
    )
    guarded = Guard(app, {*LOCAL_HOSTS, *config.hosts})
    guarded.state = app.state
    return guarded
