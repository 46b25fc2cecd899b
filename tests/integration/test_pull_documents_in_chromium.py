"""The comment, the job summary and the page of a pull request in a real browser."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from crscore.pull_request.documents import for_people
from tests.helpers import browser, github_markdown, overviews, results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.hosts  # a real browser

CANARY = (
    "window.__errors = []; addEventListener('securitypolicyviolation', "
    "e => window.__errors.push(e.violatedDirective + ' ' + e.blockedURI))"
)
OPEN = "document.querySelectorAll('details').forEach(one => { one.open = true })"


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

    def open_page(document: str, *, width: int = 1000, **settings: object) -> Opened:
        path = tmp_path / "page.html"
        path.write_text(document, "utf-8")
        context = chromium.new_context(viewport={"width": width, "height": 800}, **settings)
        contexts.append(context)
        shown = context.new_page()
        opened = Opened(shown, path.as_uri())
        shown.on("console", lambda message: opened.messages.append(message.text))
        shown.on("pageerror", lambda error: opened.messages.append(str(error)))
        shown.on("request", lambda request: opened.requests.append(request.url))
        shown.add_init_script(CANARY)
        shown.goto(opened.address)
        shown.evaluate(OPEN)
        return opened

    yield open_page
    for context in contexts:
        context.close()


def a_comment(found: overviews.Overview) -> str:
    return github_markdown.page(for_people.render_comment(found), author="github-actions")


def a_summary(found: overviews.Overview) -> str:
    return github_markdown.page(for_people.render_summary([found, found]))


def a_page(found: overviews.Overview) -> str:
    return for_people.render_page(found, results.hostile())


WRITERS = pytest.mark.parametrize("write", [a_comment, a_summary, a_page])
MARKDOWN = pytest.mark.parametrize("write", [a_comment, a_summary])
MAKERS = pytest.mark.parametrize(
    "make", [overviews.review, overviews.learned, overviews.nobody, overviews.hostile]
)


@WRITERS
@MAKERS
def test_nothing_runs_and_nothing_is_loaded(show, write, make) -> None:
    opened = show(write(make()))
    assert opened.messages == []
    assert opened.page.evaluate("window.__errors") == []
    assert opened.requests == [opened.address]
    assert opened.page.evaluate("typeof window.pwned") == "undefined"
    assert opened.page.evaluate("document.querySelectorAll('script, img, iframe').length") == 0


def test_markdown_would_run_what_is_not_escaped(show) -> None:
    """The canary itself works: the same text put in as it is does run."""
    opened = show(github_markdown.page(results.EVIL.replace("\ud800", "")))
    assert opened.page.evaluate("window.pwned") == 1


@WRITERS
@pytest.mark.parametrize("width", [390, 1000])
@pytest.mark.parametrize("make", [overviews.review, overviews.hostile, overviews.largest])
def test_document_does_not_scroll_sideways(show, write, make, width: int) -> None:
    shown = show(write(make()), width=width).page
    assert shown.evaluate("document.documentElement.scrollWidth") <= width


@MARKDOWN
@pytest.mark.parametrize("make", [overviews.review, overviews.hostile, overviews.largest])
def test_tables_are_whole(show, write, make) -> None:
    shown = show(write(make())).page
    widths = shown.evaluate(
        "[...document.querySelectorAll('table')].map(table => "
        "[...table.rows].map(row => row.cells.length))"
    )
    assert widths
    for rows in widths:
        assert len(set(rows)) == 1
    # A row that fell out of its table would show its pipes.
    assert "|:--" not in shown.inner_text("body")


@MARKDOWN
def test_folds_are_closed_and_balanced(show, write) -> None:
    shown = show(write(overviews.largest())).page
    assert "<details>" not in shown.inner_text("body")
    # None inside another, and the signature outside of all.
    assert shown.locator("details details").count() == 0
    assert shown.locator("details sub:has-text('Measured at')").count() == 0
    assert shown.locator("sub:has-text('Measured at')").count() >= 1


def test_marker_is_hidden(show) -> None:
    shown = show(a_comment(overviews.review())).page
    assert shown.inner_text(".body").startswith("Review coverage")


@MARKDOWN
def test_names_and_paths_are_read_as_they_are(show, write) -> None:
    shown = show(write(overviews.hostile())).page
    text = shown.inner_text("body").replace("\u200b", "")
    assert '<script>window.pwned=1</script><img src=x onerror="window.pwned=1">' in text
    assert "src/a,b:c%0A|`x`]()<b>@me" in text
    assert "**bold** [link](https://evil.example/x)" in text


@MARKDOWN
def test_links_go_to_the_lines_of_the_pull_request(show, write) -> None:
    links = show(write(overviews.review())).page.evaluate(
        "[...document.querySelectorAll('.body a')].map(link => [link.innerText, link.href])"
    )
    assert sorted(
        {text for text, href in links if "client.py" in text and href.endswith("R17")}
    ) == ["src/shop/client.py:17"]
    assert all(href.startswith(overviews.URL) for _, href in links)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_is_readable_in_both_colour_schemes(show, scheme: str) -> None:
    """WCAG's contrast of 4.5 for what the overview adds to the report."""
    found = overviews.replace(overviews.review(), missing=("2 files could not be read.",))
    shown = show(for_people.render_page(found, results.review()), color_scheme=scheme).page
    contrasts = shown.evaluate(
        """() => {
          const context = document.createElement('canvas').getContext('2d');
          const read = colour => { context.clearRect(0, 0, 1, 1); context.fillStyle = colour;
            context.fillRect(0, 0, 1, 1); return context.getImageData(0, 0, 1, 1).data; };
          const bright = colour => { const [r, g, b] = [...read(colour)].slice(0, 3).map(v => {
            v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
          const behind = node => { for (; node; node = node.parentElement) {
            const colour = getComputedStyle(node).backgroundColor;
            if (read(colour)[3] === 255) return colour; } return 'white'; };
          return [...document.querySelectorAll('.pull :is(a, p, summary, li, td, th, .dim)')]
            .filter(node => node.innerText.trim())
            .map(node => { const a = bright(getComputedStyle(node).color), b = bright(behind(node));
              return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); }); }"""
    )
    assert len(contrasts) > 30
    assert min(contrasts) >= 4.5


@pytest.mark.parametrize("make", [overviews.review, overviews.largest])
def test_text_keeps_a_readable_size_on_a_narrow_screen(show, make) -> None:
    shown = show(a_comment(make()), width=390).page
    sizes = shown.evaluate(
        "[...document.querySelectorAll('.body td, .body li')].slice(0, 200)"
        ".map(node => parseFloat(getComputedStyle(node).fontSize))"
    )
    assert min(sizes) >= 12
