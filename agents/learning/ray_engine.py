"""``engine = "ray"``: RLlib's PPO learns, and workers on a cluster play the tables.

``RayPPO`` is the learner that a ``Trainer`` drives in place of ``SelfPlayPPO``; folder, curve, pool, evaluations and
checkpoints are the trainer's, and the same. Rollouts and updates are RLlib's (new API stack): its group of environment
runners, which starts those anew that are lost, and its PPO learner with its loss, in this process. What a policy file
holds is read from RLlib's module, whose networks are those of ``networks``.
"""

from __future__ import annotations

import copy
import dataclasses
import logging
import math
import os
import shutil
import time
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import ray
import torch
from auction_env.agents.base import Agent
from auction_env.agents.learning.algorithm import NetworkPolicy, SelfPlayPPO, clip_gradient
from auction_env.agents.learning.config import Config
from auction_env.agents.learning.ray_tables import COLUMNS, SEEN, Experience, NetworkModule, Orders, TableWorker
from auction_env.agents.learning.rollouts import AllSeatsVecEnv
from gymnasium import spaces
from ray.exceptions import RayError
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.learner.learner import ENTROPY_KEY, POLICY_LOSS_KEY, VF_LOSS_KEY
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.policy.sample_batch import MultiAgentBatch, SampleBatch
from ray.rllib.utils.metrics import LEARNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME
from stable_baselines3.common.callbacks import BaseCallback

from auction_env.core.terminal import mention
from auction_env.evaluation.ray_workers import ClusterError, connect

PROBE_SECONDS = 0.5  # that a lost worker has to answer whether it is there again
PATIENCE_SECONDS = 300.0  # without any worker, before the run gives up


@dataclasses.dataclass
class Costs:
    """What an iteration took.

    Attributes:
        decisions: made by the workers.
        learned: of them, those that were learned from: their outcome was known.
        playing, learning: seconds.
        weights, experience: bytes sent to each worker, and brought back by all.
        workers: that are there.
    """

    decisions: int
    learned: int
    playing: float
    learning: float
    weights: int
    experience: int
    workers: int


class SelfPlayLearner(PPOTorchLearner):
    """RLlib's learner of PPO, with the optimiser and the clipping of gradients of ``SelfPlayPPO``."""

    def configure_optimizers_for_module(self, module_id: str, config: Any = None) -> None:
        """See Learner."""
        weights = self.get_parameters(self.module[module_id])
        optimizer = torch.optim.Adam(weights, eps=1e-5, fused=True)
        self.register_optimizer(module_id=module_id, optimizer=optimizer, params=weights, lr_or_lr_schedule=config.lr)

    def postprocess_gradients_for_module(
        self, *, module_id: str, config: Any = None, module_gradients_dict: dict[Any, torch.Tensor]
    ) -> dict[Any, torch.Tensor]:
        """See Learner. Raises DivergedError if a gradient is not finite."""
        weights = list(module_gradients_dict)
        gradient = torch.cat([module_gradients_dict[weight].reshape(-1) for weight in weights])
        actor = self.module[module_id].towers.actor
        return dict(zip(weights, clip_gradient(gradient, actor, weights, self.config.grad_clip), strict=True))


