"""Escaped defects of a period: who wrote next to them before the merge."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final, NamedTuple

from crscore.audit.coverage import rate, rate_of_events
from crscore.audit.overview import Escaped, EscapedDefect, EscapedRecall, UnknownCount
from crscore.audit.score.escaped import DAYS
from crscore.audit.store.database import Store
from crscore.audit.store.queries import pull_pages
from crscore.audit.store.reports import (
    count_followed,
    read_later_changes,
    read_nearby_reviewers,
)
from crscore.audit.tables import ReviewTable
from crscore.hosts.site import site_of_page

MAX_MISSED: Final = 10
"""Maximum number of missed defects to list."""
_MAX_CHARS: Final = 200


class _LaterChange(NamedTuple):
    """Later commit that changes lines of a pull request."""

    pull: tuple[int, int]
    is_fix: bool
    near: frozenset[str]
    """Reviewers with a comment next to the lines."""
    defect: EscapedDefect


def load_escaped(store: Store, table: ReviewTable, host: str) -> Escaped:
    """Load the later commits that fixed lines of the merged pull requests of a period.

    Args:
        store: The store.
        table: Reviews of the period.
        host: Address of the host, for links.

    Raises:
        StoreError: The store cannot be read.
    """
    counts = count_followed(store, table.scope, DAYS)
    pulls = sum(count for reason, count, _ in counts if reason is None)
    changes = _read_changes(store, table, host)
    fixes = [change for change in changes if change.is_fix]
    return Escaped(
        days=DAYS,
        pulls=pulls,
        complete=sum(int(complete) for reason, _, complete in counts if reason is None),
        unknown=tuple(
            UnknownCount(reason=reason, pulls=count) for reason, count, _ in counts if reason
        ),
        fixed=rate(len({change.pull for change in fixes}), pulls),
        changed=rate(len({change.pull for change in changes if not change.is_fix}), pulls),
        near=rate_of_events((change.pull, bool(change.near)) for change in fixes),
        reviewers=_reviewers(table, changes),
        missed=tuple(change.defect for change in fixes if not change.near)[:MAX_MISSED],
    )


def _read_changes(store: Store, table: ReviewTable, host: str) -> list[_LaterChange]:
    near: dict[tuple[int, int, str], set[str]] = defaultdict(set)
    for *key, reviewer in read_nearby_reviewers(store, table.scope):
        near[key[0], key[1], key[2]].add(reviewer)
    changes = []
    pages = pull_pages(store, host)
    for row in read_later_changes(store, table.scope):
        repository, name, number, commit_id, is_fix, message, path, line = row
        # The subject of a merge is the title of its pull request, below the name of the branch.
        text = store.text(message)
        lines = [line.strip() for line in text.splitlines() if line.strip()] or [""]
        subject = lines[len(lines) > 1 and lines[0].startswith("Merge pull request ")]
        defect = EscapedDefect(
            repository=name,
            number=number,
            text=subject[:_MAX_CHARS],
            url=site_of_page(pages[name]).landed_address(pages[name], commit_id),
            path=path,
            line=line,
        )
        reviewers = frozenset(near[repository, number, commit_id])
        changes.append(_LaterChange((repository, number), bool(is_fix), reviewers, defect))
    return changes


def _reviewers(table: ReviewTable, changes: Iterable[_LaterChange]) -> tuple[EscapedRecall, ...]:
    rows = []
    for name, row in sorted(table.coverage.items(), key=lambda item: (not item[1].is_bot, item[0])):
        # A bot also saw pull requests without a comment of it; for a person, only comments count.
        pulls = set(row.pulls) | (table.seen_by(name) if row.is_bot else set())
        near, near_base = (
            rate_of_events(
                (change.pull, name in change.near)
                for change in changes
                if change.pull in pulls and change.is_fix is is_fix
            )
            for is_fix in (True, False)
        )
        if near.total:
            rows.append(
                EscapedRecall(reviewer=name, is_bot=row.is_bot, near=near, near_base=near_base)
            )
    return tuple(rows)
