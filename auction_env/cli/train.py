"""Learn to play by self-play: ``train.py configs/auction_poker.toml [key=value ...]``.

Ctrl-C saves; ``train.py --resume runs/auction_poker`` goes on. ``train.py --keys`` prints a config with all defaults.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from auction_env.cli.arguments import INTERRUPTED, Parser, finish
from auction_env.core.extras import require
from auction_env.core.terminal import show


def main(arguments: Sequence[str] | None = None, program: str = "train.py") -> int:
    """Run the command line.

    Returns:
        the exit status: 0; 1 if an agent failed; 2 for a bad config or folder; 130 for Ctrl-C.
    """
    parser = _parser(program)
    options = parser.parse_intermixed_args(arguments)

    from auction_env.agents.learning import share_cores

    share_cores()

    from auction_env.agents.learning.config import documentation

    if options.keys:
        show(documentation())
        return 0
    if options.config is None and options.resume is None:
        parser.error("give a config file, or --resume RUN")
    return finish(program, lambda: _train(options, program))


def _train(options: argparse.Namespace, program: str) -> int:
    """Start or resume a run, and measure what came of it."""
    from auction_env import agents
    from auction_env.agents.learning.config import load_config

    config = None if options.resume is not None else load_config(options.config, options.overrides)
    if config is not None:
        agents.check_trust(f"config {options.config}", load_config(options.config).agents, options.trust)
        if config.engine == "ray":
            require("ray")
    require("train")
    # torch takes seconds to load: a mistake in a config is told before.
    from auction_env.agents.learning.checkpoint import CHECKPOINT
    from auction_env.agents.learning.progress import Stopped
    from auction_env.agents.learning.runs import resume_run, start_run

    if config is None:
        overrides = [*([options.config] if options.config else []), *options.overrides]
        trainer = resume_run(options.resume, overrides, trust=options.trust)
    elif options.auto_resume and (Path(config.run) / CHECKPOINT).exists():
        show(f"{config.run} holds a run already: going on with it, with the keys it was started with")
        trainer = resume_run(Path(config.run), options.overrides, trust=options.trust)
    else:
        trainer = start_run(config)
    go_on = f"{_python(program)} --resume {quote(str(trainer.folder))}"
    try:
        folder = trainer.run()
        results = trainer.final_evaluation()
    except Stopped:
        show(f"\nstopped and saved; go on with: {go_on}")
        return INTERRUPTED
    except KeyboardInterrupt as stop:
        show(f"\nstopped at once; from the last checkpoint go on with: {go_on}")
        return int(getattr(stop, "status", INTERRUPTED))
    show("\n\n".join(result.text() for result in results.values()))
    show(f"run folder: {folder}; learning curve: {folder / 'curve.png'}")
    return 0


def _python(program: str) -> str:
    return f"python {program}" if program.endswith(".py") else program


def _parser(program: str) -> argparse.ArgumentParser:
    parser = Parser(prog=program, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", nargs="?", help="a TOML file, or an override if --resume is given")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="config keys to override")
    parser.add_argument("--resume", metavar="RUN", type=Path, help="go on with the run in this folder")
    parser.add_argument(
        "--auto-resume", action="store_true", help="resume the config's run if its folder holds one already"
    )
    parser.add_argument("--trust", action="store_true", help="let plug-ins run that the config or the run names")
    parser.add_argument("--keys", action="store_true", help="print all keys with their defaults, as TOML, and leave")
    return parser
