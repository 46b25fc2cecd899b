"""Selects the findings that count for the score, as issues.

Findings of several tools about one defect become one issue, repeated findings are merged, and each
hunk keeps a few issues, the worst first.
"""

import bisect
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from crscore.diff.ranges import join_ranges
from crscore.encoders.base import Encoder, Vectors
from crscore.records import (
    SEVERITIES,
    Analysis,
    Diff,
    Finding,
    LineSpan,
    PseudoReference,
    ReferenceKind,
    Severity,
    Side,
)
from crscore.scoring.cells import cosine

# With MiniLM, pairs of findings judged by hand (human study, Python's library, npm packages) have a
# cosine of at least 0.41 if both report one defect, and of at most 0.32 if they report two
# (docs/design/015-issues.md).
SAME_DEFECT = 0.37
"""Minimum cosine of the sentences of two tools about one line, with names masked, that report the
same defect."""
SAME_AS_CLAIM = 0.5
"""Minimum cosine at which an implication repeats an issue on the same lines."""
WEIGHTS = {Severity.ERROR: 1.0, Severity.WARNING: 0.7, Severity.NOTE: 0.4}
"""Informativeness of an issue, in (0, 1]; it orders reports and does not affect scores."""
# A line of minified code can have thousands of findings, and each is compared with every other.
MAX_COMPARED = 50
"""Maximum number of findings compared on one line, the worst first."""
# The location in a sentence, as in "in `Client.charge`". If the encoder read it, every sentence
# that names the class would seem similar to the issue.
_LOCATION = re.compile(r" in `[\w.$]{1,200}`(?=[\s,.;:])")
_NAME = re.compile(r"`([^`\s]{1,80})`")
_CODE = re.compile(r"`([^`]{1,200})`")
_WORD = re.compile(r"[^\W_]+")


_Issue: TypeAlias = list[Finding]
"""Findings of one pseudo-reference; the first one provides the sentence."""


def choose_issues(
    analysis: Analysis,
    diff: Diff,
    encoder: Encoder,
    *,
    per_hunk: int | None,
    claims: Sequence[PseudoReference] = (),
) -> tuple[tuple[PseudoReference, ...], Analysis]:
    """Choose the findings that count, and make pseudo-references of them.

    Args:
        analysis: Analysis of the change.
        diff: The change.
        encoder: Encoder for comparing meanings.
        per_hunk: Maximum issues of one hunk; None for all.
        claims: Claims of a generator. Implications that repeat an issue on the same lines are
            dropped.

    Returns:
        Claims that no issue repeats, then the issues that count, by path and line; and the
        analysis, with the findings that count marked as `counted`.
    """
    candidates = [
        finding
        for finding in analysis.findings
        if finding.in_change and not finding.pre_existing and not finding.is_style
    ]
    # Findings with the same words on several lines of a file are one issue.
    issue_by_text: dict[tuple[str, str], _Issue] = {}
    for issue in _join_same_defects(sorted(candidates, key=_order), encoder):
        issue_by_text.setdefault((issue[0].path, issue[0].text), []).extend(issue)
    kept_issues = _worst([*issue_by_text.values()], diff, per_hunk)
    counted = {id(finding) for issue in kept_issues for finding in issue}
    findings = (replace(finding, counted=id(finding) in counted) for finding in analysis.findings)
    issue_references = tuple(map(_reference, kept_issues))
    return (
        (*drop_repeated(claims, issue_references, encoder), *issue_references),
        replace(analysis, findings=tuple(findings)),
    )


def drop_repeated(
    claims: Sequence[PseudoReference], issue_references: Sequence[PseudoReference], encoder: Encoder
) -> tuple[PseudoReference, ...]:
    """Drop the implications that repeat an issue on the same lines."""
    related_issues = {
        index: issues
        for index, claim in enumerate(claims)
        if claim.kind is ReferenceKind.IMPLICATION
        and (issues := [issue for issue in issue_references if _overlap(claim, issue)])
    }
    if not related_issues:
        return tuple(claims)
    compared = [*(claims[index] for index in related_issues), *issue_references]
    vectors = Vectors(encoder, (reference.encoded_text for reference in compared))

    def meaning(references: Sequence[PseudoReference]) -> npt.NDArray[np.float32]:
        return vectors.of([reference.encoded_text for reference in references])

    repeated = {
        index
        for index, issues in related_issues.items()
        if cosine(meaning([claims[index]]), meaning(issues)).max() >= SAME_AS_CLAIM
    }
    return tuple(claim for index, claim in enumerate(claims) if index not in repeated)


def _overlap(claim: PseudoReference, issue: PseudoReference) -> bool:
    return any(
        (span.path, span.side) == (issue_span.path, issue_span.side)
        and span.start <= issue_span.end
        and issue_span.start <= span.end
        for span in claim.spans
        for issue_span in issue.spans
    )