class SelfPlayAlgorithm(PPO):
    """RLlib's PPO whose workers bring decisions that are credited already, each along its own seat.

    ``orders`` are set before each ``train``; ``costs`` say what it took.
    """

    orders: Orders
    costs: Costs

    def training_step(self) -> None:
        """Play an iteration, learn from it.

        Raises:
            ClusterError: no worker has been there for some minutes.
            PlayerError, ConfigError, DivergedError: on a node, as here.
        """
        begun = time.perf_counter()
        found = self._play()
        played = time.perf_counter()
        batch = self._batch(found)
        results = self.learner_group.update(
            batch=batch,
            timesteps={NUM_ENV_STEPS_SAMPLED_LIFETIME: self.orders.timesteps + sum(one.decisions for one in found)},
            num_epochs=self.config.num_epochs,
            minibatch_size=min(self.config.minibatch_size, batch.env_steps()),
            shuffle_batch_per_epoch=True,
        )
        self.metrics.aggregate(results, key=LEARNER_RESULTS)
        self.costs = Costs(
            sum(one.decisions for one in found),
            batch.env_steps(),
            played - begun,
            time.perf_counter() - played,
            sum(value.nbytes for value in self.orders.weights.values()),
            sum(one.nbytes for one in found),
            self.env_runner_group.num_healthy_remote_env_runners(),
        )

    def _play(self) -> list[Experience]:
        """An iteration's decisions, by the workers that are there: what lost ones would have brought, others play."""
        wanted, group = self.config.train_batch_size_per_learner, self.env_runner_group
        share = wanted / self.config.num_env_runners
        orders, found, alone = ray.put(self.orders), [], 0.0
        while (missing := wanted - sum(one.decisions for one in found)) > 0:
            asked = group.healthy_env_runner_ids()[: math.ceil(missing / share)]
            given = {"kwargs": {"orders": orders}, "remote_worker_ids": asked, "local_env_runner": False}
            brought = group.foreach_env_runner("sample", **given) if asked else []
            for one in brought:
                if isinstance(one, Exception):
                    raise one
            found += brought
            alone = 0.0 if brought else alone + PROBE_SECONDS
            if alone > PATIENCE_SECONDS:
                raise ClusterError("the cluster has no worker left, and none came back; go on with --resume")
            if not brought:
                time.sleep(PROBE_SECONDS)
                self.restore_env_runners(group)
        return found

    def restore_env_runners(self, env_runner_group: Any) -> list[int]:
        """Ask lost workers whether they are there again; they need nothing to go on."""
        return list(env_runner_group.probe_unhealthy_env_runners(timeout_seconds=PROBE_SECONDS))

    def _batch(self, found: list[Experience]) -> MultiAgentBatch:
        """Whole minibatches of decisions in random order, advantages standardised."""
        size = sum(len(one.columns[Columns.ACTIONS]) for one in found)
        order = torch.from_numpy(np.random.permutation(size))
        columns = {name: torch.from_numpy(np.concatenate([one.columns[name] for one in found])) for name in COLUMNS}
        advantages = columns[Postprocessing.ADVANTAGES]
        columns[Postprocessing.ADVANTAGES] = (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)
        left_over = size % self.config.minibatch_size if size > self.config.minibatch_size else 0
        columns = {name: column[order[left_over:]] for name, column in columns.items()}
        seen = {name: columns.pop(name) for name in SEEN}
        batch = SampleBatch({Columns.OBS: seen, **columns})
        return MultiAgentBatch({DEFAULT_MODULE_ID: batch}, env_steps=size - left_over)


def algorithm_config(config: Config, env: AllSeatsVecEnv, build: Any, workers: int) -> PPOConfig:
    """RLlib's config of a run.

    Args:
        config: of the run.
        env: whose spaces are taken.
        build: gives actor and critic.
        workers: processes that play.
    """
    seen = spaces.Dict(
        dict(zip(SEEN, (env.observation_space, spaces.MultiBinary(int(env.action_space.n))), strict=True))  # type: ignore[attr-defined]
    )

    def linear(start: float, end: float) -> list[list[float]]:
        return [[0, start], [config.total_timesteps, end]]

    return (
        PPOConfig(algo_class=SelfPlayAlgorithm)
        .environment(env_config={"run": dataclasses.asdict(config), "folder": os.getcwd()})
        .env_runners(
            env_runner_cls=TableWorker,
            num_env_runners=workers,
            create_local_env_runner=False,
            merge_env_runner_states=False,
            broadcast_env_runner_states=False,
        )
        .learners(num_learners=0, learner_class=SelfPlayLearner)
        .training(
            train_batch_size_per_learner=config.num_envs * config.n_steps,
            minibatch_size=config.batch_size,
            num_epochs=config.n_epochs,
            lr=linear(config.learning_rate, config.learning_rate_end),
            entropy_coeff=linear(config.ent_coef, config.ent_coef_end),
            clip_param=config.clip_range,
            vf_loss_coeff=config.vf_coef,
            vf_clip_param=math.inf,
            grad_clip=config.max_grad_norm,
            use_kl_loss=False,
        )
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=NetworkModule,
                observation_space=seen,
                action_space=env.action_space,
                model_config={"build": build},
            )
        )
        .fault_tolerance(restart_failed_env_runners=True, delay_between_env_runner_restarts_s=0)
        .debugging(log_level="")
    )


