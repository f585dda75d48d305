"""What people see: the text of a table, its picture, and both through the PettingZoo environment."""

from __future__ import annotations

import copy
import dataclasses
import importlib.util
import io
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from strategies import POLICIES, dealt, differing_world, play, play_out, player_counts, random_policy, seats_of

from auction_env import Table, make_env
from auction_env.games.cards import CARD_NAMES
from auction_env.games.game import SeatView, TableView
from auction_env.rendering.picture import CENTRE_Y, HEIGHT, WIDTH, Box, centre_space, seat_boxes, sizes
from auction_env.rendering.text import card_text, draw, text

ROOT = Path(__file__).parents[2]
SHAPE = (HEIGHT, WIDTH, 3)


# --- text ---------------------------------------------------------------------------------------------------------

DECK = "Qs 9h 2c Qd 9d 4s  Ac 6d Kh  8s 8d 3c  7h Th Jc  2s 5d As  Kd Kc Qh"
SETTINGS = {"num_players": 3, "num_deals": 4, "starting_chips": 30}


def _act(table: Table, *names: str) -> None:
    for name in names:
        table.act(table.action_index(name))


@pytest.fixture
def table() -> Table:
    """Three seats, the last of which deals, a carried pot, known cards."""
    return dealt("auction_poker", SETTINGS, deck=DECK, dealer=2, stacks=[30, 25, 30], carried_pot=5)


def _to_betting(table: Table) -> None:
    _act(table, "bid 3", "bid 3", "bid 1", "pick Ac", "pick Kh")
    _act(table, "bid 1", "bid 2", "bid 3", "pick 8s", "pick 3c")
    _act(table, "bid 1", "bid 2", "bid 3", "pick Th", "pick 7h")
    _act(table, "bid 1", "bid 1", "bid 1", "pick 2s", "pick 5d")
    _act(table, "bid 1", "bid 1", "bid 1", "pick Qh", "pick Kc")


BIDDING = """\
Auction Poker | auction 1 of 5: bidding | pot 8
Deal 1 of 4. Reserve 20. 5 chips were carried into this pot.
row: A♣ 6♦ K♥
------------------------------------------------------------
    seat            chips  hand
    player_0 (you)     29  Q♠ Q♦  bids 3
>   player_1           24  ?? ??
>D  player_2           29  ?? ??"""

PICKING = """\
Auction Poker | auction 1 of 5: picking | pot 15
Deal 1 of 4. Reserve 20. 5 chips were carried into this pot. Picking order: player_0, player_1,
player_2.
row: 6♦ K♥
-----------------------------------------------------------------------------------------------
    seat            chips  hand   bought  paid
    player_0           26  ?? ??  A♣      3     bids 3
>   player_1 (you)     21  9♥ 9♦                bids 3
 D  player_2           28  ?? ??                bids 1"""

BETTING = """\
Auction Poker | betting | pot 36
Deal 1 of 4. Reserve 20. 5 chips were carried into this pot. The bet stands at 2.
------------------------------------------------------------------------------------------------------
    seat            chips  hand   bought          paid
    player_0           20  ?? ??  A♣ 8♦ J♣ 2♠ Q♥  3 1 1 1 1  raises (2 in); shows high card, A Q J 8 2
>   player_1 (you)     15  9♥ 9♦  K♥ 3♣ 7♥ 5♦ K♦  3 2 2 1 1  checks; shows pair of kings, 7 5 3
 D  player_2           19  ?? ??  6♦ 8♠ T♥ A♠ K♣  1 3 3 1 1  bets (1 in); shows high card, A K T 8 6"""

SHOWDOWN = """\
    player_0 (you)     57  Q♠ Q♦  A♣ 8♦ J♣ 2♠ Q♥  3 1 1 1 1  \
declares high, wins high: 37, +27; high: three of a kind, queens, A J
    player_1           15  ?? ??  K♥ 3♣ 7♥ 5♦ K♦  3 2 2 1 1  folded, -10; shows pair of kings, 7 5 3
 D  player_2           18  4♠ 2♣  6♦ 8♠ T♥ A♠ K♣  1 3 3 1 1  \
declares both, both failed, -12; high: high card, A K T 8 6; low: 8-6-4-2-A"""

SITTING_OUT = """\
Auction Poker | auction 1 of 1: bidding | pot 2
Deal 1 of 1. Reserve 5.
row: K♦ A♦
-----------------------------------------------
    seat            chips  hand
    player_0            4        sits out
>D  player_1            6  ??
>   player_2 (you)      7  A♣"""


