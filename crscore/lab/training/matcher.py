"""`crscore train matcher`: from a study of rated reviews to the calibrated matcher's weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore import plugins
from crscore.claims.base import ClaimGenerator
from crscore.diff import parse
from crscore.encoders.base import Encoder
from crscore.errors import InputError
from crscore.lab.study.study import LIKERT, RatedReview, Study, StudyChange
from crscore.lab.training import boosting, negatives, samples
from crscore.lab.training.boosting import Growth
from crscore.lab.training.corpus_stats import make_background
from crscore.lab.training.loss import Layout
from crscore.lab.training.samples import Example, Target, Vectors
from crscore.matchers.base import Cells
from crscore.matchers.calibrated import features
from crscore.matchers.calibrated.features import Background
from crscore.matchers.calibrated.plugin import Calibrated
from crscore.matchers.calibrated.trees import Trees
from crscore.matchers.calibrated.weights import Weights
from crscore.records import Diff, PseudoReference, ReferenceKind
from crscore.usefulness import evidence
from crscore.usefulness.reader import Reader, reader_for

Floats = npt.NDArray[np.float32]

AXES: Final = 16
"""Number of principal axes of review sentences among the features."""
DISCOUNT: Final = 0.1
"""Amount subtracted from a cell's logit per unit of its comment's log-length."""
DECISION: Final = 0.24
"""Degree from which a cell counts as addressed."""
# Padding must not pay: more words, more sentences, a repetition or a less fitting neighbour can
# only lower a cell, and evidence for a match can only raise it.
_FALLING: Final = (
    "comment.words", "sentence.sentences", "sentence.position", "sentence.overlap_before",
    "sentence.length",
)  # fmt: skip
_RISING: Final = (
    "comment.mean_cosine", "comment.about", "sentence.about", "cell.cosine",
    "cell.shared_reference", "cell.shared_sum", "cell.shared_unique", "cell.names_share",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Settings of a training run; the shipped weights use the defaults."""

    growth: Growth = field(default_factory=Growth)
    """Settings of the trees."""
    axes: int = AXES
    """Number of principal axes of review sentences among the features."""
    discount: float = DISCOUNT
    """Discount for length."""
    decision: float = DECISION
    """Degree from which a cell is shown as addressed."""
    negatives: bool = True
    """Whether to train on texts made to fool the score, too."""


def train(
    study: Study,
    *,
    encoder: Encoder,
    generator: ClaimGenerator | None = None,
    reader: Reader | None = None,
    seed: int = 0,
    recipe: Recipe | None = None,
) -> Calibrated:
    """Train a matcher on a study.

    Every rated review is used three times: against the study's own claims, those of `generator`,
    and the list that the annotators worked with, where it is annotated which of these the review
    addresses. The loss is computed through the published formulas.

    Args:
        study: Rated reviews, including the original human comments.
        encoder: Encoder that the score will use.
        generator: Generator of the second set of claims; `structural` when None.
        reader: Reader that tells whether a sentence is about the change; the shipped one when None.
        seed: Seed of all draws. The same study, encoder and seed give the same weights.
        recipe: Settings.

    Returns:
        The matcher.

    Raises:
        InputError: The study rates no review that has a sentence.
        DependencyError: lightgbm is not installed.
    """
    boosting.require_lightgbm()
    recipe = recipe or Recipe()
    made = make_examples(study, generator or plugins.create("claims", "structural"))
    if recipe.negatives:
        made += negatives.make_negatives(study, made, seed=seed)
    parts = {example.text: samples.split_sentences(example.text) for example in made}
    vectors = Vectors(encoder)
    vectors.learn(text for split in parts.values() for text in split)
    vectors.learn(ref.encoded_text for example in made for ref in example.references)
    usual = _background(study, made, parts, vectors, axes=recipe.axes)
    reader = reader or reader_for(encoder.identity)
    if reader:
        vectors.learn(line for example in made for line in evidence.windows(example.diff))
    cells = [samples.make_cells(example, parts, vectors, reader) for example in made]
    trees = _grow(made, cells, usual, recipe=recipe, seed=seed)
    if not trees.depth:  # the library stops silently where its first tree finds no split
        raise InputError("nothing in the study tells its reviews apart: no tree found a cut")
    return Calibrated(
        Weights(
            encoder=encoder.identity.partition("@")[0],
            data_sha256=study.sha256,
            seed=seed,
            start=boosting.START,
            discount=recipe.discount,
            decision=recipe.decision,
            trees=trees,
            background=usual,
        )
    )


