"""Evaluates one review for evaluation harnesses: a score, a label and an explanation."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from crscore.errors import ConfigError
from crscore.settings import resolve_settings

if TYPE_CHECKING:
    from crscore.records import Result
    from crscore.scorer import Scorer

MEASURES = ("usefulness", "relevance", "conciseness", "comprehensiveness")
"""Measures of a review, each from 0 to 1."""


class Evaluation(NamedTuple):
    """Evaluation of one review by one measure."""

    name: str
    """`crscore.` followed by the name of the measure, such as `crscore.usefulness`."""
    score: float | None
    """Score in [0, 1]; None if there is nothing to score."""
    label: str
    """The usefulness as a word, such as `useful`; "" if the usefulness is unknown."""
    explanation: str
    """The interval of the usefulness and the texts of the three most valuable remarks, or the
    reason why there is no score; lines of plain text."""


@functools.cache
def default_scorer() -> Scorer:
    """Return the scorer that all evaluations of a process share; it runs no linters."""
    from crscore.scorer import Scorer  # noqa: PLC0415

    # An evaluation must give the same score on all machines, which have different linters. The
    # other settings come from the environment, because a harness cannot pass any.
    return Scorer(resolve_settings({"analyzers": "none"}, file=None))


def evaluate(result: Result, measure: str = "usefulness") -> Evaluation:
    """Evaluate a scored review.

    Args:
        result: The review.
        measure: One of `MEASURES`. The usefulness is the percentile among real reviews, divided by
            100.

    Raises:
        ConfigError: There is no such measure.
    """
    if measure not in MEASURES:
        raise ConfigError(
            "measure", "evaluation", f"{measure!r} is not one of {', '.join(MEASURES)}"
        )
    usefulness = result.usefulness
    if measure == "usefulness":
        score = None if usefulness is None else usefulness.standing / 100
    else:
        score = getattr(result, measure)
    shares = usefulness.shares[:3] if usefulness else ()
    lines = [
        f"{remark.level.value}, {remark.verdict.value}: "
        + " ".join(result.sentences[index].text for index in remark.sentences)
        for remark in (result.remarks[share.remark] for share in shares if share.value > 0)
    ]
    explanation = "\n".join(lines) or result.scores.reason or "no remark adds to the usefulness"
    explanation = f"{usefulness.interval} of 100\n{explanation}" if usefulness else explanation
    return Evaluation(f"crscore.{measure}", score, getattr(usefulness, "word", ""), explanation)
