from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from crscore.audit.overview import Overview
from crscore.audit.store.database import Store
from crscore.audit.store.rows import OpenPoint, comment_key
from crscore.audit.summary import OverviewOptions, make_overview
from crscore.audit.tables import Period
from crscore.hosts.records import MessageKind
from tests.helpers import audit_rows as rows

if TYPE_CHECKING:
    from collections.abc import Iterator

MARCH = Period(since="2026-03-01", until="2026-03-31")
OPTIONS = OverviewOptions(period=MARCH, resamples=200)


@pytest.fixture
def store() -> Iterator[Store]:
    with Store(Path(":memory:")) as opened:
        opened.signature_id("one")
        opened.put([rows.repository()])
        yield opened


def test_an_empty_store_has_an_overview(store: Store) -> None:
    overview = make_overview(store, OPTIONS)

    assert (overview.pulls, overview.scored, overview.reviewers, overview.signature) == (
        0,
        0,
        (),
        "",
    )
    assert overview.notes == (
        "The scores may be incomplete: there is no run since the first day of the period.",
    )


def test_a_filled_store_gives_the_same_valid_document_twice() -> None:
    def document() -> bytes:
        with Store(Path(":memory:")) as filled:
            rows.fill(filled, comments=600, seed=3)
            return msgspec.json.encode(make_overview(filled, OPTIONS))

    first = document()
    overview = msgspec.json.decode(first, type=Overview)

    assert first == document()
    assert [reviewer.name for reviewer in overview.reviewers if not reviewer.is_bot] == [
        reviewer.name for reviewer in overview.reviewers[10:]
    ]
    assert len(overview.verdicts) == 45
    assert (len(overview.best), len(overview.worst)) == (5, 5)
    assert len(overview.gaps) == len({gap.text for gap in overview.gaps}) > 1
    bots = [
        reviewer.usefulness.value for reviewer in overview.reviewers[:10] if reviewer.usefulness
    ]
    assert bots == sorted(bots, reverse=True)


def test_means_are_over_pulls(store: Store) -> None:
    store.put(rows.pull(number) for number in (1, 2, 3))
    store.put([rows.score(1, "otter", 20, comments=1), rows.score(2, "otter", 60, comments=4)])
    store.put([rows.score(3, "otter", None, comments=1)])

    overview = make_overview(store, OPTIONS)
    (otter,) = overview.reviewers

    assert (otter.usefulness.value, otter.comments_per_pull.value) == (40.0, 2.0)
    assert (otter.pulls, otter.comments, otter.abstained, otter.rank) == (2, 6, 1, (1, 1))
    assert (overview.pulls, overview.merged, overview.scored) == (3, 3, 2)


def test_remarks_are_shares_of_all_pulls(store: Store) -> None:
    store.put(rows.pull(number) for number in (1, 2))
    store.put([rows.score(1, "otter", 20, critical=3), rows.score(2, "otter", None)])
    store.put([rows.score(2, "hare", None)])

    hare, otter = sorted(make_overview(store, OPTIONS).reviewers, key=lambda row: row.name)

    assert hare.remarks == {}
    assert otter.remarks == pytest.approx(
        {"critical": 3 / 7, "major": 1 / 7, "minor": 0, "nit": 1 / 7, "empty": 2 / 7}
    )


def test_one_pull_has_no_interval(store: Store) -> None:
    store.put([rows.pull(1), rows.score(1, "otter", 20)])

    assert make_overview(store, OPTIONS).reviewers[0].usefulness is None


def test_people_are_listed_after_bots_and_not_ranked(store: Store) -> None:
    store.put(rows.pull(number) for number in (1, 2))
    store.put(rows.score(number, "ada", 90) for number in (1, 2))
    store.put(rows.score(number, "otter", 10) for number in (1, 2))

    reviewers = make_overview(store, OPTIONS).reviewers

    assert [(row.name, row.rank) for row in reviewers] == [("otter", (1, 1)), ("ada", None)]


def test_a_bot_that_never_reviewed_is_listed(store: Store) -> None:
    store.put([rows.pull(1), rows.comment(1, "otter", 1, is_review=0, skip="limit")])

    (otter,) = make_overview(store, OPTIONS).reviewers

    assert (otter.pulls, otter.usefulness, otter.rank) == (0, None, None)
    assert otter.coverage.skips[0].reason == "limit"


def test_a_trend_breaks_where_the_signature_changes(store: Store) -> None:
    store.signature_id("two")
    store.put(rows.pull(number, day=number) for number in range(1, 25))
    store.put(rows.score(number, "otter", 10) for number in (1, 2))
    store.put(rows.score(number, "otter", 70, signature=2) for number in range(2, 25))

    overview = make_overview(store, OPTIONS)
    trend = overview.reviewers[0].trend

    assert (overview.signature, overview.other_signatures) == ("two", ("one",))
    assert [(point.day, point.usefulness, point.signature) for point in trend[:2]] == [
        ("2026-03-02", 10.0, 1),
        ("2026-03-03", 70.0, 2),
    ]
    assert overview.reviewers[0].usefulness.value == 70


