"""A solved policy in a file: what to do at each information state, found by the key of its observation."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from auction_env.games import get_game
from auction_env.games.game import Game, make_settings
from auction_env.solve.action_values import action_values
from auction_env.solve.files import FileError, load_arrays, save_arrays
from auction_env.solve.symmetry import SYMMETRIES
from auction_env.solve.values import Layout

FORMAT = "auction_env.solve.policy/3"
_ARRAYS = {"keys": "u8:1", "starts": "i4:1", "chances": "f4:1", "values": "f4:1", "reaches": "f4:1"}


@dataclasses.dataclass(frozen=True)
class StoredPolicy:
    """A policy as it is played from any seat.

    Attributes:
        game: the game.
        settings: its Settings.
        symmetry: what was left out of suits: see ``symmetry.symmetry_of``.
        keys: uint64[K], ascending, of the observations at all information states.
        starts: int32[K + 1].
        chances: float32[S]: the actions of state k, as ``Expansion.legal`` orders them, have
            ``chances[starts[k]:starts[k + 1]]``.
        values: float32[S]: what each of these actions is worth, in chips of the deal, when all play by the policy from
            then on; see ``action_values``.
        reaches: float32[K]: how likely chance and the other seats let it come to each state: where 0, the values of its
            actions say nothing.
        header: what else the file says: ``method``, ``iteration``, ``exploitability``, ``values``, ...
    """

    game: Game
    settings: Any
    symmetry: str
    keys: np.ndarray
    starts: np.ndarray
    chances: np.ndarray
    values: np.ndarray
    reaches: np.ndarray
    header: dict[str, Any]


def plain_settings(settings: Any) -> dict[str, Any]:
    """All settings as plain data."""
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in dataclasses.asdict(settings).items()
    }


def save_policy(path: Path, layout: Layout, policy: np.ndarray, facts: dict[str, Any]) -> None:
    """Write a policy of a tree; ``facts`` go to the header. Raises OSError."""
    tree, (values, reaches) = layout.tree, action_values(layout, policy)
    keys = np.concatenate([forest.keys for forest in tree.forests])
    lengths = np.concatenate([np.diff(forest.starts) for forest in tree.forests])
    order = np.argsort(keys)
    firsts = np.cumsum(lengths) - lengths
    starts = np.zeros(len(keys) + 1, np.int32)
    np.cumsum(lengths[order], out=starts[1:])
    at = np.repeat(firsts[order] - starts[:-1], lengths[order]) + np.arange(starts[-1])
    header = {
        "format": FORMAT,
        "game": tree.game.NAME,
        "version": tree.game.VERSION,
        "settings": plain_settings(tree.settings),
        "symmetry": tree.symmetry,
        **facts,
    }
    arrays = {"keys": keys[order], "starts": starts, "reaches": np.concatenate(reaches)[order].astype(np.float32)}
    for name, rows in (("chances", policy), ("values", values)):
        flat = np.concatenate([rows[seat, 1 : forest.num_sequences] for seat, forest in enumerate(tree.forests)])
        arrays[name] = flat[at].astype(np.float32)
    save_arrays(path, arrays, header)


def load_policy(path: Path, game: Game | None = None) -> StoredPolicy:
    """A policy that ``save_policy`` wrote; ``game``: a module of your own, whose name the file must have.

    Raises:
        FileError: the file is missing, damaged, of another version of the game, or holds no probabilities.
    """
    arrays, header = load_arrays(path, FORMAT, _ARRAYS)
    keys, starts, chances, worth, reaches = (arrays[name] for name in _ARRAYS)
    lengths = np.diff(starts)
    good = len(starts) == len(keys) + 1 and len(keys) > 0 and starts[0] == 0 and starts[-1] == len(chances)
    good = good and len(worth) == len(chances) and len(reaches) == len(keys)
    good = good and bool((lengths > 0).all() and (keys[1:] > keys[:-1]).all() and (chances >= 0).all())
    if not good or (abs(np.add.reduceat(chances.astype(np.float64), starts[:-1]) - 1) > 1e-3).any():
        raise FileError(f"{path} is damaged: its arrays are no policy")
    try:
        if game is None or header["game"] != game.NAME:
            game = get_game(str(header["game"]))
        values = {name: tuple(v) if isinstance(v, list) else v for name, v in header["settings"].items()}
        settings, version = make_settings(game, values), int(header["version"])
        symmetry = SYMMETRIES[SYMMETRIES.index(header["symmetry"])]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise FileError(f"{path} names no game and settings of this version: {error}") from error
    if version != game.VERSION:
        raise FileError(f"{path} is of {game.NAME}_v{version}, this is {game.NAME}_v{game.VERSION}: solve it anew")
    return StoredPolicy(game, settings, symmetry, keys, starts, chances, worth, reaches, header)
