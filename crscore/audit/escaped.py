"""Loads escaped defects: which lines were fixed after the merge, and who had commented there."""

import json
from typing import Final

from crscore.audit.coverage import rate, rate_of_events
from crscore.audit.overview import Escaped, EscapedDefect, EscapedRecall
from crscore.audit.score.escaped import DAYS
from crscore.audit.store.database import Store
from crscore.audit.store.queries import pull_pages
from crscore.audit.store.reports import count_followed, read_later_changes
from crscore.audit.tables import ReviewTable
from crscore.hosts.site import site_of_page

MAX_MISSED: Final = 10
"""Maximum number of missed defects to list."""


def load_escaped(store: Store, table: ReviewTable, host: str) -> Escaped:
    """Load the later commits that fixed merged pull requests, and who had commented near the lines.

    Args:
        store: The store.
        table: Reviews of the period.
        host: Address of GitHub's pages, for links.

    Raises:
        StoreError: The store cannot be read.
    """
    pages = pull_pages(store, host)
    changes: list[tuple[tuple[int, int], bool, list[str]]] = []
    missed: list[EscapedDefect] = []
    for row in read_later_changes(store, table.scope, table.formulas):
        repository, name, number, commit_id, is_fix, message, path, line, near = row
        # `near` has the reviewers whose comments were next to the changed lines.
        changes.append(((repository, number), bool(is_fix), json.loads(near)))
        if not is_fix or changes[-1][2] or len(missed) == MAX_MISSED:
            continue
        # The first line of a merge commit names a branch; the title of the pull request is the next
        # line with text.
        text = store.text(message)
        lines = [line.strip() for line in text.splitlines() if line.strip()] or [""]
        subject = lines[len(lines) > 1 and lines[0].startswith("Merge pull request ")]
        missed.append(
            EscapedDefect(
                repository=name,
                number=number,
                text=subject[:200],
                url=site_of_page(pages[name]).branch_commit_address(pages[name], commit_id),
                path=path,
                line=line,
            )
        )
    recalls = []
    for name in sorted(table.reviewers, key=lambda name: (not table.is_bot[name], name)):
        pulls = table.seen_pulls(name)
        # A bot that comments everywhere has comments near all fixes, but also near all other
        # changes, so both shares are shown. A fix near which other reviewers had commented, too,
        # does not count, because it may be due to their comments.
        near_fix, near_change = (
            rate_of_events(
                (pull, name in reviewers)
                for pull, is_fix, reviewers in changes
                if pull in pulls
                and is_fix is for_fixes
                and (name not in reviewers or len(reviewers) == 1)
            )
            for for_fixes in (True, False)
        )
        if near_fix.total:
            recalls.append(
                EscapedRecall(
                    reviewer=name, is_bot=table.is_bot[name], near=near_fix, near_base=near_change
                )
            )
    followed = count_followed(store, table.scope)
    return Escaped(
        days=DAYS,
        pulls=followed,
        fixed=rate(len({pull for pull, is_fix, _ in changes if is_fix}), followed),
        reviewers=tuple(recalls),
        missed=tuple(missed),
    )
