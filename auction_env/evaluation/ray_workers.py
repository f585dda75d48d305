"""Parts of a match as tasks of Ray, on one machine or on many (extra ``ray``).

::

    played = play(plan, workers=RayWorkers())  # the cluster that RAY_ADDRESS names, or one started on this machine

Each part is one task of one core. A task whose node dies is done again on another, as often as need be, and results
that were lost with a node are made anew; the digest is that of one process. Nodes need this package, of the same
version, and the files behind the agents at the same paths. Ray runs what the caller sends as code on its nodes: connect
to clusters of your own only.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections import Counter
from collections.abc import Iterator, Sequence

from auction_env.core.extras import require
from auction_env.engine.agent import Player
from auction_env.evaluation.results import digest_of
from auction_env.evaluation.runner import MatchConfig, Part, TournamentError, single_thread

require("ray")

import ray  # noqa: E402
from ray.exceptions import RayError, RayTaskError  # noqa: E402


class ClusterError(TournamentError):
    """There is no cluster of Ray to work on, or it has failed."""


def connect(address: str | None = None) -> None:
    """Connect this process to a cluster, unless it is connected; signals are handled as before.

    Args:
        address: see ``RayWorkers``.

    Raises:
        ClusterError: there is no cluster at the address; Ray looks for it for some minutes.
    """
    if ray.is_initialized():
        return
    handler = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address, log_to_driver=False, logging_level="ERROR", configure_logging=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ClusterError(f"no cluster of Ray at {address or 'RAY_ADDRESS'}: {error}") from error
    finally:
        with contextlib.suppress(ValueError):  # not in the main thread, where Ray leaves it alone too
            signal.signal(signal.SIGTERM, handler)


class RayWorkers:
    """What plays parts on a cluster, given to ``play`` as ``workers``.

    Args:
        address: of the cluster, as ``ray.init`` takes it; None: the one that this process is connected to, or that
            the variable RAY_ADDRESS names, or one that is started here with a worker for each core and ends with this
            process.

    Attributes:
        parts_by_node: how many parts each node has delivered, by Ray's id of it.

    Raises:
        ClusterError: there is no cluster at the address; Ray looks for it for some minutes.
        MissingExtraError: Ray is not installed (at import).
    """

    def __init__(self, address: str | None = None) -> None:
        self.parts_by_node: Counter[str] = Counter()
        connect(address)

    def __call__(self, plan: MatchConfig, parts: Sequence[int]) -> Iterator[Part]:
        """Play parts of a match; they come as they are finished.

        Raises:
            PlayerError: an agent failed.
            TournamentError: a node has another version of this package or of an agent's files.
            ClusterError: the cluster failed.
        """
        plan.players()  # what cannot be made is said here, by its own error
        shared, identity, folder = ray.put(plan), digest_of(plan.identity()), os.getcwd()
        left = [_play_part.remote(shared, identity, folder, part) for part in parts]
        try:
            while left:
                (done,), left = ray.wait(left, num_returns=1)
                part, node = ray.get(done)
                self.parts_by_node[node] += 1
                yield part
        except RayTaskError as error:  # raised on a node: here it is what it was there
            raise error.cause from error
        except RayError as error:
            raise ClusterError(
                f"the cluster failed: {error}; finished parts are kept in a checkpoint folder"
            ) from error
        finally:
            for task in left:
                ray.cancel(task, force=True)


_players: tuple[str, list[Player]] | None = None  # of the match that this worker played last


@ray.remote(num_cpus=1, max_retries=-1, scheduling_strategy="SPREAD")
def _play_part(plan: MatchConfig, identity: str, folder: str, part: int) -> tuple[Part, str]:
    global _players
    if digest_of(plan.identity()) != identity:
        raise TournamentError("a node of the cluster has another version of auction_env: install the same everywhere")
    if _players is None or _players[0] != identity:
        with contextlib.suppress(OSError):
            os.chdir(folder)  # names of files are read from there, as by who asked
        _players = identity, plan.players()
    with single_thread():
        return (part, plan.play_part(part, _players[1])), ray.get_runtime_context().get_node_id()
