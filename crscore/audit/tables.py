"""Reviews of a period as columns: one row for each reviewer on each pull request.

All means, intervals and verdicts are computed from this table alone. It has the scores of one
signature, and of the last scoring of each pull.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.audit.signals import TITLES, Signal
from crscore.audit.store.database import Store
from crscore.errors import InputError
from crscore.pull_request.reviewers import wildcards
from crscore.statistics.clusters import divide

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_Key = tuple[int, int, str]

SCORES: Final = ("usefulness", "relevance", "conciseness", "comprehensiveness", "substance")
"""Measures of a reviewer's comments on a pull, 0 to 100."""
NOISE: Final = "noise"
"""Share of a reviewer's comments on a pull that are noise, 0 to 100."""
NOISE_REASONS: Final = ("nothing", "repeat", "restates", "praise")
MEASURES: Final = (*SCORES, NOISE, *TITLES.values())
"""Everything by which reviewers can be compared; a signal's is the share of comments, 0 to 100."""
LOWER_IS_BETTER: Final = frozenset({NOISE, TITLES[Signal.THUMBS_DOWN]})
NEEDS_ROW: Final = frozenset({Signal.SUGGESTION_APPLIED, Signal.LINES_CHANGED, Signal.FILE_CHANGED})
"""Signals that say nothing of a comment without a row; of the others, no row is a no."""
OF_THREADS: Final = frozenset(
    {Signal.RESOLVED_BY_AUTHOR, Signal.RESOLVED_BY_PERSON, Signal.RESOLVED_BY_BOT}
)
"""Signals of comments in threads alone."""
_COVERS: Final = 0.9
"""Share of the scored pulls from which on a signature covers a period."""
_SIZES: Final = (20, 100, 500)
"""Largest numbers of changed lines of the classes of size."""

LATEST: Final = """
WITH latest AS MATERIALIZED (
  SELECT s.repository, s.number, s.content,
    -- The last night; of two scorings in one night, the one that left its page.
    MAX(s.night || (s.content IS g.content) || hex(s.content)) AS newest
  FROM scores s
  JOIN pulls p USING (repository, number)
  LEFT JOIN pages g
    ON g.repository = s.repository AND g.number = s.number AND g.signature = s.signature
  WHERE s.signature = ?1 AND substr(p.created, 1, 10) BETWEEN ?2 AND ?3
    AND s.repository IN (SELECT value FROM json_each(?4))
  GROUP BY s.repository, s.number
)"""
"""Start of a query with a `Scope`'s values: `latest` has the last scored content of each pull."""

_PULLS: Final = """
SELECT repository, number, substr(created, 1, 10), language, lines FROM pulls
WHERE substr(created, 1, 10) BETWEEN ? AND ?
  AND repository IN (SELECT value FROM json_each(?))
ORDER BY repository, number"""
_REVIEWS: Final = f"""{LATEST}
SELECT s.repository, s.number, s.reviewer, s.is_bot, s.comments, s.words, s.standing,
  100 * s.relevance, 100 * s.conciseness, 100 * s.comprehensiveness, 100 * s.substance
FROM latest l JOIN scores s USING (repository, number, content)
WHERE s.signature = ?1 AND s.reviewer <> ''
ORDER BY s.repository, s.number, s.reviewer"""  # noqa: S608  (our own names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Pulls that count: by the day they were created on, and by repository."""

    since: str
    """First day, ISO 8601."""
    until: str
    """Last day, inclusive."""
    repositories: tuple[str, ...] = ("*",)
    """Names, or patterns with `*`."""

    def __post_init__(self) -> None:
        """Check the days.

        Raises:
            InputError: A day is no date, or the first is after the last.
        """
        try:
            days = [date.fromisoformat(day) for day in (self.since, self.until)]
        except ValueError as exc:
            raise InputError(f"{self.since} to {self.until}: {exc}; write 2026-03-01") from exc
        if days[0] > days[1]:
            raise InputError(f"the period ends on {self.until}, before its start on {self.since}")


class Scope(NamedTuple):
    """Rows that a table was made of: the values of `LATEST` and of queries like it."""

    signature: int
    since: str
    until: str
    repositories: str
    """Numbers of the repositories, a JSON list."""


