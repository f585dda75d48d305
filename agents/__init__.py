"""Agents: players found by name, one file each, plug-ins of others, and the learner that makes new ones.

An agent module defines ``make_agent(argument, game, settings, seed)``; its name is the module's. ``make("random", ..)``
or ``make("ppo:runs/x", ..)`` gives the agent: what follows the colon is its argument. Plug-ins: see ``make``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from auction_env.agents import plugins
from auction_env.agents.base import Agent, AgentError, StateAgent

from auction_env.core.limits import shorten
from auction_env.games.game import Game


@cache
def _built_in() -> dict[str, str]:
    """Name and first line of documentation of each agent in this package."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        loaded = importlib.import_module(f"{__name__}.{module.name}") if not module.ispkg else None
        if hasattr(loaded, "make_agent"):
            found[module.name] = (loaded.__doc__ or "").partition("\n")[0]
    return found


def available() -> dict[str, str]:
    """Name and a line on each agent of this package, and on each that an installed package brings (``plugins``)."""
    brought = {name: f"Plug-in {entry.value}." for name, entry in plugins.entry_points().items()}
    return {**brought, **_built_in()}


def make(spec: str, game: Game, settings: Any, seed: int = 0) -> Agent:
    """The agent that a text names, to play ``game`` with ``settings``; ``seed`` starts its own generator.

    The text is a name of ``available()``, ``package.module:attribute`` or a Python file, ``bots/bot.py`` or
    ``bots/bot.py:attribute``; each may be followed by a colon and an argument. A name of this package wins.

    Raises:
        AgentError: there is no such agent, it cannot play this game, or a plug-in failed; the message says why.
    """
    name, _, argument = spec.partition(":")
    if name in _built_in():
        agent: Agent = importlib.import_module(f"{__name__}.{name}").make_agent(argument, game, settings, seed)
    elif plugins.is_plugin(spec):
        agent = plugins.make(spec, game, settings, seed)
    else:
        raise AgentError(
            f"there is no agent {name!r}: the agents are {', '.join(sorted(available()))}; "
            "others are named as module:attribute or as a file, bot.py:attribute"
        )
    agent.name = spec
    return agent


def files(spec: str) -> list[Path | Traversable]:
    """The files that make the agent that a text names what it is: policies, and the sources of a plug-in.

    No code of a plug-in is run. Files that do not exist may be among them: ``make`` says what is missing. An agent of
    this package is its code, which the package's version stands for, and the files that its argument names.
    """
    name, _, argument = spec.partition(":")
    if name in _built_in():
        named = getattr(importlib.import_module(f"{__name__}.{name}"), "files", None)
        own = list(named(argument)) if named is not None else []
        return [*own, *(path for part in parts(spec) for path in files(part))]
    return [*plugins.files(spec)] if plugins.is_plugin(spec) else []


def bound_to(spec: str) -> dict[str, Any] | None:
    """The only game and settings that an agent of this package plays, ``{"game": ..., "settings": ...}``, or None.

    Raises:
        AgentError: its file cannot be read.
    """
    name, _, argument = spec.partition(":")
    named = getattr(importlib.import_module(f"{__name__}.{name}"), "bound_to", None) if name in _built_in() else None
    return dict(named(argument)) if named is not None else None


def parts(spec: str) -> list[str]:
    """The agents that an agent of this package is made of, as its module's ``parts(argument)`` says."""
    name, _, argument = spec.partition(":")
    named = getattr(importlib.import_module(f"{__name__}.{name}"), "parts", None) if name in _built_in() else None
    return list(named(argument)) if named is not None else []


def plugins_in(spec: str) -> list[str]:
    """The plug-ins that an agent is, or is made of: making it runs their code. ``process:COMMAND`` is one of them."""
    if spec.partition(":")[0] not in _built_in():
        return [spec] if plugins.is_plugin(spec) else []
    if getattr(importlib.import_module(f"{__name__}.{spec.partition(':')[0]}"), "RUNS_CODE", False):
        return [spec]
    return [found for part in parts(spec) for found in plugins_in(part)]


def check_trust(source: str, specs: Iterable[str], trust: bool) -> None:
    """See that a file names no plug-ins, unless whoever opens it trusts it.

    Args:
        source: what names the agents, for the message.
        specs: the agents that it names.
        trust: whether their code may run.

    Raises:
        AgentError: one is a plug-in, or is made of one, and that is not trusted.
    """
    found = [] if trust else [plugin for spec in specs for plugin in plugins_in(spec)]
    if found:
        raise AgentError(
            f"{source} names {shorten(found[0])!r}, code that is not of this package and would run with your rights: "
            "read it, and give --trust (trust=True in Python) if you trust it"
        )


__all__ = [
    "Agent",
    "AgentError",
    "StateAgent",
    "available",
    "bound_to",
    "check_trust",
    "files",
    "make",
    "parts",
    "plugins_in",
]