def test_text_while_bidding_shows_own_bid_and_nothing_of_the_others(table):
    _act(table, "bid 3")
    assert text(table.view(0), 0) == BIDDING


def test_text_while_picking(table):
    _act(table, "bid 3", "bid 3", "bid 1", "pick Ac")
    assert text(table.view(1), 1) == PICKING


def test_text_while_betting(table):
    _to_betting(table)
    _act(table, "check", "bet", "raise")
    assert text(table.view(1), 1) == BETTING


def test_text_of_a_showdown_says_who_won_what_and_keeps_folded_cards_hidden(table):
    _to_betting(table)
    _act(table, "check", "bet", "raise", "fold", "call", "declare high", "declare both")
    assert table.phase == "over"
    assert text(table.view(0), 0).endswith(SHOWDOWN)
    assert "The pot of 37 has been awarded." in text(table.view(0), 0)


def test_text_of_a_small_deck_with_a_seat_that_sits_out():
    small = {"num_players": 3, "num_ranks": 3, "num_suits": 2, "hole_cards": 1, "num_auctions": 1, "max_bid": 2}
    table = dealt("auction_poker", {**small, "max_raises": 1}, deck="Ac Qc Kd Ad Kc Qd", dealer=1, stacks=[4, 7, 8])
    assert text(table.view(2), 2) == SITTING_OUT


def test_text_has_no_columns_without_content_and_no_trailing_spaces(game):
    for table in play(dealt(game, seed=2), random_policy(np.random.default_rng(2))):
        for seat in (None, *seats_of(table)):
            lines = text(table.view(seat), seat).split("\n")
            assert all(line == line.rstrip() and line for line in lines)
            assert sum("(you)" in line for line in lines) == (seat is not None)


def test_text_of_several_seats_is_aligned(game):
    n = max(player_counts(game))
    table = play_out(dealt(game, {"num_players": n}, seed=3), random_policy(np.random.default_rng(3)))
    lines = text(table.view(None), None).split("\n")
    head = next(line for line in lines if line.split()[:2] == ["seat", "chips"])
    for seat, line in zip(table.view(None).seats, lines[-n:], strict=True):
        assert line.index("player_") == head.index("seat")
        assert line[: head.index("chips") + 5].endswith(f" {seat.stack}")
        assert line[head.index("hand") :].startswith(" ".join(map(card_text, seat.cards)))


# --- the picture ----------------------------------------------------------------------------------------------------


def _view(num_seats: int, concealed: int = 5, bought: int = 2, centre: int = 3) -> TableView:
    """A view with so many cards, more of them than any deal has: every seat talks, one acts, one deals."""
    cards = iter(CARD_NAMES * 4)
    seats = [
        SeatView(
            seat=seat,
            stack=1_000_000 - seat,
            cards=[next(cards) if seat == 1 else "??" for _ in range(concealed)],
            bought=[next(cards) for _ in range(bought)],
            prices=[1 + place % 3 for place in range(bought)],
            notes=["declares both", "both failed: 1000", "-12"],
            hand="high: straight flush, ace high; low: three of a kind, queens, K J",
            dealer=seat == 0,
            to_act=seat == 1,
        )
        for seat in range(num_seats)
    ]
    return TableView("Some Game", "some phase", 1234, [next(cards) for _ in range(centre)], "row", seats, ["Line."])


def _same(picture: np.ndarray, other: np.ndarray) -> bool:
    return bool(np.array_equal(picture, other))


def _changed(picture: np.ndarray, other: np.ndarray) -> Box:
    """The smallest rectangle that holds all pixels in which two pictures differ."""
    rows, columns = np.nonzero((picture != other).any(axis=2))
    assert rows.size, "the pictures are the same"
    left, top = int(columns.min()), int(rows.min())
    return Box(left, top, int(columns.max()) + 1 - left, int(rows.max()) + 1 - top)


def _apart(box: Box, other: Box) -> bool:
    return (
        box.x + box.w <= other.x or other.x + other.w <= box.x or box.y + box.h <= other.y or other.y + other.h <= box.y
    )


def _within(box: Box, outer: Box, margin: int) -> bool:
    return (
        box.x >= outer.x - margin
        and box.y >= outer.y - margin
        and box.x + box.w <= outer.x + outer.w + margin
        and box.y + box.h <= outer.y + outer.h + margin
    )


