"""Merged pull requests whose lines are followed, and what later changed them."""

from typing import Final

from crscore.audit.store.database import Store
from crscore.audit.store.reviews import Rows, Scope
from crscore.audit.store.rows import Comment, Pull

_MERGED: Final = """p.state = 'merged' AND substr(p.created, 1, 10) BETWEEN ?1 AND ?2
  AND p.repository IN (SELECT value FROM json_each(?3))"""


def pulls_to_follow(store: Store, days: int) -> list[Pull]:
    """Return the merged pull requests not yet followed for so many days, by repository and branch.

    Those that cannot be followed are tried again.
    """
    clauses = """
        WHERE state = 'merged' AND merged IS NOT NULL AND NOT EXISTS (
          SELECT 1 FROM followed f WHERE f.repository = pulls.repository
            AND f.number = pulls.number AND f.reason IS NULL
            AND f.night > date(pulls.merged, printf('+%d days', ?)))
        ORDER BY repository, base_ref, merged, number"""
    return store.select(Pull, clauses, days)


def comments_before_merge(store: Store, pull: Pull) -> list[Comment]:
    """Return the comments of reviewers before a pull request was merged, by reviewer."""
    clauses = """
        WHERE repository = ? AND number = ? AND is_review = 1 AND created <= ?
        ORDER BY reviewer, key"""
    return store.select(Comment, clauses, pull.repository, pull.number, pull.merged)


def count_followed(store: Store, scope: Scope, days: int) -> Rows:
    """Count the merged pull requests by the reason why they cannot be followed; None: they can.

    Returns:
        Reason, all of them, and those that were followed for all the days.
    """
    sql = f"""
        SELECT coalesce(f.reason, iif(f.night IS NULL, 'not followed yet', NULL)) AS why, COUNT(*),
          TOTAL(f.night > date(p.merged, printf('+%d days', ?4)))
        FROM pulls p LEFT JOIN followed f USING (repository, number)
        WHERE {_MERGED} GROUP BY why ORDER BY why"""
    return store.query(sql, *scope[1:], days)


def read_later_changes(store: Store, scope: Scope) -> Rows:
    """Return the commits that changed lines of a pull request, those that fix first, by time.

    Returns:
        Repository, its name, number, commit, whether it fixes something, key of the message, path,
        line, and whether comments were compared with the message.
    """
    sql = f"""
        SELECT l.repository, r.name, l.number, l.landed, l.fixes, l.message, l.path, l.line,
          l.compared
        FROM later_changes l JOIN pulls p USING (repository, number)
        JOIN repositories r ON r.id = l.repository
        WHERE {_MERGED} ORDER BY l.fixes DESC, l.at DESC, l.landed, l.repository, l.number"""
    return store.query(sql, *scope[1:])


def read_mentions(store: Store, scope: Scope) -> Rows:
    """Return repository, number, commit, reviewer, whether near, and whether mentioned, of each."""
    sql = f"""
        SELECT m.repository, m.number, m.landed, c.reviewer, MAX(m.near), MAX(m.mentioned)
        FROM mentions m JOIN pulls p USING (repository, number)
        JOIN comments c ON c.key = m.comment
        WHERE {_MERGED} GROUP BY m.repository, m.number, m.landed, c.reviewer"""
    return store.query(sql, *scope[1:])
