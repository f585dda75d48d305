"""One table: illegal actions, copies, matches, looking."""

from __future__ import annotations

import copy
import pickle
import timeit
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    chooser,
    dealt,
    match_settings,
    play,
    play_out,
    random_policy,
    seats_of,
    settings_values,
    sits_out,
    snapshot,
    some_settings,
)
from table_play import act_at_random

from auction_env import IllegalActionError, SetupError, Table, get_game

# --- illegal actions -------------------------------------------------------------------------------------------------

NO_ACTIONS: list[Any] = [
    *(-1, 10_000, 2**31, 2**63, -(2**63), 10**30, None, 1.0, 0.5, float("nan"), True, False),
    *("", "nothing", "0", b"bid 1", (0,), [0], {}, object(), np.float32(1), np.bool_(True)),
    *(np.array([0]), np.array([[0]]), np.array(1.0), np.array("bid 1"), np.uint64(2**63), np.int64(-1)),
]


@pytest.mark.parametrize("action", NO_ACTIONS, ids=[f"{type(a).__name__} {str(a)[:12]}" for a in NO_ACTIONS])
def test_what_is_no_action_raises_and_changes_nothing(game, action):
    rng = np.random.default_rng(2)
    for at in play(dealt(game, seed=3), random_policy(rng)):
        before = snapshot(at)
        with pytest.raises(IllegalActionError):
            at.act(action)
        assert snapshot(at) == before


@given(st.data())
@settings(max_examples=10)
def test_every_action_that_is_not_legal_raises_and_changes_nothing(game, data):
    """Index or name; the error names the action, the seat and what is legal."""
    table = dealt(game, data.draw(settings_values(game)), data.draw(st.integers(0, 1000)))
    rng = np.random.default_rng(0)
    for at in play(table, random_policy(rng)):
        if at.to_act is None or rng.random() < 0.8:
            continue
        before = snapshot(at)
        for action in set(range(len(at.action_names))) - set(at.legal()):
            legal = f"'{at.action_names[at.legal()[0]]}' ({at.legal()[0]})"
            for form in (action, at.action_names[action]):
                with pytest.raises(IllegalActionError) as caught:
                    at.act(form)
                said = str(caught.value)
                assert all(part in said for part in (at.action_names[action], f"player_{at.to_act}", legal))
        assert snapshot(at) == before


def test_nobody_acts_before_reset_or_after_the_deal(game):
    with pytest.raises(IllegalActionError, match="nobody is to act"):
        Table(game).act(0)
    table = play_out(dealt(game), random_policy(np.random.default_rng(0)))
    before = snapshot(table)
    for action in range(len(table.action_names)):
        with pytest.raises(IllegalActionError, match="nobody is to act"):
            table.act(action)
    assert snapshot(table) == before


@pytest.mark.parametrize("kind", [int, np.int8, np.int16, np.int64, np.uint8, np.uint64, np.array])
def test_integers_of_every_type_are_actions(game, kind):
    rng = np.random.default_rng(4)
    plain, other = dealt(game, seed=4), dealt(game, seed=4)
    while plain.to_act is not None:
        action = int(rng.choice(plain.legal()))
        plain.act(action)
        other.act(kind(action))
    assert snapshot(plain) == snapshot(other)


def test_names_are_actions(game):
    rng = np.random.default_rng(5)
    plain, other = dealt(game, seed=5), dealt(game, seed=5)
    while plain.to_act is not None:
        action = int(rng.choice(plain.legal()))
        plain.act(action)
        other.act(other.action_names[action])
    assert snapshot(plain) == snapshot(other)


@pytest.mark.parametrize("seat", [-1, 99, None, 1.0, "0", True, "player_0"])
def test_seats_that_do_not_exist_are_refused(game, seat):
    table = dealt(game)
    calls = [table.observe, table.mask, table.info, table.observe_named, lambda s: table.resample_from_infostate(s, 1)]
    for call in calls if seat is None else [*calls, table.view]:
        with pytest.raises(ValueError, match=r"there is no seat .*: seats are 0 to"):
            call(seat)


