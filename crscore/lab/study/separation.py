"""How well the numbers of a result tell comments apart.

Two questions to comments of people, without ratings: is a comment's own change told from another
change, and are comments with a label told from those without it?
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Annotated, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Meta, Struct

from crscore.errors import InputError
from crscore.lab.study import comments
from crscore.lab.study.comments import CommentRow, Comments
from crscore.lab.study.measure import REPEATED_TOKENS, WORDS
from crscore.records import Analysis, Comment, Result, Usefulness, analyzers_identity
from crscore.scorer import Scorer
from crscore.scoring import signature
from crscore.statistics import bootstrap, resampled
from crscore.version import __version__

Floats = npt.NDArray[np.float64]
Getter = Callable[[Result], float | None]

SCHEMA: Final = "urn:crscore:separation:1"
"""Schema identifier of the document."""
NO_OTHER: Final = "no comment has another change to be scored against"
PAIRS: Final = "pairs"
LABELS: Final = "labels"
AUTO: Final = "auto"
BATCH: Final = 256
"""Comments scored in one call."""
_DECIMALS: Final = 12

Count = Annotated[int, Meta(ge=0)]


def _useful(get: Callable[[Usefulness], float]) -> Getter:
    return lambda result: None if result.usefulness is None else get(result.usefulness)


NUMBERS: Final[Mapping[str, Getter]] = MappingProxyType(
    {
        "usefulness": _useful(lambda one: one.value),
        "about": _useful(lambda one: one.about),
        "substance": _useful(lambda one: one.substance),
        "relevant": _useful(lambda one: one.aspects.relevant),
        "informative": _useful(lambda one: one.aspects.informative),
        "clear": _useful(lambda one: one.aspects.clear),
        "acted on": _useful(lambda one: one.aspects.acted_on),
        "reviewing": _useful(lambda one: one.aspects.reviewing),
        "relevance": lambda result: result.scores.relevance,
        "comprehensiveness": lambda result: result.scores.comprehensiveness,
        "conciseness": lambda result: result.scores.conciseness,
        WORDS: lambda result: result.baselines.words,
        REPEATED_TOKENS: lambda result: result.baselines.repeated_tokens,
    }
)
"""Numbers of a result, each at least 0; one that no result has is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of a run in addition to the settings of the score."""

    kind: str = AUTO
    """`pairs`, `labels`, or `auto`: pairs, and labels where there are any."""
    others: int = 1
    """Other changes that a comment is scored against, at least 1."""
    within: str | None = None
    """Field that a comment and its other changes share, and within whose values labels are
    compared; None for the language, and labels over all rows only."""
    group: str | None = None
    """Field whose values the bootstrap draws; None for the patch."""
    labels: tuple[str, ...] = ()
    """Fields to take as labels; empty for every boolean one."""
    limit: int | None = None
    """Most comments of one value of `within`, drawn at random; None for all."""
    resamples: int = 1000
    """Draws of every bootstrap; 0 for no interval."""
    seed: int = 0
    """Seed of every draw."""


class Estimate(Struct, frozen=True, kw_only=True):
    """Value with its 95 % interval."""

    value: float | None
    """In [0, 1], 0.5 for a coin; null where there is nothing to compare."""
    low: float | None
    """Lower end; null when there is none."""
    high: float | None
    """Upper end; null when there is none."""


class NumberSeparation(Struct, frozen=True, kw_only=True):
    """How well one number tells the true from the false."""

    number: str
    """Name of the number."""
    abstained: Count
    """Scores without the number; it counts as 0."""
    auc: Estimate
    """Chance that a true one exceeds a false one; a tie counts half."""
    paired: Estimate | None
    """The same over some pairs only: own and other change of one comment; for a label, comments
    with one value of `within`, null without such a field."""


class Separation(Struct, frozen=True, kw_only=True):
    """Telling two kinds of scores apart: on own and on other changes, or with and without a label.

    Scores of a label are of comments on their own changes.
    """

    name: str
    """`own change`, or the field of the label."""
    true: Count
    """Scores on own changes, or with the label."""
    false: Count
    """Scores on other changes, or without it."""
    abstained: Count
    """Comments left out: without another change, or with a missing or null label."""
    numbers: tuple[NumberSeparation, ...]
    """One row per number."""


class SeparationResult(Struct, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Result of a run over comments."""

    version: str = __version__
    """Version of crscore that wrote the document."""
    signature: str
    """Everything that determines the scores: the same signature and data give the same scores."""
    sha256: str
    """Hash of the unpacked file."""
    comments: Count
    """Comments used."""
    changes: Count
    """Their distinct patches."""
    within: str | None
    """Field that the changes of a pair share, and within whose values labels are compared, too;
    null for the language, and no such comparison."""
    limit: Count | None
    """Most comments of one value of `within`, or of one language; null for all."""
    group: str
    """Field whose values the bootstrap draws; `patch` for the change."""
    groups: Count
    """Its distinct values."""
    resamples: Count
    """Draws; 0 for no interval."""
    seed: Count
    """Seed of every draw."""
    pairs: Separation | None
    """Own changes against others; null where not asked for or where no comment has another."""
    labels: tuple[Separation, ...]
    """Labels; empty where there are none."""
    notes: tuple[str, ...]
    """Notes on omissions, one sentence each."""


