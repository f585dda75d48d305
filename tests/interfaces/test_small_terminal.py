"""`play` on a terminal of 80 x 24, drawn by a terminal emulator: nothing wraps, and nothing leaves it unread."""

from __future__ import annotations

import os
import random
import re
import select
import sys

import pytest

pytest.importorskip("pyte", reason="pyte is not installed")
pytest.importorskip("pty", reason="this system has no pseudo-terminals")

import pty

import pyte

from auction_env import available, cli, get_game

COLUMNS, ROWS = 80, 24
PATIENCE = 300  # seconds for one answer: what is compiled first takes some
CASES = [(name, seats) for name in available() for seats in range(2, get_game(name).MAX_PLAYERS + 1)]


def drawn(line: list[str], choose) -> list[tuple[list[str], list[str]]]:
    """Play with answers of ``choose``: at each question the lines printed since the last one, and the screen."""
    process, terminal = pty.fork()
    if process == 0:
        os.environ.update(TERM="xterm", COLUMNS=str(COLUMNS), LINES=str(ROWS))
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w", 1), os.fdopen(2, "w", 1)
        status = 1
        try:
            status = cli.main(line)
            sys.stdout.flush()
        finally:
            os._exit(status)
    screen, found, said = pyte.Screen(COLUMNS, ROWS), [], b""
    stream = pyte.ByteStream(screen)
    while True:
        assert select.select([terminal], [], [], PATIENCE)[0], said
        try:
            got = os.read(terminal, 1 << 16)
        except OSError:  # the other end is closed
            got = b""
        stream.feed(got)
        said += got
        asked = said.endswith(b"> ") and not select.select([terminal], [], [], 0.02)[0]
        if asked or not got:
            plain = re.sub(r"\x1b\[[\d;]*m", "", said.decode()).replace("\r", "")
            found.append(([row for row in plain.split("\n") if "compiling" not in row], list(screen.display)))
            said = b""
        if asked:
            os.write(terminal, choose(screen.display).encode() + b"\n")
        if not got:
            break
    os.close(terminal)
    assert os.waitpid(process, 0)[1] == 0
    return found


@pytest.mark.parametrize(
    ("name", "seats"),
    [
        pytest.param(*case, marks=[] if case[1] == get_game(case[0]).MAX_PLAYERS else [pytest.mark.slow])
        for case in CASES
    ],
)
def test_a_deal_fits(name: str, seats: int) -> None:
    """With discards (in Auction Flop Poker) and folds; whoever presses Enter reads all."""
    rng = random.Random(seats)
    others = ",".join(["random", "rules:tight", *["random"] * seats][: seats - 1])
    line = ["play", name, "--seed", str(seats), "--seat", str(seats - 1), "--opponents", others]
    moments = drawn([*line, "--set", f"num_players={seats}"], lambda screen: rng.choice(["1", "1", "2"]))
    assert len(moments) > 3
    for printed, screen in moments[:-1]:
        assert all(len(row) <= COLUMNS for row in printed), "a line wraps"
        assert len(printed) <= ROWS + 2, "an echoed answer and an empty line may go, no more"
        if any(" | " in row for row in printed):  # a table was shown: all of it is there to decide by
            assert all(any(f"player_{seat} " in row for row in screen) for seat in range(seats)), screen
            assert any(" | " in row for row in screen), screen
            assert any("You hold" in row for row in screen), screen
    last = moments[-1][1]
    assert any("The deal is over" in row for row in last)
    assert all(any(f"player_{seat} " in row for row in last) for seat in range(seats)), last
