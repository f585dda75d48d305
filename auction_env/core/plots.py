"""matplotlib, so that no setting of a notebook and no name of an agent can break a run that only writes pictures."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from auction_env.core.files import writing


def import_matplotlib() -> ModuleType:
    """matplotlib, whatever ``MPLBACKEND`` says.

    A notebook sets it for the programs that it starts, and importing matplotlib fails where the backend it names is not
    installed. Where it is, it is set afterwards. Pictures made by ``matplotlib.figure.Figure`` need no backend.

    Raises:
        ImportError: it is not installed.
    """
    named = os.environ.pop("MPLBACKEND", None)
    try:
        import matplotlib as mpl
    finally:
        if named is not None:
            os.environ["MPLBACKEND"] = named
    if named:
        with contextlib.suppress(ValueError):
            mpl.rcParams["backend"] = named
    return mpl


@contextlib.contextmanager
def drawing(**settings: Any) -> Iterator[ModuleType]:
    """matplotlib, with settings of its own within: texts stand as they are, a name with ``$`` in it is no formula.

    Args:
        settings: of matplotlib, ``_`` for ``.``: ``font_size=10``.

    Raises:
        ImportError: it is not installed.
    """
    mpl = import_matplotlib()
    plain = {"text.parse_math": False, "text.usetex": False}
    with mpl.rc_context({**plain, **{name.replace("_", ".", 1): value for name, value in settings.items()}}):
        yield mpl


def save_picture(figure: Any, path: Path) -> Path:
    """Write a figure as PNG, whole or not at all; returns the path. Raises OSError, naming it."""
    with writing(path) as beside:
        figure.savefig(beside, format="png")
    return path
