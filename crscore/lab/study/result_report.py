"""Report of one validation run: its sections, the most important first."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Final

from crscore.lab.study import agreement, slices
from crscore.lab.study.attacks.duels import RESTATING_GOAL, WIN_GOAL, WRONG_FLAG_LIMIT
from crscore.lab.study.correlate import Correlation
from crscore.lab.study.error_analysis import Case
from crscore.lab.study.formats import (
    NOTHING,
    count,
    number,
    p_value,
    percent,
    probability,
    ranged,
    threshold,
    whole,
)
from crscore.lab.study.issue_section import issue_section
from crscore.lab.study.levels import Sensitivity
from crscore.lab.study.measure import REPEATED_TOKENS, WORDS
from crscore.lab.study.results import Attacks, ValidationResult
from crscore.lab.study.study import DIMENSIONS
from crscore.lab.study.systems import HUMAN, junk_systems
from crscore.reports.charts import Bar, Mark, Plot
from crscore.reports.layout import (
    NO,
    YES,
    Card,
    Details,
    Example,
    Report,
    Section,
    Table,
    make_table,
)

Correlations = dict[tuple[str, str, str], Correlation]

RELEVANCE: Final = DIMENSIONS[2]
TRIVIAL: Final = (WORDS, REPEATED_TOKENS)
"""Baselines that a meaningful score must beat."""
CASES_IN_TEXT: Final = 3
_RISES: Final = {True: "rises", False: "does not", None: ""}
_REACHED: Final = {True: f"{YES} reached", False: f"{NO} missed", None: "none"}
_LOOKS: Final = {True: "good", False: "bad", None: ""}


def result_report(result: ValidationResult) -> Report:
    """Lay out a run; parts that were not measured have no section."""
    found = {(row.metric, row.dimension, row.slice): row for row in result.correlations}
    sections = (
        _metrics(result, found),
        _parts(result, found),
        _levels(result),
        _systems(result),
        _addressed(result),
        None if result.attacks is None else _attacks(result.attacks),
        None if result.issues is None else issue_section(result.issues),
        _length(result),
        _errors(result),
        _sweep(result),
        _claims(result) if result.claims else None,
        _agreement(result),
        _how(result),
    )
    return Report(
        title="Validation",
        heading=f"How well {result.metric} agrees with people",
        facts=tuple(_facts(result)),
        notes=result.notes,
        cards=tuple(_cards(result, found)),
        sections=tuple(section for section in sections if section is not None),
        signatures=(result.signature,),
    )


def _facts(result: ValidationResult) -> Iterator[str]:
    data, blank = result.data, result.data.blank_reviews
    changes = len({review.change for review in result.reviews})
    yield (
        f"{count(data.reviews, 'review')} of {count(changes, 'change')} "
        f"by {count(len(data.systems), 'system')}, "
        f"{data.references_per_change:.1f} pseudo-references a change"
    )
    if blank:
        have = "has no sentence and counts" if blank == 1 else "have no sentence and count"
        yield f"{count(blank, 'review')} {have} as 0"
    if data.excluded_changes:
        excluded = count(len(data.excluded_changes), "change")
        yield f"{excluded} left out for having no pseudo-reference"


def _cards(result: ValidationResult, found: Correlations) -> Iterator[Card]:
    row = found[result.metric, RELEVANCE, slices.POOLED]
    basis = "relevance"
    if row.low is not None:
        basis += f", 95 % interval {number(row.low)} to {number(row.high)}"
    if row.p is not None:
        basis += f", {p_value(row.p)}"
    yield Card("Spearman", number(row.spearman), basis)
    yield Card("Kendall tau-b", number(row.kendall), "relevance")
    pairs = next(one for one in result.pairs.same_diff if one.dimension == RELEVANCE)
    basis = f"of {count(pairs.n, 'pair')} of reviews of one change; a coin: 50 %"
    yield Card("Pairs in order", percent(pairs.accuracy), basis)
    ranking = next(one for one in result.systems.ranking if one.dimension == RELEVANCE)
    basis = f"Spearman of {count(ranking.n, 'system')}"
    yield Card("Ranking of systems", number(ranking.spearman), basis)
    trivial = [(found[name, RELEVANCE, slices.POOLED].spearman, name) for name in TRIVIAL]
    if known := [(value, name) for value, name in trivial if value is not None]:
        value, name = max(known)
        yield Card("Best trivial measure", number(value), name)


def _metrics(result: ValidationResult, found: Correlations) -> Section:
    pooled = [found[one.name, RELEVANCE, slices.POOLED] for one in result.metrics]
    people = tuple(
        Mark(row.value, "two people")
        for row in result.agreement
        if (row.what, row.measure) == (RELEVANCE, agreement.SPEARMAN) and row.value is not None
    )
    bars = tuple(_bar(row, _short(result, row.metric), _look(row)) for row in pooled)
    reviews = result.reviews
    junk = junk_systems([one.system for one in reviews], [one.human[2] for one in reviews])
    how = "How each metric was computed"
    variants = tuple((one.name, one.variant) for one in result.metrics if one.variant)
    table = Table(how, ("Metric", "variant"), variants, is_prose=True)
    return Section(
        "metrics",
        "Metrics",
        "Relevance: every metric against people",
        intro=(
            "Rank correlation with the human rating over all reviews: 1 is full agreement, 0 is "
            f"none. A score has to beat the trivial measures, {' and '.join(TRIVIAL)}.",
        ),
        plots=(Plot("Spearman correlation with human relevance", bars, people),),
        tables=(_relevance(result, found), _other_dimensions(result, found)),
        notes=(
            f"No junk: without the systems that people find worthless ({', '.join(junk) or 'none'})"
            ", which any metric tells from the rest. In system: mean over the systems, each by "
            "itself. Pairs: of two reviews of one change, how often the better one is first. "
            "Systems: Spearman of their mean scores.",
        ),
        details=(Details(how, table),) if variants else (),
    )


def _look(row: Correlation) -> str:
    return "main" if row.primary else "trivial" if row.metric in TRIVIAL else ""


def _bar(row: Correlation, label: str, look: str) -> Bar:
    return Bar(label, row.spearman, row.low, row.high, number(row.spearman), look)


def _spearman(row: Correlation | None) -> str:
    # A study with junk systems only has no slice without them.
    return NOTHING if row is None else ranged(row.spearman, row.low, row.high)


def _relevance(result: ValidationResult, found: Correlations) -> Table:
    pairs = {
        (one.metric, one.slice): one.accuracy
        for one in result.pairs.same_diff
        if one.dimension == RELEVANCE
    }
    ranking = {(one.metric, one.dimension): one.spearman for one in result.systems.ranking}

    def on(metric: str, part: str) -> str:
        row = found.get((metric, RELEVANCE, part))
        return number(row.spearman if row else None)

    return make_table(
        "Relevance, every metric",
        [found[one.name, RELEVANCE, slices.POOLED] for one in result.metrics],
        ("Relevance", lambda row: _short(result, row.metric)),
        ("Spearman", _spearman),
        ("Kendall", lambda row: number(row.kendall)),
        ("Pearson", lambda row: number(row.pearson)),
        ("no junk", lambda row: on(row.metric, slices.WITHOUT_JUNK)),
        ("in system", lambda row: on(row.metric, slices.WITHIN_SYSTEM)),
        ("pairs", lambda row: percent(pairs.get((row.metric, slices.POOLED)))),
        ("systems", lambda row: number(ranking.get((row.metric, RELEVANCE)))),
        main=lambda row: row.primary,
    )


def _other_dimensions(result: ValidationResult, found: Correlations) -> Table:
    def of(metric: str, dimension: str) -> Correlation:
        return found[metric, dimension, slices.POOLED]

    con, comp, _ = DIMENSIONS
    return make_table(
        "Conciseness and comprehensiveness, every metric: Spearman and Kendall",
        result.metrics,
        ("Other dimensions", lambda one: _short(result, one.name)),
        (con, lambda one: _spearman(of(one.name, con))),
        ("Kendall", lambda one: number(of(one.name, con).kendall)),
        (comp, lambda one: _spearman(of(one.name, comp))),
        ("Kendall", lambda one: number(of(one.name, comp).kendall)),
        main=lambda one: one.primary,
    )


def _short(result: ValidationResult, metric: str) -> str:
    """Return a metric's name for a narrow column: variants of the score without its name."""
    score = f"{result.metric} "
    return f"score {metric.removeprefix(score)}" if metric.startswith(score) else metric


