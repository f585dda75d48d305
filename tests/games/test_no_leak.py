"""No leak: states that differ only in what a seat may not know look the same to it, always and through every interface.

First the tool is tested: ``resample_from_infostate`` changes what is hidden, all of it, uniformly, and nothing else.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import (
    POLICIES,
    chooser,
    dealt,
    differing_world,
    fields_of,
    play,
    play_out,
    public_names,
    random_policy,
    seats_of,
    seen_by,
    settings_values,
    small_settings,
    snapshot,
    some_settings,
)

import auction_env
from auction_env import RecordError, Table, available, get_game, make_record
from auction_env.engine.agent import resample_from_infostate
from auction_env.games.cards import CARD_NAMES
from auction_env.rendering.text import draw, text

Moments = list[Table]
EVERY_PHASE = [(name, phase) for name in available() for phase in get_game(name).PHASES]
EVERY_PLAYED_PHASE = [(name, phase) for name in available() for phase in get_game(name).PHASES[:-1]]


def unseen_cards(table: Table, met: list[set[str]], seat: int) -> set[str]:
    """Names of the cards that a seat has not seen: nor where the deck had them, nor face up, nor in its own hand."""
    seen = table.game.visible_deck(table.state, seat)
    return {CARD_NAMES[card] for card, known in zip(_deck(table), seen, strict=True) if not known} - met[seat]


def _deck(table: Table) -> list[int]:
    return table.state.deck[: table.settings.num_ranks * table.settings.num_suits].tolist()


@cache
def moments(game: Any) -> dict[str, Moments]:
    """Tables in each phase, from random settings and several ways to play; the end of a deal is a phase too."""
    return {phase: [table for table, _ in found] for phase, found in moments_with_cards(game).items()}


@cache
def moments_with_cards(game: Any) -> dict[str, list[tuple[Table, list[set[str]]]]]:
    """The same, each with the cards that every seat has met in this deal: face up, or in its own hand."""
    found: dict[str, list[tuple[Table, list[set[str]]]]] = {phase: [] for phase in game.PHASES}
    for seed in itertools.count():
        rng = np.random.default_rng(seed)
        table = dealt(game, some_settings(game, chooser(rng)), seed)
        met: list[set[str]] = []
        for at in play(table, POLICIES[seed % len(POLICIES)](rng)):
            if not at.deals[-1].actions:
                met = [set() for _ in seats_of(at)]
            view = at.view(None)
            for seat in seats_of(at):
                met[seat] |= {*view.centre, *view.seats[seat].cards}
            if rng.random() < 0.35 or at.to_act is None:
                found[at.phase].append((at.clone(), copy.deepcopy(met)))
        if seed >= 16 and min(map(len, found.values())) >= 20:
            return {phase: tables[:25] for phase, tables in found.items()}


# --- the tool: resample_from_infostate ------------------------------------------------------------------------------


def test_resampling_keeps_the_table_and_draws_from_its_own_seed(game):
    for table in moments(game)[game.PHASES[0]][:10]:
        before = snapshot(table)
        for seat in seats_of(table):
            twin = table.resample_from_infostate(seat, 5)
            assert fields_of(twin.states) == fields_of(table.resample_from_infostate(seat, 5).states)
            assert twin.state.rng != table.state.rng
            assert sorted(twin.legal()) == sorted(table.legal())
        assert snapshot(table) == before


def test_resampling_takes_an_integer_or_a_generator(game):
    table = dealt(game, seed=1)
    first = table.resample_from_infostate(0, np.random.default_rng(3))
    assert fields_of(first.states) == fields_of(table.resample_from_infostate(0, np.random.default_rng(3)).states)
    rng = np.random.default_rng(3)
    decks = {tuple(_deck(table.resample_from_infostate(0, rng))) for _ in range(5)}
    assert len(decks) == 5
    for seed in (-1, 2**63, 1.0, "1", True):
        with pytest.raises(ValueError, match="seed is"):
            table.resample_from_infostate(0, seed)


@pytest.mark.parametrize(("name", "phase"), EVERY_PHASE)
def test_resampling_keeps_what_the_seat_saw_and_every_card_once(name, phase):
    """Seen cards stay in their places, the rest are the same cards in some order; history and chips are untouched."""
    game, rng, moved = get_game(name), np.random.default_rng(0), 0
    for table in moments(game)[phase]:
        for seat in seats_of(table):
            twin = table.resample_from_infostate(seat, rng)
            seen = game.visible_deck(table.state, seat)
            before, after = _deck(table), _deck(twin)
            assert sorted(after) == sorted(before)
            assert [card for card, known in zip(after, seen, strict=True) if known] == [
                card for card, known in zip(before, seen, strict=True) if known
            ]
            assert game.visible_deck(twin.state, seat) == seen
            assert game.pending(twin.state) == game.pending(table.state)
            for field in ("stacks", "paid", "award", "dealer", "deal_number", "carried_pot", "total_chips", "to_act"):
                assert np.array_equal(twin.states[field], table.states[field])
            moved += after != before
    assert moved > 20


def test_a_resampled_table_carries_no_account_of_the_truth(game):
    """Walk everything the copy holds but its state: no deck, no hidden choice, no final row; records are refused."""
    for table in [tables[index] for tables in moments(game).values() for index in range(5)]:
        for seat in seats_of(table):
            twin = table.resample_from_infostate(seat, 1)
            assert twin.seed is None and len(twin.deals) == 1
            log = twin.deals[0]
            assert (log.deck, log.actions, log.generator, log.given, log.final) == ([], [], 0, 0, None)
            with pytest.raises(RecordError, match="imagines"):
                make_record(twin)
            with pytest.raises(RecordError, match="imagines"):
                make_record(twin, seat)


def test_a_resampled_table_plays_on(game):
    """Deals end as they should, with the copy's own chance, and the next deal is dealt from it."""
    for table in [tables[index] for tables in moments(game).values() for index in range(8)]:
        twin = table.resample_from_infostate(0, 3)
        again = table.resample_from_infostate(0, 3)
        for copied in (twin, again):
            play_out(copied, random_policy(np.random.default_rng(1)), whole_match=True)
        assert fields_of(twin.states) == fields_of(again.states)
        assert sorted(_deck(twin)) == sorted(_deck(table))


