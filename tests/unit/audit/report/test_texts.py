from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from crscore.audit.report import contents
from crscore.audit.report.contents import render_summary, render_text, render_verdicts
from crscore.audit.store.database import Store
from crscore.audit.summary import make_overview
from crscore.audit.tables import Period
from tests.helpers import audit_rows, github_markdown

if TYPE_CHECKING:
    from crscore.audit.overview import Overview


@pytest.fixture(scope="module")
def overview(tmp_path_factory: pytest.TempPathFactory) -> Overview:
    with Store(tmp_path_factory.mktemp("audit") / "store.db") as store:
        audit_rows.fill(store, comments=600)
        period = Period(since="2026-03-01", until="2026-03-30")
        return make_overview(store, period, resamples=200)


def test_heading_has_the_year_of_both_days_when_they_differ(overview: Overview) -> None:
    assert contents.make_title(overview) == "Review bots, 1 March to 30 March 2026"
    longer = structs.replace(overview, since="2022-01-01")
    assert contents.make_title(longer) == "Review bots, 1 January 2022 to 30 March 2026"


def test_summary_shows_hostile_names_as_text(overview: Overview) -> None:
    page = github_markdown.page(render_summary(overview))
    assert "<b>bot" not in page
    assert "lint &lt;b&gt;bot" in page


def test_summary_cuts_no_sentence(overview: Overview) -> None:
    page = github_markdown.page(render_summary(overview))
    assert all(text[-30:].replace("*", "") in page for text in contents.EXPLANATION)


def test_text_has_the_lines_of_each_bot_and_fits(overview: Overview) -> None:
    text = render_text(overview, width=90)
    words = " ".join(text.split())
    for row in overview.reviewers:
        assert all(f"{fact.title}: {fact.text[:40]}" in words for fact in row.facts)
    assert overview.recommendation in words
    assert max(map(len, text.splitlines())) <= 90
    assert "\x1b" not in text
    assert "\x1b" in render_text(overview, color=True, width=90)


def test_clear_verdicts_come_first(overview: Overview) -> None:
    clear = structs.replace(overview.verdicts[0], verdict="better", text="hare finds more")
    text = render_verdicts([overview.verdicts[0], clear], width=160)
    assert text.index("hare finds more") < text.index(overview.verdicts[0].text[:28])
