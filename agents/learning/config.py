"""What a training run is told: one flat table of keys, read from TOML, with overrides from the command line."""

from __future__ import annotations

import dataclasses
import difflib
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

from auction_env.games import get_game
from auction_env.games.game import Game, make_settings


class ConfigError(ValueError):
    """A config key is unknown or its value makes no sense; the message names it and the fix."""


def _key(default: Any, meaning: str, low: float | None = None, high: float | None = None) -> Any:
    metadata = {"meaning": meaning, "low": low, "high": high}
    if isinstance(default, (list, dict)):
        return dataclasses.field(default_factory=lambda: type(default)(default), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


@dataclasses.dataclass
class Config:
    """All keys of a training config. Every key has a default; unknown keys are errors."""

    game: str = _key("auction_poker", "name of the game")
    settings: dict[str, Any] = _key({}, "the game's settings that differ from their defaults")
    run: str = _key("runs/auction_poker", "folder of the run; made new, refused if it holds a run already")
    seed: int = _key(0, "seed of everything: tables, network, sampling", 0, 2**31)
    # how much, how fast
    decisions: int = _key(2_000_000, "learner decisions in all", 1, 10**12)
    tables: int = _key(1024, "tables played at once", 1, 1 << 20)
    steps: int = _key(16, "learner decisions a table and iteration", 1, 1 << 16)
    threads: int = _key(0, "threads of the network; 0: all cores", 0, 1024)
    # the network and its updates (PPO)
    hidden: list[int] = _key([128, 128], "sizes of the hidden layers; actor and critic have their own")
    learning_rate: float = _key(1e-3, "Adam's step size at the start", 0, 1)
    learning_rate_end: float = _key(0.0, "and at the end; linear between", 0, 1)
    epochs: int = _key(2, "passes over each iteration's decisions", 1, 100)
    minibatch: int = _key(4096, "decisions in a gradient step", 1, 1 << 24)
    entropy: float = _key(0.03, "weight of the entropy bonus: 0 makes play predictable and learning brittle", 0, 10)
    clip: float = _key(0.2, "PPO's clipping range", 0, 10)
    gae_lambda: float = _key(0.95, "lambda of the advantage estimate; the discount is 1", 0, 1)
    value_weight: float = _key(0.5, "weight of the value loss", 0, 100)
    max_gradient: float = _key(0.5, "gradient norm is clipped to this", 0, 1e6)
    reward_scale: float = _key(0.05, "rewards are chips times this", 1e-9, 1e9)
    # opponents
    mixed: float = _key(0.2, "fraction of the deals with others than the present policy at the table", 0, 1)
    pool: int = _key(16, "snapshots of the policy kept to play against, spread evenly in log age", 0, 1000)
    snapshot_every: int = _key(5, "iterations between snapshots", 1, 10**9)
    seated: int = _key(4, "snapshots and agents seated in an iteration, drawn anew for each", 1, 1000)
    opponents: list[str] = _key(["random"], "agents in the pool besides the snapshots")
    # results
    average: float = _key(0.1, "averaged weights look back over this fraction of the iterations", 0, 1)
    evaluate_every: int = _key(10, "iterations between evaluations against random", 1, 10**9)
    evaluate_deals: int = _key(3000, "deals of such an evaluation", 2, 10**9)
    final_deals: int = _key(30_000, "deals of the evaluation at the end", 2, 10**9)
    checkpoint_every: int = _key(20, "iterations between checkpoints", 1, 10**9)

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            setattr(self, field.name, _checked(field, getattr(self, field.name)))
        if any(size < 1 or size > 1 << 14 for size in self.hidden):
            raise ConfigError(f"hidden is {self.hidden}: sizes of layers must be from 1 to {1 << 14}")
        if self.tables * self.steps % self.minibatch == 1 or self.minibatch == 1:
            raise ConfigError(
                f"minibatch is {self.minibatch}: of {self.tables * self.steps} decisions (tables x steps) it leaves a "
                "minibatch of one, whose advantage cannot be normalised; choose another size"
            )
        if not self.run.strip():
            raise ConfigError("run is empty: name the folder of the run")

    def resolve(self, game: Game | ModuleType | None = None) -> tuple[Game, Any]:
        """The game (or ``game``, a module of your own) and its settings; errors name what is wrong.

        Raises:
            ValueError: there is no such game.
            SettingsError: a setting is unknown or makes no sense.
        """
        game = get_game(game or self.game)
        return game, make_settings(game, {k: tuple(v) if isinstance(v, list) else v for k, v in self.settings.items()})

    @property
    def iterations(self) -> int:
        """Iterations needed for all decisions."""
        return -(-self.decisions // (self.tables * self.steps))


_TYPES = get_type_hints(Config)


def _checked(field: dataclasses.Field[Any], value: Any) -> Any:
    kind = _TYPES[field.name]
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    plain = kind if isinstance(kind, type) else kind.__origin__
    good = isinstance(value, plain) and not (isinstance(value, bool) and plain is not bool)
    if good and plain is list:
        good = all(isinstance(entry, kind.__args__[0]) and not isinstance(entry, bool) for entry in value)
    if not good:
        raise ConfigError(f"{field.name} is {value!r}: it must be {_type_words(kind)} ({field.metadata['meaning']})")
    low, high = field.metadata["low"], field.metadata["high"]
    if low is not None and not low <= value <= high:
        raise ConfigError(f"{field.name} is {value!r}: it must be from {low} to {high} ({field.metadata['meaning']})")
    return value


def _type_words(kind: Any) -> str:
    words = {int: "an integer", float: "a number", str: "text", bool: "true or false"}
    return words.get(kind) or {list[int]: "a list of integers", list[str]: "a list of texts"}.get(
        kind, "a table of keys"
    )


def load_config(path: str | Path, overrides: Sequence[str] = ()) -> Config:
    """A config from a TOML file and overrides ``key=value``, such as ``entropy=0.1`` or ``settings.num_players=4``.

    Raises:
        ConfigError: the file cannot be read, a key is unknown (the nearest is suggested), or a value is wrong.
    """
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"config {path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"config {path} is not TOML: {error}") from error
    return make_config(values, overrides)


def make_config(values: Mapping[str, Any], overrides: Sequence[str] = ()) -> Config:
    """A config from plain values and overrides. Errors as ``load_config``."""
    settings = values.get("settings", {})
    if not isinstance(settings, Mapping):
        raise ConfigError(f"settings is {settings!r}: it must be a table of keys, [settings]")
    merged: dict[str, Any] = {**values, "settings": dict(settings)}
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals:
            raise ConfigError(f"{override!r} is no override: write key=value")
        parent, _, name = key.rpartition(".")
        if parent not in ("", "settings"):
            raise ConfigError(f"there is no config key {key!r}: only 'settings' has keys of its own")
        (merged["settings"] if parent else merged)[name] = _parse(text)
    known = [field.name for field in dataclasses.fields(Config)]
    for key in merged:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(known)}"
            raise ConfigError(f"there is no config key {key!r}: {hint}")
    config = Config(**merged)
    config.resolve()
    return config


def _parse(text: str) -> Any:
    """A value as TOML writes it; what is not TOML is text, so that quotes may be left out."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def documentation() -> str:
    """Every key, its default and meaning: one line each."""
    return "\n".join(
        f"{field.name} = {_default(field)!r}  # {field.metadata['meaning']}" for field in dataclasses.fields(Config)
    )


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is dataclasses.MISSING:
        return field.default_factory()  # type: ignore[operator,misc]
    return field.default
