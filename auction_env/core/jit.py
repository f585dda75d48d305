"""How rule functions are compiled: two decorators over numba.

``inner`` marks a function that other compiled functions call. ``kernel`` marks one that Python calls: its machine
code is kept on disk, so that only the first process on a machine pays for compiling. Where it cannot be kept, or what
was kept is damaged, it is compiled anew. With ``NUMBA_DISABLE_JIT=1`` both run as plain Python, to the same results.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.core.typed_passes import NativeLowering
from numba.extending import intrinsic, overload

from auction_env.core.terminal import complain

_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "boundscheck": False}
_KERNEL: dict[str, Any] = {**_OPTIONS, "no_cfunc_wrapper": True}  # Python calls it, C does not
_INNER: dict[str, Any] = {**_KERNEL, "nopython": True, "no_cpython_wrapper": True}


def inner(function: Callable[..., Any]) -> Any:
    """Compile ``function`` into every kernel that calls it. It is not cached on its own."""
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    return _Inner(function, targetoptions=dict(_INNER), pipeline_class=_InnerCompiler)


class _InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """An inner function's code as it is linked into kernels, which optimise it there: no machine code of its own."""

    def _optimize_final_module(self) -> None:
        """Nothing: whatever is done here is done again in each kernel, and its inlining is then less good."""

    def _finalize_final_module(self) -> None:
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(NativeLowering):  # type: ignore[misc]
    """Lowering for callers in compiled code alone: there is no function for Python at its end."""

    _name = "inner_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags = state.flags.copy()
        state.flags.no_compile = True
        super().run_pass(state)
        key = object()  # numba finds the code by it when it lowers a caller
        state.targetctx.insert_user_function(key, state["cr"].fndesc, [state.library])
        state["cr"] = state["cr"]._replace(cfunc=key)
        return True


class _InnerCompiler(CompilerBase):  # type: ignore[misc]
    """numba's passes with that lowering."""

    def define_pipelines(self) -> list[Any]:
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [(_InnerLowering if p is NativeLowering else p, why) for p, why in manager.passes]
        manager.finalize()
        return [manager]


class _Inner(CPUDispatcher):  # type: ignore[misc]
    """A compiled function without what Python and C would call it by: making that takes a third of the compile time."""

    def add_overload(self, result: Any) -> None:
        self.overloads[tuple(result.signature.args)] = result

    def __call__(self, *arguments: Any) -> Any:
        return self._for_python(*arguments)

    @functools.cached_property
    def _for_python(self) -> Any:
        return numba.njit(**_OPTIONS)(self.py_func)


def kernel(function: Callable[..., Any] | None = None, *, owner: str = "") -> Any:
    """Compile ``function`` on first call and keep the machine code on disk.

    Args:
        function: the function, when used as a bare decorator.
        owner: names the game whose functions a closure captured, so that two games' kernels never share an entry.
    """
    if function is None:
        return lambda f: kernel(f, owner=owner)
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return _plain_kernel(function)
    if owner:
        # Distinct names give distinct symbols and cache files to closures made by one factory for several games.
        function.__qualname__ = f"{function.__qualname__}.{owner}".replace("<locals>", "l")
    compiled = numba.njit(**_KERNEL)(function)
    compiled._cache = _machine_code_cache(function, owner)
    return compiled


def popcount(bits: Any) -> Any:
    """How many bits of a non-negative integer of at most 64 bits are set; in compiled code one instruction."""
    return int(bits).bit_count()


