"""What the commands share: values as TOML writes them, numbers such as 1e6, exit statuses and one-line errors."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from auction_env.core.limits import parse_value, whole
from auction_env.core.processes import stopped_by_signals
from auction_env.core.terminal import complain, hush, mention
from auction_env.engine.agent import PlayerError

INTERRUPTED = 130  # as shells report Ctrl-C


class Parser(argparse.ArgumentParser):
    """argparse's, whose help and complaints are printed as everything else is: escaped, in any encoding."""

    def _print_message(self, message: str, file: Any = None) -> None:
        mention(message.removesuffix("\n"), file=file)


def integer(text: str) -> int:
    """An integer of a text such as ``20000``, ``20_000`` or ``2e4``. Raises ``ArgumentTypeError``."""
    value = whole(parse_value(text))
    if isinstance(value, bool) or not isinstance(value, int):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number: write it as 20000 or 2e4")
    return value


def parse_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Settings of texts ``key=value``; values are TOML, or else text. Raises ValueError when there is no ``=``."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"--set {pair}: write key=value")
        settings[key.strip()] = whole(parse_value(value))
    return settings


def finish(program: str, work: Callable[[], int], stopped: Callable[[], str] = lambda: "stopped") -> int:
    """Do the work of a command; its errors are one line on standard error.

    Args:
        program: whose name begins the line.
        work: gives the exit status.
        stopped: the line after Ctrl-C or a signal.

    Returns:
        the exit status: that of the work; 1 if an agent failed; 2 for bad arguments, settings or files; 130 after
        Ctrl-C, 128 and its number after a signal.
    """
    try:
        with stopped_by_signals():
            return work()
    except BrokenPipeError:  # whoever reads has seen enough
        hush()
        return 0
    except KeyboardInterrupt as stop:
        mention(file=sys.stderr)
        complain(program, stopped())
        return int(getattr(stop, "status", INTERRUPTED))
    except PlayerError as error:
        complain(program, error)
        return 1
    except OSError as error:
        named = error.filename is not None and error.strerror
        complain(program, f"{error.filename}: {error.strerror}" if named else error)
        return 2
    except ValueError as error:
        complain(program, error)
        return 2


def check_seats(agents: Sequence[str]) -> None:
    """Raise ValueError if there are too few agents for any table; of too many a game's settings tell."""
    if len(agents) < 2:
        raise ValueError("there is one agent: name one for each seat, at least two")
