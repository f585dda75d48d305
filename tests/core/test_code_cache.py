"""Machine code on disk: kept, found again, and no more than a help: damaged, full or read-only, things still run."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import auction_env
from auction_env.core import jit

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled under NUMBA_DISABLE_JIT=1")

PACKAGE = Path(auction_env.__file__).parent
SOURCE = """
from auction_env.core.jit import kernel

@kernel
def double(x):
    return 2 * x
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a module of one kernel; nothing has been said yet."""
    monkeypatch.setattr(jit, "_said", set())
    (tmp_path / "small.py").write_text(SOURCE)
    return tmp_path


def use(folder: Path) -> Any:
    """The kernel, of the module loaded and run anew, as another process would."""
    spec = importlib.util.spec_from_file_location("small", folder / "small.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.double(np.int64(21)) == 42
    return module.double


def loaded(kernel: Any) -> bool:
    return sum(kernel.stats.cache_hits.values()) == 1


def entry(folder: Path) -> Path:
    (found,) = (folder / "__pycache__").glob("*.nbc")
    return found


def test_what_is_compiled_is_found_again_and_says_where(folder, capsys):
    assert not loaded(use(folder))
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "compiling for this machine" in told and str(folder / "__pycache__") in told
    assert loaded(use(folder))
    assert capsys.readouterr().err == ""


def damages(content: bytes) -> list[bytes]:
    flipped = [bytearray(content) for _ in range(24)]
    for number, copy in enumerate(flipped):
        copy[number * (len(content) - 1) // 23] ^= 1 << number % 8
    return [b"", content[:10], content[: len(content) // 2], content[:-1], content + b"x", *map(bytes, flipped)]


def test_a_damaged_entry_is_compiled_anew_and_mended(folder):
    use(folder)
    content = entry(folder).read_bytes()
    for damaged in damages(content):
        entry(folder).write_bytes(damaged)
        assert not loaded(use(folder))
        assert loaded(use(folder))


def test_machine_code_of_another_kernel_is_not_taken(folder):
    use(folder)
    other = folder / "other"
    other.mkdir()
    (other / "small.py").write_text(SOURCE.replace("2 * x", "x + 21 + 0 * x"))
    use(other)
    shutil.copy(entry(other), entry(folder))
    assert not loaded(use(folder))


def test_other_sources_write_over_the_old_machine_code(folder):
    use(folder)
    before = entry(folder)
    (folder / "small.py").write_text(SOURCE.replace("2 * x", "x + x"))
    jit.file_digest.cache_clear()
    assert not loaded(use(folder))
    assert entry(folder) == before and loaded(use(folder))


def test_without_a_folder_it_runs_and_one_line_names_the_way_out(folder, monkeypatch, capsys):
    (folder / "__pycache__").write_text("no folder can be made here")
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, "/dev/null")
    assert not loaded(use(folder)) and not loaded(use(folder))
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "no folder for it can be written to: NUMBA_CACHE_DIR=FOLDER" in told


def run(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


FULL = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); import small; print(small.double(21))"


def test_a_full_disk_keeps_nothing_and_leaves_nothing(folder):
    found = run(FULL, folder)
    assert (found.returncode, found.stdout) == (0, "42\n"), found.stderr
    assert (
        "cannot be kept in" in found.stderr and "NUMBA_CACHE_DIR" in found.stderr and "File too large" in found.stderr
    )
    assert list((folder / "__pycache__").iterdir()) == []


def test_the_package_is_imported_and_runs_where_nothing_can_be_written(folder):
    """As in a container with a read-only file system; a file in the way stops root too."""
    shutil.copytree(PACKAGE, folder / "auction_env", ignore=shutil.ignore_patterns("__pycache__"))
    for path in [folder, *(folder / "auction_env").rglob("*")]:
        if path.is_dir():
            (path / "__pycache__").write_text("")
    (folder / "auction_env" / "__pycache__").write_text("")
    code = "import auction_env, small; print(auction_env.__file__, small.double(21))"
    found = run(code, folder, HOME="/dev/null", XDG_CACHE_HOME="/dev/null", PYTHONPATH=str(folder))
    assert found.returncode == 0 and found.stdout.split()[0].startswith(str(folder)), found.stderr
    assert found.stderr.count("NUMBA_CACHE_DIR") == 1
