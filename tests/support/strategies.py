"""Random settings and random play for any game, drawn by hypothesis or by a generator; and what a seat can see.

Nothing here knows a game: settings are guessed from the dataclass and the sentences that document it, play from masks.
"""

from __future__ import annotations

import copy
import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from auction_env.engine.kernels import kernels
from auction_env.engine.table import Table
from auction_env.games.game import SettingsError, SetupError
from auction_env.games.game import make_settings as settings_of
from auction_env.rendering.text import text

Choose = Callable[[Sequence[Any]], Any]
MOST_DEALS = 3
WIDEST = 12  # values tried above the lowest, where a setting's range is wide


# --- settings --------------------------------------------------------------------------------------------------------


def documented_range(field: dataclasses.Field[Any]) -> tuple[int, int] | None:
    """The range that a setting's sentence states first, as in "seats at the table, 2 to 7"."""
    found = re.search(r"(\d+) to (\d+)", field.metadata.get("meaning", ""))
    return (int(found[1]), int(found[2])) if found else None


def candidates(game: Any, field: dataclasses.Field[Any]) -> list[Any]:
    """Values worth trying for a setting; some may not be allowed beside the others."""
    default, limits = field.default, documented_range(field)
    if field.name == "num_deals":
        return list(range(1, MOST_DEALS + 1))
    if isinstance(default, str):
        return re.findall(r"'(\w+)'", field.metadata.get("meaning", "")) or [default]
    if isinstance(default, bool):
        return [False, True]
    if isinstance(default, tuple):
        return [default, default[::-1], tuple(1 for _ in default), tuple(2 * part for part in default), default[:-1]]
    if limits is None:
        return [default] if default is None else sorted({default, default + 1, default * 2, max(0, default - 1)})
    low, high = limits
    return sorted({*range(low, min(high, low + WIDEST) + 1), *([default] if isinstance(default, int) else [])})


