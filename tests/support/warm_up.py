"""Compiles what most tests of a game use: ``python tests/support/warm_up.py GAME``.

Machine code is kept on disk. Run before several processes of tests start, it spares each of them the same compiling.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from auction_env import Table, agents, get_game, make_record, replay
from auction_env.engine.batch import Batch
from auction_env.evaluation.match import play_match
from auction_env.games.game import make_settings

AGENTS = ("random", "rules", "montecarlo:rollouts=8", "montecarlo:rollouts=8,policy=random")


def warm_up(name: str) -> None:
    """Play a little of everything."""
    game = get_game(name)
    settings = make_settings(game, {"num_players": 2})
    table = Table(game, settings)
    table.reset(1)
    while table.to_act is not None:
        table.observe(table.to_act)
        table.act(int(np.flatnonzero(table.mask(table.to_act))[0]))
    replay(make_record(table))
    batch = Batch(game, settings, 8, threads=1)
    batch.step(batch.reset(1).masks.argmax(1))
    batch.set_states(batch.states.copy())
    batch.rollout(10)
    for spec in AGENTS:
        play_match(game, settings, [agents.make(spec, game, settings, 1)] * 2, 4, 1)
    try:
        from auction_env.agents.learning.runs import start_run
        from tiny_run import quiet, tiny
    except ImportError:
        return
    with tempfile.TemporaryDirectory() as folder:
        labels = {"oracle_critic": True, "label_decisions": 4, "label_worlds": 1}
        start_run(tiny(Path(folder) / "run", game=name, total_timesteps=256, **labels), quiet).run()


if __name__ == "__main__":
    warm_up(sys.argv[1])
