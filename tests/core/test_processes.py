"""Cores, threads, signals; and where a result says that it comes from."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from auction_env.core import processes, provenance

ROOT = Path(__file__).parents[2]


def test_threads_follow_affinity_and_what_the_environment_asks_for(monkeypatch):
    monkeypatch.setattr(processes, "cores", lambda: 4)
    for asked, threads in (("1", 1), ("3", 3), ("64", 4), ("2,1", 2), ("", 4), ("0", 4), ("many", 4), ("-1", 4)):
        monkeypatch.setenv("OMP_NUM_THREADS", asked)
        assert processes.thread_limit() == threads, asked
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert processes.thread_limit() == 4


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
def test_cores_are_those_of_the_affinity():
    text = (
        "import os; from auction_env.core.processes import *; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"
    )
    text += "; print(cores(), thread_limit(), usable_workers(None), usable_workers(9))"
    env = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    assert subprocess.run([sys.executable, "-c", text], capture_output=True, env=env, check=True).stdout == b"1 1 1 1\n"


def test_workers_beyond_the_cores_are_cut_and_it_is_said(monkeypatch):
    monkeypatch.setattr(processes, "cores", lambda: 2)
    said: list[str] = []
    assert [processes.usable_workers(asked, said.append) for asked in (None, 1, 2, 300)] == [2, 1, 2, 2]
    assert len(said) == 1 and said[0].startswith("300 workers")


CHILD = """
import multiprocessing, os, signal, sys, time
from auction_env.core.processes import end_with_parent
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it would be ignored
def work():
    end_with_parent()
    print(os.getpid(), flush=True)
    time.sleep(300)
if __name__ == "__main__":
    children = [multiprocessing.get_context("spawn").Process(target=work) for _ in range(2)]
    for child in children: child.start()
    time.sleep(300)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_children_end_with_their_parent_however_it_ends(tmp_path, number):
    (tmp_path / "script.py").write_text(CHILD)
    line = [sys.executable, tmp_path / "script.py"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as parent:
        children = [int(parent.stdout.readline()) for _ in range(2)]
        parent.send_signal(number)
        parent.wait(60)
        until = time.monotonic() + 30
        while any(_runs(child) for child in children) and time.monotonic() < until:
            time.sleep(0.05)
        assert not any(_runs(child) for child in children)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_signals_that_end_a_process_can_be_caught_as_ctrl_c_is():
    text = (
        "import os, signal, time; from auction_env.core.processes import *\n"
        "try:\n with stopped_by_signals(): os.kill(os.getpid(), signal.SIGTERM); time.sleep(9)\n"
        "except Terminated as stop: print(stop, stop.status, isinstance(stop, KeyboardInterrupt))\n"
        "print(signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)"
    )
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=120)
    assert found.stdout == "SIGTERM 143 True\nTrue\n"


# --- provenance ---


def git(folder: Path, *arguments: str) -> str:
    line = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(line, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def ours(tmp_path):
    """A repository that looks like this one, with a commit."""
    root = tmp_path / "clone"
    (root / "auction_env").mkdir(parents=True)
    (root / "auction_env" / "__init__.py").write_text("")
    (root / "pyproject.toml").write_text('[project]\nname = "auction_env"\n')
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "a")
    return root


def test_the_revision_is_that_of_our_own_repository(ours, monkeypatch):
    monkeypatch.setenv("GIT_DIR", "/nowhere")  # as a hook of another repository sets it
    assert provenance.git_revision(ours)[1] is True
    monkeypatch.delenv("GIT_DIR")
    assert provenance.git_revision(ours) == (git(ours, "rev-parse", "HEAD"), True)
    (ours / "benchmarks" / "results").mkdir(parents=True)
    (ours / "benchmarks" / "results" / "one.json").write_text("")
    assert provenance.git_revision(ours)[1] is True
    for changed in ("new", "benchmarks/new.py"):
        (ours / changed).write_text("")
        assert provenance.git_revision(ours)[1] is False
        (ours / changed).unlink()


def test_somebody_elses_revision_is_not_ours(ours, tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q")
    wheel, copy, vendored = project / ".venv" / "site-packages", project / "copy", project
    shutil.copytree(ours / "auction_env", wheel / "auction_env")
    shutil.copytree(ours, copy, ignore=shutil.ignore_patterns(".git"))
    shutil.copytree(ours / "auction_env", vendored / "auction_env")
    (project / "pyproject.toml").write_text('[project]\nname = "other"\n')
    git(project, "add", ".")
    git(project, "commit", "-qm", "a")
    for root in (wheel, copy, vendored, tmp_path / "none"):
        assert provenance.git_revision(root) == (None, None), root


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no such signals here")
def test_a_signal_within_a_callback_of_c_code_is_not_lost():
    """Python drops what a ctypes callback raises, as those of a compiler do; so would the request to end be."""
    text = (
        "import ctypes, os, signal, sys, time; from auction_env.core.processes import Terminated, stopped_by_signals\n"
        "def inside():\n os.kill(os.getpid(), signal.SIGTERM); time.sleep(9)\n"
        "hook = sys.unraisablehook\n"
        "try:\n"
        " with stopped_by_signals(): ctypes.CFUNCTYPE(None)(inside)(); print('dropped', flush=True); time.sleep(60)\n"
        "except Terminated as error: print(error.status, sys.unraisablehook is hook)\n"
    )
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=50)
    assert found.stdout.split() == ["dropped", "143", "True"] and not found.stderr, found.stderr


def test_provenance_names_versions_and_none_for_what_is_missing():
    found = provenance.provenance(("numpy", "no-such-package"))
    assert found["versions"]["no-such-package"] is None and found["versions"]["numpy"]
    assert found["cores"] >= 1 and found["auction_env"]


@pytest.mark.parametrize("backend", ["module://no_such.backend", "nonsense", "", "agg"])
def test_pictures_are_made_whatever_backend_a_notebook_names(tmp_path, backend):
    pytest.importorskip("matplotlib")
    text = (
        "import os, sys; from auction_env.core.plots import import_matplotlib; mpl = import_matplotlib()\n"
        "from matplotlib.figure import Figure; Figure().savefig(sys.argv[1]); print(os.environ['MPLBACKEND'])"
    )
    line = [sys.executable, "-c", text, tmp_path / "a.png"]
    env = {**os.environ, "MPLBACKEND": backend}
    found = subprocess.run(line, capture_output=True, text=True, env=env, check=False, timeout=120)
    assert found.returncode == 0 and found.stdout.strip() == backend, found.stderr
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
