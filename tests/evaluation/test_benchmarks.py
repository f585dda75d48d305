"""The benchmarks run, count honestly and report what they found; how fast things are is not tested here."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("sb3_contrib")
from PIL import Image

from auction_env import available
from auction_env.games.hands import high_key, low_key
from benchmarks import costs, layers, learners, measure, peers, speed
from benchmarks.games import MAIN_GAME, all_games, four_seats, thread_counts, training_settings
from benchmarks.measure import TINY, Absent, Contender

HANDS = layers.random_hands(8)
PEERS = {
    "OpenSpiel rollouts": functools.partial(peers.openspiel_rollouts, 20, 5),
    "OpenSpiel": functools.partial(peers.openspiel_python, False),
    "OpenSpiel, observations": functools.partial(peers.openspiel_python, True),
    "rlcard": peers.rlcard_python,
    "PettingZoo": peers.pettingzoo_aec,
    "tutorial": functools.partial(peers.tutorial_learning, 16),
    "pgx": functools.partial(peers.pgx_step, 8, False, 2),
    "pgx, sampling": functools.partial(peers.pgx_step, 8, True, 2),
    "pgx loop": functools.partial(peers.pgx_scan, 8, 2),
    "eval7 loop": functools.partial(peers.eval7_loop, 50),
    "eval7": functools.partial(peers.eval7_python, HANDS),
    "phevaluator": functools.partial(peers.phevaluator_python, HANDS),
    "phevaluator inside": functools.partial(peers.phevaluator_python, HANDS, inside=True),
    "pokerkit high": functools.partial(peers.pokerkit_python, HANDS, low=False),
    "pokerkit low": functools.partial(peers.pokerkit_python, HANDS, low=True),
}
# Peers take seconds to import and to compile, so rows are tested without them, and each of them alone.
QUICK_ROWS = [name for name in speed.ROWS if name != "startup"]


@pytest.fixture(scope="module")
def rows() -> dict[str, Any]:
    """Every row but the one that starts processes, measured as little as can be, as if no peer were installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(peers, "need", _nothing_installed)
        return {name: json.loads(json.dumps(speed.ROWS[name](TINY, all_games()))) for name in QUICK_ROWS}


def _nothing_installed(module: str, package: str) -> Any:
    raise Absent(f"{package}: skipped, not installed")


@pytest.fixture
def report(rows: dict[str, Any]) -> dict[str, Any]:
    return {
        "machine": measure.machine(),
        "others_cores_before": 0.0,
        "games": list(all_games()),
        "rows": {name: {**row, "others_cores": 0.0, "seconds": 1.0} for name, row in rows.items()},
    }


# --- measuring -------------------------------------------------------------------------------------------------------


def _scripted(name: str, log: list[str], counts: list[int]) -> Contender:
    """A contender that claims to take a second a bout, and to have counted what is scripted."""
    left = iter(counts)

    def bout(seconds: float) -> tuple[int, float]:
        log.append(name)
        return next(left), 1.0

    return Contender(name, bout)


def test_contenders_take_turns_and_the_first_bout_does_not_count():
    log: list[str] = []
    contenders = [_scripted("a", log, [999, 10, 20, 40]), _scripted("b", log, [999, 5, 5, 5])]
    rates = measure.take_turns(contenders, rounds=3, seconds=0.1)
    assert "".join(log) == "ab" + "ab" + "ba" + "ab"
    assert rates == {"a": [10, 20, 40], "b": [5, 5, 5]}
    assert measure.ratio(rates, "a", "b")["median"] == 4  # of 2, 4, 8: a ratio of neighbours, round by round


def test_a_ratio_is_the_median_of_ratios_not_the_ratio_of_medians():
    """The machine was twice as fast in some rounds, for both."""
    rates = {"a": [10.0, 20.0, 20.0], "b": [5.0, 10.0, 5.0]}
    assert measure.ratio(rates, "a", "b")["median"] == 2


def test_a_bout_counts_only_what_is_timed():
    def work() -> tuple[int, float]:
        time.sleep(0.001)
        return 3, 0.5

    assert measure.repeat_timed(work)(1.4) == (9, 1.5)
    count, taken = measure.repeat(lambda: 7)(0.001)
    assert count % 7 == 0 and count > 0 and taken >= 0.001


def test_spread_is_median_and_tenths():
    assert measure.spread(range(11)) == {"median": 5, "p10": 1, "p90": 9}