def _parts(result: ValidationResult, found: Correlations) -> Section:
    rows = [row for row in result.correlations if row.primary and row.dimension == RELEVANCE]
    looks = ["main" if row.slice == slices.POOLED else "" for row in rows]
    bars = tuple(
        _bar(row, f"{slices.label(row.slice)} ({row.n:,})", look)
        for row, look in zip(rows, looks, strict=True)
    )
    con, comp, _ = DIMENSIONS
    title = "The score on parts of the reviews"
    table = make_table(
        title,
        rows,
        ("Spearman", lambda row: slices.label(row.slice)),
        ("reviews", lambda row: whole(row.n)),
        (con, lambda row: _spearman(found[row.metric, con, row.slice])),
        (comp, lambda row: _spearman(found[row.metric, comp, row.slice])),
        (RELEVANCE, _spearman),
        ("relevance: Kendall", lambda row: number(row.kendall)),
        ("relevance: p", lambda row: probability(row.p)),
        main=lambda row: row.slice == slices.POOLED,
    )
    plot = Plot("Relevance on parts of the reviews: Spearman", bars)
    return Section("parts", "Parts", title, plots=(plot,), tables=(table,))


def _levels(result: ValidationResult) -> Section:
    relevance = [row for row in result.levels if row.dimension == RELEVANCE]
    own = [row for row in result.levels if row.primary and row.dimension != RELEVANCE]
    header = ("people say", *(str(one.level) for one in relevance[0].levels), "")
    counts = ("reviews", *(whole(one.n) for one in relevance[0].levels), "")
    rows = (counts, *(_level(_short(result, row.metric), row) for row in relevance))
    others = tuple(_level(row.dimension, row) for row in own)
    return Section(
        "levels",
        "Ratings",
        "Does the score rise with the human rating?",
        tables=(
            Table("Mean relevance at each human rating", header, rows, main=frozenset({1})),
            Table("The score's other dimensions at each human rating", header, others),
        ),
    )


