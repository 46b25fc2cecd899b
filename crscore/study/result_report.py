"""The report of one validation run: its sections, the most important first."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from crscore.study import agreement, slices
from crscore.study.attacks.measure import FLAG_GOAL, TELLING, WIN_GOAL, WRONG_FLAG_LIMIT
from crscore.study.formats import (
    NOTHING,
    count,
    number,
    p_value,
    percent,
    probability,
    ranged,
    threshold,
)
from crscore.study.issue_section import issue_section
from crscore.study.layout import NO, YES, Card, Details, Example, Report, Section, Table
from crscore.study.measure import REPEATED_TOKENS, WORDS
from crscore.study.plot import Bar, Mark, Plot
from crscore.study.study import DIMENSIONS
from crscore.study.systems import HUMAN, junk_systems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.study.attacks.measure import KindRow
    from crscore.study.correlate import Correlation
    from crscore.study.error_analysis import Case
    from crscore.study.levels import Sensitivity
    from crscore.study.results import ValidationResult

RELEVANCE: Final = DIMENSIONS[2]
TRIVIAL: Final = (WORDS, REPEATED_TOKENS)
"""What a score has to beat to say anything."""
CASES_IN_TEXT: Final = 3
_RISES: Final = {True: "rises", False: "does not", None: ""}
_REACHED: Final = {True: f"{YES} reached", False: f"{NO} missed", None: "none"}
_LOOKS: Final = {True: "good", False: "bad", None: ""}


def result_report(result: ValidationResult) -> Report:
    """Lay out a run; what it did not measure has no section."""
    sections = (
        _metrics(result),
        _parts(result),
        _levels(result),
        _systems(result),
        _addressed(result),
        _attacks(result),
        issue_section(result.issues),
        _length(result),
        _errors(result),
        _sweep(result),
        _claims(result),
        _agreement(result),
        _how(result),
    )
    return Report(
        title="Validation",
        heading=f"How well {result.metric} agrees with people",
        facts=tuple(_facts(result)),
        notes=result.notes,
        cards=tuple(_cards(result)),
        sections=tuple(section for section in sections if section is not None),
        signatures=(result.signature,),
    )


def _facts(result: ValidationResult) -> Iterator[str]:
    data = result.data
    changes = len({review.change for review in result.reviews})
    yield (
        f"{count(data.reviews, 'review')} of {count(changes, 'change')} "
        f"by {count(len(data.systems), 'system')}, "
        f"{data.references_per_change:.1f} pseudo-references a change"
    )
    if data.blank_reviews:
        have = (
            "has no sentence and counts"
            if data.blank_reviews == 1
            else "have no sentence and count"
        )
        yield f"{count(data.blank_reviews, 'review')} {have} as 0"
    if data.excluded_changes:
        excluded = count(len(data.excluded_changes), "change")
        yield f"{excluded} left out for having no pseudo-reference"


def _cards(result: ValidationResult) -> Iterator[Card]:
    pooled = _correlations(result)
    row = pooled[result.metric, RELEVANCE, slices.POOLED]
    basis = "relevance"
    if row.low is not None:
        basis += f", 95 % interval {number(row.low)} to {number(row.high)}"
    if row.p is not None:
        basis += f", {p_value(row.p)}"
    yield Card(title="Spearman", value=number(row.spearman), basis=basis)
    yield Card(title="Kendall tau-b", value=number(row.kendall), basis="relevance")
    pairs = next(
        one for one in result.pairs.same_diff if one.primary and one.dimension == RELEVANCE
    )
    yield Card(
        title="Pairs in order",
        value=percent(pairs.accuracy),
        basis=f"of {count(pairs.n, 'pair')} of reviews of one change; a coin: 50 %",
    )
    ranking = next(
        one for one in result.systems.ranking if one.primary and one.dimension == RELEVANCE
    )
    yield Card(
        title="Ranking of systems",
        value=number(ranking.spearman),
        basis=f"Spearman of {count(ranking.n, 'system')}",
    )
    trivial = [
        (pooled[name, RELEVANCE, slices.POOLED].spearman or 0.0, name)
        for name in TRIVIAL
        if (name, RELEVANCE, slices.POOLED) in pooled
    ]
    if trivial:
        value, metric = max(trivial)
        yield Card(title="Best trivial measure", value=number(value), basis=metric)


def _correlations(result: ValidationResult) -> dict[tuple[str, str, str], Correlation]:
    return {(row.metric, row.dimension, row.slice): row for row in result.correlations}


def _metrics(result: ValidationResult) -> Section:
    found = _correlations(result)
    pooled = [found[one.name, RELEVANCE, slices.POOLED] for one in result.metrics]
    people = [
        Mark(value=row.value, label="two people")
        for row in result.agreement
        if (row.what, row.measure) == (RELEVANCE, agreement.SPEARMAN) and row.value is not None
    ]
    plot = Plot(
        title="Spearman correlation with human relevance",
        bars=tuple(_metric_bar(result, row) for row in pooled),
        marks=tuple(people),
    )
    junk = junk_systems(
        [one.system for one in result.reviews], [one.human[2] for one in result.reviews]
    )
    variants = tuple((one.name, one.variant) for one in result.metrics if one.variant)
    how = "How each metric was computed"
    table = Table(caption=how, header=("Metric", "variant"), rows=variants, is_prose=True)
    return Section(
        anchor="metrics",
        short="Metrics",
        title="Relevance: every metric against people",
        intro=(
            "Rank correlation with the human rating over all reviews: 1 is full agreement, 0 is "
            f"none. A score has to beat the trivial measures, {' and '.join(TRIVIAL)}.",
        ),
        plots=(plot,),
        tables=(_relevance(result, pooled), _other_dimensions(result)),
        notes=(
            f"No junk: without the systems that people find worthless ({', '.join(junk) or 'none'})"
            ", which any metric tells from the rest. In system: mean over the systems, each by "
            "itself. Pairs: of two reviews of one change, how often the better one is first. "
            "Systems: Spearman of their mean scores.",
        ),
        details=(Details(title=how, table=table),) if variants else (),
    )


def _metric_bar(result: ValidationResult, row: Correlation) -> Bar:
    look = "main" if row.primary else "trivial" if row.metric in TRIVIAL else ""
    return _bar(row, _short(result, row.metric), look)


def _bar(row: Correlation, label: str, look: str) -> Bar:
    return Bar(
        label=label,
        value=row.spearman,
        low=row.low,
        high=row.high,
        written=number(row.spearman),
        look=look,
    )


def _relevance(result: ValidationResult, pooled: list[Correlation]) -> Table:
    found = _correlations(result)
    pairs = {(row.metric, row.dimension, row.slice): row.accuracy for row in result.pairs.same_diff}
    ranking = {(row.metric, row.dimension): row.spearman for row in result.systems.ranking}

    def spearman(metric: str, name: str) -> str:
        # A study of junk systems alone has no slice without them.
        row = found.get((metric, RELEVANCE, name))
        return number(row.spearman if row else None)

    rows = tuple(
        (
            _short(result, row.metric),
            ranged(row.spearman, row.low, row.high),
            number(row.kendall),
            number(row.pearson),
            spearman(row.metric, slices.WITHOUT_JUNK),
            spearman(row.metric, slices.WITHIN_SYSTEM),
            percent(pairs.get((row.metric, RELEVANCE, slices.POOLED))),
            number(ranking.get((row.metric, RELEVANCE))),
        )
        for row in pooled
    )
    columns = ("Spearman", "Kendall", "Pearson", "no junk", "in system", "pairs", "systems")
    return Table(
        caption="Relevance, every metric",
        header=("Relevance", *columns),
        rows=rows,
        main=frozenset({0}),
    )


def _other_dimensions(result: ValidationResult) -> Table:
    found = _correlations(result)
    rows = []
    for metric in result.metrics:
        cells = [_short(result, metric.name)]
        for dimension in DIMENSIONS[:2]:
            row = found[metric.name, dimension, slices.POOLED]
            cells += [ranged(row.spearman, row.low, row.high), number(row.kendall)]
        rows.append(tuple(cells))
    return Table(
        caption="Conciseness and comprehensiveness, every metric: Spearman and Kendall",
        header=("Other dimensions", "conciseness", "Kendall", "comprehensiveness", "Kendall"),
        rows=tuple(rows),
        main=frozenset({0}),
    )


def _short(result: ValidationResult, metric: str) -> str:
    """Name a metric in a narrow column: the variants of the score without its name."""
    score = f"{result.metric} "
    return f"score {metric.removeprefix(score)}" if metric.startswith(score) else metric


def _parts(result: ValidationResult) -> Section:
    found = {(row.dimension, row.slice): row for row in result.correlations if row.primary}
    relevance = [row for (dimension, _), row in found.items() if dimension == RELEVANCE]
    title = "The score on parts of the reviews"
    plot = Plot(
        title="Relevance on parts of the reviews: Spearman",
        bars=tuple(
            _bar(
                row,
                f"{slices.label(row.slice)} ({row.n:,})",
                "main" if row.slice == slices.POOLED else "",
            )
            for row in relevance
        ),
    )
    rows = tuple(
        (
            slices.label(row.slice),
            f"{row.n:,}",
            *(
                ranged(one.spearman, one.low, one.high)
                for one in (found[dimension, row.slice] for dimension in DIMENSIONS)
            ),
            number(row.kendall),
            probability(row.p),
        )
        for row in relevance
    )
    table = Table(
        caption=title,
        header=("Spearman", "reviews", *DIMENSIONS, "relevance: Kendall", "relevance: p"),
        rows=rows,
        main=frozenset({0}),
    )
    return Section(anchor="parts", short="Parts", title=title, plots=(plot,), tables=(table,))


def _levels(result: ValidationResult) -> Section:
    relevance = [row for row in result.levels if row.dimension == RELEVANCE]
    own = [row for row in result.levels if row.primary and row.dimension != RELEVANCE]
    ratings = tuple(str(one.level) for one in relevance[0].levels)
    counts = ("reviews", *(f"{one.n:,}" for one in relevance[0].levels), "")
    return Section(
        anchor="levels",
        short="Ratings",
        title="Does the score rise with the human rating?",
        tables=(
            Table(
                caption="Mean relevance at each human rating",
                header=("Relevance: people say", *ratings, ""),
                rows=(counts, *(_level(_short(result, row.metric), row) for row in relevance)),
                main=frozenset({1}),
            ),
            Table(
                caption="The score's other dimensions at each human rating",
                header=("Score: people say", *ratings, ""),
                rows=tuple(_level(row.dimension, row) for row in own),
            ),
        ),
    )


def _level(label: str, row: Sensitivity) -> tuple[str, ...]:
    return (label, *(number(one.mean) for one in row.levels), _RISES[row.monotone])


def _systems(result: ValidationResult) -> Section:
    ranking = next(
        row for row in result.systems.ranking if row.primary and row.dimension == RELEVANCE
    )
    means = {
        (row.metric, row.system): row for row in result.systems.means if row.dimension == RELEVANCE
    }
    names = [system for metric, system in means if metric == HUMAN]
    rows = tuple(
        (
            people.system,
            f"{people.reviews:,}",
            f"{people.rank:g}",
            number(people.mean, 2),
            f"{score.rank:g}",
            number(score.mean),
        )
        for people, score in ((means[HUMAN, name], means[result.metric, name]) for name in names)
    )
    return Section(
        anchor="systems",
        short="Systems",
        title="Does the score rank the systems as people do?",
        intro=(
            f"{count(ranking.n, 'system')} by mean relevance: "
            f"Spearman {number(ranking.spearman)} ({p_value(ranking.spearman_p)}), "
            f"Kendall {number(ranking.kendall)} ({p_value(ranking.kendall_p)}).",
        ),
        tables=(
            Table(
                caption="Systems by mean relevance",
                header=("System", "reviews", "people's rank", "mean", "score's rank", "mean"),
                rows=rows,
            ),
        ),
    )


def _addressed(result: ValidationResult) -> Section:
    title = "Does a review address a pseudo-reference?"
    found = result.pairs.addressed
    if found is None:
        nobody = "Nobody linked reviews to pseudo-references in this study."
        return Section(anchor="addressed", short="Pairs", title=title, intro=(nobody,))
    relation = "above" if found.score == "cosine" else "at least"
    chance = number(found.positive / found.n)
    average = ranged(
        found.average_precision, found.average_precision_low, found.average_precision_high
    )
    summary = Table(
        caption="The matcher as a classifier",
        header=("Matcher", "value", "chance"),
        rows=(
            ("precision", number(found.precision), chance),
            ("recall", number(found.recall), ""),
            ("F1", ranged(found.f1, found.f1_low, found.f1_high), ""),
            ("average precision", average, chance),
            ("AUC", number(found.auc), number(0.5)),
        ),
    )
    others = f"Other cut-offs of the {found.score}"
    table = Table(
        caption=others,
        header=(found.score, "precision", "recall", "F1"),
        rows=tuple(
            (threshold(one.threshold), number(one.precision), number(one.recall), number(one.f1))
            for one in found.table
        ),
    )
    return Section(
        anchor="addressed",
        short="Pairs",
        title=title,
        intro=(
            f"The matcher against what people linked: {count(found.n, 'pair')} of a "
            f"pseudo-reference and a review, {found.positive:,} of them linked. It says yes for a "
            f"{found.score} {relation} {threshold(found.threshold)}.",
        ),
        tables=(summary,),
        details=(Details(title=others, table=table),),
    )


def _attacks(result: ValidationResult) -> Section | None:
    attacks = result.attacks
    if attacks is None:
        return None
    plot = Plot(
        title="Share of duels that the honest review wins",
        bars=tuple(
            Bar(
                label=row.kind.value,
                value=row.wins,
                low=row.low,
                high=row.high,
                written=percent(row.wins),
                look="" if row.kind in TELLING else _LOOKS[row.reached],
            )
            for row in attacks.kinds
        ),
        marks=(Mark(value=WIN_GOAL, label=f"goal {percent(WIN_GOAL)}"),),
        write=percent,
    )
    missed = ", ".join(row.kind.value for row in attacks.kinds if row.reached is False)
    honest = attacks.honest
    too_many = "" if honest.reached else "that is too many; "
    columns = ("duels", "honest wins", "ties", "its median", "honest median", "flagged", "goal")
    return Section(
        anchor="attacks",
        short="Attacks",
        title="Can the score be fooled?",
        intro=(
            "Texts made to fool the score compete with an honest, well rated review of the same "
            "change. " + (f"Goals missed: {missed}." if missed else "Every kind reaches its goal."),
            f"{percent(honest.flagged)} of {count(honest.n, 'honest review')} are wrongly flagged "
            f"as restating the change; {too_many}fewer than {percent(WRONG_FLAG_LIMIT)} is the "
            "goal.",
        ),
        plots=(plot,),
        tables=(
            Table(
                caption="Attacks on the score",
                header=("Attack", *columns),
                rows=tuple(_attack(row) for row in attacks.kinds),
            ),
        ),
        notes=(
            f"Restating the change and echoing the pseudo-references say nothing false: they are "
            f"to be flagged in {percent(FLAG_GOAL)} and score no higher than the honest median. "
            f"Every other kind with a goal has to lose {percent(WIN_GOAL)} of its duels.",
        ),
        details=(_variants(attacks.kinds),),
    )


def _attack(row: KindRow) -> tuple[str, ...]:
    return (
        row.kind.value,
        f"{row.n:,}",
        percent(row.wins),
        percent(row.ties),
        number(row.median),
        number(row.honest_median),
        percent(row.flagged),
        _REACHED[row.reached],
    )


def _variants(kinds: tuple[KindRow, ...]) -> Details:
    rows = tuple(
        (
            f"{row.kind.value}: {one.variant}",
            f"{one.n:,}",
            percent(one.wins),
            percent(one.ties),
            number(one.median),
            percent(one.flagged),
        )
        for row in kinds
        for one in row.variants
    )
    table = Table(
        caption="Variants of the attacks",
        header=("Variant", "duels", "honest wins", "ties", "its median", "flagged"),
        rows=rows,
    )
    return Details(title="Every variant", table=table, in_text=0)


def _length(result: ValidationResult) -> Section:
    effect = result.length
    return Section(
        anchor="length",
        short="Length",
        title="Does length alone pay?",
        intro=(
            "Spearman correlation of relevance and words, given the human rating: "
            f"{ranged(effect.partial, effect.low, effect.high)} over "
            f"{count(effect.n, 'review')}. 0 would be right: above it, a longer review scores "
            "higher than people's rating explains.",
        ),
    )


def _errors(result: ValidationResult) -> Section:
    found = result.errors
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
    cases = (("Too low", found.under_cases), ("Too high", found.over_cases))
    return Section(
        anchor="errors",
        short="Errors",
        title="Where score and people are farthest apart",
        intro=(
            f"Spearman {number(found.agreement.spearman)}; without these reviews "
            f"{number(found.agreement_without.spearman)}.",
        ),
        tables=(table,),
        details=tuple(_cases(title, each) for title, each in cases if each),
    )


def _cases(title: str, cases: tuple[Case, ...]) -> Details:
    return Details(
        title=f"{title}: {count(len(cases), 'review')}",
        examples=tuple(
            Example(
                facts=f"score {number(case.score)} · people {case.human:g} · {case.change} · "
                f"{case.system} · {count(case.references, 'pseudo-reference')}",
                text=case.text,
            )
            for case in cases
        ),
        in_text=CASES_IN_TEXT,
    )


def _sweep(result: ValidationResult) -> Section:
    title = "The published rule at other thresholds"
    tau = result.threshold
    table = Table(
        caption=title,
        header=("tau", "Spearman", "Kendall", "mean"),
        rows=tuple(
            (
                threshold(one.threshold) + (" (this run)" if one.threshold == tau else ""),
                number(one.spearman),
                number(one.kendall),
                number(one.mean),
            )
            for one in result.sweep
        ),
        main=frozenset(place for place, one in enumerate(result.sweep) if one.threshold == tau),
    )
    return Section(
        anchor="sweep",
        short="Threshold",
        title=title,
        intro=(
            "Its relevance against people's, by its threshold tau. By the paper's procedure, tau "
            f"on this data is {number(result.tau_by_procedure, 4)}. The best of this table is "
            "tuned on the reviews it is judged by; it is no estimate for others.",
        ),
        tables=(table,),
    )


def _claims(result: ValidationResult) -> Section | None:
    if not result.claims:
        return None
    title = "What people said of the study's own claims"
    table = Table(
        caption=title,
        header=("Language", "judged", "correct", "incorrect", "unverifiable", "missing"),
        rows=tuple(
            (
                row.language,
                f"{row.n:,}",
                percent(row.accuracy),
                percent(row.error),
                percent(row.unverifiable),
                percent(row.missing),
            )
            for row in result.claims
        ),
        main=frozenset({len(result.claims) - 1}),
    )
    note = "Missing: claims that people added, for each judged one."
    return Section(anchor="claims", short="Claims", title=title, tables=(table,), notes=(note,))


def _agreement(result: ValidationResult) -> Section:
    table = Table(
        caption="Agreement of people with each other",
        header=("What, by which measure", "value", "judged twice"),
        rows=tuple(
            (f"{row.what}, {row.measure}", number(row.value), f"{row.n:,}")
            for row in result.agreement
            if row.value is not None
        ),
    )
    reasons = dict.fromkeys(row.reason for row in result.agreement if row.reason)
    return Section(
        anchor="people",
        short="People",
        title="How far do people agree with each other?",
        intro=("The ceiling of any score that is held to them: 1 is perfect, 0 is chance.",),
        tables=(table,) if table.rows else (),
        notes=tuple(f"Unknown: {reason}." for reason in reasons),
    )


def _how(result: ValidationResult) -> Section:
    draws = result.bootstrap
    rows = (
        ("score", result.metric),
        ("threshold", NOTHING if result.threshold is None else threshold(result.threshold)),
        ("data, SHA-256", result.data.sha256),
        ("held out", result.split or "nothing"),
        (
            "[low, high]",
            f"95 % interval from {draws.resamples:,} draws of whole changes, seed {draws.seed}; p "
            "from the same draws, except for the ranking of systems"
            if draws.resamples
            else "none: there is no bootstrap, so no p but those of the ranking of systems",
        ),
    )
    return Section(
        anchor="how",
        short="How",
        title="How this was made",
        tables=(Table(caption="Settings of this run", header=("", ""), rows=rows, is_prose=True),),
        notes=(
            "To make it again, with DATA of that hash and the settings that the signature names:",
        ),
        code=_command(result),
    )


def _command(result: ValidationResult) -> str:
    matcher, _, rest = result.metric.partition("/")
    encoder, _, claims = rest.rpartition("/")
    options = {
        "--matcher": matcher,
        "--encoder": encoder,
        "--claims": claims,
        "--analyzers": result.issues.analyzers if result.issues else "",
        "--split": result.split or "",
        "--resamples": str(result.bootstrap.resamples),
        "--seed": str(result.bootstrap.seed),
    }
    words = [word for option, value in options.items() if value for word in (option, value)]
    return shlex.join(
        ["crscore", "validate", "DATA", *words, "--format", "html", "-o", "validation.html"]
    )
