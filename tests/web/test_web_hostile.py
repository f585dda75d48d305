"""Clients that send nonsense, too much, or do not read: they are sent away, and nobody else notices."""

from __future__ import annotations

import json

import anyio
import numpy as np
import pytest

pytest.importorskip("starlette")

from hypothesis import given
from hypothesis import strategies as st
from starlette.websockets import WebSocketDisconnect
from web_play import at_table, open_table, opened, play_deal, serving

from auction_env.web import limits
from auction_env.web.limits import MESSAGES, Bucket, Buckets, MessageError, clean_name, parse_message
from auction_env.web.server import Connection

PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
MESSAGE = st.dictionaries(st.sampled_from(["type", "seat", "name", "token", "action", "agent", "x"]), PLAIN, max_size=4)
KNOWN = st.builds(
    lambda kind, fields: {"type": kind, **{name: fields[name] for name in MESSAGES[kind] if name in fields}},
    st.sampled_from(sorted(MESSAGES)),
    MESSAGE,
)


@pytest.fixture(scope="module")
def server():
    with serving() as client:
        yield client


@given(st.text(max_size=50) | st.builds(json.dumps, MESSAGE | KNOWN | st.lists(PLAIN, max_size=3)))
def test_any_text_is_a_message_of_its_kind_or_refused(text):
    try:
        message = parse_message(text)
    except MessageError:
        return
    fields = MESSAGES[message["type"]]
    assert all(type(message[name]) is kind for name, kind in fields.items())


@given(st.text(max_size=80))
def test_any_name_is_one_short_printable_line_or_refused(text):
    try:
        name = clean_name(text)
    except MessageError:
        return
    assert 0 < len(name) <= limits.MAX_NAME and name.isprintable() and name == clean_name(name)


@pytest.mark.parametrize(
    "text", ["[" * 3000, '{"type":' * 30, "\ud800", '{"type":"choose","action":1e999}', "x" * 5000]
)
def test_what_parsers_choke_on_is_refused(text):
    with pytest.raises(MessageError):
        parse_message(text)


def test_nonsense_is_answered_then_ends_and_the_table_plays_on(server):
    table = open_table(server, "auction_poker", [None, "random"])
    bad = ["", "null", "[]", '{"type":"choose","action":99999999999999999999}', '{"type":"sit","seat":-1,"name":"x"}']
    with at_table(server, table) as ana:
        ana.sit(0, "Ana")
        with at_table(server, table) as rude, pytest.raises(WebSocketDisconnect) as closed:
            for number in range(100):
                rude.socket.send_text(bad[number % len(bad)])
                rude.receive()
        assert closed.value.code == 1008
        with at_table(server, table) as rude, pytest.raises(WebSocketDisconnect):
            rude.socket.send_bytes(b"\x00" * 100)
            for _ in range(200):
                rude.socket.send_text("x" * 4000)
                rude.receive()
        assert play_deal(ana, lambda legal: legal[0])["payoffs"]
    assert server.app.state.lobby.sockets == 0


def test_too_many_messages_end_the_connection(server, monkeypatch):
    monkeypatch.setattr(limits, "MESSAGE_BURST", 5.0)
    monkeypatch.setattr(limits, "MESSAGE_RATE", 0.01)
    table = open_table(server, "auction_poker", [None, None])
    with at_table(server, table) as eager, pytest.raises(WebSocketDisconnect):
        for _ in range(10):
            eager.send("resume", token="x")
        while True:
            eager.receive()


def test_thinking_is_rationed(server):
    table = open_table(server, "auction_poker", [None, "random"])
    with at_table(server, table) as ana:
        ana.sit(0, "Ana")
        ana.turn()
        for _ in range(int(limits.THINK_BURST) + 2):
            ana.send("hint", agent="random")
        assert "wait" in ana.until(lambda message: message["type"] == "error")["message"]


def test_a_client_that_does_not_read_is_let_go(server, monkeypatch):
    monkeypatch.setattr(limits, "SEND_SECONDS", 0.05)
    lobby = server.app.state.lobby
    room = opened(server, open_table(server, "auction_poker", [None, None]))

    class Deaf:
        async def send_text(self, text: str) -> None:
            await anyio.sleep_forever()

        async def receive(self) -> None:
            await anyio.sleep_forever()

        async def close(self, code: int) -> None:
            await anyio.sleep_forever()

    async def meet() -> None:
        with anyio.fail_after(5):
            await Connection(Deaf(), room, lobby).run()  # type: ignore[arg-type]

    server.portal.call(meet)
    assert not room.listeners


@pytest.mark.parametrize(
    "body",
    [
        None,
        {"game": "chess", "seats": [None, None]},
        {"game": "auction_poker", "seats": [None]},
        {"game": "auction_poker", "seats": [None] * 8},
        {"game": "auction_poker", "seats": [None, "ppo:/etc/passwd"]},
        {"game": "auction_poker", "seats": [None, "os:system"]},
        {"game": "auction_poker", "seats": [None, 3]},
        {"game": "auction_poker", "seats": [None, None], "settings": {"num_deals": 1000}},
        {"game": "auction_poker", "seats": [None, None], "settings": {"ante": "x"}},
        {"game": "auction_poker", "seats": [None, None], "settings": {"nonsense": 1}},
        {"game": "auction_flop", "seats": [None, None], "settings": {"starting_chips": 1_000_000}},
        {"game": "auction_flop", "seats": [None, None], "settings": {"pot_shares": [[1]]}},
        {"game": "auction_poker", "seats": [None, None], "more": 1},
    ],
)
def test_tables_that_make_no_sense_are_refused_in_a_line(server, body):
    answer = server.post("/api/tables", json=body)
    assert answer.status_code == 400 and answer.json()["error"] and "\n" not in answer.json()["error"]


