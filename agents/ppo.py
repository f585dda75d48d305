"""Plays a policy learned by self-play: ``ppo:RUN`` with a run's folder or a ``.safetensors`` file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from auction_env.agents.base import Agent, AgentError

from auction_env.games.game import Game

MODEL_FILE = "model.safetensors"


def make_agent(argument: str, game: Game, settings: Any, seed: int) -> Agent:
    """``ppo:runs/x`` or ``ppo:some/model.safetensors``; ``ppo:runs/x?greedy`` takes the likeliest action always."""
    path, _, option = argument.partition("?")
    if not path:
        raise AgentError("agent 'ppo' needs a run's folder or a policy file: ppo:runs/x")
    if option not in ("", "greedy"):
        raise AgentError(f"agent 'ppo' has no option {option!r}: only '?greedy', to take the likeliest action always")
    try:
        from auction_env.agents.learning.network import load_policy
    except ImportError as error:
        raise AgentError(f"agent 'ppo' needs torch and safetensors ({error}): install auction_env[train]") from error
    file = Path(path)
    if file.is_dir():
        file = file / MODEL_FILE
    return load_policy(file, game, settings, seed, greedy=option == "greedy")
