"""Gymnasium's interface: one learner at a table, its opponents in the other seats."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

from auction_env.engine.features import FeatureRows
from auction_env.engine.kernels import seed_words
from auction_env.engine.record import make_record
from auction_env.engine.table import Table, no_info
from auction_env.games.game import Game, IllegalActionError, SettingsError, SetupError
from auction_env.interfaces.opponents import Opponents, RandomStreams, choose_at, illegal_penalty, resolve, seed_players
from auction_env.interfaces.spaces import ActionSpace, observation_space
from auction_env.rendering.text import RENDER_MODES, check_render_mode, render

ROTATE = "rotate"


def check_seat(seat: int | str, settings: Any) -> None:
    """Raise SettingsError unless ``seat`` is "rotate" or a seat of the table."""
    number = isinstance(seat, (int, np.integer)) and not isinstance(seat, bool)
    if seat != ROTATE and not (number and 0 <= int(seat) < settings.num_players):
        raise SettingsError(f"seat is {seat!r}: it must be 'rotate' or a seat from 0 to {settings.num_players - 1}")


class SingleEnv(gymnasium.Env[Any, Any]):
    """One seat of a table as a Gymnasium environment; ``gymnasium.make("auction_env/AuctionPoker-v0", ...)`` makes it.

    A step acts for the learner and plays on, its opponents acting, to its next decision or the end of the episode. An
    episode is a match: one deal by default, more with the setting ``num_deals``; it terminates earlier for a learner
    that can no longer be dealt in. The reward is the learner's own result in chips of each deal, given when it ends.

    The observation is ``{"observation": float32[size], "action_mask": int8[actions]}``, or with ``flat`` the first
    alone; ``info["action_mask"]`` and ``action_masks()`` (bool, as sb3-contrib asks for it) have the mask either way.
    The info, its keys the same at all times and its values numbers, also holds ``seat``, the learner's; the game's
    public facts for it (``Table.info``: ``phase``, an index of the game's PHASES, ``to_call`` and the like); and
    ``illegal_action``, 0 or 1.

    An illegal action, whatever it is, ends the episode: the reward is minus the reserve (or the starting chips, in a
    game without one), ``info["illegal_action"]`` is 1, ``why_illegal`` says what was illegal, and the table stays as it
    was.

    ``reset(seed=s)`` deals as ``Table.reset(s)`` does, and with ``seat="rotate"`` seats the learner at s mod seats;
    each ``reset()`` after that goes on with the generators and moves the learner to the next seat. Options are those
    of ``Table.reset``.

    Args:
        game: a game's name or module.
        opponents: names of agents, or players, as ``opponents.resolve`` takes them, clockwise from the learner.
        seat: the learner's, or "rotate".
        flat: observations without the mask.
        render_mode: None, "ansi", "human" or "rgb_array".
        reveal: ``render`` shows everything, not just what the learner may see.
        settings: the game's settings; without ``num_players``, a list of opponents settles it.

    Raises:
        SettingsError, ValueError, TypeError: see ``resolve``; or seat or render_mode make no sense.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # noqa: RUF012 - as in Gymnasium

    def __init__(
        self,
        game: str | Game | ModuleType,
        *,
        opponents: Opponents = "random",
        seat: int | str = ROTATE,
        flat: bool = False,
        render_mode: str | None = None,
        reveal: bool = False,
        **settings: Any,
    ) -> None:
        check_render_mode(render_mode)
        module, made, self.opponents = resolve(game, opponents, settings)
        check_seat(seat, made)
        self.table = Table(module, made)
        self.render_mode, self.reveal, self.flat = render_mode, reveal, flat
        self.seat_rule = seat
        self.seat = 0 if seat == ROTATE else int(seat)
        actions = len(self.table.action_names)
        self.observation_space = observation_space(self.table.observation_size, actions, flat)
        self.action_space = ActionSpace(actions)
        self._no_info = no_info(module, made)
        self.why_illegal = ""  # of the last step; empty if it was legal
        self._words = RandomStreams(1)
        self._over = True
        self._final = np.zeros(0, np.float32)

    # --- the Gymnasium interface ---

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a match; see the class.

        Raises:
            ValueError: the seed is not an integer from 0 to 2**63 - 1.
            SetupError: an option is inconsistent, or leaves the learner out of the deal.
        """
        trial, start = self.table.clone(), seed is not None or self.table.seed is None
        trial.reset(seed, options)
        seat = self._next_seat(trial, start)
        super().reset(seed=None if seed is None else int(seed_words(seed)[0]))
        self.table, self.seat = trial, seat
        if start:
            assert trial.seed is not None
            self._words.seed([0], np.array([trial.seed], np.uint64))
            seed_players(self.opponents, trial.seed)
        self._over, self.why_illegal = False, ""
        self._go_on(None)
        while self._over:  # the match ended before the learner had anything to decide
            self.table.reset()
            self.seat, self._over = self._next_seat(self.table, False), False
            self._go_on(None)
        if self.render_mode == "human":
            self.render()
        return self._observation(), self._info()

    def _next_seat(self, table: Table, start: bool) -> int:
        """The learner's seat in a match just dealt; SetupError if it is not dealt in."""
        n, dealt_in = self.table.settings.num_players, table.deals[-1].dealt_in
        if self.seat_rule != ROTATE:
            if self.seat not in dealt_in:
                raise SetupError(f"stacks: the learner's seat {self.seat} is not dealt in")
            return self.seat
        first = int(table.seed or 0) if start else self.seat + 1
        return next(seat % n for seat in range(first, first + n) if seat % n in dealt_in)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Act for the learner and play on: observation, reward, terminated, truncated (never) and info.

        Raises:
            ResetNeeded: the episode is over.
            PlayerError: an opponent failed or acted illegally; it is named, and the episode is over.
        """
        if self._over:
            raise ResetNeeded("the episode is over: call reset first")
        try:
            result = self.table.act(action)
        except IllegalActionError as error:
            self._over, self._final, self.why_illegal = True, self.table.observe(self.seat), str(error)
            return self._observation(), -illegal_penalty(self.table.settings), True, False, self._info()
        reward = self._go_on(result)
        if self.render_mode == "human":
            self.render()
        return self._observation(), reward, self._over, False, self._info()

    def _go_on(self, result: list[int] | None) -> float:
        """Play on from a move's result to the learner's next decision or the end; chips won on the way."""
        table, reward = self.table, 0.0
        while True:
            if result is not None:
                reward += result[self.seat]
                self._final = table.observe(self.seat)
                if not table.match_over:
                    table.next_deal()
                self._over = table.match_over or self.seat not in table.deals[-1].dealt_in
            if self._over or table.to_act == self.seat:
                return reward
            try:
                result = self._act_for_opponent()
            except BaseException:  # the opponent is still to act: a step now would act for its seat
                self._over, self._final = True, table.observe(self.seat)
                raise

    def _act_for_opponent(self) -> list[int] | None:
        place = (int(self.table.states["to_act"][0]) - self.seat) % self.table.settings.num_players
        return self.table.act(choose_at(self.table, self.opponents[place - 1], self._words.take([0])))

    def _observation(self) -> Any:
        observation = self._final.copy() if self._over else self.table.observe(self.seat)
        return observation if self.flat else {"observation": observation, "action_mask": self._mask()}

    def _mask(self) -> np.ndarray:
        mask = self.table.mask(self.seat)
        return np.zeros_like(mask) if self._over else mask

    def _info(self) -> dict[str, Any]:
        facts = self._no_info if self._over else self.table.info(self.seat)
        return {"action_mask": self._mask(), "seat": self.seat, **facts, "illegal_action": int(bool(self.why_illegal))}

    def action_masks(self, env: Any = None) -> np.ndarray:
        """The mask as sb3-contrib asks for it: bool[actions], a fresh array; all False when the episode is over.

        ``env`` is not used: sb3-contrib's ``ActionMasker(env, "action_masks")`` hands the environment over once more.
        """
        return self._mask().astype(np.bool_)

    def render(self) -> Any:
        """The table as the learner may see it (or all of it, with ``reveal``), in the form of ``render_mode``."""
        if self.render_mode is None:
            return None
        if not self.table.deals:
            raise ResetNeeded("there is nothing to show: call reset first")
        seat = None if self.reveal else self.seat
        return render(self.table.view(seat), seat, self.render_mode)

    # --- looking ---

    def action_name(self, action: int) -> str:
        """Name of an action index, such as ``"bid 2"``. Raises IndexError when there is none."""
        return self.table.action_name(action)

    def observe_named(self) -> dict[str, np.ndarray]:
        """The learner's observation as named arrays (of the table as it is: see ``Table.observe_named``)."""
        return self.table.observe_named(self.seat)

    def observe_features(self) -> np.ndarray:
        """What the learner's cards may become, for networks that read that: ``Table.observe_features``."""
        rows = FeatureRows(self.table.game, self.table.settings)
        return rows.nobody() if self._over else self.table.observe_features(self.seat)

    def record(self) -> dict[str, Any]:
        """The match so far as plain data: what everybody held and did (see ``auction_env.engine.record``)."""
        return make_record(self.table)

    def __repr__(self) -> str:
        return f"SingleEnv({self.table.game.NAME!r}, {self.table.settings})"


__all__ = ["ROTATE", "SingleEnv"]
