"""What the interfaces need of a player, and how they ask it: with what its seat may know, and nothing else."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from auction_env.engine.kernels import kernels
from auction_env.games.game import Game


class PlayerError(RuntimeError):
    """A player acted illegally or failed; the message names it."""


class TooSlowError(PlayerError):
    """A player took longer for a decision than it may."""


class Player(Protocol):
    """Chooses actions for many seats at once.

    What it is given holds nothing that its seat may not know. This is no sandbox: a player is code in this process,
    which can look anywhere if it means to, and its chance and the decks' may come of one seed.

    A player with a method ``act_states(states, masks)`` is asked by that instead: it gets rows of the game's STATE, one
    for each decision of its ``to_act``, in which everything that this seat cannot know has been drawn anew (uniformly;
    the generator's word too). It can search on them, or draw them anew again, and learns nothing that it may not.

    A player with a method ``act_seeded(observations, masks, words)`` takes all its chance from ``words``, uint64[B],
    one for each decision, where the interface has such: what it does at one table then depends on no other table.

    A player with a method ``delegate(number)`` leaves its decisions to others: it gives pairs of a player and the rows,
    of ``number``, at which this one chooses.

    A player with a method ``ended(states, seats)`` is told by matches of deals that are over: rows of STATE after the
    award and the seat that it had in each, drawn anew as above.
    """

    name: str

    def act_batch(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Actions, integer[B], of observations float32[B, size] and masks int8[B, actions]."""
        ...


def resample_from_infostate(game: Game, states: np.ndarray, seats: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Copies of tables, in each of which all that one seat cannot know is drawn anew.

    Args:
        game: the game.
        states: rows of its STATE, shape (B,).
        seats: integer[B], who looks at each.
        words: uint64[B], seeds of the drawing; each copy's generator goes on from there.

    Returns:
        shape (B,); nothing in them depends on what the seats cannot know.
    """
    copies = np.ascontiguousarray(states).view(np.uint8).copy().view(game.STATE)
    kernels(game).resample_from_infostate(copies, np.array(seats, np.int64), np.array(words, np.uint64))
    return copies


def choose(
    player: Player,
    game: Game,
    states: np.ndarray,
    seats: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    chance: np.random.Generator | np.ndarray,
) -> np.ndarray:
    """What a player chooses, unchecked; see ``ask``."""
    return _timed_choice(player, game, states, seats, observations, masks, chance)[0]


def action_probabilities(
    player: Any,
    game: Game,
    states: np.ndarray,
    seats: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray | None:
    """How likely a player is to choose each action, float[B, actions]; None if it does not tell.

    A player tells by a method ``probabilities``, which takes what it is asked by: observations and masks, or states (as
    ``act_states`` does) and masks.
    """
    tell = getattr(player, "probabilities", None)
    if tell is None or not len(masks):
        return None
    if hasattr(player, "act_states"):
        words = rng.integers(0, 2**64, len(masks), np.uint64)
        return np.asarray(tell(resample_from_infostate(game, states, seats, words), masks))
    return np.asarray(tell(observations, masks))


def _timed_choice(
    player: Any,
    game: Game,
    states: np.ndarray,
    seats: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    chance: np.random.Generator | np.ndarray,
) -> tuple[np.ndarray, float]:
    """What a player chooses, and the seconds that it took itself."""
    words = None if isinstance(chance, np.random.Generator) else chance
    if hasattr(player, "delegate"):
        actions, seconds = np.full(len(masks), -1, np.int64), 0.0
        for part, rows in player.delegate(len(masks)):
            given = (states[rows], seats[rows], observations[rows], masks[rows])
            actions[rows], taken = _timed_choice(part, game, *given, chance if words is None else words[rows])
            seconds += taken
        return actions, seconds
    if hasattr(player, "act_states"):
        if isinstance(chance, np.random.Generator):
            chance = chance.integers(0, 2**64, len(masks), np.uint64)
        imagined = resample_from_infostate(game, states, seats, chance)
        begun = time.perf_counter()
        actions = player.act_states(imagined, masks)
    elif words is not None and hasattr(player, "act_seeded"):
        begun = time.perf_counter()
        actions = player.act_seeded(observations, masks, words)
    else:
        begun = time.perf_counter()
        actions = player.act_batch(observations, masks)
    return actions, time.perf_counter() - begun


def _one_by_one(
    player: Any,
    game: Game,
    states: np.ndarray,
    seats: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    chance: np.random.Generator | np.ndarray,
    time_limit: float,
) -> np.ndarray:
    """What a player chooses, asked for one decision at a time. Raises TooSlowError if one takes too long."""
    name, actions = getattr(player, "name", type(player).__name__), []
    for row in range(len(masks)):
        one = slice(row, row + 1)
        given = (states[one], seats[one], observations[one], masks[one])
        with _interrupted_after(time_limit, name):
            chosen, seconds = _timed_choice(
                player, game, *given, chance if isinstance(chance, np.random.Generator) else chance[one]
            )
        if seconds > time_limit:
            raise TooSlowError(
                f"agent {name} is too slow: {seconds:.3g} s for a decision, the limit is {time_limit:g} s"
            )
        actions.append(np.asarray(chosen))
    return np.concatenate(actions) if actions else np.empty(0, np.int64)


@contextlib.contextmanager
def _interrupted_after(seconds: float, name: str) -> Iterator[None]:
    """Raise TooSlowError in what runs within for longer: by the alarm of the main thread, where there is one."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: Any) -> None:
        raise TooSlowError(f"agent {name} is too slow: a decision was stopped, the limit is {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    # Half as much again: what ends in that time is measured, so that its seconds can be told.
    signal.setitimer(signal.ITIMER_REAL, 1.5 * seconds + 0.05)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def ask(
    player: Player,
    game: Game,
    states: np.ndarray,
    seats: np.ndarray,
    observations: np.ndarray,
    masks: np.ndarray,
    chance: np.random.Generator | np.ndarray,
    *,
    time_limit: float | None = None,
) -> np.ndarray:
    """A player's actions at some tables, checked.

    Args:
        player: the player.
        game: the game.
        states: rows of its STATE, shape (B,); the player sees them through ``resample_from_infostate`` only.
        seats: integer[B], the seat to act at each.
        observations: float32[B, size], of these seats.
        masks: int8[B, actions].
        chance: a generator, or a word for each decision, uint64[B]: of what is drawn anew for a player that asks for
            states, and of a player that takes words.
        time_limit: seconds that it may take for any one decision: it is then asked for one after the other, and
            interrupted where that is possible (in the main thread, when Python runs); None: no limit.

    Returns:
        int64[B], each legal.

    Raises:
        PlayerError: the player failed, took too long or chose an illegal action; the message names it.
    """
    name = getattr(player, "name", type(player).__name__)
    try:  # of copies of the masks: what it writes to its own changes nothing that is checked here
        if time_limit is None:
            chosen = choose(player, game, states, seats, observations, masks.copy(), chance)
        else:
            chosen = _one_by_one(player, game, states, seats, observations, masks.copy(), chance, time_limit)
        actions = np.asarray(chosen)
    except TooSlowError:
        raise
    except (Exception, SystemExit) as error:  # or a player could end the program, its status 0
        raise PlayerError(f"agent {name} failed: {type(error).__name__}: {error}") from error
    if actions.shape != (len(masks),) or actions.dtype.kind not in "iu":
        raise PlayerError(f"agent {name} gave {actions.dtype}{list(actions.shape)}, not one integer for each seat")
    if len(masks) == 1 and 0 <= actions[0] < masks.shape[1] and masks[0, actions[0]]:  # as below, but quicker
        return actions.astype(np.int64, copy=False)
    inside = (actions >= 0) & (actions < masks.shape[1])
    legal = inside & (masks[np.arange(len(masks)), np.where(inside, actions, 0)] != 0)
    if not legal.all():
        wrong = np.flatnonzero(~legal)
        raise PlayerError(f"agent {name} acted illegally {len(wrong)} times, first with action {actions[wrong[0]]}")
    return actions.astype(np.int64, copy=False)
