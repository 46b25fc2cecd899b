"""Rows of the store that only the pages below the first one show."""

from __future__ import annotations

import json
from typing import Final, NamedTuple

from crscore.audit.overview import Overview, Shown
from crscore.audit.store.database import Store
from crscore.audit.store.reviews import LATEST, Scope
from crscore.audit.summary import comment_address

EXAMPLES: Final = 5
"""Best comments of a reviewer, and worst ones."""
_TEXT_CHARS: Final = 600


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

    best: tuple[Shown, ...]
    worst: tuple[Shown, ...]


def scope_of(store: Store, found: Overview) -> Scope:
    """Return the rows that an overview was made of."""
    numbers = {text: number for number, text in store.signatures().items()}
    names = {one.name for one in found.repositories}
    rows = store.query("SELECT id, name FROM repositories ORDER BY id")
    chosen = json.dumps([number for number, name in rows if name in names])
    return Scope(numbers.get(found.signature, 0), found.since, found.until, chosen)


def load_examples(store: Store, scope: Scope, host: str) -> dict[str, Examples]:
    """Return the best and the worst comments of each reviewer.

    A reviewer with few comments has none of them in both lists.
    """
    rows = store.query(
        f"""{LATEST}, ranked AS (
          SELECT c.key, c.reviewer, c.repository, c.number, c.body, s.standing, s.noise,
            ROW_NUMBER() OVER (
              PARTITION BY c.reviewer ORDER BY s.standing DESC, c.created DESC, c.key) AS place,
            COUNT(*) OVER (PARTITION BY c.reviewer) AS count
          FROM comment_scores s JOIN comments c ON c.key = s.comment
          JOIN latest l ON l.repository = c.repository AND l.number = c.number
            AND l.content = s.content
          WHERE s.signature = ?1 AND s.standing IS NOT NULL)
        SELECT a.key, a.reviewer, r.name, a.number, a.body, a.standing, a.noise,
          a.place, a.count
        FROM ranked a JOIN repositories r ON r.id = a.repository
        WHERE a.place <= ?5 OR a.place > a.count - ?5 ORDER BY a.reviewer, a.place""",  # noqa: S608
        *scope,
        EXAMPLES,
    )
    best: dict[str, list[Shown]] = {}
    worst: dict[str, list[Shown]] = {}
    for key, reviewer, repository, number, body, standing, noise, place, count in rows:
        one = Shown(
            reviewer=reviewer,
            repository=repository,
            number=number,
            url=comment_address(host, repository, number, key),
            text=store.text(body)[:_TEXT_CHARS],
            standing=standing,
            noise=noise,
        )
        is_best = place <= min(EXAMPLES, (count + 1) // 2)
        (best if is_best else worst).setdefault(reviewer, []).append(one)
    return {
        reviewer: Examples(tuple(listed), tuple(reversed(worst.get(reviewer, ()))))
        for reviewer, listed in best.items()
    }


def load_pulls(store: Store, scope: Scope) -> dict[str, list[PullRow]]:
    """Return the pull requests of the period by repository, the newest first."""
    rows = store.query(
        f"""{LATEST}
        SELECT r.name, p.number, p.title, p.state, substr(p.created, 1, 10),
          coalesce(s.comments, 0), s.standing
        FROM pulls p JOIN repositories r ON r.id = p.repository
        LEFT JOIN latest l ON l.repository = p.repository AND l.number = p.number
        LEFT JOIN scores s ON s.repository = p.repository AND s.number = p.number
          AND s.reviewer = '' AND s.signature = ?1 AND s.content = l.content
        WHERE substr(p.created, 1, 10) BETWEEN ?2 AND ?3
          AND p.repository IN (SELECT value FROM json_each(?4))
        ORDER BY p.created DESC, p.number DESC""",  # noqa: S608  (our own text)
        *scope,
    )
    found: dict[str, list[PullRow]] = {}
    for name, *values in rows:
        found.setdefault(name, []).append(PullRow(*values))
    return found


def load_page_keys(store: Store, scope: Scope) -> list[tuple[int, str, int]]:
    """Return the keys of the stored reports: the repository's number and name, and the pull's."""
    return [
        (repository, name, number)
        for repository, name, number in store.query(
            """SELECT g.repository, r.name, g.number FROM pages g
            JOIN pulls p USING (repository, number) JOIN repositories r ON r.id = g.repository
            WHERE substr(p.created, 1, 10) BETWEEN ? AND ?
              AND g.repository IN (SELECT value FROM json_each(?)) ORDER BY 1, 3""",
            *scope[1:],
        )
    ]
