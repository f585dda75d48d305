"""What it costs to start and to keep: first use, memory, and how cost grows with tables, seats and deals played."""

from __future__ import annotations

import functools
import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from auction_env import get_game
from auction_env.engine.batch import Batch
from auction_env.engine.kernels import decision_size
from auction_env.games.game import SettingsError
from benchmarks.games import MAIN_GAME, SEATS, four_seats, training_settings
from benchmarks.layers import playing_aec, stepping
from benchmarks.measure import (
    ROOT,
    Absent,
    Contender,
    Effort,
    add_target,
    not_run,
    repeat,
    resident_bytes,
    row_of,
    spread,
    take_turns,
)

# --- starting up -----------------------------------------------------------------------------------------------------

_STARTS = {
    "env().reset()": "import auction_env; auction_env.{name}_v{version}.env(num_players={seats}).reset(seed=0)",
    "a deal in the AEC loop": """import auction_env
from benchmarks.peers import aec_loop
aec_loop(auction_env.{name}_v{version}.env(num_players={seats}))""",
    "Batch.step": """from auction_env.engine.batch import Batch
batch = Batch("{name}", dict(num_players={seats}), 64)
batch.step(batch.reset(0).masks.argmax(1))""",
}
_PEER_STARTS = {
    "PettingZoo texas_holdem_v4": """from pettingzoo.classic import texas_holdem_v4
texas_holdem_v4.env(num_players=4).reset(seed=0)""",
    "OpenSpiel limit hold'em": "from benchmarks import peers; peers.openspiel_holdem().new_initial_state()",
    "pgx Leduc, init and step": """import jax, pgx
env = pgx.make("leduc_holdem")
state = jax.jit(env.init)(jax.random.key(0))
jax.block_until_ready(jax.jit(env.step)(state, 0))""",
}


