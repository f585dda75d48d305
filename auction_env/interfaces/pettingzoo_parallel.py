"""PettingZoo's parallel interface: all agents act in every step, at once where the rules have them choose at once."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from auction_env.engine.record import make_record
from auction_env.engine.table import Table, near_options, no_info
from auction_env.games.game import Game, IllegalActionError
from auction_env.interfaces.opponents import illegal_penalty
from auction_env.interfaces.spaces import ActionSpace, observation_space
from auction_env.rendering.text import RENDER_MODES, check_render_mode, render


class AuctionParallelEnv(ParallelEnv[str, Any, int]):
    """A match as a PettingZoo parallel environment, with the agents, observations and rewards of ``AuctionEnv``.

    In phases that are secret by the rules (bids and declarations of Auction Poker) one step takes the choices of all
    seats that have one. In all other phases one seat chooses and the others have one action, ``no_op``, the index after
    the game's own: ``action_space`` is Discrete(actions + 1), and masks are int8[actions + 1]. The same deal and the
    same choices give the same record, to its digest, as the AEC environment.

    An illegal action ends the match for all and changes nothing at the table: those who chose one pay the
    reserve (or the starting chips, in a game without one), ``illegal_action`` in their infos is 1, and ``why_illegal``
    tells by agent what was illegal. Infos have the keys of ``AuctionEnv``'s at all times.

    Arguments and errors as ``AuctionEnv``; ``render`` shows the table as nobody in particular sees it: only what is
    open to all, or with ``reveal`` everything.
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
        check_render_mode(render_mode)
        self.table = Table(game, settings)
        self.flat, self.render_mode, self.reveal = flat, render_mode, reveal
        name = f"{self.table.game.NAME}_v{self.table.game.VERSION}"
        self.metadata = {"name": name, "render_modes": list(RENDER_MODES), "is_parallelizable": True, "render_fps": 2}
        seats, size, actions = (
            self.table.settings.num_players,
            self.table.observation_size,
            len(self.table.action_names),
        )
        self.no_op = actions
        self.possible_agents = [f"player_{seat}" for seat in range(seats)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._observation_spaces = {agent: observation_space(size, actions + 1, flat) for agent in self.possible_agents}
        self._action_spaces = {agent: ActionSpace(actions + 1) for agent in self.possible_agents}
        self.state_space = spaces.Box(0.0, 1.0, (seats * size,), np.float32)
        self._no_info = no_info(self.table.game, self.table.settings)
        self.agents: list[str] = []
        self.why_illegal: dict[str, str] = {}
        self._choosers: dict[int, np.ndarray] = {}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Dict of ``observation`` (float32 in [0, 1]) and ``action_mask`` (int8, no-op last); ``flat``: the first."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Discrete: the game's actions, then the no-op."""
        return self._action_spaces[agent]

    def action_name(self, action: int) -> str:
        """Name of an action index. Raises IndexError when there is none."""
        return "no_op" if action == self.no_op else self.table.action_name(action)

    def observe_named(self, agent: str) -> dict[str, np.ndarray]:
        """An agent's observation as named arrays."""
        return self.table.observe_named(self._seats[agent])

    def record(self, agent: str | None = None) -> dict[str, Any]:
        """The match so far as plain data (see ``engine.record``); for one agent, without what it may not know."""
        return make_record(self.table, None if agent is None else self._seats[agent])

    def state(self) -> np.ndarray:
        """All that any seat has seen and done: float32[seats * observation size], seat 0 first; see ``observe_all``."""
        return self.table.observe_all().ravel()

    # --- the parallel interface ---

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Start a match and deal; arguments and errors as ``AuctionEnv.reset``."""
        self.table.reset(seed, near_options(options))
        self.agents = [self.possible_agents[seat] for seat in self.table.deals[-1].dealt_in]
        self.why_illegal = {}
        self._find_choosers()
        return self._observations(self.agents), self._infos(self.agents)

    def _find_choosers(self) -> None:
        """Who chooses in the next step, with their masks: one seat, or all whose choices stay secret till the last."""
        self._choosers = self.table.choosers()

    def step(self, actions: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:  # type: ignore[override]
        """Act for all agents: ``actions`` has an action for each of ``agents``; those of seats that are out do nothing.

        Once the match is over, no actions, ``{}``, give five empty dicts, as in PettingZoo's own environments.

        Returns:
            Observations, rewards, terminations, truncations (never) and infos, by agent.

        Raises:
            ValueError: an agent has no action, an action has no agent (as far as is known: ``possible_agents``), or the
                match is over; nothing has changed.
            TypeError: ``actions`` is no mapping.
        """
        if not self.agents:
            if self.table.deals and isinstance(actions, Mapping) and not actions:
                return {}, {}, {}, {}, {}
            raise ValueError("there is nobody to act: call reset first")
        if not isinstance(actions, Mapping):
            raise TypeError(
                f"actions is {actions!r}: give a mapping, with an action for each of {', '.join(self.agents)}"
            )
        odd = (set(actions) - set(self.possible_agents)) | (set(self.agents) - set(actions))
        if odd:
            names = ", ".join(sorted(map(str, odd)))
            raise ValueError(f"actions of {names}: give one for each of {', '.join(self.agents)}, no other")
        agents, chosen, illegal = self.agents, {}, {}
        for agent in agents:
            try:
                chosen[self._seats[agent]] = self._check(agent, actions[agent])
            except IllegalActionError as error:
                illegal[agent] = str(error)
        if illegal:
            return self._end_illegal(illegal)
        result = None
        for seat in self._choosers:
            result = self.table.act(chosen[seat])
        rewards = dict.fromkeys(agents, 0.0)
        terminations = dict.fromkeys(agents, False)
        if result is not None:
            rewards = {agent: float(result[self._seats[agent]]) for agent in agents}
            if not self.table.match_over:
                self.table.next_deal()
            dealt_in = [] if self.table.match_over else self.table.deals[-1].dealt_in
            terminations = {agent: self._seats[agent] not in dealt_in for agent in agents}
        self.agents = [agent for agent in agents if not terminations[agent]]
        self._find_choosers()
        if self.render_mode == "human":
            self.render()
        return (
            self._observations(agents), rewards, terminations, dict.fromkeys(agents, False), self._infos(agents),
        )  # fmt: skip

    def _check(self, agent: str, action: Any) -> int:
        """The index of an agent's action; IllegalActionError unless it is legal."""
        seat = self._seats[agent]
        if isinstance(action, (int, np.integer)) and not isinstance(action, (bool, np.bool_)) and action == self.no_op:
            index = self.no_op
        else:
            index = self.table.action_index(action)
        mask = self._mask(seat)
        if not mask[index]:
            legal = ", ".join(f"{self.action_name(other)!r} ({other})" for other in np.flatnonzero(mask).tolist())
            raise IllegalActionError(
                f"{self.action_name(index)!r} ({index}) is not legal for {agent} in the {self.table.phase} phase; "
                f"legal now: {legal}"
            )
        return index

    def _end_illegal(self, illegal: dict[str, str]) -> tuple[dict[str, Any], ...]:
        agents, self.agents, self._choosers = self.agents, [], {}
        penalty = illegal_penalty(self.table.settings)
        self.why_illegal = illegal
        return (
            self._observations(agents),
            {agent: -penalty if agent in illegal else 0.0 for agent in agents},
            dict.fromkeys(agents, True),
            dict.fromkeys(agents, False),
            self._infos(agents),
        )

    def _mask(self, seat: int) -> np.ndarray:
        """int8[actions + 1]: the choices of a seat that has some; the no-op for other live agents, else zeros."""
        mask = np.zeros(self.no_op + 1, np.int8)
        if seat in self._choosers:
            mask[:-1] = self._choosers[seat]
        elif self.possible_agents[seat] in self.agents:
            mask[-1] = 1
        return mask

    def _observations(self, agents: list[str]) -> dict[str, Any]:
        seats = {agent: self._seats[agent] for agent in agents}
        if self.flat:
            return {agent: self.table.observe(seat) for agent, seat in seats.items()}
        return {
            agent: {"observation": self.table.observe(seat), "action_mask": self._mask(seat)}
            for agent, seat in seats.items()
        }

    def _infos(self, agents: list[str]) -> dict[str, dict[str, Any]]:
        return {agent: self._info(agent, self._seats[agent]) for agent in agents}

    def _info(self, agent: str, seat: int) -> dict[str, Any]:
        table = self.table
        facts = table.facts(seat) if seat in self._choosers else self._no_info
        info = {**facts, "illegal_action": int(agent in self.why_illegal)}
        return {**info, "action_mask": self._mask(seat)} if self.flat else info

    def render(self) -> Any:
        """The table in the form of ``render_mode``: what is open to all, or everything with ``reveal``."""
        if self.render_mode is None:
            return None
        view = self.table.view(None)
        if not self.reveal:
            view = self.table.game.view(self.table.state, -1)  # as somebody who has no seat sees it
        return render(view, None, self.render_mode)

    def close(self) -> None:
        """Nothing to release."""

    def __str__(self) -> str:
        return str(self.metadata["name"])

    def __repr__(self) -> str:
        return f"{self.metadata['name']}({self.table.settings})"

    def __deepcopy__(self, memo: dict[int, Any]) -> AuctionParallelEnv:
        twin = copy.copy(self)
        twin.table = self.table.clone()
        twin.agents, twin._choosers, twin.why_illegal = self.agents.copy(), dict(self._choosers), dict(self.why_illegal)
        for name in ("_observation_spaces", "_action_spaces"):
            setattr(twin, name, copy.deepcopy(getattr(self, name), memo))
        return twin


__all__ = ["AuctionParallelEnv"]
