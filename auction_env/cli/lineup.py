"""What commands share in which named agents play each other: the table, the agents, processes, a progress bar."""

from __future__ import annotations

import contextlib
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from auction_env.cli.arguments import parse_settings
from auction_env.core.limits import MAX_TEXT_BYTES, read_json, reason
from auction_env.core.processes import usable_workers
from auction_env.core.terminal import complain, progress_bar


def workers(options: Namespace) -> Any:
    """Who plays: as many processes as ``--workers`` says, or one for each core; or a cluster (``ray:ADDRESS``)."""
    if isinstance(options.workers, str):
        from auction_env.evaluation.ray_workers import RayWorkers

        return RayWorkers(options.workers.partition(":")[2] or None)
    return usable_workers(options.workers, lambda line: complain(options.program, line))


def maker() -> Any:
    """What makes an agent of its text."""
    from auction_env import agents

    return agents.make


def digester() -> Callable[[str], str]:
    """What gives the digest of the files behind an agent."""
    from auction_env.agents.digests import content_digest

    return content_digest


def contents_of(specs: Sequence[str]) -> tuple[str, ...]:
    """Digests of the files behind some agents."""
    return tuple(digester()(spec) for spec in specs)


def table(options: Namespace, agents: Sequence[str], seats: int | None) -> tuple[Any, Any]:
    """The game and its settings: as named, or those that the first run among the agents was trained with."""
    from auction_env.agents.learning.config import make_config

    return make_config(table_of(agents, options.game), overrides(options, seats)).resolve()


def overrides(options: Namespace, seats: int | None) -> list[str]:
    """Settings as overrides of a config; those of ``--set`` come last."""
    given = [] if seats is None else [f"settings.num_players={seats}"]
    parse_settings(options.set)  # refuses what is no key=value
    return [*given, *(f"settings.{text.strip()}" for text in options.set)]


def table_of(specs: Sequence[str], game: str | None) -> dict[str, Any]:
    """Game and settings: those that the first run among the agents was trained with, unless another game is named."""
    from auction_env.agents.ppo import split_option

    for spec in specs:
        stored = Path(split_option(spec.partition(":")[2])[0]) / "run.json"
        if spec.startswith("ppo:") and stored.is_file():
            config = _stored_config(stored)
            if game in (None, config.get("game")):
                return {key: config[key] for key in ("game", "settings") if key in config}
    return {"game": game or "auction_poker"}


def _stored_config(path: Path) -> dict[str, Any]:
    """The config in a run's ``run.json``; ValueError naming the file if there is none."""
    try:
        return {**read_json(path, MAX_TEXT_BYTES).get("config", {})}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise ValueError(f"{path} is no account of a run: {reason(error)}") from error


@contextlib.contextmanager
def deals_bar() -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on a terminal, no wider than it, if tqdm is installed."""
    try:
        shown = progress_bar(unit=" deals", disable=None, leave=False, unit_scale=True)
    except ImportError:
        yield None
        return
    with shown as bar:

        def update(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield update
