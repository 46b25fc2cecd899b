"""Selection of the issues that a score counts among the findings.

Findings of several tools about one defect become one issue, repeated findings are merged, and each
hunk keeps a few issues, the worst first.
"""

from __future__ import annotations

import bisect
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from crscore.encoders.base import Encoder
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
from crscore.scoring import similarity

SAME_DEFECT = 0.37
"""Cosine from which two tools' sentences on one line, with names masked, are about one defect. Read
off pairs judged by hand (human study, Python's library, npm packages) with MiniLM: 0.41 and more
for one defect, 0.32 and less for two. See `docs/design/015-issues.md`."""
SAME_AS_CLAIM = 0.5
"""Cosine from which an implication repeats an issue on its lines."""
WEIGHTS = {Severity.ERROR: 1.0, Severity.WARNING: 0.7, Severity.NOTE: 0.4}
"""Informativeness of an issue, in (0, 1]; it orders reports and does not affect scores."""
MAX_COMPARED = 50
"""Maximum findings compared on one line, the worst first: minified code has thousands."""
# The place, as in "in `Client.charge`". With it, the encoder would consider every sentence that
# names the class similar to the issue.
_PLACE = re.compile(r" in `[\w.$]{1,200}`(?=[\s,.;:])")
_NAME = re.compile(r"`([^`\s]{1,80})`")
_CODE = re.compile(r"`([^`]{1,200})`")
_WORD = re.compile(r"[^\W_]+")


class Chosen(NamedTuple):
    """Issues of one change."""

    references: tuple[PseudoReference, ...]
    """Issues that count, by path and line."""
    analysis: Analysis
    """Analysis, with the findings that count marked as `counted`."""


_Issue: TypeAlias = list[Finding]
"""Findings of one pseudo-reference; the first one provides the sentence."""


def choose_issues(
    analysis: Analysis, diff: Diff, encoder: Encoder, *, per_hunk: int | None
) -> Chosen:
    """Choose the findings that count, and make pseudo-references of them.

    Args:
        analysis: Analysis of the change.
        diff: The change.
        encoder: Encoder for comparing the meaning of findings.
        per_hunk: Maximum issues of one hunk; None for all.

    Returns:
        The issues and the marked analysis.
    """
    candidates = [
        one
        for one in analysis.findings
        if one.in_change and not one.pre_existing and not one.is_style
    ]
    issues = _merge_repeated(_join(sorted(candidates, key=_order), encoder))
    kept = _worst(issues, diff, per_hunk)
    counted = {id(finding) for issue in kept for finding in issue}
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


def drop_repeated(
    claims: Sequence[PseudoReference], found: Sequence[PseudoReference], encoder: Encoder
) -> tuple[PseudoReference, ...]:
    """Drop the implications that repeat an issue on the same lines.

    Args:
        claims: Claims of a claim generator.
        found: The issues of the same change.
        encoder: Encoder for comparing meanings.

    Returns:
        The other claims, in their order.
    """
    rivals = {
        index: issues
        for index, claim in enumerate(claims)
        if claim.kind is ReferenceKind.IMPLICATION
        and (issues := [one for one in found if _touch(claim, one)])
    }
    if not rivals:
        return tuple(claims)
    compared = [*(claims[index] for index in rivals), *found]
    texts = list(dict.fromkeys(one.reading or one.text for one in compared))
    vectors = dict(zip(texts, encoder.encode(texts), strict=True))

    def meaning(references: Sequence[PseudoReference]) -> npt.NDArray[np.float32]:
        return np.stack([vectors[one.reading or one.text] for one in references])

    repeated = {
        index
        for index, issues in rivals.items()
        if similarity.cosine(meaning([claims[index]]), meaning(issues)).max() >= SAME_AS_CLAIM
    }
    return tuple(claim for index, claim in enumerate(claims) if index not in repeated)


def _touch(claim: PseudoReference, issue: PseudoReference) -> bool:
    return any(
        (one.path, one.side) == (other.path, other.side)
        and one.start <= other.end
        and other.start <= one.end
        for one in claim.spans
        for other in issue.spans
    )


def _join(findings: Sequence[Finding], encoder: Encoder) -> list[_Issue]:
    """Join findings of several tools about one defect: on the same line, with similar meaning."""
    by_line: dict[tuple[str, int], list[Finding]] = defaultdict(list)
    for finding in findings:
        by_line[finding.path, finding.line].append(finding)
    compared = {
        place: group[:MAX_COMPARED]
        for place, group in by_line.items()
        if len({one.tool for one in group}) > 1
    }
    every = [one for group in compared.values() for one in group]
    texts = list(dict.fromkeys(_without_names(one.text) for one in every))
    vectors = dict(zip(texts, encoder.encode(texts), strict=True)) if texts else {}
    issues: list[_Issue] = []
    for place, group in by_line.items():
        alike = compared.get(place, [])
        issues += _defects(alike, vectors)
        issues += [[finding] for finding in group[len(alike) :]]
    return issues


