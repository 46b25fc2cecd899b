"""Reasons why a metric cannot judge samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from crscore.code.samples import Sample
from crscore.errors import InputError
from crscore.syntax.grammars import language_of

MAX_CHARACTERS: Final = 200_000
"""Two texts of this length are compared in about a second."""


def no_grammar(samples: Sequence[Sample]) -> str | None:
    """Return why some sample cannot be parsed: its language has no grammar; None when all can."""
    for sample in samples:
        if language_of(sample.language) is None:
            return f"no grammar for {sample.language or 'code of an unknown language'}"
    return None


def too_long(samples: Sequence[Sample], most: int = MAX_CHARACTERS) -> str | None:
    """Return why some sample is too long, by default for quadratic time; None when none is."""
    longest = max(
        (len(text) for sample in samples for text in (sample.candidate, *sample.references)),
        default=0,
    )
    if longest <= most:
        return None
    return f"code of {longest:,} characters; it compares at most {most:,}"


def check_length(samples: Sequence[Sample], metric: str) -> None:
    """Refuse samples that are too long.

    Raises:
        InputError: Some code has more than `MAX_CHARACTERS`.
    """
    reason = too_long(samples)
    if reason:
        raise InputError(f"{metric}: {reason}")
