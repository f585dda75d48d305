"""Installed where nothing can be written, in a zip archive, and as .pyc files alone: it plays, searches and learns."""

from __future__ import annotations

import compileall
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from auction_env.agents.digests import content_digest
from tiny_run import ROOT, tiny_arguments

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled under NUMBA_DISABLE_JIT=1")
PARTS = {"auction_env": ROOT / "auction_env", "auction_env/agents": ROOT / "agents"}


def unpacked(folder: Path) -> Path:
    """The package as a wheel unpacks it."""
    for name, source in PARTS.items():
        shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def read_only(folder: Path) -> Path:
    """A file in the way of each cache stops root too."""
    for path in [*unpacked(folder).rglob("*")]:
        if path.is_dir():
            (path / "__pycache__").write_text("")
    return folder


def archive(folder: Path) -> Path:
    return Path(shutil.make_archive(str(folder), "zip", unpacked(folder)))


def bytecode(folder: Path) -> Path:
    compileall.compile_dir(unpacked(folder), quiet=2, legacy=True)
    for path in [*folder.rglob("*.py")]:
        path.unlink()
    return folder


KINDS = {
    "read-only": (read_only, "no folder for it can be written to: NUMBA_CACHE_DIR=FOLDER names one"),
    "zip": (archive, "the sources are not files (a zip archive, or .pyc files alone): install them as files"),
    "pyc": (bytecode, "the sources are not files (a zip archive, or .pyc files alone): install them as files"),
}


def run(place: Path, *line: object, **more: str) -> subprocess.CompletedProcess[str]:
    """``auction_env`` of this place and no other, with no home to write to."""
    env = {**os.environ, "PYTHONPATH": str(place), "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    env |= {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null", **more}
    env.pop("NUMBA_CACHE_DIR", None)
    arguments = [sys.executable, *map(str, line)]
    return subprocess.run(
        arguments,
        cwd=place.parent,
        env=env,
        input="r\nq\nq\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_imported_and_lists_what_there_is(tmp_path, kind):
    place = KINDS[kind][0](tmp_path / "place")
    code = (
        "import auction_env; from auction_env.agents.digests import content_digest as digest; "
        "print(auction_env.__file__, digest('champion'), digest('random') == '')"
    )
    found = run(place, "-c", code)
    assert found.returncode == 0, found.stderr
    where, champion, nothing = found.stdout.split()
    assert where.startswith(str(place)) and champion == content_digest("champion") and nothing == "True"
    assert "champion" in run(place, "-m", "auction_env", "list").stdout
    assert "auction_flop-8p-v0" in run(place, "-m", "auction_env", "evaluate", "benchmark", "list").stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_it_plays_searches_and_learns_and_says_once_why_it_compiles_anew(tmp_path, kind):
    pytest.importorskip("sb3_contrib")
    make, why = KINDS[kind]
    place = make(tmp_path / "place")
    lines = {
        "play": ["play", "--seed", "1"],
        "match": ["evaluate", "champion", "montecarlo:rollouts=4", "--deals", "4", "--workers", "1"],
        "train": ["train", ROOT / "configs" / "auction_poker.toml", *tiny_arguments(tmp_path / "run")],
    }
    for name, line in lines.items():
        found = run(place, "-m", "auction_env", *line)
        assert found.returncode == 0 and "Traceback" not in found.stderr, (name, found.stderr)
        assert found.stderr.count(why) == 1, (name, found.stderr)
        assert name != "play" or "no page of rules" not in found.stdout
    assert (tmp_path / "run" / "model.safetensors").exists()
