"""Files are written whole or not at all, where the user said, with the rights that they had."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from auction_env.core import files
from auction_env.core.files import (
    FolderInUseError,
    FolderLock,
    OutputError,
    check_output,
    check_outputs,
    file_digest,
    sweep,
    write_file,
    write_json,
    writing,
)

ROOT = os.geteuid() == 0 if hasattr(os, "geteuid") else False
needs_root = pytest.mark.skipif(not ROOT, reason="only root may")
no_root = pytest.mark.skipif(ROOT, reason="root may write everywhere")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def script(text: str, *arguments: str, **more) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", text, *arguments], capture_output=True, text=True, check=False, timeout=120, **more
    )


# --- where and with which rights ---


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_new_files_have_the_mode_that_the_umask_leaves_whatever_a_library_gave(tmp_path, umask):
    before = os.umask(umask)
    try:
        write_file(tmp_path / "a", "text")
        with writing(tmp_path / "b") as temporary:
            temporary.unlink()
            temporary.write_bytes(b"by a library that makes its own file")
            temporary.chmod(0o600)
    finally:
        os.umask(before)
    assert mode(tmp_path / "a") == mode(tmp_path / "b") == 0o666 & ~umask
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_the_mode_of_a_file_that_was_there_is_kept(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o640)
    write_file(path, b"new")
    assert path.read_text() == "new" and mode(path) == 0o640


@needs_root
def test_the_owner_of_a_file_that_was_there_is_kept(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    os.chown(path, 1234, 4321)
    write_file(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 4321)


def test_links_are_followed(tmp_path):
    (tmp_path / "there").mkdir()
    real, link, second = tmp_path / "there" / "real", tmp_path / "link", tmp_path / "second"
    link.symlink_to("there/real")
    second.symlink_to(link)
    write_file(second, "through a dangling link")
    assert real.read_text() == "through a dangling link" and link.is_symlink() and second.is_symlink()
    write_file(link, "again")
    assert real.read_text() == "again" and not real.is_symlink()


def test_a_pipe_is_written_into(tmp_path):
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    check_output(pipe)
    write_file(pipe, "content")
    reader.join(10)
    assert got == ["content"] and stat.S_ISFIFO(pipe.stat().st_mode)


@needs_root
def test_a_device_stays_a_device(tmp_path):
    device = tmp_path / "null"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        device.write_text("")
    except OSError:
        pytest.skip("no devices can be made here")
    check_output(device)
    write_file(device, "content")
    assert stat.S_ISCHR(device.stat().st_mode)


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="no /dev/fd")
def test_process_substitution_and_standard_output(tmp_path):
    """What ``>(cat)`` gives a program: a pipe under /dev/fd; and /dev/stdout, redirected to a file, keeps its place."""
    text = "from auction_env.core.files import *; import sys; check_output(Path(sys.argv[1])); " + (
        "print('before'); write_file(sys.argv[1], 'content\\n'); print('after')"
    )
    found = subprocess.run(
        [
            "bash",
            "-c",
            '"$0" -c "$1" >(cat >"$2/a"; echo read >"$2/done") && sleep 0.5',
            sys.executable,
            text,
            tmp_path,
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    assert (tmp_path / "a").read_text() == "content\n", found
    with open(tmp_path / "b", "w") as out:
        subprocess.run([sys.executable, "-c", text, "/dev/stdout"], stdout=out, check=True)
    assert (tmp_path / "b").read_text() == "before\ncontent\nafter\n"


@needs_root
def test_what_cannot_be_renamed_over_is_written_into(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "mounted").write_text("")
    mount = subprocess.run(["mount", "--bind", tmp_path / "real", tmp_path / "mounted"], check=False)
    if mount.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        check_output(tmp_path / "mounted")
        write_file(tmp_path / "mounted", "new")
        assert (tmp_path / "real").read_text() == "new"
    finally:
        subprocess.run(["umount", tmp_path / "mounted"], check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mounted", "real"]


def test_a_rename_that_is_refused_falls_back_to_the_file_itself(tmp_path, monkeypatch):
    def refuse(source, target):
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(source))

    path = tmp_path / "a"
    path.write_text("a long old content")
    monkeypatch.setattr(files.os, "replace", refuse)
    write_file(path, "new")
    assert path.read_text() == "new" and [found.name for found in tmp_path.iterdir()] == ["a"]


# --- nothing half done, and errors that name the file ---


def test_an_error_leaves_the_old_file_and_names_it(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), writing(path) as temporary:
        temporary.write_text("half")
        raise ZeroDivisionError
    assert path.read_text() == "old" and [found.name for found in tmp_path.iterdir()] == ["a"]
    with pytest.raises(OSError) as caught:
        write_file(tmp_path / "none" / "a", "x")
    assert caught.value.filename == str(tmp_path / "none" / "a") and isinstance(caught.value, FileNotFoundError)
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        write_file(tmp_path, "x")


def test_a_full_disk_leaves_the_old_file_and_names_it(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    found = script(
        "import resource, sys; from auction_env.core.files import write_file\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: write_file(sys.argv[1], b'x' * 100_000)\n"
        "except OSError as error: print(error.filename == sys.argv[1], error)",
        str(path),
    )
    assert found.stdout.startswith("True [Errno 27]"), found
    assert path.read_text() == "old" and [name.name for name in tmp_path.iterdir()] == ["a"]


def test_json_makes_its_folder_and_ends_with_a_newline(tmp_path):
    write_json(tmp_path / "new" / "a.json", {"text": "\udcff"})
    assert json.loads((tmp_path / "new" / "a.json").read_text()) == {"text": "\udcff"}
    write_file(tmp_path / "stray", "name \udcff")
    assert (tmp_path / "stray").read_bytes() == b"name \\udcff", "a file name with a stray byte in a text"


# --- before the work ---


def test_outputs_are_checked_before_the_work(tmp_path, monkeypatch):
    check_outputs({"--json": tmp_path / "a", "--report": tmp_path / "b", "--record": None})
    assert not list(tmp_path.iterdir()), "nothing is made"
    (tmp_path / "old").write_text("old")
    check_output(tmp_path / "old")
    assert (tmp_path / "old").read_text() == "old"
    (tmp_path / "dangling").symlink_to(tmp_path / "no" / "file")
    for path, words in (
        (tmp_path, "--json: .* is a folder, name a file in it"),
        (tmp_path / "no" / "file", f"--json: there is no folder {tmp_path / 'no'}"),
        (tmp_path / "dangling", f"--json: there is no folder {tmp_path / 'no'}"),
        (tmp_path / ("x" * 300), "--json: .*xxx cannot be written \\(File name too long\\)"),
    ):
        with pytest.raises(OutputError, match=words):
            check_outputs({"--json": path})
    with pytest.raises(OutputError, match="--json and --report both name"):
        check_outputs({"--json": tmp_path / "a", "--report": tmp_path / "." / "a"})


@no_root
def test_folders_and_files_that_may_not_be_written(tmp_path):
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "open file").write_text("")
    (tmp_path / "closed").chmod(0o500)
    with pytest.raises(OutputError, match="cannot be written"):
        check_output(tmp_path / "closed" / "new")
    check_output(tmp_path / "closed" / "open file")
    write_file(tmp_path / "closed" / "open file", "straight")
    assert (tmp_path / "closed" / "open file").read_text() == "straight"


@needs_root
def test_a_read_only_file_system_is_found_before_the_work(tmp_path):
    (tmp_path / "m").mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,size=1m", "none", tmp_path / "m"], check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        with pytest.raises(OutputError, match=r"m/new cannot be written \(Read-only file system\)"):
            check_output(tmp_path / "m" / "new")
    finally:
        subprocess.run(["umount", tmp_path / "m"], check=True)


# --- killed runs, locks, digests ---


def test_what_a_killed_run_left_is_swept_and_what_a_living_one_writes_is_not(tmp_path):
    dead = script(
        "import os, sys; from auction_env.core.files import writing\n"
        "with writing(sys.argv[1]) as temporary: temporary.write_text('half'); os.kill(os.getpid(), 9)",
        str(tmp_path / "a"),
    )
    assert dead.returncode == -9 and len(list(tmp_path.iterdir())) == 1
    (tmp_path / ".auction_env-mine.tmp").write_text("not one of them")
    with writing(tmp_path / "b") as temporary:
        removed = sweep(tmp_path)
        assert len(removed) == 1 and temporary.exists()
        temporary.write_text("whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".auction_env-mine.tmp", "b"]
    assert sweep(tmp_path / "none") == []


def test_a_folder_is_for_one_process_at_a_time(tmp_path):
    folder = tmp_path / "run"
    text = "import sys; from auction_env.core.files import *\ntry:\n with FolderLock(sys.argv[1]): print('mine')\n" + (
        "except FolderInUseError as error: print(error)"
    )
    with FolderLock(folder):
        found = script(text, str(folder))
        assert f"{folder} is in use by process {os.getpid()}: wait" in found.stdout, found
        with pytest.raises(FolderInUseError, match=f"process {os.getpid()}"):
            FolderLock(folder).acquire()
    assert not list(folder.iterdir()), "no file is left"
    assert script(text, str(folder)).stdout == "mine\n"


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    text = "import os, sys; from auction_env.core.files import *\nFolderLock(sys.argv[1]).acquire(); "
    assert script(text + "os.kill(os.getpid(), 9)", str(tmp_path)).returncode == -9
    assert (tmp_path / files.LOCK_FILE).exists()
    with FolderLock(tmp_path):
        pass


def test_many_that_want_a_folder_have_it_one_at_a_time(tmp_path):
    inside, most = [0], [0]

    def work():
        for _ in range(50):
            try:
                with FolderLock(tmp_path):
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                    inside[0] -= 1
            except FolderInUseError:
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]


def test_large_files_are_digested_without_being_held(tmp_path):
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(64 << 20)
    text = (
        "import resource, sys; from pathlib import Path; from auction_env.core.files import file_digest\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; print(file_digest(Path(sys.argv[1])));"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    digest, grown = script(text, str(tmp_path / "sparse")).stdout.split()
    assert digest == file_digest(tmp_path / "sparse") and int(grown) < 16 << 10
