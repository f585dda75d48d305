"""Training runs: configs, folders, snapshots, interruption, resuming to the very same weights, safe files."""

from __future__ import annotations

import ast
import dataclasses
import json
import os
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
import torch
from auction_env.agents.base import AgentError
from auction_env.agents.learning.config import Config, ConfigError, documentation, load_config, make_config
from auction_env.agents.learning.network import FORMAT, build_actor, load_policy, save_policy
from auction_env.agents.learning.selfplay import (
    AVERAGED,
    CHECKPOINT,
    CURVE,
    LAST,
    MODEL,
    RUN,
    Pool,
    Stopped,
    resume_run,
    start_run,
)
from safetensors.torch import load_file, save_file

import train
from auction_env import agents
from auction_env.games import available, get_game
from auction_env.games.game import SettingsError, make_settings

ROOT = Path(__file__).parents[2]
TINY = {
    "decisions": 768,
    "tables": 32,
    "steps": 4,
    "hidden": [16],
    "minibatch": 64,
    "snapshot_every": 1,
    "mixed": 0.5,
    "seated": 3,
    "pool": 2,
    "evaluate_every": 3,
    "evaluate_deals": 30,
    "final_deals": 60,
    "checkpoint_every": 1,
    "threads": 1,
}


def tiny(run: Path, **changes) -> Config:
    return make_config({**TINY, "run": str(run), **changes})


def quiet(_: str) -> None:
    pass


# --- configs ---


def test_every_key_is_documented_and_the_default_config_uses_known_ones():
    text = documentation()
    for field in dataclasses.fields(Config):
        assert f"{field.name} = " in text and field.metadata["meaning"] in text
    for path in sorted((ROOT / "configs").glob("*.toml")):
        load_config(path)


@pytest.mark.parametrize(
    ("overrides", "error", "message"),
    [
        (["entropie=0.1"], ConfigError, "no config key 'entropie': did you mean 'entropy'"),
        (["settings.num_player=4"], SettingsError, "did you mean 'num_players'"),
        (["settings.num_players=8"], SettingsError, "num_players is 8"),
        (["decisions=many"], ConfigError, "decisions is 'many': it must be an integer"),
        (["decisions=0"], ConfigError, "decisions is 0: it must be from 1"),
        (["entropy=true"], ConfigError, "entropy is True: it must be a number"),
        (["hidden=64"], ConfigError, "hidden is 64: it must be a list of integers"),
        (["hidden=[0]"], ConfigError, "sizes of layers"),
        (["minibatch=1"], ConfigError, "minibatch is 1: .* leaves a minibatch of one"),
        (["tables=13", "steps=5", "minibatch=64"], ConfigError, "minibatch is 64: of 65 decisions"),
        (["settings=5"], ConfigError, "settings is 5: it must be a table of keys"),
        (["run="], ConfigError, "run is empty"),
        (["game=chess"], ValueError, "no game 'chess'"),
        (["entropy"], ConfigError, "write key=value"),
        (["ppo.entropy=1"], ConfigError, "no config key 'ppo.entropy'"),
        (["run=__import__('os').system('touch /tmp/owned')", "seed=__import__('os')"], ConfigError, "seed is"),
    ],
)
def test_bad_overrides_are_named(overrides, error, message):
    with pytest.raises(error, match=message.replace("(", r"\(")):
        make_config({}, overrides)


def test_overrides_reach_their_keys(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text('entropy = 0.2\n[settings]\nnum_players = 4\nfinal_carry = "keep"\n')
    config = load_config(path, ["settings.num_players=5", "run=runs/x y", "hidden=[8, 9]", "learning_rate=1"])
    assert (
        config.entropy == 0.2 and config.learning_rate == 1.0 and config.run == "runs/x y" and config.hidden == [8, 9]
    )
    assert config.settings == {"num_players": 5, "final_carry": "keep"}
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path / "none.toml")
    path.write_text("entropy = = 1")
    with pytest.raises(ConfigError, match="is not TOML"):
        load_config(path)


# --- the pool ---


