"""The compiled loops over a game's functions: for one table, and for many in one array of states."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from auction_env.core.jit import kernel
from auction_env.games import cards, get_game
from auction_env.games.game import Game

MAX_SEED = 2**63 - 1


class Outputs(NamedTuple):
    """What steps write: arrays with a row for each table. ``watched`` is read: whose final observation to write."""

    observations: np.ndarray  # float32 or int8 [N, size]: of the seat to act
    masks: np.ndarray  # int8 [N, actions]: of the seat to act
    seats: np.ndarray  # int8 [N]: the seat to act
    payoffs: np.ndarray  # float32 [N, seats]: results in chips of the last deal that ended (A14)
    deal_over: np.ndarray  # bool [N]: whether the last step ended a deal
    match_over: np.ndarray  # bool [N]: whether the last deal that ended was its match's last
    watched: np.ndarray  # int8 [N]: a seat, or -1
    final: np.ndarray  # as observations: what the watched seat saw as the last deal ended


@dataclasses.dataclass(frozen=True)
class Kernels:
    """The compiled loops of one game. ``states`` is an array of its STATE; ``row`` picks one table."""

    seed: Callable[..., None]  # states, seeds: start each generator
    new_match: Callable[..., None]  # states, row: stacks and dealer
    deal: Callable[..., None]  # states, row, given
    next_deal: Callable[..., None]  # states, row
    legal: Callable[..., int]  # states, row, out -> count
    act: Callable[..., int]  # states, row, action, scratch, mask -> how many actions are legal next (0: the deal is
    # over), marked in ``mask`` (zeros); -1, and nothing done, if the action is illegal
    observe: Callable[..., None]  # states, row, seat, out, full
    resample_from_infostate: Callable[..., None]  # states, seats, seeds: one of each for every row
    # From here the first line of scratch is used; ``out`` is an Outputs; ``allowed``, uint64 [N, words], has a
    # bit for each action, set where it is legal: what steps are checked by, in a few bytes a table.
    start: Callable[..., None]  # states, rows, scratch, allowed, out, full: begin matches
    show: Callable[..., None]  # the same, of tables as they are
    step: Callable[..., int]  # states, rows, actions, scratch, allowed, out, full -> -1: act and go on; or the index in
    # ``rows`` of the first illegal action, and nothing is done
    first_illegal: Callable[
        ..., int
    ]  # rows, actions, allowed, out -> the first half of a step, for parts of it at once
    advance: Callable[..., None]  # as step: the second
    rollout: Callable[
        ..., int
    ]  # states, decisions, scratch, payoffs -> deals played at random; adds results to payoffs


@cache
def kernels(game: Any) -> Kernels:
    """The compiled loops of a game; machine code is made on first call and kept on disk."""
    owner = game.NAME
    new_match, deal, next_deal = game.new_match, game.deal, game.next_deal
    legal, act, observe, resample_from_infostate = game.legal, game.act, game.observe, game.resample_from_infostate
    seed_generator, draw_below = cards.seed_generator, cards.draw_below

    @kernel(owner=owner)
    def seed_rows(states: Any, seeds: Any) -> None:
        for row in range(states.shape[0]):
            seed_generator(states[row], seeds[row])

    @kernel(owner=owner)
    def new_match_row(states: Any, row: Any) -> None:
        new_match(states[row])

    @kernel(owner=owner)
    def deal_row(states: Any, row: Any, given: Any) -> None:
        deal(states[row], given)

    @kernel(owner=owner)
    def next_deal_row(states: Any, row: Any) -> None:
        next_deal(states[row])

    @kernel(owner=owner)
    def legal_row(states: Any, row: Any, out: Any) -> Any:
        return legal(states[row], out)

    @kernel(owner=owner)
    def is_legal(s: Any, action: Any, scratch: Any) -> Any:
        found = False
        for place in range(legal(s, scratch)):
            found |= scratch[place] == action
        return found

    @kernel(owner=owner)
    def act_row(states: Any, row: Any, action: Any, scratch: Any, mask: Any) -> Any:
        s = states[row]
        if not is_legal(s, action, scratch):
            return -1
        act(s, action)
        count = legal(s, scratch)
        for place in range(count):
            mask[scratch[place]] = 1
        return count

    @kernel(owner=owner)
    def observe_row(states: Any, row: Any, seat: Any, out: Any, full: Any) -> None:
        observe(states[row], seat, out, full)

    @kernel(owner=owner)
    def resample_rows(states: Any, seats: Any, seeds: Any) -> None:
        for row in range(states.shape[0]):
            seed_generator(states[row], seeds[row])
            resample_from_infostate(states[row], seats[row])

    @kernel(owner=owner)
    def is_allowed(allowed: Any, row: Any, action: Any, actions: Any) -> Any:
        if action < 0 or action >= actions:
            return False
        return (allowed[row, action >> 6] >> np.uint64(action & 63)) & np.uint64(1) != np.uint64(0)

    @kernel(owner=owner)
    def show(s: Any, row: Any, scratch: Any, allowed: Any, out: Any, full: Any) -> None:
        """Write the acting seat of one table, its observation and its mask."""
        out.seats[row] = s.to_act
        out.observations[row, :] = 0
        observe(s, s.to_act, out.observations[row], full)
        out.masks[row, :] = 0
        allowed[row, :] = np.uint64(0)
        for place in range(legal(s, scratch)):
            action = np.int64(scratch[place])
            out.masks[row, action] = 1
            allowed[row, action >> 6] |= np.uint64(1) << np.uint64(action & 63)

    @kernel(owner=owner)
    def advance(states: Any, row: Any, action: Any, scratch: Any, allowed: Any, out: Any, full: Any) -> None:
        """Act at one table; after a deal write its result and go on to the next deal, or to a new match."""
        s = states[row]
        act(s, action)
        out.deal_over[row] = s.to_act < 0
        if s.to_act < 0:
            out.match_over[row] = s.match_over
            for seat in range(out.payoffs.shape[1]):
                out.payoffs[row, seat] = s.award[seat] - s.paid[seat]
            if out.watched[row] >= 0:
                out.final[row, :] = 0
                observe(s, out.watched[row], out.final[row], full)
            if s.match_over:
                new_match(s)
                deal(s, 0)
            else:
                next_deal(s)
        show(s, row, scratch, allowed, out, full)

    @kernel(owner=owner)
    def first_illegal(rows: Any, actions: Any, allowed: Any, out: Any) -> Any:
        for index in range(rows.shape[0]):
            if not is_allowed(allowed, rows[index], actions[index], out.masks.shape[1]):
                return index
        return -1

    @kernel(owner=owner)
    def advance_rows(states: Any, rows: Any, actions: Any, scratch: Any, allowed: Any, out: Any, full: Any) -> None:
        for index in range(rows.shape[0]):
            advance(states, rows[index], actions[index], scratch[0], allowed, out, full)

    @kernel(owner=owner)
    def step_rows(states: Any, rows: Any, actions: Any, scratch: Any, allowed: Any, out: Any, full: Any) -> Any:
        illegal = first_illegal(rows, actions, allowed, out)
        if illegal < 0:
            advance_rows(states, rows, actions, scratch, allowed, out, full)
        return illegal

    @kernel(owner=owner)
    def start_rows(states: Any, rows: Any, scratch: Any, allowed: Any, out: Any, full: Any) -> None:
        for row in rows:
            new_match(states[row])
            deal(states[row], 0)
            show(states[row], row, scratch[0], allowed, out, full)

    @kernel(owner=owner)
    def show_rows(states: Any, rows: Any, scratch: Any, allowed: Any, out: Any, full: Any) -> None:
        for row in rows:
            show(states[row], row, scratch[0], allowed, out, full)

    @kernel(owner=owner)
    def play_on(s: Any, decisions: Any, scratch: Any, payoffs: Any) -> Any:
        """Random legal play at one table for some decisions; adds up results, returns the deals finished."""
        deals = 0
        for _ in range(decisions):
            act(s, scratch[draw_below(s, legal(s, scratch))])
            if s.to_act < 0:
                deals += 1
                for seat in range(payoffs.shape[0]):
                    payoffs[seat] += s.award[seat] - s.paid[seat]
                if s.match_over:
                    new_match(s)
                    deal(s, 0)
                else:
                    next_deal(s)
        return deals

    @kernel(owner=owner)
    def rollout(states: Any, decisions: Any, scratch: Any, payoffs: Any) -> Any:
        deals = 0
        for row in range(states.shape[0]):
            deals += play_on(states[row], decisions, scratch[0], payoffs[row])
        return deals

    return Kernels(
        seed=seed_rows,
        new_match=new_match_row,
        deal=deal_row,
        next_deal=next_deal_row,
        legal=legal_row,
        act=act_row,
        observe=observe_row,
        resample_from_infostate=resample_rows,
        step=step_rows,
        first_illegal=first_illegal,
        advance=advance_rows,
        start=start_rows,
        show=show_rows,
        rollout=rollout,
    )


class Compiled:
    """Has a game in ``game`` and its compiled code in other attributes: copies and pickles take data, the game by name.

    ``CODE`` says what gives the code of each such attribute, for a game.
    """

    CODE: ClassVar[dict[str, Callable[[Any], Any]]] = {"_kernels": kernels}
    game: Any
    _kernels: Kernels

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "game": self.game.__name__, **dict.fromkeys(self.CODE)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.game = get_game(importlib.import_module(state["game"]))
        for name, code in self.CODE.items():
            setattr(self, name, code(self.game))


def seed_words(seed: int | None, count: int = 1) -> np.ndarray:
    """Seeds of ``count`` tables, uint64[count]: ``seed``, ``seed + 1``, ...; from the system's entropy for None.

    Raises:
        ValueError: the seed is not an integer from 0 to 2**63 - 1.
    """
    if seed is None:
        return np.random.default_rng().integers(0, 2**63, count).astype(np.uint64)
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed <= MAX_SEED:
        raise ValueError(f"seed is {seed!r}: it must be an integer from 0 to 2**63 - 1, or None for a fresh one")
    return np.uint64(seed) + np.arange(count, dtype=np.uint64)


def observation_size(game: Game, settings: Any) -> int:
    """Entries of a seat's flat observation."""
    return sum(field.size for field in game.observation_fields(settings))


def decision_size(game: Game, settings: Any) -> int:
    """Entries of a flat observation that can differ while a deal is played: the rest, at the end, show how it ended."""
    return sum(field.size for field in game.observation_fields(settings) if not field.final_only)
