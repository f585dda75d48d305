"""Faults put into runs on purpose: kills at random moments, disks that fill up, two at once; and counts of them."""

from __future__ import annotations

import contextlib
import importlib
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
COMMAND = "auction-env"
COUNTS: Counter[str] = Counter()  # what was injected, by kind; the suite prints it


def command(*arguments: object) -> list[str]:
    """The command line of ``evaluate.py``."""
    return [sys.executable, str(ROOT / "evaluate.py"), *map(str, arguments)]


def run(*arguments: object, limit_bytes: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run it to its end, as ``run_python``."""
    return run_python("evaluate.py", *arguments, limit_bytes=limit_bytes)


def _program(script: str) -> list[str]:
    return [sys.executable, *(["-m", "auction_env"] if script == COMMAND else [str(ROOT / script)])]


def run_python(script: str, *arguments: object, limit_bytes: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run a script of the repository; no file may grow beyond ``limit_bytes``, as if the disk were full.

    The first of a fresh clone compiles: minutes on a busy machine.
    """
    line = [*_program(script), *map(str, arguments)]
    if limit_bytes is not None:
        COUNTS["disk full"] += 1
        line = ["bash", "-c", f'ulimit -f {-(-limit_bytes // 1024)}; exec "$@"', "bash", *line]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False, timeout=900)


def kill_at(seconds: float, *line: object, number: int = signal.SIGKILL) -> int:
    """Start a script and send a signal to it alone, not to its workers, after a time; its exit status."""
    return kill_when(lambda process: _ended(process, seconds), *line, number=number)


def _ended(process: subprocess.Popen[bytes], seconds: float) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def kill_when(wait: Callable[[subprocess.Popen[bytes]], object], *line: object, number: int = signal.SIGKILL) -> int:
    """Start a script of the repository, ``wait`` for a moment, and send a signal to it alone; its exit status."""
    script, *rest = map(str, line)
    with subprocess.Popen(
        [*_program(script), *rest], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        wait(process)
        if process.poll() is None:
            process.send_signal(number)
            COUNTS[signal.Signals(number).name] += 1
        return process.wait(60)


def kill_while_it_works(
    mark: Callable[[], object], rng: random.Random, *line: object, number: int = signal.SIGKILL
) -> int:
    """Start a script, wait until ``mark`` gives another value, and a random moment, and kill it; its exit status."""
    before = mark()
    return kill_when(lambda process: _wait_for(mark, before, lambda: process.poll() is None, rng), *line, number=number)


def _wait_for(
    mark: Callable[[], object], before: object, alive: Callable[[], bool], rng: random.Random, spread: float = 0.05
) -> None:
    end = time.monotonic() + 120
    while alive() and mark() == before and time.monotonic() < end:
        time.sleep(0.005)
    time.sleep(rng.uniform(0, spread))


# --- many kills: processes forked from one that has imported everything, for most of a short run is imports -----------

PROGRAMS = {"train.py": "auction_env.cli.train", "evaluate.py": "auction_env.cli.evaluate", COMMAND: "auction_env.cli"}
_forks = multiprocessing.get_context("forkserver") if os.name == "posix" else multiprocessing.get_context()
_forks.set_forkserver_preload(
    [*PROGRAMS.values(), *(f"auction_env.agents.learning.{name}" for name in ("runs", "report", "onnx_file"))]
)


def _work(line: Sequence[str]) -> None:
    """In a forked process: what a script does, with nobody who reads what it prints."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.chdir(ROOT)
    sys.exit(importlib.import_module(PROGRAMS[line[0]]).main(line[1:]))


def _fork(line: Sequence[object]) -> BaseProcess:
    """A script, started in a process that has imported everything already."""
    process = _forks.Process(target=_work, args=([str(part) for part in line],))
    process.start()
    return process


def seconds_of_fork(line: Sequence[object]) -> float:
    """How long a script lasts in such a process."""
    began = time.monotonic()
    process = _fork(line)
    process.join(600)
    assert process.exitcode == 0, process.exitcode
    return time.monotonic() - began


def kill_fork(mark: Callable[[], object], rng: random.Random, line: Sequence[object], spread: float) -> int:
    """As ``kill_while_it_works``, in a process that has imported everything already."""
    before = mark()
    process = _fork(line)
    _wait_for(mark, before, process.is_alive, rng, spread)
    if process.is_alive():
        process.kill()
        COUNTS["SIGKILL"] += 1
    process.join(60)
    assert process.exitcode is not None
    return process.exitcode


def kill_often(
    line: Sequence[object],
    rng: random.Random,
    kills: int,
    mark: Callable[[], object],
    through: Callable[[], object],
    startup: float = 1.5,
    spread: float = 0.05,
) -> None:
    """Kill a script at random moments, as often as asked: while it starts, and within ``spread`` seconds of each
    change of ``mark``.

    A run that was through before the kill came is handed to ``through``, which checks it and makes room for another.
    """
    done = killed = 0
    while killed < kills:
        status = (
            kill_at(rng.uniform(0.05, startup), *line) if rng.random() < 0.2 else kill_fork(mark, rng, line, spread)
        )
        if status == 0:
            through()
            done += 1
        else:
            assert status == -signal.SIGKILL, status
            killed += 1
        assert done <= 2 * kills, "it is through before most kills: it lasts too short a time to be killed"


def parts(folder: Path) -> int:
    """How many parts of a match a folder keeps."""
    return len(list(folder.glob("part_*.npz"))) if folder.is_dir() else 0


def changed(path: Path) -> int:
    """When a file was last written, in nanoseconds; 0 while there is none."""
    return path.stat().st_mtime_ns if path.exists() else 0


def report(capsys: Any, where: str) -> None:
    """Print what was injected, whatever pytest captures."""
    counts = ", ".join(f"{count} x {kind}" for kind, count in sorted(COUNTS.items()))
    with capsys.global_and_fixture_disabled() if capsys else contextlib.nullcontext():
        print(f"\nfaults injected so far, {where}: {counts}")


def digest_of(file: Path) -> str:
    """The digest in a file of ``--json``."""
    return json.loads(file.read_text(encoding="utf-8"))["digest"]


def children_of(marker: str) -> list[int]:
    """Living processes whose environment holds a text: a run's own and its workers'. Linux only."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                alive = (entry / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
                if alive and marker.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def leftovers(folder: Path) -> list[str]:
    """Names in a folder of a match that are neither its parts nor its plan."""
    names = sorted(path.name for path in folder.iterdir())
    return [name for name in names if name != "match.json" and not name.startswith("part_")]


def hidden(folder: Path) -> list[str]:
    """Names of locks and temporary files in a folder."""
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))
