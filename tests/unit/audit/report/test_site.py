from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from crscore.audit.decide import KINDS
from crscore.audit.report import site
from crscore.audit.report.site import write_site
from crscore.audit.store.database import Store
from crscore.audit.summary import make_overview
from crscore.audit.tables import Period
from crscore.errors import InputError
from tests.helpers import audit_rows

if TYPE_CHECKING:
    from pathlib import Path

PERIOD = Period(since="2026-03-01", until="2026-03-30")


class Links(HTMLParser):
    def __init__(self, document: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.ids: set[str] = set()
        self.feed(document)

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.tags.add(tag)
        values = dict(attributes)
        self.links += [values["href"]] if "href" in values and tag == "a" else []
        self.ids.add(values.get("id"))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit")
    with Store(folder / "store.db") as store:
        audit_rows.fill(store, comments=600)
        with store.transaction():
            store.change(
                "UPDATE comments SET body = ? WHERE key = (SELECT MIN(comment) FROM comment_scores "
                "JOIN comments ON key = comment WHERE reviewer = 'CodeRabbit' AND noise IS NULL)",
                store.add_text("The limit is never reset."),
            )
        overview = make_overview(store, PERIOD, resamples=200)
        write_site(overview, folder / "site")
    return folder / "site"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    with Store(tmp_path / "store.db") as store_file:
        audit_rows.fill(store_file, comments=60)
        yield store_file


def pages(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.html"))


def test_there_is_a_page_for_each_reviewer(written: Path) -> None:
    assert len(list((written / "bots").iterdir())) == 12
    assert {path.name for path in written.iterdir()} == {
        *("audit.json", "bots", "index.html", "numbers.html")
    }


def assert_links_lead_somewhere(page: Path) -> None:
    targets: dict[str, Links] = {}
    read = Links(page.read_text("utf-8"))
    assert read.links
    for link in read.links:
        if link.startswith("#"):
            assert link[1:] in read.ids
        elif not link.startswith("https://github.com/acme/service-"):
            file, _, anchor = link.partition("#")
            assert (page.parent / file).is_file(), (page, link)
            if anchor and file not in targets:
                targets[file] = Links((page.parent / file).read_text("utf-8"))
            assert not anchor or anchor in targets[file].ids, (page, link)


def test_every_link_in_the_folder_has_a_target(written: Path) -> None:
    for page in pages(written):
        assert_links_lead_somewhere(page)


def test_no_page_has_a_script_or_loads_anything(written: Path) -> None:
    for page in pages(written):
        text = page.read_text("utf-8")
        assert not {"script", "img", "iframe", "form"} & Links(text).tags
        assert "default-src &#39;none&#39;; style-src &#39;sha256-" in text


def test_first_page_has_the_lines_of_each_bot_and_quotes_that_mattered(written: Path) -> None:
    text = (written / "index.html").read_text("utf-8")
    document = json.loads((written / "audit.json").read_text("utf-8"))
    shown = html.unescape(re.sub(r"<[^>]+>", "", text))
    bots = [row for row in document["reviewers"] if row["is_bot"]]
    for row in bots:
        assert row["decision"]["reason"] in shown
        for fact in row["facts"]:
            assert f"{fact['title']}: {fact['text']}" in shown
    assert "&lt;script&gt;alert(1)" in text


def test_page_of_a_bot_lists_its_comments_by_kind(written: Path) -> None:
    text = (written / "bots" / "CodeRabbit.html").read_text("utf-8")
    row = json.loads((written / "audit.json").read_text("utf-8"))["reviewers"]
    kinds = next(one for one in row if one["name"] == "CodeRabbit")["comments"]["kinds"]
    for kind, title in KINDS.items():
        if kind in kinds:
            assert f"<h2>{title.capitalize()} ({kinds[kind]:,})</h2>" in text


def test_json_is_the_overview(written: Path) -> None:
    document = json.loads((written / "audit.json").read_text("utf-8"))
    assert document["schema"] == "urn:crscore:audit:2"
    assert len(document["reviewers"]) == 12


def test_two_reports_of_one_store_are_equal_and_the_old_files_are_gone(
    store: Store, tmp_path: Path
) -> None:
    overview = make_overview(store, PERIOD, resamples=50)
    folder = tmp_path / "site"
    files = write_site(overview, folder)
    before = {file: file.read_bytes() for file in files}
    (folder / "bots" / "gone.html").write_text("of an older report")
    assert {file: file.read_bytes() for file in write_site(overview, folder)} == before
    assert {path.name for path in tmp_path.iterdir() if "site" in path.name} == {"site"}


def test_a_report_that_fails_leaves_the_old_one(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overview = make_overview(store, PERIOD, resamples=50)
    files = write_site(overview, tmp_path / "site")
    monkeypatch.setattr(site.contents, "numbers_page", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_site(overview, tmp_path / "site")
    assert sorted(path for path in (tmp_path / "site").rglob("*") if path.is_file()) == files
    assert {path.name for path in tmp_path.iterdir() if "site" in path.name} == {"site"}


def test_folder_that_is_not_a_report_is_not_replaced(store: Store, tmp_path: Path) -> None:
    overview = make_overview(store, PERIOD, resamples=50)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="is not empty and is no report"):
        write_site(overview, tmp_path / "mine")
    with pytest.raises(InputError, match="is a file"):
        write_site(overview, tmp_path / "mine" / "notes.txt")
    assert (tmp_path / "mine" / "notes.txt").read_text() == "mine"


def test_store_without_a_pull_request_has_a_report_and_an_empty_one_does_not(
    tmp_path: Path,
) -> None:
    with Store(tmp_path / "store.db") as store:
        with pytest.raises(InputError, match="has no repository yet: run crscore audit sync"):
            make_overview(store, PERIOD)
        store.put([audit_rows.repository()])
        overview = make_overview(store, PERIOD)
        files = write_site(overview, tmp_path / "site")
    assert [file.name for file in files] == ["audit.json", "index.html", "numbers.html"]
    assert "No bot posted in this period." in files[1].read_text("utf-8")
