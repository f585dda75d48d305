"""What is installed: the wheel, the source distribution, and imports beside folders of other people's names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import auction_env

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LEFT_OUT = shutil.ignore_patterns(
    ".venv*", ".git", "runs", "build", "dist", "__pycache__", "*.egg-info", ".*_cache", "_build"
)


def run(code: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *code], cwd=folder, capture_output=True, text=True, timeout=500, check=False, env=os.environ
    )


def test_every_package_is_listed_for_the_installation():
    """A folder that is not listed would be missing from the wheel alone, and no other test would see it."""
    found = {
        str(path.parent.relative_to(ROOT)).replace(os.sep, ".") for path in (ROOT / "auction_env").rglob("__init__.py")
    }
    found |= {
        "auction_env." + str(path.parent.relative_to(ROOT)).replace(os.sep, ".")
        for path in (ROOT / "agents").rglob("__init__.py")
    }
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == found


def test_one_version_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert PROJECT["project"]["version"] == auction_env.__version__
    assert f"\nversion: {auction_env.__version__}\n" in citation
    assert f"\n## {auction_env.__version__}" in changes


def test_files_that_the_makefile_names_are_there():
    text = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    (listed,) = re.findall(r"^LOWEST_TESTS := \$\(addprefix tests/,(.*)\)", text, re.MULTILINE)
    for name in [*(f"tests/{name}" for name in listed.split()), *re.findall(r"[\w/-]+\.(?:toml|txt)", text)]:
        assert (ROOT / name.lstrip("/")).is_file(), name


def test_a_folder_called_agents_is_not_in_the_way(tmp_path):
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").write_text("")
    found = run(["-m", "auction_env", "list"], tmp_path)
    assert found.returncode == 0 and "montecarlo" in found.stdout, found.stderr


def distributions(tmp_path: Path) -> tuple[set[str], set[str]]:
    """Names of files in a wheel and in a source distribution, built from a copy of what lies here."""
    source = tmp_path / "source"
    shutil.copytree(ROOT, source, ignore=LEFT_OUT)
    code = "from setuptools import build_meta as b; import sys; to = sys.argv[1]; b.build_wheel(to); b.build_sdist(to)"
    built = run(["-c", code, str(tmp_path)], source)
    assert built.returncode == 0, built.stderr
    (wheel,), (sdist,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive, tarfile.open(sdist) as packed:
        return set(archive.namelist()), {name.partition("/")[2] for name in packed.getnames()}


def files_under(*folders: str) -> set[str]:
    return {
        str(path.relative_to(ROOT))
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
        and not {"__pycache__", "_build", "generated", "generated_site", "node_modules"} & set(path.parts)
    }


@pytest.mark.slow
def test_the_wheel_and_the_source_distribution_are_whole(tmp_path):
    wheel, sdist = distributions(tmp_path)
    tops = {name.partition("/")[0] for name in wheel}
    assert tops == {"auction_env", f"auction_env-{auction_env.__version__}.dist-info"}
    assert wheel >= files_under("auction_env")
    assert wheel >= {f"auction_env/{name}" for name in files_under("agents")}
    assert {"auction_env/py.typed", "auction_env/games/auction_poker/RULES.md"} <= wheel
    assert "auction_env/data/benchmarks/auction_poker-4p-v0.toml" in wheel
    assert sdist >= files_under("auction_env", "agents", "tests", "configs", "docs", "benchmarks", "examples")
    assert {"Makefile", "constraints.txt", "train.py", "evaluate.py", "SECURITY.md", "CITATION.cff"} <= sdist


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="what is tracked is known in a checkout alone")
def test_the_source_distribution_has_every_file_that_is_tracked(tmp_path):
    """But for what serves the repository alone; so its tests run: see the page on installing."""
    found = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    _, sdist = distributions(tmp_path)
    assert set(found.stdout.split("\n")) - {""} - sdist <= {".gitignore", ".ci/run"}


@pytest.mark.slow
def test_an_installed_wheel_has_its_benchmarks_and_agents(tmp_path):
    """Unpacked, as an installation does, in a folder of its own that comes before the checkout."""
    distributions(tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    place = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place)
    code = (
        f"import sys; sys.path.insert(0, {str(place)!r}); import auction_env; from auction_env import agents; "
        "from auction_env.evaluation.benchmarks import available; "
        f"assert auction_env.__file__.startswith({str(place)!r}) and agents.__file__.startswith({str(place)!r}); "
        "print(*available(), *agents.available())"
    )
    found = run(["-c", code], tmp_path)
    assert found.returncode == 0, found.stderr
    assert {"auction_poker-4p-v0", "auction_flop-8p-v0", "random", "rules"} <= set(found.stdout.split())


@pytest.mark.slow
def test_the_tests_of_the_source_distribution_run(tmp_path):
    """Those that read files of the repository, in an environment that borrows the packages of this one."""
    distributions(tmp_path)
    (sdist,), unpacked, own = tmp_path.glob("*.tar.gz"), tmp_path / "unpacked", tmp_path / "venv"
    with tarfile.open(sdist) as packed:
        packed.extractall(unpacked, filter="data")
    (place,) = unpacked.iterdir()
    venv.create(own, symlinks=True)
    (site,) = own.rglob("site-packages")
    (site / "borrowed.pth").write_text("\n".join(path for path in sys.path if path.endswith("site-packages")))
    tests = [
        "tests/core",
        "tests/games/test_golden.py",
        "tests/interfaces/test_package.py",
        "tests/interfaces/test_docs.py",
    ]
    for line in (
        ["pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "-e", "."],
        ["pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *tests],
    ):
        found = subprocess.run(
            [str(own / "bin" / "python"), "-m", *line], cwd=place, capture_output=True, text=True, check=False
        )
        assert found.returncode == 0, found.stdout + found.stderr
