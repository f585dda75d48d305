"""PettingZoo's AEC interface: one agent a seat, asked in turn, over one ``Table``."""

from __future__ import annotations

import copy
import operator
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers
from pettingzoo.utils.env import AECIterable
from pettingzoo.utils.env_logger import EnvLogger

from auction_env.engine.record import make_record
from auction_env.engine.table import Table, near_options, no_info
from auction_env.games.game import Game, IllegalActionError, ObservationField
from auction_env.interfaces.opponents import illegal_penalty
from auction_env.interfaces.spaces import ActionSpace, observation_space
from auction_env.rendering.text import RENDER_MODES, check_render_mode, render


class AuctionEnv(AECEnv):
    """A match as a PettingZoo AEC environment (the raw one, without PettingZoo's wrappers).

    Seats are the agents ``player_0``, ``player_1``, ... Choices that are simultaneous by the rules are asked seat by
    seat, clockwise from the dealer; nothing that anyone sees changes until the last is in. A seat's observation is
    ``{"observation": float32[size] in [0, 1], "action_mask": int8[actions]}``, or with ``flat`` the first alone. The
    reward is the chips won or lost in a deal, given to all seats when it ends (A14). Seats that can no longer be dealt
    in terminate; all do when the match is over.

    Infos have the same keys at all times: the game's public facts for the seat to act, as integers (``Table.info``;
    ``phase`` is an index of the game's PHASES); ``illegal_action``, 1 for a seat whose illegal action ended the match
    (``why_illegal`` says in words what it was), else 0; and with ``flat``, ``action_mask``. The mask is in one place
    only: TorchRL takes it out of one, and then does not expect it in the other.

    Args:
        game: a game's name or module.
        flat: observations without the mask, which is in the info.
        render_mode: None, "ansi" (``render`` returns text), "human" (prints it) or "rgb_array" (returns a picture).
        reveal: ``render`` shows everything, not just what the acting seat may see.
        settings: the game's settings.

    Raises:
        SettingsError: a setting is unknown or makes no sense.
        ValueError: there is no such game or render mode.
    """

    def __init__(
        self,
        game: str | Game | ModuleType,
        *,
        flat: bool = False,
        render_mode: str | None = None,
        reveal: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__()
        check_render_mode(render_mode)
        self.table = Table(game, settings)
        self.flat, self.render_mode, self.reveal = flat, render_mode, reveal
        name = f"{self.table.game.NAME}_v{self.table.game.VERSION}"
        # Not by PettingZoo's converters, which have all agents act once a cycle: ``parallel_env`` is the parallel form.
        self.metadata = {"name": name, "render_modes": list(RENDER_MODES), "is_parallelizable": False, "render_fps": 2}
        self.possible_agents = [f"player_{seat}" for seat in range(self.table.settings.num_players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        size, actions = self.table.observation_size, len(self.table.action_names)
        self._observation_spaces = {agent: observation_space(size, actions, flat) for agent in self.possible_agents}
        self._action_spaces = {agent: ActionSpace(actions) for agent in self.possible_agents}
        self.state_space = spaces.Box(0.0, 1.0, (size * len(self.possible_agents),), np.float32)
        self._no_info = {**no_info(self.table.game, self.table.settings), "illegal_action": 0}
        self.agents: list[str] = []
        self.terminations: dict[str, bool] = {}
        self.why_illegal = ""

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Dict of ``observation`` (float32 in [0, 1]) and ``action_mask`` (int8); with ``flat`` the first alone."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Discrete; ``action_name`` says what each index is."""
        return self._action_spaces[agent]

    def action_name(self, action: int) -> str:
        """Name of an action index, such as ``"bid 2"`` or ``"pick As"``. Raises IndexError when there is none."""
        return self.table.action_name(action)

    def action_table(self) -> tuple[str, ...]:
        """Name of every action, by index."""
        return self.table.action_names

    def observation_layout(self) -> tuple[ObservationField, ...]:
        """The fields of the flat observation, in order."""
        return self.table.game.observation_fields(self.table.settings)

    def observe_named(self, agent: str) -> dict[str, np.ndarray]:
        """An agent's observation as named arrays."""
        return self.table.observe_named(self._seats[agent])

    def observe_features(self, agent: str) -> np.ndarray:
        """What the cards of the agent to act may become, for networks that read that: ``Table.observe_features``."""
        return self.table.observe_features(self._seats[agent])

    def state(self) -> np.ndarray:
        """All that any seat has seen and done: float32[seats * observation size], seat 0 first; see ``observe_all``."""
        return self.table.observe_all().ravel()

    def record(self, agent: str | None = None) -> dict[str, Any]:
        """The match so far as plain data (see ``engine.record``); for one agent, without what it may not know."""
        return make_record(self.table, None if agent is None else self._seats[agent])

    # --- the AEC interface ---

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a match and deal; arguments and errors as ``Table.reset``. Seats not dealt in are no agents.

        Options that resemble none of the table's are ignored: PettingZoo's tests bring one along.
        """
        self.table.reset(seed, near_options(options))
        self.agents = [self.possible_agents[seat] for seat in self.table.deals[-1].dealt_in]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._paid = False  # whether the last step gave rewards
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection = None
        self.why_illegal = ""
        self._select_next()

    def observe(self, agent: str) -> Any:
        """What an agent has seen and done, and unless ``flat`` its mask; fresh arrays."""
        seat = self._seats[agent]
        if self.flat:
            return self.table.observe(seat)
        mask = self.table.mask(seat)
        if self.terminations.get(agent):  # an illegal move has ended the match, and the table still waits for a move
            mask[:] = 0
        return {"observation": self.table.observe(seat), "action_mask": mask}

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """See AECEnv. The info is the one in ``infos``, as PettingZoo's tests ask; nothing is judged by it."""
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def step(self, action: Any) -> None:
        """Act for ``agent_selection``. An illegal action raises IllegalActionError and changes nothing."""
        if not self.agents:
            raise IllegalActionError("there is nobody to act: call reset first")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            if self.agents:
                self._refresh_infos()
            return
        result = self.table.act(action)
        self._cumulative_rewards[agent] = 0.0
        if self._paid:
            self.rewards = dict.fromkeys(self.agents, 0.0)
            self._paid = False
        if result is None:
            self._pass_turn(agent)
        else:
            self._end_deal(result)
        if self.render_mode == "human":
            self.render()

    def _pass_turn(self, agent: str) -> None:
        """The deal goes on: what changes for others is asked for when it is their turn."""
        self.infos[agent] = self._idle_info()
        seat: int = self.table.to_act  # type: ignore[assignment]
        self.agent_selection = agent = self.possible_agents[seat]
        self.infos[agent] = self._info(seat)

    def _info(self, seat: int) -> dict[str, Any]:
        """The info of the seat to act."""
        info = self.table.facts(seat)
        info["illegal_action"] = 0
        if self.flat:
            info["action_mask"] = self.table.mask(seat)
        return info

    def _idle_info(self) -> dict[str, Any]:
        """The info of a seat that is not to act."""
        info = self._no_info.copy()
        if self.flat:
            info["action_mask"] = np.zeros(len(self.table.action_names), np.int8)
        return info

    def _end_deal(self, result: list[int]) -> None:
        self._paid = True
        for name in self.agents:
            self.rewards[name] = float(result[self._seats[name]])
        if not self.table.match_over:
            self.table.next_deal()
        dealt_in = self.table.deals[-1].dealt_in
        for name in self.agents:
            self.terminations[name] = self.table.match_over or self._seats[name] not in dealt_in
        self._select_next()
        self._accumulate_rewards()
        self._deads_step_first()

    def _select_next(self) -> None:
        seat = self.table.to_act
        self.agent_selection = self.possible_agents[self._seats[self.agents[0]] if seat is None else seat]
        self._refresh_infos()

    def _refresh_infos(self) -> None:
        acting = self.table.to_act
        self.infos = {agent: self._idle_info() for agent in self.agents}
        agent = self.possible_agents[acting or 0]
        if acting is not None and not self.terminations.get(agent, True):
            self.infos[agent] = self._info(acting)
        elif self.why_illegal and acting is not None and agent in self.infos:
            self.infos[agent]["illegal_action"] = 1

    def end_illegal(self, error: IllegalActionError) -> None:
        """End the match for all, the agent selected paying for an illegal action; the table stays as it is."""
        agent = self.agent_selection
        self.why_illegal, self._paid = str(error), True
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.rewards[agent] = -illegal_penalty(self.table.settings)
        self.terminations = dict.fromkeys(self.agents, True)
        self._refresh_infos()
        self._accumulate_rewards()
        self._deads_step_first()

    def render(self) -> str | np.ndarray | None:
        """The table as the acting seat may see it (or all of it, with ``reveal``), in the form of ``render_mode``."""
        if self.render_mode is None:
            return None
        seat = None if self.reveal else self._viewer()
        return render(self.table.view(seat), seat, self.render_mode)

    def _viewer(self) -> int:
        """The acting seat; the agent selected when nobody is to act."""
        seat = self.table.to_act
        if seat is None and self.agents:
            seat = self._seats[self.agent_selection]
        return seat or 0

    def close(self) -> None:
        """Nothing to release."""

    def __str__(self) -> str:
        return str(self.metadata["name"])

    def __repr__(self) -> str:
        return f"{self.metadata['name']}({self.table.settings})"

    def __deepcopy__(self, memo: dict[int, Any]) -> AuctionEnv:
        twin = copy.copy(self)
        twin.table = self.table.clone()
        for name in ("agents", "rewards", "_cumulative_rewards", "terminations", "truncations", "infos"):
            if name in self.__dict__:
                setattr(twin, name, copy.deepcopy(getattr(self, name), memo))
        for name in ("_observation_spaces", "_action_spaces"):
            setattr(twin, name, copy.deepcopy(getattr(self, name), memo))
        return twin


def _straight_from_the_environment(name: str) -> property:
    return property(operator.attrgetter(f"raw.{name}"))


class _InTurn(AECIterable[str, Any, Any]):
    """PettingZoo's order enforcing iterable, which asks the environment itself who is next."""

    def __iter__(self) -> Iterator[str]:  # type: ignore[override]
        raw, left = self.env.raw, self.max_iter
        while left > 0 and raw.agents:
            assert self.env._has_updated, "need to call step() or reset() in a loop over `agent_iter`"
            self.env._has_updated = False
            left -= 1
            yield raw.agent_selection


class _Wrapped(wrappers.OrderEnforcingWrapper):
    """PettingZoo's order enforcing, and in the same object what its TerminateIllegalWrapper does.

    What is legal the environment itself says, by its own copy: nothing that a caller has been given counts, and what is
    no action at all is an illegal one. Attributes are taken straight from the environment: through the wrappers they
    are looked up one after the other, dozens of times a step, which would cost more than the game does.
    """

    def __init__(self, env: AuctionEnv) -> None:
        self.raw = env
        super().__init__(env)

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """See AECEnv."""
        return self.raw.action_space(agent)

    def observe(self, agent: str) -> Any:
        """See AECEnv."""
        return self.raw.observe(agent) if self._has_reset else super().observe(agent)

    def last(self, observe: bool = True) -> Any:
        """See AECEnv."""
        return self.raw.last(observe) if self._has_reset else super().last(observe)

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable[str, Any, Any]:
        """See AECEnv."""
        return _InTurn(self, max_iter) if self._has_reset else super().agent_iter(max_iter)

    def step(self, action: Any) -> None:
        """See AECEnv."""
        raw = self.raw
        if not self._has_reset or not raw.agents:
            super().step(action)  # says so
            return
        self._has_updated = True
        try:
            raw.step(action)
        except IllegalActionError as error:
            EnvLogger.warn_on_illegal_move()
            raw.end_illegal(error)

    agent_selection = _straight_from_the_environment("agent_selection")
    rewards = _straight_from_the_environment("rewards")
    terminations = _straight_from_the_environment("terminations")
    truncations = _straight_from_the_environment("truncations")
    infos = _straight_from_the_environment("infos")
    _cumulative_rewards = _straight_from_the_environment("_cumulative_rewards")

    @property
    def agents(self) -> list[str]:  # type: ignore[override]
        if not self._has_reset:  # what else is asked too early the environment does not have yet
            raise AttributeError("agents cannot be accessed before reset")
        return self.raw.agents


def make_env(game: str | Game | ModuleType, **arguments: Any) -> AECEnv:
    """The environment with PettingZoo's wrappers: an illegal action ends the match for all, the mover pays the reserve.

    So does what is no action at all, such as -1, None or 60.0; a name of an action, such as ``"bid 2"``, is one.
    Arguments and errors as ``AuctionEnv``; the raw environment raises IllegalActionError instead.
    """
    return _Wrapped(AuctionEnv(game, **arguments))


__all__ = ["AuctionEnv", "IllegalActionError", "make_env"]
