"""Whether play can reach a state: what comes from outside is played again by the rules before compiled code sees it.

Compiled code does not check what it reads from a state: a seat, a card or a count out of range reads or writes
elsewhere in memory. So no field is trusted: a state is rebuilt from the start of its deal, and must come out equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from auction_env.engine.kernels import Kernels, kernels
from auction_env.games.cards import deck_cards
from auction_env.games.game import Game, IllegalActionError

_MOST_CHIPS = 1 << 28  # of a seat: sums stay within 32 bits
_FREE = frozenset({"rng"})  # a generator may stand anywhere


class StateError(ValueError):
    """A state is not one that play can reach; the message names the row, the field and what is wrong with it."""


def check_states(game: Game, settings: Any, states: np.ndarray) -> None:
    """Check tables with a deal on, each by playing its deal again.

    A game takes part by defining ``retrace(row, target, act)`` and ``settled(row)``, as those of this package do. Of
    other games only the fields that every STATE has are checked.

    Args:
        game: the game.
        settings: what all tables are played at.
        states: rows of the game's STATE, shape (N,).

    Raises:
        StateError: naming the first row that is not reachable; nothing has changed.
    """
    if not isinstance(states, np.ndarray) or states.dtype != game.STATE or states.ndim != 1:
        raise StateError(f"the states are not rows of {game.NAME}'s STATE: give an array of that dtype")
    _check_fields(game, settings, states)
    if not hasattr(game, "retrace"):
        return
    run = kernels(game)
    replayed = np.repeat(game.new_state(settings), len(states))
    for number in range(len(states)):
        try:
            _replay(game, settings, run, replayed[number : number + 1], states[number])
        except StateError as error:
            raise StateError(f"row {number}: {error}") from None
    _compare(game, replayed, states)


# --- fields that every game has ---------------------------------------------------------------------------------------


def _check_fields(game: Game, settings: Any, states: np.ndarray) -> None:
    seats = settings.num_players
    deck = np.array(deck_cards(settings.num_ranks, settings.num_suits))
    _require(states, "num_players", states["num_players"] == seats, f"it must be {seats}, as in the settings")
    _require(states, "to_act", _within(states["to_act"], seats), f"it must be a seat, 0 to {seats - 1}: a deal is on")
    _require(states, "dealer", _within(states["dealer"], seats), f"it must be a seat, 0 to {seats - 1}")
    _require(states, "phase", _within(states["phase"], len(game.PHASES) - 1), "it must be a phase before the last")
    _require(states, "match_over", states["match_over"] == 0, "it must be 0 while a deal is on")
    _require(
        states,
        "deal_number",
        _within(states["deal_number"], settings.num_deals),
        f"it must be 0 to {settings.num_deals - 1}",
    )
    cards = np.sort(states["deck"][:, : len(deck)], axis=1)
    _require(states, "deck", (cards == deck).all(axis=1), "it must hold each card of the deck once")
    stacks, paid = states["stacks"].astype(np.int64), states["paid"].astype(np.int64)
    for name, chips in (("stacks", stacks), ("paid", paid)):
        good = ((chips >= 0) & (chips <= _MOST_CHIPS)).all(axis=1) & (chips[:, seats:] == 0).all(axis=1)
        _require(states, name, good, "chips must be at least 0, and 0 where nobody sits")
    carried = states["total_chips"] - (stacks + paid).sum(axis=1)
    good = (carried >= 0) & (carried <= _MOST_CHIPS) & (game.CARRIES_POT | (carried == 0))
    _require(states, "total_chips", good, "it does not go with the chips of the seats")


def _within(values: np.ndarray, end: int) -> np.ndarray:
    return (values >= 0) & (values < end)


def _require(states: np.ndarray, field: str, good: np.ndarray, words: str) -> None:
    if not good.all():
        number = int(np.flatnonzero(~good)[0])
        raise StateError(f"row {number}: {field} is {_shown(states[field][number])}: {words}")


# --- the deal, played again -------------------------------------------------------------------------------------------


def _replay(game: Any, settings: Any, run: Kernels, states: np.ndarray, target: Any) -> None:
    """Bring a new row, ``states`` of shape (1,), from the start of the target's deal as far as the target says."""
    row = states[0]
    for name in ("rng", "deck", "dealer", "deal_number", "total_chips"):
        row[name] = target[name]
    row.match_over = 0
    row.stacks[:] = target.stacks + target.paid
    row.carried_pot = target.total_chips - row.stacks.sum()
    excluded = [game.eligibility(row, seat) for seat in range(settings.num_players)]
    if sum(not reason for reason in excluded) < 2 or excluded[row.dealer]:
        raise StateError(f"stacks is {_shown(target.stacks)}: with these chips the deal cannot have been dealt")
    run.deal(states, 0, settings.num_ranks * settings.num_suits)
    scratch, mask = np.zeros(game.MAX_LEGAL + 64, np.int16), np.zeros(len(game.action_names(settings)), np.int8)

    def act(action: int) -> None:
        if run.act(states, 0, int(action), scratch, mask) < 0:
            raise IllegalActionError(f"an action of seat {row.to_act} in phase {game.PHASES[row.phase]} was not legal")

    try:
        game.retrace(row, target, act)
    except ValueError as error:
        raise StateError(str(error)) from None


def _compare(game: Any, replayed: np.ndarray, states: np.ndarray) -> None:
    """Every field must be as replayed, as far as it says anything."""
    parts = [game.settled(row) for row in replayed]
    some = {name for part in parts for name in part}
    for name in game.STATE.names:
        expected, found = replayed[name], states[name]
        if name in _FREE:
            continue
        if name not in some:
            wrong = np.flatnonzero((expected != found).reshape(len(states), -1).any(axis=1))
        else:
            wrong = np.array([n for n, part in enumerate(parts) if _differ(expected[n], found[n], part[name])])
        if len(wrong):
            first = int(wrong[0])
            words = f"play as the other fields tell it gives {_shown(expected[first])}"
            raise StateError(f"row {first}: {name} is {_shown(found[first])}: {words}")


def _differ(expected: np.ndarray, found: np.ndarray, part: Any) -> bool:
    return part is not None and bool((expected[part] != found[part]).any())


def _shown(value: Any) -> str:
    return np.array2string(np.asarray(value), threshold=20, max_line_width=10**6).replace("\n", "")
