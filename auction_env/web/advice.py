"""What agents say: their choices for the server, hints for a person, and what choices cost by a search's reckoning.

All of it is asked through ``engine.agent``: an agent never learns more than the seat that it is asked about.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np

from auction_env import agents as registry
from auction_env.agents.base import StateAgent
from auction_env.agents.montecarlo import MonteCarloAgent
from auction_env.agents.solved import SolvedAgent
from auction_env.engine.agent import Player, ask, resample_from_infostate
from auction_env.engine.table import Table
from auction_env.games.game import Game
from auction_env.web.room import Moment

SEARCH = "montecarlo"  # whose reckoning a review goes by
REVIEW_WORLDS = 800  # imagined for each decision of a review
COSTLY = 3  # choices that a review names
MOST_PLAYERS = 64  # kept ready


class Players:
    """Agents by name, made when first asked for and then kept; each plays for one thread at a time.

    Args:
        names: those that may be named.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._made: OrderedDict[Any, tuple[Player, threading.Lock]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, name: str, game: Game, settings: Any) -> tuple[Player, threading.Lock]:
        """An agent and its lock. Raises ValueError if there is none of that name, or it cannot play this game."""
        if name not in self.names:
            raise ValueError(f"there is no agent {name!r} here: {', '.join(self.names)}")
        with self._lock:
            key = (name, game.NAME, settings)
            if key not in self._made:
                self._made[key] = registry.make(name, game, settings), threading.Lock()
            self._made.move_to_end(key)
            while len(self._made) > MOST_PLAYERS:
                self._made.popitem(last=False)
            return self._made[key]

    def choose(self, name: str, table: Table) -> int:
        """What an agent chooses for the seat to act. Raises PlayerError if it fails."""
        player, lock = self.get(name, table.game, table.settings)
        with lock:
            return int(ask(player, *_asked(table), _words())[0])

    def advise(self, name: str, table: Table, sample: bool = False) -> dict[str, Any]:
        """What an agent would do for the seat to act: plain data.

        ``action`` and ``name``, its choice; ``options``: see ``options``. ``sample``: the choice is drawn as the agent
        plays, not the likeliest.
        """
        player, lock = self.get(name, table.game, table.settings)
        with lock:
            action = int(ask(player, *_asked(table), _words())[0])
            shares = _shares(player, table)
            if shares is not None and not sample:
                action = int(shares.argmax())
            options = _rated(player, table, action, shares)
        return {"agent": name, "action": action, "name": table.action_names[action], "options": options}

    def options(self, name: str, table: Table, action: int) -> list[dict[str, Any]] | None:
        """The legal actions of the seat to act, as an agent sees them that has chosen ``action``.

        Each has its ``name`` and, as far as the agent says them, ``p``, the probability with which it would choose it,
        and ``value``, the chips that it wins beyond the one chosen: exactly, or by playouts, with the standard
        ``error``. None if there is no such agent here, or it says nothing.
        """
        try:
            player, lock = self.get(name, table.game, table.settings)
        except ValueError:
            return None
        with lock:
            options = _rated(player, table, action, _shares(player, table))
        return options if any(len(one) > 2 for one in options) else None

    def review(self, game: Game, settings: Any, moments: Sequence[Moment], seat: int) -> list[dict[str, Any]]:
        """The choices of a seat in a deal that cost most by the search's reckoning, costliest first: plain data.

        Each is compared with what the search would have done, in worlds that the seat could imagine then: ``cost`` in
        chips and its standard ``error``. The alternative is chosen on some worlds and measured on others, so that the
        cost is not the best of many lucky ones.
        """
        player, lock = self.get(SEARCH, game, settings)
        assert isinstance(player, MonteCarloAgent)
        names = game.action_names(settings)
        found: list[dict[str, Any]] = []
        with lock:
            for place, moment in enumerate(moments):
                if moment.seat != seat:
                    continue
                table = table_at(game, settings, moment.before)
                mask = table.mask(seat)
                if mask.sum() < 2:
                    continue
                states = resample_from_infostate(game, moment.before, np.array([seat]), _words())
                chosen = np.array([moment.action])
                means, _ = player.gains(states, chosen, mask[None], REVIEW_WORLDS)
                better = int(np.nan_to_num(means[0], nan=-np.inf).argmax())
                if better == moment.action:
                    continue
                only = np.zeros_like(mask)
                only[[better, moment.action]] = 1
                means, errors = player.gains(states, chosen, only[None], REVIEW_WORLDS)
                found.append(
                    {
                        "step": place,
                        **_seen(table, seat),
                        "chosen": names[moment.action],
                        "better": names[better],
                        "cost": _rounded(means[0, better]),
                        "error": _rounded(errors[0, better]),
                    }
                )
        found.sort(key=lambda one: -one["cost"])
        return [one for one in found if one["cost"] > 0][:COSTLY]


def table_at(game: Game, settings: Any, states: np.ndarray) -> Table:
    """A table to ask agents at, in the state of a row of the game's STATE; its account of the deal means nothing."""
    table = Table(game, settings)
    table.reset(0)
    table.states = states.copy()
    table.refresh()
    return table


def _to_act(table: Table) -> int:
    assert table.to_act is not None
    return table.to_act


def _words() -> np.ndarray:
    return np.random.default_rng().integers(0, 2**64, 1, np.uint64)


def _asked(table: Table) -> tuple[Game, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What ``ask`` needs of the seat to act."""
    seat = _to_act(table)
    return table.game, table.states, np.array([seat]), table.observe(seat)[None], table.mask(seat)[None]


def _imagined(table: Table) -> np.ndarray:
    return resample_from_infostate(table.game, table.states, np.array([_to_act(table)]), _words())


def _shares(player: Any, table: Table) -> np.ndarray | None:
    """The probability of each action, float32[actions], if the agent says it."""
    probabilities = getattr(player, "probabilities", None)
    if probabilities is None:
        return None
    seat = _to_act(table)
    seen = _imagined(table) if isinstance(player, StateAgent) else table.observe(seat)[None]
    shares: np.ndarray = probabilities(seen, table.mask(seat)[None])[0]
    return shares


def _rated(player: Any, table: Table, action: int, shares: np.ndarray | None) -> list[dict[str, Any]]:
    """See ``Players.options``."""
    legal, mask = table.legal(), table.mask(_to_act(table))[None]
    options: list[dict[str, Any]] = [{"action": one, "name": table.action_names[one]} for one in legal]
    values = errors = None
    if isinstance(player, MonteCarloAgent):
        means, spread = player.gains(_imagined(table), np.array([action]), mask)
        values, errors = means[0], spread[0]
    elif isinstance(player, SolvedAgent):
        worth = player.action_values(_imagined(table), mask)[0]
        values = worth - worth[action]
    for option in options:
        one = option["action"]
        if shares is not None:
            option["p"] = _rounded(shares[one])
        if values is not None and np.isfinite(values[one]):
            option["value"] = _rounded(values[one])
            if errors is not None:
                option["error"] = _rounded(errors[one])
    return options


def _seen(table: Table, seat: int) -> dict[str, Any]:
    """What names a seat's choices: the phase, the cards that they may be about, what they cost."""
    view = table.view(seat)
    return {"phase": view.phase, "centre": view.centre, "cards": view.seats[seat].cards, "facts": table.facts(seat)}


def _rounded(value: Any) -> float:
    return round(float(value), 4)
