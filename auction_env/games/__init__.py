"""The games: each a module here that fulfils ``contract.Game``; found by looking, listed nowhere."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType
from typing import Any, cast

from auction_env.games import contract
from auction_env.games.contract import Game

_TOOLS = {"cards", "hands", "contract"}  # modules here that are not games


@cache
def available() -> tuple[str, ...]:
    """Names of the games in this package, in alphabetical order."""
    return tuple(sorted(found.name for found in pkgutil.iter_modules(__path__) if found.name not in _TOOLS))


def get_game(game: str | Game | ModuleType | Any) -> Game:
    """A game by name, or a module of your own that fulfils ``contract.Game``, checked.

    Raises:
        ValueError: there is no game of that name.
        TypeError: the module lacks something that a game must define.
    """
    if isinstance(game, str):
        if game not in available():
            raise ValueError(f"there is no game {game!r}: the games are {', '.join(available())}")
        game = importlib.import_module(f"{__name__}.{game}")
    contract.check(game)
    return cast(Game, game)
