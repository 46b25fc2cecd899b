"""Features of the cells of one change, which are the inputs of the trees."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from crscore.matchers.base import Cells
from crscore.matchers.overlap import overlaps
from crscore.records import LineKind, ReferenceKind
from crscore.text import SPEECH, Words, stems_and_names, words

Floats = npt.NDArray[np.float32]

# The last bit of a cosine differs between machines and must not decide a branch of a tree.
DECIMALS: Final = 4
"""Number of decimals to which features are rounded."""


class TextStatistics(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Statistics of the training texts."""

    frequency: Mapping[str, int]
    """Number of training texts that contain each stem; rare stems are missing and count as 0."""
    documents: Annotated[int, msgspec.Meta(ge=0, le=2**31)]
    """Number of training texts."""
    claim: Floats
    """Unit vector of the mean claim, shape (D,)."""
    remark: Floats
    """Unit vector of the mean review sentence, shape (D,)."""
    axes: Floats
    """Principal axes of review sentences, shape (K, D)."""
    centre: Floats
    """Vector that is subtracted from a sentence's vector before its projection, shape (D,)."""

    def rarity(self, stems: Iterable[str]) -> float:
        """Return the sum of the stems' inverse document frequencies, each at least 0."""
        documents, frequency = self.documents + 1, self.frequency
        # `fsum`, because the last bit of a plain sum would depend on the undefined order of a set.
        return math.fsum([math.log(documents / (frequency.get(stem, 0) + 1)) for stem in stems])


# The names below are in weights files, in this order.
SENTENCE: Final = (
    "length", "plain", "added", "removed", "changed", "context", "context_only", "changed_sum",
    "added_only", "removed_only", "foreign_sum", "names_shared", "names_foreign", "code_spans",
    "asks", "suggests", "praises", "personal", "denies", "explains", "like_claim", "like_remark",
    "overlap_before", "position", "sentences", "rarity", "about",
)  # fmt: skip
REFERENCE: Final = (
    "length", "changed", "changed_sum", "explains", "denies", "is_implication",
    "like_claim", "central", "references", "position", "rarity",
)  # fmt: skip
CELL: Final = (
    "cosine", "cosine_reference", "cosine_sentence", "cosine_both", "shared_reference",
    "shared_sentence", "shared_sum", "shared_unique", "names", "names_share", "topics_reference",
    "topics_sentence", "contrary", "denial", "below_row", "below_column", "above_mean",
)  # fmt: skip
COMMENT: Final = (
    "best_cosine", "best_shared", "best_shared_sum", "mean_cosine", "about", "words",
)  # fmt: skip


def feature_names(axes: int) -> tuple[str, ...]:
    """Return the names of the features in order, with `axes` principal axes."""
    return (
        *(f"cell.{name}" for name in CELL),
        *(f"sentence.{name}" for name in SENTENCE),
        *(f"sentence.axis{index}" for index in range(axes)),
        *(f"reference.{name}" for name in REFERENCE),
        *(f"comment.{name}" for name in COMMENT),
    )


def compute_features(cells: Cells, statistics: TextStatistics) -> Floats:
    """Compute the features of every cell.

    Args:
        cells: One change's cells.
        statistics: Statistics of the training texts.

    Returns:
        Array of shape (R, S, F), rounded to `DECIMALS`; F is 0 if R or S is 0. The features of a
        cell do not depend on other comments.
    """
    if 0 in cells.similarity.shape:
        return np.zeros((*cells.similarity.shape, 0), dtype=np.float32)
    stems: dict[LineKind, set[str]] = {kind: set() for kind in LineKind}
    names: set[str] = set()
    for line in cells.diff.lines():
        line_stems, line_names = stems_and_names(line.text)
        stems[line.kind] |= line_stems
        names |= line_names
    added, removed = stems[LineKind.ADDED], stems[LineKind.REMOVED]
    change = _Change(added, removed, added | removed, stems[LineKind.CONTEXT], names, statistics)
    texts = [words(ref.encoded_text) for ref in cells.references]
    counts = Counter(stem for text in texts for stem in text.stems)
    references = []
    for text in texts:
        rarities = {stem: statistics.rarity((stem,)) for stem in text.stems}
        weights = {stem: (rarity, rarity / counts[stem]) for stem, rarity in rarities.items()}
        references.append(_Reference(text, statistics.rarity(text.stems), weights))
    rows = _describe_references(cells, references, change)
    # Hidden text must not change the features of visible text.
    by_comment: dict[tuple[int, bool], list[int]] = {}
    for index, sentence in enumerate(cells.sentences):
        by_comment.setdefault((sentence.comment, sentence.hidden), []).append(index)
    width = len(feature_names(len(statistics.axes)))
    table: Floats = np.empty((*cells.similarity.shape, width), dtype=np.float32)
    for columns in by_comment.values():
        table[:, columns] = _describe_cells(cells, columns, references, rows, change)
    return table.round(DECIMALS)


class _Change(NamedTuple):
    """Stems of the lines of each kind, names of all lines, and the training texts' statistics."""

    added: set[str]
    removed: set[str]
    changed: set[str]
    context: set[str]
    names: set[str]
    statistics: TextStatistics


class _Reference(NamedTuple):
    """Words of a pseudo-reference, with values for the features of its cells."""

    words: Words
    rarity: float
    """Sum of the rarities of its stems."""
    weights: dict[str, tuple[float, float]]
    """For each stem its rarity, and the rarity divided by the number of references that contain the
    stem.
    """


