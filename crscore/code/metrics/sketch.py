"""Sketch equality: whether a candidate equals a reference but for the names that it gives."""

from dataclasses import dataclass
from functools import lru_cache

from crscore.code.metrics.base import Metric, PairMetric
from crscore.suggestions.sketch import sketch_tokens
from crscore.syntax.grammars import fingerprint


@dataclass(frozen=True, slots=True)
class SketchEquality(PairMetric):
    """1 for a candidate that equals a reference but for its own names, layout and comments."""

    needs_grammar = True

    @property
    def identity(self) -> str:
        """Name of the metric, and the grammars."""
        return f"sketch|grammars:{fingerprint()}"

    def compare(self, candidate: str, reference: str, language: str | None) -> float:
        """Compare two pieces of code."""
        return float(_tokens(candidate, language) == _tokens(reference, language))


@lru_cache(maxsize=32)
def _tokens(code: str, language: str | None) -> list[tuple[str, ...]]:
    return sketch_tokens(code, language)


def create() -> Metric:
    """Create the metric."""
    return SketchEquality()
