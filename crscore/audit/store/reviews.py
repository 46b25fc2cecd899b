"""Scores, comments and signals of the reviews in a period."""

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from crscore.audit.store.database import Store

LATEST: Final = """
WITH latest AS MATERIALIZED (
  SELECT s.repository, s.number, s.content,
    -- The last night; of two scorings in one night, the last one.
    MAX(s.night || (s.content IS g.content) || hex(s.content)) AS newest
  FROM scores s
  JOIN pulls p USING (repository, number)
  LEFT JOIN last_scored g
    ON g.repository = s.repository AND g.number = s.number AND g.signature = s.signature
  WHERE s.signature = ?1 AND substr(p.created, 1, 10) BETWEEN ?2 AND ?3
    AND s.repository IN (SELECT value FROM json_each(?4))
  GROUP BY s.repository, s.number
)"""
"""Start of a query with the values of a `Scope`; `latest` has the last scored content of each pull
request."""
LATEST_COMMENTS: Final = """
FROM comment_scores s JOIN comments c ON c.key = s.comment
JOIN latest l ON l.repository = c.repository AND l.number = c.number AND l.content = s.content"""
"""Scored comments, after `LATEST`."""

Rows = list[tuple[Any, ...]]


class Scope(NamedTuple):
    """Reviews to read: the values of `LATEST` and of queries like it."""

    signature: int
    since: str
    until: str
    repositories: str
    """JSON list of the repositories' ids."""


def newest_values(clause: str = "") -> str:
    """Return the SQL of `newest`: the last value of each comment's signals."""
    return f"""newest AS (
      SELECT comment, signal, value, base_yes, base_all, MAX(night || printf('%09d', rules))
      FROM signals {clause} GROUP BY comment, signal)"""


def count_scored_pulls(store: Store, since: str, until: str, repositories: str) -> dict[int, int]:
    """Count the scored pull requests of each signature."""
    sql = """
        SELECT signature, COUNT(*) FROM (
          SELECT DISTINCT s.signature, s.repository, s.number
          FROM scores s JOIN pulls p USING (repository, number)
          WHERE substr(p.created, 1, 10) BETWEEN ? AND ?
            AND s.repository IN (SELECT value FROM json_each(?)))
        GROUP BY signature"""
    return dict(store.query(sql, since, until, repositories))


def count_kinds(store: Store, scope: Scope, acted_on: int) -> Rows:
    """Return reviewer, repository, number, kind, and counts of scored comments, in order.

    The kind is the reason why a comment is noise, else the level of its best remark; comments with
    neither, such as bare suggestions, are left out. The counts are of comments, of those acted on
    (signal `acted_on`), of those of which this is known, and of confirmed and refuted ones.
    """
    sql = f"""{LATEST}, {newest_values("WHERE signal = ?5")}
        SELECT c.reviewer, c.repository, c.number, coalesce(s.noise, s.level) AS kind, COUNT(*),
          TOTAL(n.value IS 1), COUNT(n.value), TOTAL(s.verdict IS 'confirmed'),
          TOTAL(s.verdict IS 'refuted')
        {LATEST_COMMENTS}
        LEFT JOIN newest n ON n.comment = s.comment
        WHERE s.signature = ?1 AND kind IS NOT NULL
        GROUP BY c.reviewer, c.repository, c.number, kind
        ORDER BY c.reviewer, c.repository, c.number, kind"""
    return store.query(sql, *scope, acted_on)


def count_points(store: Store, scope: Scope, levels: Sequence[str]) -> Rows:
    """Return reviewer, and counts of the points of its comments with these levels.

    Comments of several reviewers with the same point are one. The counts are of all points, of
    those that nobody else made, of shared ones that it made first, and that a person made, too.
    """
    sql = f"""{LATEST},
        made AS (
          SELECT c.reviewer, s.point, MAX(c.is_bot) AS is_bot, MAX(s.level IN
            (SELECT value FROM json_each(?5))) AS is_weighty, MAX(s.point = s.comment) AS is_first
          {LATEST_COMMENTS}
          WHERE s.signature = ?1 AND s.point IS NOT NULL GROUP BY s.point, c.reviewer),
        points AS (
          SELECT point, COUNT(*) AS reviewers, MIN(is_bot) = 0 AS has_person
          FROM made GROUP BY point)
        SELECT reviewer, COUNT(*), TOTAL(reviewers = 1), TOTAL(reviewers > 1 AND is_first),
          TOTAL(has_person AND is_bot)
        FROM made JOIN points USING (point) WHERE is_weighty GROUP BY reviewer"""
    return store.query(sql, *scope, json.dumps(levels))


