"""Metrics, assembled from functions, that compare a candidate with its references.

As in sacrebleu, a metric first reduces every sample to sufficient statistics, whose sums give the
score of any set of samples. So a bootstrap only resamples rows and does not compare code again.
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

# An algorithm of quadratic time compares two texts of this size in about a second.
MAX_CHARACTERS: Final = 200_000
"""Maximum number of characters of a text, for metrics whose time is quadratic."""


Preset = Literal["out-of-the-bleu"]
"""Value of an option that selects the variant of a metric in the paper "Out of the BLEU", where the
scores of samples are rounded to 3 decimals."""


def rounding(preset: Preset | None) -> str:
    """Return the end of a metric's identity: `|round:3` if scores are rounded, else ""."""
    return "|round:3" if preset else ""


def kind_of_tokens(tokens: TokenKind | None, preset: Preset | None) -> TokenKind:
    """Return `tokens` or, if it is None, the default: `tranx` with a preset, else `code`."""
    return tokens or ("tranx" if preset else "code")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """Metric that compares code with references; a higher score is a more similar candidate.

    A plugin module `crscore/code/metrics/<name>.py` has `create(options) -> Metric`. Scores are in
    [0, 1]. With several references the best one counts, unless the metric is defined for several
    references (BLEU, chrF). If only one side has a token, the score is 0; if neither side has a
    token, the score is 1.
    """

    name: str
    identify: Callable[[], str]
    """Returns `identity`; it may load a library to read the version."""
    reduce: Callable[[Sequence[Sample]], Doubles]
    """Reduces N samples to their statistics, shape (N, S)."""
    sentence_scores: Callable[[Doubles], Doubles]
    """Returns the scores of N samples, shape (N,), from their statistics, shape (N, S)."""
    corpus_scores: Callable[[Doubles], Doubles]
    """Returns the scores of B sets of samples, shape (B,), from the sum of the statistics of each
    set, shape (B, S). No set is empty."""
    needs_grammar: bool = False
    """Whether the metric scores only languages that have a grammar."""
    max_characters: int | None = None
    """Maximum number of characters of a candidate or reference; None for no limit."""
    refusal: str | None = None
    """Reason why the metric cannot score any code; None if it can."""

    @property
    def identity(self) -> str:
        """Name, variant and version; metrics with the same identity give the same scores."""
        return self.identify()

    def find_obstacle(self, samples: Sequence[Sample]) -> str | None:
        """Return the reason why this metric cannot score these samples; None if it can.

        Packages are not checked: `statistics` raises `DependencyError` if one is missing.
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
        return f"code of {longest:,} characters exceeds the limit of {self.max_characters:,}"

    def statistics(self, samples: Sequence[Sample]) -> Doubles:
        """Reduce samples to statistics that can be added up.

        Args:
            samples: N samples, each with at least one reference.

        Returns:
            Shape (N, S).

        Raises:
            DependencyError: A package is missing.
            InputError: The metric cannot score a sample (`find_obstacle`).
        """
        reason = self.find_obstacle(samples)
        if reason is not None:
            raise InputError(f"{self.name} cannot score these samples: {reason}")
        return self.reduce(samples)

    def sentence(
        self,
        candidate: str,
        references: Sequence[str],
        *,
        context: str = "",
        language: str | None = None,
    ) -> float:
        """Return the score of one candidate; the arguments are the fields of `Sample`."""
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
        scores: Returns the scores of N samples, shape (N,), each in [0, 1].
        **limits: Fields of `Metric` that limit what it can score, such as `needs_grammar`.
    """

    def reduce(samples: Sequence[Sample]) -> Doubles:
        values = scores(samples)
        return np.stack([values, np.ones_like(values)], axis=1)

    # Summed over any set of samples, such rows give the sum of the scores and their number.
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
        compare: Returns the score, in [0, 1], of a candidate and a reference in a language.
        **limits: Fields of `Metric` that limit what it can score, such as `needs_grammar`.
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
