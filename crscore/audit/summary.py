"""Builds the overview of an audit from the store."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from crscore.audit.compare import DETECT, compare_all
from crscore.audit.coverage import ReviewerCoverage, load_coverage, rate, rate_of_pulls
from crscore.audit.decide import Record, decide, load_records
from crscore.audit.drift import find_changes
from crscore.audit.escaped import load_escaped
from crscore.audit.gate import why_partial
from crscore.audit.overview import (
    ActedOn,
    Coverage,
    EscapedRecall,
    Estimate,
    Example,
    Gap,
    Night,
    Noise,
    Overview,
    RepositorySummary,
    Reviewer,
    TrendPoint,
)
from crscore.audit.signals import TITLES
from crscore.audit.store import reports
from crscore.audit.store.database import Store
from crscore.audit.store.queries import pull_pages
from crscore.audit.store.rows import AuditRun, host_id_of, kind_of
from crscore.audit.tables import NOISE_REASONS, REMARKS, SCORES, Period, ReviewTable, load_reviews
from crscore.hosts.site import site_of_page
from crscore.statistics import bootstrap, resampled
from crscore.statistics.bootstrap import RESAMPLES
from crscore.text import count_noun

Floats = npt.NDArray[np.float64]

HOST: Final = "https://github.com"
_CANDIDATES: Final = 1_000
"""Number of comments to search for examples; many may have the same text."""
_EXAMPLES_OF_BOT: Final = 2
"""Number of best and of worst comments of one bot, if there are enough others."""
_ESTIMATES: Final = ("comments", *SCORES)
_UNCOVERED: Final = ReviewerCoverage(
    False, Coverage(reviewed=rate(0, 0), last_head=rate(0, 0), green_unreviewed=None, skips=())
)
"""Coverage of a reviewer whose posts were deleted after scoring."""
_FEW_PULLS: Final = 20
"""Minimum number of scored pull requests; below it, a note says that there are few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewOptions:
    """Options for the content of an overview."""

    period: Period
    measure: str = "usefulness"
    """Measure of the verdicts, one of `tables.MEASURES`."""
    detect: float = DETECT
    """Smallest difference that matters, 0 to 100."""
    resamples: int = RESAMPLES
    seed: int = 0
    examples: int = 5
    """Number of best and of worst comments to show."""
    gaps: int = 10
    """Number of points to show that no bot addressed, at most one per pull request."""
    host: str = HOST
    """Address of GitHub's pages, for links."""


def make_overview(store: Store, options: OverviewOptions) -> Overview:
    """Make the overview of a period.

    Args:
        store: The store.
        options: Period and content.

    Raises:
        StoreError: The store cannot be read.
        InputError: A name matches no repository, or the measure is unknown.
    """
    table = load_reviews(store, options.period)
    other_tables = [
        load_reviews(store, options.period, signature=id_, measure="usefulness")
        for id_, _ in reversed(table.other_signatures)
    ]
    nights = tuple(map(_night, reports.read_runs(store, options.period.since)))
    escaped = load_escaped(store, table, options.host)
    near = {row.reviewer: row for row in escaped.reviewers}
    reviewers = _reviewers(store, table, other_tables, options, near)
    pulls, merged, pending, failed = reports.count_pulls(store, table.scope)
    unscored = reports.count_unscored(store, table.scope)
    counts = {
        ("Not read in full", "pull request"): pending,
        ("Could not be read", "pull request"): failed,
        ("Could not be scored", "pull request"): unscored,
        ("Not in English, so not read", "comment"): reports.count_unread(store, table.scope),
    }
    return Overview(
        since=options.period.since,
        until=options.period.until,
        signature=table.signature,
        other_signatures=tuple(text for _, text in table.other_signatures),
        detect=options.detect,
        pulls=pulls,
        merged=merged,
        pending=pending,
        failed=failed + unscored,
        scored=len(np.unique(table.pull[_is_scored(table)])),
        repositories=_repositories(store, table),
        reviewers=reviewers,
        verdicts=compare_all(
            table,
            measure=options.measure,
            detect=options.detect,
            resamples=options.resamples,
            seed=options.seed,
        ),
        best=_examples(store, table, options, "DESC"),
        worst=_examples(store, table, options, "ASC"),
        gaps=tuple(
            Gap(**dict(zip(Gap.__struct_fields__, row, strict=True)))
            for row in reports.read_gaps(store, table.scope, options.gaps)
        ),
        escaped=escaped,
        nights=nights,
        notes=_notes(table, reviewers, counts, why_partial(nights)),
    )


def _is_scored(table: ReviewTable) -> npt.NDArray[np.bool_]:
    """Return a mask of the rows with a score."""
    has_score: npt.NDArray[np.bool_] = ~(
        np.isnan(table.columns["usefulness"]) & np.isnan(table.columns["relevance"])
    )
    return has_score