def test_nothing_is_seen_before_reset(game):
    table = Table(game)
    for call in (table.observe, table.observe_named, table.view, lambda seat: table.resample_from_infostate(seat, 1)):
        with pytest.raises(SetupError, match="call reset first"):
            call(0)
    assert not table.mask(0).any()
    with pytest.raises(SetupError, match="there is no next deal"):
        table.next_deal()


@pytest.mark.parametrize("dtype", [np.float64, np.int32, bool, object])
def test_observations_come_in_two_forms_only(game, dtype):
    with pytest.raises(ValueError, match="float32 or int8"):
        dealt(game).observe(0, dtype)


def test_there_is_no_next_deal_during_one_or_after_the_match(game):
    table = dealt(game, match_settings(game, 2))
    with pytest.raises(SetupError, match="a deal is being played"):
        table.next_deal()
    play_out(table, random_policy(np.random.default_rng(0)), whole_match=True)
    before = snapshot(table)
    with pytest.raises(SetupError, match="the match is over"):
        table.next_deal()
    assert snapshot(table) == before


# --- copies ----------------------------------------------------------------------------------------------------------

COPIES = {
    "clone": Table.clone,
    "deepcopy": copy.deepcopy,
    "pickle": lambda table: pickle.loads(pickle.dumps(table)),
    "deepcopy of a list": lambda table: copy.deepcopy([table])[0],
}


@pytest.mark.parametrize("make_copy", COPIES.values(), ids=COPIES.keys())
def test_a_copy_in_mid_match_is_equal_and_independent(game, make_copy):
    """The copy is in the same state, generator and account included; neither feels what the other does."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        table = dealt(game, match_settings(game, 2, **some_settings(game, chooser(rng))), seed)
        act_at_random(table, rng, int(rng.integers(0, 25)))
        before = snapshot(table)
        twin = make_copy(table)
        assert snapshot(twin) == before
        assert [twin.mask(seat).tolist() for seat in seats_of(twin)] == [
            table.mask(seat).tolist() for seat in seats_of(table)
        ]
        play_out(twin, random_policy(np.random.default_rng(1)), whole_match=True)
        assert snapshot(table) == before
        end = snapshot(twin)
        play_out(table, random_policy(np.random.default_rng(1)), whole_match=True)
        assert snapshot(table) == end
        table.reset()
        assert snapshot(twin) == end
        twin.reset()
        assert snapshot(twin) == snapshot(table)


def test_a_clone_costs_a_few_steps_at_most(game):
    """Search clones at every node. Also late in a long match, whose finished deals are shared."""
    table = dealt(game, match_settings(game, 40), 1)
    rng = np.random.default_rng(1)
    while not table.match_over and len(table.deals) < 30:
        play_out(table, random_policy(rng))
        if not table.match_over:
            table.next_deal()
    spare = [table.clone() for _ in range(200)]
    action = table.legal()[0]
    step = min(timeit.repeat(lambda: spare.pop().act(action), number=20, repeat=10)) / 20
    clone = min(timeit.repeat(table.clone, number=20, repeat=10)) / 20
    assert clone < 5 * step, f"clone {clone * 1e6:.0f} us, step {step * 1e6:.0f} us"


def test_a_copy_before_reset_works(game):
    for make_copy in COPIES.values():
        twin = make_copy(Table(game))
        twin.reset(3)
        assert snapshot(twin) == snapshot(dealt(game, seed=3))


def test_changing_what_a_table_gave_changes_nothing_inside(game):
    table = dealt(game)
    before = snapshot(table)
    for seat in seats_of(table):
        table.observe(seat)[:] = 1
        table.mask(seat)[:] = 1
        table.observe_named(seat)["phase"][:] = 1
        table.info(seat).clear()
        table.view(seat).seats.clear()
    table.legal().clear()
    table.resample_from_infostate(0, 1).states["stacks"][:] = 0
    assert snapshot(table) == before
    assert table.mask(table.to_act).sum() == len(table.legal())


def test_each_call_gives_fresh_arrays(game):
    table = dealt(game)
    for ask in (table.observe, table.mask):
        assert not np.shares_memory(ask(0), ask(0))
        assert not np.shares_memory(ask(0), table.states)


def test_repr_tells_settings_only(game):
    table = dealt(game, seed=1)
    assert repr(table) == f"Table({game.NAME!r}, {table.settings})"
    assert repr(table) == repr(dealt(game, seed=2)) == repr(Table(game))


# --- matches ---------------------------------------------------------------------------------------------------------


def test_the_deal_passes_to_the_next_seat_still_in_the_match(game):
    """A15, B1: clockwise, over the seats that are out."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        table = dealt(game, match_settings(game, 4, num_players=min(4, game.MAX_PLAYERS)), seed)
        play_out(table, random_policy(rng), whole_match=True)
        seats = table.settings.num_players
        for before, after in zip(table.deals, table.deals[1:], strict=False):
            clockwise = [(before.dealer + step) % seats for step in range(1, seats + 1)]
            assert after.dealer == next(seat for seat in clockwise if seat in after.dealt_in)
            assert set(after.dealt_in) <= set(before.dealt_in)
            assert after.stacks == [chips + net for chips, net in zip(before.stacks, before.payoffs or (), strict=True)]
            assert after.carried_pot == before.carried_out


