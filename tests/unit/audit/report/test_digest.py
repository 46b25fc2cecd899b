from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from crscore.audit.overview import ConfigurationChange
from crscore.audit.report.digest import MAX_LINES, digest, render_markdown
from crscore.audit.store.database import Store
from crscore.audit.summary import OverviewOptions, make_overview
from crscore.audit.tables import Period
from tests.helpers import audit_rows, github_markdown

if TYPE_CHECKING:
    from crscore.audit.overview import Overview

SINCE = ("2026-03-24", "2026-03-17", "2026-03-01")


@pytest.fixture(scope="module")
def overviews(tmp_path_factory: pytest.TempPathFactory) -> list[Overview]:
    """The last week, the week before, and the month."""
    with Store(tmp_path_factory.mktemp("audit") / "store.db") as store:
        audit_rows.fill(store, comments=600)
        periods = [Period(since=since, until="2026-03-30") for since in SINCE]
        return [
            make_overview(store, OverviewOptions(period=period, resamples=50)) for period in periods
        ]


def test_has_at_most_ten_lines_with_the_numbers_of_the_overview(overviews: list[Overview]) -> None:
    made = digest(*overviews)
    assert 1 + len(made.lines) <= MAX_LINES
    now, before, month = overviews
    row = now.reviewers[0]
    line = next(line for line in made.lines if line.startswith(f"{row.name}: "))
    verdict = {other.name: other.decision.verdict for other in month.reviewers if other.decision}
    earlier = {other.name: other.usefulness for other in before.reviewers}
    assert f": {verdict[row.name]}, {row.comments:,} comments on {row.pulls:,} pull" in line
    assert f"({earlier[row.name].value:.0f} in the period before)" in line
    assert "And 5 more bots." in made.lines


def test_reports_a_change_and_escapes_names(overviews: list[Overview]) -> None:
    now, *others = overviews
    change = ConfigurationChange(
        day="2026-03-25", number="words per comment", before=9.0, after=40.0, p_value=0.001
    )
    row = structs.replace(now.reviewers[0], name="lint <b>bot</b>", changes=(change,))
    made = digest(structs.replace(now, reviewers=(row,)), *others)
    text = "changed about 25 March: words per comment 9.0 before, 40 after."
    assert f"lint <b>bot</b> {text}" in made.lines
    assert "<b>bot" not in github_markdown.page(render_markdown(made))
