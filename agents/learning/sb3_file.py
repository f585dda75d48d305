"""Policies from and to the zip files of stable-baselines3 and sb3-contrib.

In: the weights of a stock ``MlpPolicy`` become a policy file. Out: a policy becomes a zip for ``MaskablePPO.load``.
A network "mlp" needs nothing but sb3-contrib there. A network "cards" reads features, on
``interfaces.feature_observation.FeatureObservation``, and is found in this module, so this package must be installed.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from auction_env.agents.base import AgentError
from auction_env.agents.learning.network_agent import CardAgent, MlpAgent
from auction_env.agents.learning.networks import ACTIVATIONS, CardNetwork, MlpNetwork, Shape, build_network
from auction_env.agents.learning.policy_file import MAX_LAYERS, Policy, layout_of
from auction_env.agents.learning.tensor_file import MAX_FILE_BYTES
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from auction_env.core.files import write_file
from auction_env.core.limits import LimitError, check_file, naming, parse_json, shorten
from auction_env.engine.features import FeatureRows
from auction_env.engine.kernels import decision_size, observation_size
from auction_env.evaluation.match import plain_settings
from auction_env.games import get_game
from auction_env.games.game import Game, make_settings

MAX_DATA_BYTES = 16 << 20  # of the zip's entry "data", plain JSON around pickles that stay unread
_LAYERS, _HEAD = "mlp_extractor.policy_net", "action_net"
_LAYER = re.compile(rf"{re.escape(_LAYERS)}\.(\d{{1,3}})\.weight")
_STOCK = re.compile(r"(mlp_extractor\.(policy|value)_net\.\d{1,3}|action_net|value_net)\.(weight|bias)")


# --- in -------------------------------------------------------------------------------------------------------------


def import_sb3(path: Path, game: Game, settings: Any, trust: bool = False) -> Policy:
    """The policy of a zip that PPO or MaskablePPO saved, with a stock ``MlpPolicy`` on flat observations of a game.

    The pickles in the zip are not opened, but for the weights, which torch reads as tensors alone (``weights_only``).

    Args:
        path: the zip.
        game, settings: what it plays; the zip does not say.
        trust: whether the file may be read at all: older versions of torch can be made to run code by it.

    Raises:
        AgentError: it is not trusted, no such zip, damaged, of another kind of policy, or of other sizes than the
            observation and actions of the game.
    """
    if not trust:
        raise AgentError(
            f"{path} holds pickles, which can be made to run code with your rights: "
            "give --trust (trust=True in Python) if you trust who made it"
        )
    damaged = (zipfile.BadZipFile, ValueError, RuntimeError, EOFError, KeyError, NotImplementedError)
    with naming(AgentError, str(path), "is damaged, or no zip of stable-baselines3", damaged):
        check_file(path, MAX_FILE_BYTES)
        with zipfile.ZipFile(path) as archive:
            data = parse_json(_entry(archive, "data", MAX_DATA_BYTES), MAX_DATA_BYTES)
            weights = _entry(archive, "policy.pth", MAX_FILE_BYTES)
        try:
            tensors = torch.load(io.BytesIO(weights), map_location="cpu", weights_only=True)
        except Exception as error:  # torch raises many kinds, UnpicklingError among them
            raise ValueError("its weights cannot be read") from error
    if not isinstance(tensors, Mapping) or not all(isinstance(value, torch.Tensor) for value in tensors.values()):
        raise AgentError(f"{path} is damaged: its weights are no tensors by name")
    layers = _policy_layers(path, tensors)
    activation = _activation(path, data)
    return _policy_of(path, layers, activation, game, settings)


def _entry(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """An entry of a zip, unpacked. Raises LimitError or KeyError."""
    if archive.getinfo(name).file_size > most:
        raise LimitError(f"its entry {name!r} is larger than {most} bytes")
    with archive.open(name) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise LimitError(f"its entry {name!r} is larger than {most} bytes")
    return content


def _policy_layers(path: Path, tensors: Mapping[str, torch.Tensor]) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Weight and bias of each layer from the observation to the logits. Raises AgentError if there is more to it."""
    strange = [name for name in tensors if not _STOCK.fullmatch(name)]
    if strange:
        raise AgentError(
            f"{path} holds a policy with {shorten(repr(strange[0]), 60)}: only a stock MlpPolicy is a policy file"
        )
    numbers = sorted(int(found[1]) for name in tensors if (found := _LAYER.fullmatch(name)))
    names = [*(f"{_LAYERS}.{number}" for number in numbers), _HEAD]
    with naming(AgentError, str(path), "lacks layers of its policy", (KeyError,)):
        layers = [(tensors[f"{name}.weight"], tensors[f"{name}.bias"]) for name in names]
    fit = all(
        weight.dim() == 2 and bias.shape == weight.shape[:1] and weight.dtype == bias.dtype == torch.float32
        for weight, bias in layers
    )
    if not fit or any(a.shape[0] != b.shape[1] for (a, _), (b, _) in pairwise(layers)) or len(layers) > MAX_LAYERS + 1:
        raise AgentError(f"{path}: its layers do not follow each other as up to {MAX_LAYERS} of float32, and a head")
    tensors_of_layers = [tensor for layer in layers for tensor in layer]
    if 4 * sum(tensor.numel() for tensor in tensors_of_layers) > MAX_FILE_BYTES:  # strides of 0 make any size of a byte
        raise AgentError(f"{path}: its layers are larger than a policy file may be, {MAX_FILE_BYTES >> 20} MiB")
    if not all(bool(torch.isfinite(tensor).all()) for tensor in tensors_of_layers):
        raise AgentError(f"{path}: its weights are not all finite")
    return layers


