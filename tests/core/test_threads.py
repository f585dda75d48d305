"""Several threads: the same results, whoever else runs threads or forks."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from auction_env.core import threads

SCRIPT = """
import hashlib, multiprocessing, threading
import numpy as np
from auction_env.engine.batch import Batch

def play(threads):
    batch = Batch("auction_poker", None, 5000, threads=threads)
    out = batch.reset(3)
    for _ in range(10):
        batch.step(out.masks.argmax(1))
    return hashlib.sha256(batch.states.tobytes() + repr(batch.rollout(5)[0]).encode()).hexdigest()

if __name__ == "__main__":
    expected = play(1)
    assert play(2) == expected
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        assert pool.map_async(play, [2] * 4).get(120) == [expected] * 4
    found = []
    threads = [threading.Thread(target=lambda: found.append(play(2))) for _ in range(4)]
    for thread in threads:
        thread.start()
    with context.Pool(2) as pool:  # while they run
        assert pool.map_async(play, [2] * 2).get(120) == [expected] * 2
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
    print("the same")
"""


def test_forked_children_and_python_threads_play_on_two_threads(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    found = subprocess.run(
        [sys.executable, "-W", "ignore", str(tmp_path / "script.py")],
        env={**os.environ, "NUMBA_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert (found.returncode, found.stdout) == (0, "the same\n"), found.stderr


def test_parts_run_once_each_in_order_and_beside_the_caller():
    callers = []

    def work(part: int) -> int:
        callers.append((part, threading.current_thread() is threading.main_thread()))
        return part * part

    assert threads.run_parts(work, 4) == [0, 1, 4, 9]
    assert sorted(callers) == [(0, True), (1, False), (2, False), (3, False)]


def test_an_error_of_a_part_is_raised_when_all_parts_have_ended():
    done = np.zeros(3, bool)

    def work(part: int) -> None:
        if part == 0:
            raise ValueError("part 0")
        done[part] = True

    with pytest.raises(ValueError, match="part 0"):
        threads.run_parts(work, 3)
    assert done.tolist() == [False, True, True]


def test_without_threads_to_be_had_the_caller_does_it_all(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "_threads", refuse)
    assert threads.run_parts(lambda part: part, 3) == [0, 1, 2]
