"""Run every example of another library, each in an environment that can hold it, and write the table of the docs.

    python examples/clients/run.py                # all: downloads some GB the first time, into .venv-clients/
    python examples/clients/run.py tianshou rllib

`make test-clients` is the first. A library that cannot be installed together with ours and the other ones has an
environment of its own; versions are pinned here. The exit status is 1 if an example failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "interfaces.md"
START, END = "<!-- written by make test-clients -->", "<!-- to here -->"
GLUE = "# glue"  # ends each line that is there only because the two do not fit


@dataclass(frozen=True)
class Client:
    """A library, how it is installed, and the example that uses our environments as its documentation says."""

    name: str
    script: str
    arguments: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()  # whose versions are told, as pip takes them; first those of an own environment
    alone: tuple[str, ...] = ()  # packages installed without what they ask for
    extras: str = ""  # of ours, as pip takes them, in an environment of its own
    own: str = ""  # its folder in .venv-clients/; none: the environment of this interpreter
    tests: tuple[str, ...] = ()  # tests that need it

    @property
    def python(self) -> Path:
        return ROOT / ".venv-clients" / self.own / "bin" / "python" if self.own else Path(sys.executable)


CLIENTS = (
    Client("PettingZoo", "clients/with_pettingzoo.py", packages=("pettingzoo",)),
    Client("Gymnasium", "clients/with_gymnasium.py", packages=("gymnasium",)),
    Client("stable-baselines3", "clients/with_sb3.py", packages=("stable-baselines3", "sb3-contrib")),
    Client("SuperSuit", "clients/with_supersuit.py", packages=("supersuit",)),
    Client("CleanRL's one-file PPO", "cleanrl_ppo.py", ("--envs", "64", "--updates", "4"), ("torch",)),
    Client("TorchRL", "clients/with_torchrl.py", packages=("torchrl==0.14.1",), own="torchrl"),
    Client(
        "RLlib, new API stack",
        "clients/with_rllib.py",
        packages=("ray[rllib]==2.60.0", "torch", "safetensors"),
        extras="[train]",
        own="rllib",
        tests=("tests/evaluation/test_ray.py", "tests/learning/test_ray_engine.py"),
    ),
    Client("Tianshou", "clients/with_tianshou.py", packages=("tianshou==2.0.1",), own="tianshou"),
    Client("AgileRL", "clients/with_agilerl.py", packages=("agilerl==2.7.1",), own="agilerl"),
    Client(
        "PufferLib",
        "clients/with_pufferlib.py",
        packages=("psutil", "rich", "rich-argparse", "torch"),
        alone=("pufferlib-core==3.0.23",),
        own="pufferlib",
    ),
)


def run(*command: str | Path, timeout: int) -> str:
    """Why a command failed: its last line of words; empty when it did not."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=timeout
        )
    except subprocess.TimeoutExpired:
        return f"took more than {timeout} s"
    print(done.stdout[-3000:])
    if not done.returncode:
        return ""
    print(done.stderr[-5000:], file=sys.stderr)
    return (done.stderr.strip() or "no words").splitlines()[-1][:200]


def install(client: Client) -> str:
    """Make a client's own environment unless it is there; why it cannot be made."""
    folder = ROOT / ".venv-clients" / client.own
    ready = folder / ".ready"
    asked = "\n".join((*client.packages, *client.alone, client.extras)).strip()
    if not client.own or (ready.is_file() and ready.read_text(encoding="utf-8") == asked):
        return ""
    pip = (client.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    failed = run(sys.executable, "-m", "venv", folder, timeout=300)
    failed = failed or run(*pip, "-e", f".{client.extras}", "pytest", "hypothesis", *client.packages, timeout=3000)
    if client.alone:
        failed = failed or run(*pip, "--no-deps", *client.alone, timeout=600)
    if not failed:
        ready.write_text(asked, encoding="utf-8")
    return failed


def versions(client: Client) -> str:
    """Names and versions of a client's packages, as installed."""
    names = [name.partition("==")[0].partition("[")[0] for name in client.alone or client.packages]
    told = "import sys, importlib.metadata as m; print(', '.join(f'{n} {m.version(n)}' for n in sys.argv[1:]))"
    done = subprocess.run([client.python, "-c", told, *names], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "not installed"


def lines_of_glue(client: Client) -> int:
    text = (ROOT / "examples" / client.script).read_text(encoding="utf-8")
    return sum(line.rstrip().endswith(GLUE) for line in text.splitlines())


def what_runs(client: Client) -> str:
    """The first sentence of an example, without the library's name."""
    text = (ROOT / "examples" / client.script).read_text(encoding="utf-8")
    first = text.removeprefix('"""').partition("\n\n")[0].replace("\n", " ")
    return first.partition(": ")[2].rstrip(".") or first.rstrip(".")


def row(client: Client, failed: str) -> str:
    """A client's row of the table."""
    result = f"fails: {failed}" if failed else "runs"
    example = f"`examples/{client.script}`"
    cells = (client.name, versions(client), str(lines_of_glue(client)), what_runs(client), example, result)
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def write(rows: dict[str, str]) -> None:
    """Put rows, by client, into the page; those of clients that did not run now stay."""
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(START)
    old, after = rest.split(END)
    kept = {line.split("|")[1].strip(): line for line in old.splitlines() if line.startswith("| ")}
    heads = [
        "| client | version | lines of glue | what runs | example | result |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    told = [{**kept, **rows}.get(client.name, "") for client in CLIENTS]
    table = "\n".join([*heads, *filter(None, told)])
    PAGE.write_text(f"{before}{START}\n\n{table}\n\n{END}{after}", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    names = {client.own or client.packages[0]: client for client in CLIENTS}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=f"none: all of {', '.join(names)}")
    wanted = parser.parse_args(arguments).clients or list(names)
    if unknown := sorted(set(wanted) - names.keys()):
        parser.error(f"{', '.join(unknown)}: no such client; there are {', '.join(names)}")
    rows, broken = {}, False
    for client in (names[name] for name in wanted):
        print(f"== {client.name}", flush=True)
        failed = install(client) or run(
            client.python, ROOT / "examples" / client.script, *client.arguments, timeout=1200
        )
        rows[client.name] = row(client, failed)
        if client.tests and not failed:
            failed = run(client.python, "-m", "pytest", "-p", "no:cacheprovider", *client.tests, timeout=2400)
        broken |= bool(failed)
        print(rows[client.name], flush=True)
        write({client.name: rows[client.name]})
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
