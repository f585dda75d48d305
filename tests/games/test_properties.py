"""Properties over settings, seeds and play: chips, cards, masks, results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    POLICIES,
    chooser,
    dealt,
    fields_of,
    match_settings,
    play,
    play_out,
    random_policy,
    seats_of,
    settings_values,
    sits_out,
    some_settings,
)

from auction_env import IllegalActionError, Table, available, get_game
from auction_env.games.cards import deck_cards


def drawn_table(game: Any, data: Any, **fixed: Any) -> Table:
    return dealt(game, data.draw(settings_values(game, **fixed)), data.draw(st.integers(0, 2**63 - 1)))


def drawn_policy(data: Any) -> Any:
    policy = data.draw(st.sampled_from(POLICIES))
    return policy(np.random.default_rng(data.draw(st.integers(0, 2**32))))


def check_chips(table: Table, total: int) -> None:
    row, seats = table.state, table.settings.num_players
    pot = int(row.pot) if row.to_act >= 0 else 0
    stacks, paid, award = (row[name][:seats].astype(int) for name in ("stacks", "paid", "award"))
    assert stacks.sum() + pot + row.carried_pot == total == row.total_chips
    assert min(stacks.min(), paid.min(), award.min(), pot, row.carried_pot) >= 0
    log = table.deals[-1]
    assert stacks.tolist() == (np.array(log.stacks) - paid + award).tolist()
    if row.to_act >= 0:
        assert not award.any() and log.payoffs is None
        assert pot == log.carried_pot + paid.sum()
        assert row.carried_pot == 0
    else:
        assert log.award == award.tolist() and log.payoffs == (award - paid).tolist()
        assert log.carried_out == row.carried_pot
        assert award.sum() + row.carried_pot == log.carried_pot + paid.sum()


@given(st.data())
def test_chips_are_conserved_and_nobody_is_in_debt_at_every_step(game, data):
    """A14: stacks + pot + carried are constant through a match; after the award the pot is empty."""
    table = drawn_table(game, data)
    total = sum(table.deals[-1].stacks)
    for at in play(table, drawn_policy(data), whole_match=True):
        check_chips(at, total)


@given(st.data())
def test_results_sum_to_zero_less_what_is_carried_out(game, data):
    """A14, A13: over a match, a carried pot that was put in at the start counted."""
    values = data.draw(settings_values(game))
    table = Table(game, values)
    carried = data.draw(st.integers(0, 500)) if game.CARRIES_POT else None
    table.reset(data.draw(st.integers(0, 10**6)), {"carried_pot": carried})
    play_out(table, drawn_policy(data), whole_match=True)
    nets = [deal.payoffs for deal in table.deals]
    assert sum(map(sum, nets)) == (carried or 0) - table.deals[-1].carried_out
    for before, after in zip(table.deals, table.deals[1:], strict=False):
        assert after.carried_pot == before.carried_out
    assert sum(sum(deal.payoffs) - deal.carried_pot + deal.carried_out for deal in table.deals) == 0


@given(st.data())
def test_a_seat_that_is_not_dealt_in_pays_and_gets_nothing(game, data):
    if not sits_out(game):
        return  # then no deal starts (tests of the table)
    values = data.draw(settings_values(game, num_players=data.draw(st.integers(3, game.MAX_PLAYERS))))
    table = Table(game, values)
    usual = table.settings.starting_chips
    stacks = [0] + [usual + data.draw(st.integers(0, 5)) for _ in range(table.settings.num_players - 1)]
    table.reset(data.draw(st.integers(0, 10**6)), {"stacks": stacks})
    assert 0 not in table.deals[0].dealt_in
    play_out(table, drawn_policy(data), whole_match=True)
    for deal in table.deals:
        assert deal.payoffs[0] == 0 and deal.stacks[0] == 0
        assert all(seat != 0 for seat, _ in deal.actions)


@given(st.data())
def test_the_deck_holds_each_card_once_at_every_step(game, data):
    table = drawn_table(game, data)
    cards = deck_cards(table.settings.num_ranks, table.settings.num_suits)
    for at in play(table, drawn_policy(data), whole_match=True):
        assert sorted(at.state.deck[: len(cards)].tolist()) == cards


@given(st.data())
def test_no_card_is_in_two_places_that_can_be_seen(game, data):
    """Hands, cards bought and cards face up, all revealed: none twice."""
    table = drawn_table(game, data)
    for at in play(table, drawn_policy(data)):
        view = at.view(None)
        cards = [card for seat in view.seats for card in (*seat.cards, *seat.bought)] + view.centre
        assert "??" not in cards
        assert len(set(cards)) == len(cards)


@given(st.data())
@settings(max_examples=10)
def test_the_mask_is_true_exactly_where_a_step_succeeds(game, data):
    """Every action is tried on a copy, at many decisions; illegal ones leave the copy as it was."""
    table = drawn_table(game, data, num_deals=1)
    rng = np.random.default_rng(0)
    for at in play(table, drawn_policy(data)):
        if at.to_act is None or rng.random() < 0.7:
            continue
        mask, before = at.mask(at.to_act), fields_of(at.states)
        for action in range(len(at.action_names)):
            twin = at.clone()
            try:
                twin.act(action)
                stepped = True
            except IllegalActionError:
                stepped = False
                assert fields_of(twin.states) == before
            assert stepped == bool(mask[action]), at.action_names[action]
        assert fields_of(at.states) == before


@given(st.data())
def test_the_seat_to_act_always_has_a_legal_action_and_it_is_dealt_in(game, data):
    table = drawn_table(game, data)
    for at in play(table, drawn_policy(data), whole_match=True):
        legal = at.legal()
        assert (at.to_act is None) == (legal == [])
        assert len(set(legal)) == len(legal)
        if at.to_act is not None:
            assert at.to_act in at.deals[-1].dealt_in
            assert [at.mask(seat).sum() for seat in seats_of(at)].count(0) == at.settings.num_players - 1
        else:
            assert not any(at.mask(seat).any() for seat in seats_of(at))


@given(st.data())
def test_deals_end_within_the_stated_length_and_matches_too(game, data):
    table = drawn_table(game, data)
    play_out(table, drawn_policy(data), whole_match=True)
    assert len(table.deals) <= table.settings.num_deals
    for deal in table.deals:
        assert len(deal.actions) <= game.max_game_length(table.settings)


@given(st.data())
def test_same_seed_settings_and_actions_give_the_same_match(game, data):
    values, seed = data.draw(settings_values(game)), data.draw(st.integers(0, 2**63 - 1))
    first, second = dealt(game, values, seed), dealt(game, values, seed)
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    play_out(first, random_policy(rng), whole_match=True)
    for deal in first.deals:
        if second.to_act is None:
            second.next_deal()
        for _, action in deal.actions:
            second.act(action)
    assert fields_of(first.states) == fields_of(second.states)


@given(st.data())
def test_observations_stay_in_bounds_at_the_largest_stacks(game, data):
    """Chips far above the usual, or all in one stack."""
    values = data.draw(settings_values(game))
    table = Table(game, values)
    usual = table.settings.starting_chips
    seats = table.settings.num_players
    stacks = data.draw(st.lists(st.sampled_from([usual, usual + 1, 2 * usual]), min_size=seats, max_size=seats))
    stacks[data.draw(st.integers(0, seats - 1))] = most_chips(table)
    table.reset(data.draw(st.integers(0, 10**6)), {"stacks": stacks})
    for at in play(table, drawn_policy(data), whole_match=True):
        for seat in seats_of(at):
            flat = at.observe(seat)
            assert np.isfinite(flat).all() and flat.min() >= 0 and flat.max() <= 1
            small = at.observe(seat, np.int8)
            assert small.min() >= 0


def most_chips(table: Table) -> int:
    """The largest stack that options take, found by asking."""
    usual = [table.settings.starting_chips] * table.settings.num_players
    for chips in (1_000_000, 30_000, 10_000, 1_000):
        try:
            table.clone().reset(0, {"stacks": [chips, *usual[1:]]})
        except ValueError:
            continue
        return chips
    return usual[0]


# --- every setting, away from its default -----------------------------------------------------------------


def _away_from_default(name: str) -> list[dict[str, Any]]:
    game, found = get_game(name), []
    rng = np.random.default_rng(0)
    for _ in range(400):
        values = some_settings(game, chooser(rng))
        found += [values] if values else []
    chosen: list[dict[str, Any]] = []
    for field in game.Settings.__dataclass_fields__:
        with_it = [v for v in found if field in v and v[field] != getattr(game.Settings(), field)]
        chosen += with_it[:2]
    return chosen


@pytest.mark.parametrize("name", available())
def test_every_setting_is_played_away_from_its_default(name):
    game, tried = get_game(name), set()
    for seed, values in enumerate(_away_from_default(name)):
        tried |= set(values)
        table = dealt(game, values, seed)
        total = sum(table.deals[-1].stacks)
        for at in play(table, random_policy(np.random.default_rng(seed)), whole_match=True):
            check_chips(at, total)
        for setting, value in values.items():
            assert getattr(table.settings, setting) == value
    assert tried == set(game.Settings.__dataclass_fields__)


@pytest.mark.slow
def test_chips_over_very_many_deals(game):
    """50,000 random deals through the compiled loops: results sum to zero, but for a pot carried in or out (A13)."""
    from auction_env.engine.batch import Batch

    def carried(states):
        names = [name for name in ("carried_in", "carried_pot") if name in states.dtype.names]
        return sum(states[name] for name in names)

    for players in (2, game.MAX_PLAYERS):
        batch = Batch(game, {"num_players": players, "num_deals": 5}, num_tables=512)
        batch.reset(players)
        deals = 0
        while deals < 25_000:
            before = carried(batch.states)
            finished, net = batch.rollout(400)
            deals += finished
            assert (net.sum(axis=1) == before - carried(batch.states)).all()
        assert (batch.states["stacks"] >= 0).all()


@pytest.mark.slow
def test_deal_lengths_over_very_many_deals(game):
    rng = np.random.default_rng(0)
    table, longest = Table(game, match_settings(game, 1, num_players=2)), 0
    for seed in range(8_000):
        table.reset(seed)
        play_out(table, POLICIES[seed % 3](rng))
        longest = max(longest, len(table.deals[-1].actions))
    assert longest <= game.max_game_length(table.settings)
    if game.NAME == "auction_poker":
        assert longest == game.max_game_length(table.settings)
