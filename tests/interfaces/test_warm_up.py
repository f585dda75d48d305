"""Before a person plays, each agent has chosen once: nothing is compiled while they wait for a move."""

from __future__ import annotations

import numpy as np
import pytest

from auction_env.engine.agent import PlayerError
from auction_env.games.game import make_settings
from auction_env.interfaces.opponents import warm_up


class First:
    """Takes the first legal action and counts how often it is asked."""

    name = "first"

    def __init__(self, legal: bool = True) -> None:
        self.asked, self.legal = 0, legal

    def act_batch(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        self.asked += len(masks)
        return masks.argmax(1) if self.legal else masks.argmin(1)


def test_every_player_chooses_once_however_many_seats_it_has(game):
    players = [First(), First()]
    warm_up(game, make_settings(game, {"num_players": 4}), [players[0], players[1], players[0]])
    assert [player.asked for player in players] == [1, 1]


def test_a_player_that_fails_is_told_before_play(game):
    with pytest.raises(PlayerError, match="first"):
        warm_up(game, make_settings(game, {}), [First(legal=False)])
