"""How rule functions are compiled: two decorators over numba.

``inner`` marks a function that other compiled functions call. ``kernel`` marks one that Python calls: its machine
code is kept on disk, so that only the first process on a machine pays for compiling. With ``NUMBA_DISABLE_JIT=1``
both run as plain Python, to the same results.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.caching import FunctionCache

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "boundscheck": False}

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    # The generator's arithmetic is modulo 2**64; compiled code wraps silently, numpy scalars warn.
    np.seterr(over="ignore")


def inner(function: Callable[..., Any]) -> Any:
    """Compile ``function`` into every kernel that calls it. It is not cached on its own."""
    return numba.njit(**_OPTIONS)(function)


def kernel(function: Callable[..., Any] | None = None, *, owner: str = "", parallel: bool = False) -> Any:
    """Compile ``function`` on first call and keep the machine code on disk.

    Args:
        function: the function, when used as a bare decorator.
        owner: names the game whose functions a closure captured, so that two games' kernels never share an entry.
        parallel: run ``numba.prange`` loops on several threads.
    """
    if function is None:
        return lambda f: kernel(f, owner=owner, parallel=parallel)
    if owner:
        # Distinct names give distinct symbols and cache files to closures made by one factory for several games.
        function.__qualname__ = f"{function.__qualname__}.{owner}".replace("<locals>", "l")
    compiled = numba.njit(parallel=parallel, **_OPTIONS)(function)
    if not numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        compiled._cache = _SourceKeyedCache(function, owner)
    return compiled


def source_digest(*paths: Path) -> str:
    """Hex digest of some source files' contents (16 characters)."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


_PACKAGE = Path(__file__).parent
_SOURCES = source_digest(*sorted((_PACKAGE / "games").glob("*.py")), _PACKAGE / "kernel.py", _PACKAGE / "loops.py")
_announced = False


class _SourceKeyedCache(FunctionCache):
    """numba's disk cache, keyed by the sources of all the rules too.

    numba notices a change in the file of the compiled function only, not in the files of the functions it calls: an
    edited evaluator would leave stale machine code in every kernel. The key holds a digest of them instead.
    """

    def __init__(self, function: Callable[..., Any], owner: str) -> None:
        super().__init__(function)
        self._owner = owner

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (sig, codegen.magic_tuple(), _SOURCES, self._owner)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        data = super().load_overload(sig, target_context)
        if data is None:
            _announce()
        return data


def _announce() -> None:
    global _announced
    if not _announced:
        _announced = True
        print("auction_env: compiling the rules for this machine (once, some seconds) ...", file=sys.stderr, flush=True)
