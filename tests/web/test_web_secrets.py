"""Nothing that a seat may not know comes to its socket: two worlds that it cannot tell apart send the same bytes."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest

pytest.importorskip("starlette")

from strategies import differing_world
from web_play import at_table, open_table, opened, serving

from auction_env.games import get_game
from auction_env.games.cards import CARD_NAMES
from auction_env.web import limits

DECK = [CARD_NAMES[(7 * place + 3) % 52] for place in range(52)]  # 7 and 52 share no factor: each card once


@pytest.fixture(scope="module")
def server():
    with pytest.MonkeyPatch.context() as patch, serving() as client:
        patch.setattr(limits, "MESSAGE_BURST", 1e9)
        yield client


def hidden_places(game_name: str, seat: int) -> list[int]:
    """Places of the deck from which a seat is dealt its concealed cards: three seats, seat 0 deals."""
    cards = 2 if game_name == "auction_poker" else 5
    return [(seat - 1) % 3 + 3 * turn for turn in range(cards)]


def other_world(game_name: str, seat: int) -> list[str]:
    """The deck with the concealed cards of a seat changed for cards that never come."""
    deck = DECK.copy()
    for number, place in enumerate(hidden_places(game_name, seat), 1):
        deck[place], deck[-number] = deck[-number], deck[place]
    return deck


def pick(legal, others):
    """A choice by rank in the list: what it means does not depend on concealed cards."""
    names = [one["name"] for one in legal]
    wanted = "discard 1 3" if "discard 1 3" in names else "keep 0" if "keep 0" in names else None
    return legal[names.index(wanted) if wanted else others % len(legal)]["action"]


def streams(server, game_name: str, deck: list[str]) -> tuple[list[list[str]], list[dict]]:
    """All states that seats 0, 1, 2 and somebody who looks on are sent in a deal, and the last of each."""
    table = open_table(server, game_name, [None, None, None])
    room = opened(server, table).room
    room.table.reset(1, {"deck": deck, "dealer": 0})
    room.number = "same"
    with ExitStack() as stack:
        people = [stack.enter_context(at_table(server, table)) for _ in range(4)]
        for seat in range(3):
            people[seat].sit(seat, f"person {seat}")
        for person in people:
            person.catch_up()
            person.texts = [person.texts[-1]]
        turn = 0
        while not people[0].state["payoffs"]:
            for person in people[:3]:
                if person.state["choosing"]:
                    person.send("choose", action=pick(person.state["legal"], turn))
                    turn += 1
                    for each in people:
                        each.catch_up()
        return [person.texts for person in people], [person.state for person in people]


@pytest.mark.parametrize("game_name", ["auction_poker", "auction_flop"])
def test_the_bytes_do_not_depend_on_what_others_hold(server, game_name):
    first, ends = streams(server, game_name, DECK)
    second, _ = streams(server, game_name, other_world(game_name, 1))
    assert len(first[0]) > 10
    for who in (0, 2, 3):
        assert first[who][:-1] == second[who][:-1]
    assert first[1][0] != second[1][0]  # the worlds do differ for the seat itself
    assert ends[0]["view"]["seats"][1]["cards"] != ["??"] * 2  # and are told apart when hands are shown


def test_a_committed_bid_changes_nothing_for_anybody_else(server):
    table = open_table(server, "auction_poker", [None, None, "random"])
    with at_table(server, table) as ana, at_table(server, table) as ben, at_table(server, table) as guest:
        ana.sit(0, "Ana")
        ben.sit(1, "Ben")
        for one in (ana, ben, guest):
            one.catch_up()
        seen = [len(one.texts) for one in (ben, guest)]
        bid = ana.state["legal"][2]["action"]
        ana.send("choose", action=bid)
        for one in (ana, ben, guest):
            one.catch_up()
        assert [len(one.texts) for one in (ben, guest)] == seen
        assert ana.state["own_action"] == "bid 3" and not ana.state["choosing"]
        ana.send("choose", action=bid)
        assert "turn" in ana.until(lambda message: message["type"] == "error")["message"]
        ben.send("choose", action=ben.state["legal"][0]["action"])
        state = ben.until(lambda message: message["type"] == "state" and message["lines"])
        assert "player_0 3" in state["lines"][0]


def test_agents_of_a_table_with_people_are_not_watched(server):
    table = open_table(server, "auction_poker", [None, "random", "random"])
    with at_table(server, table) as guest:
        guest.catch_up()
        assert not opened(server, table).frames
        assert all(seat["cards"] == ["??", "??"] for seat in guest.state["view"]["seats"])


def test_every_game_says_who_chooses_now(game):
    """Seats of a hidden phase are asked at once, whoever the engine asks first; else one."""
    from auction_env.engine.table import Table

    table = Table(get_game(game.NAME), {"num_players": 3})
    table.reset(2)
    while table.to_act is not None:
        masks = table.choosers()
        assert table.to_act in masks and (masks[table.to_act] == table.mask(table.to_act)).all()
        if table.state.phase not in game.HIDDEN_PHASES:
            assert len(masks) == 1
        for seat, mask in masks.items():
            asking = table.asking(seat)
            assert asking.to_act == seat and (asking.mask(seat) == mask).all()
            assert (asking.observe(seat) == table.observe(seat)).all() or seat == table.to_act
        table.act(table.legal()[-1])
    assert table.choosers() == {}
    with pytest.raises(ValueError, match="does not choose"):
        table.asking(0)


@pytest.mark.parametrize("game_name", ["auction_poker", "auction_flop"])
def test_random_worlds_that_a_seat_cannot_tell_apart_send_it_the_same_bytes(server, game_name):
    """At every moment of random deals all that a seat cannot know is drawn anew: not one byte more comes to it.

    Other seats' choices that lie face down are changed too; a second socket of the seat, connected now, gets the same.
    """
    compared, phases = 0, set()
    for seed in range(3):
        rng = np.random.default_rng(seed)
        count = int(rng.integers(2, 5))
        seat = int(rng.integers(count))
        table = open_table(server, game_name, [None] * count)
        room = opened(server, table)
        tokens = [room.room.sit(other, f"person {other}") for other in range(count)]
        server.portal.call(room.changed)
        with at_table(server, table) as person:
            person.send("resume", token=tokens[seat])
            while room.room.table.to_act is not None:
                person.catch_up()
                sent = len(person.texts)
                kept, committed = room.room.table, dict(room.room.committed)
                world = differing_world(kept, seat, rng)
                room.room.table = world
                room.room.committed = {
                    other: action if other == seat else int(rng.choice(np.flatnonzero(kept.choosers()[other])))
                    for other, action in committed.items()
                }
                server.portal.call(room.changed)
                person.catch_up()
                with at_table(server, table) as again:
                    again.send("resume", token=tokens[seat])
                    again.catch_up()
                    assert again.texts[-1] == person.texts[-1]
                assert len(person.texts) == sent
                compared += 1
                phases.add(kept.phase)
                room.room.table, room.room.committed = kept, committed
                chooser = int(rng.choice(list(room.room.choosers())))
                action = int(rng.choice(np.flatnonzero(room.room.choosers()[chooser])))
                server.portal.call(room.room.choose, chooser, action)
                server.portal.call(room.changed)
    assert compared > 40 and len(phases) >= 4, (compared, phases)
