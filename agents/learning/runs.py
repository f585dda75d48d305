"""Run folders: a new run, and going on with one."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from auction_env.agents.learning.checkpoint import CHECKPOINT, provenance
from auction_env.agents.learning.config import Config, ConfigError, make_config
from auction_env.agents.learning.trainer import Trainer

from auction_env.core.files import write_json

RUN = "run.json"
# Keys that a resumed run may change: how long it goes on and how it is watched. All else is the run's own.
CHANGEABLE = frozenset(
    {"total_timesteps", "threads", "evaluate_every", "evaluate_deals", "final_deals", "checkpoint_every"}
)


def start_run(config: Config, say: Callable[[str], None] = print) -> Trainer:
    """A new run in its folder. Raises ConfigError if the folder holds one already."""
    folder = Path(config.run)
    if (folder / CHECKPOINT).exists():
        raise ConfigError(f"{folder} holds a run already: go on with --resume {folder}, or give another run=FOLDER")
    trainer = Trainer(config, folder, say)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / RUN, {"config": dataclasses.asdict(config), **provenance()})
    return trainer


def resume_run(folder: Path, overrides: Sequence[str], say: Callable[[str], None] = print) -> Trainer:
    """Go on with a run where it stopped; overrides may change the keys of CHANGEABLE.

    Raises:
        ConfigError, AgentError: there is no run to go on with, or an override is not one of these.
    """
    try:
        stored = json.loads((folder / RUN).read_text(encoding="utf-8"))
        values = dict(stored["config"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigError(f"{folder} holds no run to resume ({error})") from error
    if not (folder / CHECKPOINT).exists():
        raise ConfigError(f"{folder} holds a run that came to no checkpoint: start it again with its config")
    own = make_config({**values, "run": str(folder)})
    config = make_config(dataclasses.asdict(own), overrides)
    for field in dataclasses.fields(Config):
        if field.name not in CHANGEABLE and getattr(config, field.name) != getattr(own, field.name):
            raise ConfigError(
                f"{field.name} cannot change when a run is resumed: only {', '.join(sorted(CHANGEABLE))} can"
            )
    trainer = Trainer(config, folder, say)
    trainer.restore()
    write_json(folder / RUN, {**stored, "config": dataclasses.asdict(config), "resumed": provenance()})
    return trainer
