"""matplotlib, imported so that nothing of a notebook's settings can break a run that only writes pictures."""

from __future__ import annotations

import contextlib
import os
from types import ModuleType


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
