"""Interface of the metrics that compare a candidate with its references.

As in sacrebleu, a metric first reduces every sample to sufficient statistics, whose sums give the
score of any set of samples: a bootstrap resamples rows and never compares code again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crscore.code.samples import Sample

Floats = npt.NDArray[np.float64]


class Metric(ABC):
    """Metric of code against code; a higher score is a more similar candidate.

    A plugin module `crscore/code/metrics/<name>.py` has `Options` and `create(options) -> Metric`.
    Scores are in [0, 1]. With several references the best one counts, unless the metric has a
    definition for several (BLEU, chrF). A candidate without a token has 0 against a reference with
    one, and the reverse; two sides without a token agree: 1.
    """

    @property
    @abstractmethod
    def identity(self) -> str:
        """Name, variant and version for the signature: the same identity gives the same scores."""

    def inapplicable(self, samples: Sequence[Sample]) -> str | None:  # noqa: ARG002
        """Return why this metric cannot judge these samples; None when it can.

        A missing package is no such reason: `statistics` raises `DependencyError` for it.
        """
        return None

    @abstractmethod
    def statistics(self, samples: Sequence[Sample]) -> Floats:
        """Reduce samples to statistics that can be added up.

        Args:
            samples: N samples, each with at least one reference.

        Returns:
            Shape (N, S).

        Raises:
            DependencyError: A package is missing.
            InputError: The metric cannot judge a sample (`inapplicable`).
        """

    @abstractmethod
    def sentence_scores(self, statistics: Floats) -> Floats:
        """Return the score of each sample.

        Args:
            statistics: Shape (N, S).

        Returns:
            Shape (N,), each in [0, 1].
        """

    @abstractmethod
    def corpus_scores(self, totals: Floats) -> Floats:
        """Return the scores of B sets of samples.

        Args:
            totals: Shape (B, S): the sum of the statistics of each set, none of them empty.

        Returns:
            Shape (B,), each in [0, 1].
        """

    def sentence(
        self,
        candidate: str,
        references: Sequence[str],
        *,
        context: str = "",
        language: str | None = None,
    ) -> float:
        """Score one candidate; see `Sample` for the arguments."""
        sample = Sample(
            candidate=candidate, references=tuple(references), context=context, language=language
        )
        return float(self.sentence_scores(self.statistics([sample]))[0])

    def corpus(self, samples: Sequence[Sample]) -> float:
        """Score a set of samples, at least one."""
        return float(self.corpus_scores(self.statistics(samples).sum(axis=0, keepdims=True))[0])


class MeanMetric(Metric):
    """Metric whose corpus score is the mean of its samples' scores.

    The two statistics of a sample are its score and 1.
    """

    @abstractmethod
    def scores(self, samples: Sequence[Sample]) -> Floats:
        """Score samples; shape (N,), each in [0, 1]. Raises as `statistics` does."""

    def statistics(self, samples: Sequence[Sample]) -> Floats:
        """Reduce samples to score and count."""
        values = self.scores(samples)
        return np.stack([values, np.ones_like(values)], axis=1)

    def sentence_scores(self, statistics: Floats) -> Floats:
        """Divide scores by counts."""
        values: Floats = statistics[:, 0] / statistics[:, 1]
        return values

    def corpus_scores(self, totals: Floats) -> Floats:
        """Divide sums of scores by counts."""
        return self.sentence_scores(totals)