def _activation(path: Path, data: Any) -> str:
    """What lies between the layers, as the zip says in plain text beside its pickles."""
    arguments = data.get("policy_kwargs") if isinstance(data, dict) else None
    if not isinstance(arguments, dict):
        raise AgentError(f"{path} does not say what its policy was made with")
    text = str(arguments.get("activation_fn", "<class 'torch.nn.modules.activation.Tanh'>"))  # their default
    names = {f"<class 'torch.nn.modules.activation.{kind.__name__}'>": name for name, kind in ACTIVATIONS.items()}
    if text not in names:
        raise AgentError(
            f"{path} has {shorten(text, 80)} between its layers: it must be one of {', '.join(ACTIVATIONS)}"
        )
    return names[text]


def _policy_of(
    path: Path, layers: list[tuple[torch.Tensor, torch.Tensor]], activation: str, game: Game, settings: Any
) -> Policy:
    """A policy of layers that read all of an observation, or the part of it that decisions can depend on."""
    inputs, actions = layers[0][0].shape[1], layers[-1][0].shape[0]
    size, most = decision_size(game, settings), observation_size(game, settings)
    wanted = len(game.action_names(settings))
    if inputs not in (size, most) or actions != wanted:
        raise AgentError(
            f"{path} reads {inputs} entries and has {actions} actions, but {game.NAME} at these settings has {most} "
            f"entries ({size} before the end of a deal) and {wanted} actions: give the game and the settings that "
            "it was trained at; it must have read flat observations (flat=True)"
        )
    shape = Shape("mlp", tuple(len(bias) for _, bias in layers[:-1]), 0, size, actions, activation)
    actor = build_network(shape, None, settings.num_players - 1)
    with torch.no_grad():
        for layer, (weight, bias) in zip(_linear_layers(actor), layers, strict=True):
            layer.weight.copy_(weight[:, : layer.in_features])  # what is past it is 0 at every decision
            layer.bias.copy_(bias)
    return Policy(actor, shape, (settings.num_players,), plain_settings(settings))


def _linear_layers(network: Any) -> list[nn.Linear]:
    return [layer for layer in network if isinstance(layer, nn.Linear)]


# --- out ------------------------------------------------------------------------------------------------------------


