"""Queries of reports on a period."""

import json
from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

from crscore.audit.signals import FILE_SIGNALS
from crscore.audit.store.database import EMPTY_TEXT, Store
from crscore.audit.store.queries import FAILED
from crscore.audit.store.rows import AuditRun
from crscore.records import Flag, Stance

LATEST: Final = """
WITH latest AS MATERIALIZED (
  SELECT s.repository, s.number, s.content,
    -- The last night; if there were two scorings in it, the later one.
    MAX(s.night || (s.content IS g.content) || hex(s.content)) AS newest
  FROM scores s
  JOIN pulls p USING (repository, number)
  LEFT JOIN last_scored g
    ON g.repository = s.repository AND g.number = s.number AND g.signature = s.signature
  WHERE s.signature = ?1 AND substr(p.created, 1, 10) BETWEEN ?2 AND ?3
    AND s.repository IN (SELECT value FROM json_each(?4))
  GROUP BY s.repository, s.number
)"""
"""Start of a query with the values of a `Scope` as parameters; `latest` has the last scored content
of each pull request."""
LATEST_COMMENTS: Final = """
FROM comment_scores s JOIN comments c ON c.key = s.comment
JOIN latest l ON l.repository = c.repository AND l.number = c.number AND l.content = s.content"""
"""Joins of the scored comments, to be used after `LATEST`."""
_KIND: Final = """iif(s.comment IN (SELECT value FROM json_each(?6)), 'formula',
  coalesce(s.noise, s.level))"""
"""Kind of a scored comment; the sixth parameter is a JSON list of the formulas."""
_ASKS: Final = f"""(s.noise IS NULL AND coalesce(s.stance, '{Stance.PROPOSAL}') IN ('{
    "', '".join((Stance.REQUEST, Stance.PROBLEM, Stance.PROPOSAL, Stance.QUESTION))
}'))"""
"""Whether a scored comment asks for something, so that it can be acted on; a comment without a
sentence is a suggestion. Lines near a praise or a repetition change for another reason."""

Rows = list[tuple[Any, ...]]


class Scope(NamedTuple):
    """Selection of reviews: the parameters of `LATEST` and similar queries."""

    signature: int
    since: str
    until: str
    repositories: str
    """JSON list of the repositories' ids."""


def newest_values(clause: str = "") -> str:
    """Return the SQL of `newest`, with the last value of each comment's signals."""
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


def read_remarks(store: Store, scope: Scope) -> Rows:
    """Return reviewer, key and text of the bots' comments that may be worth acting on, by time."""
    sql = f"""{LATEST}
        SELECT c.reviewer, c.key, s.text {LATEST_COMMENTS}
        WHERE s.signature = ?1 AND c.is_bot AND s.noise IS NULL AND s.level IS NOT NULL
        ORDER BY c.created, c.key"""
    return store.query(sql, *scope)


def count_kinds(store: Store, scope: Scope, acted_on: int, formulas: str) -> Rows:
    """Return reviewer, repository, number, kind, and counts of scored comments, in order.

    The kind is `formula` for a JSON list of keys, the reason why a comment is noise, or the level
    of its best remark; comments with none, such as bare suggestions, are left out. The counts are:
    all comments, comments that were acted on (signal `acted_on`), comments for which this is known
    (those that ask for something and were the first to make their point, as a copy is acted on
    because of the first), the sum of their base rates, confirmed and refuted ones.
    """
    sql = f"""{LATEST}, {newest_values("WHERE signal = ?5")}
        SELECT c.reviewer, c.repository, c.number, {_KIND} AS kind, COUNT(*),
          TOTAL(n.value IS 1), COUNT(n.value),
          TOTAL(iif(n.value IS NULL, NULL, 1.0 * n.base_yes / NULLIF(n.base_all, 0))),
          TOTAL(s.verdict IS 'confirmed'), TOTAL(s.verdict IS 'refuted')
        {LATEST_COMMENTS}
        LEFT JOIN newest n ON n.comment = s.comment AND {_ASKS}
          AND coalesce(s.point, s.comment) = s.comment
        WHERE s.signature = ?1 AND kind IS NOT NULL
        GROUP BY c.reviewer, c.repository, c.number, kind
        ORDER BY c.reviewer, c.repository, c.number, kind"""
    return store.query(sql, *scope, acted_on, formulas)


