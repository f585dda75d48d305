"""Searches: plays each action out in sampled worlds and takes the best: ``montecarlo``, ``montecarlo:rollouts=2000``.

A world is the table with everything that the seat cannot know drawn anew: cards uniformly
(``game.resample_from_infostate``), secret choices that others have made already as the rollout policy makes them. In
each world every action still in question is tried from the same random numbers and played out to the end of the deal by
the rollout policy in all seats, so that actions are compared by differences within worlds. The playouts of a decision
are divided by sequential halving (Karnin, Koren and Somekh 2013): as many for each round, and after a round the worse
half of the actions is dropped. What the rollout policy itself would do stays in to the end, and another action is
preferred to it only by a standard error: with few playouts the search then plays like that policy rather than like
noise.

The worlds ignore what the others' actions say about their cards, and the deal alone counts, not the rest of a match.
Choices vary with the worlds drawn; ``temperature`` varies them more, so that a pattern is harder to exploit.
"""

from __future__ import annotations

import math
import time
from functools import cache
from typing import Any

import numpy as np
from auction_env.agents.base import Agent, AgentError, StateAgent
from auction_env.agents.policies import choosing_kernel, policy_of, work_arrays
from auction_env.agents.rules import style_of

from auction_env.core.jit import inner, kernel
from auction_env.games import cards
from auction_env.games.game import Game

ROLLOUTS = 1000
CAUTION = 1.0  # standard errors by which an action must be better than the one the rollout policy chooses
PASS_WORLDS = 4  # played for each action before a time limit is looked at again
POLICIES = ("rules", "random")


