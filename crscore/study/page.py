"""What a validation run found, as one web page: it loads nothing and runs no script."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from crscore.reports import escape, frame
from crscore.study import _page_details, _page_issues, _page_metrics, _page_versus, _plots, slices
from crscore.study._page_parts import RELEVANCE, Card, Section, Table, interval, p_value, pooled
from crscore.study._tables import NOTHING, cut, many, number, percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crscore.study.compare import Comparison
    from crscore.study.results import Findings

_TEMPLATE = "study/templates/page.html.j2"
_STYLE = "study/templates/page.css"


def to_html(findings: Findings) -> str:
    """Render a run as a page.

    Args:
        findings: The run; what is absent from it has no section.

    Returns:
        A self-contained document.
    """
    made = (
        _page_metrics.metrics(findings),
        _page_metrics.parts(findings),
        _page_metrics.levels(findings),
        _page_metrics.systems(findings),
        _page_details.addressed(findings),
        _page_details.attacks(findings),
        _page_issues.section(findings),
        _page_details.length(findings),
        _page_details.errors(findings),
        _page_metrics.sweep(findings),
        _page_details.claims(findings),
        _page_details.agreement(findings),
        _how(findings),
    )
    return _page(
        title="Validation",
        heading=f"How well {escape.one_line(findings.measured.primary.name)} agrees with people",
        answer=(),
        facts=tuple(_facts(findings)),
        notes=tuple(escape.one_line(note) for note in findings.notes),
        cards=tuple(_cards(findings)),
        sections=[section for section in made if section is not None],
        signatures=(escape.one_line(findings.settings.signature),),
    )


def comparison_to_html(comparison: Comparison) -> str:
    """Render a comparison of two runs as a page.

    Args:
        comparison: Of the runs.

    Returns:
        A self-contained document.
    """
    return _page(
        title="Comparison",
        heading="Which of two runs agrees better with people",
        answer=_page_versus.answer(comparison),
        facts=_page_versus.facts(comparison),
        notes=tuple(escape.one_line(warning) for warning in comparison.warnings),
        cards=_page_versus.cards(comparison),
        sections=_page_versus.sections(comparison),
        signatures=tuple(
            escape.one_line(side.signature) for side in (comparison.first, comparison.second)
        ),
    )


def _page(*, title: str, sections: Sequence[Section], **values: object) -> str:
    return frame.page(
        _TEMPLATE,
        title=title,
        style=frame.read_resource(_STYLE),
        sections=sections,
        marker=_plots.marker,
        **values,
    )


def _facts(findings: Findings) -> Iterator[str]:
    measured = findings.measured
    yield (
        f"{many(len(measured.rows), 'review')} of {many(len(set(measured.changes)), 'change')} "
        f"by {many(len(set(measured.systems)), 'system')} · "
        f"{measured.references:.1f} pseudo-references a change"
    )
    if measured.blank:
        have = "has no sentence and counts" if measured.blank == 1 else "have no sentence and count"
        yield f"{many(measured.blank, 'review')} {have} as 0"
    if measured.excluded:
        yield f"{many(len(measured.excluded), 'change')} left out for having no pseudo-reference"


def _cards(findings: Findings) -> Iterator[Card]:
    row = pooled(findings, findings.measured.primary.name, RELEVANCE)
    sure = ["relevance", interval(row.low, row.high), p_value(row.p) if row.p is not None else ""]
    yield Card(title="Spearman", value=number(row.spearman), basis=", ".join(filter(None, sure)))
    yield Card(title="Kendall tau-b", value=number(row.kendall), basis="relevance")
    pairs = next(
        one
        for one in findings.same_diff
        if one.primary and (one.dimension, one.slice) == (RELEVANCE, slices.POOLED)
    )
    yield Card(
        title="Pairs in order",
        value=percent(pairs.accuracy),
        basis=f"of {many(pairs.n, 'pair')} of reviews of one change; a coin: 50 %",
    )
    ranking = next(
        one for one in findings.systems.ranking if one.primary and one.dimension == RELEVANCE
    )
    yield Card(
        title="Ranking of systems",
        value=number(ranking.spearman),
        basis=f"Spearman of {many(ranking.n, 'system')}",
    )
    trivial = [
        (one.spearman, one.metric)
        for one in findings.correlations
        if (one.dimension, one.slice) == (RELEVANCE, slices.POOLED)
        and one.metric in _page_metrics.TRIVIAL
        and one.spearman is not None
    ]
    if trivial:
        value, metric = max(trivial)
        yield Card(title="Best trivial measure", value=number(value), basis=metric)


def _how(findings: Findings) -> Section:
    """Say how the run was made and how to make it again."""
    settings = findings.settings
    measured = findings.measured
    rows = [
        ("score", escape.one_line(measured.primary.name)),
        ("threshold", NOTHING if settings.threshold is None else cut(settings.threshold)),
        ("data, SHA-256", findings.study.sha256),
        ("held out", escape.one_line(settings.split) if settings.split else "nothing"),
        (
            "intervals",
            f"{settings.resamples:,} draws of whole changes, seed {settings.seed}"
            if settings.resamples
            else "none",
        ),
    ]
    lead = (
        "Intervals are 95 % intervals; p comes from the same draws, except for the ranking of "
        "systems."
        if settings.resamples
        else "There is no bootstrap, so no interval and no p but those of the ranking of systems."
    )
    return Section(
        name="how",
        short="How",
        title="How this was made",
        lead=(lead,),
        tables=(
            Table(caption="Settings of this run", header=("", ""), rows=tuple(rows), is_prose=True),
        ),
        notes=(
            "To make it again, with DATA of that hash and the settings that the signature names:",
        ),
        code=_command(findings),
    )


def _command(findings: Findings) -> str:
    settings = findings.settings
    matcher, _, rest = findings.measured.primary.name.partition("/")
    encoder, _, claims = rest.rpartition("/")
    named = (("--matcher", matcher), ("--encoder", encoder), ("--claims", claims))
    words = ["crscore", "validate", "DATA"]
    for option, value in named:
        words += [option, escape.one_line(value)] if value else []
    if findings.issues is not None:
        words += ["--analyzers", escape.one_line(findings.issues.analyzers)]
    words += ["--split", escape.one_line(settings.split)] if settings.split else []
    words += ["--resamples", str(settings.resamples), "--seed", str(settings.seed)]
    return shlex.join([*words, "--format", "html", "-o", "validation.html"])
