"""What the tests in a browser share: a server that browsers reach, Debian's chromium, a person's hands."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

from auction_env.web.lobby import ServerConfig
from auction_env.web.server import create_app

CHROMIUM = shutil.which("chromium")
PATIENCE = 60_000  # milliseconds


@contextmanager
def live_server(**config: Any) -> Iterator[str]:
    """A server in a thread of this process; its address."""
    app = create_app(ServerConfig(**{"agents": ("rules", "random", "montecarlo"), "pace": 0.05, "seed": 5, **config}))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", ws_per_message_deflate=False))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join(30)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Debian's chromium."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def page_of(browser: Browser, width: int = 1280, height: int = 800, **context: Any) -> Iterator[Page]:
    """A page of a browser of its own; what goes wrong in it fails the test, and so does a request to another host."""
    troubles: list[str] = []
    own = browser.new_context(viewport={"width": width, "height": height}, **context)
    own.set_default_timeout(PATIENCE)
    page = own.new_page()
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda said: troubles.append(said.text) if said.type in ("error", "warning") else None)
    page.on("request", lambda asked: asked.url.startswith(("http://127.0.0.1:", "data:")) or troubles.append(asked.url))
    yield page
    own.close()
    assert not troubles


def sit_down(page: Page, address: str, game: str, name: str = "Ana") -> None:
    """Open a table of three by mouse, and wait for the first choice."""
    page.goto(address)
    page.locator(f".game:has(input[value={game}])").click()
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Sit down").click()
    page.locator(".play.choosing").wait_for()


def wait_for_turn(page: Page) -> str:
    """Wait until it is this person's turn, or the deal is over; the moment as the table names it."""
    page.locator(".play.choosing, .play.over").first.wait_for()
    return "over" if page.locator(".play.over").count() else page.locator(".phase").inner_text().lower()


def changed(page: Page, before: str) -> None:
    """Wait until what was chosen has had its effect."""
    page.wait_for_function("before => document.querySelector('.play').dataset.moment !== before", arg=before)


def play_by_mouse(page: Page) -> list[str]:
    """A whole deal with the mouse alone: the moments in which something was chosen."""
    moments = []
    while (moment := wait_for_turn(page)) != "over":
        before = page.locator(".play").get_attribute("data-moment") or ""
        moments.append(moment)
        confirm = page.locator("[data-focus=confirm]")
        if confirm.count():
            page.locator("button.card.open").first.click()
            confirm.click()
        elif "picking" in moment:
            page.locator("button.card.open").last.click()
        else:
            page.locator(".actions .act").first.click()
        changed(page, before)
    return moments


def play_a_key(page: Page) -> None:
    """The first choice of this person's turn, with the keyboard alone."""
    before = page.locator(".play").get_attribute("data-moment") or ""
    by_places = page.locator("[data-focus=confirm]").count() > 0
    page.keyboard.press("1")
    if by_places:
        page.keyboard.press("Tab")
        while page.evaluate("document.activeElement?.dataset.focus") != "confirm":
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
    changed(page, before)


def play_by_keys(page: Page) -> list[str]:
    """A whole deal with the keyboard alone: the moments in which something was chosen."""
    moments = []
    while (moment := wait_for_turn(page)) != "over":
        moments.append(moment)
        play_a_key(page)
    return moments
