"""Networks that play: what they read and what they give.

``CardNetwork`` reads the features of ``games.features``: one encoder shared by all other seats, one shared by all
options (a card of the row, cards to keep or to discard), and one scorer that gives each option its logit from what
the table is and what the hand would be with it (an action-in network: He et al. 2016, arXiv 1511.04636). Sums and
maxima over seats and options make it one function for any number of them (Zaheer et al. 2017, arXiv 1703.06114).

``MlpNetwork`` reads the flat observation of the seat.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import nn

from auction_env.games.features import FeatureLayout

NETWORKS = ("cards", "mlp")
ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "tanh": nn.Tanh}  # of the network "mlp"
SCORE_GAIN = 0.01  # of the last layers of an actor: play starts near uniform
OPTION_WEIGHT = 0.25  # of sums over options, which are many
NARROW = 8  # options that every row is read with; more are read only where there are more


@dataclasses.dataclass(frozen=True)
class Shape:
    """Sizes of a network: all that is needed to build it.

    Attributes:
        kind: "cards" or "mlp".
        net_arch: sizes of the hidden layers.
        embedding: size of the encodings of a seat and of an option; 0 for "mlp".
        inputs: entries of a row.
        num_actions: entries of the logits.
        activation: between the layers of "mlp"; "cards" has "relu".
    """

    kind: str
    net_arch: tuple[int, ...]
    embedding: int
    inputs: int
    num_actions: int
    activation: str = "relu"


class MlpNetwork(nn.Sequential):
    """Fully connected layers, from the observation to ``outputs`` numbers; between them one of ``ACTIVATIONS``."""

    def __init__(
        self, inputs: int, net_arch: Sequence[int], outputs: int, gain: float = SCORE_GAIN, activation: str = "relu"
    ) -> None:
        layers: list[nn.Module] = []
        for a, b in pairwise([inputs, *net_arch]):
            layers += [_linear(a, b, math.sqrt(2)), ACTIVATIONS[activation]()]
        super().__init__(*layers, _linear([inputs, *net_arch][-1], outputs, gain))


class Options(NamedTuple):
    """Options of some rows as the scorer takes them.

    Attributes:
        keys: of the first NARROW of each row, float32[B, NARROW or fewer, embedding].
        wide: int64[W], rows that have more.
        more: keys of the rest of those, float32[W, ., embedding].
        actions: of all options of each row, -1 where none may be chosen; float32[B, max_options].
    """

    keys: torch.Tensor
    wide: torch.Tensor
    more: torch.Tensor
    actions: torch.Tensor


class CardNetwork(nn.Module):
    """Logits of all actions, or a value, from rows of features; see the module.

    Args:
        layout: of the features.
        num_others: other seats that a row has room for.
        plain_actions: indices of the actions that are no options; each has a logit of its own.
        num_actions: of the game; 0 makes a critic, which gives one number a row.
        net_arch: sizes of the hidden layers of the trunk.
        embedding: size of the encodings of seats and options.
        oracle: of a critic: entries after the row, for each other seat, that say what it sees of itself. A network
            without them leaves what comes after the row alone.
    """

    def __init__(
        self,
        layout: FeatureLayout,
        num_others: int,
        num_actions: int,
        net_arch: Sequence[int],
        embedding: int,
        oracle: int = 0,
    ) -> None:
        super().__init__()
        self.oracle = oracle
        own, other, option = layout.sizes
        self.sizes, self.num_others, self.max_options = (own, other, option), num_others, layout.max_options
        self.num_actions = num_actions
        self.seat_encoder = _linear(other + oracle, embedding, math.sqrt(2))
        self.option_encoder = _linear(option, embedding, math.sqrt(2))
        sizes = [own + 4 * embedding, *net_arch]
        self.trunk = nn.ModuleList(_linear(a, b, math.sqrt(2)) for a, b in pairwise(sizes))
        if num_actions:
            self.register_buffer("plain_actions", torch.tensor(layout.plain_actions), persistent=False)
            self.plain_head = _linear(sizes[-1], len(layout.plain_actions), SCORE_GAIN)
            self.option_query = _linear(sizes[-1], embedding, 1.0)
            self.option_key = _linear(option, embedding, 1.0)
            self.option_score = _linear(embedding, 1, SCORE_GAIN)
        else:
            self.value_head = _linear(sizes[-1], 1, 1.0)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """float32[B, inputs] -> logits float32[B, num_actions], legal or not; or values float32[B, 1]."""
        return self.leave(*self.enter(rows))

    def enter(self, rows: torch.Tensor) -> tuple[torch.Tensor, Options]:
        """What the trunk's first layer gives, float32[B, net_arch[0]], and the options as ``leave`` takes them."""
        own, others, options, actions = self._split(rows)
        seats = torch.relu(self.seat_encoder(others)) * others[..., :1]
        total, most, keys = self._read_options(options, actions)
        return self._enter(own, torch.cat([seats.sum(1), seats.amax(1), total, most], 1)), keys

    def leave(self, latent: torch.Tensor, options: Options) -> torch.Tensor:
        """Logits or values from what ``enter`` gives."""
        for layer in self.trunk[1:]:
            latent = torch.relu(layer(latent))
        if not self.num_actions:
            return self.value_head(latent)
        return self._logits(latent, options)

    def _enter(self, own: torch.Tensor, pooled: torch.Tensor) -> torch.Tensor:
        """The trunk's first layer, in two parts: the features are not copied, and need no gradient."""
        layer: nn.Linear = self.trunk[0]  # type: ignore[assignment]
        ours, theirs = layer.weight.split([own.shape[1], pooled.shape[1]], 1)
        return torch.relu(torch.addmm(nn.functional.linear(own, ours, layer.bias), pooled, theirs.t()))

    def _split(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        own, other, option = self.sizes
        sizes = [own, self.num_others * other, self.max_options * option, self.max_options]
        parts = rows.split([*sizes, rows.shape[1] - sum(sizes)], 1)
        others = parts[1].view(-1, self.num_others, other)
        if self.oracle:
            others = torch.cat([others, parts[4].view(-1, self.num_others, self.oracle)], 2)
        return parts[0], others, parts[2].view(-1, self.max_options, option), parts[3]

    def _read_options(self, options: torch.Tensor, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, Options]:
        """Sum and maximum of the encodings of a row's options, and their keys; past NARROW only where there are any."""
        encoded, keys = self._encode(options[:, :NARROW])
        total, most = encoded.sum(1) * OPTION_WEIGHT, encoded.amax(1)
        wide, more = self._wide(options), keys[:0]
        if len(wide):
            encoded, more = self._encode(options[wide, NARROW:])
            total = total.index_add(0, wide, encoded.sum(1) * OPTION_WEIGHT)
            most = most.index_copy(0, wide, torch.maximum(most[wide], encoded.amax(1)))
        return total, most, Options(keys, wide, more, actions)

    def _encode(self, options: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Encodings of options and, of an actor, their keys; both layers with one reading of the options."""
        layers = (self.option_encoder, self.option_key) if self.num_actions else (self.option_encoder,)
        weight, bias = torch.cat([one.weight for one in layers]), torch.cat([one.bias for one in layers])
        flat = options.flatten(0, 1)  # a product of two matrices is quicker than many small ones
        found = nn.functional.linear(flat, weight, bias).unflatten(0, options.shape[:2])
        encoded, *keys = found.split(self.option_encoder.out_features, 2)
        return torch.relu(encoded) * options[..., :1], keys[0] if keys else found[..., :0]

    def _wide(self, options: torch.Tensor) -> torch.Tensor:
        """Rows with more than NARROW options; options are written from the first place on."""
        if self.max_options <= NARROW:
            return torch.empty(0, dtype=torch.int64)
        return options[:, NARROW, 0].nonzero()[:, 0]

    def _score(self, query: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        return self.option_score(torch.relu(query[:, None] + keys))[..., 0]

    def _logits(self, latent: torch.Tensor, options: Options) -> torch.Tensor:
        """Of plain actions from the head, of options from the scorer, at the places of their actions."""
        query, places = self.option_query(latent), options.actions.long()
        places = torch.where(places < 0, self.num_actions, places)  # a column past the last, dropped
        logits = latent.new_zeros(len(latent), self.num_actions + 1)
        logits = logits.index_copy(1, self.plain_actions, self.plain_head(latent))
        logits = logits.scatter_add(1, places[:, :NARROW], self._score(query, options.keys))
        wide = options.wide
        if len(wide):
            scores = self._score(query[wide], options.more)
            more = scores.new_zeros(len(wide), self.num_actions + 1).scatter_add(1, places[wide, NARROW:], scores)
            logits = logits.index_add(0, wide, more)
        return logits[:, : self.num_actions]


class SharedCritic(nn.Module):
    """Values from the encoders and the first layer of an actor, with layers of its own from there.

    Args:
        actor: whose layers are shared; they stay the actor's.
        net_arch: sizes of the hidden layers, the actor's first among them.
    """

    def __init__(self, actor: CardNetwork, net_arch: Sequence[int]) -> None:
        super().__init__()
        self._actor = (actor,)  # in a tuple, so that its weights are not counted twice
        self.layers = MlpNetwork(net_arch[0], net_arch[1:], 1, 1.0)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """float32[B, inputs] -> values float32[B, 1]."""
        return self.layers(self._actor[0].enter(rows)[0])

    def both(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits of the actor and values, from one reading of the rows."""
        latent, options = self._actor[0].enter(rows)
        return self._actor[0].leave(latent, options), self.layers(latent)


def _linear(inputs: int, outputs: int, gain: float) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


def build_network(
    shape: Shape, layout: FeatureLayout | None, num_others: int, critic: bool = False, oracle: bool = False
) -> nn.Module:
    """The network of a shape, its weights drawn by torch's generator.

    Args:
        shape: its sizes.
        layout: of the features, for "cards".
        num_others: other seats that a row has room for.
        critic: one number a row, not logits.
        oracle: the critic reads what the other seats see too, for "cards".

    Raises:
        ValueError: "cards" without features.
    """
    if shape.kind == "mlp":
        outputs, gain = (1, 1.0) if critic else (shape.num_actions, SCORE_GAIN)
        return MlpNetwork(shape.inputs, shape.net_arch, outputs, gain, shape.activation)
    if layout is None:
        raise ValueError('this game has no features: use network = "mlp"')
    hidden = layout.sizes[0] if critic and oracle else 0
    return CardNetwork(layout, num_others, 0 if critic else shape.num_actions, shape.net_arch, shape.embedding, hidden)


def build_towers(
    shape: Shape, layout: FeatureLayout | None, num_others: int, shared_critic: bool, oracle: bool
) -> tuple[nn.Module, nn.Module]:
    """An actor and its critic; with ``shared_critic`` that one reads the actor's first layer, where both can."""
    actor = build_network(shape, layout, num_others)
    if shared_critic and not oracle and isinstance(actor, CardNetwork):
        return actor, SharedCritic(actor, shape.net_arch)
    return actor, build_network(shape, layout, num_others, True, oracle)


def tensor_shapes(shape: Shape, layout: FeatureLayout | None) -> dict[str, tuple[int, ...]]:
    """Name and shape of each tensor of an actor, without building it."""
    if layout is None:
        sizes = [shape.inputs, *shape.net_arch, shape.num_actions]
        return _layers({f"{2 * place}": pair for place, pair in enumerate(pairwise(sizes))})
    own, other, option = layout.sizes
    size, last = shape.embedding, shape.net_arch[-1]
    trunk = pairwise([own + 4 * size, *shape.net_arch])
    return _layers(
        {
            "seat_encoder": (other, size),
            "option_encoder": (option, size),
            **{f"trunk.{place}": pair for place, pair in enumerate(trunk)},
            "plain_head": (last, len(layout.plain_actions)),
            "option_query": (last, size),
            "option_key": (option, size),
            "option_score": (size, 1),
        }
    )


def _layers(layers: dict[str, tuple[int, int]]) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for name, (inputs, outputs) in layers.items():
        found |= {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}
    return found
