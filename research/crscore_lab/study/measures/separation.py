"""Separation of comments without ratings by the numbers of a result.

It answers two questions. Is a comment's own change separated from another change? Are comments with
a label separated from comments without it?
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from operator import attrgetter
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from crscore.errors import InputError
from crscore.records import Analysis, Aspects, Comment, Result, Usefulness, analyzers_identity
from crscore.reports.fields import Count
from crscore.scorer import Scorer
from crscore.scoring import signature
from crscore.statistics import bootstrap, resampled
from crscore.version import __version__
from crscore_lab.study.data.comments import CommentRow, Comments, draw_other_patches
from crscore_lab.study.data.study import DIMENSIONS
from crscore_lab.study.measures.measurements import REPEATED_TOKENS, WORDS

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]
Getter = Callable[[Result], float | None]

SCHEMA: Final = "urn:crscore:separation:1"
"""Schema identifier of the document."""
NO_OTHER: Final = "no comment has another change to be scored against"
PAIRS: Final = "pairs"
LABELS: Final = "labels"
AUTO: Final = "auto"
BATCH: Final = 256
"""Number of comments scored in one call."""
# Equal numbers that differ by rounding have to be ties.
_DECIMALS: Final = 12


def _usefulness(get: Callable[[Usefulness], float]) -> Getter:
    return lambda result: None if result.usefulness is None else get(result.usefulness)


_ASPECTS: Final = {
    field.name.replace("_", " "): _usefulness(attrgetter(f"aspects.{field.name}"))
    for field in fields(Aspects)
}
NUMBERS: Final[Mapping[str, Getter]] = MappingProxyType(
    {
        "usefulness": _usefulness(attrgetter("value")),
        "about": _usefulness(attrgetter("about")),
        "importance": _usefulness(attrgetter("importance")),
    }
    | _ASPECTS
    # Relevance first, as the main score.
    | {name: attrgetter(f"scores.{name}") for name in reversed(DIMENSIONS)}
    | {
        WORDS: attrgetter("baselines.words"),
        REPEATED_TOKENS: attrgetter("baselines.repeated_tokens"),
    }
)
"""Numbers of a result, each at least 0; a number that no result has is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeparationOptions:
    """Options of a run in addition to the settings of the score."""

    kind: str = AUTO
    """`pairs`, `labels`, or `auto`: pairs, and labels where there are any."""
    other_changes: int = 1
    """Number of other changes that a comment is scored against, at least 1."""
    within: str | None = None
    """Field that a comment and its other changes share, and within whose values labels are
    compared; None for the language, and labels over all rows only."""
    group: str | None = None
    """Field whose values the bootstrap draws; None for the patch."""
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
    """How well one number separates the true from the false."""

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
    """Separation of two kinds of scores: on own and on other changes, or with and without a label.

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
    """Number of comments used."""
    changes: Count
    """Number of distinct patches of the comments."""
    within: str | None
    """Field that the changes of a pair share, and within whose values labels are compared, too;
    null for the language, and no such comparison."""
    group: str
    """Field whose values the bootstrap draws; `patch` for the change."""
    groups: Count
    """Number of distinct values of `group`."""
    resamples: Count
    """Number of draws; 0 for no interval."""
    seed: Count
    """Seed of every draw."""
    pairs: Separation | None
    """Own changes against others; null where not requested or where no comment has another."""
    labels: tuple[Separation, ...]
    """Labels; empty where there are none."""
    notes: tuple[str, ...]
    """Notes on omissions, one sentence each."""


class Pair(NamedTuple):
    """Comment with the change that it is scored on."""

    comment: int
    """Row of the comment."""
    change: int
    """Row of the change."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _ScoredPairs:
    values: dict[str, Floats]
    """Each number's value for every pair, NaN where it abstained."""
    groups: list[str]
    """Group of each pair's comment."""
    options: SeparationOptions

    def estimate(self, statistic: Callable[[Floats], Floats], pairs: Indices) -> Estimate:
        """Compute a statistic of some pairs from how often each is drawn."""
        groups = [self.groups[pair] for pair in pairs]
        draws = bootstrap.resample(
            statistic, groups, resamples=self.options.resamples, seed=self.options.seed
        )
        low, high = bootstrap.percentile_interval(draws, clusters=len(set(groups)))
        value = float(statistic(np.ones((1, len(groups))))[0])
        return Estimate(value=None if np.isnan(value) else value, low=low, high=high)

    def separate(
        self,
        name: str,
        pairs: Indices,
        is_true: npt.NDArray[np.bool_],
        abstained: int,
        paired: Callable[[Floats], Estimate] | None,
    ) -> Separation:
        """Compare the true pairs with the false ones by every number."""
        numbers = []
        for number, with_nan in self.values.items():
            # An abstention counts as 0: leaving it out would reward abstaining in hard cases.
            values = np.nan_to_num(with_nan)
            numbers.append(
                NumberSeparation(
                    number=number,
                    abstained=int(np.isnan(with_nan[pairs]).sum()),
                    auc=self.estimate(partial(resampled.auc, values[pairs], is_true), pairs),
                    paired=paired(values) if paired else None,
                )
            )
        return Separation(
            name=name,
            true=int(is_true.sum()),
            false=int((~is_true).sum()),
            abstained=abstained,
            numbers=tuple(numbers),
        )


