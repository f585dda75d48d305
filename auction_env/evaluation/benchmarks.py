"""Standing benchmarks: named tasks that fix game, settings, seed, opponents and deals, so that numbers can be compared.

A task is a TOML file; the standing ones are in ``auction_env/data/benchmarks``. One agent is measured at a time: it
takes the first place at a table of the task's opponents. Results carry the digest of their task;
``auction_env.evaluation.results.compare`` refuses others.
"""

from __future__ import annotations

import dataclasses
import importlib.resources
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from auction_env.core.limits import parse_toml, reason, shorten
from auction_env.core.names import hint
from auction_env.evaluation.match import Schedule
from auction_env.evaluation.results import Comparison, MatchResult, compare, digest_of
from auction_env.evaluation.runner import Make, MatchConfig, Workers, play
from auction_env.games import get_game
from auction_env.games.game import Game, make_settings

FOLDER = importlib.resources.files("auction_env") / "data" / "benchmarks"
MAX_BYTES = 1 << 16  # of a task's file: the standing ones have some 200


class TaskError(ValueError):
    """A task cannot be read or makes no sense; the message names the file, the key and the fix."""


@dataclasses.dataclass(frozen=True)
class Task:
    """What is played, but for who is measured. Each field is a key of the file; those without a default must be there.

    Attributes:
        name: GAME-Np-vV, and the file's name.
        game: name of the game.
        version: its VERSION when the task was made: rules that changed make another task.
        settings: that differ from the game's defaults.
        opponents: agents at the other places.
        deals: tables to play at least.
        seed: of everything.
        seatings: of each deck at most; see ``auction_env.evaluation.match.Schedule``.
        part_tables: tables in a part; likewise.
    """

    name: str
    game: str
    version: int
    settings: dict[str, Any]
    opponents: list[str]
    deals: int
    seed: int
    seatings: int = 24
    part_tables: int = 512

    def table(self) -> tuple[Game, Any]:
        """The game and its settings.

        Raises:
            TaskError: the game's version is another now.
            ValueError: there is no such game, or a setting makes no sense.
        """
        game = get_game(self.game)
        if self.version != game.VERSION:
            raise TaskError(
                f"task {self.name} is of {self.game}-v{self.version}, but its rules are at v{game.VERSION} here: "
                "results of different rules cannot be compared; use a task of this version"
            )
        values = {key: tuple(value) if isinstance(value, list) else value for key, value in self.settings.items()}
        return game, make_settings(game, values)

    def plan(self, agent: str, make: Make, content: Callable[[str], str] = lambda spec: "", **more: Any) -> MatchConfig:
        """The match that measures an agent. Other arguments as ``MatchConfig``; errors as there and as ``table``."""
        game, settings = self.table()
        line = (agent, *self.opponents)
        return MatchConfig(
            game,
            settings,
            line,
            self.deals,
            make,
            self.seed,
            contents=tuple(content(spec) for spec in line),
            seatings=self.seatings,
            part_tables=self.part_tables,
            first_apart=True,
            **more,
        )

    @property
    def digest(self) -> str:
        """Hex digest of all keys."""
        return digest_of(dataclasses.asdict(self))


def load_task(source: str | Path) -> Task:
    """A task by its name, or from a file ``*.toml``.

    Raises:
        TaskError: there is no such task, the file is not TOML of a task, or a key is unknown, missing or wrong.
    """
    if Path(source).suffix == ".toml":
        path = Path(source)
        text = _text(path, str(path))
    elif str(source) in available():
        path = Path(f"{source}.toml")
        text = (FOLDER / path.name).read_text(encoding="utf-8")
    elif Path(source).suffix in (".yaml", ".yml"):
        raise TaskError(f"task {source}: tasks are TOML files since 0.2.0: write it as {Path(source).stem}.toml")
    else:
        names = available()
        raise TaskError(f"there is no task {shorten(repr(str(source)))}: {hint(source, names, 'tasks')}")
    try:
        values = parse_toml(text)
    except ValueError as error:
        raise TaskError(f"task {path} is not TOML: {reason(error)}") from error
    return _checked(values, path)


