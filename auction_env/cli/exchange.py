"""The commands ``export`` and ``import``: policies to and from the formats of others."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from auction_env.cli.arguments import parse_settings
from auction_env.cli.screen import say
from auction_env.core.extras import require
from auction_env.core.files import check_output
from auction_env.games import get_game
from auction_env.games.game import Game, make_settings

GAME = "auction_poker"  # unless a policy file or the user says which


def _add_table(parser: argparse.ArgumentParser, otherwise: str) -> None:
    parser.add_argument("--game", help=f"name of the game (default: {otherwise})")
    parser.add_argument(
        "--set", action="append", default=[], metavar="key=value", help="a setting of the game: num_players=4"
    )


def add_export(parser: argparse.ArgumentParser) -> None:
    """What ``export`` takes."""
    parser.set_defaults(run=run_export)
    parser.add_argument("agent", help="plays a network: ppo:RUN, ppo:FILE.safetensors, easy, medium, hard, champion")
    parser.add_argument("file", type=Path, help="to write: *.onnx, or *.zip for sb3_contrib.MaskablePPO.load")
    _add_table(parser, f"that of ppo:RUN, or {GAME}")


def add_import(parser: argparse.ArgumentParser) -> None:
    """What ``import`` takes."""
    parser.set_defaults(run=run_import)
    parser.add_argument("zip", type=Path, help="as PPO or MaskablePPO save it, with MlpPolicy on flat observations")
    parser.add_argument("file", type=Path, help="policy file to write: *.safetensors, which ppo:FILE plays")
    _add_table(parser, GAME)
    parser.add_argument("--trust", action="store_true", help="read it though it holds pickles: you trust who made it")


def run_export(options: argparse.Namespace) -> int:
    """Write a policy for others; returns the exit status."""
    kind = options.file.suffix.lower()
    if kind not in (".onnx", ".zip"):
        raise ValueError(f"{options.file}: the name must end in .onnx, or in .zip for sb3-contrib")
    require("train")
    if kind == ".onnx":
        require("onnx")
    check_output(options.file, "the file")
    from auction_env import agents
    from auction_env.agents.digests import content_digest
    from auction_env.agents.learning.network_agent import check_network

    game, settings = _table_of(options.agent, options.game, parse_settings(options.set))
    agent = agents.make(options.agent, game, settings)
    check_network(agent, options.agent)
    if kind == ".onnx":
        from auction_env.agents.learning.onnx_file import export_onnx

        export_onnx(options.file, agent, game, settings, options.agent, content_digest(options.agent))
    else:
        from auction_env.agents.learning.sb3_file import export_sb3

        export_sb3(options.file, agent, game, settings)
    size = options.file.stat().st_size
    say(f"{options.file}: {options.agent}, {game.TITLE} with {settings.num_players} seats, {size:,} bytes", wrap=False)
    return 0


def _table_of(spec: str, name: str | None, values: dict[str, Any]) -> tuple[Game, Any]:
    """The game and Settings that were asked for; of a policy file those it was trained at, where nothing was."""
    kind, _, argument = spec.partition(":")
    if kind == "ppo" and argument and name is None:
        from auction_env.agents import ppo
        from auction_env.agents.learning.policy_file import trained_at
        from auction_env.evaluation.match import plain_settings

        game, settings = trained_at(ppo.policy_file(ppo.split_option(argument)[0]))
        return game, make_settings(game, {**plain_settings(settings), **values})
    game = get_game(name or GAME)
    return game, make_settings(game, values)


def run_import(options: argparse.Namespace) -> int:
    """Make a policy file of a zip; returns the exit status."""
    require("train")
    check_output(options.file, "the policy file")
    from auction_env.agents.learning.policy_file import save_policy
    from auction_env.agents.learning.sb3_file import import_sb3

    game = get_game(options.game or GAME)
    settings = make_settings(game, parse_settings(options.set))
    save_policy(options.file, import_sb3(options.zip, game, settings, options.trust), game, settings)
    say(f"{options.file}: plays {game.TITLE} with {settings.num_players} seats as ppo:{options.file}", wrap=False)
    return 0
