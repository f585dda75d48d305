"""Run folders: a new run, and going on with one."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from auction_env.agents.digests import content_digest
from auction_env.agents.learning.checkpoint import CHECKPOINT, provenance
from auction_env.agents.learning.config import Config, ConfigError, make_config
from auction_env.agents.learning.trainer import Trainer

from auction_env import agents
from auction_env.core.files import write_json
from auction_env.core.limits import MAX_TEXT_BYTES, read_json, reason, shorten
from auction_env.core.terminal import mention

RUN = "run.json"
# Keys that a resumed run may change: how long it goes on and how it is watched. All else is the run's own.
CHANGEABLE = frozenset(
    {"total_timesteps", "threads", "workers", "evaluate_every", "evaluate_deals", "final_deals", "checkpoint_every"}
)


def start_run(config: Config, say: Callable[[str], object] = mention) -> Trainer:
    """A new run in its folder, which belongs to it until ``run`` has ended.

    Raises:
        ConfigError: the folder holds a run already.
        FolderInUseError: another process works in it.
    """
    folder = Path(config.run)
    _check_new(folder)
    return begin(Trainer(config, folder, say))


def begin(trainer: Trainer) -> Trainer:
    """Take a trainer's folder for a new run, and say there what it is. Errors as ``start_run``."""
    trainer.claim()
    try:
        _check_new(trainer.folder)
        write_json(trainer.folder / RUN, {**_account(trainer), **provenance()})
    except BaseException:
        trainer.close()
        raise
    return trainer


def _check_new(folder: Path) -> None:
    if (folder / CHECKPOINT).exists():
        raise ConfigError(
            f"{folder} holds a run already: go on with --resume {shlex.quote(str(folder))}, or give another run=FOLDER"
        )


def resume_run(
    folder: Path, overrides: Sequence[str], say: Callable[[str], object] = mention, *, trust: bool = False
) -> Trainer:
    """Go on with a run where it stopped; overrides may change the keys of CHANGEABLE.

    Args:
        folder: of the run.
        overrides: texts ``key=value``.
        say: called with lines for people.
        trust: whether plug-ins that the run's config names may run.

    Raises:
        ConfigError, AgentError: there is no run to go on with, an override is not one of these, an opponent is not
            what it was, or a plug-in is not trusted.
        FolderInUseError: another process works in the folder.
    """
    stored = _stored(folder)
    try:
        own = make_config({**stored["config"], "run": str(folder)})
    except ConfigError as error:
        raise ConfigError(f"{folder / RUN}: {error}") from error
    agents.check_trust(str(folder / RUN), own.agents, trust)
    config = make_config(dataclasses.asdict(own), overrides)
    _check_keys(own, config)
    return go_on(Trainer(config, folder, say))


def go_on(trainer: Trainer) -> Trainer:
    """Take a trainer's folder and go on with the run in it. Errors as ``resume_run``."""
    folder = trainer.folder
    if not (folder / CHECKPOINT).exists():
        raise ConfigError(f"{folder} holds a run that came to no checkpoint: start it again with its config")
    trainer.claim()
    try:
        stored = _stored(folder)
        _check_same(folder, stored, _account(trainer))
        trainer.restore()
        write_json(folder / RUN, {**stored, **_account(trainer), "resumed": provenance()})
    except BaseException:
        trainer.close()
        raise
    return trainer


def _stored(folder: Path) -> dict[str, Any]:
    """What a folder says of its run. Raises ConfigError."""
    try:
        stored = read_json(folder / RUN, MAX_TEXT_BYTES)
        if not isinstance(stored, dict) or not isinstance(stored.get("config"), dict):
            raise ValueError(f"{RUN} is no account of a run")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{folder} holds no run to resume ({reason(error)})") from error
    return stored


def _account(trainer: Trainer) -> dict[str, Any]:
    """What a run is: its config, who it is a response to, and digests of the files behind the agents that it names."""
    config, rival = trainer.config, trainer.rival.name if trainer.rival is not None else None
    named = [*config.agents, *([rival] if rival is not None else [])]
    contents = {spec: content_digest(spec) for spec in named}
    return {"config": dataclasses.asdict(config), "rival": rival, "contents": contents}


def _check_same(folder: Path, stored: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """That a run is what it was, but for the keys that may change."""
    if stored.get("rival") != own["rival"]:
        raise ConfigError(
            f"{folder} holds a response to {shorten(stored.get('rival'))}, not to {own['rival']}: name another folder"
        )
    config = make_config(own["config"])
    _check_keys(make_config({**stored["config"], "run": config.run}), config)
    contents = stored.get("contents", {})
    for spec, digest in own["contents"].items():
        if isinstance(contents, dict) and contents.get(spec, digest) != digest:
            raise ConfigError(
                f"{spec} is another agent than when the run in {folder} began, its files have changed: put them back, "
                "or start a new run"
            )


def _check_keys(before: Config, now: Config) -> None:
    """That only keys of CHANGEABLE differ."""
    for field in dataclasses.fields(Config):
        if field.name not in CHANGEABLE and getattr(before, field.name) != getattr(now, field.name):
            raise ConfigError(
                f"{field.name} cannot change when a run is resumed: only {', '.join(sorted(CHANGEABLE))} can"
            )