def some_settings(game: Any, choose: Choose, fixed: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Keyword values that the game's Settings takes, about half of them not the default.

    Settings go one by one: a value that does not go with those before it is left out again.
    """
    values: dict[str, Any] = dict(fixed or {})
    for field in dataclasses.fields(game.Settings):
        if field.name not in values and field.name != "starting_chips" and choose((False, True)):
            values = _with(game, values, field.name, choose(candidates(game, field)))
    if "starting_chips" not in values and choose((False, True)):
        usual = settings_of(game, values).starting_chips
        values = _with(game, values, "starting_chips", choose([usual, usual + 1, 2 * usual, 3 * usual, usual // 2]))
    return values


def _with(game: Any, values: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    try:
        settings_of(game, {**values, name: value})
    except SettingsError:
        return values
    return {**values, name: value}


@st.composite
def settings_values(draw: st.DrawFn, game: Any, **fixed: Any) -> dict[str, Any]:
    """Keyword values of allowed settings."""
    return some_settings(game, lambda options: draw(st.sampled_from(options)), fixed)


def chooser(rng: np.random.Generator) -> Choose:
    """Choices by a numpy generator, for tests without hypothesis."""
    return lambda options: options[int(rng.integers(len(options)))]


def player_counts(game: Any) -> range:
    """Numbers of seats that a game allows."""
    return range(2, game.MAX_PLAYERS + 1)


def match_settings(game: Any, deals: int, **others: Any) -> dict[str, Any]:
    """Settings of a match in which every seat has chips for all its deals."""
    return {**others, "num_deals": deals, "starting_chips": deals * settings_of(game, others).starting_chips}


@cache
def small_settings(game: Any, above: int = 0) -> dict[str, Any]:
    """Two seats, and of every number the least (plus ``above``) that the settings before it allow."""
    values: dict[str, Any] = {"num_players": 2}
    for field in dataclasses.fields(game.Settings):
        limits = documented_range(field)
        if field.name in values or limits is None or not isinstance(field.default, int):
            continue
        for value in range(limits[0] + above, field.default):
            if (smaller := _with(game, values, field.name, value)) != values:
                values = smaller
                break
    return values


# --- play ------------------------------------------------------------------------------------------------------------

Policy = Callable[[Table], int]


def random_policy(rng: np.random.Generator) -> Policy:
    """Any legal action, uniformly."""
    return lambda table: int(rng.choice(np.sort(table.legal())))


def leaning_policy(rng: np.random.Generator, *words: str) -> Policy:
    """A legal action whose name is one of ``words`` when there is one, else any."""

    def choose(table: Table) -> int:
        legal = sorted(table.legal())
        liked = [action for action in legal if table.action_names[action].split()[0] in words]
        return int(rng.choice(liked or legal))

    return choose


def shy_policy(rng: np.random.Generator) -> Policy:
    """Gets out whenever it can: folds, passes, refuses."""
    return leaning_policy(rng, "fold", "pass", "refuse")


def eager_policy(rng: np.random.Generator) -> Policy:
    """Puts chips in whenever it can."""
    return leaning_policy(rng, "bet", "raise", "call")


POLICIES = (random_policy, shy_policy, eager_policy)


def play(table: Table, policy: Policy, whole_match: bool = False) -> Iterator[Table]:
    """Play on to the end of the deal (or the match), giving the table at each decision and at each deal's end."""
    while True:
        yield table
        if table.to_act is None:
            if not whole_match or table.match_over:
                return
            table.next_deal()
        else:
            table.act(policy(table))


def play_out(table: Table, policy: Policy, whole_match: bool = False) -> Table:
    """The same table at the end of the deal (or the match)."""
    for _ in play(table, policy, whole_match):
        pass
    return table


def sits_out(game: Any) -> bool:
    """Whether a deal can go on without a seat that cannot pay (A2), or all seats are dealt in or none (B10)."""
    usual = game.Settings(num_players=3).starting_chips
    try:
        dealt(game, {"num_players": 3}, 0, stacks=[usual, 0, usual])
    except SetupError:
        return False
    return True


def dealt(game: Any, values: Mapping[str, Any] | None = None, seed: int = 0, **options: Any) -> Table:
    """A table with these settings and a deal on it."""
    table = Table(game, values or {})
    table.reset(seed, options)
    return table


def seats_of(table: Table) -> range:
    """The seats of a table."""
    return range(table.settings.num_players)


def phases_played(game: Any) -> tuple[str, ...]:
    """Names of the phases in which somebody acts."""
    return game.PHASES[:-1]


# --- what can be seen ------------------------------------------------------------------------------------------------


def snapshot(table: Table) -> tuple[Any, ...]:
    """All that a table holds, for comparison: equal before and after means that nothing changed."""
    logs = [tuple(_plain(value) for value in dataclasses.astuple(log)) for log in table.deals]
    return fields_of(table.states), sorted(table.legal()), table.seed, logs


def fields_of(states: np.ndarray) -> dict[str, Any]:
    """Every field of one row, for comparison (the bytes between fields mean nothing)."""
    return {name: states[name][0].tolist() for name in states.dtype.names or ()}


def _plain(value: Any) -> Any:
    return fields_of(value) if isinstance(value, np.ndarray) else value


def seen_by(table: Table, seat: int, in_words: bool = True) -> dict[str, Any]:
    """Everything that a table gives to one seat, for comparison; views and texts, which are slow, if ``in_words``."""
    view = table.view(seat) if in_words else None
    return {
        "observation": table.observe(seat).tobytes(),
        "observation in int8": table.observe(seat, np.int8).tobytes(),
        "mask": table.mask(seat).tobytes(),
        "info": table.info(seat),
        "view": view,
        "text": text(view, seat) if view else "",
        "repr": repr(table),
        "str": str(table),
        "phase": table.phase,
        "to act": table.to_act,
        "legal": sorted(table.legal()) if table.to_act == seat else None,
        "net": table.deals[-1].payoffs,
        "match over": table.match_over,
    }


def differing_world(table: Table, seat: int, rng: np.random.Generator) -> Table:
    """The same table as far as a seat can tell; all that it may not know is drawn anew, the account of it too.

    Unlike ``resample_from_infostate`` alone, the copy has logs, decks, generators and hidden actions that could be the
    truth, so that records can be compared.
    """
    world = table.clone()
    world.states = table.resample_from_infostate(seat, rng).states
    world.seed = int(rng.integers(2**62))
    pending = table.game.pending(table.states[0])
    size = table.settings.num_ranks * table.settings.num_suits
    world.deals = copy.deepcopy(world.deals)
    for log in world.deals:
        log.generator, log.given = int(rng.integers(2**62)), int(rng.integers(size))
        present = log is world.deals[-1]
        if log.final is not None:
            log.final = world.states.copy() if present else _resampled(table, log.final, seat, rng)
        row = world.states[0] if log.final is None else log.final[0]
        log.deck = row["deck"][:size].tolist()
        open_until = len(log.actions) - (pending if present else 0)
        log.actions = [
            (actor, action if actor == seat else _unknown(table, action, place < open_until, rng))
            for place, (actor, action) in enumerate(log.actions)
        ]
    return world


def _resampled(table: Table, states: np.ndarray, seat: int, rng: np.random.Generator) -> np.ndarray:
    states = states.copy()
    kernels(table.game).resample_from_infostate(states, np.array([seat]), rng.integers(2**62, size=1, dtype=np.uint64))
    return states


def _unknown(table: Table, action: int, is_open: bool, rng: np.random.Generator) -> int:
    """An action that the other seats cannot tell from this one."""
    if not is_open:
        return int(rng.integers(len(table.action_names)))
    names = public_names(table.game, table.settings)
    return int(rng.choice([other for other, name in enumerate(names) if name == names[action]]))


@cache
def public_names(game: Any, settings: Any) -> tuple[str, ...]:
    """Each action's name as the other seats see it."""
    return tuple(game.public_name(settings, action) for action in range(len(game.action_names(settings))))
