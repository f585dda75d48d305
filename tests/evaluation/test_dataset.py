"""Games as a columnar file: what was played, replayed to equal digests; damage named; the same with any workers."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed")

import pyarrow as pa
import pyarrow.parquet as pq

from auction_env import agents
from auction_env.cli import main
from auction_env.core import extras
from auction_env.core.extras import MissingExtraError
from auction_env.engine.kernels import decision_size
from auction_env.evaluation import dataset
from auction_env.evaluation.dataset import DatasetError, generate, read_metadata, read_parts, verify
from auction_env.evaluation.match import Decisions, Schedule, number_groups
from auction_env.evaluation.runner import MatchConfig
from auction_env.games import get_game

OTHER = {"num_players": 3, "num_deals": 3, "starting_chips": 40}


def make(name: str, game: Any, settings: Any, seed: int) -> Any:
    """Agents by name; some odd names are players at random."""
    player = agents.make(name if name == "rules" else "random", game, settings, seed)
    player.name = name
    return player


def written(path: Path, game: Any, names: tuple[str, ...] = ("rules", "random", "rules"), **values: Any) -> Path:
    deals = values.pop("deals", 9)
    generate(path, game, game.Settings(**{"num_players": len(names), **values}), names, deals, make, seed=5)
    return path


def poker() -> tuple[Any, Any]:
    game = get_game("auction_poker")
    return game, game.Settings(num_players=2)


class Seen:
    """A callback that keeps all decisions of a part, and each deal's end."""

    def __init__(self) -> None:
        self.decisions: list[Decisions] = []

    def decided(self, decisions: Decisions) -> None:
        self.decisions.append(Decisions(*(np.array(array) for array in decisions)))

    def ended(self, finals: np.ndarray, groups: np.ndarray, decks: np.ndarray) -> None:
        pass


def test_rows_are_what_agents_saw_did_and_won(game: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "x.parquet", game, **OTHER)
    (part,) = read_parts(path)
    settings, groups = game.Settings(**OTHER), number_groups(("rules", "random", "rules"))
    schedule, seen = Schedule(game, settings, groups, 9, 5, 1, dataset.PART_TABLES), Seen()
    players = MatchConfig(game, settings, ("rules", "random", "rules"), 9, make, 5).players()
    net = schedule.play(0, players, seen)
    told = Decisions(*(np.concatenate(arrays) for arrays in zip(*seen.decisions, strict=True)))
    order = np.argsort(told.tables, kind="stable")
    assert len(part["action"]) == len(order)
    assert part["observation"].shape == (len(order), decision_size(game, settings))
    for name, wanted in (
        ("table", told.tables),
        ("seat", told.seats),
        ("agent", told.groups),
        ("observation", told.observations),
        ("action_mask", told.masks),
        ("action", told.actions),
    ):
        np.testing.assert_array_equal(part[name], wanted[order], err_msg=name)
    ends = part["deal_over"]
    won = np.zeros((9, 3), np.int64)
    np.add.at(won, part["table"][ends], part["payoffs"][ends])
    np.testing.assert_array_equal(np.take_along_axis(won, schedule.seats(0)[:, 0].astype(int), 1), net[:, 0])
    assert (part["seed"] == schedule.words(0)[part["table"]]).all()
    assert (part["deal"][1:][~ends[:-1]] == part["deal"][:-1][~ends[:-1]]).all()


def test_it_replays_to_the_digest_that_it_states(game: Any, tmp_path: Path) -> None:
    first, again = written(tmp_path / "1.parquet", game, **OTHER), written(tmp_path / "2.parquet", game, **OTHER)
    assert verify(first) == read_metadata(first)["digest"] == read_metadata(again)["digest"]
    assert read_metadata(first)["rows"] == pq.read_metadata(first).num_rows
    other = tmp_path / "3.parquet"
    generate(other, game, game.Settings(**OTHER), ("rules", "random", "rules"), 9, make, seed=6)
    assert verify(other) != verify(first)


def test_many_parts_of_any_number_of_processes_are_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset, "PART_TABLES", 2)
    files = [tmp_path / f"{workers}.parquet" for workers in (1, 2)]
    for workers, path in enumerate(files, 1):
        generate(path, *poker(), ("random", "random"), 23, agents.make, 1, workers=workers)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert pq.read_metadata(files[0]).num_row_groups == 12
    verify(files[0])


@pytest.mark.parametrize("column", ["table", "seed", "deal", "step", "seat", "agent", "observation", "action_mask"])
def test_a_changed_cell_is_named(tmp_path: Path, column: str) -> None:
    path, changed = written(tmp_path / "x.parquet", poker()[0]), tmp_path / "changed.parquet"
    rewrite(path, changed, column, row=7)
    with pytest.raises(DatasetError, match=rf"changed.parquet.*row \d+: {column}"):
        verify(changed)


@pytest.mark.parametrize("column", ["action", "payoffs", "deal_over"])
def test_a_changed_action_or_result_is_found(game: Any, tmp_path: Path, column: str) -> None:
    path, changed = written(tmp_path / "x.parquet", game), tmp_path / "changed.parquet"
    rewrite(path, changed, column, row=7)
    with pytest.raises(DatasetError, match="is not what the engine plays"):
        verify(changed)


