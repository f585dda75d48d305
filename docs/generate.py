"""Pages of the documentation that the code writes: tables of each game, the command line, the same ten decisions."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import ten_decisions

from auction_env import cli, gymnasium_id
from auction_env.engine.kernels import decision_size, observation_size
from auction_env.games import available, get_game
from auction_env.games.game import make_settings


def write_all(folder: Path) -> None:
    """Write every page; files that are already right stay untouched, so that Sphinx does not read them again."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {f"{name}.md": game_page(name) for name in available()}
    measured = (folder.parent / "images" / "speed.png").is_file()  # `make bench` draws it
    pages |= {
        "ten_decisions.md": ten_decisions_table(),
        "command_line.md": command_line(),
        "measured.md": "```{toctree}\n:caption: Measured\n\nbenchmarks\n```\n" if measured else "",
    }
    for name, text in pages.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", r"\|") for cell in line) + " |" for line in lines)


def game_page(name: str) -> str:
    """A game's rules page, and its tables of settings, actions and observation in full."""
    game = get_game(name)
    settings = make_settings(game, {})
    n = settings.num_players
    fields = dataclasses.fields(game.Settings)
    # The rules page begins with the title; what follows it here is one level below.
    return f"""```{{include}} ../../auction_env/games/{name}/RULES.md
```

## Tables from the code

{game.TITLE} is `auction_env.{name}_v{game.VERSION}` (PettingZoo) and `{gymnasium_id(name)}` (Gymnasium).

### Every setting

{table(("setting", "default", "meaning"), ((f"`{f.name}`", f"`{f.default}`", f.metadata["meaning"]) for f in fields))}

### Every action

{table(("index", "action"), enumerate(game.action_names(settings)))}

### The observation, {n} seats

{table(("entries", "piece", "shape", "values", "meaning"), observation_rows(game, settings))}

### Sizes by number of seats

{table(("seats", "entries", "of these before the end of a deal", "actions"), size_rows(game))}
"""


def observation_rows(game: Any, settings: Any) -> list[tuple[Any, ...]]:
    """A row for each piece of an observation: where it lies in the flat array, and what it says."""
    rows, at = [], 0
    for piece in game.observation_fields(settings):
        values = "fractions" if piece.fraction else "0 or 1"
        end = " (at the end of a deal)" if piece.final_only else ""
        rows.append((f"{at} to {at + piece.size - 1}", f"`{piece.name}`", piece.shape, values, piece.meaning + end))
        at += piece.size
    return rows


def size_rows(game: Any) -> list[tuple[int, ...]]:
    """A row for each number of seats."""
    rows = []
    for seats in range(2, game.MAX_PLAYERS + 1):
        settings = make_settings(game, {"num_players": seats})
        sizes = observation_size(game, settings), decision_size(game, settings)
        rows.append((seats, *sizes, len(game.action_names(settings))))
    return rows


def ten_decisions_table() -> str:
    """The ten decisions as every interface makes them; AssertionError if one differs."""
    found = {name: play() for name, play in ten_decisions.INTERFACES.items()}
    first = found["Table"]
    assert all(decisions == first for decisions in found.values()), found
    return (
        table(("", "seat", "action"), ((k, f"player_{seat}", name) for k, (seat, name) in enumerate(first, 1))) + "\n"
    )


def command_line() -> str:
    """What the command line says of itself."""
    columns = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "100"
    parts = []
    for arguments in ([], ["play", "--help"], ["replay", "--help"], ["export", "--help"], ["import", "--help"]):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
            cli.main(arguments)
        command = " ".join(["python -m auction_env", *arguments])
        parts.append(f"```text\n$ {command}\n{said.getvalue().strip()}\n```\n")
    if columns is None:
        del os.environ["COLUMNS"]
    else:
        os.environ["COLUMNS"] = columns
    return "\n".join(parts)
