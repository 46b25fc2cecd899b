"""From findings to the issues that a score counts.

A tool speaks for itself; here all of them speak together: what two tools say of one defect is one
issue, what is said again and again is said once, and each hunk gets a few, the worst first.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from crscore import similarity
from crscore.findings import SEVERITIES, Analysis, Finding, Severity
from crscore.records import LineSpan, PseudoReference, ReferenceKind, Side

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crscore.encoders.base import Encoder
    from crscore.records import Diff

SAME_DEFECT = 0.5
"""Cosine from which two tools' sentences on one line tell of the same defect; see `docs/design`."""
WEIGHTS = {Severity.ERROR: 1.0, Severity.WARNING: 0.7, Severity.NOTE: 0.4}
"""How informative an issue is, in (0, 1]: it orders reports and enters no score."""
# "in `Client.charge`": the place. The encoder would hear the name, and take every sentence that
# names the class for one about the issue.
_PLACE = re.compile(r" (?:in|of) `[^`]{1,200}`(?=[\s,.;:])")
_NAME = re.compile(r"`([^`\s]{1,80})`")


class Chosen(NamedTuple):
    """The issues of one change."""

    references: tuple[PseudoReference, ...]
    """What counts, by path and line."""
    analysis: Analysis
    """The analysis, its findings marked as `counted` where they do."""


@dataclass(slots=True)
class _Issue:
    """Findings that are one pseudo-reference; the first one gives the sentence."""

    findings: list[Finding]

    @property
    def rank(self) -> tuple[int, str, int]:
        best = self.findings[0]
        return SEVERITIES.index(best.severity), best.path, best.line


def choose(analysis: Analysis, diff: Diff, encoder: Encoder, *, per_hunk: int | None) -> Chosen:
    """Choose the findings that count, and make pseudo-references of them.

    Args:
        analysis: What the tools say of the change.
        diff: The change.
        encoder: Says whether two tools mean the same.
        per_hunk: Most issues of one hunk; None for all.

    Returns:
        The issues and the marked analysis.
    """
    telling = [one for one in analysis.findings if one.in_change and not one.pre_existing]
    issues = _said_once(_joined(telling, encoder))
    kept = _worst(issues, diff, per_hunk)
    counted = {id(finding) for issue in kept for finding in issue.findings}
    return Chosen(
        references=tuple(_reference(issue) for issue in kept),
        analysis=replace(
            analysis,
            findings=tuple(
                replace(one, counted=True) if id(one) in counted else one
                for one in analysis.findings
            ),
        ),
    )


def unsaid(
    claims: Sequence[PseudoReference], found: Sequence[PseudoReference], encoder: Encoder
) -> tuple[PseudoReference, ...]:
    """Leave out the implications that an issue on the same lines says, too.

    Args:
        claims: Of a claim generator.
        found: The issues of the same change.
        encoder: Says whether two mean the same.

    Returns:
        The other claims, in their order.
    """
    rivals = {
        index: [one for one in found if _touch(claim, one)]
        for index, claim in enumerate(claims)
        if claim.kind is ReferenceKind.IMPLICATION
    }
    said = set()
    for index, issues in rivals.items():
        if issues:
            texts = [claims[index], *issues]
            vectors = encoder.encode([one.reading or one.text for one in texts])
            if similarity.cosine(vectors[:1], vectors[1:]).max() >= SAME_DEFECT:
                said.add(index)
    return tuple(claim for index, claim in enumerate(claims) if index not in said)


def _touch(claim: PseudoReference, issue: PseudoReference) -> bool:
    return any(
        (one.path, one.side) == (other.path, other.side)
        and one.start <= other.end
        and other.start <= one.end
        for one in claim.spans
        for other in issue.spans
    )


def _joined(findings: Sequence[Finding], encoder: Encoder) -> list[_Issue]:
    """Join what several tools say of one defect: on the same line, and meaning the same."""
    by_line: dict[tuple[str, int], list[Finding]] = defaultdict(list)
    for finding in findings:
        by_line[finding.path, finding.line].append(finding)
    issues: list[_Issue] = []
    for group in by_line.values():
        # The worst first: its sentence speaks for the others.
        ordered = sorted(group, key=lambda one: (SEVERITIES.index(one.severity), one.tool))
        alike = _alike(ordered, encoder)
        mine: list[tuple[int, _Issue]] = []
        for index, finding in enumerate(ordered):
            home = next(
                (
                    issue
                    for first, issue in mine
                    if alike[first][index] and finding.tool not in {f.tool for f in issue.findings}
                ),
                None,
            )
            if home is None:
                mine.append((index, _Issue([finding])))
            else:
                home.findings.append(finding)
        issues.extend(issue for _, issue in mine)
    return issues


def _alike(findings: Sequence[Finding], encoder: Encoder) -> list[list[bool]]:
    if len({finding.tool for finding in findings}) < 2:
        return [[False] * len(findings) for _ in findings]
    vectors = encoder.encode([finding.text for finding in findings])
    found: list[list[bool]] = (similarity.cosine(vectors, vectors) >= SAME_DEFECT).tolist()
    return found


def _said_once(issues: Sequence[_Issue]) -> list[_Issue]:
    """Join what is said of a file in the same words, for several lines."""
    by_text: dict[tuple[str, str], _Issue] = {}
    for issue in issues:
        key = (issue.findings[0].path, issue.findings[0].text)
        if key in by_text:
            by_text[key].findings.extend(issue.findings)
        else:
            by_text[key] = issue
    return list(by_text.values())


def _worst(issues: Sequence[_Issue], diff: Diff, per_hunk: int | None) -> list[_Issue]:
    taken: dict[tuple[str, int], int] = defaultdict(int)
    kept = []
    for issue in sorted(issues, key=lambda one: one.rank):
        hunk = _hunk(issue.findings[0], diff)
        taken[hunk] += 1
        if per_hunk is None or taken[hunk] <= per_hunk:
            kept.append(issue)
    return sorted(kept, key=lambda one: (one.findings[0].path, one.findings[0].line))


def _hunk(finding: Finding, diff: Diff) -> tuple[str, int]:
    file = next((file for file in diff.files if file.path == finding.path), None)
    for index, hunk in enumerate(file.hunks if file else ()):
        if hunk.new_start <= finding.line < hunk.new_start + hunk.new_length:
            return finding.path, index
    return finding.path, -1


def _reference(issue: _Issue) -> PseudoReference:
    best = issue.findings[0]
    reading = _PLACE.sub("", best.text)
    return PseudoReference(
        text=best.text,
        reading="" if reading == best.text else reading,
        kind=ReferenceKind.ISSUE,
        source="+".join(sorted({one.tool for one in issue.findings})),
        spans=tuple(_spans(issue.findings)),
        identifiers=tuple(dict.fromkeys(_NAME.findall(best.text))),
        weight=WEIGHTS[best.severity],
    )


def _spans(findings: Sequence[Finding]) -> Iterator[LineSpan]:
    """The lines of an issue; those that overlap as one."""
    start = end = None
    for finding in sorted(findings, key=lambda one: (one.line, one.end_line)):
        if start is not None and end is not None and finding.line <= end:
            end = max(end, finding.end_line)
            continue
        if start is not None and end is not None:
            yield LineSpan(path=finding.path, side=Side.NEW, start=start, end=end)
        start, end = finding.line, finding.end_line
    if start is not None and end is not None:
        yield LineSpan(path=findings[0].path, side=Side.NEW, start=start, end=end)
