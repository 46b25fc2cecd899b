"""Observations of threads and comments."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from crscore.audit.store.database import Store
from crscore.audit.store.rows import CommentObservation, ThreadObservation
from crscore.audit.sync.queries import State, Thread

DELETED: Final = "deleted"
"""Reason with which a deleted comment counts as minimised."""


def observe_thread(store: Store, key: int, night: str, thread: Thread) -> None:
    """Append the state of a thread when it differs, in an open transaction."""
    row = ThreadObservation(
        thread=key,
        night=night,
        resolved=int(thread.is_resolved),
        resolved_by=thread.resolved_by.login if thread.resolved_by else None,
        outdated=int(thread.is_outdated),
    )
    where = "WHERE thread = ? AND night < ? ORDER BY night DESC LIMIT 1"
    before = store.select(ThreadObservation, where, key, night)
    if before and replace(before[0], night=night) == row:
        # as before: what an earlier run of this night saw is no more
        store.change("DELETE FROM thread_observations WHERE thread = ? AND night = ?", key, night)
    else:
        store.put([row])


def observe_comment(store: Store, key: int, night: str, state: State) -> None:
    """Append the state of a comment when it differs, in an open transaction."""
    up, down = state.reactions("THUMBS_UP"), state.reactions("THUMBS_DOWN")
    _observe(store, key, night, state.minimized, up, down)


def observe_deletion(store: Store, key: int, night: str) -> None:
    """Append that the host has a comment no more, in an open transaction."""
    _observe(store, key, night, DELETED, 0, 0)


def _observe(store: Store, key: int, night: str, minimized: str | None, up: int, down: int) -> None:
    row = CommentObservation(comment=key, night=night, minimized=minimized, up=up, down=down)
    where = "WHERE comment = ? AND night < ? ORDER BY night DESC LIMIT 1"
    before = store.select(CommentObservation, where, key, night)
    if before and replace(before[0], night=night) == row:
        store.change("DELETE FROM comment_observations WHERE comment = ? AND night = ?", key, night)
    else:
        store.put([row])
