"""What interfaces for one learner share: who its opponents are, and their chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from auction_env.engine.agent import Player, ask
from auction_env.engine.table import Table
from auction_env.games import get_game
from auction_env.games.cards import mix
from auction_env.games.game import Game, SettingsError, make_settings

Opponents = str | Player | Sequence[str | Player]


class RandomStreams:
    """A stream of random words for each of many tables (SplitMix64): what is drawn at one never depends on another."""

    def __init__(self, tables: int) -> None:
        self.state = np.zeros(tables, np.uint64)

    def seed(self, rows: Any, seeds: np.ndarray) -> None:
        """Start the streams of some tables."""
        self.state[rows] = _mixed(np.asarray(seeds, np.uint64) ^ np.uint64(0x5EA7_C0DE_D00D_FEED))

    def take(self, rows: Any) -> np.ndarray:
        """The next word of each of these tables, uint64[len(rows)]."""
        if len(rows) == 1:  # Python's integers are quicker here
            state = (int(self.state[rows[0]]) + _STEP) & _ALL_BITS
            self.state[rows[0]] = state
            return np.array([_mixed_one(state)], np.uint64)
        self.state[rows] += np.uint64(_STEP)
        return _mixed(self.state[rows])


_STEP, _ALL_BITS = 0x9E37_79B9_7F4A_7C15, 2**64 - 1


def _mixed_one(word: int) -> int:
    word = ((word ^ (word >> 30)) * 0xBF58_476D_1CE4_E5B9) & _ALL_BITS
    word = ((word ^ (word >> 27)) * 0x94D0_49BB_1331_11EB) & _ALL_BITS
    return word ^ (word >> 31)


# The engine's own function, as plain Python on arrays: compiling it for them would cost every start.
_mixed: Callable[[np.ndarray], np.ndarray] = getattr(mix, "py_func", mix)


def resolve(
    game: str | Game | ModuleType, opponents: Opponents, settings: Mapping[str, Any]
) -> tuple[Game, Any, list[Player]]:
    """The game, its Settings, and the players of the other seats, clockwise from the learner.

    Args:
        game: a game's name or module.
        opponents: an agent's name as ``agents.make`` takes it (``"random"``, ``"ppo:runs/x"``) or a Player, for all the
            other seats; or a sequence of them, one for each. A name that comes twice is one agent in two seats.
        settings: keyword values. Without ``num_players``, a sequence of opponents settles it.

    Raises:
        SettingsError: a setting is unknown or makes no sense, or there are too many or too few opponents.
        ValueError: there is no such game or agent, or the agent cannot play it.
        TypeError: an opponent is neither a name nor a player.
    """
    game = get_game(game)
    alone = isinstance(opponents, str) or not isinstance(opponents, Sequence)
    if not alone and "num_players" not in settings:
        settings = {**settings, "num_players": len(opponents) + 1}  # type: ignore[arg-type]
    made = make_settings(game, settings)
    seats = made.num_players - 1
    line: list[Any] = [opponents] * seats if alone else list(opponents)  # type: ignore[arg-type]
    if len(line) != seats:
        raise SettingsError(
            f"{len(line)} opponents for {seats} other seats: name one for each, or set num_players={len(line) + 1}"
        )
    return game, made, make_players(line, game, made)


def make_players(line: Sequence[str | Player], game: Game, settings: Any, seed: int = 0) -> list[Player]:
    """Players of names or players; the same name is the same agent. Errors as ``resolve``."""
    known: dict[str, Player] = {}
    players: list[Player] = []
    for spec in line:
        if isinstance(spec, str):
            from auction_env.agents import make  # imported here: interfaces need agents only when one is named

            if spec not in known:
                known[spec] = make(spec, game, settings, seed + len(known))
            players.append(known[spec])
        elif hasattr(spec, "act_batch"):
            players.append(spec)
        else:
            raise TypeError(f"opponent is {spec!r}: give an agent's name, such as 'random', or a player with act_batch")
    return players


def seed_players(players: Sequence[Player], seed: int) -> None:
    """Start anew the chance of each player that has a ``seed`` method."""
    for place, player in enumerate({id(player): player for player in players}.values()):
        if hasattr(player, "seed"):
            player.seed(_mixed_one(seed + place) >> 2)


def illegal_penalty(settings: Any) -> float:
    """What an illegal action costs where it ends an episode: the reserve; in a game without one, the starting chips."""
    return float(getattr(settings, "reserve", settings.starting_chips))


def choose_at(table: Table, player: Player, word: np.ndarray) -> int:
    """What a player chooses for the seat to act at one table, ``word`` being its chance; errors as ``ask``."""
    seat = table.to_act
    assert seat is not None
    observation, mask = table.observe(seat)[None], table.mask(seat)[None]
    return int(ask(player, table.game, table.states, np.array([seat]), observation, mask, word)[0])


def warm_up(game: Game, settings: Any, players: Sequence[Player]) -> None:
    """Let each player choose once at a table of its own, so that nothing is compiled while people wait for a move.

    Seed the players afterwards. Errors as ``ask``.
    """
    table, word = Table(game, settings), np.ones(1, np.uint64)
    table.reset(0)
    for player in {id(player): player for player in players}.values():
        choose_at(table, player, word)
    table.act(table.legal()[0])
