"""Rows of the store for the pages of reviewers and repositories."""

import json
from collections import defaultdict
from typing import Final, NamedTuple

from crscore.audit.overview import Example, Overview
from crscore.audit.store import period
from crscore.audit.store.database import Store
from crscore.audit.store.repositories import all_repositories
from crscore.audit.store.reviews import Scope
from crscore.audit.summary import make_example

EXAMPLES: Final = 5
"""Maximum number of best comments of a reviewer, and of worst ones."""


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


class Examples(NamedTuple):
    """Comments of one reviewer."""

    best: tuple[Example, ...]
    worst: tuple[Example, ...]


def scope_of(store: Store, overview: Overview) -> Scope:
    """Return the scope that an overview was made of."""
    ids = {text: id_ for id_, text in store.signatures().items()}
    names = {repository.name for repository in overview.repositories}
    repositories = [row.id for row in all_repositories(store) if row.name in names]
    # No signature has the id 0: the scope of an unknown one is empty.
    signature = ids.get(overview.signature, 0)
    return Scope(signature, overview.since, overview.until, json.dumps(repositories))


def load_examples(store: Store, scope: Scope, host: str) -> dict[str, Examples]:
    """Return the best and the worst comments of each reviewer.

    No comment is in both lists, however few a reviewer has.
    """
    best: defaultdict[str, list[Example]] = defaultdict(list)
    worst: defaultdict[str, list[Example]] = defaultdict(list)
    for *row, rank, count in period.read_examples_of_reviewers(store, scope, EXAMPLES):
        example = make_example(store, row, host)
        is_best = rank <= min(EXAMPLES, (count + 1) // 2)
        (best if is_best else worst)[example.reviewer].append(example)
    return {
        reviewer: Examples(tuple(examples), tuple(reversed(worst[reviewer])))
        for reviewer, examples in best.items()
    }


def load_pulls(store: Store, scope: Scope) -> dict[str, list[PullRow]]:
    """Return the pull requests of the period by repository, the newest first."""
    pulls: defaultdict[str, list[PullRow]] = defaultdict(list)
    for name, *values in period.read_pulls_of_repositories(store, scope):
        pulls[name].append(PullRow(*values))
    return pulls
