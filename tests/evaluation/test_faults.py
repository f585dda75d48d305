"""Evaluations that are killed, starved of disk, or started twice come to the result of one that nothing happened to."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import faults
import pytest

POSIX = pytest.mark.skipif(os.name != "posix", reason="POSIX signals")
LINE = ["random", "random", "--deals", "24000", "--part", "1500", "--workers"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> str:
    """The digest of the match that nothing happens to."""
    file = tmp_path_factory.mktemp("whole") / "out.json"
    found = faults.run(*LINE, 1, "--json", file)
    assert found.returncode == 0, found.stderr
    return faults.digest_of(file)


@pytest.fixture(scope="module", autouse=True)
def report_counts(request):
    yield
    faults.report(request.config.pluginmanager.getplugin("capturemanager"), "evaluating")


def kill_often(folder: Path, whole: str, kills: int, workers: int) -> None:
    """Kill runs on one folder at random moments, then let one end: it comes to the same, and nothing is left lying."""
    rng, state, out = random.Random(kills), folder / "state", folder / "out.json"
    arguments = [*LINE, workers, "--checkpoint-dir", state, "--json", out]

    def through() -> None:
        assert faults.digest_of(out) == whole
        out.unlink()
        state.rename(folder / f"state_{len(list(folder.iterdir()))}")

    faults.kill_often(["evaluate.py", *arguments], rng, kills, lambda: faults.parts(state), through)
    assert not out.exists()
    found = faults.run(*arguments)
    assert found.returncode == 0, found.stderr
    assert faults.digest_of(out) == whole and not faults.leftovers(state) and not faults.hidden(folder)


@POSIX
def test_kills_at_random_moments_change_nothing(tmp_path, whole):
    kill_often(tmp_path, whole, kills=3, workers=1)


@POSIX
@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_many_kills_at_random_moments_change_nothing(tmp_path, whole, workers):
    kill_often(tmp_path, whole, kills=25, workers=workers)


@POSIX
@pytest.mark.slow
def test_results_that_are_written_while_it_is_killed_are_the_old_or_the_new_ones(tmp_path):
    """Results and pages over older ones: whole before and whole after, and nothing half stays beside them."""
    pytest.importorskip("matplotlib")
    rng, out, page = random.Random(4), tmp_path / "out.json", tmp_path / "page.html"
    line = ["match", "random", "random", "--deals", "600", "--workers", "1", "--json", out, "--report", page]
    assert faults.run(*line).returncode == 0
    wanted, contents = faults.digest_of(out), {}
    for path in (out, page):
        contents[path] = path.read_bytes()
    faults.kill_often(["evaluate.py", *line], rng, 15, lambda: faults.changed(out), lambda: None, startup=6.0)
    assert faults.digest_of(out) == wanted and out.read_bytes() == contents[out]
    assert page.read_bytes().endswith(contents[page][-20:])
    assert faults.run(*line).returncode == 0 and not faults.hidden(tmp_path)


@POSIX
def test_folders_that_cannot_be_written_are_told_before_anything_is_played(tmp_path):
    """A read-only folder, also for root: an immutable one cannot be had everywhere, a file in the way can."""
    (tmp_path / "file").write_text("")
    for option in ("--checkpoint-dir", "--json", "--report"):
        found = faults.run("random", "random", "--deals", "9e8", "--workers", "1", option, tmp_path / "file" / "x")
        faults.COUNTS["folder not writable"] += 1
        assert found.returncode == 2 and str(tmp_path / "file") in found.stderr and "Traceback" not in found.stderr


@POSIX
def test_a_full_disk_is_named_and_the_match_goes_on_afterwards(tmp_path, whole):
    """Parts of some 3 kB no longer fit: the error names the part's file; what was whole is used."""
    state, out = tmp_path / "state", tmp_path / "out.json"
    arguments = [*LINE, 1, "--checkpoint-dir", state, "--json", out]
    found = faults.run(*arguments, limit_bytes=1024)
    assert found.returncode == 2 and "File too large" in found.stderr and str(state / "part_") in found.stderr, found
    assert "Traceback" not in found.stderr and ".tmp" not in found.stderr and not out.exists()
    assert not faults.leftovers(state)
    assert faults.run(*arguments).returncode == 0 and faults.digest_of(out) == whole


@POSIX
def test_the_second_run_on_a_folder_is_refused_and_the_first_is_not_disturbed(tmp_path, whole):
    state, first = tmp_path / "state", tmp_path / "first.json"
    line = faults.command(*LINE, 1, "--checkpoint-dir", state, "--json", first)
    with subprocess.Popen(line, cwd=faults.ROOT, stdout=subprocess.DEVNULL) as process:
        until = time.monotonic() + 120
        while not list(state.glob("part_*")) and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGSTOP)  # so that it surely has not ended
        found = faults.run(*LINE, 1, "--checkpoint-dir", state, "--json", tmp_path / "second.json")
        process.send_signal(signal.SIGCONT)
        faults.COUNTS["two at once"] += 1
        assert process.wait(120) == 0
    assert found.returncode == 2 and f"is in use by process {process.pid}" in found.stderr, found.stderr
    assert faults.digest_of(first) == whole and not (tmp_path / "second.json").exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_workers_end_with_the_run(tmp_path, monkeypatch, number):
    marker = f"FAULTS_MARKER={tmp_path}"
    monkeypatch.setenv("FAULTS_MARKER", str(tmp_path))
    state = tmp_path / "state"
    arguments = ["rules", "rules", "--deals", "4000000", "--part", "1500", "--workers", "2", "--checkpoint-dir", state]
    line = ["evaluate.py", *arguments]
    status = faults.kill_while_it_works(lambda: faults.parts(state), random.Random(1), *line, number=number)
    assert status == (-number if number == signal.SIGKILL else 128 + number)
    until = time.monotonic() + 15
    while faults.children_of(marker) and time.monotonic() < until:
        time.sleep(0.05)
    assert faults.children_of(marker) == []
