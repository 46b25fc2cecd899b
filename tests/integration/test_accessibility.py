"""axe-core's findings on every kind of page, wide and narrow, light and dark: there are none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crscore.audit.report.site import write_site
from crscore.audit.store.database import Store
from crscore.audit.summary import make_overview
from crscore.audit.tables import Period
from crscore.bench import score
from crscore.bench.report import lay_out
from crscore.pull_request.documents import for_people
from crscore.reports import html
from crscore.reports.layout import to_html
from tests.helpers import audit_rows, browser, overviews, results

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext

pytestmark = pytest.mark.hosts  # a real browser

AXE = Path(__file__).parents[1] / "data" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
BENCH = Path(__file__).parents[2] / "examples" / "bench"
RUN = """async () => {
  document.querySelectorAll('details').forEach(fold => { fold.open = true; });
  const { violations } = await axe.run(document, { resultTypes: ['violations'] });
  return violations.flatMap(rule => rule.nodes.map(node => rule.id + ': ' + node.html)); }"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser.chromium() as started:
        yield started


def findings_of(context: BrowserContext, path: Path) -> list[str]:
    shown = context.new_page()
    shown.goto(path.as_uri())
    shown.evaluate(AXE.read_text("utf-8"))
    nodes = shown.evaluate(RUN)
    shown.close()
    return nodes


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("pages")
    useful = results.useful(results.review())
    documents = {
        "score": html.create()([useful]),
        "scores": html.create()([results.decided(), results.flagged()]),
        "large": html.create()([results.large(12)]),
        "bench": to_html(lay_out(score(BENCH / "golden.jsonl", BENCH / "findings.jsonl"))),
        "pull": for_people.render_page(overviews.useful_review(), useful),
    }
    for name, document in documents.items():
        (folder / f"{name}.html").write_text(document, "utf-8")
    with Store(folder / "store.db") as store:
        audit_rows.fill(store, comments=1_000)
        period = Period(since="2026-03-01", until="2026-03-30")
        site = folder / "site"
        write_site(make_overview(store, period, resamples=50), site)
    kinds = ["index.html", "numbers.html", "bots/*.html"]
    return [folder / f"{name}.html" for name in documents] + [
        min(site.glob(pattern)) for pattern in kinds
    ]


@pytest.mark.smoke
def test_page_of_a_score_has_no_finding(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "score.html"
    path.write_text(html.create()([results.useful(results.review())]), "utf-8")
    context = chromium.new_context(bypass_csp=True)
    assert findings_of(context, path) == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1100])
def test_no_page_has_a_finding(
    chromium: Browser, pages: list[Path], scheme: str, width: int
) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
        bypass_csp=True,  # the pages themselves run no script
    )
    violations = {path.name: findings_of(context, path) for path in pages}
    context.close()
    assert {name: nodes for name, nodes in violations.items() if nodes} == {}


def test_finding_is_seen(chromium: Browser) -> None:
    shown = chromium.new_page()
    shown.set_content("<html lang=en><title>A</title><main><h1>A</h1><img src=a.png></main>")
    shown.evaluate(AXE.read_text("utf-8"))
    assert any(node.startswith("image-alt") for node in shown.evaluate(RUN))
    shown.close()
