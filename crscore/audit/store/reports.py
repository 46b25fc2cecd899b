"""Queries for the report on a period.

The *night* of a run is the date (UTC) on which the run began. A *formula* is a templated comment
(`crscore/audit/formulas.py`). Comments with the same value in the column `point` make the same
point.
"""

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from crscore.audit.store.database import EMPTY_TEXT, Store
from crscore.audit.store.queries import FAILED
from crscore.audit.store.rows import AuditRun, Signal
from crscore.records import Flag, Stance

# If a query has one MAX, SQLite takes the other columns from the row with the maximum:
# https://www.sqlite.org/lang_select.html#bareagg
LATEST: Final = """
WITH latest AS MATERIALIZED (
  SELECT s.repository, s.number, s.content,
    -- The scores of the last night; of two on the same night, those that were made last.
    MAX(s.night || (s.content IS g.content) || hex(s.content)) AS newest
  FROM scores s
  JOIN pulls p USING (repository, number)
  LEFT JOIN last_scored g
    ON g.repository = s.repository AND g.number = s.number AND g.signature = s.signature
  WHERE s.signature = ?1 AND substr(p.created, 1, 10) BETWEEN ?2 AND ?3
    AND s.repository IN (SELECT value FROM json_each(?4))
  GROUP BY s.repository, s.number
)"""
"""Start of a query that defines the table `latest` with the last scored content of each pull
request. The first four parameters of the query are the values of a `Scope`."""
LATEST_COMMENTS: Final = """
FROM comment_scores s JOIN comments c ON c.key = s.comment
JOIN latest l ON l.repository = c.repository AND l.number = c.number AND l.content = s.content"""
"""FROM clause for a query that starts with `LATEST`: scores `s` of the latest comments `c`."""
# Lines near a repetition or praise change for other reasons. Without this condition, 93 of 126
# repetitions, summaries and praises in the demonstration would count as acted on.
_ASKS: Final = f"""(s.noise IS NULL AND coalesce(s.stance, '{Stance.PROPOSAL}') IN ('{
    "', '".join((Stance.REQUEST, Stance.PROBLEM, Stance.PROPOSAL, Stance.QUESTION))
}'))"""
"""Condition that a comment asks for something, so that it can be fixed. A comment without a
sentence counts as a proposal, because it is a suggestion."""
KIND: Final = """
  CASE WHEN s.comment IN (SELECT value FROM json_each(?5)) THEN 'formula'
    WHEN s.noise IS NOT NULL THEN s.noise
    WHEN s.verdict LIKE 'refuted%' THEN 'refuted'
    ELSE coalesce(s.level, 'unread') END"""
"""Kind of a comment: `formula`, the reason why it is noise, `refuted`, its level, or `unread` (no
sentence in English). The fifth parameter of the query is a JSON list of the formulas."""
# If formulas counted as points, only 12 instead of 20 fixes of another bot could be compared with
# chance.
_IS_POINT: Final = """(s.noise IS NULL
  AND (s.level IN ('critical', 'major', 'minor') OR NOT c.is_bot)
  AND s.comment NOT IN (SELECT value FROM json_each(?5)))"""
