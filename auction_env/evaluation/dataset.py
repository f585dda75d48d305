"""Games of any agents as a columnar file (parquet): a row for each decision, what the seat saw and what came of it.

A file is written part by part, a row group each, so that memory stays flat; only the actions are kept while the agents
play. Everything else is read off the engine when these actions are played again from the seeds of their tables:
``generate`` writes a file so, and ``verify`` does the same with one that it is given and compares every cell.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from auction_env.core.extras import require
from auction_env.core.files import writing
from auction_env.core.limits import MAX_TEXT_BYTES, check_file, naming, parse_json, shorten
from auction_env.core.provenance import provenance
from auction_env.engine.batch import Batch
from auction_env.engine.kernels import decision_size
from auction_env.engine.layout import describe_observation
from auction_env.evaluation.histories import ActionRecorder
from auction_env.evaluation.match import MAX_DEALS, Schedule, number_groups, plain_settings
from auction_env.evaluation.runner import Make, MatchConfig, play_parts
from auction_env.games import get_game
from auction_env.games.game import Game, make_settings

FORMAT = "auction_env.evaluation.dataset/1"
METADATA_KEY = b"auction_env"
PART_TABLES, PART_BYTES = 256, 1 << 26  # of a row group: most tables, and about as many bytes of observations
MAX_PART_ROWS, MAX_FILE_BYTES = 1 << 22, 1 << 50  # of a row group, and of a file, that are read
NOT_DIGESTED = ("made_by", "digest")

Columns = dict[str, np.ndarray]


class DatasetError(ValueError):
    """A file of games cannot be read, or is not what the engine plays; the message names the file and the place."""


def column_types(game: Game, settings: Any) -> dict[str, tuple[np.dtype[Any], int]]:
    """The columns in order: dtype, and entries of each cell (0: one number, no list). `docs/data.md` tells of each."""
    seats, actions = settings.num_players, len(game.action_names(settings))
    types = {
        "table": ("int64", 0),
        "seed": ("uint64", 0),
        "deal": ("int32", 0),
        "step": ("int32", 0),
        "seat": ("int8", 0),
        "agent": ("int8", 0),
        "observation": ("float32", decision_size(game, settings)),
        "action_mask": ("int8", actions),
        "action": ("int16", 0),
        "payoffs": ("int32", seats),
        "deal_over": ("bool", 0),
    }
    return {name: (np.dtype(kind), size) for name, (kind, size) in types.items()}


def generate(
    path: Path,
    game: Game,
    settings: Any,
    agents: Sequence[str],
    deals: int,
    make: Make,
    seed: int = 0,
    *,
    contents: Sequence[str] = (),
    seatings: int | None = 1,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Let agents play, and write a row for each of their decisions; the file is there whole, or as it was before.

    Args:
        path: of the file.
        game: the game.
        settings: its Settings.
        agents: one for each seat, as texts that ``make`` understands; they are seated anew for each deck.
        deals: tables to play at least.
        make: makes an agent of a text, such as ``auction_env.agents.make``; another process must be able to import it.
        seed: of everything.
        contents: digests of the files behind the agents, if any.
        seatings: of each deck, see ``auction_env.evaluation.match.Schedule``; 1: independent deals.
        workers: processes; the file is the same.
        progress: called with the number of deals finished so far, and of all.

    Returns:
        the file's metadata, see ``read_metadata``.

    Raises:
        MissingExtraError: pyarrow is not installed.
        OSError: the file cannot be written.
        ValueError, PlayerError, TournamentError: as ``auction_env.evaluation.runner.play``.
    """
    require("data")
    import pyarrow as pa
    import pyarrow.parquet as pq

    config = MatchConfig(
        game,
        settings,
        tuple(agents),
        deals,
        make,
        seed,
        tuple(contents),
        seatings,
        _part_tables(game, settings),
        notes=ActionRecorder,
        noted_deals=MAX_DEALS,
    )
    schedule, schema, metadata = config.schedule, _schema(game, settings), _metadata(config)
    names = pa.array(list(dict.fromkeys(agents)))
    whole = _digest(metadata)
    with writing(path) as temporary, pq.ParquetWriter(temporary, schema, compression="zstd") as file:
        rows, done = 0, 0
        for part, played in _in_order(play_parts(config, range(schedule.parts), workers)):
            columns = _columns(schedule, part, played["actions"])
            _check_payoffs(schedule, part, played["net"], columns)
            _add(whole, columns)
            file.write_table(_to_arrow(columns, schema, names))
            rows, done = rows + len(columns["action"]), done + schedule.part_deals(part)
            if progress:
                progress(done, schedule.deals)
        metadata |= {"rows": rows, "digest": whole.hexdigest()}
        file.add_key_value_metadata({METADATA_KEY: json.dumps(metadata).encode()})
    return metadata


