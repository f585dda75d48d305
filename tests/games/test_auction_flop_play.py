"""Auction Flop Poker, settings and rulings B1 to B8; a ruling's number is in each test's name."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from flop_play import after_discards, begin, flop, hand, held, legal, play, random_deal, stacks, stock

from auction_env import Table, make_record, replay
from auction_env.engine.kernels import kernels
from auction_env.games import auction_flop, get_game
from auction_env.games.auction_flop import Settings
from auction_env.games.cards import CARD_NAMES
from auction_env.games.game import IllegalActionError, SettingsError
from auction_env.rendering.text import text

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


def test_how_many_numbers_there_must_be_is_said() -> None:
    with pytest.raises(SettingsError, match="give exactly 6 numbers"):
        Settings(discard_fees=(0,))
    with pytest.raises(SettingsError, match="give 1 to 8 numbers"):
        Settings(pot_shares=())


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
        assert table.info(int(table.to_act or 0)) == {
            "phase": auction_flop.PHASES.index("bid"),
            "price": price,
            "cost": price + 1,
            "room": 1,
        }
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


def sale(table: Table) -> str:
    """What everybody is told, on one line."""
    return " ".join(text(table.view(None), None).split())


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
    assert "Taken for nothing by player_2 after 4 refusals." in sale(table)
    play(table, "keep 0")
    assert "Taken for nothing by player_2, who kept 1 card, after 4 refusals." in sale(table)


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
