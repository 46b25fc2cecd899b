"""Interface of the metrics that compare a candidate with its references.

As in sacrebleu, a metric first reduces every sample to sufficient statistics, whose sums give the
score of any set of samples: a bootstrap resamples rows and never compares code again.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Final, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from crscore.code.samples import Sample
from crscore.code.tokens import TokenKind, split
from crscore.errors import InputError
from crscore.syntax.grammars import language_of

Floats = npt.NDArray[np.float64]

MAX_CHARACTERS: Final = 200_000
"""Two texts of this length are compared in about a second by an algorithm of quadratic time."""


class PresetOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of a metric that "Out of the BLEU" uses."""

    preset: Literal["out-of-the-bleu"] | None = None
    """That paper's variant; its scores of samples are rounded to 3 decimals."""

    @property
    def rounding(self) -> str:
        """End of the identity of a metric with rounded scores."""
        return "|round:3" if self.preset else ""


class TokenOptions(PresetOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of a metric of tokens in that paper."""

    tokens: TokenKind | None = None
    """Kind of tokens; the default is `code`, which agrees better with people, or `tranx` in the
    preset."""

    @property
    def kind_of_tokens(self) -> TokenKind:
        """Kind of tokens."""
        return self.tokens or ("tranx" if self.preset else "code")

    def split(self, text: str) -> list[str]:
        """Split code into tokens."""
        return split(text, self.kind_of_tokens)


class Metric(ABC):
    """Metric of code against code; a higher score is a more similar candidate.

    A plugin module `crscore/code/metrics/<name>.py` has `Options` and `create(options) -> Metric`.
    Scores are in [0, 1]. With several references the best one counts, unless the metric has a
    definition for several (BLEU, chrF). A candidate without a token has 0 against a reference with
    one, and the reverse; two sides without a token agree: 1.
    """

    needs_grammar: ClassVar[bool] = False
    max_characters: ClassVar[int | None] = None
    """Longest code that is compared."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """Name, variant and version for the signature: the same identity gives the same scores."""

    def inapplicable(self, samples: Sequence[Sample]) -> str | None:
        """Return why this metric cannot judge these samples; None when it can.

        A missing package is no such reason: `statistics` raises `DependencyError` for it.
        """
        for sample in samples if self.needs_grammar else ():
            if language_of(sample.language) is None:
                return f"no grammar for {sample.language or 'code of an unknown language'}"
        codes = (code for sample in samples for code in (sample.candidate, *sample.references))
        longest = max(map(len, codes), default=0)
        if self.max_characters is None or longest <= self.max_characters:
            return None
        return f"code of {longest:,} characters; it compares at most {self.max_characters:,}"

    def require_applicable(self, samples: Sequence[Sample]) -> None:
        """Refuse samples that this metric cannot judge.

        Raises:
            InputError: It cannot judge some sample.
        """
        reason = self.inapplicable(samples)
        if reason is not None:
            raise InputError(f"{type(self).__name__} cannot judge this: {reason}")

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
        """Score samples that the metric can judge; shape (N,), each in [0, 1]."""

    def statistics(self, samples: Sequence[Sample]) -> Floats:
        """Reduce samples to score and count."""
        self.require_applicable(samples)
        scores = self.scores(samples)
        return np.stack([scores, np.ones_like(scores)], axis=1)

    def sentence_scores(self, statistics: Floats) -> Floats:
        """Divide scores by counts."""
        scores: Floats = statistics[:, 0] / statistics[:, 1]
        return scores

    def corpus_scores(self, totals: Floats) -> Floats:
        """Divide sums of scores by counts."""
        return self.sentence_scores(totals)


class PairMetric(MeanMetric):
    """Metric that compares a candidate with one reference; the best reference counts."""

    @abstractmethod
    def compare(self, candidate: str, reference: str, language: str | None) -> float:
        """Return the score of a candidate beside one reference, in [0, 1]."""

    def scores(self, samples: Sequence[Sample]) -> Floats:
        """Score samples."""
        return np.array(
            [
                max(
                    self.compare(sample.candidate, reference, sample.language)
                    for reference in sample.references
                )
                for sample in samples
            ],
            dtype=np.float64,
        )