class SignalCounts(NamedTuple):
    """Comments by what one signal says of them, shape (N,) each, a row for each review."""

    yes: Floats
    known: Floats
    unknown: Floats
    base_yes: Floats
    base_all: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReviewTable:
    """Reviews of a period: N rows, K reviewers, P pulls."""

    period: Period
    scope: Scope
    signature: str
    """Text of the signature; empty without a score."""
    other_signatures: tuple[tuple[int, str], ...]
    """Signatures of the period that are left out."""
    repository: Ints
    """Repository of each pull, shape (P,)."""
    number: Ints
    """Number of each pull, shape (P,)."""
    day: Ints
    """Day each pull was created on, as `date.toordinal` counts, shape (P,)."""
    stratum: Ints
    """Repository, language and class of size of each pull, numbered from 0, shape (P,)."""
    reviewers: tuple[str, ...]
    """Names in order."""
    is_bot: npt.NDArray[np.bool_]
    """Shape (K,)."""
    pull: Ints
    """Pull of each row, shape (N,)."""
    reviewer: Ints
    """Reviewer of each row, shape (N,)."""
    columns: Mapping[str, Floats]
    """Numbers of each row, shape (N,) each, NaN where unknown: `MEASURES`; counts of comments,
    words, scored comments, and of these each of `NOISE_REASONS`.
    """
    signals: Mapping[Signal, SignalCounts]
    """Empty when they were not loaded."""

    def rows_of(self, reviewer: str) -> npt.NDArray[np.bool_]:
        """Return which rows are of a reviewer, shape (N,)."""
        at = self.reviewers.index(reviewer) if reviewer in self.reviewers else -1
        rows: npt.NDArray[np.bool_] = self.reviewer == at
        return rows

    def matrix(self, column: str) -> Floats:
        """Return a column as a matrix of shape (P, K); NaN where there is none."""
        values = np.full((len(self.number), len(self.reviewers)), np.nan)
        values[self.pull, self.reviewer] = self.columns[column]
        return values


def load_reviews(
    store: Store, period: Period, *, signature: int | None = None, measure: str | None = None
) -> ReviewTable:
    """Load the reviews of a period.

    Args:
        store: The store.
        period: Pulls that count.
        signature: Number of the signature; None for the newest that covers the period: that has at
            least nine tenths of the pulls that the one with the most has.
        measure: Measure that is needed, besides the scores; None for all. Noise and signals, which
            the comments have, take most of the time; without, their columns are missing.

    Raises:
        StoreError: The store cannot be read.
        InputError: No repository has such a name.
    """
    repositories = json.dumps(find_repositories(store, period.repositories))
    scored = _scored_pulls(store, period, repositories)
    chosen = signature if signature is not None else _covering(scored)
    scope = Scope(chosen, period.since, period.until, repositories)
    pulls = store.query(_PULLS, *scope[1:])
    pull_at = {(row[0], row[1]): at for at, row in enumerate(pulls)}
    rows = store.query(_REVIEWS, *scope)
    bots = {row[2]: bool(row[3]) for row in rows}
    names = tuple(sorted(bots))
    name_at = {name: at for at, name in enumerate(names)}
    columns, counts = _columns(store, scope, rows, measure)
    texts = store.signatures()
    return ReviewTable(
        period=period,
        scope=scope,
        signature=texts.get(chosen, ""),
        other_signatures=tuple((one, texts[one]) for one in sorted(scored) if one != chosen),
        repository=np.array([row[0] for row in pulls], dtype=np.int64),
        number=np.array([row[1] for row in pulls], dtype=np.int64),
        day=np.array([date.fromisoformat(row[2]).toordinal() for row in pulls], dtype=np.int64),
        stratum=_strata([(row[0], row[3], _size(row[4])) for row in pulls]),
        reviewers=names,
        is_bot=np.array([bots[name] for name in names], dtype=bool),
        pull=np.array([pull_at[row[:2]] for row in rows], dtype=np.int64),
        reviewer=np.array([name_at[row[2]] for row in rows], dtype=np.int64),
        columns=columns,
        signals=counts,
    )


def find_repositories(store: Store, patterns: Sequence[str]) -> list[int]:
    """Return the numbers of the repositories with such names, in order; case does not matter.

    Raises:
        InputError: A pattern matches none, though there are repositories.
    """
    known = store.query("SELECT id, name FROM repositories ORDER BY id")
    found = set()
    for pattern in patterns:
        matched = {number for number, name in known if wildcards.matches(pattern, name)}
        if known and not matched:
            raise InputError(f"the store has no repository {pattern}")
        found |= matched
    return sorted(found)


def _scored_pulls(store: Store, period: Period, repositories: str) -> dict[int, int]:
    """Count the scored pulls of each signature."""
    return dict(
        store.query(
            """SELECT signature, COUNT(*) FROM (
              SELECT DISTINCT s.signature, s.repository, s.number
              FROM scores s JOIN pulls p USING (repository, number)
              WHERE substr(p.created, 1, 10) BETWEEN ? AND ?
                AND s.repository IN (SELECT value FROM json_each(?)))
            GROUP BY signature""",
            period.since,
            period.until,
            repositories,
        )
    )