def count_afterwards(store: Store, scope: Scope, known_bots: Sequence[str]) -> Rows:
    """Return reviewer, comments that were changed or written when all was over, and all comments.

    These are hidden or deleted; edited more than an hour later, unless by one of the known bots,
    which mark what was addressed; written after the pull request was closed, or on an older commit
    when there was a comment on the last one. The rows are by pull request.
    """
    sql = """
        SELECT c.reviewer, TOTAL(
          (SELECT o.minimized FROM comment_observations o WHERE o.comment = c.key
           ORDER BY o.night DESC LIMIT 1) IS NOT NULL
          OR julianday(c.updated) - julianday(c.created) > 1 / 24.0
            AND c.reviewer NOT IN (SELECT value FROM json_each(?4))
          OR c.created > coalesce(p.closed, c.created)
          OR c.commit_id IS NOT p.head AND c.commit_id IS NOT NULL AND EXISTS (
            SELECT 1 FROM comments e WHERE e.repository = c.repository AND e.number = c.number
              AND e.commit_id = p.head AND e.created < c.created)), COUNT(*)
        FROM pulls p JOIN comments c USING (repository, number)
        WHERE substr(p.created, 1, 10) BETWEEN ?1 AND ?2 AND c.is_bot AND c.is_review
          AND p.repository IN (SELECT value FROM json_each(?3))
          AND coalesce(c.thread, c.key) = c.key
        GROUP BY c.reviewer, c.repository, c.number"""
    return store.query(sql, *scope[1:], json.dumps(known_bots))


def count_unread(store: Store, scope: Scope) -> int:
    """Count the comments that are not in English."""
    sql = f"""{LATEST} SELECT COUNT(*) {LATEST_COMMENTS} WHERE s.signature = ?1 AND s.stance = ?5"""
    return int(store.query(sql, *scope, Flag.NOT_ENGLISH.value)[0][0])


def count_points(store: Store, scope: Scope, levels: Sequence[str], formulas: str) -> Rows:
    """Return reviewer, and counts of the points of its comments with these levels.

    Comments of several reviewers on the same point count once. The counts are: all points, points
    that no other reviewer made, shared points that it made first, and those of them that a person
    made later: what a bot says after people may be a copy. Formulas (JSON) make no point.
    """
    sql = f"""{LATEST},
        made AS (
          SELECT c.reviewer, s.point, MAX(c.is_bot) AS is_bot, MAX(s.level IN
            (SELECT value FROM json_each(?5))) AS is_important, MAX(s.point = s.comment) AS is_first
          {LATEST_COMMENTS}
          WHERE s.signature = ?1 AND s.point IS NOT NULL
            AND s.comment NOT IN (SELECT value FROM json_each(?6)) GROUP BY s.point, c.reviewer),
        points AS (
          SELECT point, COUNT(*) AS reviewers, MIN(is_bot) = 0 AS has_person
          FROM made GROUP BY point)
        SELECT reviewer, COUNT(*), TOTAL(reviewers = 1), TOTAL(reviewers > 1 AND is_first),
          TOTAL(has_person AND is_bot AND is_first)
        FROM made JOIN points USING (point) WHERE is_important GROUP BY reviewer"""
    return store.query(sql, *scope, json.dumps(levels), formulas)