def read_metadata(path: str | Path) -> dict[str, Any]:
    """What a file says of itself.

    Returns:
        dict: ``game``, ``version``, ``settings``, ``agents``, ``contents``, ``deals``, ``seed``, ``seatings``,
        ``part_tables``, ``observation`` (its fields), ``actions`` (their names), ``made_by`` (versions), ``rows`` and
        ``digest``.

    Raises:
        MissingExtraError: pyarrow is not installed.
        DatasetError: the file cannot be read, or is none of ``generate``.
    """
    with _open(path) as file:
        return file.metadata


def read_parts(path: str | Path) -> Iterator[Columns]:
    """The columns of each row group in turn, by name; lists as arrays of two dimensions.

    ``agent`` is an index of the distinct names in ``agents`` of the metadata, in their order.

    Raises:
        MissingExtraError, DatasetError: as ``read_metadata``; nothing of a part that is damaged is given.
    """
    with _open(path) as file:
        for part in range(file.schedule.parts):
            yield file.read(part)


def verify(path: str | Path, progress: Callable[[int, int], None] | None = None) -> str:
    """Play a file's games again through the engine, from its seeds and actions, and compare every cell.

    Agents are not asked again: that they would choose so is not checked.

    Args:
        path: of the file.
        progress: called with the number of deals compared so far, and of all.

    Returns:
        the digest, which is the one that the file states.

    Raises:
        MissingExtraError: pyarrow is not installed.
        DatasetError: the file cannot be read, or a cell is not what the engine gives; the message names the first.
    """
    with _open(path) as file:
        schedule, whole, row = file.schedule, _digest(file.metadata), 0
        for part in range(schedule.parts):
            stored = file.read(part)
            with naming(DatasetError, f"{path}: row group {part}", "is not what the engine plays"):
                _compare(stored, _columns(schedule, part, _actions_of(schedule, part, stored, row)), row)
            _add(whole, stored)
            row += len(stored["action"])
            if progress:
                progress(_first_table(schedule, part) + schedule.part_deals(part), schedule.deals)
        if row != file.metadata["rows"]:
            raise DatasetError(f"{path} has {row} rows, but states {file.metadata['rows']!r}")
        if whole.hexdigest() != file.metadata["digest"]:
            raise DatasetError(f"{path} states digest {file.metadata['digest']!r}, but has {whole.hexdigest()!r}")
        return whole.hexdigest()


# --- playing again --------------------------------------------------------------------------------------------------


