"""Many tables in one array: equal, row by row, to single tables; any number of threads; errors that change nothing."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from auction_env import Table
from auction_env.engine.batch import Batch
from auction_env.engine.kernels import decision_size
from auction_env.games import available, get_game
from auction_env.games.game import IllegalActionError, SettingsError

pytestmark = pytest.mark.parametrize("game", available())


def random_actions(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (masks * rng.random(masks.shape)).argmax(axis=1)


def test_rows_equal_single_tables_through_matches(game):
    settings = {"num_deals": 3, "starting_chips": 60} if game == "auction_poker" else {"num_deals": 3}
    batch = Batch(game, settings, 8)
    out = batch.reset(7)
    tables = []
    for row in range(8):
        table = Table(game, settings)
        table.reset(7 + row)
        tables.append(table)
    rng = np.random.default_rng(0)
    deals = 0
    for _ in range(400):
        for row, table in enumerate(tables):
            assert table.to_act == out.seats[row]
            assert np.array_equal(table.observe(table.to_act), out.observations[row])
            assert np.array_equal(table.mask(table.to_act), out.masks[row])
        actions = random_actions(out.masks, rng)
        batch.step(actions)
        for row, table in enumerate(tables):
            result = table.act(int(actions[row]))
            assert out.deal_over[row] == (result is not None)
            if result is not None:
                deals += 1
                assert out.payoffs[row].tolist() == result
                assert out.match_over[row] == table.match_over
                if table.match_over:
                    table.reset()
                else:
                    table.next_deal()
            assert table.states[0] == batch.states[row]
    assert deals > 20


def test_final_observation_is_what_the_watched_seat_sees_at_the_end(game):
    batch = Batch(game, None, 16)
    out = batch.reset(3)
    tables = [Table(game) for _ in range(16)]
    for row, table in enumerate(tables):
        table.reset(3 + row)
    out.watched[:] = np.arange(16) % batch.settings.num_players
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(300):
        actions = random_actions(out.masks, rng)
        batch.step(actions)
        for row in range(16):
            if row not in seen and tables[row].act(int(actions[row])) is not None:
                seen.add(row)
                assert np.array_equal(out.final[row], tables[row].observe(int(out.watched[row])))
    assert len(seen) == 16


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")
def test_any_number_of_threads_gives_the_same_tables(game):
    results = []
    for threads in (1, 2):
        batch = Batch(game, None, 5000, threads=threads)
        out = batch.reset(11)
        rng = np.random.default_rng(2)
        for _ in range(60):
            batch.step(random_actions(out.masks, rng))
        deals, net = batch.rollout(100)
        results.append((batch.states, out.observations, deals, net))
    for one, two in zip(*results, strict=True):
        assert np.array_equal(one, two)


def test_rows_not_stepped_stay(game):
    batch = Batch(game, None, 6)
    out = batch.reset(0)
    before = batch.states.copy(), out.observations.copy()
    rows = np.array([1, 4])
    batch.step(random_actions(out.masks[rows], np.random.default_rng(0)), rows)
    for row in (0, 2, 3, 5):
        assert batch.states[row] == before[0][row]
        assert np.array_equal(out.observations[row], before[1][row])
    assert batch.states[1] != before[0][1]


def test_illegal_action_names_the_table_and_changes_no_table(game):
    batch = Batch(game, None, 5)
    out = batch.reset(0)
    good = random_actions(out.masks, np.random.default_rng(0))
    for bad in (-1, len(batch.action_names), int(np.flatnonzero(out.masks[3] == 0)[0])):
        before = batch.states.copy()
        actions = good.copy()
        actions[3] = bad
        with pytest.raises(IllegalActionError, match="table 3: action"):
            batch.step(actions)
        assert (batch.states == before).all()
    with pytest.raises(IllegalActionError, match="one integer for each of 5 tables"):
        batch.step(good[:4])
    with pytest.raises(IllegalActionError, match="one integer"):
        batch.step(good.astype(np.float32))


def test_rows_that_are_no_tables_are_refused_and_change_nothing(game):
    batch = Batch(game, None, 5)
    with pytest.raises(ValueError, match="call reset first"):
        batch.rollout(1)
    out = batch.reset(0)
    before = batch.states.copy()
    for rows in ([10**6], [-1], [0, 0], [1.0], [[1]]):
        with pytest.raises(ValueError, match="rows must be indices of tables"):
            batch.step(out.masks[: len(rows)].argmax(axis=1), np.array(rows))
    assert (batch.states == before).all()
    batch.step(out.masks[[3]].argmax(axis=1), [3])
    assert batch.states[3] != before[3]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        *(({"num_tables": number}, "num_tables is") for number in (0, 2.5, "4", None, True)),
        *(({"threads": number}, "threads is") for number in (0, 1.5, "2", True)),
        *(({"size": number}, "size is") for number in (1, 600.5, "600")),
        *(({"settings": settings}, "settings is .*give keyword values") for settings in (5, "x", [("num_players", 3)])),
    ],
)
def test_arguments_that_make_no_sense_are_named(game, arguments, reason):
    with pytest.raises(ValueError, match=reason):
        Batch(game, **{"num_tables": 4, **arguments})


def test_settings_are_those_of_the_game(game):
    other = next(name for name in available() if name != game)
    with pytest.raises(SettingsError, match=f"give keyword values or the Settings of {game}"):
        Batch(game, get_game(other).Settings())


def test_a_bad_seed_or_state_changes_nothing(game):
    batch = Batch(game, None, 4)
    with pytest.raises(IllegalActionError, match="table 0: nothing has been dealt yet"):
        batch.step(np.zeros(4, np.int64))
    batch.reset(0)
    before = batch.states.copy()
    for seeds in (np.array([1, 2]), np.full(4, 1.5), np.array([-1, 1, 1, 1]), np.array(["a"] * 4)):
        with pytest.raises(ValueError, match="give one integer, at least 0, for each of 4 tables"):
            batch.reset(seeds)
    tables = {name: Table(name) for name in available()}
    for table in tables.values():
        table.reset(0)
    for name, table in tables.items():
        if name != game:
            with pytest.raises(ValueError, match=f"not one row of {game}'s STATE"):
                batch.put(0, table.states)
    for row in (-1, 4):
        with pytest.raises(ValueError, match="rows must be indices of tables"):
            batch.put(row, tables[game].states)
    for decisions in (-1, 0, 2.5):
        with pytest.raises(ValueError, match="decisions is"):
            batch.rollout(decisions)
    assert (batch.states == before).all()


def test_reset_without_a_seed_goes_on_and_with_the_same_seed_repeats(game):
    batch = Batch(game, None, 4)
    first = batch.reset(5).observations.copy()
    second = batch.reset().observations.copy()
    assert not np.array_equal(first, second)
    assert np.array_equal(batch.reset(5).observations, first)
    assert np.array_equal(batch.reset().observations, second)


def test_one_byte_observations_hold_the_same(game):
    wide, narrow = Batch(game, None, 32), Batch(game, None, 32, dtype=np.int8)
    a, b = wide.reset(9), narrow.reset(9)
    rng = np.random.default_rng(0)
    fraction = np.concatenate(
        [np.full(piece.size, piece.fraction) for piece in wide.game.observation_fields(wide.settings)]
    )
    for _ in range(100):
        assert np.array_equal(a.observations[:, ~fraction], b.observations[:, ~fraction])
        assert np.abs(a.observations[:, fraction] * 127 - b.observations[:, fraction]).max(initial=0) <= 1
        actions = random_actions(a.masks, rng)
        wide.step(actions)
        narrow.step(actions)


def test_decisions_need_only_the_first_part_of_an_observation(game):
    batch = Batch(game, None, 64)
    out = batch.reset(1)
    size = decision_size(batch.game, batch.settings)
    rng = np.random.default_rng(0)
    for _ in range(200):
        assert not out.observations[:, size:].any()
        batch.step(random_actions(out.masks, rng))


def test_nonsense_is_refused(game):
    for arguments, message in (
        ({"num_tables": 0}, "num_tables is 0"),
        ({"num_tables": 8, "dtype": np.float64}, "float32 or int8"),
        ({"num_tables": 8, "threads": 999}, "threads is 999"),
        ({"num_tables": 8, "size": 1}, "size is 1: an observation has .* always written"),
        ({"num_tables": 8, "size": 10**6}, "size is 1000000"),
    ):
        with pytest.raises(ValueError, match=message):
            Batch(game, None, **arguments)
    with pytest.raises(ValueError, match="give one integer, at least 0, for each of 3 tables"):
        Batch(game, None, 3).reset(np.arange(4, dtype=np.uint64))
