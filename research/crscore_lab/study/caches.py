"""Caches of vectors and findings for runs that score the same changes many times."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from crscore.encoders.base import Encoder, Floats, Vectors
from crscore.pipeline import Analyzers
from crscore.records import Analysis, Diff


class VectorCache:
    """Encoder with a cache, for reviews scored against several lists of claims.

    Args:
        encoder: Encoder of new texts.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self._vectors = Vectors(encoder)

    @property
    def identity(self) -> str:
        """Identity of the encoder."""
        return self.encoder.identity

    def encode(self, texts: Sequence[str]) -> Floats:
        """Encode new texts and look up known ones; see `Encoder.encode`."""
        self._vectors.learn(texts)
        return self._vectors.of(texts) if texts else self.encoder.encode([])


@dataclass(frozen=True, slots=True, eq=False)
class AnalysisCache:
    """Static analysis with a cache."""

    analyzers: Analyzers
    """Analyzers of new changes."""
    analyses: dict[Diff, Analysis] = field(default_factory=dict)
    """Analyses of known changes."""

    @property
    def identity(self) -> str:
        """Identity of the tools that have run so far."""
        analyses = self.analyses.values()
        tools = tuple(run for analysis in analyses for run in analysis.tools)
        confined = all(analysis.confined for analysis in analyses)
        return Analysis(tools=tools, confined=confined).identity

    @contextmanager
    def analyzing(self, diffs: Sequence[Diff]) -> Iterator[Callable[[], tuple[Analysis, ...]]]:
        """Analyse new changes and look up known ones; see `pipeline.Analyzers.analyzing`."""
        new = [diff for diff in dict.fromkeys(diffs) if diff not in self.analyses]

        def look_up() -> tuple[Analysis, ...]:
            self.analyses.update(zip(new, wait(), strict=True))
            return tuple(self.analyses[diff] for diff in diffs)

        with self.analyzers.analyzing(new) as wait:
            yield look_up