def count_said_again(store: Store, scope: Scope) -> dict[str, int]:
    """Count each reviewer's comments that repeat an answered or resolved comment."""
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
    """Return repository, number, day of creation, language, lines and merged, sorted."""
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

    The columns are comments and words; standing, importance, relevance, conciseness and
    comprehensiveness, 0 to 100; remarks by level, and remarks with nothing to act on.
    """
    # The row with an empty reviewer is for all reviewers combined.
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

    The counts are: all scored comments, comments in threads, and noise by each of the reasons.
    """
    # Safe to insert into the SQL: the reasons are constants of this package.
    reasons = ", ".join(f"SUM(s.noise IS '{reason}')" for reason in noise_reasons)
    sql = f"""{LATEST}
        SELECT c.repository, c.number, c.reviewer, COUNT(*), COUNT(c.thread), {reasons}
        {LATEST_COMMENTS}
        WHERE s.signature = ?1
        GROUP BY c.repository, c.number, c.reviewer"""
    return store.query(sql, *scope)


def count_signals(store: Store, scope: Scope) -> Rows:
    """Return repository, number, reviewer, signal, and counts of comments by their newest value.

    The counts are: yes, known, unknown, the sum of the base rates, and the number of base rates.
    Each comment has the same weight, regardless of the length of its file. Signals from files count
    only for comments that ask for something.
    """
    # Safe to insert into the SQL: numbers of this package.
    from_files = ", ".join(str(int(signal)) for signal in sorted(FILE_SIGNALS))
    # `value IS 1`, not `value = 1`, which would be NULL for an unknown value.
    sql = f"""{LATEST}, {newest_values()}
        SELECT c.repository, c.number, c.reviewer, n.signal, SUM(n.value IS 1),
          COUNT(n.value), COUNT(*) - COUNT(n.value),
          TOTAL(1.0 * n.base_yes / NULLIF(n.base_all, 0)), COUNT(NULLIF(n.base_all, 0))
        {LATEST_COMMENTS}
        JOIN newest n ON n.comment = s.comment
        WHERE s.signature = ?1 AND (n.signal NOT IN ({from_files}) OR {_ASKS})
        GROUP BY c.repository, c.number, c.reviewer, n.signal"""
    return store.query(sql, *scope)


_MERGED: Final = """p.state = 'merged' AND substr(p.created, 1, 10) BETWEEN ?1 AND ?2
  AND p.repository IN (SELECT value FROM json_each(?3))"""


_IN_PERIOD: Final = """substr(p.created, 1, 10) BETWEEN ? AND ?
  AND p.repository IN (SELECT value FROM json_each(?))"""

_WEIGHT: Final = "instr('nit minor major critical', s.level)"
"""Rank of a comment by the level of its best remark; NULL if there is nothing to act on."""


def read_posts(store: Store, scope: Scope, review_bots: Sequence[str]) -> Rows:
    """Summarise the posts of each reviewer on each pull request.

    A notice that nothing was reviewed is not a review; neither is a post of the pull request's
    author, a report of a tool, or a reply in a thread. The summary of a review bot that found
    nothing is a review, and so is a submitted review without a remark. A dismissed review, with its
    comments on lines, does not count for the last head.

    Args:
        store: The store.
        scope: Pull requests to read.
        review_bots: Names of the bots whose every post is from a review.

    Returns:
        Reviewer, whether it is a bot, repository, number, whether the pull request was merged,
        whether it was reviewed, whether its last head was reviewed, the comma-separated reasons
        for not reviewing, the account, whether it has a comment to score, and the hours from the
        opening of the pull request to the first review.
    """
    # `IS NOT`, not `<>`, because the author of a deleted account is NULL. The remainder is the kind
    # of a comment (`rows.comment_key`); 1 is a submitted review. GitHub also makes an empty review
    # for each reply and for comments on lines, which count themselves.
    is_review = """(c.skip IS NULL AND c.author IS NOT p.author
      AND coalesce(c.thread, c.key) = c.key
      AND NOT (c.key % 4 = 1 AND c.state = 'COMMENTED' AND c.body = ?5)
      AND (c.is_review OR c.key % 4 = 1 OR c.reviewer IN (SELECT value FROM json_each(?4))))"""
    # No column links a line comment to its review: it was written before the review was submitted.
    is_dismissed = """(c.state = 'DISMISSED' OR c.thread = c.key AND EXISTS (
      SELECT 1 FROM comments d WHERE d.repository = c.repository AND d.number = c.number
        AND d.reviewer = c.reviewer AND d.state = 'DISMISSED' AND d.commit_id = c.commit_id
        AND d.created >= c.created))"""
    sql = f"""
        SELECT c.reviewer, c.is_bot, c.repository, c.number, p.state = 'merged', MAX({is_review}),
          MAX({is_review} AND c.commit_id IS p.head AND c.created <= p.merged
            AND NOT {is_dismissed}),
          group_concat(DISTINCT c.skip), MAX(c.author),
          MAX(c.is_review),
          24 * (julianday(MIN(CASE WHEN {is_review} THEN c.created END)) - julianday(p.created))
        FROM pulls p JOIN comments c USING (repository, number)
        WHERE substr(p.created, 1, 10) BETWEEN ?1 AND ?2
          AND p.repository IN (SELECT value FROM json_each(?3))
        GROUP BY c.repository, c.number, c.reviewer"""
    return store.query(sql, *scope[1:], json.dumps(review_bots), EMPTY_TEXT)


