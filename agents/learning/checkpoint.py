"""A run on disk: the checkpoint that it goes on from, and where a result came from.

A checkpoint is one file of tensors with a JSON header: weights (last, averaged, best, magnet, snapshots), the
optimiser, the tables, and the state of every generator. A run that is stopped and resumed comes to the weights of one
never stopped, on the same machine with the same number of threads.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from auction_env.agents.base import Agent, AgentError
from auction_env.agents.learning.config import ConfigError
from auction_env.agents.learning.evaluation import Point, plain_points, read_points
from auction_env.agents.learning.imitation import Imitated
from auction_env.agents.learning.tensor_file import load_tensors, save_tensors
from torch import nn

from auction_env.core.limits import reason, shorten
from auction_env.core.provenance import provenance as core_provenance

if TYPE_CHECKING:
    from auction_env.agents.learning.trainer import Trainer

FORMAT = "auction_env.checkpoint/2"
CHECKPOINT = "checkpoint.safetensors"
MAX_BYTES = 16 * 2**30
_MOMENTS = ("step", "exp_avg", "exp_avg_sq")
_PACKAGES = ("numpy", "numba", "gymnasium", "pettingzoo", "stable-baselines3", "sb3-contrib", "torch", "ray")


def save(trainer: Trainer, seconds: float) -> None:
    """Write everything a run needs to go on; beside first, then renamed into place."""
    model, numpy_state = trainer.model, np.random.get_state(legacy=False)
    optimizer = model.policy.optimizer.state_dict()["state"]
    tensors: dict[str, torch.Tensor] = {
        **_named("policy", model.policy.state_dict()),
        **_named("average", trainer.average.state_dict()),
        **_named("best", trainer.best.state_dict()),
        **_named("magnet", model.magnet.state_dict() if model.magnet is not None else {}),
        **{f"optimizer.{index}.{name}": value for index, entry in optimizer.items() for name, value in entry.items()},
        **{f"env.{name}": torch.from_numpy(value) for name, value in trainer.env.get_state().items()},
        "random.torch": torch.get_rng_state(),
        "random.numpy": torch.from_numpy(numpy_state["state"]["key"].astype(np.int64)),  # type: ignore[index,call-overload]
    }
    networks = _networks(trainer)
    for number, agent in enumerate(networks):
        tensors |= _named(f"snapshot.{number}", agent.actor.state_dict())
    header = {
        "format": FORMAT,
        "timesteps": model.num_timesteps,
        "updates": model._n_updates,
        "iteration": trainer.iteration,
        "seconds": seconds,
        "best_score": trainer.best_score if np.isfinite(trainer.best_score) else None,
        "imitated": dataclasses.asdict(trainer.imitated) if trainer.imitated else None,
        "curve": plain_points(trainer.curve),
        "pool": [
            [_place(agent, networks), taken, trainer.pool.gains.get(id(agent))]
            for agent, taken in zip(trainer.pool.snapshots, trainer.pool.taken, strict=True)
        ],
        "gains": [trainer.pool.gains.get(id(agent)) for agent in trainer.pool.agents],
        "seated": {number: _seated(trainer, agent, networks) for number, agent in trainer.env.agents.items()},
        "chances": [agent.random_state() for agent in networks],
        "named_chances": [agent.random_state() for agent in _others(trainer)],
        "random": {
            "numpy_position": int(numpy_state["state"]["pos"]),  # type: ignore[index,call-overload]
            "seating": trainer.env.rng.bit_generator.state,
        },
    }
    save_tensors(trainer.folder / CHECKPOINT, tensors, header)


def restore(trainer: Trainer) -> None:
    """Go on from the folder's checkpoint: weights, optimiser, tables, opponents, random states, schedules.

    All of it is read and checked first: after an error the trainer, and the generators of torch and numpy, are what
    they were.

    Raises:
        AgentError: there is no checkpoint, or it is damaged.
        ConfigError: it was made by a config of another shape, or holds what no run comes to.
    """
    path = trainer.folder / CHECKPOINT
    tensors, header = load_tensors(path, FORMAT, MAX_BYTES)
    others = _others(trainer)
    before = [agent.random_state() for agent in others]
    try:
        found = _read(trainer, tensors, header)
        for agent, chance in zip(others, header["named_chances"], strict=True):
            agent.set_random_state(chance)
        trainer.env.set_state({name: value.numpy() for name, value in _part(tensors, "env.").items()}, found.seated)
    except AgentError:
        raise
    except Exception as error:  # of torch, numpy, json's types and the agents: the file is at fault
        for agent, chance in zip(others, before, strict=True):
            agent.set_random_state(chance)
        raise ConfigError(f"{path} does not fit this config, or is damaged: {reason(error)}") from error
    _apply(trainer, found)


@dataclasses.dataclass(frozen=True)
class _Found:
    """What a checkpoint holds, every part checked against the trainer that is to take it."""

    weights: list[tuple[nn.Module, dict[str, torch.Tensor]]]
    optimizer: dict[str, Any]
    timesteps: int
    updates: int
    iteration: int
    seconds: float
    best_score: float
    imitated: Imitated | None
    curve: list[Point]
    snapshots: list[Any]
    taken: list[int]
    gains: dict[int, float]
    seated: dict[int, Agent]
    torch_state: torch.Tensor
    numpy_state: tuple[str, np.ndarray, int, int, float]
    seating: Any


def _read(trainer: Trainer, tensors: Mapping[str, torch.Tensor], header: Mapping[str, Any]) -> _Found:
    """Read a checkpoint; nothing of the trainer changes. Raises many kinds of errors where something does not fit."""
    model = trainer.model
    networks = {"policy": model.policy, "average": trainer.average, "best": trainer.best}
    if model.magnet is not None:
        networks["magnet"] = model.magnet
    snapshots: list[Any] = []
    for number, chance in enumerate(_listed(header, "chances")):
        agent = trainer.agent(copy.deepcopy(trainer.actor))
        actor = agent.actor  # type: ignore[attr-defined]
        actor.load_state_dict(_fitting(actor, tensors, f"snapshot.{number}"))
        agent.set_random_state(chance)
        snapshots.append(agent)
    pool = [(_index(place, snapshots), _count(taken), gain) for place, taken, gain in _listed(header, "pool")]
    gains = [*((snapshots[place], gain) for place, _, gain in pool)]
    gains += [*zip(trainer.pool.agents, _listed(header, "gains"), strict=True)]
    kinds = {"snapshot": snapshots, "named": _others(trainer)}
    best_score, imitated = header["best_score"], header["imitated"]
    return _Found(
        weights=[(network, _fitting(network, tensors, name)) for name, network in networks.items()],
        optimizer=_optimizer_state(model.policy.optimizer, tensors),
        timesteps=_count(header["timesteps"]),
        updates=_count(header["updates"]),
        iteration=_count(header["iteration"]),
        seconds=_finite(header["seconds"]),
        best_score=-np.inf if best_score is None else _finite(best_score),
        imitated=Imitated(_count(imitated.pop("timesteps")), **_all_finite(imitated)) if imitated else None,
        curve=read_points(_listed(header, "curve")),
        snapshots=[snapshots[place] for place, _, _ in pool],
        taken=[taken for _, taken, _ in pool],
        gains={id(agent): _finite(gain) for agent, gain in gains if gain is not None},
        seated={int(n): kinds[kind][_index(place, kinds[kind])] for n, (kind, place) in header["seated"].items()},
        **_chance(tensors, header["random"]),
    )


def _chance(tensors: Mapping[str, torch.Tensor], states: Mapping[str, Any]) -> dict[str, Any]:
    """The states of the generators, each tried on one of its kind: numpy's would read anywhere in memory."""
    torch.Generator().set_state(tensors["random.torch"])
    key, position = tensors["random.numpy"].numpy(), _count(states["numpy_position"])
    if key.shape != (624,) or key.dtype != np.int64 or key.min() < 0 or key.max() >= 1 << 32 or position > len(key):
        raise ValueError("the state of numpy's generator is none")
    numpy_state = ("MT19937", key.astype(np.uint32), position, 0, 0.0)
    np.random.RandomState().set_state(numpy_state)
    np.random.default_rng().bit_generator.state = states["seating"]
    return {"torch_state": tensors["random.torch"], "numpy_state": numpy_state, "seating": states["seating"]}


