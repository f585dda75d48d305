"""The house's layers, read from the sources: an import goes down only, there is no cycle, and no file is long."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_LINES = 600

# From the ground up. A module may import from its own layer and from those below it, in functions too: nothing else.
LAYERS = (
    *("core", "games", "rendering", "engine", "evaluation", "solve", "agents", "interfaces", "web", "", "cli"),
    "__main__",
)
# ``""`` is the package itself, as users import it; ``web``, an extra, is needed by the command line alone.


def name_of(path: Path) -> str:
    """A source file's module: ``agents/`` at the top of the repository is ``auction_env.agents``."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts if parts[0] == "auction_env" else ("auction_env", *parts)
    return ".".join(parts).removesuffix(".__init__")


@cache
def sources() -> dict[str, Path]:
    files = [path for folder in ("auction_env", "agents") for path in (ROOT / folder).rglob("*.py")]
    return {name_of(path): path for path in files}


def statements(tree: ast.AST, with_types: bool) -> Iterator[ast.AST]:
    """All nodes of a source; those under ``if TYPE_CHECKING``, which never run, only if asked for."""
    for node in ast.iter_child_nodes(tree):
        if not with_types and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from (part for other in node.orelse for part in ast.walk(other))
            continue
        yield node
        yield from statements(node, with_types)


def imports_of(source: str, known: dict[str, Path], with_types: bool = True) -> set[str]:
    """The package's own modules that a source imports, anywhere in it."""
    found = set()
    for node in statements(ast.parse(source), with_types):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports name the whole path: a relative one hides where it goes"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in known else str(node.module) for name in names}
    return found & known.keys()


@cache
def graph(with_types: bool = True) -> dict[str, set[str]]:
    known = sources()
    texts = {name: path.read_text(encoding="utf-8") for name, path in known.items()}
    return {name: imports_of(text, known, with_types) - {name} for name, text in texts.items()}


def layer_of(module: str) -> int:
    parts = module.split(".")
    return LAYERS.index(parts[1] if len(parts) > 1 else "")


def find_cycle(edges: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle, or nothing (depth first)."""
    done: set[str] = set()

    def visit(module: str, path: list[str]) -> list[str]:
        if module in path:
            return path[path.index(module) :]
        if module in done:
            return []
        for other in sorted(edges[module]):
            if cycle := visit(other, [*path, module]):
                return cycle
        done.add(module)
        return []

    return next((cycle for module in sorted(edges) if (cycle := visit(module, []))), [])


def test_every_module_has_a_layer():
    tops = {[*module.split("."), ""][1] for module in sources()}
    assert tops == set(LAYERS)


def test_an_import_goes_down_only():
    up = [f"{a} -> {b}" for a, others in graph().items() for b in others if layer_of(b) > layer_of(a)]
    assert not up, f"these imports go up: {sorted(up)}"


def test_no_module_imports_itself_in_a_circle():
    assert not find_cycle(graph(with_types=False))


def test_a_cycle_and_a_lazy_import_would_be_found():
    known = {"a": ROOT, "b": ROOT, "c.d": ROOT}
    lazy = "def late():\n    from c import d\n    import b, numpy"
    assert imports_of(lazy, known) == {"b", "c.d"}
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import a\nelse:\n    import b"
    assert imports_of(typed, known) == {"a", "b"}
    assert imports_of(typed, known, with_types=False) == {"b"}
    assert find_cycle({"a": {"b"}, "b": {"c.d"}, "c.d": {"b"}}) == ["b", "c.d"]
    assert not find_cycle({"a": {"b", "c.d"}, "b": {"c.d"}, "c.d": set()})


@pytest.mark.parametrize("folder", ["auction_env", "agents", "tests", "benchmarks", "docs", "examples"])
def test_no_file_is_long(folder):
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / folder).rglob("*.py")}
    assert not {str(path): lines for path, lines in lengths.items() if lines > MOST_LINES}
    assert lengths


def test_no_module_takes_anothers_private_names():
    """``from x import _y`` reaches past what a module offers."""
    taken = []
    for name, path in sources().items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("auction_env"):
                names = [alias.name for alias in node.names if alias.name.startswith("_") and alias.name[1] != "_"]
                taken += [f"{name}: {node.module}.{private}" for private in names]
    assert not taken
