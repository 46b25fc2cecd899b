"""The paper's baselines: similarity of each review to the human comment of its change.

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
"""Baseline -> metric of `crscore/code/metrics/`, with its options."""
BERT_SCORE: Final = "BERTScore"
ENCODER: Final = "minilm"
"""Encoder of BERTScore."""
MAX_CHANGES: Final = 5
"""Maximum number of changes that a note names; it only counts further changes."""


def make_baselines() -> Extra:
    """Return a function that computes the baselines, an argument `extra` of `run.run`.

    Raises:
        DependencyError: A library is not installed. This is checked here, before any scoring.
    """
    for package in LIBRARIES:
        libraries.version(package, "pip install 'crscore[validate]'")
    return lambda it, _: compute_baselines([(row.change, row.review) for row in it.rows])


def compute_baselines(rows: Sequence[tuple[StudyChange, RatedReview]]) -> ExtraMetrics:
    """Compare each review with the human comment of its change.

    If a change has no human comment, its reviews are compared with an empty text, because all
    metrics are compared on the same reviews; a note names the changes.

    Args:
        rows: N reviews with their changes.

    Returns:
        For each baseline, N values in [0, 1] in the order of `rows`; no baseline if no change has a
        human comment.

    Raises:
        DependencyError: A library is not installed.
    """
    comments = {
        change.id: next((it.text for it in change.reviews if it.system == GROUND_TRUTH), "")
        for change, _ in rows
    }
    missing = tuple(change for change, text in comments.items() if not text.strip())
    if len(missing) == len(comments):
        note = f"the baselines are left out: no change has a human comment ({GROUND_TRUTH})"
        return ExtraMetrics((), (note,))
    texts = [review.text for _, review in rows]
    references = [comments[change.id] for change, _ in rows]
    notes = []
    if missing:
        more = f" and {len(missing) - MAX_CHANGES} more" if len(missing) > MAX_CHANGES else ""
        notes.append(
            f"every baseline has its worst value for changes without a human comment: "
            f"{', '.join(missing[:MAX_CHANGES])}{more}"
        )
    metrics = []
    for name, spec in METRICS.items():
        sides = [texts, references]
        if name == WITHOUT_STOP_WORDS:
            sides = [list(map(_without_stop_words, side)) for side in sides]
        metrics.append(_measure(name, spec, *sides))
    # BERTScore is left out if its encoder is not installed: a baseline must not start a download.
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
