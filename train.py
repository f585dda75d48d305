"""Learn to play by self-play: ``python train.py configs/auction_poker.toml [key=value ...]``.

Ctrl-C saves; ``python train.py --resume runs/auction_poker`` goes on. ``python train.py --keys`` lists the keys.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", nargs="?", help="a TOML file, or an override if --resume is given")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="config keys to override")
    parser.add_argument("--resume", metavar="RUN", type=Path, help="go on with the run in this folder")
    parser.add_argument("--go-on", action="store_true", help="resume the config's run if its folder holds one already")
    parser.add_argument("--keys", action="store_true", help="list all config keys and leave")
    options = parser.parse_intermixed_args(arguments)

    from auction_env.agents.learning import share_cores

    share_cores()

    from auction_env.agents.learning.config import documentation, load_config

    if options.keys:
        print(documentation())
        return 0
    if options.config is None and options.resume is None:
        parser.error("give a config file, or --resume RUN")
    try:
        config = None if options.resume is not None else load_config(options.config, options.overrides)
        # torch takes seconds to load: a mistake in a config is told before.
        from auction_env.agents.learning.checkpoint import CHECKPOINT
        from auction_env.agents.learning.progress import Stopped
        from auction_env.agents.learning.runs import resume_run, start_run

        if config is None:
            overrides = [*([options.config] if options.config else []), *options.overrides]
            trainer = resume_run(options.resume, overrides)
        elif options.go_on and (Path(config.run) / CHECKPOINT).exists():
            print(f"{config.run} holds a run already: going on with it, with the keys it was started with")
            trainer = resume_run(Path(config.run), options.overrides)
        else:
            trainer = start_run(config)
    except (ValueError, OSError) as error:  # of config, settings, agents, the run's folder
        print(f"train.py: {error}", file=sys.stderr)
        return 2
    try:
        folder = trainer.run()
        results = trainer.final_evaluation()
    except Stopped:
        print(f"\nstopped and saved; go on with: python train.py --resume {trainer.folder}")
        return 130
    except KeyboardInterrupt:
        print(f"\nstopped at once; from the last checkpoint go on with: python train.py --resume {trainer.folder}")
        return 130
    print("\n\n".join(result.text() for result in results.values()))
    print(f"run folder: {folder}; learning curve: {folder / 'curve.png'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
