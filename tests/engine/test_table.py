"""One table: seeds, set-up by options, illegal actions, copies, and leaving everybody else's chance alone."""

from __future__ import annotations

import copy
import pickle
import random
import timeit
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    POLICIES,
    chooser,
    dealt,
    match_settings,
    play,
    play_out,
    player_counts,
    random_policy,
    seats_of,
    settings_values,
    sits_out,
    snapshot,
    some_settings,
)

from auction_env import IllegalActionError, SetupError, Table, available, get_game, make_record
from auction_env.games.cards import card_name, deck_cards, names_of


def _deck(table: Table) -> list[int]:
    return list(table.deals[-1].deck)


def _act_at_random(table: Table, rng: np.random.Generator, moves: int) -> Table:
    for _ in range(moves):
        if table.to_act is not None:
            table.act(int(rng.choice(np.sort(table.legal()))))
    return table


# --- seeds -----------------------------------------------------------------------------------------------------------


def test_seed_zero_is_a_seed(game):
    assert _deck(dealt(game, seed=0)) == _deck(dealt(game, seed=0))
    assert _deck(dealt(game, seed=0)) != _deck(dealt(game, seed=1))
    table = dealt(game, seed=7)
    table.reset(0)
    assert _deck(table) == _deck(dealt(game, seed=0))


def test_a_seed_settles_dealer_and_deck_at_the_first_reset_and_at_any_other(game):
    table = dealt(game, seed=3)
    first = snapshot(table)
    table.reset(4)
    table.reset(3)
    assert snapshot(table) == first


def test_reset_without_seed_goes_on_in_the_stream(game):
    def decks() -> list[list[int]]:
        table = dealt(game, seed=5)
        found = [_deck(table)]
        for _ in range(3):
            table.reset()
            found.append(_deck(table))
        return found

    once = decks()
    assert once == decks()
    assert len({tuple(deck) for deck in once}) == len(once)


def test_reset_without_seed_goes_on_after_play_too(game):
    """Where the stream stands depends on the deals dealt, not on the actions chosen."""
    after = []
    for policy in POLICIES:
        table = play_out(dealt(game, seed=6), policy(np.random.default_rng(0)))
        table.reset()
        after.append(_deck(table))
    assert after[0] == after[1] == after[2]


def test_the_first_reset_without_seed_takes_fresh_entropy_and_keeps_it(game):
    tables = [Table(game) for _ in range(3)]
    for table in tables:
        table.reset()
    assert len({tuple(_deck(table)) for table in tables}) == 3
    seed = tables[0].seed
    assert isinstance(seed, int)
    assert _deck(dealt(game, seed=seed)) == _deck(tables[0])


@pytest.mark.parametrize(
    "seed", [0, 1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, np.int64(7), np.uint32(7), np.uint64(2**62)]
)
def test_seeds_of_every_size_and_integer_type(game, seed):
    assert _deck(dealt(game, seed=seed)) == _deck(dealt(game, seed=int(seed)))


@pytest.mark.parametrize("seed", [-1, 2**63, 1.0, 0.5, "1", True, np.bool_(1), [1], np.array([1]), float("nan"), b"1"])
def test_bad_seeds_are_refused_with_the_table_unchanged(game, seed):
    table = _act_at_random(dealt(game, seed=1), np.random.default_rng(0), 3)
    before = snapshot(table)
    with pytest.raises(ValueError, match=r"seed is .* it must be an integer from 0 to 2\*\*63 - 1"):
        table.reset(seed)
    assert snapshot(table) == before


def test_neighbouring_seeds_deal_unrelated_cards(game):
    """The first card dealt is spread over the deck as chance would: chi-square with 51 degrees of freedom."""
    table, counts = Table(game), np.zeros(52)
    for seed in range(2600):
        table.reset(seed)
        counts[table.deals[-1].deck[0]] += 1
    assert ((counts - 50) ** 2 / 50).sum() < 98  # one chance in 10,000
    dealers = np.zeros(table.settings.num_players)
    for seed in range(600):
        table.reset(seed)
        dealers[table.deals[-1].dealer] += 1
    assert dealers.min() > 600 / len(dealers) * 0.7


