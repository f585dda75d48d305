"""Each game's rules page, beside its module, says what the code does: every table is checked against it.

A page has the sections Settings, Actions, Observation, Sizes, Options of reset and Version history, each with one table
in the form of those of Auction Poker.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from strategies import small_settings

from auction_env import Table, describe
from auction_env.engine.kernels import decision_size, observation_size
from auction_env.engine.table import OPTIONS
from auction_env.games import auction_poker

Rows = list[dict[str, str]]


def page_of(game: Any) -> str:
    return Path(game.__file__).with_name("RULES.md").read_text(encoding="utf-8")


def tables(text: str, heading: str) -> list[Rows]:
    """The tables of a section, each a list of rows by column; code marks are taken off."""
    found = re.search(rf"^#+ {heading}\n(.*?)(?=^#|\Z)", text, re.M | re.S)
    assert found, f"no section {heading!r}"
    result: list[Rows] = []
    columns: list[str] = []
    for line in found[1].splitlines():
        if not line.startswith("|"):
            columns = []
            continue
        cells = [cell.strip().replace("`", "") for cell in line.strip("|").split("|")]
        if not columns:
            columns = cells
            result.append([])
        elif not set(line) <= set("|- "):
            result[-1].append(dict(zip(columns, cells, strict=True)))
    return result


def table(text: str, heading: str) -> Rows:
    found = tables(text, heading)
    assert len(found) == 1, f"section {heading!r} has {len(found)} tables"
    return found[0]


def some_settings(game: Any) -> list[Any]:
    """The defaults with each number of seats that the game takes."""
    found = []
    for n in range(1, game.MAX_PLAYERS + 1):
        try:
            found.append(game.Settings(num_players=n))
        except ValueError:
            continue
    return found


def random_deals(game: Any, settings: Any, deals: int) -> Any:
    """Tables in the course of random play, at every decision and at the end of each deal."""
    rng, playing = np.random.default_rng(2), Table(game, settings)
    for seed in range(deals):
        playing.reset(seed)
        yield playing
        while playing.to_act is not None:
            legal = playing.legal()
            playing.act(legal[rng.integers(len(legal))])
            yield playing


def test_the_page_stands_alone_and_has_the_title(game: Any) -> None:
    text = page_of(game)
    assert text.startswith(f"# {game.TITLE}\n")
    assert f"{game.NAME}_v{game.VERSION}" in text
    assert max(map(len, text.splitlines())) < 140


def test_settings(game: Any) -> None:
    rows, fields = table(page_of(game), "Settings"), dataclasses.fields(game.Settings)
    assert [row["setting"] for row in rows] == [field.name for field in fields]
    for row, field in zip(rows, fields, strict=True):
        assert row["default"] == str(getattr(game.Settings(), field.name)), field.name
        assert row["meaning"] == field.metadata["meaning"], field.name


def _documented_actions(game: Any) -> list[tuple[str, str]]:
    """Name and phase of each index, as the page has them."""
    names = game.action_names(game.Settings())
    found: list[tuple[str, str]] = []
    for row in table(page_of(game), "Actions"):
        first, _, last = row["index"].partition(" to ")
        begin, end = int(first), int(last or first)
        assert begin == len(found)
        assert row["name"] == (f"{names[begin]} to {names[end]}" if last else names[begin])
        word = names[begin].split()[0]
        assert all(names[index].split()[0] == word for index in range(begin, end + 1))
        found += [(names[index], row["phase"]) for index in range(begin, end + 1)]
    return found


def test_actions(game: Any) -> None:
    documented = _documented_actions(game)
    assert [name for name, _ in documented] == list(game.action_names(game.Settings()))
    seen: dict[int, set[str]] = {index: set() for index in range(len(documented))}
    for playing in random_deals(game, game.Settings(), 60):
        for action in playing.legal():
            seen[action].add(playing.phase)
    assert {index: phases for index, phases in seen.items() if phases - {documented[index][1]}} == {}
    assert {documented[index] for index, phases in seen.items() if not phases} == set(), "never legal in 60 deals"


def _number(text: str, names: dict[str, int]) -> int:
    """The value of ``num_auctions``, ``17`` or ``n - 1``."""
    first, *rest = text.split()
    value = names[first] if first in names else int(first)
    if rest:
        sign, last = rest
        value += {"+": 1, "-": -1}[sign] * int(last)
    return value


def test_observation(game: Any) -> None:
    rows = table(page_of(game), "Observation")
    for settings in some_settings(game):
        names = {name: value for name in dir(settings) if type(value := getattr(settings, name)) is int}
        names["n"] = settings.num_players
        pieces = game.observation_fields(settings)
        assert [row["piece"] for row in rows] == [piece.name for piece in pieces]
        for row, piece in zip(rows, pieces, strict=True):
            assert tuple(_number(part, names) for part in row["shape"].strip("()").split(", ")) == piece.shape, piece
            assert row["values"] == ("fraction" if piece.fraction else "0 or 1"), piece
            assert row["meaning"] == piece.meaning, piece
            assert (row["role"] == "final") == piece.final_only, piece
            assert row["role"] in ("fact", "derived", "final"), piece


# Settings so small that random play meets the same facts again and again.
SMALL = {
    "auction_poker": {
        "num_players": 2,
        "num_ranks": 3,
        "num_suits": 2,
        "hole_cards": 1,
        "num_auctions": 1,
        "max_bid": 2,
    }
}


def test_derived_pieces_follow_from_the_facts_and_final_ones_are_empty_before(game: Any) -> None:
    roles = {row["piece"]: row["role"] for row in table(page_of(game), "Observation")}
    names = {role: [name for name in roles if roles[name] == role] for role in ("fact", "derived", "final")}
    repeats = 0
    small = game.Settings(**SMALL.get(game.NAME, small_settings(game, 1)))
    for settings, deals in ((game.Settings(), 30), (small, 500)):
        known: dict[bytes, bytes] = {}
        for playing in random_deals(game, settings, deals):
            for seat in range(settings.num_players):
                pieces = playing.observe_named(seat)
                fact, derived, final = (b"".join(pieces[name].tobytes() for name in group) for group in names.values())
                assert playing.to_act is None or not any(final)
                repeats += fact + final in known
                assert known.setdefault(fact + final, derived) == derived
    assert repeats > 1_000


def test_sizes(game: Any) -> None:
    rows = table(page_of(game), "Sizes")
    assert [int(row["n"]) for row in rows] == [settings.num_players for settings in some_settings(game)]
    for row, settings in zip(rows, some_settings(game), strict=True):
        assert int(row["entries"]) == observation_size(game, settings) == Table(game, settings).observation_size
        assert int(row["actions"]) == len(game.action_names(settings))
        assert int(row["longest deal"]) == game.max_game_length(settings)
        before = next((value for name, value in row.items() if name.startswith("before")), row["entries"])
        assert int(before) == decision_size(game, settings)


def test_options(game: Any) -> None:
    names = {row["option"] for row in table(page_of(game), "Options of reset")}
    assert names == set(OPTIONS) - (set() if game.CARRIES_POT else {"carried_pot"})


def test_version_history_ends_with_the_present_version(game: Any) -> None:
    assert [int(row["version"]) for row in table(page_of(game), "Version history")] == list(range(game.VERSION + 1))


def test_numbers_of_the_summary_and_the_formula_for_sizes() -> None:
    game: Any = auction_poker
    text, settings = page_of(game), game.Settings()
    assert f"{observation_size(game, settings)} entries with three seats" in text
    assert f"{len(game.action_names(settings))} by default" in text
    assert f"{game.max_game_length(settings)} decisions at most with three seats" in text
    assert f"1 + 5 x 3 + 4 = {settings.reserve}" in text
    constant, slope, shown = map(
        int, re.findall(r"(\d+) \+ (\d+) n entries before `shown` and (\d+) \(n - 1\)", text)[0]
    )
    for other in some_settings(game):
        n = other.num_players
        assert decision_size(game, other) == constant + slope * n
        assert observation_size(game, other) == constant + slope * n + shown * (n - 1)


def test_every_ruling_is_on_the_page_once_in_order() -> None:
    found = re.findall(r"^- \*\*A(\d+) ", page_of(auction_poker), re.M)
    assert found == [str(number) for number in range(1, 16)]


# --- the worked deal ------------------------------------------------------------------------------------------------


def _worked_deal() -> tuple[Table, Rows, Rows]:
    text = page_of(auction_poker)
    auctions, endings = tables(text, "A worked deal")
    deck = re.findall(r"```text\n(.*?)\n```", text)[0]
    playing = Table("auction_poker")
    playing.reset(0, {"deck": deck, "dealer": 0})
    return playing, auctions, endings


def _play(playing: Table, *actions: str) -> list[int] | None:
    result = None
    for action in actions:
        result = playing.act(action)  # type: ignore[arg-type]
    return result


def test_the_worked_deal_goes_as_told() -> None:
    playing, auctions, _ = _worked_deal()
    assert playing.state.pot == 3
    for row in auctions:
        view = playing.view(None)
        assert " ".join(view.centre) == row["row"]
        _play(playing, *(f"bid {bid}" for bid in row["bids of 1, 2, 0"].split()))
        assert " ".join(map(str, playing.state.pick_order[:3])) == row["picking order"]
        assert playing.state.pot == int(row["pot"])
        *picks, last = row["picks"].split()
        owner = int(playing.state.pick_order[2])
        _play(playing, *(f"pick {card}" for card in picks))
        assert last in playing.view(None).seats[owner].bought
    assert playing.to_act == 1


@pytest.mark.parametrize("number", range(6))
def test_the_worked_deal_ends_as_told(number: int) -> None:
    playing, auctions, endings = _worked_deal()
    assert len(endings) == 6
    for row in auctions:
        _play(playing, *(f"bid {bid}" for bid in row["bids of 1, 2, 0"].split()))
        _play(playing, *(f"pick {card}" for card in row["picks"].split()[:2]))
    _play(playing, "check", "bet", "call", "raise", "call", "call")
    ending = endings[number]
    text = page_of(auction_poker)
    paid = re.search(r"`player_0` has paid (\d+), `player_1` (\d+), `player_2` (\d+)", text)
    assert paid and playing.state.paid[:3].tolist() == [int(chips) for chips in paid.groups()]
    assert f"The pot is {playing.state.pot};" in text
    for seat, view in enumerate(playing.view(None).seats):
        high, _, low = describe(view.cards + view.bought).removeprefix("high: ").partition("; low: ")
        assert f"`player_{seat}` makes {high}; for low {low}\n" in text
    result = _play(playing, *(f"declare {ending[f'player_{seat}']}" for seat in (1, 2, 0)))
    assert result == [int(chips) for chips in ending["result"].split()]
    assert playing.deals[0].award == [int(chips) for chips in ending["award"].split()]
