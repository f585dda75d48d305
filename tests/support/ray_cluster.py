"""A cluster of Ray of two nodes on this machine, one of which may be killed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ray
from ray.cluster_utils import Cluster


@contextmanager
def two_nodes() -> Iterator[Any]:
    """Two nodes of one core each; the attribute ``second`` is the one that may be killed."""
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    made.second = made.add_node(num_cpus=1)
    ray.init(made.address, log_to_driver=False, logging_level="ERROR")
    try:
        yield made
    finally:
        ray.shutdown()
        made.shutdown()
