"""`engine = "ray"`: RLlib's PPO over our tables, on a cluster of two nodes (`make test-clients`)."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_run import quiet, tiny

pytest.importorskip("ray", reason="ray is not installed: `make test-clients` runs this where it is")
pytest.importorskip("sb3_contrib")
import ray
import torch
from auction_env.agents.learning import ray_engine
from auction_env.agents.learning.algorithm import ILLEGAL, DivergedError, masked_log_softmax
from auction_env.agents.learning.config import ConfigError
from auction_env.agents.learning.evaluation import CURVE
from auction_env.agents.learning.policy_file import load_policy
from auction_env.agents.learning.progress import Stopped
from auction_env.agents.learning.ray_engine import RayPPO, SelfPlayAlgorithm, algorithm_config
from auction_env.agents.learning.ray_tables import COLUMNS, MASK, OBSERVATION, Experience, Orders, TableWorker
from auction_env.agents.learning.runs import RUN, resume_run, start_run
from auction_env.agents.learning.trainer import AVERAGED, LAST, MODEL, WARM, Trainer
from ray._common.test_utils import wait_for_condition
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray_cluster import two_nodes

from auction_env import agents
from auction_env.engine.agent import PlayerError
from auction_env.evaluation.match import play_match
from auction_env.evaluation.ray_workers import ClusterError


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with two_nodes() as made:
        yield made


def on_ray(folder: Path, **changes: Any) -> Trainer:
    return start_run(tiny(folder, **{"engine": "ray", "workers": 2, **changes}), quiet)


def model_of(trainer: Trainer) -> RayPPO:
    assert isinstance(trainer.model, RayPPO)
    return trainer.model


def worker_of(trainer: Trainer, index: int = 1) -> TableWorker:
    """A worker in this process."""
    model = model_of(trainer)
    config = algorithm_config(model.config, trainer.env, model.build, model.workers)
    return TableWorker(config=config, worker_index=index, num_workers=model.workers)


def orders_of(trainer: Trainer, opponents: tuple[Any, ...] = (), timesteps: int = 0) -> Orders:
    shares = [1 / len(opponents)] * len(opponents) if opponents else []
    return Orders(trainer.model.policy.mlp_extractor.state_dict(), list(opponents), shares, 0.5, timesteps)


def brought(worker: TableWorker, orders: Orders) -> Experience:
    found = worker.sample(orders)
    assert isinstance(found, Experience), found
    return found


# --- what workers bring ---


@pytest.mark.parametrize("network", ["cards", "mlp"])
def test_workers_play_by_the_weights_that_they_are_sent(cluster, tmp_path, network):
    trainer = on_ray(tmp_path / "run", network=network, settings={"num_players": 3})
    worker = worker_of(trainer)
    with torch.no_grad():
        for weight in trainer.model.policy.parameters():
            weight.add_(torch.randn_like(weight) * 0.1)
    found = brought(worker, orders_of(trainer))
    columns = {name: torch.from_numpy(found.columns[name]) for name in COLUMNS}
    assert found.decisions == 8 * 8 and 0 < len(columns[Columns.ACTIONS]) < found.decisions
    chosen = columns[Columns.ACTIONS][:, None]
    assert bool(columns[MASK].gather(1, chosen).all())
    with torch.no_grad():
        logits, values = trainer.model.policy.mlp_extractor(columns[OBSERVATION])
    logs = masked_log_softmax(logits, columns[MASK])
    assert torch.allclose(columns[Columns.ACTION_LOGP], logs.gather(1, chosen)[:, 0], atol=1e-5)
    assert torch.allclose(columns[Columns.ACTION_DIST_INPUTS], logits.masked_fill(~columns[MASK], ILLEGAL), atol=1e-5)
    own = columns[Postprocessing.VALUE_TARGETS] - columns[Postprocessing.ADVANTAGES]
    assert torch.allclose(own, values[:, 0], atol=1e-4)


def test_each_worker_and_each_beginning_has_decks_of_its_own(cluster, tmp_path):
    trainer = on_ray(tmp_path / "run")
    rows = [
        brought(worker_of(trainer, index), orders_of(trainer, timesteps=done)).columns[OBSERVATION]
        for index, done in ((1, 0), (2, 0), (1, 128), (1, 0))
    ]
    assert np.array_equal(rows[0], rows[3])
    assert not any(np.array_equal(rows[0], other) for other in rows[1:3])


def test_opponents_come_by_name_or_weights_and_are_not_learned_from(cluster, tmp_path):
    trainer = on_ray(tmp_path / "run", opponents=["rules"])
    worker, snapshot = worker_of(trainer), ray.put(copy.deepcopy(trainer.actor.state_dict()))
    orders = orders_of(trainer, ("rules", snapshot))
    brought(worker, orders)
    before = dict(worker.agents)
    brought(worker, orders)
    assert set(before) == {"rules", snapshot}
    assert all(worker.agents[key] is agent for key, agent in before.items()), "one object as long as it is seated"
    assert len(np.unique(worker.env.tables[0].control)) > 1
    for _ in range(20):
        brought(worker, orders_of(trainer, ("rules",)))
    assert set(worker.agents) == {"rules"}, "a snapshot is forgotten when it has left the tables"


def test_what_fails_on_a_node_fails_here_by_its_own_error(cluster, tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text(
        "from auction_env.agents.base import Agent\n\n\nclass Bad(Agent):\n"
        "    def act_batch(self, *asked, **more):\n        return 1 / 0\n"
    )
    trainer = on_ray(tmp_path / "run", opponents=[f"{bad}:Bad"])
    with pytest.raises(PlayerError, match="bad"):
        trainer.run()
    worker, orders = worker_of(on_ray(tmp_path / "other")), orders_of(trainer)
    old = dataclasses.replace(orders, version="0.0")
    assert isinstance(worker.sample(old), ConfigError)
    broken = dataclasses.replace(orders, weights={name: one * np.nan for name, one in orders.weights.items()})
    error = pickle.loads(pickle.dumps(worker.sample(broken)))
    assert isinstance(error, DivergedError) and "an output of the networks is not finite" in str(error)


# --- what is learned from it ---


@pytest.mark.parametrize("network", ["cards", "mlp"])
def test_an_update_is_that_of_the_local_learner(tmp_path, network):
    """RLlib's learner and SelfPlayPPO, given the same decisions, come to the same weights."""
    config = tiny(tmp_path / "run", network=network, batch_size=128, learning_rate_end=2e-3, ent_coef_end=0.015)
    local = start_run(config, quiet)
    model = local.model
    columns, before = {}, copy.deepcopy(model.policy.mlp_extractor.state_dict())

    def update() -> None:
        buffer = model.rollout_buffer
        with torch.no_grad():
            logits = model.policy.actor(torch.from_numpy(buffer.observations[buffer.known]))
        masks = buffer.action_masks[buffer.known].astype(bool)
        found = (
            buffer.observations[buffer.known],
            masks,
            buffer.actions[buffer.known][:, 0].astype(np.int64),
            logits.masked_fill(~torch.from_numpy(masks), ILLEGAL).numpy(),
            *(getattr(buffer, name)[buffer.known] for name in ("log_probs", "advantages", "returns")),
        )
        columns.update(zip(COLUMNS, (one.copy() for one in found), strict=True))
        type(model).train(model)
        local.stop.asked = True

    model.train = update
    with pytest.raises(Stopped):
        local.run()
    built = algorithm_config(config, local.env, model.policy_kwargs["build"], 1)
    spec = built.rl_module_spec
    learner = built.build_learner(spaces={DEFAULT_MODULE_ID: (spec.observation_space, spec.action_space)})
    learner.module[DEFAULT_MODULE_ID].towers.load_state_dict(before)
    with torch.no_grad():
        algorithm = SelfPlayAlgorithm.__new__(SelfPlayAlgorithm)
        algorithm.config = built
        batch = algorithm._batch([Experience(columns, 128)])
    learner.update(batch=batch, timesteps={}, num_epochs=1, minibatch_size=batch.env_steps())
    after = learner.module[DEFAULT_MODULE_ID].towers.state_dict()
    moved = 0.0
    for name, weight in model.policy.mlp_extractor.state_dict().items():
        assert torch.allclose(weight, after[name], atol=1e-5), name
        moved = max(moved, float((weight - before[name]).abs().max()))
    assert moved > 1e-3


