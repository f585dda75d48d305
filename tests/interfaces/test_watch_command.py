"""``watch``: agents alone in the terminal; and the rules inside ``play``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from auction_env import cli
from auction_env.engine.record import make_record, read_record, replay


def test_agents_play_a_match_that_is_told_and_kept(tmp_path, capsys, monkeypatch, game):
    monkeypatch.setenv("COLUMNS", "80")
    file = tmp_path / "match.json"
    line = ["watch", "rules", "random", "rules", "--game", game.NAME, "--all", "--seed", "4", "--set", "num_deals=2"]
    assert cli.main([*line, "--set", "starting_chips=200", "--record", str(file)]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= max(80, len(f"Record: {file}"))
    assert out.count("The deal is over") == 2 and "player_1 is random" in out
    record = read_record(file)
    assert record["agents"] == ["rules", "random", "rules"]
    assert make_record(replay(record))["digest"] == record["digest"]


def test_one_seat_is_shown_what_it_sees_and_one_may_stop(capsys, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda prompt="": "q")
    assert cli.main(["watch", "rules", "rules", "--seat", "1", "--seed", "4"]) == 0
    out = capsys.readouterr().out
    assert "??" in out and "Stopped" in out


@pytest.mark.parametrize("line", [["rules"], ["rules", "nobody"], ["rules", "rules", "--seat", "5"]])
def test_what_cannot_be_watched_is_refused_in_a_line(capsys, line):
    assert cli.main(["watch", *line, "--all"]) == 2
    assert capsys.readouterr().err.startswith("auction_env: ")


def test_the_rules_are_read_a_screen_at_a_time(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    answers = iter(["r", "", "", "q", "q"])
    monkeypatch.setattr("builtins.input", lambda prompt="": next(answers))
    assert cli.main(["play", "--seed", "4"]) == 0
    out = capsys.readouterr().out
    assert "Seven-card high-low poker" in out and max(map(len, out.splitlines())) <= 80
    assert out.count("Seven-card") == 1
    # Paragraphs fill the width, without the marks of the page, and what is about programs is left out.
    short = [line for line in out.splitlines() if line.startswith(("In one screen.", "A1 The deal.", "- A1"))]
    assert short and all(len(line) > 60 for line in short)
    assert "**" not in out and "float32" not in out and "| ---" not in out


def test_all_rules_are_there_without_marks(game, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "10000")
    answers = iter(["r", "q"])
    monkeypatch.setattr("builtins.input", lambda prompt="": next(answers))
    assert cli.main(["play", game.NAME, "--seed", "4"]) == 0
    out = capsys.readouterr().out
    page = (Path(game.__file__).parent / "RULES.md").read_text(encoding="utf-8")
    rulings = re.findall(r"^- \*\*([AB]\d+ [^*]+)\*\*", page, flags=re.MULTILINE)
    assert len(rulings) >= 10
    assert all(ruling in " ".join(out.split()) for ruling in rulings)
    assert not re.findall(r"\*\*|^\||`", out[out.index(game.TITLE + "\n") :], flags=re.MULTILINE)
