"""Auction Poker, ruling by ruling (A1 to A15); the number of the ruling is in each test's name.

Cases, vectors and worked deals are those published or collected elsewhere; expected values are worked out by hand.
"""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from reference import divide

from auction_env import Table, describe, high_rank, low_rank, make_record
from auction_env.core.jit import kernel
from auction_env.games import auction_poker
from auction_env.games.auction_poker import exposed_set, hole_set, max_deal_length, rules, text
from auction_env.games.cards import CARD_NAMES, cards_of, names_of
from auction_env.games.game import IllegalActionError, SettingsError, SetupError

# --- playing by name ------------------------------------------------------------------------------------------------


def begin(seed: int = 1, settings: dict[str, Any] | None = None, **options: Any) -> Table:
    """A table with a deal on; ``options`` as in ``Table.reset``."""
    table = Table("auction_poker", settings)
    table.reset(seed, options)
    return table


def legal(table: Table) -> set[str]:
    return {table.action_names[action] for action in table.legal()}


def play(table: Table, *actions: str) -> list[int] | None:
    """Act by name, one seat after the other; the result if a deal ended."""
    result = None
    for action in actions:
        result = table.act(action)  # type: ignore[arg-type]
    return result


def bid(table: Table, bids: dict[int, int]) -> list[int]:
    """One auction's bids by seat; the picking order."""
    for _ in range(table.state.num_in):
        assert table.to_act is not None
        play(table, f"bid {bids[table.to_act]}")
    return [int(seat) for seat in table.state.pick_order[: table.state.num_in]]


def play_auctions(table: Table, price: int = 1) -> None:
    """All auctions: everybody bids ``price`` and picks whatever comes first."""
    while table.phase in ("bid", "pick"):
        play(table, f"bid {price}") if table.phase == "bid" else table.act(table.legal()[0])


def declare(table: Table, *declarations: str) -> list[int]:
    """Skip the betting, then declare, clockwise from the dealer; each seat's result."""
    play_auctions(table)
    while table.phase == "bet":
        play(table, "check")
    result = play(table, *(f"declare {way}" for way in declarations))
    assert result is not None
    return result


def hole(table: Table, seat: int) -> set[str]:
    return set(names_of(cards_of(hole_set(table.state, seat))).split())


def exposed(table: Table, seat: int) -> set[str]:
    return set(names_of(cards_of(exposed_set(table.state, seat))).split())


def stacks(table: Table) -> list[int]:
    return table.state.stacks[: table.settings.num_players].tolist()


def row(table: Table) -> str:
    return names_of(table.state.row[: table.state.row_count])


def with_exposed(dealer: int, hands: list[str], then: str = "") -> Table:
    """A deal in which seat k has picked the cards ``hands[k]``, one an auction, all bids 1; ``then`` comes next."""
    rows = list(zip(*(hand.split() for hand in hands), strict=True))
    used = [card for cards in rows for card in cards] + then.split()
    spare = [card for card in CARD_NAMES if card not in used]
    deck = spare[: 2 * len(hands)] + used
    table = begin(1, {"num_players": len(hands)}, dealer=dealer, deck=deck)
    for cards in rows:
        bid(table, dict.fromkeys(range(len(hands)), 1))
        while table.phase == "pick":
            assert table.to_act is not None
            play(table, f"pick {cards[table.to_act]}")
    return table


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
    assert table.deals[0].net is not None and table.deals[0].net[0] == 0 and stacks(table)[0] == 19


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


def play_out(table: Table) -> bool:
    """Play the deal with moderate bids and the declaration "high"; whether the match is over."""
    declare(table, *["high"] * int(table.state.num_in))
    return table.match_over


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


def to_betting(n: int, seed: int = 3, **settings: Any) -> Table:
    table = begin(seed, {"num_players": n, **settings})
    play_auctions(table)
    assert table.phase == "bet" and table.to_act == table.state.opener
    return table


def bets_paid(table: Table) -> list[int]:
    """Chips each seat has put in while betting, in turn from the opener."""
    n = table.settings.num_players
    return [int(table.state.paid[(table.state.opener + k) % n]) - 1 - 5 for k in range(n)]


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
    assert len(table.deals[0].actions) == max_deal_length(table.settings) == 5 * (2 * n - 1) + n + 4 * (n - 1) + n


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
    assert table.deals[0].net is not None and table.deals[0].net[folder] == -6


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


