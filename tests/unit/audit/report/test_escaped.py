"""Escaped defects on the page."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from crscore.audit.report.site import write_site
from crscore.audit.store.database import Store
from crscore.audit.store.rows import Followed, LaterChange, comment_key
from crscore.audit.summary import make_overview
from crscore.audit.tables import Period
from crscore.hosts.records import MessageKind
from tests.helpers import audit_rows as rows

overview_of = partial(
    make_overview, period=Period(since="2026-03-01", until="2026-03-31"), resamples=20
)


def fill(store: Store) -> None:
    """Store four merged pull requests.

    A later commit fixes 1, near a comment, and 2, far from comments; another changes 3 without a
    fix; 4 cannot be followed.
    """
    store.signature_id("one")
    store.put([rows.repository(), *(rows.pull(number) for number in range(1, 5))])
    body = store.add_text("It divides by zero.")
    for number in range(1, 4):
        key = comment_key(MessageKind.LINE, number)
        store.put(
            [
                rows.score(number, "otter", 50),
                rows.comment(number, "otter", number, body=body),
                rows.comment_score(key, number),
            ]
        )
        message = store.add_text(
            "Fix <img src=x> of carts\n\nIt failed." if number < 3 else "Add it"
        )
        commit_id = f"{number:040x}"
        store.put(
            [
                Followed(repository=1, number=number, night="2026-05-01"),
                LaterChange(
                    repository=1, number=number, commit_id=commit_id, at=rows.at(9), path="a.py",
                    line=7, fixes=int(number < 3), message=message,
                    near=f"[{key}]" if number == 1 else "[]",
                ),
            ]
        )  # fmt: skip
    store.put([Followed(repository=1, number=4, night="2026-05-01", reason="there is no clone")])


def test_numbers_and_pages(tmp_path: Path) -> None:
    with Store(Path(":memory:")) as store:
        fill(store)
        overview = overview_of(store)
        write_site(overview, tmp_path / "site")
    escaped = overview.escaped
    page = (tmp_path / "site" / "numbers.html").read_text("utf-8")

    assert (escaped.pulls, escaped.fixed.count) == (3, 2)
    (otter,) = escaped.reviewers
    assert (otter.near.share, otter.near_base.share) == (0.5, 0.0)
    assert [(row.number, row.text) for row in escaped.missed] == [(2, "Fix <img src=x> of carts")]
    assert "In 2 of 3 merged pull requests, lines were changed" in page
    # The page has no percentage, because there are only two fixes.
    assert "1 of 2<" in page
    assert f"https://github.com/acme/service-1/commit/{2:040x}" in page
    assert "<img" not in page


@pytest.mark.parametrize(
    ("level", "otter", "hare"), [("major", (0, 1), (0, 1)), ("nit", (1, 2), (0, 2))]
)
def test_later_fix_beside_important_comments_of_others_does_not_count(
    level: str, otter: tuple[int, int], hare: tuple[int, int]
) -> None:
    with Store(Path(":memory:")) as store:
        fill(store)
        key, other = (comment_key(MessageKind.LINE, at) for at in (1, 100))
        store.put([rows.comment(1, "hare", 100), rows.score(1, "hare", 50)])
        store.put([rows.comment_score(other, 1, level=level)])
        store.change("UPDATE later_changes SET near = ? WHERE number = 1", f"[{key}, {other}]")
        # The author of the pull request only replies.
        store.put([rows.comment(1, "nadia", 101, is_app=0, is_bot=0, is_review=0)])
        recalls = overview_of(store).escaped.reviewers

    counts = {row.reviewer: (row.near.count, row.near.total) for row in recalls}
    assert counts == {"otter": otter, "hare": hare}
