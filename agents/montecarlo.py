"""Searches: plays each action out in sampled worlds and takes the best: ``montecarlo``, ``montecarlo:rollouts=2000``.

A world is the table with everything that the seat cannot know drawn anew: cards uniformly (``game.resample``), secret
choices that others have made already as the rollout policy makes them. In each world every action still in question is
tried from the same random numbers and played out to the end of the deal by the rollout policy in all seats, so that
actions are compared by differences within worlds. The playouts of a decision are divided by sequential halving (Karnin,
Koren and Somekh 2013): as many for each round, and after a round the worse half of the actions is dropped.

The worlds ignore what the others' actions say about their cards, and the deal alone counts, not the rest of a match.
Choices vary with the worlds drawn; ``temperature`` varies them more, so that a pattern is harder to exploit.
"""

from __future__ import annotations

import math
import time
from functools import cache
from typing import Any

import numpy as np

from agents.base import AgentError, StateAgent
from agents.policies import owner_of, policy_of, work_arrays
from agents.rules import style_of
from auction_env.games import cards
from auction_env.games.contract import Game
from auction_env.kernel import inner, kernel

ROLLOUTS = 1000
PASS_WORLDS = 4  # played for each action before a time limit is looked at again
POLICIES = ("rules", "random")


@cache
def playout_kernel(game: Any, scripted: bool) -> Any:
    """Compiled loop that tries actions in worlds; ``scripted``: by the game's policy, else by random legal play.

    Its arguments: ``states``, rows as their seats may imagine them; ``words``, their memory in words of 64 bits;
    ``seeds``, uint64, of each row's worlds; ``worlds``, int64, how many more for each row; ``actions``, int64[B, k],
    tried where ``alive``, bool[B, k]; ``totals``, float64[B, k], to which the seat's net chips are added; ``style``,
    ``ints``, ``floats``, see ``agents.policies``; ``spare``, two states to work in, and ``spare_words``, their memory.
    """
    legal, act, resample, seed_generator, draw_below = (
        game.legal,
        game.act,
        game.resample,
        cards.seed_generator,
        cards.draw_below,
    )
    policy = policy_of(game) if scripted else None
    if policy is None:

        @inner
        def choose(s: Any, style: Any, ints: Any, floats: Any) -> Any:
            return ints[draw_below(s, legal(s, ints))]

        @inner
        def redraw_pending(s: Any, me: Any, style: Any, ints: Any, floats: Any) -> None:
            pass

    else:
        choose, redraw_pending = policy.choose, policy.redraw_pending

    @kernel(owner=f"{owner_of(game)}_{'rules' if scripted else 'random'}")
    def play_out(
        states: Any,
        words: Any,
        seeds: Any,
        worlds: Any,
        actions: Any,
        alive: Any,
        totals: Any,
        style: Any,
        ints: Any,
        floats: Any,
        spare: Any,
        spare_words: Any,
    ) -> None:
        world, trial = spare[0], spare[1]
        for row in range(states.shape[0]):
            me = states[row].to_act
            for number in range(worlds[row]):
                for word in range(words.shape[1]):
                    spare_words[0, word] = words[row, word]
                seed_generator(world, seeds[row] + np.uint64(number))
                resample(world, me)
                redraw_pending(world, me, style, ints, floats)
                for place in range(actions.shape[1]):
                    if not alive[row, place]:
                        continue
                    for word in range(words.shape[1]):
                        spare_words[1, word] = spare_words[0, word]
                    act(trial, actions[row, place])
                    while trial.to_act >= 0:
                        act(trial, choose(trial, style, ints, floats))
                    totals[row, place] += trial.award[me] - trial.paid[me]

    return play_out


