"""The layers that learn: MaskablePPO by self-play, and where the time of a training iteration goes."""

from __future__ import annotations

import copy
import cProfile
import functools
import pstats
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from auction_env.agents.base import StateAgent

from benchmarks import peers
from benchmarks.games import MAIN_GAME, SEATS
from benchmarks.measure import (
    ROOT,
    Contender,
    Effort,
    add_target,
    collect,
    not_run,
    repeat,
    row_of,
    take_turns,
)


def _trainer(name: str, folder: Path, overrides: Sequence[str]) -> Any:
    """A trainer of a game's config (its defaults if it has none), with snapshots to play against as in a long run."""
    from auction_env.agents.learning.config import load_config, make_config
    from auction_env.agents.learning.trainer import Trainer
    from stable_baselines3.common.logger import Logger

    file = ROOT / "configs" / f"{name}.toml"
    config = load_config(file, overrides) if file.exists() else make_config({"game": name}, overrides)
    trainer = Trainer(config, folder, say=lambda _: None)
    trainer.model.set_logger(Logger(None, []))
    for number in range(config.opponent_pool_size):
        trainer.pool.add(trainer.agent(copy.deepcopy(trainer.actor), stream=1000 + number), number)
    trainer.iteration = config.opponent_pool_size
    return trainer


def _iteration(trainer: Any) -> int:
    """One iteration of training, all included: opponents drawn, decisions, update, average, now and then a snapshot."""
    from auction_env.agents.learning.algorithm import move_towards

    count = trainer.config.num_envs * trainer.config.n_steps
    trainer.before_iteration()
    trainer.model.learn(count, reset_num_timesteps=False)
    trainer.iteration += 1
    move_towards(trainer.average, trainer.actor, 1 / trainer.iteration)
    if trainer.config.opponent_pool_size and trainer.iteration % trainer.config.snapshot_every == 0:
        snapshot = trainer.agent(copy.deepcopy(trainer.actor), stream=trainer.iteration)
        trainer.pool.add(snapshot, trainer.iteration)
    return count


_FOUR_SEATS = f"settings.num_players={SEATS}"


def learning(effort: Effort, games: Sequence[str]) -> dict[str, Any]:
    """MaskablePPO by self-play, everything included."""
    with tempfile.TemporaryDirectory() as folder:
        ours = []
        for name in games:
            overrides = [_FOUR_SEATS, *effort.learning]
            trainer = _trainer(name, Path(folder) / name, overrides)
            ours.append(Contender(name, repeat(functools.partial(_iteration, trainer)), name))
        others, skipped = collect([functools.partial(peers.tutorial_learning, effort.tutorial_steps)])
        contenders = [*ours, *others]
        values = take_turns(contenders, effort.learning_rounds, 5 * effort.seconds)
    peer = "MaskablePPO, tutorial's way, PettingZoo texas_holdem_v4"
    row = row_of(
        "MaskablePPO self-play, default network",
        "learner decisions/s",
        f"{SEATS} seats; ours: `train.py`'s loop with the game's config and network, every seat learns; decisions of "
        "the pool, snapshots and updates are included, not counted; the tutorial's: one policy for all seats, two "
        "hidden layers of 64, each of its decisions counted, PPO's default batches and epochs",
        contenders,
        values,
        [(name, name, (peer,)) for name in games],
        skipped,
    )
    add_target(row, "60 x the tutorial's way", 60, MAIN_GAME, peer)
    return row


class Parts:
    """Seconds spent in some functions, each without what it spends in others that are watched too."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._open: list[str] = []
        self._since = 0.0

    def _switch(self) -> None:
        now = time.perf_counter()
        if self._open:
            self.seconds[self._open[-1]] += now - self._since
        self._since = now

    def watch(self, owner: Any, function: str, part: str) -> None:
        """Count the time in a method of an object as a part's."""
        inner = getattr(owner, function)
        self.seconds.setdefault(part, 0.0)

        @functools.wraps(inner)
        def watched(*values: Any, **named: Any) -> Any:
            self._switch()
            self._open.append(part)
            try:
                return inner(*values, **named)
            finally:
                self._switch()
                self._open.pop()

        setattr(owner, function, watched)


