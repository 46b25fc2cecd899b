"""The documentation: built strictly, without a network, and nothing in it loads anything."""

from __future__ import annotations

import functools
import html.parser
import http.server
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.helpers.browser import chromium

pytestmark = pytest.mark.hosts

ROOT = Path(__file__).parents[2]
LOADS = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as `make docs` builds it; a connection to elsewhere fails the build."""
    folder = tmp_path_factory.mktemp("site")
    code = (
        "import sys; from crscore import offline; offline.forbid_sockets(); "
        "from mkdocs.__main__ import cli; cli(sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


class Page(html.parser.HTMLParser):
    """What a page loads, and its links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in LOADS and given.get("rel") != "canonical":
            self.loads += [given[LOADS[tag]] or ""] if LOADS[tag] in given else []
        if tag == "a":
            self.links.append(given.get("href") or "")


def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text("utf-8")) for path in site.rglob("*.html")}


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    for path, page in pages(site).items():
        assert not [one for one in page.loads if "//" in one], path
        assert 'data-md-component="source"' not in path.read_text("utf-8")  # asks GitHub for stars


def test_every_document_has_a_page_and_every_link_to_the_code_leads_to_a_file(site: Path) -> None:
    for document in (ROOT / "docs").rglob("*.md"):
        name = document.relative_to(ROOT / "docs").with_suffix("")
        assert (site / name / "index.html").exists() or name == Path("index")
    marker = "https://github.com/OWNER/crscore/blob/HEAD/"
    links = {one for page in pages(site).values() for one in page.links if one.startswith(marker)}
    assert len(links) > 5
    assert all((ROOT / one.removeprefix(marker).partition("#")[0]).exists() for one in links)


def test_reference_lists_the_public_names(site: Path) -> None:
    page = (site / "api" / "index.html").read_text("utf-8")
    for name in ("crscore.scorer.Scorer.score_many", "crscore.records.Result.usefulness",
                 "crscore.reports.tables.results_frame", "crscore.pytest_plugin.assert_review",
                 "crscore.errors.InputError"):  # fmt: skip
        assert f'id="{name}"' in page


def test_nested_lists_are_nested(site: Path) -> None:
    page = (site / "flow" / "index.html").read_text("utf-8")
    assert page.count("<ol>") >= 2


def test_dead_link_fails_the_build(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# A\n\n[b](b.md)\n", encoding="utf-8")
    rules = (ROOT / "mkdocs.yml").read_text("utf-8")
    rules = rules[rules.index("validation:") : rules.index("nav:")]
    (tmp_path / "mkdocs.yml").write_text(f"site_name: a\n{rules}", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0


def test_browser_contacts_no_other_host(site: Path) -> None:
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    handler = functools.partial(quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://{socket.gethostbyname('localhost')}:{server.server_port}"
        asked: list[str] = []
        with chromium() as browser:
            page = browser.new_page()
            page.on("request", lambda request: asked.append(request.url))
            for name in ("", "api/", "integrations/"):
                page.goto(f"{address}/{name}", wait_until="networkidle")
            page.goto(f"{address}/?q=sandbox", wait_until="networkidle")
            page.wait_for_selector(".md-search-result__item", state="attached", timeout=10_000)
        server.shutdown()
    assert asked
    assert not [one for one in asked if not one.startswith((address, "data:", "blob:"))]
