"""Makes examples of a study's rated reviews, each with pseudo-references and target scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from crscore.claims.base import ClaimGenerator
from crscore.records import Diff, PseudoReference, ReferenceKind
from crscore.scoring.cells import select_references
from crscore_lab.study.data.study import LIKERT, RatedReview, Study

MAX_CLAIMS: Final = 12
"""Maximum number of claims, as for a score with default settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Target scores of a review."""

    scores: tuple[float, ...]
    """Conciseness, comprehensiveness and relevance, each in [0, 1]: (Likert - 1) / 4."""
    addressed: frozenset[int] | None = None
    """Indices of the pseudo-references that the review addresses; None if not annotated."""
    weight: float = 1.0
    """Weight in the loss."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Review of one change with one set of pseudo-references."""

    change: str
    """Id of the change, the unit of every split."""
    system: str
    """System, or person, that wrote the review."""
    diff: Diff
    references: tuple[PseudoReference, ...]
    """Pseudo-references that the review is compared with."""
    text: str
    target: Target


def make_examples(study: Study, generator: ClaimGenerator) -> list[Example]:
    """Pair every rated review with every list of pseudo-references.

    Args:
        study: The study, which has two lists for each change: claims, and an edited list.
        generator: Generator of the third list.

    Returns:
        The examples. There are none for a list that is empty.
    """
    diffs = [change.read_diff() for change in study.changes]
    examples: list[Example] = []
    for change, diff, generated in zip(
        study.changes, diffs, generator.generate(diffs), strict=True
    ):
        # Issues are left out. Those of the published study come from old tools, and more than half
        # of them criticise JavaScript of 2015 for features that were new after 2009. Reviews hardly
        # ever address them, so a matcher would learn that reviews never address issues.
        rows = tuple(
            index for index, ref in enumerate(change.edited) if ref.kind is not ReferenceKind.ISSUE
        )
        for refs, annotated_rows in (
            (select_counted(change.claims), ()),
            (select_counted(generated.references), ()),
            (tuple(change.edited[row] for row in rows), rows),
        ):
            if refs:
                examples += [
                    Example(
                        change=change.id,
                        system=review.system,
                        diff=diff,
                        references=refs,
                        text=review.text,
                        target=make_target(review, rows=annotated_rows),
                    )
                    for review in change.reviews
                ]
    return examples


def make_target(review: RatedReview, *, rows: Sequence[int] = ()) -> Target:
    """Scale a review's Likert ratings to [0, 1]: (rating - 1) / 4, as in the paper.

    Args:
        review: Rated review.
        rows: Rows of the study's edited list that the review is compared with; empty if it is
            compared with another list.
    """
    low, high = LIKERT
    addressed = None
    if rows and review.addressed is not None:
        # The annotation has rows of the full list, but `Target` has indices without the issues.
        addressed = frozenset(index for index, row in enumerate(rows) if row in review.addressed)
    scores = tuple((rating - low) / (high - low) for rating in review.ratings)
    return Target(scores=scores, addressed=addressed)


def select_counted(refs: Sequence[PseudoReference]) -> tuple[PseudoReference, ...]:
    """Select the pseudo-references that a default score counts."""
    return tuple(ref for ref in select_references(refs, limit=MAX_CLAIMS) if ref.counted)
