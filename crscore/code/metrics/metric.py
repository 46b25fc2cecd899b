"""Metrics that compare a candidate with its references, put together from functions.

As in sacrebleu, a metric first reduces every sample to sufficient statistics, whose sums give the
score of any set of samples: a bootstrap resamples rows and never compares code again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from crscore.code.samples import Sample
from crscore.code.tokens import TokenKind
from crscore.errors import InputError
from crscore.syntax.grammars import language_of

Doubles = npt.NDArray[np.float64]

# An algorithm of quadratic time compares two such texts in about a second.
MAX_CHARACTERS: Final = 200_000
"""Maximum length of a text."""


Preset = Literal["out-of-the-bleu"]
"""Option of a metric that "Out of the BLEU" uses: that paper's variant, whose scores of samples are
rounded to 3 decimals."""


def rounding(preset: Preset | None) -> str:
    """Return the end of the identity of a metric with rounded scores."""
    return "|round:3" if preset else ""


def kind_of_tokens(tokens: TokenKind | None, preset: Preset | None) -> TokenKind:
    """Return the option if it is given, else its default: `tranx` in the preset, or else `code`."""
    return tokens or ("tranx" if preset else "code")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """Metric of code against code; a higher score is a more similar candidate.

    A plugin module `crscore/code/metrics/<name>.py` has `create(options) -> Metric`. Scores are in
    [0, 1]. With several references the best one counts, unless the metric has a definition for
    several (BLEU, chrF). If only one side has a token, the score is 0; if neither side has
    one, it is 1.
    """

    name: str
    identify: Callable[[], str]
    """Returns the identity; it may load a library for its version."""
    reduce: Callable[[Sequence[Sample]], Doubles]
    """Reduces N samples that the metric can judge to statistics, shape (N, S)."""
    sentence_scores: Callable[[Doubles], Doubles]
    """Returns the score of each sample from statistics: shape (N, S) to (N,)."""
    corpus_scores: Callable[[Doubles], Doubles]
    """Returns the scores of B sets of samples, none of them empty, from the sums of their
    statistics: shape (B, S) to (B,)."""
    needs_grammar: bool = False
    max_characters: int | None = None
    """Maximum length of code that is compared."""
    refusal: str | None = None
    """Reason why the metric cannot judge any code."""

    @property
    def identity(self) -> str:
        """Name, variant and version for the signature: the same identity gives the same scores."""
        return self.identify()

    def inapplicable(self, samples: Sequence[Sample]) -> str | None:
        """Return the reason why this metric cannot judge these samples; None when it can.

        A missing package is not such a reason: `statistics` raises `DependencyError` for it.
        """
        if self.refusal is not None:
            return self.refusal
        for sample in samples if self.needs_grammar else ():
            if language_of(sample.language) is None:
                return f"no grammar for {sample.language or 'code of an unknown language'}"
        codes = (code for sample in samples for code in (sample.candidate, *sample.references))
        longest = max(map(len, codes), default=0)
        if self.max_characters is None or longest <= self.max_characters:
            return None
        return f"code of {longest:,} characters; it compares at most {self.max_characters:,}"

    def statistics(self, samples: Sequence[Sample]) -> Doubles:
        """Reduce samples to statistics that can be added up.

        Args:
            samples: N samples, each with at least one reference.

        Returns:
            Shape (N, S).

        Raises:
            DependencyError: A package is missing.
            InputError: The metric cannot judge a sample (`inapplicable`).
        """
        reason = self.inapplicable(samples)
        if reason is not None:
            raise InputError(f"{self.name} cannot judge this: {reason}")
        return self.reduce(samples)

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


def mean_metric(
    name: str,
    identify: Callable[[], str],
    scores: Callable[[Sequence[Sample]], Doubles],
    **limits: Any,
) -> Metric:
    """Make a metric whose corpus score is the mean of its samples' scores.

    Args:
        name: As in `Metric`.
        identify: As in `Metric`.
        scores: Scores samples, shape (N,), each in [0, 1].
        **limits: Fields of `Metric` about what it can judge.
    """

    def reduce(samples: Sequence[Sample]) -> Doubles:
        values = scores(samples)
        return np.stack([values, np.ones_like(values)], axis=1)

    # Sums of these rows are a sum of scores and their number, for any set of samples.
    def divide(statistics: Doubles) -> Doubles:
        means: Doubles = statistics[:, 0] / statistics[:, 1]
        return means

    return Metric(
        name=name,
        identify=identify,
        reduce=reduce,
        sentence_scores=divide,
        corpus_scores=divide,
        **limits,
    )


def pair_metric(
    name: str,
    identify: Callable[[], str],
    compare: Callable[[str, str, str | None], float],
    **limits: Any,
) -> Metric:
    """Make a metric that compares a candidate with one reference; the best reference counts.

    Args:
        name: As in `Metric`.
        identify: As in `Metric`.
        compare: Scores a candidate against a reference, both in one language, in [0, 1].
        **limits: Fields of `Metric` about what it can judge.
    """

    def scores(samples: Sequence[Sample]) -> Doubles:
        best = (
            max(
                compare(sample.candidate, reference, sample.language)
                for reference in sample.references
            )
            for sample in samples
        )
        return np.fromiter(best, np.float64, len(samples))

    return mean_metric(name, identify, scores, **limits)
