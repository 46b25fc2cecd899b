"""Separation of comments' own changes from other changes by the numbers of a result.

It needs no ratings. Whether a number knows what became of a comment is measured by `readers`, with
floors beside it.
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
Getter = Callable[[Result], float | None]

SCHEMA: Final = "urn:crscore:separation:2"
"""Schema identifier of the document."""
NO_OTHER: Final = "no comment has another change to be scored against"
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

    other_changes: int = 1
    """Number of other changes that a comment is scored against, at least 1."""
    within: str | None = None
    """Field that a comment and its other changes share; None for the language."""
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
    """How well one number separates own changes from others."""

    number: str
    """Name of the number."""
    abstained: Count
    """Scores without the number; it counts as 0."""
    auc: Estimate
    """Chance that a score on an own change exceeds one on another; a tie counts half."""
    paired: Estimate
    """The same over own and other changes of one comment."""


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
    """Field that the changes of a pair share; null for the language."""
    group: str
    """Field whose values the bootstrap draws; `patch` for the change."""
    groups: Count
    """Number of distinct values of `group`."""
    resamples: Count
    """Number of draws; 0 for no interval."""
    seed: Count
    """Seed of every draw."""
    own: Count
    """Scores on own changes."""
    others: Count
    """Scores on other changes."""
    left_out: Count
    """Comments without another change to be compared with."""
    numbers: tuple[NumberSeparation, ...]


class Pair(NamedTuple):
    """Comment with the change that it is scored on."""

    comment: int
    """Row of the comment."""
    change: int
    """Row of the change."""


def separate(
    comments: Comments,
    scorer: Scorer,
    options: SeparationOptions,
    *,
    progress: Callable[[str], None] = lambda _: None,
) -> SeparationResult:
    """Score comments on their own changes and on others, and compare the scores.

    Args:
        comments: The comments.
        scorer: Scorer to use.
        options: Other options.
        progress: Called with a line for each finished batch.

    Returns:
        The result, ready to be rendered.

    Raises:
        InputError: A row lacks a field, or no comment has another change.
        CRScoreError: A part of the run failed.
    """
    rng = np.random.default_rng(options.seed)
    rows = comments.rows
    groups = [row.value(options.group) if options.group else row.patch for row in rows]
    patches = [row.patch for row in rows]
    drawn = draw_other_patches(patches, comments.kinds(options.within), options.other_changes, rng)
    # A comment for which no other change was drawn is on neither side.
    own_pairs = [Pair(row, row) for row, changes in enumerate(drawn) if changes]
    if not own_pairs:
        raise InputError(f"{NO_OTHER}: there must be two of one {options.within or 'language'}")
    other_pairs = [Pair(row, change) for row, changes in enumerate(drawn) for change in changes]
    pairs = [*own_pairs, *other_pairs]
    values_by_number, analyses = score_pairs(rows, pairs, scorer, progress)
    is_own = np.arange(len(pairs)) < len(own_pairs)
    groups_of_pairs = [groups[pair.comment] for pair in pairs]
    column = {pair.comment: index for index, pair in enumerate(own_pairs)}
    own_of_others = [column[pair.comment] for pair in other_pairs]

    def estimate(statistic: Callable[[Floats], Floats], drawn_groups: list[str]) -> Estimate:
        """Compute a statistic from how often each score is drawn."""
        draws = bootstrap.resample(
            statistic, drawn_groups, resamples=options.resamples, seed=options.seed
        )
        low, high = bootstrap.percentile_interval(draws, clusters=len(set(drawn_groups)))
        value = float(statistic(np.ones((1, len(drawn_groups))))[0])
        return Estimate(value=None if np.isnan(value) else value, low=low, high=high)

    numbers = []
    for number, with_nan in values_by_number.items():
        # An abstention counts as 0: leaving it out would reward abstaining in hard cases.
        values = np.nan_to_num(with_nan)
        won = (np.sign(values[own_of_others] - values[~is_own]) + 1) / 2
        numbers.append(
            NumberSeparation(
                number=number,
                abstained=int(np.isnan(with_nan).sum()),
                auc=estimate(partial(resampled.auc, values, is_own), groups_of_pairs),
                paired=estimate(
                    partial(resampled.ratio, won, np.ones(len(won))),
                    groups_of_pairs[len(own_pairs) :],
                ),
            )
        )
    identity = {
        "claims": scorer.parts.generator.identity,
        "analyzers": analyzers_identity(analyses),
    }
    return SeparationResult(
        signature=signature.render_signature({**scorer.parts.signature, **identity}),
        sha256=comments.sha256,
        comments=len(rows),
        changes=len(set(patches)),
        within=options.within,
        group=options.group or "patch",
        groups=len(set(groups)),
        resamples=options.resamples,
        seed=options.seed,
        own=len(own_pairs),
        others=len(other_pairs),
        left_out=len(rows) - len(own_pairs),
        numbers=tuple(numbers),
    )


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
