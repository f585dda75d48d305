"""Size, depth and kind are checked before a parser is asked, and no error repeats a whole file."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from auction_env.core.limits import (
    LimitError,
    check_depth,
    depth_of,
    parse_json,
    parse_toml,
    parse_value,
    read_json,
    read_limited,
    shorten,
)


@pytest.mark.parametrize(
    ("text", "depth"),
    [("", 0), ("[]", 1), ('{"a": [1, [2]]}', 3), ('"[[[["', 0), (r'"\"[[" [', 1), ("[" * 500 + "]" * 500, 500)],
)
def test_depth_is_that_of_brackets_outside_texts(text: str, depth: int) -> None:
    assert depth_of(text) == depth


@pytest.mark.parametrize("levels", [65, 5_000, 1_000_000])
@pytest.mark.parametrize("parse", [parse_json, parse_toml, parse_value])
def test_deep_nesting_is_refused_before_it_is_parsed(parse: Any, levels: int) -> None:
    text = "[" * levels + "]" * levels
    with pytest.raises(LimitError, match=r"nested|most is"):
        parse(f"a = {text}" if parse is parse_toml else text)


@pytest.mark.parametrize("parse", [parse_json, parse_toml, parse_value])
def test_the_deepest_allowed_is_parsed(parse: Any) -> None:
    text = "[" * 64 + "]" * 64
    found = parse(f"a = {text}" if parse is parse_toml else text)
    expected = json.loads(text)
    assert found == ({"a": expected} if parse is parse_toml else expected)


def test_dotted_keys_of_toml_are_levels_too() -> None:
    with pytest.raises(LimitError, match="parts"):
        parse_toml(".".join("a" * 20_000) + " = 1")


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "-Infinity", "1e999", '{"a": 1, "a": 2}', "[1,", "\ufeff[]"])
def test_json_that_the_standard_does_not_know_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_json(text)


def test_duplicates_are_found_in_linear_time() -> None:
    text = "{" + ",".join(f'"{number}": 0' for number in range(200_000)) + ', "0": 1}'
    begun = time.perf_counter()
    with pytest.raises(ValueError, match="'0' stands twice"):
        parse_json(text)
    assert time.perf_counter() - begun < 20


@pytest.mark.parametrize("text", ["a = nan", "a = inf", "a = 1e999"])
def test_numbers_of_toml_are_finite(text: str) -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        parse_toml(text)


def test_a_byte_order_mark_and_windows_line_ends_are_read() -> None:
    assert parse_toml(b"\xef\xbb\xbfa = 1\r\nb = 2\r\n") == {"a": 1, "b": 2}
    assert parse_json(b"\xef\xbb\xbf[1]\r\n") == [1]


@pytest.mark.parametrize(
    ("text", "value"), [("[3, 2, 1]", [3, 2, 1]), ("full", "full"), ('"1"', "1"), ("1\nb = 2", "1\nb = 2")]
)
def test_a_value_is_toml_or_text(text: str, value: Any) -> None:
    assert parse_value(text) == value


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LimitError, match="not a regular file"):
        read_json(tmp_path / "pipe")


def test_a_large_file_is_refused_unread(tmp_path: Path) -> None:
    with open(tmp_path / "large", "wb") as file:
        file.truncate(1 << 40)  # a hole: nothing is stored
    with pytest.raises(LimitError, match="the most is"):
        read_limited(tmp_path / "large", 1 << 20)
    with pytest.raises(LimitError, match="folder"):
        read_limited(tmp_path, 1 << 20)


def test_messages_are_cut() -> None:
    assert shorten("abc") == "abc"
    assert len(shorten("x" * 10**7)) < 260
    assert "10000000 characters" in shorten("x" * 10**7)


def test_check_depth_needs_no_stack() -> None:
    limit = sys.getrecursionlimit()
    with pytest.raises(LimitError):
        check_depth("[" * (limit * 100))
