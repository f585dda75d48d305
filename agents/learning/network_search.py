"""Search over a learned policy: playouts by its network in worlds weighed by what it would have done in them.

For each decision, worlds are drawn that the seat can imagine. Where the game can say what was done so far, each world
is replayed from its deal on: the more likely the policy is to have acted so with the cards it gives the others, the
more the world counts (Bayes' rule, with likelihoods of a decision bounded below and all of them tempered, since the
others need not play the policy). Choices that are secret still are drawn by the policy too. Then each likely action is
tried in all worlds, the policy playing on for everybody, with the same worlds for all actions.
"""

from __future__ import annotations

import time
from typing import Any, ClassVar

import numpy as np
from auction_env.agents.base import StateAgent
from auction_env.agents.learning.network_agent import CardAgent

from auction_env.engine.agent import resample_from_infostate
from auction_env.engine.kernels import Compiled
from auction_env.engine.playout import masks_of, playout
from auction_env.games.game import Game

CAUTION = 1.0  # standard errors by which an action must be better than the policy's likeliest
LEAST_PRIOR = 0.02  # actions that the policy takes more rarely are not tried
FLOOR, TEMPER = 0.05, 0.5  # of the likelihood of a decision; exponent of all of them together
MAX_ROWS = 16_384  # tables played on at once