def _describe_references(cells: Cells, weighed: Sequence[_Reference], change: _Change) -> Floats:
    vectors, statistics = cells.reference_vectors, change.statistics
    total = len(weighed)
    # - 1, for the cosine of each reference with itself.
    cosines = (vectors @ vectors.T).sum(axis=1) - 1
    central = cosines / (total - 1) if total > 1 else np.full(total, 0.5)
    like_claim = vectors @ statistics.claim
    rows = []
    for index, (ref, (text, weight, _)) in enumerate(zip(cells.references, weighed, strict=True)):
        shared = statistics.rarity(text.stems & change.changed)
        rows.append(
            [
                math.log1p(text.length),
                # + 1e-6, because the weight of a reference without stems is 0.
                shared / (weight + 1e-6),
                math.log1p(shared),
                "explains" in text.speech,
                "denies" in text.speech,
                ref.kind is ReferenceKind.IMPLICATION,
                like_claim[index],
                central[index],
                math.log(total),
                math.log1p(index),
                weight / max(1, len(text.stems)),
            ]
        )
    return np.array(rows, dtype=np.float32)


def _describe_cells(
    cells: Cells,
    columns: list[int],
    references: Sequence[_Reference],
    rows: Floats,
    change: _Change,
) -> Floats:
    """Compute the features of one comment's cells; `rows` are the features of the references."""
    texts = [words(cells.sentences[column].text) for column in columns]
    about = cells.about[columns]
    sentences = _describe_sentences(texts, cells.sentence_vectors[columns], about, change)
    # A high cosine means little between texts that are similar to everything. So there are also
    # features that subtract from the cosine how similar each text is to a typical claim.
    usual_row = rows[:, None, REFERENCE.index("like_claim")]
    usual_column = sentences[None, :, SENTENCE.index("like_claim")]
    cosine = cells.similarity[:, columns]
    rarities = [change.statistics.rarity(text.stems) for text in texts]
    pairs = list(zip(texts, rarities, strict=True))
    # In the order of `CELL`.
    to_typical = (cosine, cosine - usual_row, cosine - usual_column)
    cosines = np.stack([*to_typical, 2 * cosine - usual_row - usual_column], axis=2)
    lexical = np.array([[_compare_words(ref, *pair) for pair in pairs] for ref in references])
    rivals = (cosine.max(axis=1, keepdims=True), cosine.max(axis=0, keepdims=True),
              cosine.mean(axis=0, keepdims=True))  # fmt: skip
    leads = np.stack([cosine - rival for rival in rivals], axis=2)
    pairwise = np.concatenate([cosines, lexical, leads], axis=2, dtype=np.float32)
    best = [CELL.index(name) for name in ("cosine", "shared_reference", "shared_sum")]
    highest = pairwise[..., best].max(axis=(0, 1))
    length = math.log1p(sum(text.length for text in texts))
    comment = np.array([*highest, pairwise[..., 0].mean(), about.mean(), length], dtype=np.float32)
    wide = (
        np.broadcast_to(table, (*cosine.shape, table.shape[-1]))
        for table in (sentences[None], rows[:, None], comment)
    )
    return np.concatenate([pairwise, *wide], axis=2, dtype=np.float32)


def _describe_sentences(
    texts: Sequence[Words], vectors: Floats, about: Floats, change: _Change
) -> Floats:
    statistics, rarity = change.statistics, change.statistics.rarity
    like_claim, like_remark = vectors @ statistics.claim, vectors @ statistics.remark
    projected = (vectors - statistics.centre) @ statistics.axes.T
    rows = []
    for index, (text, (shared, union)) in enumerate(
        zip(texts, overlaps([text.stems for text in texts]), strict=True)
    ):
        total = rarity(text.stems)
        weight = total + 1e-6  # the total of a sentence without stems is 0
        sides = (change.added, change.removed, change.changed, change.context,
                 change.context - change.changed)  # fmt: skip
        sums = [rarity(text.stems & side) for side in sides]
        amounts = (
            sums[2],
            rarity(text.stems & (change.added - change.removed)),
            rarity(text.stems & (change.removed - change.added)),
            max(0.0, weight - sums[2] - sums[4]),  # of stems that are not in the diff
            len(text.names & change.names),
            len(text.names - change.names),
            text.code_spans,
        )
        # In the order of `SENTENCE`.
        rows.append(
            [
                math.log1p(text.length),
                text.content_length / max(1, text.length),
                *(amount / weight for amount in sums),
                *map(math.log1p, amounts),
                text.asks,
                *(manner in text.speech for manner in SPEECH),
                like_claim[index],
                like_remark[index],
                (shared / np.maximum(1, union)).max(initial=0.0),
                math.log1p(index),
                math.log(len(texts)),
                total / max(1, len(text.stems)),
                about[index],
            ]
        )
    return np.column_stack([np.array(rows), projected]).astype(np.float32)


def _compare_words(reference: _Reference, sentence: Words, rarity: float) -> list[float]:
    ref = reference.words
    shared = [reference.weights[stem] for stem in ref.stems & sentence.stems]
    weight = math.fsum([stem_rarity for stem_rarity, _ in shared])
    common, topics = len(ref.names & sentence.names), len(ref.topics & sentence.topics)
    return [
        weight / (reference.rarity + 1e-6),
        weight / (rarity + 1e-6),
        math.log1p(weight),
        math.log1p(math.fsum([share for _, share in shared])),
        common > 0,
        common / max(1, len(ref.names)),
        topics / max(1, len(ref.topics)),
        topics / max(1, len(sentence.topics)),
        # The claim is about an addition and the sentence about a removal, or the reverse.
        ("add" in ref.topics and "remove" in sentence.topics)
        + ("remove" in ref.topics and "add" in sentence.topics),
        ("denies" in ref.speech) != ("denies" in sentence.speech),
    ]
