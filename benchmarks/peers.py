"""Other people's environments and evaluators, each driven the way its own documentation drives it.

Every function gives a ``Contender`` and raises ``Absent``, by name, when the package is not installed. They are the
extra ``bench`` of this project; ``make bench`` installs them.
"""

from __future__ import annotations

import functools
import importlib
import os
import random
import time
from typing import Any

import numpy as np

from benchmarks.measure import Absent, Contender, repeat, repeat_timed

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

HOLDEM = "limit hold'em"
SEATS = 4


def need(module: str, package: str) -> Any:
    """Import a peer's module.

    Raises:
        Absent: it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise Absent(f"{package}: skipped, not installed ({error})") from error


# --- OpenSpiel -------------------------------------------------------------------------------------------------------


def openspiel_holdem() -> Any:
    """OpenSpiel's limit hold'em with four seats, the usual blinds and caps."""
    settings = {
        "betting": "limit",
        "numPlayers": SEATS,
        "numRounds": 4,
        "blind": "1 2 0 0",
        "firstPlayer": "3 1 1 1",
        "numSuits": 4,
        "numRanks": 13,
        "numHoleCards": 2,
        "numBoardCards": "0 3 1 1",
        "raiseSize": "2 2 4 4",
        "maxRaises": "3 4 4 4",
    }
    return need("pyspiel", "open_spiel").load_game("universal_poker", settings)


def _openspiel_chance(state: Any, rng: random.Random) -> None:
    """Play the moves of chance, up to somebody's decision; cards are equally likely."""
    while state.is_chance_node():
        state.apply_action(rng.choice(state.legal_actions()))


def _openspiel_decisions(state: Any, rng: random.Random) -> int:
    """Play a state to its end at random; the decisions of players in it."""
    decisions = 0
    while not state.is_terminal():
        if state.is_chance_node():
            _openspiel_chance(state, rng)
        else:
            state.apply_action(rng.choice(state.legal_actions()))
            decisions += 1
    return decisions


def openspiel_rollouts(rollouts: int = 20_000, samples: int = 3_000) -> Contender:
    """Random play inside OpenSpiel's C++: its MCTS bot, told to search once, evaluates the root by random rollouts.

    A rollout starts after the private cards are dealt. Decisions a rollout are counted in ``samples`` of the same
    rollouts played from Python; moves of chance are not decisions, here as with us.
    """
    game, rng = openspiel_holdem(), random.Random(1)
    pyspiel = need("pyspiel", "open_spiel")
    root = game.new_initial_state()
    _openspiel_chance(root, rng)
    per_rollout = sum(_openspiel_decisions(root.clone(), rng) for _ in range(samples)) / samples
    evaluator = pyspiel.RandomRolloutEvaluator(rollouts, 7)
    bot = pyspiel.MCTSBot(game, evaluator, 2.0, 1, 100, False, 7, False)

    def work() -> int:
        bot.mcts_search(root)
        return round(rollouts * per_rollout)

    return Contender(f"OpenSpiel {HOLDEM}, C++ rollouts, 1 thread", repeat(work))


def openspiel_python(observe: bool) -> Contender:
    """OpenSpiel's hold'em played from Python: legal actions, one of them, apply; with the mover's tensor if asked."""
    game, rng = openspiel_holdem(), random.Random(1)

    def work() -> int:
        state, decisions = game.new_initial_state(), 0
        _openspiel_chance(state, rng)
        while not state.is_terminal():
            if observe:
                state.information_state_tensor(state.current_player())
            state.apply_action(rng.choice(state.legal_actions()))
            decisions += 1
            _openspiel_chance(state, rng)
        return decisions

    return Contender(f"OpenSpiel {HOLDEM}" + (", with observations" if observe else ""), repeat(work))


# --- rlcard and PettingZoo -------------------------------------------------------------------------------------------


def rlcard_python() -> Contender:
    """rlcard's limit hold'em, four seats: each step returns the next seat's observation and legal actions."""
    env = need("rlcard", "rlcard").make("limit-holdem", {"seed": 1, "game_num_players": SEATS})
    rng = random.Random(1)

    def work() -> int:
        state, _ = env.reset()
        decisions = 0
        while not env.is_over():
            state, _ = env.step(rng.choice(list(state["legal_actions"])))
            decisions += 1
        return decisions

    return Contender(f"rlcard {HOLDEM}, with observations", repeat(work))