@pytest.mark.parametrize("num_seats", range(1, 9))
def test_seats_lie_apart_and_within_the_picture_clockwise_from_the_bottom(num_seats):
    boxes = seat_boxes(num_seats)
    assert len(boxes) == num_seats
    assert all(_within(box, Box(0, 0, WIDTH, HEIGHT), 0) for box in boxes)
    assert all(_apart(box, other) for place, box in enumerate(boxes) for other in boxes[:place])
    x, y = np.array([box.middle for box in boxes]).T
    assert y[0] == y.max() and x[0] == WIDTH / 2
    angles = np.arctan2(-(x - WIDTH / 2), y - HEIGHT / 2) % (2 * np.pi)  # 0 at the bottom, growing clockwise
    assert (np.diff(angles) > 0).all()


def test_nine_seats_have_no_room():
    with pytest.raises(ValueError, match="9 seats: a picture has room for 1 to 8"):
        draw(_view(9, 1, 0))


@pytest.mark.parametrize("num_seats", range(2, 9))
@pytest.mark.parametrize(("concealed", "bought"), [(2, 5), (5, 0), (7, 7), (0, 1)])
def test_all_of_a_seat_stays_in_its_place(num_seats, concealed, bought):
    """Nothing overlaps: taking away what a seat shows changes pixels of its own place only (and its shadow's)."""
    view = _view(num_seats, concealed, bought, centre=0)
    full = draw(view)
    for place, box in enumerate(seat_boxes(num_seats)):
        other = copy.deepcopy(view)
        other.seats[place] = SeatView(place, 0, [], [], [], to_act=place == 1)
        assert _within(_changed(full, draw(other)), box, 6)


@pytest.mark.parametrize("num_seats", range(2, 9))
@pytest.mark.parametrize("centre", [1, 3, 8])
def test_the_cards_in_the_middle_keep_clear_of_the_seats(num_seats, centre):
    view = _view(num_seats, 7, 7, centre)
    bare = dataclasses.replace(view, centre=[CARD_NAMES[0]] * centre)
    row = _changed(draw(view), draw(bare))
    left, right = centre_space(num_seats)
    assert left - 6 <= row.x and row.x + row.w <= right + 6
    assert row.y >= CENTRE_Y - 50 and row.h <= sizes(num_seats).centre * 1.4 + 12
    assert all(_apart(row, box) for box in seat_boxes(num_seats))


def test_every_fact_of_a_view_can_be_seen():
    view, seat = _view(4), 2
    first = draw(view)
    for change in (
        {"title": "Other"},
        {"phase": "other"},
        {"pot": 1235},
        {"centre": ["2c"]},
        {"centre_label": "flop"},
        {"lines": ["Another."]},
    ):
        assert not _same(first, draw(dataclasses.replace(view, **change))), change
    for change in (
        {"stack": 7},
        {"cards": ["As", "Ks"]},
        {"bought": ["As", "Ah"]},
        {"prices": [9, 9]},
        {"notes": ["folded"]},
        {"hand": "nothing"},
        {"dealer": True},
        {"to_act": True},
        {"folded": True},
        {"out": True},
    ):
        other = copy.deepcopy(view)
        other.seats[seat] = dataclasses.replace(other.seats[seat], **change)
        assert not _same(first, draw(other)), change


def test_every_card_has_a_face_of_its_own():
    faces = {draw(dataclasses.replace(_view(2), centre=[card])).tobytes() for card in (*CARD_NAMES, "??")}
    assert len(faces) == 53


def test_a_picture_is_the_same_for_the_same_view_and_free_to_change():
    view = _view(3)
    first = draw(view)
    wanted = first.copy()
    first[:] = 0
    assert _same(draw(copy.deepcopy(view)), wanted)


def test_long_texts_are_shortened_not_written_over_others():
    view = _view(2)
    long = dataclasses.replace(view, phase="phase " * 60, lines=["A very long line of facts."] * 20)
    changed = _changed(draw(view)[:40], draw(long)[:40])
    who = _changed(draw(view)[:40], draw(dataclasses.replace(view, seats=_view(2, 1, 1).seats[:1]))[:40])
    assert changed.x + changed.w < who.x, "the phase must end before the name of who is to act"
    assert not _same(draw(view)[HEIGHT - 34 :, : WIDTH - 20], draw(long)[HEIGHT - 34 :, : WIDTH - 20])
    assert _same(draw(view)[:, WIDTH - 14 :][40:], draw(long)[:, WIDTH - 14 :][40:])


def test_many_long_notes_stay_in_their_place():
    view = _view(8)
    view.seats[3].notes = ["a note that goes on and on"] * 4
    bare = copy.deepcopy(view)
    bare.seats[3].notes = []
    assert _within(_changed(draw(view), draw(bare)), seat_boxes(8)[3], 6)


def test_a_picture_takes_less_than_150_ms():
    view = _view(8, 7, 7, 8)
    draw(view)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        draw(view)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.15


