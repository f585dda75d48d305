"""The agents in the box: they play both games at every number of seats, from files of the package."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")

from auction_env.agents.base import AgentError
from auction_env.agents.ppo import play_policy
from auction_env.agents.shipped import FOLDER, LEVELS, level_files, levels

from auction_env import agents, get_game
from auction_env.engine.batch import Batch
from auction_env.evaluation.match import play_match

SEATS = [("auction_poker", seats) for seats in range(2, 8)] + [("auction_flop", seats) for seats in range(2, 9)]


@pytest.mark.parametrize(("name", "seats"), SEATS)
@pytest.mark.parametrize("level", LEVELS)
def test_every_level_plays_at_every_number_of_seats(name, seats, level):
    batch = Batch(name, {"num_players": seats}, 16)
    agent = agents.make(level, batch.game, batch.settings, 3)
    out = batch.reset(1)
    for _ in range(6):
        actions = agent.act_states(batch.states.copy(), out.masks.copy())
        assert out.masks[np.arange(16), actions].all()
        batch.step(actions)


OVERRIDES = [(name, int(seats)) for name in levels() for seats in levels()[name]["champion"] if seats.isdigit()]


@pytest.mark.parametrize(("name", "seats"), OVERRIDES)
def test_where_a_number_of_seats_has_a_policy_of_its_own_that_is_what_plays(name, seats):
    table = levels()[name]["champion"]
    entry = table[str(seats)]
    game = get_game(name)
    batch = Batch(game, {"num_players": seats}, 64)
    masks = batch.reset(1).masks

    def probabilities(agent):
        return agent.probabilities(batch.states.copy(), masks.copy())

    champion = probabilities(agents.make("champion", game, batch.settings, 3))
    own, general = (
        probabilities(play_policy(FOLDER / one["file"], game, batch.settings, 3, one["temperature"]))
        for one in (entry, table)
    )
    np.testing.assert_allclose(champion, own, atol=1e-6)
    assert np.abs(champion - general).max() > 0.05
    assert FOLDER / entry["file"] in level_files("champion")


def test_the_champion_beats_the_beginner_clear_of_zero():
    game = get_game("auction_poker")
    settings = Batch(game, {}, 1).settings
    line = [agents.make(name, game, settings, 1) for name in ("champion", "easy")]
    result = play_match(game, settings, [line[0], line[1], line[1]], 600, 5)
    assert result.agent(0).above_zero


def test_other_settings_and_arguments_are_refused_by_name():
    game = get_game("auction_poker")
    with pytest.raises(AgentError, match="trained with max_bid = 3, but this table has 4"):
        agents.make("champion", game, Batch(game, {"max_bid": 4}, 1).settings)
    with pytest.raises(AgentError, match="takes no argument"):
        agents.make("champion:x", game, Batch(game, {}, 1).settings)


def test_they_are_small():
    sizes = [entry.stat().st_size for entry in FOLDER.iterdir() if entry.name.endswith(".safetensors")]
    assert len(sizes) >= 2
    assert sum(sizes) < 5 * 2**20
    assert set(levels()) == {"auction_poker", "auction_flop"}
