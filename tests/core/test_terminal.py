"""Texts of others cannot command the terminal; encodings, pipes and stray bytes are no errors."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auction_env.core.terminal import complain, encodable, mention, one_line, printable, show


def test_controls_are_escaped_and_other_signs_are_not():
    assert printable("\x1b]0;title\x07 \x9b31m \r\x00") == "\\x1b]0;title\\x07 \\x9b31m \\r\\x00"
    assert printable("A♠ ± naïve 日本\n\ttab") == "A♠ ± naïve 日本\n\ttab"
    assert printable("a\u202eb\ufeff\udcff\u2028") == "a\\u202eb\\ufeff\\udcff\\u2028"
    assert one_line("a\nb" + "x" * 5000).startswith("a\\nbxxx") and one_line("x" * 5000).endswith("more characters)")


@given(st.text())
def test_whatever_is_printed_holds_no_control_character(text):
    out = printable(text)
    assert all(character in "\n\t" or ord(character) >= 32 for character in out)
    assert not any(0x7F <= ord(character) <= 0x9F or 0xD800 <= ord(character) <= 0xDFFF for character in out)
    for encoding in ("ascii", "latin-1", "cp437", "utf-8"):
        encodable(out, encoding).encode(encoding)


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [("ascii", "+1 +/- 2 Js \\u65e5"), ("latin-1", "+1 ± 2 Js \\u65e5"), ("utf-8", "+1 ± 2 J♠ 日")],
)
def test_signs_that_an_encoding_lacks_are_replaced(encoding, shown):
    stream = io.TextIOWrapper(io.BytesIO(), encoding)
    assert show("+1 ± 2 J♠ 日", file=stream)
    assert stream.buffer.getvalue().decode(encoding) == shown + "\n"
    assert encodable("±", "no such encoding") == "+/-"


def python(text: str, **more) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", text], capture_output=True, check=False, timeout=120, **more)


SHOW = "from auction_env.core.terminal import *; import sys\n"


def test_a_reader_who_has_seen_enough_is_no_error():
    found = subprocess.run(
        ["bash", "-c", f"'{sys.executable}' -c '{SHOW}for n in range(100000): show(n)\nprint(1)' | head -1; "
         "echo ${PIPESTATUS[0]}"],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert found.stdout == "0\n0\n" and found.stderr == ""


def test_closed_streams_are_no_errors():
    text = SHOW + "show('x'); complain('program', 'y')\ntry: read_line()\nexcept EOFError: sys.exit(7)"
    for redirections in (">&- 2>&- <&-", "<&-", ">&-", "2>&- </dev/null"):
        found = subprocess.run(
            ["bash", "-c", f'"$0" -c "$1" {redirections}', sys.executable, text], timeout=120, check=False
        )
        assert found.returncode == 7, redirections


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_device_is_an_error_of_output_but_not_of_complaints():
    text = SHOW + "complain('a', 'b')\ntry: show('x')\nexcept OSError as error: complain('program', error); sys.exit(3)"
    with open("/dev/full", "w") as full:
        found = subprocess.run(
            [sys.executable, "-c", text], stdout=full, stderr=subprocess.PIPE, timeout=120, check=False
        )
    assert b"No space left" in found.stderr
    assert found.returncode in (3, 120)  # 120: Python itself could not flush at its end


@pytest.mark.parametrize("stderr", ["2>&-", "2> /dev/full", "2> >(exit)"])
def test_no_work_stops_for_a_bar_that_cannot_be_drawn(stderr):
    pytest.importorskip("tqdm")
    text = (
        SHOW + "import time\nfor _ in progress_bar(iterable=range(20), mininterval=0): time.sleep(0.01)\nshow('done')"
    )
    found = subprocess.run(
        ["bash", "-c", f'"$0" -c "$1" {stderr}', sys.executable, text], capture_output=True, timeout=120, check=False
    )
    assert found.stdout == b"done\n", found.stderr


@pytest.mark.parametrize("columns", [40, 80])
def test_a_bar_is_no_wider_than_the_terminal(columns):
    pytest.importorskip("tqdm")
    pty = pytest.importorskip("pty")
    termios = pytest.importorskip("termios")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    text = SHOW + (
        "with progress_bar(total=9, unit=' decisions', mininterval=0) as bar:\n"
        " for _ in range(9): bar.set_postfix_str('a long name +0.55, another -1.25, entropy 0.96 ' * 3); bar.update()"
    )
    env = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
    with subprocess.Popen([sys.executable, "-c", text], stderr=theirs, env=env) as process:
        os.close(theirs)
        assert process.wait(120) == 0
    frames = os.read(ours, 1 << 16).decode().replace("\r", "\n").split("\n")
    os.close(ours)
    assert any("100%" in frame for frame in frames), frames
    assert all(len(frame) <= columns for frame in frames), frames


def test_lines_on_the_way_are_dropped_where_they_cannot_be_printed():
    read, write = os.pipe()
    os.close(read)
    mention("nobody reads this", file=os.fdopen(write, "w"))


def test_lines_from_anywhere_are_read():
    given_bytes = b"\xef\xbb\xbfone\r\ntwo\xff\xfe\nth\x00ree\r\n\xef\xbb\xbf4"
    text = SHOW + "lines = []\ntry:\n while True: lines.append(read_line())\nexcept EOFError: print(ascii(lines))"
    for encoding in ("utf-8", "ascii", "latin-1"):
        found = python(text, input=given_bytes, env={**os.environ, "PYTHONIOENCODING": encoding})
        assert found.returncode == 0, found.stderr
        lines = eval(found.stdout.splitlines()[-1])
        assert lines[0] == "one" and lines[2] == "three" and lines[1].startswith("two") and lines[3].endswith("4")


def test_a_complaint_is_one_line(capsys):
    complain("program", "bad\x1b[2J\nnews")
    assert capsys.readouterr().err == "program: bad\\x1b[2J\\nnews\n"