def _reviewers(
    store: Store,
    table: ReviewTable,
    other_tables: Sequence[ReviewTable],
    options: OverviewOptions,
    near: Mapping[str, EscapedRecall],
) -> tuple[Reviewer, ...]:
    """Return the reviewers with scores, and bots without a comment to score."""
    coverage = load_coverage(store, table.scope)
    records = load_records(store, table.scope)
    estimates, ranks = _estimates(table, options)
    silent = {
        name
        for name, row in coverage.items()
        if row.is_bot
        and (row.coverage.skips or row.coverage.green_unreviewed or row.coverage.reviewed.count)
    }
    reviewers = []
    # Bots that never reviewed are listed too, because their coverage shows it.
    for name in sorted({*table.reviewers, *silent}):
        own_coverage = coverage.get(name, _UNCOVERED)
        own_estimates: Mapping[str, Estimate | None] = {}
        if name in table.reviewers:
            index = table.reviewers.index(name)
            own_estimates = estimates[index]
            own_coverage = own_coverage._replace(is_bot=bool(table.is_bot[index]))
        reviewers.append(
            _reviewer(
                (table, *other_tables),
                name,
                own_estimates,
                own_coverage,
                records.get(name, Record()),
                near.get(name),
                rank=ranks.get(name),
            )
        )
    return tuple(
        sorted(
            reviewers,
            key=lambda reviewer: (
                not reviewer.is_bot,
                -reviewer.usefulness.value if reviewer.usefulness else 1.0,
            ),
        )
    )