@cache
def playout_kernel(game: Any, scripted: bool) -> Any:
    """Compiled loop that tries actions in worlds; ``scripted``: by the game's policy, else by random legal play.

    Its arguments: ``states``, rows as their seats may imagine them; ``words``, their memory in words of 64 bits;
    ``seeds``, uint64, of each row's worlds; ``worlds``, int64, how many more for each row; ``actions``, int64[B, k],
    tried where ``alive``, bool[B, k] (the first always); ``totals`` and ``squares``, float64[B, k], to which the net
    chips beyond those of the first action in the same world are added, and their squares; ``style``, ``ints``,
    ``floats``, see ``agents.policies``; ``spare``, two states to work in, and ``spare_words``, their memory.
    """
    legal, act, resample_from_infostate, seed_generator, draw_below = (
        game.legal,
        game.act,
        game.resample_from_infostate,
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

    @kernel(owner=f"{game.NAME}_{'rules' if scripted else 'random'}")
    def play_out(
        states: Any,
        words: Any,
        seeds: Any,
        worlds: Any,
        actions: Any,
        alive: Any,
        totals: Any,
        squares: Any,
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
                resample_from_infostate(world, me)
                redraw_pending(world, me, style, ints, floats)
                first = 0
                for place in range(actions.shape[1]):
                    if not alive[row, place]:
                        continue
                    for word in range(words.shape[1]):
                        spare_words[1, word] = spare_words[0, word]
                    act(trial, actions[row, place])
                    while trial.to_act >= 0:
                        act(trial, choose(trial, style, ints, floats))
                    net = trial.award[me] - trial.paid[me]
                    if place == 0:
                        first = net
                    totals[row, place] += net - first
                    squares[row, place] += (net - first) ** 2

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
        self._choose = choosing_kernel(game) if scripted else None
        self.rollouts, self.milliseconds, self.temperature = rollouts, milliseconds, temperature
        self.seed(seed)
        # Compiles, so that limits of time count play alone.
        self._search(np.zeros(0, game.STATE), np.zeros((0, 1), np.int64), np.zeros((0, 1), np.bool_))

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
        count = np.count_nonzero(masks, axis=1)
        first = self._incumbents(states, masks)
        ranks = np.where(masks != 0, 1, 2)
        ranks[np.arange(len(masks)), first] = 0
        actions = np.argsort(ranks, axis=1, kind="stable")[:, : count.max()]
        alive = np.arange(actions.shape[1]) < count[:, None]
        rows = np.flatnonzero(count > 1)
        first[rows] = actions[rows, self._search(states[rows], actions[rows], alive[rows])]
        return first

    def gains(
        self, states: np.ndarray, chosen: np.ndarray, masks: np.ndarray, worlds: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Chips that each action wins beyond a chosen one, by playouts of both in the same worlds.

        Args:
            states: rows of the game's STATE, shape (B,), as each ``to_act`` may imagine it.
            chosen: integer[B], a legal action of each.
            masks: int8[B, actions]: what to try; the chosen action among it.
            worlds: to play in each; None: ``rollouts`` divided by the number of actions.

        Returns:
            means and their standard errors, float64[B, actions]; NaN where the mask is 0.
        """
        count = np.count_nonzero(masks, axis=1)
        ranks = np.where(masks != 0, 1, 2)
        ranks[np.arange(len(masks)), chosen] = 0
        actions = np.argsort(ranks, axis=1, kind="stable")[:, : count.max(initial=1)]
        alive = np.arange(actions.shape[1]) < count[:, None]
        totals, squares, played = np.zeros(actions.shape), np.zeros(actions.shape), np.zeros(len(actions), np.int64)
        each = np.maximum(self.rollouts // count, 2) if worlds is None else np.full(len(actions), worlds)
        self._play(states, actions, alive, totals, squares, played, each)
        means = totals / played[:, None]
        errors = np.sqrt(np.maximum(squares / played[:, None] - means**2, 0) / np.maximum(played - 1, 1)[:, None])
        out = np.full((2, *masks.shape), np.nan)
        rows, places = np.nonzero(alive)
        out[:, rows, actions[rows, places]] = means[rows, places], errors[rows, places]
        return out[0], out[1]

    def _incumbents(self, states: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """What the rollout policy chooses; the first legal action if that is random."""
        if self._choose is None:
            return masks.argmax(axis=1)
        states = states.copy()
        states["rng"] = self.rng.integers(0, 2**64, len(states), np.uint64)
        actions = np.empty(len(states), np.int64)
        self._choose(states, self._style, *self._work, actions)
        return actions

    def _search(self, states: np.ndarray, actions: np.ndarray, alive: np.ndarray) -> np.ndarray:
        """The place in ``actions`` of the best one of each row."""
        totals, squares, played = np.zeros(actions.shape), np.zeros(actions.shape), np.zeros(len(actions), np.int64)
        rounds = np.ceil(np.log2(alive.sum(axis=1))).astype(np.int64)
        begun, last = time.perf_counter(), int(rounds.max(initial=1))
        for stage in range(last):
            live = rounds > stage
            if self.milliseconds is None:
                worlds = np.maximum(self.rollouts // np.maximum(alive.sum(axis=1) * rounds, 1), 1)
                self._play(states, actions, alive, totals, squares, played, np.where(live, worlds, 0))
            else:
                until = begun + self.milliseconds * 1e-3 * len(actions) * (stage + 1) / last
                while True:
                    self._play(states, actions, alive, totals, squares, played, np.full(len(actions), PASS_WORLDS))
                    if time.perf_counter() >= until:
                        break
            if stage < last - 1:
                _drop_worse_half(totals, alive, rounds > stage + 1)
        means = totals / played[:, None]
        errors = np.sqrt(np.maximum(squares / played[:, None] - means**2, 0) / played[:, None])
        caution = 0.0 if self._choose is None else CAUTION
        value = np.where(alive, means - caution * errors, -np.inf)
        if self.temperature > 0:
            value = value + self.temperature * self.rng.gumbel(size=value.shape)
        return value.argmax(axis=1)

    def _play(
        self,
        states: np.ndarray,
        actions: np.ndarray,
        alive: np.ndarray,
        totals: np.ndarray,
        squares: np.ndarray,
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
            squares,
            self._style,
            *self._work,
            self._spare,
            spare_words,
        )
        played += worlds


def _drop_worse_half(totals: np.ndarray, alive: np.ndarray, rows: np.ndarray) -> None:
    """Keep the first and the best, half of all, rounded up, of the actions alive in some rows (a mask of them)."""
    losses = np.where(alive, -totals, np.inf)
    losses[:, 0] = -np.inf
    order = np.argsort(np.argsort(losses, axis=1, kind="stable"), axis=1)
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


def make_agent(argument: str, game: Game, settings: Any, seed: int) -> Agent:
    """``montecarlo``, or with options as in ``montecarlo:rollouts=500,policy=random,temperature=0.2``.

    ``policy`` is ``rules``, ``random``, or an agent that plays a network of features: ``policy=champion``,
    ``policy=ppo:runs/x``; then the search is ``network_search``'s, and ``beliefs=0`` leaves worlds unweighed.
    """
    options: dict[str, Any] = {}
    for part in argument.split(",") if argument else ():
        name, _, text = part.partition("=")
        if name == "rollouts":
            options["rollouts"] = int(_number(name, text, 1))
        elif name == "ms":
            options["milliseconds"] = _number(name, text, 0.001)
        elif name == "temperature":
            options["temperature"] = _number(name, text, 0)
        elif name == "beliefs" and text in ("0", "1"):
            options["beliefs"] = text == "1"
        elif name == "policy":
            options["policy"] = text
        else:
            raise AgentError(
                f"agent 'montecarlo' has no option {name!r}: the options are rollouts, ms, policy, temperature, and "
                "beliefs=0 or 1"
            )
    if "rollouts" in options and "milliseconds" in options:
        raise AgentError("agent 'montecarlo': give rollouts or ms, not both")
    if options.get("policy", "rules") not in POLICIES:
        return _network_search(options, game, settings, seed)
    if "beliefs" in options:
        raise AgentError("agent 'montecarlo': beliefs weigh worlds by a network's policy: give policy=ppo:RUN too")
    return MonteCarloAgent(game, seed=seed, **options)


def parts(argument: str) -> list[str]:
    """The policy that it searches with, if it names one; see ``agents.parts``."""
    return [part.removeprefix("policy=") for part in argument.split(",") if part.startswith("policy=")]


def _network_search(options: dict[str, Any], game: Game, settings: Any, seed: int) -> Agent:
    """The search over a learned policy; AgentError if the policy is none, or reads no features."""
    from auction_env import agents

    spec = options.pop("policy")
    if options.pop("temperature", 0):
        raise AgentError("agent 'montecarlo': temperature is an option of the policies rules and random only")
    try:
        policy = agents.make(spec, game, settings, seed)
    except AgentError as error:
        raise AgentError(
            f"agent 'montecarlo': policy {spec!r} is not {' or '.join(POLICIES)}, nor an agent: {error}"
        ) from error
    from auction_env.agents.learning.network_agent import CardAgent
    from auction_env.agents.learning.network_search import NetworkSearchAgent

    if not isinstance(policy, CardAgent):
        raise AgentError(f"agent 'montecarlo': policy {spec!r} plays no network that reads features")
    return NetworkSearchAgent(game, policy, len(game.action_names(settings)), seed=seed, **options)
