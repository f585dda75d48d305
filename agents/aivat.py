"""Estimates with less variance, and no bias: the luck of choices and of the deal is measured and taken out (AIVAT).

After Burch, Schmid, Moravcik, Morrill and Bowling, "AIVAT: a new variance reduction technique for agent evaluation in
imperfect information games" (2018). Two terms, both of expectation zero whatever the playouts are like:

- *choices*: where an agent tells its probabilities, the value of the action that it drew less the mean over them all.
  Values are chips at the end of playouts, from the true table, by a reference policy in all seats.
- *deal*: the value of the seat as the cards are dealt, less the mean over the seats. Over all seatings of a deck its
  sum is nothing: duplicate play has taken that luck out already; it helps where decks are not replayed.

Each term is weighted by regression over the decks of the other half, so that a useless one does little harm.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from auction_env.agents.policies import policy_of, work_arrays

from auction_env.core.jit import kernel
from auction_env.engine.agent import Player, action_probabilities
from auction_env.evaluation.match import Decisions
from auction_env.evaluation.results import Estimate, MatchResult, columns, estimate, plain
from auction_env.games import cards
from auction_env.games.game import Game

PLAYOUTS = 4  # of each action


@cache
def values_kernel(game: Any) -> Any:
    """Compiled playouts of each legal action, by the game's scripted policy, or random legal play if it has none.

    Its arguments: ``states``, and their memory as words of 64 bits; ``seeds``, uint64[B]; ``playouts`` of each action,
    from the same random numbers for all actions of a row; ``actions``, int64[B, k], the legal ones, -1 after the last
    (or -2 first: the table is played out as it is); ``style``, ``ints``, ``floats``, see
    ``agents.policies``; ``spare``, one state to work in, and its memory as words; ``values``, float64[B, k, seats], to
    write mean chips to.
    """
    legal, act, seed_generator, draw_below = game.legal, game.act, cards.seed_generator, cards.draw_below
    policy = policy_of(game)
    if policy is None:

        @kernel(owner=game.NAME)
        def choose(s: Any, style: Any, ints: Any, floats: Any) -> Any:
            return ints[draw_below(s, legal(s, ints))]

    else:
        choose = policy.choose

    @kernel(owner=game.NAME)
    def values_of(
        states: Any,
        words: Any,
        seeds: Any,
        playouts: Any,
        actions: Any,
        style: Any,
        ints: Any,
        floats: Any,
        spare: Any,
        spare_words: Any,
        values: Any,
    ) -> None:
        trial = spare[0]
        for row in range(states.shape[0]):
            for place in range(actions.shape[1]):
                if actions[row, place] == -1:
                    break
                for number in range(playouts):
                    for word in range(words.shape[1]):
                        spare_words[0, word] = words[row, word]
                    seed_generator(trial, seeds[row] + np.uint64(number))
                    if actions[row, place] >= 0:
                        act(trial, actions[row, place])
                    while trial.to_act >= 0:
                        act(trial, choose(trial, style, ints, floats))
                    for seat in range(values.shape[2]):
                        values[row, place, seat] += (trial.award[seat] - trial.paid[seat]) / playouts

    return values_of


class AivatRecorder:
    """Watches a part of a match and adds up luck by table and seat (``auction_env.evaluation.runner.Recorder``)."""

    playouts = PLAYOUTS

    def __init__(self, game: Game, settings: Any, players: Sequence[Player], tables: int) -> None:
        self.game, self.players, self.seats = game, players, settings.num_players
        self._values = values_kernel(game)
        policy = policy_of(game)
        self._style = np.array(next(iter(policy.STYLES.values())) if policy else (0.0,))
        self._work, self._spare = work_arrays(), np.zeros(1, game.STATE)
        self.choices = np.zeros((tables, self.seats))
        self.deal = np.zeros((tables, self.seats))
        self.begun = np.zeros(tables, np.bool_)
        self.rng = np.random.default_rng(0xA1FA)  # of playouts only: they decide nothing

    def decided(self, decisions: Decisions) -> None:
        """See MatchCallback."""
        fresh = np.flatnonzero(~self.begun[decisions.tables])
        if len(fresh):
            value = self._play_out(decisions.states[fresh], np.full((len(fresh), 1), -2))[:, 0]
            self.deal[decisions.tables[fresh]] = value - value.mean(axis=1, keepdims=True)
            self.begun[decisions.tables[fresh]] = True
        for group, player in enumerate(self.players):
            rows = np.flatnonzero((decisions.groups == group) & (decisions.masks.sum(axis=1) > 1))
            states = decisions.states[rows]
            chances = action_probabilities(
                player,
                self.game,
                states,
                states["to_act"],
                decisions.observations[rows],
                decisions.masks[rows],
                self.rng,
            )
            if chances is not None:
                self._add_choices(decisions, rows, chances.astype(np.float64))

    def _add_choices(self, decisions: Decisions, rows: np.ndarray, chances: np.ndarray) -> None:
        masks = decisions.masks[rows]
        count = masks.sum(axis=1)
        actions = np.argsort(-masks, axis=1, kind="stable")[:, : count.max()]
        actions = np.where(np.arange(actions.shape[1]) < count[:, None], actions, -1)
        values = self._play_out(decisions.states[rows], actions)
        weights = np.where(actions >= 0, np.take_along_axis(chances, np.maximum(actions, 0), axis=1), 0.0)
        weights /= weights.sum(axis=1, keepdims=True)
        weights -= actions == decisions.actions[rows, None]
        self.choices[decisions.tables[rows]] -= np.einsum("ba,bas->bs", weights, values)

    def _play_out(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Mean chips of each seat after each action, float64[B, k, seats]."""
        states = np.ascontiguousarray(states)
        values = np.zeros((*actions.shape, self.seats))
        self._values(
            states,
            states.view(np.uint64).reshape(len(states), -1),
            self.rng.integers(0, 2**64, len(states), np.uint64),
            self.playouts,
            actions.astype(np.int64),
            self._style,
            *self._work,
            self._spare,
            self._spare.view(np.uint64).reshape(1, -1),
            values,
        )
        return values

    def ended(self, finals: np.ndarray, groups: np.ndarray, decks: np.ndarray) -> None:
        """See MatchCallback."""

    def arrays(self) -> dict[str, np.ndarray]:
        """Luck by table and seat, float64[tables, 2, seats]: of choices, of the deal."""
        return {"luck": np.stack([self.choices, self.deal], axis=1)}