def test_the_best_and_the_worst_comments_of_bots_are_linked(store: Store) -> None:
    body = store.add_text("<b>Why?</b>")
    store.put([rows.pull(1), rows.score(1, "otter", 50), rows.score(1, "ada", 99)])
    text = {"text": "Why?"}
    review = {"key": comment_key(MessageKind.REVIEW, 2), "thread": None}
    store.put(
        [
            rows.comment(1, "otter", 1, body=body),
            rows.comment(1, "otter", 2, body=body, **review),
            rows.comment(1, "ada", 3, body=body),
        ]
    )
    store.put([rows.comment_score(4, 1, 80, **text), rows.comment_score(review["key"], 1, 5)])
    store.put([rows.comment_score(12, 1, 99, **text)])

    overview = make_overview(store, OverviewOptions(period=MARCH, resamples=50, examples=1))

    page = "https://github.com/acme/service-1/pull/1"
    assert [example.url for example in overview.best] == [f"{page}#discussion_r1"]
    assert [example.url for example in overview.worst] == [f"{page}#pullrequestreview-2"]
    best = overview.best[0]
    assert (best.text, best.stance, best.level) == ("Why?", "names a problem", "major")


def test_best_comments_are_the_important_ones_and_a_visible_text_is_there_once(
    store: Store,
) -> None:
    store.put([rows.pull(1), rows.score(1, "otter", 50)])
    for at, (text, level) in enumerate(
        [
            ("Rename it to `total`.", "nit"),
            ("This leaks a handle.", "major"),
            ("This leaks a handle.", "major"),
        ],
        1,
    ):
        body = store.add_text(f"<!-- {at} -->{text}")
        store.put([rows.comment(1, "otter", at, body=body)])
        store.put([rows.comment_score(4 * at, 1, 90 - at, level=level, text=text)])

    best = make_overview(store, OPTIONS).best

    assert [(example.level, example.text) for example in best] == [
        ("major", "This leaks a handle."),
        ("nit", "Rename it to `total`."),
    ]


def test_pull_that_could_not_be_scored_is_counted(store: Store) -> None:
    store.put([rows.pull(1), rows.score(1, "", reason="failed: no memory")])
    store.put([rows.pull(2), rows.score(2, "", 50), rows.score(2, "otter", 50)])

    overview = make_overview(store, OPTIONS)

    assert overview.failed == 1
    assert "Could not be scored: 1 pull request." in overview.notes


def point(number: int, rank: int, text: str, severity: str | None = None) -> OpenPoint:
    return OpenPoint(
        repository=1,
        number=number,
        signature=1,
        content=number.to_bytes(8, "big"),
        rank=rank,
        text=text,
        severity=severity,
        line=1,
    )


def test_gaps_are_one_a_pull_a_text_once_and_the_severe_ones_first(store: Store) -> None:
    store.put(rows.pull(number, day=number) for number in (1, 2, 3, 4, 5))
    store.put(rows.score(number, "otter", 50) for number in (1, 2, 3, 4, 5))
    store.put([point(1, 1, "first", "error"), point(1, 2, "second", "error")])
    store.put([point(2, 1, "third", "note"), point(3, 1, "fourth", "note")])
    store.put([point(4, 1, "first", "warning"), point(5, 1, "a description")])

    gaps = make_overview(store, OPTIONS).gaps

    assert [(row.text, row.number) for row in gaps] == [("first", 1), ("fourth", 3), ("third", 2)]


def test_text_is_shown_once(store: Store) -> None:
    store.put(rows.pull(number, day=number) for number in (1, 2))
    store.put(rows.score(number, "otter", 50) for number in (1, 2))
    body = store.add_text("Rename it.")
    store.put(rows.comment(number, "otter", number, body=body) for number in (1, 2))
    store.put(
        rows.comment_score(4 * number, number, 50 + number, text="Rename it.") for number in (1, 2)
    )

    overview = make_overview(store, OPTIONS)

    assert [(example.number, example.standing) for example in overview.best] == [(2, 52)]
    assert [(example.number, example.standing) for example in overview.worst] == [(1, 51)]


def test_comments_in_another_language_are_counted(store: Store) -> None:
    store.put([rows.pull(1), rows.score(1, "otter", None), rows.comment(1, "otter", 1)])
    scored = rows.comment_score(4, 1, stance="is not in English", level=None)
    store.put([replace(scored, standing=None)])
    overview = make_overview(store, OPTIONS)
    assert "Not in English, so not read: 1 comment." in overview.notes
    assert overview.best == overview.worst == ()


def test_a_run_that_was_killed_is_partial(store: Store) -> None:
    store.put([rows.run(1, id=1), rows.run(2, id=2, finished=None)])

    overview = make_overview(store, OPTIONS)

    assert [night.partial for night in overview.nights] == [None, "it was stopped"]
    assert "the score of 2026-03-03 is partial: it was stopped" in overview.notes[0]


def test_best_comments_are_not_of_one_bot_only(store: Store) -> None:
    store.put([rows.pull(1)])
    for host_id in range(1, 9):
        name = "hare" if host_id == 1 else "otter"
        key = comment_key(MessageKind.LINE, host_id)
        store.put([rows.comment(1, name, host_id), rows.comment_score(key, 1, 50 + host_id)])
        store.put([rows.score(1, name, 50)])

    best = make_overview(store, OPTIONS).best

    assert [row.reviewer for row in best] == ["otter", "otter", "hare", "otter", "otter"]
