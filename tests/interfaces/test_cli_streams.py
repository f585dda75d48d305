"""The command lines beside bad streams and hostile texts: files are kept, nothing commands the terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_run import tiny_arguments

from auction_env import Table, make_record

ROOT = Path(__file__).resolve().parents[2]
QUICK = ["random", "random", "--deals", "40", "--workers", "1"]


def run(*line, encoding="utf-8", **more) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "PYTHONIOENCODING": encoding}
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    return subprocess.run([sys.executable, *map(str, line)], cwd=ROOT, check=False, timeout=300, env=env, **more)


def test_a_result_is_kept_where_it_cannot_be_printed(tmp_path):
    """An ASCII terminal, a reader that is gone, and a full device: the file is the same."""
    found = run("evaluate.py", *QUICK, "--json", tmp_path / "ascii", encoding="ascii")
    assert found.returncode == 0 and b"+/-" in found.stdout, found.stderr
    read, write = os.pipe()
    os.close(read)
    assert run("evaluate.py", *QUICK, "--json", tmp_path / "closed", stdout=write).returncode == 0
    os.close(write)
    contents = {(tmp_path / name).read_bytes() for name in ("ascii", "closed")}
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            found = run("evaluate.py", *QUICK, "--json", tmp_path / "full", stdout=full)
        assert found.returncode != 0 and b"No space left" in found.stderr and b"Traceback" not in found.stderr
        contents.add((tmp_path / "full").read_bytes())
    assert len(contents) == 1 and json.loads(contents.pop())["deals"] == 40


def test_outputs_that_cannot_be_written_are_told_before_anything_is_played(tmp_path):
    for arguments in (
        ["evaluate.py", "random", "random", "--deals", "900000000", "--json", tmp_path / ("x" * 300)],
        ["-m", "auction_env", "play", "--record", tmp_path / ("x" * 300)],
    ):
        found = run(*arguments, stdin=subprocess.DEVNULL)
        assert found.returncode == 2 and b"File name too long" in found.stderr and not found.stdout, found


@pytest.mark.parametrize("stdin", [b"\xef\xbb\xbf1\r\n\xff\xfe\n\x001\nq\n", b"", "1\nq\n".encode("utf-16")])
def test_play_reads_lines_from_anywhere(tmp_path, stdin):
    found = run("-m", "auction_env", "play", "--seed", "1", "--record", tmp_path / "r", input=stdin)
    assert found.returncode == 0 and b"Traceback" not in found.stderr and (tmp_path / "r").exists(), found.stderr


def test_play_without_streams(tmp_path):
    line = f"'{sys.executable}' -m auction_env play --seed 1 --record '{tmp_path / 'r'}'"
    for redirections in ("<&-", "<&- >&-", "<&- >&- 2>&-"):
        found = subprocess.run(
            ["bash", "-c", f"{line} {redirections}"], cwd=ROOT, capture_output=True, check=False, timeout=300
        )
        assert found.returncode == 0 and b"Traceback" not in found.stderr, (redirections, found.stderr)
        assert json.loads((tmp_path / "r").read_text())["deals"]


def test_texts_of_others_cannot_command_the_terminal(tmp_path):
    bell = "\x1b]0;owned\x07\x9b2J\u202e"
    table = Table("auction_poker")
    table.reset(1)
    record = make_record(table)
    hostile = tmp_path / f"record{bell}.json"
    for name, change in {
        "format": {"format": bell},
        "game": {"game": bell},
        "version": {"version": bell},
        "settings": {"settings": {bell: 1}},
        "seed": {"seed": bell},
        "digest": {"digest": bell},
        "deals": {"deals": [{bell: 1, "actions": bell}]},
    }.items():
        hostile.write_text(json.dumps({**record, **change}))
        out = _both("-m", "auction_env", "replay", hostile)
        assert "auction_env: " in out, name
    out = _both("-m", "auction_env", "replay", tmp_path / f"none{bell}")
    assert "\\x1b]0;owned\\x07\\x9b2J\\u202e" in out
    assert "there is no agent" in _both("evaluate.py", bell, "random", "--deals", "40", "--workers", "1")
    _both("evaluate.py", "random", "random", "--set", f"{bell}=1")


def _both(*line) -> str:
    """What a command printed, which must hold no control character."""
    found = run(*line)
    out = (found.stdout + found.stderr).decode()
    assert found.returncode == 2 and "Traceback" not in out, out
    assert not set(out) & {"\x1b", "\x07", "\x9b", "\u202e"}, ascii(out)
    return out


def test_what_is_typed_wrongly_is_told_escaped():
    """A file's name may stand there: a shell puts in what a pattern such as ``*`` finds."""
    bell = "\x1b]0;owned\x07"
    for line in (["compare", "a", f"--{bell}"], ["match", "random", "random", "--time-limit", bell], [f"-{bell}", "x"]):
        _both("evaluate.py", *line)
    _both("-m", "auction_env", bell)
    _both("-m", "auction_env", "solve", "x", f"--{bell}")


@pytest.mark.slow
def test_training_ends_though_nobody_can_read_of_it(tmp_path):
    """Its bar goes into a closed pipe, its lines to a full device: what it learned is kept all the same."""
    pytest.importorskip("sb3_contrib")
    read, write = os.pipe()
    os.close(read)
    target = "/dev/full" if os.path.exists("/dev/full") else os.devnull
    with open(target, "w") as full:
        line = ["train.py", ROOT / "configs" / "auction_poker.toml", *tiny_arguments(tmp_path / "run")]
        found = run(*line, stdout=full, stderr=write)
    os.close(write)
    assert found.returncode in (0, 2)
    assert (tmp_path / "run" / "model.safetensors").exists() and (tmp_path / "run" / "evaluation.json").exists()
