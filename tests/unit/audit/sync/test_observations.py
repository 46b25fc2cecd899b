from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crscore.audit.store.database import Store
from crscore.audit.store.queries import put_observation
from crscore.audit.store.rows import CommentObservation, ThreadObservation
from crscore.audit.sync.comments import to_observation, to_thread_observation
from crscore.github import graphql

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OPEN = graphql.Thread(id="T", is_resolved=False)
RESOLVED = graphql.Thread(id="T", is_resolved=True, resolved_by=graphql.Actor(login="ada"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "audit.sqlite3") as opened:
        yield opened


def observe_thread(store: Store, day: int, thread: graphql.Thread) -> None:
    put_observation(store, to_thread_observation(7, f"2026-01-0{day}", thread))


def nights(store: Store) -> list[tuple[str, int]]:
    return [(row.night, row.resolved) for row in store.find(ThreadObservation)]


def test_thread_is_observed_when_it_is_first_seen_and_when_it_changes(store: Store) -> None:
    for day, thread in ((1, OPEN), (2, OPEN), (3, RESOLVED), (4, RESOLVED)):
        observe_thread(store, day, thread)
    assert nights(store) == [("2026-01-01", 0), ("2026-01-03", 1)]
    assert store.find(ThreadObservation)[1].resolved_by == "ada"


def test_last_run_of_a_night_counts(store: Store) -> None:
    for day, thread in ((1, OPEN), (2, RESOLVED), (2, OPEN)):
        observe_thread(store, day, thread)
    assert nights(store) == [("2026-01-01", 0)]


def test_comment_is_observed_when_it_is_hidden_or_liked(store: Store) -> None:
    shown = graphql.CommentState(full_database_id="10")
    groups = [graphql.ReactionGroup(content="THUMBS_UP", reactors=graphql.Total(total_count=2))]
    liked = graphql.CommentState(full_database_id="10", reaction_groups=groups)
    hidden = graphql.CommentState(
        full_database_id="10", is_minimized=True, minimized_reason="OUTDATED"
    )
    for day, state in enumerate((shown, shown, liked, hidden, None), start=1):
        put_observation(store, to_observation(40, f"2026-01-0{day}", state))
    assert [(row.night[-1], row.minimized, row.up) for row in store.find(CommentObservation)] == [
        ("1", None, 0),
        ("3", None, 2),
        ("4", "outdated", 0),
        ("5", "deleted", 0),
    ]
