"""Judgement of statements about a change: each is held against both versions of the code."""

from collections.abc import Sequence
from dataclasses import dataclass

from crscore.records import Comment, Diff, Finding, Receipt, Sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Remark as it stands in its comment."""

    sentences: tuple[Sentence, ...]
    """Its sentences and proposals."""
    comment: Comment
    """The comment, with the place it is on."""


def judge_statements(
    statements: Sequence[Statement], diff: Diff, findings: Sequence[Finding]
) -> list[Receipt | None]:
    """Hold statements against a change.

    Args:
        statements: The statements.
        diff: The change, with whole files where they are known.
        findings: What analyzers found in it.

    Returns:
        A receipt for each statement; None where nothing decides it.
    """
    return [None for _ in statements]
