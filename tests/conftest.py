"""Fixtures that every test file shares: each game in the package, and how hard hypothesis tries."""

from __future__ import annotations

import os
from typing import Any

import hypothesis
import pytest

from auction_env import available, get_game

hypothesis.settings.register_profile("quick", max_examples=25, deadline=None, derandomize=True)
hypothesis.settings.register_profile("thorough", max_examples=500, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(scope="session", params=available())
def game(request: Any) -> Any:
    """Each game of the package in turn: a test that asks for it covers a new game without an edit."""
    return get_game(request.param)
