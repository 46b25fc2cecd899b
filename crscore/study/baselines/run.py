"""All baselines of a study's reviews, beside the score and on the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from crscore.encoders.base import TokenEncoder
from crscore.study.baselines import bertscore, bleu, chrf, edit, meteor, rouge
from crscore.study.baselines._libraries import version
from crscore.study.study import GROUND_TRUTH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    import numpy.typing as npt

    from crscore.encoders.base import Encoder
    from crscore.study.study import RatedReview, StudyChange

    Floats = npt.NDArray[np.float64]

LIBRARIES = ("sacrebleu", "rouge-score", "nltk", "rapidfuzz")
NAMED = 5
"""A note names so many changes and counts the others."""


class Baseline(NamedTuple):
    """One baseline of N reviews."""

    name: str
    """As published: `BLEU`, `chrF`, ..."""
    values: Floats
    """Shape (N,); range and direction stand with each family's `score`."""
    variant: str
    """What was computed, with which library, list or model: same variant, same values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """What the baselines say of a study's reviews."""

    metrics: tuple[Baseline, ...]
    """In the order of the paper's table; empty when no change has a human comment."""
    without_reference: tuple[str, ...]
    """Changes whose human comment is missing or blank: compared with an empty text."""
    notes: tuple[str, ...]
    """What is missing and why, one sentence each."""


def require_libraries() -> None:
    """Say before the work, not after it, that a library is missing.

    Raises:
        DependencyError: One is not installed.
    """
    for package in LIBRARIES:
        version(package)


def baseline_values(
    rows: Sequence[tuple[StudyChange, RatedReview]], *, encoder: Encoder | None = None
) -> Baselines:
    """Compare each review with the human comment of its change.

    A change without one has nothing to compare with. Its reviews are compared with an empty
    text, which gives them the worst value of every baseline: all metrics share the rows, so
    these cannot be left out here. A note names the changes, so that a caller can.

    Args:
        rows: N reviews with their changes, in the order wanted.
        encoder: For BERTScore, which is left out, with a note, without an encoder that
            shows its tokens.

    Returns:
        For each baseline N values in the order of `rows`.

    Raises:
        DependencyError: A library is not installed.
        EncodingError: The encoder's model is not here or refuses a text.
    """
    require_libraries()
    by_change = {change.id: _human_comment(change) for change, _ in rows}
    missing = tuple(change for change, text in by_change.items() if not text.strip())
    if len(missing) == len(by_change):
        return Baselines(
            metrics=(),
            without_reference=missing,
            notes=(f"no change has a review by {GROUND_TRUTH}: no baseline has a reference",),
        )
    hypotheses = [review.text for _, review in rows]
    references = [by_change[change.id] for change, _ in rows]
    metrics = list(_of_words(hypotheses, references))
    notes = [_missing_note(missing)] if missing else []
    if isinstance(encoder, TokenEncoder):
        values = bertscore.score(hypotheses, references, encoder=encoder)
        variant = f"F1 over the last layer of {encoder.identity}, no idf, not rescaled"
        metrics.append(Baseline("BERTScore", values, variant))
    else:
        what = "there is no encoder" if encoder is None else f"{encoder.identity} shows no tokens"
        notes.append(f"BERTScore is left out: {what}")
    return Baselines(metrics=tuple(metrics), without_reference=missing, notes=tuple(notes))


def _of_words(hypotheses: Sequence[str], references: Sequence[str]) -> Iterator[Baseline]:
    """Yield the baselines that need no model."""
    smoothed = "smoothed sentence BLEU of CodeReviewer, 0 to 100"
    yield Baseline("BLEU", bleu.score(hypotheses, references), smoothed)
    yield Baseline(
        "BLEU without stop words",
        bleu.score(hypotheses, references, ignored=bleu.STOP_WORDS),
        # CodeReviewer's own list has 592 words.
        f"{smoothed}, without the {len(bleu.STOP_WORDS)} stop words of NLTK",
    )
    sacrebleu, words = version("sacrebleu"), chrf.PLUS_PLUS
    yield Baseline("chrF", chrf.score(hypotheses, references), f"nc:6 nw:0 beta:2, {sacrebleu}")
    yield Baseline(
        "chrF++",
        chrf.score(hypotheses, references, word_order=words),
        f"nc:6 nw:{words} beta:2, {sacrebleu}",
    )
    yield Baseline(
        "ROUGE-L", rouge.score(hypotheses, references), f"F1, stemmed, {version('rouge-score')}"
    )
    yield Baseline(
        "edit distance",
        edit.score(hypotheses, references),
        f"Levenshtein over the longer text, higher is less alike, {version('rapidfuzz')}",
    )
    yield Baseline(
        "METEOR",
        meteor.score(hypotheses, references),
        f"equal words and stems, no synonyms, {version('nltk')}",
    )


def _human_comment(change: StudyChange) -> str:
    texts = (review.text for review in change.reviews if review.system == GROUND_TRUTH)
    return next(texts, "")


def _missing_note(missing: Sequence[str]) -> str:
    more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
    return (
        f"no human comment to compare with, so every baseline has its worst value, for: "
        f"{', '.join(missing[:NAMED])}{more}"
    )