def _part_tables(game: Game, settings: Any) -> int:
    cells = game.max_game_length(settings) * settings.num_deals * decision_size(game, settings)
    return max(1, min(PART_TABLES, PART_BYTES // (cells * np.dtype(np.float32).itemsize)))


def _in_order(parts: Iterator[tuple[int, Columns]]) -> Iterator[tuple[int, Columns]]:
    """Parts by their numbers; those that were finished before an earlier one wait."""
    waiting: dict[int, Columns] = {}
    following = 0
    for part, arrays in parts:
        waiting[part] = arrays
        while following in waiting:
            yield following, waiting.pop(following)
            following += 1


def _columns(schedule: Schedule, part: int, actions: np.ndarray) -> Columns:
    """All columns of a part, its tables played again.

    Args:
        schedule: of the match.
        part: its number.
        actions: integer[tables, most]: of each table in order, -1 after the last.

    Raises:
        IllegalActionError: one is not legal.
        ValueError: the actions of a table are not those of one match.
    """
    game, settings = schedule.game, schedule.settings
    tables, counts = np.arange(len(actions)), (actions >= 0).sum(axis=1)
    seeds = np.repeat(schedule.words(part), schedule.seatings)
    types = column_types(game, settings)
    shapes = {name: (counts.sum(), size)[: 1 + (size > 0)] for name, (_, size) in types.items()}
    columns = {name: np.zeros(shapes[name], kind) for name, (kind, _) in types.items()}
    first_table, first_row = _first_table(schedule, part), np.cumsum(counts) - counts
    columns["table"][:] = np.repeat(first_table + tables, counts)
    columns["seed"][:] = np.repeat(seeds, counts)
    payoffs = np.zeros((len(actions), settings.num_deals, settings.num_players), np.int32)
    deals = np.zeros(len(actions), np.int32)
    batch = Batch(game, settings, len(actions), size=types["observation"][1], threads=1)
    out = batch.reset(seeds)
    for step in range(counts.max(initial=0)):
        rows = np.flatnonzero(actions[:, step] >= 0)
        at = first_row[rows] + step
        columns["deal"][at], columns["step"][at], columns["seat"][at] = deals[rows], step, out.seats[rows]
        columns["observation"][at], columns["action_mask"][at] = out.observations[rows], out.masks[rows]
        columns["action"][at] = actions[rows, step]
        batch.step(actions[rows, step], rows)
        columns["deal_over"][at] = over = out.deal_over[rows]
        payoffs[rows[over], deals[rows[over]]] = out.payoffs[rows[over]]
        wrong = rows[(over & out.match_over[rows]) != (counts[rows] == step + 1)]
        if len(wrong):
            raise ValueError(f"table {first_table + wrong[0]} has {counts[wrong[0]]} decisions, not those of one match")
        deals[rows[over]] += 1
    if not counts.all():
        raise ValueError(f"table {first_table + np.argmin(counts)} has no decision")
    local = columns["table"] - first_table
    columns["payoffs"][:] = payoffs[local, columns["deal"]]
    columns["agent"][:] = _seated(schedule, part)[local, columns["seat"]]
    return columns


def _first_table(schedule: Schedule, part: int) -> int:
    return part * schedule.part_decks * schedule.seatings


def _seats(schedule: Schedule, part: int) -> np.ndarray:
    """The seat of each place, int64[tables of the part, places]."""
    seats, decks = schedule.seats(part), len(schedule.words(part))
    return np.broadcast_to(seats, (decks, *seats.shape[1:])).reshape(-1, seats.shape[2]).astype(np.int64)


def _seated(schedule: Schedule, part: int) -> np.ndarray:
    """The agent at each seat, int64[tables of the part, seats]."""
    return np.array(schedule.groups)[np.argsort(_seats(schedule, part))]


def _check_payoffs(schedule: Schedule, part: int, net: np.ndarray, columns: Columns) -> None:
    """That playing again came to the payoffs of the match itself: a fault of this package if not."""
    ends = columns["deal_over"]
    found = np.zeros((schedule.part_deals(part), len(schedule.groups)), np.int64)
    np.add.at(found, columns["table"][ends] - _first_table(schedule, part), columns["payoffs"][ends])
    if not np.array_equal(np.take_along_axis(found, _seats(schedule, part), axis=1), net.reshape(found.shape)):
        raise RuntimeError(f"part {part} came to other payoffs when it was played again: nothing is written")


def _actions_of(schedule: Schedule, part: int, stored: Columns, first_row: int) -> np.ndarray:
    """The actions of each table of a part, as ``_columns`` takes them. Raises ValueError."""
    local = stored["table"] - _first_table(schedule, part)
    tables = schedule.part_deals(part)
    wrong = np.flatnonzero((local < 0) | (local >= tables) | (np.diff(local, prepend=0) < 0))
    if len(wrong):
        raise ValueError(f"row {first_row + wrong[0]}: table {stored['table'][wrong[0]]} does not belong there")
    counts = np.bincount(local, minlength=tables)
    actions = np.full((tables, counts.max(initial=0)), -1, np.int64)
    actions[local, np.arange(len(local)) - (np.cumsum(counts) - counts)[local]] = stored["action"]
    if (stored["action"] < 0).any():
        row = np.argmin(stored["action"])
        raise ValueError(f"row {first_row + row}: action {stored['action'][row]} is below 0")
    return actions


def _compare(stored: Columns, again: Columns, first_row: int) -> None:
    """Raise ValueError naming the first cell that differs."""
    for name, wanted in again.items():
        differs = (stored[name] != wanted).reshape(len(wanted), -1).any(axis=1)
        if differs.any():
            row = int(np.argmax(differs))
            found, right = stored[name][row], wanted[row]
            place = f"row {first_row + row}: {name}"
            if wanted.ndim > 1:
                entry = int(np.argmax(found != right))
                place, found, right = f"{place}[{entry}]", found[entry], right[entry]
            raise ValueError(f"{place} is {found}, but the engine gives {right}")


# --- the file -------------------------------------------------------------------------------------------------------


def _metadata(config: MatchConfig) -> dict[str, Any]:
    schedule = config.schedule
    return {
        "format": FORMAT,
        "game": config.game.NAME,
        "version": config.game.VERSION,
        "settings": plain_settings(config.settings),
        "agents": list(config.agents),
        "contents": list(config.contents),
        "deals": schedule.deals,
        "seed": config.seed,
        "seatings": schedule.seatings,
        "part_tables": config.part_tables,
        "observation": describe_observation(config.game, config.settings),
        "actions": list(config.game.action_names(config.settings)),
        "made_by": provenance(("numpy", "numba", "pyarrow")),
    }


def _digest(metadata: dict[str, Any]) -> Any:
    """A SHA-256 that knows what was played; ``_add`` adds the rows."""
    known = {key: value for key, value in metadata.items() if key not in (*NOT_DIGESTED, "rows")}
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode())


def _add(whole: Any, columns: Columns) -> None:
    for name, array in columns.items():
        whole.update(f"{name} {len(array)};".encode())
        whole.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).data)


