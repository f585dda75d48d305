"""Matches on a cluster of Ray: the digest of one process, also when a node is killed (`make test-clients`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("ray", reason="ray is not installed: `make test-clients` runs this where it is")

from ray_cluster import two_nodes

from auction_env import agents, cli, get_game
from auction_env.engine.agent import PlayerError
from auction_env.evaluation.ratings import round_robin
from auction_env.evaluation.ray_workers import RayWorkers
from auction_env.evaluation.runner import MatchConfig, play

GAME = get_game("auction_poker")
SETTINGS = GAME.Settings(num_players=3)


@pytest.fixture
def cluster() -> Iterator[Any]:
    with two_nodes() as made:
        yield made


def plan(*names: str, deals: int = 2_400) -> MatchConfig:
    return MatchConfig(GAME, SETTINGS, names, deals, agents.make, seed=3, part_tables=deals // 12)


def test_a_node_killed_on_the_way_loses_nothing(cluster, tmp_path):
    match = plan("rules", "random", "champion")
    alone = play(match).result
    workers, killed = RayWorkers(), []

    def progress(done: int, deals: int) -> None:
        if not killed and len(workers.parts_by_node) == 2:  # both nodes have played
            cluster.remove_node(cluster.second, allow_graceful=False)
            killed.append(done)

    found = play(match, workers=workers, state=tmp_path / "s", progress=progress).result
    assert killed and killed[0] < match.schedule.deals
    assert found.digest == alone.digest
    assert sum(workers.parts_by_node.values()) == match.schedule.parts
    again = play(match, workers=workers, state=tmp_path / "s").result
    assert again.digest == alone.digest and sum(workers.parts_by_node.values()) == match.schedule.parts


def test_what_fails_on_a_node_fails_here_by_its_own_error(cluster, tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text(
        "from auction_env.agents.base import Agent\n\n\nclass Bad(Agent):\n"
        "    def act_batch(self, *asked, **more):\n        return 1 / 0\n"
    )
    with pytest.raises(PlayerError, match="bad"):
        play(plan(f"{bad}:Bad", "random", "random"), workers=RayWorkers())
    with pytest.raises(ValueError, match="nobody"):
        play(plan("nobody", "random", "random"), workers=RayWorkers())


def test_a_round_robin_and_the_command_line_on_ray(cluster, tmp_path, capsys):
    names = ("random", "rules", "rules:tight")
    tables = [round_robin(GAME, SETTINGS, names, 600, agents.make, workers=how) for how in (1, RayWorkers())]
    assert tables[0].digest == tables[1].digest
    asked = ["evaluate", *names, "--deals", "1200", "--part", "100"]
    digests = []
    for workers in ("1", "ray"):
        file = tmp_path / f"{workers}.json"
        assert cli.main([*asked, "--workers", workers, "--json", str(file)]) == 0, capsys.readouterr().err
        digests.append(json.loads(file.read_text())["digest"])
    assert digests[0] == digests[1]
