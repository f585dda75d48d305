"""Plays a policy learned by self-play: ``ppo:RUN`` with a run's folder or a ``.safetensors`` file."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from auction_env.agents.base import Agent, AgentError

from auction_env.games.game import Game

MODEL_FILE = "model.safetensors"


def make_agent(argument: str, game: Game, settings: Any, seed: int) -> Agent:
    """``ppo:runs/x`` or ``ppo:some/model.safetensors``, at the temperature that its file says.

    ``ppo:runs/x?temperature=0.5`` plays at another one, ``?greedy`` takes the likeliest action always.
    """
    path, option = split_option(argument)
    if not path:
        raise AgentError("agent 'ppo' needs a run's folder or a policy file: ppo:runs/x")
    return play_policy(policy_file(path), game, settings, seed, _temperature(option))


def files(argument: str) -> list[Path]:
    """The policy file that ``make_agent`` loads; see ``agents.files``."""
    path, _ = split_option(argument)
    return [policy_file(path)] if path else []


def split_option(argument: str) -> tuple[str, str]:
    """Path and option of ``PATH?OPTION``; a path that is there may have question marks of its own."""
    if "?" not in argument or os.path.exists(argument):
        return argument, ""
    path, _, option = argument.rpartition("?")
    return path, option


def policy_file(path: str) -> Path:
    """The policy file that a path names: itself, or a run's model."""
    return Path(path) / MODEL_FILE if os.path.isdir(path) else Path(path)


def play_policy(file: Path, game: Game, settings: Any, seed: int, temperature: float | None = None) -> Agent:
    """An agent that plays a policy file; ``temperature`` None: as the file says. Raises AgentError."""
    try:
        from auction_env.agents.learning.network_agent import agent_of
        from auction_env.agents.learning.policy_file import load_policy
    except ImportError as error:
        raise AgentError(f"policies need torch and safetensors ({error}): pip install 'auction_env[train]'") from error
    policy = load_policy(file, game, settings)
    chosen = policy.temperature if temperature is None else temperature
    return agent_of(policy.actor, policy.shape, game, settings, seed, chosen)


def _temperature(option: str) -> float | None:
    """None for as the file says, 0 for greedy."""
    if not option:
        return None
    if option == "greedy":
        return 0.0
    name, _, text = option.partition("=")
    try:
        value = float(text) if name == "temperature" else math.nan
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1000:
        raise AgentError(
            f"agent 'ppo' has no option {option!r}: only '?greedy', and '?temperature=T', T from 0 (greedy) to 1000"
        )
    return value
