"""Loads the data of the pages of reviewers and repositories from the store."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from crscore.audit.decide import LISTED
from crscore.audit.formulas import find_formulas
from crscore.audit.overview import Example, Gap, Overview
from crscore.audit.signals import Signal
from crscore.audit.store import reports
from crscore.audit.store.database import Store
from crscore.audit.store.queries import all_repositories
from crscore.audit.store.reports import Scope
from crscore.audit.summary import make_example

EXAMPLES: Final = 10
"""Maximum number of comments per reviewer and kind."""
PULLS_PER_PAGE: Final = 100
"""Maximum number of pull requests on one page of a month."""


class PullRow(NamedTuple):
    """One pull request on a repository's page."""

    number: int
    title: str
    """Untrusted."""
    state: str
    created: str
    """Date, ISO 8601."""
    comments: int
    """Number of comments of all reviewers."""
    standing: int | None
    """Usefulness of all comments combined, 0 to 100."""


class KindExamples(NamedTuple):
    """Comments of one kind of a reviewer."""

    kind: str
    comments: tuple[Example, ...]
    """The most useful ones."""
    unlisted: int
    """Number of further comments."""


class CommentRow(NamedTuple):
    """One comment on the page of its pull request."""

    example: Example
    path: str | None
    line: int | None
    verdict: str | None
    """`confirmed` or `refuted`; None when undecided."""
    acted_on: int | None
    """0 or 1; None when undecided."""


class MonthPage(NamedTuple):
    """Pull requests of a repository from one month; large months have several pages."""

    repository: str
    month: str
    """Year and month, ISO 8601."""
    pulls: list[PullRow]
    """Pull requests with a reviewer's comment, the newest first."""
    part: int
    """Number of the page in the month; page 1 has the newest pull requests."""

    @property
    def name(self) -> str:
        """Name of the page, unique in a report."""
        part = f" {self.part}" if self.part > 1 else ""
        return f"{self.repository} {self.month}{part}"


def scope_of(store: Store, overview: Overview) -> Scope:
    """Return the scope of an overview."""
    ids = {text: id_ for id_, text in store.signatures().items()}
    names = {repository.name for repository in overview.repositories}
    repositories = [row.id for row in all_repositories(store) if row.name in names]
    # No signature has the id 0, so the scope of an unknown signature is empty.
    signature = ids.get(overview.signature, 0)
    return Scope(signature, overview.since, overview.until, json.dumps(repositories))


def load_examples(
    store: Store, scope: Scope, pages: Mapping[str, str]
) -> dict[str, list[KindExamples]]:
    """Return the comments of each reviewer by kind, the most important kind first."""
    formulas = find_formulas(store, scope)
    rows = reports.read_examples_of_kinds(store, scope, Signal.ACTED_ON, formulas, EXAMPLES)
    examples: defaultdict[str, list[KindExamples]] = defaultdict(list)
    for (reviewer, kind), group in groupby(rows, key=lambda row: (row[1], row[-2])):
        comments_of_kind = list(group)
        comments = tuple(make_example(row[:-2], pages) for row in comments_of_kind)
        examples[reviewer].append(
            KindExamples(kind, comments, comments_of_kind[0][-1] - len(comments_of_kind))
        )
    order = [*LISTED]
    for kinds in examples.values():
        kinds.sort(key=lambda row: order.index(row.kind))
    return examples


def load_pulls(store: Store, scope: Scope) -> dict[str, list[PullRow]]:
    """Return the pull requests of the period by repository, the newest first."""
    pulls: defaultdict[str, list[PullRow]] = defaultdict(list)
    for name, *values in reports.read_pulls_of_repositories(store, scope):
        pulls[name].append(PullRow(*values))
    return pulls


def make_month_pages(pulls: Mapping[str, Sequence[PullRow]]) -> Iterator[MonthPage]:
    """Divide the pull requests of each repository into pages."""
    for repository, rows in pulls.items():
        reviewed = (row for row in rows if row.comments)
        for month, group in groupby(reviewed, key=lambda row: row.created[:7]):
            of_month = list(group)
            for part, start in enumerate(range(0, len(of_month), PULLS_PER_PAGE), 1):
                yield MonthPage(repository, month, of_month[start : start + PULLS_PER_PAGE], part)


def load_comments(
    store: Store, scope: Scope, page: MonthPage, pages: Mapping[str, str]
) -> dict[int, tuple[list[CommentRow], list[Gap]]]:
    """Return the comments on each pull request of a page, and its open points, by number."""
    ids = [row.id for row in all_repositories(store) if row.name == page.repository]
    days = [pull.created for pull in page.pulls]
    of_page = Scope(scope.signature, min(days), max(days), json.dumps(ids))
    contents: dict[int, tuple[list[CommentRow], list[Gap]]] = {
        pull.number: ([], []) for pull in page.pulls
    }
    # Skip pull requests of the same days that are on another page.
    for row in reports.read_comments_of_pulls(store, of_page, Signal.ACTED_ON):
        if row[3] in contents:
            contents[row[3]][0].append(CommentRow(make_example(row[:9], pages), *row[9:]))
    for repository, number, text, severity, path, line in reports.read_open_points(store, of_page):
        if number in contents:
            contents[number][1].append(
                Gap(
                    repository=repository,
                    number=number,
                    text=text,
                    severity=severity,
                    path=path,
                    line=line,
                )
            )
    return contents
