"""Digests of the files that agents are made of: a run that was trained on is another agent under the same name."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from auction_env.agents.ppo import MODEL_FILE


def content_digest(spec: str) -> str:
    """Digest (16 hex digits) of the files that a text such as ``ppo:runs/x`` names; empty if it names none."""
    files = []
    for text in re.split(r"[:?,;=()\[\]]", spec):
        path = Path(text) if text.strip(". ") else Path(MODEL_FILE, "none")
        file = path / MODEL_FILE if path.is_dir() else path
        if file.is_file():
            files.append(hashlib.sha256(file.read_bytes()).hexdigest())
    return hashlib.sha256("".join(files).encode()).hexdigest()[:16] if files else ""
