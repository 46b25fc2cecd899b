"""Proposals of code in a comment, each as one short text that a sentence encoder can read.

A suggestion block becomes what it changes of the lines that it replaces, a diff block what it
changes by itself. Other code counts only in a comment without other text.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import repeat, takewhile
from typing import Final, NamedTuple

from crscore.records import ChangedFile, Comment, Hunk, LineKind, ParsedComment, Position, Side
from crscore.text import shorten

MAX_LINES: Final = 100
"""Maximum lines that are compared on each side; aligning them takes quadratic time."""
MAX_LINE_CHARS: Final = 1_000
"""Maximum characters that are read of a line."""
MAX_SHOWN: Final = 200
"""Maximum characters of code on each side of one change."""
MAX_UNIT: Final = 400
"""Maximum length of a unit to which a change is added."""
SHORT: Final = 60
"""Length up to which code is shown whole; of longer code, where it differs."""
CONTEXT: Final = 5
"""Tokens, with white space, shown on each side of the part that differs."""
MIN_SIMILARITY: Final = 0.2
"""Minimum share of common words of lines that a suggestion may replace."""
MIN_GAIN: Final = 0.1
"""Minimum gain of that share for a replacement of more than one line, which is rare."""

_TOKEN: Final = re.compile(r"\w+|\s+|[^\w\s]")
_WORD: Final = re.compile(r"\w+")
_TICKS: Final = re.compile("``+")
_SPAN: Final = r"(?:``[^\n]{1,200}?``|`[^`\n]{1,200}`)"
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
        comment: The comment, with the lines that it is on.
        file: The changed file that it is on; None when unknown.

    Returns:
        The comment with `proposals`, and without the sentences that are nothing but one
        ("`a` -> `b`"). A suggestion that leaves all as it is proposes nothing.
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
        lines = find_replaced_lines(comment, file)
        for suggestion in parsed.suggestions:
            new = _cut_lines(suggestion.split("\n") if suggestion.strip() else [])
            old = lines.lines if lines.is_exact else align_lines(lines, new)
            change = describe_change(old, new) if old else _use(new)
            proposals.setdefault(change, _position_of(suggestion, parsed))
    for block in parsed.diffs:
        proposals.setdefault(describe_change(*_sides(block)), _position_of(block, parsed))
    proposals.pop("", None)
    if not proposals:
        # Nothing but code.
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
        old: Lines before; of more than `MAX_LINES` the first.
        new: Lines after, likewise.

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
    together = (
        before[first_removed.start : last_removed.stop],
        after[first_added.start : last_added.stop],
    )
    if max(len(" ".join(side)) for side in together) <= SHORT:
        blocks = [together]
    parts: list[str] = []
    for block in blocks:
        if sum(map(len, parts)) <= MAX_UNIT:
            parts.append(_describe_block(*block))
    return ", ".join(parts)


def _describe_block(before: Sequence[str], after: Sequence[str]) -> str:
    old, new = " ".join(filter(None, before)), " ".join(filter(None, after))
    if not old and not new:
        return "add an empty line" if len(after) > len(before) else "remove an empty line"
    if not old or not new:
        return f"remove {_code(old)}" if old else f"add {_code(new)}"
    if _squeeze(old) == _squeeze(new):
        return f"change the white space of {_code(new)}"
    old, new = _narrow(old, new)
    return f"change {_code(old)} to {_code(new)}"


def _narrow(old: str, new: str) -> tuple[str, str]:
    """Return where two pieces of code differ, with a little of what is around it."""
    if max(len(old), len(new)) <= SHORT:
        return old, new
    sides = _TOKEN.findall(old), _TOKEN.findall(new)
    shorter = min(map(len, sides))
    common_start = sum(1 for _ in takewhile(_equal, zip(*sides, strict=False)))
    ends = zip(*map(reversed, sides), strict=False)
    same_end = min(sum(1 for _ in takewhile(_equal, ends)), shorter - common_start)
    start, cut = max(0, common_start - CONTEXT), max(0, same_end - CONTEXT)
    first, second = ("".join(side[start : len(side) - cut]).strip() for side in sides)
    return first, second


def _equal(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]


def _use(lines: Iterable[str]) -> str:
    """Propose code of which nothing is known that it replaces; "" without a word."""
    code = " ".join(" ".join(line.split()) for line in lines if _WORD.search(line))
    return f"use {_code(code)}" if code else ""


def _code(text: str) -> str:
    text = _TICKS.sub("`", text.strip())
    code = shorten(text, MAX_SHOWN)
    return f"`` {code} ``" if "`" in code else f"`{code}`"


def _squeeze(text: str) -> str:
    return "".join(text.split())


def _cut_lines(lines: Sequence[str]) -> list[str]:
    return [line[:MAX_LINE_CHARS] for line in lines[:MAX_LINES]]


def _fullmatch(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return pattern.fullmatch(text) if len(text) <= _LONGEST_EDIT else None


def _read_inline(text: str) -> str:
    """Return the proposal that a sentence is; "" for any other sentence."""
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
        if sign != "+":
            old.append(text if sign == "-" else line)
        if sign != "-":
            new.append(text if sign == "+" else line)
    return old, new


class ReplacedLines(NamedTuple):
    """Lines that a suggestion may replace."""

    lines: list[str]
    is_exact: bool
    """Whether it replaces all of them; otherwise at most some at their end."""
    is_end: bool
    """Whether it replaces the last line, at least."""


def find_replaced_lines(comment: Comment, file: ChangedFile | None) -> ReplacedLines:
    """Find the lines that a suggestion in a comment may replace.

    Args:
        comment: The comment, with the lines that it is on.
        file: The changed file that it is on; None when unknown.

    Returns:
        The lines; none when they are not known.
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
    """Return the lines that a comment is on; none when the diff does not show them all."""
    start = max(comment.start_line or end, end - MAX_LINES + 1)
    hunk = next((hunk for hunk in file.hunks if _contains_line(hunk, comment.side, end)), None)
    if hunk is None:
        return []
    old = comment.side is Side.OLD
    # A line is preceded by at least the lines of its side from the start of the hunk.
    first = max(0, start - (hunk.old_start if old else hunk.new_start))
    lines: list[str] = []
    for line in hunk.lines[first:]:
        line_number = line.old if old else line.new
        if line_number is not None and start <= line_number <= end:
            lines.append(line.text)
            if line_number == end:
                break
    return lines


def _contains_line(hunk: Hunk, side: Side, line: int) -> bool:
    if side is Side.OLD:
        return hunk.old_start <= line < hunk.old_start + hunk.old_length
    return hunk.new_start <= line < hunk.new_start + hunk.new_length


def _last_lines(comment: Comment, file: ChangedFile | None) -> Iterator[str]:
    """Yield the last lines, of the comment's side, of the hunk that ends where the comment is."""
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
    """Return the last lines that have most in common with a suggestion; none when that is little.

    Their number is unknown: it is the one with the highest share of common words. An empty
    suggestion removes one line.
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
        stays = _squeeze(last[-1]) in map(_squeeze, suggestion)
        return last[-1:] if candidates.is_end or stays or best >= MIN_SIMILARITY else []
    return last[-shares.index(best) - 1 :]
