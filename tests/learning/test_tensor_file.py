"""Files of tensors: what is written is read back, and everything else is refused by name before it costs anything."""

from __future__ import annotations

import json
import os
import pickle
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from auction_env.agents.base import AgentError  # noqa: E402
from auction_env.agents.learning.tensor_file import load_tensors, save_tensors  # noqa: E402

FORMAT = "test/1"


def _file(path: Path, table: Any, data: bytes = b"", length: int | None = None) -> Path:
    """A safetensors file with a header of one's own, a text or plain data."""
    text = (table if isinstance(table, str) else json.dumps(table)).encode()
    path.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + data)
    return path


def _table(**entries: Any) -> dict[str, Any]:
    return {"__metadata__": {"json": json.dumps({"format": FORMAT})}, **entries}


def _entry(shape: list[int], size: int, dtype: str = "F32", start: int = 0) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, start + size]}


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    tensors = {"a": torch.arange(6.0).reshape(2, 3).T, "b": torch.zeros(0, dtype=torch.int64), "c": torch.tensor(True)}
    header = {"format": FORMAT, "curve": [[1, 2.5, None, "ü"]] * 3, "big": 2**127}
    save_tensors(tmp_path / "x" / "f.safetensors", tensors, header)
    found, read = load_tensors(tmp_path / "x" / "f.safetensors", FORMAT)
    assert read == header
    assert found.keys() == tensors.keys()
    assert all(torch.equal(found[name], value) and found[name].dtype == value.dtype for name, value in tensors.items())


def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        save_tensors(tmp_path / "f", {"a": torch.zeros(1)}, {"format": FORMAT})
    finally:
        os.umask(before)
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_could_not_be_read_back_is_not_written(tmp_path: Path, value: float) -> None:
    path = tmp_path / "f"
    save_tensors(path, {"a": torch.ones(1)}, {"format": FORMAT})
    before = path.read_bytes()
    deep: Any = []
    for _ in range(5_000):
        deep = [deep]
    for tensors, header in [
        ({"a": torch.tensor([1.0, value])}, {"format": FORMAT}),
        ({"a": torch.ones(1)}, {"format": FORMAT, "best": value}),
        ({"a": torch.ones(1)}, {"format": FORMAT, "best": deep}),
        ({"a": torch.ones(1)}, {"format": FORMAT, "best": object()}),
    ]:
        with pytest.raises(AgentError, match=r"not finite|cannot be written"):
            save_tensors(path, tensors, header)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def _zip(path: Path, names: list[str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, b"x")
    return path


DAMAGED: dict[str, tuple[Callable[[Path], Any], str]] = {
    "empty": (lambda p: p.write_bytes(b""), "0 bytes"),
    "missing": (lambda p: None, "No such file"),
    "folder": (lambda p: p.mkdir(), "folder"),
    "pipe": (os.mkfifo, "not a regular file"),
    "text": (lambda p: p.write_text("hello, this is no policy"), "shorter than its first bytes say"),
    "pickle": (lambda p: p.write_bytes(pickle.dumps({"a": np.zeros(100)})), "damaged or not"),
    "sb3": (lambda p: _zip(p, ["data", "policy.pth", "_stable_baselines3_version"]), "this is a stable-baselines3 zip"),
    "torch": (lambda p: _zip(p, ["archive/data.pkl"]), "this is a file of torch.save"),
    "zip": (lambda p: _zip(p, ["a.txt"]), "zip archive"),
    "half a zip": (lambda p: p.write_bytes(b"PK\x03\x04" + b"x" * 50), "zip archive"),
    "long header": (lambda p: _file(p, "{}", length=1 << 62), "shorter than its first bytes say"),
    "large header": (lambda p: _file(p, "[" * (5 << 20)), "its header has"),
    "deep": (lambda p: _file(p, "[" * 100_000 + "]" * 100_000), "nested"),
    "deep inside": (
        lambda p: _file(p, {"__metadata__": {"json": "[" * 100_000 + "]" * 100_000}}),
        "nested",
    ),
    "a list": (lambda p: _file(p, []), "no object"),
    "no header of ours": (lambda p: _file(p, {"__metadata__": {}}), "not one of ours"),
    "header is a list": (lambda p: _file(p, {"__metadata__": {"json": "[]"}}), "no object"),
    "header is not text": (lambda p: _file(p, {"__metadata__": {"json": {}}}), "not one of ours"),
    "other format": (lambda p: _file(p, {"__metadata__": {"json": '{"format": "x/9"}'}}), "has format 'x/9'"),
    "NaN in the header": (
        lambda p: _file(p, {"__metadata__": {"json": '{"format": "test/1", "temperature": NaN}'}}),
        "NaN is no number",
    ),
    "a name twice": (
        lambda p: _file(p, {"__metadata__": {"json": '{"format": "x", "format": "test/1"}'}}),
        "stands twice",
    ),
    "a tensor twice": (
        lambda p: _file(p, '{"a": %s, "a": %s}' % ((json.dumps(_entry([1], 4)),) * 2), b"\0" * 4),
        "stands twice",
    ),
    "type": (lambda p: _file(p, _table(a=_entry([1], 1, "F8_E4M3")), b"\0"), "no type that is read"),
    "type is a number": (lambda p: _file(p, _table(a={"dtype": []}), b"\0"), "no type that is read"),
    "huge shape": (lambda p: _file(p, _table(a=_entry([1 << 40, 1 << 40], 4)), b"\0" * 4), "damaged or not"),
    "negative shape": (lambda p: _file(p, _table(a=_entry([-1], 4)), b"\0" * 4), "damaged or not"),
    "truncated": (lambda p: _file(p, _table(a=_entry([2], 8)), b"\0" * 4), "damaged or not"),
    "overlap": (
        lambda p: _file(p, _table(a=_entry([2], 8), b=_entry([2], 8, start=4)), b"\0" * 12),
        "damaged or not",
    ),
    "left over": (lambda p: _file(p, _table(a=_entry([1], 4)), b"\0" * 400), "damaged or not"),
    "not finite": (
        lambda p: _file(p, _table(a=_entry([2], 8)), np.array([1, np.nan], np.float32).tobytes()),
        "not finite",
    ),
    "long name": (
        lambda p: _file(p, _table(**{"n" * 10**6: _entry([1], 4)}), np.array([np.inf], np.float32).tobytes()),
        "not finite",
    ),
    "hole": (lambda p: (p.write_bytes(b""), os.truncate(p, 1 << 40)), "the most is 256 MiB"),
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_what_is_no_file_of_ours_is_refused_by_name_and_at_once(tmp_path: Path, kind: str) -> None:
    make, words = DAMAGED[kind]
    path = tmp_path / "policy.safetensors"
    make(path)
    begun = time.perf_counter()
    with pytest.raises(AgentError) as caught:
        load_tensors(path, FORMAT)
    message = str(caught.value)
    assert str(path) in message and words in message
    assert len(message) < len(str(path)) + 400 and "\n" not in message
    assert time.perf_counter() - begun < 10


def test_a_checkpoint_may_be_larger_than_a_policy(tmp_path: Path) -> None:
    path = tmp_path / "f"
    save_tensors(path, {"a": torch.zeros(2000)}, {"format": FORMAT, "curve": list(range(2000))})
    with pytest.raises(AgentError, match="the most is"):
        load_tensors(path, FORMAT, max_bytes=4000)
    with pytest.raises(AgentError, match="its header has"):
        load_tensors(path, FORMAT, max_bytes=100_000)
    assert load_tensors(path, FORMAT, max_bytes=1 << 34)[1]["curve"][-1] == 1999