def test_parts_are_counted_without_what_is_inside_them(monkeypatch):
    class Work:
        def outer(self) -> None:
            clock.append(clock[-1] + 2)
            self.inner()
            clock.append(clock[-1] + 3)

        def inner(self) -> None:
            clock.append(clock[-1] + 10)

    clock = [0.0]
    monkeypatch.setattr(learners.time, "perf_counter", lambda: clock[-1])
    work, parts = Work(), learners.Parts()
    parts.watch(work, "outer", "outside")
    parts.watch(work, "inner", "inside")
    work.outer()
    work.inner()
    assert parts.seconds == {"outside": 5, "inside": 20}


def test_the_machine_is_told_in_words_without_names_or_folders():
    told = json.dumps(measure.machine())
    assert {"cpu", "cores", "python", "versions"} <= set(measure.machine())
    assert str(measure.ROOT) not in told
    import socket

    assert len(socket.gethostname()) < 3 or f'"{socket.gethostname()}"' not in told


def test_load_of_others_is_a_number_of_cores_or_unknown():
    load = measure.OthersLoad().start()
    time.sleep(0.15)
    found = load.stop()
    assert found is None or 0 <= found < 10_000
    assert measure.OthersLoad().start().stop() is None, "nothing can be told of no time"


# --- rows ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", QUICK_ROWS)
def test_a_row_has_figures_of_every_game(name, rows):
    row = rows[name]
    assert row["title"] and row["how"]
    if name == "growth":
        assert set(row["tables"]) == set(row["seats"]) == set(row["long_run"]) == set(available())
        return
    names = [figure["name"] for figure in row["figures"]]
    assert len(set(names)) == len(names)
    assert all(0 < figure["p10"] <= figure["median"] <= figure["p90"] for figure in row["figures"])
    games = {figure["game"] for figure in row["figures"]}
    assert games == ({MAIN_GAME} if name == "hands" else set(available()))
    assert {head["name"] for head in row["headlines"]} <= set(names)
    for target in row["targets"]:
        if target["peer"] is None:
            assert (target["met"] is True) == (
                target["found"] <= target["wanted"] if target["at_most"] else target["found"] >= target["wanted"]
            )
        else:
            assert target["met"] is None and target["found"] is None, "the peer is absent: neither met nor missed"


def test_absent_peers_are_skipped_by_name(rows):
    wanted = {
        "rollouts": ["open_spiel", "pgx"],
        "batch_step": ["pgx"],
        "one_table": ["open_spiel", "rlcard"],
        "aec": ["texas_holdem_v4"],
        "hands": ["eval7", "phevaluator", "pokerkit"],
        "learning": ["sb3-contrib"],
    }
    for name, packages in wanted.items():
        lines = "\n".join(rows[name]["skipped"])
        assert all(package in lines for package in packages), (name, lines)
        assert len(set(rows[name]["skipped"])) == len(rows[name]["skipped"])


def test_shares_of_an_iteration_add_up(rows):
    for name in available():
        assert sum(rows["vecenv"]["shares"][name].values()) == pytest.approx(1, abs=0.2)  # medians of each
        assert rows["vecenv"]["profiles"][name][0]["share"] > 0
        assert all("/home" not in line["function"] for line in rows["vecenv"]["profiles"][name])


def test_bytes_are_those_of_the_arrays(rows):
    figures = {figure["name"]: figure["median"] for figure in rows["memory"]["figures"]}
    for name in available():
        small, large = (figures[f"{name}, {TINY.many_tables:,} tables, {dtype}"] for dtype in ("int8", "float32"))
        assert figures[f"{name}, state of a table"] * TINY.many_tables < small < large < 4 * small


def test_growth_counts_decisions(rows):
    for name in available():
        points = rows["growth"]["long_run"][name]["points"]
        assert points[-1]["decisions"] >= TINY.long_run
        seats = rows["growth"]["seats"][name]
        assert [fact["seats"] for fact in seats] == list(range(2, len(seats) + 2))
        lengths = [fact["decisions_per_deal"] for fact in seats]
        assert lengths == sorted(lengths)


def test_the_same_play_on_any_number_of_threads():
    for name in all_games():
        layers._same_on_any_threads(name)
    assert thread_counts()[0] == 1


def test_settings_have_four_seats_and_follow_the_training_config():
    for name in available():
        assert four_seats(name).num_players == training_settings(name).num_players == 4
    assert training_settings(MAIN_GAME) == four_seats(MAIN_GAME)


