from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from crscore.audit.report import words
from crscore.audit.report.contents import (
    SHOWN_VERDICTS,
    render_summary,
    render_text,
    render_verdicts,
)
from crscore.audit.store.database import Store
from crscore.audit.summary import Options, make_overview
from crscore.audit.tables import Period
from tests.helpers import audit_rows, github_markdown

if TYPE_CHECKING:
    from crscore.audit.overview import Overview


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Overview:
    with Store(tmp_path_factory.mktemp("audit") / "store.db") as store:
        audit_rows.fill(store, comments=600)
        period = Period(since="2026-03-01", until="2026-03-30")
        return make_overview(store, Options(period=period, resamples=200))


def test_summary_has_a_row_for_each_reviewer_and_few_verdicts(found: Overview) -> None:
    text = render_summary(found, link="https://acme.example/report")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + len(found.reviewers)
    assert len(re.findall(r"^- .*: ", text, re.MULTILINE)) == SHOWN_VERDICTS
    assert "(https://acme.example/report)" in text


def test_summary_shows_hostile_names_as_text(found: Overview) -> None:
    page = github_markdown.page(render_summary(found))
    assert "<b>bot" not in page
    assert "lint &lt;b&gt;bot" in page


def test_text_has_a_row_for_each_reviewer_and_fits(found: Overview) -> None:
    text = render_text(found, width=90)
    for row in found.reviewers:
        assert any(line.strip().startswith(row.name[:8]) for line in text.splitlines())
    assert max(map(len, text.splitlines())) <= 90
    assert "\x1b" not in text
    assert "\x1b" in render_text(found, color=True, width=90)


def test_verdicts_are_lines_in_the_given_order(found: Overview) -> None:
    text = render_verdicts(found.verdicts[:2], width=160)
    positions = [text.index(verdict.text[:28]) for verdict in found.verdicts[:2]]
    assert positions == sorted(positions)


def test_clear_verdicts_come_first(found: Overview) -> None:
    order = [one.verdict in {"better", "worse"} for one in words.decided_first(found)]
    assert order == sorted(order, reverse=True)


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (3.14, "3.1"), (9.96, "10"), (0.0, "0.0"), (1234.4, "1,234")]
)
def test_number_has_a_decimal_below_ten_only(value: float | None, text: str) -> None:
    assert words.number(value) == text
