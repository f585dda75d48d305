"""Where a result comes from: versions, and the git revision of this package, if it runs from its own repository."""

from __future__ import annotations

import os
import platform
import subprocess
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from auction_env.core.processes import cores

_ROOT = Path(__file__).resolve().parents[2]
_WRITTEN = ("benchmarks/results", "docs", "LEADERBOARD.md")  # by benchmarks, which may go on after writing some


def provenance(packages: Iterable[str] = ("numpy", "numba", "gymnasium", "pettingzoo")) -> dict[str, Any]:
    """Versions of Python, this package and others, cores, and ``git`` with ``git_clean``.

    The last two are null unless this package is its own repository's: a wheel that is installed, or a copy that is
    kept, inside somebody's repository does not take their revision for its own.
    """
    revision, clean = git_revision()
    return {
        "auction_env": _version("auction_env"),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in packages},
        "git": revision,
        "git_clean": clean,
        "cores": cores(),
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def git_revision(root: Path = _ROOT) -> tuple[str | None, bool | None]:
    """Revision of this package's own repository at ``root``, and whether it is what runs; None, None: no such.

    It is unless files were changed or added, other than pages and results, which nothing that runs depends on.
    """
    if not _is_ours(root):
        return None, None
    status = _git(root, "status", "--porcelain", "--", ".", *(f":(exclude){path}" for path in _WRITTEN))
    return _git(root, "rev-parse", "HEAD"), None if status is None else status == ""


@cache
def _is_ours(root: Path) -> bool:
    """Whether a folder is the top of a repository that tracks this package and is its project."""
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8")).get("project", {})
    except (OSError, ValueError):
        return False
    top = _git(root, "rev-parse", "--show-toplevel")
    return (
        project.get("name") == "auction_env"
        and top is not None
        and Path(top).resolve() == root.resolve()
        and _git(root, "ls-files", "--error-unmatch", "auction_env/__init__.py") is not None
    )


def _git(root: Path, *arguments: str) -> str | None:
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}  # of a hook, perhaps
    try:
        run = subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True, timeout=10, check=True, env=own
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    return run.stdout.strip()
