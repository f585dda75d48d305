"""Playing on at many tables until the learner is to act: everybody else's decisions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from auction_env.engine.agent import Player, ask
from auction_env.engine.batch import Batch

LEARNER = -1  # entry of ``control``; other numbers are players


def step_opponents(
    batch: Batch,
    control: np.ndarray,
    player_of: Callable[[int], Player],
    chance: Callable[[np.ndarray], np.random.Generator | np.ndarray],
    rows: np.ndarray,
    finish: Callable[[np.ndarray], None],
    actions: np.ndarray,
) -> None:
    """Act for everyone but the learner, until it is to act at all tables.

    Args:
        batch: the tables.
        control: int[N, seats]: LEARNER, or the number of the player that has the seat.
        player_of: the player of a number.
        chance: of the decisions at some tables, as ``ask`` takes it.
        rows: the tables just stepped.
        finish: called with the tables whose deal has just ended, the next one dealt; it may change ``control``.
        actions: int64[N], overwritten.

    Raises:
        PlayerError: a player failed or acted illegally; it is named.
    """
    out = batch.out
    while True:
        over = rows[out.deal_over[rows]]
        if len(over):
            out.deal_over[over] = False
            finish(over)
        player = control[batch.all_rows, out.seats]
        rows = np.flatnonzero(player != LEARNER)
        if not len(rows):
            return
        player = player[rows]
        for number in np.unique(player):
            at = rows[player == number]
            actions[at] = ask(
                player_of(int(number)),
                batch.game,
                batch.states[at],
                out.seats[at],
                out.observations[at],
                out.masks[at],
                chance(at),
            )
        batch.step(actions[rows], rows)
