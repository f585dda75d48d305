"""The self-play learner: configuration, networks as data, training, reports."""

from __future__ import annotations

import os


def share_cores() -> None:
    """Called before torch is loaded: if others use the cores, let threads that wait sleep instead of spin.

    Spinning is faster by half on idle cores; beside another busy program on the same cores it is slower many times.
    ``OMP_WAIT_POLICY`` in the environment decides instead, if it is set.
    """
    if hasattr(os, "getloadavg") and os.getloadavg()[0] > (os.cpu_count() or 1) / 2:
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
