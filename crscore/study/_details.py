"""Sections of the text report that answer one question each."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from crscore.reports import escape
from crscore.study._tables import (
    INDENT,
    WIDTH,
    cut,
    explained,
    many,
    number,
    percent,
    ranged,
    shown,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.study.error_analysis import Case
    from crscore.study.results import Findings

CASES: Final = 3
"""Misjudged reviews of each kind that are shown; JSON has them all."""


def addressed(findings: Findings) -> Iterator[str]:
    """Show the matcher as a classifier."""
    yield "Does a review address a pseudo-reference? The matcher against what people linked"
    found = findings.addressed
    if found is None:
        yield f"{INDENT}nobody linked reviews to pseudo-references in this study"
        return
    score = "cosine" if found.score == "cosine" else "degree"
    relation = "above" if found.score == "cosine" else "at least"
    yield INDENT + (
        f"{many(found.n, 'pair')}, {found.positive:,} of them linked; it says yes for a {score} "
        f"{relation} {cut(found.threshold)}"
    )
    average = ranged(
        found.average_precision, found.average_precision_low, found.average_precision_high
    )
    yield INDENT + (
        f"precision {number(found.precision)}, recall {number(found.recall)}, "
        f"F1 {ranged(found.f1, found.f1_low, found.f1_high)}"
    )
    yield INDENT + (
        f"ranking: average precision {average} (chance {found.positive / found.n:.3f}), "
        f"AUC {number(found.auc)} (chance 0.500)"
    )
    lines = [
        (cut(one.threshold), number(one.precision), number(one.recall), number(one.f1))
        for one in found.table
    ]
    yield from table((score, "precision", "recall", "F1"), lines)


def errors(findings: Findings) -> Iterator[str]:
    """Show where score and people are farthest apart."""
    errors = findings.errors
    yield "Where score and people are farthest apart"
    lines = [
        (
            label,
            f"{kind.n:,}",
            percent(kind.rate),
            number(kind.references, 1),
            percent(kind.inline_code),
        )
        for label, kind in (
            (f"too low: score at most {errors.low:.2f}, people say 5", errors.under),
            (f"too high: score above {errors.high:.2f}, people say 1", errors.over),
            ("all reviews", errors.everything),
        )
    ]
    yield from table(("", "reviews", "share", "pseudo-references", "with inline code"), lines)
    yield INDENT + (
        f"Spearman {number(errors.agreement.spearman)}, without these reviews "
        f"{number(errors.agreement_without.spearman)}"
    )
    for title, cases in (("too low", errors.under_cases), ("too high", errors.over_cases)):
        if cases:
            yield f"{INDENT}{title}:"
            yield from (_case(case) for case in cases[:CASES])
        if len(cases) > CASES:
            yield f"{INDENT * 2}… and {len(cases) - CASES:,} more in --format json"


def _case(case: Case) -> str:
    start = f"{INDENT * 2}{number(case.score)} {shown(case.change)}, {shown(case.system)}: "
    return start + textwrap.shorten(
        escape.one_line(case.text), max(40, WIDTH - len(start)), placeholder=" …"
    )


def length(findings: Findings) -> Iterator[str]:
    """Show what length alone pays."""
    effect = findings.length
    yield "Does length alone pay?"
    yield INDENT + (
        f"Spearman of score and words, given the human rating: "
        f"{ranged(effect.partial, effect.low, effect.high)}; 0 would be right"
    )


def attacks(findings: Findings) -> Iterator[str]:
    """Show how attacks on the score fare; nothing where there were none."""
    report = findings.attacks
    if report is None:
        return
    yield "Attacks on the score: how often an honest review wins against them"
    said = {True: "yes", False: "no", None: ""}
    lines = [
        (
            shown(row.kind.value),
            f"{row.n:,}",
            percent(row.wins),
            percent(row.ties),
            number(row.median),
            number(row.honest_median),
            percent(row.flagged),
            said[row.reached],
        )
        for row in report.kinds
    ]
    header = ("", "pairs", "wins", "ties", "median", "honest", "flagged", "goal reached")
    yield from table(header, lines)
    yield INDENT + (
        f"{percent(report.honest.flagged)} of {many(report.honest.n, 'honest review')} are flagged "
        "as restating the change, wrongly"
    )


def sweep(findings: Findings) -> Iterator[str]:
    """Show the published rule at other thresholds."""
    yield "The published rule at other thresholds: its relevance against people's"
    lines = [
        (
            cut(one.threshold),
            number(one.spearman),
            number(one.kendall),
            number(one.mean),
            "tau of this run" if one.threshold == findings.settings.threshold else "",
        )
        for one in findings.sweep
    ]
    yield from table(("tau", "Spearman", "Kendall", "mean", ""), lines)
    tau = findings.measured.tau_by_procedure
    yield from explained(
        f"tau by the paper's procedure on this data: {number(tau, 4)}. The best of this table is "
        "tuned on the reviews it is judged by"
    )


def claims(findings: Findings) -> Iterator[str]:
    """Show what people said of the claims; nothing where they did not."""
    if not findings.claims:
        return
    yield "What people said of the study's own claims"
    lines = [
        (
            shown(row.language),
            f"{row.n:,}",
            percent(row.accuracy),
            percent(row.error),
            percent(row.unverifiable),
            percent(row.missing),
        )
        for row in findings.claims
    ]
    yield from table(("", "judged", "correct", "incorrect", "unverifiable", "missing"), lines)


def agreement(findings: Findings) -> Iterator[str]:
    """Show how far people agree with each other."""
    yield "How far people agree with each other"
    lines = [
        (f"{shown(row.what)}, {shown(row.measure)}", number(row.value), f"{row.n:,}")
        for row in findings.agreement
        if row.value is not None
    ]
    if lines:
        yield from table(("", "", "n"), lines)
    reasons = dict.fromkeys(row.reason for row in findings.agreement if row.reason)
    yield from (f"{INDENT}unknown: {escape.one_line(reason)}" for reason in reasons)