# --- A10 to A12: dividing the pot -----------------------------------------------------------------------------------

LOW, HIGH, BOTH = auction_poker.LOW, auction_poker.HIGH, auction_poker.BOTH
WAYS = {"L": LOW, "H": HIGH, "B": BOTH}


@kernel
def _award_all(states: Any) -> None:
    for place in range(states.shape[0]):
        rules._award_declared(states[place])


def fields(n: int, count: int, final_carry: str = "split") -> np.ndarray:
    """Tables about to divide the pot: n seats dealt in, clockwise from the dealer 0, 1, 2, ..."""
    states = np.repeat(auction_poker.new_state(auction_poker.Settings(num_players=n, final_carry=final_carry)), count)
    states["num_in"] = n
    states["dealt_in"][:, :n] = 1
    states["order"][:, :n] = np.arange(n)
    states["dealer"] = n - 1
    return states


def award(pot: int, *seats: str) -> tuple[list[int], int]:
    """Award and carried pot for seats such as "H 5", "L 5" or "B 9/4" (high/low), larger numbers being better."""
    states = fields(len(seats), 1)
    states["pot"] = pot
    for seat, words in enumerate(seats):
        way, _, strength = words.partition(" ")
        states["declared"][0, seat] = WAYS[way]
        numbers = [int(number) for number in (strength or "1").split("/")]
        states["high"][0, seat] = numbers[0]
        states["low"][0, seat] = -numbers[-1]
    _award_all(states)
    return states["award"][0, : len(seats)].tolist(), int(states["carried_pot"][0])


@pytest.mark.parametrize(
    ("pot", "seats", "awards"),
    [
        (101, "H 5, L 5", [51, 50]),
        (103, "H, L 5, L 5", [52, 26, 25]),
        (50, "H 5, H 5, L, H 5", [9, 8, 25, 8]),
        (37, "L 5, L 5, L 4", [19, 18, 0]),
        (100, "B 9/5, L 5, H 7", [0, 50, 50]),
        (100, "B 9/5, B 8/9, H 7, L 4", [0, 0, 50, 50]),
        (100, "B 9/4, B 8/9, L 8", [0, 0, 100]),
        (100, "B 9/5, H 8", [100, 0]),  # nobody else goes low
        (100, "B 7/5, H 8", [0, 100]),
        (90, "B 7/9, H 8, L 5", [0, 45, 45]),
        (75, "B 9/9, H 8, L 8", [75, 0, 0]),
        (100, "B 9/5, L 5, H 3", [0, 50, 50]),  # the best single hand collects, beaten or not
        (100, "B 9/5, L 5", [0, 100]),  # a both that only ties low gets nothing
        (1, "H, L", [1, 0]),
        (37, "H 5, H 5, H 5", [13, 12, 12]),
        (40, "H 3, L 7, H 2", [20, 20, 0]),  # the sources: trip queens, 7-5-4-2-A, two pair
    ],
)
def test_a10_a11_a12_awards(pot: int, seats: str, awards: list[int]) -> None:
    assert award(pot, *seats.split(", ")) == (awards, 0)


@pytest.mark.parametrize(
    ("pot", "seats"),
    [(100, "B 9/5, B 8/9"), (66, "B 9/9, B 9/9"), (71, "B 9/1, B 9/2, B 1/9"), (30, "B 5/5, B 5/4")],
)
def test_a11_the_pot_is_carried_when_all_declared_both_and_none_succeeds(pot: int, seats: str) -> None:
    assert award(pot, *seats.split(", ")) == ([0] * len(seats.split(", ")), pot)  # not 33 / 33


def test_a10_a_both_that_fails_still_stands_in_another_boths_way() -> None:
    """Case 26: the first loses low; the second is best low but loses high to the first; the low hand takes it all."""
    assert award(100, "B 9/4", "B 8/9", "L 8") == ([0, 0, 100], 0)
    assert award(100, "B 1/4", "B 8/9", "L 8") == ([0, 100, 0], 0)


