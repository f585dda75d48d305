"""Hand histories of a match: its first tables as records, which the page and ``replay`` open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from auction_env.engine.agent import Player
from auction_env.engine.kernels import kernels
from auction_env.engine.record import make_record, write_record
from auction_env.engine.table import Table
from auction_env.evaluation.match import Decisions, Schedule
from auction_env.games.game import Game

MAX_RECORDS = 1000


class ActionRecorder:
    """Notes all actions of a part's tables, in order (a ``runner.Recorder``).

    Args:
        game: the game.
        settings: its Settings.
        players: the agents.
        tables: in the part.
    """

    def __init__(self, game: Game, settings: Any, players: Sequence[Player], tables: int) -> None:
        most = game.max_game_length(settings) * settings.num_deals
        self.actions = np.full((tables, most), -1, np.int16)
        self._count = np.zeros(tables, np.int64)

    def decided(self, decisions: Decisions) -> None:
        """See MatchCallback."""
        self.actions[decisions.tables, self._count[decisions.tables]] = decisions.actions
        self._count[decisions.tables] += 1

    def ended(self, finals: np.ndarray, groups: np.ndarray, decks: np.ndarray) -> None:
        """See MatchCallback: nothing to note."""

    def arrays(self) -> dict[str, np.ndarray]:
        """``actions``, int16[tables, most]: -1 after the last."""
        return {"actions": self.actions}


def histories(schedule: Schedule, names: Sequence[str], actions: np.ndarray, count: int) -> list[dict[str, Any]]:
    """Records of the first tables of a match, each with its ``agents`` by seat.

    Args:
        schedule: of the match.
        names: of the agents, by place.
        actions: as ``ActionRecorder`` notes them, of at least ``count`` tables.
        count: of records; fewer if the match has fewer tables.
    """
    records = []
    for number, line in enumerate(actions[:count]):
        part, within = divmod(number, schedule.part_decks * schedule.seatings)
        deck, seating = divmod(within, schedule.seatings)
        seats = np.broadcast_to(schedule.seats(part), (len(schedule.words(part)), schedule.seatings, len(names)))
        table = _dealt(schedule.game, schedule.settings, schedule.words(part)[deck : deck + 1])
        for action in line[line >= 0].tolist():
            if table.to_act is None:
                table.next_deal()
            table.act(action)
        by_seat = np.argsort(seats[deck, seating])
        records.append({**make_record(table), "seed": None, "agents": [names[place] for place in by_seat]})
    return records


def _dealt(game: Game, settings: Any, word: np.ndarray) -> Table:
    """A table as a batch deals it from a word of the generator, uint64[1]: any word, not only those that are seeds."""
    table = Table(game, settings)
    table.reset(0)
    kernels(game).seed(table.states, word)
    table.reset()
    return table


def write_histories(folder: Path, records: Sequence[dict[str, Any]]) -> list[Path]:
    """Write records to a folder, ``table_0000.json`` and so on. Raises OSError, naming what cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"table_{number:04d}.json" for number in range(len(records))]
    for path, record in zip(paths, records, strict=True):
        write_record(path, record)
    return paths