def _schema(game: Game, settings: Any) -> Any:
    import pyarrow as pa

    fields = []
    for name, (kind, size) in column_types(game, settings).items():
        plain = pa.from_numpy_dtype(kind)
        whole = pa.list_(pa.field("element", plain, nullable=False), size) if size else plain
        if name == "agent":
            whole = pa.dictionary(plain, pa.string())
        fields.append(pa.field(name, whole, nullable=False))
    return pa.schema(fields)


def _to_arrow(columns: Columns, schema: Any, names: Any) -> Any:
    """A part as a table of Arrow; ``names`` are those of the agents, an array of Arrow."""
    import pyarrow as pa

    arrays = []
    for field in schema:
        values = pa.array(columns[field.name].ravel())
        if field.name == "agent":
            values = pa.DictionaryArray.from_arrays(values, names)
        elif pa.types.is_fixed_size_list(field.type):
            values = pa.FixedSizeListArray.from_arrays(values, type=field.type)
        arrays.append(values)
    return pa.Table.from_arrays(arrays, schema=schema)


class _File:
    """An open file of games, its metadata checked."""

    def __init__(self, path: str | Path, file: Any) -> None:
        self.path, self.file = path, file
        self.metadata = _read_metadata(file)
        game = get_game(self.metadata["game"])
        settings = make_settings(
            game, {k: tuple(v) if isinstance(v, list) else v for k, v in self.metadata["settings"].items()}
        )
        if self.metadata["version"] != game.VERSION:
            raise ValueError(
                f"version is {self.metadata['version']!r}: these rules are {game.NAME} version {game.VERSION}"
            )
        agents = self.metadata["agents"]
        self.names = list(dict.fromkeys(agents))
        numbers = [self.metadata[name] for name in ("deals", "seed", "seatings", "part_tables")]
        self.schedule = Schedule(game, settings, number_groups(agents), *numbers)
        if self.schedule.deals != self.metadata["deals"]:
            raise ValueError(f"deals is {self.metadata['deals']}: with these seatings it cannot be")
        self.types = column_types(game, settings)
        if not file.schema_arrow.remove_metadata().equals(_schema(game, settings)):
            raise ValueError("its columns are others than those of this game and these settings")
        if file.metadata.num_row_groups != self.schedule.parts:
            raise ValueError(f"it has {file.metadata.num_row_groups} row groups, not {self.schedule.parts}")

    def read(self, part: int) -> Columns:
        """The columns of a row group. Raises DatasetError."""
        with _errors(self.path, f"is damaged in row group {part}"):
            group = self.file.metadata.row_group(part)
            if not 0 <= group.num_rows <= MAX_PART_ROWS:
                raise ValueError(f"it has {group.num_rows} rows, the most is {MAX_PART_ROWS}")
            for number, (name, (_, size)) in enumerate(self.types.items()):
                if group.column(number).num_values != group.num_rows * max(1, size):
                    raise ValueError(f"column {name} has {group.column(number).num_values} values")
            table = self.file.read_row_group(part, use_threads=False)
            return {name: self._numpy(table.column(name), name) for name in self.types}

    def _numpy(self, column: Any, name: str) -> np.ndarray:
        kind, size = self.types[name]
        values = column.combine_chunks()
        if values.null_count:
            raise ValueError(f"column {name} lacks values")
        if name == "agent":
            own = [self.names.index(found) if found in self.names else -1 for found in values.dictionary.to_pylist()]
            return np.array(own, kind)[values.indices.to_numpy(zero_copy_only=False)]
        if size:
            return values.flatten().to_numpy(zero_copy_only=False).astype(kind, copy=False).reshape(-1, size)
        return values.to_numpy(zero_copy_only=False).astype(kind, copy=False)


