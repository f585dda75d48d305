"""A run on disk: the checkpoint that it goes on from, and where a result came from.

A checkpoint is one file of tensors with a JSON header: weights (last, averaged, best, magnet, snapshots), the
optimiser, the tables, and the state of every generator. A run that is stopped and resumed comes to the weights of one
never stopped, on the same machine with the same number of threads.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from auction_env.agents.base import Agent, AgentError
from auction_env.agents.learning.config import ConfigError
from auction_env.agents.learning.evaluation import read_points
from auction_env.agents.learning.imitation import Imitated
from auction_env.agents.learning.tensor_file import load_tensors, save_tensors

from auction_env.core.provenance import provenance as core_provenance

if TYPE_CHECKING:
    from auction_env.agents.learning.trainer import Trainer

FORMAT = "auction_env.checkpoint/2"
CHECKPOINT = "checkpoint.safetensors"
MAX_BYTES = 16 * 2**30
_PACKAGES = ("numpy", "numba", "gymnasium", "pettingzoo", "stable-baselines3", "sb3-contrib", "torch")


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
        "curve": [dataclasses.asdict(point) for point in trainer.curve],
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

    Raises:
        AgentError: there is no checkpoint, or it is damaged.
        ConfigError: it was made by a config of another shape.
    """
    path = trainer.folder / CHECKPOINT
    tensors, header = load_tensors(path, FORMAT, MAX_BYTES)
    try:
        _restore_networks(trainer, tensors, header)
        _restore_tables(trainer, tensors, header)
        _restore_chance(trainer, tensors, header)
    except AgentError:
        raise
    except (RuntimeError, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise ConfigError(f"{path} does not fit this config, or is damaged: {error}") from error


def _restore_networks(trainer: Trainer, tensors: Mapping[str, torch.Tensor], header: Mapping[str, Any]) -> None:
    model = trainer.model
    model.policy.load_state_dict(_part(tensors, "policy."))
    trainer.average.load_state_dict(_part(tensors, "average."))
    trainer.best.load_state_dict(_part(tensors, "best."))
    if model.magnet is not None:
        model.magnet.load_state_dict(_part(tensors, "magnet."))
    stored = model.policy.optimizer.state_dict()
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, value in _part(tensors, "optimizer.").items():
        index, _, key = name.partition(".")
        state.setdefault(int(index), {})[key] = value
    model.policy.optimizer.load_state_dict({**stored, "state": state})
    model.num_timesteps, model._n_updates = int(header["timesteps"]), int(header["updates"])
    trainer.iteration, trainer.seconds = int(header["iteration"]), float(header["seconds"])
    if header["best_score"] is not None:
        trainer.best_score = float(header["best_score"])
    trainer.imitated = Imitated(**header["imitated"]) if header["imitated"] else None
    trainer.curve = read_points(header["curve"])


def _restore_tables(trainer: Trainer, tensors: Mapping[str, torch.Tensor], header: Mapping[str, Any]) -> None:
    networks: list[Any] = []
    for number, chance in enumerate(header["chances"]):
        agent = trainer.agent(copy.deepcopy(trainer.actor))
        agent.actor.load_state_dict(_part(tensors, f"snapshot.{number}."))  # type: ignore[attr-defined]
        agent.set_random_state(chance)
        networks.append(agent)
    pool = trainer.pool
    pool.snapshots = [networks[place] for place, _, _ in header["pool"]]
    pool.taken = [int(taken) for _, taken, _ in header["pool"]]
    gains = [*zip(pool.snapshots, [gain for _, _, gain in header["pool"]], strict=True)]
    gains += [*zip(pool.agents, header["gains"], strict=True)]
    pool.gains = {id(agent): float(gain) for agent, gain in gains if gain is not None}
    others = _others(trainer)
    for agent, chance in zip(others, header["named_chances"], strict=True):
        agent.set_random_state(chance)
    seated = {
        int(number): (networks if kind == "snapshot" else others)[index]
        for number, (kind, index) in header["seated"].items()
    }
    trainer.env.set_state({name: value.numpy() for name, value in _part(tensors, "env.").items()}, seated)
    trainer.model._last_obs = trainer.env.observe()
    trainer.model._last_episode_starts = np.zeros(trainer.env.num_envs, np.bool_)


def _restore_chance(trainer: Trainer, tensors: Mapping[str, torch.Tensor], header: Mapping[str, Any]) -> None:
    states = header["random"]
    torch.set_rng_state(tensors["random.torch"])
    key = tensors["random.numpy"].numpy().astype(np.uint32)
    np.random.set_state(("MT19937", key, states["numpy_position"], 0, 0.0))
    trainer.env.rng.bit_generator.state = states["seating"]


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