@pytest.mark.parametrize(
    "seats", ["B 9/4, B 8/9, L 8, H 7, H 2", "B 9/9, H 8, L 8, B 3/3, H 1", "H 5, H 5, L 4, L 4, L 3"]
)
def test_a10_the_award_does_not_depend_on_seat_order(seats: str) -> None:
    """Case 26: every order of five seats, with a pot that leaves no odd chip."""
    field = seats.split(", ")
    base, _ = award(120, *field)
    for order in itertools.permutations(range(5)):
        assert award(120, *(field[seat] for seat in order))[0] == [base[seat] for seat in order]


def test_a11_with_one_direction_declared_its_best_takes_all() -> None:
    assert award(99, "H 4", "H 5", "H 3") == ([0, 99, 0], 0)
    assert award(99, "L 4", "B 9/3", "B 1/9") == ([99, 0, 0], 0)


@pytest.mark.parametrize("dealer", range(4))
def test_a12_odd_chips_go_one_each_clockwise_from_the_dealer(dealer: int) -> None:
    states = fields(4, 1)
    states["pot"], states["dealer"] = 50, dealer
    clockwise = [(dealer + k) % 4 for k in (1, 2, 3, 4)]
    states["order"][0, :4] = clockwise
    states["declared"][0, :4] = [HIGH, HIGH, LOW, HIGH]
    _award_all(states)
    tied = [seat for seat in clockwise if seat != 2]
    assert [states["award"][0, seat] for seat in tied] == [9, 8, 8] and states["award"][0, 2] == 25


@pytest.mark.parametrize("n", range(2, 8))
def test_a10_a11_a12_random_fields_agree_with_the_reference(n: int) -> None:
    """Strengths from few values, so that ties abound; some seats have folded."""
    count = 3_000
    rng = np.random.default_rng(n)
    states = fields(n, count)
    states["pot"] = rng.integers(1, 130, count)
    states["high"][:, :n] = rng.integers(0, 4, (count, n))
    states["low"][:, :n] = rng.integers(0, 4, (count, n))
    favour = rng.integers(0, 3, count)  # of some fields all go both ways, or nearly all
    declared = rng.integers(0, 4, (count, n))
    declared[favour == 0] = np.maximum(declared[favour == 0], rng.integers(2, 4, (int((favour == 0).sum()), n)))
    declared[(declared > 0).sum(axis=1) < 2, :2] = BOTH
    states["declared"][:, :n] = declared
    clockwise = [rng.permutation(n) for _ in range(count)]
    states["order"][:, :n] = clockwise
    pots = states["pot"].copy()
    _award_all(states)
    carried = boths = 0
    for state, pot, order in zip(states, pots, clockwise, strict=True):
        ways = {
            int(seat): ("", "low", "high", "both")[state["declared"][seat]] for seat in order if state["declared"][seat]
        }
        expected, carry = divide(
            int(pot), ways, dict(enumerate(state["high"])), dict(enumerate(state["low"])), order.tolist()
        )
        assert state["award"][:n].tolist() == [expected.get(seat, 0) for seat in range(n)]
        assert (state["carried_pot"], state["pot"]) == (carry, 0)
        carried += carry > 0
        boths += len(expected) == 1 and ways[next(iter(expected))] == "both"
    assert carried > 20 and boths > 50


@pytest.mark.parametrize(
    ("pot", "ways", "low", "told"),
    [
        (103, [HIGH, LOW, LOW], [0, 5, 5], [True, True]),
        (102, [HIGH, LOW, LOW], [0, 5, 5], [False, True]),
        (101, [HIGH, LOW, LOW], [0, 5, 6], [True, False]),
        (100, [HIGH, LOW, LOW], [0, 5, 5], [False, False]),
        (37, [LOW, LOW, LOW], [5, 5, 5], [False, True]),
    ],
)
def test_a12_the_account_tells_of_odd_chips(pot: int, ways: list[int], low: list[int], told: list[bool]) -> None:
    states = fields(3, 1)
    states["pot"], states["declared"][0, :3], states["low"][0, :3] = pot, ways, low
    _award_all(states)
    account = text._narrate_award(states[0])
    assert ["The odd chip of the pot goes to the high half." in account] == told[:1]
    assert ["Chips that cannot be shared equally go one each, clockwise from the dealer." in account] == told[1:]
    assert sum(" and gets " in line for line in account) == np.count_nonzero(states["award"])


# --- A13: the carried pot -------------------------------------------------------------------------------------------


