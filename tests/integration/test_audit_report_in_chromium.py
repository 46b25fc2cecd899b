"""The folder of an audit in a real browser: what it shows and what it must not do.

Wide tables are those of `crscore bench`, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from crscore.audit.overview import ConfigurationChange, Overview
from crscore.audit.report.site import write_site
from crscore.audit.store.database import Store
from crscore.audit.summary import make_overview
from crscore.audit.tables import Period
from crscore.bench import score
from crscore.bench.report import lay_out
from crscore.reports.layout import to_html
from tests.helpers import audit_rows, browser, results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.hosts  # a real browser

CANARY = (
    "window.__errors = []; addEventListener('securitypolicyviolation', "
    "e => window.__errors.push(e.violatedDirective + ' ' + e.blockedURI))"
)
PAGES = ("index.html", "numbers.html", "bots/CodeRabbit.html", "bots/lint-b-bot-b.html")
BENCH = Path(__file__).parents[2] / "examples" / "bench"
CONTRASTS = """() => {
  const context = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const read = colour => { context.clearRect(0, 0, 1, 1); context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1); return [...context.getImageData(0, 0, 1, 1).data]; };
  const bright = ([r, g, b]) => { const [x, y, z] = [r, g, b].map(v => {
    v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z; };
  const behind = node => { for (let at = node; at; at = at.parentElement) {
    const colour = read(getComputedStyle(at).backgroundColor);
    if (colour[3] === 255) return colour; } return [255, 255, 255, 255]; };
  return [...document.querySelectorAll('p, td, th, h1, h2, h3, a, span, figcaption, text')]
    .filter(node => node.textContent.trim() && node.getClientRects().length).map(node => {
      const style = getComputedStyle(node);
      const ink = bright(read(node.tagName === 'text' ? style.fill : style.color));
      const paper = bright(behind(node));
      return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05); }); }"""


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


def hostile(found: Overview) -> Overview:
    """Put a bad text wherever a pull request can carry one, and a change of a bot."""
    change = ConfigurationChange(
        day="2026-03-15", number="comments per pull request", before=2.0, after=6.5, p_value=0.001
    )
    rows = []
    for row in found.reviewers:
        examples = {
            kind: tuple(structs.replace(one, text=results.EVIL) for one in comments)
            for kind, comments in row.examples.items()
        }
        facts = tuple(structs.replace(fact, text=results.EVIL) for fact in row.facts[:1])
        rows.append(structs.replace(row, examples=examples, facts=facts + row.facts[1:]))
    some = rows[0].examples["major"]
    bad_links = tuple(structs.replace(one, url="javascript:pwned=1") for one in some)
    rows[0] = structs.replace(rows[0], examples={"major": bad_links}, changes=(change,))
    return structs.replace(
        found,
        reviewers=tuple(rows),
        verdicts=tuple(structs.replace(one, text=results.EVIL) for one in found.verdicts[:1])
        + found.verdicts[1:],
        notes=(*found.notes, results.EVIL, "n" * 400),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    at = tmp_path_factory.mktemp("audit")
    with Store(at / "store.db") as store:
        audit_rows.fill(store, comments=1_000)
        period = Period(since="2026-03-01", until="2026-03-30")
        found = make_overview(store, period, resamples=200)
        write_site(hostile(found), at / "site")
    page = to_html(lay_out(score(BENCH / "golden.jsonl", BENCH / "findings.jsonl", resamples=50)))
    (at / "site" / "bench.html").write_text(page, "utf-8")
    return at / "site"


@pytest.fixture
def show(chromium: Browser, folder: Path) -> Iterator[Callable[..., Opened]]:
    contexts = []

    def open_page(name: str, width: int = 1100, **settings: object) -> Opened:
        context = chromium.new_context(viewport={"width": width, "height": 800}, **settings)
        contexts.append(context)
        page = context.new_page()
        opened = Opened(page, (folder / name).as_uri())
        page.on("console", lambda message: opened.messages.append(message.text))
        page.on("pageerror", lambda error: opened.messages.append(str(error)))
        page.on("request", lambda request: opened.requests.append(request.url))
        page.add_init_script(CANARY)
        page.goto(opened.address)
        return opened

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", PAGES)
def test_page_has_no_errors_and_loads_nothing_else(show, name: str) -> None:
    opened = show(name)
    assert opened.messages == []
    assert opened.page.evaluate("window.__errors") == []
    assert [one for one in opened.requests if one != "data:,"] == [opened.address]
    assert opened.page.evaluate("typeof window.pwned") == "undefined"
    assert opened.page.evaluate("document.querySelectorAll('script, img, iframe').length") == 0


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [400, 1100])
def test_page_fits_the_screen_with_all_folds_open(show, name: str, width: int) -> None:
    page = show(name, width=width).page
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", [*PAGES, "bench.html"])
def test_screen_of_a_laptop_shows_all_columns(show, name: str) -> None:
    page = show(name, width=1280).page
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    cut = """[...document.querySelectorAll('.scroll')].filter(
        box => box.scrollWidth > box.clientWidth).map(
        box => `${box.ariaLabel}: ${box.scrollWidth} of ${box.clientWidth}`)"""
    assert page.evaluate(cut) == []


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_in_both_color_schemes(show, name: str, scheme: str) -> None:
    contrasts = show(name, color_scheme=scheme).page.evaluate(CONTRASTS)
    assert len(contrasts) > 30
    assert min(contrasts) >= 4.5


def test_first_key_skips_to_the_content(show) -> None:
    page = show("index.html").page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.url.endswith("#content")


def test_change_of_a_configuration_is_listed(show) -> None:
    text = show("numbers.html").page.inner_text("main")
    assert "changed about 15 March: comments per pull request 2.0 before, 6.5 after." in text


def test_links_lead_from_the_first_page_to_a_bot_and_back(show) -> None:
    page = show("index.html").page
    page.locator("main a", has_text="All about Copilot").first.click()
    assert page.locator("h1").inner_text() == "Copilot"
    page.get_by_text("Numbers", exact=True).click()
    page.locator("tbody a").first.click()
    page.get_by_text("All review bots").click()
    assert page.url.endswith("index.html")


@pytest.mark.parametrize("name", [*PAGES, "bench.html"])
def test_printed_page_hides_nothing_behind_a_scroll_bar(show, name: str) -> None:
    page = show(name, width=794).page
    page.emulate_media(media="print")
    assert page.locator(".top").is_hidden()
    styles = "[...document.querySelectorAll('.scroll')].map(n => getComputedStyle(n).overflow)"
    assert set(page.evaluate(styles)) <= {"visible"}
    assert page.evaluate("document.documentElement.scrollWidth") <= 794