"""Condition that a comment makes a point. A bot's comment makes a point if it is worth acting on
and not a formula, a person's comment if it is not noise."""
# The signals of the last night count and, of several on this night, those by the newest rules. The
# numbers of the rules are padded with zeros, because they are compared as text.
_JUDGED: Final = f"""{LATEST},
  fixes AS (
    SELECT comment, value, 1.0 * base_yes / NULLIF(base_all, 0) AS chance, base_all AS lines,
      MAX(night || printf('%09d', rules))
    FROM signals WHERE signal = {int(Signal.ACTED_ON)} GROUP BY comment),
  resolutions AS (
    SELECT comment, value, MAX(night || printf('%09d', rules))
    FROM signals WHERE signal = {int(Signal.RESOLVED)} GROUP BY comment),
  causes AS MATERIALIZED (
    SELECT c.repository, c.number, c.path, c.line, coalesce(c.start_line, c.line) AS start,
      c.reviewer, c.thread, s.point, c.commit_id IS p.head AS on_head {LATEST_COMMENTS}
    JOIN pulls p ON p.repository = c.repository AND p.number = c.number
    WHERE s.signature = ?1 AND {_IS_POINT}),
  firsts AS (
    SELECT MIN(s.comment) {LATEST_COMMENTS} WHERE s.signature = ?1
    GROUP BY c.repository, c.number, c.reviewer, s.text),
  answers AS (
    SELECT DISTINCT a.thread FROM comments a JOIN comments q ON q.key = a.thread
    WHERE NOT a.is_bot AND a.reviewer <> q.reviewer),
  judged AS (
    SELECT c.key, c.reviewer, c.repository, c.number, c.created, c.thread IS NOT NULL AS has_thread,
      s.text, coalesce(s.standing, 0) AS standing,
      {KIND} AS kind, s.verdict, s.point, f.value AS fixed, f.chance, f.lines,
      coalesce(c.thread IN (SELECT thread FROM answers), 0) AS answered, r.value IS 1 AS resolved
    {LATEST_COMMENTS} JOIN pulls p ON p.repository = c.repository AND p.number = c.number
    -- A fix counts only for the first comment on a point. It does not count if another reviewer
    -- made a point at most 6 lines away (twice `followed.REACH`), because that may be the reason
    -- for the change. Exceptions are replies in the same thread, and comments on the last commit,
    -- which cannot be the reason for earlier changes.
    LEFT JOIN fixes f ON f.comment = s.comment AND {_ASKS} AND s.comment IN firsts
      AND coalesce(s.point, s.comment) = s.comment AND NOT EXISTS (
        SELECT 1 FROM causes o WHERE o.repository = c.repository AND o.number = c.number
          AND o.path = c.path AND o.reviewer <> c.reviewer AND o.thread IS NOT c.thread
          AND o.point IS NOT s.comment AND o.on_head <= (c.commit_id IS p.head)
          AND o.start <= c.line + 6 AND o.line >= coalesce(c.start_line, c.line) - 6)
    LEFT JOIN resolutions r ON r.comment = s.comment
    WHERE s.signature = ?1)
SELECT * FROM judged"""
"""Query for the reviewers' comments with kind and reactions. All posts of a reviewer in one thread
count as one comment. The fifth parameter is that of `KIND`."""

_IN_PERIOD: Final = """substr(p.created, 1, 10) BETWEEN ?1 AND ?2
  AND p.repository IN (SELECT value FROM json_each(?3))"""
"""Condition that a pull request `p` is in a `Scope`; the first three parameters of the query are
the values of the scope after its signature."""

Rows = list[tuple[Any, ...]]


class Scope(NamedTuple):
    """Selection of reviews: the first parameters of most queries."""

    signature: int
    """Number of the signature of the scores."""
    since: str
    """First day on which a pull request was created, ISO 8601."""
    until: str
    """Last day, inclusive."""
    repositories: str
    """JSON list of the repositories' ids."""


def count_scored_pulls(store: Store, since: str, until: str, repositories: str) -> dict[int, int]:
    """Return the number of scored pull requests, keyed by the number of the signature."""
    sql = f"""
        SELECT signature, COUNT(*) FROM (
          SELECT DISTINCT s.signature, s.repository, s.number
          FROM scores s JOIN pulls p USING (repository, number) WHERE {_IN_PERIOD})
        GROUP BY signature"""
    return dict(store.query(sql, since, until, repositories))


def read_words(store: Store, scope: Scope) -> Rows:
    """Return the words of the bots' comments that may be worth acting on, sorted by time.

    The columns are reviewer, key of the comment, and the numbers of the words.
    """
    # A store is untrusted, so the lengths are checked: a word has four bytes, and a comment is
    # stored with at least four words.
    sql = f"""{LATEST}
        SELECT c.reviewer, c.key, s.words {LATEST_COMMENTS}
        WHERE s.signature = ?1 AND c.is_bot AND s.noise IS NULL AND s.level IS NOT NULL
          AND length(s.words) >= 16 AND length(s.words) % 4 = 0
        ORDER BY c.created, c.key"""
    return store.query(sql, *scope)


