"""A program of somebody else's that is spoken to in lines, on its standard input and output, within limits of time.

It may hang, crash, flood or never read: whatever it does, ``ask`` ends in the time that it was given. What it writes to
standard error is read along with its answers, so that it never waits for us there, and its end is kept for messages.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
import weakref
from collections.abc import Sequence
from pathlib import Path

from auction_env.core.limits import shorten

MAX_LINE = 1 << 20  # bytes of an answer
KEPT_ERRORS = 1 << 16  # bytes of standard error, the last ones
_CHUNK = 1 << 16
_GRACE = 0.5  # seconds to end by itself when its input is closed


class ProgramError(RuntimeError):
    """The program could not be started, ended, or said what it may not; the message says what, and its last words."""


class ProgramTimeoutError(ProgramError):
    """The program did not answer in time."""


class LineProgram:
    """A running program. Not for several threads at once.

    Args:
        command: the program and its arguments; no shell reads them.
        log: a file that gets all of its standard error; None: only the last part is kept, in memory.

    Raises:
        ProgramError: it cannot be started.
    """

    def __init__(self, command: Sequence[str], log: Path | None = None) -> None:
        self._log, self._errors, self._read = log, b"", b""
        try:
            self._program = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # so that what it starts ends with it
            )
        except OSError as error:
            raise ProgramError(f"{shorten(command[0])} cannot be started: {error.strerror}") from error
        self._end = weakref.finalize(self, _end, self._program, os.getpid())
        self._selector = selectors.DefaultSelector()
        for stream in (self._program.stdin, self._program.stdout, self._program.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
        self._selector.register(self._program.stdout, selectors.EVENT_READ)  # type: ignore[arg-type]
        self._selector.register(self._program.stderr, selectors.EVENT_READ)  # type: ignore[arg-type]

    def ask(self, line: str, seconds: float) -> str:
        """Say a line and give the one that the program answers, without its newline.

        Raises:
            ProgramTimeoutError: it did not read and answer in that time.
            ProgramError: it ended, wrote a line longer than MAX_LINE, or had written more than it was asked for.
        """
        self.tell(line, seconds)
        until = time.monotonic() + seconds
        while b"\n" not in self._read:
            if len(self._read) > MAX_LINE:
                raise ProgramError(f"it wrote a line longer than {MAX_LINE} bytes: {_quoted(self._read)}")
            self._wait(until, "did not answer")
        answer, _, self._read = self._read.partition(b"\n")
        self._check_silent()
        return answer.decode("utf-8", "replace")

    def tell(self, line: str, seconds: float) -> None:
        """Say a line that needs no answer. Errors as ``ask``."""
        self._take_what_is_there()
        self._check_silent()
        pipe, left, until = self._program.stdin, line.encode() + b"\n", time.monotonic() + seconds
        assert pipe is not None
        self._selector.register(pipe, selectors.EVENT_WRITE)
        try:
            while left:
                if self._wait(until, "did not read"):
                    left = left[os.write(pipe.fileno(), left[:_CHUNK]) :]
        except BrokenPipeError:
            self._wait_for_end()
        finally:
            self._selector.unregister(pipe)

    @property
    def last_words(self) -> str:
        """The end of what it wrote to standard error."""
        with contextlib.suppress(ProgramError):
            self._take_what_is_there()
        return self._errors.decode("utf-8", "replace").strip()

    def close(self, seconds: float = _GRACE) -> bool:
        """End it: its input is closed, and it is killed if it still runs then. Whether it ended by itself."""
        ended = False
        if self._program.stdin is not None:
            self._program.stdin.close()
        until = time.monotonic() + seconds
        while not ended and time.monotonic() < until:
            ended = self._program.poll() is not None
            with contextlib.suppress(ProgramError):
                self._take_what_is_there()
            time.sleep(0 if ended else 0.005)
        self._end()
        self._selector.close()
        return ended

    # --- reading ---

    def _wait(self, until: float, what: str) -> bool:
        """Take what comes; whether its input can be written to. Raises if the time is over or the program has ended."""
        left = until - time.monotonic()
        if left <= 0:
            raise ProgramTimeoutError(f"it {what} in time{self._said()}")
        return self._take(self._selector.select(left))

    def _take_what_is_there(self) -> None:
        for _ in range(2 * KEPT_ERRORS // _CHUNK):  # one that writes for ever is not read for ever
            ready = [(key, event) for key, event in self._selector.select(0) if event & selectors.EVENT_READ]
            if not ready:
                return
            self._take(ready)

    def _take(self, ready: list[tuple[selectors.SelectorKey, int]]) -> bool:
        writable = False
        for key, _ in ready:
            if key.fileobj is self._program.stdin:
                writable = True
                continue
            chunk = os.read(key.fd, _CHUNK)
            if not chunk:
                self._selector.unregister(key.fileobj)
            if key.fileobj is self._program.stderr:
                self._keep(chunk)
            elif chunk:
                self._read += chunk
            elif b"\n" not in self._read:
                self._wait_for_end()
        return writable

    def _keep(self, chunk: bytes) -> None:
        self._errors = (self._errors + chunk)[-KEPT_ERRORS:]
        if self._log is not None and chunk:
            with open(self._log, "ab") as file:
                file.write(chunk)

    def _check_silent(self) -> None:
        if self._read:
            raise ProgramError(f"it wrote more than it was asked for: {_quoted(self._read)}")

    def _wait_for_end(self) -> None:
        """It closed its output or input: say how it ended."""
        try:
            status = self._program.wait(_GRACE)
        except subprocess.TimeoutExpired:
            raise ProgramError(f"it closed its input or output{self._said()}") from None
        how = f"ended with status {status}" if status >= 0 else f"was ended by {_signal_name(-status)}"
        raise ProgramError(f"it {how}{self._said()}")

    def _said(self) -> str:
        words = self.last_words
        return f"; its last words: {words[-500:]}" if words else ""


def _end(program: subprocess.Popen[bytes], owner: int) -> None:
    """Kill a program and all that it started; not from a child of the process that it belongs to."""
    if os.getpid() != owner:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()
    for stream in (program.stdin, program.stdout, program.stderr):
        if stream is not None:
            stream.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _quoted(content: bytes) -> str:
    return repr(content[:80].decode("utf-8", "replace"))
