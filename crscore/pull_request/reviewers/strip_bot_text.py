"""A body without what its bot puts around its review, otherwise as it was written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from crscore.pull_request.reviewers.outline import outline
from crscore.pull_request.reviewers.wildcards import matches_any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crscore.github.records import RemarkKind
    from crscore.pull_request.reviewers.outline import Line, Part
    from crscore.pull_request.reviewers.profile import Cut, Profile

_LINE_ENDS: Final = re.compile("\r\n?")
_PRE: Final = re.compile(r"</?pre\b[^<>]*>", re.IGNORECASE)
_QUOTE: Final = re.compile(r"^[ \t]{0,3}(?:>[ \t]?)+", re.MULTILINE)
_COMMAND: Final = re.compile(r"/crscore(?:\s|$)", re.IGNORECASE)

Span = tuple[int, int]


def is_review(body: str, kind: RemarkKind, profile: Profile) -> bool:
    """Whether a post is review, going by its bot's profile.

    Args:
        body: Markdown.
        kind: Where it stands.
        profile: Of the bot that wrote it.
    """
    rules = [post for post in profile.not_review if kind in post.kinds]
    if any(not post.lines for post in rules):
        return False
    patterns = [pattern for post in rules for pattern in post.lines]
    if not patterns:
        return True
    lines = (line.plain for line in _shown(_unified(body)) if line.plain)
    return not any(matches_any(patterns, line) for line in lines)


def without_commands(body: str) -> str:
    r"""Take out the lines that are commands to crscore, and make every line end a newline.

    Example:
        >>> without_commands("/crscore again\nThis leaks.")
        'This leaks.'
    """
    text = _unified(body)
    if "/crscore" not in text.lower():
        return text
    return _without(text, [_whole(line) for line in _shown(text) if _COMMAND.match(line.plain)])


def cut(body: str, rules: Cut) -> str:
    r"""Take out of a body what a profile says is no review.

    Never raises. Takes time linear in the length for each rule.

    Args:
        body: Markdown, any characters.
        rules: Of the bot that wrote it.

    Returns:
        What remains, as it was written but for the ends of lines; empty when nothing does.

    Example:
        >>> from crscore.pull_request.reviewers.profile import Cut
        >>> rules = Cut(details=("*prompt*",))
        >>> cut("It leaks.\n<details><summary>A prompt</summary>Fix it.</details>", rules)
        'It leaks.'
    """
    text = _unified(body)
    for start, end in rules.between:
        text = _without_between(text, start, end)
    if rules.unquote:
        text = _QUOTE.sub("", text)
    if rules.plain_pre:
        text = _PRE.sub("\n", text)
    found = outline(text)
    parts = [*_titled(found.sections, rules.sections), *_titled(found.folded, rules.details)]
    kept = [(part.start, part.end) for part in _titled(found.folded, rules.keep)]
    spans = _difference(_merged([(part.start, part.end) for part in parts]), _merged(kept))
    spans += [_whole(line) for line in found.lines if line.shown and _goes(line, rules)]
    spans += [span for line in found.lines if line.shown for span in _lead_ins(line, text, rules)]
    spans += [(part.title_start, part.title_end) for part in _titled(found.folded, rules.summaries)]
    return _without(text, _merged(spans))


def _unified(body: str) -> str:
    return _LINE_ENDS.sub("\n", body)


def _without_between(text: str, start: str, end: str) -> str:
    """Cut from each `start` to the next `end`; a `start` without one stays."""
    kept: list[str] = []
    begin = 0
    while (opened := text.find(start, begin)) >= 0:
        closed = text.find(end, opened + len(start))
        if closed < 0:
            break
        kept.append(text[begin:opened])
        begin = closed + len(end)
    return "".join((*kept, text[begin:]))


def _shown(text: str) -> list[Line]:
    return [line for line in outline(text).lines if line.shown]


def _goes(line: Line, rules: Cut) -> bool:
    return bool(line.plain) and matches_any(rules.lines, line.plain)


def _whole(line: Line) -> Span:
    return line.inner, line.end


def _lead_ins(line: Line, text: str, rules: Cut) -> Iterator[Span]:
    for lead_in in rules.before:
        at = text.rfind(lead_in, line.inner, line.end)
        if at >= 0:
            yield line.inner, at + len(lead_in)


def _titled(parts: Sequence[Part], patterns: Sequence[str]) -> Iterator[Part]:
    return (part for part in parts if part.title and matches_any(patterns, part.title))


def _merged(spans: Sequence[Span]) -> list[Span]:
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _difference(spans: Sequence[Span], kept: Sequence[Span]) -> list[Span]:
    """Take the kept spans out of the spans; both sorted and apart from each other."""
    found: list[Span] = []
    index = 0
    for start, end in spans:
        begin = start
        while index < len(kept) and kept[index][0] < end:
            found.append((begin, max(begin, kept[index][0])))
            begin = max(begin, kept[index][1])
            if begin >= end:
                break  # the next spans may lie in it too
            index += 1
        if begin < end:
            found.append((begin, end))
    return found


def _without(text: str, spans: Sequence[Span]) -> str:
    kept: list[str] = []
    begin = 0
    for start, end in spans:
        kept.append(text[begin:start])
        begin = end
    return "".join((*kept, text[begin:])).strip()
