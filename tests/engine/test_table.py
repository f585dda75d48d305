"""One table: seeds, set-up by options, leaving everybody else's chance alone."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    POLICIES,
    dealt,
    match_settings,
    play_out,
    player_counts,
    random_policy,
    settings_values,
    sits_out,
    snapshot,
    some_settings,
)
from table_play import act_at_random, deck_of

from auction_env import SetupError, Table, available, get_game, make_record
from auction_env.games.cards import card_name, deck_cards, names_of

# --- seeds -----------------------------------------------------------------------------------------------------------


def test_seed_zero_is_a_seed(game):
    assert deck_of(dealt(game, seed=0)) == deck_of(dealt(game, seed=0))
    assert deck_of(dealt(game, seed=0)) != deck_of(dealt(game, seed=1))
    table = dealt(game, seed=7)
    table.reset(0)
    assert deck_of(table) == deck_of(dealt(game, seed=0))


def test_a_seed_settles_dealer_and_deck_at_the_first_reset_and_at_any_other(game):
    table = dealt(game, seed=3)
    first = snapshot(table)
    table.reset(4)
    table.reset(3)
    assert snapshot(table) == first


def test_reset_without_seed_goes_on_in_the_stream(game):
    def decks() -> list[list[int]]:
        table = dealt(game, seed=5)
        found = [deck_of(table)]
        for _ in range(3):
            table.reset()
            found.append(deck_of(table))
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
        after.append(deck_of(table))
    assert after[0] == after[1] == after[2]


def test_the_first_reset_without_seed_takes_fresh_entropy_and_keeps_it(game):
    tables = [Table(game) for _ in range(3)]
    for table in tables:
        table.reset()
    assert len({tuple(deck_of(table)) for table in tables}) == 3
    seed = tables[0].seed
    assert isinstance(seed, int)
    assert deck_of(dealt(game, seed=seed)) == deck_of(tables[0])


@pytest.mark.parametrize(
    "seed", [0, 1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, np.int64(7), np.uint32(7), np.uint64(2**62)]
)
def test_seeds_of_every_size_and_integer_type(game, seed):
    assert deck_of(dealt(game, seed=seed)) == deck_of(dealt(game, seed=int(seed)))


@pytest.mark.parametrize("seed", [-1, 2**63, 1.0, 0.5, "1", True, np.bool_(1), [1], np.array([1]), float("nan"), b"1"])
def test_bad_seeds_are_refused_with_the_table_unchanged(game, seed):
    table = act_at_random(dealt(game, seed=1), np.random.default_rng(0), 3)
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
    first = [deck_of(dealt(game, seed=seed)) for seed in range(3)]
    random.seed(99)
    np.random.seed(99)
    before = _global_states()
    table = dealt(game, match_settings(game, 2), seed=0)
    play_out(table, random_policy(rng), whole_match=True)
    table.reset()
    table.resample_from_infostate(0, 3)
    Table(game).reset()
    make_record(table)
    assert _global_states() == before
    random.seed(1)
    np.random.seed(1)
    assert [deck_of(dealt(game, seed=seed)) for seed in range(3)] == first


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
        deck = deck_of(dealt(game, seed=seed + 100))
        for given_as in (names_of(deck), " | ".join(card_name(card) for card in deck), deck, np.array(deck)):
            assert deck_of(dealt(game, seed=seed, deck=given_as)) == deck


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
    deck = names_of(deck_of(dealt(game, seed=50)))
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
    for options in ({"stacks": stacks}, {"dealer": plain.deals[-1].dealer}, {"dealer": 0}):
        table = dealt(game, {}, 8, **options)
        assert deck_of(table) == deck_of(plain)
        if "dealer" not in options:
            assert table.deals[-1].dealer == plain.deals[-1].dealer


def test_all_options_together(game):
    usual = game.Settings().starting_chips
    stacks = [usual + seat for seat in range(game.Settings().num_players)]
    options: dict[str, Any] = {"deck": "As Kd", "dealer": 1, "stacks": stacks}
    if game.CARRIES_POT:
        options["carried_pot"] = 5
    table = dealt(game, {}, 2, **options)
    log = table.deals[-1]
    assert (names_of(log.deck[:2]), log.dealer, log.stacks) == ("As Kd", 1, stacks)
    assert log.carried_pot == (5 if game.CARRIES_POT else 0)
    nothing = dealt(game, {}, 2, deck=None, dealer=None, stacks=None, carried_pot=None)
    assert snapshot(nothing) == snapshot(dealt(game, seed=2))


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("dek", "there is no option 'dek': did you mean 'deck'"),
        ("dealr", "did you mean 'dealer'"),
        ("unknown", "the options are deck, dealer, stacks, carried_pot"),
        (7, "there is no option 7"),
    ],
)
def test_unknown_options_are_refused_and_change_nothing(game, option, reason):
    table = dealt(game, seed=2)
    before = snapshot(table)
    with pytest.raises(SetupError, match=reason):
        table.reset(3, {option: 1})
    assert snapshot(table) == before


def test_options_are_not_kept_or_changed(game):
    options = {"stacks": [game.Settings().starting_chips] * game.Settings().num_players, "deck": ["As", "Kd"]}
    kept = copy.deepcopy(options)
    table = dealt(game, {}, 2, **options)
    play_out(table, random_policy(np.random.default_rng(0)))
    assert options == kept
    table.reset(2)
    assert names_of(deck_of(table)[:2]) != "As Kd"


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
    table = act_at_random(dealt(game, seed=1), np.random.default_rng(1), 4)
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
