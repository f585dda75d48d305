"""Configs: a dataclass whose fields are keys, with meanings and ranges, read from TOML and from ``key=value`` texts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from auction_env.core.limits import LimitError, as_toml, naming, parse_value, read_toml, shorten, whole
from auction_env.core.names import hint

Kind = TypeVar("Kind")


class ConfigError(ValueError):
    """A config key is unknown or its value makes no sense; the message names it and the fix."""


def key(default: Any, meaning: str, low: float | None = None, high: float | None = None) -> Any:
    """A field of a config: its default, one sentence on it, and its range if it is a number."""
    metadata = {"meaning": meaning, "low": low, "high": high}
    if isinstance(default, (list, dict)):
        return dataclasses.field(default_factory=lambda: type(default)(default), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def check_keys(config: Any) -> None:
    """See that each value has its field's type and lies in its range; integers become floats where those are meant.

    Raises:
        ConfigError: naming the first key that is wrong.
    """
    kinds = get_type_hints(type(config))
    for field in dataclasses.fields(config):
        setattr(config, field.name, _checked(field, kinds[field.name], getattr(config, field.name)))


def _checked(field: dataclasses.Field[Any], kind: Any, value: Any) -> Any:
    if kind is int:
        value = whole(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    plain = kind if isinstance(kind, type) else kind.__origin__
    good = isinstance(value, plain) and not (isinstance(value, bool) and plain is not bool)
    if good and plain is list:
        wanted = (int, float) if kind.__args__[0] is float else kind.__args__[0]
        good = all(isinstance(entry, wanted) and not isinstance(entry, bool) for entry in value)
    if not good:
        raise ConfigError(
            f"{field.name} is {shorten(repr(value))}: it must be {_type_words(kind)} ({field.metadata['meaning']})"
        )
    low, high = field.metadata["low"], field.metadata["high"]
    if low is not None and not low <= value <= high:
        raise ConfigError(f"{field.name} is {value!r}: it must be from {low} to {high} ({field.metadata['meaning']})")
    return value


def _type_words(kind: Any) -> str:
    words = {int: "an integer", float: "a number", str: "text", bool: "true or false"}
    return words.get(kind) or {
        list[int]: "a list of integers",
        list[float]: "a list of numbers",
        list[str]: "a list of texts",
    }.get(kind, "a table of keys")


def load(kind: type[Kind], path: str | Path, overrides: Sequence[str] = ()) -> Kind:
    """A config from a TOML file and overrides ``key=value``, such as ``ent_coef=0.1`` or ``settings.num_players=4``.

    Raises:
        ConfigError: the file cannot be read, a key is unknown (the nearest is suggested), or a value is wrong.
    """
    with naming(ConfigError, f"config {path}", "is not TOML"):
        values = read_toml(path)
    return make(kind, values, overrides)


def make(kind: type[Kind], values: Mapping[str, Any], overrides: Sequence[str] = ()) -> Kind:
    """A config from plain values and overrides. Errors as ``load``."""
    settings = values.get("settings", {})
    if not isinstance(settings, Mapping):
        raise ConfigError(f"settings is {shorten(repr(settings))}: it must be a table of keys, [settings]")
    merged: dict[str, Any] = {**values, "settings": dict(settings)}
    for override in overrides:
        dotted, equals, text = (part.strip() for part in override.partition("="))
        if not equals:
            raise ConfigError(f"{shorten(override)!r} is no override: write key=value")
        parent, _, name = dotted.rpartition(".")
        if parent not in ("", "settings"):
            raise ConfigError(f"there is no config key {shorten(dotted)!r}: only 'settings' has keys of its own")
        try:
            (merged["settings"] if parent else merged)[name] = parse_value(text)
        except LimitError as error:
            raise ConfigError(f"{shorten(dotted)} is {shorten(text)}: {error}") from error
    known = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    for name in merged:
        if name not in known:
            raise ConfigError(f"there is no config key {shorten(name)!r}: {hint(name, known, 'keys')}")
    if isinstance(merged["settings"], dict):
        merged["settings"] = {name: whole(value) for name, value in merged["settings"].items()}
    return kind(**merged)


def documentation(kind: Any) -> str:
    """Every key, its default and meaning, one line each: a config in TOML."""
    return "\n".join(
        f"{field.name} = {as_toml(_default(field))}  # {field.metadata['meaning']}"
        for field in dataclasses.fields(kind)
    )


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is dataclasses.MISSING:
        return field.default_factory()  # type: ignore[misc,operator]
    return field.default


def settings_of(config: Any) -> dict[str, Any]:
    """The settings of a config's game, lists of TOML as tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in config.settings.items()}
