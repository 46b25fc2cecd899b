"""Suggested code of comments: judged in its file, and compared with the merged code."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from crscore.audit.signals.changed import FileComment, PullTrees
from crscore.code import metrics
from crscore.code.samples import Sample
from crscore.diff.languages import language_of
from crscore.records import Suggestion
from crscore.suggestions.effects import NO_PLACE, Span, judge_in_file

FAST_METRICS: Final = ("edit", "chrf", "sketch")
"""Metrics without a model."""
MERGED_METRICS: Final = (*FAST_METRICS, "codebertscore")
"""Metrics with a column in the store."""


class JudgedSuggestion(NamedTuple):
    """One suggestion block."""

    suggestion: Suggestion
    scores: Mapping[str, float]
    """Similarity to the merged code by metric; empty when no merged code is known."""


def judge_suggestions(
    trees: PullTrees, remark: FileComment, *, names: Sequence[str] = FAST_METRICS
) -> tuple[JudgedSuggestion, ...]:
    """Judge the suggestion blocks of a comment.

    Args:
        trees: Trees of its pull request.
        remark: The comment.
        names: Metrics of similarity to merged code, of `MERGED_METRICS`.

    Returns:
        One value a block. Blocks are compared with merged code only where a merged pull request
        changed the lines.

    Raises:
        DependencyError: A metric needs a package that is not installed.
        HostError: git failed.
    """
    place = trees.merged_place(remark)
    language = language_of(remark.comment.path or "")
    judged = []
    for code in remark.suggestions:
        if place.old is None or place.span is None:
            judged.append(
                JudgedSuggestion(Suggestion(code=code, reason=place.reason or NO_PLACE), {})
            )
            continue
        suggestion = judge_in_file(code, place.old, Span(*place.span), language)
        scores = (
            _score_against_merged(code, place.merged, language, names)
            if place.merged is not None
            else {}
        )
        judged.append(JudgedSuggestion(suggestion, scores))
    return tuple(judged)


def _score_against_merged(
    code: str, merged: Sequence[str], language: str | None, names: Sequence[str]
) -> dict[str, float]:
    sample = Sample(candidate=code, references=("\n".join(merged),), language=language)
    scores = {}
    for name in names:
        metric = metrics.make(name)
        # A metric that does not know the language has no score, rather than 0.
        if metric.inapplicable([sample]) is None:
            scores[name] = float(metric.sentence_scores(metric.statistics([sample]))[0])
    return scores
