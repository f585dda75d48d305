"""Matches of named agents: the same digest for any number of processes and after any interruption."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from auction_env.agents.digests import content_digest

import evaluate
from auction_env import agents
from auction_env.cli import arguments
from auction_env.cli import evaluate as evaluate_commands
from auction_env.core.files import FolderInUseError
from auction_env.engine.agent import PlayerError
from auction_env.evaluation import benchmarks as tasks
from auction_env.evaluation.runner import MatchConfig, TournamentError, _Store, play
from auction_env.games import get_game
from auction_env.games.game import make_settings

ROOT = Path(__file__).parents[2]
POKER = get_game("auction_poker")


def plan(deals=120, seed=3, line=("random", "random", "random"), **more) -> MatchConfig:
    settings = make_settings(POKER, {"num_players": len(line), **more.pop("settings", {})})
    return MatchConfig(
        POKER, settings, tuple(line), deals, agents.make, seed, part_tables=more.pop("part_tables", 20), **more
    )


def test_same_digest_for_any_number_of_processes():
    told: list[tuple[int, int]] = []
    one = play(plan(), progress=lambda done, total: told.append((done, total))).result
    two = play(plan(), workers=2).result
    assert one.digest == two.digest and one.deals == 120
    assert told == [(done, 120) for done in range(20, 121, 20)]


def test_agents_are_not_told_the_seed_of_the_decks():
    told: list[int] = []

    def make(spec, game, settings, seed):
        told.append(seed)
        return agents.make(spec, game, settings, seed)

    settings = make_settings(POKER, {"num_players": 2})
    for _ in range(2):
        MatchConfig(POKER, settings, ("random", "random"), 10, make, seed=3).players()
    assert told[0] == told[1] and told[0] > 2**32, "a word made of the seed, the same each time"


def test_an_interrupted_match_goes_on_to_the_same_digest(tmp_path):
    whole = play(plan()).result
    state = tmp_path / "state"

    def stop(done, total):
        if done == 60:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(plan(), state=state, progress=stop)
    assert len(list(state.glob("part_*.npz"))) == 3
    told: list[int] = []
    again = play(plan(), state=state, progress=lambda done, total: told.append(done)).result
    assert again.digest == whole.digest
    assert told[0] == 60, "finished parts are not played again"
    told.clear()
    assert play(plan(), state=state, progress=lambda done, total: told.append(done)).result.digest == whole.digest
    assert told == [120]


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_damaged_part_is_played_again(tmp_path):
    whole = play(plan(), state=tmp_path).result
    good = files_of(tmp_path)
    (tmp_path / "part_00001.npz").write_bytes(b"PK\x03\x04 cut short")
    np.savez(tmp_path / "part_00002.npz", net=np.zeros((1, 1), np.int64))
    (tmp_path / "part_00003.npz").write_bytes(b"")
    told: list[int] = []
    again = play(plan(), state=tmp_path, progress=lambda done, total: told.append(done)).result
    assert again.digest == whole.digest and told == [60, 80, 100, 120]
    assert {name: len(content) for name, content in files_of(tmp_path).items()} == {
        name: len(content) for name, content in good.items()
    }


def test_a_part_damaged_in_any_byte_is_found(tmp_path):
    play(plan(), state=tmp_path)
    path = tmp_path / "part_00001.npz"
    good = path.read_bytes()
    rng = np.random.default_rng(5)
    with _Store(plan(), tmp_path) as store:
        assert set(store.finished()) == set(range(6))
        for place in [*range(0, len(good), 1 + len(good) // 300), len(good) - 1]:
            bad = bytearray(good)
            bad[place] ^= 1 << int(rng.integers(8))
            path.write_bytes(bad)
            assert 1 not in store.finished(), place
        for size in (0, 1, 31, 32, 33, len(good) - 1):
            path.write_bytes(good[:size])
            assert 1 not in store.finished(), size
        path.write_bytes(good + b"\0")
        assert 1 not in store.finished()


def test_parts_of_other_matches_and_places_are_found(tmp_path):
    """Parts whose shape is right: of another seed, of another agent, and of this match under another number."""
    play(plan(), state=tmp_path / "own")
    play(plan(seed=4), state=tmp_path / "seed")
    play(plan(contents=("1", "2", "3")), state=tmp_path / "content")
    own = tmp_path / "own"
    (own / "part_00000.npz").write_bytes((tmp_path / "seed" / "part_00000.npz").read_bytes())
    (own / "part_00002.npz").write_bytes((tmp_path / "content" / "part_00002.npz").read_bytes())
    (own / "part_00004.npz").write_bytes((own / "part_00003.npz").read_bytes())
    with _Store(plan(), own) as store:
        assert set(store.finished()) == {1, 3, 5}


def test_two_matches_cannot_use_one_folder_at_once(tmp_path):
    refused = []

    def again(done, total):
        with pytest.raises(FolderInUseError, match=f"in use by process {os.getpid()}") as error:
            play(plan(), state=tmp_path)
        refused.append(error)

    whole = play(plan(), state=tmp_path, progress=again).result
    assert len(refused) == 6 and play(plan(), state=tmp_path).result.digest == whole.digest
    assert sorted(files_of(tmp_path)) == ["match.json", *(f"part_{part:05d}.npz" for part in range(6))]


def test_a_start_that_was_killed_before_it_played_can_be_started_again(tmp_path):
    (tmp_path / ".lock").write_text("99999999\n")
    (tmp_path / ".auction_env-99999999-01234567.tmp").write_text("half a match.json")
    play(plan(), state=tmp_path)
    assert sorted(files_of(tmp_path)) == ["match.json", *(f"part_{part:05d}.npz" for part in range(6))]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seed": 4}, "seed is 3 there, 4 here"),
        ({"deals": 140}, "deals is 120 there, 140 here"),
        ({"settings": {"max_bid": 2}}, "settings is .*'max_bid': 3.*there"),
        ({"part_tables": 40}, "part_decks is 20 there, 40 here"),
        ({"contents": ("1", "2", "3")}, "contents is"),
        ({"first_apart": True}, "first_apart is False there, True here"),
    ],
)
def test_the_state_of_another_match_is_refused(tmp_path, change, words):
    play(plan(), state=tmp_path)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(TournamentError, match=f"holds another match: .*{words}"):
        play(plan(**change), state=tmp_path)
    assert sorted(tmp_path.iterdir()) == before


def test_folders_that_are_no_state_are_left_alone(tmp_path):
    (tmp_path / "letter.txt").write_text("keep me")
    with pytest.raises(TournamentError, match="no folder of a match, and is not empty"):
        play(plan(), state=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
    (tmp_path / "match.json").write_text("{")
    with pytest.raises(TournamentError, match="cannot be read"):
        play(plan(), state=tmp_path)
    (tmp_path / "match.json").write_text("[]")
    with pytest.raises(TournamentError, match="is damaged"):
        play(plan(), state=tmp_path)


def bad_agent(spec, game, settings, seed):
    """Like ``agents.make``, but "bad" acts illegally and "killer" ends its process."""
    agent = agents.make("random", game, settings, seed)
    agent.name = spec
    if spec == "bad":
        agent.act_batch = lambda observations, masks: masks.argmin(axis=1)
    if spec == "killer":
        parent = os.getpid()
        agent.act_batch = lambda observations, masks: os._exit(3) if os.getpid() == parent else None
    return agent


def test_errors_of_agents_and_dead_processes_are_told_from_any_process():
    for workers in (1, 2):
        bad = MatchConfig(POKER, make_settings(POKER, {}), ("random", "bad", "bad"), 60, bad_agent, part_tables=20)
        with pytest.raises(PlayerError, match="agent bad acted illegally"):
            play(bad, workers=workers)
    killer = MatchConfig(POKER, make_settings(POKER, {}), ("random", "killer", "killer"), 60, bad_agent, part_tables=20)
    with pytest.raises(TournamentError, match="a process of this match died"):
        play(killer, workers=2)
    with pytest.raises(TournamentError, match="workers is 0"):
        play(plan(), workers=0)
    with pytest.raises(ValueError, match="there is no agent 'nobody'"):
        play(plan(line=("random", "nobody")), workers=2)


def test_the_files_behind_an_agent_are_part_of_what_it_is(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"one")
    before = content_digest(f"ppo:{tmp_path}?greedy")
    assert before and before == content_digest(f"ppo:{tmp_path / 'model.safetensors'}")
    (tmp_path / "model.safetensors").write_bytes(b"two")
    assert content_digest(f"ppo:{tmp_path}") not in ("", before)
    assert content_digest("random") == "" and content_digest("montecarlo:rollouts=20") == ""


# --- the command line ---


def command(*line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "evaluate.py", *line], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture
def run(capsys, monkeypatch):
    """The command line in this process: its exit status and what it printed."""
    monkeypatch.chdir(ROOT)

    def call(*line):
        try:
            status = evaluate.main(list(line))
        except SystemExit as refused:  # by argparse
            status = refused.code
        out, err = capsys.readouterr()
        return SimpleNamespace(returncode=status, stdout=out, stderr=err)

    return call


def test_the_command_line_says_what_is_wrong(tmp_path, run):
    deep, damaged = tmp_path / "deep.json", tmp_path / "run"
    deep.write_text("[" * 100_000)
    damaged.mkdir()
    (damaged / "run.json").write_text("{")
    for line, words in (
        ((), "the following arguments are required: agents"),
        (("random", "random", "--seed", "-1"), "seed is -1"),
        (("random", "random", "--deals", "0"), "deals is 0"),
        (("random", "nobody"), "no agent 'nobody': the agents are"),
        (("random", "random", "--set", "num_players=3"), "2 agents for 3 seats"),
        (("random", "random", "--set", "max_bits=3"), "did you mean 'max_bid'"),
        (("random", "random", "--seatings", "0"), "seatings is 0"),
        (("random", "random", "--workers", "0"), "workers is 0"),
        (("random", "random", "--deals", str(10**15)), f"deals is {10**15}: it must be from 1 to"),
        (("random", "random", "--seats", "5"), "unrecognized arguments: --seats 5"),
        (("random", "random", "--time-limit", "0"), "argument --time-limit: 0: it must be above 0"),
        (("random", "random", "--time-limit", "nan"), "argument --time-limit: nan: it must be above 0"),
        (("random", "random", "--json", str(tmp_path / "no" / "file")), "there is no folder"),
        (("random", "random", "--json", str(tmp_path)), "is a folder, name a file in it"),
        (("random", "random", "--report", str(tmp_path)), "is a folder, name a file in it"),
        (("compare", str(deep), str(deep)), "deep.json is not read: it is nested"),
        ((f"ppo:{damaged}", "random"), "run.json is no account of a run"),
        (
            ("random", "random", "--deals", "1", "--workers", "1", "--checkpoint-dir", str(deep / "x")),
            "Not a directory",
        ),
    ):
        found = run(*line)
        assert found.returncode == 2 and words in found.stderr, found.stderr
        assert "Traceback" not in found.stderr


@pytest.fixture
def children_hear_ctrl_c():
    """What a script starts with & ignores Ctrl-C, and so do its children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.usefixtures("children_hear_ctrl_c")
