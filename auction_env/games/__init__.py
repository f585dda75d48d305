"""The games: each a module or a package here that fulfils ``game.Game``; found by looking, listed nowhere."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType
from typing import Any, cast

from auction_env.games.game import Game, check

_TOOLS = {"cards", "features", "hand_strength", "hands", "game"}  # modules here that are not games


@cache
def available() -> tuple[str, ...]:
    """Names of the games in this package, in alphabetical order."""
    return tuple(sorted(found.name for found in pkgutil.iter_modules(__path__) if found.name not in _TOOLS))


def get_game(game: str | Game | ModuleType | Any) -> Game:
    """A game by name, or a module of your own that fulfils ``game.Game``, checked.

    Raises:
        ValueError: there is no game of that name.
        TypeError: the module lacks something that a game must define.
    """
    if isinstance(game, str):
        if game not in available():
            raise ValueError(f"there is no game {game!r}: the games are {', '.join(available())}")
        game = importlib.import_module(f"{__name__}.{game}")
    check(game)
    return cast(Game, game)