# --- leaving others' chance alone ------------------------------------------------------------------------------------


def _global_states() -> list[Any]:
    states: list[Any] = [random.getstate(), pickle.dumps(np.random.get_state())]
    try:
        import torch
    except ImportError:
        return states
    return [*states, torch.get_rng_state().tolist()]


def test_no_global_generator_is_read_or_moved(game):
    rng = np.random.default_rng(0)
    first = [_deck(dealt(game, seed=seed)) for seed in range(3)]
    random.seed(99)
    np.random.seed(99)
    before = _global_states()
    table = dealt(game, match_settings(game, 2), seed=0)
    play_out(table, random_policy(rng), whole_match=True)
    table.reset()
    table.resample_hidden(0, 3)
    Table(game).reset()
    make_record(table)
    assert _global_states() == before
    random.seed(1)
    np.random.seed(1)
    assert [_deck(dealt(game, seed=seed)) for seed in range(3)] == first


def test_interleaved_tables_play_as_alone(game):
    def course(seed: int) -> Any:
        rng = np.random.default_rng(seed)
        table = dealt(game, {"num_players": 2 + seed % 2}, seed)
        while table.to_act is not None:
            yield snapshot(table)
            table.act(int(rng.choice(np.sort(table.legal()))))
        yield snapshot(table)

    alone = [list(course(seed)) for seed in range(4)]
    together: list[list[Any]] = [[] for _ in range(4)]
    running = dict(enumerate(course(seed) for seed in range(4)))
    while running:
        for seed in list(running):
            random.random()
            np.random.random()
            if (found := next(running[seed], None)) is None:
                del running[seed]
            else:
                together[seed].append(found)
    assert together == alone


# --- options ---------------------------------------------------------------------------------------------------------


def test_a_whole_deck_is_dealt_as_given(game):
    for seed in range(5):
        deck = _deck(dealt(game, seed=seed + 100))
        for given_as in (names_of(deck), " | ".join(card_name(card) for card in deck), deck, np.array(deck)):
            assert _deck(dealt(game, seed=seed, deck=given_as)) == deck


@given(st.data())
def test_the_first_cards_are_dealt_as_given_and_the_rest_is_shuffled_from_the_seed(game, data):
    values = data.draw(settings_values(game))
    table = Table(game, values)
    cards = deck_cards(table.settings.num_ranks, table.settings.num_suits)
    first = data.draw(st.lists(st.sampled_from(cards), unique=True, max_size=len(cards)))
    table.reset(data.draw(st.integers(0, 2**63 - 1)), {"deck": names_of(first)})
    log = table.deals[-1]
    assert log.deck[: len(first)] == first
    assert sorted(log.deck) == sorted(cards)
    assert log.given == len(first)
    again = Table(game, values)
    again.reset(table.seed, {"deck": first})
    assert again.deals[-1].deck == log.deck


def test_a_given_deck_holds_for_one_deal_only(game):
    deck = names_of(_deck(dealt(game, seed=50)))
    table = dealt(game, match_settings(game, 2), 0, deck=deck)
    play_out(table, random_policy(np.random.default_rng(0)))
    table.next_deal()
    assert names_of(table.deals[-1].deck) != deck


def test_given_dealer_stacks_and_carried_pot_each_alone(game):
    for seats in player_counts(game):
        table, usual = Table(game, {"num_players": seats}), game.Settings(num_players=seats).starting_chips
        for dealer in range(seats):
            table.reset(0, {"dealer": dealer})
            assert table.deals[-1].dealer == dealer == table.state.dealer
            assert table.deals[-1].stacks == [usual] * seats
        stacks = [usual + 7 * seat for seat in range(seats)]
        table.reset(0, {"stacks": stacks})
        assert table.deals[-1].stacks == stacks
        assert table.state.total_chips == sum(stacks)
        table.reset(0, {"stacks": np.array(stacks)})
        assert table.deals[-1].stacks == stacks
        if game.CARRIES_POT:
            table.reset(0, {"carried_pot": 11})
            assert table.deals[-1].carried_pot == 11
            assert table.state.total_chips == usual * seats + 11


