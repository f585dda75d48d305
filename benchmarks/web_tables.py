"""How long people at a browser wait when many tables are played at once: ``python -m benchmarks.web_tables``.

A server is started as ``auction-env serve`` starts it. At each table sits one person, who chooses as soon as asked and
asks for the next deal, against two agents that play at their usual pace. Measured from the clients: the time from a
choice to the state that answers it, and from a ping to its pong.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import socket
import subprocess
import sys
import time
import urllib.request
from typing import Any

import numpy as np
from websockets.asyncio.client import ClientConnection, connect

AGENTS = ("medium", "rules")
GAMES = ("auction_poker", "auction_flop")


class Client:
    """A person at a table.

    Args:
        socket: connected to it.
    """

    def __init__(self, socket: ClientConnection) -> None:
        self.socket, self.choices, self.pings, self.deals = socket, [], [], 0
        self._asked = self._pinged = 0.0

    async def play(self, until: float) -> None:
        """Play until a moment of ``time.monotonic``."""
        await self._send("sit", seat=0, name="person")
        while (left := until - time.monotonic()) > 0:
            try:
                text = await asyncio.wait_for(self.socket.recv(), left)
            except TimeoutError:
                return
            await self._answer(json.loads(text))

    async def _send(self, kind: str, **fields: Any) -> None:
        await self.socket.send(json.dumps({"type": kind, **fields}))

    async def _answer(self, message: dict[str, Any]) -> None:
        now = time.perf_counter()
        if message["type"] == "pong":
            self.pings.append(now - self._pinged)
        elif message["type"] == "error":
            raise RuntimeError(message["message"])
        elif message["type"] == "state" and message["you"] == 0:
            if self._asked:
                self.choices.append(now - self._asked)
                self._asked = 0.0
            if message["choosing"]:
                self._asked = time.perf_counter()
                await self._send("choose", action=message["legal"][0]["action"])
            elif message["payoffs"] and 0 not in message["ready"]:
                self.deals += 1
                if not message["match_over"]:
                    await self._send("next")
            else:
                self._pinged = time.perf_counter()
                await self._send("ping")


def _open(address: str, game: str) -> str:
    body = {"game": game, "seats": [None, *AGENTS], "settings": {"num_deals": 100, "starting_chips": 1000}}
    request = urllib.request.Request(
        f"http://{address}/api/tables", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=300) as answer:
        table: str = json.load(answer)["table"]
    return table


async def _play(address: str, tables: list[str], seconds: float) -> list[Client]:
    sockets = [await connect(f"ws://{address}/socket/{table}") for table in tables]
    clients = [Client(socket) for socket in sockets]
    await asyncio.gather(*(client.play(time.monotonic() + seconds) for client in clients))
    for each in sockets:
        await each.close()
    return clients


def _line(name: str, seconds: list[float]) -> str:
    middle, most, worst = 1000 * np.percentile(seconds, [50, 95, 99])
    return f"| {name} | {len(seconds):,} | {middle:.0f} | {most:.0f} | {worst:.0f} |"


def main() -> None:
    """Run it, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-m", "auction_env", "serve", "--port", str(port)])
    address = f"127.0.0.1:{port}"
    try:
        while server.poll() is None:
            try:
                urllib.request.urlopen(f"http://{address}/", timeout=5).close()
                break
            except OSError:
                time.sleep(0.2)
        tables = [_open(address, game) for game, _ in zip(itertools.cycle(GAMES), range(options.tables), strict=False)]
        asyncio.run(_play(address, tables[: len(GAMES)], 20.0))  # what is compiled at first is not measured
        tables = [_open(address, game) for game, _ in zip(itertools.cycle(GAMES), range(options.tables), strict=False)]
        clients = asyncio.run(_play(address, tables, options.seconds))
    finally:
        server.terminate()
        server.wait(20)
    print(f"{options.tables} tables, {options.seconds:.0f} s, {sum(client.deals for client in clients)} deals\n")
    print("| milliseconds from | times | median | 95 % | 99 % |\n| --- | --- | --- | --- | --- |")
    print(_line("a choice to the state that answers it", [one for client in clients for one in client.choices]))
    print(_line("a ping to its pong", [one for client in clients for one in client.pings]))


if __name__ == "__main__":
    main()
