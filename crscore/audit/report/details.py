"""Rows of the store for the pages of reviewers and repositories."""

import json
from collections import defaultdict
from itertools import groupby
from typing import Final, NamedTuple

from crscore.audit.decide import LISTED
from crscore.audit.overview import Example, Overview
from crscore.audit.signals import Signal
from crscore.audit.store import period
from crscore.audit.store.database import Store
from crscore.audit.store.repositories import all_repositories, pull_pages
from crscore.audit.store.reviews import Scope
from crscore.audit.summary import make_example

EXAMPLES: Final = 10
"""Maximum number of comments of a reviewer and kind."""


class PullRow(NamedTuple):
    """One pull request of a repository's page."""

    number: int
    title: str
    """Untrusted."""
    state: str
    created: str
    """Date, ISO 8601."""
    comments: int
    """Comments of all reviewers."""
    standing: int | None
    """Usefulness of all comments together, 0 to 100."""


class KindExamples(NamedTuple):
    """Comments of one kind of a reviewer."""

    kind: str
    comments: tuple[Example, ...]
    """The most useful ones."""
    unlisted: int
    """Number of further comments."""


def scope_of(store: Store, overview: Overview) -> Scope:
    """Return the scope that an overview was made of."""
    ids = {text: id_ for id_, text in store.signatures().items()}
    names = {repository.name for repository in overview.repositories}
    repositories = [row.id for row in all_repositories(store) if row.name in names]
    # No signature has the id 0: the scope of an unknown one is empty.
    signature = ids.get(overview.signature, 0)
    return Scope(signature, overview.since, overview.until, json.dumps(repositories))


def load_examples(store: Store, scope: Scope, host: str) -> dict[str, list[KindExamples]]:
    """Return the comments of each reviewer by kind, the weightiest kind first."""
    pages = pull_pages(store, host)
    rows = period.read_examples_of_kinds(store, scope, Signal.ACTED_ON, EXAMPLES)
    examples: defaultdict[str, list[KindExamples]] = defaultdict(list)
    for (reviewer, kind), group in groupby(rows, key=lambda row: (row[1], row[-2])):
        comments_of_kind = list(group)
        comments = tuple(make_example(store, row[:-2], pages) for row in comments_of_kind)
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
    for name, *values in period.read_pulls_of_repositories(store, scope):
        pulls[name].append(PullRow(*values))
    return pulls
