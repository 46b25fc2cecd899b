from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crscore.audit.store.database import Store
from crscore.audit.store.queries import put_observation
from crscore.audit.store.rows import CommentObservation, ThreadObservation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "audit.sqlite3") as opened:
        yield opened


def observe_thread(store: Store, day: int, resolved: int) -> None:
    row = ThreadObservation(thread=7, night=f"2026-01-0{day}", resolved=resolved, outdated=0)
    put_observation(store, row)


def nights(store: Store) -> list[tuple[str, int]]:
    return [(row.night, row.resolved) for row in store.find(ThreadObservation)]


def test_thread_is_observed_when_it_is_first_seen_and_when_it_changes(store: Store) -> None:
    for day, resolved in ((1, 0), (2, 0), (3, 1), (4, 1)):
        observe_thread(store, day, resolved)
    assert nights(store) == [("2026-01-01", 0), ("2026-01-03", 1)]


def test_last_run_of_a_night_counts(store: Store) -> None:
    for day, resolved in ((1, 0), (2, 1), (2, 0)):
        observe_thread(store, day, resolved)
    assert nights(store) == [("2026-01-01", 0)]


def test_comment_is_observed_when_it_is_hidden(store: Store) -> None:
    for day, minimized in enumerate((None, None, "outdated", "outdated", "deleted"), start=1):
        row = CommentObservation(comment=40, night=f"2026-01-0{day}", minimized=minimized)
        put_observation(store, row)
    assert [(row.night[-1], row.minimized) for row in store.find(CommentObservation)] == [
        ("1", None),
        ("3", "outdated"),
        ("5", "deleted"),
    ]