@dataclasses.dataclass(frozen=True)
class Adjusted:
    """Chips per deal of an agent with luck taken out, and by what factor the variance became less."""

    name: str
    plain: Estimate
    chips: Estimate

    @property
    def factor(self) -> float:
        """Variance of the plain mean over that of this one; NaN where nothing varies."""
        return float((self.plain.half_width / self.chips.half_width) ** 2) if self.chips.half_width > 0 else np.nan

    def summary(self) -> dict[str, Any]:
        """All numbers as plain data."""
        factor = self.factor if np.isfinite(self.factor) else None
        return {"name": self.name, "chips_per_deal": plain(self.chips), "variance_reduction": factor}


def adjust(result: MatchResult, luck: np.ndarray) -> list[Adjusted]:
    """Estimates of a match's agents with luck taken out.

    Args:
        result: of the match.
        luck: float64[tables, terms, seats], of all its tables (``AivatRecorder``); each entry's expectation is zero.

    Raises:
        ValueError: fewer than eight decks, too few to weigh the terms by.
    """
    if result.decks < 8:
        raise ValueError(f"{result.decks} decks are too few to take luck out of: play at least 8")
    terms = luck.reshape(*result.payoffs.shape[:2], luck.shape[1], -1)
    at = np.broadcast_to(result.seats[:, :, None, :], (*terms.shape[:3], result.payoffs.shape[2])).astype(np.int64)
    by_place = np.take_along_axis(terms, at, axis=3)
    found = []
    for place in result.agent_places:
        own = [other for other, group in enumerate(result.groups) if group == result.groups[place]]
        controls = by_place[:, :, :, own].mean(axis=(1, 3))
        chips = result.by_deck(place)
        found.append(Adjusted(result.names[place], estimate(chips), estimate(chips - _luck(chips, controls))))
    return found


def _luck(chips: np.ndarray, controls: np.ndarray) -> np.ndarray:
    """The luck in chips on each deck: its controls, weighted by regression over the other half of the decks."""
    half = np.arange(len(chips)) % 2 == 0
    found = np.zeros_like(chips)
    for part in (half, ~half):
        known = controls[~part] - controls[~part].mean(axis=0)
        weights = np.linalg.lstsq(known, chips[~part] - chips[~part].mean(), rcond=1e-9)[0]
        found[part] = controls[part] @ weights
    return found


def text(found: Sequence[Adjusted]) -> str:
    """A table to print."""
    rows = [[one.name, str(one.chips), f"x {one.factor:.2f}" if np.isfinite(one.factor) else "-"] for one in found]
    return (
        "with the luck of choices and of the deal taken out (AIVAT; unbiased):\n"
        + columns(["agent", "chips per deal", "less variance"], rows)
        + "\nless variance: than the table above, on the same deals"
    )