def test_pool_keeps_recent_and_old_snapshots_spaced_in_log_age():
    pool = Pool(8)
    for iteration in range(1, 401):
        pool.add(None, iteration)  # type: ignore[arg-type]
    assert len(pool.taken) == 8 and pool.taken[-1] == 400 and pool.taken[0] == 1
    ages = [401 - taken for taken in pool.taken]
    ratios = [older / younger for older, younger in pairwise(ages)]
    assert max(ratios) < 6 and min(ratios) > 1.2


def test_snapshots_are_copies_and_differ_from_each_other(tmp_path):
    trainer = start_run(tiny(tmp_path / "run"), quiet)
    trainer.run()
    assert len(trainer.pool.agents) == 2
    observations = np.random.default_rng(0).random((5, trainer.env.observation_space.shape[0]), np.float32)
    masks = np.ones((5, trainer.env.action_space.n), np.int8)
    outputs = [agent.probabilities(observations, masks) for agent in [*trainer.pool.agents, trainer.present]]
    with torch.no_grad():
        for parameter in trainer.actor.parameters():
            parameter.add_(1.0)
    assert np.array_equal(trainer.pool.agents[0].probabilities(observations, masks), outputs[0])
    assert not np.array_equal(trainer.present.probabilities(observations, masks), outputs[2])
    assert not np.array_equal(outputs[0], outputs[1])


# --- the buffer ---


def test_buffer_gives_the_minibatches_of_its_parent():
    from auction_env.agents.learning.buffer import GatheringRolloutBuffer
    from gymnasium import spaces
    from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

    spaces_of = spaces.Box(0, 1, (7,), np.float32), spaces.Discrete(5)
    parent = MaskableRolloutBuffer(6, *spaces_of, device="cpu", n_envs=10)
    ours = GatheringRolloutBuffer(6, *spaces_of, device="cpu", n_envs=10)
    for buffer in (parent, ours):
        buffer.reset()
        rng = np.random.default_rng(0)
        for _ in range(6):
            values, chances = torch.from_numpy(rng.random((10, 1))), torch.from_numpy(rng.random(10))
            masks = rng.random((10, 5)) < 0.5
            actions, rewards = rng.integers(0, 5, (10, 1)), rng.random(10)
            buffer.add(rng.random((10, 7)), actions, rewards, rng.random(10) < 0.2, values, chances, action_masks=masks)
        buffer.compute_returns_and_advantage(torch.zeros(10), np.zeros(10))
    for size in (None, 16, 25):
        np.random.seed(1)
        expected = list(parent.get(size))
        np.random.seed(1)
        found = list(ours.get(size))
        assert len(expected) == len(found)
        for one, two in zip(expected, found, strict=True):
            for a, b in zip(one, two, strict=True):
                assert a.shape == b.shape and torch.equal(a.double(), b.double())


# --- runs ---


@pytest.mark.parametrize("game", available())
def test_a_run_folder_holds_all_that_a_result_needs(tmp_path, game):
    trainer = start_run(tiny(tmp_path / "run", game=game), quiet)
    folder = trainer.run()
    result = trainer.final_evaluation()
    assert result.deals >= 60
    for name in (CHECKPOINT, CURVE, RUN, MODEL, LAST, AVERAGED, "curve.png", "evaluation.json", "tensorboard"):
        assert (folder / name).exists(), name
    stored = json.loads((folder / RUN).read_text())
    assert stored["config"]["decisions"] == 768 and stored["versions"]["torch"] and "git" in stored
    curve = json.loads((folder / CURVE).read_text())
    assert [point["decisions"] for point in curve] == [128, 384, 768]
    assert all(np.isfinite([point["chips"], point["entropy"]]).all() for point in curve)
    assert not [path for path in folder.iterdir() if path.name.startswith(".")], "nothing half written stays"
    agent = agents.make(f"ppo:{folder}", trainer.game, trainer.settings)
    observation = np.zeros(trainer.env.observation_space.shape, np.float32)
    mask = np.zeros(trainer.env.action_space.n, np.int8)
    mask[3] = 1
    assert agent.act(observation, mask) == 3
    with pytest.raises(ConfigError, match="holds a run already"):
        start_run(tiny(tmp_path / "run"), quiet)


