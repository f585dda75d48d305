"""A room: a table, who sits at it, and what each seat is shown. No network in here, and no waiting.

Choices of a hidden phase are kept here until the last seat has chosen, so that nothing at all changes for anybody
before it is revealed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from auction_env.engine.table import Table
from auction_env.games.game import Game, SeatView, TableView
from auction_env.web.limits import MessageError, clean_name

NEXT_DEAL = -1  # among the moves of a room
NOBODY = -1  # the seat of somebody who has none: games show it what all may see


@dataclasses.dataclass
class Seat:
    """A seat of a room: an agent's, by its name, or a person's (``agent`` is None), open until one sits down."""

    agent: str | None
    name: str = ""
    token_digest: str = ""
    stand_in: str | None = None  # the agent that plays while the person is away

    @property
    def open(self) -> bool:
        """Whether a person may sit down here."""
        return self.agent is None and not self.token_digest

    @property
    def player(self) -> str | None:
        """The agent that chooses here now, or None: a person does."""
        return self.agent or self.stand_in

    def public(self) -> dict[str, Any]:
        """What everybody knows of the seat."""
        return {"name": self.name, "agent": self.agent, "open": self.open, "stand_in": self.stand_in}


class Moment(NamedTuple):
    """A decision of the present deal."""

    before: np.ndarray  # the table's row, shape (1,), before it
    seat: int
    action: int


def token_digest(token: str) -> str:
    """What is kept of a seat's token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class Room:
    """A table with its seats.

    Args:
        number: the room's name in addresses.
        game: the game.
        settings: its Settings.
        seats: for each seat an agent's name, or None for a person.
        seed: of the deals; None: a fresh one.
    """

    def __init__(
        self, number: str, game: Game, settings: Any, seats: Sequence[str | None], seed: int | None = None
    ) -> None:
        self.number, self.game = number, game
        self.table = Table(game, settings)
        self.table.reset(seed)
        self.seats = [Seat(agent, agent or "") for agent in seats]
        self.moves: list[int] = []  # all actions of the match, NEXT_DEAL between deals
        self.committed: dict[int, int] = {}  # choices of a hidden phase, by seat
        self.ready: set[int] = set()  # persons who want the next deal
        self.present: set[int] = set()  # seats of persons who are connected
        self._begin_deal()

    def _begin_deal(self) -> None:
        self.moments: list[Moment] = []
        self.lines: list[str] = []  # public account of the deal
        self.latest: list[str] = []  # that of the last move
        self.ready.clear()

    # --- seats ---

    @property
    def for_people(self) -> bool:
        """Whether any seat is a person's: then nobody may see more than a seat does."""
        return any(seat.agent is None for seat in self.seats)

    @property
    def started(self) -> bool:
        """Whether all seats are taken: play goes on from then."""
        return not any(seat.open for seat in self.seats)

    def _seat(self, seat: int) -> Seat:
        if not 0 <= seat < len(self.seats):
            raise MessageError(f"there is no seat {seat}: seats are 0 to {len(self.seats) - 1}")
        return self.seats[seat]

    def sit(self, seat: int, name: str) -> str:
        """Let a person take an open seat; gives the token by which it is known again. Raises MessageError."""
        place, cleaned = self._seat(seat), clean_name(name)
        if not place.open:
            raise MessageError("this seat is taken")
        if cleaned in {other.name for other in self.seats}:
            raise MessageError(f"somebody is called {cleaned} here: take another name")
        token = secrets.token_urlsafe(24)
        place.name, place.token_digest = cleaned, token_digest(token)
        return token

    def resume(self, token: str) -> int:
        """The seat of a token. Raises MessageError."""
        digest = token_digest(token)
        for number, seat in enumerate(self.seats):
            if seat.token_digest and hmac.compare_digest(seat.token_digest, digest):
                return number
        raise MessageError("this seat is not kept here any more")

    def leave(self, seat: int, stand_in: str) -> None:
        """Let a person go: the seat is open again before the start; later an agent plays on for it, for good."""
        place = self.seats[seat]
        if self.started and self.moves:
            place.agent, place.name = stand_in, f"{place.name} ({stand_in})"
        else:
            place.name = ""
        place.token_digest = ""
        self.ready.discard(seat)

    def fill(self, seat: int, agent: str) -> None:
        """Let an agent take an open seat. Raises MessageError."""
        place = self._seat(seat)
        if not place.open:
            raise MessageError("this seat is taken")
        place.agent, place.name = agent, agent

    # --- play ---

    def choosers(self) -> dict[int, np.ndarray]:
        """Masks of the seats whose choice is awaited, by seat."""
        if not self.started:
            return {}
        return {seat: mask for seat, mask in self.table.choosers().items() if seat not in self.committed}

    def choose(self, seat: int, action: int) -> None:
        """A seat's choice. Raises MessageError when it is not its turn, or the action is not legal."""
        mask = self.choosers().get(seat)
        if mask is None:
            raise MessageError("it is not your turn")
        if not 0 <= action < len(mask) or not mask[action]:
            raise MessageError("this is not legal now")
        self.committed[seat] = action
        if not self.choosers():
            self._reveal()

    def _reveal(self) -> None:
        """Apply what all seats that choose now have chosen."""
        committed, self.committed = self.committed, {}
        self.latest = []
        while committed:
            seat = self.table.to_act
            assert seat is not None
            self._act(seat, committed.pop(seat))

    def _act(self, seat: int, action: int) -> None:
        before = self.table.states.copy()
        self.table.act(action)
        self.moments.append(Moment(before, seat, action))
        self.moves.append(action)
        lines = self.game.narrate(before[0], action, self.table.state)
        self.latest += lines
        self.lines += lines

    @property
    def deal_over(self) -> bool:
        """Whether the deal is over."""
        return self.table.to_act is None

    def want_next(self, seat: int) -> bool:
        """A person wants the next deal; see ``deal_if_ready``. Raises MessageError when there is none."""
        if not self.deal_over or self.table.match_over:
            raise MessageError("there is no next deal now")
        self.ready.add(seat)
        return self.deal_if_ready()

    def deal_if_ready(self) -> bool:
        """Deal the next deal if somebody wants it and all persons who are here do; whether it was dealt."""
        if not self.ready or not self.present <= self.ready or not self.deal_over or self.table.match_over:
            return False
        self.next_deal()
        return True

    def next_deal(self) -> None:
        """Deal the next deal."""
        self.table.next_deal()
        self.moves.append(NEXT_DEAL)
        self._begin_deal()

    def replay(self, moves: Iterable[int]) -> None:
        """Play moves again, as a store kept them. Raises ValueError if they are not legal."""
        for move in moves:
            if move == NEXT_DEAL:
                self.next_deal()
                continue
            seat = self.table.to_act
            if seat is None or not 0 <= move < len(self.table.action_names) or not self.table.mask(seat)[move]:
                raise ValueError(f"move {len(self.moves)} of room {self.number} is not legal")
            self.latest = []
            self._act(seat, move)

    # --- what is shown ---

    def state(self, seat: int | None) -> dict[str, Any]:
        """What a seat is shown, or with None somebody who has none: plain data, and nothing that it may not know."""
        table, viewer = self.table, NOBODY if seat is None else seat
        deal = table.deals[-1]
        mask = self.choosers().get(viewer)
        return {
            "type": "state",
            **self.head(),
            "you": seat,
            "started": self.started,
            "people": [number for number, place in enumerate(self.seats) if place.agent is None],
            "present": sorted(self.present),
            "ready": sorted(self.ready),
            "view": view_data(self.game.view(table.state, viewer)),
            "own": self._own(table, viewer),
            "own_action": None if viewer not in self.committed else table.action_names[self.committed[viewer]],
            "choosing": mask is not None,
            "facts": table.info(viewer) if mask is not None and table.to_act == viewer else {},
            "legal": [] if mask is None else self._options(viewer, mask),
            "lines": self.lines,
            "latest": self.latest,
            "payoffs": deal.payoffs,
            "totals": np.sum([one.payoffs for one in table.deals if one.payoffs], axis=0, dtype=int).tolist() or None,
            "match_over": table.match_over,
        }

    def head(self) -> dict[str, Any]:
        """What does not change in a deal."""
        return {
            "room": self.number,
            "game": self.game.NAME,
            "settings": dataclasses.asdict(self.table.settings),
            "deal": len(self.table.deals),
            "deals": self.table.settings.num_deals,
            "seats": [seat.public() for seat in self.seats],
        }

    def _own(self, table: Table, seat: int) -> str:
        """What a seat's own cards make, in the game's words, if the game says it."""
        own_hand = getattr(self.game, "own_hand", None)
        if own_hand is None or seat == NOBODY or seat not in table.deals[-1].dealt_in:
            return ""
        return str(own_hand(table.state, seat))

    def _options(self, seat: int, mask: np.ndarray) -> list[dict[str, Any]]:
        """The actions that a seat may take, each with what its hand would make then where that changes."""
        asking, now, options = self.table.asking(seat), self._own(self.table, seat), []
        for action in np.flatnonzero(mask).tolist():
            trial = asking.clone()
            trial.act(action)
            then = self._own(trial, seat)
            option = {"action": action, "name": asking.action_names[action]}
            options.append(option if then == now or trial.to_act is None else {**option, "then": then})
        return options


def view_data(view: TableView) -> dict[str, Any]:
    """A view as plain data."""
    return dataclasses.asdict(view)


def frame(game: Game, row: Any, lines: Sequence[str]) -> dict[str, Any]:
    """A table as plain data for those who may see everything, so that it can be shown as any one seat saw it.

    ``view`` is what nobody in particular sees; with entry k of ``own`` in place of its seat k it is what seat k sees,
    with all of ``all`` in place of its seats what nobody may. ``hands``: what each seat's own cards make.
    """
    seats = range(int(row.num_players))
    public = game.view(row, NOBODY)
    own: list[SeatView] = [game.view(row, seat).seats[seat] for seat in seats]
    own_hand = getattr(game, "own_hand", None)
    return {
        "view": view_data(public),
        "own": [dataclasses.asdict(seat) for seat in own],
        "all": [dataclasses.asdict(seat) for seat in game.view(row, None).seats],
        "hands": [str(own_hand(row, seat)) if own_hand and row.dealt_in[seat] else "" for seat in seats],
        "lines": list(lines),
    }
