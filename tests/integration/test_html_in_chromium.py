"""The page in a real browser: what it shows, where its links go and what it must not do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from crscore.reports import html
from tests.helpers import browser, results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from crscore.records import Result

pytestmark = pytest.mark.hosts  # a real browser

CANARY = (
    "window.__errors = []; addEventListener('securitypolicyviolation', "
    "e => window.__errors.push(e.violatedDirective + ' ' + e.blockedURI))"
)


@dataclass
class Opened:
    page: Page
    address: str
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.chromium() as started:
        yield started


@pytest.fixture
def show(chromium: Browser, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    contexts = []

    def open_page(*given: Result, width: int = 1100, **settings: object) -> Opened:
        path = tmp_path / "report.html"
        path.write_text(html.create()(given), "utf-8")
        context = chromium.new_context(viewport={"width": width, "height": 800}, **settings)
        contexts.append(context)
        page = context.new_page()
        opened = Opened(page, path.as_uri())
        page.on("console", lambda message: opened.messages.append(message.text))
        page.on("pageerror", lambda error: opened.messages.append(str(error)))
        page.on("request", lambda request: opened.requests.append(request.url))
        page.add_init_script(CANARY)
        page.goto(opened.address)
        return opened

    yield open_page
    for context in contexts:
        context.close()


MAKERS = [
    pytest.param(results.review, marks=pytest.mark.smoke),
    *(results.hostile, results.abstained, results.large, results.flagged),
]


@pytest.mark.parametrize("make", MAKERS)
def test_page_has_no_errors_and_loads_nothing_else(show, make) -> None:
    opened = show(make())
    assert opened.messages == []
    assert opened.page.evaluate("window.__errors") == []
    assert opened.requests == [opened.address]


def test_style_sheet_is_let_through_by_its_hash(show) -> None:
    page = show(results.review()).page
    assert page.evaluate("getComputedStyle(document.querySelector('.top')).position") == "sticky"


@pytest.mark.parametrize("width", [320, 400, 640, 1100])
@pytest.mark.parametrize(
    ("make", "count"), [(results.review, 4), (lambda: results.useful(results.review()), 5)]
)
def test_every_link_of_the_navigation_is_in_sight(show, make, count: int, width: int) -> None:
    page = show(make(), width=width).page
    links = page.locator(".top a")
    boxes = [links.nth(at).bounding_box() for at in range(links.count())]
    assert len(boxes) == count
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
    assert page.evaluate(
        "(top => top.scrollWidth <= top.clientWidth)(document.querySelector('.top'))"
    )
    # What follows the links is not behind them.
    bottom = max(box["y"] + box["height"] for box in boxes)
    assert page.locator("main").bounding_box()["y"] >= bottom


def test_narrow_page_has_no_bar_that_stays(show) -> None:
    page = show(results.review(), width=400).page
    assert page.evaluate("getComputedStyle(document.querySelector('.top')).position") == "static"


def test_hostile_text_does_not_run(show) -> None:
    page = show(results.hostile()).page
    assert page.evaluate("typeof window.pwned") == "undefined"
    assert page.evaluate("document.querySelectorAll('script, img, iframe, form').length") == 0


def test_hostile_text_would_run_if_it_were_not_escaped(show, chromium: Browser) -> None:
    """The canary itself works: the same text put into a page as markup does run."""
    context = chromium.new_context()
    page = context.new_page()
    page.set_content(results.EVIL)
    assert page.evaluate("window.pwned") == 1
    context.close()


def test_odd_sentence_is_marked_beside_its_text(show) -> None:
    page = show(results.flagged()).page
    assert page.locator("#s4").inner_text().endswith("⚑ repeats an earlier sentence")


def test_click_on_a_chip_jumps_to_its_comment(show) -> None:
    page = show(results.useful(results.review())).page
    page.locator("#remarks a.chip.c").first.click()
    assert page.url.endswith("#c0")
    assert page.locator("#c0 table.lines").is_visible()


@pytest.mark.parametrize("make", MAKERS)
def test_page_fits_a_narrow_screen(show, make) -> None:
    page = show(make(), width=400).page
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_in_both_color_schemes(show, scheme: str) -> None:
    """WCAG's contrast of at least 4.5 for running text."""
    page = show(results.large(), color_scheme=scheme).page
    contrast = page.evaluate(
        """() => {
          const context = document.createElement('canvas').getContext('2d');
          const read = colour => { context.clearRect(0, 0, 1, 1); context.fillStyle = colour;
            context.fillRect(0, 0, 1, 1); return context.getImageData(0, 0, 1, 1).data; };
          const bright = colour => { const [r, g, b] = [...read(colour)].slice(0, 3).map(v => {
            v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
          const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
          const body = getComputedStyle(document.body);
          return contrast(bright(body.color), bright(body.backgroundColor)); }"""
    )
    assert contrast >= 4.5


def test_printed_page_has_no_bar(show) -> None:
    page = show(results.large(12)).page
    page.emulate_media(media="print")
    assert page.locator(".top").is_hidden()
