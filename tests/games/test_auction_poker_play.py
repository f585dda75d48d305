"""Auction Poker, rulings A1 to A9: deal, auctions, betting, declarations; a ruling's number is in each test's name."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from poker_play import (
    begin,
    bets_paid,
    bid,
    declare,
    exposed,
    hole,
    legal,
    play,
    play_auctions,
    play_out,
    row,
    stacks,
    to_betting,
    with_exposed,
)

from auction_env import Table, describe, high_rank, low_rank
from auction_env.games import auction_poker
from auction_env.games.auction_poker import max_game_length
from auction_env.games.cards import CARD_NAMES, names_of
from auction_env.games.game import IllegalActionError, SetupError

# --- A1: ante, deal, rows -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", range(2, 8))
def test_a1_every_seat_antes_one(n: int) -> None:
    table = begin(settings={"num_players": n})
    assert stacks(table) == [19] * n
    assert table.state.pot == n and table.state.paid[:n].tolist() == [1] * n


@pytest.mark.parametrize("dealer", range(3))
def test_a1_two_concealed_cards_each_one_at_a_time_clockwise_from_the_dealer(dealer: int) -> None:
    table = begin(dealer=dealer, deck="Ac 2c 3c Ad 2d 3d")
    first, second, third = ((dealer + k) % 3 for k in (1, 2, 3))
    assert hole(table, first) == {"Ac", "Ad"}
    assert hole(table, second) == {"2c", "2d"}
    assert hole(table, third) == {"3c", "3d"}
    assert table.to_act == first


def test_a1_each_auction_turns_up_as_many_cards_as_seats_in_deck_order() -> None:
    deck = "2c 3c 4c 5c 6c 7c | Ah Kh Qh | As Ks Qs | Jc Jd Jh | Tc Td Th | 9c 9d 9h"
    table = begin(dealer=0, deck=deck)
    for cards in deck.split(" | ")[1:]:
        assert table.phase == "bid" and row(table) == cards
        bid(table, {0: 1, 1: 1, 2: 1})
        play(table, *(f"pick {card}" for card in cards.split()[:2]))
    assert table.phase == "bet" and table.state.row_count == 0


def test_a1_seven_seats_use_forty_nine_cards_each_once() -> None:
    table = begin(settings={"num_players": 7})
    deck = names_of(table.deals[0].deck).split()
    play_auctions(table)
    held = [card for seat in range(7) for card in (*hole(table, seat), *exposed(table, seat))]
    assert len(held) == len(set(held)) == 49
    assert set(held) == set(deck[:49])


# --- A2: the reserve ------------------------------------------------------------------------------------------------


def test_a2_the_reserve_is_twenty_by_default_and_computed_from_the_settings() -> None:
    assert auction_poker.Settings().reserve == 20 == auction_poker.Settings().starting_chips
    settings = auction_poker.Settings(ante=2, num_auctions=4, max_bid=5, bet_size=3, max_raises=2)
    assert settings.reserve == 2 + 4 * 5 + 3 * (1 + 2) == settings.starting_chips


@pytest.mark.parametrize("n", [2, 3, 7])
def test_a2_the_reserve_is_just_what_the_dearest_deal_costs(n: int) -> None:
    table = begin(settings={"num_players": n})
    play_auctions(table, price=3)
    for word in ["bet", *["raise"] * 3, *["call"] * (n - 1)]:
        play(table, word)
    while table.phase == "bet":
        play(table, "call")
    assert table.phase == "declare" and stacks(table) == [0] * n


def test_a2_a_seat_with_nineteen_chips_is_not_dealt_in_and_one_with_twenty_is() -> None:
    table = begin(dealer=2, stacks=[19, 20, 20])
    assert table.deals[0].dealt_in == [1, 2]
    assert stacks(table) == [19, 19, 19] and table.state.pot == 2
    assert hole(table, 0) == set() and table.state.row_count == 2
    seen = set()
    while table.to_act is not None:
        seen.add(table.to_act)
        table.act(table.legal()[0])
    assert seen == {1, 2}
    assert table.deals[0].payoffs is not None and table.deals[0].payoffs[0] == 0 and stacks(table)[0] == 19


def test_a2_cards_go_round_the_seats_that_are_dealt_in() -> None:
    table = begin(settings={"num_players": 4}, dealer=3, stacks=[20, 3, 20, 20], deck="Ac 2c 3c Ad 2d 3d Kh Qh Jh")
    assert [hole(table, seat) for seat in (0, 2, 3)] == [{"Ac", "Ad"}, {"2c", "2d"}, {"3c", "3d"}]
    assert row(table) == "Kh Qh Jh"


def test_a2_a_seat_below_the_reserve_sits_out_for_good() -> None:
    table = begin(settings={"num_deals": 40})
    for seed in range(100):  # a deal that seat 0 loses
        table.reset(seed, {"stacks": [20, 500, 500], "dealer": 0})
        play_out(table)
        if stacks(table)[0] < 20:
            break
    left = stacks(table)[0]
    assert 0 <= left < 20 and not table.match_over
    while True:
        table.next_deal()
        assert table.deals[-1].dealt_in == [1, 2] and stacks(table)[0] == left
        if play_out(table):
            break
    assert len(table.deals) == 40


def test_a2_the_match_ends_when_fewer_than_two_seats_can_be_dealt_in() -> None:
    table = begin(settings={"num_deals": 50, "num_players": 2})
    result = declare(table, "high", "high")
    assert sorted(result) == [-6, 6]
    assert table.match_over and len(table.deals) == 1  # the loser has 14
    with pytest.raises(SetupError, match="the match is over"):
        table.next_deal()


@pytest.mark.parametrize("deals", [1, 2, 5])
def test_a2_the_match_ends_after_the_set_number_of_deals(deals: int) -> None:
    table = begin(settings={"num_deals": deals, "starting_chips": 200})
    for number in range(deals):
        assert table.state.deal_number == number and len(table.deals) == number + 1
        assert play_out(table) == (number == deals - 1)
        if not table.match_over:
            table.next_deal()


def test_a2_a_deal_needs_two_seats_that_can_be_dealt_in() -> None:
    with pytest.raises(SetupError, match=r"fewer than two seats .*player_1 has 19 chips and needs the reserve of 20"):
        begin(stacks=[20, 19, 19])
    with pytest.raises(SetupError, match="dealer is 1, who is not dealt in"):
        begin(stacks=[20, 19, 20], dealer=1)
    assert begin(stacks=[20, 19, 20]).state.dealer != 1


# --- A3: bids -------------------------------------------------------------------------------------------------------


def test_a3_five_auctions_of_mandatory_bids_of_one_two_or_three() -> None:
    table = begin()
    auctions = 0
    while table.phase in ("bid", "pick"):
        for _ in range(3):
            assert legal(table) == {"bid 1", "bid 2", "bid 3"}
            for word in ("check", "fold", "bet", "call", "raise"):
                with pytest.raises(IllegalActionError, match=word):
                    play(table, word)
            play(table, "bid 1")
        auctions += 1
        while table.phase == "pick":
            assert legal(table) == {f"pick {card}" for card in row(table).split()}
            table.act(table.legal()[0])
    assert auctions == 5


def test_a3_nobody_learns_a_bid_nor_that_one_is_larger_until_all_are_in() -> None:
    one, other = begin(dealer=0), begin(dealer=0)
    play(one, "bid 1")
    play(other, "bid 3")
    for seat in (0, 2):
        assert (one.observe(seat) == other.observe(seat)).all()
        assert one.view(seat) == other.view(seat)
    assert one.info(2) == other.info(2) and stacks(one) == stacks(other) == [19, 19, 19]
    assert (one.observe(1) != other.observe(1)).any()  # its own bid a seat does see


def test_a3_the_pot_grows_only_when_the_last_bid_is_in() -> None:
    table = begin(dealer=0)
    pots = [int(table.state.pot)]
    for word in ("bid 3", "bid 3", "bid 1"):
        play(table, word)
        pots.append(int(table.state.pot))
    assert pots == [3, 3, 3, 10]


@pytest.mark.parametrize(("bids", "chips"), [((3, 3, 1), 7), ((1, 1, 1), 3), ((3, 3, 3), 9), ((2, 1, 3), 6)])
def test_a3_all_bids_go_into_the_pot(bids: tuple[int, ...], chips: int) -> None:
    table = begin(dealer=0)
    bid(table, dict(enumerate(bids)))
    assert table.state.pot == 3 + chips
    assert stacks(table) == [19 - price for price in bids]


# --- A4: picking order ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dealer", "bids", "hands", "order"),
    [
        (3, "2 3 3 1", "", "1 2 0 3"),
        (1, "2 3 3 1", "", "2 1 0 3"),
        (3, "2 2 2 2", "Kh Kd / As 9c / 7h 7d / Ac Qd", "0 2 3 1"),
        (3, "3 3 1 1", "2h 3h 4h 5h / Ac Kd Js 9c / 8c 8d 2s 3s / Qc Td 6s 5c", "1 0 2 3"),
        (1, "1 1 1 1", "Ks 7h / Kd 7c / Kc 7d / Kh 6s", "2 0 1 3"),
        (3, "3 2 3 2", "2c 2d 2h / Ah Ad Kc / Ac Kd Qh / 9c 9d 9h", "0 2 3 1"),
        (3, "2 2 2 2", "Ac Ad Kc Kd / 2c 2d 2h 3s / Ah As Qc Jd / 4c 4d 4h 4s", "3 1 0 2"),
        (0, "2 2 1", "Ac / Kh / 6d", "0 1 2"),  # by seat alone it would be 1 0 2
        (0, "1 3 3", "", "1 2 0"),
    ],
)
def test_a4_bid_then_exposed_hand_then_clockwise_from_the_dealer(
    dealer: int, bids: str, hands: str, order: str
) -> None:
    n = len(bids.split())
    table = with_exposed(dealer, hands.split(" / ") if hands else [""] * n)
    found = bid(table, {seat: int(price) for seat, price in enumerate(bids.split())})
    assert found == [int(seat) for seat in order.split()]
    picked = []
    while table.phase == "pick":
        picked.append(table.to_act)
        table.act(table.legal()[0])
    assert picked == found[:-1]  # the last seat is not asked


def test_a4_exposed_hands_count_as_they_stood_before_the_row_was_touched() -> None:
    """Seat 1 pairs its king with the second row: the pair counts in the third auction, not before."""
    table = begin(dealer=1, settings={"num_players": 2}, deck="2c 3c 4c 5c | Ah Kh | Kd Qd")
    bid(table, {0: 1, 1: 1})
    play(table, "pick Ah")
    assert bid(table, {0: 2, 1: 2}) == [0, 1]  # ace before king
    play(table, "pick Qd")
    assert exposed(table, 1) == {"Kh", "Kd"}
    assert bid(table, {0: 3, 1: 3}) == [1, 0]


def test_a4_the_last_card_of_a_row_goes_to_its_seat_without_a_decision() -> None:
    table = begin(dealer=0, deck="2c 3c 4c 5c 6c 7c | Ac 6d Kh")
    assert bid(table, {0: 1, 1: 3, 2: 2}) == [1, 2, 0]
    play(table, "pick Kh", "pick 6d")
    assert table.phase == "bid"
    assert [exposed(table, seat) for seat in range(3)] == [{"Ac"}, {"Kh"}, {"6d"}]


@pytest.mark.parametrize("n", range(2, 8))
def test_a4_every_seat_gets_one_card_of_each_row_and_none_is_left(n: int) -> None:
    table = begin(seed=n, settings={"num_players": n})
    for auction in range(5):
        cards = row(table).split()
        bid(table, {seat: 1 + (seat + auction) % 3 for seat in range(n)})
        while table.phase == "pick":
            table.act(table.legal()[-1])
        taken = [CARD_NAMES[card] for card in table.state.picks[auction, :n]]
        assert sorted(taken) == sorted(cards)


def test_a4_a_card_that_is_not_in_the_row_cannot_be_picked() -> None:
    table = begin(dealer=0, deck="2c 3c 4c 5c 6c 7c | Ac 6d Kh")
    bid(table, {0: 1, 1: 1, 2: 1})
    for name in ("pick 2c", "pick As", "bid 1"):
        with pytest.raises(IllegalActionError, match=r"legal now: 'pick"):
            play(table, name)
    play(table, "pick Ac")
    with pytest.raises(IllegalActionError, match="'pick Ac'"):
        play(table, "pick Ac")


def test_a4_the_sources_worked_auction() -> None:
    """Row ace of clubs, six of diamonds, king of hearts; bids 3, 3, 1; the first seat shows a pair of eights."""
    table = with_exposed(2, ["8s 8h", "Td 7c", "Jd 4s"], then="Ac 6d Kh")
    pot = int(table.state.pot)
    assert row(table) == "Ac 6d Kh"
    assert bid(table, {0: 3, 1: 3, 2: 1}) == [0, 1, 2]
    assert table.state.pot - pot == 7
    play(table, "pick Ac", "pick 6d")
    assert exposed(table, 2) == {"Jd", "4s", "Kh"}


def test_a4_the_account_of_an_auction_names_bids_tie_hands_and_order() -> None:
    table = with_exposed(0, ["Ac", "Kh", "6d"])
    play(table, "bid 2", "bid 1")
    before = table.states.copy()[0]
    assert auction_poker.narrate(begin(dealer=0).state, table.action_index("bid 2"), before) == []  # all not in
    play(table, "bid 2")
    assert auction_poker.narrate(before, table.action_index("bid 2"), table.state) == [
        "Bids: player_1 2, player_2 1, player_0 2. The pot is 11.",
        "Equal bids of 2, by exposed hand, then clockwise from the dealer: player_0 (high card, A), "
        "player_1 (high card, K).",
        "Picking order: player_0, player_1, player_2.",
    ]


# --- A5: exposed hands ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        ("Ac Kd Js 9c", "2h 3h 4h 5h"),  # four to a straight flush is nothing
        ("2c 2d 2h 2s", "Ac Ad Ah Kc"),
        ("2c 2d 2h 5s", "Ac Ad Kc Kd"),
        ("3c 3d 2h 2s", "Ac Ad Kc Qd"),
        ("2c 2d 4h 3s", "Ac Kd Qh Js"),
        ("Ac Ad 3h 2s", "Kc Kd Qh Js"),  # grouped ranks before kickers
        ("Kc Kd 3h 2s", "Qc Qd Ah 4s"),
    ],
)
def test_a5_four_exposed_cards_rank_by_equal_ranks_then_kickers(stronger: str, weaker: str) -> None:
    table = with_exposed(0, [stronger, weaker])  # seat 1 is first clockwise, so the order shows the hand
    assert bid(table, {0: 2, 1: 2}) == [0, 1]


def test_a5_suits_never_break_a_tie() -> None:
    table = with_exposed(0, ["As Kh", "Ac Kd", "Ad Kc"])
    assert bid(table, {0: 1, 1: 1, 2: 1}) == [1, 2, 0]


@pytest.mark.parametrize(
    ("hands", "opener"),
    [
        (["Ac 2d 3h 4s 5c", "9c 9d 9h Ks Qs"], 0),  # the wheel is a straight, over trips
        (["Ac 2d 3h 4s 5c", "2c 3d 4h 5s 6c"], 1),  # and the lowest of them
        (["2h 4h 6h 8h Th", "Ac Kd Qh Js Tc"], 0),  # a flush over a straight
        (["2c 2d 2h 3s 3c", "Ah 4h 6h 8h Th"], 0),  # a full house over a flush
        (["Ad 2d 3d 4d 5d", "9c 9d 9h 9s Kc"], 0),  # a straight flush over quads
        (["Qc Jd Th 9s 8c", "Kc Qd Jh Ts 9c"], 1),
        (["Kd Ah 2c 3d 4h", "Qc Qd 2s 3s 5s"], 1),  # no straight goes round the ace
    ],
)
def test_a5_five_exposed_cards_rank_by_all_nine_categories(hands: list[str], opener: int) -> None:
    for dealer in range(2):
        table = with_exposed(dealer, hands)
        assert table.phase == "bet" and table.to_act == opener


# --- A6: betting ----------------------------------------------------------------------------------------------------

WORDS = {"x": "check", "b": "bet", "c": "call", "r": "raise", "f": "fold"}


@pytest.mark.parametrize(
    ("n", "line", "phase", "paid"),
    [
        (3, "x x x", "declare", [0, 0, 0]),
        (3, "x b c r c c", "declare", [2, 2, 2]),
        (3, "x b f f", "over", [0, 1, 0]),
        (3, "b f f", "over", [1, 0, 0]),
        (3, "b r r r", "bet", [4, 2, 3]),
        (2, "b r r r", "bet", [3, 4]),
        (4, "x x b c f r c f", "declare", [0, 2, 2, 1]),
        (2, "x x", "declare", [0, 0]),
        (2, "x b r r r c", "declare", [4, 4]),
        (3, "b c c", "declare", [1, 1, 1]),
    ],
)
def test_a6_lines_of_betting(n: int, line: str, phase: str, paid: list[int]) -> None:
    table = to_betting(n)
    for place, letter in enumerate(line.split()):
        assert table.phase == "bet", place
        play(table, WORDS[letter])
    assert table.phase == phase
    assert bets_paid(table) == paid
    if phase == "bet":
        assert legal(table) == {"call", "fold"}  # the cap


@pytest.mark.parametrize(("line", "winner"), [("x b f f", 1), ("b f f", 0)])
def test_a6_the_line_says_who_wins_when_all_others_fold(line: str, winner: int) -> None:
    table = to_betting(3)
    opener = int(table.state.opener)
    result = play(table, *(WORDS[letter] for letter in line.split()))
    assert result is not None
    seat = (opener + winner) % 3
    assert table.deals[0].award == [3 + 15 + 1 if other == seat else 0 for other in range(3)]
    assert table.state.declared[:3].tolist() == [0, 0, 0]


def test_a6_the_strongest_exposed_hand_opens_and_a_tie_goes_clockwise_from_the_dealer() -> None:
    hands = ["Ac Kd Qh 4s 3c", "Jc Jd 5h 6s 7c", "2c 3d 5s 7h 9d"]
    for dealer in range(3):
        assert with_exposed(dealer, hands).to_act == 1
    tied = ["Ac Kd Qh 4s 3c", "Ad Kh Qs 4c 3d", "Ah Ks Qc 4d 3h"]
    assert [with_exposed(dealer, tied).to_act for dealer in range(3)] == [1, 2, 0]


def test_a6_folding_is_allowed_only_facing_a_bet_and_raising_only_below_the_cap() -> None:
    table = to_betting(3)
    assert legal(table) == {"check", "bet"} and table.info(table.to_act or 0)["to_call"] == 0
    play(table, "check")
    assert legal(table) == {"check", "bet"}
    play(table, "bet")
    for level in range(1, 4):
        assert legal(table) == {"call", "raise", "fold"}
        play(table, "raise")
        assert table.state.level == level + 1
    assert legal(table) == {"call", "fold"}
    for word in ("check", "bet", "raise"):
        with pytest.raises(IllegalActionError, match=word):
            play(table, word)


def test_a6_check_raising_is_allowed() -> None:
    table = to_betting(2)
    play(table, "check", "bet")
    assert "raise" in legal(table)


@pytest.mark.parametrize("n", range(2, 8))
def test_a6_at_most_four_chips_from_each_seat_and_the_longest_deal_is_as_stated(n: int) -> None:
    """n - 1 checks, a bet by the last, then each raise by the seat that would have closed the round."""
    table = to_betting(n)
    for _ in range(n - 1):
        play(table, "check")
    play(table, "bet")
    for _ in range(3):
        play(table, *["call"] * (n - 2), "raise")
    play(table, *["call"] * (n - 1))
    assert table.phase == "declare" and bets_paid(table) == [4] * n
    play(table, *["declare low"] * n)
    assert len(table.deals[0].actions) == max_game_length(table.settings) == 5 * (2 * n - 1) + n + 4 * (n - 1) + n


def test_a6_a_raise_is_answered_by_every_seat_still_in() -> None:
    table = to_betting(4)
    opener = int(table.state.opener)
    play(table, "bet", "call", "fold", "raise")
    asked = []
    while table.phase == "bet":
        asked.append((table.to_act - opener) % 4)  # type: ignore[operator]
        play(table, "call")
    assert asked == [0, 1]  # the folded seat and the raiser are not asked


# --- A7: folding ----------------------------------------------------------------------------------------------------


def test_a7_the_last_seat_left_takes_the_whole_pot_and_a_carried_pot_too_without_declaring() -> None:
    table = begin(3, carried_pot=24)
    play_auctions(table, price=2)
    opener = int(table.state.opener)
    result = play(table, "bet", "fold", "fold")
    assert table.phase == "over" and result is not None
    assert table.deals[0].award is not None and table.deals[0].award[opener] == 24 + 3 + 30 + 1
    assert sum(result) == 24 and result[opener] == 24 + 3 + 30 + 1 - 12
    assert table.state.pot == table.state.carried_pot == 0


def test_a7_a_folded_seats_cards_stay_exposed_ones_in_view_concealed_ones_concealed() -> None:
    table = to_betting(3)
    folder = (int(table.state.opener) + 1) % 3
    viewer = (folder + 1) % 3
    picked = exposed(table, folder)
    play(table, "bet", "fold", "call", "declare high", "declare low")
    assert table.phase == "over"
    view = table.view(viewer)
    assert view.seats[folder].cards == ["??", "??"] and set(view.seats[folder].bought) == picked
    shown = table.observe_named(viewer)["shown"]
    assert shown[(folder - viewer) % 3 - 1].sum() == 0
    other = next(seat for seat in range(3) if seat not in (folder, viewer))
    assert {CARD_NAMES[card] for card in np.flatnonzero(shown[(other - viewer) % 3 - 1])} == hole(table, other)


def test_a7_nothing_concealed_is_shown_when_all_others_fold() -> None:
    table = to_betting(3)
    play(table, "bet", "fold", "fold")
    for viewer, other in itertools.permutations(range(3), 2):
        assert table.view(viewer).seats[other].cards == ["??", "??"]
        assert table.observe_named(viewer)["shown"].sum() == 0


def test_a7_folded_seats_are_not_asked_to_declare_and_win_nothing() -> None:
    table = to_betting(4)
    opener = int(table.state.opener)
    play(table, "bet", "fold", "call", "call")
    asked = []
    while table.to_act is not None:
        asked.append(table.to_act)
        play(table, "declare high")
    folder = (opener + 1) % 4
    assert folder not in asked and len(asked) == 3
    assert table.deals[0].payoffs is not None and table.deals[0].payoffs[folder] == -6


# --- A8: declarations -----------------------------------------------------------------------------------------------


def to_declaring(n: int = 3, seed: int = 3) -> Table:
    table = to_betting(n, seed)
    play(table, *["check"] * n)
    return table


def test_a8_low_high_or_both_and_it_costs_nothing() -> None:
    table = to_declaring()
    before = stacks(table), int(table.state.pot)
    for _ in range(3):
        assert (stacks(table), int(table.state.pot)) == before
        assert legal(table) == {"declare low", "declare high", "declare both"}
        play(table, "declare low")
    assert table.state.paid[:3].tolist() == [6, 6, 6]


def test_a8_declarations_are_secret_until_the_last_is_in() -> None:
    twins = [to_declaring() for _ in range(3)]
    first = twins[0].to_act
    for table, way in zip(twins, ("low", "high", "both"), strict=True):
        play(table, f"declare {way}")
    others = [seat for seat in range(3) if seat != first]
    for table in twins[1:]:
        for seat in others:
            assert (table.observe(seat) == twins[0].observe(seat)).all()
            assert table.view(seat) == twins[0].view(seat)
        assert table.info(others[0]) == twins[0].info(others[0])
    play(twins[2], "declare high", "declare low")
    for seat in range(3):
        assert twins[2].observe_named(seat)["declared"].sum() == 3


# --- A9: hands of seven ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_a9_the_best_five_of_seven_both_ways_and_the_fives_may_differ(seed: int) -> None:
    table = to_declaring(3, seed)
    play(table, *["declare both"] * 3)
    for seat in range(3):
        cards = hole(table, seat) | exposed(table, seat)
        assert len(cards) == 7
        assert table.state.high[seat] == high_rank(cards)
        assert table.state.low[seat] == low_rank(cards)


def test_a9_one_hand_can_win_both_ways_with_different_fives() -> None:
    assert describe("As 2d 3h 4c 5s 5d 5h") == "high: straight, five high; low: 5-4-3-2-A"
    assert describe("Ac 2c 3h 4d 7c 9c Kc") == "high: flush, A K 9 7 2; low: 7-4-3-2-A"
