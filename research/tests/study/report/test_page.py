"""The page of a validation in a real browser: what it shows and what it must not do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
import pytest

from crscore import cli
from crscore.reports import layout
from crscore_lab.study.report.validation import validation_report
from tests.helpers import browser, results
from tests.helpers import findings as helper
from tests.helpers import study as studies

pytestmark = pytest.mark.research

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from crscore.reports.layout import Report

CANARY = (
    "window.__errors = []; addEventListener('securitypolicyviolation', "
    "e => window.__errors.push(e.violatedDirective + ' ' + e.blockedURI))"
)
OPEN = "document.querySelectorAll('details').forEach(fold => { fold.open = true; })"
# The lightest and the darkest colour a reader can meet, by WCAG's formula.
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
  const found = [];
  for (const node of document.querySelectorAll('p, td, th, h1, h2, summary, figcaption, text')) {
    if (!node.textContent.trim() || !node.getClientRects().length) continue;
    const style = getComputedStyle(node);
    const ink = bright(read(node.tagName === 'text' ? style.fill : style.color));
    const paper = bright(behind(node));
    found.push((Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05));
  }
  return found; }"""


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


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The report of a run with every section, long names and a hostile review."""
    found = helper.made(tmp_path_factory.mktemp("study"), attacks=True)
    changed = msgspec.structs.replace(found, notes=(results.EVIL, "n" * 400))
    return validation_report(changed)


@pytest.fixture
def show(chromium: Browser, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    contexts = []

    def open_page(document: str, width: int = 1200, **settings: object) -> Opened:
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


def test_page_has_no_errors_and_loads_nothing_else(show, full: Report) -> None:
    opened = show(layout.to_html(full))
    assert opened.messages == []
    assert opened.page.evaluate("window.__errors") == []
    assert opened.requests == [opened.address]
    assert opened.page.evaluate("typeof window.pwned") == "undefined"
    assert opened.page.evaluate("document.querySelectorAll('script, img, form').length") == 0


@pytest.mark.parametrize("width", [360, 700, 1200])
def test_page_fits_the_screen_with_all_folds_open(show, full: Report, width: int) -> None:
    shown = show(layout.to_html(full), width=width).page
    assert shown.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [360, 1200])
def test_letters_of_plots_keep_their_size_on_any_screen(show, full: Report, width: int) -> None:
    shown = show(layout.to_html(full), width=width).page
    sizes = shown.evaluate(
        """() => [...document.querySelectorAll('.chart text')].filter(text => text.getClientRects()
          .length).map(text => parseFloat(getComputedStyle(text).fontSize)
            * text.ownerSVGElement.getScreenCTM().a)"""
    )
    assert len(sizes) > 30
    assert min(sizes) >= 11.9


@pytest.mark.parametrize("width", [360, 1200])
def test_no_text_of_a_plot_is_cut_off(show, full: Report, width: int) -> None:
    shown = show(layout.to_html(full), width=width).page
    outside = shown.evaluate(
        """() => [...document.querySelectorAll('.chart text')].filter(text => {
          const [inner, outer] = [text, text.closest('figure')].map(n => n.getBoundingClientRect());
          return inner.width && (inner.left < outer.left || inner.right > outer.right);
        }).map(text => text.textContent)"""
    )
    assert outside == []


@pytest.mark.parametrize("width", [360, 1200])
def test_label_stands_above_its_interval(show, full: Report, width: int) -> None:
    shown = show(layout.to_html(full), width=width).page
    names = [bar.label for bar in full.sections[0].plots[0].bars]
    gaps = shown.evaluate(
        """names => { const figure = document.querySelector('#metrics figure');
          const middle = node => { const box = node.getBoundingClientRect();
            return (box.top + box.bottom) / 2; };
          const shown = nodes => [...nodes].filter(node => node.getClientRects().length);
          const dots = shown(figure.querySelectorAll('path:has(title)')).map(middle);
          const labels = shown(figure.querySelectorAll('text'));
          return names.map((name, at) => dots[at]
            - middle(labels.find(label => label.textContent === name))); }""",
        names,
    )
    assert len(gaps) == 4
    assert all(10 <= gap <= 25 for gap in gaps), gaps


def test_markers_of_a_plot_are_in_order_of_their_values(show, full: Report) -> None:
    shown = show(layout.to_html(full)).page
    places = shown.evaluate(
        "[...document.querySelectorAll('#metrics .chart.wide path:has(title)')]"
        ".map(dot => dot.getBoundingClientRect().x)"
    )
    values = [bar.value for bar in full.sections[0].plots[0].bars]
    order = sorted(range(len(values)), key=values.__getitem__)
    assert order == sorted(range(len(places)), key=places.__getitem__)
    assert len(set(values)) == len(places)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_both_colour_schemes(show, full: Report, scheme: str) -> None:
    shown = show(layout.to_html(full), color_scheme=scheme).page
    contrasts = shown.evaluate(CONTRASTS)
    assert len(contrasts) > 500
    assert min(contrasts) >= 4.5


def test_printed_page_hides_nothing_behind_a_scroll_bar(show, full: Report) -> None:
    shown = show(layout.to_html(full), width=794).page
    shown.emulate_media(media="print")
    assert shown.locator(".top").is_hidden()
    styles = "[...document.querySelectorAll('.scroll')].map(n => getComputedStyle(n).overflow)"
    assert set(shown.evaluate(styles)) == {"visible"}
    assert shown.evaluate("document.documentElement.scrollWidth") <= 794


def test_page_and_comparison_come_from_the_command_line(show, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = studies.write(tmp_path / "study.jsonl", studies.full_rows())
    given = ["validate", str(data), "--encoder", "hashing", "--resamples", "20"]
    given += ["--no-baselines", "--no-attacks"]
    for threshold in ("0.2", "0.4"):
        made = [*given, "--threshold", threshold, "--format", "json", "-o", f"{threshold}.json"]
        assert cli.run(made) == 0
    assert cli.run([*given, "--threshold", "0.2", "--format", "html", "-o", "run.html"]) == 0
    both = ["validate", "0.2.json", "0.4.json", "--resamples", "20"]
    assert cli.run([*both, "--format", "html", "-o", "both.html"]) == 0
    for name, title in (("run.html", "Validation"), ("both.html", "Comparison")):
        opened = show((tmp_path / name).read_text("utf-8"), width=360)
        assert opened.page.title() == title
        assert opened.messages == []
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 360
