"""The command ``list``: games, settings, agents and interfaces."""

from __future__ import annotations

import argparse
import dataclasses
import textwrap
from typing import Any

from auction_env.cli.screen import columns, say
from auction_env.core.limits import as_toml
from auction_env.games import available, get_game
from auction_env.games.game import Game


def run(options: argparse.Namespace) -> int:
    """Print what there is."""
    for name in available():
        say(f"\n{_describe_game(get_game(name))}", wrap=False)
    from auction_env import agents

    say("\nAgents:")
    for name, meaning in agents.available().items():
        say(
            textwrap.fill(
                meaning, columns(), initial_indent=f"  {name:12} ", subsequent_indent=" " * 15, break_on_hyphens=False
            ),
            wrap=False,
        )
    say("\npython -m auction_env --help lists the commands (play, watch, serve, ...); COMMAND --help tells more.")
    return 0


def _describe_game(game: Game) -> str:
    from auction_env import gymnasium_id

    module = f"{game.NAME}_v{game.VERSION}"
    title = f"{game.TITLE} ({game.NAME}), version {game.VERSION}, at most {game.MAX_PLAYERS} players"
    lines = [*textwrap.wrap(title, columns(), subsequent_indent="  "), "  Settings:"]
    for field in dataclasses.fields(game.Settings):
        meaning = field.metadata.get("meaning", "")
        lines += textwrap.wrap(
            f"{_default(field)}: {meaning}",
            columns(),
            initial_indent="    ",
            subsequent_indent="      ",
            break_on_hyphens=False,
        )
    interfaces = (  # calls are not cut: they are there to be copied
        ("PettingZoo AEC", f"auction_env.{module}.env()"),
        ("PettingZoo parallel", f"auction_env.{module}.parallel_env()"),
        ("Gymnasium", f'gymnasium.make("{gymnasium_id(game.NAME)}", opponents=["random", ...])'),
        ("Gymnasium VectorEnv", f'gymnasium.make_vec("{gymnasium_id(game.NAME)}", num_envs=1024)'),
        ("stable-baselines3", f'auction_env.interfaces.sb3_vec_env.SelfPlayVecEnv("{game.NAME}", num_tables=1024)'),
        ("batch of tables", f'auction_env.engine.batch.Batch("{game.NAME}", num_tables=1024)'),
        ("one table", f'auction_env.Table("{game.NAME}")'),
    )
    return "\n".join([*lines, "  Interfaces:", *(f"    {name:20} {call}" for name, call in interfaces)])


def _default(field: dataclasses.Field[Any]) -> str:
    """A setting and its default as they can be typed back; TOML has no word for a setting that is left out."""
    return field.name if field.default is None else f"{field.name}={as_toml(field.default)}"
