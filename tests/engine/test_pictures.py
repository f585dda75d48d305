"""Pictures of shapes and films: one layout with the picture in pixels, and files that others can read."""

from __future__ import annotations

import copy
import io
import itertools
import json
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from strategies import dealt, differing_world, play, random_policy, seats_of

from auction_env import cli
from auction_env.engine.record import make_record, write_record
from auction_env.engine.table import Table
from auction_env.rendering import picture
from auction_env.rendering.animation import LAST, MP4_RATE, write_gif, write_mp4
from auction_env.rendering.picture import HEIGHT, WIDTH, paint, svg
from auction_env.rendering.raster import Raster
from auction_env.rendering.shapes import Shapes

CHROMIUM = shutil.which("chromium")


def moments(game: Any, seed: int = 3) -> list[Any]:
    """Views of a random deal: what seat 0 sees and what nobody may, at every decision."""
    found = []
    for table in play(dealt(game, {"num_players": 4}, seed=seed), random_policy(np.random.default_rng(seed))):
        found += [table.view(0), table.view(None)]
    return found[:: max(1, len(found) // 40)]


@pytest.fixture
def record(tmp_path) -> Path:
    table = Table("auction_poker", {"num_players": 2, "num_deals": 2, "starting_chips": 60})
    table.reset(4)
    while not table.match_over:
        while table.to_act is not None:
            table.act(table.legal()[0])
        if not table.match_over:
            table.next_deal()
    write_record(tmp_path / "deal.json", make_record(table))
    return tmp_path / "deal.json"


def said(document: str) -> list[str]:
    """All that is written in an SVG."""
    return [node.text or "" for node in ElementTree.fromstring(document).iter() if node.tag.endswith("text")]


def test_an_svg_is_whole_and_says_what_the_view_says(game):
    for view in moments(game):
        document = svg(view)
        words = said(document)
        assert view.title in words and view.phase in words
        for seat in view.seats:
            assert f"player_{seat.seat}" in words and str(seat.stack) in words
            assert all(note in words for note in seat.notes)
        assert not re.findall(r'(?:href|src)="(?!#)', document), "it needs no other file"
        names = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', document)
        ids = set(re.findall(r'\bid="([^"]+)"', document))
        assert {one or other for one, other in names} <= ids


def test_text_in_an_svg_is_text(game):
    view = moments(game)[0]
    view.seats[0].notes.append("</text><script>&")
    assert "</text><script>&" in said(svg(view)) and "<script" not in svg(view)


def test_pixels_and_shapes_are_drawn_by_one_layout(game, monkeypatch):
    """Both are asked for the same things at the same places."""
    asked: dict[type, list[Any]] = {Raster: [], Shapes: []}

    def noting(surface: type, name: str) -> Any:
        plain = getattr(surface, name)

        def noted(self, *given, **named):
            asked[surface].append((name, given, named))
            return plain(self, *given, **named)

        return noted

    for surface in asked:
        for name in ("write", "card", "suit", "chip", "plate", "pill", "disc"):
            monkeypatch.setattr(surface, name, noting(surface, name))
    for view in moments(game)[:8]:
        paint(view)
        svg(view)
    assert asked[Raster] == asked[Shapes] and len(asked[Raster]) > 100


def test_an_svg_shows_a_seat_no_more_than_it_may_know(game):
    rng = np.random.default_rng(5)
    for table in play(dealt(game, seed=5), random_policy(rng)):
        seat = int(rng.choice(list(seats_of(table))))
        assert svg(table.view(seat)) == svg(differing_world(table, seat, rng).view(seat))
    assert svg(table.view(None)) != svg(dealt(game, seed=5).view(0))


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_draws_the_svg_as_the_picture_is(game):
    """Up to letters, which are the reader's own font."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as play_write:
        browser = play_write.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        for view in moments(game)[::9]:
            page.set_content(f"<body style='margin:0'>{svg(view)}</body>")
            shown = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), np.float32)
            other = copy.deepcopy(view)
            other.seats.append(other.seats.pop(0))  # the same seats elsewhere: what difference looks like
            near, far = (np.abs(shown - paint(one)).mean() for one in (view, other))
            assert near < 6 and near < 0.75 * far
        browser.close()


def test_a_gif_holds_the_pictures(tmp_path):
    views = moments(picture_game())[:12]
    pictures = [paint(view) for view in views]
    write_gif(tmp_path / "deal.gif", iter(pictures), 0.5, WIDTH // 2)
    with Image.open(tmp_path / "deal.gif") as film:
        shown = []
        for number in range(film.n_frames):
            film.seek(number)
            shown.append((film.info["duration"], np.asarray(film.convert("RGB"), np.float32)))
    kept = [pictures[0], *(one for before, one in itertools.pairwise(pictures) if (before != one).any())]
    assert len(shown) == len(kept), "what does not change is one picture, shown for longer"
    assert sum(length for length, _ in shown) == 500 * (len(pictures) - 1 + LAST)
    for (_, one), whole in zip(shown, kept, strict=True):
        small = Image.fromarray(whole).resize((WIDTH // 2, HEIGHT // 2), Image.Resampling.LANCZOS)
        assert np.abs(one - np.asarray(small, np.float32)).mean() < 4


def picture_game() -> Any:
    from auction_env import get_game

    return get_game("auction_poker")


def test_an_mp4_holds_the_pictures(tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    pictures = [paint(view) for view in moments(picture_game())[:3]]
    write_mp4(tmp_path / "deal.mp4", iter(pictures), 0.2, 301)
    frames = ffmpeg.read_frames(str(tmp_path / "deal.mp4"))
    facts = next(frames)
    assert facts["size"] == (300, 196) and facts["fps"] == MP4_RATE and facts["codec"].startswith("h264")
    shown = [np.frombuffer(one, np.uint8).reshape(196, 300, 3) for one in frames]
    assert len(shown) == 2 * (2 + LAST)
    small = Image.fromarray(pictures[0]).resize((301, 197), Image.Resampling.LANCZOS)
    assert np.abs(shown[0].astype(float) - np.asarray(small, float)[:196, :300]).mean() < 12


def test_replay_writes_pictures(record, tmp_path, capsys):
    one = ["--gif", str(tmp_path / "a.gif"), "--width", "200", "--deal", "2", "--svg", str(tmp_path / "a.svg")]
    assert cli.main(["replay", str(record), *one, "--step", "0"]) == 0
    deals = json.loads(record.read_text(encoding="utf-8"))["deals"]
    told = capsys.readouterr().out
    assert f"{len(deals[1]['actions']) + 1} pictures" in told and "Deal 2, step 0" in told
    document = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "auction 1 of 5: bidding" in document
    assert cli.main(["replay", str(record), "--svg", str(tmp_path / "end.svg"), "--seat", "1"]) == 0
    assert "deal over" in (tmp_path / "end.svg").read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.gif", "a.svg", "deal.json", "end.svg"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--step", "1"], "--step is of --svg"),
        (["--svg", "{}/a.svg", "--step", "999"], "--step 999: deal 2 has steps 0 to"),
        (["--svg", "{}/a.svg", "--step", "-1"], "--step -1"),
        (["--gif", "{}/a.gif", "--deal", "3"], "--deal 3: the record has deals 1 to 2"),
        (["--gif", "{}/none/a.gif"], "--gif: there is no folder"),
        (["--gif", "{}/a.gif", "--mp4", "{}/a.gif"], "both name"),
        (["--gif", "{}/a.gif", "--pace", "nan"], "--pace"),
        (["--gif", "{}/a.gif", "--width", "9"], "--width 9"),
        (["--svg", "{}/a.svg", "--seat", "5"], "seat"),
    ],
)
def test_pictures_that_cannot_be_had_are_refused_in_a_line(record, tmp_path, capsys, options, why):
    before = sorted(tmp_path.iterdir())
    assert cli.main(["replay", str(record), *(one.format(tmp_path) for one in options)]) == 2
    error = capsys.readouterr().err
    assert why in error and error.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_without_the_extra_mp4_says_how_to_get_it(record, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    assert cli.main(["replay", str(record), "--mp4", str(tmp_path / "a.mp4")]) == 2
    assert "auction_env[video]" in capsys.readouterr().err


def test_gymnasiums_own_recorder_films_the_environment(tmp_path, game):
    """``gymnasium.wrappers.RecordVideo``, which needs moviepy."""
    pytest.importorskip("moviepy")
    import gymnasium
    from gymnasium.wrappers import RecordVideo

    import auction_env

    env = gymnasium.make(auction_env.gymnasium_id(game), opponents="random", render_mode="rgb_array")
    film = RecordVideo(env, str(tmp_path), episode_trigger=lambda episode: True)
    for seed in range(2):
        _, info = film.reset(seed=seed)
        over = False
        while not over:
            _, _, terminated, truncated, info = film.step(int(np.flatnonzero(info["action_mask"])[0]))
            over = terminated or truncated
    film.close()
    films = sorted(tmp_path.glob("*.mp4"))
    assert len(films) == 2 and all(path.stat().st_size > 10_000 for path in films)


def test_one_module_says_where_things_lie():
    """What draws knows of no view."""
    folder = Path(picture.__file__).parent
    for name in ("raster.py", "shapes.py", "artwork.py"):
        assert "TableView" not in (folder / name).read_text(encoding="utf-8")
