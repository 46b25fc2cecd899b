"""The paper's baselines of a study's reviews, on the same rows as the score.

They are the package's metrics of code (`crscore/code/metrics/`), applied to comments.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from crscore import plugins
from crscore.code import libraries
from crscore.code.metrics.measurement import measure
from crscore.code.samples import Sample
from crscore.text import ENGLISH
from crscore_lab.study.data.study import GROUND_TRUTH, RatedReview, StudyChange
from crscore_lab.study.measures.measurements import Extra, ExtraMetrics, Metric

LIBRARIES: Final = ("sacrebleu", "nltk", "rapidfuzz")
WITHOUT_STOP_WORDS: Final = "BLEU without stop words"
METRICS: Final = {
    "BLEU": "bleu",
    WITHOUT_STOP_WORDS: "bleu",
    "chrF": "chrf",
    "chrF++": "chrf:word_order=2",
    "ROUGE-L": "rouge_l",
    "edit similarity": "edit",
    "METEOR": "meteor",
}
"""Baseline -> name of its metric in the package."""
BERT_SCORE: Final = "BERTScore"
ENCODER: Final = "minilm"
"""Encoder of BERTScore."""
MAX_CHANGES: Final = 5
"""Maximum number of changes that a note names; the others are counted."""


def baselines() -> Extra:
    """Return a function that computes the baselines for a run.

    Returns:
        A function for `run.run`.

    Raises:
        DependencyError: A library is not installed; raised before the work begins.
    """
    for package in LIBRARIES:
        libraries.version(package, "pip install 'crscore[validate]'")
    return lambda measured, _: baseline_values([(row.change, row.review) for row in measured.rows])


def baseline_values(rows: Sequence[tuple[StudyChange, RatedReview]]) -> ExtraMetrics:
    """Compare each review with the human comment of its change.

    Reviews of a change without a human comment are compared with an empty text, since all metrics
    share the rows; a note names the changes.

    Args:
        rows: N reviews with their changes, in output order.

    Returns:
        For each baseline N values in [0, 1], in the order of `rows`.

    Raises:
        DependencyError: A library is not installed.
    """
    comments = {
        change.id: next((it.text for it in change.reviews if it.system == GROUND_TRUTH), "")
        for change, _ in rows
    }
    missing = tuple(change for change, text in comments.items() if not text.strip())
    if len(missing) == len(comments):
        note = f"no change has a review by {GROUND_TRUTH}: no baseline has a reference"
        return ExtraMetrics((), (note,))
    texts = [review.text for _, review in rows]
    references = [comments[change.id] for change, _ in rows]
    notes = []
    if missing:
        more = f" and {len(missing) - MAX_CHANGES} more" if len(missing) > MAX_CHANGES else ""
        notes.append(
            f"no human comment to compare with, so every baseline has its worst value, for: "
            f"{', '.join(missing[:MAX_CHANGES])}{more}"
        )
    metrics = []
    for name, spec in METRICS.items():
        sides = [texts, references]
        if name == WITHOUT_STOP_WORDS:
            sides = [list(map(_without_stop_words, side)) for side in sides]
        metrics.append(_measure(name, spec, *sides))
    # A baseline must not start a download.
    if (reason := plugins.load("encoders", ENCODER).missing()) is None:
        metrics.append(_measure(BERT_SCORE, "codebertscore", texts, references))
    else:
        notes.append(f"{BERT_SCORE} is left out: {ENCODER} needs {reason}")
    return ExtraMetrics(tuple(metrics), tuple(notes))


def _measure(name: str, spec: str, texts: Sequence[str], references: Sequence[str]) -> Metric:
    samples = [
        Sample(candidate=text, references=(reference,))
        for text, reference in zip(texts, references, strict=True)
    ]
    (measurement,) = measure(samples, [spec])[0]
    values = np.array(measurement.sentence_scores, dtype=np.float64)
    return Metric(name=name, values=values, variant=measurement.metric.identity)


def _without_stop_words(text: str) -> str:
    return " ".join(word for word in text.split() if word.lower() not in ENGLISH)
