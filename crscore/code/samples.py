"""Samples: pieces of code to judge, each with its references."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Candidate with the references that it is compared with."""

    candidate: str
    """Code to judge; may be empty."""
    references: tuple[str, ...]
    """Code to compare it with, at least one; may be empty texts."""
    context: str = ""
    """Text before the code that both sides share: an intent in prose, or the prompt."""
    language: str | None = None
    """Language as in `ChangedFile.language`; None when unknown."""
    id: str | None = None
    """Name of the problem; several samples may answer one."""
