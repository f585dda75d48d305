"""What every game module must keep to: the names it defines, its actions, its observation, its stated bounds."""

from __future__ import annotations

import dataclasses
import re
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from strategies import (
    POLICIES,
    chooser,
    dealt,
    documented_range,
    fields_of,
    phases_played,
    play,
    play_out,
    player_counts,
    random_policy,
    seats_of,
    some_settings,
)

import auction_env
from auction_env import SettingsError, Table, available, get_game
from auction_env.engine.kernels import decision_size, observation_size
from auction_env.games import game as contract


def _copy_of(game: Any) -> ModuleType:
    """The game's module under its own name, to take things away from."""
    copy = ModuleType(game.__name__)
    copy.__dict__.update(game.__dict__)
    return copy


def test_check_accepts_the_games(game):
    contract.check(game)
    assert get_game(game.NAME) is game
    assert get_game(game) is game


@pytest.mark.parametrize("name", contract._required_names())
def test_check_names_what_a_game_lacks(game, name):
    broken = _copy_of(game)
    delattr(broken, name)
    with pytest.raises(TypeError, match=rf"{game.__name__} lacks {name}: see"):
        contract.check(broken)


@pytest.mark.parametrize("field", contract.REQUIRED_FIELDS)
def test_check_names_the_state_field_that_is_missing(game, field):
    broken = _copy_of(game)
    broken.STATE = np.dtype([(name, "i4") for name in game.STATE.names if name != field])
    with pytest.raises(TypeError, match=rf"lacks the fields {field}$"):
        contract.check(broken)


def test_check_wants_settings_to_be_a_dataclass(game):
    broken = _copy_of(game)
    broken.Settings = dict
    with pytest.raises(TypeError, match="dataclass"):
        contract.check(broken)


@pytest.mark.parametrize("thing", [5, None, object(), np])
def test_what_is_no_game_is_refused_by_type(thing):
    with pytest.raises(TypeError, match="lacks NAME"):
        get_game(thing)


def test_an_unknown_game_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=", ".join(available())):
        get_game("auction_bridge")


def test_an_environment_that_does_not_exist_is_named_with_those_that_do():
    with pytest.raises(AttributeError, match=r"no 'auction_bridge_v0'; environments: (auction_\w+_v\d+(, )?)+$"):
        _ = auction_env.auction_bridge_v0


# --- settings --------------------------------------------------------------------------------------------------------


def test_settings_are_frozen_documented_and_hashable(game):
    settings = game.Settings()
    assert hash(settings) == hash(game.Settings())
    for field in dataclasses.fields(settings):
        assert field.metadata["meaning"].strip(), field.name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(settings, field.name, getattr(settings, field.name))
    assert {"num_players", "num_deals", "starting_chips", "num_ranks", "num_suits"} <= set(dataclasses.asdict(settings))


def _ranged(game: Any) -> list[tuple[str, int, int]]:
    fields = dataclasses.fields(game.Settings)
    return [(field.name, *limits) for field in fields if (limits := documented_range(field))]


def test_documented_ranges_are_the_ones_held(game):
    """One step outside the range that a setting's sentence states is refused, naming it; the ends may be refused only
    because of what other settings are."""
    assert len(_ranged(game)) >= 3
    for name, low, high in _ranged(game):
        for value in (low - 1, high + 1, -(10**9), 10**9):
            with pytest.raises(SettingsError, match=name):
                game.Settings(**{name: value})
        for value in (low, high):
            try:
                game.Settings(**{name: value})
            except SettingsError as error:
                assert not re.search(rf"^{name} is", str(error)), f"{name} says {low} to {high}: {error}"


@pytest.mark.parametrize("value", ["3", "__import__('os').system('true')", 2.5, 3.0, True, None, [3], np.float64(3)])
def test_values_of_another_kind_are_refused_by_name(game, value):
    for name, _, _ in _ranged(game):
        with pytest.raises(SettingsError, match=name):
            game.Settings(**{name: value})


def test_an_unknown_setting_suggests_the_nearest(game):
    with pytest.raises(SettingsError, match="did you mean 'num_players'"):
        Table(game, {"num_player": 3})
    with pytest.raises(SettingsError, match="the settings are num_players"):
        Table(game, {"zzz": 3})


@pytest.mark.parametrize("settings", [5, "num_players=3", object(), [("num_players", 3)]])
def test_settings_of_another_kind_are_refused(game, settings):
    with pytest.raises(SettingsError, match=r"give keyword values or the Settings"):
        Table(game, settings)


def test_settings_of_another_game_are_refused():
    settings = {name: get_game(name).Settings() for name in available()}
    for name in available():
        for other, values in settings.items():
            if other != name:
                with pytest.raises(SettingsError, match=name):
                    Table(name, values)


# --- actions ---------------------------------------------------------------------------------------------------------


