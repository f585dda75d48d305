"""Standing benchmarks: every shipped task is whole, wrong files are refused, boards and comparisons are honest."""

from __future__ import annotations

import dataclasses
import json
import os

import pytest

from auction_env import agents
from auction_env.evaluation import benchmarks as tasks
from auction_env.evaluation.benchmarks import Task, TaskError, load_task, play_board
from auction_env.evaluation.results import ResultError, compare
from auction_env.evaluation.runner import play

SMALL = Task("small", "auction_poker", 0, {"num_players": 2}, ["random"], 60, 5)
TEXT = """\
name = "small"
game = "auction_poker"
version = 0
opponents = ["random"]
deals = 60
seed = 5
settings = { num_players = 2 }
"""
DIGESTS = {
    "auction_flop-2p-v0": "d8c945443cc20aa8",
    "auction_flop-4p-v0": "0e7430f27e279e25",
    "auction_flop-8p-v0": "105fcddf37084c96",
    "auction_poker-2p-v0": "3c7b6f1483068134",
    "auction_poker-4p-v0": "2f5e12cfca7f4b8a",
    "auction_poker-7p-v0": "8c9780ac939b8952",
}


@pytest.mark.parametrize("name", tasks.available())
def test_shipped_tasks_can_be_played(name):
    task = load_task(name)
    game, settings = task.table()
    assert name == f"{game.NAME}-{settings.num_players}p-v{game.VERSION}"
    plan = dataclasses.replace(task, deals=1).plan("random", agents.make)
    assert play(plan).result.deals == plan.schedule.seatings == settings.num_players


def test_digests_are_those_of_the_tasks_when_they_were_yaml():
    """Numbers measured before 0.2.0 stay comparable."""
    assert {name: load_task(name).digest for name in tasks.available()} == DIGESTS


def test_tasks_there_are_for_both_games_and_the_names_of_the_issue():
    assert {"auction_poker-4p-v0", "auction_poker-2p-v0", "auction_flop-4p-v0"} <= set(tasks.available())


def test_a_file_is_a_task(tmp_path):
    (tmp_path / "small.toml").write_text(TEXT)
    assert load_task(tmp_path / "small.toml") == SMALL


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TEXT + "sead = 1\n", "has no key 'sead': did you mean 'seed'"),
        (TEXT.replace("seed = 5\n", ""), "lacks the key 'seed'"),
        (TEXT.replace("deals = 60", 'deals = "many"'), "deals is 'many': it must be an integer"),
        (TEXT.replace("deals = 60", "deals = 0"), "deals is 0"),
        (TEXT.replace('["random"]', '"random"'), "opponents is 'random': it must be a list of texts"),
        (TEXT.replace('["random"]', '["random", "random"]'), "3 agents for 2 seats"),
        (TEXT.replace('"small"', '"large"'), "the file's name says 'small'"),
        (TEXT.replace("version = 0", "version = 7"), "is of auction_poker-v7, but its rules are at v0"),
        (TEXT.replace("num_players = 2", "num_plyers = 2"), "did you mean 'num_players'"),
        (TEXT.replace('game = "auction_poker"', 'game = "bridge"'), "bridge"),
        ("- a\n", "is not TOML"),
        ("a = " + "[" * 30_000, "is not TOML"),
        ("# " + "x" * (1 << 16), "is larger than 65536 bytes"),
    ],
)
def test_wrong_files_are_refused_and_say_why(tmp_path, text, words):
    (tmp_path / "small.toml").write_text(text)
    with pytest.raises(ValueError, match=words.replace("[", r"\[")):
        load_task(tmp_path / "small.toml")


def test_unknown_tasks_are_refused_with_the_nearest_name(tmp_path):
    with pytest.raises(TaskError, match="did you mean 'auction_poker-4p-v0'"):
        load_task("auction_poker-4p-v9")
    with pytest.raises(TaskError, match=r"TOML files since 0\.2\.0: write it as old\.toml"):
        load_task(tmp_path / "old.yaml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(TaskError, match="is not UTF-8"):
        load_task(tmp_path / "bytes.toml")
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(TaskError, match="not a regular file"):
        load_task(tmp_path / "pipe.toml")
    with pytest.raises(TaskError, match="cannot be read"):
        load_task(tmp_path / "none.toml")


def test_the_seatings_of_a_task_do_not_depend_on_who_is_measured():
    """Even an agent that its opponents are: so its results can be compared with any other's."""
    results = [play(SMALL.plan(agent, agents.make)).result for agent in ("random", "rules")]
    assert [result.payoffs.shape for result in results] == [(30, 2, 2)] * 2
    found = compare(results[1].summary(), results[0].summary())
    assert found.names == ("rules", "random")
    harder = dataclasses.replace(SMALL, opponents=["rules"])
    with pytest.raises(ResultError, match=r"different tasks.*opponents: \[\['random', ''\]\] and \[\['rules', ''\]\]"):
        compare(results[0].summary(), play(harder.plan("random", agents.make)).result.summary())


def test_boards_rank_agents_say_what_is_shown_and_why_some_are_absent(tmp_path):
    task = dataclasses.replace(SMALL, deals=1000)
    board = play_board(task, ["random", "rules", "nobody"], agents.make, state=tmp_path)
    assert [result.names[0] for result in board.results] == ["rules", "random"]
    assert board.ahead(0).difference.above_zero
    text = tasks.leaderboard([board], "make leaderboard")
    for part in (
        "## small",
        "| `rules` | ",
        "- `nobody`: there is no agent 'nobody'",
        "1 random",
        board.results[0].digest,
        str(board.ahead(0).difference),
    ):
        assert part in text
    same = tasks.Board(task, [board.results[0]] * 2, {})
    assert "+0.000 ± 0.000 (not shown to be better)" in same.text()
    again = play_board(task, ["rules"], agents.make, state=tmp_path)
    assert again.results[0].digest == board.results[0].digest


def test_digests_of_tasks_change_with_every_key():
    changes = {
        "settings": {"num_players": 2, "max_bid": 2},
        "opponents": ["rules"],
        "deals": 61,
        "seed": 6,
        "seatings": 2,
    }
    digests = {dataclasses.replace(SMALL, **{key: value}).digest for key, value in changes.items()} | {SMALL.digest}
    assert len(digests) == 1 + len(changes)
    assert json.loads(json.dumps(dataclasses.asdict(SMALL)))["deals"] == 60


def test_forms_of_an_agent_stand_for_it_on_a_leaderboard():
    found = tasks.shipped_entries(
        ["random", "rules", "slow"], ["rules:tight", "slow:little", "rules:tight", "./bot.py"]
    )
    assert found == ["random", "rules:tight", "slow:little", "./bot.py"]
