"""Features: functions of what a seat has seen, unchanged when suits are renamed, written where they are declared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from auction_env import available, get_game
from auction_env.engine.batch import Batch
from auction_env.engine.features import FeatureRows
from auction_env.engine.kernels import kernels
from auction_env.games.features import offset, size_of

TABLES = 48
CASES = [
    ("auction_poker", {}),
    ("auction_poker", {"num_players": 2}),
    ("auction_poker", {"num_players": 7, "max_bid": 5}),
    ("auction_poker", {"num_players": 3, "hole_cards": 3, "num_auctions": 2, "num_ranks": 8}),
    ("auction_poker", {"num_players": 4, "hole_cards": 0, "num_auctions": 7, "num_deals": 3}),
    ("auction_flop", {}),
    ("auction_flop", {"num_players": 2}),
    ("auction_flop", {"num_players": 8, "num_ranks": 11}),
    ("auction_flop", {"num_players": 3, "hand_size": 3, "flop_size": 2, "num_suits": 3}),
]


def visited(name: str, settings: dict[str, Any], steps: int, every: int = 1) -> Any:
    """Tables under random play, with the rows of features of their seats to act."""
    batch = Batch(name, settings, TABLES, threads=1)
    rows, rng = FeatureRows(batch.game, batch.settings), np.random.default_rng(3)
    out = batch.reset(5)
    for step in range(steps):
        if step % every == 0:
            found = np.empty((TABLES, rows.size), np.float32)
            rows.write(batch.states, batch.all_rows, found)
            yield batch, rows, found
        batch.step((rng.random(out.masks.shape) * out.masks).argmax(axis=1))


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_nothing_that_a_seat_cannot_know_changes_them(name, settings):
    rng, changed = np.random.default_rng(1), 0
    for batch, rows, found in visited(name, settings, 90, 3):
        other = batch.states.copy()
        seeds = rng.integers(0, 2**63, TABLES).astype(np.uint64)
        kernels(batch.game).resample_from_infostate(other, other["to_act"].astype(np.int64), seeds)
        changed += int((other["deck"] != batch.states["deck"]).any(axis=1).sum())
        again = np.empty_like(found)
        rows.write(other, batch.all_rows, again)
        np.testing.assert_array_equal(found, again)
    assert changed > 10 * TABLES


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_they_are_finite_small_and_zero_where_nobody_is(name, settings):
    for batch, rows, found in visited(name, settings, 60, 2):
        assert np.isfinite(found).all()
        _own, others, options, actions = rows.views(found)
        assert np.abs(found[:, : rows.starts[2]]).max() < 20
        absent = others[..., 0] == 0
        assert not others[absent].any()
        gone = options[..., 0] == 0
        assert not options[gone].any()
        assert (actions[gone] == -1).all()
        assert batch.num_tables == len(found)


@pytest.mark.parametrize(("name", "settings"), CASES)
def test_every_legal_action_is_a_plain_one_or_exactly_one_option(name, settings):
    for batch, rows, found in visited(name, settings, 60):
        actions = rows.views(found)[3].astype(int)
        plain = set(rows.layout.plain_actions)
        for table in range(TABLES):
            legal = set(np.flatnonzero(batch.out.masks[table]).tolist())
            named = [action for action in actions[table].tolist() if action >= 0]
            assert len(named) == len(set(named))
            assert set(named) == legal - plain


@pytest.mark.parametrize("name", available())
def test_wider_rows_hold_the_same_and_zeros(name):
    for batch, rows, found in visited(name, {}, 40, 5):
        wide = FeatureRows(batch.game, batch.settings, rows.num_others + 2, rows.max_options + 3)
        more = np.empty((TABLES, wide.size), np.float32)
        wide.write(batch.states, batch.all_rows, more)
        for narrow, broad, empty in zip(rows.views(found), wide.views(more), (0, 0, 0, -1), strict=True):
            kept = tuple(slice(0, length) for length in narrow.shape)
            np.testing.assert_array_equal(broad[kept], narrow)
            rest = np.array(broad)
            rest[kept] = empty
            assert (rest == empty).all()


def test_suits_renamed_change_nothing_in_auction_poker():
    rng = np.random.default_rng(2)
    for batch, rows, found in visited("auction_poker", {}, 90, 3):
        suits = rng.permutation(4)
        renamed = np.array([card // 4 * 4 + suits[card % 4] for card in range(52)] + [255] * 204, np.uint8)
        other = batch.states.copy()
        for field in ("deck", "row", "picks"):
            other[field] = renamed[other[field]]
        again = np.empty_like(found)
        rows.write(other, batch.all_rows, again)
        np.testing.assert_allclose(again[:, : rows.starts[2]], found[:, : rows.starts[2]], atol=1e-6)


def test_rows_that_are_too_small_are_refused():
    game = get_game("auction_poker")
    with pytest.raises(ValueError, match="too small for 3 seats"):
        FeatureRows(game, Batch(game, {}, 1).settings, num_others=1)


def test_chances_to_beat_a_seat_are_exact():
    """Against a count by hand: two cards concealed, five shown, 35 unseen, 595 hands."""
    game = get_game("auction_poker")
    layout = game.feature_layout(Batch(game, {}, 1).settings)
    start, seen = offset(layout.other, "beaten"), 0
    for batch, rows, found in visited("auction_poker", {}, 60):
        for table in np.flatnonzero(batch.states["phase"] >= 2)[:4]:
            chances = rows.views(found)[1][table, :, start : start + 4]
            folded = rows.views(found)[1][table, :, offset(layout.other, "folded")] > 0
            assert ((chances[:, 0] + chances[:, 1] <= 1 + 1e-6) & (chances[:, 2] + chances[:, 3] <= 1 + 1e-6)).all()
            np.testing.assert_allclose(chances * 595, np.round(chances * 595), atol=1e-3)
            seen += int(not folded.all())
    assert seen > 20
    assert size_of(layout.other) == layout.sizes[1]
