"""Records: through JSON and back, played again to the same digest; tampered or malformed ones refused by deal."""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    POLICIES,
    dealt,
    fields_of,
    match_settings,
    play,
    play_out,
    player_counts,
    public_names,
    random_policy,
    settings_values,
    snapshot,
)

import auction_env
from auction_env import RecordError, Table, available, get_game, make_record, replay
from auction_env.engine.record import digest

Record = dict[str, Any]


def through_json(record: Record) -> Record:
    return json.loads(json.dumps(record))


@pytest.fixture(scope="module")
def match(game: Any) -> Record:
    """The record of a match of three deals."""
    table = dealt(game, match_settings(game, 3), 5)
    return through_json(make_record(play_out(table, random_policy(np.random.default_rng(5)), whole_match=True)))


@given(st.data())
def test_a_record_survives_json_and_replays_to_the_same_table(game, data):
    """At any moment of any match: same digest, same state, same account; and the replayed table plays on alike."""
    values = data.draw(settings_values(game))
    table = dealt(game, values, data.draw(st.integers(0, 2**63 - 1)))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    stop = data.draw(st.integers(0, 60))
    for _ in itertools.islice(play(table, POLICIES[stop % 3](rng), whole_match=True), stop + 1):
        pass
    record = make_record(table)
    assert through_json(record) == record
    again = replay(through_json(record))
    assert make_record(again) == record
    assert snapshot(again) == snapshot(table)
    for copied in (table, again):
        play_out(copied, random_policy(np.random.default_rng(1)), whole_match=True)
        copied.reset()
    assert snapshot(again) == snapshot(table)


def test_set_up_deals_are_recorded(game):
    usual = game.Settings().starting_chips
    stacks = [usual + seat for seat in range(game.Settings().num_players)]
    options: dict[str, Any] = {"deck": "As Kd 9c", "dealer": 1, "stacks": stacks}
    if game.CARRIES_POT:
        options["carried_pot"] = 7
    table = play_out(dealt(game, {}, 3, **options), random_policy(np.random.default_rng(3)))
    record = make_record(table)
    deal = record["deals"][0]
    assert deal["deck"].startswith("As Kd 9c ") and deal["given"] == 3
    assert (deal["dealer"], deal["stacks"]) == (1, stacks)
    assert deal["carried_pot"] == (7 if game.CARRIES_POT else 0)
    assert fields_of(replay(record).states) == fields_of(table.states)


def test_a_record_before_reset_or_of_an_unfinished_deal(game):
    empty = make_record(Table(game))
    assert empty["deals"] == [] and empty["seed"] is None
    assert replay(through_json(empty)).to_act is None
    record = make_record(dealt(game, seed=1))
    assert record["deals"][0]["award"] is None and record["deals"][0]["actions"] == []


def test_what_a_record_says(game):
    table = play_out(dealt(game, match_settings(game, 2), 8), random_policy(np.random.default_rng(8)), True)
    record = make_record(table)
    assert record["game"] == game.NAME and record["version"] == game.VERSION
    assert record["seed"] == 8 and record["seat"] is None
    assert set(record["settings"]) >= {"num_players", "num_deals", "starting_chips"}
    for deal, log in zip(record["deals"], table.deals, strict=True):
        assert [(seat, action) for seat, action, _ in deal["actions"]] == log.actions
        assert all(table.action_names[action] == name for _, action, name in deal["actions"])
        assert sum(deal["net"]) == deal["carried_pot"] - deal["carried_out"]


def test_equal_play_gives_equal_digests_through_every_interface(game):
    """RULES, "Both": table, raw and wrapped environment, replay; other play or another seed gives another digest."""
    module, digests = getattr(auction_env, f"{game.NAME}_v{game.VERSION}"), []
    for form in ("table", "env", "raw_env", "replay"):
        rng = np.random.default_rng(4)
        if form == "table":
            table = play_out(dealt(game, {"num_players": 2}, 4), random_policy(rng))
        elif form == "replay":
            table = replay(through_json(make_record(table)))
        else:
            env = getattr(module, form)(num_players=2)
            env.reset(seed=4)
            while not any(env.terminations.values()):
                env.step(int(rng.choice(np.flatnonzero(env.last()[0]["action_mask"]))))
            table = env.unwrapped.table
            assert env.unwrapped.record() == make_record(table)
        digests.append(make_record(table)["digest"])
    assert len(set(digests)) == 1
    other_play = play_out(dealt(game, {"num_players": 2}, 4), random_policy(np.random.default_rng(9)))
    other_seed = play_out(dealt(game, {"num_players": 2}, 5), random_policy(np.random.default_rng(4)))
    assert len({digests[0], make_record(other_play)["digest"], make_record(other_seed)["digest"]}) == 3