class _Job(NamedTuple):
    text: int
    """Row of the comment."""
    change: int
    """Row of the change."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Scored:
    values: dict[str, Floats]
    """Each number's value for every job, NaN where it abstained."""
    groups: list[str]
    """Group of each job's comment."""
    analyses: list[Analysis]
    """Static analysis of every job."""


def separate(
    data: Comments,
    scorer: Scorer,
    options: Options,
    *,
    progress: Callable[[str], None] = lambda _: None,
) -> SeparationResult:
    """Score comments and measure what the scores tell apart.

    Args:
        data: The comments.
        scorer: Scorer to use.
        options: Other options.
        progress: Called with a line for each finished batch.

    Returns:
        The result, ready to be rendered.

    Raises:
        InputError: A row lacks a field, or a label is neither true nor false; or there is no label
            or no other change where it is asked for.
        CRScoreError: A part of the run failed.
    """
    rng = np.random.default_rng(options.seed)
    used = comments.limit_rows(data, options.within, options.limit, rng)
    rows = used.rows
    groups = [row.value(options.group) if options.group else row.patch for row in rows]
    labels = _labels(used, options)
    others = _others(used, options, rng, is_needed=not labels)
    jobs = [*(_Job(at, at) for at in range(len(rows))), *others]
    scored = _score(rows, jobs, groups, scorer, progress)
    identity = {
        "claims": scorer.parts.generator.identity,
        "analyzers": analyzers_identity(scored.analyses),
    }
    return SeparationResult(
        signature=signature.render_signature({**scorer.parts.signature, **identity}),
        sha256=data.sha256,
        comments=len(rows),
        changes=len({row.patch for row in rows}),
        within=options.within,
        limit=options.limit,
        group=options.group or "patch",
        groups=len(set(groups)),
        resamples=options.resamples,
        seed=options.seed,
        pairs=_pairs(scored, others, len(rows), options) if others else None,
        labels=tuple(_label(name, row, scored, used, options) for name, row in labels.items()),
        notes=(f"{NO_OTHER}.",) if options.kind == AUTO and not others else (),
    )


def _labels(used: Comments, options: Options) -> dict[str, list[bool | None]]:
    if options.kind == PAIRS:
        return {}
    names = options.labels or used.labels
    if not names and options.kind == LABELS:
        raise InputError("no field of the comments is true or false: there is no label")
    found = {name: [row.label(name) for row in used.rows] for name in names}
    for name, values in found.items():
        if all(value is None for value in values):
            raise InputError(f"{name} is true or false in no row: it is no label")
    return found


def _others(
    used: Comments, options: Options, rng: np.random.Generator, *, is_needed: bool
) -> list[_Job]:
    if options.kind == LABELS:
        return []
    drawn = comments.draw_others(
        [row.patch for row in used.rows], used.kinds(options.within), options.others, rng
    )
    if not any(drawn) and is_needed:
        raise InputError(f"{NO_OTHER}: there must be two of one {options.within or 'language'}")
    return [_Job(at, other) for at, others in enumerate(drawn) for other in others]


