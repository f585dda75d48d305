"""A policy network as data: weights in a safetensors file with a plain JSON header, loaded without running any code."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from auction_env.agents.base import Agent, AgentError
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn

from auction_env import __version__
from auction_env.engine.kernels import decision_size
from auction_env.games.game import Game

FORMAT = "auction_env.policy/1"
MAX_FILE_BYTES = 256 * 1024 * 1024
MAX_HEADER_BYTES = 1024 * 1024


def layout_digest(game: Game, settings: Any) -> str:
    """Digest of what an observation's decision-relevant entries mean."""
    pieces = [
        [piece.name, list(piece.shape), piece.fraction] for piece in game.pieces(settings) if not piece.final_only
    ]
    return _digest([game.NAME, game.VERSION, pieces])


def action_digest(game: Game, settings: Any) -> str:
    """Digest of the table of actions."""
    return _digest([game.NAME, game.VERSION, list(game.action_names(settings))])


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def describe_policy(game: Game, settings: Any, hidden: Sequence[int]) -> dict[str, Any]:
    """The header of a policy file: what it plays and how its inputs and outputs are laid out."""
    return {
        "format": FORMAT,
        "auction_env": __version__,
        "game": game.NAME,
        "game_version": game.VERSION,
        "num_players": settings.num_players,
        "observation_size": decision_size(game, settings),
        "observation_layout": layout_digest(game, settings),
        "num_actions": len(game.action_names(settings)),
        "action_table": action_digest(game, settings),
        "hidden": list(hidden),
    }


def build_actor(observation_size: int, hidden: Sequence[int], num_actions: int) -> nn.Sequential:
    """Fully connected layers with ReLU between them, from observation to action logits."""
    sizes = [observation_size, *hidden]
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], num_actions))


class NetworkAgent(Agent):
    """Plays an actor network: samples from its masked distribution, or takes the likeliest action if ``greedy``."""

    def __init__(self, actor: nn.Module, observation_size: int, seed: int = 0, greedy: bool = False) -> None:
        self.actor = actor.eval()
        self.observation_size = observation_size
        self.greedy = greedy
        self.generator = torch.Generator().manual_seed(seed)

    def act_batch(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See Agent."""
        return self._act(observations, masks, lambda: torch.rand((len(masks), 1), generator=self.generator))

    def act_seeded(self, observations: np.ndarray, masks: np.ndarray, words: np.ndarray) -> np.ndarray:
        """See Player: the upper 24 bits of a word are the random number of its row."""
        uniform = (words >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)
        return self._act(observations, masks, lambda: torch.from_numpy(uniform[:, None]))

    @torch.inference_mode()
    def _act(self, observations: np.ndarray, masks: np.ndarray, uniform: Callable[[], torch.Tensor]) -> np.ndarray:
        """Draw from the softmax of each row: one random number a row, where it falls in the summed probabilities."""
        logits = self._logits(observations, masks)
        if self.greedy:
            return logits.argmax(dim=1).numpy()
        reached = logits.softmax(dim=1).cumsum(dim=1)
        total = reached[:, -1:].contiguous()
        drawn = torch.minimum(uniform() * total, torch.nextafter(total, torch.zeros(1)))  # rounding must not reach it
        return torch.searchsorted(reached, drawn, right=True).squeeze(1).numpy()

    def _logits(self, observations: np.ndarray, masks: np.ndarray) -> torch.Tensor:
        logits = self.actor(torch.from_numpy(np.ascontiguousarray(observations[:, : self.observation_size])))
        return logits.masked_fill_(torch.from_numpy(masks) == 0, -torch.inf)

    def seed(self, seed: int) -> None:
        """See Agent."""
        self.generator.manual_seed(seed)

    def random_state(self) -> Any:
        """See Agent."""
        return self.generator.get_state().numpy().tobytes().hex()

    def set_random_state(self, state: Any) -> None:
        """See Agent."""
        self.generator.set_state(torch.frombuffer(bytearray.fromhex(state), dtype=torch.uint8))

    @torch.inference_mode()
    def probabilities(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Probability of each action, float32[B, actions], zero where illegal."""
        logits = self._logits(observations, masks)
        if self.greedy:
            return nn.functional.one_hot(logits.argmax(dim=1), logits.shape[1]).numpy().astype(np.float32)
        return logits.softmax(dim=1).numpy()


def save_tensors(path: Path, tensors: Mapping[str, torch.Tensor], header: Mapping[str, Any]) -> None:
    """Write tensors and a JSON header to one file: beside it first, then renamed into place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        save_file(
            {k: v.detach().contiguous().clone() for k, v in tensors.items()}, beside, {"json": json.dumps(header)}
        )
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def load_tensors(path: Path, file_format: str) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Tensors and header of a file that ``save_tensors`` wrote. Nothing in it can run code.

    Raises:
        AgentError: the file is missing, too large, truncated, of another format, or holds numbers that are not finite.
    """
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise AgentError(f"{path} is larger than {MAX_FILE_BYTES // 2**20} MiB: no policy of ours is")
        with open(path, "rb") as file:
            if int.from_bytes(file.read(8), "little") > MAX_HEADER_BYTES:
                raise AgentError(f"{path} is not a safetensors file of ours: its header is too large")
        with safe_open(path, "pt") as stored:
            header = json.loads((stored.metadata() or {}).get("json", "{}"))
            tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118 - not a dict
    except OSError as error:
        raise AgentError(f"{path} cannot be read: {error.strerror or error}") from error
    except (SafetensorError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise AgentError(f"{path} is damaged or not a safetensors file: {error}") from error
    if not isinstance(header, dict) or header.get("format") != file_format:
        found = header.get("format") if isinstance(header, dict) else header
        raise AgentError(f"{path} has format {found!r}: this version reads {file_format!r}")
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise AgentError(f"{path}: tensor {name!r} holds numbers that are not finite")
    return tensors, header


def save_policy(path: Path, actor: nn.Module, game: Game, settings: Any, hidden: Sequence[int]) -> None:
    """Write an actor network with the header that ``load_policy`` checks."""
    save_tensors(path, actor.state_dict(), describe_policy(game, settings, hidden))


def load_policy(path: Path, game: Game, settings: Any, seed: int = 0, greedy: bool = False) -> NetworkAgent:
    """An agent from a file of ``save_policy``.

    Raises:
        AgentError: the file is missing or damaged, or the network plays another game, layout or number of seats.
    """
    tensors, header = load_tensors(path, FORMAT)
    hidden = header.get("hidden")
    if not isinstance(hidden, list) or not all(isinstance(size, int) and 0 < size <= 1 << 16 for size in hidden):
        raise AgentError(f"{path}: hidden is {hidden!r}, but must list the sizes of the hidden layers")
    expected = describe_policy(game, settings, hidden)
    for key in ("game", "game_version", "num_players", "observation_layout", "num_actions", "action_table"):
        if header.get(key) != expected[key]:
            raise AgentError(f"{path} was made for {key} {header.get(key)!r}, but this table has {expected[key]!r}")
    actor = build_actor(expected["observation_size"], hidden, expected["num_actions"])
    wanted = {name: (tuple(value.shape), value.dtype) for name, value in actor.state_dict().items()}
    found = {name: (tuple(value.shape), value.dtype) for name, value in tensors.items()}
    if wanted != found:
        wrong = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
        raise AgentError(f"{path}: tensor {wrong[0]!r} is {found.get(wrong[0])}, not {wanted.get(wrong[0])}")
    actor.load_state_dict(tensors)
    return NetworkAgent(actor, expected["observation_size"], seed, greedy)
