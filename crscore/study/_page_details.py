"""Sections of the validation page that answer one question each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from crscore.reports import escape
from crscore.study import _plots
from crscore.study._page_parts import NO, YES, Example, Fold, Section, Table, examples_text
from crscore.study._tables import cut, many, number, percent, ranged, shown
from crscore.study.attacks.duels import FLAG_GOAL, FLAGGED_KINDS, WIN_GOAL, WRONG_FLAG_LIMIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.study.attacks.duels import AttackReport, KindRow
    from crscore.study.error_analysis import Case
    from crscore.study.results import Findings

MAX_CASES: Final = 50
"""Misjudged reviews of each kind that the page holds; JSON has them all."""


def addressed(findings: Findings) -> Section | None:
    """Show the matcher as a classifier."""
    found = findings.addressed
    if found is None:
        return None
    is_cosine = found.score == "cosine"
    score, relation = ("cosine", "above") if is_cosine else ("degree", "at least")
    chance = found.positive / found.n
    average = ranged(
        found.average_precision, found.average_precision_low, found.average_precision_high
    )
    plot = _plots.lines(
        "addressed",
        [
            _plots.Series(
                label=f"the {score} cut elsewhere",
                points=tuple((one.recall, one.precision) for one in reversed(found.table)),
            ),
            _plots.Series(
                label="the matcher’s own decision", points=((found.recall, found.precision),)
            ),
        ],
        title="Precision and recall of the matcher on the pairs that people linked",
        axes=("recall", "precision"),
        across=(0.0, 0.25, 0.5, 0.75, 1.0),
        level=_plots.Mark(value=chance, label="chance"),
    )
    table = Table(
        caption=f"Precision and recall at other cut-offs of the {score}",
        header=(score, "precision", "recall", "F1"),
        rows=tuple(
            (cut(one.threshold), number(one.precision), number(one.recall), number(one.f1))
            for one in found.table
        ),
    )
    summary = Table(
        caption="The matcher as a classifier",
        header=("Matcher", "value", "chance"),
        rows=(
            ("precision", number(found.precision), number(chance)),
            ("recall", number(found.recall), ""),
            ("F1", ranged(found.f1, found.f1_low, found.f1_high), ""),
            ("average precision", average, number(chance)),
            ("AUC", number(found.auc), number(0.5)),
        ),
    )
    return Section(
        name="addressed",
        short="Pairs",
        title="Does a review address a pseudo-reference?",
        lead=(
            f"The matcher against what people linked: {many(found.n, 'pair')} of a "
            f"pseudo-reference and a review, {found.positive:,} of them linked. It says yes for a "
            f"{score} {relation} {cut(found.threshold)}.",
        ),
        plots=(plot,),
        tables=(summary,),
        folds=(Fold(title="Other cut-offs", table=table),),
    )


def attacks(findings: Findings) -> Section | None:
    """Show how attacks on the score fare; nothing where there were none."""
    report = findings.attacks
    if report is None:
        return None
    plot = _plots.forest(
        "attacks",
        [
            _plots.Bar(
                label=shown(row.kind.value),
                value=row.wins,
                low=row.low,
                high=row.high,
                written=percent(row.wins),
                look="" if row.kind in FLAGGED_KINDS else _look(row.reached),
            )
            for row in report.kinds
        ],
        title="Share of duels that the honest review wins",
        marks=(_plots.Mark(value=WIN_GOAL, label=f"goal {percent(WIN_GOAL)}"),),
        write=percent,
    )
    missed = [row.kind.value for row in report.kinds if row.reached is False]
    honest = "fewer" if report.honest.reached else "that is too many; fewer"
    return Section(
        name="attacks",
        short="Attacks",
        title="Can the score be fooled?",
        lead=(
            "Texts made to fool the score compete with an honest, well rated review of the same "
            "change. "
            + (f"Goals missed: {', '.join(missed)}." if missed else "Every kind reaches its goal."),
            f"{percent(report.honest.flagged)} of {many(report.honest.n, 'honest review')} are "
            f"wrongly flagged as restating the change; {honest} than "
            f"{percent(WRONG_FLAG_LIMIT)} is the goal.",
        ),
        plots=(plot,),
        tables=(
            Table(
                caption="Attacks on the score",
                header=(
                    "Attack",
                    "duels",
                    "honest wins",
                    "ties",
                    "its median",
                    "honest median",
                    "flagged",
                    "goal",
                ),
                rows=tuple(_attack(row) for row in report.kinds),
            ),
        ),
        notes=(
            f"Restating the change and echoing the pseudo-references say nothing false: they are "
            f"to be flagged in {percent(FLAG_GOAL)} and score no higher than the honest median. "
            f"Every other kind with a goal has to lose {percent(WIN_GOAL)} of its duels.",
        ),
        folds=(_variants(report),),
    )


def _look(reached: bool | None) -> str:
    return "" if reached is None else "good" if reached else "bad"


def _attack(row: KindRow) -> tuple[str, ...]:
    said = {True: f"{YES} reached", False: f"{NO} missed", None: "none"}
    return (
        shown(row.kind.value),
        f"{row.n:,}",
        percent(row.wins),
        percent(row.ties),
        number(row.median),
        number(row.honest_median),
        percent(row.flagged),
        said[row.reached],
    )


def _variants(report: AttackReport) -> Fold:
    rows = [
        (
            shown(f"{row.kind.value}: {one.variant}"),
            f"{one.n:,}",
            percent(one.wins),
            percent(one.ties),
            number(one.median),
            percent(one.flagged),
        )
        for row in report.kinds
        for one in row.variants
    ]
    table = Table(
        caption="Variants of the attacks",
        header=("Variant", "duels", "honest wins", "ties", "its median", "flagged"),
        rows=tuple(rows),
    )
    return Fold(title="Every variant", table=table)


def length(findings: Findings) -> Section:
    """Show what length alone pays."""
    effect = findings.length
    plot = _plots.forest(
        "length",
        [
            _plots.Bar(
                label="score and words",
                value=effect.partial,
                low=effect.low,
                high=effect.high,
                written=number(effect.partial),
                look="main",
            )
        ],
        title="Partial Spearman correlation of score and words, given the human rating",
        # The whole scale: of a single value nobody could tell whether it is near 0.
        span=(-1.0, 1.0),
    )
    return Section(
        name="length",
        short="Length",
        title="Does length alone pay?",
        lead=(
            "Spearman correlation of relevance and words, given the human rating: "
            f"{ranged(effect.partial, effect.low, effect.high)} over "
            f"{many(effect.n, 'review')}. 0 would be right: above it, a longer review scores "
            "higher than people’s rating explains.",
        ),
        plots=(plot,),
    )


def errors(findings: Findings) -> Section:
    """Show where score and people are farthest apart."""
    found = findings.errors
    kinds = (
        (f"too low: score at most {found.low:.2f}, people say 5", found.under),
        (f"too high: score above {found.high:.2f}, people say 1", found.over),
        ("all reviews", found.everything),
    )
    table = Table(
        caption="Misjudged reviews",
        header=("Relevance", "reviews", "share", "pseudo-references", "with inline code"),
        rows=tuple(
            (
                label,
                f"{kind.n:,}",
                percent(kind.rate),
                number(kind.references, 1),
                percent(kind.inline_code),
            )
            for label, kind in kinds
        ),
    )
    folds = (
        _cases("Too low", found.under_cases),
        _cases("Too high", found.over_cases),
    )
    return Section(
        name="errors",
        short="Errors",
        title="Where score and people are farthest apart",
        lead=(
            f"Spearman {number(found.agreement.spearman)}; without these reviews "
            f"{number(found.agreement_without.spearman)}.",
        ),
        tables=(table,),
        folds=tuple(fold for fold in folds if fold.examples),
    )


def _cases(title: str, cases: Sequence[Case]) -> Fold:
    more = len(cases) - MAX_CASES
    return Fold(
        title=f"{title}: {many(len(cases), 'review')}",
        examples=tuple(
            Example(
                facts=f"score {number(case.score)} · people {case.human:g} · "
                f"{shown(case.change)} · {shown(case.system)} · "
                f"{many(case.references, 'pseudo-reference')}",
                text=examples_text(case.text),
            )
            for case in cases[:MAX_CASES]
        ),
        rest=f"… and {more:,} more in --format json" if more > 0 else "",
    )


def claims(findings: Findings) -> Section | None:
    """Show what people said of the claims; nothing where they did not."""
    if not findings.claims:
        return None
    last = len(findings.claims) - 1
    table = Table(
        caption="What people said of the study's own claims",
        header=("Language", "judged", "correct", "incorrect", "unverifiable", "missing"),
        rows=tuple(
            (
                shown(row.language),
                f"{row.n:,}",
                percent(row.accuracy),
                percent(row.error),
                percent(row.unverifiable),
                percent(row.missing),
            )
            for row in findings.claims
        ),
        main=frozenset({last}),
    )
    return Section(
        name="claims",
        short="Claims",
        title="What people said of the study’s own claims",
        tables=(table,),
        notes=("Missing: claims that people added, for each judged one.",),
    )


def agreement(findings: Findings) -> Section | None:
    """Show how far people agree with each other."""
    if not findings.agreement:
        return None
    known = tuple(
        (f"{shown(row.what)}, {shown(row.measure)}", number(row.value), f"{row.n:,}")
        for row in findings.agreement
        if row.value is not None
    )
    table = Table(
        caption="Agreement of people with each other",
        header=("What, by which measure", "value", "judged twice"),
        rows=known,
    )
    reasons = dict.fromkeys(row.reason for row in findings.agreement if row.reason)
    return Section(
        name="people",
        short="People",
        title="How far do people agree with each other?",
        lead=("The ceiling of any score that is held to them: 1 is perfect, 0 is chance.",),
        tables=(table,) if known else (),
        notes=tuple(f"Unknown: {escape.one_line(reason)}." for reason in reasons),
    )