def test_resuming_gives_the_very_weights_of_a_run_never_stopped(tmp_path):
    """Steps, schedule, optimiser, tables, pool, opponents and all random states go on where they stopped."""
    straight = start_run(tiny(tmp_path / "straight"), quiet)
    straight.run()
    part = start_run(tiny(tmp_path / "cut", decisions=384), quiet)
    part.config.decisions = 768  # the schedule is that of the whole run
    calls = []

    def stop(progress, done=part.after_iteration):
        done(progress)
        calls.append(part.model.lr_schedule(part.model._current_progress_remaining))
        part.interrupted = len(calls) == 3

    part.after_iteration = stop  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        part.run()
    again = resume_run(tmp_path / "cut", ["decisions=768"], quiet)
    assert again.model.num_timesteps == 384 and again.iteration == 3
    assert again.pool.taken == part.pool.taken
    again.run()
    assert again.model.num_timesteps == straight.model.num_timesteps
    for name, value in straight.model.policy.state_dict().items():
        assert torch.equal(value, again.model.policy.state_dict()[name]), name
    for one, two in zip(straight.average.parameters(), again.average.parameters(), strict=True):
        assert torch.equal(one, two)
    assert [point.chips for point in straight.curve] == [point.chips for point in again.curve]
    assert again.pool.taken == straight.pool.taken


def same_policy(one, two) -> bool:
    other = two.model.policy.state_dict()
    return all(torch.equal(value, other[name]) for name, value in one.model.policy.state_dict().items())


def test_ctrl_c_in_the_middle_of_an_iteration_finishes_it_and_loses_nothing(tmp_path):
    straight = start_run(tiny(tmp_path / "straight"), quiet)
    straight.run()
    cut = start_run(tiny(tmp_path / "cut"), quiet)
    step, asked = cut.env.step_wait, []

    def interrupt():
        asked.append(1)
        cut.interrupted = cut.interrupted or len(asked) == 2  # the second of the first iteration's four steps
        return step()

    cut.env.step_wait = interrupt
    with pytest.raises(Stopped):
        cut.run()
    again = resume_run(tmp_path / "cut", [], quiet)
    assert again.iteration == 1 and again.model.num_timesteps == 128
    again.run()
    assert same_policy(straight, again)


def test_resuming_is_exact_with_a_learned_opponent_too(tmp_path):
    start_run(tiny(tmp_path / "opponent"), quiet).run()
    changes = {"opponents": [f"ppo:{tmp_path / 'opponent'}"], "mixed": 1.0, "pool": 0}
    straight = start_run(tiny(tmp_path / "straight", **changes), quiet)
    straight.run()
    cut = start_run(tiny(tmp_path / "cut", **changes), quiet)
    step = cut.after_iteration

    def stop(progress):
        step(progress)
        cut.interrupted = cut.iteration == 3

    cut.after_iteration = stop  # type: ignore[method-assign]
    with pytest.raises(Stopped):
        cut.run()
    again = resume_run(tmp_path / "cut", [], quiet)
    again.run()
    assert same_policy(straight, again)


def test_a_run_killed_before_its_first_checkpoint_starts_again(tmp_path):
    config = tiny(tmp_path / "run", decisions=128)
    start_run(config, quiet)
    with pytest.raises(ConfigError, match="came to no checkpoint: start it again"):
        resume_run(tmp_path / "run", [], quiet)
    start_run(config, quiet).run()
    assert resume_run(tmp_path / "run", [], quiet).iteration == 1


def test_learning_rate_falls_steadily_across_a_cut(tmp_path):
    rates = []

    def watch(trainer):
        train = trainer.model.train

        def wrapped():
            train()
            rates.append(trainer.model.policy.optimizer.param_groups[0]["lr"])

        trainer.model.train = wrapped
        return trainer

    first = watch(start_run(tiny(tmp_path / "run"), quiet))
    step = first.after_iteration

    def stop(progress):
        step(progress)
        first.interrupted = first.iteration == 2

    first.after_iteration = stop
    with pytest.raises(KeyboardInterrupt):
        first.run()
    watch(resume_run(tmp_path / "run", [], quiet)).run()
    assert len(rates) == 6 and rates == sorted(rates, reverse=True) and len(set(rates)) == 6


