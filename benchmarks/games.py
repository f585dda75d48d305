"""The games as they are measured: which, with how many seats, on how many threads."""

from __future__ import annotations

import tomllib
from typing import Any

import numba

from auction_env import available, get_game
from auction_env.games.game import make_settings
from benchmarks.measure import ROOT

MAIN_GAME = "auction_poker"  # the one that the targets are about
SEATS = 4


def all_games() -> tuple[str, ...]:
    """The games, the one with targets first."""
    return (MAIN_GAME, *(name for name in available() if name != MAIN_GAME))


def four_seats(name: str) -> Any:
    """Settings of a game with four seats, all else as the defaults."""
    return make_settings(get_game(name), {"num_players": SEATS})


def training_settings(name: str, seats: int = SEATS) -> Any:
    """Settings of a game as its config trains it, where what a learner sees may be a compact form.

    Raises:
        SettingsError: the game cannot be played with so many seats.
    """
    file = ROOT / "configs" / f"{name}.toml"
    trained = tomllib.loads(file.read_text(encoding="utf-8")).get("settings", {}) if file.exists() else {}
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in trained.items()}
    return make_settings(get_game(name), {**values, "num_players": seats})


def thread_counts() -> list[int]:
    """One thread, two, and as many as there are."""
    most = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    return sorted({1, min(2, most), most})


def threads_name(threads: int) -> str:
    """``1 thread``, ``2 threads``."""
    return f"{threads} thread" + ("s" if threads > 1 else "")
