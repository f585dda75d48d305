"""The rules page of Auction Flop Poker beside the code: what ``test_rules_page.py`` does not check for every game."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest
from flop_play import after_discards, begin, play, stacks
from reference_flop import divide
from test_auction_flop_award import engine_division, long_deal
from test_rules_page import page_of, table, tables

from auction_env.engine.kernels import decision_size, observation_size
from auction_env.games import auction_flop
from auction_env.games.auction_flop import MAX_BIDS, STATE, Settings, max_game_length
from auction_env.games.cards import CARD_NAMES

PAGE = page_of(auction_flop)
TEXT = " ".join(PAGE.split())  # without line breaks


def _compact(n: int = 4) -> Settings:
    return Settings(num_players=n, observation="compact")


def test_every_ruling_is_on_the_page_once_in_order() -> None:
    assert re.findall(r"^- \*\*B(\d+) ", PAGE, re.M) == [str(number) for number in range(1, 11)]


def test_numbers_of_the_summary() -> None:
    game: Any = auction_flop
    assert f"{observation_size(game, Settings())} entries with four seats; a compact form has " in PAGE
    assert f"a compact form has {observation_size(game, _compact())} |" in PAGE
    assert f"with four seats at random, {max_game_length(Settings())} at most" in PAGE
    assert f"one `Discrete`, {len(auction_flop.action_names(Settings()))} by default" in PAGE
    fees = ", ".join(map(str, Settings().discard_fees[1:-1])) + f" or {Settings().discard_fees[-1]}"
    assert TEXT.count(fees) >= 2 and " : ".join(map(str, Settings().pot_shares)) in PAGE


@pytest.mark.parametrize("row", table(PAGE, "Dividing the pot"), ids=lambda row: f"{row['pot']} {row['hands']}")
def test_dividing_the_pot(row: dict[str, str]) -> None:
    places, pot = [int(place) for place in row["hands"].split()], int(row["pot"])
    expected = [int(chips) for chips in row["award"].split()]
    assert engine_division(pot, [-place for place in places]) == expected
    shared = divide(pot, (3, 2, 1), {seat: -place for seat, place in enumerate(places)}, range(len(places)))
    assert [shared[seat] for seat in range(len(places))] == expected


@pytest.mark.parametrize("row", table(PAGE, "Worked deals"), ids=lambda row: row["then"])
def test_worked_deals(row: dict[str, str]) -> None:
    rows = table(PAGE, "Worked deals")
    then = row["then"].replace("the same", rows[rows.index(row) - 1]["then"])
    playing = after_discards(1, 1, 1)
    assert playing.state.pot == 12
    play(playing, *then.split(", "))
    assert playing.state.pot == int(row["pot"])
    assert stacks(playing) == [int(chips) for chips in row["stacks of 0, 1, 2"].split()]
    assert row["to act"].startswith(f"player_{playing.to_act} ")
    legal = {playing.action_names[action] for action in playing.legal()}
    told = row["to act"]
    if "keeps exactly one card" in told:
        assert legal == {"keep 0", "keep 1", "keep 2"}
    elif "has the first voice" in told:
        assert legal == {"pass", "bid"} and playing.state.held[1] == 5
    else:
        assert legal == {"take", "refuse"}
        assert told.endswith(f"pays {playing.info(int(playing.to_act or 0))['cost']}")


def test_worked_deals_without_chips_and_without_discards() -> None:
    assert "With 4 chips each at the start nobody has any left" in PAGE and "the pot of 9 is divided 5, 3, 1" in PAGE
    poor = after_discards(1, 1, 1, settings={"starting_chips": 4})
    play(poor, "pass", "pass", "pass")
    assert stacks(poor) == [0, 0, 0] and [poor.action_names[action] for action in poor.legal()] == ["take"]
    assert poor.to_act == 1
    content = begin(settings={"num_players": 3})
    play(content, *["discard none"] * 3)
    assert sorted(content.state.award[:3].tolist()) == [1, 3, 5]


def test_the_compact_form() -> None:
    compact, full = auction_flop.observation_fields(_compact()), auction_flop.observation_fields(Settings())
    first, sizes = tables(PAGE, "The compact form")
    assert [row["piece"] for row in first] == [piece.name for piece in compact if piece not in full]
    piece = next(piece for piece in compact if piece.name == "bought")
    assert first[0]["meaning"] == piece.meaning and first[0]["shape"] == "(n, 52)" and piece.shape == (4, 52)
    left_out = [piece.name for piece in full if piece not in compact]
    assert left_out == ["flops", "buyers", "prices", "all_refusals", "kept", "own_kept", "bids"]
    assert "the seven pieces from `flops` to `bids` are left out" in PAGE
    assert [int(row["n"]) for row in sizes] == list(range(2, 9))
    for row in sizes:
        settings: Any = _compact(int(row["n"]))
        assert int(row["compact entries"]) == observation_size(auction_flop, settings)  # type: ignore[arg-type]
        assert int(row["before shown"]) == decision_size(auction_flop, settings)  # type: ignore[arg-type]


def test_numbers_of_bids_that_are_recalled() -> None:
    assert PAGE.count(f"{MAX_BIDS}") >= 3
    assert Settings(num_players=8).bid_slots == 8 * 97 <= MAX_BIDS
    assert Settings(starting_chips=197).chips_in_play <= MAX_BIDS < Settings(starting_chips=198).chips_in_play
    assert STATE.itemsize < 1024


def test_the_longest_deal_and_its_formula() -> None:
    assert f"a deal of {long_deal(4, 4, 0.6)} decisions is played in the tests" in PAGE
    formula = re.search(r"4 \+ 3 x 384 \+ \(1 \+ 4 \+ 5 \+ 6\) = (\d+)", PAGE)
    assert formula and int(formula[1]) == 4 + 3 * 384 + (1 + 4 + 5 + 6) == max_game_length(Settings())
    for settings in (Settings(), Settings(num_players=7), Settings(num_players=2, hand_size=2, discard_fees=(0, 0, 9))):
        n, chips, fees = settings.num_players, settings.chips_in_play, settings.discard_fees
        lengths = [n]
        for a in range(1, n + 1):
            for number in range(1, settings.hand_size + 1):  # each of them discards as many
                flops = 1 + sum(m + 2 for m in range(2, a + 1))
                rest = (a * number - a) * (a + 2 if a > 1 else 1)
                lengths.append(n + (a - 1) * (chips - a * fees[number]) + flops + rest)
        assert max(lengths) == max_game_length(settings)


def test_examples_of_actions_and_of_the_sorted_order() -> None:
    names = auction_flop.action_names(Settings())
    assert "index\n11 + 1 + 4 = 16" in PAGE and names[16] == "discard 0 2"
    assert auction_flop.public_name(Settings(), 16) == "discard 2 cards"
    assert auction_flop.public_name(Settings(), names.index("keep 1")) == "keep 1 card"
    deck = [card for suit in "cdhs" for card in ("A" + suit, "2" + suit)] + ["Kc", "Kd"]
    rest = [card for card in CARD_NAMES if card not in deck]
    assert begin(settings={"num_players": 2}, deck=deck + rest).view(1).seats[1].cards == ["As", "Ah", "Ad", "Ac", "Kc"]


def test_the_page_says_what_the_published_text_lacks() -> None:
    for words in (
        "lacks its two tables",
        "the game's author gives for it elsewhere",
        "its numbers are not known to us. That is why `pot_shares` is a setting",
        "the group shall agree",
        "The text gives it to the player to the dealer's left",
    ):
        assert words in TEXT
    assert {field.name for field in dataclasses.fields(Settings)} >= {"discard_fees", "pot_shares"}