TINY = {
    **{"num_players": 2, "num_suits": 2, "num_ranks": 3, "hole_cards": 1},
    **{"num_auctions": 1, "max_bid": 2, "max_raises": 1},
}


def _looks(table: Table, seat: int) -> Any:
    return table.observe(seat).tolist(), dataclasses.asdict(table.view(seat)), table.mask(seat).tolist()


def _hidden_choices(game: Any, table: Table) -> tuple[int, ...]:
    row = table.state
    if game.PHASES[row.phase] == "bid":
        return tuple(int(bid) for bid in row.bids[row.auction][: row.num_players])
    return tuple(int(declared) for declared in row.declared[: row.num_players])


def _worlds(table: Table, seat: int) -> set[tuple[Any, ...]]:
    """Decks and hidden choices of the others under which the seat has seen the same: every order of the deck is dealt,
    the same actions are played, those still pending in every way."""
    world, game, found = Table(table.game, table.settings), table.game, set()
    actions = [table.action_names[action] for _, action in table.deals[-1].actions]
    pending = game.pending(table.state)
    ways = ["bid 1", "bid 2"] if table.phase == "bid" else ["declare low", "declare high", "declare both"]
    for deck in itertools.permutations(_deck(table)):
        for way in ways if pending else [None]:
            world.reset(0, {"deck": deck, "dealer": table.deals[-1].dealer})
            try:
                for name in [*actions[:-1], way] if way else actions:
                    world.act(name)
            except auction_env.IllegalActionError:
                break  # a card picked is not in this row
            if _looks(world, seat) == _looks(table, seat) and _seen_cards(world, seat) == _seen_cards(table, seat):
                found.add((tuple(deck), _hidden_choices(world)))
    return found


