"""The command ``check-bot``: whether a bot in another process keeps to the protocol of docs/bots.md."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from auction_env.cli.arguments import integer
from auction_env.cli.screen import say
from auction_env.games import available, get_game
from auction_env.games.game import Game, make_settings

LEAVES_IN = 5.0  # seconds that a bot has to end by itself


def add_options(parser: argparse.ArgumentParser) -> None:
    """What ``check-bot`` takes."""
    add = parser.add_argument
    parser.set_defaults(run=run)
    add("command", help="as after process: - [timeout=SECONDS] [start=SECONDS] [log=FILE] COMMAND, in quotes")
    add("--game", metavar="NAME", help="the only one to check (default: all)")
    add("--deals", type=integer, default=20, help="at each number of seats (default: %(default)s)")
    add("--seed", type=integer, default=0, help="of deals and bots (default: %(default)s)")


def run(options: argparse.Namespace) -> int:
    """Check a bot at the games and say what it does; 1 if it fails."""
    names = [options.game] if options.game else list(available())
    failures = sum(_check(name, options) for name in names)
    say("The bot keeps to the protocol." if not failures else f"{failures} checks failed.")
    return 1 if failures else 0


def _check(name: str, options: argparse.Namespace) -> int:
    """Checks of one game; how many failed. After a failure the rest of that game is left out."""
    game = get_game(name)
    say(f"{game.TITLE}:", wrap=False)
    checks: tuple[tuple[str, Callable[[Game, argparse.Namespace], str]], ...] = (
        ("starts and is ready", _starts),
        ("plays whole deals at every number of seats", _plays),
        ("answers one request and many alike", _answers),
        ("leaves out messages and fields that it does not know", _leaves_out),
        ("ends when its input is closed", _ends),
    )
    for what, check in checks:
        try:
            remark = check(game, options)
        except (ValueError, RuntimeError) as error:
            say(f"  FAILED  {what}: {error}")
            return 1
        say(f"  ok      {what}{remark and ': '}{remark}")
    return 0


def _bot(game: Game, options: argparse.Namespace, seats: int | None = None) -> Any:
    from auction_env import agents

    settings = make_settings(game, {} if seats is None else {"num_players": seats})
    return agents.make(f"process:{options.command}", game, settings, seed=options.seed)


def _starts(game: Game, options: argparse.Namespace) -> str:
    bot, begun = _bot(game, options), time.perf_counter()
    try:
        bot.start()
        wants = ", ".join(sorted(bot.wants)) or "nothing but what is legal"
        return f"{bot.bot_name or 'without a name'}, after {time.perf_counter() - begun:.2f} s; wants {wants}"
    finally:
        bot.close()


def _plays(game: Game, options: argparse.Namespace) -> str:
    """Deals against the random agent, told of results; the time that a decision took."""
    from auction_env import agents
    from auction_env.evaluation.match import play_match

    decisions, begun = 0, time.perf_counter()
    for seats in range(2, game.MAX_PLAYERS + 1):
        settings = make_settings(game, {"num_players": seats})
        bot, others = _bot(game, options, seats), agents.make("random", game, settings, seed=options.seed)
        asked = _count_decisions(bot)
        try:
            play_match(game, settings, [bot] + [others] * (seats - 1), options.deals, options.seed)
        finally:
            bot.close()
        decisions += asked[0]
    return f"{decisions} decisions, {(time.perf_counter() - begun) / max(decisions, 1) * 1e3:.2f} ms each"


def _count_decisions(bot: Any) -> list[int]:
    """A number that goes up by one for every decision that a bot is asked for."""
    asked, act = [0], bot.act_states

    def counting(states: np.ndarray, masks: np.ndarray) -> np.ndarray:
        asked[0] += len(masks)
        return np.asarray(act(states, masks))

    bot.act_states = counting
    return asked


def _answers(game: Game, options: argparse.Namespace) -> str:
    """The same states in one message, and one by one; after the same seed, the same choices?"""
    from auction_env.engine.batch import Batch

    bot = _bot(game, options)
    try:
        batch = Batch(game, bot.settings, 32)
        out = batch.reset(np.arange(32, dtype=np.uint64))
        given = batch.states.copy(), out.masks.copy()
        bot.seed(options.seed)
        first = bot.act_states(*given).tolist()
        bot.seed(options.seed)
        again = bot.act_states(*given).tolist()
        for row in range(4):
            bot.act_states(given[0][row : row + 1], given[1][row : row + 1])
    finally:
        bot.close()
    return f"the same seed gives {'the same' if first == again else 'other'} choices"


def _leaves_out(game: Game, options: argparse.Namespace) -> str:
    from auction_env.engine.batch import Batch

    bot = _bot(game, options)
    try:
        batch = Batch(game, bot.settings, 1)
        out = batch.reset(np.zeros(1, np.uint64))
        bot.start()
        bot.tell({"type": "of a later version", "what": {"ever": [1, 2]}})
        bot.tell({"type": "seed", "seed": 1, "more": None})
        bot.act_states(batch.states.copy(), out.masks.copy())
    finally:
        bot.close()
    return ""


def _ends(game: Game, options: argparse.Namespace) -> str:
    bot = _bot(game, options)
    bot.start()
    begun = time.perf_counter()
    if not bot.close(LEAVES_IN):
        raise ValueError(f"it still ran {LEAVES_IN:g} s after its input was closed")
    return f"after {time.perf_counter() - begun:.2f} s"