def test_random_hands_have_seven_cards():
    hands = layers.random_hands(500)
    assert all(len(set(hand)) == 7 for hand in hands.tolist())
    assert hands.min() == 0 and hands.max() == 51
    sets = layers.card_sets(hands)
    assert [int(word).bit_count() for word in sets] == [7] * 500


def test_hands_are_ranked_as_one_by_one():
    sets = layers.card_sets(HANDS)
    for keys, key in ((layers.high_keys, high_key), (layers.low_keys, low_key)):
        out = np.zeros(len(sets), np.int64)
        keys(sets, out)
        assert out.tolist() == [int(key(cards)) for cards in sets]


# --- peers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_runs(name):
    try:
        contender = PEERS[name]()
    except Absent as absent:
        assert "skipped, not installed" in str(absent)
        pytest.skip(str(absent))
    count, taken = contender.bout(0.0)
    assert count > 0 and taken > 0 and contender.game is None


def test_a_package_that_is_absent_is_named():
    with pytest.raises(Absent, match="no-such-package: skipped, not installed"):
        peers.need("no_such_module_at_all", "no-such-package")
    found, skipped = measure.collect([lambda: Contender("a", measure.repeat(lambda: 1)), _absent, _absent])
    assert [contender.name for contender in found] == ["a"] and skipped == ["b: skipped, not installed"]


def _absent() -> Contender:
    raise Absent("b: skipped, not installed")


def test_openspiel_counts_decisions_not_moves_of_chance():
    pytest.importorskip("pyspiel")
    import random

    state = peers.openspiel_holdem().new_initial_state()
    rng = random.Random(3)
    peers._openspiel_chance(state, rng)
    assert not state.is_chance_node()
    before = len(state.full_history())
    twin = state.clone()
    decisions = peers._openspiel_decisions(twin, rng)
    players = [entry for entry in twin.full_history()[before:] if entry.player >= 0]
    assert twin.is_terminal() and decisions == len(players)


def test_evaluators_agree_on_which_hand_is_better():
    """That they do the same work: the order of random hands, high and low, is ours."""
    hands = layers.random_hands(60)
    names = ["".join(hand) for hand in peers._names(hands)]
    sets = layers.card_sets(hands)
    high, low = np.zeros(60, np.int64), np.zeros(60, np.int64)
    layers.high_keys(sets, high)
    layers.low_keys(sets, low)
    pokerkit = pytest.importorskip("pokerkit")
    theirs = [pokerkit.StandardHighHand.from_game(name) for name in names]
    lows = [pokerkit.RegularLowHand.from_game(name) for name in names]
    for one in range(60):
        for other in range(one):
            assert (theirs[one] > theirs[other]) == (high[one] > high[other])
            assert (lows[one] > lows[other]) == (low[one] < low[other])


# --- starting --------------------------------------------------------------------------------------------------------


def test_a_start_is_timed_to_its_last_line(tmp_path):
    seconds, said = costs.start_process("import sys, time; time.sleep(0.2); print('now', file=sys.stderr)")
    assert seconds > 0.2 and said == "now\n"
    with pytest.raises(Absent, match="not installed"):
        costs.start_process("import no_such_module_at_all")
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        costs.start_process("1 / 0")


@pytest.mark.slow
def test_the_row_of_starts_says_that_it_compiles():
    row = costs.startup(TINY, all_games())
    assert row["says_so"] is True
    for name in available():
        assert {f"{name}, env().reset(), {when}" for when in ("nothing compiled yet", "later")} <= {
            figure["name"] for figure in row["figures"]
        }


# --- reporting -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (41_234_567, "decisions/s", "41.2 million"),
        (412_345_678, "decisions/s", "412 million"),
        (18_345, "decisions/s", "18,300"),
        (7, "decisions/s", "7"),
        (0.314, "of an iteration's time", "31 %"),
        (496, "bytes", "496 bytes"),
        (2**20 * 45, "bytes", "45 MiB"),
        (1.66, "s", "1.7 s"),
    ],
)
def test_amounts_in_words(value, unit, words):
    assert speed.amount(value, unit) == words


def test_ratios_in_words():
    assert [measure.times(value) for value in (21_305, 23.4, 4.12, 0.071)] == ["21,300 x", "23 x", "4.1 x", "0.07 x"]


