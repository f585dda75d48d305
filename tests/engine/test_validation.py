"""States from elsewhere: all that play reaches is taken, all else is refused by name, and nothing crashes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from strategies import some_settings

from auction_env import get_game
from auction_env.engine.batch import Batch
from auction_env.engine.table import Table
from auction_env.engine.validation import StateError, check_states

# Small decks, where reshuffles and seats without chips come soon.
SMALL = {
    "auction_poker": {"num_players": 3, "num_deals": 3, "starting_chips": 40, "final_carry": "keep"},
    "auction_flop": {"num_players": 3, "num_ranks": 5, "num_suits": 4, "num_deals": 2, "discard_fees": [0] * 6},
}


def _visited(game: Any, values: dict[str, Any], seed: int, steps: int) -> Any:
    """Tables on the way through a match of random play: each state, and one as some seat may imagine it."""
    rng = np.random.default_rng(seed)
    table = Table(game, values)
    table.reset(seed)
    for _ in range(steps):
        if table.to_act is None:
            if table.states[0].match_over:
                return
            table.next_deal()
        yield table
        yield table.resample_from_infostate(int(rng.integers(table.settings.num_players)), int(rng.integers(1 << 60)))
        table.act(int(rng.choice(table.legal())))


@pytest.mark.parametrize("seed", range(3))
def test_every_state_that_play_reaches_or_a_seat_imagines_is_taken(game: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = some_settings(game, lambda some: some[int(rng.integers(len(some)))]) if seed else SMALL[game.NAME]
    visited = [(table.settings, table.states.copy()) for table in _visited(game, values, seed, 120)]
    check_states(game, visited[0][0], np.concatenate([states for _, states in visited]))
    if game.NAME == "auction_flop" and not seed:
        assert sum(int(states["first_shuffle"][0]) != 127 for _, states in visited) > 20


@pytest.mark.slow
def test_every_state_that_play_reaches_is_taken_at_many_settings(game: Any) -> None:
    rng = np.random.default_rng(7)
    for seed in range(60):
        values = some_settings(game, lambda some: some[int(rng.integers(len(some)))])
        for table in _visited(game, values, seed, 300):
            check_states(game, table.settings, table.states)


WRONG: dict[str, Any] = {
    "num_players": 100,
    "to_act": -1,
    "dealer": 120,
    "phase": 77,
    "deck": 200,
    "stacks": -5,
    "paid": 2,
    "pot": 1,
    "total_chips": 1 << 27,
    "deal_number": -1,
    "match_over": 1,
    "ante": 7,
    "award": 3,
    "num_ranks": 12,
}


@pytest.mark.parametrize("field", WRONG)
def test_a_wrong_field_is_named_and_nothing_changes(game: Any, field: str) -> None:
    batch = Batch(game, None, 3)
    batch.reset(5)
    states = batch.states.copy()
    if states[field].ndim == 1:
        states[field][1] = WRONG[field]
    else:
        states[field][1, 0] = WRONG[field]
    before, seen = batch.states.copy(), batch.out.observations.copy()
    with pytest.raises(StateError, match=rf"row 1: .*\b({field}|stacks|total_chips|carried_in)\b"):
        batch.set_states(states)
    with pytest.raises(ValueError, match=r"row 0: "):
        batch.put(2, states[1:2])
    assert (batch.states == before).all() and (batch.out.observations == seen).all()
    batch.states[1] = states[1]
    with pytest.raises(StateError, match=r"row 0: "):
        batch.show(np.array([1]))


def test_states_of_another_shape_or_kind_are_refused(game: Any) -> None:
    batch = Batch(game, None, 3)
    batch.reset(5)
    with pytest.raises(ValueError, match="give one for each of 3 tables"):
        batch.set_states(batch.states[:2])
    with pytest.raises(ValueError, match="rows of"):
        batch.set_states(np.zeros(3))
    with pytest.raises(ValueError, match="to_act"):
        batch.set_states(np.repeat(game.new_state(batch.settings), 3))


def test_tables_go_on_from_states_as_if_they_had_come_there(game: Any) -> None:
    batch, other = Batch(game, None, 4), Batch(game, None, 4)
    batch.reset(3)
    for _ in range(9):
        batch.step(batch.out.masks.argmax(1))
    other.set_states(batch.states)
    assert (other.out.masks == batch.out.masks).all()
    assert (other.out.observations == batch.out.observations).all()
    for _ in range(30):
        actions = batch.out.masks.argmax(1)
        batch.step(actions)
        other.step(actions)
    assert (other.states == batch.states).all()


_FLIPS = """
import json, sys
import numpy as np
from auction_env import get_game
from auction_env.engine.batch import Batch
from auction_env.engine.kernels import kernels

name, values, flips, seed = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
game, rng = get_game(name), np.random.default_rng(seed)
values = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
source, batch = Batch(game, values, 64), Batch(game, values, 1)
source.reset(seed)
counts = {"refused": 0, "taken": 0}
for number in range(flips):
    if number % 40 == 0:
        for _ in range(int(rng.integers(1, 12))):
            source.step((source.out.masks * rng.random(source.out.masks.shape)).argmax(1))
    state = source.states[[int(rng.integers(64))]].copy()
    for _ in range(int(rng.integers(1, 4))):
        state.view(np.uint8)[int(rng.integers(state.nbytes))] ^= np.uint8(1 << int(rng.integers(8)))
    try:
        batch.put(0, state)
    except ValueError:
        counts["refused"] += 1
        continue
    counts["taken"] += 1
    seats, seeds = batch.out.seats.astype(np.int64), np.array([number], np.uint64)
    kernels(game).resample_from_infostate(batch.states.copy(), seats, seeds)
    for _ in range(40):
        batch.step((batch.out.masks * rng.random(batch.out.masks.shape)).argmax(1))
print(json.dumps(counts))
"""


def _flipped(game: str, flips: int, seed: int, tmp_path: Path) -> dict[str, int]:
    """Counts of states with one to three bits changed; a crash ends the other process, not this one."""
    script = tmp_path / "flips.py"
    script.write_text(_FLIPS)
    command = [sys.executable, script, game, json.dumps(SMALL[game]), str(flips), str(seed)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=800, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    return dict(json.loads(run.stdout))


@pytest.mark.parametrize("name", SMALL)
def test_flipped_bits_are_refused_or_play_on(name: str, tmp_path: Path) -> None:
    counts = _flipped(name, 300, 1, tmp_path)
    assert counts["refused"] + counts["taken"] == 300
    assert counts["refused"] > 100 and counts["taken"] > 3, counts


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_many_flipped_bits_are_refused_or_play_on(name: str, tmp_path: Path) -> None:
    for seed in range(2, 6):
        _flipped(name, 2000, seed, tmp_path)


def test_a_game_that_cannot_be_retraced_has_its_common_fields_checked() -> None:
    game = get_game("auction_poker")
    bare = type("Bare", (), {name: getattr(game, name) for name in vars(game) if name not in ("retrace", "settled")})
    bare.__hash__ = object.__hash__  # type: ignore[method-assign,assignment]
    batch = Batch(game, None, 2)
    batch.reset(0)
    check_states(bare, batch.settings, batch.states)  # type: ignore[arg-type]
    batch.states["to_act"][1] = 9
    with pytest.raises(StateError, match="row 1: to_act is 9"):
        check_states(bare, batch.settings, batch.states)  # type: ignore[arg-type]
