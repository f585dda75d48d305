"""Learning by self-play with ``sb3_contrib.MaskablePPO``: against itself and a pool of what it was before."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import os
import platform
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from auction_env.agents.base import Agent
from auction_env.agents.learning.buffer import GatheringRolloutBuffer
from auction_env.agents.learning.config import Config, ConfigError, make_config
from auction_env.agents.learning.network import NetworkAgent, load_tensors, save_policy, save_tensors
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from torch import nn

from auction_env import agents
from auction_env.evaluation.match import Estimate, MatchResult, play_match
from auction_env.evaluation.results import write_file
from auction_env.interfaces.sb3_vec_env import SelfPlayVecEnv

CHECKPOINT_FORMAT = "auction_env.checkpoint/1"
CHECKPOINT, CURVE, RUN = "checkpoint.safetensors", "curve.json", "run.json"
EVALUATION = "evaluation.json"
MODEL, LAST, AVERAGED = "model.safetensors", "last.safetensors", "averaged.safetensors"
_PACKAGES = ("numpy", "numba", "gymnasium", "pettingzoo", "stable-baselines3", "sb3-contrib", "torch")


class Stopped(KeyboardInterrupt):
    """Ctrl-C, obeyed: everything is saved, and ``resume_run`` goes on from there."""


class Pool:
    """Snapshots of the policy, the oldest first; at most ``size``, spread as evenly as can be in the log of age."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.taken: list[int] = []  # the iteration each was taken in
        self.agents: list[NetworkAgent] = []

    def add(self, agent: NetworkAgent, iteration: int) -> None:
        """Add a snapshot; when there are too many, drop the one whose neighbours in age are nearest to each other."""
        self.taken.append(iteration)
        self.agents.append(agent)
        if len(self.taken) <= self.size:
            return
        ages = [math.log2(iteration - taken + 1) for taken in self.taken]
        gaps = [ages[place - 1] - ages[place + 1] for place in range(1, len(ages) - 1)]
        drop = 1 + int(np.argmin(gaps)) if gaps else 0
        del self.taken[drop], self.agents[drop]


@dataclasses.dataclass
class Evaluation:
    """A point of the learning curve: chips a deal against random opponents, mean over all seats, 95 % interval."""

    decisions: int
    seconds: float
    chips: float
    half_width: float
    entropy: float