# --- runs ---


@pytest.mark.parametrize("network", ["cards", "mlp"])
def test_a_run_on_ray_is_a_run_folder_like_any_other(cluster, tmp_path, monkeypatch, network):
    modules = []
    stop = SelfPlayAlgorithm.stop
    monkeypatch.setattr(
        SelfPlayAlgorithm,
        "stop",
        lambda self: (modules.extend(one.get() for one in self.learner_group.foreach_learner(_module)), stop(self)),
    )
    changes: dict[str, Any] = {"warm_start": "rules", "warm_start_timesteps": 512} if network == "cards" else {}
    trainer = on_ray(tmp_path / "run", network=network, n_epochs=2, opponents=["random"], **changes)
    folder = trainer.run()
    assert trainer.final_evaluation()["random"].deals >= 60
    names = [RUN, CURVE, MODEL, LAST, AVERAGED, "curve.png", "evaluation.json", *([WARM] if changes else [])]
    assert all((folder / name).exists() for name in names)
    stored = json.loads((folder / RUN).read_text())
    assert stored["config"]["engine"] == "ray" and stored["versions"]["ray"] == ray.__version__
    assert len(trainer.pool.snapshots) == 2 and trainer.curve[-1].timesteps == 768
    assert all(cost.workers == 2 and cost.decisions == 128 for cost in model_of(trainer).costs)

    (module,) = modules
    policy = load_policy(folder / LAST, trainer.game, trainer.settings)
    trainer.env.reset()
    seen = {OBSERVATION: torch.from_numpy(trainer.env.observe()), MASK: torch.from_numpy(trainer.env.action_masks())}
    with torch.no_grad():
        logits = module.forward_inference({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS]
        own = policy.actor(seen[OBSERVATION])
    assert float((logits - own).abs()[seen[MASK]].max()) < 1e-5
    line = [agents.make(name, trainer.game, trainer.settings) for name in (f"ppo:{folder}", "random", "random")]
    assert play_match(trainer.game, trainer.settings, line, 30, 1).deals >= 30


def _module(learner: Any) -> Any:
    return learner.module[DEFAULT_MODULE_ID].unwrapped()


def test_a_run_stopped_on_ray_goes_on_with_as_many_workers_as_there_are(cluster, tmp_path):
    trainer = on_ray(tmp_path / "run")
    after = trainer.after_iteration

    def stop_at_two(progress: Any) -> None:
        after(progress)
        trainer.stop.asked = trainer.iteration == 2

    trainer.after_iteration = stop_at_two
    with pytest.raises(Stopped):
        trainer.run()
    steps = _steps(trainer)
    assert trainer.model.num_timesteps == 256 and steps > 0
    again = resume_run(tmp_path / "run", ["workers=1"], quiet)
    assert _steps(again) == steps
    for one, other in zip(trainer.model.policy.parameters(), again.model.policy.parameters(), strict=True):
        assert torch.equal(one, other)
    again.run()
    assert again.model.num_timesteps == 768 and again.iteration == 6 and again.curve[-1].timesteps == 768
    assert _steps(again) > steps
    with pytest.raises(ConfigError, match="engine cannot change"):
        resume_run(tmp_path / "run", ["engine=local", "workers=0"], quiet)


def _steps(trainer: Trainer) -> int:
    """Gradient steps that Adam has made."""
    return int(next(iter(trainer.model.policy.optimizer.state_dict()["state"].values()))["step"])


def test_a_cluster_that_is_too_small_and_a_run_of_another_kind_are_refused(cluster, tmp_path):
    with pytest.raises(ClusterError, match="workers is 3, but the cluster has 2 cores"):
        on_ray(tmp_path / "run", workers=3)
    assert model_of(on_ray(tmp_path / "all", workers=0)).workers == 2
    assert not (tmp_path / "run").exists()
    config = tiny(tmp_path / "rival", engine="ray")
    game, settings = config.resolve()
    with pytest.raises(ConfigError, match="engine"):
        Trainer(config, tmp_path / "rival", quiet, rival=agents.make("random", game, settings))


# Last: it changes the cluster.
def test_a_node_killed_on_the_way_loses_nothing(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(ray_engine, "mention", quiet)
    trainer = on_ray(tmp_path / "run", total_timesteps=128 * 8)
    after, killed = trainer.after_iteration, []

    def kill_at_two(progress: Any) -> None:
        after(progress)
        if trainer.iteration == 2:
            cluster.remove_node(cluster.second, allow_graceful=False)
            killed.append(trainer.model.num_timesteps)
        if trainer.iteration == 5:
            cluster.add_node(num_cpus=1)
            algorithm = model_of(trainer).algorithm
            wait_for_condition(lambda: bool(algorithm.restore_env_runners(algorithm.env_runner_group)), timeout=120)

    trainer.after_iteration = kill_at_two
    folder = trainer.run()
    costs = model_of(trainer).costs
    assert killed == [256] and costs[0].workers == 2
    assert [cost.decisions for cost in costs] == [128] * 8, "what the lost worker would have brought, the other plays"
    assert min(cost.workers for cost in costs) == 1 and costs[-1].workers == 2, "it came back on the new node"
    assert trainer.model.num_timesteps == 1024
    assert trainer.curve[-1].timesteps == 1024 and (folder / MODEL).exists()
