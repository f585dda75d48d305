"""Chance taken from outside: cards settled one at a time, in place of the order that a generator shuffled.

A move (an action, or dealing) settles every card that it brings by the generator, as always. Whoever enumerates or
chooses chance then settles the same cards again, one by one, right after the move: the order in which the rest of the
deck lies, and of a discard pile just shuffled (B8), is never looked at before, so nothing else has to be redone. A card
is settled no earlier than somebody sees it.

A game takes part by defining three compiled functions of the row before the move and the row after it:
``num_draws(before, s)``, ``draw_choices(before, s, draw)`` and ``settle_draw(before, s, draw, card)``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from auction_env.core.jit import kernel

CHANCE_NAMES = ("num_draws", "draw_choices", "settle_draw")


class ChanceKernels(NamedTuple):
    """Compiled functions of one game; ``before`` and ``states`` are arrays of its STATE, ``row`` picks a table."""

    num_draws: Callable[..., int]  # before, states, row -> cards that the move settled
    draw_choices: Callable[..., int]  # before, states, row, draw -> card set (uint64): each equally likely
    settle_draw: Callable[..., None]  # before, states, row, draw, card: one of the choices, draws in order


def has_chance(game: Any) -> bool:
    """Whether a game can take its chance from outside."""
    return all(hasattr(game, name) for name in CHANCE_NAMES)


@cache
def chance_kernels(game: Any) -> ChanceKernels:
    """The functions of a game. Raises ValueError if it does not define them."""
    if not has_chance(game):
        raise ValueError(f"{game.NAME} cannot take its chance from outside: it defines no {', '.join(CHANCE_NAMES)}")
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
