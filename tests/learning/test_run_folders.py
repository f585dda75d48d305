"""Run folders that two want at once, that name code, or whose checkpoint somebody damaged or made up."""

from __future__ import annotations

import copy
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import faults
import numpy as np
import pytest
from tiny_run import ROOT, copied, quiet, tiny

pytest.importorskip("sb3_contrib")
import torch
from auction_env.agents.base import AgentError
from auction_env.agents.learning import algorithm, checkpoint
from auction_env.agents.learning.best_response import best_response
from auction_env.agents.learning.checkpoint import CHECKPOINT
from auction_env.agents.learning.config import ConfigError
from auction_env.agents.learning.runs import RUN, resume_run, start_run
from auction_env.agents.learning.tensor_file import load_tensors, save_tensors
from auction_env.agents.learning.trainer import MODEL

import train
from auction_env import agents
from auction_env.core.files import FolderInUseError


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """The folder of a run that nothing happened to; tests take copies."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    return start_run(tiny(folder, total_timesteps=384), quiet).run()


# --- two at once ---


def test_a_folder_belongs_to_one_trainer_until_its_run_ends(tmp_path, finished):
    folder = tmp_path / "run"
    first = start_run(tiny(folder, total_timesteps=128), quiet)
    with pytest.raises(FolderInUseError, match=f"in use by process {os.getpid()}"):
        start_run(tiny(folder, seed=5), quiet)
    assert json.loads((folder / RUN).read_text())["config"]["seed"] == 0, "the second start changed nothing"
    first.run()
    again = resume_run(folder, [], quiet)
    with pytest.raises(FolderInUseError):
        resume_run(folder, [], quiet)
    again.close()
    resume_run(folder, [], quiet).close()
    assert not (folder / ".lock").exists()


def test_another_process_is_refused_and_named(tmp_path, finished):
    folder = copied(finished, tmp_path / "run")
    held = resume_run(folder, [], quiet)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    found = subprocess.run(
        [sys.executable, "train.py", "--resume", str(folder), "total_timesteps=1e6"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    faults.COUNTS["two at once"] += 1
    assert found.returncode == 2 and f"is in use by process {os.getpid()}" in found.stderr, found.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
    held.close()


# --- what a run is ---

BOT = "from auction_env.agents.random import make_agent\nopen({mark!r}, 'w').close()\n"


@pytest.mark.parametrize("spec", ["{bot}", "{bot}:make_agent", "mix:0.5:random:{bot}", "montecarlo:policy={bot}"])
def test_plugins_that_a_file_names_run_only_if_it_is_trusted(tmp_path, capsys, spec, finished):
    mark = tmp_path / "ran"
    (tmp_path / "bot.py").write_text(BOT.format(mark=str(mark)))
    named = spec.format(bot=tmp_path / "bot.py")
    config = tmp_path / "c.toml"
    config.write_text(f"opponents = [{json.dumps(named)}]\nrun = {json.dumps(str(tmp_path / 'new'))}\n")
    run = copied(finished, tmp_path / "run")
    stored = json.loads((run / RUN).read_text())
    (run / RUN).write_text(json.dumps({**stored, "config": {**stored["config"], "warm_start": named}}))
    task = tmp_path / "auction_poker-2p-v0.toml"
    text = (ROOT / "auction_env/data/benchmarks/auction_poker-2p-v0.toml").read_text()
    task.write_text("".join(f"{line}\n" for line in text.splitlines() if not line.startswith("opponents")))
    task.write_text(f"opponents = [{json.dumps(named)}]\n" + task.read_text())
    from auction_env.cli import evaluate

    for main, line in (
        (train.main, [str(config)]),
        (train.main, ["--resume", str(run)]),
        (evaluate.main, ["benchmark", str(task), "random", "--workers", "1"]),
    ):
        status, error = main(line), capsys.readouterr().err
        assert status == 2 and "--trust" in error and "bot.py" in error, error
    assert not mark.exists()
    with pytest.raises(AgentError, match="trust=True"):
        resume_run(run, [], quiet)
    assert not mark.exists() and not (tmp_path / "new").exists()


def test_a_trusted_plugin_runs_and_one_on_the_command_line_is_trusted(tmp_path, capsys):
    (tmp_path / "bot.py").write_text(BOT.format(mark=str(tmp_path / "ran")))
    agents.check_trust("c.toml", ["rules", "ppo:x.py", "mix:0.1:random:rules"], trust=False)
    with pytest.raises(AgentError, match=r"c\.toml names 'os:system'"):
        agents.check_trust("c.toml", ["random", "os:system"], trust=False)
    agents.check_trust("c.toml", ["os:system"], trust=True)
    config = tmp_path / "c.toml"
    config.write_text("num_envs = 16\nn_steps = 8\nbatch_size = 64\n")
    line = [str(config), f'opponents=["{tmp_path / "bot.py"}:nothing"]', f"run={tmp_path / 'run'}"]
    assert train.main(line) == 2
    assert "has no nothing" in capsys.readouterr().err and (tmp_path / "ran").exists()


def test_a_run_whose_opponents_have_new_weights_does_not_go_on(tmp_path, finished):
    """Or results of the old ones would pass for results of the new."""
    opponent = copied(finished, tmp_path / "opponent")
    config = tiny(tmp_path / "run", total_timesteps=128, opponents=[f"ppo:{opponent}"])
    start_run(config, quiet).run()
    resume_run(tmp_path / "run", [], quiet).close()
    (opponent / MODEL).write_bytes((finished / "last.safetensors").read_bytes())
    if (opponent / MODEL).read_bytes() == (finished / MODEL).read_bytes():
        (opponent / MODEL).write_bytes((finished / "averaged.safetensors").read_bytes())
    with pytest.raises(ConfigError, match=r"is another agent than when the run in .* began"):
        resume_run(tmp_path / "run", [], quiet)


def test_a_response_to_somebody_else_is_not_gone_on_with(tmp_path):
    def respond(to: str, **changes: Any) -> Any:
        config = tiny(tmp_path / "d", total_timesteps=128, **changes)
        game, settings = config.resolve()
        return best_response(game, settings, agents.make(to, game, settings), config, 30, tmp_path / "d", quiet)

    respond("random")
    respond("random")
    with pytest.raises(ConfigError, match="holds a response to random, not to rules"):
        respond("rules")
    with pytest.raises(ConfigError, match="seed cannot change"):
        respond("random", seed=3)
    with pytest.raises(ConfigError, match="holds a response to random, not to None"):
        resume_run(tmp_path / "d", [], quiet)


# --- learning that diverges ---


def test_learning_that_diverges_says_so_and_keeps_what_was_good(tmp_path):
    trainer = start_run(tiny(tmp_path / "run", evaluate_every=1), quiet)
    losses, calls = trainer.model._loss, []

    def broken(*arguments: Any) -> Any:
        calls.append(1)
        loss, numbers = losses(*arguments)
        return (loss * float("nan") if len(calls) > 3 else loss), numbers

    trainer.model._loss = broken
    with pytest.raises(
        algorithm.DivergedError, match=r"gradient of the actor is not finite.*kept in .*model"
    ) as caught:
        trainer.run()
    assert "Lower learning_rate" in str(caught.value) and not (tmp_path / "run" / ".lock").exists()
    game, settings = trainer.game, trainer.settings
    agents.make(f"ppo:{tmp_path / 'run'}", game, settings)
    again = resume_run(tmp_path / "run", [], quiet)
    assert again.iteration >= 1 and all(bool(torch.isfinite(one).all()) for one in again.actor.parameters())
    again.run()


def test_outputs_that_are_not_finite_are_said_where_they_arise(tmp_path):
    trainer = start_run(tiny(tmp_path / "run"), quiet)
    with torch.no_grad():
        next(iter(trainer.model.policy.critic.parameters())).fill_(torch.inf)
    with pytest.raises(algorithm.DivergedError, match="an output of the networks is not finite, after 0 decisions"):
        trainer.run()


def test_a_disk_that_is_full_while_learning_is_one_line_and_the_run_goes_on_afterwards(tmp_path, finished):
    folder = copied(finished, tmp_path / "run")
    line = ["train.py", "--resume", str(folder), "total_timesteps=512"]
    size = (folder / CHECKPOINT).stat().st_size
    found = faults.run_python(*line, limit_bytes=size // 2)
    assert found.returncode == 2 and str(folder) in found.stderr and "File too large" in found.stderr, found.stderr
    assert "Traceback" not in found.stderr and not [one for one in folder.iterdir() if one.name.startswith(".")]
    again = resume_run(folder, ["total_timesteps=512"], quiet)
    assert again.iteration == 3
    again.run()


# --- checkpoints that are damaged, or made up ---


def state_of(trainer: Any) -> list[Any]:
    """All that a restore could change, to compare."""
    arrays = [value.clone() for value in trainer.model.policy.state_dict().values()]
    arrays += [value.clone() for value in trainer.average.state_dict().values()]
    arrays += [torch.from_numpy(value) for value in trainer.env.get_state().values()]
    arrays += [torch.get_rng_state(), torch.from_numpy(np.random.get_state()[1].astype(np.int64))]
    return [arrays, np.random.get_state()[2], trainer.iteration, trainer.model.num_timesteps, trainer.pool.taken]


def same(one: list[Any], other: list[Any]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one[0], other[0], strict=True)) and one[1:] == other[1:]


MADE_UP: dict[str, Any] = {
    "numpy_position": lambda t, h: h["random"].update(numpy_position=1 << 40),
    "numpy_position below 0": lambda t, h: h["random"].update(numpy_position=-5),
    "numpy key": lambda t, h: t.update({"random.numpy": torch.full((624,), -1)}),
    "numpy key short": lambda t, h: t.update({"random.numpy": torch.zeros(5, dtype=torch.int64)}),
    "torch": lambda t, h: t.update({"random.torch": torch.zeros(5056, dtype=torch.uint8) + 255}),
    "seating": lambda t, h: h["random"].update(seating={"bit_generator": "PCG64", "state": {"state": -1, "inc": 1}}),
    "iteration": lambda t, h: h.update(iteration="6"),
    "timesteps": lambda t, h: h.update(timesteps=-1),
    "seconds": lambda t, h: h.update(seconds=True),
    "best_score": lambda t, h: h.update(best_score=[]),
    "imitated": lambda t, h: h.update(imitated={"timesteps": 1, "os": 2}),
    "curve": lambda t, h: h.update(curve=[{"timesteps": 1}]),
    "curve is a text": lambda t, h: h.update(curve="abc"),
    "pool place": lambda t, h: h["pool"][0].__setitem__(0, -1),
    "pool beyond": lambda t, h: h["pool"][0].__setitem__(0, 99),
    "pool taken": lambda t, h: h["pool"][0].__setitem__(1, 1.5),
    "gains": lambda t, h: h.update(gains=[1.0, 2.0]),
    "seated": lambda t, h: h.update(seated={"0": ["named", 7]}),
    "seated kind": lambda t, h: h.update(seated={"0": ["os", 0]}),
    "chances": lambda t, h: h.update(chances=["zz"] * len(h["chances"])),
    "chances long": lambda t, h: h.update(chances=h["chances"] * 9),
    "named_chances": lambda t, h: h.update(named_chances=[1]),
    "weight gone": lambda t, h: t.pop(next(name for name in t if name.startswith("policy."))),
    "weight shape": lambda t, h: t.update({next(n for n in t if n.startswith("average.")): torch.zeros(1)}),
    "weight kind": lambda t, h: t.update({n: t[n].double() for n in t if n.startswith("best.")}),
    "moment shape": lambda t, h: t.update({"optimizer.0.exp_avg": torch.zeros(3)}),
    "moment sign": lambda t, h: t.update({"optimizer.0.exp_avg_sq": t["optimizer.0.exp_avg_sq"] - 1}),
    "moment name": lambda t, h: t.update({"optimizer.0.os": torch.zeros(1)}),
    "moment beyond": lambda t, h: t.update({"optimizer.999.step": torch.zeros(())}),
    "moment gone": lambda t, h: t.pop("optimizer.1.step"),
    "tables": lambda t, h: t.update({"env.0.states": t["env.0.states"].flip(0)}),
    "tables kind": lambda t, h: t.update({"env.0.states": t["env.0.states"].to(torch.int64)}),
    "control": lambda t, h: t.update({"env.0.control": t["env.0.control"] + 77}),
}


@pytest.fixture(scope="module")
def idle(tmp_path_factory, finished) -> Any:
    """A trainer that has gone on from a finished run and waits; restores are tried on it."""
    trainer = resume_run(copied(finished, tmp_path_factory.mktemp("idle") / "run"), [], quiet)
    yield trainer
    trainer.close()


@pytest.mark.parametrize("kind", MADE_UP)
def test_a_checkpoint_that_is_made_up_is_refused_and_changes_nothing(idle, finished, kind):
    tensors, header = load_tensors(finished / CHECKPOINT, checkpoint.FORMAT)
    tensors, header = dict(tensors), copy.deepcopy(header)
    assert header["pool"] and header["chances"] and "optimizer.1.step" in tensors
    MADE_UP[kind](tensors, header)
    save_tensors(idle.folder / CHECKPOINT, tensors, header)
    before = state_of(idle)
    faults.COUNTS["checkpoints made up"] += 1
    with pytest.raises(ConfigError, match="does not fit this config, or is damaged"):
        idle.restore()
    assert same(before, state_of(idle))


def flip_checkpoint(idle: Any, finished: Path, flips: int, seed: int) -> int:
    """Flip bytes of a checkpoint one at a time and restore it; how many were refused. A weight may stay a weight."""
    whole, rng, refused = (finished / CHECKPOINT).read_bytes(), random.Random(seed), 0
    length = 8 + int.from_bytes(whole[:8], "little")
    for number in range(flips):
        place = rng.randrange(length) if number % 2 else rng.randrange(len(whole))
        damaged = bytearray(whole)
        damaged[place] ^= 1 << rng.randrange(8)
        (idle.folder / CHECKPOINT).write_bytes(damaged)
        before = state_of(idle)
        faults.COUNTS["bytes flipped: checkpoint"] += 1
        try:
            idle.restore()
        except (ConfigError, AgentError):
            refused += 1
            assert same(before, state_of(idle)), place
    return refused


def test_a_checkpoint_with_a_flipped_byte_is_refused_or_read_and_never_half(idle, finished):
    assert flip_checkpoint(idle, finished, 30, 1) >= 5


@pytest.mark.slow
def test_a_checkpoint_with_any_of_many_flipped_bytes_is_refused_or_read_and_never_half(idle, finished):
    assert flip_checkpoint(idle, finished, 2000, 2) >= 300