def _level(label: str, row: Sensitivity) -> tuple[str, ...]:
    return (label, *(number(one.mean) for one in row.levels), _RISES[row.monotone])


def _systems(result: ValidationResult) -> Section:
    ranking = next(row for row in result.systems.ranking if row.dimension == RELEVANCE)
    rows = [row for row in result.systems.means if row.dimension == RELEVANCE]
    scores = {row.system: row for row in rows if row.metric == result.metric}
    table = make_table(
        "Systems by mean relevance",
        [row for row in rows if row.metric == HUMAN],
        ("System", lambda people: people.system),
        ("reviews", lambda people: whole(people.reviews)),
        ("people's rank", lambda people: f"{people.rank:g}"),
        ("mean", lambda people: number(people.mean, 2)),
        ("score's rank", lambda people: f"{scores[people.system].rank:g}"),
        ("mean", lambda people: number(scores[people.system].mean)),
    )
    intro = (
        f"{count(ranking.n, 'system')} by mean relevance: "
        f"Spearman {number(ranking.spearman)} ({p_value(ranking.spearman_p)}), "
        f"Kendall {number(ranking.kendall)} ({p_value(ranking.kendall_p)})."
    )
    title = "Does the score rank the systems as people do?"
    return Section("systems", "Systems", title, intro=(intro,), tables=(table,))


def _addressed(result: ValidationResult) -> Section:
    title = "Does a review address a pseudo-reference?"
    found = result.pairs.addressed
    if found is None:
        nobody = "Nobody linked reviews to pseudo-references in this study."
        return Section("addressed", "Pairs", title, intro=(nobody,))
    chance = number(found.positive / found.n)
    average = ranged(
        found.average_precision, found.average_precision_low, found.average_precision_high
    )
    summary = (
        ("precision", number(found.precision), chance),
        ("recall", number(found.recall), ""),
        ("F1", ranged(found.f1, found.f1_low, found.f1_high), ""),
        ("average precision", average, chance),
        ("AUC", number(found.auc), number(0.5)),
    )
    others = make_table(
        f"Other cut-offs of the {found.score}",
        found.table,
        (found.score, lambda one: threshold(one.threshold)),
        ("precision", lambda one: number(one.precision)),
        ("recall", lambda one: number(one.recall)),
        ("F1", lambda one: number(one.f1)),
    )
    intro = (
        f"The matcher against what people linked: {count(found.n, 'pair')} of a pseudo-reference "
        f"and a review, {found.positive:,} of them linked. It says yes for a {found.score} "
        f"{'above' if found.score == 'cosine' else 'at least'} {threshold(found.threshold)}."
    )
    table = Table("The matcher as a classifier", ("Matcher", "value", "chance"), summary)
    details = Details(others.caption, others)
    return Section("addressed", "Pairs", title, (intro,), tables=(table,), details=(details,))


