from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crscore.audit.store.database import Store
from crscore.audit.store.rows import CommentObservation, ThreadObservation
from crscore.audit.sync import queries
from crscore.audit.sync.observations import observe_comment, observe_thread

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OPEN = queries.Thread(id="T", is_resolved=False, is_outdated=False)
RESOLVED = queries.Thread(
    id="T", is_resolved=True, is_outdated=False, resolved_by=queries.Actor(login="ada")
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "audit.sqlite3") as opened:
        yield opened


def nights(store: Store) -> list[tuple[str, int]]:
    return [(one.night, one.resolved) for one in store.select(ThreadObservation)]


def test_thread_is_observed_when_it_is_first_seen_and_when_it_changes(store: Store) -> None:
    for day, thread in ((1, OPEN), (2, OPEN), (3, RESOLVED), (4, RESOLVED)):
        observe_thread(store, 7, f"2026-01-0{day}", thread)
    assert nights(store) == [("2026-01-01", 0), ("2026-01-03", 1)]


def test_second_run_of_a_night_has_the_last_word(store: Store) -> None:
    observe_thread(store, 7, "2026-01-01", OPEN)
    observe_thread(store, 7, "2026-01-02", RESOLVED)
    observe_thread(store, 7, "2026-01-02", OPEN)
    assert nights(store) == [("2026-01-01", 0)]


def test_resolver_is_observed(store: Store) -> None:
    observe_thread(store, 7, "2026-01-01", RESOLVED)
    assert store.select(ThreadObservation)[0].resolved_by == "ada"


def test_comment_is_observed_when_it_is_hidden_or_liked(store: Store) -> None:
    shown = queries.State(full_database_id="10")
    groups = [queries.ReactionGroup(content="THUMBS_UP", reactors=queries.Total(total_count=2))]
    liked = queries.State(full_database_id="10", reaction_groups=groups)
    hidden = queries.State(full_database_id="10", is_minimized=True, minimized_reason="OUTDATED")
    for day, state in ((1, shown), (2, shown), (3, liked), (4, hidden)):
        observe_comment(store, 40, f"2026-01-0{day}", state)
    found = store.select(CommentObservation)
    assert [(one.night[-1], one.minimized, one.up) for one in found] == [
        ("1", None, 0),
        ("3", None, 2),
        ("4", "outdated", 0),
    ]
