"""Records to look at: each deal as frames that the page steps through."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from auction_env.engine.record import RecordError, read_record, replay
from auction_env.engine.table import Table
from auction_env.web.advice import table_at
from auction_env.web.room import frame

Think = Callable[[str, Table, int], list[dict[str, Any]] | None]


class Step:
    """A point of a recorded deal: the table's row, and the decision that led there (none at its start)."""

    def __init__(self, before: np.ndarray, action: int | None, after: np.ndarray) -> None:
        self.before, self.action, self.after = before, action, after


class Recording:
    """A record that has been replayed, so that what it says is what happened.

    Args:
        name: under which it is listed.
        record: as ``engine.record`` reads it.

    Raises:
        RecordError: it does not replay.
    """

    def __init__(self, name: str, record: Mapping[str, Any]) -> None:
        self.name = name
        self.deals: list[list[Step]] = []
        self.table: Table = replay(record, on_move=self._note)
        names = record.get("agents")
        seats = self.table.settings.num_players
        listed = isinstance(names, list) and len(names) == seats and all(isinstance(one, str) for one in names)
        self.names = [str(one)[:40] for one in names] if listed and names else [""] * seats

    @classmethod
    def load(cls, path: Path) -> Recording:
        """A record of a file. Raises RecordError, naming what is wrong."""
        record = read_record(path)
        try:
            return cls(path.name, record)
        except RecordError as error:
            raise RecordError(f"{path}: {error}") from error

    def _note(self, before: np.ndarray, action: int | None, after: np.ndarray) -> None:
        if action is None:
            self.deals.append([])
        self.deals[-1].append(Step(before, action, after))

    def summary(self) -> dict[str, Any]:
        """What is listed of it."""
        return {
            "name": self.name,
            "game": self.table.game.NAME,
            "settings": dataclasses.asdict(self.table.settings),
            "names": self.names,
            "deals": len(self.deals),
        }

    def frames(self, deal: int, think: Think | None = None) -> list[dict[str, Any]]:
        """A deal, from 0, as ``room.frame`` gives it, with the ``choice`` that led to each frame.

        ``think`` says what an agent, by its name, makes of its options where it chose one: see ``Players.options``.
        """
        game, found = self.table.game, []
        for step in self.deals[deal]:
            before, after = step.before[0], step.after[0]
            lines = [] if step.action is None else game.narrate(before, step.action, after)
            shown = frame(game, after, lines)
            if step.action is not None:
                seat = int(before.to_act)
                shown["choice"] = {"seat": seat, "action": step.action, "name": self.table.action_names[step.action]}
                options = None
                if think is not None:
                    asked = table_at(game, self.table.settings, step.before)
                    options = think(self.names[seat], asked, step.action)
                if options:
                    shown["choice"]["options"] = options
            found.append(shown)
        return found
