"""Hand histories: the first tables of a match, as they were played."""

from __future__ import annotations

import numpy as np
import pytest

from auction_env import agents
from auction_env.engine.record import make_record, read_record, replay
from auction_env.evaluation.histories import ActionRecorder, histories, write_histories
from auction_env.evaluation.runner import MatchConfig, play


def make(name, game, settings, seed):
    return agents.make(name, game, settings)


@pytest.mark.parametrize("deals", [1, 3])
def test_records_are_what_was_played_with_who_sat_where(game, deals, tmp_path):
    settings = game.Settings(num_players=3, num_deals=deals, starting_chips=300)
    config = MatchConfig(
        game, settings, ("random", "rules", "rules"), 12, make, 4, part_tables=6, notes=ActionRecorder, noted_deals=12
    )
    played = play(config)
    records = histories(config.schedule, config.agents, played.notes["actions"], 8)
    assert len(records) == 8
    payoffs = played.result.payoffs.reshape(-1, 3)
    for path, record, by_place in zip(write_histories(tmp_path / "kept", records), records, payoffs, strict=False):
        table = replay(read_record(path))
        assert make_record(table)["digest"] == record["digest"]
        assert sorted(record["agents"]) == ["random", "rules", "rules"]
        won = np.sum([deal.payoffs for deal in table.deals], axis=0)
        assert won[record["agents"].index("random")] == by_place[0]
        assert sorted(won) == sorted(by_place)
        assert table.match_over


def test_the_command_keeps_records_and_refuses_nonsense(tmp_path, capsys):
    from auction_env.cli.evaluate import main

    folder = tmp_path / "records"
    assert main(["random", "random", "--deals", "20", "--records", "3", str(folder)]) == 0
    assert [path.name for path in sorted(folder.iterdir())] == [f"table_000{number}.json" for number in range(3)]
    assert "3 in" in capsys.readouterr().out
    assert main(["random", "random", "--deals", "20", "--records", "x", str(folder)]) == 2
    assert "--records x" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    for where in (tmp_path / "file", tmp_path / "file" / "within"):
        assert main(["random", "random", "--deals", "9e8", "--records", "3", str(where)]) == 2
        assert f"--records: {where} cannot be made" in capsys.readouterr().err
    assert main(["random"]) == 2 and "there is one agent: name one for each seat" in capsys.readouterr().err
