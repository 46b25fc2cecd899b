"""All baselines of a study's reviews, on the same rows as the score."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from crscore import plugins
from crscore.encoders.base import Encoder, TokenEncoder
from crscore_lab.study.baselines import bertscore, bleu, overlap
from crscore_lab.study.baselines.overlap import version
from crscore_lab.study.data.study import GROUND_TRUTH, RatedReview, StudyChange
from crscore_lab.study.measures.measurements import Extra, ExtraMetrics, Measurements, Metric

Floats = npt.NDArray[np.float64]

LIBRARIES = ("sacrebleu", "rouge-score", "nltk", "rapidfuzz")
MAX_CHANGES = 5
"""Number of changes that a note names; the others are counted."""


TOKENS = "minilm"
"""Encoder for BERTScore where the run's own does not expose tokens."""


def baselines() -> Extra:
    """Return a function that computes the published baselines for a run.

    Returns:
        A function for `run.run`.

    Raises:
        DependencyError: A library is not installed; raised before the work begins.
    """
    for package in LIBRARIES:
        version(package)
    return _baselines


def _baselines(measured: Measurements, encoder: Encoder) -> ExtraMetrics:
    rows = [(row.change, row.review) for row in measured.rows]
    return baseline_values(rows, encoder=_token_encoder(encoder))


def _token_encoder(encoder: Encoder) -> Encoder:
    """Return the default encoder where the run's exposes no tokens and weights are available."""
    if isinstance(encoder, TokenEncoder) or plugins.load("encoders", TOKENS).missing() is not None:
        return encoder
    # A baseline must not start a download.
    default: Encoder = plugins.create("encoders", TOKENS, {"offline": True})
    return default


def baseline_values(
    rows: Sequence[tuple[StudyChange, RatedReview]], *, encoder: Encoder | None = None
) -> ExtraMetrics:
    """Compare each review with the human comment of its change.

    Reviews of a change without a human comment are compared with an empty text, which gives them
    the worst value of every baseline: all metrics share the rows, so these cannot be left out here.
    A note names the changes, so that a caller can leave them out.

    Args:
        rows: N reviews with their changes, in output order.
        encoder: Encoder for BERTScore, which is left out, with a note, unless the encoder exposes
            token vectors.

    Returns:
        For each baseline N values in the order of `rows`.

    Raises:
        DependencyError: A library is not installed.
        EncodingError: The encoder's model is unavailable or rejects a text.
    """
    by_change = {change.id: _human_comment(change) for change, _ in rows}
    missing = tuple(change for change, text in by_change.items() if not text.strip())
    if len(missing) == len(by_change):
        note = f"no change has a review by {GROUND_TRUTH}: no baseline has a reference"
        return ExtraMetrics((), (note,))
    texts = [review.text for _, review in rows]
    references = [by_change[change.id] for change, _ in rows]
    metrics = list(_of_words(texts, references))
    notes = [_missing_note(missing)] if missing else []
    if isinstance(encoder, TokenEncoder):
        values = bertscore.score(texts, references, encoder=encoder)
        variant = f"F1 over the last layer of {encoder.identity}, no idf, not rescaled"
        metrics.append(Metric(name="BERTScore", values=values, variant=variant))
    else:
        reason = "no encoder" if encoder is None else f"{encoder.identity} has no token vectors"
        notes.append(f"BERTScore is left out: {reason}")
    return ExtraMetrics(tuple(metrics), tuple(notes))


def _of_words(texts: Sequence[str], references: Sequence[str]) -> Iterator[Metric]:
    """Yield the baselines that need no model."""

    def metric(name: str, values: Floats, variant: str) -> Metric:
        return Metric(name=name, values=values, variant=variant)

    smoothed = "smoothed sentence BLEU of CodeReviewer, 0 to 100"
    # CodeReviewer's own list has 592 words.
    without = f"{smoothed}, without the {len(bleu.STOP_WORDS)} stop words of NLTK"
    sacrebleu, words = version("sacrebleu"), overlap.PLUS_PLUS
    chrf_plus = overlap.chrf(texts, references, word_order=words)
    lengths = f"Levenshtein over the longer text, higher is less alike, {version('rapidfuzz')}"
    stems = f"equal words and stems, no synonyms, {version('nltk')}"
    yield metric("BLEU", bleu.score(texts, references), smoothed)
    ignored = bleu.score(texts, references, ignored=bleu.STOP_WORDS)
    yield metric("BLEU without stop words", ignored, without)
    yield metric("chrF", overlap.chrf(texts, references), f"nc:6 nw:0 beta:2, {sacrebleu}")
    yield metric("chrF++", chrf_plus, f"nc:6 nw:{words} beta:2, {sacrebleu}")
    rouge = f"F1, stemmed, {version('rouge-score')}"
    yield metric("ROUGE-L", overlap.rouge_l(texts, references), rouge)
    yield metric("edit distance", overlap.edit_distance(texts, references), lengths)
    yield metric("METEOR", overlap.meteor(texts, references), stems)


def _human_comment(change: StudyChange) -> str:
    texts = (review.text for review in change.reviews if review.system == GROUND_TRUTH)
    return next(texts, "")


def _missing_note(missing: Sequence[str]) -> str:
    omitted = f" and {len(missing) - MAX_CHANGES} more" if len(missing) > MAX_CHANGES else ""
    return (
        f"no human comment to compare with, so every baseline has its worst value, for: "
        f"{', '.join(missing[:MAX_CHANGES])}{omitted}"
    )