def count_merged(store: Store, scope: Scope) -> dict[int, int]:
    """Count the merged pull requests of each repository."""
    sql = f"""
        SELECT repository, COUNT(*) FROM pulls p
        WHERE state = 'merged' AND {_IN_PERIOD} GROUP BY repository"""
    return dict(store.query(sql, *scope[1:]))


def read_checks(store: Store, scope: Scope) -> Rows:
    """Return app, repository, number, and whether all checks of the app are green."""
    sql = f"""
        SELECT k.app, k.repository, k.number, MIN(k.outcome IN ('success', 'neutral'))
        FROM pulls p JOIN checks k USING (repository, number)
        WHERE p.state = 'merged' AND {_IN_PERIOD}
        GROUP BY k.app, k.repository, k.number"""
    return store.query(sql, *scope[1:])


def count_pulls(store: Store, scope: Scope) -> tuple[int, int, int, int]:
    """Count all, merged, pending and unreadable pull requests."""
    sql = f"""
        SELECT COUNT(*), TOTAL(state = 'merged'), TOTAL(pending), COUNT(failure) FROM pulls p
        WHERE {_IN_PERIOD}"""
    pulls, merged, pending, failed = map(int, store.query(sql, *scope[1:])[0])
    return pulls, merged, pending, failed


def count_unscored(store: Store, scope: Scope) -> int:
    """Count the pull requests whose last scoring failed."""
    sql = f"""{LATEST}
        SELECT COUNT(*) FROM latest l JOIN scores s USING (repository, number, content)
        WHERE s.signature = ?1 AND s.reviewer = '' AND s.reason LIKE '{FAILED}%'"""
    count: int = store.query(sql, *scope)[0][0]
    return count


def read_repositories(store: Store, scope: Scope) -> Rows:
    """Return number, name, state, reason, and counts of all and of merged pull requests."""
    # The period is in the join condition, so that repositories without a pull request are listed.
    sql = """
        SELECT r.id, r.name, r.state, r.reason, COUNT(p.number), TOTAL(p.state = 'merged')
        FROM repositories r
        LEFT JOIN pulls p ON p.repository = r.id AND substr(p.created, 1, 10) BETWEEN ? AND ?
        WHERE r.id IN (SELECT value FROM json_each(?))
        GROUP BY r.id ORDER BY lower(r.name)"""
    return store.query(sql, *scope[1:])


def read_runs(store: Store, since: str) -> list[AuditRun]:
    """Return the runs since a night; later runs observe the pull requests of a period again."""
    return store.select(AuditRun, "WHERE night >= ? ORDER BY id", since)


