"""Play agents against each other: ``python evaluate.py ppo:runs/auction_poker random random --deals 30000``.

Each deck is played through all seat rotations; chips per deal come with 95 % intervals. Agents sample their moves.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status: 0, 1 if an agent failed, 2 for bad arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agents", nargs="+", help="one for each seat, such as: random, ppo:runs/x, ppo:runs/x?greedy")
    parser.add_argument("--game", help="name of the game (default: that of the first run named, or auction_poker)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="key=value",
        help="a setting of the game (default: those of the first run named)",
    )
    parser.add_argument("--deals", type=int, default=30_000, help="tables played in all (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the decks and agents (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write all numbers to this file too")
    options = parser.parse_args(arguments)

    from agents.learning import share_cores

    share_cores()

    import agents
    from agents.learning.config import make_config
    from agents.learning.selfplay import write_json
    from auction_env.match import play_match
    from auction_env.players import PlayerError

    if options.json and not options.json.parent.is_dir():
        parser.error(f"--json: there is no folder {options.json.parent}")
    try:
        overrides = [f"settings.num_players={len(options.agents)}", *(f"settings.{text}" for text in options.set)]
        game, settings = make_config(_table_of(options.agents, options.game), overrides).resolve()
        players = [
            agents.make(spec, game, settings, options.seed * 1009 + place) for place, spec in enumerate(options.agents)
        ]
        result = play_match(game, settings, players, options.deals, options.seed)
    except ValueError as error:
        print(f"evaluate.py: {error}", file=sys.stderr)
        return 2
    except PlayerError as error:
        print(f"evaluate.py: {error}", file=sys.stderr)
        return 1
    print(result.text())
    if options.json:
        write_json(options.json, result.summary())
    return 0


def _table_of(specs: list[str], game: str | None) -> dict[str, Any]:
    """Game and settings: those that the first run among the agents was trained with, unless another game is named."""
    for spec in specs:
        stored = Path(spec.partition(":")[2].partition("?")[0]) / "run.json"
        if spec.startswith("ppo:") and stored.is_file():
            config = json.loads(stored.read_text(encoding="utf-8")).get("config", {})
            if game in (None, config.get("game")):
                return {key: config[key] for key in ("game", "settings") if key in config}
    return {"game": game or "auction_poker"}


if __name__ == "__main__":
    sys.exit(main())
