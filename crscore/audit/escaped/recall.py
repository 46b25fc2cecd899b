"""Recall of escaped defects: what of them was said before the merge, by whom."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from crscore.audit.coverage import ReviewerCoverage, load_coverage, rate, rate_of_events
from crscore.audit.decide import pulls_there
from crscore.audit.escaped.run import DAYS
from crscore.audit.overview import Escaped, EscapedDefect, EscapedRecall, Rate, UnknownCount
from crscore.audit.store.database import Store
from crscore.audit.store.queries import pull_pages
from crscore.audit.store.reports import count_followed, read_later_changes, read_mentions
from crscore.audit.tables import ReviewTable
from crscore.hosts.addresses import landed_address

MAX_MISSED: Final = 10
"""Missed defects that are listed."""
_MAX_CHARS: Final = 200

_Pull = tuple[int, int]


class _Event(NamedTuple):
    """Later commit that changes lines of a pull request."""

    pull: _Pull
    is_fix: bool
    is_compared: bool
    near: frozenset[str]
    """Reviewers with a comment next to the lines."""
    mentioned_by: frozenset[str]
    """Reviewers with a comment that says what the message says."""
    defect: EscapedDefect


def load_escaped(store: Store, table: ReviewTable, host: str) -> Escaped:
    """Load what later commits fixed in the merged pull requests of a period.

    Args:
        store: The store.
        table: Reviews of the period.
        host: Address of the host, for links.

    Raises:
        StoreError: The store cannot be read.
    """
    counts = count_followed(store, table.scope, DAYS)
    pulls = sum(count for reason, count, _ in counts if reason is None)
    events = _events(store, table, host)
    fixes = [event for event in events if event.is_fix]
    coverage = load_coverage(store, table.scope)
    return Escaped(
        days=DAYS,
        pulls=pulls,
        complete=sum(int(complete) for reason, _, complete in counts if reason is None),
        unknown=tuple(
            UnknownCount(reason=reason, pulls=count) for reason, count, _ in counts if reason
        ),
        fixed=rate(len({event.pull for event in fixes}), pulls),
        changed=rate(len({event.pull for event in events if not event.is_fix}), pulls),
        mentioned=rate_of_events(
            (event.pull, bool(event.mentioned_by)) for event in fixes if event.is_compared
        ),
        not_compared=sum(not event.is_compared for event in fixes),
        reviewers=_reviewers(table, coverage, events),
        missed=tuple(
            event.defect
            for event in fixes
            if event.is_compared and not event.mentioned_by and not event.near
        )[:MAX_MISSED],
    )


def _events(store: Store, table: ReviewTable, host: str) -> list[_Event]:
    near: dict[tuple[int, int, str], set[str]] = defaultdict(set)
    mentioned_by: dict[tuple[int, int, str], set[str]] = defaultdict(set)
    for repository, number, landed, reviewer, is_near, is_mentioned in read_mentions(
        store, table.scope
    ):
        near[repository, number, landed] |= {reviewer} if is_near else set()
        mentioned_by[repository, number, landed] |= {reviewer} if is_mentioned else set()
    events = []
    pages = pull_pages(store, host)
    for row in read_later_changes(store, table.scope):
        repository, name, number, landed, is_fix, message, path, line, is_compared = row
        key = (repository, number, landed)
        events.append(
            _Event(
                pull=(repository, number),
                is_fix=bool(is_fix),
                is_compared=bool(is_compared),
                near=frozenset(near[key]),
                mentioned_by=frozenset(mentioned_by[key]),
                defect=EscapedDefect(
                    repository=name,
                    number=number,
                    text=_subject(store.text(message)),
                    url=landed_address(pages[name], landed),
                    path=path,
                    line=line,
                ),
            )
        )
    return events


def _subject(message: str) -> str:
    """Return the subject; that of a merge is its pull request's title, below the branch's name."""
    lines = [line.strip() for line in message.splitlines() if line.strip()] or [""]
    return lines[len(lines) > 1 and lines[0].startswith("Merge pull request ")][:_MAX_CHARS]


def _reviewers(
    table: ReviewTable, coverage: Mapping[str, ReviewerCoverage], events: Iterable[_Event]
) -> tuple[EscapedRecall, ...]:
    rows = []
    for name, row in sorted(coverage.items(), key=lambda item: (not item[1].is_bot, item[0])):
        # Silence of a bot counts; a person was there where they wrote.
        pulls = set(row.pulls) | (pulls_there(table, name, row) if row.is_bot else set())
        fixes, rest = (
            [event for event in events if event.pull in pulls and event.is_fix is is_fix]
            for is_fix in (True, False)
        )
        if fixes:
            rows.append(
                EscapedRecall(
                    reviewer=name,
                    is_bot=row.is_bot,
                    mentioned=_mentioned_by(name, fixes),
                    mentioned_base=_mentioned_by(name, rest),
                    near=rate_of_events((event.pull, name in event.near) for event in fixes),
                    near_base=rate_of_events((event.pull, name in event.near) for event in rest),
                )
            )
    return tuple(rows)


def _mentioned_by(name: str, events: Iterable[_Event]) -> Rate:
    return rate_of_events(
        (event.pull, name in event.mentioned_by) for event in events if event.is_compared
    )
