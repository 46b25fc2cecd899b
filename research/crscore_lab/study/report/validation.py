"""Report of one validation run: its sections, the most important first."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

from crscore.reports.blocks import CHECK_MARK, CROSS_MARK, Table, make_table
from crscore.reports.charts import Bar, Mark, Plot
from crscore.reports.layout import Card, Details, Report, Section
from crscore_lab.formats import (
    DASH,
    columns,
    count,
    number,
    p_value,
    percent,
    probability,
    ranged,
    signed,
    signed_interval,
    threshold,
    whole,
)
from crscore_lab.study.attacks.duels import ECHO_GOAL, WIN_GOAL, WRONG_FLAG_LIMIT, Attacks
from crscore_lab.study.data.study import DIMENSIONS
from crscore_lab.study.data.systems import junk_systems
from crscore_lab.study.measures import agreement, comparison, issues, slices
from crscore_lab.study.measures.correlations import Correlation
from crscore_lab.study.measures.issues import Effect, Issues, ToolRow
from crscore_lab.study.measures.measurements import REPEATED_TOKENS, WORDS
from crscore_lab.study.measures.pairs import SameDiff
from crscore_lab.study.measures.ranking import HUMAN, Ranking, SystemMean
from crscore_lab.study.results import ValidationResult

Correlations = dict[tuple[str, str, str], Correlation]
_Row = TypeVar("_Row", Correlation, Ranking, SameDiff, SystemMean)

CONCISENESS, COMPREHENSIVENESS, RELEVANCE = DIMENSIONS
TRIVIAL: Final = (WORDS, REPEATED_TOKENS)
"""Baselines that a meaningful score must beat."""
_GOALS: Final = {True: f"{CHECK_MARK} reached", False: f"{CROSS_MARK} missed", None: "none"}
_TONES: Final = {True: "good", False: "bad", None: ""}
_EFFECTS: Final = {True: "better", False: "worse", None: ""}
_ISSUE_LABELS: Final = {
    issues.WITHOUT: "no issues",
    issues.TOOLS: "the tools' issues",
    issues.RECORDED: "the study's own issues",
}


def validation_report(result: ValidationResult) -> Report:
    """Lay out a run; parts that were not measured have no section."""
    by_slice = {(row.metric, row.dimension, row.slice): row for row in result.correlations}
    sections = (
        _metrics(result, by_slice),
        _parts(result, by_slice),
        _systems(result),
        _addressed(result),
        *([_attacks(result.attacks)] if result.attacks else ()),
        *([_issues(result.issues)] if result.issues else ()),
        _length(result),
        *([_claims(result)] if result.claims else ()),
        _agreement(result),
        _settings(result),
    )
    return Report(
        title="Validation",
        heading=f"How well {result.metric} agrees with people",
        facts=tuple(_facts(result)),
        notes=result.notes,
        cards=tuple(_cards(result, by_slice)),
        sections=sections,
        signatures=(result.signature,),
    )


def _facts(result: ValidationResult) -> Iterator[str]:
    data, blank = result.data, result.data.blank_reviews
    changes = len({review.change for review in result.reviews})
    yield (
        f"{count(data.reviews, 'review')} of {count(changes, 'change')} "
        f"by {count(len(data.systems), 'system')}, "
        f"{data.references_per_change:.1f} pseudo-references per change"
    )
    if blank:
        verbs = "has no sentence and counts" if blank == 1 else "have no sentence and count"
        yield f"{count(blank, 'review')} {verbs} as 0"
    if data.excluded_changes:
        yield f"{count(len(data.excluded_changes), 'change')} without a pseudo-reference left out"


def _cards(result: ValidationResult, by_slice: Correlations) -> Iterator[Card]:
    row = by_slice[result.metric, RELEVANCE, slices.POOLED]
    basis = "relevance"
    if row.low is not None:
        basis += f", 95 % interval {number(row.low)} to {number(row.high)}"
    if row.p is not None:
        basis += f", {p_value(row.p)}"
    yield Card("Spearman", number(row.spearman), basis)
    yield Card("Kendall tau-b", number(row.kendall), "relevance")
    # The primary metric comes first, on all reviews.
    pairs, ranking = (
        _of_relevance(result.pairs.same_diff)[0],
        _of_relevance(result.systems.ranking)[0],
    )
    basis = f"of {count(pairs.n, 'pair')} of reviews of one change; chance: 50 %"
    yield Card("Pairs in order", percent(pairs.accuracy), basis)
    basis = f"Spearman of {count(ranking.n, 'system')}"
    yield Card("Ranking of systems", number(ranking.spearman), basis)
    trivial = {name: by_slice[name, RELEVANCE, slices.POOLED].spearman for name in TRIVIAL}
    if defined := [(value, name) for name, value in trivial.items() if value is not None]:
        value, name = max(defined)
        yield Card("Best trivial measure", number(value), name)


def _of_relevance(rows: Sequence[_Row]) -> list[_Row]:
    return [row for row in rows if row.dimension == RELEVANCE]


def _metrics(result: ValidationResult, by_slice: Correlations) -> Section:
    pooled = [by_slice[metric.name, RELEVANCE, slices.POOLED] for metric in result.metrics]
    # Agreement between people is the ceiling of every metric.
    people = tuple(
        Mark(row.value, "two people")
        for row in result.agreement
        if (row.subject, row.measure) == (RELEVANCE, agreement.SPEARMAN) and row.value is not None
    )
    bars = tuple(
        _bar(
            row,
            _short_name(result, row.metric),
            "main" if row.primary else "trivial" if row.metric in TRIVIAL else "",
        )
        for row in pooled
    )
    reviews = result.reviews
    junk = junk_systems([row.system for row in reviews], [row.human[2] for row in reviews])
    caption = "How each metric was computed"
    variants = tuple((metric.name, metric.variant) for metric in result.metrics if metric.variant)
    table = Table(caption, ("Metric", "variant"), variants, is_prose=True)
    return Section(
        "metrics",
        "Metrics",
        "Relevance: every metric compared with people",
        intro=(
            "Rank correlation with the human rating over all reviews: 1 is full agreement, 0 is "
            f"none. A score has to beat the trivial measures, {' and '.join(TRIVIAL)}.",
        ),
        plots=(Plot("Spearman correlation with human relevance", bars, people),),
        tables=(_relevance(result, by_slice), _other_dimensions(result, by_slice)),
        notes=(
            f"No junk: without the systems rated worthless by people ({', '.join(junk) or 'none'}),"
            " which any metric separates from the rest. In system: mean of the correlations within "
            "each system. Pairs: share of pairs of reviews with the better one first. Systems: "
            "Spearman of their mean scores.",
        ),
        details=(Details(caption, table),) if variants else (),
    )


def _bar(row: Correlation, label: str, tone: str) -> Bar:
    return Bar(label, row.spearman, row.low, row.high, number(row.spearman), tone)


def _spearman(row: Correlation | None) -> str:
    # A study with junk systems only has no slice without them.
    return DASH if row is None else ranged(row.spearman, row.low, row.high)


def _relevance(result: ValidationResult, by_slice: Correlations) -> Table:
    # Reversed, so that of the slices of a metric the first one, all reviews, stays.
    pairs = {row.metric: row for row in reversed(_of_relevance(result.pairs.same_diff))}
    ranking = {row.metric: row for row in _of_relevance(result.systems.ranking)}

    def on_slice(metric: str, name: str) -> str:
        row = by_slice.get((metric, RELEVANCE, name))
        return number(row.spearman if row else None)

    return make_table(
        "Relevance, every metric",
        [by_slice[metric.name, RELEVANCE, slices.POOLED] for metric in result.metrics],
        ("Relevance", lambda row: _short_name(result, row.metric)),
        ("Spearman", _spearman),
        *columns(number, Kendall="kendall", Pearson="pearson"),
        ("no junk", lambda row: on_slice(row.metric, slices.WITHOUT_JUNK)),
        ("in system", lambda row: on_slice(row.metric, slices.WITHIN_SYSTEM)),
        ("pairs", lambda row: percent(pairs[row.metric].accuracy)),
        ("systems", lambda row: number(ranking[row.metric].spearman)),
        main=lambda row: row.primary,
    )


def _other_dimensions(result: ValidationResult, by_slice: Correlations) -> Table:
    rows = [
        tuple(by_slice[metric.name, name, slices.POOLED] for name in DIMENSIONS[:2])
        for metric in result.metrics
    ]
    return make_table(
        "Conciseness and comprehensiveness, every metric: Spearman and Kendall",
        rows,
        ("Other dimensions", lambda row: _short_name(result, row[0].metric)),
        (CONCISENESS, lambda row: _spearman(row[0])),
        ("Kendall", lambda row: number(row[0].kendall)),
        (COMPREHENSIVENESS, lambda row: _spearman(row[1])),
        ("Kendall", lambda row: number(row[1].kendall)),
        main=lambda row: row[0].primary,
    )


def _short_name(result: ValidationResult, metric: str) -> str:
    """Return a metric's name for a narrow column: variants of the score without its name."""
    score = f"{result.metric} "
    return f"score {metric.removeprefix(score)}" if metric.startswith(score) else metric


