"""Learned responses against exact values: Kuhn poker, and a small Auction Poker solved through the engine itself."""

from __future__ import annotations

import json

import kuhn
import numpy as np
import pytest
from brute_force import exact_best_response, uniform

pytest.importorskip("sb3_contrib")

from auction_env.agents.base import Agent
from auction_env.agents.learning.best_response import Stopped, best_response
from auction_env.agents.learning.config import Config
from auction_env.agents.learning.evaluation import CURVE
from auction_env.agents.learning.runs import begin
from auction_env.agents.learning.trainer import Trainer

from auction_env import agents
from auction_env.games import get_game
from auction_env.games.game import make_settings

QUICK = {
    "total_timesteps": 60_000,
    "num_envs": 256,
    "n_steps": 16,
    "network": "mlp",
    "net_arch": [32, 32],
    "batch_size": 1024,
    "n_epochs": 3,
    "ent_coef": 0.01,
    "gae_lambda": 0.95,
    "learning_rate": 3e-3,
    "reward_scale": 1.0,
    "evaluate_every": 5,
    "evaluate_deals": 1000,
    "temperatures": [1.0],
    "threads": 1,
    "eval_opponents": [],
    "select_by": "",
}
UNIFORM = dict.fromkeys(kuhn.INFORMATION_STATES, 0.5)
# One of Kuhn's equilibria: no response wins anything from it.
EQUILIBRIUM = {
    **{(0, ""): 1 / 3, (1, ""): 0.0, (2, ""): 1.0, (0, "pb"): 0.0, (1, "pb"): 2 / 3, (2, "pb"): 1.0},
    **{(0, "p"): 1 / 3, (1, "p"): 0.0, (2, "p"): 1.0, (0, "b"): 0.0, (1, "b"): 1 / 3, (2, "b"): 1.0},
}


class Strategy(Agent):
    """Plays a table of Kuhn's game: the probability of a bet by card and line."""

    name = "equilibrium"

    def __init__(self, bet_chance):
        self.bet_chance = bet_chance
        self.seed(0)

    def seed(self, seed):
        self.rng = np.random.default_rng(seed)

    def act_batch(self, observations, masks):
        chance = []
        for seen in observations:
            line = "".join("pb"[int(step.argmax())] for step in seen[4:10].reshape(3, 2) if step.any())
            chance.append(self.bet_chance[int(seen[:3].argmax()), line])
        return (self.rng.random(len(chance)) < chance).astype(np.int64)


def silent(line):
    pass


def test_brute_force_through_the_engine_agrees_with_kuhn_s_tree():
    game = get_game(kuhn)
    found = exact_best_response(game, kuhn.Settings(), uniform)
    assert found == pytest.approx(kuhn.exploitability(UNIFORM)) and found == pytest.approx(11 / 24)


def test_a_learned_response_comes_near_the_exact_value_and_never_above_it(tmp_path):
    exact = kuhn.exploitability(UNIFORM)
    frozen = agents.make("random", get_game(kuhn), kuhn.Settings())
    config = Config(game="kuhn", run=str(tmp_path), **QUICK)
    found = best_response(get_game(kuhn), kuhn.Settings(), frozen, config, 20_000, tmp_path, silent)
    assert found.at_least is not None and 0.8 * exact < found.at_least < exact
    assert found.gain.mean - 1.5 * found.gain.half_width < exact
    assert "random is exploitable by at least 0." in found.text() and "a better response may win more" in found.text()
    assert found.summary()["exploitable_by_at_least"] == found.at_least
    assert (tmp_path / "model.safetensors").exists()
    shown = json.loads((tmp_path / CURVE).read_text(encoding="utf-8"))[-1]["chips"]["random"]
    assert found.summary()["while_learning"] == shown, "the bar's last number stands beside the verdict"
    chosen = f"chosen were the {found.kept} weights at temperature 1"
    assert f"{shown['mean']:+.2f} was shown last" in found.text() and chosen in found.text()
    assert found.decisions == 61_440, "asked were 60,000: iterations are whole"
    assert "61440 decisions (whole iterations" in found.text()


def test_nothing_is_found_against_an_equilibrium(tmp_path):
    frozen = Strategy(EQUILIBRIUM)
    config = Config(game="kuhn", run=str(tmp_path), **{**QUICK, "total_timesteps": 20_000})
    found = best_response(get_game(kuhn), kuhn.Settings(), frozen, config, 4_000, None, silent)
    assert found.at_least is None and "nothing found" in found.text()
    assert found.summary()["exploitable_by_at_least"] is None
    assert not list(tmp_path.iterdir()), "nothing is kept unless asked for"


SMALL = {"num_players": 2, "num_auctions": 1, "hole_cards": 1, "num_ranks": 4, "num_suits": 1, "max_bid": 2}


def test_a_small_auction_poker_has_an_exact_value_that_a_learned_response_approaches(tmp_path):
    """Two seats, one auction, a deck of four cards: exact best response to random play, and a learned one."""
    game = get_game("auction_poker")
    settings = make_settings(game, {**SMALL, "max_raises": 0})
    exact = exact_best_response(game, settings, uniform)
    frozen = agents.make("random", game, settings)
    values = {**QUICK, "network": "cards", "reward_scale": 0.3, "warm_start": "random", "warm_start_timesteps": 4096}
    config = Config(settings={**SMALL, "max_raises": 0}, run=str(tmp_path), **values)
    found = best_response(game, settings, frozen, config, 20_000, None, silent)
    assert found.at_least is not None and 0.75 * exact < found.at_least < exact
    assert found.gain.mean - 1.5 * found.gain.half_width < exact


def test_a_response_goes_on_where_it_stopped(tmp_path):
    game = get_game("auction_poker")
    settings = make_settings(game, SMALL)
    values = {**QUICK, "network": "cards", "total_timesteps": 12_288, "checkpoint_every": 1, "evaluate_deals": 100}

    def config(folder):
        return Config(settings=SMALL, run=str(folder), **values)

    frozen = agents.make("random", game, settings)
    straight = best_response(game, settings, frozen, config(tmp_path / "a"), 200, tmp_path / "a", silent)
    short = begin(Trainer(config(tmp_path / "b"), tmp_path / "b", silent, rival=agents.make("random", game, settings)))
    step = short.after_iteration

    def stop(progress):
        step(progress)
        short.stop.asked = short.iteration == 2

    short.after_iteration = stop
    with pytest.raises(Stopped):
        short.run()
    said = []
    again = agents.make("random", game, settings)
    resumed = best_response(game, settings, again, config(tmp_path / "b"), 200, tmp_path / "b", said.append)
    assert said[0].startswith("going on from 8192 decisions")
    assert resumed.summary()["gain"] == straight.summary()["gain"]


def test_settings_that_differ_from_the_config_are_refused(tmp_path):
    game = get_game("auction_poker")
    frozen = agents.make("random", game, make_settings(game, {}))
    with pytest.raises(ValueError, match="other settings than the table"):
        best_response(game, make_settings(game, {"max_bid": 2}), frozen, Config(), 100, None, silent)
