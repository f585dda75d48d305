"""What a game module must define, and the checks that it does.

A game is one module in ``auction_env/games/``: constants, settings, the state of a table, actions, observation, and the
functions that deal, say what is legal, act and observe. Everything else (table, batch, PettingZoo and learning
interfaces, records, pictures) works from these names alone, so a new game edits nothing but its own file.

States are rows of one numpy structured dtype. Functions marked *compiled* are decorated with ``kernel.inner``; they
take one row ``s`` and write to it by field (``s.pot += 1``).
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from auction_env.core.limits import shorten
from auction_env.core.names import hint


class SettingsError(ValueError):
    """A setting is unknown or makes no sense; the message names it and the fix."""


class UnknownSettingError(SettingsError, TypeError):
    """There is no such setting. As for any keyword that a call does not know, this is a TypeError too."""


class SetupError(ValueError):
    """A deal cannot be set up as asked; the message names the option and the fix."""


class IllegalActionError(ValueError):
    """An action is not legal now; the table is as it was before."""


@dataclasses.dataclass(frozen=True)
class ObservationField:
    """A named part of an observation.

    Attributes:
        name: its name in ``observe_named`` and in the docs.
        shape: its shape; fields are flattened in C order and follow each other in the declared order.
        meaning: one sentence.
        fraction: False when all entries are 0 or 1; True when they are fractions in [0, 1].
        final_only: True when all entries are 0 until the deal is over. Such fields come last.
        cards: how the last axis shows cards, if it does: "set", an entry for each of 52 by card index; "one", a card as
            13 ranks, then 4 suits.
        places_of: the field, perhaps this one, of cards in sorted order whose places the entries are about, if any.
        derived: True when entries go by such places, and follow from other fields.
    """

    name: str
    shape: tuple[int, ...]
    meaning: str
    fraction: bool = False
    final_only: bool = False
    cards: str = ""
    places_of: str = ""
    derived: bool = False

    @property
    def size(self) -> int:
        """Number of entries."""
        return math.prod(self.shape)


@dataclasses.dataclass
class SeatView:
    """One seat as somebody sees it: what a picture or a text of the table needs."""

    seat: int
    stack: int
    cards: list[str]  # card names, "??" for a card face down
    bought: list[str]  # cards in front of the seat that it bought in the open
    notes: list[str]  # such as "bids 2", "folded", "declares low"
    dealer: bool = False
    to_act: bool = False
    out: bool = False  # not dealt in
    folded: bool = False
    prices: list[int] = dataclasses.field(default_factory=list)  # chips paid for each card of ``bought``, if known
    hand: str = ""  # what its open cards make, in words


@dataclasses.dataclass
class TableView:
    """A table as one seat sees it (or as nobody may, with everything revealed)."""

    title: str
    phase: str
    pot: int
    centre: list[str]  # cards open in the middle
    centre_label: str
    seats: list[SeatView]
    lines: list[str]  # public facts worth a line each


class Game(Protocol):
    """The names a game module defines. A module is the game: ``game.NAME``, ``game.legal`` and so on."""

    NAME: str  # snake case; also the module's name and the environment's
    VERSION: int  # raised when behaviour changes: auction_poker_v0
    TITLE: str
    MAX_PLAYERS: int
    MAX_LEGAL: int  # the most actions that can be legal at once
    PHASES: tuple[str, ...]  # names by value of the state's ``phase``; the last is the end of a deal
    HIDDEN_PHASES: tuple[int, ...]  # phases in which seats choose at once, unseen by the others
    CARRIES_POT: bool  # whether a pot can be carried from deal to deal
    STATE: np.dtype[Any]
    Settings: type[Any]  # frozen dataclass with ``num_players``, ``num_deals``, ``starting_chips``, ...

    # Python, called rarely
    new_state: Callable[[Any], np.ndarray]  # settings -> one row, nothing dealt
    action_names: Callable[[Any], tuple[str, ...]]  # settings -> name of each action index
    observation_fields: Callable[[Any], tuple[ObservationField, ...]]  # settings -> the observation, in order
    max_game_length: Callable[[Any], int]  # settings -> most decisions in one deal
    info: Callable[[Any, Any], dict[str, Any]]  # a Row and the seat to act, or rows and seats -> public facts, numbers
    eligibility: Callable[[Any, int], str]  # row, seat -> "" if it can be dealt in, or why not
    view: Callable[[Any, int | None], TableView]  # row, seat (None: everything; -1: nobody's) -> what it sees
    narrate: Callable[[Any, int, Any], list[str]]  # row before, action, row after -> public account of what happened
    pending: Callable[[Any], int]  # row -> how many of the latest actions nobody else may know yet
    public_name: Callable[[Any, int], str]  # settings, action -> its name as the other seats see it
    visible_deck: Callable[[Any, int], list[bool]]  # row, seat -> which cards of the deck it has seen

    # compiled
    new_match: Callable[[Any], None]  # stacks, dealer; nothing dealt. Draws from s.rng
    deal: Callable[[Any, int], None]  # the next deal; the first so many cards of s.deck are given
    next_deal: Callable[[Any], None]  # pass the deal and deal; only when not s.match_over
    legal: Callable[
        [Any, Any], int
    ]  # write the legal actions, ascending or not; their number (0 when the deal is over)
    act: Callable[[Any, int], None]  # apply a legal action of s.to_act
    observe: Callable[[Any, int, Any, float], None]  # seat, out (zeroed, flat), the value of a full fraction
    resample_from_infostate: Callable[[Any, int], None]  # redraw what the seat may not know, uniformly, with s.rng

    # A game may define ``retrace(row, target, act)`` and ``settled(row)``: they let ``engine.validation`` play a deal
    # again from its state, so that states that come from elsewhere are checked in full.
    # ``num_draws``, ``draw_choices`` and ``settle_draw`` let ``engine.chance`` take the cards from outside; with
    # ``max_draws``, ``recorded_action``, ``recorded_draw`` and the properties ``zero_sum`` and ``recalls_all`` of
    # Settings, in a ``ChanceTable`` and in OpenSpiel.
    # ``suits_matter(settings)``, whether a hand can hold a flush, and, compiled, ``action_cards(s, action)``, the card
    # set that an action chooses, let ``solve`` leave the names of suits out: no suit is above another in such a game,
    # and what a seat knows of single cards is in fields of its observation that have ``cards`` or ``places_of``.

    def __hash__(self) -> int:  # modules are hashable
        ...


# Fields that every STATE has. ``s.to_act`` is -1 when the deal is over; ``award`` and ``paid`` are of the present deal.
REQUIRED_FIELDS = (
    "rng",
    "num_players",
    "num_ranks",
    "num_suits",
    "deck",
    "dealer",
    "deal_number",
    "stacks",
    "carried_pot",
    "total_chips",
    "dealt_in",
    "phase",
    "to_act",
    "award",
    "paid",
    "match_over",
)


def check(game: Any) -> None:
    """Raise TypeError, naming what is missing, unless ``game`` defines all that a game module must."""
    missing = [name for name in _required_names() if not hasattr(game, name)]
    if missing:
        name = getattr(game, "__name__", repr(game))
        raise TypeError(f"game module {name} lacks {', '.join(missing)}: see auction_env.games.game.Game")
    fields = [name for name in REQUIRED_FIELDS if name not in (game.STATE.names or ())]
    if fields:
        raise TypeError(f"STATE of {game.__name__} lacks the fields {', '.join(fields)}")
    if not dataclasses.is_dataclass(game.Settings):
        raise TypeError(f"Settings of {game.__name__} must be a frozen dataclass")


def _required_names() -> list[str]:
    return list(inspect.get_annotations(Game))


def setting(default: Any, meaning: str) -> Any:
    """A dataclass field for a setting, with the sentence that documents it."""
    return dataclasses.field(default=default, metadata={"meaning": meaning})


def make_settings(game: Game, values: Mapping[str, Any]) -> Any:
    """Settings of a game from keyword values.

    Raises:
        UnknownSettingError: an unknown name; the nearest known one is suggested.
        SettingsError: a value that makes no sense.
    """
    known = [field.name for field in dataclasses.fields(game.Settings)]
    for name in values:
        if name not in known:
            told = f"{game.NAME} has no setting {shorten(name)!r}: {hint(name, known, 'settings')}"
            # In Python's own words too: by them tools such as TorchRL's GymEnv know to go on without the keyword.
            raise UnknownSettingError(f"{told} (unexpected keyword argument {shorten(name)!r})")
    return game.Settings(**values)


class Row(dict[str, np.ndarray]):
    """A row of STATE, shape (1,), as views of its fields: looking a field up takes longer than reading it."""

    def __init__(self, states: np.ndarray) -> None:
        super().__init__()
        assert len(states) == 1
        self._states = states

    def __missing__(self, name: str) -> np.ndarray:
        self[name] = view = self._states[name]
        return view


def entries(rows: Any, name: str, index: Any = None) -> Any:
    """A field of a row of STATE as an integer, or of rows as int64[B].

    Args:
        rows: a ``Row``, or an array of B rows.
        name: the field.
        index: of an array's entries, which: an integer, or one for each row.
    """
    if type(rows) is Row:
        return rows[name].item(index or 0)
    values = rows[name]
    return (values if index is None else values[np.arange(len(values)), index]).astype(np.int64)


def plain_integers(settings: Any) -> None:
    """Make Python's integers of numpy's in a Settings under construction: those overflow, and JSON refuses them."""
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if isinstance(value, tuple):
            value = tuple(int(part) if isinstance(part, np.integer) else part for part in value)
        object.__setattr__(settings, field.name, int(value) if isinstance(value, np.integer) else value)


def require_int(name: str, value: Any, low: int, high: int) -> None:
    """Raise SettingsError unless ``value`` is an integer from ``low`` to ``high``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise SettingsError(f"{name} is {value!r}: it must be an integer from {low} to {high}")