def test_action_names_are_unique_and_plain(game):
    for players in player_counts(game):
        names = game.action_names(game.Settings(num_players=players))
        assert len(set(names)) == len(names)
        assert all(re.fullmatch(r"[a-z]+( [A-Za-z0-9]+)*", name) for name in names)
        assert len(names) < 100  # small action spaces learn well and keep masked softmaxes finite


def _phases_of_actions(game: Any) -> dict[str, set[str]]:
    """In which phases each action was ever legal, over random settings and deals."""
    rng, seen = np.random.default_rng(1), {}
    for seed in range(120):
        table = dealt(game, some_settings(game, chooser(rng)), seed)
        for at in play(table, POLICIES[seed % 3](rng)):
            for action in at.legal():
                seen.setdefault(at.action_names[action], set()).add(at.phase)
    return seen


def test_each_action_belongs_to_one_phase(game):
    seen = _phases_of_actions(game)
    assert all(len(phases) == 1 for phases in seen.values()), {n: p for n, p in seen.items() if len(p) > 1}
    assert {phase for phases in seen.values() for phase in phases} == set(phases_played(game))


def test_an_action_name_means_the_same_index_in_settings_that_differ_in_seats_and_chips(game):
    names = game.action_names(game.Settings())
    assert names == game.action_names(game.Settings(num_players=2))
    assert names == game.action_names(game.Settings(starting_chips=game.Settings().starting_chips * 2))


def test_every_action_name_is_legal_somewhere(game):
    """No index is dead: over many random deals of the default settings each action is legal at some time."""
    rng, table, seen = np.random.default_rng(2), Table(game), set()
    names = set(table.action_names)
    for seed in range(600):
        table.reset(seed)
        for at in play(table, random_policy(rng)):
            seen.update(at.action_names[action] for action in at.legal())
        if seen == names:
            break
    assert seen == names


def test_hidden_phases_and_phase_names(game):
    assert len(set(game.PHASES)) == len(game.PHASES)
    assert set(game.HIDDEN_PHASES) <= set(range(len(game.PHASES) - 1))
    table = play_out(dealt(game), random_policy(np.random.default_rng(0)))
    assert table.phase == game.PHASES[-1]


# --- observation -----------------------------------------------------------------------------------------------------


def test_pieces_are_named_once_documented_and_of_positive_size(game):
    for players in player_counts(game):
        pieces = game.observation_fields(game.Settings(num_players=players))
        names = [piece.name for piece in pieces]
        assert len(set(names)) == len(names)
        assert all(piece.size > 0 and piece.meaning for piece in pieces)
        final = [piece.final_only for piece in pieces]
        assert final == sorted(final), "pieces that only the end fills come last"


def test_layout_covers_what_observe_writes_and_no_more(game):
    """observe stays inside the declared size: a guard behind the array is never written, whatever the settings."""
    rng, guard = np.random.default_rng(3), 64
    for seed in range(25):
        table = dealt(game, some_settings(game, chooser(rng)), seed)
        size = observation_size(game, table.settings)
        for at in play(table, random_policy(rng)):
            for seat in seats_of(at) if rng.random() < 0.3 or at.to_act is None else ():
                out = np.zeros(size + guard, np.float32)
                at._kernels.observe(at.states, 0, seat, out, 1.0)
                assert not out[size:].any()
                assert np.array_equal(out[:size], at.observe(seat))


def test_every_piece_is_written_by_observe(game):
    """No piece is dead: over random deals each has an entry that is not zero, and one that changes."""
    rng, table = np.random.default_rng(4), Table(game, {"num_deals": 2})
    most, least = None, None
    for seed in range(30):
        table.reset(seed)
        for at in play(table, POLICIES[seed % 3](rng), whole_match=True):
            for seat in seats_of(at):
                flat = at.observe(seat)
                most = flat if most is None else np.maximum(most, flat)
                least = flat if least is None else np.minimum(least, flat)
    start = 0
    for piece in game.observation_fields(table.settings):
        assert most[start : start + piece.size].any(), f"{piece.name} is never written"
        start += piece.size
    assert start == len(most)


def test_pieces_hold_what_they_declare(game):
    """Zeros and ones, or fractions in [0, 1]; nothing before the end in pieces that only the end fills."""
    rng = np.random.default_rng(5)
    for seed in range(25):
        table = dealt(game, some_settings(game, chooser(rng)), seed)
        decided = decision_size(game, table.settings)
        for at in play(table, random_policy(rng), whole_match=True):
            for seat in seats_of(at) if rng.random() < 0.1 or at.to_act is None else ():
                flat = at.observe(seat)
                assert flat.dtype == np.float32
                assert at.to_act is None or not flat[decided:].any()
                for piece, values in zip(
                    game.observation_fields(at.settings), at.observe_named(seat).values(), strict=True
                ):
                    assert values.shape == piece.shape
                    if piece.fraction:
                        assert ((values >= 0) & (values <= 1)).all(), piece.name
                    else:
                        assert np.isin(values, (0, 1)).all(), piece.name


