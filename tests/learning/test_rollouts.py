"""Experience of all seats: each decision is credited with what its own seat got."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
from auction_env.agents.learning.rollouts import credit_seats

# --- credit ---


def by_hand(seats, ended, payoffs, values, gae_lambda):
    """Advantages and whether they are known, from the definition, decision by decision."""
    steps, tables = seats.shape
    advantages, known = np.zeros((steps, tables)), np.zeros((steps, tables), bool)
    for table in range(tables):
        for step in range(steps):
            ends = [later for later in range(step, steps) if ended[later, table]]
            last = ends[0] if ends else steps - 1
            seat = seats[step, table]
            own = [values[t, table] for t in range(step, last + 1) if seats[t, table] == seat]
            if ends:
                own.append(payoffs[last, table, seat])
            known[step, table] = len(own) > 1
            for number, (before, after) in enumerate(pairwise(own)):
                advantages[step, table] += gae_lambda**number * (after - before)
    return advantages, known


@pytest.mark.parametrize("gae_lambda", [0.0, 0.8, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_credit_by_seat_is_that_of_the_definition(seed, gae_lambda):
    rng = np.random.default_rng(seed)
    steps, tables, num_seats = rng.integers(1, 20), 6, rng.integers(2, 5)
    seats = rng.integers(0, num_seats, (steps, tables)).astype(np.int8)
    ended = rng.random((steps, tables)) < 0.2
    payoffs = rng.normal(size=(steps, tables, num_seats)).astype(np.float32)
    values = rng.normal(size=(steps, tables)).astype(np.float32)
    advantages, returns = np.empty((2, steps, tables), np.float32)
    known = np.empty((steps, tables), bool)
    credit_seats(seats, ended, payoffs, values, gae_lambda, advantages, returns, known)
    expected, expected_known = by_hand(seats, ended, payoffs, values, gae_lambda)
    assert np.array_equal(known, expected_known)
    assert np.allclose(advantages, expected, atol=1e-5)
    assert np.allclose(returns[known], (advantages + values)[known], atol=1e-5)
