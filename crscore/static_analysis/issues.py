"""Selects the findings that count for the score, and merges them into issues.

An issue joins the findings of several tools about one defect, and repeated findings of one file.
In each hunk, only a few issues count: those of the highest severity.
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

# In pairs of findings that were judged by hand, the cosine of MiniLM is at least 0.41 if both
# report the same defect and at most 0.32 if they report two. The findings are from the human study,
# Python's library and npm packages (docs/design/015-issues.md).
SAME_DEFECT = 0.37
"""Minimum cosine of two findings that report the same defect.

They are findings of two tools on one line, and the encoder reads their sentences with names masked.
"""
SAME_AS_CLAIM = 0.5
"""Minimum cosine of an implication and an issue on the same lines that says the same."""
WEIGHTS = {Severity.ERROR: 1.0, Severity.WARNING: 0.7, Severity.NOTE: 0.4}
"""Severity -> weight of an issue; weights order reports and do not affect scores."""
# A line of minified code can have thousands of findings, and each is compared with all others.
MAX_COMPARED = 50
"""Maximum number of findings on one line that are compared; others are separate issues."""
# The location in a sentence, such as " in `Client.charge`". The encoder does not read it, because
# every sentence of a review that names the class would then be similar to the issue.
_LOCATION = re.compile(r" in `[\w.$]{1,200}`(?=[\s,.;:])")
_NAME = re.compile(r"`([^`\s]{1,80})`")
_CODE = re.compile(r"`([^`]{1,200})`")
_WORD = re.compile(r"[^\W_]+")


_Issue: TypeAlias = list[Finding]
"""Findings that become one pseudo-reference, which has the sentence of the first."""


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
        analysis: Findings in the change.
        diff: The change.
        encoder: Encoder that compares sentences by their meaning.
        per_hunk: Maximum number of issues that count in one hunk; None for all.
        claims: Claims about the change.

    Returns:
        The pseudo-references: the claims except implications that repeat an issue, then the issues
        that count, sorted by path and line. And the analysis, in which `counted` is set for the
        findings of these issues.
    """
    candidates = [
        finding
        for finding in analysis.findings
        if finding.in_change and not finding.pre_existing and not finding.is_style
    ]
    # Findings with the same sentence on several lines of a file are one issue.
    issue_by_text: dict[tuple[str, str], _Issue] = {}
    for issue in _join_same_defects(sorted(candidates, key=_sort_key), encoder):
        issue_by_text.setdefault((issue[0].path, issue[0].text), []).extend(issue)
    kept_issues = _keep_worst([*issue_by_text.values()], diff, per_hunk)
    counted = {id(finding) for issue in kept_issues for finding in issue}
    findings = (replace(finding, counted=id(finding) in counted) for finding in analysis.findings)
    issue_references = tuple(map(_make_reference, kept_issues))
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

    def vectors_of(references: Sequence[PseudoReference]) -> npt.NDArray[np.float32]:
        return vectors.of([reference.encoded_text for reference in references])

    repeated = {
        index
        for index, issues in related_issues.items()
        if cosine(vectors_of([claims[index]]), vectors_of(issues)).max() >= SAME_AS_CLAIM
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
    """Join the findings of several tools that report the same defect on one line."""
    by_line: dict[tuple[str, int], list[Finding]] = defaultdict(list)
    for finding in findings:
        by_line[finding.path, finding.line].append(finding)
    # Findings of the same tool are never joined, so nothing is compared on a line with one tool.
    groups = [  # the compared findings of each line, and all findings of the line
        (group[: MAX_COMPARED if len({finding.tool for finding in group}) > 1 else 0], group)
        for group in by_line.values()
    ]
    compared = [finding for to_compare, _ in groups for finding in to_compare]
    vectors = Vectors(encoder, (_mask_names(finding.text) for finding in compared))
    issues: list[_Issue] = []
    for to_compare, group in groups:
        issues += _join_line(to_compare, vectors)
        issues += [[finding] for finding in group[len(to_compare) :]]
    return issues


def _sort_key(finding: Finding) -> tuple[str, int, int, str, str, str, str]:
    """Return a key that sorts findings by file, line and severity, the highest severity first."""
    severity = SEVERITIES.index(finding.severity)
    name = (finding.tool, finding.rule, finding.text, finding.message)
    return finding.path, finding.line, severity, *name


def _join_line(findings: Sequence[Finding], vectors: Vectors) -> list[_Issue]:
    """Join the findings of one line that report the same defect; an issue has one of each tool."""
    if not findings:
        return []
    rows = vectors.of([_mask_names(finding.text) for finding in findings])
    is_similar = cosine(rows, rows) >= SAME_DEFECT
    names = [_words_of_names(finding.text) for finding in findings]
    issues: dict[int, _Issue] = {}
    for index, finding in enumerate(findings):
        for first, issue in issues.items():
            # The names are compared, too, because "`a` is unused." and "`b` is unused." are equal
            # if names are masked.
            has_same_names = not names[index] or not names[first] or names[index] & names[first]
            is_same = is_similar[first, index] and has_same_names
            if is_same and finding.tool not in {member.tool for member in issue}:
                issue.append(finding)
                break
        else:
            issues[index] = [finding]
    return list(issues.values())


def _mask_names(text: str) -> str:
    """Return a sentence without its location and with "it" for each name.

    Names would make sentences about different defects of one variable similar.

    Example:
        >>> _mask_names("The variable `open` in `read` hides a built-in.")
        'The variable it hides a built-in.'
    """
    return _CODE.sub("it", _LOCATION.sub("", text))


def _words_of_names(text: str) -> frozenset[str]:
    """Return the words of the names in a sentence, in lower case and without its location.

    Example:
        >>> sorted(_words_of_names("`except Exception` in `Client.charge` hides bugs."))
        ['except', 'exception']
    """
    names = _CODE.findall(_LOCATION.sub("", text))
    return frozenset(word.lower() for name in names for word in _WORD.findall(name))


def _keep_worst(issues: Sequence[_Issue], diff: Diff, per_hunk: int | None) -> list[_Issue]:
    """Return the `per_hunk` most severe issues of each hunk, sorted by path and line."""
    starts = {file.path: [hunk.new_start for hunk in file.hunks] for file in diff.files}
    counts: Counter[tuple[str, int]] = Counter()
    kept_issues = []
    # `sorted` is stable, so issues of the same severity stay in the order of their lines.
    by_line = sorted(issues, key=_place_of)
    for issue in sorted(by_line, key=lambda issue: SEVERITIES.index(issue[0].severity)):
        # An issue with findings in several hunks counts in the first of them that has room.
        for finding in issue:
            index = bisect.bisect_right(starts.get(finding.path, []), finding.line)
            if per_hunk is None or counts[finding.path, index] < per_hunk:
                counts[finding.path, index] += 1
                kept_issues.append(issue)
                break
    return sorted(kept_issues, key=_place_of)


def _place_of(issue: _Issue) -> tuple[str, int]:
    return issue[0].path, issue[0].line


def _make_reference(issue: _Issue) -> PseudoReference:
    """Return the pseudo-reference of an issue."""
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