def start_process(code: str, cache: str | None = None) -> tuple[float, str]:
    """Seconds from the start of a Python process until it has run some code, and what it wrote to stderr.

    Args:
        code: some Python.
        cache: a folder for compiled code, in place of the usual one.

    Raises:
        Absent: the code needs what is not installed.
        RuntimeError: it failed.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **({"NUMBA_CACHE_DIR": cache} if cache else {})}
    command = [sys.executable, "-c", f"{code}\nimport time; print('at', time.time())"]
    begun = time.time()
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False, cwd=ROOT)
    if run.returncode:
        last = run.stderr.strip().rpartition("\n")[2]
        if "ModuleNotFoundError" in last or "Absent" in last:
            raise Absent(f"skipped, not installed ({last})")
        raise RuntimeError(run.stderr)
    return float(run.stdout.rpartition("at ")[2]) - begun, run.stderr


def startup(effort: Effort, games: Sequence[str]) -> dict[str, Any]:
    """From the start of a process to the first deal, with no compiled code on disk and with it."""
    values: dict[str, list[float]] = {}
    owners: dict[str, str | None] = {}
    skipped: list[str] = []
    cache: str | None
    later: list[tuple[str, str, str | None]] = [(peer, code, None) for peer, code in _PEER_STARTS.items()]
    says_so = True
    with tempfile.TemporaryDirectory() as folder:
        for name in games:
            words = {"name": name, "version": get_game(name).VERSION, "seats": SEATS}
            for number, (what, template) in enumerate(_STARTS.items()):
                # Each has a cache of its own: what the first compiles would help the second.
                code, cache = template.format(**words), str(Path(folder) / f"{name}{number}")
                seconds, said = start_process(code, cache)
                says_so &= "compiling" in said
                values[f"{name}, {what}, nothing compiled yet"] = [seconds]
                owners[f"{name}, {what}, nothing compiled yet"] = owners[f"{name}, {what}, later"] = name
                later.append((f"{name}, {what}, later", code, cache))
        for _ in range(effort.starts):
            for process in list(later):
                label, code, cache = process
                try:
                    seconds, _said = start_process(code, cache)
                except Absent as absent:
                    later.remove(process)
                    skipped.append(f"{label}: {absent}")
                else:
                    values.setdefault(label, []).append(seconds)
    contenders = [Contender(label, not_run, owners.get(label)) for label in values]
    row = row_of(
        "first deal, from the start of the process",
        "s",
        "a fresh process each time; 'nothing compiled yet': with an empty cache, as on a fresh machine; 'later': with "
        "the machine code on disk, as from the second process on",
        contenders,
        values,
        [(c.game, c.name, ()) for c in contenders if c.game],
        skipped,
        says_so=says_so,
    )
    add_target(row, "first under 8 s", 8, f"{MAIN_GAME}, a deal in the AEC loop, nothing compiled yet", most=True)
    add_target(row, "later under 0.7 s", 0.7, f"{MAIN_GAME}, a deal in the AEC loop, later", most=True)
    return row


# --- memory and growth -----------------------------------------------------------------------------------------------


def _batch_bytes(name: str, settings: Any, tables: int, dtype: str) -> tuple[list[float], int]:
    """Bytes of all arrays of a batch that plays, in a list of one; and by how much the process grew meanwhile."""
    gc.collect()
    before = resident_bytes()
    batch = Batch(name, settings, tables, dtype=dtype)
    batch.out.watched[:] = 0  # so that final observations are written as well
    batch.reset(0)
    for _ in range(3):
        batch.step(batch.out.masks.argmax(1))
    arrays = [batch.states, batch.all_rows, batch._scratch, *batch.out]
    return [float(sum(array.nbytes for array in arrays))], resident_bytes() - before


def memory(effort: Effort, games: Sequence[str]) -> dict[str, Any]:
    """Bytes of a table's state, and of many tables with all that is written for them."""
    contenders: list[Contender] = []
    values: dict[str, list[float]] = {}
    measured = {}
    for name in games:
        values[f"{name}, state of a table"] = [float(get_game(name).STATE.itemsize)]
        forms = {"": four_seats(name), "as trained, ": training_settings(name)}
        for form, settings in forms.items():
            if form and settings == forms[""]:
                continue
            for dtype in ("int8", "float32"):
                label = f"{name}, {form}{effort.many_tables:,} tables, {dtype}"
                values[label], measured[label] = _batch_bytes(name, settings, effort.many_tables, dtype)
    for label in values:
        contenders.append(Contender(label, not_run, label.partition(",")[0]))
    row = row_of(
        "memory",
        "bytes",
        "all arrays of a `Batch`: states, whole observations and final observations, masks, results",
        contenders,
        values,
        [(c.game or "", c.name, ()) for c in contenders],
        resident_growth=measured,
    )
    add_target(row, "a table under 512 bytes", 511, f"{MAIN_GAME}, state of a table", most=True)
    for dtype in ("int8", "float32"):
        label = f"{MAIN_GAME}, {effort.many_tables:,} tables, {dtype}"
        add_target(row, f"65,536 tables under 1 GiB ({dtype})", float(2**30), label, most=True)
    return row


def growth(effort: Effort, games: Sequence[str]) -> dict[str, Any]:
    """How cost grows with tables and seats, and that it does not with decisions played."""
    return {
        "title": "growth of cost",
        "unit": "",
        "how": "`Batch.step`, int8 observations, random legal actions",
        "tables": {name: _by_tables(effort, name) for name in games},
        "seats": {name: _by_seats(effort, name) for name in games},
        "long_run": {name: _long_run(effort, name) for name in games},
        "long_run_aec": {name: _long_run_aec(effort, name) for name in games},
        "figures": [],
        "ratios": [],
        "headlines": [],
        "skipped": [],
        "targets": [],
    }


