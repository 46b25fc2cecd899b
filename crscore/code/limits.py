"""Longest code that metrics of quadratic time take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from crscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crscore.code.samples import Sample

MAX_CHARACTERS: Final = 200_000
"""Two texts of this length are compared in about a second."""


def too_long(samples: Sequence[Sample]) -> str | None:
    """Return why some sample is too long for a metric of quadratic time; None when none is."""
    longest = max(
        (len(text) for sample in samples for text in (sample.candidate, *sample.references)),
        default=0,
    )
    if longest <= MAX_CHARACTERS:
        return None
    return f"code of {longest:,} characters; it compares at most {MAX_CHARACTERS:,}"


def check_length(samples: Sequence[Sample], metric: str) -> None:
    """Refuse samples that are too long.

    Raises:
        InputError: Some code has more than `MAX_CHARACTERS`.
    """
    reason = too_long(samples)
    if reason:
        raise InputError(f"{metric}: {reason}")