def texas_holdem() -> Any:
    """PettingZoo's texas_holdem_v4 module."""
    return need("pettingzoo.classic.texas_holdem_v4", "PettingZoo texas_holdem_v4 (rlcard, pygame)")


def aec_loop(env: Any) -> int:
    """PettingZoo's documented loop with masked sampling, from reset to the end; the decisions made in it."""
    env.reset()
    decisions = 0
    for agent in env.agent_iter():
        observation, _reward, termination, truncation, _info = env.last()
        if termination or truncation:
            action = None
        else:
            action = env.action_space(agent).sample(observation["action_mask"])
            decisions += 1
        env.step(action)
    return decisions


def pettingzoo_aec() -> Contender:
    """PettingZoo's texas_holdem_v4, four seats, wrappers included."""
    env = texas_holdem().env(num_players=SEATS)
    env.reset(seed=1)
    return Contender("PettingZoo texas_holdem_v4", repeat(lambda: aec_loop(env)))


def tutorial_env() -> Any:
    """texas_holdem_v4 as a single-agent environment in the manner of PettingZoo's action-masking tutorial for SB3.

    One policy acts for every seat in turn: a step returns the next agent's observation and the mover's reward.
    """
    import gymnasium

    base = need("pettingzoo.utils", "PettingZoo").BaseWrapper
    masker = need("sb3_contrib.common.wrappers", "sb3-contrib").ActionMasker

    class OneForAll(base, gymnasium.Env):  # type: ignore
        def reset(self, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
            super().reset(seed, options)  # type: ignore[call-arg]
            first = self.possible_agents[0]
            self.observation_space = super().observation_space(first)["observation"]  # type: ignore[operator]
            self.action_space = super().action_space(first)  # type: ignore[operator]
            return self.observe(self.agent_selection), {}

        def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
            mover = self.agent_selection
            super().step(action)
            return (
                self.observe(self.agent_selection),
                self._cumulative_rewards[mover],
                self.terminations[mover],
                self.truncations[mover],
                self.infos[mover],
            )

        def observe(self, agent: str) -> np.ndarray:
            return super().observe(agent)["observation"]

        def action_mask(self) -> np.ndarray:
            return super().observe(self.agent_selection)["action_mask"]

    env = OneForAll(texas_holdem().env(num_players=SEATS))
    env.reset(seed=1)
    return masker(env, lambda wrapped: wrapped.action_mask())


def tutorial_learning(steps: int = 2048) -> Contender:
    """MaskablePPO on it with its defaults (two hidden layers of 64), as the tutorial has it; every step is a decision.

    Args:
        steps: decisions in an iteration of PPO; 2048 is the default.
    """
    ppo = need("sb3_contrib", "sb3-contrib").MaskablePPO
    torch = need("torch", "torch")
    logger = need("stable_baselines3.common.logger", "stable-baselines3").Logger(None, [])
    model = ppo("MlpPolicy", tutorial_env(), n_steps=steps, batch_size=min(64, steps), seed=1, device="cpu")
    model.set_logger(logger)

    def work() -> int:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # quickest for batches this small
        model.learn(steps, reset_num_timesteps=False)
        torch.set_num_threads(threads)
        return steps

    return Contender("MaskablePPO, tutorial's way, PettingZoo texas_holdem_v4", repeat(work))


# --- pgx -------------------------------------------------------------------------------------------------------------


@functools.cache
def _pgx(tables: int) -> Any:
    """pgx's Leduc hold'em compiled for a batch: (first states, step, sample)."""
    pgx, jax = need("pgx", "pgx"), need("jax", "pgx (jax)")
    auto_reset = need("pgx.experimental", "pgx").auto_reset
    env = pgx.make("leduc_holdem")
    one = auto_reset(env.step, env.init)

    def sample(key: Any, mask: Any) -> Any:
        key, for_actions, for_steps = jax.random.split(key, 3)
        actions = jax.random.categorical(for_actions, jax.numpy.log(mask.astype(jax.numpy.float32)), axis=-1)
        return key, actions, jax.random.split(for_steps, tables)

    first = jax.jit(jax.vmap(env.init))
    return lambda: first(jax.random.split(jax.random.PRNGKey(0), tables)), jax.vmap(one), sample


def pgx_step(tables: int = 4096, sampling: bool = False, steps: int = 16) -> Contender:
    """pgx's Leduc, its batched step with autoreset, compiled and with donated buffers; random legal actions.

    Args:
        tables: the batch.
        sampling: time the choice of actions (compiled too) as well as the step.
        steps: timed steps in a piece of work.
    """
    init, step, sample = _pgx(tables)
    jax = need("jax", "pgx (jax)")
    step, sample = jax.jit(step, donate_argnums=0), jax.jit(sample)
    now = {"state": init(), "key": jax.random.PRNGKey(1)}

    def work() -> tuple[int, float]:
        taken = 0.0
        for _ in range(steps):
            begun = time.perf_counter()
            now["key"], actions, keys = sample(now["key"], now["state"].legal_action_mask)
            jax.block_until_ready((actions, keys))
            if not sampling:
                begun = time.perf_counter()
            now["state"] = step(now["state"], actions, keys)
            jax.block_until_ready(now["state"])
            taken += time.perf_counter() - begun
        return tables * steps, taken

    return Contender("pgx Leduc" + (", with masked sampling" if sampling else ""), repeat_timed(work))


def pgx_scan(tables: int = 4096, steps: int = 32) -> Contender:
    """pgx's Leduc without Python between steps: sampling and stepping in one compiled loop (``lax.scan``)."""
    init, step, sample = _pgx(tables)
    jax = need("jax", "pgx (jax)")

    def body(carry: Any, _: Any) -> Any:
        state, key = carry
        key, actions, keys = sample(key, state.legal_action_mask)
        state = step(state, actions, keys)
        return (state, key), state.rewards.sum()

    loop = jax.jit(lambda state, key: jax.lax.scan(body, (state, key), None, length=steps))
    now = {"carry": (init(), jax.random.PRNGKey(1))}

    def work() -> int:
        now["carry"], rewards = loop(*now["carry"])
        jax.block_until_ready(rewards)
        return tables * steps

    return Contender("pgx Leduc, one compiled loop, all cores", repeat(work))


# --- hand evaluators -------------------------------------------------------------------------------------------------


def eval7_loop(iterations: int = 200_000) -> Contender:
    """eval7's Monte Carlo equity: its C loop draws the board and evaluates two seven-card hands an iteration."""
    eval7 = need("eval7", "eval7")
    hand = [eval7.Card("As"), eval7.Card("Kd")]
    against = eval7.HandRange("QQ,JTs,72o")

    def work() -> int:
        eval7.py_hand_vs_range_monte_carlo(hand, against, [], iterations)
        return 2 * iterations

    return Contender("eval7 high, inside its C loop", repeat(work))


def eval7_python(hands: np.ndarray) -> Contender:
    """eval7, one hand a call from Python. ``hands``: card indices, int[N, 7]."""
    eval7 = need("eval7", "eval7")
    cards = [([eval7.Card(name) for name in hand],) for hand in _names(hands)]
    return Contender("eval7 high, a call a hand", repeat(lambda: _sum_calls(eval7.evaluate, cards)))


def _names(hands: np.ndarray) -> list[list[str]]:
    from auction_env.games.cards import CARD_NAMES

    return [[CARD_NAMES[card] for card in hand] for hand in hands.tolist()]


def _sum_calls(evaluate: Any, hands: list[Any]) -> int:
    """Evaluate hands, each given by its arguments; the results are used."""
    total = 0
    for hand in hands:
        total += evaluate(*hand)
    assert total > 0
    return len(hands)


def phevaluator_python(hands: np.ndarray, inside: bool = False) -> Contender:
    """phevaluator, one hand a call from Python; ``inside``: its C function, past its Python one."""
    package = need("phevaluator", "phevaluator")
    evaluate = package.evaluate_cards
    if inside:
        evaluate = need("phevaluator._pheval", "phevaluator's C function").evaluate_7cards
    cards = hands.tolist()
    name = "phevaluator high, a call a hand" + (" (its C function)" if inside else "")
    return Contender(name, repeat(lambda: _sum_calls(evaluate, cards)))


def pokerkit_python(hands: np.ndarray, low: bool) -> Contender:
    """pokerkit, one hand a call from Python: its ordinary high hand or its ace-to-five low."""
    pokerkit = need("pokerkit", "pokerkit")
    kind = pokerkit.RegularLowHand if low else pokerkit.StandardHighHand
    cards = [(tuple(pokerkit.Card.parse("".join(hand))),) for hand in _names(hands[:64])]
    name = f"pokerkit {'low' if low else 'high'}, a call a hand"
    return Contender(name, repeat(lambda: _sum_calls(lambda hand: kind.from_game(hand).entry.index, cards)))