def separate(
    comments: Comments,
    scorer: Scorer,
    options: SeparationOptions,
    *,
    progress: Callable[[str], None] = lambda _: None,
) -> SeparationResult:
    """Score comments and measure the separation by the scores.

    Args:
        comments: The comments.
        scorer: Scorer to use.
        options: Other options.
        progress: Called with a line for each finished batch.

    Returns:
        The result, ready to be rendered.

    Raises:
        InputError: A row lacks a field, a label is neither true nor false, or there is no label or
            no other change where it is requested.
        CRScoreError: A part of the run failed.
    """
    rng = np.random.default_rng(options.seed)
    rows = comments.rows
    groups = [row.value(options.group) if options.group else row.patch for row in rows]
    # Before the scoring, so that a wrong label is reported at once.
    labels = _labels(comments, options)
    other_pairs = _other_pairs(comments, options, rng, is_needed=not labels)
    pairs = [*(Pair(row, row) for row in range(len(rows))), *other_pairs]
    values, analyses = score_pairs(rows, pairs, scorer, progress)
    scored = _ScoredPairs(
        values=values, groups=[groups[pair.comment] for pair in pairs], options=options
    )
    identity = {
        "claims": scorer.parts.generator.identity,
        "analyzers": analyzers_identity(analyses),
    }
    return SeparationResult(
        signature=signature.render_signature({**scorer.parts.signature, **identity}),
        sha256=comments.sha256,
        comments=len(rows),
        changes=len({row.patch for row in rows}),
        within=options.within,
        group=options.group or "patch",
        groups=len(set(groups)),
        resamples=options.resamples,
        seed=options.seed,
        pairs=_separate_changes(scored, other_pairs, len(rows)) if other_pairs else None,
        labels=tuple(
            _separate_label(name, label, scored, comments) for name, label in labels.items()
        ),
        notes=(f"{NO_OTHER}.",) if options.kind == AUTO and not other_pairs else (),
    )


def _labels(comments: Comments, options: SeparationOptions) -> dict[str, list[bool | None]]:
    if options.kind == PAIRS:
        return {}
    if not comments.labels and options.kind == LABELS:
        raise InputError("no field of the comments is true or false: there is no label")
    return {name: [row.label(name) for row in comments.rows] for name in comments.labels}


def _other_pairs(
    comments: Comments, options: SeparationOptions, rng: np.random.Generator, *, is_needed: bool
) -> list[Pair]:
    if options.kind == LABELS:
        return []
    patches = [row.patch for row in comments.rows]
    kinds = comments.kinds(options.within)
    other_rows = draw_other_patches(patches, kinds, options.other_changes, rng)
    if not any(other_rows) and is_needed:
        raise InputError(f"{NO_OTHER}: there must be two of one {options.within or 'language'}")
    return [Pair(row, change) for row, changes in enumerate(other_rows) for change in changes]


def score_pairs(
    rows: Sequence[CommentRow],
    pairs: Sequence[Pair],
    scorer: Scorer,
    progress: Callable[[str], None],
    numbers: Mapping[str, Getter] = NUMBERS,
) -> tuple[dict[str, Floats], list[Analysis]]:
    """Score every pair; pairs of one patch are adjacent, so that its claims are made once.

    Returns:
        Each number's value for every pair, NaN where it abstained, without numbers that always
        did; and the analysis of each pair.
    """
    table = np.full((len(pairs), len(numbers)), np.nan)
    order = sorted(range(len(pairs)), key=lambda index: rows[pairs[index].change].patch)
    analyses = []
    for start in range(0, len(order), BATCH):
        batch = order[start : start + BATCH]
        results = scorer.score_many(
            (rows[pair.change].diff, (Comment(body=rows[pair.comment].text),))
            for pair in (pairs[index] for index in batch)
        )
        for index, result in zip(batch, results, strict=True):
            values = [get(result) for get in numbers.values()]
            table[index] = [np.nan if value is None else value for value in values]
        analyses += [result.analysis for result in results]
        progress(f"scored {start + len(batch):,} of {len(pairs):,} pairs of comment and change")
    columns = zip(numbers, np.round(table, _DECIMALS).T, strict=True)
    return {name: column for name, column in columns if not np.isnan(column).all()}, analyses


def _separate_changes(
    scored: _ScoredPairs, other_pairs: Sequence[Pair], comments: int
) -> Separation:
    """Compare the comments' own changes, in the first pairs, with the other changes drawn."""
    own_pairs = [pair.comment for pair in other_pairs]
    other_indices = np.arange(len(other_pairs)) + comments
    # A comment for which no other change was drawn is on neither side.
    compared = sorted(set(own_pairs))
    pairs = np.array([*compared, *other_indices])

    def win_rate(values: Floats) -> Estimate:
        won = (np.sign(values[own_pairs] - values[other_indices]) + 1) / 2
        return scored.estimate(partial(resampled.ratio, won, np.ones(len(won))), other_indices)

    return scored.separate(
        "own change", pairs, pairs < comments, comments - len(compared), win_rate
    )


def _separate_label(
    name: str, label: Sequence[bool | None], scored: _ScoredPairs, comments: Comments
) -> Separation:
    """Compare the comments with a label and without it; all are on their own changes."""
    rows = np.array([row for row, value in enumerate(label) if value is not None])
    is_true = np.array([label[row] for row in rows], dtype=bool)
    kinds = comments.kinds(scored.options.within)
    strata = [kinds[row] for row in rows]

    def auc_within_kinds(values: Floats) -> Estimate:
        return scored.estimate(partial(resampled.auc, values[rows], is_true, strata=strata), rows)

    paired = auc_within_kinds if scored.options.within else None
    return scored.separate(name, rows, is_true, len(label) - len(rows), paired)
