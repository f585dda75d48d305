"""Chance taken from outside: cards settled one at a time, in place of the order that a generator shuffled.

A move (an action, or dealing) settles every card that it brings by the generator, as always. Whoever enumerates or
chooses chance then settles the same cards again, one by one, right after the move: the order in which the rest of the
deck lies, and of a discard pile just shuffled (B8), is never looked at before, so nothing else has to be redone. A card
is settled no earlier than somebody sees it.

A game takes part by defining three compiled functions of the row before the move and the row after it:
``num_draws(before, s)``, ``draw_choices(before, s, draw)`` and ``settle_draw(before, s, draw, card)``. For a
``ChanceTable`` three plain ones too: ``max_draws(settings)``, ``recorded_action(row, target)`` and ``recorded_draw(row,
draw, choices, target)``. See those of the package's games.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from auction_env.core.jit import kernel
from auction_env.engine.kernels import kernels, observation_size
from auction_env.games import get_game
from auction_env.games.cards import cards_of
from auction_env.games.game import Game, IllegalActionError

CHANCE_NAMES = ("num_draws", "draw_choices", "settle_draw")
TABLE_NAMES = (*CHANCE_NAMES, "max_draws", "recorded_action", "recorded_draw")
CHANCE = -1  # as a player


class ChanceKernels(NamedTuple):
    """Compiled functions of one game; ``before`` and ``states`` are arrays of its STATE, ``row`` picks a table."""

    num_draws: Callable[..., int]  # before, states, row -> cards that the move settled
    draw_choices: Callable[..., int]  # before, states, row, draw -> card set (uint64): each equally likely
    settle_draw: Callable[..., None]  # before, states, row, draw, card: one of the choices, draws in order


def has_chance(game: Any, names: tuple[str, ...] = CHANCE_NAMES) -> bool:
    """Whether a game can take its chance from outside; with ``TABLE_NAMES``, in a ``ChanceTable`` too."""
    return all(hasattr(game, name) for name in names)


def require_chance(game: Any, names: tuple[str, ...] = CHANCE_NAMES) -> None:
    """Raise ValueError, naming what is missing, unless ``has_chance``."""
    if not has_chance(game, names):
        missing = ", ".join(name for name in names if not hasattr(game, name))
        raise ValueError(f"{game.NAME} cannot take its chance from outside: it does not define {missing}")


@cache
def chance_kernels(game: Any) -> ChanceKernels:
    """The functions of a game. Raises ValueError if it does not define them."""
    require_chance(game)
    num_draws, draw_choices, settle_draw = game.num_draws, game.draw_choices, game.settle_draw

    @kernel(owner=game.NAME)
    def num_draws_row(before: Any, states: Any, row: Any) -> Any:
        return num_draws(before[row], states[row])

    @kernel(owner=game.NAME)
    def draw_choices_row(before: Any, states: Any, row: Any, draw: Any) -> Any:
        return draw_choices(before[row], states[row], draw)

    @kernel(owner=game.NAME)
    def settle_draw_row(before: Any, states: Any, row: Any, draw: Any, card: Any) -> None:
        settle_draw(before[row], states[row], draw, card)

    return ChanceKernels(num_draws_row, draw_choices_row, settle_draw_row)


class ChanceTable:
    """A match whose chance is asked for: who deals first, then each card as it is dealt or turned up.

    A table never changes: ``after`` gives the next one. At a moment of chance, what the seats see is what they saw
    before the move that brings the cards.

    Args:
        game: a game that can take its chance from outside, by name or module.
        settings: its Settings.
        dealer: the seat that deals first; None: chance decides (B1).

    Raises:
        ValueError: the game cannot, or there is no such seat.
    """

    def __init__(self, game: str | Game, settings: Any, dealer: int | None = None) -> None:
        self.game, self.settings, self.first_dealer = get_game(game), settings, dealer
        if dealer is not None and not 0 <= dealer < settings.num_players:
            raise ValueError(f"dealer is {dealer}: it must be a seat, 0 to {settings.num_players - 1}, or None")
        require_chance(self.game, TABLE_NAMES)
        self._chance, self._run = chance_kernels(self.game), kernels(self.game)
        self._scratch = np.zeros(self.game.MAX_LEGAL, np.int16)
        self._num_actions = len(self.game.action_names(settings))
        self._observation_size = observation_size(self.game, settings)
        self._moves: Any = None  # (those before, seat or CHANCE, choice), or None
        self.finals: tuple[np.ndarray, ...] = ()  # rows of the deals that are over, but the last
        self.returns = (0,) * settings.num_players  # chips won in all deals that are over (A14)
        self.deal_begin = 0  # where the present deal begins in ``history``
        self.draw = self.draws = 0  # the card that chance settles next, of how many
        self.dealer_due = dealer is None
        self.states = self.before = self.game.new_state(settings)  # the row, shape (1,), and the row before the move
        self._run.new_match(self.states, 0)
        if dealer is not None:
            self._deal_first(dealer)

    def __deepcopy__(self, memo: dict[int, Any]) -> ChanceTable:
        return self  # it never changes

    def __getstate__(self) -> dict[str, Any]:
        game = self.game.__name__  # type: ignore[attr-defined]
        choices = [choice for _, choice in self.history]
        return {"game": game, "settings": self.settings, "dealer": self.first_dealer, "choices": choices}

    def __setstate__(self, state: dict[str, Any]) -> None:
        import importlib

        table = ChanceTable(get_game(importlib.import_module(state["game"])), state["settings"], state["dealer"])
        for choice in state["choices"]:
            table = table.after(choice)
        self.__dict__.update(table.__dict__)

    # --- asking ---

    @property
    def player(self) -> int | None:
        """Who is to choose: a seat, CHANCE, or None when the match is over."""
        if self.dealer_due or self.draw < self.draws:
            return CHANCE
        seat = int(self.states["to_act"][0])
        return None if seat < 0 else seat

    def choices(self) -> list[int]:
        """What can be chosen now, ascending: actions of a seat; of chance, equally likely, cards or first dealers."""
        if self.dealer_due:
            return list(range(self.settings.num_players))
        if self.draw < self.draws:
            return sorted(cards_of(self._chance.draw_choices(self.before, self.states, 0, self.draw)))
        return sorted(self._scratch[: self._run.legal(self.states, 0, self._scratch)].tolist())

    @property
    def history(self) -> list[tuple[int, int]]:
        """All that was chosen: pairs of a seat, or CHANCE, and an action, card or first dealer."""
        found, moves = [], self._moves
        while moves is not None:
            moves, player, choice = moves
            found.append((player, choice))
        return found[::-1]

    @property
    def seen(self) -> np.ndarray | None:
        """The row that the seats look at, shape (1,): None before anything is dealt."""
        if self.player != CHANCE:
            return self.states
        nothing_yet = self.dealer_due or (not self.finals and self.before["phase"][0] == len(self.game.PHASES) - 1)
        return None if nothing_yet else self.before

    def observe(self, seat: int) -> np.ndarray:
        """As ``Table.observe``; zeros before the first deal is dealt: float32[observation_size]."""
        return self._observe(self.seen, seat)

    def final_observations(self, seat: int) -> list[np.ndarray]:
        """What a seat saw at the end of each deal before the present one."""
        return [self._observe(final, seat) for final in self.finals]

    def _observe(self, states: np.ndarray | None, seat: int) -> np.ndarray:
        out = np.zeros(self._observation_size, np.float32)
        if states is not None:
            self._run.observe(states, 0, seat, out, 1.0)
        return out

    # --- choosing ---

    def after(self, choice: int) -> ChanceTable:
        """The table after a choice.

        Raises:
            IllegalActionError: it is not one of ``choices``.
        """
        player = self.player
        twin = object.__new__(ChanceTable)
        twin.__dict__.update(self.__dict__)
        twin.states = _copied(self.states)
        twin._moves = (self._moves, player, choice)
        if player == CHANCE:
            twin._settle(choice)
            return twin
        mask = np.zeros(self._num_actions, np.int8)
        if player is None or self._run.act(twin.states, 0, choice, self._scratch, mask) < 0:
            legal = "nothing: the match is over" if player is None else f"one of {self.choices()}"
            raise IllegalActionError(f"action {choice} is not legal now: legal is {legal}")
        twin._moved(self.states)
        if twin.states["to_act"][0] < 0:
            twin._end_deal()
        return twin

    def _settle(self, choice: int) -> None:
        if choice not in self.choices():
            raise IllegalActionError(f"chance cannot bring {choice}: it is one of {self.choices()}")
        if self.dealer_due:
            self.dealer_due, self.deal_begin = False, 1
            self._deal_first(choice)
        else:
            self._chance.settle_draw(self.before, self.states, 0, self.draw, choice)
            self.draw += 1

    def _deal_first(self, dealer: int) -> None:
        before = _copied(self.states)
        self.states["dealer"] = dealer
        self._run.deal(self.states, 0, 0)
        self._moved(before)

    def _end_deal(self) -> None:
        states = self.states
        won = (states["award"][0].astype(np.int64) - states["paid"][0]).tolist()
        self.returns = tuple(chips + more for chips, more in zip(self.returns, won, strict=False))
        if not states["match_over"][0]:
            before = _copied(states)
            self.finals = (*self.finals, before)
            self.deal_begin = len(self.history)
            self._run.next_deal(states, 0)
            self._moved(before)

    def _moved(self, before: np.ndarray) -> None:
        self.before, self.draw = before, 0
        self.draws = int(self._chance.num_draws(before, self.states, 0))

    # --- imagining ---

    def resample_from_infostate(self, seat: int, word: int) -> ChanceTable:
        """A table whose present deal is drawn anew, uniformly among those that the seat cannot tell apart.

        The course of the deal goes with it: cards and choices in ``history`` that the seat does not know are as drawn.
        Deals that are over stay as they were, which matters to nothing that can still happen.

        Args:
            seat: who looks.
            word: seed of the drawing, from 0 to 2**64 - 1.

        Raises:
            ValueError: chance is to choose: nobody has looked yet.
        """
        if self.player == CHANCE:
            raise ValueError("chance is to choose: a seat can imagine the cards only once it has seen its own")
        target = _copied(self.states)
        self._run.resample_from_infostate(target, np.array([seat]), np.array([word], np.uint64))
        game: Any = self.game
        names, history = game.action_names(self.settings), self.history
        secret = len(history) - game.pending(self.states[0])  # from here on, the others' choices are hidden
        table = ChanceTable(game, self.settings, self.first_dealer)
        for number, (player, chosen) in enumerate(history):
            row, choice = table.states[0], chosen
            if number >= self.deal_begin and player == CHANCE:
                choice = game.recorded_draw(row, table.draw, table.choices(), target[0])
            elif number >= self.deal_begin and player != seat:
                hidden = number >= secret or game.public_name(self.settings, chosen) != names[chosen]
                choice = game.recorded_action(row, target[0]) if hidden else chosen
            table = table.after(choice)
        return table


def _copied(states: np.ndarray) -> np.ndarray:
    """A copy, byte by byte: numpy's own goes field by field, which takes several times as long."""
    return states.view(np.uint8).copy().view(states.dtype)
