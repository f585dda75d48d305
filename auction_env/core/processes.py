"""What a process may use of the machine, and how it ends: cores, threads, signals, and children that end with it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import wait
from types import FrameType
from typing import Any

AGAIN_SECONDS = 0.05


def cores() -> int:
    """Cores that this process may use: its affinity, not all that the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_limit() -> int:
    """Threads that computing may take: the cores, and no more than ``OMP_NUM_THREADS`` says where it is set."""
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return max(1, min(cores(), int(asked))) if asked.isascii() and asked.isdigit() and int(asked) else cores()


def usable_workers(asked: int | None, say: Callable[[str], object] = lambda line: None) -> int:
    """Processes to start: as many as cores if nothing is asked for, and never more; ``say`` is told of a cut."""
    if asked is None:
        return cores()
    if asked > cores():
        say(f"{asked} workers: this process may use {cores()} of the machine's cores, so {cores()} play")
    return min(asked, cores())


def end_with_parent() -> None:
    """In a child that ``multiprocessing`` started: end at once when the parent ends, even if that is killed.

    A thread waits for it; compiled loops let it run. In a process without such a parent nothing happens.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_wait_and_end, args=(parent.sentinel,), daemon=True, name="end with parent").start()


def _wait_and_end(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


class Terminated(KeyboardInterrupt):
    """The process was asked to end by SIGTERM or SIGHUP: what Ctrl-C does happens, with another exit status."""

    def __init__(self, number: int = signal.SIGTERM) -> None:
        super().__init__(signal.Signals(number).name)
        self.status = 128 + number


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Within it SIGTERM and SIGHUP raise ``Terminated`` in the main thread; a signal that is ignored stays so.

    Python drops what is raised in a callback of C code or in a finaliser, and compiling calls many: it is raised again.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        raise Terminated(number)

    def dropped(told: Any) -> None:
        if isinstance(told.exc_value, Terminated):
            again = threading.Timer(AGAIN_SECONDS, os.kill, (os.getpid(), told.exc_value.status - 128))
            again.daemon = True  # from a thread of its own: raised here, it would be dropped once more
            again.start()
        else:
            told_before(told)

    before, told_before = {}, sys.unraisablehook
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                before[number] = signal.signal(number, stop)
        sys.unraisablehook = dropped if before else told_before
    try:
        yield
    finally:
        sys.unraisablehook = told_before
        for number, handler in before.items():
            signal.signal(number, handler)