def test_a_save_that_is_killed_leaves_the_checkpoint_before(tmp_path, monkeypatch):
    trainer = start_run(tiny(tmp_path / "run"), quiet)
    trainer.run()
    before = (tmp_path / "run" / CHECKPOINT).read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        trainer.save(1.0)
    monkeypatch.undo()
    assert (tmp_path / "run" / CHECKPOINT).read_bytes() == before
    assert resume_run(tmp_path / "run", [], quiet).iteration == 6


def test_resuming_with_another_shape_is_one_clear_sentence(tmp_path):
    start_run(tiny(tmp_path / "run"), quiet).run()
    for override in ("hidden=[8]", "tables=16", "settings.num_players=4"):
        with pytest.raises(ConfigError, match="does not fit this config"):
            resume_run(tmp_path / "run", [override], quiet)
    with pytest.raises(ConfigError, match="holds no run to resume"):
        resume_run(tmp_path / "nothing", [], quiet)
    (tmp_path / "run" / CHECKPOINT).write_bytes(b"not a checkpoint at all")
    with pytest.raises(AgentError, match=r"header is too large|damaged"):
        resume_run(tmp_path / "run", [], quiet)


def test_averaged_weights_are_the_mean_at_first(tmp_path):
    trainer = start_run(tiny(tmp_path / "run", average=1.0), quiet)
    seen = []
    step = trainer._average

    def average():
        step()
        seen.append(next(trainer.actor.parameters()).detach().clone())

    trainer._average = average  # type: ignore[method-assign]
    trainer.run()
    assert torch.allclose(next(trainer.average.parameters()), torch.stack(seen).mean(0), atol=1e-6)


# --- the command line ---


def command(*arguments: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    line = [sys.executable, *arguments]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, env=environment, timeout=300, check=False)


