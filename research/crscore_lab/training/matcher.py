"""Trains the calibrated matcher on a study of rated reviews, for `crscore train matcher`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from crscore import plugins
from crscore.claims.base import ClaimGenerator
from crscore.diff.windows import list_windows
from crscore.encoders.base import Encoder, Floats, Vectors
from crscore.errors import InputError
from crscore.matchers import features
from crscore.matchers.calibrated import Calibrated
from crscore.matchers.features import TextStatistics
from crscore.matchers.trees import Trees
from crscore.records import Sentence
from crscore.scoring.cells import Cells, compare
from crscore.text import words
from crscore.usefulness import evidence
from crscore.usefulness.reader import Reader, reader_for
from crscore_lab.study.attacks.material import split_sentences
from crscore_lab.study.data.study import Study
from crscore_lab.training.data.attack_examples import make_negatives
from crscore_lab.training.data.study_examples import Example, make_examples
from crscore_lab.training.fit import boosting
from crscore_lab.training.fit.boosting import TreeSettings
from crscore_lab.training.fit.loss import Layout

MIN_TEXTS: Final = 4
"""Minimum number of training texts that must contain a stem; rarer stems count as never seen."""
DECISION: Final = 0.24
"""Minimum degree of a cell that counts as addressed."""
# Padding must not raise a score. So more words, more sentences, a repetition, or less relevant
# sentences in the same comment can only lower the degree of a cell, and evidence for a match can
# only raise it.
_FALLING: Final = (
    "comment.words", "sentence.sentences", "sentence.position", "sentence.overlap_before",
    "sentence.length",
)  # fmt: skip
_RISING: Final = (
    "comment.mean_cosine", "comment.about", "sentence.about", "cell.cosine",
    "cell.shared_reference", "cell.shared_sum", "cell.shared_unique", "cell.names_share",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class MatcherSettings:
    """Settings of a training run; the shipped weights use the defaults."""

    trees: TreeSettings = field(default_factory=TreeSettings)
    axes: int = 16
    """Number of principal components of review sentences that are used as features."""
    discount: float = 0.1
    """Amount that is subtracted from a cell's logit per unit of its comment's log-length."""
    negatives: bool = True
    """Whether to train also on texts that were made to fool a score."""


def train(
    study: Study,
    *,
    encoder: Encoder,
    generator: ClaimGenerator | None = None,
    reader: Reader | None = None,
    seed: int = 0,
    settings: MatcherSettings | None = None,
) -> Calibrated:
    """Train a matcher on a study.

    Every rated review is compared with three lists of pseudo-references: the study's claims, the
    claims of `generator`, and the list that the annotators edited, for which they recorded what the
    review addresses. The loss compares the ratings with scores by the published formulas.

    Args:
        study: Rated reviews, including the original human comments.
        encoder: Encoder that the score will use.
        generator: Generator of the second list; `structural` if None.
        reader: Reader that judges whether a sentence is about the change; the shipped reader if
            None.
        seed: Seed of all random choices. The same study, encoder and seed give the same weights.
        settings: Settings.

    Raises:
        InputError: The study rates no review that has a sentence.
        DependencyError: lightgbm is not installed.
    """
    boosting.require_lightgbm()
    settings = settings or MatcherSettings()
    examples = make_examples(study, generator or plugins.create("claims", "structural"))
    if settings.negatives:
        examples += make_negatives(study, examples, seed=seed)
    sentences = {example.text: split_sentences(example.text) for example in examples}
    vectors = Vectors(encoder)
    vectors.add(text for texts in sentences.values() for text in texts)
    vectors.add(ref.encoded_text for example in examples for ref in example.references)
    statistics = _gather_statistics(study, examples, sentences, vectors, axes=settings.axes)
    reader = reader or reader_for(encoder)
    if reader:
        vectors.add(line for example in examples for line in list_windows(example.diff))
    cells = [make_cells(example, sentences[example.text], vectors, reader) for example in examples]
    trees = _grow(examples, cells, statistics, settings=settings.trees, seed=seed)
    if not trees.depth:  # lightgbm reports no error if its first tree finds no split
        raise InputError("the features do not separate the study's reviews: no tree found a split")
    return Calibrated(
        encoder=encoder.identity.partition("@")[0],
        data_sha256=study.sha256,
        seed=seed,
        start=boosting.START,
        discount=settings.discount,
        decision=DECISION,
        trees=trees,
        statistics=statistics,
    )


def make_cells(
    example: Example, sentences: Sequence[str], vectors: Vectors, reader: Reader | None
) -> Cells:
    """Make the cells of one example, as in the pipeline.

    Args:
        example: The review and its pseudo-references.
        sentences: The sentences of the review.
        vectors: Vectors of all texts.
        reader: Reader that judges whether a sentence is about the change; None if there are no
            weights for the encoder.
    """
    units = tuple(Sentence(text=text, comment=0) for text in sentences)
    cells = compare(
        example.diff,
        example.references,
        units,
        vectors.of([ref.encoded_text for ref in example.references]),
        vectors.of(sentences),
    )
    if reader is None:
        return cells
    windows = vectors.of(list_windows(example.diff))
    change = evidence.collect_evidence(
        example.diff, example.references, cells.reference_vectors, windows
    )
    about, _ = reader.judge_about(units, cells.sentence_vectors, change)
    return replace(cells, about=about)


def _gather_statistics(
    study: Study,
    examples: Sequence[Example],
    sentences: Mapping[str, Sequence[str]],
    vectors: Vectors,
    *,
    axes: int,
) -> TextStatistics:
    claims = [ref.encoded_text for change in study.changes for ref in change.claims]
    # Only rated reviews, because the examples also have texts that were made to fool a score.
    remarks = [
        sentence
        for change in study.changes
        for review in change.reviews
        for sentence in sentences.get(review.text, ())
    ]
    if not remarks:
        raise InputError("the study rates no review that has a sentence")
    if not claims:  # a study without recorded claims
        claims = [ref.encoded_text for example in examples for ref in example.references]
    vectors.add(claims)
    return compute_statistics(claims, vectors.of(claims), remarks, vectors.of(remarks), axes=axes)


def _grow(
    examples: Sequence[Example],
    cells: Sequence[Cells],
    statistics: TextStatistics,
    *,
    settings: TreeSettings,
    seed: int,
) -> Trees:
    shapes, targets, rows = [], [], []
    for example, example_cells in zip(examples, cells, strict=True):
        table = features.compute_features(example_cells, statistics)
        # A review without a sentence has no cells.
        if table.size:
            shapes.append(table.shape[:2])
            targets.append(example.target)
            rows.append(table.reshape(-1, table.shape[2]))
    if not rows:
        raise InputError("the study rates no review that has a sentence and a claim to compare")
    names = features.feature_names(len(statistics.axes))
    return boosting.grow_trees(
        np.concatenate(rows),
        Layout.of(shapes, targets),
        directions=[(name in _RISING) - (name in _FALLING) for name in names],
        settings=settings,
        seed=seed,
    )


def compute_statistics(
    references: Sequence[str],
    reference_vectors: Floats,
    sentences: Sequence[str],
    sentence_vectors: Floats,
    *,
    axes: int,
) -> TextStatistics:
    """Count stems and compute the principal axes of review sentences.

    Args:
        references: Pseudo-references of the training changes.
        reference_vectors: Unit vectors of the references, shape (len(references), D).
        sentences: Review sentences of the training changes.
        sentence_vectors: Unit vectors of the sentences, shape (len(sentences), D).
        axes: Number of axes.

    Returns:
        The statistics. The largest component of each axis is positive, so that the same texts
        always give the same signs.
    """
    texts = [*references, *sentences]
    counts = Counter(stem for text in texts for stem in words(text).stems)
    claim = reference_vectors.mean(axis=0, dtype=np.float64)
    centre = sentence_vectors.mean(axis=0, dtype=np.float64)
    centred = sentence_vectors.astype(np.float64) - centre
    _, directions = np.linalg.eigh(centred.T @ centred)
    # `eigh` sorts by rising eigenvalue.
    main = directions[:, ::-1][:, :axes].T
    peaks = main[np.arange(len(main)), np.abs(main).argmax(axis=1)]
    return TextStatistics(
        frequency={stem: n for stem, n in sorted(counts.items()) if n >= MIN_TEXTS},
        documents=len(texts),
        claim=_round(claim / np.linalg.norm(claim)),
        remark=_round(centre / np.linalg.norm(centre)),
        axes=_round(main * np.sign(peaks)[:, None]),
        centre=_round(centre),
    )


def _round(values: npt.NDArray[np.float64]) -> Floats:
    # Rounded, because sums differ between machines in their last bits, but the file should not.
    return np.round(values, 5).astype(np.float32)
