"""The hint that errors about unknown names end with."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from auction_env.core.limits import shorten


def nearest(name: object, known: Iterable[str]) -> str:
    """The known name that a name is, or is likely meant to be; empty if it is like none."""
    return next(iter(difflib.get_close_matches(shorten(name), list(known), 1)), "")


def hint(name: object, known: Iterable[str], kind: str) -> str:
    """``did you mean 'deck'?``, or if no known name is near, ``the options are deck, dealer`` (``kind``: "options")."""
    near = nearest(name, known)
    return f"did you mean {near!r}?" if near else f"the {kind} are {', '.join(known)}"