def _attacks(attacks: Attacks) -> Section:
    honest = attacks.honest
    bars = tuple(
        Bar(
            *(row.kind.value, row.wins, row.low, row.high, percent(row.wins)),
            tone=_LOOKS[row.reached],
        )
        for row in attacks.kinds
    )
    goal = Mark(WIN_GOAL, f"goal {percent(WIN_GOAL)}")
    missed = ", ".join(row.kind.value for row in attacks.kinds if row.reached is False)
    table = make_table(
        "Attacks on the score",
        attacks.kinds,
        ("Attack", lambda row: row.kind.value),
        ("duels", lambda row: whole(row.n)),
        ("honest wins", lambda row: percent(row.wins)),
        ("by relevance", lambda row: percent(row.wins_relevance)),
        ("ties", lambda row: percent(row.ties)),
        ("its median", lambda row: number(row.median)),
        ("honest median", lambda row: number(row.honest_median)),
        ("flagged", lambda row: percent(row.flagged)),
        ("goal", lambda row: _REACHED[row.reached]),
    )
    return Section(
        "attacks",
        "Attacks",
        "Can the score be fooled?",
        intro=(
            "Texts made to fool the score compete with an honest, well rated review of the same "
            "change. " + (f"Goals missed: {missed}." if missed else "Every kind reaches its goal."),
            f"{percent(honest.flagged)} of {count(honest.n, 'honest review')} are wrongly flagged "
            f"as restating the change; {'' if honest.reached else 'that is too many; '}fewer than "
            f"{percent(WRONG_FLAG_LIMIT)} is the goal.",
        ),
        plots=(Plot("Share of duels that the honest review wins", bars, (goal,), ".0%"),),
        tables=(table,),
        notes=(
            "Duels are judged by the headline, and by relevance where there is none. Restating the "
            "change and echoing the pseudo-references say nothing false: they have to lose "
            f"{percent(RESTATING_GOAL)} of their duels, every other kind with a goal "
            f"{percent(WIN_GOAL)}.",
        ),
        details=(Details("Every variant", _variants(attacks), in_text=0),),
    )


def _variants(attacks: Attacks) -> Table:
    return make_table(
        "Variants of the attacks",
        [(row.kind.value, one) for row in attacks.kinds for one in row.variants],
        ("Variant", lambda row: f"{row[0]}: {row[1].variant}"),
        ("duels", lambda row: whole(row[1].n)),
        ("honest wins", lambda row: percent(row[1].wins)),
        ("ties", lambda row: percent(row[1].ties)),
        ("its median", lambda row: number(row[1].median)),
        ("flagged", lambda row: percent(row[1].flagged)),
    )


def _length(result: ValidationResult) -> Section:
    effect = result.length
    intro = (
        "Spearman correlation of relevance and words, given the human rating: "
        f"{ranged(effect.partial, effect.low, effect.high)} over {count(effect.n, 'review')}. 0 "
        "would be right: above it, a longer review scores higher than people's rating explains."
    )
    if effect.headline is not None:
        intro += f" Of the headline: {number(effect.headline)}."
    return Section("length", "Length", "Does length alone pay?", intro=(intro,))


