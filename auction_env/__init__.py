"""auction_env: exact, fast environments for imperfect-information bidding.

``from auction_env import auction_poker_v0`` gives a game's PettingZoo module, with ``env(**settings)``,
``raw_env(**settings)`` and ``parallel_env(**settings)``; every game in ``auction_env.games`` has one, named after it
and its version. ``gymnasium.make("auction_env/AuctionPoker-v0")`` gives its environment for one learner.
"""

from __future__ import annotations

import re
import sys
from functools import partial
from types import ModuleType
from typing import Any

import gymnasium
import pettingzoo

from auction_env.core.version import __version__
from auction_env.engine.record import RecordError, make_record, replay
from auction_env.engine.table import Table
from auction_env.games import available, get_game
from auction_env.games.game import IllegalActionError, SettingsError, SetupError
from auction_env.games.hands import describe, high_rank, low_rank
from auction_env.interfaces.pettingzoo_aec import AuctionEnv, make_env
from auction_env.interfaces.pettingzoo_parallel import AuctionParallelEnv

__all__ = [
    "IllegalActionError",
    "RecordError",
    "SettingsError",
    "SetupError",
    "Table",
    "__version__",
    "available",
    "describe",
    "get_game",
    "gymnasium_id",
    "high_rank",
    "low_rank",
    "make_record",
    "replay",
]


def _environment_module(name: str) -> ModuleType:
    """The module ``auction_env.<game>_v<version>`` in the form that PettingZoo's environments have."""
    game = get_game(name)
    module = ModuleType(f"{__name__}.{game.NAME}_v{game.VERSION}", f"PettingZoo environments of {game.TITLE}.")
    module.__dict__.update(
        env=partial(make_env, name),
        raw_env=partial(AuctionEnv, name),
        parallel_env=partial(AuctionParallelEnv, name),
        game=game,
    )
    return module


def gymnasium_id(name: str) -> str:
    """A game's name in Gymnasium's registry: ``"auction_env/AuctionPoker-v0"`` of ``"auction_poker"``."""
    game = get_game(name)
    return f"{__name__}/{game.NAME.title().replace('_', '')}-v{game.VERSION}"


def _register() -> None:
    """Make every game importable by its environment's name and known to PettingZoo's and Gymnasium's registries."""
    for name in available():
        module = _environment_module(name)
        short = module.__name__.rpartition(".")[2]
        sys.modules[module.__name__] = module
        globals()[short] = module
        pettingzoo.register("aec", f"auction_env/{short.replace('_v', '-v')}", f"{module.__name__}:env")
        pettingzoo.register("parallel", f"auction_env/{short.replace('_v', '-v')}", f"{module.__name__}:parallel_env")
        gymnasium.register(
            gymnasium_id(name),
            entry_point="auction_env.interfaces.gymnasium_env:SingleEnv",
            vector_entry_point="auction_env.interfaces.gymnasium_vector:AuctionVectorEnv",
            # The environment checks the order of calls itself. Gymnasium's wrappers that do would hide what is not
            # Gymnasium's, such as ``action_masks``, from those who ask for it: sb3-contrib's ActionMasker.
            order_enforce=False,
            disable_env_checker=True,
            kwargs={"game": name},
        )


_register()


def __getattr__(name: str) -> Any:
    environments = ", ".join(found for found in globals() if re.search(r"_v\d+$", found))
    raise AttributeError(f"auction_env has no {name!r}; environments: {environments}")
