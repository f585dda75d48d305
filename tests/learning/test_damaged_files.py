"""Every kind of file that is read, damaged at random: refused by name in a few words, or read; nothing else happens."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import faults
import numpy as np
import pytest
from tiny_run import ROOT, quiet, tiny

pytest.importorskip("sb3_contrib")

from auction_env.agents.base import AgentError
from auction_env.agents.learning.config import ConfigError, load_config, make_config
from auction_env.agents.learning.policy_file import load_policy
from auction_env.agents.learning.runs import RUN, resume_run, start_run
from auction_env.agents.learning.trainer import MODEL

from auction_env import agents, get_game
from auction_env.core.terminal import one_line
from auction_env.engine.record import RecordError, make_record, read_record, replay
from auction_env.engine.table import Table
from auction_env.evaluation.benchmarks import TaskError, load_task
from auction_env.evaluation.results import ResultError, compare, load_result
from auction_env.evaluation.runner import MatchConfig, TournamentError, play
from auction_env.games.game import make_settings

GAME = get_game("auction_poker")
SETTINGS = make_settings(GAME, {"num_players": 2})
TASK = "auction_poker-2p-v0.toml"
# In any text of a file: a title for the terminal, a clear screen, text from right to left.
ESCAPES = "\x1b\x07\x9b\u202e"


def plan() -> MatchConfig:
    return MatchConfig(GAME, SETTINGS, ("random", "random"), 40, agents.make, part_tables=20)


@pytest.fixture(scope="module")
def originals(tmp_path_factory) -> Path:
    """A folder with a sound file of every kind."""
    folder = tmp_path_factory.mktemp("originals")
    table = Table(GAME, SETTINGS)
    table.reset(3)
    while table.to_act is not None:
        table.act(int(np.flatnonzero(table.mask(table.to_act))[0]))
    (folder / "record.json").write_text(json.dumps(make_record(table)))
    task = load_task(TASK.removesuffix(".toml"))
    small = MatchConfig(GAME, SETTINGS, ("random", "random"), 40, agents.make, first_apart=True)
    (folder / "result.json").write_text(json.dumps(play(small).result.summary()))
    (folder / TASK).write_text((ROOT / "auction_env/data/benchmarks" / TASK).read_text())
    assert task.name == "auction_poker-2p-v0"
    (folder / "config.toml").write_text((ROOT / "configs/auction_poker.toml").read_text())
    start_run(tiny(folder / "run", total_timesteps=128, settings={"num_players": 2}), quiet).run()
    play(plan(), state=folder / "match")
    return folder


def go_on(path: Path) -> Any:
    trainer = resume_run(path.parent, [], quiet)
    trainer.close()
    return trainer


def read_config(path: Path) -> Any:
    return make_config({**vars(load_config(path)), "run": "r"})


# Kind: where it lies, what reads it, the errors that it may give.
KINDS: dict[str, tuple[str, Callable[[Path], Any], tuple[type[Exception], ...]]] = {
    "record": ("record.json", lambda path: replay(read_record(path)), (RecordError, ValueError)),
    "result": ("result.json", lambda path: compare(*[load_result(path)] * 2), (ResultError,)),
    "task": (TASK, load_task, (TaskError, ValueError)),
    "config": ("config.toml", read_config, (ConfigError, ValueError)),
    "policy": (f"run/{MODEL}", lambda path: load_policy(path, GAME, SETTINGS), (AgentError,)),
    "account of a run": (f"run/{RUN}", go_on, (ConfigError, AgentError, ValueError)),
    "plan of a match": ("match/match.json", lambda path: play(plan(), state=path.parent), (TournamentError,)),
    "part of a match": ("match/part_00001.npz", lambda path: play(plan(), state=path.parent), (TournamentError,)),
}


def damages(whole: bytes, rng: random.Random, number: int) -> list[tuple[str, bytes]]:
    """Copies of a file: a bit flipped, an end cut off, deep nesting, escape sequences, and noise put in."""
    found = []
    for turn in range(number):
        place = rng.randrange(len(whole))
        kind = ("flipped", "flipped", "flipped", "cut", "nested", "escapes", "noise")[turn % 7]
        flipped = whole[:place] + bytes([whole[place] ^ 1 << rng.randrange(8)]) + whole[place + 1 :]
        put_in = {
            "flipped": flipped,
            "cut": whole[:place],
            "nested": whole[:place] + b"[" * 20_000 + whole[place:],
            "escapes": whole[:place] + ESCAPES.encode() + whole[place:],
            "noise": whole[:place] + rng.randbytes(9) + whole[place + 9 :],
        }
        found.append((kind, put_in[kind]))
    return found


def damage(originals: Path, kind: str, number: int) -> int:
    """Damage a file in many ways, read each; how many were refused."""
    name, read, errors = KINDS[kind]
    path, refused = originals / name, 0
    whole = path.read_bytes()
    sound = read(path)
    try:
        for how, content in damages(whole, random.Random(kind), number):
            path.write_bytes(content)
            faults.COUNTS[f"{how}: {kind}"] += 1
            try:
                found = read(path)
            except errors as error:
                refused += 1
                line = one_line(error)
                assert len(line) < 2100 and not set(line) & set(ESCAPES), how
            else:
                if "match" in name:  # a part that was damaged is played again
                    assert found.result.digest == sound.result.digest
    finally:
        path.write_bytes(whole)
    return refused


@pytest.fixture(scope="module", autouse=True)
def report_counts(request):
    yield
    faults.report(request.config.pluginmanager.getplugin("capturemanager"), "reading")


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_refused_in_a_few_words_or_read(originals, kind):
    number = 21 if kind == "account of a run" else 56
    assert damage(originals, kind, number) >= (0 if kind == "part of a match" else 5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_damaged_in_very_many_ways_is_refused_in_a_few_words_or_read(originals, kind):
    damage(originals, kind, 210 if kind == "account of a run" else 2100)