@intrinsic
def _set_bits(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.ctpop(values[0])

    return numba.types.int64(numba.types.uint64), generate


@overload(popcount)
def _compiled_popcount(bits: Any) -> Any:
    def compiled(bits: Any) -> Any:
        return _set_bits(np.uint64(bits))  # type: ignore[call-arg]

    return compiled


def source_files(function: Callable[..., Any]) -> frozenset[Path]:
    """The source files that a function's machine code depends on.

    From the function on, through its globals and closure, every Python function it can call is visited; each brings all
    files of the folder that its module lies in, since constants come from beside it. The rules'
    own folders always count.
    """
    folders, files, visited, waiting = set(_ALWAYS), set(), set(), [function]
    while waiting:
        current = waiting.pop()
        current = getattr(current, "py_func", current)
        if id(current) in visited:
            continue
        visited.add(id(current))
        module = sys.modules.get(current.__module__)
        path = Path(getattr(module, "__file__", None) or current.__code__.co_filename)
        if getattr(module, "__package__", ""):
            folders.add(path.parent)
        else:
            files.add(path)
        waiting += _callees(current)
    return frozenset(files).union(*(folder.glob("*.py") for folder in folders))


_PACKAGE = Path(__file__).parents[1]
_ALWAYS = frozenset(path.parent for name in ("core", "engine", "games") for path in (_PACKAGE / name).rglob("*.py"))


def _callees(function: Any) -> list[Any]:
    """Functions in Python, compiled or not, that a function's code names or holds in its closure."""
    cells = [cell.cell_contents for cell in function.__closure__ or () if cell.cell_contents is not function]
    found = [*cells, *(function.__globals__.get(name) for name in _names(function.__code__))]
    return [value for value in found if inspect.isfunction(getattr(value, "py_func", value))]


def _names(code: types.CodeType) -> set[str]:
    inside = [part for part in code.co_consts if isinstance(part, types.CodeType)]
    return set(code.co_names).union(*(_names(part) for part in inside))


@functools.cache
def file_digest(path: Path) -> bytes:
    """SHA-256 of a file's content, read once in a process."""
    return hashlib.sha256(path.read_bytes()).digest()


def source_digest(paths: Iterable[Path]) -> str:
    """Hex digest of some source files' names and contents (16 characters)."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.name.encode() + file_digest(path))
    return digest.hexdigest()[:16]


# --- machine code on disk --------------------------------------------------------------------------------------------

_said: set[str] = set()


def _say_once(what: str, text: str) -> None:
    """Print a line on stderr, the first time that there is something to say about this."""
    if what not in _said:
        _said.add(what)
        complain("auction_env", text)


def _machine_code_cache(function: Callable[..., Any], owner: str) -> Any:
    """Where a kernel's machine code is kept; in this process alone if there is no folder for it."""
    try:
        if not Path(function.__code__.co_filename).is_file():
            return _NothingKept("the sources are not files (a zip archive, or .pyc files alone): install them as files")
        return _SourceKeyedCache(function, owner)
    except (RuntimeError, OSError):  # numba found no folder that it can write to
        return _NothingKept("no folder for it can be written to: NUMBA_CACHE_DIR=FOLDER names one")


def _announce(kept: str) -> None:
    _say_once("compiling", f"compiling for this machine, some 5 to 20 s ({kept}) ...")


class _NothingKept(NullCache):
    """No cache on disk, and why."""

    def __init__(self, why: str) -> None:
        self._why = why

    def load_overload(self, sig: Any, target_context: Any) -> None:
        _announce(f"in every process anew, since {self._why}")


class _SourceKeyedCache(FunctionCache):
    """numba's disk cache, keyed by the sources of all that a kernel calls too, and sealed against damage.

    numba notices a change in the file of the compiled function only, not in the files of the functions it calls: an
    edited evaluator would leave stale machine code in every kernel. The key holds a digest of them instead.
    """

    def __init__(self, function: Callable[..., Any], owner: str) -> None:
        super().__init__(function)
        self._function, self._owner = function, owner
        self._cache_file = _SealedFiles(self._cache_path, self._impl.filename_base, None)

    @functools.cached_property
    def _sources(self) -> str:
        return source_digest(source_files(self._function))

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (sig, codegen.magic_tuple(), self._sources, self._owner)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            # As the parent, which first imports all that numba can compile, a third of a second: machine code that is
            # there needs the runtime alone.
            rtsys.initialize(target_context)
            data = self._load_overload(sig, target_context)
        except Exception:  # unreadable, whatever way: as if it were not there
            data = None
        if data is None:
            _announce(f"kept in {self.cache_path} for later")
        return data

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:  # full, or not ours to write
            why = error.strerror or error
            _say_once(
                "not kept",
                f"machine code cannot be kept in {self.cache_path} ({why}): later processes compile anew; "
                "NUMBA_CACHE_DIR=FOLDER names another folder",
            )


class _SealedFiles(IndexDataCacheFile):
    """One file for each machine code, ended by a SHA-256 of its content and of its key; no index.

    Any damage, and machine code of other sources, is as if there were no file. numba's index of several files can,
    when two processes write at once, name the machine code of other arguments.
    """

    def save(self, key: Any, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self._path(key)) as file:
            file.write(content + self._seal(key, content))

    def load(self, key: Any) -> Any:
        path = Path(self._path(key))
        try:
            content = path.read_bytes()
        except OSError:
            return None
        size = hashlib.sha256().digest_size
        if content[-size:] != self._seal(key, content[:-size]):
            return None
        return self._load_data(path.name)  # the pickle ends before the seal

    def _path(self, key: Any) -> str:
        """Of the arguments and the machine: code of older sources is written over."""
        name = hashlib.sha256(repr(key[:2]).encode()).hexdigest()[:16]
        return str(Path(self._cache_path, f"{Path(self._index_name).stem}.{name}.nbc"))

    def _seal(self, key: Any, content: bytes) -> bytes:
        return hashlib.sha256(repr((self._version, key)).encode() + content).digest()


# --- without compilation: numpy's small integers behave as compiled ones do ------------------------------------------


def _plain_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` as plain Python, on arguments whose integers are as wide as compiled code makes them."""

    @functools.wraps(function)
    def plain(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):  # the generator's arithmetic is modulo 2**64
            return function(*(_widened(argument) for argument in arguments))

    return plain


def _widened(value: Any) -> Any:
    """The same value or view of it, with Python's integers in place of numpy's (but for 64-bit words).

    Compiled code computes with 64 bits whatever the width of a field; numpy's scalars would overflow in theirs.
    """
    if isinstance(value, np.record):
        return _WideRow(value)
    if isinstance(value, np.ndarray):
        return _WideArray(value)
    if isinstance(value, np.integer) and not isinstance(value, np.uint64):
        return int(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_widened(item) for item in value))
    return value


class _WideRow:
    """A view of one row of a structured array."""

    def __init__(self, row: np.record) -> None:
        object.__setattr__(self, "_row", row)

    def __getattr__(self, name: str) -> Any:
        return _widened(self._row[name])

    def __setattr__(self, name: str, value: Any) -> None:
        self._row[name] = value


class _WideArray:
    """A view of an array: indexing and assignment, its length and shape."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array
        self.shape = array.shape

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, index: Any) -> Any:
        return _widened(self._array[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        self._array[index] = value
