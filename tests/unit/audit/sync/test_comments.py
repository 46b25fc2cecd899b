from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import pytest

from crscore.audit.store.database import Store
from crscore.audit.store.queries import logins_by_account, put_comments
from crscore.audit.store.rows import Comment, Pull, Score
from crscore.audit.sync import comments
from crscore.audit.sync.comments import to_row
from crscore.github.conversation import CommentItem, LineItem, User

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGES = "https://github.com/acme/shop/pull"
LINE = LineItem(
    id=10,
    body="Off by one.",
    created_at="2026-01-01T00:00:00Z",
    updated_at="2026-01-02T00:00:00Z",
    user=User(login="helper[bot]", id=5, type="Bot"),
    html_url=f"{PAGES}/7#discussion_r10",
    path="a.py",
    diff_hunk="@@ -1 +1 @@\n-a\n+b",
    original_line=4,
    original_start_line=2,
    side="RIGHT",
    start_side="RIGHT",
    subject_type="line",
    original_commit_id="a" * 40,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "audit.sqlite3") as opened:
        yield opened


def item(**changed: object) -> LineItem:
    return msgspec.structs.replace(LINE, **changed)


def pull(number: int) -> Pull:
    return Pull(
        repository=1, number=number, node=f"P{number}", title="", author="ada", state="open",
        draft=0, created="2026-01-01T00:00:00Z", updated="2026-01-01T00:00:00Z", base_ref="main",
        base="b" * 40, head="a" * 40, pending=0, final=0,
    )  # fmt: skip


def test_line_comment_keeps_the_place_it_was_written_on(store: Store) -> None:
    row = to_row(store, 1, LINE)
    assert (row.number, row.path, row.line, row.start_line, row.side) == (7, "a.py", 4, 2, "new")
    assert (row.commit_id, row.thread) == ("a" * 40, row.key)


def test_reply_is_in_the_thread_of_the_first_comment(store: Store) -> None:
    assert to_row(store, 1, item(id=11, in_reply_to_id=10)).thread == to_row(store, 1, LINE).key


@pytest.mark.parametrize(
    ("changed", "line", "start"),
    [
        ({"subject_type": "file"}, None, None),
        ({"start_side": "LEFT"}, 4, None),
        ({"original_start_line": 9}, 4, None),
        ({"original_start_line": None}, 4, None),
    ],
)
def test_lines_that_are_no_range_of_one_side(
    store: Store, changed: dict[str, object], line: int | None, start: int | None
) -> None:
    row = to_row(store, 1, item(**changed))
    assert (row.line, row.start_line) == (line, start)


@pytest.mark.parametrize(
    ("url", "number"),
    [
        ("https://github.com/acme/shop/pull/7#issuecomment-1", 7),
        ("https://github.com/acme/shop/issues/7#issuecomment-1", None),
        ("https://github.com/pull/7/issues/8#issuecomment-1", None),
    ],
)
def test_conversation_of_an_issue_has_no_pull_request(url: str, number: int | None) -> None:
    assert CommentItem(id=1, html_url=url).number == number


def test_comment_of_a_deleted_account_is_kept(store: Store) -> None:
    row = to_row(store, 1, item(user=None, body=None))
    assert (row.author, row.author_id, store.text(row.body)) == (None, None, "")


def test_only_new_and_edited_comments_change_a_pull_request(store: Store) -> None:
    row = to_row(store, 1, LINE)
    assert put_comments(store, [row]) == {7}
    store.put([replace(row, reviewer="helper", is_review=1)])
    assert put_comments(store, [row]) == set()
    edited = to_row(store, 1, item(body="Off by two.", updated_at="2026-01-03T00:00:00Z"))
    assert put_comments(store, [edited]) == {7}
    assert [store.text(one.body) for one in store.select(Comment)] == ["Off by two."]


def test_renamed_account_is_renamed_everywhere(store: Store) -> None:
    store.put([pull(7), pull(8)])
    old = item(user=User(login="nosuchbot[bot]", id=5, type="Bot"))
    put_comments(store, [to_row(store, 1, old)])
    comments.classify_comments(store, 1, 7, "ada")
    former = store.select(Comment)[0].reviewer
    store.put([score(former)])
    logins = logins_by_account(store)
    new = item(
        id=20,
        user=User(login="otherbot[bot]", id=5, type="Bot"),
        html_url=f"{PAGES}/8#discussion_r20",
    )
    notes = comments.rename_accounts(store, logins, [to_row(store, 1, new)])
    comment = store.select(Comment)[0]
    assert notes == ("nosuchbot[bot] is now called otherbot[bot]; stored comments were updated.",)
    assert (logins, comment.author) == ({(False, 5): "otherbot[bot]"}, "otherbot[bot]")
    assert store.select(Score)[0].reviewer == comment.reviewer != former


def test_other_name_on_reviews_is_no_new_name(store: Store) -> None:
    line = to_row(store, 1, item(user=User(login="Copilot", id=5, type="Bot")))
    review = replace(line, key=41, author="copilot-pull-request-reviewer[bot]")
    logins = logins_by_account(store)
    assert comments.rename_accounts(store, logins, [line, review, line]) == ()
    store.put([line, review])
    assert logins_by_account(store) == logins


def score(reviewer: str) -> Score:
    return Score(
        repository=1, number=7, reviewer=reviewer, signature=1, content=b"x", night="2026-01-01",
        head="a" * 40, is_bot=1, comments=1, sentences=1, words=2,
    )  # fmt: skip
