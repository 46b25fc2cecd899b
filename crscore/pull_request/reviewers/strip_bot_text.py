"""Removes the text that a bot adds around its review, and leaves the review unchanged."""

import re
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Final

from crscore.hosts.records import MessageKind
from crscore.pull_request.reviewers.outline import Line, Outline, Part
from crscore.pull_request.reviewers.profile import Cut, Exclusion, Profile
from crscore.pull_request.reviewers.wildcards import matches_any

# Browsers send the text of a form with "\r\n" at the end of each line:
# https://html.spec.whatwg.org/multipage/form-control-infrastructure.html
_LINE_ENDS: Final = re.compile("\r\n?")
# The tags of preformatted text: "<pre>", "</pre>", "<pre lang=text>".
_PRE: Final = re.compile(r"</?pre\b[^<>]*>", re.IGNORECASE)
# https://github.github.com/gfm/#block-quotes: up to three spaces before the mark, one after it.
_QUOTE: Final = re.compile(r"^[ \t]{0,3}(?:>[ \t]?)+", re.MULTILINE)
# A command to crscore: "/crscore" and "/crscore again", but not "/crscores".
_COMMAND: Final = re.compile(r"/crscore(?:\s|$)", re.IGNORECASE)

Span = tuple[int, int]


def find_exclusion(body: str, kind: MessageKind, profile: Profile) -> Exclusion | None:
    """Find the first rule of a bot's profile by which a post is not a review.

    Args:
        body: Text of the post, in Markdown.
        kind: Kind of the post.
        profile: Profile of the bot that wrote the post.

    Returns:
        The rule; None if the post is a review.
    """
    rules = [rule for rule in profile.not_review if kind in rule.kinds]
    if not rules:
        return None
    lines = [line.text for line in _visible_lines(_unify_line_ends(body)) if line.text]
    for rule in rules:
        if not rule.lines or any(matches_any(rule.lines, line) for line in lines):
            return rule
    return None


def remove_commands(body: str) -> str:
    r"""Remove the lines that are commands to crscore, and convert every line end to a newline.

    Example:
        >>> remove_commands("/crscore again\nThis leaks.")
        'This leaks.'
    """
    text = _unify_line_ends(body)
    if "/crscore" not in text.lower():
        return text
    lines = [line for line in _visible_lines(text) if _COMMAND.match(line.text)]
    return _remove_spans(text, [(line.content_start, line.end) for line in lines])


def cut(body: str, rules: Cut) -> str:
    r"""Remove the parts of a body that are not review text, by the rules of a bot's profile.

    No body raises an error. The time for each rule is linear in the length of the body.

    Args:
        body: Markdown, any characters.
        rules: Rules of the bot that wrote the body.

    Returns:
        The remaining text, stripped, with unified line ends; may be empty. If the rules say so, it
        also has no quote marks (`unquote`), and newlines instead of `<pre>` tags (`plain_pre`).

    Example:
        >>> from crscore.pull_request.reviewers.profile import Cut
        >>> rules = Cut(details=("*prompt*",))
        >>> cut("It leaks.\n<details><summary>A prompt</summary>Fix it.</details>", rules)
        'It leaks.'
    """
    # `between` comes first, because it may remove headings and folded parts.
    text = _unify_line_ends(body)
    for start, end in rules.between:
        text = remove_between(text, start, end)
    if rules.unquote:
        text = _QUOTE.sub("", text)
    if rules.plain_pre:
        text = _PRE.sub("\n", text)
    body_outline = Outline(text)
    return _remove_spans(
        text,
        [
            *_spans_with_title(body_outline.sections, rules.sections),
            *_spans_with_title(body_outline.folded, rules.details),
        ],
        keep=_spans_with_title(body_outline.folded, rules.keep),
        also=[
            (line.content_start, line.end)
            for line in body_outline.lines
            if line.is_visible and line.text and matches_any(rules.lines, line.text)
        ],
    )


def remove_between(text: str, start: str, end: str) -> str:
    """Remove the text from each `start` to the next `end`; a `start` without an `end` is kept."""
    pieces: list[str] = []
    begin = 0
    while (opened := text.find(start, begin)) >= 0:
        closed = text.find(end, opened + len(start))
        # Without an end, the rest of the post stays, because it may contain the review.
        if closed < 0:
            break
        pieces.append(text[begin:opened])
        begin = closed + len(end)
    return "".join((*pieces, text[begin:]))


def _unify_line_ends(body: str) -> str:
    return _LINE_ENDS.sub("\n", body)


def _visible_lines(text: str) -> list[Line]:
    return [line for line in Outline(text).lines if line.is_visible]


def _spans_with_title(parts: Sequence[Part], patterns: Sequence[str]) -> list[Span]:
    return [
        (part.start, part.end) for part in parts if part.title and matches_any(patterns, part.title)
    ]


def _remove_spans(
    text: str, cut: Iterable[Span], keep: Iterable[Span] = (), also: Iterable[Span] = ()
) -> str:
    """Remove the spans of `cut` except within `keep`, and all spans of `also`."""
    # There is one byte for each character, so that spans may overlap and offsets remain valid.
    stays = bytearray(b"\1") * len(text)
    # The order matters, because kept parts are inside removed ones, and lines of `also` are removed
    # even from kept parts.
    for spans, value in ((cut, b"\0"), (keep, b"\1"), (also, b"\0")):
        for start, end in spans:
            stays[start:end] = value * (end - start)
    return "".join(compress(text, stays)).strip()