def _text(path: Path, name: str) -> str:
    """The text of a task's file."""
    try:
        if path.exists() and not path.is_file():
            raise TaskError(f"task {name} is not a regular file")
        if path.stat().st_size > MAX_BYTES:
            raise TaskError(f"task {name} is larger than {MAX_BYTES} bytes: that is no task")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise TaskError(f"task {name} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TaskError(f"task {name} is not UTF-8 text") from error


def _checked(values: dict[str, Any], path: Path) -> Task:
    fields = {field.name: field for field in dataclasses.fields(Task)}
    for key in values:
        if key not in fields:
            raise TaskError(f"task {path} has no key {shorten(repr(key))}: {hint(key, fields, 'keys')}")
    for name, field in fields.items():
        if name not in values and field.default is dataclasses.MISSING:
            raise TaskError(f"task {path} lacks the key {name!r}")
        _check_kind(values.get(name, field.default), str(field.type), f"task {path}: {name}")
    task = Task(**values)
    if task.name != path.stem:
        raise TaskError(f"task {path}: name is {shorten(repr(task.name))}, but the file's name says {path.stem!r}")
    game, settings = task.table()
    Schedule(game, settings, (0,) + (1,) * len(task.opponents), task.deals, task.seed, None, task.part_tables)
    return task


def _check_kind(value: Any, kind: str, what: str) -> None:
    words = {"str": "text", "int": "an integer", "dict[str, Any]": "a table of keys", "list[str]": "a list of texts"}
    good = {
        "str": isinstance(value, str),
        "int": isinstance(value, int) and not isinstance(value, bool),
        "dict[str, Any]": isinstance(value, dict) and all(isinstance(key, str) for key in value),
        "list[str]": isinstance(value, list) and all(isinstance(entry, str) for entry in value),
    }[kind]
    if not good:
        raise TaskError(f"{what} is {shorten(repr(value))}: it must be {words[kind]}")


def available() -> list[str]:
    """Names of the standing tasks."""
    return sorted(entry.name.removesuffix(".toml") for entry in FOLDER.iterdir() if entry.name.endswith(".toml"))


# --- the leaderboard ------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Board:
    """Results of one task, the best mean first, and why some agents have none."""

    task: Task
    results: list[MatchResult]
    skipped: dict[str, str]

    def ahead(self, place: int) -> Comparison:
        """How far a result is ahead of the next, over the same decks."""
        return compare(self.results[place].summary(), self.results[place + 1].summary())

    def text(self) -> str:
        """The table in Markdown."""
        first = self.results[0] if self.results else None
        task = self.task
        opponents = ", ".join(f"{task.opponents.count(name)} {name}" for name in dict.fromkeys(task.opponents))
        lines = [f"## {task.name}", "", f"One agent against {opponents}; seed {task.seed}."]
        if first is not None:
            lines[-1] += (
                f" {first.deals} deals: {first.decks} decks through {first.payoffs.shape[1]} seatings each."
                f" Task digest {first.summary()['task_digest']}."
            )
        lines += ["", "| agent | chips per deal | ahead of the next by | result digest |", "| --- | --- | --- | --- |"]
        for place, result in enumerate(self.results):
            gap = "" if place + 1 == len(self.results) else _gap(self.ahead(place))
            lines.append(f"| `{result.names[0]}` | {result.agent(0)} | {gap} | `{result.digest}` |")
        return "\n".join(lines).rstrip() + "\n"


def _gap(found: Comparison) -> str:
    return str(found.difference) + ("" if found.difference.above_zero else " (not shown to be better)")


def play_board(
    task: Task,
    agents: Sequence[str],
    make: Make,
    content: Callable[[str], str] = lambda spec: "",
    *,
    workers: Workers = 1,
    state: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Board:
    """Measure agents at a task, each on its own. Those that cannot be made for it are skipped, and the reason kept.

    Raises:
        PlayerError: an agent failed; it is named.
        ValueError: as ``tournament.play``.
    """
    game, settings = task.table()
    results, skipped = [], {}
    for agent in agents:
        try:
            make(agent, game, settings, task.seed)
        except ValueError as error:
            skipped[agent] = str(error)
            continue
        plan = task.plan(agent, make, content)
        folder = state / task.name / digest_of(plan.identity()) if state else None
        results.append(play(plan, workers=workers, state=folder, progress=progress).result)
    return Board(task, sorted(results, key=lambda result: -result.agent(0).mean), skipped)


def shipped_entries(shipped: Sequence[str], named: Sequence[str]) -> list[str]:
    """Who plays for a leaderboard: the agents named, and every shipped one that none of them is a form of."""
    forms = {agent.partition(":")[0] for agent in named}
    return [*(agent for agent in shipped if agent not in forms), *dict.fromkeys(named)]


def leaderboard(boards: Sequence[Board], command: str) -> str:
    """All tables as one Markdown page."""
    head = [
        "# Leaderboard",
        "",
        f"Written by `{command}`.",
        "The tasks are in `auction_env/data/benchmarks/`. Each agent is measured alone at a table of the task's",
        "opponents, each deck through all seatings. ± is half a 95 % interval over decks. An agent is ahead of the",
        "next only where the interval of their difference, taken deck by deck, lies above zero. Numbers of different",
        "task digests cannot be compared.",
        "",
    ]
    return "\n".join(head) + "\n" + "\n".join([*(board.text() for board in boards), *_absent(boards)])


def _absent(boards: Sequence[Board]) -> list[str]:
    """The agents that are missing from some tables, and why; one line for each reason."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for board in boards:
        for agent, why in board.skipped.items():
            reasons.setdefault((agent, why), []).append(board.task.name)
    lines = [
        f"- `{agent}`{'' if len(names) == len(boards) else ' at ' + ', '.join(names)}: {why}"
        for (agent, why), names in reasons.items()
    ]
    return ["## Not here", "", *lines, ""] if lines else []
