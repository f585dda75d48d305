"""Agents of others: from a module, a file, or an installed package's entry points in the group ``auction_env.agents``.

What is named must be an Agent, a class of agents, or a function that makes one. Classes and functions are called with
those of ``argument``, ``game``, ``settings`` and ``seed`` that they have parameters for. A file named without an
attribute defines ``make_agent`` or one class of agents. Loading an agent runs its code: name only what you trust.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import re
import sys
from importlib import machinery
from importlib.metadata import EntryPoint
from importlib.metadata import entry_points as installed
from pathlib import Path
from types import ModuleType
from typing import Any

from auction_env.agents.base import Agent, AgentError

from auction_env.games.game import Game

GROUP = "auction_env.agents"
_FILE = re.compile(r"(?P<path>.+?\.py)(:(?P<attribute>\w*))?(:(?P<argument>.*))?")
_MODULE = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<attribute>[A-Za-z_][\w.]*)(:(?P<argument>.*))?")


def entry_points() -> dict[str, EntryPoint]:
    """The agents that installed packages bring, by name."""
    return {entry.name: entry for entry in installed(group=GROUP)}


def is_plugin(spec: str) -> bool:
    """Whether a text has the form of a plug-in, or is the name of an installed one."""
    return bool(spec.partition(":")[0] in entry_points() or _FILE.fullmatch(spec) or _MODULE.fullmatch(spec))


def make(spec: str, game: Game, settings: Any, seed: int) -> Agent:
    """The agent of a plug-in. Raises AgentError: it names the plug-in and what went wrong."""
    try:
        found, argument = _load(spec)
        return _agent_of(found, {"argument": argument, "game": game, "settings": settings, "seed": seed})
    except AgentError as error:
        raise AgentError(f"plug-in agent {spec!r}: {error}") from error
    except (Exception, SystemExit) as error:  # or a plug-in could end the program, its status 0
        raise AgentError(f"plug-in agent {spec!r} failed: {type(error).__name__}: {error}") from error


def _load(spec: str) -> tuple[Any, str]:
    """What a text names, and the argument for it."""
    name, _, argument = spec.partition(":")
    if entry := entry_points().get(name):
        return entry.load(), argument
    if match := _FILE.fullmatch(spec):
        module = _load_file(Path(match["path"]))
        found = _attribute(module, match["attribute"]) if match["attribute"] else _only_agent(module)
        return found, match["argument"] or ""
    match = _MODULE.fullmatch(spec)
    assert match is not None
    return _attribute(importlib.import_module(match["module"]), match["attribute"]), match["argument"] or ""


def files(spec: str) -> list[Path]:
    """The sources of a plug-in, found without running its code, and the file that its argument names, if it does.

    A plug-in in a package is all source files and compiled modules of that package; one in a file is that file.
    """
    name, _, argument = spec.partition(":")
    if entry := entry_points().get(name):
        found = _sources(entry.module)
    elif match := _FILE.fullmatch(spec):
        found, argument = [Path(match["path"])], match["argument"] or ""
    elif match := _MODULE.fullmatch(spec):
        found, argument = _sources(match["module"]), match["argument"] or ""
    else:
        return []
    return [*found, *([Path(argument)] if os.path.isfile(argument) else [])]


def _sources(module: str) -> list[Path]:
    """The files of the top-level package or module that a module belongs to."""
    top = module.partition(".")[0]
    if top == __name__.partition(".")[0]:
        return []
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return []
    suffixes = (*machinery.SOURCE_SUFFIXES, *machinery.EXTENSION_SUFFIXES)
    inside = [path for folder in spec.submodule_search_locations or () for path in Path(folder).rglob("*")]
    return sorted(path for path in inside if path.name.endswith(suffixes)) or [Path(spec.origin or "")]


def _load_file(path: Path) -> ModuleType:
    """A Python file as a module; the same file, unchanged, is run once."""
    if not path.is_file():
        raise AgentError(f"there is no file {path}")
    digest = hashlib.sha256(str(path.resolve()).encode() + path.read_bytes()).hexdigest()[:16]
    name = f"auction_env_agent_{path.stem}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # before it runs: dataclasses look themselves up there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _attribute(module: ModuleType, path: str) -> Any:
    found: Any = module
    for name in path.split("."):
        if not hasattr(found, name):
            raise AgentError(f"{module.__name__} has no {path}")
        found = getattr(found, name)
    return found


def _only_agent(module: ModuleType) -> Any:
    """``make_agent`` of a file, or its only class of agents."""
    if hasattr(module, "make_agent"):
        return module.make_agent
    classes = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and issubclass(value, Agent) and value.__module__ == module.__name__
    ]
    if len(classes) != 1:
        names = ", ".join(value.__name__ for value in classes) or "none"
        raise AgentError(f"the file has no make_agent and not one class of agents but {names}: name one, bot.py:NAME")
    return classes[0]


def _agent_of(found: Any, offered: dict[str, Any]) -> Agent:
    """The agent that an object is, or makes from what is offered."""
    agent = found if isinstance(found, Agent) else _made_by(found, offered)
    if agent is found and offered["argument"]:
        raise AgentError(f"it takes no argument, but {offered['argument']!r} is given")
    if not isinstance(agent, Agent):
        raise AgentError(f"it made {_kind(agent)}, which does not derive from agents.Agent")
    agent.seed(offered["seed"])
    return agent


def _made_by(maker: Any, offered: dict[str, Any]) -> Any:
    """What a class or function gives, called with what it has parameters for."""
    if not callable(maker):
        raise AgentError(f"it is {_kind(maker)}, not an agent, nor a class or function that makes one")
    parameters = inspect.signature(maker).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return maker(**offered)
    taken = {parameter.name for parameter in parameters}
    if offered["argument"] and "argument" not in taken:
        raise AgentError(f"it takes no argument, but {offered['argument']!r} is given")
    return maker(**{name: value for name, value in offered.items() if name in taken})


def _kind(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
