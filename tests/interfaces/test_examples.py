"""The examples run, with tiny numbers, as a user runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from auction_env import available

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


def run(name: str, *arguments: str) -> str:
    result = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


TINY = ("--envs", "2", "--rollout", "64", "--steps", "128")


@pytest.mark.parametrize(
    "method",
    ["fork", pytest.param("forkserver", marks=pytest.mark.slow), pytest.param("spawn", marks=pytest.mark.slow)],
)
def test_stock_maskable_ppo_over_processes_of_every_kind(method):
    said = run("stock_maskable_ppo.py", *TINY, "--start-method", method)
    assert re.search(r"SubprocVecEnv, 2 tables: [\d,]+ decisions a second", said)


@pytest.mark.slow
def test_stock_maskable_ppo_on_our_tables_for_comparison():
    said = run("stock_maskable_ppo.py", "--ours", "--rollout", "512", "--steps", "512", "--game", "auction_flop")
    assert re.search(r"SelfPlayVecEnv, 256 tables: [\d,]+ decisions a second", said)


@pytest.mark.parametrize("method", ["fork", "forkserver", pytest.param("spawn", marks=pytest.mark.slow)])
def test_masks_differ_per_process(method):
    """Each process has its own table, and sb3-contrib gets each one's mask."""

    def make_env() -> Any:
        import gymnasium

        return gymnasium.make("auction_env:auction_env/AuctionPoker-v0", flat=True)

    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
    from stable_baselines3.common.vec_env import SubprocVecEnv

    envs = SubprocVecEnv([make_env] * 2, start_method=method)
    try:
        envs.seed(3)
        observations = envs.reset()
        assert is_masking_supported(envs) and not np.array_equal(*observations), "row i has seed 3 + i"
        different = 0
        for _ in range(8):
            masks = get_action_masks(envs)
            assert masks.any(axis=1).all()
            different += not np.array_equal(*masks)
            envs.step(masks.argmax(axis=1))
        assert different
    finally:
        envs.close()


@pytest.mark.slow
def test_supersuit_shared_policy():
    pytest.importorskip("supersuit")
    assert "total_timesteps" in run("supersuit_shared_policy.py", "--tables", "2", "--rollout", "16", "--steps", "96")


@pytest.mark.parametrize(
    "game", [available()[0], *(pytest.param(name, marks=pytest.mark.slow) for name in available()[1:])]
)
def test_cleanrl_ppo(game):
    said = run("cleanrl_ppo.py", "--envs", "16", "--rollout", "24", "--updates", "2", "--game", game)
    assert re.search(r"update 2: [+-]\d+\.\d\d chips an episode over the last \d+", said)


def test_onnx_deal(tmp_path):
    """A deal of a model, to the results of all seats, which sum to nothing."""
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    pytest.importorskip("onnx", reason="onnx is not installed")
    from auction_env import cli

    assert cli.main(["export", "champion", str(tmp_path / "x.onnx"), "--set", "num_players=3"]) == 0
    said = run("onnx_deal.py", str(tmp_path / "x.onnx"), "--seed", "7")
    won = re.findall(r"^player_\d: ([+-]\d+) chips$", said, re.MULTILINE)
    assert len(won) == 3
    assert sum(map(int, won)) == 0, said


@pytest.mark.slow
def test_clone_behaviour(tmp_path):
    """A clone of the script, as the docs page has it, beats random play clear of zero."""
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from auction_env import cli

    games, policy = str(tmp_path / "games.parquet"), str(tmp_path / "clone.safetensors")
    assert (
        cli.main(["generate", "rules", "rules", "rules", "--output", games, "--deals", "1000", "--workers", "1"]) == 0
    )
    said = run("clone_behaviour.py", games, policy)
    mean, half = map(float, re.search(r"([+-][\d.]+) ± ([\d.]+) chips a deal against random", said).groups())
    assert mean - half > 0, said
    assert cli.main(["evaluate", f"ppo:{policy}", "random", "random", "--deals", "50", "--workers", "1"]) == 0


@pytest.mark.slow
def test_openspiel_algorithms():
    """Each solver ends below uniform play."""
    pytest.importorskip("pyspiel")
    pytest.importorskip("tree", reason="its learners in torch need dm-tree")
    said = run("openspiel_algorithms.py", "--iterations", "8", "--deals", "2", "--simulations", "5")
    found = dict(re.findall(r"^(.+): exploitable by ([\d.]+)$", said, re.MULTILINE))
    assert set(found) == {"uniform", "CFR", "MCCFR", "Deep CFR"}
    assert max(float(found[name]) for name in ("CFR", "MCCFR", "Deep CFR")) < float(found["uniform"])
    assert "IS-MCTS: " in said


@pytest.mark.slow
def test_cleanrl_ppo_learns():
    """Ten updates take it far above the nothing that it begins with."""
    last = run("cleanrl_ppo.py", "--updates", "10").splitlines()[-1]
    assert float(re.search(r": ([+-][\d.]+) chips", last)[1]) > 5, last


@pytest.mark.slow
@pytest.mark.parametrize("client", ["pettingzoo", "gymnasium", "sb3", "supersuit"])
def test_clients_that_fit_our_own_environment(client):
    """Those of the other libraries are run by ``make test-clients``."""
    run(f"clients/with_{client}.py")


def test_the_table_of_clients_tells_of_every_example_and_its_glue(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(EXAMPLES / "clients"))
    import run as clients

    scripts = {client.script for client in clients.CLIENTS}
    assert {f"clients/{path.name}" for path in (EXAMPLES / "clients").glob("with_*.py")} == scripts - {"cleanrl_ppo.py"}
    rows = re.findall(r"^\| (.+?) \| .+? \| (\d+) \|.*\| (.+?) \|$", clients.PAGE.read_text(), re.MULTILINE)
    told = {name: (int(glue), result) for name, glue, result in rows}
    assert told == {client.name: (clients.lines_of_glue(client), "runs") for client in clients.CLIENTS}
    page = tmp_path / "page.md"
    page.write_text(clients.PAGE.read_text())
    monkeypatch.setattr(clients, "PAGE", page)
    client = clients.CLIENTS[0]
    clients.write({client.name: clients.row(client, "ValueError: a | b")})
    assert "fails: ValueError: a / b |" in page.read_text()
    assert len(page.read_text().splitlines()) == len((clients.ROOT / "docs" / "interfaces.md").read_text().splitlines())


def test_every_example_is_run_here():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(re.findall(r'"(\w+\.py)"', Path(__file__).read_text()))