def test_options_leave_what_they_do_not_set_to_the_seed(game):
    """The dealer is drawn before the deck: stacks change neither, a given dealer does not move the deck."""
    plain = dealt(game, seed=8)
    usual = plain.settings.starting_chips
    stacks = [usual + 1] * plain.settings.num_players
    for options in ({"stacks": stacks}, {"dealer": plain.deals[-1].dealer}, {"dealer": 0}, {"unknown": 3}):
        table = dealt(game, {}, 8, **options)
        assert _deck(table) == _deck(plain)
        if "dealer" not in options:
            assert table.deals[-1].dealer == plain.deals[-1].dealer


def test_all_options_together(game):
    usual = game.Settings().starting_chips
    stacks = [usual + seat for seat in range(game.Settings().num_players)]
    options: dict[str, Any] = {"deck": "As Kd", "dealer": 1, "stacks": stacks, "else": object()}
    if game.CARRIES_POT:
        options["carried_pot"] = 5
    table = dealt(game, {}, 2, **options)
    log = table.deals[-1]
    assert (names_of(log.deck[:2]), log.dealer, log.stacks) == ("As Kd", 1, stacks)
    assert log.carried_pot == (5 if game.CARRIES_POT else 0)
    nothing = dealt(game, {}, 2, deck=None, dealer=None, stacks=None, carried_pot=None)
    assert snapshot(nothing) == snapshot(dealt(game, seed=2))


def test_options_are_not_kept_or_changed(game):
    options = {"stacks": [game.Settings().starting_chips] * game.Settings().num_players, "deck": ["As", "Kd"]}
    kept = copy.deepcopy(options)
    table = dealt(game, {}, 2, **options)
    play_out(table, random_policy(np.random.default_rng(0)))
    assert options == kept
    table.reset(2)
    assert names_of(_deck(table)[:2]) != "As Kd"