def _score(
    rows: Sequence[CommentRow],
    jobs: Sequence[_Job],
    groups: Sequence[str],
    scorer: Scorer,
    progress: Callable[[str], None],
) -> _Scored:
    """Score every job; those of one patch are neighbours, so that its claims are made once."""
    table = np.full((len(jobs), len(NUMBERS)), np.nan)
    order = sorted(range(len(jobs)), key=lambda at: rows[jobs[at].change].patch)
    analyses = []
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        results = scorer.score_many(
            (rows[jobs[at].change].diff, (Comment(body=rows[jobs[at].text].text),)) for at in batch
        )
        for at, result in zip(batch, results, strict=True):
            found = [get(result) for get in NUMBERS.values()]
            table[at] = [np.nan if one is None else one for one in found]
        analyses += [result.analysis for result in results]
        progress(f"scored {start + len(batch):,} of {len(jobs):,} pairs of comment and change")
    columns = zip(NUMBERS, np.round(table, _DECIMALS).T, strict=True)
    return _Scored(
        values={name: one for name, one in columns if not np.isnan(one).all()},
        groups=[groups[job.text] for job in jobs],
        analyses=analyses,
    )


def _pairs(scored: _Scored, others: Sequence[_Job], rows: int, options: Options) -> Separation:
    """Compare the own changes, of the first jobs, with those drawn for the comments, the rest."""
    own, other = [job.text for job in others], np.arange(len(others)) + rows
    compared = sorted(set(own))
    at = np.array([*compared, *other])

    def wins(values: Floats) -> Estimate:
        won = (np.sign(values[own] - values[other]) + 1) / 2
        ratio = partial(resampled.ratio, won, np.ones(len(won)))
        return _estimate(ratio, [scored.groups[one] for one in other], options)

    is_own = at < rows
    return _separation("own change", at, is_own, scored, options, rows - len(compared), wins)


def _label(
    name: str, labels: Sequence[bool | None], scored: _Scored, used: Comments, options: Options
) -> Separation:
    """Compare the comments with a label and without it; all are on their own changes."""
    at = np.array([index for index, label in enumerate(labels) if label is not None])
    true = np.array([labels[index] for index in at], dtype=bool)
    kinds = used.kinds(options.within)
    strata = [kinds[index] for index in at]
    groups = [scored.groups[index] for index in at]

    def within(values: Floats) -> Estimate:
        auc = partial(resampled.auc, values[at], true, strata=strata)
        return _estimate(auc, groups, options)

    paired = within if options.within else None
    return _separation(name, at, true, scored, options, len(labels) - len(at), paired)


def _separation(
    name: str,
    at: npt.NDArray[np.intp],
    true: npt.NDArray[np.bool_],
    scored: _Scored,
    options: Options,
    abstained: int,
    paired: Callable[[Floats], Estimate] | None,
) -> Separation:
    groups = [scored.groups[index] for index in at]
    numbers = []
    for number, raw in scored.values.items():
        values = np.nan_to_num(raw)
        separation = NumberSeparation(
            number=number,
            abstained=int(np.isnan(raw[at]).sum()),
            auc=_estimate(partial(resampled.auc, values[at], true), groups, options),
            paired=paired(values) if paired else None,
        )
        numbers.append(separation)
    return Separation(
        name=name,
        true=int(true.sum()),
        false=int((~true).sum()),
        abstained=abstained,
        numbers=tuple(numbers),
    )


def _estimate(
    statistic: Callable[[Floats], Floats], groups: Sequence[str], options: Options
) -> Estimate:
    """Compute a statistic of N rows, given how often each is drawn; all get the same draws."""
    draws = bootstrap.resample(statistic, groups, resamples=options.resamples, seed=options.seed)
    value = float(statistic(np.ones((1, len(groups))))[0])
    low, high = bootstrap.percentile_interval(draws, clusters=len(set(groups)))
    return Estimate(value=None if np.isnan(value) else value, low=low, high=high)