def test_the_digest_depends_on_what_was_dealt_done_and_won_only(match):
    assert digest(match) == match["digest"]
    assert digest({**match, "seed": 1, "seat": 2}) == match["digest"]
    for name in ("dealer", "stacks", "carried_pot", "deck", "award", "net", "carried_out", "actions"):
        changed = copy.deepcopy(match)
        changed["deals"][1][name] = changed["deals"][1][name][:1] if name in ("actions",) else "changed"
        assert digest(changed) != match["digest"], name


# --- for one seat ----------------------------------------------------------------------------------------------------


def test_a_seats_record_has_its_own_choices_and_public_ones_and_no_more(game):
    for players in player_counts(game):
        table = dealt(game, {"num_players": players}, players)
        names, rng = public_names(game, table.settings), np.random.default_rng(players)
        for at in play(table, random_policy(rng)):
            if rng.random() < 0.9 and at.to_act is not None:
                continue
            pending, actions = game.pending(at.state), at.deals[-1].actions
            for seat in {0, at.to_act or 1}:
                record = through_json(make_record(at, seat))
                (deal,) = record["deals"]
                for place, (told, (actor, action)) in enumerate(zip(deal["actions"], actions, strict=True)):
                    full = [actor, action, at.action_names[action]]
                    if actor == seat:
                        assert told == full
                    elif place >= len(actions) - pending:
                        assert told == [actor, None, "hidden"]
                    elif names[action] == at.action_names[action]:
                        assert told == full
                    else:
                        assert told == [actor, None, names[action]]
                seen = game.visible_deck(at.state, seat)
                cards = make_record(at)["deals"][0]["deck"].split()
                assert deal["deck"].split() == [
                    card if known else "??" for card, known in zip(cards, seen, strict=True)
                ]
                with pytest.raises(RecordError, match=f"for seat {seat} only"):
                    replay(record)


@pytest.mark.parametrize("seat", [-1, 99, 1.0, "0", True])
def test_a_record_for_no_seat_is_refused(game, seat):
    with pytest.raises(RecordError, match="there is no seat"):
        make_record(dealt(game), seat)


# --- tampered --------------------------------------------------------------------------------------------------------


def _swap_cards(deal: Record) -> None:
    cards = deal["deck"].split()
    deal["deck"] = " ".join([cards[1], cards[0], *cards[2:]])


def _move_chips(deal: Record, name: str) -> None:
    deal[name] = [deal[name][0] - 1, deal[name][1] + 1, *deal[name][2:]]


def _set(path: str, value: Any) -> Callable[[Record], None]:
    def change(deal: Record) -> None:
        *way, last = path.split(".")
        for step in way:
            deal = deal[int(step)] if step.lstrip("-").isdigit() else deal[step]
        deal[int(last) if last.lstrip("-").isdigit() else last] = value

    return change


def _without(name: str) -> Callable[[Record], None]:
    def change(deal: Record) -> None:
        del deal[name]

    return change