def _covering(counts: Mapping[int, int]) -> int:
    """Return the newest signature that covers the period; 0 without any."""
    most = max(counts.values(), default=0)
    return max((one for one, count in counts.items() if count >= _COVERS * most), default=0)


def _size(lines: int | None) -> int:
    """Return the class of size; -1 when unknown."""
    return -1 if lines is None else sum(lines > limit for limit in _SIZES)


def _strata(keys: list[tuple[int, str | None, int]]) -> Ints:
    numbers: dict[tuple[int, str | None, int], int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


def _columns(
    store: Store, scope: Scope, rows: Sequence[tuple[Any, ...]], measure: str | None
) -> tuple[dict[str, Floats], dict[Signal, SignalCounts]]:
    place = {row[:3]: at for at, row in enumerate(rows)}
    names = ("comments", "words", *SCORES)
    numbers = np.array([row[4:] for row in rows], dtype=np.float64).reshape(-1, len(names))
    columns = dict(zip(names, numbers.T, strict=True))
    if measure in SCORES:
        return columns, {}
    columns |= _comments(store, scope, place)
    noisy = sum((columns[reason] for reason in NOISE_REASONS), np.zeros(len(rows)))
    columns[NOISE] = 100 * divide(noisy, columns["scored"])
    if measure == NOISE:
        return columns, {}
    counts = _signals(store, scope, place, columns)
    columns |= {TITLES[signal]: 100 * divide(one.yes, one.known) for signal, one in counts.items()}
    return columns, counts


def _comments(store: Store, scope: Scope, place: Mapping[_Key, int]) -> dict[str, Floats]:
    """Count the comments of each row, those in threads, and the noise by reason."""
    reasons = ", ".join(f"SUM(s.noise IS '{reason}')" for reason in NOISE_REASONS)
    found = store.query(
        f"""{LATEST}
        SELECT c.repository, c.number, c.reviewer, COUNT(*), COUNT(c.thread), {reasons}
        FROM comment_scores s JOIN comments c ON c.key = s.comment
        JOIN latest l ON l.repository = c.repository AND l.number = c.number
          AND l.content = s.content
        WHERE s.signature = ?1
        GROUP BY c.repository, c.number, c.reviewer""",  # noqa: S608  (our own names)
        *scope,
    )
    names = ("scored", "threads", *NOISE_REASONS)
    numbers, at = _numbers(found, place, width=len(names))
    table = np.zeros((len(place), len(names)))
    table[at] = numbers
    return dict(zip(names, table.T, strict=True))


def _signals(
    store: Store, scope: Scope, place: Mapping[_Key, int], columns: Mapping[str, Floats]
) -> dict[Signal, SignalCounts]:
    found = store.query(
        f"""{LATEST},
        newest AS (
          SELECT comment, signal, value, base_yes, base_all,
            MAX(night || printf('%09d', rules))
          FROM signals GROUP BY comment, signal)
        SELECT c.repository, c.number, c.reviewer, n.signal, SUM(n.value IS 1),
          COUNT(n.value), COUNT(*) - COUNT(n.value),
          TOTAL(n.base_yes * (n.base_all > 0)), TOTAL(n.base_all)
        FROM comment_scores s JOIN comments c ON c.key = s.comment
        JOIN latest l ON l.repository = c.repository AND l.number = c.number
          AND l.content = s.content
        JOIN newest n ON n.comment = s.comment
        WHERE s.signature = ?1
        GROUP BY c.repository, c.number, c.reviewer, n.signal""",  # noqa: S608  (our own names)
        *scope,
    )
    numbers, at = _numbers(found, place, width=6)
    counts = {}
    for signal in Signal:
        table = np.zeros((len(place), 5))
        chosen = numbers[:, 0] == signal
        table[at[chosen]] = numbers[chosen, 1:]
        one = SignalCounts(*table.T)
        if signal not in NEEDS_ROW:
            all_ = columns["threads" if signal in OF_THREADS else "scored"]
            one = one._replace(known=all_ - one.unknown)
        counts[signal] = one
    return counts


def _numbers(
    rows: Sequence[tuple[Any, ...]], place: Mapping[_Key, int], *, width: int
) -> tuple[Floats, Ints]:
    """Return the numbers behind the key of each row of a query, and the review it belongs to.

    Rows of reviewers without a score are left out.
    """
    kept = [row for row in rows if row[:3] in place]
    numbers = np.array([row[3:] for row in kept], dtype=np.float64).reshape(-1, width)
    return numbers, np.array([place[row[:3]] for row in kept], dtype=np.int64)