TABLES, OPPONENTS, SEATING, VECENV = "tables", "the pool's agents", "seating of new deals", "rest of VecEnv.step"
FEATURES = "features"
LEARNER, UPDATES, REST = "learner's network", "updates", "rest: buffers, masks, advantages"
IN_VECENV = (TABLES, FEATURES, OPPONENTS, SEATING, VECENV)


def _watch_training(trainer: Any) -> Parts:
    parts = Parts()
    parts.watch(trainer.env, "step", VECENV)
    parts.watch(trainer.env, "_seat", SEATING)
    for tables in trainer.env.tables:
        parts.watch(tables.batch, "step", TABLES)
        parts.watch(tables, "write", FEATURES)
    parts.watch(trainer.model.policy, "forward", LEARNER)
    parts.watch(trainer.model, "train", UPDATES)
    for agent in trainer.pool.everyone:
        parts.watch(agent, "act_states" if isinstance(agent, StateAgent) else "act_batch", OPPONENTS)
    return parts


def _shares(trainer: Any, iterations: int) -> list[dict[str, float]]:
    """What share of each iteration's time each part takes."""
    trainer.config.opponent_pool_size = 0  # the snapshots that are watched are the ones that play
    parts, shares = _watch_training(trainer), []
    for turn in range(iterations + 2):
        before, begun = dict(parts.seconds), time.perf_counter()
        _iteration(trainer)
        taken = time.perf_counter() - begun
        found = {part: (seconds - before[part]) / taken for part, seconds in parts.seconds.items()}
        if turn >= 2:
            shares.append({**found, REST: 1 - sum(found.values())})
    return shares


def _profile(trainer: Any, lines: int = 14) -> list[dict[str, Any]]:
    """The functions in which an iteration spends most of its time, by their own time."""
    profile = cProfile.Profile()
    profile.runcall(_iteration, trainer)
    stats: Mapping[Any, Any] = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    total = sum(entry[2] for entry in stats.values())
    found = sorted(stats.items(), key=lambda item: -item[1][2])[:lines]
    return [
        {"function": f"{_short(file)}{name}", "calls": calls, "share": own / total}
        for (file, _line, name), (_primitive, calls, own, _cumulative, _callers) in found
    ]


def _short(file: str) -> str:
    """A source file as its package sees it, followed by a colon; nothing for built-in functions."""
    if file in ("~", ""):
        return ""
    parts = Path(file).parts
    for start in ("site-packages", ROOT.name):
        if start in parts:
            return "/".join(parts[len(parts) - parts[::-1].index(start) :]) + ":"
    return Path(file).name + ":"


def vecenv(effort: Effort, games: Sequence[str]) -> dict[str, Any]:
    """What share of a training iteration ``AllSeatsVecEnv.step`` takes with the default network."""
    contenders: list[Contender] = []
    values: dict[str, list[float]] = {}
    heads: list[tuple[str, str, Sequence[str]]] = []
    shares: dict[str, dict[str, float]] = {}
    profiles, sizes = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for name in games:
            trainer = _trainer(name, Path(folder) / name, [_FOUR_SEATS, *effort.learning])
            config = trainer.config
            sizes[name] = {
                "tables": config.num_envs,
                "network": config.network,
                "net_arch": config.net_arch,
                "seats": trainer.settings.num_players,
            }
            _iteration(trainer)
            profiles[name] = _profile(trainer)
            found = _shares(trainer, effort.iterations)
            shares[name] = {part: float(np.median([share[part] for share in found])) for part in found[0]}
            whole, alone = f"{name}, VecEnv.step", f"{name}, VecEnv.step without the pool's agents"
            values[whole] = [sum(share[part] for part in IN_VECENV) for share in found]
            values[alone] = [sum(share[part] for part in IN_VECENV if part != OPPONENTS) for share in found]
            for label in (whole, alone):
                contenders.append(Contender(label, not_run, name))
                heads.append((name, label, ()))
    row = row_of(
        "SB3 `VecEnv.step`, default network",
        "of an iteration's time",
        "the pool's decisions are made inside `step`: the first figure has them in, the second leaves them out; "
        "features of the learner's decisions are in both",
        contenders,
        values,
        heads,
        shares=shares,
        profiles=profiles,
        trained=sizes,
    )
    add_target(row, "under a third", 1 / 3, f"{MAIN_GAME}, VecEnv.step", most=True)
    return row
