"""Proposals of code in a comment, each as one short text that a sentence encoder can read.

A suggestion block is described by its differences from the lines that it replaces, a diff block by
its added and removed lines. Other code counts only in a comment without other text.
"""

import operator
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import repeat, takewhile, zip_longest
from typing import Final, NamedTuple

from msgspec.structs import replace

from crscore.diff.scopes import hunk_at
from crscore.records import ChangedFile, Comment, LineKind, ParsedComment, Position, Side
from crscore.text import shorten

MAX_LINES: Final = 100
"""Maximum number of lines compared on each side; aligning them takes quadratic time."""
MAX_LINE_CHARS: Final = 1_000
"""Maximum characters of a line that are read."""
MAX_SHOWN: Final = 200
"""Maximum characters of code on each side of one change."""
MAX_UNIT: Final = 400
"""Maximum length of a description to which another change is added."""
SHORT: Final = 60
"""Maximum length of code that is shown in full; longer code is cut to the differing part."""
CONTEXT: Final = 5
"""Number of tokens, including white space, shown on each side of the differing part."""
MIN_SIMILARITY: Final = 0.2
"""Minimum share of words that a suggestion has in common with the lines it may replace."""
MIN_GAIN: Final = 0.1
"""Minimum gain of that share for a replacement of more than one line, which is rare."""

_TOKEN: Final = re.compile(r"\w+|\s+|[^\w\s]")
_WORD: Final = re.compile(r"\w+")
# Runs of backticks, which a span between single ones cannot hold
_TICKS: Final = re.compile("``+")
_SPAN: Final = r"(?:``[^\n]{1,200}?``|`[^`\n]{1,200}`)"
# "`a`", "`a`?", "``a`b``"; not "use `a`"
_ONLY_CODE: Final = re.compile(rf"(?P<new>{_SPAN})\s*(?P<asks>\?*)\.?")
_FEW: Final = r"[^\s/`?]{1,80}(?: [^\s/`?]{1,80}){0,3}"
_EDITS: Final = (
    # s/old/new/, as in sed, also without the last slash and inside backticks
    re.compile(rf"`?s/(?P<old>{_FEW})/(?P<new>{_FEW})\s?(?:/[gi]*)?`?\s*[?.]?"),
    # `old` -> `new`, also without the backticks
    re.compile(
        rf"(?:nit\w*\W{{1,3}})?(?P<old>{_SPAN}|[^\s`]{{1,100}})\s*(?:-{{1,2}}>|→|⇒)\s*"
        rf"(?P<new>{_SPAN}|[^\s`]{{0,99}}[^\s`.?])\s*[?.]?",
        re.IGNORECASE,
    ),
)
_LONGEST_EDIT: Final = 500


def read_proposals(
    parsed: ParsedComment, comment: Comment, file: ChangedFile | None
) -> ParsedComment:
    """Find the proposals of code in a comment.

    Args:
        parsed: The comment, split.
        comment: The comment, with its lines.
        file: The changed file of the comment; None when unknown.

    Returns:
        The comment with `proposals`, and without the sentences that consist of a proposal only
        ("`a` -> `b`"). A suggestion that changes nothing is not a proposal.
    """
    proposals: dict[str, Position] = {}
    prose: list[tuple[str, Position]] = []
    positions = parsed.positions or repeat(Position(), len(parsed.sentences))
    for text, position in zip(parsed.sentences, positions, strict=True):
        if inline := _read_inline(text):
            proposals.setdefault(inline, position)
        else:
            prose.append((text, position))
    if parsed.suggestions:
        for suggestion, offsets in zip_longest(parsed.suggestions, parsed.suggestion_offsets):
            lines = find_replaced_lines(place_suggestion(comment, offsets), file)
            new = _cut_lines(suggestion.split("\n") if suggestion.strip() else [])
            old = lines.lines if lines.is_exact else align_lines(lines, new)
            change = describe_change(old, new) if old else _use(new)
            proposals.setdefault(change, _position_of(suggestion, parsed))
    for block in parsed.diffs:
        proposals.setdefault(describe_change(*_sides(block)), _position_of(block, parsed))
    proposals.pop("", None)
    if not proposals:
        # The comment consists of code only.
        if len(prose) == 1 and (only_code := _fullmatch(_ONLY_CODE, prose[0][0])):
            proposals = {f"use {only_code['new']}{only_code['asks'][:1]}": Position()}
            prose = []
        elif not prose:
            proposals = {_use(block.split("\n")): Position() for block in parsed.code_blocks}
            proposals.pop("", None)
    return replace(
        parsed,
        sentences=tuple(text for text, _ in prose),
        positions=tuple(position for _, position in prose),
        proposals=tuple(proposals),
        proposal_positions=tuple(proposals.values()),
    )