def make_examples(study: Study, generator: ClaimGenerator) -> list[Example]:
    """Pair every rated review with every list of pseudo-references.

    Args:
        study: The study.
        generator: Generator of one of the lists, from the patches and whole files.

    Returns:
        The examples; none for an empty list.
    """
    diffs = [read_diff(change) for change in study.changes]
    written = generator.generate(diffs)
    made: list[Example] = []
    for change, parsed, claims in zip(study.changes, diffs, written, strict=True):
        rows = tuple(
            i for i, ref in enumerate(change.edited) if ref.kind is not ReferenceKind.ISSUE
        )
        edited = tuple(
            PseudoReference(text=ref.text, kind=ref.kind, source="edited")
            for ref in (change.edited[i] for i in rows)
        )
        for refs, linked in (
            (samples.select_counted(claims_of(change)), ()),
            (samples.select_counted(claims.references), ()),
            (edited, rows),
        ):
            if refs:
                made += [
                    Example(
                        change=change.id,
                        system=review.system,
                        diff=parsed,
                        references=refs,
                        text=review.text,
                        target=make_target(review, rows=linked),
                    )
                    for review in change.reviews
                ]
    return made


def claims_of(change: StudyChange) -> tuple[PseudoReference, ...]:
    """Return a study's own claims, without the findings of tools.

    The published study has the findings of old tools, more than half of which report JavaScript of
    2015 for not being that of 2009. Reviews hardly ever address them, so a matcher trained on them
    learns that issues are never addressed.
    """
    return tuple(ref for ref in change.recorded.references if ref.kind is not ReferenceKind.ISSUE)


def read_diff(change: StudyChange) -> Diff:
    """Parse a change of a study, with its whole files."""
    parsed = parse.parse_diff(change.patch, source=change.id, language=change.language)
    return parse.with_sources(parsed, {"": (change.old_source, change.new_source)})


def make_target(review: RatedReview, *, rows: Sequence[int] = ()) -> Target:
    """Scale a review's Likert ratings to [0, 1]: (rating - 1) / 4, as in the paper.

    Args:
        review: Rated review.
        rows: Rows of the edited list that it is compared with, as indexed by `addressed`; empty
            when it is compared with other claims.
    """
    low, high = LIKERT
    con, comp, rel = ((rating - low) / (high - low) for rating in review.ratings)
    return Target(
        conciseness=con,
        comprehensiveness=comp,
        relevance=rel,
        addressed=None
        if not rows or review.addressed is None
        else frozenset(at for at, row in enumerate(rows) if row in review.addressed),
    )


def _background(
    study: Study,
    made: Sequence[Example],
    parts: dict[str, tuple[str, ...]],
    vectors: Vectors,
    *,
    axes: int,
) -> Background:
    claims = [ref.encoded_text for change in study.changes for ref in claims_of(change)]
    texts = [review.text for change in study.changes for review in change.reviews]
    remarks = [sentence for text in texts for sentence in parts.get(text, ())]
    if not remarks:
        raise InputError("the study rates no review that has a sentence")
    if not claims:  # a study without recorded claims
        claims = [ref.encoded_text for example in made for ref in example.references]
    vectors.learn(claims)
    return make_background(claims, vectors.of(claims), remarks, vectors.of(remarks), axes=axes)


def _grow(
    made: Sequence[Example],
    cells: Sequence[Cells],
    usual: Background,
    *,
    recipe: Recipe,
    seed: int,
) -> Trees:
    shapes, targets, rows = [], [], []
    for example, one in zip(made, cells, strict=True):
        described = features.compute_features(one, usual)
        if described.size:
            shapes.append(described.shape[:2])
            targets.append(example.target)
            rows.append(described.reshape(-1, described.shape[2]))
    if not rows:
        raise InputError("the study rates no review that has a sentence and a claim to meet")
    names = features.feature_names(len(usual.axes))
    return boosting.grow_trees(
        np.concatenate(rows),
        Layout.of(shapes, targets),
        directions=[(name in _RISING) - (name in _FALLING) for name in names],
        growth=recipe.growth,
        seed=seed,
    )