def _looks(table: Table, seat: int) -> Any:
    return table.observe(seat).tobytes(), dataclasses.asdict(table.view(seat)), table.mask(seat).tobytes()


def _hidden_choices(table: Table) -> tuple[int, ...]:
    row = table.state
    return tuple(row.bids[0][: row.num_players].tolist() + row.declared[: row.num_players].tolist())


@pytest.mark.parametrize("phase", ["bid", "pick", "bet", "declare"])
def test_resampling_is_uniform_over_the_worlds_that_look_the_same(phase):
    """On a tiny setting every such world is enumerated by dealing all 720 decks; chi-square on what is drawn."""
    table, seat = dealt(get_game("auction_poker"), TINY, 4, dealer=0), 0  # seat 1 chooses first: its choice is pending
    while table.phase != phase or (phase in ("bid", "declare") and table.to_act != seat):
        table.act("check" if table.phase == "bet" else sorted(table.legal())[-1])
    worlds, drawn, rng = _worlds(table, seat), Counter(), np.random.default_rng(7)
    for _ in range(60 * len(worlds)):
        twin = table.resample_from_infostate(seat, rng)
        drawn[tuple(_deck(twin)), _hidden_choices(twin)] += 1
    assert set(drawn) == worlds
    assert len(worlds) == {"bid": 12, "pick": 6, "bet": 6, "declare": 18}[phase]
    chi, freedom = sum((count - 60) ** 2 / 60 for count in drawn.values()), len(worlds) - 1
    assert chi < freedom + 4 * (2 * freedom) ** 0.5 + 4  # about one chance in 10,000


def _another_truth(table: Table, seat: int, rng: np.random.Generator) -> Table | None:
    """A deal from scratch with the cards unknown to the seat in another order, hidden actions chosen anew among those
    that look the same; None unless the seat would have seen what it has seen."""
    log, names = table.deals[-1], public_names(table.game, table.settings)
    unknown = [place for place, known in enumerate(table.game.visible_deck(table.state, seat)) if not known]
    deck = np.array(_deck(table))
    deck[unknown] = rng.permutation(deck[unknown])
    world = dealt(table.game, table.settings, int(rng.integers(2**62)), deck=deck, dealer=log.dealer, stacks=log.stacks)
    open_until = len(log.actions) - table.game.pending(table.state)
    for place, (actor, action) in enumerate(log.actions):
        if world.to_act != actor:
            return None
        alike = world.legal() if place >= open_until else [a for a in world.legal() if names[a] == names[action]]
        chosen = action if actor == seat else int(rng.choice(alike)) if alike else -1
        if chosen not in world.legal():
            return None
        world.act(chosen)
    return world if _looks(world, seat) == _looks(table, seat) else None


def _hidden_from(table: Table) -> Any:
    """Who holds what, and what each has chosen, with all revealed."""
    return tuple((frozenset(seat.cards), *seat.bought, *seat.notes) for seat in table.view(None).seats)


@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 12), marks=pytest.mark.slow)])
def test_resampling_gives_hidden_hands_and_choices_as_often_as_dealing_anew_does(game, seeds):
    """Rejection sampling on small settings: deal until the seat has seen the same; two-sample chi-square."""
    wanted = 200
    for seed in seeds:
        rng = np.random.default_rng(seed)
        table = dealt(game, small_settings(game, 1), seed)
        for _ in range(int(rng.integers(3, 12))):
            if table.to_act is not None and len(table.legal()):
                table.act(int(rng.choice(np.sort(table.legal()))))
        seat = int(rng.integers(2))
        dealt_anew: Counter[Any] = Counter()
        for _ in range(40 * wanted):
            if (world := _another_truth(table, seat, rng)) is not None:
                dealt_anew[_hidden_from(world)] += 1
            if dealt_anew.total() == wanted:
                break
        drawn = Counter(_hidden_from(table.resample_from_infostate(seat, rng)) for _ in range(dealt_anew.total()))
        cells = set(dealt_anew) | set(drawn)
        assert dealt_anew.total() > 30
        chi = sum((drawn[cell] - dealt_anew[cell]) ** 2 / (drawn[cell] + dealt_anew[cell]) for cell in cells)
        freedom = max(len(cells) - 1, 1)
        assert chi < freedom + 4 * (2 * freedom) ** 0.5 + 4, (game.NAME, seed, table.phase, chi, freedom)