def with_carry(deals: int, **settings: Any) -> Table:
    """A match whose first ``deals`` deals all seats declared both and none succeeded; the next deal is dealt.

    The cards come from the first seed for which it is so.
    """
    for seed in range(2_000):
        table = begin(seed, {"num_deals": 4, "starting_chips": 200, **settings})
        for _ in range(deals):
            declare(table, "both", "both", "both")
            if not table.deals[-1].carried_out:
                break
            table.next_deal()
        else:
            return table
    raise AssertionError("no seed carries the pot so often")


def test_a13_a_given_deal_in_which_all_declare_both_and_none_succeeds() -> None:
    """Bids of 2, each seat picks the card of its place: pot 3 + 30, all of it carried."""
    concealed, *rows = ["Kc Ad 9c Kh 2d 9s", "Ks 7h 8h", "Kd 7d 8d", "Qs 6h 9h", "Qd 4c 9d", "Js 5d Td"]
    table = begin(1, {"num_deals": 2, "starting_chips": 100}, dealer=2, deck=" ".join([concealed, *rows]))
    for cards in rows:
        bid(table, {0: 2, 1: 2, 2: 2})
        while table.phase == "pick":
            assert table.to_act is not None
            play(table, f"pick {cards.split()[table.to_act]}")
    play(table, "check", "check", "check")
    result = play(table, "declare both", "declare both", "declare both")
    # four kings beat four nines and a pair of sevens; the 6-5-4-2-A beats both low
    assert table.state.high.argmax() == 0 and table.state.low[:3].argmin() == 1
    assert result == [-11, -11, -11] and table.deals[0].award == [0, 0, 0]
    assert table.state.carried_pot == table.deals[0].carried_out == 33
    table.next_deal()
    assert table.state.pot == 33 + 3 and table.state.carried_pot == 0 and table.deals[1].carried_pot == 33


def test_a13_a_carried_pot_joins_the_antes_and_is_won_with_the_next_deal() -> None:
    table = with_carry(1)
    carried = table.deals[0].carried_out
    assert carried == 3 + 15 and table.deals[0].net == [-6, -6, -6]
    assert table.deals[1].carried_pot == carried and table.state.pot == carried + 3
    result = declare(table, "high", "high", "high")
    assert sum(result) == carried and table.deals[1].carried_out == 0
    assert sum(table.deals[1].award or []) == carried + 18


def test_a13_carried_twice_in_a_row_adds_up() -> None:
    table = with_carry(2)
    assert [deal.carried_out for deal in table.deals] == [18, 36, 0]
    assert table.state.pot == 36 + 3
    assert sum(declare(table, "low", "low", "low")) == 36


def test_a13_the_fold_out_winner_of_the_next_deal_takes_the_carried_pot() -> None:
    table = with_carry(1)
    play_auctions(table)
    winner = int(table.state.opener)
    result = play(table, "bet", "fold", "fold")
    assert result is not None and result[winner] == 18 + 18 + 1 - 7


def test_a13_a_seat_that_sits_out_in_between_has_no_claim() -> None:
    """Seat 0 pays into the carried pot, then cannot be dealt in; the last pot is shared without it."""
    for seed in range(2_000):
        table = begin(seed, {"num_deals": 2}, stacks=[20, 60, 60])
        declare(table, "both", "both", "both")
        if table.match_over or not table.deals[0].carried_out:
            continue
        assert stacks(table) == [14, 54, 54]
        table.next_deal()
        assert table.deals[1].dealt_in == [1, 2] and table.state.pot == 18 + 2
        declare(table, "both", "both")
        if nobody_won(table):
            break
    assert table.deals[1].award == [0, 15, 15] and table.deals[1].net == [0, 9, 9]
    assert stacks(table) == [14, 63, 63] and table.state.carried_pot == 0


def nobody_won(table: Table) -> bool:
    """Whether, after a deal in which all declared both, none has succeeded."""
    return not (table.state.verdict[: table.settings.num_players] == auction_poker.WON_ALL).any()


def last_deal_carried(final_carry: str, carried_pot: int = 0, n: int = 3) -> Table:
    """One deal, all declare both, none succeeds; ``carried_pot`` is there from before."""
    for seed in range(2_000):
        table = begin(seed, {"num_players": n, "final_carry": final_carry}, carried_pot=carried_pot)
        declare(table, *["both"] * n)
        if nobody_won(table):
            return table
    raise AssertionError("somebody wins both ways with every seed")


