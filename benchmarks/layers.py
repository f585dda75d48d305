"""The layers that play: compiled rollouts, batches, one table, PettingZoo, and hands; ours and peers in turn."""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from auction_env.agents.random import RandomAgent

from auction_env import Table, get_game
from auction_env.engine.batch import Batch
from auction_env.engine.kernels import decision_size
from auction_env.games.hands import high_keys, high_rank, low_keys, low_rank
from benchmarks import peers
from benchmarks.games import MAIN_GAME, SEATS, four_seats, thread_counts, threads_name, training_settings
from benchmarks.measure import Contender, Effort, add_target, collect, repeat, repeat_timed, row_of, take_turns

MILLION = 1e6

# --- the engine ------------------------------------------------------------------------------------------------------


def _same_on_any_threads(name: str) -> None:
    """Raise AssertionError unless random play gives the same results on any number of threads."""
    found = []
    for threads in thread_counts():
        batch = Batch(name, four_seats(name), 64, threads=threads)
        batch.reset(5)
        deals, net = batch.rollout(500)
        found.append((deals, net.tobytes(), batch.states.tobytes()))
    assert all(other == found[0] for other in found), f"{name}: results depend on the number of threads"


def _rollouts(name: str, threads: int, tables: int = 512, decisions: int = 1000) -> Contender:
    batch = Batch(name, four_seats(name), tables, threads=threads)
    batch.reset(0)

    def work() -> int:
        batch.rollout(decisions)
        return tables * decisions

    return Contender(f"{name}, {threads_name(threads)}", repeat(work), name)


def rollouts(effort: Effort, games: Sequence[str]) -> dict[str, Any]:
    """Random legal play without Python between decisions."""
    for name in games:
        _same_on_any_threads(name)
    ours = [_rollouts(name, threads) for name in games for threads in thread_counts()]
    others, skipped = collect([peers.openspiel_rollouts, peers.pgx_scan])
    contenders = [*ours, *others]
    values = take_turns(contenders, effort.rounds, effort.seconds)
    openspiel = "OpenSpiel limit hold'em, C++ rollouts, 1 thread"
    against = (openspiel, "pgx Leduc, one compiled loop, all cores")
    threads = threads_name(thread_counts()[1] if len(thread_counts()) > 1 else 1)
    row = row_of(
        "compiled rollouts",
        "decisions/s",
        "random legal play, no Python between decisions, deals, dealing and awards included (`Batch.rollout`); "
        "OpenSpiel's C++ plays on from dealt hands (`RandomRolloutEvaluator` through its MCTS bot)",
        contenders,
        values,
        [(c.game or "", c.name, against) for c in ours],
        skipped,
        same_on_any_threads=True,
    )
    add_target(row, "40 million/s on 2 threads", 40 * MILLION, f"{MAIN_GAME}, {threads}")
    add_target(row, "22 x OpenSpiel's C++", 22, f"{MAIN_GAME}, {threads}", openspiel)
    return row