def _parts(result: ValidationResult, by_slice: Correlations) -> Section:
    def of_dimension(row: Correlation, dimension: str) -> str:
        return _spearman(by_slice[row.metric, dimension, row.slice])

    def is_main(row: Correlation) -> bool:
        return row.slice == slices.POOLED

    rows = [row for row in _of_relevance(result.correlations) if row.primary]
    bars = tuple(
        _bar(row, f"{slices.label(row.slice)} ({row.n:,})", "main" if is_main(row) else "")
        for row in rows
    )
    title = "The score on parts of the reviews"
    table = make_table(
        title,
        rows,
        ("Spearman", lambda row: slices.label(row.slice)),
        *columns(whole, reviews="n"),
        (CONCISENESS, lambda row: of_dimension(row, CONCISENESS)),
        (COMPREHENSIVENESS, lambda row: of_dimension(row, COMPREHENSIVENESS)),
        (RELEVANCE, _spearman),
        ("relevance: Kendall", lambda row: number(row.kendall)),
        ("relevance: p", lambda row: probability(row.p)),
        main=is_main,
    )
    plot = Plot("Relevance on parts of the reviews: Spearman", bars)
    return Section("parts", "Parts", title, plots=(plot,), tables=(table,))


def _systems(result: ValidationResult) -> Section:
    ranking = _of_relevance(result.systems.ranking)[0]
    means = _of_relevance(result.systems.means)
    scores = {row.system: row for row in means if row.metric == result.metric}
    table = make_table(
        "Systems by mean relevance",
        [row for row in means if row.metric == HUMAN],
        *columns(str, System="system"),
        *columns(whole, "reviews"),
        ("people's rank", lambda row: f"{row.rank:g}"),
        ("mean", lambda row: number(row.mean, 2)),
        ("score's rank", lambda row: f"{scores[row.system].rank:g}"),
        ("mean", lambda row: number(scores[row.system].mean)),
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
    links = result.pairs.addressed
    if links is None:
        intro = "No review of this study is linked to pseudo-references."
        return Section("addressed", "Pairs", title, intro=(intro,))
    chance = number(links.positive / links.n)
    average = ranged(
        links.average_precision, links.average_precision_low, links.average_precision_high
    )
    rows = (
        ("precision", number(links.precision), chance),
        ("recall", number(links.recall), ""),
        ("F1", ranged(links.f1, links.f1_low, links.f1_high), ""),
        ("average precision", average, chance),
        ("AUC", number(links.auc), number(0.5)),
    )
    cutoffs = make_table(
        f"Other thresholds of the {links.score}",
        links.table,
        (links.score, lambda point: threshold(point.threshold)),
        *columns(number, "precision", "recall", F1="f1"),
    )
    intro = (
        f"The matcher compared with the links made by people: {count(links.n, 'pair')} of a "
        f"pseudo-reference and a review, {links.positive:,} of them linked. It matches a pair with "
        f"a {links.score} {'above' if links.score == 'cosine' else 'of at least'} "
        f"{threshold(links.threshold)}."
    )
    table = Table("The matcher as a classifier", ("Matcher", "value", "chance"), rows)
    details = Details(cutoffs.caption, cutoffs)
    return Section("addressed", "Pairs", title, (intro,), tables=(table,), details=(details,))


def _attacks(attacks: Attacks) -> Section:
    row = attacks.honest
    bars = tuple(
        Bar(
            *(row.kind.value, row.wins, row.low, row.high, percent(row.wins)),
            tone=_TONES[row.reached],
        )
        for row in attacks.kinds
    )
    goal = Mark(WIN_GOAL, f"goal {percent(WIN_GOAL)}")
    missed = ", ".join(row.kind.value for row in attacks.kinds if row.reached is False)
    table = make_table(
        "Attacks on the score",
        attacks.kinds,
        ("Attack", lambda row: row.kind.value),
        *columns(whole, duels="n"),
        *columns(percent, honest_wins="wins", by_relevance="wins_relevance", ties="ties"),
        *columns(number, its_median="median", honest_median="honest_median"),
        *columns(percent, "flagged"),
        ("goal", lambda row: _GOALS[row.reached]),
    )
    # By identity: variants of two kinds may be equal.
    kinds = {id(variant): row.kind for row in attacks.kinds for variant in row.variants}
    variants = make_table(
        "Variants of the attacks",
        [variant for row in attacks.kinds for variant in row.variants],
        ("Variant", lambda row: f"{kinds[id(row)].value}: {row.variant}"),
        *columns(whole, duels="n"),
        *columns(percent, honest_wins="wins", ties="ties"),
        *columns(number, its_median="median"),
        *columns(percent, "flagged"),
    )
    return Section(
        "attacks",
        "Attacks",
        "Can the score be fooled?",
        intro=(
            "Texts made to fool the score compete with an honest, well rated review of the same "
            "change. " + (f"Goals missed: {missed}." if missed else "Every goal is reached."),
            f"{percent(row.flagged)} of {count(row.n, 'honest review')} are wrongly flagged as "
            f"restating the change; {'' if row.reached else 'that is too many: '}the goal is "
            f"fewer than {percent(WRONG_FLAG_LIMIT)}.",
        ),
        plots=(Plot("Share of duels that the honest review wins", bars, (goal,), ".0%"),),
        tables=(table,),
        notes=(
            "Duels compare the headline, or relevance where there is no headline. Echoes of "
            f"the pseudo-references say nothing false: they have to lose {percent(ECHO_GOAL)} of "
            f"their duels, every other kind {percent(WIN_GOAL)}.",
        ),
        details=(Details("Every variant", variants, in_text=False),),
    )


def _issues(result: Issues) -> Section:
    def verdict(row: Effect) -> bool | None:
        significant = row.p is not None and row.p < comparison.SIGNIFICANT and row.difference
        return row.difference > 0 if significant and row.difference else None

    def tool_name(row: ToolRow) -> str:
        language = "all languages" if row.language == issues.ALL else row.language
        return f"{language}: {'all tools' if row.tool == issues.ALL else row.tool}"

    def mean(header: str, field: str) -> tuple[str, Callable[[ToolRow], str]]:
        return header, lambda row: number(
            getattr(row, field) / row.changes if row.changes else None, 2
        )

    bars = tuple(
        Bar(
            f"{slices.label(row.slice)}: {_ISSUE_LABELS[row.issues]}",
            *(row.difference, row.low, row.high, signed(row.difference)),
            tone=_TONES[verdict(row)],
        )
        for row in result.effects
        if row.dimension == RELEVANCE and row.issues != issues.WITHOUT
    )
    effects = make_table(
        "Effect of issues on the score",
        result.effects,
        ("Issues", lambda r: f"{slices.label(r.slice)}, {r.dimension}: {_ISSUE_LABELS[r.issues]}"),
        *columns(whole, reviews="n"),
        *columns(number, Spearman="spearman", Kendall="kendall"),
        *columns(signed, gain="difference"),
        ("95 % interval", lambda row: signed_interval(row.low, row.high)),
        ("p", lambda row: probability(row.p)),
        ("", lambda row: _EFFECTS[verdict(row)]),
        main=lambda row: row.issues == issues.TOOLS,
    )
    tools = make_table(
        "Findings of the tools",
        result.tools,
        ("Tool", tool_name),
        *columns(whole, "changes", "unread"),
        mean("findings", "findings"),
        mean("on changed lines", "in_change"),
        *columns(percent, share="share_in_change"),
        mean("pre-existing", "pre_existing"),
        mean("style", "style"),
        mean("counted", "counted"),
        main=lambda row: row.tool == issues.ALL,
    )
    limit = "all" if result.max_issues is None else f"at most {result.max_issues}"
    return Section(
        "issues",
        "Issues",
        "Does static analysis help?",
        intro=(
            f"Analyzers: {result.analyzers}. With a gain above 0, a score that counts issues "
            "agrees better with people than a score that counts none.",
        ),
        plots=(
            Plot(
                "Gain in Spearman of relevance over a score without issues", bars, tick_format="+~f"
            ),
        ),
        tables=(effects, tools),
        notes=(
            "Changes: those that the tool can analyse. Unread: those it could not read in full. "
            "The other columns are means per change. Share: of the findings. Pre-existing: on "
            "changed lines, but already in the old file. Style: new on changed lines, but a matter "
            "of style. Counted: issues that the score counts, issues common to several tools once, "
            f"{limit} per hunk.",
        ),
    )


def _length(result: ValidationResult) -> Section:
    effect = result.length
    intro = (
        "Spearman correlation of relevance and words, given the human rating: "
        f"{ranged(effect.partial, effect.low, effect.high)} over {count(effect.n, 'review')}. The "
        "ideal is 0; above it, a longer review scores higher than people's rating explains."
    )
    if effect.headline is not None:
        intro += f" Of the headline: {number(effect.headline)}."
    return Section("length", "Length", "Does length alone pay?", intro=(intro,))


def _claims(result: ValidationResult) -> Section:
    title = "Human judgements of the study's own claims"
    table = make_table(
        title,
        result.claims,
        *columns(str, Language="language"),
        *columns(whole, judged="n"),
        *columns(percent, correct="accuracy", incorrect="error"),
        *columns(percent, "unverifiable", "missing"),
        main=lambda row: row is result.claims[-1],
    )
    note = "Missing: claims that people added, per judged claim."
    return Section("claims", "Claims", title, tables=(table,), notes=(note,))


def _agreement(result: ValidationResult) -> Section:
    table = make_table(
        "Agreement of people with each other",
        [row for row in result.agreement if row.value is not None],
        ("Ratings and measure", lambda row: f"{row.subject}, {row.measure}"),
        *columns(number, "value"),
        *columns(whole, judged_twice="n"),
    )
    reasons = dict.fromkeys(row.reason for row in result.agreement if row.reason)
    return Section(
        "people",
        "People",
        "How well do people agree with each other?",
        intro=("The ceiling of any score compared with them: 1 is perfect, 0 is chance.",),
        # If nothing was judged twice, only the reasons are shown.
        tables=(table,) if table.rows else (),
        notes=tuple(f"Undefined: {reason}." for reason in reasons),
    )


def _settings(result: ValidationResult) -> Section:
    draws = result.bootstrap
    interval = "none: no bootstrap, so p-values for the ranking of systems only"
    if draws.resamples:
        interval = (
            f"95 % interval from {draws.resamples:,} draws of whole changes, seed {draws.seed}; p "
            "from the same draws, except for the ranking of systems"
        )
    tau = result.tau_by_procedure
    rows = (
        ("score", result.metric),
        ("threshold", DASH if result.threshold is None else threshold(result.threshold)),
        ("threshold by the paper's procedure", number(tau, 4)),
        ("data, SHA-256", result.data.sha256),
        ("held out", result.split or "nothing"),
        ("[low, high]", interval),
    )
    note = "To reproduce, with DATA of that hash and the settings in the signature:"
    table = Table("Settings of this run", ("", ""), rows, is_prose=True)
    code = _command(result)
    return Section("how", "Settings", "How to reproduce", tables=(table,), notes=(note,), code=code)


def _command(result: ValidationResult) -> str:
    matcher, _, encoder_and_claims = result.metric.partition("/")
    encoder, _, claims = encoder_and_claims.rpartition("/")
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