# --- a moment frozen: the truth and another world side by side -------------------------------------------------------


@pytest.mark.parametrize(("name", "phase"), EVERY_PHASE)
def test_other_worlds_look_the_same_at_the_table(name, phase):
    """Observation, mask, info, text, view, repr and the seat's record, in each phase by itself."""
    game, rng, differed = get_game(name), np.random.default_rng(1), 0
    for table in moments(game)[phase]:
        for seat in seats_of(table):
            world = differing_world(table, seat, rng)
            assert seen_by(world, seat) == seen_by(table, seat)
            assert make_record(world, seat) == make_record(table, seat)
            differed += _hidden_part(world) != _hidden_part(table)
    assert differed > 40


def _hidden_part(table: Table) -> Any:
    return _deck(table), table.deals[-1].actions, table.deals[-1].generator


@pytest.mark.parametrize(("name", "phase"), EVERY_PHASE)
def test_other_worlds_look_the_same_in_the_picture(name, phase):
    game, rng = get_game(name), np.random.default_rng(2)
    for table in moments(game)[phase][:3]:
        seat = table.to_act if table.to_act is not None else 0
        world = differing_world(table, seat, rng)
        assert np.array_equal(draw(world.view(seat)), draw(table.view(seat)))


@given(st.data())
@settings(max_examples=6)
def test_other_worlds_look_the_same_through_whole_matches_under_any_settings(game, data):
    table = dealt(game, data.draw(settings_values(game)), data.draw(st.integers(0, 10**6)))
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    policy = data.draw(st.sampled_from(POLICIES))(rng)
    for at in play(table, policy, whole_match=True):
        seat, in_words = int(rng.integers(at.settings.num_players)), rng.random() < 0.3
        world = differing_world(at, seat, rng)
        assert seen_by(world, seat, in_words) == seen_by(at, seat, in_words)
        if rng.random() < 0.1:
            assert make_record(world, seat) == make_record(at, seat)


def _in_world(env: Any, seat: int, rng: np.random.Generator) -> Any:
    """A copy of an environment whose table is in another world, its infos made again."""
    twin = copy.deepcopy(env)
    twin.unwrapped.table = differing_world(env.unwrapped.table, seat, rng)
    twin.unwrapped._refresh_infos()
    return twin


def _from_env(env: Any, agent: str) -> dict[str, Any]:
    seen: dict[str, Any] = {
        "observe": {name: values.tolist() for name, values in env.observe(agent).items()},
        "named": {name: values.tolist() for name, values in env.unwrapped.observe_named(agent).items()},
        "info": {name: repr(value) for name, value in env.infos[agent].items()},
        "reward": (env.rewards[agent], env._cumulative_rewards[agent]),
        "ended": (env.terminations[agent], env.truncations[agent]),
        "record": env.unwrapped.record(agent),
        "names": (str(env), repr(env.unwrapped)),
        "agents": (env.agents, env.agent_selection),
    }
    if agent == env.agent_selection:
        observation, *rest = env.last()
        seen["last"] = observation["observation"].tolist(), rest[:3]
        seen["render"] = env.render()
    return seen


