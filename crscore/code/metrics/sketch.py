"""Sketch equality: whether a candidate equals a reference but for the names that it gives."""

from functools import lru_cache

from crscore.code.metrics.metric import Metric, pair_metric
from crscore.suggestions.sketch import sketch_tokens
from crscore.syntax.grammars import fingerprint


def _compare(candidate: str, reference: str, language: str | None) -> float:
    return float(_tokens(candidate, language) == _tokens(reference, language))


@lru_cache(maxsize=32)
def _tokens(code: str, language: str | None) -> list[tuple[str, ...]]:
    return sketch_tokens(code, language)


def create() -> Metric:
    """Create the metric."""
    return pair_metric(
        "sketch", lambda: f"sketch|grammars:{fingerprint()}", _compare, needs_grammar=True
    )
