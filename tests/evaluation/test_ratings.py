"""Round robins: line-ups, chips by deck, ratings and alpha-rank of results made by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

from auction_env import agents
from auction_env.evaluation.ratings import RoundRobin, alpha_rank, choose_lineups, rate, round_robin
from auction_env.games import get_game
from auction_env.games.game import make_settings

POKER = get_game("auction_poker")


def test_lineups_are_all_sets_of_agents_or_a_balanced_choice():
    lines, possible = choose_lineups(5, 4, 0)
    assert len(lines) == possible == 5 and all(len(set(line)) == 4 for line in lines)
    lines, possible = choose_lineups(2, 3, 0)
    assert lines == [(0, 0, 1), (0, 1, 1)] and possible == 2
    lines, possible = choose_lineups(12, 4, 0, limit=30)
    counts = np.bincount(np.ravel(lines), minlength=12)
    assert len(lines) == 30 and possible == 495 and set(counts) == {10}
    assert all(len(set(line)) == 4 for line in lines) and lines != choose_lineups(12, 4, 1, limit=30)[0]
    with pytest.raises(ValueError, match="at least two agents"):
        choose_lineups(1, 3, 0)


def table(nets, lineups, names):
    """A round robin with given results: nets int[lineups][decks, seatings, seats]."""
    from auction_env.evaluation.ratings import _by_deck

    nets = [np.asarray(net, np.int64) for net in nets]
    chips, pairs = _by_deck(len(names), lineups, nets)
    return RoundRobin("none", {}, 0, names, np.array(lineups), len(lineups), chips, pairs, nets)


def test_chips_and_pairs_by_deck_worked_by_hand():
    # Two seats: a meets b on two decks (one seating shown), a meets c; b and c never meet.
    found = table([[[[3, -3]], [[1, -1]]], [[[-2, 2]], [[4, -4]]]], [(0, 1), (0, 2)], ["a", "b", "c"])
    assert found.chips.tolist() == [[0.5, -3, 2], [2.5, -1, -4]]
    assert found.agent(0).mean == 1.5 and found.pair(0, 1).mean == 4 and found.pair(2, 0).mean == -2
    assert np.isnan(found.differences[1, 2])
    assert alpha_rank(found.differences) == (None, "no alpha-rank: some agents never met.")
    # An agent with two places at a table counts once, with their mean.
    twice = table([[[[6, -2, -4]]]], [(0, 1, 1)], ["a", "b"])
    assert twice.chips.tolist() == [[6, -3]] and twice.pairs[0, 0, 1] == 9


def test_ratings_follow_the_order_of_finish_and_are_uncertain_at_first():
    pytest.importorskip("openskill")
    rng = np.random.default_rng(0)
    skill = np.array([2.0, 0.0, -2.0])
    nets = np.rint(skill + rng.normal(0, 3, (300, 1, 3)))
    many = rate(table([nets], [(0, 1, 2)], ["a", "b", "c"]))
    few = rate(table([nets[:5]], [(0, 1, 2)], ["a", "b", "c"]))
    assert many[0].mu > many[1].mu > many[2].mu
    assert all(after.sigma < before.sigma < 25 / 3 for after, before in zip(many, few, strict=True))
    even = rate(table([np.zeros((20, 1, 3))], [(0, 1, 2)], ["a", "b", "c"]))
    assert max(rating.mu for rating in even) - min(rating.mu for rating in even) < 0.5


def test_alpha_rank_of_a_dominant_agent_and_of_rock_paper_scissors():
    pytest.importorskip("scipy")
    pytest.importorskip("open_spiel.python.egt.alpharank")
    mass, _ = alpha_rank(np.array([[0.0, 1, 1], [-1, 0, 1], [-1, -1, 0]]))
    assert mass is not None and mass[0] > 0.99
    mass, note = alpha_rank(np.array([[0.0, 1, -1], [-1, 0, 1], [1, -1, 0]]))
    assert mass == pytest.approx(np.full(3, 1 / 3)) and "as if exact" in note


def test_absent_openspiel_is_said(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "open_spiel.python.egt", None)
    assert alpha_rank(np.zeros((2, 2)))[1].startswith("no alpha-rank: it needs OpenSpiel")


def test_a_round_robin_plays_every_lineup_on_the_same_decks(tmp_path):
    pytest.importorskip("openskill")
    settings = make_settings(POKER, {"num_players": 3})
    population = ["random", "rules", "rules:tight", "rules:loose"]
    found = round_robin(POKER, settings, population, 600, agents.make, 1, state=tmp_path)
    assert len(found.lineups) == 4 and found.deals == 4 * 6 * found.decks >= 600
    assert found.chips.mean(axis=1) == pytest.approx(np.zeros(found.decks)), "each agent is at equally many tables"
    assert found.agent(0).below_zero and found.pair(1, 0).above_zero
    ratings = rate(found)
    text = found.text(ratings)
    assert "The chips are the truth" in text and found.digest in text and "alpha-rank" in text
    summary = json.loads(json.dumps(found.summary(ratings)))
    assert len(summary["pairs"]) == 6 and summary["agents"][0]["rating"]["mu"] == min(r.mu for r in ratings)
    again = round_robin(POKER, settings, population, 600, agents.make, 1, state=tmp_path, workers=2)
    assert again.digest == found.digest
    with pytest.raises(ValueError, match="named twice"):
        round_robin(POKER, settings, ["random", "random"], 600, agents.make)
