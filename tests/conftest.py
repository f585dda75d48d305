"""Fixtures that every test file shares: each game in the package, and how hard hypothesis tries."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from auction_env import available, get_game

hypothesis.settings.register_profile("quick", max_examples=25, deadline=None, derandomize=True)
hypothesis.settings.register_profile("thorough", max_examples=500, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def pytest_configure(config: pytest.Config) -> None:
    """Before several processes of tests start: compile for each game once, or each of them would compile the same."""
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        script = Path(__file__).parent / "support" / "warm_up.py"
        for process in [subprocess.Popen([sys.executable, str(script), name]) for name in available()]:
            process.wait()


@pytest.fixture(scope="session", params=available())
def game(request: Any) -> Any:
    """Each game of the package in turn: a test that asks for it covers a new game without an edit."""
    return get_game(request.param)