@contextlib.contextmanager
def _open(path: str | Path) -> Iterator[_File]:
    require("data")
    import pyarrow.parquet as pq

    with _errors(path, "is no file of games"):
        check_file(path, MAX_FILE_BYTES)
        reader = pq.ParquetFile(path)
    with reader:
        with _errors(path, "is no file of games"):
            file = _File(path, reader)
        yield file


@contextlib.contextmanager
def _errors(path: str | Path, otherwise: str) -> Iterator[None]:
    """What Arrow and the checks here raise, as DatasetError that names the file."""
    import pyarrow as pa

    kinds = (pa.ArrowException, ValueError, TypeError, KeyError, IndexError)
    with naming(DatasetError, str(path), otherwise, kinds):
        yield


def _read_metadata(file: Any) -> dict[str, Any]:
    stored = (file.metadata.metadata or {}).get(METADATA_KEY)
    if stored is None:
        raise ValueError("it has no metadata of `auction-env generate`")
    metadata = parse_json(stored, MAX_TEXT_BYTES)
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        raise ValueError(f"its format is not {FORMAT!r}")
    wanted = {
        "game": str,
        "settings": dict,
        "agents": list,
        "deals": int,
        "seed": int,
        "seatings": int,
        "part_tables": int,
        "rows": int,
        "digest": str,
        "version": int,
    }
    for name, kind in wanted.items():
        if type(metadata.get(name)) is not kind:
            raise ValueError(f"{name} is {shorten(repr(metadata.get(name)), 60)} in its metadata")
    if not all(isinstance(agent, str) for agent in metadata["agents"]):
        raise ValueError("agents are no texts in its metadata")
    return metadata
