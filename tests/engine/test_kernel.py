"""Compiled code: made once, found again on disk, keyed by all the sources, and the same without compilation."""

from __future__ import annotations

import dataclasses
import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from auction_env.agents import policies
from kernel_course import all_kernels, course
from strategies import POLICIES, chooser, dealt, match_settings, play, play_out, random_policy, seats_of, some_settings

import auction_env
from auction_env import Table, available, get_game, make_record, replay
from auction_env.core import jit
from auction_env.engine.batch import Batch
from auction_env.engine.kernels import Kernels, kernels
from auction_env.rendering.text import text

PACKAGE = Path(auction_env.__file__).parent
HERE = Path(__file__).parents[1] / "support"
compiled = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled under NUMBA_DISABLE_JIT=1")


def in_another_process(code: str, root: Path = PACKAGE.parent, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run some Python beside the tests, on the package under ``root``."""
    path = os.pathsep.join([str(root), str(HERE)])
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=HERE,
    )
    assert run.returncode == 0, run.stderr
    return run


# --- the cache -------------------------------------------------------------------------------------------------------

TELL_CACHE = """
import json
import auction_env
from kernel_course import course
from kernel_course import all_kernels
found = {}
for name in auction_env.available():
    course(name, 1)
    for kernel, function in all_kernels(auction_env.get_game(name)).items():
        found[f"{name}.{kernel}"] = [sum(function.stats.cache_hits.values()), sum(function.stats.cache_misses.values())]
print(json.dumps(found))
"""


@compiled
def test_a_second_process_compiles_nothing():
    """What this process has compiled, the next one loads: no miss, no word on stderr."""
    for name in available():
        course(name, 1)
    told = in_another_process(TELL_CACHE)
    counts = json.loads(told.stdout)
    assert "compiling" not in told.stderr
    assert {name: counts for name, counts in counts.items() if counts[1]} == {}
    assert sum(hits for hits, _ in counts.values()) >= 8 * len(available())


@compiled
@pytest.mark.slow
def test_the_first_process_on_a_machine_says_once_that_it_compiles(tmp_path):
    code = "from kernel_course import course; course('auction_poker', 1)"
    first = in_another_process(code, NUMBA_CACHE_DIR=str(tmp_path))
    second = in_another_process(code, NUMBA_CACHE_DIR=str(tmp_path))
    assert first.stderr.count("compiling for this machine") == 1
    assert second.stderr == ""


def test_the_digest_of_sources_changes_with_any_of_them(tmp_path):
    files = [tmp_path / "a.py", tmp_path / "b.py"]
    for file in files:
        file.write_text("x = 1\n")
    before = jit.source_digest(files)
    assert before == jit.source_digest(reversed(files))
    jit.file_digest.cache_clear()
    files[1].write_text("x = 2\n")
    assert jit.source_digest(files) != before


def test_a_kernel_is_keyed_by_every_file_of_the_folders_that_its_functions_come_from(game):
    found = jit.source_files(kernels(game).step.py_func)
    folder = Path(inspect.getfile(game)).parent
    for part in (folder, PACKAGE / "core", PACKAGE / "games", PACKAGE / "engine"):
        assert found >= set(part.glob("*.py"))


@compiled
def test_a_scripted_policys_kernel_is_keyed_by_the_policy_too():
    kernel = policies.choosing_kernel(get_game("auction_poker"))
    assert Path(policies.__file__).with_name("auction_poker.py") in jit.source_files(kernel.py_func)


@compiled
def test_another_source_or_owner_is_another_key(game, monkeypatch):
    act = kernels(game).act
    course(game.NAME, 1)
    signature, codegen = act.signatures[0], act.overloads[act.signatures[0]].library.codegen
    key = act._cache._index_key(signature, codegen)
    assert key == act._cache._index_key(signature, codegen)
    monkeypatch.setattr(act._cache, "_sources", "another")
    assert act._cache._index_key(signature, codegen) != key
    monkeypatch.undo()
    monkeypatch.setattr(act._cache, "_owner", "another")
    assert act._cache._index_key(signature, codegen) != key


@compiled
@pytest.mark.slow
def test_an_edited_source_is_compiled_anew_in_every_kernel_that_uses_it(tmp_path):
    """numba itself looks at the file of the kernel alone: here the generator is edited, three files away."""
    shutil.copytree(PACKAGE, tmp_path / "auction_env", ignore=shutil.ignore_patterns("__pycache__"))
    code = "from auction_env import Table; t = Table('auction_poker'); t.reset(0); print(t.deals[0].deck)"
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    before = in_another_process(code, tmp_path, **cache).stdout
    assert before == in_another_process(code, tmp_path, **cache).stdout
    cards = tmp_path / "auction_env" / "games" / "cards.py"  # nested two folders deep: found by itself
    cards.write_text(cards.read_text().replace("0x9E3779B97F4A7C15", "0x9E3779B97F4A7C17"))
    assert in_another_process(code, tmp_path, **cache).stdout != before


@compiled
def test_kernels_of_different_games_have_different_names():
    names: list[str] = []
    for name in available():
        names += [getattr(kernels(get_game(name)), f.name).py_func.__qualname__ for f in dataclasses.fields(Kernels)]
    assert len(set(names)) == len(names)
    assert kernels(get_game(available()[0])) is kernels(get_game(available()[0]))


# --- no recompilation ------------------------------------------------------------------------------------------------


def _use_everything(game: Any, seed: int) -> None:
    """Every way in: settings, options, all kinds of integers, observations, copies, records, views."""
    rng = np.random.default_rng(seed)
    table = dealt(game, some_settings(game, chooser(rng)), seed)
    for at in play(table, POLICIES[seed % 3](rng), whole_match=True):
        for seat in (0, np.int64(1), np.int8(0), np.uint8(1), at.state.dealer):
            at.observe(seat)
            at.observe(seat, np.int8)
            at.mask(seat)
        if rng.random() < 0.2:
            view = at.view(np.int8(1))
            text(view, 1)
            at.resample_from_infostate(np.int16(0), int(rng.integers(100)))
            at.view(None)
    make_record(table, 0)
    replay(make_record(table))
    table = Table(game, match_settings(game, 2))
    for seed_form in (seed, np.int32(seed), np.uint64(seed)):
        table.reset(seed_form, {"deck": "As Kd", "dealer": np.int8(1)})
        for form in (int, np.int8, np.uint64, np.array):
            if table.to_act is not None:
                table.act(form(table.legal()[0]))
        play_out(table, random_policy(rng), whole_match=True)


@compiled
def test_nothing_is_compiled_again_after_the_first_use(game):
    """One machine code for each kernel, but for observe, which has one for each of its two forms."""
    for seed in range(3):
        _use_everything(game, seed)
    before = {name: list(function.signatures) for name, function in all_kernels(game).items()}
    for seed in range(3, 9):
        _use_everything(game, seed)
    after = {name: list(function.signatures) for name, function in all_kernels(game).items()}
    assert after == before
    for name in ("seed", "new_match", "deal", "next_deal", "legal", "act", "resample_from_infostate"):
        assert len(after[name]) == 1, name
    assert len(after["observe"]) == 2


@compiled
def test_kernels_take_no_memory_however_much_they_play(game):
    """A call wraps its arrays; beyond that nothing is taken from the heap, be it for ten decisions or for thousands."""
    from numba.core.runtime import _nrt_python, rtsys

    def taken(work, number):
        before = rtsys.get_allocation_stats()
        work(number)
        after = rtsys.get_allocation_stats()
        return after.alloc - before.alloc, after.mi_alloc - before.mi_alloc

    batch = Batch(game, None, 8, threads=1)
    calls, words = kernels(game), np.arange(8, dtype=np.uint64)

    def step(tables):
        batch.step(batch.out.masks[:tables].argmax(1), np.arange(tables))

    def resample_from_infostate(tables):
        calls.resample_from_infostate(
            batch.states[:tables].copy(), batch.out.seats[:tables].astype(np.int64), words[:tables]
        )

    _nrt_python.memsys_enable_stats()
    try:
        batch.reset(0)
        for work, little, much in ((batch.rollout, 10, 5000), (step, 1, 8), (resample_from_infostate, 1, 8)):
            batch.reset(1)
            work(little)  # compiled now
            assert taken(work, little) == taken(work, much) > (0, 0), work
    finally:
        _nrt_python.memsys_disable_stats()


# --- without compilation ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", available())
def test_plain_python_computes_the_same(name):
    """Digests, observations in both forms, masks, copies drawn anew and texts, under several settings."""
    code = f"from kernel_course import course; print(course({name!r}, 4))"
    plain = in_another_process(code, NUMBA_DISABLE_JIT="1")
    assert plain.stdout.split() == course(name, 4).split()
    assert plain.stderr == ""


def test_plain_python_leaves_numpys_warnings_on():
    """Only the generator's arithmetic is meant to wrap: whoever imports the package keeps numpy's own settings."""
    code = "import numpy as np; before = np.geterr(); import auction_env; print(np.geterr() == before)"
    assert in_another_process(code, NUMBA_DISABLE_JIT="1").stdout == "True\n"


def test_widened_values_are_views_with_wide_integers():
    row = np.zeros(1, [("a", "i1"), ("b", "u1", (2,)), ("w", "u8")]).view(np.recarray)[0]
    wide = jit._widened(row)
    wide.a = 100
    wide.b[1] = 200
    wide.w = np.uint64(2**63)
    assert (row.a, row.b[1], row.w) == (100, 200, 2**63)
    assert wide.a + wide.a == 200 and type(wide.a) is int
    assert wide.b[1] * 2 == 400 and type(wide.b[1]) is int
    assert type(wide.w) is np.uint64
    assert len(wide.b) == 2 and wide.b.shape == (2,) and list(wide.b) == [0, 200]
    assert jit._widened(wide) is wide
    assert jit._widened("text") == "text"


def test_kernels_are_plain_functions_without_compilation():
    code = "import types; from auction_env.games.hands import high_key; print(isinstance(high_key, types.FunctionType))"
    assert in_another_process(code, NUMBA_DISABLE_JIT="1").stdout == "True\n"


def test_seats_are_counted_by_any_integer(game):
    table = dealt(game)
    for seat in seats_of(table):
        for kind in (np.int8, np.uint8, np.int64):
            assert np.array_equal(table.observe(kind(seat)), table.observe(seat))
            assert table.view(kind(seat)) == table.view(seat)