@pytest.mark.parametrize(("carried", "portions"), [(7, [9, 8, 8]), (8, [9, 9, 8]), (6, [8, 8, 8]), (0, [6, 6, 6])])
def test_a13_split_shares_a_pot_left_by_the_last_deal_among_its_declarers(carried: int, portions: list[int]) -> None:
    table = last_deal_carried("split", carried)  # 25 with three declarers
    first = (table.deals[0].dealer + 1) % 3
    award = table.deals[0].award or []
    assert [award[(first + k) % 3] for k in range(3)] == portions
    assert table.deals[0].carried_out == 0 and table.state.carried_pot == 0
    assert sum(table.deals[0].net or []) == carried
    assert sum(stacks(table)) == 60 + carried


def test_a13_split_of_sixty_six_between_two_is_even() -> None:
    table = last_deal_carried("split", 66 - 12, n=2)
    assert table.deals[0].award == [33, 33]


def test_a13_keep_leaves_it_unawarded_and_reports_it() -> None:
    table = last_deal_carried("keep", 7)
    assert table.match_over
    assert table.deals[0].award == [0, 0, 0] and table.deals[0].net == [-6, -6, -6]
    assert table.deals[0].carried_out == table.state.carried_pot == 25
    assert make_record(table)["deals"][0]["carried_out"] == 25
    assert sum(stacks(table)) + 25 == table.state.total_chips


def test_a13_only_the_seats_that_declared_share_it() -> None:
    """A seat that folded in the last deal gets nothing of the pot it leaves."""
    for seed in range(2_000):
        table = begin(seed)
        play_auctions(table)
        folder = (int(table.state.opener) + 1) % 3
        play(table, "bet", "fold", "call", "declare both", "declare both")
        if nobody_won(table):
            break
    assert table.deals[0].award == [0 if seat == folder else 10 for seat in range(3)]


def test_a13_a_match_that_ends_for_want_of_chips_splits_too() -> None:
    """Nobody has the reserve left, so the first of nine deals is the last one and its pot is shared at once."""
    for seed in range(2_000):
        table = begin(seed, {"num_deals": 9})
        declare(table, "both", "both", "both")
        if nobody_won(table):
            break
    assert table.match_over and table.deals[0].award == [6, 6, 6] and stacks(table) == [20, 20, 20]


# --- A14: results ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("final_carry", ["split", "keep"])
@pytest.mark.parametrize("n", [2, 3, 5, 7])
def test_a14_a_result_is_award_less_ante_bids_and_bets_and_a_match_sums_to_zero(n: int, final_carry: str) -> None:
    rng = np.random.default_rng(n)
    kept = 0
    for seed in range(30):
        table = Table(
            "auction_poker",
            {"num_players": n, "num_deals": 4, "starting_chips": 45, "final_carry": final_carry},
        )
        table.reset(seed)
        total = np.zeros(n, np.int64)
        while True:
            spent = np.zeros(n, np.int64)
            spent[table.deals[-1].dealt_in] = 1
            while table.to_act is not None:
                before, choices = stacks(table), table.legal()
                both = table.phase == "declare"
                table.act(choices[-1] if both else choices[rng.integers(len(choices))])
                if table.phase != "over":
                    spent += np.array(before) - np.array(stacks(table))
            log = table.deals[-1]
            assert log.award is not None and log.net == (np.array(log.award) - spent).tolist()
            assert sum(log.net or []) == log.carried_pot - log.carried_out
            total += np.array(log.net)
            if table.match_over:
                break
            table.next_deal()
        assert total.sum() == -log.carried_out
        assert (total == np.array(stacks(table)) - 45).all()
        kept += log.carried_out > 0
    assert kept > 0 if final_carry == "keep" else kept == 0


# --- A15: the dealer ------------------------------------------------------------------------------------------------


def test_a15_the_deal_passes_clockwise() -> None:
    table = begin(settings={"num_players": 4, "num_deals": 9, "starting_chips": 500}, dealer=2)
    dealers = []
    while True:
        dealers.append(int(table.state.dealer))
        assert table.to_act == (dealers[-1] + 1) % 4
        if play_out(table):
            break
        table.next_deal()
    assert dealers == [2, 3, 0, 1, 2, 3, 0, 1, 2]