def _fitting(network: nn.Module, tensors: Mapping[str, torch.Tensor], name: str) -> dict[str, torch.Tensor]:
    """The weights of a network, of the very names, shapes and types that it has."""
    found, own = _part(tensors, f"{name}."), network.state_dict()
    wrong = sorted(found.keys() ^ own.keys()) or [key for key in own if not _alike(found[key], own[key])]
    if wrong:
        raise ValueError(f"{name}.{wrong[0]} is not a tensor of this network")
    return found


def _alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype


def _optimizer_state(optimizer: torch.optim.Optimizer, tensors: Mapping[str, torch.Tensor]) -> dict[str, Any]:
    """Adam's moments, of the shapes of the weights in their order; none before the first update."""
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in _part(tensors, "optimizer.").items():
        index, _, key = name.partition(".")
        shape = torch.Size([]) if key == "step" else weights[_index(int(index), weights)].shape
        least = 0.0 if key in ("step", "exp_avg_sq") else -np.inf
        good = key in _MOMENTS and value.shape == shape and value.dtype == torch.float32
        if not good or bool((value < least).any()):
            raise ValueError(f"optimizer.{name} is not a moment of this network's weights")
        state.setdefault(int(index), {})[key] = value
    if state and (len(state) < len(weights) or any(len(entry) < len(_MOMENTS) for entry in state.values())):
        raise ValueError("moments of the optimiser are missing")
    return {**optimizer.state_dict(), "state": state}


