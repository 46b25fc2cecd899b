from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

from crscore.audit.report import details, site
from crscore.audit.report.contents import COMMENT_CHARS
from crscore.audit.report.site import write_site
from crscore.audit.store.database import Store
from crscore.audit.store.rows import CommentScore, SignalRow, host_id_of
from crscore.audit.summary import OverviewOptions, make_overview
from crscore.audit.tables import Period
from crscore.errors import InputError
from tests.helpers import audit_rows

if TYPE_CHECKING:
    from pathlib import Path

PULL_PAGES = ("acme-service-1-2026-03.html", "acme-service-2-2026-03.html")
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
        overview = make_overview(store, OverviewOptions(period=PERIOD, resamples=200))
        write_site(store, overview, folder / "site")
    return folder / "site"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    with Store(tmp_path / "store.db") as store_file:
        audit_rows.fill(store_file, comments=60)
        yield store_file


def pages(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.html"))


def test_there_is_a_page_for_each_reviewer_repository_and_month(written: Path) -> None:
    assert len(list((written / "bots").iterdir())) == 12
    assert {path.name for path in (written / "repositories").iterdir()} == {
        "acme-service-1.html",
        "acme-service-2.html",
    }
    assert {path.name for path in (written / "pulls").iterdir()} == {
        "acme-service-1-2026-03.html",
        "acme-service-2-2026-03.html",
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


def test_every_link_within_the_folder_leads_somewhere(written: Path) -> None:
    for page in pages(written):
        assert_links_lead_somewhere(page)


def test_numbers_of_a_tile_lead_to_the_comments_behind_them(written: Path) -> None:
    text = (written / "index.html").read_text("utf-8")
    page = (written / "bots" / "CodeRabbit.html").read_text("utf-8")
    numbers = re.findall(r'"bots/CodeRabbit.html#(\w+)">([\w ]+): ([\d,]+)', text)
    assert {"major", "restates", "comments"} <= {anchor for anchor, _, _ in numbers}
    for anchor, name, count in numbers[:-1]:  # the last is the minutes of reading
        assert f'<h3 id="{anchor}">{name[0].upper()}{name[1:]} ({count})' in page


def test_no_page_has_a_script_or_loads_anything(written: Path) -> None:
    for page in pages(written):
        text = page.read_text("utf-8")
        assert not {"script", "img", "iframe", "form"} & Links(text).tags
        assert "default-src &#39;none&#39;; style-src &#39;sha256-" in text


def test_first_page_answers_in_the_order_that_was_asked_for(written: Path) -> None:
    text = (written / "index.html").read_text("utf-8")
    assert re.findall(r'<section id="(\w+)">', text) == [
        *("coverage", "noise", "acted", "scores", "verdicts", "comments", "escaped"),
        *("gaps", "more"),
    ]


def test_comments_show_what_their_best_remarks_do(written: Path) -> None:
    for page in ("index.html", "bots/CodeRabbit.html"):
        text = (written / page).read_text("utf-8")
        assert "major 25 %, nit 25 %, nothing to act on 50 %" in text
        assert re.search(r" · names a problem · major · <a ", text)


def test_page_of_a_month_has_each_comment_once(written: Path) -> None:
    texts = [(written / "pulls" / name).read_text("utf-8") for name in PULL_PAGES]
    with Store(written.parent / "store.db") as store:
        urls = [host_id_of(row.comment) for row in store.select(CommentScore)]
    links = re.findall(r"#discussion_r(\d+)", "".join(texts))
    assert sorted(map(int, links)) == sorted(urls)
    assert "src/app.py:3" in texts[0]
    assert "&lt;script&gt;alert(1)" in texts[0]


def test_long_month_has_several_pages(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(details, "PULLS_PER_PAGE", 1)
    comment = store.select(CommentScore, "LIMIT 1")[0].comment
    store.change("DELETE FROM signals")
    store.put([SignalRow(comment=comment, signal=1, night="2026-03-30", rules=1, value=1)])
    overview = make_overview(store, OverviewOptions(period=PERIOD, resamples=50))
    write_site(store, overview, tmp_path / "site")
    names = sorted(path.name for path in (tmp_path / "site" / "pulls").iterdir())
    assert names == [PULL_PAGES[0], "acme-service-2-2026-03-2.html", PULL_PAGES[1]]
    text = "".join((tmp_path / "site" / "pulls" / name).read_text("utf-8") for name in names)
    assert text.count(" · acted on · ") == 1
    for page in pages(tmp_path / "site"):
        assert_links_lead_somewhere(page)


def test_json_is_the_overview(written: Path) -> None:
    document = json.loads((written / "audit.json").read_text("utf-8"))
    assert document["schema"] == "urn:crscore:audit:1"
    assert len(document["reviewers"]) == 12


def test_two_reports_of_one_store_are_equal_and_the_old_files_are_gone(
    store: Store, tmp_path: Path
) -> None:
    overview = make_overview(store, OverviewOptions(period=PERIOD, resamples=50))
    folder = tmp_path / "site"
    files = write_site(store, overview, folder)
    before = {file: file.read_bytes() for file in files}
    (folder / "bots" / "gone.html").write_text("of an older report")
    assert {file: file.read_bytes() for file in write_site(store, overview, folder)} == before
    assert {path.name for path in tmp_path.iterdir() if "site" in path.name} == {"site"}


def test_a_report_that_fails_leaves_the_old_one(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overview = make_overview(store, OverviewOptions(period=PERIOD, resamples=50))
    files = write_site(store, overview, tmp_path / "site")
    monkeypatch.setattr(site.details, "load_pulls", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_site(store, overview, tmp_path / "site")
    assert sorted(path for path in (tmp_path / "site").rglob("*") if path.is_file()) == files
    assert {path.name for path in tmp_path.iterdir() if "site" in path.name} == {"site"}


def test_folder_of_something_else_is_left_alone(store: Store, tmp_path: Path) -> None:
    overview = make_overview(store, OverviewOptions(period=PERIOD, resamples=50))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="has other files than a report"):
        write_site(store, overview, tmp_path / "mine")
    with pytest.raises(InputError, match="is a file"):
        write_site(store, overview, tmp_path / "mine" / "notes.txt")
    assert (tmp_path / "mine" / "notes.txt").read_text() == "mine"


def test_store_without_a_pull_request_has_a_report_and_an_empty_one_does_not(
    tmp_path: Path,
) -> None:
    with Store(tmp_path / "store.db") as store:
        with pytest.raises(InputError, match="has no repository yet: run crscore audit sync"):
            make_overview(store, OverviewOptions(period=PERIOD))
        store.put([audit_rows.repository()])
        overview = make_overview(store, OverviewOptions(period=PERIOD))
        files = write_site(store, overview, tmp_path / "site")
    assert [file.name for file in files] == ["audit.json", "index.html", "acme-service-1.html"]
    assert "No bot has a scored review" in files[1].read_text("utf-8")


def test_page_of_a_month_cuts_long_comments_and_links_their_places(written: Path) -> None:
    text = (written / "pulls" / PULL_PAGES[0]).read_text("utf-8")
    entries = re.findall(r"<li><b>(\d+|–)</b> (.*?) <small>(.*?)</small>", text)
    assert entries
    assert max(len(html.unescape(said)) for _, said, _ in entries) == COMMENT_CHARS + 1
    assert all(re.search(r'<a href="https://[^"]+">[^<]+</a>$', facts) for _, _, facts in entries)