class NetworkSearchAgent(Compiled, StateAgent):
    """Flat search by playouts of a network. See the module.

    Args:
        game: the game.
        policy: plays out; its own chance is used.
        num_actions: of the game.
        rollouts: playouts for a decision in all.
        milliseconds: instead, time for a decision. Choices then depend on the machine's speed.
        beliefs: whether worlds are weighed; needs a game that can replay a deal.
        seed: of its own chance.
    """

    CODE: ClassVar[dict[str, Any]] = {"_loops": playout}

    def __init__(
        self,
        game: Game,
        policy: CardAgent,
        num_actions: int,
        rollouts: int = 1000,
        milliseconds: float | None = None,
        beliefs: bool = True,
        seed: int = 0,
    ) -> None:
        self.game, self.policy, self.num_actions = game, policy, num_actions
        self.rollouts, self.milliseconds = rollouts, milliseconds
        self._loops = playout(game)
        self.beliefs = beliefs and self._loops.replay is not None
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """See Agent."""
        self.rng = np.random.default_rng([seed, 0x5EA2C])
        self.policy.seed(seed)

    def random_state(self) -> Any:
        """See Agent."""
        return [self.rng.bit_generator.state, self.policy.random_state()]

    def set_random_state(self, state: Any) -> None:
        """See Agent."""
        self.rng.bit_generator.state = state[0]
        self.policy.set_random_state(state[1])

    def act_states(self, states: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See StateAgent."""
        shares = self.policy.probabilities(states, masks)
        actions = shares.argmax(axis=1)
        tried = (shares >= LEAST_PRIOR) & (masks != 0)
        rows = np.flatnonzero(tried.sum(axis=1) > 1)
        size = max(1, MAX_ROWS // self.rollouts)
        for start in range(0, len(rows), size):
            chosen = rows[start : start + size]
            actions[chosen] = self._search(states[chosen], tried[chosen], actions[chosen])
        return actions

    def _search(self, states: np.ndarray, tried: np.ndarray, first: np.ndarray) -> np.ndarray:
        """The best action of each row."""
        number = len(states)
        choices = int(tried.sum(axis=1).max())
        order = np.argsort(np.where(tried, 1, 2) - (np.arange(tried.shape[1]) == first[:, None]), axis=1, kind="stable")
        options = order[:, :choices]
        alive = np.take_along_axis(tried, options, axis=1)
        worlds = max(self.rollouts // choices, 1)
        logs, gains, begun = np.zeros((number, 0)), np.zeros((number, 0, choices)), time.perf_counter()
        while True:
            log, gain = self.try_actions(states, options, alive, worlds)
            logs, gains = np.concatenate([logs, log], axis=1), np.concatenate([gains, gain], axis=1)
            limit = self.milliseconds
            if limit is None or time.perf_counter() - begun >= limit * 1e-3 * number:
                break
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        gains -= gains[:, :, :1]  # beyond the policy's likeliest action, in the same world
        means = (weights[:, :, None] * gains).sum(axis=1)
        spread = (weights[:, :, None] ** 2 * (gains - means[:, None]) ** 2).sum(axis=1)
        value = np.where(alive, means - CAUTION * np.sqrt(spread), -np.inf)
        return options[np.arange(number), value.argmax(axis=1)]

    def try_actions(
        self, states: np.ndarray, options: np.ndarray, alive: np.ndarray, worlds: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Play actions to the end of the deal.

        Args:
            states: rows of the game's STATE, shape (B,).
            options: int64[B, K], actions of the seat to act at each.
            alive: bool[B, K], which of them to try.
            worlds: that the seat can imagine, drawn for each row; 0: the table as it stands.

        Returns:
            logs of the worlds' weights float64[B, W], and payoffs float64[B, W, K] in chips; W is 1 for no worlds.
        """
        number, choices = options.shape
        seats = states["to_act"].astype(np.int64)
        drawn, logs = states, np.zeros(number)
        if worlds:
            seats = np.repeat(seats, worlds)
            words = self.rng.integers(0, 2**64, number * worlds, np.uint64)
            drawn = resample_from_infostate(self.game, np.repeat(states, worlds), seats, words)
            logs = np.zeros(len(drawn))
            if self.beliefs:
                drawn, logs = self._replay(drawn, seats)
        worlds = max(worlds, 1)
        trials = np.repeat(drawn, choices)
        forced = np.repeat(options, worlds, axis=0).ravel()
        wanted = np.repeat(alive, worlds, axis=0).ravel()
        me = np.repeat(seats, choices)
        self._play_on(trials, me, forced, wanted)
        payoffs = np.zeros(len(trials))
        self._loops.payoffs(trials, me, payoffs)
        return logs.reshape(number, worlds), payoffs.reshape(number, worlds, choices)

    def _play_on(self, trials: np.ndarray, me: np.ndarray, forced: np.ndarray, wanted: np.ndarray) -> None:
        """To the end of the deal; each row's own first decision is forced. Rows not wanted are left alone."""
        rows, due = np.flatnonzero(wanted), np.ones(len(trials), np.bool_)
        while len(rows):
            mine = due[rows] & (trials["to_act"][rows] == me[rows])
            actions = np.where(mine, forced[rows], -1)
            due[rows[mine]] = False
            free = rows[~mine]
            if len(free):
                masks = masks_of(self.game, self._loops, trials, free, self.num_actions)
                actions[~mine] = self.policy.act_states(trials[free], masks)
            self._loops.act(trials, rows, actions)
            rows = rows[trials["to_act"][rows] >= 0]

    def _replay(self, drawn: np.ndarray, me: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Worlds played again from their deal to the first choice that is not public, and logs of their weights."""
        past = drawn.copy()
        assert self._loops.rewind is not None
        assert self._loops.replay is not None
        self._loops.rewind(past)
        logs, rows = np.zeros(len(past)), np.arange(len(past))
        while len(rows):
            taken = np.empty(len(rows), np.int64)
            at = past[rows]
            self._loops.replay(drawn[rows], at, taken)
            known = taken >= 0
            rows, taken, at = rows[known], taken[known], at[known]
            others = np.flatnonzero(at["to_act"] != me[rows])
            if len(others):
                masks = masks_of(self.game, self._loops, at, others, self.num_actions)
                shares = self.policy.probabilities(at[others], masks)[np.arange(len(others)), taken[others]]
                logs[rows[others]] += np.log(np.maximum(shares, FLOOR))
            self._loops.act(past, rows, taken)
        return past, logs * TEMPER
