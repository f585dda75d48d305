"""The server over its sockets: seats, whole deals, hints, watching, restarts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette")

from starlette.websockets import WebSocketDisconnect
from web_play import HOST, Person, at_table, open_table, opened, play_deal, serving

from auction_env.engine.record import make_record, replay, write_record
from auction_env.engine.table import Table
from auction_env.web import limits
from auction_env.web.room import Room, frame, view_data
from auction_env.web.store import Store, StoreError
from auction_env.web.watch import Recording

STATIC = Path(__file__).parents[2] / "auction_env/web/static"


@pytest.fixture(scope="module")
def server():
    with serving() as client:
        yield client


def test_a_person_plays_a_deal_of_each_game_against_agents(server, game):
    table = open_table(server, game.NAME, [None, "rules", "random"], num_deals=2, starting_chips=200)
    with at_table(server, table) as ana:
        ana.sit(0, "Ana")
        state = play_deal(ana, lambda legal: legal[-1])
        assert sum(state["payoffs"]) + opened(server, table).room.table.deals[0].carried_out == 0
        assert state["latest"] and state["view"]["phase"] == "deal over"
        ana.send("next")
        state = ana.until(lambda message: message["type"] == "state" and message["deal"] == 2)
        assert state["payoffs"] is None
    record = make_record(opened(server, table).room.table)
    assert make_record(replay(record))["digest"] == record["digest"]


def test_own_value_and_what_each_choice_would_make(server):
    table = open_table(server, "auction_flop", [None, None])
    with at_table(server, table) as ana, at_table(server, table) as ben:
        ana.sit(0, "Ana")
        ben.sit(1, "Ben")
        person = ana if opened(server, table).room.table.to_act == 0 else ben
        person.turn()
        legal = {one["name"]: one for one in person.state["legal"]}
        assert "then" not in legal["discard none"]
        cards = person.state["view"]["seats"][person.state["you"]]["cards"]
        from auction_env.games.hands import describe_high, high_rank

        assert person.state["own"] == describe_high(high_rank(cards))
        assert legal["discard 0 1"]["then"] == describe_high(high_rank(cards[2:]))


def test_a_seat_is_kept_by_its_token_and_by_nothing_else(server):
    table = open_table(server, "auction_poker", [None, "random"])
    with at_table(server, table) as ana:
        ana.sit(0, "Ana")
        token = ana.token
    with at_table(server, table) as other:
        state = other.until(lambda message: message["type"] == "state")
        assert state["you"] is None and state["own"] == "" and not state["legal"]
        assert state["view"]["seats"][0]["cards"] == ["??", "??"]
        other.send("choose", action=state["settings"]["max_bid"])
        assert "seat" in other.until(lambda message: message["type"] == "error")["message"]
        other.send("resume", token=token[:-1])
        assert "kept" in other.until(lambda message: message["type"] == "error")["message"]
        other.send("sit", seat=0, name="Eve")
        assert "taken" in other.until(lambda message: message["type"] == "error")["message"]
        other.send("resume", token=token)
        state = other.until(lambda message: message["type"] == "state" and message["you"] == 0)
        assert "??" not in state["view"]["seats"][0]["cards"]
        assert token not in json.dumps(state)


def test_nobody_plays_before_all_seats_are_taken_and_an_agent_may_fill_one(server):
    table = open_table(server, "auction_poker", [None, None, "random"])
    with at_table(server, table) as ana:
        ana.sit(0, "Ana")
        assert not ana.state["started"] and not ana.state["choosing"]
        ana.send("fill", seat=1, agent="rules")
        ana.turn()
        assert ana.state["started"]


def test_names_are_cleaned_and_not_taken_twice(server):
    table = open_table(server, "auction_poker", [None, None])
    with at_table(server, table) as ana, at_table(server, table) as ben:
        ana.sit(0, "  <b>Ana\u202e\x1b[2J</b>" + "x" * 500)
        name = ana.state["seats"][0]["name"]
        assert len(name) <= limits.MAX_NAME and "\u202e" not in name and "\x1b" not in name
        for bad in ("", " \u200b ", name):
            ben.send("sit", seat=1, name=bad)
            ben.until(lambda message: message["type"] == "error")


def test_a_hint_and_what_choices_cost(server):
    table = open_table(server, "auction_poker", [None, "rules"])
    with at_table(server, table) as ana:
        ana.sit(0, "Ana")
        ana.turn()
        ana.send("hint", agent="montecarlo")
        hint = ana.until(lambda message: message["type"] == "hint")
        assert hint["action"] in [one["action"] for one in ana.state["legal"]]
        assert {one["name"] for one in hint["options"]} == {"bid 1", "bid 2", "bid 3"}
        assert all("value" in one and one["error"] >= 0 for one in hint["options"])
        ana.send("hint", agent="bots/evil.py")
        assert "no agent" in ana.until(lambda message: message["type"] == "error")["message"]
        ana.send("review")
        assert "not over" in ana.until(lambda message: message["type"] == "error")["message"]

        def folds(legal):
            return next((one for one in legal if one["name"] == "fold"), legal[0])

        play_deal(ana, folds)
        ana.send("review")
        choices = ana.until(lambda message: message["type"] == "review")["choices"]
        assert len(choices) <= 3
        assert [one["cost"] for one in choices] == sorted((one["cost"] for one in choices), reverse=True)
        assert all(one["cost"] > 0 and one["error"] >= 0 and one["chosen"] != one["better"] for one in choices)
        # What is needed to call them by cards and chips, as this seat knew them.
        own = ana.state["view"]["seats"][0]["cards"]
        assert all(one["cards"] == own and one["phase"] and "facts" in one and "centre" in one for one in choices)


def test_agents_alone_are_watched_with_everything_in_view(server, game):
    table = open_table(server, game.NAME, ["random", "rules"])
    with at_table(server, table) as watcher:
        frames: list[dict] = []

        def done(message):
            if message["type"] == "frames":
                assert message["from"] == len(frames)
                frames.extend(message["frames"])
            return watcher.state.get("payoffs") and frames[-1]["view"]["phase"] == "deal over"

        watcher.until(done)
        room = opened(server, table).room
        assert len(frames) == len(room.moments) + 1
        names = [frame["choice"]["name"] for frame in frames[1:]]
        assert names == [room.table.action_names[action] for action in room.moves]
        assert [one for frame in frames for one in frame["lines"]] == room.lines


def test_what_all_may_see_with_one_seat_put_in_is_what_that_seat_sees(game):
    table, rng = Table(game, {"num_players": 4}), np.random.default_rng(3)
    for seed in range(4):
        table.reset(seed)
        while True:
            shown = frame(game, table.state, [])
            for seat in range(4):
                seats = [*shown["view"]["seats"]]
                seats[seat] = shown["own"][seat]
                assert {**shown["view"], "seats": seats} == view_data(table.view(seat))
            assert {**shown["view"], "seats": shown["all"]} == view_data(table.view(None))
            if table.to_act is None:
                break
            table.act(int(rng.choice(table.legal())))


def test_a_record_is_shown_step_by_step_and_agents_asked_about_it(tmp_path, game):
    table = Table(game, {"num_players": 3})
    table.reset(1)
    while table.to_act is not None:
        table.act(table.legal()[0])
    write_record(tmp_path / "deal.json", make_record(table))
    with serving(recordings=(Recording.load(tmp_path / "deal.json"),)) as client:
        assert client.get("/api/setup").json()["recordings"][0]["deals"] == 1
        frames = client.get("/api/records/0/0").json()
        assert len(frames) == len(table.deals[0].actions) + 1
        assert [frame["choice"]["name"] for frame in frames[1:]] == [
            table.action_names[action] for _, action in table.deals[0].actions
        ]
        assert "options" not in frames[1]["choice"]  # nobody is named
        advice = client.get("/api/records/0/0/0?agent=rules").json()
        assert advice["action"] in [one["action"] for one in advice["options"]]
        assert client.get("/api/records/0/0/0?agent=nobody").status_code == 400
        assert client.get(f"/api/records/0/0/{len(frames) - 1}?agent=rules").status_code == 400
        for path in ("/api/records/1/0", "/api/records/0/9", "/api/records/0/0/999?agent=rules", "/api/records/x/0"):
            assert client.get(path).status_code == 404


def test_tables_survive_a_restart_with_seats_and_committed_choices(tmp_path):
    store = tmp_path / "tables.db"
    with serving(store=store) as client:
        table = open_table(client, "auction_poker", [None, None], num_deals=3)
        with at_table(client, table) as ana, at_table(client, table) as ben:
            ana.sit(0, "Ana")
            ben.sit(1, "Ben")
            for _ in range(3):
                for person in (ana, ben):
                    person.catch_up()
                    if person.state["choosing"]:
                        person.send("choose", action=person.state["legal"][0]["action"])
            ana.turn()
            if ana.state["choosing"]:
                ana.send("choose", action=ana.state["legal"][0]["action"])
            ana.catch_up()
            before, tokens = ana.state, (ana.token, ben.token)
        actions = list(opened(client, table).room.moves)
        committed = dict(opened(client, table).room.committed)
    with serving(store=store) as client:
        room = opened(client, table).room
        assert room.moves == actions and actions
        assert room.committed == committed
        with at_table(client, table) as ana:
            ana.send("resume", token=tokens[0])
            after = ana.until(lambda message: message["type"] == "state" and message["you"] == 0)
            assert after["view"] == before["view"] and after["lines"] == before["lines"]
        assert tokens[0].encode() not in store.read_bytes()


def test_a_damaged_table_is_dropped_and_a_foreign_file_refused(tmp_path, capsys):
    store = Store(tmp_path / "tables.db")
    from auction_env.games import get_game

    game = get_game("auction_poker")
    for number in ("good", "bad"):
        room = Room(number, game, game.Settings(), [None] * 3, seed=1)
        room.moves += [] if number == "good" else [56]
        store.save(room)
    store.close()
    with serving(store=tmp_path / "tables.db") as client:
        assert list(client.app.state.lobby.rooms) == ["good"]
    assert "bad" in capsys.readouterr().err
    (tmp_path / "other").write_bytes(b"something else" * 100)
    with pytest.raises(StoreError, match="other"):
        Store(tmp_path / "other")


def test_other_names_and_other_pages_are_refused(server):
    table = open_table(server, "auction_poker", [None, None])
    assert server.get("/", headers={"host": "evil.example"}).status_code == 403
    assert server.get("/", headers={"host": "evil.example:8321"}).status_code == 403
    assert server.get("/", headers={"host": "[::1]:8321"}).status_code == 200
    bad = {"origin": "https://evil.example"}
    assert server.post("/api/tables", json={}, headers=bad).status_code == 403
    for headers in (bad, {"origin": "null"}, {"origin": f"http://{HOST}:1"}):
        with (
            pytest.raises(WebSocketDisconnect),
            server.websocket_connect(f"ws://{HOST}/socket/{table}", headers=headers),
        ):
            pass
    with server.websocket_connect(f"ws://{HOST}/socket/{table}", headers={"origin": f"http://{HOST}"}) as socket:
        assert Person(socket).receive()["type"] == "state"


def test_the_page_is_small_asks_no_other_host_and_writes_no_markup(server):
    page = server.get("/")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert "set-cookie" not in page.headers
    files = {path.name: path.read_text(encoding="utf-8") for path in STATIC.iterdir()}
    assert sum(len(text.encode()) for text in files.values()) < 300_000
    for name, text in files.items():
        answer = server.get("/static/" + name)
        assert answer.text == text
        assert server.get("/static/" + name, headers={"if-none-match": answer.headers["etag"]}).status_code == 304
        assert not re.findall(r"https?://(?!www\.w3\.org)|@import", text), name
        assert not re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", text), (
            name
        )
        assert not re.findall(r"\sstyle=|\son\w+=\"", text), name
    assert server.get("/static/../room.py").status_code == 404
    assert server.get("/static/nothing.js").status_code == 404


@pytest.mark.parametrize("language", ["en", "es", "fr", "pt"])
def test_the_rules_are_whole_in_each_language(language, game):
    def shape(text):
        part = text[text.index(f"  {game.NAME}: {{") :]
        return [re.sub(r'"[^"]*"', '""', line) for line in part[: part.index("\n  },")].splitlines()]

    read = (STATIC / f"rules-{language}.js").read_text(encoding="utf-8")
    assert shape(read) == shape((STATIC / "rules-en.js").read_text(encoding="utf-8"))


def test_a_record_of_agents_shows_how_likely_their_choices_were(game):
    table = Table(game, {"num_players": 2})
    table.reset(1)
    table.act(table.legal()[0])
    recording = Recording("deal.json", {**make_record(table), "agents": ["random", "random"]})
    with serving(recordings=(recording,)) as client:
        choice = client.get("/api/records/0/0").json()[1]["choice"]
        shares = [one["p"] for one in choice["options"]]
        assert choice["action"] in [one["action"] for one in choice["options"]]
        assert abs(sum(shares) - 1) < 0.01


def test_the_page_shows_a_deal_without_a_server(tmp_path):
    import recorded_deal

    recorded_deal.write_deal(tmp_path)
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    named = re.findall(r'(?:src|href)="([^"#]+)"', page)
    assert "deal.js" in named and all((tmp_path / name).is_file() for name in named)
    deal = json.loads((tmp_path / "deal.json").read_text(encoding="utf-8"))
    assert deal["frames"][-1]["view"]["phase"] == "deal over"
    assert any("options" in frame.get("choice", {}) for frame in deal["frames"])


def test_a_match_of_agents_is_looked_at_deal_by_deal_and_one_of_people_is_not(server):
    table = open_table(server, "auction_poker", ["random", "montecarlo"], num_deals=2, starting_chips=60)
    with at_table(server, table) as watcher:
        watcher.until(lambda message: message["type"] == "state" and message["payoffs"])
        watcher.send("next")
        watcher.until(lambda message: message["type"] == "state" and message["deal"] == 2)
    room = opened(server, table).room
    frames = server.get(f"/api/tables/{table}/0").json()
    assert frames[-1]["view"]["phase"] == "deal over"
    assert len(frames) == len(room.table.deals[0].actions) + 1
    rated = [one for frame in frames[1:] if frame["choice"]["seat"] == 1 for one in frame["choice"]["options"]]
    assert rated and all("value" in one and one["error"] >= 0 for one in rated)
    assert server.get(f"/api/tables/{table}/0/3?agent=rules").json()["agent"] == "rules"
    for path in (f"{table}/9", "none/0", f"{table}/0/999?agent=rules"):
        assert server.get(f"/api/tables/{path}").status_code == 404
    mixed = open_table(server, "auction_poker", [None, "random"])
    assert server.get(f"/api/tables/{mixed}/0").status_code == 400
    with at_table(server, mixed) as ana:
        ana.sit(0, "Ana")
        ana.turn()
        ana.send("choose", action=ana.state["legal"][0]["action"])
        ana.catch_up()
        ana.send("leave")
        ana.until(lambda message: message["type"] == "state" and message["you"] is None)
    assert server.get(f"/api/tables/{mixed}/0").status_code == 400, "what a person held stays hidden when it has gone"


def test_a_solved_policy_sits_at_its_own_settings_and_says_exact_values(tmp_path):
    from auction_env import cli

    config = Path(__file__).parents[2] / "configs/solve/poker_4_cards.toml"
    assert cli.main(["solve", str(config), f"run={tmp_path}", "iterations=50"]) == 0
    name = f"solved:{tmp_path}"
    with serving(agents=("random", name)) as client:
        bound = client.get("/api/setup").json()["bound"]
        assert list(bound) == [name] and bound[name]["game"] == "auction_poker"
        settings = bound[name]["settings"]
        table = open_table(client, "auction_poker", [None] * settings["num_players"], **settings)
        with at_table(client, table) as ana:
            ana.sit(0, "Ana")
            ana.send("fill", seat=1, agent=name)
            ana.turn()
            ana.send("hint", agent=name)
            options = ana.until(lambda message: message["type"] == "hint")["options"]
            assert all({"p", "value"} <= set(one) and "error" not in one for one in options)
            assert abs(sum(one["p"] for one in options) - 1) < 0.01


def test_how_far_compiling_has_come_is_told(server):
    warm = server.get("/api/warm").json()
    assert 0 <= warm["done"] <= warm["of"] and warm["of"] >= 2


@pytest.mark.parametrize("agent", ["nobody", "ppo:no/such/run", "rules:nonsense"])
def test_an_agent_that_cannot_play_is_told_before_the_server_starts(agent, capsys):
    from auction_env import cli

    assert cli.main(["serve", "--port", "0", "--agent", agent]) == 2
    said = capsys.readouterr().err
    assert said.startswith("auction_env: ") and f"--agent {agent}: " in said and said.count("\n") == 1


def test_a_folder_of_records_says_which_of_them_is_none(tmp_path, capsys):
    from auction_env import cli

    table = Table("auction_poker", {"num_players": 2})
    table.reset(1)
    write_record(tmp_path / "a.json", make_record(table))
    (tmp_path / "b.json").write_text('{"format": 1}')
    assert cli.main(["serve", "--port", "0", "--record", str(tmp_path)]) == 2
    assert str(tmp_path / "b.json") in capsys.readouterr().err


def test_more_agents_at_a_table_take_less_time_each(monkeypatch):
    from auction_env.web import lobby

    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    with serving(pace=0.6) as client:
        monkeypatch.setattr(lobby.asyncio, "sleep", sleep)
        for agents in (2, 6):
            waited.clear()
            table = open_table(client, "auction_poker", [None, *["random"] * agents])
            with at_table(client, table) as ana:
                ana.sit(0, "Ana")
                play_deal(ana, lambda legal: legal[0])
            assert {round(one, 6) for one in waited} == {0.6 if agents == 2 else 0.3}
