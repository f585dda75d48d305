"""Learning by self-play: every seat learns, from every decision, against itself and a pool of others."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from auction_env.agents.base import Agent
from auction_env.agents.learning import checkpoint
from auction_env.agents.learning.algorithm import (
    DivergedError,
    NetworkPolicy,
    SelfPlayPPO,
    masked_log_softmax,
    move_towards,
)
from auction_env.agents.learning.config import Config, ConfigError
from auction_env.agents.learning.evaluation import Evaluator, Point, write_curve
from auction_env.agents.learning.imitation import Imitated, imitate
from auction_env.agents.learning.labels import Labeller, playing
from auction_env.agents.learning.network_agent import agent_of
from auction_env.agents.learning.networks import build_towers
from auction_env.agents.learning.policy_file import Policy, layout_of, network_shape, save_policy
from auction_env.agents.learning.pool import OpponentPool
from auction_env.agents.learning.progress import Progress, StopFlag, Stopped, TrainerCallback
from auction_env.agents.learning.rollouts import AllSeatsVecEnv, SeatRolloutBuffer
from stable_baselines3.common.logger import configure
from torch import nn

from auction_env import agents
from auction_env.core.extras import require
from auction_env.core.files import FolderLock, write_json
from auction_env.core.processes import thread_limit
from auction_env.core.terminal import mention
from auction_env.evaluation.match import MatchResult, plain_settings

MODEL, LAST, AVERAGED, WARM = "model.safetensors", "last.safetensors", "averaged.safetensors", "imitation.safetensors"
DRAWS = 0xD2A3  # stream of the seed: which snapshots play
EVALUATION = "evaluation.json"


class Trainer:
    """A run: its config, learner, opponents, and folder.

    Args:
        config: what to do.
        folder: of the run.
        say: called with lines for people.
        game: a game module of your own, in place of the config's name.
        rival: an agent that has all seats but one of every deal, in place of the pool: a response to it is learned.
    """

    def __init__(
        self,
        config: Config,
        folder: Path,
        say: Callable[[str], object] = mention,
        game: ModuleType | None = None,
        rival: Agent | None = None,
    ) -> None:
        if config.engine == "ray" and (game is not None or rival is not None):
            raise ConfigError("engine is 'ray': it plays registered games, against the pool; use engine = \"local\"")
        self.config, self.folder, self.say, self.rival = config, folder, say, rival
        self.game, self.settings = config.resolve(game)
        self.all_settings = config.tables(self.game, self.settings)
        threads = config.threads or thread_limit()
        torch.set_num_threads(threads)
        self.env = AllSeatsVecEnv(
            self.game,
            self.all_settings,
            config.num_envs,
            network=config.network,
            seed=config.seed,
            reward_scale=config.reward_scale,
            oracle=config.oracle_critic,
            threads=threads,
        )
        self.widest = max(self.all_settings, key=lambda one: one.num_players)
        self.shape = network_shape(self.game, self.widest, config.network, config.net_arch, config.embedding)
        self.model = self._model()
        self.actor: nn.Module = self.model.policy.actor
        self.average = copy.deepcopy(self.actor)
        named = [
            agents.make(spec, self.game, self.settings, config.seed + 2 + i) for i, spec in enumerate(config.opponents)
        ]
        self.pool = OpponentPool(config.opponent_pool_size, named, config.opponents_prob, config.prioritized)
        self.evaluator = Evaluator(self)
        self.best, self.best_score = copy.deepcopy(self.actor), -math.inf
        self.kept, self.temperature = "", 1.0  # which weights became the model, and at what temperature they play
        self.iteration, self.seconds = 0, 0.0
        self.curve: list[Point] = []
        self.imitated: Imitated | None = None
        self.labeller: Labeller | None = None
        self.stop = StopFlag(say)
        self._lock = FolderLock(folder)
        self._claimed = False

    def _model(self) -> SelfPlayPPO:
        config, layout = self.config, layout_of(self.game, self.widest, self.config.network)
        build = partial(
            build_towers, self.shape, layout, self.widest.num_players - 1, config.shared_critic, config.oracle_critic
        )
        engine: Callable[..., SelfPlayPPO] = SelfPlayPPO
        if config.engine == "ray":
            require("ray")
            from auction_env.agents.learning.ray_engine import RayPPO

            engine = partial(RayPPO, config=config)
        return engine(
            NetworkPolicy,
            self.env,
            learning_rate=self._learning_rate,
            n_steps=config.n_steps,
            batch_size=config.batch_size,
            n_epochs=config.n_epochs,
            gamma=1.0,
            gae_lambda=config.gae_lambda,
            clip_range=config.clip_range,
            ent_coef=config.ent_coef,
            vf_coef=config.vf_coef,
            max_grad_norm=config.max_grad_norm,
            seed=config.seed,
            device="cpu",
            rollout_buffer_class=SeatRolloutBuffer,
            rollout_buffer_kwargs={"vec_env": self.env},
            policy_kwargs={"build": build, "optimizer_kwargs": {"eps": 1e-5, "fused": True}},
            kl_coef=config.kl_coef,
            magnet_rate=config.magnet_rate,
            label_coef=config.label_coef,
        )

    def _learning_rate(self, remaining: float) -> float:
        start, end = self.config.learning_rate, self.config.learning_rate_end
        return end + (start - end) * max(remaining, 0.0)

    def agent(self, actor: nn.Module, settings: Any | None = None, temperature: float = 1.0, stream: int = 1) -> Agent:
        """An agent that plays a network of this run at a table, by default that of the config."""
        table = self.settings if settings is None else settings
        return agent_of(actor, self.shape, self.game, table, self.config.seed * 1009 + stream, temperature)

    # --- the run ---

    def claim(self) -> None:
        """Take the folder, made if need be, for this trainer alone until its ``run`` has ended or ``close``.

        Raises:
            FolderInUseError: another process, or another trainer, has it.
            OSError: it cannot be made or written.
        """
        if not self._claimed:
            self._lock.acquire()
            self._claimed = True

    def close(self) -> None:
        """Give the folder back; of use to a trainer that claimed it and does not run."""
        self._lock.release()
        self._claimed = False

    def run(self) -> Path:
        """Learn until all decisions are made, or Ctrl-C. Returns the folder.

        Raises:
            Stopped: Ctrl-C; the iteration was finished, everything is saved.
            KeyboardInterrupt: Ctrl-C twice; what came after the last checkpoint is lost.
            FolderInUseError: see ``claim``.
            DivergedError: a loss, gradient or output was not finite. The last checkpoint stays, and the best weights
                measured so far are the folder's model.
            OSError: something cannot be written; the last checkpoint stays.
        """
        self.claim()
        try:
            self._learn()
            self.finish()
        except DivergedError as error:
            raise DivergedError(error.what, self._keep_best()) from error
        finally:
            self.close()
        return self.folder

    def _keep_best(self) -> str:
        """Make the best weights measured so far the model; in words."""
        where = f", after {self.model.num_timesteps} decisions"
        if not math.isfinite(self.best_score):
            return where
        self.save_policy(MODEL, self.best, 1.0)
        return f"{where}; the best weights measured before are kept in {self.folder / MODEL}"

    def _learn(self) -> None:
        self.model.set_logger(configure(str(self.folder / "tensorboard"), ["tensorboard"]))
        remaining = self.config.total_timesteps - self.model.num_timesteps
        if remaining > 0:
            with self.stop, Progress(self) as progress:
                if self.config.warm_start and self.imitated is None and self.iteration == 0:
                    self.warm_start(progress)
                callback = TrainerCallback(self, progress)
                self.model.learn(remaining, callback, reset_num_timesteps=False)
                if callback.stopping:
                    raise Stopped
                self.after_iteration(progress)

    def warm_start(self, progress: Progress) -> None:
        """Imitate the agent of the config, and keep the result beside."""
        config = self.config
        teacher = self.rival or agents.make(config.warm_start, self.game, self.settings, config.seed + 1)
        self.imitated = imitate(
            self.model.policy,  # type: ignore[arg-type]
            self.env,
            teacher,
            timesteps=config.warm_start_timesteps,
            learning_rate=config.learning_rate,
            batch_size=config.batch_size,
            n_epochs=config.warm_start_epochs,
            vf_coef=config.vf_coef,
            max_grad_norm=config.max_grad_norm,
            seed=config.seed,
            steps=config.n_steps,
            show=progress.imitating,
        )
        self.average.load_state_dict(self.actor.state_dict())
        self.model.start_magnet()
        self.save_policy(WARM, self.actor, 1.0)

    def begin(self, progress: Progress) -> None:
        """Measure where a new run starts from."""
        if not self.curve:
            self.evaluate(progress.seconds)

    def before_iteration(self) -> None:
        """Draw who may sit at the tables dealt in the coming iteration; move what is scheduled."""
        done = self.model.num_timesteps / self.config.total_timesteps
        self.model.ent_coef = self.config.ent_coef + (self.config.ent_coef_end - self.config.ent_coef) * min(done, 1.0)
        if self.rival is not None:
            self.env.set_pool([self.rival], [1.0], 1.0, lone_learner=True)
        else:
            rng = np.random.default_rng([self.config.seed, DRAWS, self.iteration])
            self.env.set_pool(*self.pool.seated(self.config.opponent_pool_draws, rng), self.config.opponent_pool_prob)

    def before_update(self) -> None:
        """Label decisions by playouts, if the config asks for it."""
        if not self.config.label_decisions:
            return
        if self.labeller is None:
            players = [self.agent(copy.deepcopy(self.actor), one, stream=5) for one in self.all_settings]
            self.labeller = Labeller(self.env, players, self.config.label_worlds)  # type: ignore[arg-type]
        for agent in self.labeller.agents:
            playing(agent, self.actor)
        self.labeller.seed(self.config.seed * 1009 + self.iteration)
        self.model.labels = self.labeller.label(self.config.label_decisions, self.env.observe())

    def after_iteration(self, progress: Progress) -> None:
        """What happens between iterations: averages, snapshots, evaluations, checkpoints."""
        config = self.config
        self.iteration += 1
        span = max(1.0, config.average * config.iterations)
        move_towards(self.average, self.actor, max(1 / span, 0.0 if self.imitated else 1 / self.iteration))
        if self.iteration % config.snapshot_every == 0 and self.rival is None:
            self.pool.add(self.agent(copy.deepcopy(self.actor), stream=1000 + self.iteration), self.iteration)
        done = self.model.num_timesteps >= config.total_timesteps
        if self.iteration % config.evaluate_every == 0 or done:
            self.evaluate(progress.seconds)
        progress.show()
        if self.iteration % config.checkpoint_every == 0 or self.iteration == 1 or done:
            self.save(progress.seconds)

    def entropy(self) -> float:
        """Mean entropy of the policy in nats, over the last iteration; before the first, over what is to be decided."""
        logged = self.model.logger.name_to_value.get("train/entropy_loss")
        if logged is not None:
            return -float(logged)
        with torch.no_grad():
            legal = torch.from_numpy(self.env.action_masks())
            logs = masked_log_softmax(self.actor(torch.from_numpy(self.env.observe())), legal)
            return -float((logs.exp() * logs).sum(1).mean())

    def evaluate(self, seconds: float) -> None:
        """Measure the averaged weights, add points to the learning curve, and keep the best so far."""
        found = self.evaluator.measure(self.average, self.iteration)
        exact = {}
        if self.config.exploitability:
            exact = self.evaluator.exploitability({"averaged": self.average, "last": self.actor})
            for name, chips in exact.items():
                self.model.logger.record(f"selfplay/exploitability_{name}", chips)
        self.curve.append(Point(self.model.num_timesteps, seconds, self.entropy(), found, exact))
        for name, estimate in found.items():
            self.model.logger.record(f"selfplay/chips_against_{name}", estimate.mean)
        self.model.logger.record("selfplay/snapshots", len(self.pool.snapshots))
        score = self.evaluator.score(found)
        if score > self.best_score:
            self.best, self.best_score = copy.deepcopy(self.average), score
        write_curve(self.folder, self.curve)

    def finish(self) -> None:
        """Choose weights, and the temperature to play them at, by play; write them, and the curve's picture."""
        from auction_env.agents.learning.report import draw_curve, draw_exploitability

        candidates = {"last": self.actor, "averaged": self.average, "best": self.best}
        self.kept, self.temperature = self.evaluator.choose(candidates, self.config.temperatures)
        self.save_policy(LAST, self.actor, 1.0)
        self.save_policy(AVERAGED, self.average, 1.0)
        self.save_policy(MODEL, candidates[self.kept], self.temperature)
        title = f"{self.game.TITLE}, {self._seats_in_words()} seats"
        draw_curve(self.folder, self.curve, title)
        draw_exploitability(self.folder, self.curve, title)
        self.say(f"kept the {self.kept} weights, played at temperature {self.temperature:g}: {self.folder / MODEL}")

    def _seats_in_words(self) -> str:
        numbers = [one.num_players for one in self.all_settings]
        return str(numbers[0]) if len(numbers) == 1 else f"{min(numbers)} to {max(numbers)}"

    def save_policy(self, name: str, actor: nn.Module, temperature: float) -> None:
        """Write weights of this run as a policy file in its folder."""
        seats = tuple(one.num_players for one in self.all_settings)
        policy = Policy(actor, self.shape, seats, plain_settings(self.settings), temperature)
        save_policy(self.folder / name, policy, self.game, self.widest)

    def final_evaluation(self) -> dict[str, MatchResult]:
        """Matches of the kept model against each of ``eval_opponents``, on decks that training never saw."""
        results = self.evaluator.final(self.folder / MODEL, self.config.final_deals)
        content = {name: result.summary() for name, result in results.items()}
        write_json(self.folder / EVALUATION, content)
        return results

    def save(self, seconds: float) -> None:
        """Write everything a run needs to go on, in one file, renamed into place."""
        checkpoint.save(self, seconds)

    def restore(self) -> None:
        """Go on from the folder's checkpoint; errors as ``checkpoint.restore``."""
        checkpoint.restore(self)


__all__ = ["Stopped", "Trainer"]