class Trainer:
    """A run: its config, learner, opponents, and folder.

    Args:
        config: what to do.
        folder: of the run.
        say: called with lines for people.
        game: a game module of your own, in place of the config's name.
    """

    versus = "random"  # who the progress bar says it is measured against

    def __init__(
        self, config: Config, folder: Path, say: Callable[[str], None] = print, game: ModuleType | None = None
    ) -> None:
        self.config, self.folder, self.say = config, folder, say
        self.game, self.settings = config.resolve(game)
        torch.set_num_threads(config.threads or os.cpu_count() or 1)
        self.env = SelfPlayVecEnv(
            self.game, self.settings, config.tables, seed=config.seed, reward_scale=config.reward_scale
        )
        self.model = MaskablePPO(
            "MlpPolicy",
            self.env,
            learning_rate=self._learning_rate,
            n_steps=config.steps,
            batch_size=config.minibatch,
            n_epochs=config.epochs,
            gamma=1.0,
            gae_lambda=config.gae_lambda,
            clip_range=config.clip,
            ent_coef=config.entropy,
            vf_coef=config.value_weight,
            max_grad_norm=config.max_gradient,
            seed=config.seed,
            device="cpu",
            rollout_buffer_class=GatheringRolloutBuffer,
            policy_kwargs={
                "net_arch": {"pi": list(config.hidden), "vf": list(config.hidden)},
                "activation_fn": nn.ReLU,
            },
        )
        policy = self.model.policy
        self.actor = nn.Sequential(*policy.mlp_extractor.policy_net, policy.action_net)
        self.average = copy.deepcopy(self.actor)
        self.present = self._agent(self.actor, 1)
        self.env.set_opponents(self.present)
        self.scripted = [
            agents.make(spec, self.game, self.settings, config.seed + 2 + index)
            for index, spec in enumerate(config.opponents)
        ]
        self.pool = Pool(config.pool)
        self.rng = np.random.default_rng([config.seed, 0x9001])
        self.iteration = 0
        self.seconds = 0.0
        self.curve: list[Evaluation] = []
        self.interrupted = False

    def _agent(self, actor: nn.Module, stream: int) -> NetworkAgent:
        size = int(self.env.observation_space.shape[0])  # type: ignore[index]
        return NetworkAgent(actor, size, seed=self.config.seed * 1009 + stream)

    def _learning_rate(self, remaining: float) -> float:
        start, end = self.config.learning_rate, self.config.learning_rate_end
        return end + (start - end) * remaining

    # --- the run ---

    def run(self) -> Path:
        """Learn until all decisions are made, or Ctrl-C. Returns the folder.

        Raises:
            Stopped: Ctrl-C; the iteration was finished, everything is saved.
            KeyboardInterrupt: Ctrl-C twice; what came after the last checkpoint is lost.
        """
        self.model.set_logger(configure(str(self.folder / "tensorboard"), ["tensorboard"]))
        remaining = self.config.decisions - self.model.num_timesteps
        if remaining > 0:
            with _catch_interrupt(self), _Progress(self) as progress:
                callback = _Callback(self, progress)
                self.model.learn(remaining, callback, reset_num_timesteps=False)
                if callback.stopping:
                    raise Stopped
                self.after_iteration(progress)
        self.finish()
        return self.folder

    def after_iteration(self, progress: _Progress) -> None:
        """What happens between iterations: averages, snapshots, evaluations, checkpoints."""
        config = self.config
        self.iteration += 1
        self._average()
        if self.iteration % config.snapshot_every == 0 and config.pool:
            self.pool.add(self._agent(copy.deepcopy(self.actor), 1000 + self.iteration), self.iteration)
        done = self.model.num_timesteps >= config.decisions
        if self.iteration % config.evaluate_every == 0 or self.iteration == 1 or done:
            self.evaluate(progress.seconds)
        progress.show()
        if self.iteration % config.checkpoint_every == 0 or self.iteration == 1 or done:
            self.save(progress.seconds)

    def seat_opponents(self) -> None:
        """Draw who may sit at the tables dealt in the coming iteration."""
        everyone: list[Agent] = [*self.pool.agents, *self.scripted]
        count = min(self.config.seated, len(everyone))
        chosen = sorted(self.rng.choice(len(everyone), count, replace=False)) if count else []
        self.env.set_opponents(self.present, [everyone[index] for index in chosen], self.config.mixed)

    @torch.no_grad()
    def _average(self) -> None:
        """Move the averaged weights towards the present ones; at first, a plain mean of what has been."""
        span = max(1.0, self.config.average * self.config.iterations)
        weight = max(1 / span, 1 / self.iteration)
        for mean, now in zip(self.average.parameters(), self.actor.parameters(), strict=True):
            mean.lerp_(now, weight)

    def entropy(self) -> float:
        """Mean entropy of the policy over the last iteration's decisions, in nats."""
        return -float(self.model.logger.name_to_value.get("train/entropy_loss", math.nan))

    def against_random(self, actor: nn.Module, deals: int, seed: int) -> MatchResult:
        """A match of an actor against random opponents, on decks of its own seed."""
        learner = self._agent(actor, 7)
        learner.name = "learner"
        others = [agents.make("random", self.game, self.settings, 100)] * (self.settings.num_players - 1)
        return play_match(self.game, self.settings, [learner, *others], deals, seed)

    def evaluate(self, seconds: float) -> Estimate:
        """Play the present policy against random opponents and add a point to the learning curve."""
        result = self.against_random(self.actor, self.config.evaluate_deals, 10_000 + self.iteration)
        found = result.agent(0)
        decisions = self.model.num_timesteps
        self.curve.append(Evaluation(decisions, seconds, found.mean, found.half_width, self.entropy()))
        self.model.logger.record("selfplay/chips_against_random", found.mean)
        self.model.logger.record("selfplay/snapshots", len(self.pool.agents))
        write_json(self.folder / CURVE, [dataclasses.asdict(point) for point in self.curve])
        return found

    def finish(self) -> None:
        """Choose between the last and the averaged weights by play, and write the model."""
        from auction_env.agents.learning.report import draw_curve

        n = self.settings.num_players
        last, averaged = self._agent(self.actor, 8), self._agent(self.average, 9)
        last.name, averaged.name = "last", "averaged"
        line = [averaged if place % 2 == 0 else last for place in range(n)]
        duel = play_match(self.game, self.settings, line, self.config.evaluate_deals, 20_000)
        keep_last = duel.agent(1).above_zero
        for name, actor in (
            (LAST, self.actor),
            (AVERAGED, self.average),
            (MODEL, self.actor if keep_last else self.average),
        ):
            save_policy(self.folder / name, actor, self.game, self.settings, self.config.hidden)
        draw_curve(self.folder, self.curve, self.game.TITLE, n)
        self.say(f"kept the {'last' if keep_last else 'averaged'} weights: {self.folder / MODEL}")

    def final_evaluation(self) -> MatchResult:
        """A match of the kept model against random opponents, on decks that training never saw."""
        from auction_env.agents.ppo import make_agent

        learner = make_agent(str(self.folder / MODEL), self.game, self.settings, self.config.seed)
        learner.name = f"ppo:{self.folder}"
        others = [agents.make("random", self.game, self.settings, 200)] * (self.settings.num_players - 1)
        result = play_match(self.game, self.settings, [learner, *others], self.config.final_deals, 30_000)
        write_json(self.folder / EVALUATION, result.summary())
        return result

    # --- saving and resuming ---

    def save(self, seconds: float) -> None:
        """Write everything a run needs to go on, in one file, renamed into place."""
        numpy_state = np.random.get_state(legacy=False)
        tensors: dict[str, torch.Tensor] = {}
        tensors |= {f"policy.{name}": value for name, value in self.model.policy.state_dict().items()}
        tensors |= {f"average.{name}": value for name, value in self.average.state_dict().items()}
        tensors |= {f"optimizer.{name}": value for name, value in self._optimizer_tensors().items()}
        tensors |= {f"env.{name}": torch.from_numpy(value) for name, value in self.env.get_state().items()}
        tensors["episode_starts"] = torch.from_numpy(np.asarray(self.model._last_episode_starts, np.bool_))
        tensors["random.torch"] = torch.get_rng_state()
        tensors["random.numpy"] = torch.from_numpy(numpy_state["state"]["key"].astype(np.int64))  # type: ignore[index,call-overload]
        tensors["random.present"] = self.present.generator.get_state()
        snapshots = {id(agent): agent for agent in [*self.pool.agents, *self.env.policies.values()]}
        numbers = {key: number for number, key in enumerate(k for k, a in snapshots.items() if self._is_snapshot(a))}
        for key, number in numbers.items():
            agent = snapshots[key]
            assert isinstance(agent, NetworkAgent)
            tensors |= {f"snapshot.{number}.{name}": value for name, value in agent.actor.state_dict().items()}
            tensors[f"snapshot.{number}.generator"] = agent.generator.get_state()
        header = {
            "format": CHECKPOINT_FORMAT,
            "decisions": self.model.num_timesteps,
            "updates": self.model._n_updates,
            "iteration": self.iteration,
            "seconds": seconds,
            "curve": [dataclasses.asdict(point) for point in self.curve],
            "pool": [
                [numbers[id(agent)], taken] for agent, taken in zip(self.pool.agents, self.pool.taken, strict=True)
            ],
            "seated": {number: self._seated_name(policy, numbers) for number, policy in self.env.policies.items()},
            "last_id": self.env._last_id,
            "random": {
                "numpy_position": int(numpy_state["state"]["pos"]),  # type: ignore[index,call-overload]
                "trainer": self.rng.bit_generator.state,
                "seating": self.env.rng.bit_generator.state,
                "scripted": [agent.random_state() for agent in self.scripted],
            },
        }
        save_tensors(self.folder / CHECKPOINT, tensors, header)

    def _is_snapshot(self, agent: Any) -> bool:
        return agent is not self.present and not any(agent is scripted for scripted in self.scripted)

    def _seated_name(self, policy: Any, numbers: Mapping[int, int]) -> list[Any]:
        if policy is self.present:
            return ["present", 0]
        if self._is_snapshot(policy):
            return ["snapshot", numbers[id(policy)]]
        return ["scripted", next(k for k, scripted in enumerate(self.scripted) if scripted is policy)]

    def _optimizer_tensors(self) -> dict[str, torch.Tensor]:
        state = self.model.policy.optimizer.state_dict()["state"]
        return {f"{index}.{name}": value for index, entry in state.items() for name, value in entry.items()}

    def restore(self) -> None:
        """Go on from the folder's checkpoint: weights, optimiser, tables, opponents, random states, schedules.

        Raises:
            AgentError: there is no checkpoint, or it is damaged.
            ConfigError: it was made by a config of another shape.
        """
        tensors, header = load_tensors(self.folder / CHECKPOINT, CHECKPOINT_FORMAT)
        try:
            self._restore_learner(tensors, header)
            self._restore_opponents(tensors, header)
            self._restore_chance(tensors, header["random"])
        except (KeyError, TypeError, RuntimeError, ValueError, IndexError) as error:
            raise ConfigError(
                f"{self.folder / CHECKPOINT} does not fit this config ({error}): resume with the keys it was made with"
            ) from error

    def _restore_learner(self, tensors: Mapping[str, torch.Tensor], header: Mapping[str, Any]) -> None:
        self.model.policy.load_state_dict(_part(tensors, "policy."))
        self.average.load_state_dict(_part(tensors, "average."))
        optimizer = self.model.policy.optimizer
        entries: dict[int, dict[str, torch.Tensor]] = {}
        for name, value in _part(tensors, "optimizer.").items():
            index, _, key = name.partition(".")
            entries.setdefault(int(index), {})[key] = value
        optimizer.load_state_dict({**optimizer.state_dict(), "state": entries})
        self.model.num_timesteps = header["decisions"]
        self.model._n_updates = header["updates"]
        self.iteration, self.seconds = header["iteration"], header["seconds"]
        self.curve = [Evaluation(**point) for point in header["curve"]]

    def _restore_opponents(self, tensors: Mapping[str, torch.Tensor], header: Mapping[str, Any]) -> None:
        snapshots: dict[int, NetworkAgent] = {}

        def snapshot(number: int) -> NetworkAgent:
            if number not in snapshots:
                actor = copy.deepcopy(self.actor)
                parts = _part(tensors, f"snapshot.{number}.")
                generator = parts.pop("generator")
                actor.load_state_dict(parts)
                snapshots[number] = self._agent(actor, 0)
                snapshots[number].generator.set_state(generator)
            return snapshots[number]

        self.pool.taken = [taken for _, taken in header["pool"]]
        self.pool.agents = [snapshot(number) for number, _ in header["pool"]]
        seated: dict[int, Any] = {}
        for number, (kind, index) in header["seated"].items():
            if kind == "present":
                seated[int(number)] = self.present
            else:
                seated[int(number)] = snapshot(index) if kind == "snapshot" else self.scripted[index]
        self.env.set_state({name: value.numpy() for name, value in _part(tensors, "env.").items()}, seated)
        self.env._last_id = header["last_id"]
        self.model._last_obs = self.env.batch.out.observations.copy()
        self.model._last_episode_starts = tensors["episode_starts"].numpy()

    def _restore_chance(self, tensors: Mapping[str, torch.Tensor], states: Mapping[str, Any]) -> None:
        torch.set_rng_state(tensors["random.torch"])
        key = tensors["random.numpy"].numpy().astype(np.uint32)
        np.random.set_state(("MT19937", key, states["numpy_position"], 0, 0.0))
        self.present.generator.set_state(tensors["random.present"])
        self.rng.bit_generator.state = states["trainer"]
        self.env.rng.bit_generator.state = states["seating"]
        for agent, state in zip(self.scripted, states["scripted"], strict=True):
            agent.set_random_state(state)