def count_comments(
    store: Store, scope: Scope, formulas: str, important: Sequence[str], empty: Sequence[str]
) -> Rows:
    """Count the comments of each reviewer on each pull request.

    The columns are repository, number, reviewer, and the numbers of comments of important kinds, of
    empty kinds, and of all kinds.
    """
    sql = f"""{LATEST}
        SELECT repository, number, reviewer, TOTAL(kind IN (SELECT value FROM json_each(?6))),
          TOTAL(kind IN (SELECT value FROM json_each(?7))), COUNT(*)
        FROM (SELECT c.repository, c.number, c.reviewer, {KIND} AS kind
          {LATEST_COMMENTS} WHERE s.signature = ?1)
        GROUP BY repository, number, reviewer"""
    return store.query(sql, *scope, formulas, json.dumps(important), json.dumps(empty))


def read_comments(store: Store, scope: Scope, formulas: str, limit: int) -> tuple[Rows, Rows]:
    """Count the comments of each reviewer, and return examples.

    Args:
        store: The store.
        scope: Reviews to read.
        formulas: Keys of the formulas, as a JSON list.
        limit: Maximum number of examples of each reviewer and kind.

    Returns:
        Two lists of rows. The first has a row of counts for each reviewer, kind, repository and
        number. After these four columns, it has the numbers of all comments, of comments that
        people fixed or resolved, and of fixed, answered and resolved comments. The next columns are
        about comments of which it is known whether they were fixed, and how likely that was by
        chance: their number, the number of fixed ones, the sum of the chances, and the largest
        number of units of lines from which a chance was computed. The last columns are the numbers
        of comments in threads, and of comments confirmed by the code and by a language model.

        The second list has examples, those with a reaction first: reviewer, key, name of the
        repository, number, text, kind, whether no other reviewer made the point, and whether the
        comment was fixed (null if unknown), answered and resolved.
    """
    # The comments are stored in a temporary table for both queries, because finding them takes most
    # of the time.
    store.change("DROP TABLE IF EXISTS temp.judged")
    store.change(f"CREATE TEMP TABLE judged AS {_JUDGED}", *scope, formulas)
    # If all lines of a file are near comments, which is usual in a change of twenty lines, there is
    # no other line to compare with, and the chance is unknown. In the demonstration, this was so
    # for 108 of 199 comments; counting these chances as 0 would halve the mean chance.
    kinds = """
        SELECT reviewer, kind, repository, number, COUNT(*),
          TOTAL(fixed IS 1 OR resolved), TOTAL(fixed IS 1), TOTAL(answered),
          TOTAL(resolved), COUNT(iif(fixed IS NULL, NULL, chance)),
          TOTAL(iif(chance IS NULL, NULL, fixed)), TOTAL(iif(fixed IS NULL, NULL, chance)),
          coalesce(MAX(iif(fixed IS NULL, NULL, lines)), 0), TOTAL(has_thread),
          TOTAL(verdict IS 'confirmed'), TOTAL(verdict IS 'confirmed by a model')
        FROM judged GROUP BY reviewer, repository, number, kind
        ORDER BY reviewer, repository, number, kind"""
    # Ties are sorted by time and key, so that equal stores give equal reports.
    examples = """
        WITH ranked AS (
          SELECT *, ROW_NUMBER() OVER (PARTITION BY reviewer, kind
              ORDER BY coalesce(fixed, 0) + resolved DESC, standing DESC, created DESC,
                key) AS rank
          FROM judged)
        SELECT a.reviewer, a.key, r.name, a.number, a.text, a.kind,
          a.point IN (SELECT point FROM judged WHERE kind <> 'formula'
            GROUP BY point HAVING MIN(reviewer) = MAX(reviewer)),
          a.fixed, a.answered, a.resolved
        FROM ranked a JOIN repositories r ON r.id = a.repository
        WHERE a.rank <= ? ORDER BY a.reviewer, a.kind, a.rank"""
    return store.query(kinds), store.query(examples, limit)