def _estimates(
    table: ReviewTable, options: OverviewOptions
) -> tuple[list[dict[str, Estimate | None]], dict[str, tuple[int, int]]]:
    """Return each reviewer's means with intervals, and the ranks of the bots by usefulness."""
    count, pulls = len(table.reviewers), len(table.number)
    if not count:
        return [], {}
    values = np.hstack([table.matrix(column) for column in _ESTIMATES])
    draws = bootstrap.resample(
        lambda weights: resampled.means(values, weights),
        pulls,
        resamples=options.resamples,
        seed=options.seed,
    )
    means = resampled.means(values, np.ones((1, pulls)))[0]
    sizes = (~np.isnan(values)).sum(axis=0)
    # The columns form one block per measure, with one column for each of `count` reviewers.
    estimates: list[dict[str, Estimate | None]] = [{} for _ in range(count)]
    for column in range(values.shape[1]):
        low, high = bootstrap.percentile_interval(draws[:, column], clusters=int(sizes[column]))
        if low is not None and high is not None:
            estimates[column % count][_ESTIMATES[column // count]] = Estimate(
                value=float(means[column]), low=low, high=high
            )
    usefulness = _ESTIMATES.index("usefulness") * count
    bots = [bot for bot in np.flatnonzero(table.is_bot).tolist() if sizes[usefulness + bot]]
    if not bots:
        return estimates, {}
    ranges = bootstrap.rank_ranges(draws[:, [usefulness + bot for bot in bots]])
    return estimates, {table.reviewers[bot]: rank for bot, rank in zip(bots, ranges, strict=True)}


def _reviewer(
    tables: Sequence[ReviewTable],
    name: str,
    estimates: Mapping[str, Estimate | None],
    coverage: ReviewerCoverage,
    record: Record,
    near: EscapedRecall | None,
    **columns: Any,
) -> Reviewer:
    table = tables[0]
    rows, scored = table.rows_of(name), _is_scored(table)
    return Reviewer(
        name=name,
        is_bot=coverage.is_bot,
        pulls=int((rows & scored).sum()),
        comments=int(table.columns["comments"][rows].sum()),
        comments_per_pull=estimates.get("comments"),
        remarks=_remarks(table, rows),
        abstained=int((rows & ~scored).sum()),
        coverage=coverage.coverage,
        noise=_noise(table, rows),
        acted_on=_acted_on(table, rows),
        decision=decide(table, name, coverage, record, near) if coverage.is_bot else None,
        trend=_trend(tables, name),
        changes=find_changes(table, name) if coverage.is_bot else (),
        **columns | {score: estimates.get(score) for score in SCORES},
    )


def _remarks(table: ReviewTable, rows: npt.NDArray[np.bool_]) -> dict[str, float]:
    counts = {name: float(np.nansum(table.columns[name][rows])) for name in REMARKS}
    total = sum(counts.values())
    return {name: count / total for name, count in counts.items() if total}


def _noise(table: ReviewTable, rows: npt.NDArray[np.bool_]) -> Noise:
    counts = {reason: int(table.columns[reason][rows].sum()) for reason in NOISE_REASONS}
    noise = np.sum([table.columns[reason][rows] for reason in NOISE_REASONS], axis=0)
    share = rate_of_pulls(noise, table.columns["scored"][rows])
    return Noise(share=share, **counts)


def _acted_on(table: ReviewTable, rows: npt.NDArray[np.bool_]) -> tuple[ActedOn, ...]:
    acted_on = []
    for signal, columns in table.signals.items():
        counts = type(columns)(*(column[rows] for column in columns))
        if counts.decided.sum() + counts.unknown.sum():
            has_base = counts.base_total.sum()
            acted_on.append(
                ActedOn(
                    signal=TITLES[signal],
                    rate=rate_of_pulls(counts.positive, counts.decided),
                    base=rate_of_pulls(counts.base_positive, counts.base_total)
                    if has_base
                    else None,
                    unknown=int(counts.unknown.sum()),
                )
            )
    return tuple(acted_on)


def _trend(tables: Sequence[ReviewTable], name: str) -> tuple[TrendPoint, ...]:
    """Return one point per day; a day without the table's signature has the newest other one."""
    points: dict[str, TrendPoint] = {}
    for table in tables:
        # Points of earlier tables take precedence: signatures are not mixed on one day.
        points = {point.day: point for point in _points(table, name)} | points
    return tuple(points[day] for day in sorted(points))


def _points(table: ReviewTable, name: str) -> list[TrendPoint]:
    rows = np.flatnonzero(table.rows_of(name))
    days = table.day[table.pull[rows]]
    points = []
    for day in np.unique(days):
        rows_of_day = rows[days == day]
        usefulness = table.columns["usefulness"][rows_of_day]
        usefulness = usefulness[~np.isnan(usefulness)]
        points.append(
            TrendPoint(
                day=date.fromordinal(int(day)).isoformat(),
                pulls=len(rows_of_day),
                usefulness=float(usefulness.mean()) if len(usefulness) else None,
                comments=float(table.columns["comments"][rows_of_day].mean()),
                signature=table.scope.signature,
            )
        )
    return points


def _repositories(store: Store, table: ReviewTable) -> tuple[RepositorySummary, ...]:
    reviewers: dict[int, set[str]] = {}
    for id_, reviewer in zip(table.repository[table.pull], table.reviewer, strict=True):
        reviewers.setdefault(int(id_), set()).add(table.reviewers[reviewer])
    return tuple(
        RepositorySummary(
            name=name,
            state=state,
            reason=reason,
            pulls=pulls,
            merged=int(merged),
            reviewers=tuple(sorted(reviewers.get(id_, ()))),
        )
        for id_, name, state, reason, pulls, merged in reports.read_repositories(store, table.scope)
    )


def _examples(
    store: Store, table: ReviewTable, options: OverviewOptions, order: Literal["ASC", "DESC"]
) -> tuple[Example, ...]:
    """Return the most (`DESC`) or least (`ASC`) important comments of bots, each text once."""
    by_text: dict[str, Example] = {}
    pages = pull_pages(store, options.host)
    for row in reports.read_examples(store, table.scope, order, _CANDIDATES):
        example = make_example(row, pages)
        # Compare the visible texts: bots hide a different number in the markup of each comment.
        by_text.setdefault(example.text, example)
    # At most a few of one bot, unless there are no others.
    reviewer_counts: Counter[str] = Counter()
    picked_examples: list[list[Example]] = [[], []]
    for example in by_text.values():
        picked_examples[reviewer_counts[example.reviewer] >= _EXAMPLES_OF_BOT].append(example)
        reviewer_counts[example.reviewer] += 1
    return tuple(picked_examples[0] + picked_examples[1])[: options.examples]


def make_example(row: Sequence[Any], pages: Mapping[str, str]) -> Example:
    """Make an example from a row of `reports.read_examples`, with its address on the host."""
    key, reviewer, repository, number, text, standing, noise, stance, level = row
    url = pages[repository].replace("{number}", str(number))
    return Example(
        reviewer=reviewer,
        repository=repository,
        number=number,
        url=site_of_page(url).comment_address(url, kind_of(key), host_id_of(key)),
        text=text,
        standing=standing,
        noise=noise,
        stance=stance,
        level=level,
    )


def _night(run: AuditRun) -> Night:
    return Night(
        night=run.night,
        kind=run.kind,
        pulls=run.pulls,
        failed=run.failed,
        partial=run.partial or (None if run.finished else "it was stopped"),
        rest_requests=run.rest,
        graphql_points=run.points,
        seconds=run.seconds,
    )


def _notes(
    table: ReviewTable,
    reviewers: Sequence[Reviewer],
    counts: Mapping[tuple[str, str], int],
    partial: str | None,
) -> tuple[str, ...]:
    notes = []
    if partial is not None:
        notes.append(f"The scores may be incomplete: {partial}.")
    notes += [f"{text}: {count_noun(n, noun)}." for (text, noun), n in counts.items() if n]
    if table.other_signatures:
        notes.append(
            "Scores of other settings or versions are excluded from all means: "
            f"{count_noun(len(table.other_signatures), 'other signature')}."
        )
    if abstained := sum(reviewer.abstained for reviewer in reviewers):
        notes.append(f"Not scored, and excluded from all means: {count_noun(abstained, 'review')}.")
    few = [
        reviewer.name for reviewer in reviewers if reviewer.is_bot and reviewer.pulls < _FEW_PULLS
    ]
    if few:
        notes.append(f"Fewer than {_FEW_PULLS} scored pull requests: {', '.join(few)}.")
    return tuple(notes)
