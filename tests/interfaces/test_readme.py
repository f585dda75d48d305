"""The README's code runs as it stands, and its commands are ones that the programs take."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from auction_env import cli

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^python -m auction_env[^#\n]*", README, re.MULTILINE)


@pytest.mark.parametrize("code", PYTHON, ids=range(len(PYTHON)))
def test_python_runs(code):
    exec(compile(code, "README.md", "exec"), {})


def test_there_is_code_for_each_kind_of_environment():
    assert len(PYTHON) == 2 and "agent_iter" in PYTHON[0] and "make_vec" in PYTHON[1]


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_the_command_line_parse(command):
    """With what they name: agents, settings, games. They run in test_cli.py."""
    arguments = shlex.split(command)[3:]
    options = cli._parser().parse_args(arguments)
    if arguments[:1] == ["play"]:
        assert cli.parse_settings(options.set) is not None and options.opponents


def test_links_lead_somewhere():
    for target in re.findall(r"\]\((?!http)([^)#]+)", README):
        assert (ROOT / target).exists(), target
