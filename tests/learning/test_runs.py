"""Training runs: folders, the pool, interruption, resuming to the very same weights."""

from __future__ import annotations

import copy
import json
import os
from itertools import pairwise

import numpy as np
import pytest
from tiny_run import copied, quiet, tiny

pytest.importorskip("sb3_contrib")
import torch
from auction_env.agents.base import Agent, AgentError
from auction_env.agents.learning.checkpoint import CHECKPOINT
from auction_env.agents.learning.config import ConfigError
from auction_env.agents.learning.evaluation import CURVE, Point
from auction_env.agents.learning.pool import OpponentPool
from auction_env.agents.learning.progress import Stopped
from auction_env.agents.learning.report import draw_curve, draw_exploitability
from auction_env.agents.learning.runs import RUN, resume_run, start_run
from auction_env.agents.learning.trainer import AVERAGED, LAST, MODEL, WARM

from auction_env import agents
from auction_env.core.files import write_json
from auction_env.core.limits import parse_json
from auction_env.engine.batch import Batch
from auction_env.evaluation.results import Estimate
from auction_env.games import available
from auction_env.games.game import make_settings

# --- the pool ---


class Silent(Agent):
    """Does nothing."""

    def act_batch(self, observations, masks):
        return masks.argmax(axis=1)


def test_pool_keeps_recent_and_old_snapshots_spaced_in_log_age():
    pool = OpponentPool(8, [], 0.0, False)
    for iteration in range(1, 401):
        pool.add(Silent(), iteration)
    assert len(pool.taken) == 8 and pool.taken[-1] == 400 and pool.taken[0] == 1
    ages = [401 - taken for taken in pool.taken]
    ratios = [older / younger for older, younger in pairwise(ages)]
    assert max(ratios) < 6 and min(ratios) > 1.2


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """A run that nothing happened to; a test that changes something takes a copy."""
    trainer = start_run(tiny(tmp_path_factory.mktemp("straight") / "run"), quiet)
    trainer.run()
    return trainer


def test_snapshots_are_copies_and_differ_from_each_other(straight):
    trainer = straight
    assert len(trainer.pool.snapshots) == 2
    batch = Batch(trainer.game, trainer.settings, 8)
    out = batch.reset(1)
    outputs = [agent.probabilities(batch.states, out.masks) for agent in trainer.pool.snapshots]
    weights = copy.deepcopy(trainer.actor.state_dict())
    with torch.no_grad():
        for parameter in trainer.actor.parameters():
            parameter.add_(1.0)
        unchanged = np.array_equal(trainer.pool.snapshots[0].probabilities(batch.states, out.masks), outputs[0])
    trainer.actor.load_state_dict(weights)
    assert unchanged
    assert not np.array_equal(outputs[0], outputs[1])


def test_draws_follow_the_stated_weights():
    named, old, new = Silent(), Silent(), Silent()
    pool = OpponentPool(4, [named], 0.7, False)
    assert pool.weights() == [1.0], "no snapshots yet"
    pool.add(old, 1)
    pool.add(new, 2)
    assert pool.weights() == pytest.approx([0.7, 0.15, 0.15])
    pool.prioritized = True
    pool.note(old, 1.0)
    pool.note(new, -0.95)
    assert pool.weights() == pytest.approx([0.7, 0.3 * 0.05 / 2.05, 0.3 * 2.0 / 2.05])
    assert sum(OpponentPool(4, [], 0.7, True).weights()) == 0