# --- the games' own views -----------------------------------------------------------------------------------------


def test_pictures_of_whole_deals_for_every_number_of_players(game):
    for n in player_counts(game):
        phases, pictures = set(), set()
        for table in play(dealt(game, {"num_players": n}, seed=n), random_policy(np.random.default_rng(n))):
            if table.phase in phases:
                continue
            phases.add(table.phase)
            for seat in (None, table.to_act or 0):
                picture = draw(table.view(seat))
                assert picture.shape == SHAPE and picture.dtype == np.uint8
                assert picture.std() > 20
            pictures.add(picture.tobytes())
        assert len(pictures) == len(phases) > 1


def test_what_a_seat_may_not_know_does_not_change_its_picture(game):
    """Two worlds that a seat cannot tell apart give it one picture, at every decision of a deal."""
    for seed, policy in enumerate(POLICIES):
        rng = np.random.default_rng(seed)
        for table in play(dealt(game, seed=seed), policy(rng)):
            seat = int(rng.integers(table.settings.num_players))
            world = differing_world(table, seat, rng)
            assert _same(draw(table.view(seat)), draw(world.view(seat)))


def test_revealed_pictures_show_what_a_seat_may_not_see(game):
    table = dealt(game, seed=4)
    assert not _same(draw(table.view(None)), draw(table.view(0)))


# --- through the environment -----------------------------------------------------------------------------------------


def _env(game: Any, mode: str, **arguments: Any) -> Any:
    env = make_env(game, render_mode=mode, **arguments)
    env.reset(seed=1)
    return env


def test_rgb_array_through_the_environment(game):
    for n in player_counts(game):
        env = _env(game, "rgb_array", num_players=n)
        picture = env.render()
        assert picture.shape == SHAPE and picture.dtype == np.uint8 and picture.std() > 20
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(np.flatnonzero(mask)[0]))
        assert not _same(env.render(), picture)


def test_render_shows_what_the_acting_seat_may_see_unless_asked_to_reveal(game):
    hidden, revealed = _env(game, "ansi"), _env(game, "ansi", reveal=True)
    table, seat = hidden.unwrapped.table, hidden.unwrapped.table.to_act
    assert hidden.render() == text(table.view(seat), seat)
    assert revealed.render() == text(table.view(None), None)
    assert "??" in hidden.render() and "??" not in revealed.render()


def test_ansi_returns_text_and_prints_nothing(game, capsys):
    assert isinstance(_env(game, "ansi").render(), str)
    assert capsys.readouterr().out == ""


def test_human_prints_and_returns_nothing(game, capsys):
    env = _env(game, "human")
    capsys.readouterr()
    assert env.render() is None
    printed = capsys.readouterr().out
    env.unwrapped.render_mode = "ansi"
    assert printed == env.render() + "\n"


def test_human_prints_letters_where_suit_signs_cannot_be_printed(game, monkeypatch):
    env = _env(game, "human")
    plain = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", plain)
    assert env.render() is None
    printed = plain.buffer.getvalue().decode("ascii")  # type: ignore[attr-defined]
    env.unwrapped.render_mode = "ansi"
    assert [line.split()[:2] for line in printed.splitlines()] == [
        [word.translate(str.maketrans("♣♦♥♠", "cdhs")) for word in line.split()[:2]]
        for line in env.render().splitlines()
    ]


def test_rendering_needs_no_display_and_opens_no_window():
    code = """
import sys
import auction_env
assert "PIL" not in sys.modules, "drawing is imported by those who draw"
env = auction_env.auction_poker_v0.env(render_mode="rgb_array")
env.reset(seed=0)
picture = env.render()
assert picture.dtype == "uint8" and picture.std() > 20
loaded = {"pygame", "tkinter", "matplotlib"} & set(sys.modules)
assert not loaded, loaded
"""
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")
    environment = {name: value for name, value in os.environ.items() if name not in screens}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# --- the pictures of the documentation ---------------------------------------------------------------------------


def _make_images() -> Any:
    spec = importlib.util.spec_from_file_location("make_images", ROOT / "docs" / "make_images.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_documented_pictures_are_what_their_seeds_give(tmp_path):
    """Up to the hair's breadth by which another version of Pillow may draw letters otherwise."""
    module = _make_images()
    module.main(tmp_path)
    for name in module.MOMENTS:
        made, kept = (np.asarray(Image.open(folder / name), np.float32) for folder in (tmp_path, module.HERE))
        assert made.shape == kept.shape == SHAPE
        assert np.abs(made - kept).mean() < 1.0, f"{name}: run docs/make_images.py again"
