"""Auction Flop Poker, ruling by ruling (B1 to B10); the number of the ruling is in each test's name.

Then the engine beside a plain-Python reference, what a seat remembers, what it may not know, and the longest deal.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import best_high
from reference_flop import Ask, Result, divide, match_is_over, place_chips, play_deal, tidy

from auction_env import Table, auction_flop_v0, make_record, replay
from auction_env.core.jit import kernel
from auction_env.engine.batch import Batch
from auction_env.engine.kernels import kernels
from auction_env.games import auction_flop, get_game
from auction_env.games.auction_flop import Settings, max_deal_length, rules
from auction_env.games.cards import CARD_NAMES, card_name, cards_of, deck_cards, names_of
from auction_env.games.game import IllegalActionError, SettingsError, SetupError

ONE_EACH = {"num_players": 3}  # the appendix's table: 3 seats, 100 chips, dealer 0, each discards one card


# --- playing by name ------------------------------------------------------------------------------------------------


def begin(seed: int = 1, settings: dict[str, Any] | None = None, **options: Any) -> Table:
    """A table with a deal on; ``options`` as in ``Table.reset``, dealer 0 unless said."""
    table = Table("auction_flop", settings)
    table.reset(seed, {"dealer": 0, **options})
    return table


def legal(table: Table) -> set[str]:
    return {table.action_names[action] for action in table.legal()}


def play(table: Table, *actions: str) -> list[int] | None:
    """Act by name, one seat after the other; the result if a deal ended."""
    result = None
    for action in actions:
        result = table.act(action)  # type: ignore[arg-type]
    return result


def after_discards(*numbers: int, settings: dict[str, Any] | None = None, **options: Any) -> Table:
    """A table whose seats have discarded so many cards, clockwise from the dealer."""
    table = begin(settings={"num_players": len(numbers), **(settings or {})}, **options)
    for number in numbers:
        play(table, " ".join(["discard", *(map(str, range(number))), *([] if number else ["none"])]))
    return table


def stacks(table: Table) -> list[int]:
    return table.state.stacks[: table.settings.num_players].tolist()


def held(table: Table) -> list[int]:
    return table.state.held[: table.settings.num_players].tolist()


def dealt(row: Any, seat: int, gone: bool) -> list[str]:
    """The cards a seat was dealt and has, or has not, discarded."""
    n, gone_turns = int(row.num_players), int(row.discards[seat])
    places = [turn * n + (seat - int(row.dealer) - 1) % n for turn in range(row.hand_size)]
    return tidy(CARD_NAMES[row.deck[place]] for turn, place in enumerate(places) if gone_turns >> turn & 1 == gone)


def hand(table: Table, seat: int) -> list[str]:
    """The cards a seat holds, read from the row in plain Python."""
    row = table.states[0]
    cards = dealt(row, seat, False)
    for number in range(row.num_flops):
        if row.buyer[number] == seat:
            kept = int(row.kept[number])
            cards += [CARD_NAMES[row.flops[number, place]] for place in range(3) if kept >> place & 1]
    return tidy(cards)


def flop(table: Table) -> list[str]:
    """The cards on the table."""
    row = table.states[0]
    if table.phase not in ("bid", "refuse", "keep"):
        return []
    return [CARD_NAMES[card] for card in row.flops[row.num_flops - 1, : table.settings.flop_size]]


def stock(table: Table) -> list[str]:
    row = table.state
    return [card_name(int(card)) for card in row.stock[row.stock_at : row.stock_size]]


def random_deal(table: Table, rng: np.random.Generator) -> list[int]:
    """Play the deal out, each legal action equally likely."""
    while True:
        result = table.act(int(rng.choice(table.legal())))
        if result is not None:
            return result


# --- settings and actions -------------------------------------------------------------------------------------------


def test_the_defaults_are_the_rulings() -> None:
    settings = Settings()
    assert (settings.num_players, settings.ante, settings.starting_chips, settings.num_deals) == (4, 3, 100, 1)
    assert settings.discard_fees == (0, 1, 3, 6, 10, 15) and settings.pot_shares == (3, 2, 1)
    assert (settings.hand_size, settings.flop_size, settings.num_ranks, settings.num_suits) == (5, 3, 13, 4)
    assert settings.observation == "full"


@pytest.mark.parametrize(
    "name, value",
    [
        *[("num_players", value) for value in (1, 9, 2.0, "4", True, None)],
        *[("ante", value) for value in (-1, 1001, 0.5)],
        *[("starting_chips", value) for value in (0, 2, 1_000_001, "100")],
        *[("num_deals", value) for value in (0, 1_000_001)],
        *[("flop_size", value) for value in (0, 4)],
        *[("hand_size", value) for value in (0, 6)],
        *[("num_ranks", value) for value in (0, 14, 1)],  # one rank: four cards are too few
        *[("num_suits", value) for value in (0, 5, 1)],
        *[("discard_fees", value) for value in ((), (0, 1, 3, 6, 10), (0,) * 7, (1,) * 6, (0, 1, 2, 3, 4, 256))],
        *[("discard_fees", value) for value in ((0, 1, 2, 3, 4, -5), "013610", 5, None, (0, 1, 2, 3, 4, 5.0))],
        *[("pot_shares", value) for value in ((), (1,) * 9, (1, 2), (3, 2, 0), (256,), 3, "321", None, (1, True))],
        *[("observation", value) for value in ("", "both", None, 1, ["full"])],
    ],
)
def test_nonsense_fails_at_construction_naming_the_setting(name: str, value: Any) -> None:
    with pytest.raises(SettingsError, match=name):
        Settings(**{name: value})


def test_too_small_a_deck_is_refused_with_the_numbers() -> None:
    with pytest.raises(SettingsError, match=r"num_players 8 x hand_size 5 - 1 \+ flop_size 3 = 42 .* num_suits 4 = 40"):
        Settings(num_players=8, num_ranks=10)
    Settings(num_players=8, num_ranks=11)


def test_sequences_may_be_lists_and_become_tuples() -> None:
    settings = Settings(discard_fees=[0, 2, 4, 6, 8, 10], pot_shares=[5, 1])  # type: ignore[arg-type]
    assert settings.discard_fees == (0, 2, 4, 6, 8, 10) and settings.pot_shares == (5, 1)
    assert hash(settings) == hash(Settings(discard_fees=(0, 2, 4, 6, 8, 10), pot_shares=(5, 1)))


def test_an_action_index_means_the_same_for_all_settings() -> None:
    names = auction_flop.action_names(Settings())
    assert len(names) == 43 and names[:11] == (
        *("pass", "bid", "take", "refuse"),
        *("keep 0", "keep 1", "keep 0 1", "keep 2", "keep 0 2", "keep 1 2", "keep 0 1 2"),
    )
    assert names[11:15] == ("discard none", "discard 0", "discard 1", "discard 0 1") and len(set(names)) == 43
    assert names[11 + 0b10101] == "discard 0 2 4"
    for hand_size in range(1, 6):
        small = auction_flop.action_names(Settings(num_players=2, hand_size=hand_size, flop_size=1))
        assert small == names[: 11 + 2**hand_size]


def test_public_names_tell_how_many_cards_and_not_which() -> None:
    settings = Settings()
    public = {name: auction_flop.public_name(settings, i) for i, name in enumerate(auction_flop.action_names(settings))}
    assert public["discard none"] == "discard none" and public["bid"] == "bid" and public["refuse"] == "refuse"
    assert public["discard 3"] == "discard 1 card" and public["discard 0 2 4"] == "discard 3 cards"
    assert public["keep 1"] == "keep 1 card" and public["keep 0 2"] == "keep 2 cards"
    assert len(set(public.values())) == 4 + 6 + 3


def test_state_is_under_one_kibibyte() -> None:
    assert auction_flop.STATE.itemsize < 1024
    assert kernels(auction_flop) is kernels(get_game("auction_flop"))


# --- B1: chips, dealer, ante, cards ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n", range(2, 9))
def test_b1_every_seat_antes_three_of_a_hundred(n: int) -> None:
    table = begin(settings={"num_players": n})
    assert stacks(table) == [97] * n and table.state.pot == 3 * n
    assert table.state.paid[:n].tolist() == [3] * n and held(table) == [5] * n


@pytest.mark.parametrize("dealer", range(4))
def test_b1_five_cards_each_one_at_a_time_clockwise_from_the_dealer(dealer: int) -> None:
    deck = [rank + suit for rank in "AK9T2" for suit in "cdhs"]
    table = begin(dealer=dealer, deck=deck)
    for turn, suit in enumerate("cdhs"):
        assert hand(table, (dealer + 1 + turn) % 4) == [rank + suit for rank in "AKT92"]
    assert table.to_act == (dealer + 1) % 4


def test_b1_first_dealer_at_random_from_the_seed() -> None:
    table = Table("auction_flop")
    dealers = []
    for seed in range(800):
        table.reset(seed)
        dealers.append(int(table.state.dealer))
    counts = Counter(dealers)
    assert set(counts) == set(range(4)) and all(abs(count - 200) < 60 for count in counts.values())
    table.reset(5)
    assert table.state.dealer == dealers[5]


def test_b1_the_deal_passes_to_the_left() -> None:
    table = begin(settings={"num_deals": 6}, dealer=2)
    dealers, rng = [int(table.state.dealer)], np.random.default_rng(1)
    while not table.match_over:
        random_deal(table, rng)
        if not table.match_over:
            table.next_deal()
            dealers.append(int(table.state.dealer))
    assert dealers == [2, 3, 0, 1, 2, 3]


# --- B2: discards ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number, fee", list(enumerate((0, 1, 3, 6, 10, 15))))
def test_b2_a_discard_costs_its_fee_and_is_not_replaced(number: int, fee: int) -> None:
    table = begin()
    play(table, " ".join(["discard", *(map(str, range(number))), *([] if number else ["none"])]))
    assert stacks(table) == [97, 97 - fee, 97, 97] and held(table) == [5, 5 - number, 5, 5]
    assert table.state.pot == 12 + fee


def test_b2_in_turn_clockwise_from_the_dealer() -> None:
    table = begin(dealer=2)
    order = []
    while table.phase == "discard":
        order.append(table.to_act)
        play(table, "discard 0 1")
    assert order == [3, 0, 1, 2] and table.phase == "bid"


def test_b2_any_subset_by_position_in_the_hand_sorted_highest_first_suits_s_h_d_c() -> None:
    deck = "9c 2c 9s 2d 4h 2h As 2s Ah 3c"
    for places in itertools.product((0, 1), repeat=5):
        table = begin(settings={"num_players": 2}, deck=deck, dealer=1)
        assert hand(table, 0) == ["As", "Ah", "9s", "9c", "4h"]
        chosen = [str(place) for place in range(5) if places[place]]
        play(table, f"discard {' '.join(chosen) or 'none'}")
        assert hand(table, 0) == [
            card for card, gone in zip(["As", "Ah", "9s", "9c", "4h"], places, strict=True) if not gone
        ]


@pytest.mark.parametrize("chips, most", [(0, 0), (1, 1), (2, 1), (3, 2), (5, 2), (6, 3), (10, 4), (14, 4), (15, 5)])
def test_b2_a_discard_that_cannot_be_paid_is_illegal(chips: int, most: int) -> None:
    table = begin(stacks=[100, 3 + chips, 100, 100])
    sizes = Counter(0 if name.endswith("none") else len(name.split()) - 1 for name in legal(table))
    assert sizes == {number: math.comb(5, number) for number in range(most + 1)}


def test_b2_the_fees_are_a_setting() -> None:
    table = begin(settings={"discard_fees": (0, 9, 2, 200, 0, 0)})
    sizes = {0 if name.endswith("none") else len(name.split()) - 1 for name in legal(table)}
    assert sizes == {0, 1, 2, 4, 5}
    play(table, "discard 0", "discard 0 1", "discard 0 1 2 3", "discard none")
    assert stacks(table) == [97, 97 - 9, 97 - 2, 97]


# --- B3: flops and the first voice ----------------------------------------------------------------------------------


def test_b3_a_flop_is_the_next_three_cards_of_the_stock() -> None:
    top = ["9h", "7d", "Ad", "Kd", "7c", "Ts"]
    deck = [card for card in CARD_NAMES if card not in top][:20] + top
    table = begin(deck=deck)
    play(table, "discard 0", "discard 0", "discard 0", "discard 0")
    assert flop(table) == ["Ad", "9h", "7d"]
    play(table, "bid", "pass", "pass", "pass", "keep 1")
    assert flop(table) == ["Kd", "Ts", "7c"] and "9h" in hand(table, 1)


@pytest.mark.parametrize(
    "discards, voices",
    [  # by seats 1, 2, 3, 0; who gets each flop is the first voice, keeping one card
        ((1, 1, 1, 1), [1, 2, 3, 0]),
        ((0, 1, 1, 1), [2, 3, 0]),
        ((0, 0, 2, 1), [3, 0, 3]),
        ((2, 2, 0, 0), [1, 2, 1, 2]),
        ((3, 0, 1, 0), [1, 3, 1, 1]),
        ((0, 0, 0, 2), [0, 0]),
    ],
)
def test_b3_first_voice_and_its_rotation(discards: tuple[int, ...], voices: list[int]) -> None:
    table = after_discards(*discards)
    found = []
    while table.to_act is not None:
        found.append(table.to_act)
        assert table.state.voice == table.to_act
        while table.phase == "bid":
            play(table, "pass")
        play(table, *(["take"] if table.phase == "refuse" else []), "keep 0")
    assert found == voices


def test_b3_the_next_voice_is_left_of_the_last_voice_not_of_the_buyer() -> None:
    table = after_discards(2, 2, 2, 2)
    play(table, "pass", "pass", "bid", "pass", "pass", "pass", "keep 0")  # seat 3 buys, seat 1 had the first voice
    assert table.to_act == 2


# --- B4: bidding ----------------------------------------------------------------------------------------------------


def test_b4_pass_or_bid_exactly_one_more() -> None:
    table = after_discards(1, 1, 1, 1)
    for price in range(1, 9):
        assert legal(table) == {"pass", "bid"}
        play(table, "bid")
        assert table.state.price == price and table.state.bidder == (price - 1 + 1) % 4
        assert table.info(int(table.to_act or 0)) == {"phase": "bid", "price": price, "cost": price + 1, "room": 1}
    assert table.state.pot == 16  # bids are not paid, prices are


def test_b4_a_seat_that_passed_may_bid_again() -> None:
    table = after_discards(1, 1, 1, 1)
    play(table, "pass", "pass", "bid", "pass", "bid", "pass", "pass", "pass")
    assert table.phase == "keep" and table.to_act == 1 and table.state.cost[0] == 2


def test_b4_seats_holding_five_are_skipped() -> None:
    table = after_discards(1, 0, 1, 0)
    asked = []
    for action in ("bid", "bid", "bid", "pass"):
        asked.append(table.to_act)
        play(table, action)
    assert asked == [1, 3, 1, 3] and table.to_act == 1 and table.phase == "keep"


@pytest.mark.parametrize("price", range(1, 6))
def test_b4_case_7_nobody_bids_what_they_cannot_pay(price: int) -> None:
    """At a stack of one more than the price a bid is legal, at a stack equal to it only the pass."""
    for chips in (price, price + 1):
        table = after_discards(1, 1, 1, stacks=[4 + chips, 100, 100])  # seat 0, the last to speak, is left with chips
        asked = {1: "bid", 2: "bid", 0: "pass"}
        while table.state.price < price or table.to_act != 0:
            play(table, asked[int(table.to_act or 0)] if table.state.price < price else "pass")
        assert table.state.price == price and stacks(table)[0] == chips
        assert legal(table) == ({"pass", "bid"} if chips > price else {"pass"})


def test_b4_case_7_the_last_chip_may_be_bid_and_is_paid() -> None:
    table = after_discards(1, 1, stacks=[9, 6])  # after ante and fee: 5 and 2
    play(table, "bid", "bid")  # seat 1 bids 1, seat 0 bids 2
    assert legal(table) == {"pass"}  # seat 1 has 2
    play(table, "pass", "keep 0")
    assert stacks(table) == [3, 2]
    table = after_discards(1, 1, stacks=[9, 7])  # 5 and 3
    play(table, "bid", "bid", "bid", "pass", "keep 2")
    assert stacks(table) == [5, 0]


# --- B5: selling and keeping ----------------------------------------------------------------------------------------


def test_b5_sold_when_all_other_incomplete_seats_have_passed_on_a_bid() -> None:
    table = after_discards(*(1,) * 8)
    play(table, *["pass"] * 7, "bid", *["pass"] * 6)
    assert table.phase == "bid" and table.to_act == 7
    play(table, "pass")
    assert table.phase == "keep" and table.to_act == 0 and stacks(table)[0] == 95


def test_b5_case_6_with_two_open_seats_one_bid_and_one_pass_end_the_auction() -> None:
    table = after_discards(1, 0, 2)
    play(table, "bid", "pass")
    assert table.phase == "keep" and table.to_act == 1


@pytest.mark.parametrize("number, count", [(1, 3), (2, 6), (3, 7), (4, 7), (5, 7)])
def test_b5_case_5_the_buyer_keeps_one_to_three_never_more_than_five_in_hand(number: int, count: int) -> None:
    table = after_discards(number, 1)
    play(table, "bid", "pass")
    assert len(legal(table)) == count == len([k for k in range(1, 8) if k.bit_count() <= number])
    assert all(name.startswith("keep ") for name in legal(table))
    for name in ("pass", "take", "refuse", "discard none"):
        with pytest.raises(IllegalActionError):
            play(table.clone(), name)


def test_b5_kept_cards_join_the_hand_the_rest_is_discarded_and_only_the_number_is_public() -> None:
    table = after_discards(3, 1)
    cards, before = flop(table), hand(table, 1)
    play(table, "bid", "pass", "keep 0 2")
    assert sorted(hand(table, 1)) == sorted([*before, cards[0], cards[2]]) and held(table)[1] == 4
    other = make_record(table, 0)["deals"][0]["actions"]
    assert other[-1] == [1, None, "keep 2 cards"] and other[0] == [1, None, "discard 3 cards"]
    assert make_record(table, 1)["deals"][0]["actions"][-1][2] == "keep 0 2"
    assert any("who kept 2 cards" in line for line in table.view(0).lines)
    assert cards[0] not in json.dumps(table.view(0).seats, default=vars)


# --- B6: nobody bids ------------------------------------------------------------------------------------------------


def test_b6_case_6_the_refusal_ladder_goes_round_until_someone_takes() -> None:
    table = after_discards(1, 1, 1)
    play(table, "pass", "pass", "pass")
    payers = []
    for cost in range(1, 5):
        assert table.phase == "refuse" and legal(table) == {"take", "refuse"}
        assert table.info(int(table.to_act or 0))["cost"] == cost
        payers.append(table.to_act)
        play(table, "refuse")
    assert payers == [1, 2, 0, 1] and table.to_act == 2
    play(table, "take")
    assert table.state.pot == 22 and stacks(table) == [93, 91, 94]
    assert table.phase == "keep" and table.to_act == 2 and "take" not in legal(table)


def test_b6_the_first_voice_may_take_for_nothing_and_keeps_at_least_one() -> None:
    table = after_discards(1, 4)
    play(table, "pass", "pass", "take")
    assert stacks(table) == [87, 96] and table.phase == "keep"
    assert legal(table) == {"keep 0", "keep 1", "keep 2"}


@pytest.mark.parametrize("chips", range(4))
def test_b6_case_7_who_cannot_pay_the_refusal_must_take(chips: int) -> None:
    table = after_discards(1, 1, stacks=[100, 4 + chips])
    play(table, "pass", "pass")
    assert legal(table) == ({"take", "refuse"} if chips else {"take"})
    if chips:
        play(table, "refuse", "refuse")  # seat 1 pays 1, seat 0 pays 2
        assert legal(table) == ({"take", "refuse"} if chips == 4 else {"take"})


# --- B7: one seat alone ---------------------------------------------------------------------------------------------


def test_b7_a_lone_seat_takes_each_flop_free_and_may_not_refuse() -> None:
    table = after_discards(0, 4, 0)
    for room, count in ((4, 7), (3, 7), (2, 6), (1, 3)):
        assert table.phase == "keep" and table.to_act == 2
        assert table.info(2)["room"] == room and len(legal(table)) == count
        assert all(name.startswith("keep ") for name in legal(table))
        play(table, "keep 1")
    assert table.to_act is None and table.state.paid[:3].tolist() == [3, 3, 3 + 10]


def test_b7_alone_after_the_others_have_completed() -> None:
    table = after_discards(1, 5)
    play(table, "bid", "pass", "keep 0")
    assert table.phase == "keep" and table.to_act == 0 and table.state.cost[1] == 0


# --- B8: the reshuffle ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n, cards", [(2, 42), (3, 37), (4, 32), (5, 27), (6, 22), (7, 17), (8, 12)])
def test_b8_case_10_stock_after_the_deal(n: int, cards: int) -> None:
    assert len(stock(begin(settings={"num_players": n}))) == cards


def test_b8_case_10_eight_seats_exhaust_the_stock_with_four_flops() -> None:
    table = after_discards(*(2,) * 8)
    piles = []
    for number in range(6):
        piles.append((len(stock(table)), int(table.state.last_shuffle)))
        play(table, "bid", *["pass"] * (int(table.state.num_open) - 1), "keep 0")
        assert number > 3 or table.state.num_flops == number + 2
    # 12, 9, ... after each flop; the fifth finds none: 16 discards and 4 x 2 flop cards go under, three are turned up
    assert piles == [(9, 127), (6, 127), (3, 127), (0, 127), (21, 4), (18, 4)]


def test_b8_what_is_left_of_the_stock_comes_first() -> None:
    """Seven seats: 17 cards, five flops and two cards left, which are in the sixth flop."""
    table = after_discards(*(2,) * 7)
    for _ in range(4):
        play(table, "bid", *["pass"] * (int(table.state.num_open) - 1), "keep 0")
    left, pile = stock(table), set(CARD_NAMES) - set(stock(table)) - set(flop(table))
    pile -= {card for seat in range(7) for card in hand(table, seat)}
    cards = flop(table)
    play(table, "bid", *["pass"] * (int(table.state.num_open) - 1), "keep 0")
    pile |= set(cards[1:])
    assert len(left) == 2 and set(left) < set(flop(table)) and table.state.tail == 2
    assert set(stock(table)) | (set(flop(table)) - set(left)) == pile


SMALL = {"num_players": 2, "hand_size": 2, "flop_size": 2, "num_ranks": 6, "num_suits": 1, "starting_chips": 20}


def test_b8_the_order_comes_from_the_tables_generator_and_is_uniform() -> None:
    """One deck, many seeds: after the reshuffle each order of the four discards comes up equally often."""
    orders: Counter[tuple[str, ...]] = Counter()
    table = Table("auction_flop", {**SMALL, "num_ranks": 5})
    for seed in range(4800):
        table.reset(seed, {"dealer": 0, "deck": "Tc Jc Qc Kc Ac"})
        play(table, "discard 0 1", "discard 0 1")
        row = table.state
        orders[tuple(CARD_NAMES[card] for card in row.stock[1 : row.stock_size])] += 1
        assert CARD_NAMES[row.stock[0]] == "Ac"
    assert len(orders) == 24
    assert sum((count - 200) ** 2 / 200 for count in orders.values()) < 23 + 5 * math.sqrt(2 * 23)


def test_b8_the_order_is_settled_at_the_deal() -> None:
    """The same seed gives the same order, whatever the moves before; moves draw nothing from the generator."""
    first = begin(3, SMALL)
    before = int(first.state.rng)
    random_deal(first, np.random.default_rng(0))
    assert first.state.rng == before
    tables = [begin(7, {**SMALL, "num_ranks": 5}) for _ in range(2)]
    play(tables[0], "discard 0 1", "discard 0 1", "pass", "pass", "take", "keep 0 1")
    play(tables[1], "discard 0 1", "discard 0 1", "bid", "bid", "pass", "keep 1")
    orders = [table.state.stock[1:5].tolist() for table in tables]
    assert orders[0] == orders[1]


def test_b8_the_order_is_in_no_repr_view_record_or_text_for_a_seat() -> None:
    table = begin(7, {**SMALL, "num_ranks": 5})
    play(table, "discard 0 1", "discard 0 1")
    other = table.clone()
    other.states["chance"] += np.uint64(1)
    row = other.state
    left = slice(int(row.stock_at), int(row.stock_size))
    row.stock[left] = row.stock[left][::-1].copy()
    assert table.state.stock.tolist() != row.stock.tolist()
    for seat in range(2):
        assert np.array_equal(table.observe(seat), other.observe(seat))
        assert table.view(seat) == other.view(seat) and make_record(table, seat) == make_record(other, seat)
        assert "generator" not in repr(make_record(table, seat)["deals"][0]["deck"])
    assert table.view(None) == other.view(None) and repr(table) == repr(other)


def test_b8_a_record_replays_the_reshuffle() -> None:
    rng = np.random.default_rng(2)
    for seed in range(30):
        table = begin(seed, {**SMALL, "num_ranks": 5, "num_deals": 2})
        random_deal(table, rng)
        record = json.loads(json.dumps(make_record(table)))
        again = replay(record)
        assert make_record(again)["digest"] == record["digest"]
        assert again.states.tobytes() == table.states.tobytes()


# --- B9: dividing the pot -------------------------------------------------------------------------------------------


@kernel
def _place_chips(states: Any, place: Any) -> Any:
    return auction_flop.place_chips(states[0], place)


@kernel
def _shares(states: Any, out: Any) -> None:
    s = states[0]
    for seat in range(s.num_players):
        s.place[seat] = 0
        for other in range(s.num_players):
            s.place[seat] += s.high[other] > s.high[seat]
        out[seat] = rules._share(s, seat)


def engine_division(pot: int, strength: list[int], shares: tuple[int, ...] = (3, 2, 1), dealer: int = -1) -> list[int]:
    """What the engine gives seats of these strengths (larger is better); the dealer is the last seat."""
    n = len(strength)
    states = auction_flop.new_state(Settings(num_players=n, pot_shares=shares))
    states["pot"], states["dealer"] = pot, dealer % n
    states["high"][0, :n] = strength
    out = np.zeros(n, np.int64)
    _shares(states, out)
    return out.tolist()


@pytest.mark.parametrize(
    "pot, strength, award",
    [
        (100, [4, 3, 2, 1], [51, 33, 16, 0]),
        (101, [4, 3, 2, 1], [51, 34, 16, 0]),
        (100, [4, 4, 2, 1], [42, 42, 16, 0]),  # ties pool before splitting
        (100, [4, 3, 3, 3], [51, 17, 16, 16]),
        (100, [4, 3, 2, 2], [51, 33, 8, 8]),
        (100, [4, 4, 4, 4], [25, 25, 25, 25]),
        (101, [4, 4, 4, 1], [34, 34, 33, 0]),
        (25, [2, 1], [15, 10]),
        (7, [2, 2], [4, 3]),
        (5, [3, 2, 1], [3, 2, 0]),
        (1, [1, 2, 2, 1], [0, 1, 0, 0]),
        (0, [1, 2, 3], [0, 0, 0]),
    ],
)
def test_b9_division_of_the_appendix(pot: int, strength: list[int], award: list[int]) -> None:
    assert engine_division(pot, strength) == award
    reference = divide(pot, (3, 2, 1), dict(enumerate(strength)), range(len(strength)))
    assert [reference[seat] for seat in range(len(strength))] == award


def test_b9_odd_chips_of_a_tie_go_clockwise_from_the_dealer() -> None:
    for dealer, award in ((3, [34, 34, 33, 0]), (0, [33, 34, 34, 0]), (1, [34, 33, 34, 0]), (2, [34, 34, 33, 0])):
        assert engine_division(101, [4, 4, 4, 1], dealer=dealer) == award


@given(
    st.integers(0, 3000),
    st.lists(st.integers(0, 4), min_size=2, max_size=8),
    st.lists(st.integers(1, 255), min_size=1, max_size=8),
    st.integers(0, 7),
)
def test_b9_the_division_is_the_references_and_gives_out_every_chip(
    pot: int, strength: list[int], parts: list[int], dealer: int
) -> None:
    n, shares = len(strength), tuple(sorted(parts, reverse=True))
    dealer %= n
    award = engine_division(pot, strength, shares, dealer)
    clockwise = [(dealer + 1 + k) % n for k in range(n)]
    assert award == [chips for _, chips in sorted(divide(pot, shares, dict(enumerate(strength)), clockwise).items())]
    assert sum(award) == pot and min(award) >= 0
    assert sum(place_chips(pot, shares[:n])) == pot
    for (one, first), (two, second) in itertools.combinations(zip(strength, award, strict=True), 2):
        assert first >= second - (one == two) if one >= two else first <= second


def test_b9_seats_permuted_the_award_is_permuted_odd_chips_aside() -> None:
    for order in itertools.permutations(range(4)):
        strength = [[5, 5, 3, 1][place] for place in order]
        assert engine_division(120, strength) == [[50, 50, 20, 0][place] for place in order]


def test_b9_two_seats_use_the_first_two_shares() -> None:
    table = begin(settings={"num_players": 2, "ante": 5}, deck="Ac 2c Ad 2d Ah 2h As 2s Kc 3c", dealer=0)
    assert play(table, "discard none", "discard none") == [-1, 1]  # 10 chips: 6 and 4


def test_b9_hands_are_ranked_as_ordinary_poker_hands() -> None:
    rng = np.random.default_rng(3)
    for seed in range(40):
        table = begin(seed, {"num_players": 8, "num_ranks": 11})
        random_deal(table, rng)
        keys = [(best_high(hand(table, seat)), int(table.state.high[seat])) for seat in range(8)]
        for (one, first), (two, second) in itertools.combinations(keys, 2):
            assert (one > two, one == two) == (first > second, first == second)


def test_b9_all_hands_are_shown_at_the_end_and_no_discard() -> None:
    table = after_discards(2, 1, 0)
    while table.to_act is not None:
        assert table.view(0).seats[1].cards == ["??"] * held(table)[1]
        table.act(table.legal()[-1])
    view, shown = table.view(0), table.observe_named(0)["shown"]
    for seat in range(3):
        assert set(names_of(cards_of(auction_flop.hand_set(table.state, seat))).split()) == set(hand(table, seat))
        assert view.seats[seat].cards == hand(table, seat)
    for seat in (1, 2):
        assert {CARD_NAMES[card] for card in np.flatnonzero(shown[seat - 1])} == set(hand(table, seat))
    text = json.dumps([vars(seat) for seat in view.seats])
    assert not any(card in text for card in dealt(table.state, 1, True))


# --- B10: the match -------------------------------------------------------------------------------------------------


def test_b10_no_fold_no_bet() -> None:
    names = " ".join(auction_flop.action_names(Settings()))
    assert not any(word in names for word in ("fold", "bet", "raise", "call", "check"))


def test_b10_the_match_ends_after_the_set_number_of_deals() -> None:
    table = begin(settings={"num_deals": 3})
    rng, total = np.random.default_rng(0), np.zeros(4, int)
    for number in range(3):
        total += random_deal(table, rng)
        assert table.match_over == (number == 2)
        if number < 2:
            table.next_deal()
    assert total.sum() == 0 and (100 + total).tolist() == stacks(table)


def test_b10_the_match_ends_when_a_seat_cannot_pay_the_ante() -> None:
    """Best hands to seats 1, 2, 3: the dealer gets nothing of a pot of 12 and has two chips left."""
    deck = "Ac Kc Qc 2c Ad Kd Qd 3d Ah Kh Qh 4h 5c 6c 7c 8c 9d Td Jd Jc"
    for chips, over in ((5, True), (6, False)):
        table = begin(settings={"num_deals": 9}, deck=deck, stacks=[chips, 50, 50, 50])
        play(table, *["discard none"] * 4)
        assert stacks(table)[0] == chips - 3 and table.match_over == over


def test_b10_a_deal_cannot_be_set_up_for_a_seat_without_its_ante() -> None:
    with pytest.raises(SetupError, match="player_2 has 2 chips and cannot pay the ante of 3"):
        begin(stacks=[100, 100, 2, 100])
    with pytest.raises(SetupError, match="no pot is ever carried"):
        begin(carried_pot=5)


# --- whole deals ----------------------------------------------------------------------------------------------------


def test_deal_a_sold_for_two() -> None:
    table = after_discards(1, 1, 1)
    assert table.state.pot == 12 and table.to_act == 1
    play(table, "pass", "bid", "pass", "bid", "pass", "pass")
    assert table.state.pot == 14 and stacks(table) == [96, 94, 96] and table.to_act == 1
    assert legal(table) == {"keep 0", "keep 1", "keep 2"}
    play(table, "keep 1")
    assert table.to_act == 2
    play(table, "pass")
    assert table.to_act == 0  # seat 1 is complete and no longer asked


def test_deal_b_refused_round_the_table() -> None:
    table = after_discards(1, 1, 1)
    play(table, *["pass"] * 3, *["refuse"] * 4, "take")
    assert table.state.pot == 22 and stacks(table) == [93, 91, 94]


def test_deal_c_without_chips_the_first_voice_may_only_take() -> None:
    table = after_discards(1, 1, 1, settings={"starting_chips": 4})
    assert stacks(table) == [0, 0, 0]
    for _ in range(3):
        assert legal(table) == {"pass"}
        play(table, "pass")
    assert table.to_act == 1 and legal(table) == {"take"}


def test_deal_d_nobody_discards() -> None:
    """No auction: the pot of 9 is 5, 3, 1 by hand. Seat 1 holds aces, seat 2 kings, seat 0 queens."""
    table = begin(settings=ONE_EACH, deck="Ac Kc Qc Ad Kd Qd 2c 3c 4c 5d 6d 7d 9h Th Jh")
    assert play(table, *["discard none"] * 3) == [1 - 3, 5 - 3, 3 - 3]


# --- the engine beside the reference --------------------------------------------------------------------------------

SETTINGS: list[dict[str, Any]] = [
    {"num_players": 2, "num_deals": 3},
    {"num_players": 3, "num_deals": 3, "observation": "compact", "starting_chips": 40},
    {"num_players": 4, "num_deals": 2, "pot_shares": (5, 3, 1, 1), "ante": 0, "starting_chips": 30},
    {"num_players": 5, "num_deals": 4, "starting_chips": 12, "discard_fees": (0, 1, 1, 2, 2, 3)},
    {"num_players": 6, "num_deals": 2, "pot_shares": (1,)},
    {"num_players": 7, "flop_size": 2, "num_ranks": 10, "discard_fees": (0,) * 6},
    {"num_players": 8, "num_deals": 2, "discard_fees": (0,) * 6},
    {"num_players": 8, "num_ranks": 11, "starting_chips": 60},
    {"num_players": 2, "hand_size": 2, "flop_size": 2, "num_ranks": 5, "num_suits": 1, "num_deals": 5},
    {"num_players": 3, "hand_size": 1, "flop_size": 1, "num_ranks": 3, "num_suits": 1, "num_deals": 9}
    | {"starting_chips": 15},
    {"num_players": 3, "hand_size": 3, "flop_size": 3, "num_ranks": 6, "num_suits": 2},
]


def _compare_deal(table: Table, rng: np.random.Generator, seen: Counter[str]) -> Result:
    """Play the table's deal in both; compare every decision, every card's place and the result."""
    log, row, n = table.deals[-1], table.state, table.settings.num_players

    def shuffle(pile: list[str]) -> list[str]:
        order = [CARD_NAMES[card] for card in table.state.stock[: table.state.stock_size]][-len(pile) :] if pile else []
        assert sorted(order) == sorted(pile)
        seen["reshuffle"] += 1
        return order

    deck = [CARD_NAMES[card] for card in log.deck]
    reference = play_deal(table.settings, deck, log.dealer, log.stacks, shuffle)
    ask: Ask = next(reference)
    lean = rng.choice(["pass", "bid", "refuse", "take", ""])
    while True:
        row = table.state
        assert (ask.seat, ask.phase) == (table.to_act, table.phase)
        assert ask.legal == legal(table)
        assert (ask.pot, ask.stacks) == (row.pot, stacks(table))
        assert sum(ask.stacks) + ask.pot == row.total_chips and min(ask.stacks) >= 0
        assert all(hand(table, seat) == tidy(ask.hands[seat]) for seat in range(n))
        assert (ask.stock, ask.flop) == (stock(table), flop(table))
        everywhere = [*ask.stock, *ask.flop, *ask.pile, *(card for cards in ask.hands.values() for card in cards)]
        assert sorted(everywhere) == sorted(deck)  # all cards, each once
        options = sorted(ask.legal)
        answer = lean if lean in options and rng.random() < 0.7 else str(rng.choice(options))
        seen[f"{ask.phase}: {answer.split()[0]}"] += 1
        table.act(answer)  # type: ignore[arg-type]
        try:
            ask = reference.send(answer)
        except StopIteration as stop:
            return stop.value


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: f"{s['num_players']} seats, {len(s)} settings")
def test_whole_matches_agree_with_the_reference(settings: dict[str, Any]) -> None:
    rng, seen = np.random.default_rng(17), Counter[str]()
    for seed in range(6):
        table = Table("auction_flop", settings)
        table.reset(seed)
        while True:
            result, log = _compare_deal(table, rng, seen), table.deals[-1]
            assert (log.award, stacks(table)) == (result.award, result.stacks)
            assert all(hand(table, seat) == result.hands[seat] for seat in result.hands)
            assert log.net == [new - old for new, old in zip(result.stacks, log.stacks, strict=True)]
            assert sum(log.net) == 0 and log.carried_out == 0
            assert table.match_over == match_is_over(table.settings, len(table.deals), result.stacks)
            if table.match_over:
                break
            table.next_deal()
    assert {"bid: pass", "bid: bid", "refuse: take", "keep: keep", "discard: discard"} <= set(seen)
    if settings["num_players"] >= 7 or settings.get("num_ranks", 13) < 6:
        assert seen["reshuffle"]


@pytest.mark.parametrize("n", range(2, 9))
def test_b10_chips_and_cards_are_conserved_in_many_deals(n: int) -> None:
    """Case 30: many deals of random play; nobody is ever negative, all is awarded, no deal is too long."""
    batch = Batch("auction_flop", {"num_players": n, "num_deals": 9, "observation": "compact"}, 256)
    out, rng = batch.reset(seed=n), np.random.default_rng(n)
    longest, length, deals = max_deal_length(batch.settings), np.zeros(256, np.int64), 0
    for _ in range(150 * n):
        out = batch.step(((1 - rng.random(out.masks.shape, np.float32)) * out.masks).argmax(axis=1))
        states = batch.states
        assert (states["stacks"][:, :n].sum(axis=1) + states["pot"] == states["total_chips"]).all()
        assert (states["stacks"][:, :n] >= 0).all() and (states["held"][:, :n] <= 5).all()
        length, deals = np.where(out.deal_over, 0, length + 1), deals + int(out.deal_over.sum())
        assert (length < longest).all()
    assert (out.net[out.deal_over].sum(axis=1) == 0).all() and deals > 300
    done, net = batch.rollout(2000 * n)
    assert done > 600 and (net.sum(axis=1) == 0).all()


# --- the longest deal -----------------------------------------------------------------------------------------------


def test_the_longest_deal_is_as_stated() -> None:
    stated = (205, 592, 1172, 1948, 2917, 4079, 5434)
    assert tuple(max_deal_length(Settings(num_players=n)) for n in range(2, 9)) == stated


def long_deal(n: int, number: int, part: float) -> int:
    """Decisions of a deal played to last: all discard ``number`` cards and keep one card a flop.

    A seat bids only when otherwise the bidding would end, so that as many as possible pass in between; the richest buys
    once the price is a part of its stack, so that all can go on bidding for long.
    """
    table = after_discards(*(number,) * n, settings={"observation": "compact"})
    while table.to_act is not None:
        if table.phase == "keep":
            play(table, "keep 0")
            continue
        if table.phase == "refuse":
            play(table, "refuse" if "refuse" in legal(table) else "take")
            continue
        row, seat = table.state, table.to_act
        chips, price, bidder = stacks(table), int(row.price), int(row.bidder)
        waiting = [other for other in ((seat + k) % n for k in range(n)) if row.held[other] < 5]
        later = waiting[1 : len(waiting) - (bidder >= 0) - int(row.passes)]
        enough = bidder >= 0 and chips[bidder] == max(chips[other] for other in waiting) <= price / part
        wait = enough or "bid" not in legal(table) or any(chips[other] > price for other in later)
        play(table, "pass" if wait else "bid")
    return len(table.deals[-1].actions)


def test_a_deal_can_be_nearly_as_long_as_the_bound() -> None:
    assert long_deal(4, 4, 0.6) == 1045
    assert long_deal(2, 5, 0.7) == 191


def longest_by_search(settings: Settings) -> int:
    """The longest deal of all, by trying every line of play; cards make no difference to it."""
    calls = kernels(auction_flop)
    scratch, mask = (
        np.zeros(auction_flop.MAX_LEGAL, np.int16),
        np.zeros(len(auction_flop.action_names(settings)), np.int8),
    )
    public = [auction_flop.public_name(settings, a) for a in range(len(auction_flop.action_names(settings)))]

    def moves(states: np.ndarray) -> list[int]:
        found = scratch[: calls.legal(states, 0, scratch)].tolist()
        return list({public[action]: action for action in found}.values())

    @cache
    def longest(key: bytes) -> int:
        best = 0
        for action in moves(rows[key]):
            states = rows[key].copy()
            calls.act(states, 0, action, scratch, mask)
            best = max(best, 1 + (longest(keep(states)) if states["to_act"][0] >= 0 else 0))
        return best

    rows: dict[bytes, np.ndarray] = {}

    def keep(states: np.ndarray) -> bytes:
        row = states[0]
        cost = row.cost[row.num_flops - 1] if row.num_flops and row.phase == auction_flop.REFUSE else 0
        parts = (row.stacks, row.held, row.discarded, row.phase, row.to_act, row.voice, row.bidder, row.price)
        key = repr([np.asarray(part).tolist() for part in (*parts, row.passes, cost)]).encode()
        rows.setdefault(key, states)
        return key

    table = Table("auction_flop", settings)
    table.reset(0, {"dealer": 0})
    return longest(keep(table.states.copy()))


@pytest.mark.parametrize("chips", [1, 2, 4, 7])
@pytest.mark.parametrize("n, hand_size", [(2, 1), (2, 2), (3, 1)])
def test_no_line_of_play_is_longer_than_the_bound(n: int, hand_size: int, chips: int) -> None:
    settings = Settings(num_players=n, hand_size=hand_size, flop_size=1, ante=0, starting_chips=chips)
    assert longest_by_search(settings) <= max_deal_length(settings)


# --- what a seat remembers ------------------------------------------------------------------------------------------


def history(table: Table, seat: int, start: list[str], events: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """All that a seat has seen and done in a deal, in order: cards, actions as it knows them, flops, hands shown."""
    known = []
    for actor, action, cards in events:
        name = table.action_names[action] if actor == seat else auction_flop.public_name(table.settings, action)
        known.append((actor, name, cards))
    return tuple(start), tuple(known)


def walk(table: Table, events: list[tuple[Any, ...]]) -> Iterator[tuple[Table, list[tuple[Any, ...]]]]:
    """Every node of the tree below a table, with what happened on the way."""
    yield table, events
    for action in table.legal():
        child = table.clone()
        actor = child.to_act
        child.act(action)
        over = child.to_act is None
        shown = tuple(tuple(hand(child, seat)) for seat in range(table.settings.num_players)) if over else ()
        up = tuple(flop(child)) if child.state.num_flops > table.state.num_flops else ()
        yield from walk(child, [*events, (actor, action, up + shown)])


TREES: list[tuple[dict[str, Any], int]] = [
    ({"num_players": 2, "hand_size": 1, "flop_size": 1, "num_ranks": 3, "num_suits": 1, "starting_chips": 5}, 40),
    ({"num_players": 3, "hand_size": 1, "flop_size": 1, "num_ranks": 4, "num_suits": 1, "starting_chips": 4}, 8),
    ({"num_players": 2, "hand_size": 2, "flop_size": 2, "num_ranks": 3, "num_suits": 2, "starting_chips": 2}, 6),
]


@pytest.mark.parametrize("settings, seeds", TREES, ids=["2 seats", "3 seats", "2 cards"])
@pytest.mark.parametrize("observation", ["full", "compact"])
def test_perfect_recall(settings: dict[str, Any], seeds: int, observation: str) -> None:
    """Over whole trees, reshuffles too: equal observations if and only if the seat has seen and done the same."""
    settings = {**settings, "ante": 1, "discard_fees": (0, 0, 1), "observation": observation}
    seen: dict[Any, bytes] = {}
    meant: dict[bytes, set[Any]] = defaultdict(set)
    for seed in range(seeds):
        root = begin(seed, settings)
        starts = [hand(root, seat) for seat in range(settings["num_players"])]
        for table, events in walk(root, []):
            for seat in range(settings["num_players"]):
                key = seat, history(table, seat, starts[seat], events)
                view = bytes([seat]) + table.observe(seat).tobytes()
                assert seen.setdefault(key, view) == view
                meant[view].add(key)
    confused = sum(len(keys) > 1 for keys in meant.values())
    assert len(seen) > 900
    assert confused == 0 if observation == "full" else confused > 0


def test_the_full_observation_tells_apart_what_the_compact_one_does_not() -> None:
    """Seat 2 or seat 3 passed and bid in another order, the price and the buyer being the same."""
    lines = (["bid", "bid", "pass", "pass", "bid"], ["bid", "pass", "bid", "pass", "bid"])
    views: dict[str, list[bytes]] = {}
    for observation in ("full", "compact"):
        for line in lines:
            table = after_discards(2, 1, 1, 1, settings={"observation": observation})
            play(table, *line, "pass", "pass", "pass", "keep 0")
            views.setdefault(observation, []).append(table.observe(0).tobytes())
    assert views["full"][0] != views["full"][1] and views["compact"][0] == views["compact"][1]


def test_bids_beyond_the_memory_of_a_table_are_left_out_and_nothing_else() -> None:
    """With more chips than MAX_BIDS a deal could have more bids than a table recalls: they are played all the same."""
    table = after_discards(1, 1, settings={"starting_chips": 1000})
    for _ in range(900):
        play(table, "bid")
    assert table.state.price == 900 and table.state.num_bids == auction_flop.MAX_BIDS == 777
    named = table.observe_named(1)
    assert named["bids"].shape == (777, 3) and named["bids"].sum() == 777 + 1 and named["price"] == np.float32(0.45)
    play(table, "pass", "keep 0", "keep 0")
    assert table.deals[-1].net is not None and table.observe_named(1)["bids"].sum() == 777 + 1


def test_observation_sizes_and_pieces() -> None:
    for n in range(2, 9):
        for observation in ("full", "compact"):
            table = begin(settings={"num_players": n, "observation": observation})
            assert table.observe(0).shape == (table.observation_size,)
    assert begin().observation_size == 3709 and begin(settings={"observation": "compact"}).observation_size == 717


def test_observed_hand_and_flop_are_in_the_order_of_the_actions() -> None:
    table = after_discards(3, 1)
    named = table.observe_named(1)
    for name, cards in (("hand", hand(table, 1)), ("flop", flop(table))):
        for place, card in enumerate(cards):
            rank, suit = "23456789TJQKA".index(card[0]), "cdhs".index(card[1])
            assert np.flatnonzero(named[name][place]).tolist() == [rank, 13 + suit]
    assert not named["hand"][2:].any()


def test_observed_prospects_are_what_keeping_would_make() -> None:
    rng = np.random.default_rng(5)
    for seed in range(60):
        table = begin(seed)
        while table.phase == "discard":
            table.act(int(rng.choice(table.legal())))
        for seat in range(4):
            if table.to_act is None:
                break
            named, own, cards = table.observe_named(seat), hand(table, seat), flop(table)
            if own:
                assert named["hand_made"].argmax() == best_high(own)[0]
            for subset in range(1, 8):
                kept = [card for place, card in enumerate(cards) if subset >> place & 1]
                row = named["keep_made"][subset - 1]
                if len(own) + len(kept) > 5:
                    assert not row.any()
                else:
                    assert row.argmax() == best_high(own + kept)[0] and row.sum() == 1


# --- what a seat may not know ---------------------------------------------------------------------------------------


class _Impossible(Exception):
    """A world does not agree with what the seat has seen."""


def describable(table: Table, me: int) -> list[bool]:
    """Places of the deck to leave out when worlds are compared: those seen.

    At the end also the places of all dealt cards: a hand that is shown does not say in which order it was dealt.
    """
    visible = table.game.visible_deck(table.state, me)
    dealt = table.settings.num_players * table.settings.hand_size if table.to_act is None else 0
    return [seen or place < dealt for place, seen in enumerate(visible)]


def worlds(table: Table, me: int) -> Counter[Any]:
    """Every way the hidden things may be, for all that seat ``me`` has seen, each with its number of histories.

    By brute force over the reference rules: all deals, all hidden choices of the others that look alike, all orders of
    each reshuffle.
    """
    log, rules = table.deals[-1], table.settings
    n, size = rules.num_players, rules.num_ranks * rules.num_suits
    truth = [CARD_NAMES[card] for card in log.deck]
    mine = [turn * n + (me - log.dealer - 1) % n for turn in range(rules.hand_size)]
    others = [place for place in range(size) if place not in mine]
    names, public = table.action_names, [auction_flop.public_name(rules, a) for a in range(len(table.action_names))]
    flops = [tidy(CARD_NAMES[card] for card in cards[: rules.flop_size]) for cards in table.state.flops]
    flops = flops[: table.state.num_flops]
    shown = [hand(table, seat) for seat in range(n)] if table.to_act is None else None
    visible = describable(table, me)
    found: Counter[Any] = Counter()

    def run(deck: list[str], choices: tuple[int, ...]) -> None:
        """One history: ``choices`` say which option to take at each branching; further ones are tried in turn."""
        taken = 0

        def choose(options: list[Any]) -> Any:
            nonlocal taken
            taken += 1
            if taken > len(choices):
                for option in range(1, len(options)):
                    waiting.append((*choices, *(0,) * (taken - 1 - len(choices)), option))
                return options[0]
            return options[choices[taken - 1]]

        def shuffle(pile: list[str]) -> list[str]:
            return list(choose(list(itertools.permutations(pile))))

        deal = play_deal(rules, deck, log.dealer, log.stacks, shuffle)
        ask, turned, kept, gone = next(deal), [], [], {seat: [] for seat in range(n)}
        end = None
        for actor, action in log.actions:
            alike = [action]
            if actor != me:
                alike = [a for a, name in enumerate(public) if name == public[action] and names[a] in ask.legal]
            chosen = names[choose(alike)]
            if chosen.startswith("keep"):
                kept.append((actor, chosen))
            if chosen.startswith("discard"):
                gone[actor] = [ask.hands[actor][int(place)] for place in chosen.split()[1:] if place != "none"]
            try:
                ask = deal.send(chosen)
            except StopIteration as stop:
                end = stop.value
                break
            if ask.flop and (not turned or chosen.startswith(("keep", "discard"))):
                turned.append(ask.flop)
                if turned != flops[: len(turned)]:
                    raise _Impossible
        hands = end.hands if end else ask.hands
        if hands[me] != hand(table, me) or (shown and any(hands[seat] != shown[seat] for seat in range(n))):
            raise _Impossible
        unseen = tuple(card for card, seen in zip(deck, visible, strict=True) if not seen)
        rest = () if end else tuple(ask.stock)
        found[unseen, tuple(map(tuple, gone.values())), tuple(kept), rest] += 1

    for cards in itertools.permutations([truth[place] for place in others]):
        deck = list(truth)
        for place, card in zip(others, cards, strict=True):
            deck[place] = card
        waiting: list[tuple[int, ...]] = [()]
        while waiting:
            try:
                run(deck, waiting.pop())
            except _Impossible:
                continue
    return found


def world_of(table: Table, states: np.ndarray, me: int) -> Any:
    """The same description of what is hidden, read from a row."""
    row, n, rules = states[0], table.settings.num_players, table.settings
    size = rules.num_ranks * rules.num_suits
    visible = describable(table, me)
    unseen = tuple(CARD_NAMES[card] for card, seen in zip(row.deck[:size], visible, strict=True) if not seen)
    gone = tuple(tuple(dealt(row, seat, True)) for seat in range(n))
    kept = tuple(
        (int(row.buyer[f]), table.action_names[auction_flop.KEEP_0 + row.kept[f]])
        for f in range(row.num_flops)
        if row.kept[f]
    )
    over = row.to_act < 0
    rest = () if over else tuple(CARD_NAMES[card] for card in row.stock[row.stock_at : row.stock_size])
    return unseen, gone, kept, rest


RESAMPLED: list[tuple[str, dict[str, Any], list[str], int]] = [
    (
        "before any flop",
        {"num_players": 2, "hand_size": 2, "flop_size": 1, "num_ranks": 6},
        ["discard 0"],
        1,
    ),
    (
        "a flop sold to the other, no reshuffle",
        {"num_players": 2, "hand_size": 2, "flop_size": 2, "num_ranks": 7},
        ["discard 0 1", "discard 0", "bid", "pass", "keep 1"],
        0,
    ),
    (
        "one card left over the pile: was it in the stock or in a hand?",
        {"num_players": 2, "hand_size": 2, "flop_size": 2, "num_ranks": 5},
        ["discard 0 1", "discard 1"],
        0,
    ),
    (
        "the same seen by the one who discarded two",
        {"num_players": 2, "hand_size": 2, "flop_size": 2, "num_ranks": 5},
        ["discard 0 1", "discard 1"],
        1,
    ),
    (
        "a second flop after the reshuffle",
        {"num_players": 2, "hand_size": 2, "flop_size": 2, "num_ranks": 5},
        ["discard 0 1", "discard 0 1", "pass", "bid", "pass", "keep 0"],
        1,
    ),
    (
        "a second reshuffle",
        {"num_players": 2, "hand_size": 2, "flop_size": 2, "num_ranks": 5},
        ["discard 0 1", "discard 0 1", "bid", "pass", "keep 0", "bid", "pass", "keep 1"],
        0,
    ),
    (
        "two cards left over the pile",
        {"num_players": 2, "hand_size": 2, "flop_size": 3, "num_ranks": 6},
        ["discard 0 1", "discard 0 1", "bid", "pass", "keep 2"],
        0,
    ),
    (
        "three seats, flops of one card",
        {"num_players": 3, "hand_size": 2, "flop_size": 1, "num_ranks": 7},
        ["discard 0", "discard 0 1", "discard none", "bid", "pass", "keep 0"],
        0,
    ),
    (
        "three seats, reshuffled",
        {"num_players": 3, "hand_size": 2, "flop_size": 2, "num_ranks": 7},
        ["discard 1", "discard 0 1", "discard none", "pass", "bid", "pass", "keep 1"],
        0,
    ),
    (
        "the end of a deal, hands shown",
        {"num_players": 2, "hand_size": 2, "flop_size": 2, "num_ranks": 5},
        ["discard 0", "discard 0", "bid", "pass", "keep 1", "keep 0"],
        0,
    ),
    (
        "the end of a deal without a reshuffle",
        {"num_players": 3, "hand_size": 2, "flop_size": 1, "num_ranks": 7},
        ["discard 0", "discard none", "discard none", "keep 0"],
        0,
    ),
]


@pytest.mark.parametrize("settings, actions, me", [case[1:] for case in RESAMPLED], ids=[c[0] for c in RESAMPLED])
def test_resampling_is_uniform_over_all_that_the_seat_cannot_tell_apart(
    settings: dict[str, Any], actions: list[str], me: int
) -> None:
    """Against brute force: every possible world comes up, no other, all equally often (chi-square)."""
    for seed in range(3):
        table = begin(seed, {**settings, "num_suits": 1, "starting_chips": 50})
        play(table, *actions)
        possible = worlds(table, me)
        assert len(set(possible.values())) == 1, "all worlds are alike in their number of histories"
        assert world_of(table, table.states, me) in possible
        calls, draws = kernels(auction_flop), 60 * len(possible)
        drawn: Counter[Any] = Counter()
        seen = table.observe(me)
        for word in range(draws):
            states = table.states.copy()
            calls.resample(states, np.array([me]), np.array([word], np.uint64))
            drawn[world_of(table, states, me)] += 1
        assert set(drawn) == set(possible)
        spread = sum((drawn[world] - 60) ** 2 / 60 for world in possible)
        assert table.game.visible_deck(states[0], me) == table.game.visible_deck(table.state, me)
        free = len(possible) - 1
        assert abs(spread - free) < 5 * math.sqrt(2 * free + 1)
        out = np.zeros_like(seen)
        calls.observe(states, 0, me, out, 1.0)
        assert np.array_equal(out, seen)


def test_resampled_tables_look_the_same_and_play_on() -> None:
    """In every phase, with reshuffles: the same to the seat, all cards once, public facts kept, fit to play on."""
    rng, phases = np.random.default_rng(8), Counter[Any]()
    for seed in range(14):
        n = 2 + seed % 7
        table = begin(seed, {"num_players": n, "discard_fees": (0,) * 6, "num_ranks": 13 if n > 6 else 7 + n % 4})
        while True:
            me = int(rng.integers(n))
            twin = table.resample_hidden(me, rng)
            phases[table.phase, int(table.state.first_shuffle) < 127] += 1
            assert np.array_equal(table.observe(me), twin.observe(me))
            assert table.view(me) == twin.view(me) and np.array_equal(table.mask(me), twin.mask(me))
            assert held(table) == held(twin) and stacks(table) == stacks(twin)
            hands = [card for seat in range(n) for card in hand(twin, seat)]
            cards = {*hands, *stock(twin), *flop(twin)}
            assert len(cards) == len(hands) + len(stock(twin)) + len(flop(twin))
            assert cards <= {CARD_NAMES[card] for card in deck_cards(table.settings.num_ranks, 4)}
            assert sorted(twin.state.deck[: len(table.deals[-1].deck)].tolist()) == sorted(table.deals[-1].deck)
            kept = {seat: set(hand(twin, seat)) for seat in range(n)}
            for seat in range(n):
                gone = set(dealt(twin.state, seat, True))
                bought = [f for f in range(twin.state.num_flops) if twin.state.buyer[f] == seat]
                assert len(gone) == max(int(twin.state.discarded[seat]), 0)
                assert len(kept[seat]) == held(twin)[seat] and len(bought) >= bool(gone) * (twin.to_act is None)
            if table.to_act is None:
                break
            if rng.random() < 0.03:
                random_deal(twin, rng)
            table.act(int(rng.choice(table.legal())))
    assert all(phases[phase, shuffled] for phase in ("bid", "keep", "over") for shuffled in (False, True))


def test_visible_deck_is_what_a_seat_has_seen() -> None:
    table = begin(deck=list(CARD_NAMES), settings={"num_players": 2})
    seen = table.game.visible_deck(table.state, 1)
    assert [place for place in range(52) if seen[place]] == [0, 2, 4, 6, 8]  # the first seat clockwise from dealer 0
    play(table, "discard 0", "discard 0 1")
    seen = table.game.visible_deck(table.state, 0)
    assert [place for place in range(52) if seen[place]] == [1, 3, 5, 7, 9, 10, 11, 12]
    play(table, "bid", "pass", "keep 0", "keep 0 1")
    seen = table.game.visible_deck(table.state, 0)
    shown = [place for place in range(10) if CARD_NAMES[place] in {*hand(table, 0), *hand(table, 1)}]
    assert [place for place in range(52) if seen[place]] == sorted({1, 3, 5, 7, 9, *shown, *range(10, 16)})


# --- the environment ------------------------------------------------------------------------------------------------


def test_the_environment_is_there_by_its_name() -> None:
    env = auction_flop_v0.env(num_players=3)
    env.reset(seed=3)
    assert env.unwrapped.table.game is auction_flop and env.action_space("player_0").n == 43
    assert env.unwrapped.action_name(0) == "pass" and env.unwrapped.max_num_agents == 3