def test_large_and_foreign_bodies_are_refused(server):
    headers = {"content-type": "application/json"}
    for content in (b"{", b"[" * 5000, b'"' + b"x" * 20_000 + b'"', b"\xff\xfe"):
        assert server.post("/api/tables", content=content, headers=headers).status_code == 400
    assert server.post("/api/tables", content=b"{}", headers={"content-type": "text/plain"}).status_code == 400


def test_rooms_are_bounded_and_empty_ones_make_room(monkeypatch):
    monkeypatch.setattr(limits, "MAX_ROOMS", 3)
    with serving() as client:
        first = open_table(client, "auction_poker", [None, None])
        with at_table(client, first) as ana:
            ana.sit(0, "Ana")
            others = [open_table(client, "auction_poker", [None, None]) for _ in range(4)]
            assert set(client.app.state.lobby.rooms) == {first, *others[-2:]}
            with pytest.raises(WebSocketDisconnect), at_table(client, others[0]) as gone:
                gone.receive()


def test_a_match_that_was_played_outlives_tables_that_somebody_opens_by_the_hundred(monkeypatch):
    monkeypatch.setattr(limits, "MAX_ROOMS", 5)
    with serving() as client:
        played = open_table(client, "auction_poker", [None, "random"])
        with at_table(client, played) as ana:
            ana.sit(0, "Ana")
            play_deal(ana, lambda legal: legal[0])
            token = ana.token
        for _ in range(20):
            open_table(client, "auction_poker", ["random", "random"])
        assert len(client.app.state.lobby.rooms) == 5
        with at_table(client, played) as again:
            again.send("resume", token=token)
            assert again.until(lambda message: message["type"] == "state" and message["you"] == 0)["payoffs"]


def test_who_opens_too_many_tables_keeps_nobody_else_from_it(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(limits, "MAX_CLIENTS", 3)
    buckets = Buckets(1.0, 2.0)
    monkeypatch.setattr(Bucket.__init__, "__defaults__", (lambda: now[0],))
    assert [buckets.take("rude") for _ in range(4)] == [True, True, False, False]
    assert buckets.take("kind")
    for number in range(50):
        assert buckets.take(str(number))
    assert len(buckets._buckets) == 3


def test_accents_do_not_pile_up_and_equal_names_are_equal():
    assert clean_name("Z\u0351\u036b\u0313\u036a\u0302A") == "Z\u0351\u036bA"
    assert clean_name("Jose\u0301") == clean_name("Jos\u00e9") == "Jos\u00e9"
    assert clean_name("\u0645\u064e\u0651") == "\u0645\u064e\u0651"


def test_a_bucket_allows_a_burst_and_then_its_rate():
    now = [0.0]
    bucket = Bucket(2.0, 3.0, lambda: now[0])
    assert [bucket.take() for _ in range(5)] == [True, True, True, False, False]
    now[0] = 1.0
    assert [bucket.take() for _ in range(3)] == [True, True, False]


def test_two_thousand_messages_of_all_kinds_are_each_answered_or_done(server, monkeypatch):
    """Counted: every message is refused with a line, or does what it says; then the table is played on."""
    monkeypatch.setattr("auction_env.web.server.MOST_STRIKES", 1e9)
    monkeypatch.setattr(limits, "MESSAGE_BURST", 1e9)
    rng = np.random.default_rng(11)
    values = [-1, 0, 1, 2, 56, 2**63, -0.5, 1e300, None, True, "", "x" * 300, "\u202e\x00", "rules", [], {}, [[0]]]
    table = open_table(server, "auction_poker", [None, None, "random"])
    counts = {"refused": 0, "done": 0}
    with at_table(server, table) as person, at_table(server, table) as other:
        person.sit(0, "Ana")
        other.sit(1, "Ben")
        for number in range(2000):
            kind = str(rng.choice([*MESSAGES, "nonsense"]))
            message = {"type": kind, **{name: values[rng.integers(len(values))] for name in MESSAGES.get(kind, ())}}
            if rng.random() < 0.2:
                message[str(rng.choice(["seat", "x", "type"]))] = values[rng.integers(len(values))]
            if kind in ("leave", "sit", "resume") and set(message) == {"type", *MESSAGES[kind]} and kind == "leave":
                message["seat"] = 0  # or there would be nobody to go on with
            text = json.dumps(message)
            if rng.random() < 0.1:
                cut = int(rng.integers(len(text)))
                text = text[:cut] + chr(int(rng.integers(1, 0x2FFF))) + text[cut + 1 :]
            person.socket.send_text(text)
            person.send("ping")
            errors = pongs = 0
            while not pongs or (kind == "ping" and pongs + errors < 2):
                received = person.receive()
                errors += received["type"] == "error"
                pongs += received["type"] == "pong"
            counts["refused" if errors else "done"] += 1
            if number % 100 == 0:
                other.catch_up()
        assert counts["refused"] > 1000 and sum(counts.values()) == 2000
        person.catch_up()
        assert person.state["seats"][0]["name"] == "Ana" and person.state["seats"][1]["name"] == "Ben"
