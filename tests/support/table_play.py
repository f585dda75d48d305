"""Tables played at random: what several test files share."""

from __future__ import annotations

import numpy as np

from auction_env import Table


def deck_of(table: Table) -> list[int]:
    return list(table.deals[-1].deck)


def act_at_random(table: Table, rng: np.random.Generator, moves: int) -> Table:
    for _ in range(moves):
        if table.to_act is not None:
            table.act(int(rng.choice(np.sort(table.legal()))))
    return table
