"""train.py as people run it."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys

import pytest
from tiny_run import ROOT, quiet, tiny_arguments

pytest.importorskip("sb3_contrib")

from auction_env.agents.learning.checkpoint import CHECKPOINT
from auction_env.agents.learning.runs import resume_run

import train
from auction_env.cli import evaluate

# --- the command line ---


def command(*arguments: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    line = [sys.executable, *arguments]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, env=environment, timeout=300, check=False)


def test_a_run_folder_that_cannot_be_made_is_one_line(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    line = [str(ROOT / "configs/auction_poker.toml"), "num_envs=8", "n_steps=8", "batch_size=64"]
    assert train.main([*line, f"run={tmp_path / 'file' / 'run'}"]) == 2
    error = capsys.readouterr().err
    assert error.endswith(f"train.py: {tmp_path / 'file' / 'run'}: Not a directory\n")
    assert train.main([*line, f"run={tmp_path / 'file'}"]) == 2
    assert capsys.readouterr().err.endswith(f"train.py: {tmp_path / 'file'}: a file is in its place\n")


def test_train_evaluate_and_errors_from_the_command_line(tmp_path, capsys):
    config = str(ROOT / "configs" / "auction_poker.toml")
    run = command("train.py", config, *tiny_arguments(tmp_path / "run"))
    assert run.returncode == 0, run.stderr
    assert "chips per deal" in run.stdout and "illegal actions: 0" in run.stdout
    assert "random " in run.stderr and "entropy" in run.stderr
    result = tmp_path / "result.json"
    line = [
        "evaluate.py",
        f"ppo:{tmp_path / 'run'}",
        "random",
        "random",
        "--deals",
        "300",
        "--workers",
        "1",
        "--json",
        str(result),
    ]
    first = command(*line)
    assert first.returncode == 0, first.stderr
    capsys.readouterr()
    assert evaluate.main(line[1:]) == 0 and capsys.readouterr().out == first.stdout
    assert json.loads(result.read_text())["deals"] == 300
    assert train.main([config, "--auto-resume", *tiny_arguments(tmp_path / "run")]) == 0
    again = capsys.readouterr().out
    assert "going on with it" in again
    assert again.splitlines()[-3:] == run.stdout.splitlines()[-3:], "a finished run is measured again, no more"
    learned = f"ppo:{tmp_path / 'run'}"
    for line, words in (
        ([learned, "random"], "seats, but this table has 2"),
        (["random", "random", "--json", str(tmp_path / "no" / "file.json")], "there is no folder"),
        (["random", "nobody"], "no agent 'nobody'"),
    ):
        assert evaluate.main(line) == 2 and words in capsys.readouterr().err
    assert train.main([config, "ent_coeff=1"]) == 2
    error = capsys.readouterr().err
    assert "did you mean 'ent_coef'" in error and "Traceback" not in error
    own = [learned, "random", "random", "--deals", "30", "--game", "auction_poker", "--workers", "1"]
    assert evaluate.main(own) == 0 and "num_players=3" in capsys.readouterr().out


def test_a_mistake_is_told_before_torch_is_loaded(capsys):
    code = (
        "import sys; from auction_env.cli import evaluate, train; "
        f"assert train.main([{str(ROOT / 'configs' / 'auction_poker.toml')!r}, 'ent_coeff=1']) == 2; "
        "assert evaluate.main(['random', 'nobody']) == 2; assert 'torch' not in sys.modules"
    )
    found = command("-c", code)
    assert found.returncode == 0 and "did you mean 'ent_coef'" in found.stderr, found.stderr


def test_without_ray_the_command_that_installs_it_is_told_before_anything_is_made(tmp_path, capsys, monkeypatch):
    there = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "ray" else there(name))
    assert train.main([str(ROOT / "configs/auction_poker.toml"), "engine=ray", f"run={tmp_path / 'run'}"]) == 2
    assert capsys.readouterr().err == "train.py: this needs ray: pip install 'auction_env[ray]'\n"
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 130, marks=pytest.mark.slow)]
)
def test_a_signal_saves_and_says_how_to_go_on(tmp_path, number, status):
    arguments = [*tiny_arguments(tmp_path / "run"), "total_timesteps=10000000", "evaluate_every=1000", "warm_start=''"]
    process = subprocess.Popen(
        [sys.executable, "train.py", str(ROOT / "configs" / "auction_poker.toml"), *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    for _ in range(3000):  # five minutes, if kernels are compiled first
        if (tmp_path / "run" / CHECKPOINT).exists():
            break
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
    process.send_signal(number)
    out, error = process.communicate(timeout=300)
    assert process.returncode == status, error
    assert f"--resume {tmp_path / 'run'}" in out and "Traceback" not in error
    again = resume_run(tmp_path / "run", [], quiet)
    again.close()
    done = again.model.num_timesteps
    assert done > 0
    assert train.main(["--resume", str(tmp_path / "run"), f"total_timesteps={done + 256}"]) == 0