def read_examples(store: Store, scope: Scope, order: Literal["ASC", "DESC"], limit: int) -> Rows:
    """Return comments of bots, sorted by the importance of their best remark, then by standing.

    Returns:
        Key, reviewer, repository's name, number, text, standing, noise, and stance and level of its
        best remark.
    """
    # The later columns break ties, so that equal stores give equal reports.
    sql = f"""{LATEST}
        SELECT c.key, c.reviewer, r.name, c.number, s.text, s.standing, s.noise, s.stance, s.level
        {LATEST_COMMENTS}
        JOIN repositories r ON r.id = c.repository
        WHERE s.signature = ?1 AND s.standing IS NOT NULL AND c.is_bot
        ORDER BY {_WEIGHT} {order}, s.standing {order}, c.created DESC, c.key LIMIT ?5"""
    return store.query(sql, *scope, limit)


def read_examples_of_kinds(
    store: Store, scope: Scope, acted_on: int, formulas: str, limit: int
) -> Rows:
    """Return each reviewer's comments of each kind, as in `count_kinds`.

    A comment also has the kind of its verdict, and the kind `acted` if it was acted on (signal
    `acted_on`).

    Returns:
        The columns of `read_examples`, the kind and its number of comments; sorted by reviewer and
        kind, the most useful comments first.
    """
    sql = f"""{LATEST}, {newest_values("WHERE signal = ?5")}, ranked AS (
          SELECT c.key, c.reviewer, c.repository, c.number, s.text,
            coalesce(s.standing, 0) AS standing, s.noise, s.stance, s.level, k.value AS kind,
            COUNT(*) OVER (PARTITION BY c.reviewer, k.value) AS count,
            ROW_NUMBER() OVER (
              PARTITION BY c.reviewer, k.value
              ORDER BY s.standing DESC, c.created DESC, c.key) AS rank
          {LATEST_COMMENTS}
          LEFT JOIN newest n ON n.comment = s.comment AND {_ASKS}
          JOIN json_each(json_array(
            {_KIND}, s.verdict, iif(n.value = 1, 'acted', NULL))) k
          WHERE s.signature = ?1 AND k.value IS NOT NULL)
        SELECT a.key, a.reviewer, r.name, a.number, a.text, a.standing, a.noise,
          a.stance, a.level, a.kind, a.count
        FROM ranked a JOIN repositories r ON r.id = a.repository
        WHERE a.rank <= ?7 ORDER BY a.reviewer, a.kind, a.rank"""
    return store.query(sql, *scope, acted_on, formulas, limit)


def read_gaps(store: Store, scope: Scope, limit: int) -> Rows:
    """Return the worst open finding of each pull request, each text once, worst first.

    Returns:
        Repository's name, number, text, severity, path and line.
    """
    # With MIN, SQLite takes the other columns from the row of the minimum. `order_` is cut off.
    sql = f"""{LATEST}
        SELECT name, number, text, severity, path, line, MIN(order_) FROM (
          SELECT r.name, o.number, o.text, o.severity, o.path, o.line, p.created,
            CASE o.severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END AS order_,
            MIN(o.rank)  -- the other columns are from its row
          FROM latest l JOIN open_points o USING (repository, number, content)
          JOIN repositories r ON r.id = o.repository
          JOIN pulls p USING (repository, number)
          WHERE o.signature = ?1 AND o.severity IS NOT NULL GROUP BY o.repository, o.number)
        GROUP BY text
        ORDER BY order_, created DESC, number LIMIT ?5"""
    return [row[:-1] for row in store.query(sql, *scope, limit)]