def _by_tables(effort: Effort, name: str) -> dict[str, Any]:
    """Microseconds of a ``Batch.step`` by the number of tables, on one thread and as many as ``Batch`` chooses."""
    found: dict[str, Any] = {"tables": list(effort.table_counts)}
    for label, threads in (("1 thread", 1), ("threads chosen by Batch", None)):
        contenders = [
            stepping(name, str(count), tables=count, threads=threads, decisions=max(count, 2048))
            for count in effort.table_counts
        ]
        values = take_turns(contenders, effort.scaling_rounds, effort.scaling_seconds)
        steps = [spread([1e6 * count / r for r in values[f"{name}, {count}"]]) for count in effort.table_counts]
        found[label] = {"microseconds_per_step": steps, "exponent": _exponent(effort.table_counts, steps, least=64)}
    return found


def _exponent(counts: Sequence[int], steps: Sequence[Mapping[str, float]], least: int) -> float | None:
    """The power of the count with which time grows, from ``least`` up: 1 is linear."""
    points = [(count, step["median"]) for count, step in zip(counts, steps, strict=True) if count >= least]
    if len(points) < 2:
        return None
    tables, cost = np.log(np.array(points)).T
    return float(np.polyfit(tables, cost, 1)[0])


def _by_seats(effort: Effort, name: str) -> list[dict[str, Any]]:
    """Cost of a decision and of a deal by the number of seats, one thread."""
    game = get_game(name)
    contenders: list[Contender] = []
    facts: list[dict[str, Any]] = []
    for seats in range(2, game.MAX_PLAYERS + 1):
        try:
            settings = training_settings(name, seats)
        except SettingsError:
            continue
        batch = Batch(game, settings, 256, threads=1)
        batch.reset(0)
        deals, _ = batch.rollout(max(400, 2 * game.max_game_length(settings)))
        decisions = 256 * max(400, 2 * game.max_game_length(settings)) / deals
        facts.append({"seats": seats, "decisions_per_deal": decisions, "entries": decision_size(game, settings)})
        contenders += [
            stepping(name, f"step {seats}", settings=settings, tables=1024, threads=1),
            Contender(f"rollout {seats}", repeat(functools.partial(_roll, batch)), name),
        ]
    values = take_turns(contenders, effort.scaling_rounds, effort.scaling_seconds)
    for fact in facts:
        for kind, label in (("step", f"{name}, step {fact['seats']}"), ("rollout", f"rollout {fact['seats']}")):
            fact[f"{kind}_ns_per_decision"] = spread([1e9 / rate for rate in values[label]])
    return facts


def _roll(batch: Batch, decisions: int = 200) -> int:
    batch.rollout(decisions)
    return batch.num_tables * decisions


def _long_run(effort: Effort, name: str, samples: int = 20) -> dict[str, Any]:
    """Memory and speed while many decisions are played."""
    playing, decisions, part = stepping(name, "long run", tables=effort.batch), 0, max(1, effort.long_run // samples)
    playing.bout(0.0)
    points = []
    for _ in range(samples):
        count, taken = 0, 0.0
        while count < part:
            more, spent = playing.bout(0.0)
            count, taken = count + more, taken + spent
        decisions += count
        points.append({"decisions": decisions, "resident_bytes": resident_bytes(), "rate": count / taken})
    return {"points": points, "grown_bytes": points[-1]["resident_bytes"] - points[samples // 4]["resident_bytes"]}


def _long_run_aec(effort: Effort, name: str, samples: int = 20) -> dict[str, Any]:
    """Memory while deals are played through the AEC environment, a hundredth of the decisions."""
    playing, decisions, points = playing_aec(name), 0, []
    for _ in range(samples):
        count = 0
        while count < effort.long_run // 100 // samples:
            count += playing.bout(0.0)[0]
        decisions += count
        points.append({"decisions": decisions, "resident_bytes": resident_bytes()})
    return {"points": points, "grown_bytes": points[-1]["resident_bytes"] - points[samples // 4]["resident_bytes"]}