class CardLogits(BaseFeaturesExtractor):
    """A network "cards" as sb3-contrib's policies take one: its logits are the features that they read.

    Args:
        observation_space: rows of features.
        game, settings: name and plain settings of the table.
        net_arch, embedding: sizes, see ``networks.Shape``.
    """

    def __init__(
        self, observation_space: spaces.Box, game: str, settings: dict[str, Any], net_arch: list[int], embedding: int
    ) -> None:
        module = get_game(game)
        made = make_settings(module, settings)
        actions = len(module.action_names(made))
        super().__init__(observation_space, actions)
        shape = Shape("cards", tuple(net_arch), embedding, observation_space.shape[0], actions)
        self.network = build_network(shape, layout_of(module, made, "cards"), made.num_players - 1)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """float32[B, size] -> float32[B, actions]."""
        return self.network(observations)


class _Spaces(gymnasium.Env[Any, Any]):
    """Spaces alone, to make a model with: nothing of an environment is kept in its zip."""

    def __init__(self, observation: spaces.Box, actions: int) -> None:
        self.observation_space, self.action_space = observation, spaces.Discrete(actions)


def export_sb3(path: Path, agent: MlpAgent | CardAgent, game: Game, settings: Any) -> None:
    """Write the network of an agent as a zip that ``sb3_contrib.MaskablePPO.load`` takes; beside first, then renamed.

    Loaded, it plays the same moves: on ``gymnasium.make(..., flat=True)``, or with a network "cards" on
    ``FeatureObservation`` of that. The temperature is in its weights. Its critic is new and has learned nothing.

    Raises:
        OSError: the file cannot be written.
    """
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(0)  # for the critic, so that the same policy gives the same zip
        model = (
            _card_model(agent, game, settings) if isinstance(agent, CardAgent) else _mlp_model(agent, game, settings)
        )
    buffer = io.BytesIO()
    model.save(buffer)
    write_file(path, buffer.getvalue())


def _mlp_model(agent: MlpAgent, game: Game, settings: Any) -> MaskablePPO:
    assert isinstance(agent.actor, MlpNetwork)
    layers = _linear_layers(agent.actor)
    kind = next((type(layer) for layer in agent.actor if not isinstance(layer, nn.Linear)), nn.ReLU)
    sizes = [layer.out_features for layer in layers[:-1]]
    box = spaces.Box(0.0, 1.0, (observation_size(game, settings),), np.float32)
    model = MaskablePPO(
        "MlpPolicy",
        _Spaces(box, layers[-1].out_features),
        policy_kwargs={"net_arch": {"pi": sizes, "vf": sizes}, "activation_fn": kind},
        device="cpu",
    )
    theirs = [*_linear_layers(model.policy.mlp_extractor.policy_net), model.policy.action_net]
    with torch.no_grad():
        for mine, other in zip(layers, theirs, strict=True):
            other.weight.zero_()[:, : mine.in_features] = mine.weight
            other.bias.copy_(mine.bias)
        _heat(theirs[-1], agent.temperature)
    return model


def _card_model(agent: CardAgent, game: Game, settings: Any) -> MaskablePPO:
    network = agent.actor
    assert isinstance(network, CardNetwork)
    sizes = [layer.out_features for layer in network.trunk]
    made_with = {
        "game": game.NAME,
        "settings": plain_settings(settings),
        "net_arch": sizes,
        "embedding": network.seat_encoder.out_features,
    }
    box = spaces.Box(-np.inf, np.inf, (FeatureRows(game, settings).size,), np.float32)
    model = MaskablePPO(
        "MlpPolicy",
        _Spaces(box, network.num_actions),
        policy_kwargs={
            "features_extractor_class": CardLogits,
            "features_extractor_kwargs": made_with,
            "net_arch": {"pi": [], "vf": sizes},
        },
        device="cpu",
    )
    model.policy.features_extractor.network.load_state_dict(network.state_dict())
    with torch.no_grad():
        nn.init.eye_(model.policy.action_net.weight)
        model.policy.action_net.bias.zero_()
        _heat(model.policy.action_net, agent.temperature)
    return model


def _heat(layer: nn.Linear, temperature: float) -> None:
    """Divide what a last layer gives by a temperature; 0, the likeliest always, is for ``deterministic=True``."""
    if temperature > 0:
        layer.weight.div_(temperature)
        layer.bias.div_(temperature)
