"""Auction Poker, rulings A10 to A15 and whole deals: the award, the carried pot, results, the dealer."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from poker_play import begin, bid, declare, exposed, hole, play, play_auctions, play_out, stacks
from reference import divide

from auction_env import Table, describe, make_record
from auction_env.core.jit import kernel
from auction_env.games import auction_poker
from auction_env.games.auction_poker import rules, text

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
    assert carried == 3 + 15 and table.deals[0].payoffs == [-6, -6, -6]
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
    assert table.deals[1].award == [0, 15, 15] and table.deals[1].payoffs == [0, 9, 9]
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
    assert sum(table.deals[0].payoffs or []) == carried
    assert sum(stacks(table)) == 60 + carried


def test_a13_split_of_sixty_six_between_two_is_even() -> None:
    table = last_deal_carried("split", 66 - 12, n=2)
    assert table.deals[0].award == [33, 33]


def test_a13_keep_leaves_it_unawarded_and_reports_it() -> None:
    table = last_deal_carried("keep", 7)
    assert table.match_over
    assert table.deals[0].award == [0, 0, 0] and table.deals[0].payoffs == [-6, -6, -6]
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
            assert log.award is not None and log.payoffs == (np.array(log.award) - spent).tolist()
            assert sum(log.payoffs or []) == log.carried_pot - log.carried_out
            total += np.array(log.payoffs)
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
    assert result == nets == table.deals[0].payoffs
    assert table.deals[0].award == awards
    assert [describe(hole(table, seat) | exposed(table, seat)) for seat in range(3)] == [
        "high: two pair, nines and eights, A; low: Q-T-9-8-A",
        "high: two pair, kings and queens, J; low: K-Q-J-3-2",
        "high: straight, seven high; low: 6-5-4-3-A",
    ]