def read_scores(store: Store, scope: Scope) -> Rows:
    """Return one row for each reviewer on each pull request, sorted.

    The columns are repository, number, reviewer, whether the reviewer is a bot, number of comments,
    number of words, standing (null if unknown), and whether the review was scored.
    """
    # The row with an empty reviewer is for all reviewers together.
    sql = f"""{LATEST}
        SELECT s.repository, s.number, s.reviewer, s.is_bot, s.comments, s.words, s.standing,
          s.standing IS NOT NULL OR s.relevance IS NOT NULL
        FROM latest l JOIN scores s USING (repository, number, content)
        WHERE s.signature = ?1 AND s.reviewer <> ''
        ORDER BY s.repository, s.number, s.reviewer"""
    return store.query(sql, *scope)


def count_afterwards(store: Store, scope: Scope, known_bots: Sequence[str]) -> Rows:
    """Count the comments of bots that were changed later, or written too late to matter.

    There are four cases: a comment was hidden or deleted; it was edited more than an hour later or
    between two nights; it was written after the pull request was closed; or it was written after
    the fix: on an older commit when there was already a comment on the last commit.

    Args:
        store: The store.
        scope: Pull requests to read.
        known_bots: Names of the bots whose edits do not count, because they mark comments as
            addressed.

    Returns:
        A row for each reviewer on each pull request: the reviewer; the number of comments with any
        of the four cases; the number with one of the last two cases, which came too late to change
        anything; the number of all comments; then the number with each case.
    """
    sql = f"""
        WITH on_head AS (
          SELECT c.repository, c.number, MIN(c.created) AS first
          FROM comments c JOIN pulls p USING (repository, number)
          WHERE c.commit_id = p.head GROUP BY c.repository, c.number)
        SELECT reviewer, TOTAL(gone OR edited OR late OR old), TOTAL(late OR old), COUNT(*),
          TOTAL(gone), TOTAL(edited), TOTAL(late), TOTAL(old) FROM
          (SELECT c.reviewer, p.repository, p.number,
          (SELECT o.minimized FROM comment_observations o WHERE o.comment = c.key
           ORDER BY o.night DESC LIMIT 1) IS NOT NULL AS gone,
          (julianday(c.updated) - julianday(c.created) > 1 / 24.0
            OR (SELECT COUNT(DISTINCT o.body) FROM comment_observations o
              WHERE o.comment = c.key) > 1)
            AND c.reviewer NOT IN (SELECT value FROM json_each(?4)) AS edited,
          c.created > coalesce(p.closed, c.created) AS late,
          c.commit_id <> p.head AND coalesce(h.first < c.created, 0) AS old
        FROM pulls p JOIN comments c USING (repository, number)
        LEFT JOIN on_head h ON h.repository = p.repository AND h.number = p.number
        WHERE {_IN_PERIOD} AND c.is_bot AND c.is_review AND coalesce(c.thread, c.key) = c.key)
        GROUP BY reviewer, repository, number"""
    return store.query(sql, *scope[1:], json.dumps(known_bots))


def count_unread(store: Store, scope: Scope) -> int:
    """Return the number of comments that are not in English."""
    sql = f"""{LATEST} SELECT COUNT(*) {LATEST_COMMENTS} WHERE s.signature = ?1 AND s.stance = ?5"""
    return int(store.query(sql, *scope, Flag.NOT_ENGLISH.value)[0][0])


def count_points(store: Store, scope: Scope, levels: Sequence[str], formulas: str) -> Rows:
    """Count the points that each reviewer made in comments with one of these levels.

    No two comments of a reviewer make the same point (`bench.overlap`). Formulas make no points.

    Args:
        store: The store.
        scope: Reviews to read.
        levels: Levels of importance.
        formulas: Keys of the formulas, as a JSON list.

    Returns:
        A row for each reviewer: the reviewer, and the numbers of all its points, of the points that
        no other reviewer made, and of the points that a bot made first and a person made later.
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
        SELECT reviewer, COUNT(*), TOTAL(reviewers = 1),
          TOTAL(has_person AND is_bot AND is_first)
        FROM made JOIN points USING (point) WHERE is_important GROUP BY reviewer"""
    return store.query(sql, *scope, json.dumps(levels), formulas)


