"""How the benchmarks measure: contenders take turns, figures are medians with their spread, ratios are of neighbours.

A shared machine can change its speed by a factor of two within tenths of a second. So contenders that are compared run
in short bouts, in turn, in one process (A B C, C B A, A B C, ...); each round gives one rate for each and one ratio for
each pair; of these the median and the 10th and 90th percentile are reported.
"""

from __future__ import annotations

import dataclasses
import os
import platform
import subprocess
import time
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
PACKAGES = (
    *("auction_env", "numba", "numpy", "pettingzoo", "gymnasium", "torch", "stable-baselines3", "sb3-contrib"),
    *("open_spiel", "pgx", "jax", "rlcard", "eval7", "phevaluator", "pokerkit"),
)


@dataclasses.dataclass(frozen=True)
class Effort:
    """How long everything takes. The default is what ``make bench`` uses; ``TINY`` only shows that the code runs."""

    rounds: int = 11  # of each comparison
    seconds: float = 0.3  # of a bout
    batch: int = 4096  # tables that step together
    iterations: int = 8  # of training, for its profile
    learning_rounds: int = 5  # a bout of the tutorial's way takes some seconds
    starts: int = 5  # processes started with a warm cache
    table_counts: tuple[int, ...] = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536)
    scaling_rounds: int = 5
    scaling_seconds: float = 0.1
    long_run: int = 10_000_000  # decisions
    many_tables: int = 65_536
    hands: int = 1 << 16
    learning: tuple[str, ...] = ()  # overrides of the training configs
    tutorial_steps: int = 2048  # PPO's default iteration


TINY = Effort(
    rounds=1,
    seconds=0.002,
    batch=64,
    iterations=1,
    learning_rounds=1,
    starts=1,
    table_counts=(1, 64),
    scaling_rounds=1,
    scaling_seconds=0.002,
    long_run=20_000,
    many_tables=256,
    hands=64,
    learning=("num_envs=32", "n_steps=4", "batch_size=64", "n_epochs=1"),
    tutorial_steps=16,
)


@dataclasses.dataclass
class Contender:
    """Something that is timed.

    Attributes:
        name: unique in its row.
        bout: works for about so many seconds; returns what it counted, and the seconds that it took.
        game: the game of ours that it plays; None for a peer.
    """

    name: str
    bout: Callable[[float], tuple[int, float]]
    game: str | None = None


class Absent(Exception):
    """A peer is not installed."""


def repeat(work: Callable[[], int]) -> Callable[[float], tuple[int, float]]:
    """A bout that repeats ``work``, which returns what it counted, and times all of it."""

    def bout(seconds: float) -> tuple[int, float]:
        count, begun = 0, time.perf_counter()
        while True:
            count += work()
            taken = time.perf_counter() - begun
            if taken >= seconds:
                return count, taken

    return bout


def repeat_timed(work: Callable[[], tuple[int, float]]) -> Callable[[float], tuple[int, float]]:
    """A bout that repeats ``work``, which returns what it counted and those of its seconds that count."""

    def bout(seconds: float) -> tuple[int, float]:
        count, taken = work()
        while taken < seconds:
            more, spent = work()
            count, taken = count + more, taken + spent
        return count, taken

    return bout


