"""Nightly look at the threads of pull requests that did not change.

To resolve a thread does not change its pull request, so no list tells it. One query for many pull
requests reads the threads' states only; a thread that is not known makes its pull request pending.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from crscore.audit.store.database import Store
from crscore.audit.store.rows import Pull
from crscore.audit.sync import queries
from crscore.audit.sync.details import query_nodes
from crscore.audit.sync.lists import mark_pending
from crscore.audit.sync.observations import observe_thread
from crscore.audit.sync.traffic import Meter
from crscore.errors import BadTokenError, HostError, RateLimitedError

PULLS_A_QUERY: Final = 100
"""Pull requests in one query for states: the most that GitHub takes."""


def look_at_threads(
    store: Store, meter: Meter, pulls: Sequence[Pull], night: str, advance: Callable[[], None]
) -> None:
    """Append the states of threads that differ; what cannot be read so becomes pending.

    Args:
        store: The store.
        meter: Reads from GitHub.
        pulls: Pull requests that are not pending.
        night: Night of the observations.
        advance: Called for each pull request.

    Raises:
        RateLimitedError: The budget is spent, or GitHub's.
        BadTokenError: The token is missing or wrong.
    """
    batches = deque(
        list(pulls[start : start + PULLS_A_QUERY]) for start in range(0, len(pulls), PULLS_A_QUERY)
    )
    while batches:
        batch = batches.popleft()
        try:
            found = query_nodes(meter, queries.STATES_QUERY, batch)
        except (RateLimitedError, BadTokenError):
            raise
        except HostError:
            if len(batch) > 1:
                half = len(batch) // 2
                batches.extendleft([batch[half:], batch[:half]])
                continue
            found = {}
        with store.transaction():
            for pull in batch:
                if not _observe(store, pull, found.get(pull.node), night):
                    mark_pending(store, pull.repository, {pull.number})
                advance()


def _observe(store: Store, pull: Pull, node: queries.Pull | None, night: str) -> bool:
    """Return whether all threads are known and were observed."""
    if node is None or node.threads is None or node.threads.page_info.has_next_page:
        return False
    sql = (
        "SELECT node, id FROM threads WHERE id IN "
        "(SELECT thread FROM comments WHERE repository = ? AND number = ?)"
    )
    keys = dict(store.query(sql, pull.repository, pull.number))
    for thread in node.threads.nodes:
        if thread.id in keys:
            observe_thread(store, keys[thread.id], night, thread)
    return all(thread.id in keys for thread in node.threads.nodes)