def _order(one: Finding) -> tuple[str, int, int, str, str, str, str]:
    """Return a sort key: by line, then the worst first, whose sentence stands for the others."""
    severity = SEVERITIES.index(one.severity)
    return one.path, one.line, severity, one.tool, one.rule, one.text, one.message


def _defects(
    findings: Sequence[Finding], vectors: Mapping[str, npt.NDArray[np.float32]]
) -> list[_Issue]:
    if not findings:
        return []
    rows = np.stack([vectors[_without_names(one.text)] for one in findings])
    alike = similarity.cosine(rows, rows) >= SAME_DEFECT
    named = [_words_of_names(one.text) for one in findings]
    issues: dict[int, _Issue] = {}
    for index, finding in enumerate(findings):
        for first, issue in issues.items():
            mine, other = named[index], named[first]
            is_same = alike[first, index] and (not mine or not other or mine & other)
            if is_same and finding.tool not in {one.tool for one in issue}:
                issue.append(finding)
                break
        else:
            issues[index] = [finding]
    return list(issues.values())


def _without_names(text: str) -> str:
    """Mask names: they make different defects similar, and the same defect different.

    Example:
        >>> _without_names("The variable `open` in `read` hides a built-in.")
        'The variable it hides a built-in.'
    """
    return _CODE.sub("it", _PLACE.sub("", text))


def _words_of_names(text: str) -> frozenset[str]:
    """Return the words in the names of a sentence, without those of its place.

    Example:
        >>> sorted(_words_of_names("`except Exception` in `Client.charge` hides bugs."))
        ['except', 'exception']
    """
    names = _CODE.findall(_PLACE.sub("", text))
    return frozenset(word.lower() for name in names for word in _WORD.findall(name))


def _merge_repeated(issues: Sequence[_Issue]) -> list[_Issue]:
    """Join findings with the same words on several lines of a file."""
    by_text: dict[tuple[str, str], _Issue] = {}
    for issue in issues:
        key = (issue[0].path, issue[0].text)
        if key in by_text:
            by_text[key].extend(issue)
        else:
            by_text[key] = issue
    return list(by_text.values())


def _rank(issue: _Issue) -> tuple[int, str, int]:
    return SEVERITIES.index(issue[0].severity), issue[0].path, issue[0].line


def _worst(issues: Sequence[_Issue], diff: Diff, per_hunk: int | None) -> list[_Issue]:
    taken: dict[tuple[str, int], int] = defaultdict(int)
    kept = []
    hunk_of = _hunks(diff)
    for issue in sorted(issues, key=_rank):
        # A finding that spans several hunks counts in the first one that has room.
        hunks = dict.fromkeys(hunk_of(finding) for finding in issue)
        room = next((one for one in hunks if per_hunk is None or taken[one] < per_hunk), None)
        if room is not None:
            taken[room] += 1
            kept.append(issue)
    return sorted(kept, key=lambda one: (one[0].path, one[0].line))


def _hunks(diff: Diff) -> Callable[[Finding], tuple[str, int]]:
    """Return a function that maps a finding to the hunk of its first line."""
    starts = {file.path: [hunk.new_start for hunk in file.hunks] for file in diff.files}

    def hunk_of(finding: Finding) -> tuple[str, int]:
        return finding.path, bisect.bisect_right(starts.get(finding.path, []), finding.line)

    return hunk_of


def _reference(issue: _Issue) -> PseudoReference:
    best = issue[0]
    reading = _PLACE.sub("", best.text)
    return PseudoReference(
        text=best.text,
        reading="" if reading == best.text else reading,
        kind=ReferenceKind.ISSUE,
        source="+".join(sorted({one.tool for one in issue})),
        spans=tuple(_spans(issue)),
        identifiers=tuple(dict.fromkeys(_NAME.findall(best.text))),
        weight=WEIGHTS[best.severity],
    )


def _spans(findings: Sequence[Finding]) -> Iterator[LineSpan]:
    """Yield the lines of an issue, with overlapping spans merged."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted((one.line, one.end_line) for one in findings):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    for start, end in joined:
        yield LineSpan(path=findings[0].path, side=Side.NEW, start=start, end=end)
