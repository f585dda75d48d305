"""Auction Poker under other settings, and settings that make no sense."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from poker_play import begin, bets_paid, declare, exposed, hole, legal, play, play_auctions, stacks, to_betting

from auction_env import Table, make_record
from auction_env.games.cards import names_of
from auction_env.games.game import IllegalActionError, SettingsError

# --- settings -------------------------------------------------------------------------------------------------------

SMALL = {
    "num_players": 2,
    "num_ranks": 3,
    "num_suits": 2,
    "hole_cards": 1,
    "num_auctions": 1,
    "max_bid": 2,
    "max_raises": 1,
}


@pytest.mark.parametrize("n", range(2, 8))
def test_setting_num_players(n: int) -> None:
    table = begin(settings={"num_players": n})
    assert table.state.num_in == n == table.state.row_count


def test_setting_ante() -> None:
    assert stacks(begin(settings={"ante": 5})) == [19, 19, 19]  # of a reserve of 24
    free = begin(settings={"ante": 0})
    assert free.state.pot == 0 and stacks(free) == [19, 19, 19]


@pytest.mark.parametrize("cards", range(7))
def test_setting_hole_cards(cards: int) -> None:
    table = begin(settings={"hole_cards": cards, "num_auctions": 1})
    assert [len(hole(table, seat)) for seat in range(3)] == [cards] * 3
    assert table.observe_named(0)["hole"].sum() == cards
    declare(table, "high", "low", "both")


@pytest.mark.parametrize("auctions", range(1, 8))
def test_setting_num_auctions(auctions: int) -> None:
    table = begin(settings={"hole_cards": 0, "num_auctions": auctions})
    play_auctions(table)
    assert table.phase == "bet" and [len(exposed(table, seat)) for seat in range(3)] == [auctions] * 3


def test_setting_max_bid() -> None:
    table = begin(settings={"max_bid": 7})
    assert legal(table) == {f"bid {price}" for price in range(1, 8)}
    assert begin(settings={"max_bid": 1}).legal() == [60]
    with pytest.raises(IllegalActionError):
        play(begin(), "bid 4")


def test_setting_bet_size() -> None:
    table = to_betting(3, bet_size=4)
    play(table, "bet", "raise")
    assert bets_paid(table) == [4, 8, 0]
    assert table.info(int(table.state.to_act))["to_call"] == 8


@pytest.mark.parametrize("raises", [0, 1, 6])
def test_setting_max_raises(raises: int) -> None:
    table = to_betting(2, max_raises=raises)
    play(table, "bet", *["raise"] * raises)
    assert legal(table) == {"call", "fold"}


def test_setting_num_ranks_and_num_suits() -> None:
    table = begin(settings=SMALL)
    assert {card[0] for card in names_of(table.deals[0].deck).split()} == {"Q", "K", "A"}
    assert {card[1] for card in names_of(table.deals[0].deck).split()} == {"c", "d"}
    assert len(table.deals[0].deck) == 6
    assert declare(table, "high", "low") is not None


def test_setting_starting_chips() -> None:
    assert stacks(begin(settings={"starting_chips": 77})) == [76, 76, 76]


@pytest.mark.parametrize(
    ("first", "second", "awards"), [("low", "high", [3, 2]), ("high", "high", [5, 0]), ("low", "low", [0, 5])]
)
def test_a_small_game_is_played_to_its_end_with_hands_of_two_cards(first: str, second: str, awards: list[int]) -> None:
    """Seat 1 holds ace and queen, seat 0 two kings: the pair wins high, the unpaired hand low."""
    table = begin(settings=SMALL, dealer=0, deck="Ac Kc Qd Kd")
    play(table, "bid 2", "bid 1", "pick Qd", "check", "check", f"declare {first}", f"declare {second}")
    assert table.deals[0].award == awards and table.deals[0].payoffs == [awards[0] - 2, awards[1] - 3]


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint16])
def test_settings_given_as_numpy_integers_are_plain_ones(game: Any, kind: Any) -> None:
    """In int8 the sizes of seven seats' observations would overflow, and a record would not go into JSON."""
    for settings in (Table(game, {"num_players": kind(7)}).settings, game.Settings(num_players=kind(7))):
        assert settings == game.Settings(num_players=7) and type(settings.num_players) is int
    table = Table(game, {"num_players": kind(7)})
    table.reset(1)
    assert (
        table.observe(0).size
        == table.observation_size
        == sum(piece.size for piece in game.observation_fields(settings))
    )
    assert json.loads(json.dumps(make_record(table))) == make_record(table)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"num_players": 8}, "num_players is 8: .* 2 to 7"),
        ({"num_players": 1}, "num_players is 1"),
        ({"num_players": 3.0}, r"num_players is 3\.0: it must be an integer"),
        ({"num_players": True}, "num_players is True"),
        ({"num_auctions": 0}, "num_auctions is 0"),
        ({"num_auctions": 6, "num_players": 7}, r"num_players 7 x \(hole_cards 2 \+ num_auctions 6\) = 56 cards"),
        ({"num_auctions": 6}, r"hole_cards 2 \+ num_auctions 6 is more than 7"),
        ({"hole_cards": -1}, "hole_cards is -1"),
        ({"num_suits": 5}, "num_suits is 5"),
        ({"num_ranks": 5}, "21 cards, more than the 20 of the deck: lower one of them or enlarge the deck"),
        ({"num_ranks": 14}, "num_ranks is 14"),
        ({"max_bid": 0}, "max_bid is 0"),
        ({"max_bid": 21}, "max_bid is 21"),
        ({"bet_size": 0}, "bet_size is 0"),
        ({"max_raises": -1}, "max_raises is -1"),
        ({"ante": -1}, "ante is -1"),
        ({"ante": "1"}, "ante is '1'"),
        ({"num_deals": 0}, "num_deals is 0"),
        ({"starting_chips": 19}, r"starting_chips \(at least the reserve of A2\) is 19: .* from 20"),
        ({"final_carry": "burn"}, "final_carry is 'burn': it must be 'split' or 'keep'"),
        ({"final_carry": None}, "final_carry is None"),
        ({"num_player": 3}, "no setting 'num_player': did you mean 'num_players'"),
        ({"blinds": 3}, "no setting 'blinds': the settings are num_players, "),
    ],
)
def test_nonsense_settings_are_refused_by_name(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(SettingsError, match=named):
        Table("auction_poker", settings)
