"""Tables played on without checks, for agents that search: acting, masks and results of many rows at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from auction_env.core.jit import kernel
from auction_env.games.game import Game


class Playout(NamedTuple):
    """Compiled loops over rows of a game's STATE; actions must be legal."""

    act: Callable[..., None]  # states, rows, actions: the seats to act at these rows act
    masks: Callable[..., None]  # states, rows, out int8[len(rows), actions], zeros, scratch: legal actions
    payoffs: Callable[..., None]  # states, seats, out float64[N]: chips that each seat won in the deal that is over
    replay: (
        Callable[..., None] | None
    )  # now, past, seats, out int64[N]: what the seats to act at ``past`` did, -1: unknown
    rewind: Callable[..., None] | None  # states: back to the start of the deal, the same cards to come


@cache
def playout(game: Any) -> Playout:
    """The loops of a game; ``replay`` and ``rewind`` only where it defines ``action_taken`` and ``deal_again``."""
    act, legal = game.act, game.legal

    @kernel(owner=game.NAME)
    def act_rows(states: Any, rows: Any, actions: Any) -> None:
        for place in range(rows.shape[0]):
            act(states[rows[place]], actions[place])

    @kernel(owner=game.NAME)
    def mask_rows(states: Any, rows: Any, out: Any, scratch: Any) -> None:
        for place in range(rows.shape[0]):
            for number in range(legal(states[rows[place]], scratch)):
                out[place, scratch[number]] = 1

    @kernel(owner=game.NAME)
    def payoff_rows(states: Any, seats: Any, out: Any) -> None:
        for row in range(states.shape[0]):
            out[row] = states[row].award[seats[row]] - states[row].paid[seats[row]]

    if not hasattr(game, "action_taken"):
        return Playout(act_rows, mask_rows, payoff_rows, None, None)
    action_taken, deal_again = game.action_taken, game.deal_again

    @kernel(owner=game.NAME)
    def replay_rows(now: Any, past: Any, out: Any) -> None:
        for row in range(now.shape[0]):
            out[row] = action_taken(now[row], past[row])

    @kernel(owner=game.NAME)
    def rewind_rows(states: Any) -> None:
        for row in range(states.shape[0]):
            deal_again(states[row])

    return Playout(act_rows, mask_rows, payoff_rows, replay_rows, rewind_rows)


def masks_of(game: Game, loops: Playout, states: np.ndarray, rows: np.ndarray, num_actions: int) -> np.ndarray:
    """Legal actions of the seats to act at some rows, int8[len(rows), num_actions]."""
    out = np.zeros((len(rows), num_actions), np.int8)
    loops.masks(states, rows, out, np.zeros(game.MAX_LEGAL, np.int64))
    return out