def _position_of(code: str, parsed: ParsedComment) -> Position:
    return Position(max(0, parsed.follows.get(code, 0)))


def describe_change(old: Sequence[str], new: Sequence[str]) -> str:
    """Describe what changes between two pieces of code.

    Args:
        old: Lines before the change; only the first `MAX_LINES` are compared.
        new: Lines after the change, likewise.

    Returns:
        One short text; "" for equal lines.

    Example:
        >>> describe_change(["a = 1", "b = 2"], ["a = 1", "b = 3", "c = 4"])
        'change `b = 2` to `b = 3 c = 4`'
        >>> describe_change(["a = 1"], []), describe_change(["a = 1"], ["a = 1"])
        ('remove `a = 1`', '')
    """
    old, new = _cut_lines(old), _cut_lines(new)
    before, after = ([" ".join(line.split()) for line in side] for side in (old, new))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    changes = [
        (slice(start, end), slice(new_start, new_end))
        for tag, start, end, new_start, new_end in matcher.get_opcodes()
        if tag != "equal"
    ]
    # Empty lines are described only where nothing else differs.
    changes = [
        (removed, added) for removed, added in changes if any(before[removed]) or any(after[added])
    ] or changes[:1]
    if not changes:
        pairs = zip(old, new, strict=True)
        differing = [line for old_line, line in pairs if line.rstrip() != old_line.rstrip()]
        return f"change the white space of {_code(differing[0])}" if differing else ""
    blocks = [(before[removed], after[added]) for removed, added in changes]
    (first_removed, first_added), (last_removed, last_added) = changes[0], changes[-1]
    joined = (
        before[first_removed.start : last_removed.stop],
        after[first_added.start : last_added.stop],
    )
    if max(len(" ".join(side)) for side in joined) <= SHORT:
        blocks = [joined]
    descriptions: list[str] = []
    for block in blocks:
        if sum(map(len, descriptions)) <= MAX_UNIT:
            descriptions.append(_describe_block(*block))
    return ", ".join(descriptions)


def _describe_block(before: Sequence[str], after: Sequence[str]) -> str:
    old, new = " ".join(filter(None, before)), " ".join(filter(None, after))
    if not old and not new:
        return "add an empty line" if len(after) > len(before) else "remove an empty line"
    if not old or not new:
        return f"remove {_code(old)}" if old else f"add {_code(new)}"
    if _squeeze(old) == _squeeze(new):
        return f"change the white space of {_code(new)}"
    if max(len(old), len(new)) > SHORT:
        # Only the difference with its context: `_code` cuts long code, which may be before it.
        before, after = _TOKEN.findall(old), _TOKEN.findall(new)
        shorter = min(len(before), len(after))
        common_start = sum(takewhile(bool, map(operator.eq, before, after)))
        common_end = sum(takewhile(bool, map(operator.eq, reversed(before), reversed(after))))
        start = max(0, common_start - CONTEXT)
        cut = max(0, min(common_end, shorter - common_start) - CONTEXT)
        old, new = ("".join(side[start : len(side) - cut]).strip() for side in (before, after))
    return f"change {_code(old)} to {_code(new)}"


def _use(lines: Iterable[str]) -> str:
    """Describe proposed code when the code it replaces is unknown; "" for code without words."""
    code = " ".join(" ".join(line.split()) for line in lines if _WORD.search(line))
    return f"use {_code(code)}" if code else ""


def _code(text: str) -> str:
    text = _TICKS.sub("`", text.strip())
    code = shorten(text, MAX_SHOWN)
    # https://spec.commonmark.org/0.31.2/#code-spans
    return f"`` {code} ``" if "`" in code else f"`{code}`"


def _squeeze(text: str) -> str:
    return "".join(text.split())


def _cut_lines(lines: Sequence[str]) -> list[str]:
    return [line[:MAX_LINE_CHARS] for line in lines[:MAX_LINES]]


