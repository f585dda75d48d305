"""Compiled loops on several Python threads, which they let run at once (``nogil``).

numba's own threads end the process when two Python threads use them at once, or when a forked child does after its
parent has. Python's do neither.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

import numba

Result = TypeVar("Result")

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None


def most_threads() -> int:
    """How many threads compiled loops may use: ``NUMBA_NUM_THREADS``, or else the processors this process may use."""
    return int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]


def run_parts(work: Callable[[int], Result], parts: int) -> list[Result]:
    """``[work(0), ..., work(parts - 1)]``, computed at once: the first on the calling thread, the others beside it.

    ``work`` must not call this function. Whatever happens, no part is left running.
    """
    others = [_submit(work, part) for part in range(1, parts)]
    try:
        return [work(0), *(other.result() for other in others)]
    finally:
        wait(others)


def _submit(work: Callable[[int], Result], part: int) -> Future[Result]:
    try:
        return _threads().submit(work, part)
    except RuntimeError:  # no more threads to be had, or Python is about to end: here, then
        done: Future[Result] = Future()
        done.set_result(work(part))
        return done


def _threads() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(max(1, most_threads() - 1), "auction_env")
        return _pool


def _forget_threads() -> None:
    """A forked child has none of its parent's threads: it starts its own."""
    global _lock, _pool
    _lock, _pool = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