class RayPPO(SelfPlayPPO):
    """The learner of a run on Ray. Weights and Adam's moments come from RLlib's learner after each iteration.

    Args:
        config: of the run.

    Attributes:
        workers: processes that play.
        costs: of each iteration until now.

    Raises:
        ClusterError: there is no cluster, or it has too few cores.
        ConfigError: there are fewer tables than workers.
    """

    policy: NetworkPolicy

    def __init__(self, policy: Any, env: AllSeatsVecEnv, *, config: Config, policy_kwargs: Any, **given: Any) -> None:
        connect()
        cores = int(ray.cluster_resources().get("CPU", 0))
        if cores < config.workers:
            raise ClusterError(
                f"workers is {config.workers}, but the cluster has {cores} cores: lower it, or add nodes"
            )
        self.workers = config.workers or max(cores, 1)
        config.tables_of(self.workers)
        self.config, self.build, self.costs = config, policy_kwargs["build"], []
        self._there = self.workers
        self._sent: WeakKeyDictionary[Agent, Any] = WeakKeyDictionary()  # Ray's references to weights of snapshots
        super().__init__(policy, env, policy_kwargs=policy_kwargs, **given)

    def learn(self, *args: Any, **given: Any) -> RayPPO:  # type: ignore[override]
        """As the parent. Errors as ``SelfPlayAlgorithm.training_step``."""
        built = algorithm_config(self.config, self.env, self.build, self.workers)  # type: ignore[arg-type]
        logging.getLogger("ray.rllib").setLevel(logging.CRITICAL)  # what fails is raised, who is lost is told below
        try:
            self.algorithm = built.build_algo()
        except (RayError, IndexError) as error:  # the latter: no worker was left to ask
            raise ClusterError(f"the workers cannot be started, or were lost at once: {error}") from error
        try:
            self._give()
            super().learn(*args, **given)
        finally:
            self.algorithm.stop()
            shutil.rmtree(self.algorithm.logdir, ignore_errors=True)  # RLlib's own; a run's results are in its folder
        return self

    def collect_rollouts(  # type: ignore[override]
        self, env: AllSeatsVecEnv, callback: BaseCallback, *given: Any, **more: Any
    ) -> bool:
        """Play an iteration on the workers, and learn from it; False if the callback wants to stop."""
        callback.on_rollout_start()
        if not callback.on_step():
            return False
        self.algorithm.orders = self._orders(env)
        self._learned = self.algorithm.train()["learners"][DEFAULT_MODULE_ID]
        self.costs.append(self.algorithm.costs)
        if self.costs[-1].workers != self._there:
            self._there = self.costs[-1].workers
            mention(f"\n{self._there} of {self.workers} workers are there")
        self.num_timesteps += self.costs[-1].decisions
        callback.on_rollout_end()
        return True

    def train(self) -> None:
        """Take what RLlib's learner has learned, and log it under stable-baselines3's names."""
        self.algorithm.learner_group.foreach_learner(self._take)
        self._n_updates += self.n_epochs
        costs = self.costs[-1]
        for name, value in (
            ("train/policy_gradient_loss", self._learned[POLICY_LOSS_KEY]),
            ("train/value_loss", self._learned[VF_LOSS_KEY]),
            ("train/entropy_loss", -self._learned[ENTROPY_KEY]),
            ("time/playing", costs.playing),
            ("time/learning", costs.learning),
            ("time/workers", costs.workers),
        ):
            self.logger.record(name, float(value))

    def _orders(self, env: AllSeatsVecEnv) -> Orders:
        """For the coming iteration: the weights as they are, and the pool that the trainer gave to the tables here."""
        opponents = [env.agents[number] for number in env.pool_numbers.tolist()]
        return Orders(
            self.policy.mlp_extractor.state_dict(),
            [self._known_to_workers(agent) for agent in opponents],
            env.pool_weights.tolist(),
            env.opponent_pool_prob,
            self.num_timesteps,
        )

    def _known_to_workers(self, agent: Agent) -> Any:
        if agent.name in self.config.opponents:
            return agent.name
        if agent not in self._sent:
            self._sent[agent] = ray.put(agent.actor.state_dict())  # type: ignore[attr-defined]
        return self._sent[agent]

    def _give(self) -> None:
        """Give RLlib's learner the weights, Adam's moments and the place in the schedules."""

        def take(learner: SelfPlayLearner) -> None:
            learner.module[DEFAULT_MODULE_ID].towers.load_state_dict(self.policy.mlp_extractor.state_dict())
            state = self.policy.optimizer.state_dict()["state"]
            optimizer = learner.get_optimizer(DEFAULT_MODULE_ID)
            optimizer.load_state_dict({**optimizer.state_dict(), "state": copy.deepcopy(state)})
            learner.after_gradient_based_update(timesteps={NUM_ENV_STEPS_SAMPLED_LIFETIME: self.num_timesteps})

        self.algorithm.learner_group.foreach_learner(take)

    def _take(self, learner: SelfPlayLearner) -> None:
        self.policy.mlp_extractor.load_state_dict(learner.module[DEFAULT_MODULE_ID].towers.state_dict())
        state = learner.get_optimizer(DEFAULT_MODULE_ID).state_dict()["state"]
        own = self.policy.optimizer
        own.load_state_dict({**own.state_dict(), "state": copy.deepcopy(state)})