def read_pulls(store: Store, scope: Scope) -> Rows:
    """Return all pull requests, sorted by repository and number.

    The columns are repository, number, day of creation, language, number of changed lines, and
    whether the pull request is merged.
    """
    sql = f"""
        SELECT repository, number, substr(created, 1, 10), language, lines, state = 'merged'
        FROM pulls p WHERE {_IN_PERIOD} ORDER BY repository, number"""
    return store.query(sql, *scope[1:])


def read_posts(store: Store, scope: Scope, review_bots: Sequence[str]) -> Rows:
    """Summarise the posts of each reviewer on each pull request.

    A post counts as a review unless it is a notice that nothing was reviewed, a post of the pull
    request's author, a report of a tool, or a reply in a thread. The summary of a review bot that
    found nothing is a review, and so is a submitted review without a comment. If a review was
    dismissed, it and its comments on lines do not count as a review of the last commit.

    Args:
        store: The store.
        scope: Pull requests to read.
        review_bots: Names of the bots whose posts all belong to reviews.

    Returns:
        A row for each reviewer on each pull request: the reviewer, whether the reviewer is a bot,
        the repository, the number, whether the pull request was merged, whether it was reviewed,
        whether its last commit was reviewed before the merge, the reasons in notices that nothing
        was reviewed (comma-separated), the account, whether there is a comment to score, the hours
        from the opening of the pull request to the first review, and the time of the first post.
    """
    # `IS NOT` is used instead of `<>`, because the author is NULL if the account was deleted. The
    # remainder of the key is the kind of the comment (`rows.comment_key`); 1 is a submitted review.
    # GitHub also creates an empty review for each reply, and for comments on lines; this review
    # does not count.
    is_review = """(c.skip IS NULL AND c.author IS NOT p.author
      AND coalesce(c.thread, c.key) = c.key
      AND NOT (c.key % 4 = 1 AND c.state = 'COMMENTED' AND c.body = ?5)
      AND (c.is_review OR c.key % 4 = 1 OR c.reviewer IN (SELECT value FROM json_each(?4))))"""
    # No column links a line comment to its review, but the comment is older than the submitted
    # review. The few dismissed reviews are selected first, because searching all comments of the
    # pull request for each comment took half of the query's time.
    is_dismissed = """(c.state = 'DISMISSED' OR c.thread = c.key AND EXISTS (
      SELECT 1 FROM dismissed d WHERE d.repository = c.repository AND d.number = c.number
        AND d.reviewer = c.reviewer AND d.commit_id = c.commit_id AND d.created >= c.created))"""
    sql = f"""
        WITH dismissed AS MATERIALIZED (
          SELECT repository, number, reviewer, commit_id, created
          FROM comments WHERE state = 'DISMISSED')
        SELECT c.reviewer, c.is_bot, c.repository, c.number, p.state = 'merged', MAX({is_review}),
          MAX({is_review} AND c.commit_id IS p.head AND c.created <= p.merged
            AND NOT {is_dismissed}),
          group_concat(DISTINCT c.skip), MAX(c.author), MAX(c.is_review),
          24 * (julianday(MIN(CASE WHEN {is_review} THEN c.created END)) - julianday(p.created)),
          MIN(c.created)
        FROM pulls p JOIN comments c USING (repository, number)
        WHERE {_IN_PERIOD} GROUP BY c.repository, c.number, c.reviewer"""
    return store.query(sql, *scope[1:], json.dumps(review_bots), EMPTY_TEXT)


def read_merged(store: Store, scope: Scope) -> Rows:
    """Return repository, number and time of merge of the merged pull requests, sorted by time."""
    sql = f"""
        SELECT repository, number, coalesce(merged, closed, created) AS ended FROM pulls p
        WHERE state = 'merged' AND {_IN_PERIOD} ORDER BY ended"""
    return store.query(sql, *scope[1:])


