"""The page in Debian's chromium: deals by mouse and by keys, phones, screen readers, two browsers at one table."""

from __future__ import annotations

import re
import time

import pytest

pytest.importorskip("starlette", reason="starlette is not installed")
pytest.importorskip("playwright", reason="playwright is not installed")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from web_browser import (
    CHROMIUM,
    PATIENCE,
    chromium,
    live_server,
    page_of,
    play_a_key,
    play_by_keys,
    play_by_mouse,
    sit_down,
    wait_for_turn,
)

from auction_env.engine.record import make_record
from auction_env.engine.table import Table
from auction_env.web.watch import Recording

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")]
expect.set_options(timeout=PATIENCE)  # a busy machine is slow to think
GAMES = ("auction_poker", "auction_flop")
SIZES = {"phone": (360, 740), "desktop": (1280, 800)}


@pytest.fixture(scope="module")
def browser():
    with chromium() as one:
        yield one


@pytest.fixture(scope="module")
def address():
    table = Table("auction_poker", {"num_players": 4})
    table.reset(3)
    while table.to_act is not None:
        table.act(table.legal()[-1])
    with live_server(recordings=(Recording("deal.json", make_record(table)),)) as where:
        yield where


SETTLED = """() => Promise.allSettled(
    document.getAnimations().filter(a => a.effect.getComputedTiming().endTime !== Infinity).map(a => a.finished))"""