def test_a_match_ends_at_its_last_deal_or_when_too_few_can_be_dealt_in(game):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        table = dealt(game, some_settings(game, chooser(rng), {"num_deals": 3}), seed)
        for at in play(table, random_policy(rng), whole_match=True):
            if at.to_act is None:
                able = [seat for seat in seats_of(at) if not game.eligibility(at.state, seat)]
                last = len(at.deals) == 3
                assert at.match_over == (last or len(able) < _fewest_seats(game, at))


def _fewest_seats(game: Any, table: Table) -> int:
    """A2: a match goes on with two seats; B10: only while every seat can pay."""
    return 2 if sits_out(game) else table.settings.num_players


def test_a_long_match_of_auction_poker_stays_in_bounds():
    """50 deals, dealer passing, observations within [0, 1] whatever the stacks, chips constant."""
    table = dealt(get_game("auction_poker"), {"num_deals": 50, "starting_chips": 60, "num_players": 5}, 11)
    rng = np.random.default_rng(11)
    deals = 0
    for at in play(table, random_policy(rng), whole_match=True):
        for seat in seats_of(at):
            flat = at.observe(seat)
            assert flat.min() >= 0 and flat.max() <= 1
        deals = len(at.deals)
    assert deals > 10
    assert sum(table.state.stacks) + table.state.carried_pot == 300


@pytest.mark.parametrize(("chips", "dealt_in"), [(19, [0, 2]), (20, [0, 1, 2])])
def test_a2_the_reserve_is_needed_to_be_dealt_in(chips, dealt_in):
    table = dealt(get_game("auction_poker"), {}, 0, stacks=[20, chips, 20])
    assert table.deals[-1].dealt_in == dealt_in
    assert table.state.num_in == len(dealt_in)


# --- looking ---------------------------------------------------------------------------------------------------------


def test_names_texts_and_what_all_seats_see(game):
    table = Table(game)
    with pytest.raises(SetupError, match="call reset first"):
        table.describe(0)
    with pytest.raises(SetupError, match="call reset first"):
        table.observe_all()
    table.reset(2)
    assert [table.action_name(index) for index in range(len(table.action_names))] == list(table.action_names)
    for index in (-1, len(table.action_names)):
        with pytest.raises(IndexError, match=f"there is no action {index}: actions are 0 to"):
            table.action_name(index)
    for at in play(table, random_policy(np.random.default_rng(0))):
        together = at.observe_all()
        assert together.shape == (at.settings.num_players, at.observation_size) and together.dtype == np.float32
        assert all(np.array_equal(together[seat], at.observe(seat)) for seat in seats_of(at))
    hidden, open_to_all = dealt(game, seed=2).describe(0), dealt(game, seed=2).describe(None)
    assert "??" in hidden and "(you)" in hidden and "??" not in open_to_all
    with pytest.raises(ValueError, match="there is no seat 99"):
        table.describe(99)