def _apply(trainer: Trainer, found: _Found) -> None:
    """Take what was found; nothing here fails."""
    model, pool = trainer.model, trainer.pool
    for network, weights in found.weights:
        network.load_state_dict(weights)
    model.policy.optimizer.load_state_dict(found.optimizer)
    model.num_timesteps, model._n_updates = found.timesteps, found.updates
    trainer.iteration, trainer.seconds = found.iteration, found.seconds
    trainer.best_score, trainer.imitated, trainer.curve = found.best_score, found.imitated, found.curve
    pool.snapshots, pool.taken, pool.gains = found.snapshots, found.taken, found.gains
    model._last_obs = trainer.env.observe()
    model._last_episode_starts = np.zeros(trainer.env.num_envs, np.bool_)
    torch.set_rng_state(found.torch_state)
    np.random.set_state(found.numpy_state)
    trainer.env.rng.bit_generator.state = found.seating


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 60:
        raise ValueError(f"{shorten(repr(value))} is no count")
    return value


def _index(value: Any, among: Sequence[Any]) -> int:
    if _count(value) >= len(among):
        raise ValueError(f"{value} is beyond the {len(among)} that there are")
    return int(value)


def _finite(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(float(value)):
        raise ValueError(f"{shorten(repr(value))} is no number")
    return float(value)


def _all_finite(values: Mapping[str, Any]) -> dict[str, float]:
    return {str(name): _finite(value) for name, value in values.items()}


def _listed(header: Mapping[str, Any], name: str) -> list[Any]:
    if not isinstance(header[name], list):
        raise ValueError(f"{name} is no list")
    return list(header[name])


def _others(trainer: Trainer) -> list[Agent]:
    """The agents that do not learn: those of the pool, and the rival."""
    return [*trainer.pool.agents, *([trainer.rival] if trainer.rival is not None else [])]


def _networks(trainer: Trainer) -> list[Any]:
    """Every snapshot in use: in the pool, or still seated at a table."""
    others = {id(agent) for agent in _others(trainer)}
    found = {id(agent): agent for agent in [*trainer.pool.snapshots, *trainer.env.agents.values()]}
    return [agent for key, agent in found.items() if key not in others]


def _place(agent: Agent, among: list[Any]) -> int:
    return next(place for place, other in enumerate(among) if other is agent)


def _seated(trainer: Trainer, agent: Agent, networks: list[Any]) -> list[Any]:
    others = _others(trainer)
    if any(agent is other for other in others):
        return ["named", _place(agent, others)]
    return ["snapshot", _place(agent, networks)]


def _named(prefix: str, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {f"{prefix}.{name}": value for name, value in tensors.items()}


def _part(tensors: Mapping[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {name[len(prefix) :]: value for name, value in tensors.items() if name.startswith(prefix)}


# --- where a result came from -----------------------------------------------------------------------------------------


def provenance() -> dict[str, Any]:
    """See ``core.provenance``: with the versions of the packages that learning depends on."""
    return core_provenance(_PACKAGES)
