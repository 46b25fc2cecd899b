from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crscore.audit.store.database import Store
from crscore.audit.store.queries import put_comments
from crscore.audit.store.rows import Comment, Pull

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
