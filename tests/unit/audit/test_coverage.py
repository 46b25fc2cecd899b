from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crscore.audit.coverage import load_coverage
from crscore.audit.store.database import EMPTY_TEXT, Store
from crscore.audit.store.reports import Scope
from crscore.audit.store.rows import Check, Comment, comment_key
from crscore.hosts.records import MessageKind
from tests.helpers import audit_rows as rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.audit.overview import Coverage

MARCH = Scope(0, "2026-03-01", "2026-03-31", "[1, 2]")


@pytest.fixture
def store() -> Iterator[Store]:
    with Store(Path(":memory:")) as opened:
        opened.put([rows.repository(), rows.repository(2)])
        yield opened


def coverage(store: Store, reviewer: str = "otter") -> Coverage:
    return load_coverage(store, MARCH)[0][reviewer]


def counts(coverage_: Coverage) -> tuple[tuple[int, int], tuple[int, int]]:
    return (
        (coverage_.reviewed.count, coverage_.reviewed.total),
        (coverage_.last_head.count, coverage_.last_head.total),
    )


def test_merged_pulls_count_with_the_reviewed_head(store: Store) -> None:
    store.put(rows.pull(number) for number in (1, 2, 3, 4))
    store.put([rows.pull(5, state="open", merged=None)])
    store.put(
        [
            rows.comment(1, "otter", 1),
            rows.comment(2, "otter", 2, commit_id="0" * 40),
            rows.comment(3, "otter", 3, created=rows.at(1, 12)),
            rows.comment(5, "otter", 5),
        ]
    )

    # On 2, the bot reviewed an older commit; on 3, it posted after the merge; on 4, it did not
    # post; 5 is not merged.
    assert counts(coverage(store)) == ((3, 4), (1, 4))


def test_posts_that_are_no_review_do_not_count(store: Store) -> None:
    store.put(rows.pull(number) for number in (1, 2, 3, 4))
    report = {"is_review": 0, "thread": None, "commit_id": None}
    review = {"is_review": 0, "thread": None, "key": comment_key(MessageKind.REVIEW, 3)}
    store.put(
        [
            rows.comment(1, "otter", 1),
            rows.comment(2, "otter", 2, **report),
            rows.comment(3, "otter", 3, **review),
            rows.comment(4, "coderabbit", 4, **report),
        ]
    )

    # A report of a tool is not a review. A submitted review without a comment is one, and so is the
    # summary of a review bot that found nothing.
    assert coverage(store).reviewed.count == 2
    assert coverage(store, "coderabbit").reviewed.count == 1


def submitted(number: int, host_id: int, state: str, **changes: object) -> Comment:
    """Return a submitted review as the host lists it, which is not on a line."""
    key = comment_key(MessageKind.REVIEW, host_id)
    values = {"is_review": 0, "thread": None, "key": key, "path": None, "line": None}
    return rows.comment(number, "otter", host_id, state=state, **(values | changes))


def test_answer_in_a_thread_is_no_review_of_the_head(store: Store) -> None:
    store.put(rows.pull(number) for number in (1, 2, 3))
    thread = {"thread": comment_key(MessageKind.LINE, 1)}
    old = {"commit_id": "0" * 40}
    store.put(
        [
            # 1 has a review of an older commit and an answer on the last one; 2 has only an answer.
            rows.comment(1, "otter", 1, **old),
            rows.comment(1, "otter", 2, **thread, **old),
            submitted(1, 3, "COMMENTED", body=EMPTY_TEXT),
            rows.comment(2, "coderabbit", 4, thread=comment_key(MessageKind.LINE, 99)),
            # 3 has an approval without a text.
            submitted(3, 5, "APPROVED", body=EMPTY_TEXT),
        ]
    )

    assert counts(coverage(store)) == ((2, 3), (1, 3))
    assert counts(coverage(store, "coderabbit")) == ((0, 3), (0, 3))


def test_dismissed_review_does_not_count_for_the_head(store: Store) -> None:
    store.put(rows.pull(number) for number in (1, 2, 3))
    store.put(
        [
            rows.comment(1, "otter", 1),
            submitted(1, 2, "DISMISSED", created=rows.at(0, 11)),
            # On 2, a comment was made after the dismissed review; on 3, the dismissed review is of
            # an older commit.
            submitted(2, 3, "DISMISSED", created=rows.at(0, 9)),
            rows.comment(2, "otter", 4),
            submitted(3, 5, "DISMISSED", created=rows.at(0, 11), commit_id="0" * 40),
            rows.comment(3, "otter", 6),
        ]
    )

    assert counts(coverage(store)) == ((3, 3), (2, 3))


def test_repositories_without_the_reviewer_do_not_count(store: Store) -> None:
    store.put([rows.pull(1), rows.pull(2, repository=2), rows.comment(1, "otter", 1)])

    assert counts(coverage(store)) == ((1, 1), (1, 1))


def test_pulls_merged_before_the_first_post_do_not_count_unless_reviewed(store: Store) -> None:
    store.put(rows.pull(number, day=number) for number in range(1, 7))
    store.put(
        [
            rows.comment(1, "otter", 1, created=rows.at(4, 10)),
            rows.comment(5, "otter", 2, created=rows.at(5, 10)),
        ]
    )

    # 1, 2 and 3 were merged before the bot's first post. Of these, 1 counts, because the bot
    # reviewed it, but too late to have reviewed the last commit before the merge.
    assert counts(coverage(store)) == ((2, 4), (1, 4))


def test_a_notice_is_no_review_and_is_named(store: Store) -> None:
    store.put(rows.pull(number) for number in (1, 2, 3))
    store.put(
        rows.comment(number, "otter", number, is_review=0, skip=skip)
        for number, skip in ((1, "limit"), (2, "limit"), (3, "failed"))
    )

    result = coverage(store)

    assert counts(result) == ((0, 3), (0, 3))
    assert list(result.skips.items()) == [("limit", 2), ("failed", 1)]


def test_the_author_of_a_pull_does_not_review_it(store: Store) -> None:
    store.put([rows.pull(1, author="ada"), rows.pull(2), rows.comment(2, "ada", 2)])
    store.put([rows.comment(1, "ada", 1, is_review=0)])

    assert counts(coverage(store, "ada"))[0] == (1, 2)


def check(number: int, app: str, outcome: str = "success", name: str = "review") -> Check:
    return Check(
        repository=1, number=number, head=rows.head(number), app=app, name=name, outcome=outcome
    )


def test_a_green_check_without_a_review_is_counted(store: Store) -> None:
    store.put(rows.pull(number) for number in range(1, 6))
    store.put([rows.comment(1, "otter", 1, author="otter-ai[bot]")])
    store.put([rows.comment(2, "otter", 2, author="otter-ai[bot]", skip="limit", is_review=0)])
    # The bot reviewed 1, posted only a notice on 2 and nothing on 3. The check of 4 is red, and one
    # of the checks of 5 is red.
    store.put([check(number, "otter-ai") for number in (1, 2, 5)] + [check(3, "Otter", "neutral")])
    store.put([check(4, "otter-ai", "failure"), check(5, "otter-ai", "failure", "second")])

    assert coverage(store).green_unreviewed == 2


def test_without_a_check_green_is_unknown(store: Store) -> None:
    store.put([rows.pull(1), rows.comment(1, "otter", 1), check(1, "lint")])

    assert coverage(store).green_unreviewed is None
