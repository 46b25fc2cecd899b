"""Issues recorded by a study's own tools that the tools of this run find again."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct

from crscore.encoders.base import Encoder
from crscore.lab.study.study import StudyChange
from crscore.records import Analysis, Finding, ReferenceKind
from crscore.scoring import similarity

# `line 26, UnnecessaryImport:<TAB>Unused import 'a.B'`, `line 12, col 37, Missing semicolon.`
_ROW = re.compile(
    r"line (?P<line>\d+), (?:col \d+, )?(?:(?P<rule>\w+):\t)?(?P<message>.*)", re.DOTALL
)
SAME_WORDS = 0.5
"""Cosine from which two sentences on one line count as the same issue."""
# Output of PMD for a file that it could not parse.
_UNREADABLE = "ParseException"


class Miss(Struct, frozen=True, kw_only=True):
    """Issue of the study that no tool of this run finds again."""

    change: str
    """Id of its change."""
    text: str
    """Text in the study."""
    nearest: str | None
    """Finding nearest in meaning on that line, else in the change; None without findings."""
    line: int | None
    """Line of `nearest`."""
    cosine: float | None
    """Cosine to `nearest`, in [-1, 1]."""


class Rediscovered(Struct, frozen=True, kw_only=True):
    """Counts of one language's recorded issues."""

    language: str
    """Language of the changes."""
    rows: int
    """Recorded issues about the code."""
    unreadable: int
    """Further ones about a file that the study's tool could not parse; not issues of the code."""
    by_rule: int
    """Found again by the same rule on the same line."""
    by_meaning: int
    """Found again on the same line in words of the same meaning."""
    counted: int
    """Of both, those that count in the score."""
    share: float | None
    """Share of `rows` found again, in [0, 1]; None without a row."""
    misses: tuple[Miss, ...]
    """Issues not found again, in study order."""


class _Row(NamedTuple):
    line: int | None
    rule: str | None
    message: str


def find_rediscovered(
    changes: Iterable[tuple[StudyChange, Analysis]], encoder: Encoder
) -> tuple[Rediscovered, ...]:
    """Match each recorded issue with the findings of this run.

    The same rule on the same line is the same issue, and so are words of the same meaning
    (`SAME_WORDS`) on the same line. An issue without a line may stand anywhere in the
    change. Findings off the changed lines count too, because the study's own filter differs from
    this one.

    Args:
        changes: Changes with their analyses.
        encoder: Encoder for the comparison of meanings.

    Returns:
        One row per language with such issues, sorted.
    """
    by_language: dict[str, list[tuple[StudyChange, str, tuple[Finding, ...]]]] = defaultdict(list)
    for change, analysis in changes:
        for reference in change.recorded.references:
            if reference.kind is ReferenceKind.ISSUE:
                by_language[change.language].append((change, reference.text, analysis.findings))
    return tuple(
        _of_language(language, rows, encoder) for language, rows in sorted(by_language.items())
    )


def _of_language(
    language: str, rows: Sequence[tuple[StudyChange, str, tuple[Finding, ...]]], encoder: Encoder
) -> Rediscovered:
    readable = [row for row in rows if not row[1].startswith(_UNREADABLE)]
    by_rule = by_meaning = counted = 0
    misses = []
    for change, text, findings in readable:
        row = _read(text)
        there = [one for one in findings if row.line in (None, one.line)]
        same = [one for one in there if row.rule is not None and one.rule == row.rule]
        cosines = _cosines(row, there, encoder)
        alike = [one for one, near in zip(there, cosines, strict=True) if near >= SAME_WORDS]
        by_rule += bool(same)
        by_meaning += bool(alike) and not same
        counted += any(one.counted for one in (*same, *alike))
        if not same and not alike:
            misses.append(_miss(change, text, row, there or findings, encoder))
    again = by_rule + by_meaning
    return Rediscovered(
        language=language,
        rows=len(readable),
        unreadable=len(rows) - len(readable),
        by_rule=by_rule,
        by_meaning=by_meaning,
        counted=counted,
        share=again / len(readable) if readable else None,
        misses=tuple(misses),
    )


def _read(text: str) -> _Row:
    found = _ROW.fullmatch(text)
    if found is None:
        return _Row(None, None, text)
    return _Row(int(found["line"]), found["rule"], found["message"])


def _cosines(row: _Row, findings: Sequence[Finding], encoder: Encoder) -> list[float]:
    """Return the cosines to each finding: its message or its sentence, whichever is nearer."""
    if not findings:
        return []
    words = [one.message for one in findings] + [one.text for one in findings]
    vectors = encoder.encode([row.message, *words])
    near = similarity.cosine(vectors[:1], vectors[1:])[0].reshape(2, -1).max(axis=0)
    return [float(one) for one in near]


def _miss(
    change: StudyChange, text: str, row: _Row, findings: Sequence[Finding], encoder: Encoder
) -> Miss:
    cosines = _cosines(row, findings, encoder)
    near = max(range(len(cosines)), key=cosines.__getitem__, default=None)
    return Miss(
        change=change.id,
        text=text,
        nearest=None if near is None else findings[near].text,
        line=None if near is None else findings[near].line,
        cosine=None if near is None else cosines[near],
    )