def _errors(result: ValidationResult) -> Section:
    found = result.errors
    kinds = (
        (f"too low: score at most {found.low:.2f}, people say 5", found.under),
        (f"too high: score above {found.high:.2f}, people say 1", found.over),
        ("all reviews", found.everything),
    )
    table = make_table(
        "Misjudged reviews",
        kinds,
        ("Relevance", lambda row: row[0]),
        ("reviews", lambda row: whole(row[1].n)),
        ("share", lambda row: percent(row[1].rate)),
        ("pseudo-references", lambda row: number(row[1].references, 1)),
        ("with inline code", lambda row: percent(row[1].inline_code)),
    )
    intro = (
        f"Spearman {number(found.agreement.spearman)}; without these reviews "
        f"{number(found.agreement_without.spearman)}."
    )
    cases = (("Too low", found.under_cases), ("Too high", found.over_cases))
    details = tuple(
        Details(
            f"{title}: {count(len(each), 'review')}",
            examples=tuple(_example(case) for case in each),
            in_text=CASES_IN_TEXT,
        )
        for title, each in cases
        if each
    )
    title = "Where score and people are farthest apart"
    return Section("errors", "Errors", title, (intro,), tables=(table,), details=details)


def _example(case: Case) -> Example:
    facts = (
        f"score {number(case.score)} · people {case.human:g} · {case.change} · {case.system} · "
        f"{count(case.references, 'pseudo-reference')}"
    )
    return Example(facts, case.text)


def _sweep(result: ValidationResult) -> Section:
    title = "The published rule at other thresholds"
    tau = result.threshold
    table = make_table(
        title,
        result.sweep,
        ("tau", lambda one: threshold(one.threshold) + " (this run)" * (one.threshold == tau)),
        ("Spearman", lambda one: number(one.spearman)),
        ("Kendall", lambda one: number(one.kendall)),
        ("mean", lambda one: number(one.mean)),
        main=lambda one: one.threshold == tau,
    )
    intro = (
        "Its relevance against people's, by its threshold tau. By the paper's procedure, tau on "
        f"this data is {number(result.tau_by_procedure, 4)}. The best of this table is tuned on "
        "the reviews it is judged by; it is no estimate for others."
    )
    return Section("sweep", "Threshold", title, (intro,), tables=(table,))


def _claims(result: ValidationResult) -> Section:
    title = "What people said of the study's own claims"
    table = make_table(
        title,
        result.claims,
        ("Language", lambda row: row.language),
        ("judged", lambda row: whole(row.n)),
        ("correct", lambda row: percent(row.accuracy)),
        ("incorrect", lambda row: percent(row.error)),
        ("unverifiable", lambda row: percent(row.unverifiable)),
        ("missing", lambda row: percent(row.missing)),
        main=lambda row: row is result.claims[-1],
    )
    note = "Missing: claims that people added, for each judged one."
    return Section("claims", "Claims", title, tables=(table,), notes=(note,))


def _agreement(result: ValidationResult) -> Section:
    table = make_table(
        "Agreement of people with each other",
        [row for row in result.agreement if row.value is not None],
        ("What, by which measure", lambda row: f"{row.what}, {row.measure}"),
        ("value", lambda row: number(row.value)),
        ("judged twice", lambda row: whole(row.n)),
    )
    reasons = dict.fromkeys(row.reason for row in result.agreement if row.reason)
    return Section(
        "people",
        "People",
        "How far do people agree with each other?",
        intro=("The ceiling of any score that is held to them: 1 is perfect, 0 is chance.",),
        tables=(table,) if table.rows else (),
        notes=tuple(f"Unknown: {reason}." for reason in reasons),
    )


def _how(result: ValidationResult) -> Section:
    draws = result.bootstrap
    interval = "none: there is no bootstrap, so no p but those of the ranking of systems"
    if draws.resamples:
        interval = (
            f"95 % interval from {draws.resamples:,} draws of whole changes, seed {draws.seed}; p "
            "from the same draws, except for the ranking of systems"
        )
    rows = (
        ("score", result.metric),
        ("threshold", NOTHING if result.threshold is None else threshold(result.threshold)),
        ("data, SHA-256", result.data.sha256),
        ("held out", result.split or "nothing"),
        ("[low, high]", interval),
    )
    again = "To make it again, with DATA of that hash and the settings that the signature names:"
    table = Table("Settings of this run", ("", ""), rows, is_prose=True)
    code = _command(result)
    return Section("how", "How", "How this was made", tables=(table,), notes=(again,), code=code)


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
