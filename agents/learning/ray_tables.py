"""What Ray runs on its nodes: tables at which the policy and its opponents play, and the policy as RLlib's module.

A worker keeps nothing that a run needs: the weights and the opponents come with each call. So one that was lost with
its node is replaced by a fresh one, which deals anew.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from typing import Any

import numpy as np
import ray
import torch
from auction_env.agents.base import Agent
from auction_env.agents.learning.algorithm import ILLEGAL, DivergedError, Towers, masked_log_softmax
from auction_env.agents.learning.config import Config, ConfigError
from auction_env.agents.learning.network_agent import agent_of, draw
from auction_env.agents.learning.networks import build_network
from auction_env.agents.learning.policy_file import layout_of, network_shape
from auction_env.agents.learning.rollouts import AllSeatsVecEnv, SeatRolloutBuffer
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.distribution.torch.torch_distribution import TorchCategorical
from ray.rllib.core.rl_module.apis import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.env import INPUT_ENV_SINGLE_SPACES, INPUT_ENV_SPACES
from ray.rllib.env.env_runner import EnvRunner
from ray.rllib.evaluation.postprocessing import Postprocessing

from auction_env import agents
from auction_env.core.version import __version__

WORKERS = 0x3A7  # stream of the seed
FIRST_SEED = 1 << 32  # of tables on Ray: none of them gets a deck that evaluations are played with
SEEN = OBSERVATION, MASK = "observation", "action_mask"  # parts of an observation
# What a worker brings back of each decision.
COLUMNS = (
    *SEEN,
    Columns.ACTIONS,
    Columns.ACTION_DIST_INPUTS,
    Columns.ACTION_LOGP,
    Postprocessing.ADVANTAGES,
    Postprocessing.VALUE_TARGETS,
)


@dataclasses.dataclass(frozen=True)
class Orders:
    """What workers are told for an iteration.

    Attributes:
        weights: of the policy's two networks, by name.
        opponents: those of the pool who may play now: agents by name, snapshots by Ray's references to their weights.
        shares: with which each of them is drawn.
        prob: ``opponent_pool_prob``.
        timesteps: decisions that were learned from until now.
        version: of this package.
    """

    weights: dict[str, torch.Tensor]
    opponents: list[Any]
    shares: list[float]
    prob: float
    timesteps: int
    version: str = __version__


@dataclasses.dataclass(frozen=True)
class Experience:
    """What a worker brings back.

    Attributes:
        columns: COLUMNS of the decisions whose outcome is known.
        decisions: that were made, known or not.
    """

    columns: dict[str, np.ndarray]
    decisions: int

    @property
    def nbytes(self) -> int:
        """Bytes of the columns."""
        return sum(column.nbytes for column in self.columns.values())


class NetworkModule(TorchRLModule, ValueFunctionAPI):
    """Actor and critic of a run as RLlib's module; observations are ``{"observation": rows, "action_mask": masks}``.

    ``model_config["build"]`` gives the two networks. Logits of illegal actions are ILLEGAL.
    """

    def setup(self) -> None:
        """See RLModule."""
        self.towers = Towers(*self.model_config["build"](), int(self.action_space.n))
        self.action_dist_cls = TorchCategorical

    def _forward(self, batch: dict[str, Any], **given: Any) -> dict[str, torch.Tensor]:
        """Masked logits and, as embeddings, the values: from one reading of the rows."""
        seen = batch[Columns.OBS]
        logits, values = self.towers(seen[OBSERVATION])
        return {
            Columns.ACTION_DIST_INPUTS: logits.masked_fill(seen[MASK] == 0, ILLEGAL),
            Columns.EMBEDDINGS: values,
        }

    def compute_values(self, batch: dict[str, Any], embeddings: torch.Tensor | None = None) -> torch.Tensor:
        """Values, float32[B]; see ValueFunctionAPI."""
        values = self.towers(batch[Columns.OBS][OBSERVATION])[1] if embeddings is None else embeddings
        return values[:, 0]


class TableWorker(EnvRunner):
    """Plays a worker's share of a run's tables; RLlib's environment runner.

    ``env_config`` of RLlib's config has ``run``, the run's Config as plain data, and ``folder``, from which names of
    agents' files are read.
    """

    def __init__(self, *, config: Any, **given: Any) -> None:
        super().__init__(config=config, **given)
        with contextlib.suppress(OSError):
            os.chdir(config.env_config["folder"])
        torch.set_num_threads(1)
        self.run = Config(**config.env_config["run"])
        self.game, self.settings = self.run.resolve()
        self.all_settings = self.run.tables(self.game, self.settings)
        self.widest = max(self.all_settings, key=lambda one: one.num_players)
        self.module = config.rl_module_spec.build()
        self.agents: dict[Any, Agent] = {}
        self.generator = torch.Generator()

    def assert_healthy(self) -> None:
        """See EnvRunner: it is, if it was made."""

    def get_spaces(self) -> dict[str, Any]:
        """See EnvRunner."""
        spec = self.config.rl_module_spec
        names = (INPUT_ENV_SPACES, INPUT_ENV_SINGLE_SPACES, DEFAULT_MODULE_ID)
        return dict.fromkeys(names, (spec.observation_space, spec.action_space))

    def set_state(self, state: Any) -> None:
        """Nothing: all that is needed comes with each call of ``sample``."""

    def sample(self, orders: Orders) -> Experience | Exception:  # type: ignore[override]
        """Play ``n_steps`` decisions at each table. What goes wrong is returned: raised, RLlib would try again."""
        try:
            return self._sample(orders)
        except Exception as error:
            return error

    def _sample(self, orders: Orders) -> Experience:
        if orders.version != __version__:
            raise ConfigError(
                f"a node of the cluster has auction_env {__version__}, not {orders.version}: install one version"
            )
        fresh = self.env is None
        if fresh:
            self._set_up(orders.timesteps)
        self.module.towers.load_state_dict(orders.weights)
        self.env.set_pool([self._agent(one) for one in orders.opponents], orders.shares, orders.prob)
        if fresh:
            self.rows = self.env.reset()
        seated = {id(agent) for agent in self.env.agents.values()}
        self.agents = {key: agent for key, agent in self.agents.items() if isinstance(key, str) or id(agent) in seated}
        return self._play()

    def _set_up(self, timesteps: int) -> None:
        """Set up the tables: decks and chance are of this worker, begun after so many decisions of the run."""
        run, index = self.run, self.worker_index
        words = np.random.SeedSequence([run.seed, WORKERS, index, timesteps]).generate_state(2)
        self.generator.manual_seed(int(words[1]))
        self.env = AllSeatsVecEnv(
            self.game,
            self.all_settings,
            run.tables_of(self.num_workers)[index - 1],
            network=run.network,
            seed=FIRST_SEED + int(words[0]),
            reward_scale=run.reward_scale,
        )
        self.buffer = SeatRolloutBuffer(
            run.n_steps,
            self.env.observation_space,
            self.env.action_space,
            "cpu",
            gae_lambda=run.gae_lambda,
            n_envs=self.env.num_envs,
            vec_env=self.env,
        )
        self.logits = np.empty((run.n_steps, self.env.num_envs, int(self.env.action_space.n)), np.float32)

    def _agent(self, opponent: Any) -> Agent:
        """The agent of the pool that an order names; the same object as long as it may sit at a table."""
        if opponent not in self.agents:
            seed = int(torch.randint(1 << 31, (), generator=self.generator))
            if isinstance(opponent, str):
                found = agents.make(opponent, self.game, self.settings, seed)
            else:
                run = self.run
                shape = network_shape(self.game, self.widest, run.network, run.net_arch, run.embedding)
                layout = layout_of(self.game, self.widest, run.network)
                actor = build_network(shape, layout, self.widest.num_players - 1)
                actor.load_state_dict(ray.get(opponent))
                found = agent_of(actor, shape, self.game, self.settings, seed)
            self.agents[opponent] = found
        return self.agents[opponent]

    @torch.no_grad()
    def _play(self) -> Experience:
        env, buffer = self.env, self.buffer
        buffer.reset()
        for step in range(self.run.n_steps):
            rows, masks = self.rows, env.action_masks()
            seen = {OBSERVATION: torch.from_numpy(rows), MASK: torch.from_numpy(masks)}
            out = self.module.forward_exploration({Columns.OBS: seen})
            logits, values = out[Columns.ACTION_DIST_INPUTS], out[Columns.EMBEDDINGS]
            if not bool(torch.isfinite(logits.sum() + values.sum())):
                raise DivergedError("an output of the networks")
            logs = masked_log_softmax(logits, seen[MASK])
            actions = draw(logits.softmax(1), torch.rand((len(logits), 1), generator=self.generator))
            self.logits[step] = logits.numpy()
            self.rows, rewards, dones, _ = env.step(actions.numpy())
            chosen = logs.gather(1, actions[:, None])[:, 0]
            buffer.add(rows, actions[:, None].numpy(), rewards, dones, values, chosen, masks)
        buffer.compute_returns_and_advantage(values, dones)
        return Experience(self._columns(), buffer.known.size)

    def _columns(self) -> dict[str, np.ndarray]:
        buffer, known = self.buffer, self.buffer.known
        found = (
            buffer.observations[known],
            buffer.action_masks[known].astype(np.bool_),
            buffer.actions[known][:, 0].astype(np.int64),
            self.logits[known],
            buffer.log_probs[known],
            buffer.advantages[known],
            buffer.returns[known],
        )
        return dict(zip(COLUMNS, found, strict=True))
