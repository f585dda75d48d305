"""Solve a small setting exactly: ``auction-env solve configs/solve/x.toml [key=value ...]``.

It enumerates the whole game, iterates towards an equilibrium and says how far it is from one, exactly. Ctrl-C saves;
the same command goes on. In the run's folder: the policy, which the agent ``solved:FOLDER`` plays; the curve; and
page.md, what the solved player does, hand by hand.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from auction_env.cli.arguments import Parser, finish
from auction_env.core import config
from auction_env.core.terminal import progress_bar, show


def main(arguments: Sequence[str] | None = None, program: str = "auction-env solve") -> int:
    """Run the command line; returns the exit status: 0; 2 for a bad config, setting or folder; 130 after Ctrl-C."""
    options = _parser(program).parse_intermixed_args(arguments)
    return finish(program, lambda: _solve(options), lambda: "stopped; what was done is saved: the same command goes on")


def _solve(options: argparse.Namespace) -> int:
    from auction_env.solve.enumeration import estimate_size
    from auction_env.solve.run import PAGE_FILE, POLICY_FILE, SolveConfig, SolveRun

    if options.keys:
        show(config.documentation(SolveConfig))
        return 0
    if options.config is None:
        raise config.ConfigError("give a config file: configs/solve/ has a ladder of them")
    found = config.load(SolveConfig, Path(options.config), options.overrides)
    if options.size:
        game, settings = found.resolve()
        show(estimate_size(game, settings, fold=found.fold))
        return 0
    with _bar() as progress:
        run = SolveRun(found, progress=progress)
        run.start()
        result = run.run()
    show(run.summary(result))
    show(f"policy: {run.folder / POLICY_FILE}, played by the agent solved:{run.folder}")
    show(f"what it does, hand by hand: {run.folder / PAGE_FILE}")
    return 0


@contextmanager
def _bar() -> Iterator[Any]:
    """A progress bar on a terminal, if tqdm is installed."""
    try:
        shown = progress_bar(total=100, disable=None, leave=False, bar_format="{l_bar}{bar}| {desc}")
    except ImportError:
        yield lambda word, part: None
        return
    with shown as bar:

        def progress(word: str, part: float) -> None:
            bar.set_description_str(word, refresh=False)
            bar.n = round(100 * part, 1)
            bar.refresh()

        yield progress


def _parser(program: str) -> argparse.ArgumentParser:
    parser = Parser(prog=program, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", nargs="?", help="a TOML file, such as those in configs/solve/")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="config keys to override")
    parser.add_argument("--size", action="store_true", help="say how large the tree will be, and leave")
    parser.add_argument("--keys", action="store_true", help="list all config keys and leave")
    return parser