BAD_OPTIONS: list[tuple[str, Any, str]] = [
    ("deck", "As As", r"deck: card As stands twice"),
    ("deck", "As Kd 10d", r"deck: '10d' is not a card"),
    ("deck", "As ah", r"deck: 'ah' is not a card"),
    ("deck", "1s", r"deck: '1s' is not a card"),
    ("deck", ["As", 3.5], r"deck: 3.5 is not a card"),
    ("deck", [0, 52], r"deck: there is no card 52"),
    ("deck", [-1], r"deck: there is no card -1"),
    ("deck", [True], r"deck: True is not a card"),
    ("deck", [None], r"deck: None is not a card"),
    ("deck", 5, r"deck: "),
    ("deck", 2.5, r"deck: "),
    ("dealer", -1, r"dealer is -1"),
    ("dealer", 99, r"dealer is 99"),
    ("dealer", 1.0, r"dealer is 1.0"),
    ("dealer", "player_1", r"dealer is 'player_1'"),
    ("dealer", True, r"dealer is True"),
    ("stacks", 50, r"stacks is 50"),
    ("stacks", "50", r"stacks is '50'"),
    ("stacks", [], r"stacks is \[\]"),
    ("stacks", [50], r"stacks is \[50\]"),
    ("stacks", {0: 50}, r"stacks is \{0: 50\}"),
    ("stacks", [50.0] * 9, r"stacks is"),
    ("stacks", np.array(50), r"stacks is 50"),
    ("carried_pot", -1, r"carried_pot"),
    ("carried_pot", 2.0, r"carried_pot"),
    ("carried_pot", True, r"carried_pot"),
    ("carried_pot", 10**12, r"carried_pot"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD_OPTIONS, ids=[f"{n}={v!r}"[:40] for n, v, _ in BAD_OPTIONS])
def test_inconsistent_options_are_refused_by_name_with_the_table_unchanged(game, name, value, message):
    table = _act_at_random(dealt(game, seed=1), np.random.default_rng(1), 4)
    before = snapshot(table)
    with pytest.raises(SetupError, match=message):
        table.reset(7, {name: value})
    assert snapshot(table) == before
    fresh = Table(game)
    with pytest.raises(SetupError, match=message):
        fresh.reset(7, {name: value})
    assert fresh.to_act is None and not fresh.deals and fresh.seed is None


@pytest.mark.parametrize("entry", [20.0, "20", None, True, -1, 10**9, [20]])
def test_each_stack_is_checked_by_its_place(game, entry):
    table = dealt(game)
    stacks: list[Any] = [table.settings.starting_chips] * table.settings.num_players
    stacks[1] = entry
    before = snapshot(table)
    with pytest.raises(SetupError, match=r"stacks\[1\] is"):
        table.reset(1, {"stacks": stacks})
    assert snapshot(table) == before


@pytest.mark.parametrize("options", ["deck", 5, [("dealer", 0)], {"dealer"}])
def test_options_that_are_no_mapping_are_refused(game, options):
    table = dealt(game)
    before = snapshot(table)
    with pytest.raises(SetupError, match="options is"):
        table.reset(1, options)
    assert snapshot(table) == before


def test_a_card_outside_a_short_deck_is_refused(game):
    table = Table(game, some_settings(game, lambda options: options[0], {"num_players": 2, "num_ranks": 12}))
    with pytest.raises(SetupError, match=r"deck: card 2c is not in this deck of 12 ranks"):
        table.reset(0, {"deck": "As 2c"})


def test_seats_that_cannot_pay_are_not_dealt_in_and_a_dealer_must_be(game):
    seats = 3
    table = Table(game, {"num_players": seats})
    table.reset(0)
    usual = table.settings.starting_chips
    before = snapshot(table)
    if not sits_out(game):
        with pytest.raises(SetupError, match=r"stacks: fewer than two seats can be dealt in .*player_1 has 0 chips"):
            table.reset(0, {"stacks": [usual, 0, usual]})
    else:
        table.reset(0, {"stacks": [usual, 0, usual]})
        assert table.deals[-1].dealt_in == [0, 2]
        assert table.deals[-1].dealer != 1
        before = snapshot(table)
        with pytest.raises(SetupError, match="dealer is 1, who is not dealt in: player_1 has 0 chips"):
            table.reset(0, {"stacks": [usual, 0, usual], "dealer": 1})
    with pytest.raises(SetupError, match="stacks: fewer than two seats can be dealt in"):
        table.reset(0, {"stacks": [usual, 0, 0]})
    assert snapshot(table) == before


def test_a_carried_pot_is_refused_where_none_exists():
    for game in map(get_game, available()):
        if not game.CARRIES_POT:
            with pytest.raises(SetupError, match="carried_pot"):
                Table(game).reset(0, {"carried_pot": 3})


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
    calls = [table.observe, table.mask, table.info, table.observe_named, lambda s: table.resample_hidden(s, 1)]
    for call in calls if seat is None else [*calls, table.view]:
        with pytest.raises(ValueError, match=r"there is no seat .*: seats are 0 to"):
            call(seat)


def test_nothing_is_seen_before_reset(game):
    table = Table(game)
    for call in (table.observe, table.observe_named, table.view, lambda seat: table.resample_hidden(seat, 1)):
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
        _act_at_random(table, rng, int(rng.integers(0, 25)))
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
    table.resample_hidden(0, 1).states["stacks"][:] = 0
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
            assert after.stacks == [chips + net for chips, net in zip(before.stacks, before.net or (), strict=True)]
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