def test_a_few_of_the_pool_play_in_an_iteration_as_often_as_their_weights_say():
    pool = OpponentPool(4, [Silent(), Silent()], 0.5, True)
    for iteration in (1, 2):
        pool.add(Silent(), iteration)
    pool.note(pool.snapshots[0], -3.0)
    weights = dict(zip(map(id, pool.everyone), pool.weights(), strict=True))
    rng, met = np.random.default_rng(3), dict.fromkeys(weights, 0)
    for _ in range(4000):
        (agent,), (weight,) = pool.seated(1, rng)
        assert weight == 1
        met[id(agent)] += 1
    assert [number / 4000 for number in met.values()] == pytest.approx(list(weights.values()), abs=0.03)
    agents, shares = pool.seated(2, rng)
    assert len({id(agent) for agent in agents}) == 2
    assert shares == [0.5, 0.5]
    for everyone in (0, 4, 9):
        assert pool.seated(everyone, rng) == (pool.everyone, pool.weights())
    assert OpponentPool(4, [], 0.7, True).seated(1, rng) == ([], [])


# --- runs ---


@pytest.mark.parametrize("game", available())
def test_a_run_folder_holds_all_that_a_result_needs(tmp_path, game):
    trainer = start_run(tiny(tmp_path / "run", game=game), quiet)
    folder = trainer.run()
    assert trainer.final_evaluation()["random"].deals >= 60
    for name in (CHECKPOINT, CURVE, RUN, MODEL, LAST, AVERAGED, "curve.png", "evaluation.json", "tensorboard"):
        assert (folder / name).exists(), name
    stored = json.loads((folder / RUN).read_text())
    assert stored["config"]["total_timesteps"] == 768 and stored["versions"]["torch"] and "git" in stored
    curve = json.loads((folder / CURVE).read_text())
    assert [point["timesteps"] for point in curve] == [0, 384, 768]
    assert all(np.isfinite([point["chips"]["random"]["mean"], point["entropy"]]).all() for point in curve)
    assert not [path for path in folder.iterdir() if path.name.startswith(".")], "nothing half written stays"
    agent = agents.make(f"ppo:{folder}", trainer.game, trainer.settings)
    batch = Batch(trainer.game, trainer.settings, 8)
    out = batch.reset(1)
    assert out.masks[np.arange(8), agent.act_states(batch.states, out.masks)].all()
    with pytest.raises(ConfigError, match="holds a run already"):
        start_run(tiny(tmp_path / "run"), quiet)


def test_resuming_gives_the_very_weights_of_a_run_never_stopped(tmp_path, straight):
    """Steps, schedule, optimiser, tables, pool, opponents and all random states go on where they stopped."""
    part = start_run(tiny(tmp_path / "cut", total_timesteps=384), quiet)
    part.config.total_timesteps = 768  # the schedule is that of the whole run
    calls = []

    def stop(progress, done=part.after_iteration):
        done(progress)
        calls.append(part.model.lr_schedule(part.model._current_progress_remaining))
        part.stop.asked = len(calls) == 3

    part.after_iteration = stop  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        part.run()
    again = resume_run(tmp_path / "cut", ["total_timesteps=768"], quiet)
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


def test_ctrl_c_in_the_middle_of_an_iteration_finishes_it_and_loses_nothing(tmp_path, straight):
    cut = start_run(tiny(tmp_path / "cut"), quiet)
    step, asked = cut.env.step_wait, []

    def interrupt():
        asked.append(1)
        cut.stop.asked = cut.stop.asked or len(asked) == 2  # the second of the first iteration's four steps
        return step()

    cut.env.step_wait = interrupt
    with pytest.raises(Stopped):
        cut.run()
    again = resume_run(tmp_path / "cut", [], quiet)
    assert again.iteration == 1 and again.model.num_timesteps == 128
    again.run()
    assert same_policy(straight, again)


def test_resuming_is_exact_with_a_learned_opponent_too(tmp_path, straight):
    changes = {"opponents": [f"ppo:{straight.folder}"], "opponent_pool_prob": 1.0, "opponent_pool_size": 0}
    straight = start_run(tiny(tmp_path / "straight", **changes), quiet)
    straight.run()
    cut = start_run(tiny(tmp_path / "cut", **changes), quiet)
    step = cut.after_iteration

    def stop(progress):
        step(progress)
        cut.stop.asked = cut.iteration == 3

    cut.after_iteration = stop  # type: ignore[method-assign]
    with pytest.raises(Stopped):
        cut.run()
    again = resume_run(tmp_path / "cut", [], quiet)
    again.run()
    assert same_policy(straight, again)


