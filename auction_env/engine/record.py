"""Records of matches: plain JSON-able data, replayed to the same digest; for one seat, without what it may not know."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from auction_env.core.files import write_json
from auction_env.core.limits import naming, read_json, shorten
from auction_env.engine.kernels import kernels, seed_words
from auction_env.engine.table import DealLog, Table
from auction_env.games import get_game
from auction_env.games.cards import CardError, complete_deck, names_of
from auction_env.games.game import Game, IllegalActionError, SettingsError, SetupError, make_settings

FORMAT = "auction_env.engine.record/1"
HIDDEN = "??"


class RecordError(ValueError):
    """A record is malformed, for one seat only, or does not replay; the message says where."""


def make_record(table: Table, seat: int | None = None) -> dict[str, Any]:
    """The match so far as plain data: settings, seed, and for each deal its set-up, actions and result.

    Args:
        table: a table.
        seat: leave out what this seat may not know: the seed, generators, unseen cards, hidden actions of others.

    Returns:
        dict: ``json.dumps`` takes it as it is. A whole record carries its ``digest``.
    """
    if seat is not None:
        try:
            table._check_seat(seat)
        except ValueError as error:
            raise RecordError(str(error)) from None
    if any(not log.deck for log in table.deals):
        raise RecordError(
            "this table imagines what a seat cannot know (resample_from_infostate): it has no account to record"
        )
    record: dict[str, Any] = {
        "format": FORMAT,
        "game": table.game.NAME,
        "version": table.game.VERSION,
        "settings": _plain_settings(table.settings),
        "seed": table.seed if seat is None else None,
        "seat": seat,
        "deals": [_deal_record(table, log, seat) for log in table.deals],
    }
    if seat is None:
        record["digest"] = digest(record)
    return record


def _plain_settings(settings: Any) -> dict[str, Any]:
    values = dataclasses.asdict(settings)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _deal_record(table: Table, log: DealLog, seat: int | None) -> dict[str, Any]:
    row = (table.states if log.final is None else log.final)[0]
    deck = names_of(log.deck).split()
    if seat is not None:
        deck = [card if seen else HIDDEN for card, seen in zip(deck, table.game.visible_deck(row, seat), strict=True)]
    public_until = len(log.actions) - table.game.pending(row)
    return {
        "dealer": log.dealer,
        "dealt_in": log.dealt_in,
        "stacks": log.stacks,
        "carried_pot": log.carried_pot,
        "deck": " ".join(deck),
        "given": log.given if seat is None else None,
        "generator": f"{log.generator:016x}" if seat is None else None,
        "actions": [
            _action_record(table, actor, action, seat in (None, actor), place < public_until)
            for place, (actor, action) in enumerate(log.actions)
        ],
        "award": log.award,
        "net": log.payoffs,
        "carried_out": log.carried_out,
    }


def _action_record(table: Table, actor: int, action: int, known: bool, public: bool) -> list[Any]:
    name = table.action_names[action]
    if known or (public and table.game.public_name(table.settings, action) == name):
        return [actor, action, name]
    return [actor, None, table.game.public_name(table.settings, action) if public else "hidden"]


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record as JSON, as ``core.files.write_json`` does. Raises OSError, naming the file."""
    write_json(path, record)


def read_record(path: Path) -> dict[str, Any]:
    """A record from a file of JSON, unchecked: ``replay`` checks it. Raises RecordError, naming the file."""
    with naming(RecordError, str(path), "is not JSON"):
        record = read_json(path)
    if not isinstance(record, dict):
        raise RecordError(f"{path} holds a {type(record).__name__}, not a record")
    return record


def digest(record: Mapping[str, Any]) -> str:
    """Hex SHA-256 of what was dealt, done and won: equal for equal matches, whichever interface played them."""
    deals = [
        {
            **{name: deal[name] for name in ("dealer", "stacks", "carried_pot", "deck", "award", "net", "carried_out")},
            "actions": [action[:2] for action in deal["actions"]],
        }
        for deal in record["deals"]
    ]
    content = {"deals": deals, **{name: record[name] for name in ("game", "version", "settings")}}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


Move = Callable[[np.ndarray, int | None, np.ndarray], None]


def replay(record: Mapping[str, Any], game: Game | ModuleType | None = None, on_move: Move | None = None) -> Table:
    """Play a whole record again, checking deck, legality and result of each deal on the way.

    Args:
        record: as ``make_record`` gives it (or read from its JSON).
        game: the game module, for games that are not in this package.
        on_move: called with copies of the table's states (one row) before and after each action, and the action; when a
            deal begins, with None for the action and the same states twice.

    Returns:
        Table: in the state the record ends in; ``make_record(table)["digest"]`` equals the record's.

    Raises:
        RecordError: naming the deal and what is wrong with it.
    """
    table = _open_record(record, game)
    for number, deal in enumerate(record["deals"]):
        where = f"deal {number + 1}"
        try:
            _replay_deal(table, deal, number, on_move or _nothing)
        except RecordError as error:
            raise RecordError(f"{where}: {shorten(error, 1000)}") from None
        except (TypeError, ValueError, IndexError, LookupError, AttributeError, OverflowError) as error:
            raise RecordError(f"{where}: {shorten(_reason(error), 1000)}") from error
    found = make_record(table)["digest"]
    if record.get("digest") not in (None, found):
        raise RecordError(f"the record says digest {record['digest']!r}, but replays to {found!r}")
    return table


