"""Matches of agents named by text, on any number of processes, that can be stopped and go on.

The result, to the last digit of its digest, does not depend on the number of processes nor on interruptions: parts of a
match are played each on its own (``auction_env.evaluation.match``), and finished ones can be kept in a folder.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import importlib
import io
import multiprocessing
import signal
import sys
import zipfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from auction_env.core.files import LOCK_FILE, FolderLock, is_temporary, write_file, write_json
from auction_env.core.limits import LimitError, read_json, read_limited, reason, shorten
from auction_env.core.processes import end_with_parent
from auction_env.core.version import __version__
from auction_env.engine.agent import Player
from auction_env.evaluation.match import MatchCallback, Schedule, number_groups, plain_settings
from auction_env.evaluation.results import MatchResult, digest_of
from auction_env.games import get_game
from auction_env.games.game import Game

STATE_FORMAT = "auction_env.evaluation.match/2"
PLAN_FILE = "match.json"
MAX_PART_BYTES = 1 << 28  # of a part, packed and unpacked
_DIGEST_BYTES = hashlib.sha256().digest_size
_AGENTS = 0xA6E27  # stream of a match's seed

Make = Callable[[str, Game, Any, int], Player]  # an agent from its text, such as ``agents.make``


class TournamentError(ValueError):
    """A match cannot be played or resumed as asked; the message says why."""


class Recorder(MatchCallback, Protocol):
    """A callback whose notes of a part can be stored and put together again."""

    def arrays(self) -> dict[str, np.ndarray]:
        """What it noted, by name."""
        ...


@dataclasses.dataclass(frozen=True)
class MatchConfig:
    """A match of named agents.

    Args:
        game: the game.
        settings: its Settings.
        agents: by place, as texts that ``make`` understands; equal texts are one agent.
        deals: tables to play at least.
        seed: of everything.
        make: makes an agent of a text; a function that another process can import.
        contents: digests of the files behind the agents, by place, if any: a match goes on only with the same.
        seatings: see ``auction_env.evaluation.match.Schedule``.
        part_tables: see ``auction_env.evaluation.match.Schedule``.
        first_apart: the first agent counts as another than its like at other places, see ``number_groups``.
        time_limit: seconds that any one decision may take, see ``auction_env.evaluation.match.Schedule.play``.
        notes: makes what watches a part, of the game, its settings, the agents, and the part's number of tables; None:
            nobody does.
        noted_deals: parts are watched until so many deals have been.

    Raises:
        ValueError: as ``Schedule``.
    """

    game: Game
    settings: Any
    agents: tuple[str, ...]
    deals: int
    make: Make
    seed: int = 0
    contents: tuple[str, ...] = ()
    seatings: int | None = None
    part_tables: int | None = None
    first_apart: bool = False
    time_limit: float | None = None
    notes: Callable[[Game, Any, Sequence[Player], int], Recorder] | None = None
    noted_deals: int = 0

    def __post_init__(self) -> None:
        _ = self.schedule  # refuses what makes no sense

    @cached_property
    def schedule(self) -> Schedule:
        """What is played."""
        groups = number_groups(self.agents, self.first_apart)
        return Schedule(self.game, self.settings, groups, self.deals, self.seed, self.seatings, self.part_tables)

    def players(self) -> list[Player]:
        """The agents, made anew, by number of group; the seed that they are told says nothing of the decks."""
        groups = self.schedule.groups
        seed = int(np.random.SeedSequence([self.seed, _AGENTS]).generate_state(1, np.uint64)[0] >> 1)
        return [
            self.make(self.agents[groups.index(group)], self.game, self.settings, seed)
            for group in range(max(groups) + 1)
        ]

    def play_part(self, part: int, players: Sequence[Player]) -> dict[str, np.ndarray]:
        """Play one part: its results as ``net``, and what was noted."""
        callback = None
        if self.notes is not None and part * self.schedule.part_decks * self.schedule.seatings < self.noted_deals:
            callback = self.notes(self.game, self.settings, players, self.schedule.part_deals(part))
        net = self.schedule.play(part, players, callback, self.time_limit)
        return {"net": net, **(callback.arrays() if callback else {})}

    def identity(self) -> dict[str, Any]:
        """All that results depend on, as plain data: only a match with the same goes on with stored parts."""
        return {
            "format": STATE_FORMAT,
            "auction_env": __version__,
            "game": self.game.NAME,
            "version": self.game.VERSION,
            "settings": plain_settings(self.settings),
            "agents": list(self.agents),
            "contents": list(self.contents),
            "deals": self.schedule.deals,
            "seed": self.seed,
            "seatings": self.schedule.seatings,
            "part_decks": self.schedule.part_decks,
            "first_apart": self.first_apart,
            "asked_singly": self.time_limit is not None,  # agents with chance of their own then play other games
            "noted": [getattr(self.notes, "__name__", "notes"), self.noted_deals] if self.notes else None,
        }

    def __getstate__(self) -> dict[str, Any]:  # a module does not travel to another process; its name does
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {**values, "game": self.game.__name__}  # type: ignore[attr-defined]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__["game"] = get_game(importlib.import_module(state["game"]))


@dataclasses.dataclass(frozen=True)
class Played:
    """A finished match: its result, and the notes of its watched parts, put together by name."""

    result: MatchResult
    notes: dict[str, np.ndarray]


Part = tuple[int, dict[str, np.ndarray]]  # its number; results and notes by name
Workers = int | Callable[[MatchConfig, Sequence[int]], Iterator[Part]]  # processes, or what plays parts in any order


def play(
    plan: MatchConfig,
    *,
    workers: Workers = 1,
    state: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Played:
    """Play a match, or what is left of it.

    Args:
        plan: the match.
        workers: processes; 1 plays in this one. Results are the same. A script that asks for more must start under
            ``if __name__ == "__main__":``, for they are spawned. Or what plays parts elsewhere, such as ``RayWorkers``.
        state: a folder that keeps finished parts; made if need be. What it holds already is not played again.
        progress: called with the number of deals finished so far, and of all.

    Raises:
        TournamentError: the folder holds another match, or a process died.
        FolderInUseError: another process plays with this folder.
        PlayerError: an agent failed, acted illegally or was too slow; it is named. Finished parts are kept.
        AgentError, ValueError: an agent cannot be made.
    """
    if isinstance(workers, int) and workers < 1:
        raise TournamentError(f"workers is {workers}: it must be at least 1")
    with _Store(plan, state) if state is not None else contextlib.nullcontext() as store:
        return _play(plan, workers, store, progress)


def _play(
    plan: MatchConfig, workers: Workers, store: _Store | None, progress: Callable[[int, int], None] | None
) -> Played:
    schedule = plan.schedule
    found: dict[int, dict[str, np.ndarray]] = store.finished() if store else {}
    done = sum(schedule.part_deals(part) for part in found)
    if progress and done:
        progress(done, schedule.deals)
    left = [part for part in range(schedule.parts) if part not in found]
    for part, arrays in play_parts(plan, left, workers):
        found[part] = arrays
        if store:
            store.save(part, arrays)
        done += schedule.part_deals(part)
        if progress:
            progress(done, schedule.deals)
    parts = [found[part] for part in range(schedule.parts)]
    names = {name for part in parts for name in part if name != "net"}
    notes = {name: np.concatenate([part[name] for part in parts if name in part]) for name in sorted(names)}
    return Played(schedule.result(plan.agents, [part["net"] for part in parts], plan.contents), notes)


_AHEAD = 4  # parts for each process that may be under way, or finished before an earlier one is


def play_parts(plan: MatchConfig, parts: Sequence[int], workers: Workers = 1) -> Iterator[Part]:
    """Play some parts of a match: the number of each and its arrays, as they are finished; few are held at a time.

    Args:
        plan: the match.
        parts: their numbers.
        workers: processes, at least 1; see ``play``, also for the errors.
    """
    if not isinstance(workers, int):
        return workers(plan, parts)
    workers = min(workers, len(parts))
    return _in_this_process(plan, parts) if workers <= 1 else _in_processes(plan, parts, workers)


def _in_this_process(plan: MatchConfig, parts: Sequence[int]) -> Iterator[Part]:
    players = plan.players() if parts else []
    with single_thread():
        for part in parts:
            yield part, plan.play_part(part, players)


@contextlib.contextmanager
def single_thread() -> Iterator[None]:
    """One thread for torch, if an agent brought it: how work is split between threads shows in a last bit."""
    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch else 0
    if torch:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        if torch:
            torch.set_num_threads(threads)


_worker: tuple[MatchConfig, list[Player]] | None = None


def _start_worker(plan: MatchConfig) -> None:
    global _worker
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes: the first one sees to it
    players = plan.players()
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    _worker = plan, players


def _work(part: int) -> Part:
    assert _worker is not None
    plan, players = _worker
    return part, plan.play_part(part, players)


def _in_processes(plan: MatchConfig, parts: Sequence[int], workers: int) -> Iterator[Part]:
    plan.players()  # what cannot be made is said here, by its own error
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, _start_worker, (plan,))
    left, running, finished = deque(parts), dict[Future[Part], int](), False
    try:
        while left or running:
            while left and left[0] - min(running.values(), default=left[0]) < _AHEAD * workers:
                part = left.popleft()
                running[pool.submit(_work, part)] = part
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                del running[future]
                yield future.result()
        finished = True
    except BrokenProcessPool as error:
        raise TournamentError(
            "a process of this match died (out of memory, or killed?): try fewer workers; finished parts are kept if "
            "there is a state folder"
        ) from error
    finally:
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=finished, cancel_futures=True)
        if not finished:
            for process in processes:
                process.terminate()


class _Store:
    """A folder with a match's finished parts, for one process at a time: ``with`` holds its lock.

    A part's file is an npz archive and, after it, a SHA-256 of the match's identity, the part's number and the archive:
    one damaged in any byte, or copied from another match or place, is not this match's and is played again. The digest
    is no signature: who can write to the folder can forge results, as they can forge a result file.
    """

    def __init__(self, plan: MatchConfig, folder: Path) -> None:
        self.plan, self.folder = plan, folder
        self.lock = FolderLock(folder)
        self._identity = digest_of(plan.identity()).encode()

    def __enter__(self) -> _Store:
        if self.folder.exists() and not self.folder.is_dir():
            raise TournamentError(f"{self.folder} is a file, not a folder: name another")
        self._check_foreign()  # before anything is written
        self.lock.acquire()
        try:
            self._open()
        except BaseException:
            self.lock.release()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.lock.release()

    def _check_foreign(self) -> None:
        if (
            self.folder.exists()
            and not (self.folder / PLAN_FILE).exists()
            and any(map(_is_foreign, self.folder.iterdir()))
        ):
            raise TournamentError(f"{self.folder} is no folder of a match, and is not empty: name another")

    def _open(self) -> None:
        own, file = self.plan.identity(), self.folder / PLAN_FILE
        if not file.exists():
            write_json(file, own)
            return
        try:
            stored = read_json(file)
        except (OSError, ValueError) as error:
            raise TournamentError(
                f"{file} cannot be read ({reason(error)}): remove {self.folder} to start anew"
            ) from error
        if not isinstance(stored, dict):
            raise TournamentError(f"{file} is damaged: remove {self.folder} to start anew")
        wrong = [key for key in own if stored.get(key) != own[key]]
        if wrong:
            lines = "; ".join(f"{key} is {shorten(repr(stored.get(key)))} there, {own[key]!r} here" for key in wrong)
            raise TournamentError(
                f"{self.folder} holds another match: {lines}. Name another folder, or play that match"
            )

    def _file(self, part: int) -> Path:
        return self.folder / f"part_{part:05d}.npz"

    def finished(self) -> dict[int, dict[str, np.ndarray]]:
        """Parts that are stored whole; what is damaged or foreign is played again."""
        stored = {part: self._load(part) for part in range(self.plan.schedule.parts)}
        return {part: arrays for part, arrays in stored.items() if arrays is not None}

    def _digest(self, part: int, archive: bytes) -> bytes:
        return hashlib.sha256(self._identity + b"%d:" % part + archive).digest()

    def _load(self, part: int) -> dict[str, np.ndarray] | None:
        try:
            content = read_limited(self._file(part), MAX_PART_BYTES)
        except (OSError, LimitError):
            return None
        archive, digest = content[:-_DIGEST_BYTES], content[-_DIGEST_BYTES:]
        if digest != self._digest(part, archive):
            return None
        try:
            with zipfile.ZipFile(io.BytesIO(archive)) as packed:
                if sum(member.file_size for member in packed.infolist()) > MAX_PART_BYTES:
                    return None
            with np.load(io.BytesIO(archive), allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
        except Exception:  # forged: the libraries raise many kinds
            return None
        schedule = self.plan.schedule
        shape = (len(schedule.words(part)), schedule.seatings, len(schedule.groups))
        good = "net" in arrays and arrays["net"].shape == shape and arrays["net"].dtype == np.int64
        return arrays if good else None

    def save(self, part: int, arrays: dict[str, np.ndarray]) -> None:
        """Keep a part. Raises OSError, naming its file."""
        archive = io.BytesIO()
        np.savez_compressed(archive, **arrays)  # type: ignore[arg-type]
        content = archive.getvalue()
        write_file(self._file(part), content + self._digest(part, content))


def _is_foreign(path: Path) -> bool:
    """Whether a file is none that an interrupted start of ours leaves in an otherwise empty folder."""
    return path.name != LOCK_FILE and not is_temporary(path)
