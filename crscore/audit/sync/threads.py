"""Nightly observation of the threads of pull requests that did not change.

Resolving a thread does not change its pull request, so no list shows it. One query for many pull
requests reads the threads' states only; an unknown thread makes its pull request pending.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from crscore.audit.store.database import Store
from crscore.audit.store.queries import mark_pending, put_observation, thread_keys
from crscore.audit.store.rows import Pull
from crscore.audit.sync.comments import to_thread_observation
from crscore.audit.sync.details import query_nodes
from crscore.audit.sync.traffic import Meter
from crscore.errors import BadTokenError, HostError, RateLimitedError
from crscore.github import graphql

PULLS_PER_QUERY: Final = 100
"""Pull requests in one query for states: GitHub's maximum."""


def observe_threads(
    store: Store, meter: Meter, pulls: Sequence[Pull], night: str, advance: Callable[[], None]
) -> None:
    """Append the states of threads that changed; pull requests that fail become pending.

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
    starts = range(0, len(pulls), PULLS_PER_QUERY)
    batches = deque(pulls[start : start + PULLS_PER_QUERY] for start in starts)
    while batches:
        batch = batches.popleft()
        try:
            nodes = query_nodes(meter, graphql.THREAD_STATES_QUERY, batch)
        except (RateLimitedError, BadTokenError):
            raise
        except HostError:
            # GitHub gives up on expensive queries: half of them may succeed.
            if len(batch) > 1:
                half = len(batch) // 2
                batches.extendleft([batch[half:], batch[:half]])
                continue
            nodes = {}
        with store.transaction():
            for pull in batch:
                if not _observe(store, pull, nodes.get(pull.node), night):
                    mark_pending(store, pull.repository, [pull.number])
                advance()


def _observe(store: Store, pull: Pull, node: graphql.Node | None, night: str) -> bool:
    """Return whether all threads are known and were observed."""
    # More threads than one page: this query has no paging, so the details read them.
    if node is None or node.threads.page_info.has_next_page:
        return False
    keys = thread_keys(store, pull.repository, pull.number)
    for thread in node.threads.nodes:
        if thread.id in keys:
            put_observation(store, to_thread_observation(keys[thread.id], night, thread))
    return all(thread.id in keys for thread in node.threads.nodes)
