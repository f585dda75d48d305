"""Policies as data: tensors in a safetensors file with a plain JSON header. Loading one never runs code.

The header says what the network is and what it plays. Everything in it is compared with the table, and the tensors'
names, shapes and types with those the network has, before anything is built from them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from auction_env.agents.base import AgentError
from auction_env.agents.learning.networks import ACTIVATIONS, NETWORKS, Shape, build_network, tensor_shapes
from auction_env.agents.learning.tensor_file import load_tensors, save_tensors
from torch import nn

from auction_env.core.limits import naming
from auction_env.core.version import __version__
from auction_env.engine.features import FeatureRows
from auction_env.engine.kernels import decision_size
from auction_env.evaluation.match import plain_settings
from auction_env.games import get_game
from auction_env.games.features import FeatureLayout
from auction_env.games.game import Game, ObservationField, make_settings

FORMAT = "auction_env.policy/2"
MAX_LAYERS, MAX_LAYER = 8, 1 << 14
# Settings of the table that need not be those of training; ``seats`` checks the first.
FREE_SETTINGS = {
    "mlp": ("num_players", "num_deals", "starting_chips"),
    "cards": ("num_players", "num_deals", "starting_chips", "observation"),
}


@dataclasses.dataclass(frozen=True)
class Policy:
    """An actor network and what it was made for.

    Attributes:
        actor: rows to logits.
        shape: of the network.
        seats: numbers of seats it plays.
        settings: the game's settings it was trained at, as plain data.
        temperature: by which logits are divided when it plays; 1 plays what was learned.
    """

    actor: nn.Module
    shape: Shape
    seats: tuple[int, ...]
    settings: dict[str, Any]
    temperature: float = 1.0


def network_shape(game: Game, settings: Any, kind: str, net_arch: Sequence[int], embedding: int) -> Shape:
    """The shape of a network for a table.

    Raises:
        ValueError: the kind is unknown, or the game has no features for it.
    """
    if kind not in NETWORKS:
        raise ValueError(f"network is {kind!r}: it must be one of {', '.join(NETWORKS)}")
    inputs = FeatureRows(game, settings).size if kind == "cards" else decision_size(game, settings)
    return Shape(kind, tuple(net_arch), embedding if kind == "cards" else 0, inputs, len(game.action_names(settings)))


def layout_of(game: Game, settings: Any, kind: str) -> FeatureLayout | None:
    """The layout of features, None for a network that reads none."""
    return game.feature_layout(settings) if kind == "cards" else None


def input_digest(game: Game, settings: Any, kind: str) -> str:
    """Digest of what the network's inputs mean (16 hex digits)."""
    if kind == "cards":
        layout = game.feature_layout(settings)
        groups: list[Any] = [_described(group) for group in (layout.own, layout.other, layout.option)]
        return _digest([game.NAME, game.VERSION, groups, list(layout.plain_actions)])
    fields = [field for field in game.observation_fields(settings) if not field.final_only]
    return _digest([game.NAME, game.VERSION, _described(tuple(fields))])


def action_digest(game: Game, settings: Any) -> str:
    """Digest of the table of actions (16 hex digits)."""
    return _digest([game.NAME, game.VERSION, list(game.action_names(settings))])


def _described(fields: tuple[ObservationField, ...]) -> list[Any]:
    return [[field.name, list(field.shape), field.fraction] for field in fields]


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def save_policy(path: Path, policy: Policy, game: Game, settings: Any) -> None:
    """Write a policy; beside first, then renamed into place."""
    header = {
        "format": FORMAT,
        "auction_env": __version__,
        "game": game.NAME,
        "game_version": game.VERSION,
        "settings": policy.settings,
        "seats": list(policy.seats),
        "network": policy.shape.kind,
        "net_arch": list(policy.shape.net_arch),
        "embedding": policy.shape.embedding,
        "activation": policy.shape.activation,
        "inputs": input_digest(game, settings, policy.shape.kind),
        "actions": action_digest(game, settings),
        "temperature": policy.temperature,
    }
    save_tensors(path, policy.actor.state_dict(), header)