def test_int8_observations_are_the_same_in_units_of_127(game):
    rng = np.random.default_rng(6)
    for seed in range(6):
        table = dealt(game, some_settings(game, chooser(rng)), seed)
        fraction = np.concatenate([np.full(p.size, p.fraction) for p in game.observation_fields(table.settings)])
        for at in play(table, random_policy(rng)):
            for seat in seats_of(at) if rng.random() < 0.3 or at.to_act is None else ():
                exact, small = at.observe(seat), at.observe(seat, np.int8)
                assert small.dtype == np.int8
                assert np.array_equal(small[~fraction], exact[~fraction].astype(np.int8))
                lost = exact[fraction].astype(np.float64) * 127 - small[fraction]
                assert ((lost > -1e-4) & (lost < 1 + 1e-4)).all()


def test_observe_named_is_a_view_of_one_flat_array(game):
    named = dealt(game).observe_named(0)
    flat = np.concatenate([values.ravel() for values in named.values()])
    assert np.array_equal(flat, dealt(game).observe(0))


# --- stated bounds ---------------------------------------------------------------------------------------------------


def _most_legal(table: Table, rng: np.random.Generator) -> int:
    return max(len(at.legal()) for at in play(table, random_policy(rng)))


def test_max_legal_is_never_passed(game):
    rng = np.random.default_rng(7)
    for seed in range(150):
        assert _most_legal(dealt(game, some_settings(game, chooser(rng)), seed), rng) <= game.MAX_LEGAL


def test_max_legal_is_reached_by_some_settings(game):
    rng, most = np.random.default_rng(8), 0
    trials = [{}, *({name: high} for name, _, high in _ranged(game))]
    for values in trials:
        try:
            settings = game.Settings(**values)
        except SettingsError:
            continue
        most = max(most, *(_most_legal(dealt(game, settings, seed), rng) for seed in range(3)))
    assert most == game.MAX_LEGAL


def test_max_deal_length_is_never_passed(game):
    rng = np.random.default_rng(9)
    for seed in range(300):
        table = dealt(game, some_settings(game, chooser(rng)), seed)
        bound = game.max_game_length(table.settings)
        play_out(table, POLICIES[seed % 3](rng))
        assert len(table.deals[-1].actions) <= bound


@pytest.mark.parametrize("players", [2, 3, 7])
def test_auction_poker_reaches_its_longest_deal(players):
    """Check round to the last seat, who bets; then calls, and a raise by the last to answer, up to the cap (A6)."""
    game = get_game("auction_poker")
    table = dealt(game, {"num_players": players})
    while table.to_act is not None:
        names, row = {table.action_names[action] for action in table.legal()}, table.state
        last = row.to_answer == 1
        wanted = ("bet" if last else "check", "raise" if last else "call", "call")
        table.act(next((name for name in wanted if name in names), sorted(names)[0]))
    assert len(table.deals[-1].actions) == game.max_game_length(table.settings)
    assert game.max_game_length(table.settings) == 5 * players + 5 * (players - 1) + (5 * players - 4) + players


# --- one row is all there is -----------------------------------------------------------------------------------------


def test_a_row_copied_to_another_table_plays_on_alike(game):
    """The state holds everything: no cache, no global, nothing on the side."""
    rng = np.random.default_rng(10)
    for seed in range(10):
        first, second = dealt(game, {"num_deals": 2}, seed), dealt(game, {"num_deals": 2}, seed + 1000)
        for _ in range(int(rng.integers(1, 12))):
            first.act(int(rng.choice(first.legal())))
        second.states = first.states.copy()
        second.refresh()
        while first.to_act is not None:
            action = int(rng.choice(first.legal()))
            first.act(action)
            second.act(action)
            assert fields_of(first.states) == fields_of(second.states)


def test_new_state_has_nobody_to_act(game):
    table = Table(game)
    assert table.to_act is None and table.legal() == [] and table.match_over
    assert table.states.shape == (1,) and table.states.dtype == game.STATE


def test_the_view_lists_every_seat_and_is_plain_data(game):
    rng = np.random.default_rng(11)
    table = dealt(game, {"num_players": game.MAX_PLAYERS})
    for at in play(table, random_policy(rng)):
        for seat in (None, *seats_of(at)) if rng.random() < 0.3 or at.to_act is None else ():
            view = at.view(seat)
            assert [other.seat for other in view.seats] == list(seats_of(at))
            plain = dataclasses.asdict(view)
            assert repr(plain) == repr(_builtin(plain)), "a view holds Python's own types only"


def _builtin(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _builtin(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_builtin(item) for item in value]
    assert value is None or type(value) in (str, int, bool), value
    return value