def _open_record(record: Mapping[str, Any], game: Game | ModuleType | None) -> Table:
    if not isinstance(record, Mapping) or record.get("format") != FORMAT:
        found = record.get("format") if isinstance(record, Mapping) else type(record).__name__
        raise RecordError(f"format is {shorten(repr(found))}: this version reads {FORMAT!r}")
    if record.get("seat") is not None:
        raise RecordError(
            f"this record is for seat {record['seat']} only: it lacks what others held and cannot be replayed"
        )
    try:
        module = get_game(game if game is not None else str(record.get("game")))
        if record.get("game") != module.NAME:
            raise ValueError(f"the record is of {record.get('game')!r}, not of {module.NAME}")
        if not isinstance(record["settings"], Mapping):
            raise ValueError(f"{record['settings']!r} is no object: give values by name")
        settings = {k: tuple(v) if isinstance(v, list) else v for k, v in record["settings"].items()}
        table = Table(module, make_settings(module, settings))
    except (KeyError, TypeError, ValueError, SettingsError) as error:
        raise RecordError(f"settings: {shorten(error, 1000)}") from error
    if record.get("version") != module.VERSION:
        raise RecordError(
            f"version is {record.get('version')!r}: these rules are {module.NAME} version {module.VERSION}"
        )
    if not isinstance(record.get("deals"), list):
        raise RecordError("deals is missing: it must be a list")
    try:
        table.seed = None if record.get("seed") is None else int(seed_words(record["seed"])[0])
    except ValueError as error:
        raise RecordError(str(error)) from None
    return table


def _reason(error: Exception) -> str:
    if isinstance(error, (IllegalActionError, CardError, SetupError)):
        return str(error)
    return f"{error.args[0]} is missing" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"


def _nothing(before: np.ndarray, action: int | None, after: np.ndarray) -> None:
    pass


def _replay_deal(table: Table, deal: Mapping[str, Any], number: int, on_move: Move) -> None:
    if not isinstance(deal, Mapping) or not isinstance(deal["actions"], list):
        raise RecordError("it must be an object whose actions are a list")
    deck, given = _replay_set_up(table, deal, number)
    states, size = table.states, len(deck)
    states["deck"][0, :size] = complete_deck(deck[:given], table.settings.num_ranks, table.settings.num_suits)[0]
    generator = int(states["rng"][0])
    kernels(table.game).deal(states, 0, given)
    if states["deck"][0, :size].tolist() != deck:
        raise RecordError("the deck is not what its generator deals")
    table._begin_deal(given, generator)
    log = table.deals[-1]
    if deal["dealt_in"] != log.dealt_in:
        raise RecordError(f"dealt_in is {deal['dealt_in']}, but the rules deal in {log.dealt_in}")
    on_move(table.states.copy(), None, table.states.copy())
    for entry in deal["actions"]:
        if not isinstance(entry, Sequence) or isinstance(entry, str) or len(entry) not in (2, 3):
            raise RecordError(f"action {entry!r} is not [seat, action] or [seat, action, name]")
        before = table.states.copy()
        _replay_action(table, *entry)
        on_move(before, log.actions[-1][1], table.states.copy())
    for name, value in (("award", log.award), ("net", log.payoffs), ("carried_out", log.carried_out)):
        if deal[name] != value:
            raise RecordError(f"{name} is {deal[name]}, but the rules give {value}")


def _replay_set_up(table: Table, deal: Mapping[str, Any], number: int) -> tuple[list[int], int]:
    """Put a deal's chips, dealer and generator in the table's row; return its deck and how many cards were given."""
    row, n = table.states[0], table.settings.num_players
    if number == 0:
        kernels(table.game).new_match(table.states, 0)
        carried = deal["carried_pot"] if deal["carried_pot"] != 0 else None  # games that carry none take no such option
        table._set_up(table.states, {"stacks": deal["stacks"], "dealer": deal["dealer"], "carried_pot": carried})
    else:
        following = table.clone()
        following.next_deal()
        row.deal_number += 1
        row.dealer = following.state.dealer
    for name, value in (("stacks", row.stacks[:n].tolist()), ("dealer", row.dealer), ("carried_pot", row.carried_pot)):
        if deal[name] != value:
            raise RecordError(f"{name} is {deal[name]}, but the deal before leaves {value}")
    deck, given = complete_deck(deal["deck"], table.settings.num_ranks, table.settings.num_suits)
    if given != len(deck):
        raise RecordError(f"deck has {given} cards, not the {len(deck)} of a whole one")
    if deal.get("generator") is not None:
        generator, given = _generator(deal["generator"]), deal["given"]
        if number > 0 and generator != row.rng:
            raise RecordError("generator is not where the deal before leaves it")
        if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= len(deck):
            raise RecordError(f"given is {given!r}: it must be an integer from 0 to {len(deck)}")
        row.rng = generator
    return deck, given


def _generator(word: Any) -> np.uint64:
    if not isinstance(word, str) or not re.fullmatch("[0-9a-f]{1,16}", word):
        raise RecordError(f"generator is {word!r}: it must be up to 16 hex digits")
    return np.uint64(int(word, 16))


def _replay_action(table: Table, actor: int, action: int, name: str | None = None) -> None:
    if actor != table.to_act:
        raise RecordError(f"seat {actor} acts, but seat {table.to_act} is to act")
    table.act(action)
    done = table.action_names[table.deals[-1].actions[-1][1]]
    if name not in (None, done):
        raise RecordError(f"action {action} is {done!r}, not {name!r}")