def stepping(
    name: str,
    label: str,
    *,
    tables: int,
    settings: Any = None,
    dtype: Any = np.int8,
    sampling: bool = False,
    threads: int | None = None,
    decisions: int = 16_384,
) -> Contender:
    """``Batch.step`` with random legal actions; what a learner sees is written for the seat to act.

    Args:
        name, label: the game, and the rest of the contender's name.
        tables: the batch.
        settings: of the game; by default those that it is trained with, with four seats.
        dtype: of observations.
        sampling: time the choice of actions as well as the step.
        threads: of the step; None: as ``Batch`` chooses.
        decisions: played in a piece of work.
    """
    game, settings = get_game(name), settings or training_settings(name)
    batch = Batch(game, settings, tables, dtype=dtype, size=decision_size(game, settings), threads=threads)
    agent, out, steps = RandomAgent(0), batch.reset(0), max(1, decisions // tables)

    def work() -> tuple[int, float]:
        taken = 0.0
        for _ in range(steps):
            begun = time.perf_counter()
            actions = agent.act_batch(out.observations, out.masks)
            if not sampling:
                begun = time.perf_counter()
            batch.step(actions)
            taken += time.perf_counter() - begun
        return tables * steps, taken

    return Contender(f"{name}, {label}", repeat_timed(work), name)


COPY = "copying as many bytes in memory"


def copying(name: str, tables: int) -> Contender:
    """Copies in memory of as many bytes as ``Batch.step`` writes of int8 observations and masks, a decision a row."""
    game, settings = get_game(name), training_settings(name)
    entries = decision_size(game, settings) + len(game.action_names(settings))
    source, target = np.ones((2, tables, entries), np.int8)

    def copies() -> int:
        for _ in range(50):
            np.copyto(target, source)
        return 50 * tables

    return Contender(f"{name}, {COPY}", repeat(copies), name)


def batch_step(effort: Effort, games: Sequence[str]) -> dict[str, Any]:
    """One step of many tables from Python."""
    ours, tables = [], effort.batch
    for name in games:
        ours += [
            stepping(name, "int8", tables=tables),
            stepping(name, "int8, 1 thread", tables=tables, threads=1),
            stepping(name, "float32", tables=tables, dtype=np.float32),
            stepping(name, "int8, with masked sampling", tables=tables, sampling=True),
        ]
        ours.append(copying(name, tables))
        if training_settings(name) != four_seats(name):
            ours.append(stepping(name, "int8, its default observation", tables=tables, settings=four_seats(name)))
    others, skipped = collect([functools.partial(peers.pgx_step, tables, sampling) for sampling in (False, True)])
    contenders = [*ours, *others]
    values = take_turns(contenders, effort.rounds, effort.seconds)
    heads = []
    for name in games:
        heads += [
            (name, f"{name}, int8", ("pgx Leduc", f"{name}, {COPY}")),
            (name, f"{name}, int8, with masked sampling", ("pgx Leduc, with masked sampling",)),
            (name, f"{name}, float32", ("pgx Leduc",)),
        ]
    row = row_of(
        f"batch step from Python, {tables:,} tables",
        "decisions/s",
        "`Batch.step`: check, act, autoreset, and write observation, mask and results; choosing the actions is timed "
        "only where the name says so; both with all cores unless the name says otherwise",
        contenders,
        values,
        heads,
        skipped,
        observation_entries={n: decision_size(get_game(n), training_settings(n)) for n in games} | {"pgx Leduc": 34},
    )
    add_target(row, "5 million/s", 5 * MILLION, f"{MAIN_GAME}, int8")
    add_target(row, "4 x pgx's Leduc", 4, f"{MAIN_GAME}, int8", "pgx Leduc")
    return row


# --- one table from Python -------------------------------------------------------------------------------------------


def _table(name: str, observe: bool) -> Contender:
    table, rng = Table(name, four_seats(name)), random.Random(1)
    table.reset(0)

    def work() -> int:
        table.reset()
        decisions = 0
        while (seat := table.to_act) is not None:
            if observe:
                table.observe(seat)
            table.act(rng.choice(table.legal()))
            decisions += 1
        return decisions

    return Contender(name + (", with observations" if observe else ""), repeat(work), name)


def one_table(effort: Effort, games: Sequence[str]) -> dict[str, Any]:
    """One table driven from Python: legal actions, one of them at random, apply."""
    ours = [_table(name, observe) for name in games for observe in (False, True)]
    makers = [functools.partial(peers.openspiel_python, observe) for observe in (False, True)]
    others, skipped = collect([*makers, peers.rlcard_python])
    contenders = [*ours, *others]
    values = take_turns(contenders, effort.rounds, effort.seconds)
    heads = []
    for name in games:
        heads += [
            (name, name, ("OpenSpiel limit hold'em",)),
            (
                name,
                f"{name}, with observations",
                ("OpenSpiel limit hold'em, with observations", "rlcard limit hold'em, with observations"),
            ),
        ]
    return row_of(
        "one table from Python",
        "decisions/s",
        "`Table`: legal actions, a random one, act, deals included; the others in the same way",
        contenders,
        values,
        heads,
        skipped,
    )


def playing_aec(name: str) -> Contender:
    """The AEC environment of a game of ours, wrappers included, deal after deal."""
    import auction_env

    env = getattr(auction_env, f"{name}_v{get_game(name).VERSION}").env(num_players=SEATS)
    env.reset(seed=1)
    return Contender(name, repeat(lambda: peers.aec_loop(env)), name)


def aec(effort: Effort, games: Sequence[str]) -> dict[str, Any]:
    """PettingZoo's loop, as its documentation has it."""
    ours = [playing_aec(name) for name in games]
    others, skipped = collect([peers.pettingzoo_aec])
    contenders = [*ours, *others]
    values = take_turns(contenders, effort.rounds, effort.seconds)
    peer = "PettingZoo texas_holdem_v4"
    row = row_of(
        "AEC `env()`, PettingZoo's documented loop",
        "decisions/s",
        "`last()`, `action_space(agent).sample(mask)`, `step()`, wrappers, resets and the last round of dead steps "
        f"included; all with {SEATS} seats",
        contenders,
        values,
        [(name, name, (peer,)) for name in games],
        skipped,
    )
    add_target(row, "12 x texas_holdem_v4", 12, MAIN_GAME, peer)
    return row


# --- hands -----------------------------------------------------------------------------------------------------------


def random_hands(count: int) -> np.ndarray:
    """Seven distinct cards each, int64[count, 7]."""
    return np.random.default_rng(7).random((count, 52)).argpartition(7, axis=1)[:, :7]


def card_sets(hands: np.ndarray) -> np.ndarray:
    """The same as card sets, uint64[count]."""
    places = (16 * (hands & 3) + (hands >> 2)).astype(np.uint64)
    return np.bitwise_or.reduce(np.uint64(1) << places, axis=1)


def _keys(name: str, keys: Callable[..., None], sets: np.ndarray) -> Contender:
    out = np.zeros(len(sets), np.int64)

    def work() -> int:
        keys(sets, out)
        assert out.sum() > 0
        return len(sets)

    return Contender(name, repeat(work), MAIN_GAME)


def hands(effort: Effort, games: Sequence[str]) -> dict[str, Any]:
    """Seven-card hands ranked, one thread."""
    cards = random_hands(effort.hands)
    sets = card_sets(cards)
    some = cards[: min(2000, len(cards))]
    lists = some.tolist()

    def call_by_call(rank: Callable[[list[int]], int]) -> int:
        total = 0
        for hand in lists:
            total += rank(hand)
        assert total > 0
        return len(lists)

    ours = [
        _keys("high", high_keys, sets),
        _keys("low, ace to five", low_keys, sets),
        Contender("high, `high_rank`, a call a hand", repeat(functools.partial(call_by_call, high_rank)), MAIN_GAME),
        Contender("low, `low_rank`, a call a hand", repeat(functools.partial(call_by_call, low_rank)), MAIN_GAME),
    ]
    others, skipped = collect(
        [
            peers.eval7_loop,
            functools.partial(peers.phevaluator_python, some, inside=True),
            functools.partial(peers.eval7_python, some),
            functools.partial(peers.phevaluator_python, some),
            functools.partial(peers.pokerkit_python, some, low=False),
            functools.partial(peers.pokerkit_python, some, low=True),
        ]
    )
    contenders = [*ours, *others]
    values = take_turns(contenders, effort.rounds, effort.seconds / 2)
    calls = ("eval7 high, a call a hand", "phevaluator high, a call a hand", "pokerkit high, a call a hand")
    inside = "phevaluator high, a call a hand (its C function)"
    row = row_of(
        "seven-card hands, one thread",
        "hands/s",
        "random cards, every result used: a compiled loop over card sets; eval7's loop draws the board too, "
        "phevaluator and pokerkit are called from Python for each hand, for they have no loop of their own",
        contenders,
        values,
        [
            (MAIN_GAME, "high", ("eval7 high, inside its C loop", inside)),
            (MAIN_GAME, "low, ace to five", ()),
            (MAIN_GAME, "high, `high_rank`, a call a hand", calls),
            (MAIN_GAME, "low, `low_rank`, a call a hand", ("pokerkit low, a call a hand",)),
        ],
        skipped,
    )
    add_target(row, "20 million high/s", 20 * MILLION, "high")
    add_target(row, "10 million low/s", 10 * MILLION, "low, ace to five")
    return row