def test_a_killed_run_goes_on_to_the_same_digest(tmp_path):
    """Ctrl-C, then a kill without warning, while two processes play; then it ends as one never stopped."""
    line = ["random", "random", "--deals", "120000", "--part", "500", "--workers", "2", "--json"]
    state = tmp_path / "state"

    def parts():
        return len(list(state.glob("part_*.npz")))

    def stop(number, with_parts):
        process = subprocess.Popen(
            [sys.executable, "evaluate.py", *line, str(tmp_path / "a"), "--checkpoint-dir", str(state)],
            cwd=ROOT,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        until = time.monotonic() + 120
        while parts() < with_parts and time.monotonic() < until:
            time.sleep(0.02)
        os.killpg(process.pid, number)
        error = process.communicate(timeout=60)[1]
        assert not (tmp_path / "a").exists() and with_parts <= parts() < 240
        return process.returncode, error

    status, error = stop(signal.SIGINT, 3)
    assert status == 130 and f"the same command goes on from {state}" in error and "Traceback" not in error
    assert stop(signal.SIGKILL, parts() + 3)[0] == -signal.SIGKILL
    assert command(*line, str(tmp_path / "a"), "--checkpoint-dir", str(state)).returncode == 0
    assert command(*line, str(tmp_path / "b"), "--workers", "1").returncode == 0
    first, second = (json.loads((tmp_path / name).read_text()) for name in "ab")
    assert first == second and first["deals"] == 120_000


def test_modes_of_the_command_line(tmp_path, run):
    """Round robin, task, comparison, report, best response: each once, small; and what each refuses."""
    pytest.importorskip("openskill")
    quick = ("--deals", "120", "--workers", "1")
    found = run("round-robin", "random", "rules", "rules:tight", "--seats", "2", *quick)
    assert found.returncode == 0 and "The chips are the truth" in found.stdout, found.stderr
    small = tmp_path / "small.toml"
    small.write_text(
        'name = "small"\ngame = "auction_poker"\nversion = 0\nopponents = ["random"]\ndeals = 200\nseed = 5\n'
        "[settings]\nnum_players = 2\n"
    )
    for agent in ("random", "rules"):
        found = run("benchmark", str(small), agent, "--json", str(tmp_path / f"{agent}.json"))
        assert found.returncode == 0 and "## small" in found.stdout, found.stderr
    found = run("compare", str(tmp_path / "rules.json"), str(tmp_path / "random.json"))
    assert found.returncode == 0 and "rules is better" in found.stdout, found.stderr
    assert run("random", "random", "--json", str(tmp_path / "other.json"), *quick).returncode == 0
    found = run("compare", str(tmp_path / "rules.json"), str(tmp_path / "other.json"))
    assert found.returncode == 2 and "different tasks" in found.stderr
    both = tmp_path / "both.json"
    assert run("benchmark", str(small), "random", "rules", "--json", str(both)).returncode == 0
    found = run("compare", str(both))
    assert found.returncode == 0 and "rules is better" in found.stdout, "a file with several results"
    found = run("compare", str(tmp_path / "rules.json"))
    assert found.returncode == 2 and "there is one result in" in found.stderr
    found = run("match", "rules", "random", "--report", str(tmp_path / "out.html"), *quick)
    assert found.returncode == 0 and (tmp_path / "out.html").read_text().count("<svg") > 8, found.stderr
    for line, words in (
        (("benchmark", "auction_poker-4p-v9", "random"), "did you mean 'auction_poker-4p-v0'"),
        (("benchmark", "auction_poker-4p-v0"), "name the agents to measure"),
        (("benchmark", str(small), "nobody"), "no agent 'nobody'"),
        (("benchmark", str(small), "random", "--seed", "1"), "unrecognized arguments: --seed"),
        (("compare", "one.json"), "one.json cannot be read"),
        (("best-response", "random", "random"), "takes one agent"),
        (("round-robin", "random", "rules", "--aivat"), "unrecognized arguments: --aivat"),
        (("random", "random", "--aivat", "--report", str(tmp_path / "o")), "not allowed with argument"),
    ):
        found = run(*line)
        assert found.returncode == 2 and words in found.stderr and "Traceback" not in found.stderr, found.stderr
    assert run("benchmark", "list").stdout.split() == tasks.available()


@pytest.mark.slow
def test_best_response_from_the_command_line_keeps_an_agent_that_can_be_played(tmp_path):
    run = str(tmp_path / "response")
    line = (
        "best-response",
        "random",
        "--seats",
        "2",
        "total_timesteps=2e5",
        "--deals",
        "2000",
        "--checkpoint-dir",
        run,
    )
    found = command(*line)
    assert found.returncode == 0 and "random is exploitable by at least" in found.stdout, found.stderr
    again = command(f"ppo:{run}?greedy", "random", "--deals", "2000")
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("name", evaluate_commands.COMMANDS)
def test_each_subcommand_has_a_page_of_help_with_an_example_that_it_takes(name, run):
    found = run(name, "--help")
    assert found.returncode == 0 and f"evaluate.py {name}" in found.stdout
    example = evaluate_commands.COMMANDS[name].example
    assert example in " ".join(found.stdout.split())
    parsed = evaluate_commands._parser("evaluate.py", name).parse_intermixed_args(example.split())
    assert vars(parsed)
    overview = run("--help").stdout
    assert f"  {name} " in overview and example in overview


@pytest.mark.parametrize(("option", "lacking"), [("--without", "match"), ("--seats", "match"), ("--seed", "benchmark")])
def test_options_of_another_subcommand_are_refused(option, lacking, run):
    found = run(lacking, "random", "random", option, "1")
    assert found.returncode == 2 and f"unrecognized arguments: {option}" in found.stderr


@pytest.mark.parametrize(
    ("text", "value"), [("20000", 20_000), ("2e4", 20_000), ("1e9", 10**9), ("20_000", 20_000), ("-1", -1)]
)
def test_whole_numbers_may_be_written_with_an_exponent(text, value):
    assert arguments.integer(text) == value and type(arguments.integer(text)) is int


@pytest.mark.parametrize("text", ["1.5", "many", "", "2.5e0", "true", "nan", "[1]", "1e999"])
def test_what_is_no_whole_number_is_refused_and_says_so(text, run):
    found = run("random", "random", f"--deals={text}")
    assert found.returncode == 2 and "argument --deals" in found.stderr and "no whole number" in found.stderr


def test_missing_extras_are_told_before_anything_is_played(tmp_path, run, monkeypatch):
    hidden = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name in lacking else hidden(name))
    small = tmp_path / "none"
    for lacking, line, extra in (
        ({"openskill"}, ("round-robin", "random", "rules", "--deals", "1e8"), "evaluate"),
        ({"matplotlib"}, ("random", "random", "--deals", "1e8", "--report", str(small)), "evaluate"),
        ({"torch"}, ("best-response", "random", "--seats", "2"), "train"),
    ):
        found = run(*line)
        assert found.returncode == 2 and len(found.stderr.splitlines()) == 1, found.stderr
        assert f"this needs {next(iter(lacking))}: pip install 'auction_env[{extra}]'" in found.stderr