def fits(page: Page) -> None:
    """Nothing is wider than the window; a ten is a 10 in words as on cards; places of cards are not what one reads."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    text = page.locator("main").inner_text()
    assert not re.findall(r".*(?<!\w)T(?!\w).*|.*(?:discard|keep) \d.*(?:, it would|%).*", text)


def sees_what_to_choose_from(page: Page) -> None:
    """What lies in the middle and the own hand are in the window, above the choices."""
    page.wait_for_function(
        """() => ['.centre', '.seat.own'].every(one => {
            const box = document.querySelector(one).getBoundingClientRect(), dock = document.querySelector('.dock');
            return box.top >= 0 && box.bottom <= dock.getBoundingClientRect().top && box.bottom <= innerHeight; })""",
        timeout=5000,
    )


def reads_well(page: Page) -> None:
    """What axe finds to be hard to use, for people who do not see, or not well: nothing."""
    page.evaluate(SETTLED)  # what is fading in is pale for some tenths of a second
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("game_name", GAMES)
def test_a_whole_deal_by_mouse(browser, address, game_name, size):
    with page_of(browser, *SIZES[size], has_touch=size == "phone") as page:
        sit_down(page, address, game_name)
        fits(page)
        reads_well(page)
        moments = play_by_mouse(page)
        assert len(moments) > 2
        expect(page.get_by_role("heading", name="How the pot was divided")).to_be_visible()
        assert page.locator(".result .log li").count() >= 1
        fits(page)
        reads_well(page)
        page.get_by_role("button", name="Next deal").click()
        expect(page.locator("#where")).to_contain_text("deal 2")
        assert wait_for_turn(page) != "over"


@pytest.mark.parametrize("game_name", GAMES)
def test_a_whole_deal_by_keys_alone(browser, address, game_name):
    with page_of(browser) as page:
        page.goto(address)
        page.locator(".opening").wait_for()
        wanted = f"input[value={game_name}]"
        while not page.evaluate("document.activeElement.matches('input[name=game]')"):
            page.keyboard.press("Tab")
        if not page.locator(wanted).is_checked():
            page.keyboard.press("ArrowDown")
        assert page.locator(wanted).is_checked()
        while page.evaluate("document.activeElement.id") != "your-name":
            page.keyboard.press("Tab")
        page.keyboard.type("Ana")
        page.keyboard.press("Enter")
        page.locator(".play.choosing").wait_for()
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        reads_well(page)
        page.keyboard.press("Escape")
        page.keyboard.press("h")
        expect(page.locator(".side .hint h2")).to_contain_text("would")
        assert len(play_by_keys(page)) > 2
        page.keyboard.press("h")
        page.locator(".review").wait_for()
        fits(page)
        page.keyboard.press("n")
        expect(page.locator("#where")).to_contain_text("deal 2")
        assert wait_for_turn(page) != "over"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("game_name", GAMES)
def test_a_full_table_fits_and_shows_what_is_chosen_from(browser, game_name, size):
    most, longest = (7 if game_name == "auction_poker" else 8), "rules:aggressive"
    with live_server(agents=("rules", "random", longest), pace=0.0) as where, page_of(browser, *SIZES[size]) as page:
        page.goto(where)
        page.locator(f".game:has(input[value={game_name}])").click()
        while page.get_by_role("button", name="+ another seat").is_enabled():
            page.get_by_role("button", name="+ another seat").click()
        fits(page)
        page.get_by_label("Who sits at seat 2").select_option(longest)
        page.get_by_label("Your name").fill("Ana María")
        page.get_by_role("button", name="Sit down").click()
        seen = set()
        while (moment := wait_for_turn(page)) != "over":
            if (kind := re.sub(r"\d", "", moment)) not in seen:
                seen.add(kind)
                assert page.locator(".seat").count() == most
                sees_what_to_choose_from(page)
                fits(page)
                cut = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.textContent)"
                names = page.locator(".seat:has-text('Ana María') .name, .seat.left .name").evaluate_all(cut)
                assert not names
            play_a_key(page)
        assert len(seen) >= 2
        fits(page)
        reads_well(page)


def test_a_hint_is_seen_on_a_phone(browser, address):
    with page_of(browser, *SIZES["phone"]) as page:
        sit_down(page, address, "auction_flop")
        page.get_by_role("button", name="Hint").click()
        expect(page.locator(".side .hint")).to_be_in_viewport(ratio=0.9)


def test_a_live_match_of_eight_does_not_hold_up_the_page(browser):
    """Agents play hundreds of steps while the first is looked at: what is shown is drawn once."""
    with live_server(agents=("rules", "random")) as where, page_of(browser) as page:
        page.goto(where)
        page.locator(".game:has(input[value=auction_flop])").click()
        while page.get_by_role("button", name="+ another seat").is_enabled():
            page.get_by_role("button", name="+ another seat").click()
        page.get_by_label("Who sits at seat 1").select_option("random")
        page.get_by_role("button", name="Watch them play").click()
        page.locator(".count").wait_for()
        page.get_by_role("button", name="Pause").click()
        page.evaluate("""() => {
            window.drawn = 0;
            const seen = new MutationObserver(all => { window.drawn += all.length; });
            seen.observe(document.querySelector('.felt-host'), { childList: true }); }""")
        slowest, until = 0.0, time.monotonic() + 60
        while int(page.locator(".transport input").get_attribute("max") or 0) < 100 and time.monotonic() < until:
            began = time.monotonic()
            page.evaluate("() => 1")
            slowest = max(slowest, time.monotonic() - began)
        assert int(page.locator(".transport input").get_attribute("max") or 0) >= 100
        assert page.evaluate("() => window.drawn") <= 2 and slowest < 2


def test_two_browsers_at_one_table_see_their_own_cards_only(browser, address):
    with page_of(browser) as ana, page_of(browser) as ben:
        ana.goto(address)
        ana.get_by_label("Who sits at seat 2").select_option("")
        ana.get_by_label("Your name").fill("Ana")
        ana.get_by_role("button", name="Open the table").click()
        ana.get_by_text("Seat 2 is open").wait_for()
        ben.goto(ana.url)
        ben.get_by_label("Your name").fill("Ben")
        ben.get_by_role("button", name="Sit here").click()
        for page in (ana, ben):
            page.locator(".play.choosing").wait_for()
            assert page.locator(".seat.own .card.down").count() == 0
            assert page.locator(".seat:not(.own) .card:not(.down)").count() == 0
        ana.locator(".actions .act").nth(2).click()
        expect(ana.locator(".seat.own .notes")).to_have_text("Bid 3, face down")
        expect(ben.locator(".felt")).not_to_contain_text("bids")
        ben.locator(".actions .act").nth(0).click()
        for page in (ana, ben):
            expect(page.locator(".felt")).to_contain_text("bids 3")
        before = ana.locator(".seat.own .card").evaluate_all("all => all.map(one => one.dataset.card)")
        ana.reload()  # the seat is kept
        ana.locator(".seat.own .card").first.wait_for()
        assert ana.locator(".seat.own .card").evaluate_all("all => all.map(one => one.dataset.card)")[:2] == before[:2]


def test_agents_are_watched_live_and_dealt_on(browser, address):
    with page_of(browser) as page:
        page.goto(address)
        page.get_by_label("Who sits at seat 1").select_option("rules")
        page.get_by_role("button", name="Watch them play").click()
        page.locator(".watch .bars, .watch .hint").first.wait_for()
        assert page.locator(".card.down").count() == 0
        page.get_by_label("Whose cards are shown").select_option("none")
        assert page.locator(".card.down").count() > 0
        page.get_by_role("button", name="Pause").click()
        reads_well(page)
        page.wait_for_function("Number(document.querySelector('.transport input').max) > 20")
        while page.get_by_role("button", name="Next deal").is_hidden():
            page.get_by_role("button", name="Last step").click()
        page.keyboard.press("n")
        expect(page.locator("#where")).to_contain_text("deal 2")


def test_a_moment_of_a_live_match_has_an_address(browser, address):
    with page_of(browser) as page, page_of(browser) as friend:
        page.goto(address)
        page.get_by_label("Who sits at seat 1").select_option("montecarlo")
        page.get_by_role("button", name="Watch them play").click()
        page.wait_for_function("() => Number(document.querySelector('.transport input')?.max) > 12")
        page.keyboard.press("Home")
        for _ in range(5):
            page.keyboard.press("ArrowRight")
        assert page.url.endswith("/deal/1/step/5")
        seen, link = page.locator(".felt").inner_text(), page.url
        friend.goto(link)
        expect(friend.locator(".count")).to_contain_text("5 / ")
        assert friend.locator(".felt").inner_text() == seen
        friend.get_by_label("Ask an agent what it would do").select_option("rules")
        expect(friend.locator(".side .hint").last).to_contain_text("Now rules would")
        while page.get_by_role("button", name="Next deal").is_hidden():
            page.get_by_role("button", name="Last step").click()
        page.keyboard.press("n")
        expect(page.locator("#where")).to_contain_text("deal 2")
        friend.goto(address)
        friend.goto(link)  # the deal is over by now: it is played again
        expect(friend.locator(".count")).to_contain_text("5 / ")
        expect(friend.get_by_label("Deal", exact=True)).to_have_value("1")
        assert friend.locator(".felt").inner_text() == seen
        fits(friend)
        reads_well(friend)


@pytest.mark.parametrize("size", SIZES)
def test_a_moment_of_a_record_has_an_address(browser, address, size):
    with page_of(browser, *SIZES[size]) as page:
        page.goto(f"{address}#/record/0/deal/1/step/7")
        expect(page.locator(".count")).to_contain_text("7 / ")
        page.keyboard.press("ArrowRight")
        expect(page.locator(".count")).to_contain_text("8 / ")
        assert page.url.endswith("#/record/0/deal/1/step/8")
        page.get_by_label("Ask an agent what it would do").select_option("montecarlo")
        expect(page.locator(".side .hint").last).to_contain_text("±")
        fits(page)
        page.keyboard.press("End")  # nobody is to choose there, and nobody is asked
        expect(page.get_by_label("What an agent would do here")).to_be_hidden()
        reads_well(page)


def test_the_page_is_there_at_once_and_small(browser, address):
    """Each time with an empty cache, as for somebody who comes for the first time."""
    times, sizes = [], []
    for _ in range(5):
        with page_of(browser, *SIZES["phone"]) as page:
            received: list[int] = []
            page.on("response", lambda found, to=received: to.append(len(found.body())))
            page.goto(address)
            page.locator(".opening").wait_for()
            paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
            times.append(page.wait_for_function(paint).json_value())
            sizes.append(sum(received))
    assert min(sizes) > 10_000 and max(sizes) < 300_000
    assert min(times) < 1000, times
