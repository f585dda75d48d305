"""Auction Flop Poker, rulings B9 and B10, whole deals, the engine beside a plain-Python reference, the longest deal."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
from flop_play import ONE_EACH, after_discards, begin, dealt, flop, hand, held, legal, play, random_deal, stacks, stock
from hypothesis import given
from hypothesis import strategies as st
from reference import best_high
from reference_flop import Ask, Result, divide, match_is_over, place_chips, play_deal, tidy

from auction_env import Table
from auction_env.core.jit import kernel
from auction_env.engine.batch import Batch
from auction_env.engine.kernels import kernels
from auction_env.games import auction_flop
from auction_env.games.auction_flop import Settings, max_game_length, rules
from auction_env.games.cards import CARD_NAMES, cards_of, names_of
from auction_env.games.game import SetupError

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
            assert log.payoffs == [new - old for new, old in zip(result.stacks, log.stacks, strict=True)]
            assert sum(log.payoffs) == 0 and log.carried_out == 0
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
    longest, length, deals = max_game_length(batch.settings), np.zeros(256, np.int64), 0
    for _ in range(150 * n):
        out = batch.step(((1 - rng.random(out.masks.shape, np.float32)) * out.masks).argmax(axis=1))
        states = batch.states
        assert (states["stacks"][:, :n].sum(axis=1) + states["pot"] == states["total_chips"]).all()
        assert (states["stacks"][:, :n] >= 0).all() and (states["held"][:, :n] <= 5).all()
        length, deals = np.where(out.deal_over, 0, length + 1), deals + int(out.deal_over.sum())
        assert (length < longest).all()
    assert (out.payoffs[out.deal_over].sum(axis=1) == 0).all() and deals > 300
    done, net = batch.rollout(2000 * n)
    assert done > 600 and (net.sum(axis=1) == 0).all()


# --- the longest deal -----------------------------------------------------------------------------------------------


def test_the_longest_deal_is_as_stated() -> None:
    stated = (205, 592, 1172, 1948, 2917, 4079, 5434)
    assert tuple(max_game_length(Settings(num_players=n)) for n in range(2, 9)) == stated


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
    assert longest_by_search(settings) <= max_game_length(settings)