def rewrite(path: Path, target: Path, column: str = "", row: int = 0, **metadata: Any) -> None:
    """A copy of a file with one cell, or some of its metadata, changed."""
    about, schema = read_metadata(path), pq.read_schema(path).remove_metadata()
    table = pq.read_table(path).replace_schema_metadata(None)
    if column:
        place = schema.names.index(column)
        cells = table.column(place).to_pylist()
        cell = cells[row]
        first = cell[0] if isinstance(cell, list) else cell
        other = {"rules": "random", "random": "rules"}.get(first) if isinstance(first, str) else first + 1
        other = (not first) if isinstance(first, bool) else other
        cells[row] = [other, *cell[1:]] if isinstance(cell, list) else other
        values = pa.array(cells, schema.field(place).type if column != "agent" else pa.string())
        values = values.dictionary_encode().cast(schema.field(place).type) if column == "agent" else values
        table = table.set_column(place, schema.field(place), values)
    with pq.ParquetWriter(target, schema) as file:
        file.write_table(table.cast(schema))
        file.add_key_value_metadata({dataset.METADATA_KEY: json.dumps({**about, **metadata}).encode()})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"digest": "0" * 64}, "states digest"),
        ({"rows": 3}, "but states 3"),
        ({"contents": ["x"]}, "states digest"),
        ({"deals": 10}, "."),
        ({"seed": -1}, "seed"),
        ({"seed": 6}, "row group 0 is not what the engine plays"),
        ({"deals": 10**9}, "row groups"),
        ({"settings": {"num_players": 99}}, "num_players"),
        ({"agents": ["rules", 3, "rules"]}, "agents"),
        ({"agents": ["rules"]}, "1 agents for 3 seats"),
        ({"game": "chess"}, "chess"),
        ({"version": 7}, "version"),
        ({"format": "x"}, "format"),
        ({"part_tables": 0}, "part_tables"),
    ],
)
def test_changed_metadata_is_refused(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    path, changed = written(tmp_path / "x.parquet", poker()[0]), tmp_path / "changed.parquet"
    rewrite(path, changed, **changes)
    with pytest.raises(DatasetError, match=said) as caught:
        verify(changed)
    assert "changed.parquet" in str(caught.value)


def test_what_is_no_file_of_games_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = written(tmp_path / "x.parquet", poker()[0])
    cut, plain, folder = tmp_path / "cut.parquet", tmp_path / "plain.parquet", tmp_path / "folder"
    cut.write_bytes(good.read_bytes()[:-100])
    pq.write_table(pa.table({"action": [1]}), plain)
    folder.mkdir()
    for path, said in ((cut, "cut"), (plain, "auction-env generate"), (folder, "folder"), (tmp_path / "no", "no")):
        with pytest.raises(DatasetError, match=said):
            verify(path)
        assert main(["generate", "--verify", str(path)]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_flipped_bytes_never_pass_as_other_games(tmp_path: Path) -> None:
    """Whatever byte is changed: the file is refused, or every cell is still what it was."""
    good, bad = written(tmp_path / "x.parquet", poker()[0], deals=2), tmp_path / "bad.parquet"
    content, digest, rng = good.read_bytes(), verify(good), np.random.default_rng(3)
    refused = 0
    for place in rng.integers(0, len(content), 150):
        bad.write_bytes(content[:place] + bytes([content[place] ^ (1 << rng.integers(8))]) + content[place + 1 :])
        try:
            assert verify(bad) == digest
        except DatasetError:
            refused += 1
    assert refused > 100


def test_odd_names_and_settings(tmp_path: Path) -> None:
    game = poker()[0]
    names = ("ä 名 \n", "", "x" * 300, "ä 名 \n")
    path = written(tmp_path / "a b\n.parquet", game, names, num_auctions=2, num_ranks=7, max_bid=9)
    verify(path)
    assert read_metadata(path)["agents"] == list(names)
    assert set(pq.read_table(path).column("agent").to_pylist()) == set(names)


def test_interrupted_nothing_is_left(tmp_path: Path) -> None:
    game, settings = poker()

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(tmp_path / "x.parquet", game, settings, ("random", "random"), 5, agents.make, progress=stop)
    assert not list(tmp_path.iterdir())


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "x.parquet")
    assert main(["generate", "random", "random", "--output", path, "--deals", "3", "--workers", "1"]) == 0
    assert "3 deals" in capsys.readouterr().out
    assert main(["generate", "--verify", path]) == 0
    assert "every cell is what the engine plays" in capsys.readouterr().out
    for line, said in (
        (["--output", path], "name the agents"),
        (["random", "--verify", path], "leave random out"),
        (["random", "nobody", "--output", path], "nobody"),
        (["random", "random", "--output", str(tmp_path)], "is a folder"),
    ):
        assert main(["generate", *line]) == 2
        assert said in capsys.readouterr().err


def test_without_pyarrow_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(extras.EXTRAS, "data", ("no_such_module",))
    game, settings = poker()
    for call in (
        lambda: generate(tmp_path / "x", game, settings, ("random", "random"), 1, agents.make),
        lambda: verify(tmp_path / "x"),
        lambda: read_metadata(tmp_path / "x"),
    ):
        with pytest.raises(MissingExtraError, match=r"pip install 'auction_env\[data\]'"):
            call()


def test_the_page_names_all_columns_and_its_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\w+)", page, re.MULTILINE)
    types = {name: kind.name for name, (kind, _) in dataset.column_types(*poker()).items()}
    assert rows == [*(types | {"agent": "text"}).items()]
    written(tmp_path / "games.parquet", poker()[0])
    monkeypatch.chdir(tmp_path)
    for code in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        if "minari" not in code and ("pandas" not in code or importlib.util.find_spec("pandas")):
            exec(compile(code, "data.md", "exec"), {})
