"""Everything that writes files does it here: whole or not at all, where the user said, with the rights it had.

A file is written beside its place and renamed into it, so that nobody finds half of it. Symbolic links are followed.
What is no regular file (a device, a pipe such as ``>(cat)``), and what cannot be renamed over (a bind mount, a file in
a folder that cannot be written), is written straight into.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from types import TracebackType
from typing import Any

try:
    import fcntl
except ImportError:  # not a POSIX system: no locks there
    fcntl = None  # type: ignore[assignment]

_TEMPORARY = re.compile(r"\.auction_env-(\d+)-[0-9a-f]{8}\.tmp")
_NOT_BESIDE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV}  # but perhaps straight
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
LOCK_FILE = ".lock"


class OutputError(ValueError):
    """A file cannot be written where it is asked for; the message names it."""


class FolderInUseError(ValueError):
    """Another process works in a folder; the message names the process."""


# --- writing --------------------------------------------------------------------------------------------------------


def write_file(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a whole file, as ``writing`` does; text becomes UTF-8.

    Raises:
        OSError: naming ``path``.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    with writing(path) as temporary:
        temporary.write_bytes(data)


def write_json(path: str | os.PathLike[str], content: Any) -> None:
    """Write plain data as JSON, as ``write_file``; folders that are missing are made.

    Raises:
        OSError: naming a path.
        ValueError: a number in it is not finite, which JSON has no word for.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_file(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary file to write to; afterwards its content is that of ``path``, unless an error came.

    The mode of a file that was there is kept, and its owner where that is possible; a new file gets the mode that the
    umask leaves, whatever the library that wrote the temporary file gave it.

    Raises:
        OSError: naming ``path``, not the temporary file.
    """
    path = Path(path)
    with _named(path):
        target = _replaceable(path)
        temporary, lock = _open_beside(target) if target is not None else (None, -1)
    if temporary is None:
        with tempfile.TemporaryDirectory(prefix="auction_env-") as elsewhere:
            yield Path(elsewhere) / "content"
            with _named(path):
                _pour(Path(elsewhere) / "content", path)
        return
    assert target is not None
    try:
        with _named(path, temporary):
            yield temporary
            _settle(temporary, target, path, stat.S_IMODE(os.fstat(lock).st_mode))
    finally:
        temporary.unlink(missing_ok=True)
        os.close(lock)


@contextlib.contextmanager
def _named(path: Path, temporary: Path | None = None) -> Iterator[None]:
    """Errors of the system name ``path``, the file that the user knows."""
    try:
        yield
    except OSError as error:
        if temporary is not None and error.filename not in (None, str(temporary), str(path)):
            raise
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _replaceable(path: Path) -> Path | None:
    """Where a new file is to be renamed to, links followed; None if it must be written straight into."""
    if _descriptor(path) is not None:
        return None
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return Path(os.path.realpath(path))
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return Path(os.path.realpath(path)) if stat.S_ISREG(mode) else None


def _descriptor(path: Path) -> int | None:
    """The open file of this process that a path such as ``/dev/stdout`` or ``/dev/fd/63`` names."""
    if os.name != "posix":
        return None
    folder = os.path.realpath("/dev/fd")
    for _ in range(40):  # more links than that are a loop, which the system refuses
        if path.name.isdigit() and os.path.realpath(path.parent) == folder:
            return int(path.name)
        if not os.path.islink(path):
            return None
        path = path.parent / os.readlink(path)
    return None


def _open_beside(target: Path) -> tuple[Path | None, int]:
    """A new temporary file beside another, and its descriptor, which locks it while it is being written.

    None if the folder takes no new file, but the target is there and may be written straight into.
    """
    temporary = target.parent / f".auction_env-{os.getpid()}-{secrets.token_hex(4)}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except OSError as error:
        if error.errno in _NOT_BESIDE and target.exists() and os.access(target, os.W_OK):
            return None, -1
        raise
    _try_lock(descriptor)
    return temporary, descriptor


def _settle(temporary: Path, target: Path, path: Path, new_mode: int) -> None:
    """Rename a finished file into place, or pour it in where that cannot be."""
    _keep_rights(temporary, target, new_mode)
    with open(temporary, "rb+") as file:
        os.fsync(file.fileno())  # a rename may reach the disk before the content does
    try:
        os.replace(temporary, target)
    except OSError as error:
        if error.errno not in _NOT_BESIDE or not target.exists():
            raise
        _pour(temporary, path)


def _keep_rights(temporary: Path, target: Path, new_mode: int) -> None:
    """Give a new file the mode and owner of the one it replaces, or the mode of any new file."""
    try:
        before = target.stat()
    except FileNotFoundError:
        os.chmod(temporary, new_mode)
        return
    mode = stat.S_IMODE(before.st_mode)
    now = temporary.stat()
    if hasattr(os, "chown") and (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.chown(temporary, before.st_uid, before.st_gid)
        except OSError:  # not allowed: then it must not run with the rights of others, either
            mode &= ~(stat.S_ISUID | stat.S_ISGID)
    os.chmod(temporary, mode)


def _pour(source: Path, path: Path) -> None:
    """Copy a file's content straight into what ``path`` names."""
    descriptor = _descriptor(path)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()  # what was printed before stands before
    with open(source, "rb") as content, open(path if descriptor is None else os.dup(descriptor), "wb") as file:
        shutil.copyfileobj(content, file)


# --- before anything is played --------------------------------------------------------------------------------------


def check_outputs(outputs: Mapping[str, Path | None]) -> None:
    """See that files can be written, before the work whose results they are to hold; nothing is changed.

    Args:
        outputs: files by the name of what asks for them, such as ``{"--json": path}``; None: nothing is asked for.

    Raises:
        OutputError: one cannot be written, or two are the same file.
    """
    named: dict[str, str] = {}
    for what, path in outputs.items():
        if path is None:
            continue
        check_output(path, what)
        place = os.path.realpath(path)
        if place in named and _is_plain(path):
            raise OutputError(f"{named[place]} and {what} both name {path}: one would overwrite the other")
        named[place] = what


def check_output(path: Path, what: str = "output") -> None:
    """See that a file can be written, as ``check_outputs`` for one; what killed runs left in its folder is removed."""
    place = Path(os.path.realpath(path))
    if os.path.isdir(path):
        raise OutputError(f"{what}: {path} is a folder, name a file in it")
    if _descriptor(path) is None and not os.path.isdir(place.parent):
        raise OutputError(f"{what}: there is no folder {path.parent if not os.path.islink(path) else place.parent}")
    try:
        target = _replaceable(path)
        if target is None:
            if _descriptor(path) is None and not os.access(path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return
        sweep(target.parent)
        temporary, descriptor = _open_beside(target)
    except OSError as error:
        raise OutputError(f"{what}: {path} cannot be written ({error.strerror or error}): name another file") from error
    if temporary is not None:
        temporary.unlink(missing_ok=True)
        os.close(descriptor)


def check_folder(path: Path, what: str = "output") -> None:
    """See that files can be written in a folder, which is made if need be. Raises OutputError."""
    try:
        _make_folder(path)
    except OSError as error:
        raise OutputError(f"{what}: {path} cannot be made ({error.strerror or error}): name another folder") from error
    check_output(path / "new", what)


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise NotADirectoryError(errno.ENOTDIR, "a file is in its place", str(path)) from error


def _is_plain(path: Path) -> bool:
    return not os.path.exists(path) or os.path.isfile(path)


# --- what killed runs left ------------------------------------------------------------------------------------------


def sweep(folder: str | os.PathLike[str]) -> list[Path]:
    """Remove temporary files of processes that are no more; those of living ones, here or elsewhere, stay.

    Returns:
        what was removed. A folder that cannot be read or written is left as it is.
    """
    removed = []
    with contextlib.suppress(OSError):
        for path in sorted(Path(folder).iterdir()):
            found = _TEMPORARY.fullmatch(path.name)
            if found and not _alive(int(found[1])) and _abandoned(path):
                path.unlink(missing_ok=True)
                removed.append(path)
    return removed


def is_temporary(path: Path) -> bool:
    """Whether a file is one that ``writing`` makes for the time being, by its name."""
    return _TEMPORARY.fullmatch(path.name) is not None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # somebody else's
        return True
    return True


def _abandoned(path: Path) -> bool:
    """Whether nobody holds a temporary file's lock: a number of a process says nothing about another machine's."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return False
    try:
        return _try_lock(descriptor)
    finally:
        os.close(descriptor)


# --- locks ----------------------------------------------------------------------------------------------------------


def _try_lock(descriptor: int) -> bool:
    """Lock an open file; False if another has it. Where the system knows no locks, everybody gets them."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in _NO_LOCKS
    return True


class FolderLock:
    """Holds a folder for one process at a time: ``with FolderLock(folder): ...``.

    The lock is the system's, on the file ``.lock`` in the folder: it ends with the process, however that ends. The file
    names the process and is removed at the end. Temporary files of killed processes are swept from the folder.

    Raises:
        FolderInUseError: another has it.
        OSError: the folder cannot be made or written.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._descriptor: int | None = None

    def __enter__(self) -> FolderLock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def acquire(self) -> None:
        """Take the lock; see the class."""
        with _named(self.folder):
            self._acquire()
        sweep(self.folder)

    def _acquire(self) -> None:
        _make_folder(self.folder)
        path = self.folder / LOCK_FILE
        while self._descriptor is None:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            if not _try_lock(descriptor):
                owner = os.read(descriptor, 20).decode("ascii", "replace").strip()
                os.close(descriptor)
                raise FolderInUseError(
                    f"{self.folder} is in use{f' by process {owner}' if owner.isdigit() else ''}: "
                    "wait for its end, or name another folder"
                )
            if _is_file(descriptor, path):
                self._descriptor = descriptor
            else:  # whoever had it removed it between our opening and our locking it
                os.close(descriptor)
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Give the lock back; nothing happens if it is not held."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                (self.folder / LOCK_FILE).unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None


def _is_file(descriptor: int, path: Path) -> bool:
    """Whether an open file is still the one of this name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


# --- digests --------------------------------------------------------------------------------------------------------


def file_digest(path: Path | Traversable) -> str:
    """Hex SHA-256 of a file's content, one in a zip archive too, read a piece at a time. Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()
