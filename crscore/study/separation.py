"""How well the numbers of a result tell comments apart.

Two questions to comments of people, without ratings: is a comment's own change told from another
change, and are comments with a label told from those without it?
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import numpy as np
from msgspec import Meta, Struct

from crscore.errors import InputError
from crscore.records import Comment, analyzers_identity
from crscore.scoring import signature
from crscore.study import bootstrap, comments, statistics
from crscore.study.measure import REPEATED_TOKENS, WORDS
from crscore.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from crscore.records import Analysis, Result, Usefulness
    from crscore.scorer import Scorer
    from crscore.study.comments import CommentRow, Comments

    Floats = npt.NDArray[np.float64]
    Getter = Callable[[Result], float | None]
    Statistic = Callable[[Floats], bootstrap.Draws]

SCHEMA: Final = "urn:crscore:separation:1"
"""Schema identifier of the document."""
NO_OTHER: Final = "no comment has another change to be scored against"
PATCH: Final = "patch"
"""Default unit of the bootstrap."""
LANGUAGE: Final = "language"
"""Field whose value a comment and its other changes share by default."""
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
    """In [0, 1]; null where there is nothing to compare."""
    low: float | None
    """Lower end; null when there is none."""
    high: float | None
    """Upper end; null when there is none."""


class OwnNumber(Struct, frozen=True, kw_only=True):
    """Own change against another, by one number."""

    number: str
    """Name of the number."""
    abstained: Count
    """Comments without the number on their own change; it counts as 0."""
    abstained_other: Count
    """The same on other changes."""
    auc: Estimate
    """Chance that a comment on its change exceeds any comment on another; a tie counts half."""
    wins: Estimate
    """Share of pairs in which a comment has more on its own change; a tie counts half."""


class OwnOrOther(Struct, frozen=True, kw_only=True):
    """Every comment against its own change and against others."""

    within: str
    """Field that the changes of a pair share."""
    others: Count
    """Other changes for each comment, at most."""
    comments: Count
    """Comments with another change."""
    pairs: Count
    """OwnOrOther of own and other change."""
    left_out: Count
    """Comments without another change."""
    numbers: tuple[OwnNumber, ...]
    """One row per number."""


class LabelNumber(Struct, frozen=True, kw_only=True):
    """Label by one number."""

    number: str
    """Name of the number."""
    abstained: Count
    """Labelled comments without the number; it counts as 0."""
    auc: Estimate
    """Chance that a comment with the label exceeds one without it; a tie counts half."""
    auc_within: Estimate | None
    """The same over pairs inside one value of `within`; null without such a field."""


class Label(Struct, frozen=True, kw_only=True):
    """Comments with a label against those without it, each on its own change."""

    label: str
    """Field of the label."""
    true: Count
    """Comments with the label."""
    false: Count
    """Comments without it."""
    abstained: Count
    """Comments where it is missing or null; they are left out."""
    numbers: tuple[LabelNumber, ...]
    """One row per number."""


class Draws(Struct, frozen=True, kw_only=True):
    """Settings of the draws."""

    resamples: Count
    """Draws; 0 for no interval."""
    seed: Count
    """Seed of every draw."""
    group: str
    """Field that is the unit of the draws; `patch` for the change."""
    groups: Count
    """Its distinct values."""


class CommentData(Struct, frozen=True, kw_only=True):
    """Data of a run."""

    sha256: str
    """Hash of the unpacked file."""
    comments: Count
    """Comments in the file."""
    used: Count
    """Comments used."""
    limit: Count | None
    """Most comments of one value of `within`, or language, drawn at random; null for all."""
    changes: Count
    """Distinct patches of those."""


class SeparationResult(Struct, frozen=True, kw_only=True, tag_field="schema", tag=SCHEMA):
    """Result of a run over comments."""

    version: str = __version__
    """Version of crscore that wrote the document."""
    signature: str
    """Everything that determines the scores: the same signature and data give the same scores."""
    data: CommentData
    """Data that was measured."""
    within: str | None
    """Field within whose values labels were compared; null for none."""
    bootstrap: Draws
    """Settings of the intervals."""
    pairs: OwnOrOther | None
    """Own change against another; null where not asked for or where no comment has another."""
    labels: tuple[Label, ...]
    """Labels; empty where there are none."""
    notes: tuple[str, ...]
    """Notes on omissions, one sentence each."""


class _Job(NamedTuple):
    text: int
    """Row of the comment."""
    change: int
    """Row of the change."""


class _Scored(NamedTuple):
    values: dict[str, Floats]
    """Each number's value for every job, NaN where it abstained."""
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
    rows, kinds = used.rows, used.kinds(options.within)
    groups = [row.value(options.group) if options.group else row.patch for row in rows]
    labels = _labels(used, options)
    others = _others(used, options, rng, is_needed=not labels)
    jobs = [_Job(at, at) for at in range(len(rows))] + others
    scored = _score(rows, jobs, scorer, progress)
    identity = {
        "claims": scorer.parts.generator.identity,
        "analyzers": analyzers_identity(scored.analyses),
    }
    return SeparationResult(
        signature=signature.render_signature({**scorer.parts.signature, **identity}),
        data=CommentData(
            sha256=data.sha256,
            comments=len(data.rows),
            used=len(rows),
            limit=options.limit,
            changes=len({row.patch for row in rows}),
        ),
        bootstrap=Draws(
            resamples=options.resamples,
            seed=options.seed,
            group=options.group or PATCH,
            groups=len(set(groups)),
        ),
        pairs=_pairs(scored.values, groups, others, options) if others else None,
        within=options.within,
        labels=tuple(
            _label(name, values, scored.values, groups, kinds if options.within else None, options)
            for name, values in labels.items()
        ),
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
        raise InputError(f"{NO_OTHER}: there must be two of one {options.within or LANGUAGE}")
    return [_Job(at, other) for at, others in enumerate(drawn) for other in others]


def _score(
    rows: Sequence[CommentRow],
    jobs: Sequence[_Job],
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
    return _Scored({name: one for name, one in columns if not np.isnan(one).all()}, analyses)


def _pairs(
    scored: Mapping[str, Floats], groups: Sequence[str], others: Sequence[_Job], options: Options
) -> OwnOrOther:
    """Compare the own change of each comment, the first jobs, with those drawn for it, the rest."""
    texts = [job.text for job in others]
    own, other = np.unique(texts), np.arange(len(others)) + len(groups)
    both = np.concatenate([own, other])
    is_own = np.arange(len(both)) < len(own)
    aucs: list[Statistic] = []
    wins: list[Statistic] = []
    for values in map(np.nan_to_num, scored.values()):
        won = (np.sign(values[texts] - values[other]) + 1) / 2
        aucs.append(partial(bootstrap.auc, values[both], is_own))
        wins.append(partial(bootstrap.ratio, won, np.ones(len(won))))
    of_aucs = _estimates(aucs, [groups[at] for at in (*own, *texts)], options)
    of_wins = _estimates(wins, [groups[at] for at in texts], options)
    return OwnOrOther(
        within=options.within or LANGUAGE,
        others=options.others,
        comments=len(own),
        left_out=len(groups) - len(own),
        pairs=len(others),
        numbers=tuple(
            OwnNumber(
                number=name,
                abstained=int(np.isnan(values[own]).sum()),
                abstained_other=int(np.isnan(values[other]).sum()),
                auc=auc,
                wins=share,
            )
            for (name, values), auc, share in zip(scored.items(), of_aucs, of_wins, strict=True)
        ),
    )


def _label(
    name: str,
    labels: Sequence[bool | None],
    scored: Mapping[str, Floats],
    groups: Sequence[str],
    kinds: Sequence[str] | None,
    options: Options,
) -> Label:
    """Compare the comments with a label and without it; all are on their own changes."""
    at = [index for index, label in enumerate(labels) if label is not None]
    true = np.array([labels[index] for index in at], dtype=bool)
    own = {number: values[at] for number, values in scored.items()}
    strata = None if kinds is None else [kinds[index] for index in at]
    aucs: list[Statistic] = []
    within: list[Statistic] = []
    for values in map(np.nan_to_num, own.values()):
        aucs.append(partial(bootstrap.auc, values, true))
        if strata is not None:
            within.append(partial(bootstrap.auc, values, true, strata=strata))
    found = _estimates([*aucs, *within], [groups[index] for index in at], options)
    return Label(
        label=name,
        true=int(true.sum()),
        false=int((~true).sum()),
        abstained=len(labels) - len(at),
        numbers=tuple(
            LabelNumber(
                number=number,
                abstained=int(np.isnan(values).sum()),
                auc=found[index],
                auc_within=found[index + len(own)] if within else None,
            )
            for index, (number, values) in enumerate(own.items())
        ),
    )


def _estimates(
    listed: Sequence[Statistic], clusters: Sequence[str], options: Options
) -> list[Estimate]:
    """Compute statistics of N rows, and their intervals from the same draws of whole clusters."""
    draws: list[list[bootstrap.Draws]] = [[] for _ in listed]
    for weights in bootstrap.blocks(clusters, resamples=options.resamples, seed=options.seed):
        for one, values in zip(listed, draws, strict=True):
            values.append(one(weights))
    return [
        _estimate(one(np.ones((1, len(clusters)))), bootstrap.join(values), clusters, options)
        for one, values in zip(listed, draws, strict=True)
    ]


def _estimate(
    whole: bootstrap.Draws, draws: bootstrap.Draws, clusters: Sequence[str], options: Options
) -> Estimate:
    low, high = statistics.percentiles(
        draws.kept(), resamples=options.resamples, clusters=len(set(clusters))
    )
    value = float(whole.values[0]) if whole.defined[0] else None
    return Estimate(value=value, low=low, high=high)