def count_said_again(store: Store, scope: Scope) -> dict[str, int]:
    """Count each reviewer's comments that repeat one that was answered or resolved before."""
    sql = f"""{LATEST}
        SELECT c.reviewer, COUNT(DISTINCT c.key)
        {LATEST_COMMENTS}
        JOIN comments e ON e.repository = c.repository AND e.number = c.number
          AND e.reviewer = c.reviewer AND e.body = c.body AND e.created < c.created
        WHERE s.signature = ?1 AND s.noise = 'repeat' AND (
          EXISTS (SELECT 1 FROM comments a
            WHERE a.thread = e.thread AND a.reviewer <> e.reviewer AND a.created < c.created)
          OR EXISTS (SELECT 1 FROM thread_observations o
            WHERE o.thread = e.thread AND o.resolved = 1 AND o.night <= substr(c.created, 1, 10)))
        GROUP BY c.reviewer"""
    return dict(store.query(sql, *scope))


def read_pulls(store: Store, scope: Scope) -> Rows:
    """Return repository, number, day of creation, language, lines, merged, in order."""
    sql = """
        SELECT repository, number, substr(created, 1, 10), language, lines,
          state = 'merged'
        FROM pulls
        WHERE substr(created, 1, 10) BETWEEN ? AND ?
          AND repository IN (SELECT value FROM json_each(?))
        ORDER BY repository, number"""
    return store.query(sql, *scope[1:])


def read_scores(store: Store, scope: Scope) -> Rows:
    """Return repository, number, reviewer, whether it is a bot, counts and scores, in order.

    These are comments and words, then standing, importance, relevance, conciseness and
    comprehensiveness, 0 to 100, then remarks by level and those that give nothing.
    """
    # The row without a reviewer is that of all reviewers together.
    sql = f"""{LATEST}
        SELECT s.repository, s.number, s.reviewer, s.is_bot, s.comments, s.words, s.standing,
          100 * s.importance, 100 * s.relevance, 100 * s.conciseness, 100 * s.comprehensiveness,
          s.critical, s.major, s.minor, s.nit, s.empty
        FROM latest l JOIN scores s USING (repository, number, content)
        WHERE s.signature = ?1 AND s.reviewer <> ''
        ORDER BY s.repository, s.number, s.reviewer"""
    return store.query(sql, *scope)


def count_comments(store: Store, scope: Scope, noise_reasons: Sequence[str]) -> Rows:
    """Return repository, number, reviewer, and counts of comments.

    The counts are of all scored comments, of those in threads, and of those that are noise for each
    of the reasons.
    """
    # Constants of this package, never text of a user: placed in the SQL as they are.
    reasons = ", ".join(f"SUM(s.noise IS '{reason}')" for reason in noise_reasons)
    sql = f"""{LATEST}
        SELECT c.repository, c.number, c.reviewer, COUNT(*), COUNT(c.thread), {reasons}
        {LATEST_COMMENTS}
        WHERE s.signature = ?1
        GROUP BY c.repository, c.number, c.reviewer"""
    return store.query(sql, *scope)


def count_signals(store: Store, scope: Scope) -> Rows:
    """Return repository, number, reviewer, signal, and counts of comments by their newest value.

    The counts are yes, known, unknown, the sum of the base rates, and their number: each comment
    has one vote, however long the file is that it is on.
    """
    # `value IS 1`, not `value = 1`: an unknown value is NULL, and so would be the comparison.
    sql = f"""{LATEST}, {newest_values()}
        SELECT c.repository, c.number, c.reviewer, n.signal, SUM(n.value IS 1),
          COUNT(n.value), COUNT(*) - COUNT(n.value),
          TOTAL(1.0 * n.base_yes / NULLIF(n.base_all, 0)), COUNT(NULLIF(n.base_all, 0))
        {LATEST_COMMENTS}
        JOIN newest n ON n.comment = s.comment
        WHERE s.signature = ?1
        GROUP BY c.repository, c.number, c.reviewer, n.signal"""
    return store.query(sql, *scope)
