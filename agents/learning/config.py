"""What a training run is told: one flat table of keys, read from TOML, with overrides from the command line."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from auction_env.core import config
from auction_env.core.config import ConfigError, key
from auction_env.core.limits import shorten
from auction_env.engine.features import has_features
from auction_env.games import get_game
from auction_env.games.game import Game, make_settings

NETWORKS = ("cards", "mlp")  # as in ``networks``, which needs torch
ENGINES = ("local", "ray")
# What RLlib's learner has no place for.
NOT_ON_RAY = ("oracle_critic", "kl_coef", "label_decisions")


@dataclasses.dataclass
class Config:
    """All keys of a training config. Every key has a default; unknown keys are errors. Names: stable-baselines3's."""

    game: str = key("auction_poker", "name of the game")
    settings: dict[str, Any] = key({}, "the game's settings that differ from their defaults")
    seats: list[int] = key([], "numbers of seats that one policy learns, tables shared equally; []: num_players alone")
    run: str = key("runs/auction_poker", "folder of the run; made new, refused if it holds a run already")
    seed: int = key(0, "seed of everything: tables, network, sampling", 0, 2**31)
    # how much, how fast
    total_timesteps: int = key(3_000_000, "decisions to learn from in all, by whichever seat", 1, 10**12)
    num_envs: int = key(1024, "tables played at once", 1, 1 << 20)
    n_steps: int = key(36, "decisions a table and iteration", 1, 1 << 16)
    threads: int = key(0, "threads of the network; 0: all cores", 0, 1024)
    engine: str = key("local", "'local': this process plays and learns; 'ray': RLlib's PPO, tables played on a cluster")
    workers: int = key(
        0, "engine 'ray': processes that play, a core each; 0: one for each core of the cluster", 0, 10_000
    )
    # the network
    network: str = key("cards", "'cards': reads what hands become, shared by all cards; 'mlp': the flat observation")
    net_arch: list[int] = key([128, 64], "sizes of the hidden layers")
    embedding: int = key(32, "size of the encoding of a seat or of an option, network 'cards'", 1, 1 << 12)
    shared_critic: bool = key(True, "the critic reads the actor's first layer; network 'cards', unless oracle_critic")
    # its updates (PPO)
    learning_rate: float = key(2e-3, "Adam's step size at the start", 0, 1)
    learning_rate_end: float = key(1e-4, "and at the end; linear between", 0, 1)
    n_epochs: int = key(1, "passes over each iteration's decisions", 1, 100)
    batch_size: int = key(1024, "decisions in a gradient step", 2, 1 << 24)
    ent_coef: float = key(0.015, "weight of the entropy bonus at the start: 0 makes play predictable", 0, 10)
    ent_coef_end: float = key(0.001, "and at the end; linear between", 0, 10)
    clip_range: float = key(0.2, "PPO's clipping range", 0, 10)
    gae_lambda: float = key(0.8, "lambda of the advantage estimate; the discount is 1", 0, 1)
    vf_coef: float = key(0.5, "weight of the value loss", 0, 100)
    max_grad_norm: float = key(0.5, "gradient norm is clipped to this", 0, 1e6)
    reward_scale: float = key(0.1, "rewards are chips times this", 1e-9, 1e9)
    oracle_critic: bool = key(False, "the critic sees all cards, in training only; network 'cards'")
    kl_coef: float = key(0.0, "weight of the pull towards a slowly moving copy of the policy, the magnet", 0, 100)
    magnet_rate: float = key(0.05, "fraction by which the magnet follows in an iteration", 0, 1)
    label_decisions: int = key(0, "decisions of each iteration whose likely actions are all played out", 0, 1 << 20)
    label_worlds: int = key(0, "in so many worlds that the seat can imagine; 0: at the table as it stands", 0, 1 << 12)
    label_coef: float = key(1.0, "weight of what is learned from them", 0, 100)
    # a warm start
    warm_start: str = key("", "agent that is imitated first, such as 'rules'; '': none")
    warm_start_timesteps: int = key(600_000, "decisions of that agent to learn from", 1, 10**12)
    warm_start_epochs: int = key(2, "passes over them", 1, 100)
    # opponents
    opponents: list[str] = key([], "agents in the pool besides the snapshots, such as 'rules'")
    opponents_prob: float = key(0.7, "of the pool's seats, the part that goes to these agents", 0, 1)
    opponent_pool_prob: float = key(0.3, "fraction of the deals with one to n - 1 of the pool at the table", 0, 1)
    opponent_pool_size: int = key(8, "snapshots of the policy kept to play against, spread evenly in log age", 0, 1000)
    opponent_pool_draws: int = key(1, "of the pool, so many play in an iteration, drawn anew for each; 0: all", 0, 1000)
    prioritized: bool = key(False, "draw those of the pool more often from whom the learner wins least")
    snapshot_every: int = key(10, "iterations between snapshots", 1, 10**9)
    # results
    average: float = key(0.1, "averaged weights look back over this fraction of the iterations", 0, 1)
    eval_opponents: list[str] = key(["random", "rules"], "who evaluations during training are against, beside the pool")
    select_by: str = key("rules", "of them, the one by whom the kept weights are chosen")
    temperatures: list[float] = key([1.0, 0.7, 0.5, 0.3], "at which the kept weights may play: the best one is chosen")
    evaluate_every: int = key(10, "iterations between evaluations", 1, 10**9)
    evaluate_deals: int = key(2000, "deals of such an evaluation", 2, 10**9)
    final_deals: int = key(20_000, "deals of the evaluation at the end", 2, 10**9)
    exploitability: bool = key(False, "compute it exactly at evaluations: for settings small enough to be enumerated")
    checkpoint_every: int = key(20, "iterations between checkpoints", 1, 10**9)

    def __post_init__(self) -> None:
        config.check_keys(self)
        if any(size < 1 or size > 1 << 14 for size in self.net_arch):
            raise ConfigError(f"net_arch is {self.net_arch}: sizes of layers must be from 1 to {1 << 14}")
        if not self.temperatures or any(not 0 <= one <= 100 for one in self.temperatures):
            raise ConfigError(f"temperatures is {self.temperatures}: it must be a list of numbers from 0 to 100")
        if self.network not in NETWORKS:
            raise ConfigError(f"network is {shorten(repr(self.network))}: it must be one of {', '.join(NETWORKS)}")
        if not self.net_arch and self.network == "cards":
            raise ConfigError("net_arch is empty: network 'cards' needs at least one hidden layer")
        if self.n_steps * self.num_envs < self.batch_size:
            raise ConfigError(
                f"batch_size is {self.batch_size}, more than the {self.n_steps * self.num_envs} decisions of an "
                "iteration (num_envs x n_steps): lower it, or raise one of them"
            )
        self._check_engine()
        for name in ("oracle_critic", "label_decisions"):
            if getattr(self, name) and self.network != "cards":
                raise ConfigError(f'{name} is {getattr(self, name)!r}: it needs network = "cards"')
        if self.select_by and self.select_by not in self.eval_opponents:
            raise ConfigError(
                f"select_by is {shorten(repr(self.select_by))}: it must be one of eval_opponents, {self.eval_opponents}"
            )
        if self.num_envs < max(len(self.seats), 1):
            raise ConfigError(f"num_envs is {self.num_envs}: there must be a table for each of seats, {self.seats}")
        if not self.run.strip() or any(mark in "?*" or "\ud800" <= mark <= "\udfff" for mark in self.run):
            raise ConfigError(
                f"run is {shorten(repr(self.run))}: name the folder of the run, in UTF-8, without '?' and '*'"
            )

    def _check_engine(self) -> None:
        """That the engine can do what the other keys ask for."""
        if self.engine not in ENGINES:
            raise ConfigError(f"engine is {shorten(repr(self.engine))}: it must be one of {', '.join(ENGINES)}")
        if self.engine == "local":
            if self.workers:
                raise ConfigError(f'workers is {self.workers}: it needs engine = "ray"')
            return
        for name in NOT_ON_RAY:
            if getattr(self, name):
                raise ConfigError(f'{name} is {getattr(self, name)!r}: it needs engine = "local"')
        self.tables_of(max(self.workers, 1))

    def tables_of(self, workers: int) -> list[int]:
        """How many tables each of some workers plays. Raises ConfigError if there are not enough."""
        least = max(len(self.seats), 1)
        if self.num_envs < workers * least:
            raise ConfigError(
                f"num_envs is {self.num_envs}, too few for {workers} workers: each needs a table"
                + (f" for each of seats, {self.seats}" if self.seats else "")
            )
        return [
            self.num_envs * (number + 1) // workers - self.num_envs * number // workers for number in range(workers)
        ]

    def resolve(self, game: Game | ModuleType | None = None) -> tuple[Game, Any]:
        """The game (or ``game``, a module of your own) and its settings; errors name what is wrong.

        Raises:
            ValueError: there is no such game, or it has no features for network "cards".
            SettingsError: a setting is unknown or makes no sense.
        """
        game = get_game(game or self.game)
        if self.network == "cards" and not has_features(game):
            raise ConfigError(f"network is 'cards', but {game.NAME} defines no features: use network = \"mlp\"")
        return game, make_settings(game, config.settings_of(self))

    def tables(self, game: Game, settings: Any) -> list[Any]:
        """The Settings of the tables: one of each number of seats.

        Raises:
            SettingsError, ConfigError: a number of seats makes no sense or stands twice.
        """
        if len(set(self.seats)) < len(self.seats):
            raise ConfigError(f"seats is {self.seats}: each number may stand once")
        values = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
        return [make_settings(game, {**values, "num_players": number}) for number in self.seats] or [settings]

    @property
    def agents(self) -> list[str]:
        """All agents that the config names, each once: code of plug-ins among them runs when a run starts."""
        warm = [self.warm_start] if self.warm_start else []
        return list(dict.fromkeys([*self.opponents, *self.eval_opponents, *warm]))

    @property
    def iterations(self) -> int:
        """Iterations needed for all decisions."""
        return -(-self.total_timesteps // (self.num_envs * self.n_steps))


def load_config(path: str | Path, overrides: Sequence[str] = ()) -> Config:
    """A config from a TOML file and overrides ``key=value``, such as ``ent_coef=0.1`` or ``settings.num_players=4``.

    Raises:
        ConfigError: the file cannot be read, a key is unknown (the nearest is suggested), or a value is wrong.
    """
    return _resolved(config.load(Config, path, overrides))


def make_config(values: Mapping[str, Any], overrides: Sequence[str] = ()) -> Config:
    """A config from plain values and overrides. Errors as ``load_config``."""
    return _resolved(config.make(Config, values, overrides))


def _resolved(found: Config) -> Config:
    found.resolve()
    return found


def documentation() -> str:
    """Every key, its default and meaning, one line each: a config in TOML."""
    return config.documentation(Config)