class _Callback(BaseCallback):
    """Calls the trainer between iterations."""

    def __init__(self, trainer: Trainer, progress: _Progress) -> None:
        super().__init__()
        self.trainer, self.progress = trainer, progress
        self.begun = self.stopping = False

    def _on_rollout_start(self) -> None:
        if self.begun:
            self.trainer.after_iteration(self.progress)
        self.begun = True
        self.stopping = self.trainer.interrupted
        if self.stopping:
            self.trainer.save(self.progress.seconds)
        else:
            self.trainer.seat_opponents()

    def _on_step(self) -> bool:
        return not self.stopping


class _Progress:
    """The progress bar: decisions, chips a deal against random, entropy; and the clock of the run."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer

    def __enter__(self) -> _Progress:
        from tqdm import tqdm

        config, model = self.trainer.config, self.trainer.model
        self.begun = time.perf_counter() - self.trainer.seconds
        self.bar = tqdm(
            total=config.decisions, initial=model.num_timesteps, unit=" decisions", unit_scale=True, ncols=110
        )
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.close()

    @property
    def seconds(self) -> float:
        """Seconds this run has taken, interruptions left out."""
        return time.perf_counter() - self.begun

    def show(self) -> None:
        """Bring the bar up to date."""
        chips = f"{self.trainer.curve[-1].chips:+.2f}" if self.trainer.curve else "?"
        self.bar.set_postfix_str(
            f"vs {self.trainer.versus} {chips} chips/deal, entropy {self.trainer.entropy():.2f}", refresh=False
        )
        self.bar.update(min(self.trainer.model.num_timesteps, self.trainer.config.decisions) - self.bar.n)


class _catch_interrupt:
    """The first Ctrl-C asks the trainer to stop after this iteration; the second stops at once."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer

    def __enter__(self) -> None:
        try:
            self.before = signal.signal(signal.SIGINT, self._stop)
        except ValueError:  # not in the main thread
            self.before = None

    def _stop(self, *_: object) -> None:
        self.trainer.interrupted = True
        self.trainer.say("\nstopping after this iteration; Ctrl-C again stops at once and loses it")
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def __exit__(self, *error: object) -> None:
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)


