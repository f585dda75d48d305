"""The agents in the box: policies that come with the package, for both games and every number of seats.

``levels.toml`` beside the policies says which file each level plays, and at which temperature; at some numbers of seats
another than for all. ``docs/agents_in_the_box.md`` has their figures.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from auction_env.agents.base import Agent, AgentError
from auction_env.agents.ppo import play_policy

from auction_env.games.game import Game

LEVELS = ("easy", "medium", "hard", "champion")
FOLDER = resources.files("auction_env") / "data" / "agents"


@cache
def levels() -> dict[str, dict[str, dict[str, Any]]]:
    """By game and level: ``file`` and ``temperature``; by number of seats, as text, where another file is played."""
    return tomllib.loads((FOLDER / "levels.toml").read_text(encoding="utf-8"))


def make_level(level: str, argument: str, game: Game, settings: Any, seed: int) -> Agent:
    """The agent of a level, which takes no argument.

    Raises:
        AgentError: there is none for this game, these settings or this number of seats, or torch is missing.
    """
    if argument:
        raise AgentError(f"agent {level!r} takes no argument, but was given {argument!r}")
    entry = levels().get(game.NAME, {}).get(level)
    if entry is None:
        raise AgentError(f"agent {level!r} does not play {game.NAME}: it plays {', '.join(sorted(levels()))}")
    entry = entry.get(str(settings.num_players), entry)
    with resources.as_file(FOLDER / entry["file"]) as path:
        return play_policy(path, game, settings, seed, float(entry["temperature"]))


def level_files(level: str, argument: str = "") -> list[Traversable]:
    """The policies that a level plays in any game, and what says at which temperatures; see ``agents.files``."""
    entries = [game[level] for game in levels().values() if level in game]
    entries += [other for entry in entries for other in entry.values() if isinstance(other, dict)]
    return [FOLDER / "levels.toml", *(FOLDER / entry["file"] for entry in entries)]
