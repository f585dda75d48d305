"""Agents: players found by name, one file each, and the learner that makes new ones.

An agent module defines ``make_agent(argument, game, settings, seed)``; its name is the module's. ``make("random", ..)``
or ``make("ppo:runs/x", ..)`` gives the agent: what follows the colon is its argument.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

from agents.base import Agent, AgentError, StateAgent
from auction_env.games.contract import Game


@cache
def available() -> dict[str, str]:
    """Name and first line of documentation of each agent in this package."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        loaded = importlib.import_module(f"{__name__}.{module.name}") if not module.ispkg else None
        if hasattr(loaded, "make_agent"):
            found[module.name] = (loaded.__doc__ or "").partition("\n")[0]
    return found


def make(spec: str, game: Game, settings: Any, seed: int = 0) -> Agent:
    """The agent that a text names, to play ``game`` with ``settings``; ``seed`` starts its own generator.

    Raises:
        AgentError: there is no such agent, or it cannot play this game; the message says why.
    """
    name, _, argument = spec.partition(":")
    if name not in available():
        raise AgentError(f"there is no agent {name!r}: the agents are {', '.join(sorted(available()))}")
    agent: Agent = importlib.import_module(f"{__name__}.{name}").make_agent(argument, game, settings, seed)
    agent.name = spec
    return agent


__all__ = ["Agent", "AgentError", "StateAgent", "available", "make"]
