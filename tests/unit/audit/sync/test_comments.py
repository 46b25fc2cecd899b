from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crscore.audit.store.database import Store
from crscore.audit.store.queries import logins_by_account, put_comments
from crscore.audit.store.rows import Comment, Pull, Score
from crscore.audit.sync import pulls

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LINE = Comment(
    key=40, repository=1, number=7, thread=40, author="helper[bot]", author_id=5, is_app=1,
    reviewer="helper[bot]", is_bot=1, is_review=0, body=1, created="2026-01-01T00:00:00Z",
    updated="2026-01-02T00:00:00Z", state="", commit_id="a" * 40, path="a.py", line=4,
    start_line=2, side="new",
)  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "audit.sqlite3") as opened:
        yield opened


def pull(number: int) -> Pull:
    return Pull(
        repository=1, number=number, node=f"P{number}", title="", author="ada", state="open",
        draft=0, created="2026-01-01T00:00:00Z", updated="2026-01-01T00:00:00Z", base_ref="main",
        base="b" * 40, head="a" * 40, pending=0, final=0,
    )  # fmt: skip


def test_only_new_and_edited_comments_change_a_pull_request(store: Store) -> None:
    row = replace(LINE, body=store.add_text("Off by one."))
    assert put_comments(store, [row]) == {7}
    store.put([replace(row, reviewer="helper", is_review=1)])
    assert put_comments(store, [row]) == set()
    edited = replace(row, body=store.add_text("Off by two."), updated="2026-01-03T00:00:00Z")
    assert put_comments(store, [edited]) == {7}
    assert [store.text(comment.body) for comment in store.select(Comment)] == ["Off by two."]


def test_renamed_account_is_renamed_everywhere(store: Store) -> None:
    store.put([pull(7), pull(8)])
    old = replace(LINE, author="nosuchbot[bot]", body=store.add_text("Off by one."))
    put_comments(store, [old])
    pulls.classify_comments(store, 1, 7, "ada")
    former = store.select(Comment)[0].reviewer
    store.put([score(former)])
    logins = logins_by_account(store)
    new = replace(old, key=80, number=8, author="otherbot[bot]")
    notes = pulls.rename_accounts(store, logins, [new])
    comment = store.select(Comment)[0]
    assert notes == ("nosuchbot[bot] is now called otherbot[bot]; stored comments were updated.",)
    assert (logins, comment.author) == ({(False, 5): "otherbot[bot]"}, "otherbot[bot]")
    assert store.select(Score)[0].reviewer == comment.reviewer != former


def test_other_name_on_reviews_is_no_new_name(store: Store) -> None:
    line = replace(LINE, author="Copilot", body=store.add_text("Off by one."))
    review = replace(line, key=41, author="copilot-pull-request-reviewer[bot]")
    logins = logins_by_account(store)
    assert pulls.rename_accounts(store, logins, [line, review, line]) == ()
    store.put([line, review])
    assert logins_by_account(store) == logins


def score(reviewer: str) -> Score:
    return Score(
        repository=1, number=7, reviewer=reviewer, signature=1, content=b"x", night="2026-01-01",
        head="a" * 40, is_bot=1, comments=1, words=2,
    )  # fmt: skip