DEAL_KEYS = (
    *("dealer", "dealt_in", "stacks", "carried_pot", "deck", "given", "actions", "award", "net", "carried_out"),
)
TAMPERED: dict[str, Callable[[Record], Any]] = {
    "two cards change places": _swap_cards,
    "a card stands twice": lambda deal: deal.update(deck="As As " + deal["deck"][6:]),
    "a card is missing": lambda deal: deal.update(deck=deal["deck"][3:]),
    "no card": _set("deck", ""),
    "deck hidden": lambda deal: deal.update(deck="?? " + deal["deck"][3:]),
    "deck no text": _set("deck", 5),
    "deck null": _set("deck", None),
    "award moved": lambda deal: _move_chips(deal, "award"),
    "net moved": lambda deal: _move_chips(deal, "net"),
    "award null": _set("award", None),
    "carried out": _set("carried_out", 3),
    "stacks moved": lambda deal: _move_chips(deal, "stacks"),
    "stacks too few": lambda deal: deal.update(stacks=deal["stacks"][:-1]),
    "stacks one number": _set("stacks", 50),
    "stacks text": _set("stacks", "abc"),
    "stacks nothing": _set("stacks", []),
    "stacks negative": _set("stacks.0", -5),
    "stacks huge": _set("stacks.0", 10**30),
    "stacks fraction": _set("stacks.0", 20.5),
    "carried pot": _set("carried_pot", 5),
    "carried pot negative": _set("carried_pot", -5),
    "carried pot text": _set("carried_pot", "5"),
    "dealer outside": _set("dealer", 77),
    "dealer far outside": _set("dealer", 300),
    "dealer negative": _set("dealer", -1),
    "dealer text": _set("dealer", "0"),
    "dealer null": _set("dealer", None),
    "dealt in fewer": lambda deal: deal["dealt_in"].pop(),
    "dealt in null": _set("dealt_in", None),
    "generator": _set("generator", "0123456789abcdef"),
    "generator no number": _set("generator", "xyz"),
    "generator too long": _set("generator", "f" * 40),
    "generator negative": _set("generator", "-1"),
    "generator a number": _set("generator", 17),
    "given negative": _set("given", -7),
    "given beyond the deck": _set("given", 99),
    "given text": _set("given", "0"),
    "given fraction": _set("given", 0.5),
    "given null": _set("given", None),
    "an action left out": lambda deal: deal["actions"].pop(2),
    "the last action left out": lambda deal: deal["actions"].pop(),
    "one action more": lambda deal: deal["actions"].append([0, 0, None]),
    "another seat": lambda deal: deal["actions"][0].__setitem__(0, (deal["actions"][0][0] + 1) % 2),
    "no seat": _set("actions.0.0", None),
    "no such action": _set("actions.0.1", 9999),
    "action negative": _set("actions.0.1", -1),
    "action huge": _set("actions.0.1", 10**30),
    "action null": _set("actions.0.1", None),
    "action fraction": _set("actions.0.1", 1.5),
    "action hidden": _set("actions.0", [0, None, "hidden"]),
    "action renamed": _set("actions.0.2", "nothing"),
    "action too long": _set("actions.0", [0, 1, "x", "y", "z"]),
    "action too short": _set("actions.0", [0]),
    "action no list": _set("actions.0", 5),
    "actions a number": _set("actions", 5),
    "actions null": _set("actions", None),
    "actions text": _set("actions", "abc"),
    **{f"{name} missing": _without(name) for name in DEAL_KEYS},
}


@pytest.mark.parametrize("number", [0, 1, 2])
@pytest.mark.parametrize("change", TAMPERED.values(), ids=TAMPERED.keys())
def test_a_tampered_deal_is_refused_by_its_number(match, change, number):
    """With the digest left out, so that the deal itself is found wrong; named is the deal or the one that it spoils."""
    record = copy.deepcopy(match)
    change(record["deals"][number])
    del record["digest"]
    with pytest.raises(RecordError, match=rf"^deal [{number + 1}{number + 2}]: ."):
        replay(record)


@pytest.mark.parametrize("deal", [None, 5, "deal", [], [1, 2], {}])
def test_what_is_no_deal_is_refused_by_its_number(match, deal):
    record = {**match, "deals": [match["deals"][0], deal]}
    with pytest.raises(RecordError, match=r"^deal 2: ."):
        replay(record)


def test_deals_in_another_order_or_too_many_are_refused(match):
    first, second, third = match["deals"]
    for deals in ([second, first, third], [first, third], [second], [first, first], [*match["deals"], third]):
        with pytest.raises(RecordError, match=r"deal \d|digest"):
            replay({**match, "deals": deals})


def test_a_deal_where_nobody_or_one_alone_can_play_is_refused_and_does_not_hang(match):
    seats = len(match["deals"][0]["stacks"])
    for stacks in ([0] * seats, [10**6] + [0] * (seats - 1)):
        record = copy.deepcopy(match)
        record["deals"][0]["stacks"] = stacks
        with pytest.raises(RecordError, match="deal 1: stacks: fewer than two"):
            replay(record)


def test_a_wrong_digest_is_refused(match):
    with pytest.raises(RecordError, match="digest"):
        replay({**match, "digest": "0" * 64})


