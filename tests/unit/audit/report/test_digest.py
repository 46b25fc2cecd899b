from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from crscore.audit.overview import ConfigurationChange
from crscore.audit.report.contents import make_digest, render_digest
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
        return make_overview(store, period, resamples=50)


def test_has_at_most_ten_lines_with_the_reasons_of_the_overview(overview: Overview) -> None:
    _, lines = make_digest(overview)
    assert 1 + len(lines) <= 10
    assert lines[0] == overview.recommendation
    assert overview.reviewers[0].decision
    assert lines[1] == overview.reviewers[0].decision.reason
    assert "And 5 more bots." in lines


def test_long_reasons_keep_their_whole_clauses(overview: Overview) -> None:
    first = overview.reviewers[0]
    reason = f"Keep {first.name}: {'; '.join(f'clause {at} of many' for at in range(40))}."
    assert first.decision
    decision = structs.replace(first.decision, reason=reason)
    row = structs.replace(first, decision=decision)
    title, lines = make_digest(structs.replace(overview, reviewers=(row,)))
    assert lines[1] == f"{reason[: reason.rindex('; ', 0, 300)]}."
    assert "… (+" not in render_digest(title, lines)


def test_reports_a_change_and_escapes_names(overview: Overview) -> None:
    change = ConfigurationChange(
        day="2026-03-25", number="words per comment", before=9.0, after=40.0, p_value=0.001
    )
    row = structs.replace(overview.reviewers[0], name="lint <b>bot</b>", changes=(change,))
    title, lines = make_digest(structs.replace(overview, reviewers=(row,)))
    text = "changed about 25 March: words per comment 9.0 before, 40.0 after."
    assert f"lint <b>bot</b> {text}" in lines
    assert "<b>bot" not in github_markdown.page(render_digest(title, lines))