def take_turns(contenders: Sequence[Contender], rounds: int, seconds: float) -> dict[str, list[float]]:
    """Rates of each contender, one a round. The first bout of each, in which things are compiled, is not counted."""
    for contender in contenders:
        contender.bout(seconds / 10)
    rates: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for turn in range(rounds):
        for contender in contenders if turn % 2 == 0 else reversed(contenders):
            count, taken = contender.bout(seconds)
            rates[contender.name].append(count / taken)
    return rates


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, 10th and 90th percentile."""
    low, median, high = np.percentile(values, [10, 50, 90])
    return {"median": float(median), "p10": float(low), "p90": float(high)}


def figures(contenders: Sequence[Contender], rates: dict[str, list[float]]) -> list[dict[str, Any]]:
    """The rates of all contenders, as data."""
    return [{"name": c.name, "game": c.game, **spread(rates[c.name]), "rounds": len(rates[c.name])} for c in contenders]


def ratio(rates: dict[str, list[float]], name: str, peer: str) -> dict[str, Any]:
    """How many times faster ``name`` is than ``peer``: the median of the ratios within rounds, and their spread."""
    return {"name": name, "peer": peer, **spread(np.divide(rates[name], rates[peer]).tolist())}


def three_digits(value: float) -> float:
    """A number rounded to three significant digits."""
    return float(f"{value:.3g}")


def times(value: float) -> str:
    """A ratio in words: ``23 x``, ``4.1 x``, ``0.07 x``."""
    return f"{three_digits(value):,.0f} x" if value >= 10 else f"{value:.1f} x" if value >= 1 else f"{value:.2f} x"


def collect(makers: Sequence[Callable[[], Contender]]) -> tuple[list[Contender], list[str]]:
    """The contenders that can be had here, and a line for each that cannot, by name."""
    found, skipped = [], []
    for maker in makers:
        try:
            found.append(maker())
        except Absent as absent:
            skipped.append(str(absent))
    return found, list(dict.fromkeys(skipped))


# --- rows: what a measurement says, as data -------------------------------------------------------------------------


def not_run(seconds: float) -> tuple[int, float]:
    """The bout of a contender that was measured in another way."""
    raise NotImplementedError


def row_of(
    title: str,
    unit: str,
    how: str,
    contenders: Sequence[Contender],
    values: dict[str, list[float]],
    headlines: Sequence[tuple[str, str, Sequence[str]]],
    skipped: Sequence[str] = (),
    **more: Any,
) -> dict[str, Any]:
    """A row as data.

    Args:
        title, unit: of the figures.
        how: a sentence or two on what is counted.
        contenders, values: what was measured.
        headlines: (game, name of our contender, names of the peers that it is set against), the chief peer first.
        skipped: a line for each peer that is absent.
        more: other entries.
    """
    ratios = [ratio(values, name, peer) for _, name, against in headlines for peer in against if peer in values]
    heads = [{"game": game, "name": name, "peers": [p for p in peer if p in values]} for game, name, peer in headlines]
    return {
        "title": title,
        "unit": unit,
        "how": how,
        "figures": figures(contenders, values),
        "ratios": ratios,
        "headlines": heads,
        "skipped": list(skipped),
        "targets": [],
        **more,
    }


def add_target(
    row: dict[str, Any], what: str, wanted: float, name: str, peer: str | None = None, most: bool = False
) -> None:
    """Add a target to a row: a figure, or a ratio to a peer, of at least (or ``most``) so much."""
    if peer is None:
        found = next((entry["median"] for entry in row["figures"] if entry["name"] == name), None)
    else:
        pair = (name, peer)
        found = next((entry["median"] for entry in row["ratios"] if (entry["name"], entry["peer"]) == pair), None)
    met = None if found is None else bool(found <= wanted if most else found >= wanted)
    entry = {"what": what, "wanted": wanted, "found": found, "met": met, "name": name, "peer": peer, "at_most": most}
    row["targets"].append(entry)


# --- the machine, and who else uses it -------------------------------------------------------------------------------


def machine() -> dict[str, Any]:
    """The machine and the versions that figures depend on, in words: no names of hosts or folders."""
    return {
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "memory_gib": round(_memory_bytes() / 2**30),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {name: found for name in PACKAGES if (found := _version(name))},
        "git": _git("rev-parse", "HEAD"),
        "git_clean": _git("status", "--porcelain", "--", "*.py") == "",
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    family = ", ".join(f"{key} {facts[name]}" for key, name in _CPU_FACTS if name in facts)
    name = facts.get("model name", platform.machine())
    return f"{name} ({family})" if family else name


_CPU_FACTS = (("family", "cpu family"), ("model", "model"))


def _memory_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0


def _git(*arguments: str) -> str | None:
    try:
        run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return run.stdout.strip()


class OthersLoad:
    """Cores that other programs kept busy between ``start`` and ``stop``, on systems that tell (Linux); else None."""

    def start(self) -> OthersLoad:
        """Begin to watch."""
        self._begun, self._busy, self._own = time.perf_counter(), _busy_seconds(), _own_seconds()
        return self

    def stop(self) -> float | None:
        """Cores in use by others on average since ``start``."""
        busy, own, taken = _busy_seconds(), _own_seconds(), time.perf_counter() - self._begun
        if busy is None or self._busy is None or taken < 0.1:  # the system counts in hundredths of a second
            return None
        return round(max(0.0, (busy - self._busy - (own - self._own)) / taken), 2)


def _busy_seconds() -> float | None:
    """Seconds that all cores together were busy since the system started."""
    try:
        fields = Path("/proc/stat").read_text(encoding="ascii").partition("\n")[0].split()[1:]
    except OSError:
        return None
    user, nice, system, _idle, _wait, irq, softirq, *rest = (int(field) for field in fields)
    return (user + nice + system + irq + softirq + sum(rest[:1])) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    """Processor seconds of this process and of the children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def resident_bytes() -> int:
    """Memory of this process that is in use now; 0 on systems that do not tell."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, AttributeError):
        return 0