def trained_at(path: Path) -> tuple[Game, Any]:
    """The game and the Settings that a policy was trained at. Raises AgentError as ``load_policy``."""
    header = load_tensors(path, FORMAT)[1]
    name, settings = header.get("game"), header.get("settings")
    with naming(AgentError, str(path), "names no game and settings of this version", (ValueError, TypeError)):
        game = get_game(name if isinstance(name, str) else repr(name))
        return game, make_settings(game, settings if isinstance(settings, dict) else {})


def load_policy(path: Path, game: Game, settings: Any) -> Policy:
    """A policy from a file of ``save_policy``, to play at a table.

    Raises:
        AgentError: the file is missing or damaged, or the policy plays another game, other settings or numbers of
            seats; the message names the file and what differs.
    """
    tensors, header = load_tensors(path, FORMAT)
    shape = _shape_of(path, header, game, settings)
    _check_game(path, header, game, settings, shape.kind)
    layout = layout_of(game, settings, shape.kind)
    wanted = tensor_shapes(shape, layout)
    found = {name: tuple(value.shape) for name, value in tensors.items()}
    if wanted != found or any(value.dtype != torch.float32 for value in tensors.values()):
        wrong = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
        name = wrong[0] if wrong else next(name for name, value in tensors.items() if value.dtype != torch.float32)
        raise AgentError(f"{path}: tensor {name!r} is {found.get(name)}, not float32 {wanted.get(name)}")
    actor = build_network(shape, layout, settings.num_players - 1)
    actor.load_state_dict(tensors)
    return Policy(actor, shape, tuple(header["seats"]), header["settings"], float(header["temperature"]))


def _shape_of(path: Path, header: dict[str, Any], game: Game, settings: Any) -> Shape:
    """The network's shape, every number in range."""
    kind, sizes, embedding = header.get("network"), header.get("net_arch"), header.get("embedding")
    activation = header.get("activation", "relu")  # before 0.2.0 there was no other
    if kind not in NETWORKS:
        raise AgentError(f"{path}: network is {kind!r}, but must be one of {', '.join(NETWORKS)}")
    if not isinstance(sizes, list) or len(sizes) > MAX_LAYERS or not all(_is_size(size) for size in sizes):
        raise AgentError(f"{path}: net_arch must list up to {MAX_LAYERS} sizes of layers, each 1 to {MAX_LAYER}")
    if kind == "cards" and (not sizes or not _is_size(embedding)):
        raise AgentError(f"{path}: embedding is {embedding!r}, but must be a size of a layer, and net_arch not empty")
    if activation not in (tuple(ACTIVATIONS) if kind == "mlp" else ("relu",)):
        raise AgentError(f"{path}: activation is {activation!r}, but must be one of {', '.join(ACTIVATIONS)}")
    temperature = header.get("temperature")
    if isinstance(temperature, bool) or not isinstance(temperature, (int, float)) or not 0.001 <= temperature <= 1000:
        raise AgentError(f"{path}: temperature is {temperature!r}, but must be a number from 0.001 to 1000")
    try:
        return dataclasses.replace(network_shape(game, settings, kind, sizes, embedding), activation=activation)
    except ValueError as error:
        raise AgentError(f"{path}: {error}") from error


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_LAYER


def _check_game(path: Path, header: dict[str, Any], game: Game, settings: Any, kind: str) -> None:
    """That game, seats, settings, inputs and actions are those of the table."""
    if header.get("game") != game.NAME:
        raise AgentError(f"{path} plays {header.get('game')!r}, not {game.NAME}")
    seats, trained = header.get("seats"), header.get("settings")
    if not isinstance(seats, list) or settings.num_players not in seats:
        raise AgentError(f"{path} was trained for {seats} seats, but this table has {settings.num_players}")
    if not isinstance(trained, dict):
        raise AgentError(f"{path} does not say which settings it was trained at")
    for name, value in plain_settings(settings).items():
        if name not in FREE_SETTINGS[kind] and trained.get(name) != value:
            raise AgentError(f"{path} was trained with {name} = {trained.get(name)!r}, but this table has {value!r}")
    expected = {"inputs": input_digest(game, settings, kind), "actions": action_digest(game, settings)}
    if header.get("game_version") != game.VERSION or any(header.get(key) != value for key, value in expected.items()):
        raise AgentError(
            f"{path} was made by auction_env {header.get('auction_env')!r}, which described {game.NAME} otherwise: "
            "train it anew"
        )
