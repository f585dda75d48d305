"""The command ``serve``: the table in a browser."""

from __future__ import annotations

import argparse
from pathlib import Path

from auction_env import agents as registry
from auction_env.core.extras import require
from auction_env.core.terminal import show
from auction_env.games import available, get_game
from auction_env.games.game import make_settings

MAX_SHOWN = 200  # records of a folder


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add = parser.add_argument
    parser.set_defaults(run=run)
    add("--host", default="127.0.0.1", help="address to listen on (default: this machine alone, %(default)s)")
    add("--port", type=int, default=8321, help="(default: %(default)s)")
    add(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name or address by which browsers reach the server, where it is not this machine's own",
    )
    add("--tables", type=Path, metavar="FILE", help="keep tables in this file, and go on with those in it")
    add(
        "--record",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="a record, or a folder of records; may be repeated",
    )
    add(
        "--agent",
        action="append",
        default=[],
        metavar="AGENT",
        help="an agent that may sit down besides those in the box, such as ppo:runs/x; may be repeated",
    )


def _records(path: Path) -> list[Path]:
    """A file itself; of a folder its files of JSON, in order of their names. Raises ValueError if there are none."""
    if not path.is_dir():
        return [path]
    found = sorted(path.glob("*.json"))
    if not found:
        raise ValueError(f"--record {path}: there is no record (*.json) in this folder")
    return found[:MAX_SHOWN]


def _check_agent(name: str) -> None:
    """Raise ValueError unless an agent can sit at some table; one that runs code of its own is not started for that."""
    if registry.bound_to(name) is not None or registry.plugins_in(name):
        return
    troubles = []
    for game in map(get_game, available()):
        for num_players in range(2, game.MAX_PLAYERS + 1):
            try:
                registry.make(name, game, make_settings(game, {"num_players": num_players}))
                return
            except ValueError as error:
                troubles.append(error)
    raise ValueError(f"--agent {name}: {troubles[0]}")


def run(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C; returns the exit status."""
    require("web")
    import uvicorn

    from auction_env.web.limits import MAX_MESSAGE_BYTES
    from auction_env.web.lobby import AGENTS, ServerConfig
    from auction_env.web.server import create_app
    from auction_env.web.store import check_store
    from auction_env.web.watch import Recording

    if not 0 <= options.port <= 65535:
        raise ValueError(f"--port {options.port}: ports are 0 to 65535")
    if options.tables is not None:
        check_store(options.tables)
    for name in options.agent:
        _check_agent(name)
    hosts = [*options.allow_host, *([] if options.host in ("0.0.0.0", "::") else [options.host])]
    config = ServerConfig(
        agents=tuple(dict.fromkeys([*AGENTS, *options.agent])),
        hosts=tuple(hosts),
        store=options.tables,
        warm=("champion", "montecarlo"),
        recordings=tuple(Recording.load(path) for given in options.record for path in _records(given)),
    )
    app = create_app(config)
    shown = f"[{options.host}]" if ":" in options.host else options.host
    show(f"The table is at http://{shown}:{options.port}/ (Ctrl-C ends it).")
    if options.host in ("0.0.0.0", "::") and not options.allow_host:
        show("Name how others reach it with --allow-host: requests to other names are refused.")
    for number, recording in enumerate(config.recordings):
        show(f"{recording.name}: http://{shown}:{options.port}/#/record/{number}")
    uvicorn.run(
        app,
        host=options.host,
        port=options.port,
        log_level="warning",
        server_header=False,
        ws_max_size=8 * MAX_MESSAGE_BYTES,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=5,
    )
    return 0
