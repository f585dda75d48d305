"""Behaviour facts of deals worked by hand and of whole matches; the page holds them and needs no other file."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import kuhn
import numpy as np
import pytest

pytest.importorskip("matplotlib")

from auction_env import agents
from auction_env.engine.table import Table
from auction_env.evaluation.match import play_match
from auction_env.evaluation.report import report
from auction_env.evaluation.results import estimate
from auction_env.evaluation.runner import MatchConfig, play
from auction_env.evaluation.statistics import Statistic, StatisticsRecorder, choices, choices_of, measure, statistics_of
from auction_env.games import get_game
from auction_env.games.game import make_settings

POKER, FLOP = get_game("auction_poker"), get_game("auction_flop")


def finished(game, settings, deck, actions, dealer=0):
    """The table after a deal."""
    table = Table(game, settings)
    table.reset(0, {"deck": deck, "dealer": dealer})
    for action in actions:
        table.act(table.action_index(action))
    assert table.to_act is None
    return table.states


def values(facts, title):
    """Observations of a fact as {label: [(seat, value)]}, those of value 0 in shares left out."""
    (fact,) = [fact for fact in facts if fact.title == title]
    found = {}
    for seat, label, value in zip(fact.seats, fact.bins, fact.values, strict=True):
        if value or not fact.share:
            found.setdefault(fact.labels[label], []).append((int(seat), float(value)))
    return found


BIDS = ["bid 3", "bid 3", "bid 1", "pick Kh", "pick 6d", "bid 2", "bid 1", "bid 2", "pick 8c", "pick Jd"]
REST = [*["bid 1", "bid 1", "bid 1", "pick Qh", "pick 2h"], *["bid 1", "bid 1", "bid 1", "pick Ts", "pick 3d"]]
LAST = ["bid 1", "bid 1", "bid 1", "pick 8d", "pick Kc", "check", "bet", "call", "raise", "call", "call"]
DECK = "Qc 7d 9h Qd 5s 9s Ac 6d Kh 8c 4c Jd Qh 2h 3s Ts 3d 5c 8d Kc As"


def test_facts_of_a_poker_deal_worked_by_hand():
    """Whole deal V6: 3 seats, dealer 0; seats 1, 2, 0 hold Qc Qd, 7d 5s, 9h 9s."""
    settings = make_settings(POKER, {"num_players": 3})
    states = finished(POKER, settings, DECK, [*BIDS, *REST, *LAST, "declare low", "declare high", "declare both"])
    facts = statistics_of(POKER, settings, states)
    net = (states["award"] - states["paid"])[0, :3]
    assert values(facts, "Chips by place from the dealer") == {
        "1": [(1, net[1])],
        "2": [(2, net[2])],
        "dealer": [(0, net[0])],
    }
    bids = values(facts, "Bids by round")
    assert bids["auction 1"] == [(0, 1), (1, 3), (2, 3)] and bids["auction 2"] == [(0, 2), (1, 2), (2, 1)]
    high = values(facts, "Bids by high hand")
    assert ((0, 1.0) in high["pair"]) and ((1, 3.0) in high["pair"]) and ((2, 3.0) in high["high card"])
    low = values(facts, "Bids by low cards")
    assert (2, 3.0) in low["2"], "seat 2 holds 7 and 5 before the first auction"
    assert {seat for seat, _ in low["0"]} == {0, 1}, "nines and queens are no low cards"
    assert values(facts, "Answers to a bet") == {"call": [(0, 1), (0, 1), (2, 1)], "raise": [(1, 1)]}
    ends = values(facts, "How deals end")
    assert ends == {"low": [(1, 1)], "both": [(0, 1)], "high": [(2, 1)]}
    assert values(facts, "Success of both") == {}, "seat 2 has a better high hand"
    assert values(facts, "High or both, by high hand")


def test_success_of_both_and_folds_by_hand():
    settings = make_settings(POKER, {"num_players": 3})
    won = finished(POKER, settings, DECK, [*BIDS, *REST, *LAST, *["declare low", "declare both", "declare low"]])
    assert won["award"][0, 2] == 30
    (fact,) = [fact for fact in statistics_of(POKER, settings, won) if fact.title == "Success of both"]
    assert fact.values.tolist() == [1] and fact.seats.tolist() == [2]
    folded = finished(POKER, settings, DECK, [*BIDS, *REST, *LAST[:5], "bet", "fold", "fold"])
    ends = values(statistics_of(POKER, settings, folded), "How deals end")
    assert ends == {"won as the others folded": [(1, 1)], "folded": [(0, 1), (2, 1)]}
    assert values(statistics_of(POKER, settings, folded), "Answers to a bet") == {"fold": [(0, 1), (2, 1)]}


def test_facts_of_a_flop_deal_worked_by_hand():
    """Two seats, dealer 0: seat 1 keeps all, seat 0 discards one card and gets the flop alone."""
    settings = make_settings(FLOP, {"num_players": 2})
    deck = "As 2c Ah 3c Kd 4c Kh 5c 9d 9c 6c 7c Jd"  # seat 1: aces, kings, a nine; seat 0: 2 3 4 5 9 of clubs
    states = finished(FLOP, settings, deck, ["discard none", "discard 0", "keep 1"])
    facts = statistics_of(FLOP, settings, states)
    assert values(facts, "Cards discarded") == {"0": [(1, 1)], "1": [(0, 1)]}
    assert values(facts, "Discards by hand dealt") == {"flush": [(0, 1)], "two pair": [(1, 0)]}
    assert values(facts, "How flops are got") == {"alone": [(0, 1)]}
    assert values(facts, "Improvements") == {"alone": [(0, 1)]}
    assert values(facts, "Hand at the end") == {"flush": [(0, 1)], "two pair": [(1, 1)]}
    assert values(facts, "Finishing place") == {"best": [(0, 1)], "second": [(1, 1)]}
    assert not values(facts, "Price by round") and "Bids by hand" in {fact.title for fact in facts}


def test_prices_of_flops_are_those_paid():
    """Both discard one; seat 1 bids 1, seat 0 bids 2 and gets it; then seat 1 is alone."""
    settings = make_settings(FLOP, {"num_players": 2})
    deck = "As 2c Ah 3c Kd 4d Kh 5c 9d 9c 6c 7c Jd Ad 8h Th"
    actions = ["discard 4", "discard 0", "bid", "bid", "pass", "keep 0", "keep 0"]
    facts = statistics_of(FLOP, settings, finished(FLOP, settings, deck, actions))
    assert values(facts, "Price by round") == {"flop 1": [(0, 2)]}
    assert values(facts, "Bids by hand") == {"high card": [(0, 2)], "two pair": [(1, 1)]}
    assert values(facts, "How flops are got") == {"bought": [(0, 1)], "alone": [(1, 1)]}


def test_measures_are_means_by_agent_with_intervals_over_decks():
    rng = np.random.default_rng(0)
    luck = rng.normal(0, 1, 50)
    decks = np.repeat(np.arange(50), 4)
    fact = Statistic("t", "n", ["x", "y"], np.arange(200), np.zeros(200, int), np.zeros(200, int), luck[decks] + 2)
    found = measure(fact, ["a", "b"], np.zeros((200, 2), int), decks)
    assert found.means[0][0].mean == pytest.approx(luck.mean() + 2)
    assert found.means[0][0].half_width == pytest.approx(estimate(luck).half_width), "four copies of a deck are one"
    assert found.counts.tolist() == [[200, 0], [0, 0]] and np.isnan(found.means[1][1].mean)
    shares = choices("t", "n", ["x", "y", "z"], np.array([0, 1]), np.array([0, 0]), np.array([2, 2]))
    assert shares.values.tolist() == [0, 0, 1, 0, 0, 1] and shares.share


def test_facts_of_a_match_agree_with_its_result(game):
    """Chips, choices and deals counted from what the callback saw are those of the match."""
    settings = make_settings(game, {"num_players": 3})
    line = [agents.make("rules", game, settings), *[agents.make("random", game, settings)] * 2]
    notes = StatisticsRecorder(game, settings, line[:2], 300)
    result = play_match(game, settings, line, 300, seed=5, callback=notes)
    kept = notes.arrays()
    states = kept["finals"].view(game.STATE).reshape(-1)
    assert len(states) == 300 and sorted(set(kept["decks"])) == list(range(100))
    (chips,) = [
        fact for fact in statistics_of(game, settings, states) if fact.title == "Chips by place from the dealer"
    ]
    found = measure(chips, ["rules", "random"], kept["seated"].astype(int), kept["decks"])
    total = sum(one.mean * n for one, n in zip(found.means[0], found.counts[0], strict=True)) / found.counts[0].sum()
    assert total == pytest.approx(result.agent(0).mean)
    assert kept["counts"][0, :, :-1].sum() > 300 * 4
    for fact in statistics_of(game, settings, states):
        assert len(fact.deals) == len(fact.seats) == len(fact.bins) == len(fact.values)
        assert not len(fact.bins) or (fact.bins.min() >= 0 and fact.bins.max() < len(fact.labels))
        assert np.isfinite(fact.values).all()


def test_the_page_is_whole_and_needs_no_other_file(game):
    settings = make_settings(game, {"num_players": 2})
    plan = MatchConfig(
        game, settings, ("rules", "random"), 200, agents.make, notes=StatisticsRecorder, noted_deals=100, part_tables=50
    )
    played = play(plan)
    page = report(game, settings, played.result, played.notes)
    assert "Behaviour is read from 100 of them" in page and played.result.digest in page
    assert str(played.result.agent(0)) in page and "rules less random" in page
    pictures = re.findall(r"<svg .*?</svg>", page, re.S)
    assert len(pictures) >= 8 and len(pictures) <= page.count("<h2>") - 1
    for picture in pictures:
        assert len(list(ET.fromstring(picture).iter())) > 30
    links = set(re.findall(r"(?:src|href)=[\"']([^\"']*)", page))
    assert all(link.startswith("#") for link in links), "links within the page only"
    assert page == report(game, settings, played.result, played.notes), "the same match gives the same page"


def test_names_are_text_in_the_page_and_other_games_have_a_page_too():
    game = get_game(kuhn)
    settings = kuhn.Settings()
    line = [agents.make("random", game, settings), agents.make("random", game, settings)]
    notes = StatisticsRecorder(game, settings, line, 60)
    line[0].name = "<script>alert(1)</script>"
    result = play_match(game, settings, line, 60, callback=notes)
    page = report(game, settings, result, notes.arrays())
    assert "<script>" not in page and "&lt;script&gt;" in page
    assert "Choices: bet" in page and "Chips by place from the dealer" in page
    (found,) = choices_of(game, settings, notes.arrays()["counts"][0])
    assert found.labels == ["pass", "bet"] and found.counts.sum() == notes.counts.sum()