def test_other_worlds_look_the_same_through_the_environment(game):
    """By ``observe``, ``last``, ``infos``, ``render`` and after ``step`` of the seat itself."""
    module, rng = getattr(auction_env, f"{game.NAME}_v{game.VERSION}"), np.random.default_rng(3)
    for seed in range(6):
        values = some_settings(game, chooser(rng))
        env = module.env(render_mode="ansi", **values)
        env.reset(seed=seed)
        often = 6 / game.max_game_length(env.unwrapped.table.settings)
        while env.agents:
            for agent in env.agents:
                seat = int(agent.split("_")[1])
                if rng.random() < max(often, 0.03) or env.terminations[agent]:
                    assert _from_env(_in_world(env, seat, rng), agent) == _from_env(env, agent)
            observation, _, terminated, *_ = env.last()
            env.step(None if terminated else int(rng.choice(np.flatnonzero(observation["action_mask"]))))


# --- going on from there ---------------------------------------------------------------------------------------------


def _told_apart(first: Table, second: Table, seat: int) -> bool:
    """Whether the game itself has shown the seat a difference: a card turned up, or a hidden choice revealed."""
    cards = [(_seen_cards(table, seat), _cards_up(table, seat)) for table in (first, second)]
    choices = [_open_choices(table, seat) for table in (first, second)]
    return cards[0] != cards[1] or choices[0] != choices[1] or first.to_act != second.to_act


def _cards_up(table: Table, seat: int) -> Any:
    view = table.view(seat)
    return view.centre, [other.cards for other in view.seats if "??" not in other.cards]


def _seen_cards(table: Table, seat: int) -> list[int | None]:
    seen = table.game.visible_deck(table.state, seat)
    return [card if known else None for card, known in zip(_deck(table), seen, strict=True)]


def _open_choices(table: Table, seat: int) -> list[Any]:
    names, actions = public_names(table.game, table.settings), table.deals[-1].actions
    open_until = len(actions) - table.game.pending(table.state)
    return [
        (actor, action if actor == seat else names[action]) if place < open_until or actor == seat else actor
        for place, (actor, action) in enumerate(actions)
    ]


def _like(table: Table, action: int, seat: int, rng: np.random.Generator) -> int | None:
    """A legal action of the other world's seat to act that the watching seat cannot tell from this one, or None."""
    legal = sorted(table.legal())
    if table.to_act == seat:
        return action if action in legal else None
    if table.state.phase in table.game.HIDDEN_PHASES:
        return int(rng.choice(legal))
    names = public_names(table.game, table.settings)
    alike = [other for other in legal if names[other] == names[action]]
    return int(rng.choice(alike)) if alike else None


@pytest.mark.parametrize(("name", "phase"), EVERY_PLAYED_PHASE)
def test_other_worlds_stay_alike_as_long_as_nothing_is_revealed(name, phase):
    """Play goes on in both worlds with actions that look the same to the seat, until the cards or the revealed
    choices differ; until then all it sees is equal, accounts of the moves and results of deals included."""
    game, rng, steps = get_game(name), np.random.default_rng(4), 0
    for table in moments(game)[phase][:15]:
        for seat in rng.permutation(table.settings.num_players)[:2].tolist():
            first, second = table.clone(), differing_world(table, seat, rng)
            for _ in range(30):
                if first.to_act is None:
                    break
                action = int(rng.choice(np.sort(first.legal())))
                other = _like(second, action, seat, rng)
                assert other is not None, "the same public choices are legal in both"
                rows = first.states.copy(), second.states.copy()
                results = first.act(action), second.act(other)
                if _told_apart(first, second, seat):
                    break
                steps += 1
                assert results[0] == results[1]
                in_words = rng.random() < 0.3 or first.to_act is None
                assert seen_by(first, seat, in_words) == seen_by(second, seat, in_words)
                accounts = [
                    game.narrate(row[0], chosen, at.states[0])
                    for row, chosen, at in ((rows[0], action, first), (rows[1], other, second))
                ]
                assert accounts[0] == accounts[1]
                if in_words:
                    assert make_record(first, seat)["deals"][-1] == make_record(second, seat)["deals"][-1]
    assert steps > 20


