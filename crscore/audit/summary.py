"""Overview of an audit, made from the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from crscore.audit.compare import DETECT, compare_all
from crscore.audit.coverage import Covered, load_coverage, rate, rate_of_pulls
from crscore.audit.drift import find_changes
from crscore.audit.gate import why_partial
from crscore.audit.overview import (
    ActedOn,
    Coverage,
    Estimate,
    Gap,
    Night,
    Noise,
    Overview,
    RepositorySummary,
    Reviewer,
    Shown,
    TrendPoint,
    Verdict,
)
from crscore.audit.signals import TITLES
from crscore.audit.store.database import Store
from crscore.audit.store.reviews import LATEST
from crscore.audit.store.rows import host_id_of, kind_of
from crscore.audit.suggested import load_suggested_code
from crscore.audit.tables import (
    NOISE_REASONS,
    SCORES,
    Period,
    ReviewTable,
    load_reviews,
)
from crscore.github.records import RemarkKind
from crscore.statistics import bootstrap, resampled
from crscore.statistics.bootstrap import RESAMPLES

Floats = npt.NDArray[np.float64]

HOST: Final = "https://github.com"
_SHOWN_CHARS: Final = 600
_CANDIDATES: Final = 1_000
"""Comments among which those to show are found; the same text may be in many."""
_ESTIMATES: Final = ("comments", *SCORES)
_ANCHORS: Final = {
    RemarkKind.LINE: "#discussion_r",
    RemarkKind.REVIEW: "#pullrequestreview-",
    RemarkKind.CONVERSATION: "#issuecomment-",
}
_UNCOVERED: Final = Covered(
    False, Coverage(reviewed=rate(0, 0), last_head=rate(0, 0), green_unreviewed=None, skips=())
)
"""Of a reviewer whose posts are gone since they were scored."""
_FEW_PULLS: Final = 20
"""Scored pulls below which a note says that there are few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What an overview is to say."""

    period: Period
    measure: str = "usefulness"
    """Measure of the verdicts, one of `tables.MEASURES`."""
    detect: float = DETECT
    """Difference that matters, 0 to 100."""
    resamples: int = RESAMPLES
    seed: int = 0
    examples: int = 5
    """Best comments, and worst ones."""
    gaps: int = 10
    """Points that no bot addressed, one a pull at most."""
    host: str = HOST
    """Address of the host, for links."""


def make_overview(store: Store, options: Options) -> Overview:
    """Make the overview of a period.

    Args:
        store: The store.
        options: What it is to say.

    Raises:
        StoreError: The store cannot be read.
        InputError: No repository has such a name, or the measure is unknown.
    """
    table = load_reviews(store, options.period)
    others = [
        load_reviews(store, options.period, signature=number, measure="usefulness")
        for number, _ in reversed(table.other_signatures)
    ]
    nights = _nights(store, options.period)
    reviewers = _reviewers(store, table, others, options)
    counts = _pull_counts(store, table)
    return Overview(
        since=options.period.since,
        until=options.period.until,
        signature=table.signature,
        other_signatures=tuple(text for _, text in table.other_signatures),
        detect=options.detect,
        pulls=counts.pulls,
        merged=counts.merged,
        pending=counts.pending,
        failed=counts.failed,
        scored=len(np.unique(table.pull[_is_scored(table)])),
        repositories=_repositories(store, table),
        reviewers=reviewers,
        verdicts=_verdicts(table, options),
        best=_shown(store, table, options, "DESC"),
        worst=_shown(store, table, options, "ASC"),
        gaps=_gaps(store, table, options),
        nights=nights,
        notes=_notes(table, reviewers, counts, why_partial(nights)),
    )


def _is_scored(table: ReviewTable) -> npt.NDArray[np.bool_]:
    """Return which rows have a score; the others abstained."""
    known: npt.NDArray[np.bool_] = ~(
        np.isnan(table.columns["usefulness"]) & np.isnan(table.columns["relevance"])
    )
    return known


def _verdicts(table: ReviewTable, options: Options) -> tuple[Verdict, ...]:
    return compare_all(
        table,
        measure=options.measure,
        detect=options.detect,
        resamples=options.resamples,
        seed=options.seed,
    )


def _reviewers(
    store: Store, table: ReviewTable, others: Sequence[ReviewTable], options: Options
) -> tuple[Reviewer, ...]:
    """Make the reviewers: those with scores, and bots that only told why they did not review."""
    covered = load_coverage(store, table.scope)
    suggested = load_suggested_code(store, table.scope)
    estimates, ranks = _estimates(table, options)
    silent = {
        name
        for name, one in covered.items()
        if one.is_bot and (one.coverage.skips or one.coverage.green_unreviewed)
    }
    made = []
    for name in sorted({*table.reviewers, *silent}):
        one = covered.get(name, _UNCOVERED)
        if name not in table.reviewers:
            made.append(_reviewer(table, others, name, {}, None, one))
            continue
        at = table.reviewers.index(name)
        one = one._replace(is_bot=bool(table.is_bot[at]))
        made.append(_reviewer(table, others, name, estimates[at], ranks.get(at), one))
    made = [replace(one, suggested_code=suggested.get(one.name)) for one in made]
    return tuple(
        sorted(
            made, key=lambda one: (not one.is_bot, -one.usefulness.value if one.usefulness else 1.0)
        )
    )


def _estimates(
    table: ReviewTable, options: Options
) -> tuple[list[dict[str, Estimate | None]], dict[int, tuple[int, int]]]:
    """Return each reviewer's means with intervals, and the ranks of the bots by usefulness."""
    count, pulls = len(table.reviewers), len(table.number)
    if not count:
        return [], {}
    values = np.hstack([table.matrix(column) for column in _ESTIMATES])
    drawn = bootstrap.resample(
        lambda weights: resampled.means(values, weights),
        pulls,
        resamples=options.resamples,
        seed=options.seed,
    )
    observed = resampled.means(values, np.ones((1, pulls)))[0]
    known = (~np.isnan(values)).sum(axis=0)
    estimates: list[dict[str, Estimate | None]] = [{} for _ in range(count)]
    for at in range(values.shape[1]):
        low, high = bootstrap.percentile_interval(drawn[:, at], clusters=int(known[at]))
        if low is not None and high is not None:
            estimates[at % count][_ESTIMATES[at // count]] = Estimate(
                value=float(observed[at]), low=low, high=high
            )
    useful = _ESTIMATES.index("usefulness") * count
    bots = [at for at in np.flatnonzero(table.is_bot).tolist() if known[useful + at]]
    ranges = bootstrap.rank_ranges(drawn[:, [useful + at for at in bots]]) if bots else ()
    return estimates, dict(zip(bots, ranges, strict=True))


def _reviewer(
    table: ReviewTable,
    others: Sequence[ReviewTable],
    name: str,
    estimates: Mapping[str, Estimate | None],
    rank: tuple[int, int] | None,
    covered: Covered,
) -> Reviewer:
    rows, scored = table.rows_of(name), _is_scored(table)
    return Reviewer(
        name=name,
        is_bot=covered.is_bot,
        pulls=int((rows & scored).sum()),
        comments=int(table.columns["comments"][rows].sum()),
        comments_a_pull=estimates.get("comments"),
        usefulness=estimates.get("usefulness"),
        relevance=estimates.get("relevance"),
        conciseness=estimates.get("conciseness"),
        comprehensiveness=estimates.get("comprehensiveness"),
        substance=estimates.get("substance"),
        abstained=int((rows & ~scored).sum()),
        rank=rank,
        coverage=covered.coverage,
        noise=_noise(table, rows),
        acted_on=_acted_on(table, rows),
        suggested_code=None,
        trend=_trend(table, others, name),
        changes=find_changes(table, name) if covered.is_bot else (),
    )


def _noise(table: ReviewTable, rows: npt.NDArray[np.bool_]) -> Noise:
    counts = {reason: int(table.columns[reason][rows].sum()) for reason in NOISE_REASONS}
    noise = np.sum([table.columns[reason][rows] for reason in NOISE_REASONS], axis=0)
    share = rate_of_pulls(noise, table.columns["scored"][rows])
    return Noise(share=share, **counts)


def _acted_on(table: ReviewTable, rows: npt.NDArray[np.bool_]) -> tuple[ActedOn, ...]:
    found = []
    for signal, counts in table.signals.items():
        yes, known, unknown, base_yes, base_all = (one[rows] for one in counts)
        if known.sum() + unknown.sum():
            base = rate_of_pulls(base_yes, base_all) if base_all.sum() else None
            shown = rate_of_pulls(yes, known)
            found.append(
                ActedOn(signal=TITLES[signal], rate=shown, base=base, unknown=int(unknown.sum()))
            )
    return tuple(found)


def _trend(table: ReviewTable, others: Sequence[ReviewTable], name: str) -> tuple[TrendPoint, ...]:
    """Return a point a day; a day without the signature of the table has the newest other one."""
    points: dict[str, TrendPoint] = {}
    for one in (table, *others):
        points = {point.day: point for point in _points(one, name)} | points
    return tuple(points[day] for day in sorted(points))


def _points(table: ReviewTable, name: str) -> list[TrendPoint]:
    rows = np.flatnonzero(table.rows_of(name))
    days = table.day[table.pull[rows]]
    points = []
    for day in np.unique(days):
        chosen = rows[days == day]
        useful = table.columns["usefulness"][chosen]
        useful = useful[~np.isnan(useful)]
        points.append(
            TrendPoint(
                day=date.fromordinal(int(day)).isoformat(),
                pulls=len(chosen),
                usefulness=float(useful.mean()) if len(useful) else None,
                comments=float(table.columns["comments"][chosen].mean()),
                signature=table.scope.signature,
            )
        )
    return points


class _PullCounts(NamedTuple):
    pulls: int
    merged: int
    pending: int
    failed: int


def _pull_counts(store: Store, table: ReviewTable) -> _PullCounts:
    found = store.query(
        """SELECT COUNT(*), TOTAL(state = 'merged'), TOTAL(pending), COUNT(failure) FROM pulls
        WHERE substr(created, 1, 10) BETWEEN ? AND ?
          AND repository IN (SELECT value FROM json_each(?))""",
        *table.scope[1:],
    )
    return _PullCounts(*map(int, found[0]))


def _repositories(store: Store, table: ReviewTable) -> tuple[RepositorySummary, ...]:
    wrote: dict[int, set[str]] = {}
    for pull, reviewer in zip(table.repository[table.pull], table.reviewer, strict=True):
        wrote.setdefault(int(pull), set()).add(table.reviewers[reviewer])
    found = store.query(
        """SELECT r.id, r.name, r.state, r.reason, COUNT(p.number), TOTAL(p.state = 'merged')
        FROM repositories r
        LEFT JOIN pulls p ON p.repository = r.id AND substr(p.created, 1, 10) BETWEEN ? AND ?
        WHERE r.id IN (SELECT value FROM json_each(?))
        GROUP BY r.id ORDER BY lower(r.name)""",
        *table.scope[1:],
    )
    return tuple(
        RepositorySummary(
            name=name,
            state=state,
            reason=reason,
            pulls=pulls,
            merged=int(merged),
            reviewers=tuple(sorted(wrote.get(number, ()))),
        )
        for number, name, state, reason, pulls, merged in found
    )


def _shown(store: Store, table: ReviewTable, options: Options, order: str) -> tuple[Shown, ...]:
    """Return comments of bots of the highest (`DESC`) or lowest (`ASC`) standing, a text once."""
    found = store.query(
        f"""{LATEST}
        SELECT c.key, c.reviewer, r.name, c.number, c.body, s.standing, s.noise
        FROM comment_scores s JOIN comments c ON c.key = s.comment
        JOIN latest l ON l.repository = c.repository AND l.number = c.number
          AND l.content = s.content
        JOIN repositories r ON r.id = c.repository
        WHERE s.signature = ?1 AND s.standing IS NOT NULL AND c.is_bot
        ORDER BY s.standing {order}, c.created DESC, c.key LIMIT ?5""",  # noqa: S608  (constants)
        *table.scope,
        _CANDIDATES,
    )
    by_text: dict[bytes, tuple[Any, ...]] = {}
    for row in found:
        by_text.setdefault(row[4], row)
    return tuple(
        Shown(
            reviewer=reviewer,
            repository=name,
            number=number,
            url=comment_address(options.host, name, number, key),
            text=store.text(body)[:_SHOWN_CHARS],
            standing=standing,
            noise=noise,
        )
        for key, reviewer, name, number, body, standing, noise in islice(
            by_text.values(), options.examples
        )
    )


def comment_address(host: str, name: str, number: int, key: int) -> str:
    """Return the address of a comment with a key."""
    return f"{host}/{name}/pull/{number}{_ANCHORS[kind_of(key)]}{host_id_of(key)}"


def _gaps(store: Store, table: ReviewTable, options: Options) -> tuple[Gap, ...]:
    """Return the worst finding of each pull that nobody addressed, a text once, worst first.

    A description that nobody repeated is no gap.
    """
    found = store.query(
        f"""{LATEST}
        SELECT name, number, text, severity, path, line, MIN(order_) FROM (
          SELECT r.name, o.number, o.text, o.severity, o.path, o.line, p.created,
            CASE o.severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END AS order_,
            MIN(o.rank)  -- the other columns are those of its row
          FROM latest l JOIN open_points o USING (repository, number, content)
          JOIN repositories r ON r.id = o.repository
          JOIN pulls p USING (repository, number)
          WHERE o.signature = ?1 AND o.severity IS NOT NULL GROUP BY o.repository, o.number)
        GROUP BY text
        ORDER BY order_, created DESC, number LIMIT ?5""",  # noqa: S608  (our own text)
        *table.scope,
        options.gaps,
    )
    return tuple(
        Gap(repository=name, number=number, text=text, severity=severity, path=path, line=line)
        for name, number, text, severity, path, line, _ in found
    )


def _nights(store: Store, period: Period) -> tuple[Night, ...]:
    found = store.query(
        """SELECT night, kind, pulls, failed,
          coalesce(partial, CASE WHEN finished IS NULL THEN 'it was stopped' END),
          rest, points, seconds
        FROM runs WHERE night >= ? ORDER BY id""",
        period.since,  # later nights observe the period's pulls again
    )
    names = ("night", "kind", "pulls", "failed", "partial", "rest", "points", "seconds")
    return tuple(Night(**dict(zip(names, row, strict=True))) for row in found)


def _notes(
    table: ReviewTable,
    reviewers: Sequence[Reviewer],
    counts: _PullCounts,
    partial: str | None,
) -> tuple[str, ...]:
    notes = []
    if partial is not None:
        notes.append(f"The numbers may be incomplete: {partial}.")
    if counts.pending:
        notes.append(f"{counts.pending} pull requests have something that was not read yet.")
    if counts.failed:
        notes.append(f"{counts.failed} pull requests could not be read.")
    if table.other_signatures:
        notes.append(
            "Scores of other settings or versions are left out of all means: "
            f"{len(table.other_signatures)} other signatures."
        )
    abstained = sum(one.abstained for one in reviewers)
    if abstained:
        notes.append(f"{abstained} reviews could not be scored and are in no mean.")
    few = [one.name for one in reviewers if one.is_bot and one.pulls < _FEW_PULLS]
    if few:
        notes.append(f"Fewer than {_FEW_PULLS} scored pull requests: {', '.join(few)}.")
    return tuple(notes)
