"""Renders documents of `crscore validate` as JSON, or as Markdown that a terminal can show."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec import Struct

from crscore.reports import escape
from crscore.reports.json import shorten_arrays
from crscore.reports.view import count_noun
from crscore_lab.study.attacks.duels import ECHO_GOAL, WIN_GOAL, WRONG_FLAG_LIMIT, Attacks
from crscore_lab.study.data.study import DIMENSIONS
from crscore_lab.study.measures import agreement, slices
from crscore_lab.study.measures.comparison import Comparison
from crscore_lab.study.measures.issues import Issues
from crscore_lab.study.measures.link_classifier import Classifier
from crscore_lab.study.measures.ranking import HUMAN
from crscore_lab.study.measures.readers import ReadersResult
from crscore_lab.study.results import ValidationResult
from crscore_lab.tables import DASH, format_interval, format_value, make_table

RELEVANCE: Final = DIMENSIONS[2]


def render(document: Struct, form: str) -> str:
    """Render a document of `crscore validate` in a form, `json` or `text`."""
    if form == "json":
        return shorten_arrays(escape.write_json(document))
    match document:
        case ValidationResult():
            parts = _describe_validation(document)
        case Comparison():
            parts = _describe_comparison(document)
        case ReadersResult():
            parts = _describe_readers(document)
        case _:
            raise TypeError(type(document))
    # Names of systems and files are untrusted input.
    return escape.clean("\n\n".join(part for part in parts if part)) + "\n"


def _interval_of(field: str, low: str = "low", high: str = "high") -> Callable[[Any], str]:
    return lambda row: format_interval(getattr(row, field), getattr(row, low), getattr(row, high))


def _slice_of(row: Any) -> str:
    return slices.label(row.slice)


def _describe_validation(result: ValidationResult) -> Iterator[str]:
    data = result.data
    changes = len({review.change for review in result.reviews})
    yield f"# How well {result.metric} agrees with people"
    yield (
        f"{count_noun(data.reviews, 'review')} of {count_noun(changes, 'change')} by "
        f"{count_noun(len(data.systems), 'system')}, with {data.references_per_change:.1f} "
        f"pseudo-references per change. Left out: "
        f"{count_noun(len(data.excluded_changes), 'change')} without a pseudo-reference. Reviews "
        f"without a sentence, whose score is 0: {data.blank_reviews:,}."
    )
    yield from result.notes
    rows = {(row.metric, row.dimension, row.slice): row for row in result.correlations}
    pairs = {row.metric: row for row in result.pairs if row.dimension == RELEVANCE}
    systems = {row.metric: row for row in result.systems.ranking if row.dimension == RELEVANCE}

    def pooled(metric: Any) -> Any:
        return rows[metric.name, RELEVANCE, slices.POOLED]

    def spearman(slice_name: str, dimension: str = RELEVANCE) -> Callable[[Any], float | None]:
        def get(metric: Any) -> float | None:
            row = rows.get((metric.name, dimension, slice_name))
            return row.spearman if row else None

        return get

    yield make_table(
        "Relevance: Spearman correlation of every metric with people",
        result.metrics,
        ("metric", "name"),
        ("all reviews", lambda row: _interval_of("spearman")(pooled(row))),
        ("no junk", spearman(slices.WITHOUT_JUNK)),
        ("in system", spearman(slices.WITHIN_SYSTEM)),
        ("Kendall", lambda row: pooled(row).kendall),
        ("pairs", lambda row: pairs[row.name].accuracy),
        ("systems", lambda row: systems[row.name].spearman),
        *((dimension, spearman(slices.POOLED, dimension)) for dimension in DIMENSIONS[:2]),
    )
    people = [
        row.value
        for row in result.agreement
        if (row.subject, row.measure) == (RELEVANCE, agreement.SPEARMAN)
    ]
    yield (
        "No junk: without the systems that people rated worthless, which any metric separates from "
        "the rest. In system: mean of the correlations within each system. Pairs: share of pairs "
        "of reviews of one change that a metric orders as people do. Systems: correlation of the "
        f"systems' means. Correlation of people: {format_value(people[0] if people else None)}."
    )
    yield make_table(
        "The score on subsets of the reviews",
        [
            row
            for row in result.correlations
            if (row.metric, row.dimension) == (result.metric, RELEVANCE)
        ],
        ("part", _slice_of),
        ("reviews", "n"),
        ("Spearman", _interval_of("spearman")),
        ("Kendall", "kendall"),
        ("p", "p"),
    )
    means = [row for row in result.systems.means if row.dimension == RELEVANCE]
    scores = {row.system: row for row in means if row.metric == result.metric}
    yield make_table(
        "Systems by mean relevance",
        [row for row in means if row.metric == HUMAN],
        ("system", "system"),
        ("reviews", "reviews"),
        ("people's rank", lambda row: f"{row.rank:g}"),
        ("mean", "mean"),
        ("score's rank", lambda row: f"{scores[row.system].rank:g}"),
        ("mean", lambda row: scores[row.system].mean),
    )
    yield from _describe_links(result.addressed)
    if result.attacks:
        yield from _describe_attacks(result.attacks)
    if result.issues:
        yield from _describe_issues(result.issues)
    length = result.length
    yield "## Length"
    yield (
        f"Partial Spearman correlation of the number of words with the relevance score, given the "
        f"human rating: {format_interval(length.partial, length.low, length.high)}; with the "
        f"headline: {format_value(length.headline)}. The ideal is 0."
    )
    yield make_table(
        "Human judgements of the study's own claims",
        result.claims,
        ("language", "language"),
        ("judged", "n"),
        ("correct", "accuracy"),
        *((name, name) for name in ("error", "unverifiable", "missing")),
    )
    yield make_table(
        "Agreement of people with each other",
        result.agreement,
        ("ratings", "subject"),
        ("measure", "measure"),
        ("value", "value"),
        ("judged twice", "n"),
        ("undefined", lambda row: row.reason or ""),
    )
    yield make_table(
        "How each metric was computed",
        [metric for metric in result.metrics if metric.variant],
        ("metric", "name"),
        ("variant", "variant"),
    )
    yield "## To reproduce"
    yield (
        f"Threshold: {format_value(result.threshold)}; the paper's procedure finds "
        f"{format_value(result.tau_by_procedure)}. Intervals: {result.resamples:,} bootstrap "
        f"resamples of the changes. Data: sha256 {data.sha256}. Signature: {result.signature}"
    )


def _describe_links(links: Classifier | None) -> Iterator[str]:
    if links is None:
        return
    average = format_interval(
        links.average_precision, links.average_precision_low, links.average_precision_high
    )
    yield "## Does a review address a pseudo-reference?"
    yield (
        f"{count_noun(links.n, 'pair')}, of which people linked {links.positive:,}. Precision "
        f"{format_value(links.precision)}, recall {format_value(links.recall)}, F1 "
        f"{format_interval(links.f1, links.f1_low, links.f1_high)}, average precision {average} "
        f"(chance {format_value(links.positive / links.n)}), AUC {format_value(links.auc)}. The "
        f"matcher's threshold is a {links.score} of {links.threshold:g}."
    )


def _describe_attacks(attacks: Attacks) -> Iterator[str]:
    yield make_table(
        "Attacks: share of duels that an honest review wins",
        attacks.kinds,
        ("attack", lambda row: row.kind.value),
        ("duels", "n"),
        ("wins", _interval_of("wins")),
        ("by relevance", "wins_relevance"),
        ("ties", "ties"),
        ("median", "median"),
        ("honest median", "honest_median"),
        ("reached", "reached"),
    )
    yield (
        f"The goal is {WIN_GOAL:g}; for echoes, which say nothing false, {ECHO_GOAL:g}. Share of "
        f"{count_noun(attacks.honest, 'honest review')} wrongly flagged as restating the "
        f"change: {format_value(attacks.honest_flagged)}; the goal is below {WRONG_FLAG_LIMIT:g}."
    )


def _describe_issues(result: Issues) -> Iterator[str]:
    counts = ("changes", "unread", "findings", "in_change", "pre_existing", "style", "counted")
    yield make_table(
        f"Findings of the tools: {result.analyzers}",
        result.tools,
        ("language", "language"),
        ("tool", "tool"),
        *((name.replace("_", " "), name) for name in counts),
    )


def _describe_comparison(result: Comparison) -> Iterator[str]:
    row = result.differences[0]
    yield "# Which of two runs agrees better with people"
    if row.difference is None:
        yield "No result: a run, or people, gave all reviews the same relevance."
    elif row.difference == 0:
        yield "Both runs agree with people equally well on relevance."
    else:
        # If the difference is not significant, the sentence must not claim that there is one.
        verb = "agrees" if row.better else "seems to agree"
        better = "B" if row.difference > 0 else "A"
        yield (
            f"{better} {verb} better with people on relevance: B - A is "
            f"{format_interval(row.difference, row.low, row.high)}, p {format_value(row.p)}. To "
            f"detect such a difference in four of five studies, a study needs "
            f"{format_value(row.changes_needed)} changes; this comparison has {result.changes:,}."
        )
    yield (
        f"Compared on {count_noun(result.reviews, 'review')} of "
        f"{count_noun(result.changes, 'change')} in both runs."
    )
    yield from result.warnings
    letters = {"first": "A", "second": "B", None: DASH}
    yield make_table(
        "Differences",
        result.differences,
        ("statistic", lambda row: f"{row.dimension}: {row.statistic}, {slices.label(row.slice)}"),
        ("A", "first"),
        ("B", "second"),
        ("B - A", _interval_of("difference")),
        ("p", "p"),
        ("better", lambda row: letters[row.better]),
        ("changes needed", "changes_needed"),
    )
    yield make_table(
        "Runs",
        (result.first, result.second),
        *((name.replace("_", " "), name) for name in ("name", "metric", "reviews", "left_out")),
        ("data, sha256", "sha256"),
        ("signature", "signature"),
    )


def _describe_readers(result: ReadersResult) -> Iterator[str]:
    yield "# How well readers predict the outcomes of comments"
    yield (
        f"Intervals: {result.resamples:,} bootstrap resamples of {result.groups:,} groups by "
        f"{result.group}, seed {result.seed}. AUC: the chance that a comment with the outcome "
        "outranks one without it by the same kind of writer. Baselines: number of words; ridge "
        "regressions on words (TF-IDF) and on the encoder's vector, trained on other groups."
    )
    yield make_table(
        "Cost of 1,000 comments (the network reads what a model does not)",
        result.readers,
        ("reader", "name"),
        ("comments read", "comments"),
        ("tokens read", "tokens_read"),
        ("tokens written", "tokens_written"),
        ("price", "price"),
    )
    minus = _interval_of("minus_first", "minus_first_low", "minus_first_high")
    for it in result.outcomes:
        share = "" if it.positive is None else f", {it.positive:,} with the outcome"
        yield make_table(
            f"{it.outcome} by {it.field} (writers: {it.writers}; comments: {it.comments:,}{share})",
            it.judges,
            ("reader or baseline", "judge"),
            ("rank correlation" if it.positive is None else "AUC", _interval_of("value")),
            (f"minus {result.readers[0].name}", minus),
        )
    yield from (f"Signature of {reader.name}: {reader.signature}" for reader in result.readers)
