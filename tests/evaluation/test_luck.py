"""Luck taken out: the estimate agrees with plain play, its terms are zero on average, and it varies less."""

from __future__ import annotations

import kuhn
import numpy as np
import pytest
from auction_env.agents.aivat import AivatRecorder, adjust, text
from auction_env.agents.base import Agent

from auction_env import agents
from auction_env.evaluation.match import Schedule, number_groups, play_match
from auction_env.evaluation.results import Estimate
from auction_env.evaluation.runner import MatchConfig, play
from auction_env.games import get_game
from auction_env.games.game import make_settings

EVERYTHING = 1 << 60


def noted(game, settings, line, deals, seed=0, seatings=None):
    """A match in one part, and the luck in it."""
    players = list(dict.fromkeys(line))
    schedule = Schedule(game, settings, number_groups(line), deals, seed, seatings)
    notes = AivatRecorder(game, settings, players, schedule.deals)
    one_part = {"seatings": seatings, "part_tables": schedule.deals}
    result = play_match(game, settings, line, deals, seed, callback=notes, **one_part)
    return result, notes.arrays()["luck"]


class Bettor(Agent):
    """Bets in Kuhn's game with a probability of its own, and tells it."""

    name = "bettor"

    def __init__(self, chance):
        self.chance = chance
        self.seed(0)

    def seed(self, seed):
        self.rng = np.random.default_rng(seed)

    def act_batch(self, observations, masks):
        return (self.rng.random(len(masks)) < self.chance).astype(np.int64)

    def probabilities(self, observations, masks):
        return np.tile([1 - self.chance, self.chance], (len(masks), 1))


class Silent(Bettor):
    name, probabilities = "silent", None


def exact_kuhn(first, second):
    """Chips a deal that a bettor wins from another, over both seats."""

    def value(line, chances, sign):
        if line in kuhn.TERMINAL:
            return np.mean([sign * kuhn.payoff(line, a, b) for a in range(3) for b in range(3) if a != b])
        bet = chances[len(line) % 2]
        return (1 - bet) * value(line + "p", chances, sign) + bet * value(line + "b", chances, sign)

    return (value("", (first, second), 1) + value("", (second, first), -1)) / 2


def within(found: Estimate, value: float, errors: float = 4) -> bool:
    return abs(found.mean - value) < errors / 1.96 * found.half_width


@pytest.mark.parametrize("seatings", [None, 1])
def test_kuhn_poker_agrees_with_the_exact_value_and_varies_less(seatings):
    game, settings = get_game(kuhn), kuhn.Settings()
    line = [Bettor(0.2), Bettor(0.8)]
    result, luck = noted(game, settings, line, 4000, 1, seatings)
    found = adjust(result, luck)
    assert within(found[0].chips, exact_kuhn(0.2, 0.8)) and within(found[0].plain, exact_kuhn(0.2, 0.8))
    assert found[0].factor > 1.3
    assert found[0].chips.mean == pytest.approx(-found[1].chips.mean)
    assert "unbiased" in text(found) and f"x {found[0].factor:.2f}" in text(found)


def test_terms_are_zero_on_average_and_the_deal_s_add_up_to_nothing_over_the_seats():
    game, settings = get_game(kuhn), kuhn.Settings()
    bettor, silent = Bettor(0.3), Silent(0.6)
    _, luck = noted(game, settings, [bettor, silent], 3000)
    error = luck.std(axis=0) / np.sqrt(len(luck))
    assert (error > 0).all() and (np.abs(luck.mean(axis=0)) < 4 * error).all()
    assert np.abs(luck[:, 1].sum(axis=1)).max() < 1e-9
    _, luck = noted(game, settings, [silent, Silent(0.5)], 100)
    assert not luck[:, 0].any() and luck[:, 1].any(), "who keeps its probabilities to itself has no luck of choices"


@pytest.mark.slow
def test_watching_changes_nothing_and_workers_neither(game):
    settings = make_settings(game, {"num_players": 2})
    plan = MatchConfig(
        game,
        settings,
        ("rules", "random"),
        120,
        agents.make,
        part_tables=40,
        notes=AivatRecorder,
        noted_deals=EVERYTHING,
    )
    one, two = play(plan), play(plan, workers=2)
    plain = play(MatchConfig(game, settings, ("rules", "random"), 120, agents.make, part_tables=40))
    assert one.result.digest == plain.result.digest
    assert np.array_equal(one.notes["luck"], two.notes["luck"])
    assert adjust(one.result, one.notes["luck"]) == adjust(two.result, two.notes["luck"])


@pytest.mark.slow
def test_flop_poker_agrees_with_plain_play():
    """Some 600 deals with luck taken out against 20,000 plain ones on other decks."""
    game = get_game("auction_flop")
    settings = make_settings(game, {"num_players": 2})
    line = [agents.make("rules", game, settings), agents.make("random", game, settings)]
    (found, _) = adjust(*noted(game, settings, line, 600, 1))
    plain = play_match(game, settings, line, 20_000, 2).agent(0)
    assert abs(found.chips.mean - plain.mean) < 2 * np.hypot(found.chips.half_width, plain.half_width)
    assert found.factor > 1.3


@pytest.mark.parametrize("spec", [pytest.param("champion", marks=pytest.mark.slow), "mix:0.5:rules:random"])
def test_agents_of_the_package_may_be_watched(spec):
    pytest.importorskip("torch")
    game = get_game("auction_poker")
    settings = make_settings(game, {"num_players": 3})
    line = [agents.make(spec, game, settings), *[agents.make("rules", game, settings)] * 2]
    result, luck = noted(game, settings, line, 30)
    assert luck[:, 1].any()
    assert luck[:, 0].any() == (spec == "champion"), "it tells its probabilities"
    assert np.isfinite(adjust(result, luck)[0].chips.mean)


def test_too_few_decks_are_refused():
    game, settings = get_game(kuhn), kuhn.Settings()
    result, luck = noted(game, settings, [Bettor(0.2), Bettor(0.8)], 10)
    with pytest.raises(ValueError, match="5 decks are too few"):
        adjust(result, luck)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "num_players", "deals"), [("auction_poker", 3, 6000), ("auction_flop", 2, 20_000)])
def test_estimates_agree_with_plain_play_on_100_000_deals(name, num_players, deals):
    game = get_game(name)
    settings = make_settings(game, {"num_players": num_players})
    line = [agents.make("rules", game, settings), *[agents.make("random", game, settings)] * (num_players - 1)]
    (found, _) = adjust(*noted(game, settings, line, deals, 1))
    plain = play_match(game, settings, line, 100_000, 2).agent(0)
    assert abs(found.chips.mean - plain.mean) < 2 * np.hypot(found.chips.half_width, plain.half_width)
    assert found.factor > 1.1