def _part(tensors: Mapping[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {name[len(prefix) :]: value for name, value in tensors.items() if name.startswith(prefix)}


# --- run folders ----------------------------------------------------------------------------------------------------


def start_run(config: Config, say: Callable[[str], None] = print) -> Trainer:
    """A new run in its folder. Raises ConfigError if the folder holds one already."""
    folder = Path(config.run)
    if (folder / CHECKPOINT).exists():
        raise ConfigError(f"{folder} holds a run already: go on with --resume {folder}, or give another run=FOLDER")
    trainer = Trainer(config, folder, say)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / RUN, {"config": dataclasses.asdict(config), **provenance()})
    return trainer


def resume_run(folder: Path, overrides: list[str], say: Callable[[str], None] = print) -> Trainer:
    """Go on with a run where it stopped; overrides may change, for instance, ``decisions``.

    Raises:
        ConfigError, AgentError: there is no run to go on with, or an override does not fit it.
    """
    try:
        stored = json.loads((folder / RUN).read_text(encoding="utf-8"))
        values = dict(stored["config"])
    except (OSError, json.JSONDecodeError, KeyError, TypeError) as error:
        raise ConfigError(f"{folder} holds no run to resume ({error})") from error
    if not (folder / CHECKPOINT).exists():
        raise ConfigError(f"{folder} holds a run that came to no checkpoint: start it again with its config")
    config = make_config({**values, "run": str(folder)}, overrides)
    trainer = Trainer(config, folder, say)
    trainer.restore()
    write_json(folder / RUN, {**stored, "config": dataclasses.asdict(config), "resumed": provenance()})
    return trainer


def write_json(path: Path, content: Any) -> None:
    """Write JSON beside, then rename into place; folders that are missing are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, json.dumps(content, indent=1) + "\n")


def provenance() -> dict[str, Any]:
    """Versions and git revision that a result depends on."""
    return {
        "auction_env": agents_version(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in _PACKAGES},
        "git": _git("rev-parse", "HEAD"),
        "git_clean": _git("status", "--porcelain") == "",
        "cores": os.cpu_count(),
    }


def agents_version() -> str:
    """Version of this package."""
    from auction_env import __version__

    return __version__


def _git(*arguments: str) -> str | None:
    try:
        run = subprocess.run(
            ["git", *arguments], cwd=Path(__file__).parent, capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return run.stdout.strip()