class MonteCarloAgent(StateAgent):
    """Flat search by playouts in sampled worlds. See the module for what it assumes.

    Args:
        game: the game.
        rollouts: playouts for a decision in all; at least one for each action is played.
        milliseconds: instead, time for a decision. Choices then depend on the machine's speed.
        policy: who plays out: ``rules`` or ``random``.
        temperature: of the choice among the actions that were never dropped, in chips; 0 takes the best.
        seed: of its own chance.
    """

    def __init__(
        self,
        game: Game,
        rollouts: int = ROLLOUTS,
        milliseconds: float | None = None,
        policy: str = "rules",
        temperature: float = 0.0,
        seed: int = 0,
    ) -> None:
        scripted = policy == "rules" and policy_of(game) is not None
        self._play_out = playout_kernel(game, scripted)
        self._style = np.array(style_of(game, "", "montecarlo") if scripted else (0.0,))
        self._work = work_arrays()
        self._spare = np.zeros(2, game.STATE)
        self.rollouts, self.milliseconds, self.temperature = rollouts, milliseconds, temperature
        self.seed(seed)
        none = np.zeros(0, np.int64)  # compiles: limits of time count play alone
        self._play(np.zeros(0, game.STATE), none[:, None], none[:, None] > 0, none[:, None] * 1.0, none, none)

    def seed(self, seed: int) -> None:
        """See Agent."""
        self.rng = np.random.default_rng([seed, 0x3C5E])

    def random_state(self) -> Any:
        """See Agent."""
        return self.rng.bit_generator.state

    def set_random_state(self, state: Any) -> None:
        """See Agent."""
        self.rng.bit_generator.state = state

    def act_states(self, states: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See StateAgent."""
        count = masks.astype(bool).sum(axis=1)
        actions = np.argsort(-masks, axis=1, kind="stable")[:, : count.max()]
        alive = np.arange(actions.shape[1]) < count[:, None]
        chosen = actions[:, 0].copy()
        rows = np.flatnonzero(count > 1)
        if len(rows):
            best = self._search(states[rows], actions[rows], alive[rows])
            chosen[rows] = actions[rows, best]
        return chosen

    def _search(self, states: np.ndarray, actions: np.ndarray, alive: np.ndarray) -> np.ndarray:
        """The place in ``actions`` of the best one of each row."""
        totals, played = np.zeros(actions.shape), np.zeros(len(actions), np.int64)
        rounds = np.ceil(np.log2(alive.sum(axis=1))).astype(np.int64)
        begun, last = time.perf_counter(), int(rounds.max())
        for stage in range(last):
            live = rounds > stage
            if self.milliseconds is None:
                worlds = np.maximum(self.rollouts // (alive.sum(axis=1) * rounds), 1)
                self._play(states, actions, alive, totals, played, np.where(live, worlds, 0))
            else:
                until = begun + self.milliseconds * 1e-3 * len(actions) * (stage + 1) / last
                while True:
                    self._play(states, actions, alive, totals, played, np.full(len(actions), PASS_WORLDS))
                    if time.perf_counter() >= until:
                        break
            if stage < last - 1:
                _drop_worse_half(totals, alive, rounds > stage + 1)
        means = np.where(alive, totals / played[:, None], -np.inf)
        if self.temperature > 0:
            means = means + self.temperature * self.rng.gumbel(size=means.shape)
        return means.argmax(axis=1)

    def _play(
        self,
        states: np.ndarray,
        actions: np.ndarray,
        alive: np.ndarray,
        totals: np.ndarray,
        played: np.ndarray,
        worlds: np.ndarray,
    ) -> None:
        """Try the actions that are alive in some more worlds of each row."""
        words = states.view(np.uint64).reshape(len(states), states.itemsize // 8)
        seeds = self.rng.integers(0, 2**64, len(states), np.uint64)
        spare_words = self._spare.view(np.uint64).reshape(2, -1)
        self._play_out(
            states,
            words,
            seeds,
            worlds,
            actions,
            alive,
            totals,
            self._style,
            *self._work,
            self._spare,
            spare_words,
        )
        played += worlds


def _drop_worse_half(totals: np.ndarray, alive: np.ndarray, rows: np.ndarray) -> None:
    """Keep the better half, rounded up, of the actions alive in some rows (a mask of them)."""
    order = np.argsort(np.argsort(np.where(alive, -totals, np.inf), axis=1, kind="stable"), axis=1)
    keep = order < -(-alive.sum(axis=1) // 2)[:, None]
    alive[rows] &= keep[rows]


# --- options --------------------------------------------------------------------------------------------------------


def _number(name: str, text: str, least: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not least <= value < 1e9:
        raise AgentError(f"agent 'montecarlo': {name} is {text!r}: it must be a number, at least {least:g}")
    return value


def make_agent(argument: str, game: Game, settings: Any, seed: int) -> MonteCarloAgent:
    """``montecarlo``, or with options as in ``montecarlo:rollouts=500,policy=random,temperature=0.2``."""
    options: dict[str, Any] = {}
    for part in argument.split(",") if argument else ():
        name, _, text = part.partition("=")
        if name == "rollouts":
            options["rollouts"] = int(_number(name, text, 1))
        elif name == "ms":
            options["milliseconds"] = _number(name, text, 0.001)
        elif name == "temperature":
            options["temperature"] = _number(name, text, 0)
        elif name == "policy" and text in POLICIES:
            options["policy"] = text
        elif name == "policy":
            raise AgentError(f"agent 'montecarlo': there is no policy {text!r}: it is {' or '.join(POLICIES)}")
        else:
            raise AgentError(
                f"agent 'montecarlo' has no option {name!r}: the options are rollouts, ms, policy, temperature"
            )
    if "rollouts" in options and "milliseconds" in options:
        raise AgentError("agent 'montecarlo': give rollouts or ms, not both")
    return MonteCarloAgent(game, seed=seed, **options)