def read_checks(store: Store, scope: Scope) -> Rows:
    """Return the checks on merged pull requests.

    The columns are app, repository, number, and whether all checks of the app are green.
    """
    sql = f"""
        SELECT k.app, k.repository, k.number, MIN(k.outcome IN ('success', 'neutral'))
        FROM pulls p JOIN checks k USING (repository, number)
        WHERE p.state = 'merged' AND {_IN_PERIOD}
        GROUP BY k.app, k.repository, k.number"""
    return store.query(sql, *scope[1:])


def count_pulls(store: Store, scope: Scope) -> tuple[int, ...]:
    """Return the numbers of all, merged, pending and unreadable pull requests."""
    sql = f"""
        SELECT COUNT(*), TOTAL(state = 'merged'), TOTAL(pending), COUNT(failure) FROM pulls p
        WHERE {_IN_PERIOD}"""
    return tuple(map(int, store.query(sql, *scope[1:])[0]))


def count_unscored(store: Store, scope: Scope) -> int:
    """Return the number of pull requests whose last scoring failed."""
    sql = f"""{LATEST}
        SELECT COUNT(*) FROM latest l JOIN scores s USING (repository, number, content)
        WHERE s.signature = ?1 AND s.reviewer = '' AND s.reason LIKE '{FAILED}%'"""
    return int(store.query(sql, *scope)[0][0])


def read_repositories(store: Store, scope: Scope) -> Rows:
    """Return the repositories, sorted by name.

    The columns are name, state, reason, number of pull requests, and number of merged ones.
    """
    # The period is part of the join condition, so that repositories without a pull request are also
    # listed.
    sql = """
        SELECT r.name, r.state, r.reason, COUNT(p.number), TOTAL(p.state = 'merged')
        FROM repositories r
        LEFT JOIN pulls p ON p.repository = r.id AND substr(p.created, 1, 10) BETWEEN ? AND ?
        WHERE r.id IN (SELECT value FROM json_each(?))
        GROUP BY r.id ORDER BY lower(r.name)"""
    return store.query(sql, *scope[1:])


def read_runs(store: Store, since: str) -> list[AuditRun]:
    """Return all runs since a date, because later runs also read pull requests of a period."""
    return store.select(AuditRun, "WHERE night >= ? ORDER BY id", since)


def count_followed(store: Store, scope: Scope) -> int:
    """Return the number of merged pull requests whose lines are followed on their branch."""
    sql = f"""
        SELECT COUNT(*) FROM pulls p JOIN followed f USING (repository, number)
        WHERE f.reason IS NULL AND p.state = 'merged' AND {_IN_PERIOD}"""
    return int(store.query(sql, *scope[1:])[0][0])


def read_later_changes(store: Store, scope: Scope, formulas: str) -> Rows:
    """Return the later commits that changed lines of pull requests.

    Fixes come first; of these, and of the other commits, the newest comes first.

    Returns:
        A row for each commit and pull request: the id and the name of the repository, the number,
        the commit, whether it fixes something, the key of its message, path and line of the first
        changed line, and a JSON list of the reviewers who made a point near the changed lines
        (`_IS_POINT`).
    """
    sql = f"""{LATEST},
        points AS MATERIALIZED (
          SELECT c.key, c.reviewer {LATEST_COMMENTS} WHERE s.signature = ?1 AND {_IS_POINT}
            AND c.key IN (SELECT n.value FROM later_changes, json_each(near) n))
        SELECT l.repository, r.name, l.number, l.commit_id, l.fixes, l.message, l.path, l.line, (
          SELECT json_group_array(DISTINCT o.reviewer)
          FROM json_each(l.near) n JOIN points o ON o.key = n.value)
        FROM later_changes l JOIN pulls p USING (repository, number)
        JOIN repositories r ON r.id = l.repository
        WHERE p.state = 'merged' AND substr(p.created, 1, 10) BETWEEN ?2 AND ?3
          AND p.repository IN (SELECT value FROM json_each(?4))
        ORDER BY l.fixes DESC, l.at DESC, l.commit_id, l.repository, l.number"""
    return store.query(sql, *scope, formulas)