def test_a_target_is_met_missed_or_not_measured():
    row = measure.row_of("t", "decisions/s", "", [Contender("a", measure.not_run, "g")], {"a": [5.0]}, [("g", "a", ())])
    measure.add_target(row, "five", 5, "a")
    measure.add_target(row, "six", 6, "a")
    measure.add_target(row, "at most four", 4, "a", most=True)
    measure.add_target(row, "twice b", 2, "a", "b")
    assert [target["met"] for target in row["targets"]] == [True, False, False, None]
    assert [speed.verdict(target, "decisions/s") for target in row["targets"]] == [
        "met, 5",
        "NOT met, 5",
        "NOT met, 5",
        "not measured",
    ]


def test_the_report_is_text_and_a_page(report, tmp_path):
    assert "compiled rollouts" in speed.text(report) and "NOT met" in speed.text(report)
    assert "open_spiel: skipped, not installed" in speed.text(report)
    page = tmp_path / "page.md"
    page.write_text(f"before\n{speed.BEGIN}\nwhat was there\n{speed.END}\nafter\n", encoding="utf-8")
    speed.write_page(speed.tables(report), page)
    speed.write_page(speed.tables(report), page)
    written = page.read_text(encoding="utf-8")
    assert written.startswith("before\n") and written.endswith("\nafter\n") and "what was there" not in written
    assert written.count("| compiled rollouts, decisions/s |") == 1
    for line in written.splitlines():
        if line.startswith("|") and "---" not in line:
            assert line.count("|") in (4, 7), line


def test_a_page_with_peers_shows_their_ratios():
    contenders = [Contender("auction_poker, x", measure.not_run, "auction_poker"), Contender("peer", measure.not_run)]
    values = {"auction_poker, x": [30.0, 33.0], "peer": [3.0, 3.0]}
    row = measure.row_of("t", "decisions/s", "", contenders, values, [("auction_poker", "auction_poker, x", ("peer",))])
    table = speed.tables({"machine": measure.machine(), "rows": {"t": {**row, "others_cores": 0.0}}})
    assert "| t, decisions/s | Auction Poker, x | 32 (30 to 33) | peer | 3 | **10 x** (10 x to 11 x) |" in table


def test_pictures_are_drawn(report, tmp_path):
    from benchmarks.pictures import draw_all

    draw_all(report, tmp_path)
    for name in ("speed.png", "speed_growth.png", "speed_training.png"):
        with Image.open(tmp_path / name) as picture:
            assert picture.width > 600 and len(picture.convert("RGB").getcolors(1 << 24)) > 20


def test_unknown_rows_are_refused(capsys):
    with pytest.raises(SystemExit):
        speed.main(["no_such_row"])
    assert "there is no row 'no_such_row': the rows are rollouts" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        speed.main(["--tiny"])


def test_the_command_line_measures_a_row_in_its_own_process(tmp_path):
    out = tmp_path / "speed.json"
    command = [sys.executable, "-m", "benchmarks.speed", "memory", "--tiny", "--out", str(out)]
    run = subprocess.run(command, cwd=measure.ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode == 0, run.stderr
    written = json.loads(out.read_text(encoding="utf-8"))
    assert list(written["rows"]) == ["memory"] and "others_cores" in written["rows"]["memory"]
    assert "a table under 512 bytes: met" in run.stdout


@pytest.mark.skipif(not speed.RESULTS.exists(), reason="nothing measured yet: make bench")
def test_the_page_shows_the_figures_that_are_stored():
    stored = json.loads(speed.RESULTS.read_text(encoding="utf-8"))
    assert speed.tables(stored) in speed.PAGE.read_text(encoding="utf-8")
    assert set(stored["rows"]) == set(speed.ROWS)


def test_the_tables_in_the_pages_are_those_of_the_figures_kept():
    report = json.loads(speed.RESULTS.read_text(encoding="utf-8"))
    for page, table in ((speed.README, speed.short_table(report)), (speed.PAGE, speed.tables(report))):
        assert f"{speed.BEGIN}\n\n{table}\n\n{speed.END}" in page.read_text(encoding="utf-8")
    for _, _, name, peer in speed.SHORT:
        assert peer in speed.short_table(report), name


@pytest.mark.parametrize("path", sorted((measure.ROOT / "benchmarks" / "results").glob("*.json")), ids=lambda p: p.stem)
def test_shipped_results_come_from_commits_not_from_edited_files(path):
    text = path.read_text()
    assert "git_clean" in text or path.stem == "exploitability"  # which is of before results said where they come from
    assert '"git_clean": true' in text or path.stem == "exploitability"
    assert '"git_clean": false' not in text
