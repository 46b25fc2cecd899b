from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from crscore.audit.coverage import rate
from crscore.audit.overview import Reviewer
from crscore.audit.ranking import recommend, sort_key
from crscore.audit.store.database import Store
from crscore.audit.summary import make_overview
from crscore.audit.tables import Period
from tests.helpers import audit_rows as rows

MARCH = Period(since="2026-03-01", until="2026-03-31")


@pytest.fixture(scope="module")
def reviewer() -> Reviewer:
    with Store(Path(":memory:")) as store:
        store.signature_id("one")
        store.put([rows.repository(), rows.pull(1), rows.comment(1, "otter", 1)])
        store.put([rows.comment_score(4, 1), rows.score(1, "otter", 50)])
        return make_overview(store, MARCH, resamples=20).reviewers[0]


def bot(
    reviewer: Reviewer,
    name: str,
    fixed: int,
    verdict: str = "keep",
    *,
    green: int = 0,
    late: int = 0,
) -> Reviewer:
    """Return a bot that saw 50 pull requests, with this many of 40 comments fixed, 10 by chance."""
    coverage = structs.replace(reviewer.coverage, reviewed=rate(30, 50), green_unreviewed=green)
    decision = structs.replace(
        reviewer.decision,
        verdict=verdict,
        fixed=rate(fixed, 40),
        chance=0.25,
        afterwards=rate(late, 50),
    )
    return structs.replace(reviewer, name=name, pulls=50, decision=decision, coverage=coverage)


def said(*bots: Reviewer) -> str:
    return recommend(sorted(bots, key=sort_key))


def test_first_one_to_keep_has_most_fixes_beyond_chance(reviewer: Reviewer) -> None:
    assert said(bot(reviewer, "hare", 18), bot(reviewer, "otter", 36)) == (
        "Keep otter first (26 fixes beyond chance on 50 pull requests), then hare (8 on 50)."
    )
    near = said(bot(reviewer, "hare", 18), bot(reviewer, "otter", 19), bot(reviewer, "wren", 9))
    assert near == (
        "Keep otter first (9 fixes beyond chance on 50 pull requests), then hare (8 on 50; this "
        "order may be chance), wren."
    )


def test_bot_whose_check_is_green_without_a_review_is_not_the_first(reviewer: Reviewer) -> None:
    text = said(bot(reviewer, "hare", 18), bot(reviewer, "otter", 36, green=20))

    assert text == (
        "Keep hare first (8 fixes beyond chance on 50 pull requests), then otter (26 on 50) "
        "only if its check stops being green without a review."
    )
    alone = said(bot(reviewer, "otter", 36, green=20))
    assert alone == "Keep otter only if its check stops being green without a review."


def test_worst_one_is_dropped_first_and_staged_ones_are_the_last_undecided(
    reviewer: Reviewer,
) -> None:
    text = said(
        bot(reviewer, "hare", 20, "drop"),
        bot(reviewer, "otter", 10, "drop"),
        bot(reviewer, "wren", 40, "undecided", late=25),
        bot(reviewer, "crow", 10, "undecided"),
    )

    assert text == "Undecided about crow, wren; drop otter first, then hare."