def test_any_single_change_to_a_deal_is_noticed(match):
    """Each number and text of each deal in turn is changed a little: none slips through."""
    for number, deal in enumerate(match["deals"]):
        for way in _leaves(deal):
            record = copy.deepcopy(match)
            target = record["deals"][number]
            for step in way[:-1]:
                target = target[step]
            target[way[-1]] = _other(target[way[-1]])
            with pytest.raises(RecordError):
                replay(record)


def _leaves(thing: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(thing, (dict, list)):
        for key, value in thing.items() if isinstance(thing, dict) else enumerate(thing):
            yield from _leaves(value, (*way, key))
    else:
        yield way


def _other(value: Any) -> Any:
    if isinstance(value, str):
        return value[:-1] + ("1" if value[-1] != "1" else "2")
    return 1 if value is None else value + 1


# --- malformed -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("thing", [None, 5, "record", [], {}, {"format": None}, {"format": "other/1"}])
def test_what_is_no_record_is_refused(thing):
    with pytest.raises(RecordError, match="format is"):
        replay(thing)


MALFORMED: dict[str, Any] = {
    "game": [None, 5, "chess", "", "__import__('os')"],
    "version": [None, -1, 99, "0"],
    "settings": [None, 5, "num_players=3", [], {"num_players": 99}, {"num_player": 3}, {"num_players": "3"}],
    "deals": [None, 5, "deals", {}],
    "seed": ["abc", -1, 1.5, 2**64, True, [1]],
    "seat": [0, 1, "0"],
    "digest": ["", "0", 5],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in MALFORMED.items() for value in values])
def test_malformed_fields_are_refused_by_name(match, name, value):
    if name == "settings" and value == []:
        value = [["num_players", 99]]
    with pytest.raises(RecordError, match=name):
        replay({**match, name: value})


@pytest.mark.parametrize("entry", [None, 5, "ab", [], [0], [0, 1, "bid 1", 4], {"seat": 0}])
def test_a_malformed_action_is_shown(match, entry):
    record = copy.deepcopy(match)
    record["deals"][1]["actions"][0] = entry
    with pytest.raises(RecordError, match=re.escape(f"deal 2: action {entry!r} is not [seat, action]")):
        replay(record)


@pytest.mark.parametrize("generator", [5, "zz", "-1", "f" * 17, "0x1", ""])
def test_a_malformed_generator_is_shown(match, generator):
    record = copy.deepcopy(match)
    record["deals"][0]["generator"] = generator
    with pytest.raises(RecordError, match=f"deal 1: generator is {generator!r}: it must be up to 16 hex digits"):
        replay(record)


@pytest.mark.parametrize("name", ["format", "game", "version", "settings", "deals"])
def test_missing_fields_are_refused_by_name(match, name):
    record = {key: value for key, value in match.items() if key != name}
    with pytest.raises(RecordError, match=name):
        replay(record)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.data())
def test_junk_anywhere_is_refused_with_a_record_error_and_nothing_else(game, match, data):
    record = copy.deepcopy(match)
    way = data.draw(st.sampled_from([("deals", 1), *((("deals", 1, name)) for name in DEAL_KEYS), ("settings",)]))
    target: Any = record
    for step in way[:-1]:
        target = target[step]
    junk = data.draw(JUNK)
    if junk == target[way[-1]] or (way[-1] == "settings" and junk == {}):
        return
    target[way[-1]] = junk
    with pytest.raises(RecordError):
        replay(record)


def test_settings_of_another_table_do_not_fit(match):
    settings = {**match["settings"], "num_players": match["settings"]["num_players"] - 1}
    with pytest.raises(RecordError, match="deal 1"):
        replay({**match, "settings": settings})


def test_a_record_is_replayed_by_the_game_it_names(game, match):
    assert make_record(replay(match, game)) == match
    other = ModuleType("other")
    other.__dict__.update(game.__dict__, NAME="other_game")
    with pytest.raises(RecordError, match=f"the record is of '{game.NAME}'"):
        replay(match, other)
    for name in available():
        if name != game.NAME:
            with pytest.raises(RecordError, match="the record is of"):
                replay(match, get_game(name))


def test_replay_does_not_change_the_record(match):
    before = copy.deepcopy(match)
    replay(match)
    assert match == before
