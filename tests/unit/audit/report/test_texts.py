from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from crscore.audit.report import words
from crscore.audit.report.contents import (
    SHOWN_VERDICTS,
    render_summary,
    render_text,
    render_verdicts,
)
from crscore.audit.store.database import Store
from crscore.audit.summary import OverviewOptions, make_overview
from crscore.audit.tables import Period
from tests.helpers import audit_rows, github_markdown

if TYPE_CHECKING:
    from crscore.audit.overview import Overview


@pytest.fixture(scope="module")
def overview(tmp_path_factory: pytest.TempPathFactory) -> Overview:
    with Store(tmp_path_factory.mktemp("audit") / "store.db") as store:
        audit_rows.fill(store, comments=600)
        period = Period(since="2026-03-01", until="2026-03-30")
        return make_overview(store, OverviewOptions(period=period, resamples=200))


def test_heading_has_the_year_of_both_days_when_they_differ(overview: Overview) -> None:
    assert words.heading(overview) == "Review bots, 1 March to 30 March 2026"
    longer = structs.replace(overview, since="2022-01-01")
    assert words.heading(longer) == "Review bots, 1 January 2022 to 30 March 2026"


def test_summary_has_a_row_for_each_reviewer_and_few_verdicts(overview: Overview) -> None:
    text = render_summary(overview)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + len(overview.reviewers)
    pairs = text.partition("Pairs of bots")[2]
    assert len(re.findall(r"^- .*: ", pairs, re.MULTILINE)) == SHOWN_VERDICTS


def test_summary_shows_hostile_names_as_text(overview: Overview) -> None:
    page = github_markdown.page(render_summary(overview))
    assert "<b>bot" not in page
    assert "lint &lt;b&gt;bot" in page


def test_text_has_a_row_for_each_reviewer_and_fits(overview: Overview) -> None:
    text = render_text(overview, width=90)
    for row in overview.reviewers:
        assert any(line.strip().startswith(row.name[:8]) for line in text.splitlines())
    assert max(map(len, text.splitlines())) <= 90
    assert "\x1b" not in text
    assert "\x1b" in render_text(overview, color=True, width=90)


def test_verdicts_are_lines_in_the_given_order(overview: Overview) -> None:
    text = render_verdicts(overview.verdicts[:2], width=160)
    positions = [text.index(verdict.text[:28]) for verdict in overview.verdicts[:2]]
    assert positions == sorted(positions)


def test_clear_verdicts_come_first(overview: Overview) -> None:
    order = [verdict.verdict in {"better", "worse"} for verdict in words.decided_first(overview)]
    assert order == sorted(order, reverse=True)


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (3.14, "3.1"), (9.96, "10"), (0.0, "0.0"), (1234.4, "1,234")]
)
def test_number_has_a_decimal_below_ten_only(value: float | None, text: str) -> None:
    assert words.number(value) == text