def test_a_run_killed_before_its_first_checkpoint_starts_again(tmp_path):
    config = tiny(tmp_path / "run", total_timesteps=128)
    start_run(config, quiet).close()
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
        first.stop.asked = first.iteration == 2

    first.after_iteration = stop
    with pytest.raises(KeyboardInterrupt):
        first.run()
    watch(resume_run(tmp_path / "run", [], quiet)).run()
    assert len(rates) == 6 and rates == sorted(rates, reverse=True) and len(set(rates)) == 6


def test_a_save_that_fails_leaves_the_checkpoint_before(tmp_path, monkeypatch, straight):
    trainer = resume_run(copied(straight.folder, tmp_path / "run"), [], quiet)
    before = (tmp_path / "run" / CHECKPOINT).read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        trainer.save(1.0)
    monkeypatch.undo()
    trainer.close()
    assert (tmp_path / "run" / CHECKPOINT).read_bytes() == before
    assert resume_run(tmp_path / "run", [], quiet).iteration == 6


def test_a_resumed_run_changes_only_what_can_change_and_damage_is_one_clear_sentence(tmp_path, straight):
    copied(straight.folder, tmp_path / "run")
    for override in ("net_arch=[8]", "num_envs=32", "settings.num_players=4", "seed=9", "run=elsewhere"):
        with pytest.raises(ConfigError, match="cannot change when a run is resumed: only checkpoint_every"):
            resume_run(tmp_path / "run", [override], quiet)
    stored = json.loads((tmp_path / "run" / RUN).read_text())
    stored["config"]["net_arch"] = [8]
    (tmp_path / "run" / RUN).write_text(json.dumps(stored))
    with pytest.raises(ConfigError, match="does not fit this config"):
        resume_run(tmp_path / "run", [], quiet)
    with pytest.raises(ConfigError, match="holds no run to resume"):
        resume_run(tmp_path / "nothing", [], quiet)
    (tmp_path / "run" / CHECKPOINT).write_bytes(b"not a checkpoint at all")
    with pytest.raises(AgentError, match="checkpoint"):
        resume_run(tmp_path / "run", [], quiet)


def test_evaluations_of_one_deck_are_kept_without_an_interval_and_gone_on_with(tmp_path):
    """One deck says nothing of its spread: null, for a file of JSON knows no infinity."""
    folder = start_run(tiny(tmp_path / "run", evaluate_deals=2, eval_opponents=["random"]), quiet).run()
    for point in parse_json((folder / CURVE).read_text()):
        assert point["chips"]["random"]["half_width"] is None and np.isfinite(point["chips"]["random"]["mean"])
    trainer = resume_run(folder, ["total_timesteps=896"], quiet)
    assert all(np.isinf(point.chips["random"].half_width) for point in trainer.curve)
    trainer.run()
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(folder / "x.json", {"a": np.inf})
    assert not (folder / "x.json").exists()


@pytest.mark.parametrize("name", ["ppo:runs/a$\\frac{$b", "ppo:_x_$"])
def test_names_are_no_formulas_in_pictures(tmp_path, name):
    point = Point(1000, 1.0, 0.5, {name: Estimate(1.0, 0.5), "random": Estimate(2.0, np.inf)}, {"last": 1.0})
    for path in (draw_curve(tmp_path, [point], name), draw_exploitability(tmp_path, [point], name)):
        assert path.read_bytes().startswith(b"\x89PNG")


