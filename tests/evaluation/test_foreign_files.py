"""Records, results and agents' names made by others: refused by name and at once, with short messages."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from auction_env import agents, get_game
from auction_env.engine.record import RecordError, read_record, replay
from auction_env.evaluation.benchmarks import TaskError, load_task
from auction_env.evaluation.results import RESULT_FORMAT, ResultError, compare, digest_of, load_result

READERS: list[tuple[Callable[[Path], Any], type[ValueError], str]] = [
    (read_record, RecordError, "record.json"),
    (load_result, ResultError, "result.json"),
    (load_task, TaskError, "task.toml"),
]


@pytest.mark.parametrize(("read", "error", "name"), READERS)
@pytest.mark.parametrize("kind", ["pipe", "folder", "large", "deep", "not text", "empty"])
def test_what_cannot_be_read_is_refused_at_once(tmp_path: Path, read: Any, error: Any, name: str, kind: str) -> None:
    path = tmp_path / name
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "large":
        path.touch()
        os.truncate(path, 1 << 40)
    else:
        deep = ("a = " if name.endswith("toml") else "") + "[" * 100_000 + "]" * 100_000
        path.write_bytes({"deep": deep.encode(), "not text": b"\xff\xfe\x00", "empty": b""}[kind])
    with pytest.raises(error) as caught:
        read(path)
    assert name in str(caught.value) and len(str(caught.value)) < len(str(path)) + 600


def _result() -> dict[str, Any]:
    task = {"game": "auction_poker", "seed": 1}
    return {
        "format": RESULT_FORMAT,
        "task": task,
        "task_digest": digest_of(task),
        "decks": 3,
        "seatings": 2,
        "agents": [{"name": "random", "places": 1}],
        "by_deck": [1, -2, 4],
    }


BROKEN: dict[str, tuple[str, Any]] = {
    "short": ("by_deck", [1]),
    "long": ("by_deck", [1] * 4),
    "no list": ("by_deck", 7),
    "text": ("by_deck", [1, 2, "3"]),
    "nested": ("by_deck", [[1], [2], [3]]),
    "NaN": ("by_deck", [1, float("nan"), 3]),
    "infinite": ("by_deck", [1, float("inf"), 3]),
    "huge": ("by_deck", [1, 2, 10**300]),
    "no decks": ("decks", 0),
    "half a seating": ("seatings", 1.5),
    "true": ("seatings", True),
    "nobody": ("agents", []),
    "nameless": ("agents", [{"places": 1}]),
    "placeless": ("agents", [{"name": "random"}]),
    "no places": ("agents", [{"name": "random", "places": 0}]),
}


def test_a_sound_result_is_read_and_compared(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps(_result()))
    found = load_result(tmp_path / "r.json")
    assert compare(found, found).difference.mean == 0


@pytest.mark.parametrize("kind", BROKEN)
def test_a_result_with_wrong_numbers_gives_no_verdict(tmp_path: Path, kind: str) -> None:
    key, value = BROKEN[kind]
    (tmp_path / "r.json").write_text(json.dumps({**_result(), key: value}))
    with pytest.raises(ResultError, match=r"r\.json"):
        load_result(tmp_path / "r.json")


def test_a_long_text_in_a_record_is_not_repeated_whole() -> None:
    for record in ({"format": "x" * 10**6}, {"format": "auction_env.engine.record/1", "game": "y" * 10**6}):
        with pytest.raises(RecordError) as caught:
            replay(record)
        assert len(str(caught.value)) < 1500


def _nested(levels: int, inner: str = "random") -> str:
    for _ in range(levels):
        inner = f"mix:0.5:random:({inner})"
    return inner


def test_mixes_of_mixes_have_a_limit() -> None:
    game = get_game("auction_poker")
    settings = game.Settings()
    for levels in (330, 5000):
        with pytest.raises(agents.AgentError, match="levels deep"):
            agents.make(_nested(levels), game, settings)
    agents.make(_nested(10), game, settings, seed=2**62).seed(2**63 - 1)


def test_the_seeds_of_a_mix_stay_within_63_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    game = get_game("auction_poker")
    mixed: Any = agents.make("mix:0.5:random:random", game, game.Settings())
    seen: list[int] = []
    for part in mixed.parts:
        monkeypatch.setattr(part, "seed", seen.append)
    mixed.seed(2**63 - 1)
    assert len(seen) == 2 and all(0 <= seed < 2**63 for seed in seen)