def _another_deal(table: Table, seat: int, rng: np.random.Generator) -> Iterator[tuple[Table, Table]]:
    """The same deal from its start in two worlds that the seat can never tell apart: the cards that it has not seen
    even at the end change places. Gives both after each move; stops short if the worlds turn out to differ."""
    log, game = table.deals[-1], table.game
    unknown = [place for place, known in enumerate(game.visible_deck(table.state, seat)) if not known]
    deck = np.array(_deck(table))
    deck[unknown] = rng.permutation(deck[unknown])
    options = {"dealer": log.dealer, "stacks": log.stacks}
    if log.carried_pot:
        options["carried_pot"] = log.carried_pot
    first, second = (dealt(game, table.settings, 0, deck=cards, **options) for cards in (_deck(table), deck))
    yield first, second
    for actor, action in log.actions:
        first.act(action)
        following = _alike(first, second, actor, action, seat)
        if following is None or not _same_centre(first, following):
            return
        second = following
        yield first, second


def _same_centre(first: Table, second: Table) -> bool:
    return first.view(None).centre == second.view(None).centre


def _alike(first: Table, second: Table, actor: int, action: int, seat: int) -> Table | None:
    """The second table after the action that looks the same to the seat and leaves the actor with the cards that it
    has in the first (only what is discarded may differ); None if there is none."""
    names = public_names(first.game, first.settings)
    alike = [other for other in second.legal() if names[other] == names[action]]
    if actor == seat or alike == [action]:
        second.act(action)
        return second
    for other in sorted(alike, key=lambda other: other != action):
        branch = second.clone()
        branch.act(other)
        own = [table.view(actor).seats[actor] for table in (first, branch)]
        if own[0].cards == own[1].cards and own[0].bought == own[1].bought:
            return branch
    return None


def test_whole_deals_that_differ_in_what_a_seat_never_learns_look_the_same_from_deal_to_award(game):
    """Concealed cards of seats that fold, and cards never turned up, change nothing a seat sees, ever (A7)."""
    rng, finished, folded = np.random.default_rng(5), 0, 0
    for seed in range(12):
        policy = POLICIES[seed % len(POLICIES)](rng)
        table = play_out(dealt(game, some_settings(game, chooser(rng), {"num_deals": 1}), seed), policy)
        for seat in list(seats_of(table))[-2:]:
            moves = 0
            for first, second in _another_deal(table, seat, rng):
                in_words = rng.random() < 0.2 or first.to_act is None
                assert seen_by(first, seat, in_words) == seen_by(second, seat, in_words)
                moves += 1
            finished += moves == len(table.deals[-1].actions) + 1
            folded += any(
                other.folded and other.seat != seat and "??" in other.cards for other in table.view(seat).seats
            )
    assert finished > 12
    assert folded > 4 or not any(name == "fold" for name in game.action_names(game.Settings()))


# --- names of unseen cards -------------------------------------------------------------------------------------------


def _cards_named(told: str) -> set[str]:
    plain = told.translate(str.maketrans("♣♦♥♠", "cdhs"))
    return set(re.findall(r"(?<![A-Za-z0-9])[2-9TJQKA][cdhs](?![A-Za-z0-9])", plain))


def test_card_names_are_found_in_text():
    assert _cards_named("player_1 [A♠ Td] 2c, pick Kh") == {"As", "Td", "2c", "Kh"}


@pytest.mark.parametrize(("name", "phase"), EVERY_PHASE)
def test_no_unseen_card_is_ever_named(name, phase):
    """Not in the text, the view, the named observation, nor anywhere in the seat's record."""
    game = get_game(name)
    for table, met in moments_with_cards(game)[phase]:
        for seat in seats_of(table):
            unseen, view = unseen_cards(table, met, seat), table.view(seat)
            told = [text(view, seat), repr(view), repr(table), repr(table.info(seat))]
            told.append(json.dumps(make_record(table, seat)["deals"][-1]))
            for what in told:
                assert not _cards_named(what) & unseen, what