def test_averaged_weights_are_the_mean_at_first(tmp_path):
    trainer = start_run(tiny(tmp_path / "run", average=1.0), quiet)
    seen = []
    step = trainer.after_iteration

    def after(progress):
        seen.append(next(trainer.actor.parameters()).detach().clone())
        step(progress)

    trainer.after_iteration = after  # type: ignore[method-assign]
    trainer.run()
    assert torch.allclose(next(trainer.average.parameters()), torch.stack(seen).mean(0), atol=1e-6)


def test_a_warm_start_is_made_once_and_kept_beside(tmp_path):
    config = {"warm_start": "rules", "warm_start_timesteps": 256, "warm_start_epochs": 1}
    straight = start_run(tiny(tmp_path / "straight", **config), quiet)
    straight.run()
    assert straight.imitated is not None and straight.imitated.timesteps == 256
    assert (tmp_path / "straight" / WARM).exists()
    cut = start_run(tiny(tmp_path / "cut", **config), quiet)
    step = cut.after_iteration

    def stop(progress):
        step(progress)
        cut.stop.asked = cut.iteration == 2

    cut.after_iteration = stop  # type: ignore[method-assign]
    with pytest.raises(Stopped):
        cut.run()
    again = resume_run(tmp_path / "cut", [], quiet)
    again.warm_start = None  # type: ignore[assignment,method-assign]
    again.run()
    assert same_policy(straight, again)


def test_a_magnet_and_priorities_resume_exactly_too(tmp_path):
    changes = {"kl_coef": 0.1, "prioritized": True, "opponents": ["random"]}
    straight = start_run(tiny(tmp_path / "straight", **changes), quiet)
    straight.run()
    cut = start_run(tiny(tmp_path / "cut", **changes), quiet)
    step = cut.after_iteration

    def stop(progress):
        step(progress)
        cut.stop.asked = cut.iteration == 4

    cut.after_iteration = stop  # type: ignore[method-assign]
    with pytest.raises(Stopped):
        cut.run()
    again = resume_run(tmp_path / "cut", [], quiet)
    assert again.pool.weights() == cut.pool.weights()
    again.run()
    assert same_policy(straight, again)


def test_one_policy_learns_several_numbers_of_seats(tmp_path):
    trainer = start_run(tiny(tmp_path / "run", seats=[2, 3, 4]), quiet)
    folder = trainer.run()
    for seats in (2, 3, 4):
        settings = make_settings(trainer.game, {"num_players": seats})
        agent = agents.make(f"ppo:{folder}", trainer.game, settings)
        batch = Batch(trainer.game, settings, 8)
        out = batch.reset(1)
        assert out.masks[np.arange(8), agent.act_states(batch.states, out.masks)].all()
    with pytest.raises(AgentError, match=r"trained for \[2, 3, 4\] seats, but this table has 5"):
        agents.make(f"ppo:{folder}", trainer.game, make_settings(trainer.game, {"num_players": 5}))


def test_the_flat_observation_can_be_learned_from_too(tmp_path):
    trainer = start_run(tiny(tmp_path / "run", network="mlp"), quiet)
    folder = trainer.run()
    agent = agents.make(f"ppo:{folder}", trainer.game, trainer.settings)
    batch = Batch(trainer.game, trainer.settings, 8)
    out = batch.reset(1)
    assert out.masks[np.arange(8), agent.act_batch(out.observations, out.masks)].all()


@pytest.mark.slow
def test_a_large_network_that_can_be_saved_can_be_resumed(tmp_path):
    """Its checkpoint is larger than all that is read of files from others: limits are those of what is written."""
    large = {"network": "mlp", "net_arch": [4096, 4096], "final_deals": 2, "evaluate_deals": 2}
    folder = start_run(tiny(tmp_path / "run", total_timesteps=128, **large), quiet).run()
    assert (folder / CHECKPOINT).stat().st_size > 256 << 20
    trainer = resume_run(folder, ["total_timesteps=256"], quiet)
    trainer.run()
    assert trainer.model.num_timesteps == 256
