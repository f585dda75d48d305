"""Golden playthroughs and digests: the same seed, settings and actions give the same deals, through every interface."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import golden_tool
import numpy as np
import pytest
from golden_tool import DIGEST_SEATS, DIGEST_SEEDS, Playthrough, digest_match, digest_settings, drawn, files

import auction_env
from auction_env import Table, make_record, replay
from auction_env.engine.batch import Batch

MADE_ANEW = "if the change is meant: python tests/golden_tool.py, and look at what git diff says"


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def test_every_game_has_at_least_three_playthroughs(game: Any) -> None:
    assert len(files(game.NAME)) >= 3, f"python tests/golden_tool.py {game.NAME}/<name> ... makes one"


def test_every_playthrough_is_of_a_game_that_exists() -> None:
    assert {path.parent.name for path in files()} == set(auction_env.available())


@pytest.mark.parametrize("path", files(), ids=_name)
def test_a_playthrough_replays_to_the_same_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert Playthrough(golden_tool.read_head(text), golden_tool.read_actions(text)).text() == text, MADE_ANEW


@pytest.mark.parametrize("path", files(), ids=_name)
def test_a_playthroughs_actions_are_the_ones_its_policy_draws(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert Playthrough(golden_tool.read_head(text)).text() == text, MADE_ANEW


def test_playing_as_plain_python_gives_the_same_text(game: Any) -> None:
    """Compiled code and the same functions uncompiled agree, observations included."""
    paths = files(game.NAME)[:4]
    code = (
        "import sys, pathlib, golden_tool as g\n"
        "for path in sys.argv[1:]:\n"
        "    text = pathlib.Path(path).read_text(encoding='utf-8')\n"
        "    print(path, g.Playthrough(g.read_head(text)).text() == text)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, *map(str, paths)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(Path(__file__).parents[1] / "support")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [f"{path} True" for path in paths]


# --- digests --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def digests() -> dict[str, dict[str, list[str]]]:
    return json.loads(golden_tool.DIGESTS.read_text(encoding="utf-8"))


def test_the_digest_file_covers_every_game(digests: dict[str, Any]) -> None:
    assert set(digests) == set(auction_env.available())


@pytest.mark.parametrize("seats", DIGEST_SEATS)
def test_one_digest_through_engine_environment_batch_and_replay(
    game: Any, seats: int, digests: dict[str, dict[str, list[str]]]
) -> None:
    """Case 61: a change of the generator, the deal order or any rule changes the stored digests."""
    batch = _batch_matches(game.NAME, seats)
    for seed, stored in zip(DIGEST_SEEDS, digests[game.NAME][str(seats)], strict=True):
        table = digest_match(game.NAME, seats, seed)
        record = make_record(table)
        assert record["digest"] == stored, MADE_ANEW
        assert make_record(replay(json.loads(json.dumps(record))))["digest"] == stored
        assert _environment_record(game, seats, seed)["digest"] == stored
        assert batch[seed] == _events(table)


def test_the_digests_differ_from_seed_to_seed(digests: dict[str, dict[str, list[str]]]) -> None:
    found = [digest for game in digests.values() for seats in game.values() for digest in seats]
    assert len(set(found)) == len(found)


def _environment_record(game: Any, seats: int, seed: int) -> dict[str, Any]:
    """The match of the digest file, played through PettingZoo's interface."""
    module = getattr(auction_env, f"{game.NAME}_v{game.VERSION}")
    env = module.env(**digest_settings(game.NAME, seats))
    env.reset(seed=seed)
    number = 0
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        legal = np.flatnonzero(observation["action_mask"]).tolist()
        assert agent == env.agent_selection
        env.step(drawn({"seed": seed}, number, legal, env.unwrapped.action_table()))
        number += 1
    return env.unwrapped.record()


def _events(table: Table) -> list[tuple[int, int] | list[int]]:
    """Who did what, and each deal's result."""
    events: list[tuple[int, int] | list[int]] = []
    for log in table.deals:
        events += log.actions
        events.append(log.payoffs or [])
    return events


def _batch_matches(game: str, seats: int) -> list[list[tuple[int, int] | list[int]]]:
    """The matches of the digest file, all at once, each to its end."""
    batch = Batch(game, digest_settings(game, seats), num_tables=len(DIGEST_SEEDS))
    out = batch.reset(seed=DIGEST_SEEDS[0])
    events: list[list[tuple[int, int] | list[int]]] = [[] for _ in DIGEST_SEEDS]
    numbers, playing = [0] * len(DIGEST_SEEDS), np.arange(len(DIGEST_SEEDS))
    while len(playing):
        actions = []
        for table in playing:
            legal = np.flatnonzero(out.masks[table]).tolist()
            seed = DIGEST_SEEDS[table]
            actions.append(drawn({"seed": seed}, numbers[table], legal, batch.action_names))
            events[table].append((int(out.seats[table]), actions[-1]))
            numbers[table] += 1
        out = batch.step(np.array(actions), playing)
        for table in playing:
            if out.deal_over[table]:
                events[table].append(out.payoffs[table].astype(int).tolist())
        playing = playing[~(out.deal_over[playing] & out.match_over[playing])]
    return events