def test_seat_records_tell_no_seed_generator_or_digest(game):
    for table in moments(game)[game.PHASES[-1]]:
        for seat in seats_of(table):
            record = make_record(table, seat)
            assert record["seed"] is None and record["seat"] == seat and "digest" not in record
            for deal in record["deals"]:
                assert deal["generator"] is None and deal["given"] is None
                size = table.settings.num_ranks * table.settings.num_suits
                assert len(deal["deck"].split()) == size


def test_a7_folded_concealed_cards_stay_hidden_at_the_end():
    """In the final observation, the text, the account and the record of every other seat; the folder sees its own."""
    game, checked = get_game("auction_poker"), 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        table = play_out(dealt(game, {"num_players": 4}, seed), POLICIES[seed % 2](rng))
        row = table.state
        for folder in np.flatnonzero(row.folded):
            checked += 1
            own = set(table.view(int(folder)).seats[folder].cards)
            assert "??" not in own and len(own) == 2
            for seat in set(seats_of(table)) - {int(folder)}:
                assert table.view(seat).seats[folder].cards == ["??", "??"]
                assert not own & _cards_named(json.dumps(make_record(table, seat)))
                shown = table.observe_named(seat)["shown"]
                assert not shown[(folder - seat) % 4 - 1].any()
    assert checked > 30


# --- a spy -----------------------------------------------------------------------------------------------------------


def _reachable(thing: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Everything that can be reached from an object by attributes, items and bases of arrays."""
    seen: set[int] = set()
    todo = [(path, thing)]
    while todo:
        where, item = todo.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        yield where, item
        if isinstance(item, dict):
            todo += [(f"{where}[{key!r}]", value) for key, value in item.items()]
        elif isinstance(item, (list, tuple, set)):
            todo += [(f"{where}[{place}]", value) for place, value in enumerate(item)]
        elif isinstance(item, np.ndarray):
            todo.append((f"{where}.base", item.base))
        elif not isinstance(item, (str, int, float, type(None), type)):
            todo += [(f"{where}.{name}", value) for name, value in vars(item).items()]


def test_a_spy_reaches_nothing_but_its_own_arrays_and_public_facts(game):
    """From observation, mask and info no table, state, deck or generator can be reached."""
    module, rng = getattr(auction_env, f"{game.NAME}_v{game.VERSION}"), np.random.default_rng(6)
    for seed in range(4):
        env = module.env(**some_settings(game, chooser(rng)))
        env.reset(seed=seed)
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, info = env.last()
            for where, item in _reachable((observation, reward, terminated, truncated, info), agent):
                assert type(item) in (dict, tuple, np.ndarray, str, int, float, bool, type(None)), (where, item)
                if isinstance(item, np.ndarray):
                    assert item.base is None and item.dtype in (np.float32, np.int8)
                    assert not np.shares_memory(item, env.unwrapped.table.states)
            mask = observation["action_mask"]
            env.step(None if terminated or truncated else int(rng.choice(np.flatnonzero(mask))))


@pytest.mark.parametrize(("name", "phase"), EVERY_PLAYED_PHASE)
def test_what_a_seat_imagines_is_the_same_to_the_byte_in_all_worlds_it_cannot_tell_apart(name, phase):
    """With the same random word: were the true cards to steer the drawing, who knows the word could undo it."""
    game, rng = get_game(name), np.random.default_rng(6)
    for table in moments(game)[phase][:15]:
        for seat in range(table.settings.num_players):
            word = rng.integers(0, 2**64, 1, np.uint64)
            worlds = [table, differing_world(table, seat, rng), differing_world(table, seat, rng)]
            found = [resample_from_infostate(game, world.states, np.array([seat]), word).tobytes() for world in worlds]
            assert found[0] == found[1] == found[2]