def _fullmatch(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return pattern.fullmatch(text) if len(text) <= _LONGEST_EDIT else None


def _read_inline(text: str) -> str:
    """Return the proposal that a sentence consists of; "" for any other sentence."""
    for pattern in _EDITS:
        edit = _fullmatch(pattern, text)
        if edit is not None:
            old, new = (edit[key].strip("` ") for key in ("old", "new"))
            return f"change {_code(old)} to {_code(new)}" if old and new else ""
    question = _fullmatch(_ONLY_CODE, text)
    return f"use {question['new']}?" if question is not None and question["asks"] else ""


def _sides(block: str) -> tuple[list[str], list[str]]:
    """Return the lines of a diff block before and after."""
    old: list[str] = []
    new: list[str] = []
    for line in block.split("\n"):
        if line.startswith(("@@", "---", "+++", "diff ", "index ", "\\")):
            continue
        sign, text = line[:1], line[1:]
        # Context is the same on both sides, with its leading space or without.
        if sign != "+":
            old.append(text if sign == "-" else line)
        if sign != "-":
            new.append(text if sign == "+" else line)
    return old, new


def place_suggestion(comment: Comment, offsets: tuple[int, int] | None) -> Comment:
    """Return a comment with the lines that one of its suggestion blocks replaces."""
    if offsets is None or comment.line is None:
        return comment
    start_line, line = max(comment.line - offsets[0], 1), comment.line + offsets[1]
    return replace(comment, start_line=start_line if start_line < line else None, line=line)


class ReplacedLines(NamedTuple):
    """Lines that a suggestion may replace."""

    lines: list[str]
    is_exact: bool
    """Whether the suggestion replaces all of them; otherwise, at most some of the last ones."""
    is_end: bool
    """Whether the suggestion replaces at least the last line."""


def find_replaced_lines(comment: Comment, file: ChangedFile | None) -> ReplacedLines:
    """Find the lines that a suggestion in a comment may replace.

    Args:
        comment: The comment, with its lines.
        file: The changed file of the comment; None when unknown.

    Returns:
        The lines; empty if they are unknown.
    """
    line = comment.line
    if line is not None and not comment.outdated and file is not None:
        lines = _lines_of(comment, line, file)
        if lines:
            return ReplacedLines(lines, is_exact=True, is_end=True)
    if line is not None and not comment.diff_hunk:
        return ReplacedLines([], is_exact=True, is_end=False)
    last = list(_last_lines(comment, file))
    if line is None:
        return ReplacedLines(last, is_exact=False, is_end=bool(comment.diff_hunk))
    return ReplacedLines(
        last[-(line - (comment.start_line or line) + 1) :], is_exact=True, is_end=True
    )


def _lines_of(comment: Comment, end: int, file: ChangedFile) -> list[str]:
    """Return the lines that a comment is on; empty if the diff does not show them all."""
    start = max(comment.start_line or end, end - MAX_LINES + 1)
    index = hunk_at(file, comment.side, end)
    if index is None:
        return []
    hunk = file.hunks[index]
    # A line is preceded by at least the lines of its side from the start of the hunk.
    first = max(0, start - hunk.range_of(comment.side)[0])
    lines: list[str] = []
    for line in hunk.lines[first:]:
        line_number = line.number_on(comment.side)
        if line_number is not None and start <= line_number <= end:
            lines.append(line.text)
            if line_number == end:
                break
    return lines


def _last_lines(comment: Comment, file: ChangedFile | None) -> Iterator[str]:
    """Yield the last lines, on the comment's side, of the hunk that ends at the comment."""
    # GitHub cuts the hunk that it stores with a comment after the comment's line.
    max_lines = 4 * MAX_LINES
    if comment.diff_hunk:
        other_sign = "-" if comment.side is Side.NEW else "+"
        for line in comment.diff_hunk.rstrip("\n").split("\n")[-max_lines:]:
            if not line.startswith((other_sign, "@@ ", "\\")):
                yield line[1:]
    elif file is not None and len(file.hunks) == 1:
        kind = LineKind.REMOVED if comment.side is Side.NEW else LineKind.ADDED
        for diff_line in file.hunks[0].lines[-max_lines:]:
            if diff_line.kind is not kind:
                yield diff_line.text


def align_lines(candidates: ReplacedLines, suggestion: Sequence[str]) -> list[str]:
    """Return the last lines with the most words in common with a suggestion; empty if too few.

    The number of lines is chosen for the highest share of common words. An empty suggestion
    removes one line.
    """
    left = Counter(word for line in suggestion for word in _WORD.findall(line))
    last = candidates.lines[-MAX_LINES:]
    if not left or not last:
        return last[-1:]
    total, common = left.total(), 0
    shares: list[float] = []
    for line in reversed(last):
        for word in _WORD.findall(line[:MAX_LINE_CHARS]):
            total += 1
            if left[word] > 0:
                left[word] -= 1
                common += 1
        shares.append(2 * common / total)
    best = max(shares)
    if best < max(MIN_SIMILARITY, shares[0] + MIN_GAIN):
        keeps_last = _squeeze(last[-1]) in map(_squeeze, suggestion)
        return last[-1:] if candidates.is_end or keeps_last or best >= MIN_SIMILARITY else []
    return last[-shares.index(best) - 1 :]