def read_pulls_of_repositories(store: Store, scope: Scope) -> Rows:
    """Return the pull requests of the period, the newest first.

    Returns:
        Repository's name, number, title, state, day of creation, and the number of comments and the
        standing of all reviewers combined.
    """
    sql = f"""{LATEST}
        SELECT r.name, p.number, p.title, p.state, substr(p.created, 1, 10),
          coalesce(s.comments, 0), s.standing
        FROM pulls p JOIN repositories r ON r.id = p.repository
        LEFT JOIN latest l ON l.repository = p.repository AND l.number = p.number
        LEFT JOIN scores s ON s.repository = p.repository AND s.number = p.number
          AND s.reviewer = '' AND s.signature = ?1 AND s.content = l.content
        WHERE substr(p.created, 1, 10) BETWEEN ?2 AND ?3
          AND p.repository IN (SELECT value FROM json_each(?4))
        ORDER BY p.created DESC, p.number DESC"""
    return store.query(sql, *scope)


def read_comments_of_pulls(store: Store, scope: Scope, acted_on: int) -> Rows:
    """Return all scored comments, sorted by pull request, the most useful first.

    Returns:
        The columns of `read_examples`, path, line, the verdict on its remarks, and whether it was
        acted on (signal `acted_on`).
    """
    # CROSS JOIN keeps the order of the tables: first the few pull requests, then their comments.
    sql = f"""{LATEST}
        SELECT c.key, c.reviewer, r.name, c.number, s.text, s.standing,
          s.noise, s.stance, s.level, c.path, c.line, s.verdict,
          (SELECT n.value FROM signals n WHERE n.comment = c.key AND n.signal = ?5 AND {_ASKS}
           ORDER BY n.night DESC, n.rules DESC LIMIT 1)
        FROM latest l CROSS JOIN comments c USING (repository, number)
        CROSS JOIN comment_scores s
          ON s.comment = c.key AND s.signature = ?1 AND s.content = l.content
        JOIN repositories r ON r.id = c.repository
        ORDER BY c.number, s.standing DESC, c.key"""
    return store.query(sql, *scope, acted_on)


def read_open_points(store: Store, scope: Scope) -> Rows:
    """Return the open points, with the columns of `read_gaps`, sorted by number and rank."""
    sql = f"""{LATEST}
        SELECT r.name, o.number, o.text, o.severity, o.path, o.line
        FROM latest l JOIN open_points o USING (repository, number, content)
        JOIN repositories r ON r.id = o.repository
        WHERE o.signature = ?1 ORDER BY o.number, o.rank"""
    return store.query(sql, *scope)


def count_followed(store: Store, scope: Scope, days: int) -> Rows:
    """Count the merged pull requests by the reason why they cannot be followed; None if they can.

    Returns:
        Reason, number of pull requests, and number of them that were followed for all `days`.
    """
    sql = f"""
        SELECT coalesce(f.reason, iif(f.night IS NULL, 'not followed yet', NULL)) AS why, COUNT(*),
          TOTAL(f.night > date(p.merged, printf('+%d days', ?4)))
        FROM pulls p LEFT JOIN followed f USING (repository, number)
        WHERE {_MERGED} GROUP BY why ORDER BY why"""
    return store.query(sql, *scope[1:], days)


def read_later_changes(store: Store, scope: Scope) -> Rows:
    """Return the commits that changed lines of a pull request: fixes first, newest first.

    Returns:
        Repository, its name, number, commit, whether it fixes something, key of the message, path
        and line.
    """
    sql = f"""
        SELECT l.repository, r.name, l.number, l.commit_id, l.fixes, l.message, l.path, l.line
        FROM later_changes l JOIN pulls p USING (repository, number)
        JOIN repositories r ON r.id = l.repository
        WHERE {_MERGED} ORDER BY l.fixes DESC, l.at DESC, l.commit_id, l.repository, l.number"""
    return store.query(sql, *scope[1:])


def read_nearby_reviewers(store: Store, scope: Scope) -> Rows:
    """Return repository, number and commit of each later change, with each nearby reviewer."""
    sql = f"""
        SELECT DISTINCT n.repository, n.number, n.commit_id, c.reviewer
        FROM nearby_comments n JOIN pulls p USING (repository, number)
        JOIN comments c ON c.key = n.comment
        WHERE {_MERGED}"""
    return store.query(sql, *scope[1:])