def test_a_run_folder_that_cannot_be_made_is_one_line(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    line = [str(ROOT / "configs/auction_poker.toml"), "tables=8", "steps=8", "minibatch=64"]
    assert train.main([*line, f"run={tmp_path / 'file' / 'run'}"]) == 2
    error = capsys.readouterr().err
    assert "train.py: " in error and str(tmp_path / "file") in error and "Traceback" not in error


def tiny_arguments(run: Path) -> list[str]:
    return [f"{key}={value}" for key, value in TINY.items()] + [f"run={run}"]


def test_train_evaluate_and_errors_from_the_command_line(tmp_path):
    config = str(ROOT / "configs" / "auction_poker.toml")
    run = command("train.py", config, *tiny_arguments(tmp_path / "run"))
    assert run.returncode == 0, run.stderr
    assert "chips per deal" in run.stdout and "illegal actions: 0" in run.stdout
    assert "vs random" in run.stderr and "entropy" in run.stderr
    result = tmp_path / "result.json"
    line = ["evaluate.py", f"ppo:{tmp_path / 'run'}", "random", "random", "--deals", "300", "--json", str(result)]
    first, second = command(*line), command(*line)
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
    assert json.loads(result.read_text())["deals"] == 300
    again = command("train.py", config, "--go-on", *tiny_arguments(tmp_path / "run"))
    assert again.returncode == 0 and "going on with it" in again.stdout
    assert again.stdout.splitlines()[-3:] == run.stdout.splitlines()[-3:], "a finished run is measured again, no more"
    bad = command("evaluate.py", f"ppo:{tmp_path / 'run'}", "random")
    assert bad.returncode == 2 and "num_players 3, but this table has 2" in bad.stderr
    bad = command("train.py", config, "entropie=1")
    assert bad.returncode == 2 and "did you mean 'entropy'" in bad.stderr and "Traceback" not in bad.stderr
    own = command(
        "evaluate.py", f"ppo:{tmp_path / 'run'}", "random", "random", "--deals", "30", "--game", "auction_poker"
    )
    assert own.returncode == 0 and "num_players=3" in own.stdout
    bad = command("evaluate.py", "random", "random", "--json", str(tmp_path / "no" / "file.json"))
    assert bad.returncode == 2 and "there is no folder" in bad.stderr
    bad = command("evaluate.py", "random", "nobody")
    assert bad.returncode == 2 and "no agent 'nobody'" in bad.stderr


def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path):
    arguments = [*tiny_arguments(tmp_path / "run"), "decisions=10000000", "evaluate_every=1000"]
    process = subprocess.Popen(
        [sys.executable, "train.py", str(ROOT / "configs" / "auction_poker.toml"), *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    for _ in range(600):
        if (tmp_path / "run" / CHECKPOINT).exists():
            break
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert f"--resume {tmp_path / 'run'}" in out and "Traceback" not in error
    again = resume_run(tmp_path / "run", [], quiet)
    done = again.model.num_timesteps
    assert done > 0
    resumed = command("train.py", "--resume", str(tmp_path / "run"), f"decisions={done + 256}")
    assert resumed.returncode == 0, resumed.stderr


# --- files from strangers ---


@pytest.fixture
def policy(tmp_path):
    game = get_game("auction_poker")
    settings = make_settings(game, {})
    from auction_env.engine.kernels import decision_size

    actor = build_actor(decision_size(game, settings), [8], len(game.action_names(settings)))
    path = tmp_path / "model.safetensors"
    save_policy(path, actor, game, settings, [8])
    return path, game, settings


def stored_header(path: Path) -> dict[str, str]:
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        return dict(file.metadata())


def test_a_saved_policy_plays_the_same_after_loading(policy):
    path, game, settings = policy
    one, two = load_policy(path, game, settings, 5), load_policy(path, game, settings, 5)
    rng = np.random.default_rng(0)
    observations = rng.random((50, one.observation_size), np.float32)
    masks = (rng.random((50, 63)) < 0.2).astype(np.int8)
    masks[:, 7] = 1
    assert np.array_equal(one.act_batch(observations, masks), two.act_batch(observations, masks))
    for _ in range(20):
        actions = one.act_batch(observations, masks)
        assert masks[np.arange(50), actions].all()
    chances = one.probabilities(observations, masks)
    assert np.allclose(chances.sum(axis=1), 1, atol=1e-5) and not chances[masks == 0].any()


def test_sampling_follows_the_probabilities(policy):
    path, game, settings = policy
    agent = load_policy(path, game, settings, 1)
    rng = np.random.default_rng(0)
    observation = rng.random((1, agent.observation_size), np.float32)
    mask = np.zeros((1, 63), np.int8)
    mask[0, [2, 9, 40]] = 1
    chance = agent.probabilities(observation, mask)[0]
    drawn = np.bincount(agent.act_batch(np.repeat(observation, 20_000, 0), np.repeat(mask, 20_000, 0)), minlength=63)
    assert (np.abs(drawn / 20_000 - chance) < 5 * np.sqrt(chance * (1 - chance) / 20_000) + 1e-9).all()
    greedy = load_policy(path, game, settings, 1, greedy=True)
    assert (greedy.act_batch(np.repeat(observation, 50, 0), np.repeat(mask, 50, 0)) == chance.argmax()).all()


def test_a_policy_that_is_given_random_words_draws_by_them_and_keeps_its_own_chance(policy):
    path, game, settings = policy
    agent, number = load_policy(path, game, settings, 1), 20_000
    observation = np.random.default_rng(0).random((1, agent.observation_size), np.float32)
    mask = np.zeros((1, 63), np.int8)
    mask[0, [2, 9, 40]] = 1
    observations, masks = np.repeat(observation, number, 0), np.repeat(mask, number, 0)
    words = np.random.default_rng(1).integers(0, 2**64, number, np.uint64)
    before = agent.random_state()
    drawn = agent.act_seeded(observations, masks, words)
    assert (drawn == agent.act_seeded(observations, masks, words)).all() and agent.random_state() == before
    ends = agent.act_seeded(observations[:2], masks[:2], np.array([0, 2**64 - 1], np.uint64))
    assert ends.tolist() == [2, 40]
    chance = agent.probabilities(observation, mask)[0]
    share = np.bincount(drawn, minlength=63) / number
    assert (np.abs(share - chance) < 5 * np.sqrt(chance * (1 - chance) / number) + 1e-9).all()


def test_policies_for_another_table_are_refused(policy):
    path, game, _ = policy
    with pytest.raises(AgentError, match="num_players 3, but this table has 4"):
        load_policy(path, game, make_settings(game, {"num_players": 4}))
    with pytest.raises(AgentError, match="made for observation_layout"):
        load_policy(path, game, make_settings(game, {"num_auctions": 4}))
    load_policy(path, game, make_settings(game, {"ante": 2}))  # the same layout: it may play


def test_damaged_and_hostile_files_are_refused_by_name(policy, tmp_path):
    path, game, settings = policy
    tensors, header = load_file(path), stored_header(path)
    whole = path.read_bytes()
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "pickle").write_bytes(b"\x80\x04cos\nsystem\n(S'touch owned'\ntR.")
    (tmp_path / "header").write_bytes((10 * 2**30).to_bytes(8, "little") + b"{}")
    name = "0.weight"
    broken = {
        "nan": {**tensors, name: torch.full_like(tensors[name], torch.nan)},
        "shape": {**tensors, name: tensors[name][:, :-1].contiguous()},
        "type": {**tensors, name: tensors[name].double()},
        "missing": {k: v for k, v in tensors.items() if k != name},
        "extra": {**tensors, "9.weight": torch.zeros(2)},
    }
    for kind, content in broken.items():
        save_file(content, tmp_path / kind, header)
    save_file(tensors, tmp_path / "format", {"json": json.dumps({"format": "other/1"})})
    save_file(tensors, tmp_path / "plain")
    bad_hidden = {**json.loads(header["json"]), "hidden": [10**9]}
    save_file(tensors, tmp_path / "hidden", {"json": json.dumps(bad_hidden)})
    assert json.loads(header["json"])["format"] == FORMAT
    kinds = ["cut", "empty", "pickle", "header", "format", "plain", "hidden", "absent", *broken]
    for kind in kinds:
        with pytest.raises(AgentError, match=str(tmp_path / kind)):
            load_policy(tmp_path / kind, game, settings)
    assert not Path("owned").exists()


def test_nothing_here_can_run_code_from_a_file():
    """No eval, exec, pickle or torch.load in the packages and scripts."""
    forbidden = {"eval", "exec", "compile"}
    modules = {"pickle", "cloudpickle", "marshal", "shelve", "dill", "joblib", "yaml"}
    files = [*ROOT.glob("auction_env/**/*.py"), *ROOT.glob("agents/**/*.py"), ROOT / "train.py", ROOT / "evaluate.py"]
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in forbidden, f"{path}:{node.lineno}"
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert (node.value.id, node.attr) != ("torch", "load"), f"{path}:{node.lineno}"
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not modules & {name.partition(".")[0] for name in names}, f"{path}:{node.lineno}"


# --- long ---


@pytest.mark.slow
def test_a_long_run_stays_finite_with_all_checks_on(tmp_path):
    """200,000 decisions with torch's argument checks: no simplex or NaN error, logits finite at every save."""
    before = torch.distributions.Distribution._validate_args
    torch.distributions.Distribution.set_default_validate_args(True)
    try:
        config = tiny(tmp_path / "run", decisions=200_000, tables=256, steps=16, hidden=[64, 64], minibatch=1024)
        trainer = start_run(dataclasses.replace(config, checkpoint_every=5, evaluate_every=50, snapshot_every=5), quiet)
        save = trainer.save

        def checked(seconds):
            assert all(bool(torch.isfinite(p).all()) for p in trainer.model.policy.parameters())
            save(seconds)

        trainer.save = checked  # type: ignore[method-assign]
        trainer.run()
    finally:
        torch.distributions.Distribution.set_default_validate_args(before)
    assert trainer.curve[-1].chips - trainer.curve[-1].half_width > 3
