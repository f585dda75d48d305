"""Take the pictures of the table in a browser again, with Debian's chromium: ``python docs/make_web_images.py``.

A person plays the first auction at a table of agents, by the same hands as the tests, until a card is to be picked.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from web_browser import changed, chromium, live_server, page_of, sit_down, wait_for_turn

SIZES = {"web-pick.png": (1280, 800), "web-phone.png": (360, 740)}


def main() -> None:
    """Write both pictures into ``docs/images``."""
    for name, (width, height) in SIZES.items():  # a server each: the same table, the same cards
        with live_server() as address, chromium() as browser, page_of(browser, width, height) as page:
            sit_down(page, address, "auction_poker")
            while "picking" not in wait_for_turn(page):
                before = page.locator(".play").get_attribute("data-moment") or ""
                page.locator(".actions .act").last.click()
                changed(page, before)
            page.screenshot(path=ROOT / "docs" / "images" / name)
            print(name)


if __name__ == "__main__":
    main()
