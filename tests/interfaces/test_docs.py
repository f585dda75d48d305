"""The documentation: what it shows is what the code does, and it builds without a warning."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import generate
import pytest
import ten_decisions

from auction_env import Table, available
from auction_env.games.game import make_settings

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("interface", ten_decisions.INTERFACES)
def test_every_interface_makes_the_same_ten_decisions(interface):
    if interface.startswith("stable-baselines3"):
        pytest.importorskip("stable_baselines3")
    decisions = ten_decisions.INTERFACES[interface]()
    assert len(decisions) == 10 and decisions == ten_decisions.with_table()
    assert len({seat for seat, _ in decisions}) == 3 and len({action for _, action in decisions}) > 4


def test_the_page_of_interfaces_shows_all_of_them():
    page = (ROOT / "docs" / "interfaces.md").read_text(encoding="utf-8")
    shown = re.findall(r":pyobject: (\w+)", page)
    assert {play.__name__ for play in ten_decisions.INTERFACES.values()} <= set(shown)


def test_generated_tables_are_the_spaces(game):
    """Sizes, indices and names in the tables against a table's own observation and actions."""
    page = generate.game_page(game.NAME)
    table = Table(game)
    table.reset(0)
    for index, name in enumerate(table.action_names):
        assert f"| {index} | {name} |" in page
    at = 0
    for name, values in table.observe_named(0).items():
        assert f"| {at} to {at + values.size - 1} | `{name}` |" in page
        at += values.size
    assert at == table.observe(0).size
    for seats, entries, _, actions in generate.size_rows(game):
        other = Table(game, {"num_players": seats})
        assert (entries, actions) == (other.observation_size, len(other.action_names))
    for field in make_settings(game, {}).__dataclass_fields__:
        assert f"| `{field}` |" in page


def test_generated_pages_are_written_once(tmp_path):
    generate.write_all(tmp_path)
    written = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert {path.stem for path in written} == {*available(), "ten_decisions", "command_line", "measured"}
    generate.write_all(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == written


@pytest.mark.slow
def test_the_documentation_builds_without_a_warning(tmp_path):
    pytest.importorskip("sphinx")
    result = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "AuctionVectorEnv" in (tmp_path / "api.html").read_text(encoding="utf-8")
    assert "with_parallel" in (tmp_path / "interfaces.html").read_text(encoding="utf-8")
