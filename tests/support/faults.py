"""Faults put into runs on purpose: kills at random moments, disks that fill up, two at once; and counts of them."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
COUNTS: Counter[str] = Counter()  # what was injected, by kind; the suite prints it


def command(*arguments: object) -> list[str]:
    """The command line of ``evaluate.py``."""
    return [sys.executable, str(ROOT / "evaluate.py"), *map(str, arguments)]


def run(*arguments: object, limit_bytes: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run it to its end, as ``run_python``."""
    return run_python("evaluate.py", *arguments, limit_bytes=limit_bytes)


def run_python(script: str, *arguments: object, limit_bytes: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run a script of the repository; no file may grow beyond ``limit_bytes``, as if the disk were full."""
    line = [sys.executable, str(ROOT / script), *map(str, arguments)]
    if limit_bytes is not None:
        COUNTS["disk full"] += 1
        line = ["bash", "-c", f'ulimit -f {-(-limit_bytes // 1024)}; exec "$@"', "bash", *line]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)


def kill_at(seconds: float, *line: object, number: int = signal.SIGKILL) -> int:
    """Start a script and send a signal to it alone, not to its workers, after a time; its exit status."""
    return kill_when(lambda process: _ended(process, seconds), *line, number=number)


def _ended(process: subprocess.Popen[bytes], seconds: float) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def kill_when(wait: Callable[[subprocess.Popen[bytes]], object], *line: object, number: int = signal.SIGKILL) -> int:
    """Start a script of the repository, ``wait`` for a moment, and send a signal to it alone; its exit status."""
    arguments = [sys.executable, str(ROOT / str(line[0])), *map(str, line[1:])]
    with subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait(process)
        if process.poll() is None:
            process.send_signal(number)
            COUNTS[signal.Signals(number).name] += 1
        return process.wait(60)


def kill_while_it_works(
    mark: Callable[[], object], rng: random.Random, *line: object, number: int = signal.SIGKILL
) -> int:
    """Start a script, wait until ``mark`` gives another value, and a random moment, and kill it; its exit status."""
    before, end = mark(), time.monotonic() + 120

    def wait(process: subprocess.Popen[bytes]) -> None:
        while process.poll() is None and mark() == before and time.monotonic() < end:
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.05))

    return kill_when(wait, *line, number=number)


def kill_often(
    line: Sequence[object],
    rng: random.Random,
    kills: int,
    mark: Callable[[], object],
    through: Callable[[], object],
    startup: float = 1.5,
) -> None:
    """Kill a script at random moments, again and again: while it starts, and after each change of ``mark``.

    A run that was through before the kill came is handed to ``through``, which checks it and makes room for another.
    """
    done = 0
    for _ in range(kills):
        if rng.random() < 0.3:
            status = kill_at(rng.uniform(0.05, startup), *line)
        else:
            status = kill_while_it_works(mark, rng, *line)
        if status == 0:
            through()
            done += 1
        else:
            assert status == -signal.SIGKILL, status
    assert done < kills or kills == 0


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