def _join_same_defects(findings: Sequence[Finding], encoder: Encoder) -> list[_Issue]:
    """Join findings of several tools about one defect: on the same line, with similar meaning."""
    by_line: dict[tuple[str, int], list[Finding]] = defaultdict(list)
    for finding in findings:
        by_line[finding.path, finding.line].append(finding)
    # One tool's findings are never joined, so a line with one tool needs no comparison.
    groups = [  # the findings of a line that are compared, and all of them
        (group[: MAX_COMPARED if len({finding.tool for finding in group}) > 1 else 0], group)
        for group in by_line.values()
    ]
    compared = [finding for to_compare, _ in groups for finding in to_compare]
    vectors = Vectors(encoder, (_without_names(finding.text) for finding in compared))
    issues: list[_Issue] = []
    for to_compare, group in groups:
        issues += _defects(to_compare, vectors)
        issues += [[finding] for finding in group[len(to_compare) :]]
    return issues


def _order(finding: Finding) -> tuple[str, int, int, str, str, str, str]:
    """Return a sort key: by line, then the worst first, which gives an issue its sentence."""
    severity = SEVERITIES.index(finding.severity)
    name = (finding.tool, finding.rule, finding.text, finding.message)
    return finding.path, finding.line, severity, *name


def _defects(findings: Sequence[Finding], vectors: Vectors) -> list[_Issue]:
    """Join the findings on one line that report the same defect, at most one of each tool."""
    if not findings:
        return []
    rows = vectors.of([_without_names(finding.text) for finding in findings])
    is_similar = cosine(rows, rows) >= SAME_DEFECT
    names = [_words_of_names(finding.text) for finding in findings]
    issues: dict[int, _Issue] = {}
    for index, finding in enumerate(findings):
        for first, issue in issues.items():
            # With names masked, "`a` is unused." and "`b` is unused." are the same sentence.
            has_same_names = not names[index] or not names[first] or names[index] & names[first]
            is_same = is_similar[first, index] and has_same_names
            if is_same and finding.tool not in {member.tool for member in issue}:
                issue.append(finding)
                break
        else:
            issues[index] = [finding]
    return list(issues.values())


def _without_names(text: str) -> str:
    """Mask names, which make different defects similar and the same defect different.

    Example:
        >>> _without_names("The variable `open` in `read` hides a built-in.")
        'The variable it hides a built-in.'
    """
    return _CODE.sub("it", _LOCATION.sub("", text))


def _words_of_names(text: str) -> frozenset[str]:
    """Return the words in the names of a sentence, without the words of its location.

    Example:
        >>> sorted(_words_of_names("`except Exception` in `Client.charge` hides bugs."))
        ['except', 'exception']
    """
    names = _CODE.findall(_LOCATION.sub("", text))
    return frozenset(word.lower() for name in names for word in _WORD.findall(name))


def _worst(issues: Sequence[_Issue], diff: Diff, per_hunk: int | None) -> list[_Issue]:
    """Return the worst issues of each hunk, at most `per_hunk`, by path and line."""
    starts = {file.path: [hunk.new_start for hunk in file.hunks] for file in diff.files}
    counts: Counter[tuple[str, int]] = Counter()
    kept_issues = []
    # Sorting is stable: the worst first, issues of one severity by line.
    by_line = sorted(issues, key=_start)
    for issue in sorted(by_line, key=lambda issue: SEVERITIES.index(issue[0].severity)):
        # An issue with findings in several hunks counts only in the first one that has room.
        for finding in issue:
            index = bisect.bisect_right(starts.get(finding.path, []), finding.line)
            if per_hunk is None or counts[finding.path, index] < per_hunk:
                counts[finding.path, index] += 1
                kept_issues.append(issue)
                break
    return sorted(kept_issues, key=_start)


def _start(issue: _Issue) -> tuple[str, int]:
    return issue[0].path, issue[0].line


def _reference(issue: _Issue) -> PseudoReference:
    """Make the pseudo-reference of an issue."""
    best = issue[0]
    without_location = _LOCATION.sub("", best.text)
    return PseudoReference(
        text=best.text,
        reading="" if without_location == best.text else without_location,
        kind=ReferenceKind.ISSUE,
        source="+".join(sorted({finding.tool for finding in issue})),
        spans=tuple(
            LineSpan(path=best.path, side=Side.NEW, start=start, end=end)
            for start, end in join_ranges((finding.line, finding.end_line) for finding in issue)
        ),
        identifiers=tuple(dict.fromkeys(_NAME.findall(best.text))),
        weight=WEIGHTS[best.severity],
    )
