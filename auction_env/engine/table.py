"""One table of a game: set up a deal, ask what is legal, act, observe, copy, and keep an account of it all."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from auction_env.core.limits import shorten
from auction_env.core.names import hint, nearest
from auction_env.engine.features import FeatureRows
from auction_env.engine.kernels import Compiled, kernels, observation_size, seed_words
from auction_env.games import get_game
from auction_env.games.cards import CardError, complete_deck
from auction_env.games.game import Game, IllegalActionError, Row, SettingsError, SetupError, TableView, make_settings
from auction_env.rendering.text import text

_FLOAT32, _INT8 = np.dtype(np.float32), np.dtype(np.int8)  # numpy looks a type up each time that it is given one
OPTIONS = ("deck", "dealer", "stacks", "carried_pot")


@dataclasses.dataclass
class DealLog:
    """What happened in one deal: how it was set up, the actions, and the result once it is over.

    ``generator`` is the table's generator as the deal began; with it and the ``given`` first cards of ``deck`` the same
    deal can be dealt again, whatever chance it still holds.
    """

    dealer: int
    stacks: list[int]
    carried_pot: int
    deck: list[int]
    given: int
    generator: int
    dealt_in: list[int]
    actions: list[tuple[int, int]] = dataclasses.field(default_factory=list)  # (seat, action)
    award: list[int] | None = None
    payoffs: list[int] | None = None
    carried_out: int = 0
    final: np.ndarray | None = None  # the row as the deal ended

    def copy(self) -> DealLog:
        """A copy to which actions can be added."""
        return DealLog(**{**self.__dict__, "actions": self.actions.copy()})


def settings_of(game: Game, settings: Mapping[str, Any] | Any) -> Any:
    """The Settings of a game, from keyword values or checked. Raises SettingsError."""
    if settings is None or isinstance(settings, Mapping):
        settings = make_settings(game, settings or {})
    if not isinstance(settings, game.Settings):
        raise SettingsError(f"settings is {settings!r}: give keyword values or the Settings of {game.NAME}")
    return settings


def no_info(game: Game, settings: Any) -> dict[str, Any]:
    """What ``Table.info`` says of a seat that is not to act."""
    return dict(_no_info(game, settings))


@cache
def _no_info(game: Any, settings: Any) -> dict[str, int]:
    return {name: -1 if name == "phase" else 0 for name in game.info(Row(game.new_state(settings)), 0)}


@cache
def _names(game: Any, settings: Any) -> tuple[str, ...]:
    return game.action_names(settings)


def check_options(options: Any) -> None:
    """Raise SetupError unless ``options`` is None or a mapping whose keys are all options of ``Table.reset``."""
    if options is None:
        return
    if not isinstance(options, Mapping):
        raise SetupError(f"options is {shorten(repr(options))}: give a mapping with any of {', '.join(OPTIONS)}")
    for name in options:
        if name not in OPTIONS:
            raise SetupError(f"there is no option {shorten(repr(name))}: {hint(name, OPTIONS, 'options')}")


def near_options(options: Any) -> Any:
    """Options of ``Table.reset`` without those whose names are unlike all of its own; a mistyped one stays."""
    if not isinstance(options, Mapping):
        return options
    return {name: value for name, value in options.items() if nearest(name, OPTIONS)}


class Table(Compiled):
    """A table of ``game`` with ``settings`` (keyword values, or the game's Settings).

    Nothing is dealt before ``reset``. The truth is in ``state``, one row of the game's STATE; the rest is derived.

    Raises:
        ValueError: there is no such game.
        SettingsError: a setting is unknown or makes no sense.
    """

    def __init__(self, game: str | Game | ModuleType, settings: Mapping[str, Any] | Any = None) -> None:
        self.game = get_game(game)
        self.settings = settings = settings_of(self.game, settings)
        self.states = self.game.new_state(settings)
        self.seed: int | None = None
        self.deals: list[DealLog] = []
        self._scratch = np.zeros(self.game.MAX_LEGAL, np.int16)
        self._kernels = kernels(self.game)
        self.action_names = _names(self.game, settings)
        self.observation_size = observation_size(self.game, settings)
        self._mask = np.zeros(len(self.action_names), np.int8)

    @property
    def states(self) -> np.ndarray:
        """The row in an array of its own, shape (1,), dtype STATE: what compiled functions take."""
        return self._states

    @states.setter
    def states(self, states: np.ndarray) -> None:
        self._states = states
        self._row: Row | None = None
        self._acting = states["to_act"]  # looking a field up takes longer than reading it

    # --- copying: kernels and modules are shared, the rest is data ---

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_acting": None, "_row": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.states = self._states

    def clone(self) -> Table:
        """An independent copy in the same state, its generator included."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.states = _copied(self.states)
        twin._scratch = self._scratch.copy()
        # The accounts of deals that are over never change again: both may hold them.
        twin.deals = [*self.deals[:-1], *(log.copy() for log in self.deals[-1:])]
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Table:
        return self.clone()

    def __repr__(self) -> str:
        """Settings only: whatever else a table holds, somebody may not know."""
        return f"Table({self.game.NAME!r}, {self.settings})"

    # --- dealing ---

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a match and deal.

        Args:
            seed: starts the table's generator; None goes on with it (fresh entropy the first time).
            options: each optional.
                ``deck``: the whole deck or its first cards in deal order, as text, names or indices;
                ``dealer``: seat; ``stacks``: chips of each seat; ``carried_pot``: chips already in the pot.

        Raises:
            ValueError: the seed is not an integer from 0 to 2**63 - 1.
            SetupError: an option is unknown or inconsistent; the table is as it was before.
        """
        check_options(options)
        trial, new_seed = _copied(self.states), self.seed
        if seed is not None or self.seed is None:
            words = seed_words(seed)
            new_seed = int(words[0])
            self._kernels.seed(trial, words)
        self._kernels.new_match(trial, 0)
        given = self._set_up(trial, options) if options else 0
        generator = int(trial["rng"][0])
        self._kernels.deal(trial, 0, given)
        self.seed = new_seed
        self.states = trial
        self.deals = []
        self._begin_deal(given, generator)

    def _set_up(self, trial: np.ndarray, options: Mapping[str, Any]) -> int:
        """Apply the options of ``reset`` to a row; return how many cards of its deck are given."""
        row = trial[0]
        seats = self.settings.num_players
        if options.get("stacks") is not None:
            stacks = options["stacks"]
            if isinstance(stacks, np.ndarray):
                stacks = stacks.tolist()
            if not isinstance(stacks, Sequence) or len(stacks) != seats:
                raise SetupError(f"stacks is {stacks!r}: give {seats} numbers of chips, one for each seat")
            for seat, chips in enumerate(stacks):
                row.stacks[seat] = _option_int(f"stacks[{seat}]", chips, 0, 1_000_000)
        if options.get("carried_pot") is not None:
            if not self.game.CARRIES_POT:
                raise SetupError(f"carried_pot: no pot is ever carried in {self.game.TITLE}, leave the option out")
            row.carried_pot = _option_int("carried_pot", options["carried_pot"], 0, 1_000_000)
        if options.get("dealer") is not None:
            row.dealer = _option_int("dealer", options["dealer"], 0, seats - 1)
        row.total_chips = row.stacks[:seats].sum() + row.carried_pot
        self._check_eligible(row, options)
        given = 0
        if options.get("deck") is not None:
            try:
                deck, given = complete_deck(options["deck"], self.settings.num_ranks, self.settings.num_suits)
            except (CardError, TypeError) as error:
                raise SetupError(f"deck: {error}") from error
            row.deck[: len(deck)] = deck
        return given

    def _check_eligible(self, row: Any, options: Mapping[str, Any]) -> None:
        reasons = [self.game.eligibility(row, seat) for seat in range(self.settings.num_players)]
        if sum(not reason for reason in reasons) < 2:
            raise SetupError(f"stacks: fewer than two seats can be dealt in ({next(filter(None, reasons))})")
        if reasons[row.dealer]:
            if options.get("dealer") is not None:
                raise SetupError(f"dealer is {row.dealer}, who is not dealt in: {reasons[row.dealer]}")
            while reasons[row.dealer]:
                row.dealer = (row.dealer + 1) % self.settings.num_players

    def _begin_deal(self, given: int, generator: int) -> None:
        states, n = self.states, self.settings.num_players
        stacks = (states["stacks"][0, :n] + states["paid"][0, :n]).tolist()
        self.deals.append(
            DealLog(
                dealer=int(states["dealer"][0]),
                stacks=stacks,
                carried_pot=int(states["total_chips"][0]) - sum(stacks),
                deck=states["deck"][0, : self.settings.num_ranks * self.settings.num_suits].tolist(),
                given=given,
                generator=generator,
                dealt_in=np.flatnonzero(states["dealt_in"][0, :n]).tolist(),
            )
        )
        self.refresh()

    def next_deal(self) -> None:
        """Deal the next deal of the match. Raises SetupError while a deal is on or when the match is over."""
        row = self.states[0]
        if row.to_act >= 0 or row.match_over:
            raise SetupError(
                "there is no next deal: " + ("a deal is being played" if row.to_act >= 0 else "the match is over")
            )
        generator = int(row.rng)
        self._kernels.next_deal(self.states, 0)
        self._begin_deal(0, generator)

    # --- asking ---

    @property
    def state(self) -> Any:
        """The row itself: a numpy record of the game's STATE. Writing to it changes the table."""
        return self.states[0]

    @property
    def to_act(self) -> int | None:
        """The seat to act, or None when the deal is over (or none has begun)."""
        seat = self._acting.item()
        return None if seat < 0 else seat

    @property
    def phase(self) -> str:
        """Name of the phase."""
        return self.game.PHASES[self.states["phase"][0]]

    @property
    def match_over(self) -> bool:
        """Whether no further deal can be played."""
        return bool(self.states["match_over"][0])

    def legal(self) -> list[int]:
        """Legal actions of the seat to act, ascending; empty when the deal is over."""
        return self._mask.nonzero()[0].tolist()

    def mask(self, seat: int) -> np.ndarray:
        """int8[number of actions], 1 where legal; all zeros for a seat that is not to act. A fresh array."""
        if self._check_seat(seat) == self._acting.item():
            return self._mask.copy()
        return np.zeros(len(self.action_names), _INT8)

    def observe(self, seat: int, dtype: Any = np.float32) -> np.ndarray:
        """What a seat has seen and done: float32[observation_size] in [0, 1]. A fresh array.

        With ``dtype`` int8, fractions are in units of 1/127, rounded down.

        Raises:
            ValueError: there is no such seat, or no such form of observations.
            SetupError: nothing has been dealt yet.
        """
        seat = self._check_seat(seat)
        self._check_dealt()
        form, full = _FLOAT32, 1.0
        if dtype is not np.float32:
            form = np.dtype(dtype)
            if form not in (_FLOAT32, _INT8):
                raise ValueError(f"dtype is {dtype!r}: observations are float32 or int8")
            full = 127.0 if form == _INT8 else 1.0
        out = np.zeros(self.observation_size, form)
        self._kernels.observe(self._states, 0, seat, out, full)
        return out

    def observe_named(self, seat: int) -> dict[str, np.ndarray]:
        """The observation of a seat as named arrays, views of one flat array."""
        flat, views, at = self.observe(seat), {}, 0
        for field in self.game.observation_fields(self.settings):
            views[field.name] = flat[at : at + field.size].reshape(field.shape)
            at += field.size
        return views

    def observe_features(self, seat: int) -> np.ndarray:
        """What the cards of the seat to act are and may become: a row of ``engine.features``, float32[size].

        It is what networks of the kind "cards" read, and depends on nothing but what the seat has seen. For a seat that
        is not to act it is the row of nobody: zeros, and -1 for the action of each option. A fresh array.

        Raises:
            ValueError: there is no such seat, or the game defines no features.
            SetupError: nothing has been dealt yet.
        """
        seat, rows = self._check_seat(seat), FeatureRows(self.game, self.settings)
        self._check_dealt()
        return rows.of(self.states) if seat == self._acting.item() else rows.nobody()

    def observe_all(self) -> np.ndarray:
        """All that any seat has seen and done, for those who may look at everything: float32[seats, observation_size].

        Row k is what seat k observes, pending secret choices of its own included. What nobody has seen, such as cards
        still in the deck, is not in it; ``state`` has that too.
        """
        return np.stack([self.observe(seat) for seat in range(self.settings.num_players)])

    def choosers(self) -> dict[int, np.ndarray]:
        """Who chooses now: masks int8[number of actions] by seat.

        One seat, that to act; in a hidden phase all seats whose choices stay secret until the last, whoever of them has
        been asked yet. Empty when the deal is over.
        """
        if self.to_act is None:
            return {}
        if self.states["phase"][0] not in self.game.HIDDEN_PHASES:
            return {self.to_act: self.mask(self.to_act)}
        ahead, masks = self.clone(), {}
        phase = ahead.phase
        while ahead.to_act is not None and ahead.phase == phase and ahead.to_act not in masks:
            masks[ahead.to_act] = ahead.mask(ahead.to_act)
            ahead.act(ahead.legal()[0])
        return masks

    def asking(self, seat: int) -> Table:
        """A copy at which one of the ``choosers`` is to act: those asked before it have chosen something legal.

        What they chose means nothing, and the seat cannot see it. Raises ValueError if the seat does not choose now.
        """
        if seat not in self.choosers():
            raise ValueError(f"player_{seat} does not choose now")
        ahead = self.clone()
        while ahead.to_act != seat:
            ahead.act(ahead.legal()[0])
        return ahead

    def info(self, seat: int) -> dict[str, Any]:
        """Public facts for a seat, all numbers: ``phase`` is an index of the game's PHASES, the rest is the game's.

        Of a seat that is not to act they say nothing: -1 for the phase and 0 for the rest.
        """
        seat = self._check_seat(seat)
        return self.facts(seat) if seat == self._acting.item() else no_info(self.game, self.settings)

    def facts(self, seat: int) -> dict[str, Any]:
        """What ``info`` says of the seat to act, of any seat: in a hidden phase several choose at once."""
        if self._row is None:
            self._row = Row(self.states)
        return self.game.info(self._row, seat)

    def view(self, seat: int | None) -> TableView:
        """The table as a seat sees it, or with None as nobody may: everything. Errors as ``observe``."""
        self._check_dealt()
        if seat is not None:
            seat = self._check_seat(seat)
        return self.game.view(self.states[0], seat)

    def _check_seat(self, seat: Any) -> int:
        seats = self.settings.num_players
        if type(seat) is int and 0 <= seat < seats:
            return seat
        if isinstance(seat, bool) or not isinstance(seat, (int, np.integer)) or not 0 <= seat < seats:
            raise ValueError(f"there is no seat {seat!r}: seats are 0 to {seats - 1}")
        return int(seat)

    def _check_dealt(self) -> None:
        if not self.deals:
            raise SetupError("nothing has been dealt yet: call reset first")

    def action_name(self, action: int) -> str:
        """Name of an action index, such as ``"bid 2"`` or ``"pick As"``. Raises IndexError when there is none."""
        if not 0 <= action < len(self.action_names):
            raise IndexError(f"there is no action {action}: actions are 0 to {len(self.action_names) - 1}")
        return self.action_names[action]

    def describe(self, seat: int | None) -> str:
        """The table as text, as a seat may see it; with None, everything. Errors as ``observe``."""
        return text(self.view(seat), seat)

    # --- acting ---

    def act(self, action: int) -> list[int] | None:
        """Apply an action of the seat to act. When it ends the deal, return each seat's result in chips (A14).

        Raises:
            IllegalActionError: not a legal action now; the table and its generator are unchanged.
        """
        seat = self._acting.item()
        index = action.item() if type(action) is np.int64 else action  # what a space draws
        if type(index) is not int or not 0 <= index < len(self.action_names):
            index = self.action_index(action)
        mask = np.zeros(len(self.action_names), _INT8)  # zeros_like takes ten times as long
        count = self._kernels.act(self._states, 0, index, self._scratch, mask)
        if count < 0:
            raise IllegalActionError(self._why_illegal(index))
        self.deals[-1].actions.append((seat, index))
        self._mask = mask
        return None if count else self._end_deal()

    def action_index(self, action: Any) -> int:
        """The index of an action given as an index (int or numpy integer) or as its name.

        Raises:
            IllegalActionError: there is no such action.
        """
        if isinstance(action, str):
            if action not in self.action_names:
                raise IllegalActionError(f"there is no action {action!r}; legal now: {self._legal_names()}")
            return self.action_names.index(action)
        if isinstance(action, np.ndarray) and action.ndim == 0:
            action = action[()]
        if isinstance(action, (bool, np.bool_)) or not isinstance(action, (int, np.integer)):
            raise IllegalActionError(
                f"action is {action!r}: give an integer from 0 to {len(self.action_names) - 1}; "
                f"legal now: {self._legal_names()}"
            )
        index = int(action)
        if not 0 <= index < len(self.action_names):
            raise IllegalActionError(self._why_illegal(index))
        return index

    def _why_illegal(self, index: int) -> str:
        if self.to_act is None:
            return "the deal is over: nobody is to act"
        known = 0 <= index < len(self.action_names)
        what = f"{self.action_names[index]!r} ({index})" if known else f"{index}, which is no action,"
        return (
            f"{what} is not legal for player_{self.to_act} in the {self.phase} phase; legal now: {self._legal_names()}"
        )

    def _legal_names(self) -> str:
        return ", ".join(f"{self.action_names[action]!r} ({action})" for action in self.legal()) or "nothing"

    def refresh(self) -> None:
        """Find out anew what is legal: after ``states`` was written from outside."""
        count = self._kernels.legal(self.states, 0, self._scratch)
        self._mask = np.zeros(len(self.action_names), np.int8)
        self._mask[self._scratch[:count]] = 1

    def _end_deal(self) -> list[int]:
        states, n, log = self.states, self.settings.num_players, self.deals[-1]
        award = states["award"][0, :n]
        log.award = award.tolist()
        log.payoffs = (award - states["paid"][0, :n]).tolist()
        log.carried_out = int(states["carried_pot"][0])
        log.final = _copied(self.states)
        return log.payoffs

    # --- imagining ---

    def resample_from_infostate(self, seat: int, seed: int | np.random.Generator) -> Table:
        """A copy in which all that a seat cannot know is drawn anew, uniformly among what it cannot tell apart.

        Unseen cards are dealt again, pending hidden choices of the others are drawn uniformly from the legal ones, and
        the copy's generator starts from ``seed`` (an integer, or a generator that gives one). The account of the deal
        is not carried over: it would betray the true cards and choices. So there is no record of such a table.

        Raises:
            ValueError: there is no such seat, or the seed is not one that ``reset`` takes.
            SetupError: nothing has been dealt yet.
        """
        seat = self._check_seat(seat)
        self._check_dealt()
        if isinstance(seed, np.random.Generator):
            seed = int(seed.integers(0, 2**63))
        twin = self.clone()
        log = dataclasses.replace(self.deals[-1], deck=[], given=0, generator=0, actions=[], final=None)
        twin.seed, twin.deals = None, [log]
        twin._kernels.resample_from_infostate(twin.states, np.array([seat]), seed_words(seed))
        return twin


def _copied(states: np.ndarray) -> np.ndarray:
    """A copy, byte by byte: numpy's own goes field by field, which takes several times as long."""
    return states.view(np.uint8).copy().view(states.dtype)


def _option_int(name: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise SetupError(f"{name} is {value!r}: it must be an integer from {low} to {high}")
    return int(value)
