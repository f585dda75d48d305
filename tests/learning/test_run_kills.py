"""Training and best responses, killed at random moments, come to the weights of those that nothing happened to."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
from pathlib import Path

import faults
import pytest
from tiny_run import ROOT, TINY, tiny_arguments

pytest.importorskip("sb3_contrib")

from auction_env.agents.learning.checkpoint import CHECKPOINT
from auction_env.agents.learning.trainer import AVERAGED, LAST, MODEL

import train

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
CONFIG = ROOT / "configs" / "auction_poker.toml"
DECISIONS = 128 * 24


@pytest.fixture(scope="module", autouse=True)
def report_counts(request):
    yield
    faults.report(request.config.pluginmanager.getplugin("capturemanager"), "learning")


def digest(run: Path) -> str:
    """Of the weights that a run came to, and of its learning curve but for the seconds."""
    found = hashlib.sha256()
    for name in (MODEL, LAST, AVERAGED):
        found.update((run / name).read_bytes())
    curve = json.loads((run / "curve.json").read_text(encoding="utf-8"))
    found.update(repr([(point["timesteps"], point["chips"], point["entropy"]) for point in curve]).encode())
    return found.hexdigest()


def train_line(run: Path) -> list[object]:
    changes = {"total_timesteps": DECISIONS, "evaluate_every": 12, "final_deals": 30}
    more = [f"{key}={value}" for key, value in changes.items()]
    return ["train.py", CONFIG, "--auto-resume", *tiny_arguments(run), *more]


def kill_training(folder: Path, kills: int) -> None:
    straight, run = folder / "straight", folder / "run"
    assert train.main([str(part) for part in train_line(straight)[1:]]) == 0
    wanted = digest(straight)

    def through() -> None:
        assert digest(run) == wanted
        run.rename(folder / f"run_{len(list(folder.iterdir()))}")

    mark = lambda: faults.changed(run / CHECKPOINT)  # noqa: E731
    faults.kill_often(train_line(run), random.Random(kills), kills, mark, through, startup=8.0)
    assert train.main([str(part) for part in train_line(run)[1:]]) == 0
    assert digest(run) == wanted and not faults.hidden(run)


def test_training_that_is_killed_comes_to_the_same_weights(tmp_path):
    kill_training(tmp_path, 2)


@pytest.mark.slow
def test_training_that_is_killed_often_comes_to_the_same_weights(tmp_path):
    kill_training(tmp_path, 40)


@pytest.mark.slow
def test_a_best_response_that_is_killed_often_comes_to_the_same_result(tmp_path):
    keys = [key for key in TINY if key not in ("warm_start", "opponents", "eval_opponents", "select_by")]
    changes = [f"{key}={json.dumps(TINY[key])}" for key in keys] + [f"total_timesteps={DECISIONS}"]

    def line(name: str) -> list[object]:
        where = ["--checkpoint-dir", tmp_path / name, "--json", tmp_path / f"{name}.json"]
        return ["evaluate.py", "best-response", "random", "--seats", "2", "--deals", "200", *where, *changes]

    def result(name: str) -> object:
        return json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))

    def through() -> None:
        assert result("cut") == result("straight")
        (tmp_path / "cut.json").unlink()
        (tmp_path / "cut").rename(tmp_path / f"cut_{len(list(tmp_path.iterdir()))}")

    assert faults.run_python(*map(str, line("straight"))).returncode == 0
    mark = lambda: faults.changed(tmp_path / "cut" / CHECKPOINT)  # noqa: E731
    faults.kill_often(line("cut"), random.Random(5), 15, mark, through, startup=8.0)
    assert faults.run_python(*map(str, line("cut"))).returncode == 0
    assert result("cut") == result("straight") and not faults.hidden(tmp_path / "cut")


@pytest.mark.slow
def test_an_export_that_is_killed_often_leaves_the_old_file_or_the_new_one(tmp_path):
    """At any moment of it, however short the writing is: what lies there is whole, and nothing half stays for long."""
    pytest.importorskip("onnx")
    out = tmp_path / "policy.onnx"
    line = [faults.COMMAND, "export", "easy", out, "--set", "num_players=2"]
    assert faults.run_python(*map(str, line)).returncode == 0
    wanted = out.read_bytes()

    def through() -> None:
        assert out.read_bytes() == wanted

    always = itertools.count().__next__
    faults.seconds_of_fork(line)  # the first one imports
    lasts = faults.seconds_of_fork(line)
    faults.kill_often(line, random.Random(6), 15, always, through, startup=8.0, spread=lasts)
    through()
    assert faults.run_python(*map(str, line)).returncode == 0
    through()
    assert not faults.hidden(tmp_path)
