"""The deal that the documentation opens with: the server's own page and a record, without a server."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

from auction_env.web.advice import Players
from auction_env.web.watch import Recording

RECORD = Path(__file__).with_name(
    "deal.json"
)  # evaluate.py champion hard rules:tight --deals 12 --seed 11 --records 12 DIR


def write_deal(folder: Path) -> None:
    """Write the page, its scripts and the deal's frames to a folder, to be copied into the site."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in (resources.files("auction_env.web") / "static").iterdir():
        text = file.read_text(encoding="utf-8")
        if file.name == "index.html":
            text = (
                text.replace("/static/app.js", "deal.js")
                .replace("/static/", "")
                .replace('href="#/"', 'href="index.html"')
            )
        (folder / file.name).write_text(text, encoding="utf-8")
    recording = Recording.load(RECORD)
    content = {
        **recording.summary(),
        "title": f"{recording.table.game.TITLE}: " + ", ".join(recording.names),
        "frames": recording.frames(0, Players(recording.names).options),
    }
    (folder / "deal.json").write_text(json.dumps(content, separators=(",", ":")), encoding="utf-8")
