"""Digests of the files that agents are made of: a run that was trained on is another agent under the same name.

Each agent says itself which files it loads: an agent module of this package that loads any defines
``files(argument)``, one that is made of other agents ``parts(argument)``; both read the argument as ``make_agent``
does. Plug-ins are their source.
"""

from __future__ import annotations

import hashlib

from auction_env import agents
from auction_env.core.files import file_digest


def content_digest(spec: str) -> str:
    """Digest (16 hex digits) of the files behind the agent that a text names; empty if there are none.

    Raises:
        OSError: one cannot be read.
    """
    found = [file_digest(path) for path in agents.files(spec) if path.is_file()]
    return hashlib.sha256("".join(found).encode()).hexdigest()[:16] if found else ""