def test_a15_the_deal_passes_over_seats_that_are_out_of_the_match() -> None:
    table = begin(
        settings={"num_players": 4, "num_deals": 6, "starting_chips": 500}, dealer=0, stacks=[500, 19, 500, 500]
    )
    dealers = []
    while True:
        dealers.append(int(table.state.dealer))
        if play_out(table):
            break
        table.next_deal()
    assert dealers == [0, 2, 3, 0, 2, 3]


def test_a15_the_first_dealer_is_drawn_from_the_seed_uniformly() -> None:
    dealers = [begin(seed).state.dealer for seed in range(600)]
    assert dealers == [begin(seed).state.dealer for seed in range(600)]
    assert np.bincount(dealers, minlength=3).min() > 200 - 5 * math.sqrt(600 * 2 / 9)


# --- whole deals ----------------------------------------------------------------------------------------------------

WHOLE_DEAL = "Qc 7d 9h Qd 5s 9s | Ac 6d Kh | 8c 4c Jd | Qh 2h 3s | Ts 3d 5c | 8d Kc As"


def whole_deal_to_declarations() -> Table:
    table = begin(1, dealer=0, deck=WHOLE_DEAL)
    auctions = [
        ({1: 3, 2: 3, 0: 1}, [1, 2, 0], ["Kh", "6d"], 10),
        ({1: 2, 2: 1, 0: 2}, [0, 1, 2], ["8c", "Jd"], 15),
        ({1: 1, 2: 1, 0: 1}, [0, 1, 2], ["Qh", "2h"], 18),
        ({1: 1, 2: 1, 0: 1}, [0, 1, 2], ["Ts", "3d"], 21),
        ({1: 1, 2: 1, 0: 1}, [0, 1, 2], ["8d", "Kc"], 24),
    ]
    for bids, order, picks, pot in auctions:
        assert bid(table, bids) == order and table.state.pot == pot
        play(table, *(f"pick {card}" for card in picks))
    assert [exposed(table, seat) for seat in range(3)] == [
        {"Ac", "8c", "Qh", "Ts", "8d"},
        {"Kh", "Jd", "2h", "3d", "Kc"},
        {"6d", "4c", "3s", "5c", "As"},
    ]
    assert table.to_act == 1  # a pair of kings opens
    play(table, "check", "bet", "call", "raise", "call", "call")
    assert table.phase == "declare" and table.state.pot == 30
    assert table.state.paid[:3].tolist() == [9, 11, 10]
    return table


@pytest.mark.parametrize(
    ("declared", "awards", "nets"),
    [
        ("H L L", [15, 0, 15], [6, -11, 5]),
        ("H H L", [0, 15, 15], [-9, 4, 5]),
        ("B H L", [0, 15, 15], [-9, 4, 5]),
        ("L B H", [15, 0, 15], [6, -11, 5]),
        ("B B B", [0, 0, 30], [-9, -11, 20]),
        ("L L L", [0, 0, 30], [-9, -11, 20]),
    ],
)
def test_whole_deal(declared: str, awards: list[int], nets: list[int]) -> None:
    table = whole_deal_to_declarations()
    ways = dict(zip((0, 1, 2), declared.split(), strict=True))
    names = {"L": "declare low", "H": "declare high", "B": "declare both"}
    result = play(table, *(names[ways[seat]] for seat in (1, 2, 0)))
    assert result == nets == table.deals[0].net
    assert table.deals[0].award == awards
    assert [describe(hole(table, seat) | exposed(table, seat)) for seat in range(3)] == [
        "high: two pair, nines and eights, A; low: Q-T-9-8-A",
        "high: two pair, kings and queens, J; low: K-Q-J-3-2",
        "high: straight, seven high; low: 6-5-4-3-A",
    ]


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
    assert table.deals[0].award == awards and table.deals[0].net == [awards[0] - 2, awards[1] - 3]


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint16])
def test_settings_given_as_numpy_integers_are_plain_ones(game: Any, kind: Any) -> None:
    """In int8 the sizes of seven seats' observations would overflow, and a record would not go into JSON."""
    for settings in (Table(game, {"num_players": kind(7)}).settings, game.Settings(num_players=kind(7))):
        assert settings == game.Settings(num_players=7) and type(settings.num_players) is int
    table = Table(game, {"num_players": kind(7)})
    table.reset(1)
    assert table.observe(0).size == table.observation_size == sum(piece.size for piece in game.pieces(settings))
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
