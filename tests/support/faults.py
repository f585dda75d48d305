"""Faults put into runs on purpose: kills at random moments, disks that fill up, two at once; and counts of them."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COUNTS: Counter[str] = Counter()  # what was injected, by kind; the suite prints it


def command(*arguments: object) -> list[str]:
    """The command line of ``evaluate.py``."""
    return [sys.executable, str(ROOT / "evaluate.py"), *map(str, arguments)]


def run(*arguments: object, limit_bytes: int | None = None) -> subprocess.CompletedProcess[str]:
    """Run it to its end; no file may grow beyond ``limit_bytes``, as if the disk were full."""
    line = command(*arguments)
    if limit_bytes is not None:
        COUNTS["disk full"] += 1
        line = ["bash", "-c", f'ulimit -f {-(-limit_bytes // 1024)}; exec "$@"', "bash", *line]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)


def kill_at(seconds: float, *arguments: object, number: int = signal.SIGKILL) -> int:
    """Start it and send a signal to it alone, not to its workers, after a time; its exit status."""
    with subprocess.Popen(
        command(*arguments), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
            COUNTS[signal.Signals(number).name] += 1
        return process.wait(60)


def kill_while_it_plays(folder: Path, rng: random.Random, *arguments: object, number: int = signal.SIGKILL) -> int:
    """Start it, wait for one more part in ``folder`` and a random moment, and kill it; its exit status."""
    before, end = _parts(folder), time.monotonic() + 120
    with subprocess.Popen(
        command(*arguments), cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while process.poll() is None and _parts(folder) <= before and time.monotonic() < end:
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.05))
        if process.poll() is None:
            process.send_signal(number)
            COUNTS[signal.Signals(number).name] += 1
        return process.wait(60)


def _parts(folder: Path) -> int:
    return len(list(folder.glob("part_*.npz"))) if folder.is_dir() else 0


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
