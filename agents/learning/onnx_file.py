"""Policies as ONNX models: observation and mask to masked logits, with what they mean in the model's metadata.

The graph is written operation by operation, so that it needs no exporter and stays readable. Its inputs are
``observation``, float32[batch, size], and ``action_mask``, int8[batch, actions]; its output ``logits``, float32[batch,
actions], is minus infinity where an action is not legal, and already divided by the policy's temperature: the softmax
of a row is what the policy plays by.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from auction_env.agents.learning.network_agent import CardAgent, MlpAgent
from auction_env.agents.learning.networks import OPTION_WEIGHT, CardNetwork, MlpNetwork
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from auction_env.core.files import write_file
from auction_env.core.version import __version__
from auction_env.engine.layout import describe_features, describe_observation
from auction_env.evaluation.match import plain_settings
from auction_env.games.game import Game

OPSET, IR_VERSION = 18, 8  # ONNX 1.13 and later: scatters that add, reductions over given axes
_OPERATIONS: dict[type[nn.Module], str] = {nn.ReLU: "Relu", nn.Tanh: "Tanh"}
INPUT, MASK, OUTPUT = "observation", "action_mask", "logits"
BATCH = "batch"


def export_onnx(
    path: Path, agent: MlpAgent | CardAgent, game: Game, settings: Any, source: str, digest: str = ""
) -> dict[str, str]:
    """Write the network of an agent as an ONNX model; beside first, then renamed into place.

    Args:
        path: the file.
        agent: plays a network, see ``network_agent.check_network``.
        game: the game.
        settings: the Settings it plays at.
        source: what the agent is called.
        digest: of the files that it was made of.

    Returns:
        the metadata of the model, all of it text, lists and tables in JSON: ``game``, ``game_version``, ``settings``,
        ``observation``, ``actions``, ``network``, ``temperature`` ("0": greedy), ``auction_env`` (the version),
        ``source``, ``source_digest``.

    Raises:
        OSError: the file cannot be written.
    """
    model = _model_of(agent, game, settings)
    layout = describe_features(agent.rows) if isinstance(agent, CardAgent) else describe_observation(game, settings)
    metadata = {
        "game": game.NAME,
        "game_version": str(game.VERSION),
        "settings": json.dumps(plain_settings(settings)),
        "observation": json.dumps(layout),
        "actions": json.dumps(list(game.action_names(settings))),
        "network": "cards" if isinstance(agent, CardAgent) else "mlp",
        "temperature": f"{agent.temperature:g}",
        "auction_env": __version__,
        "source": source,
        "source_digest": digest,
    }
    helper.set_model_props(model, metadata)
    onnx.checker.check_model(model, full_check=True)
    write_file(path, model.SerializeToString(deterministic=True))
    return metadata


def _model_of(agent: MlpAgent | CardAgent, game: Game, settings: Any) -> onnx.ModelProto:
    actions = len(game.action_names(settings))
    graph = _Graph()
    if isinstance(agent, CardAgent):
        assert isinstance(agent.actor, CardNetwork)
        size, logits = agent.rows.size, _card_network(graph, agent.actor)
    else:
        assert isinstance(agent.actor, MlpNetwork)
        size = describe_observation(game, settings)["size"]
        logits = _mlp(graph, agent.actor, graph.part(INPUT, 0, agent.observation_size))
    if agent.temperature not in (0, 1):
        logits = graph.add("Div", logits, graph.constant(np.float32(agent.temperature)))
    legal = graph.add("Cast", MASK, to=TensorProto.BOOL)
    graph.add("Where", legal, logits, graph.constant(np.float32(-np.inf)), output=OUTPUT)
    made = helper.make_graph(
        graph.nodes,
        f"{game.NAME}_policy",
        [
            helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, [BATCH, size]),
            helper.make_tensor_value_info(MASK, TensorProto.INT8, [BATCH, actions]),
        ],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [BATCH, actions])],
        graph.constants,
    )
    opset = helper.make_opsetid("", OPSET)
    return helper.make_model(
        made, opset_imports=[opset], ir_version=IR_VERSION, producer_name="auction_env", producer_version=__version__
    )


class _Graph:
    """Operations and constants of a model, each named by its number."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, value: Any) -> str:
        """A constant of a tensor, an array or a number."""
        array = value.detach().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
        return name

    def add(self, operation: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """An operation; the name of what it gives."""
        output = output or f"{operation.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, list(inputs), [output], **attributes))
        return output

    def part(self, value: str, start: int, stop: int, axis: int = 1) -> str:
        """Entries ``start`` to ``stop`` along an axis."""
        return self.add("Slice", value, *(self.constant(np.array([number])) for number in (start, stop, axis)))

    def linear(self, value: str, layer: Any, relu: bool = False) -> str:
        """A fully connected layer on the last axis; ``relu``: and what is negative made zero."""
        product = self.add("MatMul", value, self.constant(layer.weight.T))
        total = self.add("Add", product, self.constant(layer.bias))
        return self.add("Relu", total) if relu else total

    def over_lines(self, operation: str, value: str) -> str:
        """A sum or maximum over the second axis of three."""
        return self.add(operation, value, self.constant(np.array([1])), keepdims=0)


def _mlp(graph: _Graph, network: MlpNetwork, value: str) -> str:
    """As ``MlpNetwork``."""
    for layer in network:
        value = (
            graph.linear(value, layer) if isinstance(layer, nn.Linear) else graph.add(_OPERATIONS[type(layer)], value)
        )
    return value


def _card_network(graph: _Graph, network: CardNetwork) -> str:
    """As ``CardNetwork.forward``, all options read at once."""
    own, other, option = network.sizes
    seats, options, actions = network.num_others, network.max_options, network.num_actions
    ends = np.cumsum([0, own, seats * other, options * option, options]).tolist()
    parts = [graph.part(INPUT, start, stop) for start, stop in pairwise(ends)]
    others = graph.add("Reshape", parts[1], graph.constant(np.array([-1, seats, other])))
    lines = graph.add("Reshape", parts[2], graph.constant(np.array([-1, options, option])))

    latent = graph.add(
        "Concat",
        parts[0],
        *_pooled(graph, others, network.seat_encoder, 1.0),
        *_pooled(graph, lines, network.option_encoder, OPTION_WEIGHT),
        axis=1,
    )
    for layer in network.trunk:
        latent = graph.linear(latent, layer, relu=True)

    query = graph.add("Unsqueeze", graph.linear(latent, network.option_query), graph.constant(np.array([1])))
    key = graph.add("Relu", graph.add("Add", query, graph.linear(lines, network.option_key)))
    scores = graph.add("Squeeze", graph.linear(key, network.option_score), graph.constant(np.array([2])))
    logits = graph.linear(latent, _spread(network))
    chosen = graph.add("Cast", parts[3], to=TensorProto.INT64)
    absent = graph.add("Less", chosen, graph.constant(np.int64(0)))
    places = graph.add("Where", absent, graph.constant(np.int64(actions)), chosen)  # a column past the last, dropped
    logits = graph.add("ScatterElements", logits, places, scores, axis=1, reduction="add")
    return graph.part(logits, 0, actions)


def _pooled(graph: _Graph, lines: str, encoder: nn.Linear, weight: float) -> tuple[str, str]:
    """Weighed sum and maximum of the encodings of the lines that are there: their first entry is 1."""
    encoded = graph.add("Mul", graph.linear(lines, encoder, relu=True), graph.part(lines, 0, 1, axis=2))
    total = graph.over_lines("ReduceSum", encoded)
    return (
        graph.add("Mul", total, graph.constant(np.float32(weight))) if weight != 1 else total,
        graph.over_lines("ReduceMax", encoded),
    )


def _spread(network: CardNetwork) -> nn.Linear:
    """The head of plain actions as a layer that gives a logit to every action, 0 to the others, and one past them."""
    head, actions = network.plain_head, network.plain_actions
    assert isinstance(actions, torch.Tensor)
    layer = nn.Linear(head.in_features, network.num_actions + 1)
    with torch.no_grad():
        layer.weight.zero_().index_copy_(0, actions, head.weight)
        layer.bias.zero_().index_copy_(0, actions, head.bias)
    return layer
