"""Consequences of lines that differ in one operator, condition or error."""

import re
from collections.abc import Iterator
from typing import Final

from crscore.claims.structural.consequences.base import Rule, is_function
from crscore.claims.structural.consequences.removals import PATTERNS, TABLES, is_moved, matches
from crscore.claims.structural.english import Statement, fits, quote
from crscore.claims.structural.evidence import Evidence
from crscore.claims.structural.versions import Version
from crscore.records import LineKind

_EMPTY_BODY: Final = frozenset({"", "pass", "...", "continue", "return", "next"})
_INLINE: Final = re.compile(r"\{\s?([^{}]*)\}\s?$|except[^:]{0,80}:\s?(\w+)$")
_QUESTIONS: Final = TABLES["exchanged"]
"""What to ask about two operators that took each other's place, sorted."""


def _replaced(unit: Evidence) -> Iterator[tuple[str, str, int]]:
    """Yield the lines of code that took the place of another: both texts, and the number."""
    blocks = list(unit.blocks()) if is_function(unit) else []
    removed_texts, added_texts = ({text for b in blocks for _, text in b[side]} for side in (0, 1))
    for removed, added in blocks:
        if len(removed) == len(added) == 1 and fits(removed[0][1], added[0][1]):
            before, (line, after) = removed[0][1], added[0]
            if (
                not matches("aside", before)
                and before not in added_texts
                and after not in removed_texts
            ):
                yield before, after, line


def find_operator(unit: Evidence) -> Iterator[Statement]:
    """Find a line that differs in one operator of a condition."""
    for before, after, line in _replaced(unit):
        old, new = (list(PATTERNS["token"].finditer(text)) for text in (before, after))
        left, right = ([m[0] for m in tokens if not m["not"]] for tokens in (old, new))
        pairs = [pair for pair in zip(left, right, strict=False) if pair[0] != pair[1]]
        surplus, key = len(new) - len(old), " ".join(sorted(pairs[0])) if pairs else ""
        if len(left) == len(right) and not pairs and abs(surplus) == 1:
            token = next(m[0] for m in (new if surplus > 0 else old) if m["not"])
            place = f"new in {quote(after)}" if surplus > 0 else f"gone from {quote(before)}"
            text = f"{quote(token)} is {place} of {unit.subject}: is the contrary meant?"
            yield Statement(text, ((True, line),))
        elif len(left) == len(right) and not surplus and len(pairs) == 1 and key in _QUESTIONS:
            event = f"{quote(pairs[0][1])} replaces {quote(pairs[0][0])} in {quote(after)}"
            yield Statement(f"{event} of {unit.subject}: {_QUESTIONS[key]}", ((True, line),))


def find_branch(unit: Evidence) -> Iterator[Statement]:
    """Find a last branch that has lost its condition."""
    for before, after, line in _replaced(unit):
        match = PATTERNS["branch"].fullmatch(before)
        if match and matches("else", after) and not is_moved(unit, match[1]):
            event = f"the last branch in {unit.subject} no longer checks {quote(match[1])}"
            yield Statement(f"{event}: is it right for all other cases?", ((True, line),))


def _statements(version: Version, head: int) -> list[str]:
    """Return the first lines of the statements below a line; none where some are not known."""
    lines, end, body = version.lines, head + 1, list[str]()
    if inline := _INLINE.search(lines[head]):
        return [inline[1] or inline[2] or ""]
    indent = len(lines[head]) - len(lines[head].lstrip())
    while end in lines and (lines[end].strip() in "{" or lines[end][: indent + 1].isspace()):
        body += [lines[end]] if lines[end].strip() not in "{" else []
        end += 1
    low = min((len(text) - len(text.lstrip()) for text in body), default=0)
    starts = [text.strip().rstrip(";") for text in body if text[low : low + 1].strip(" \t)}]")]
    return (starts or [""]) if end in lines else []


def find_handler(unit: Evidence) -> Iterator[Statement]:
    """Find a handler of errors that takes more of them, or does nothing any more."""
    for before, after, line in _replaced(unit):
        old, new = (PATTERNS["handler"].fullmatch(text) for text in (before, after))
        names = ["".join(filter(None, match.groups())) for match in (old, new) if match]
        if [matches("every", name) for name in names] == [False, True]:
            event = f"{unit.subject} now handles every error like {quote(names[0])}"
            yield Statement(f"{event}: is that right for all of them?", ((True, line),))
    blocks = list(unit.blocks()) if is_function(unit) else []
    lines = (
        {line.old: line.new or 0 for line in unit.change.file.lines(LineKind.CONTEXT)}
        if any(removed for removed, _ in blocks)
        else {}
    )
    for removed, _ in blocks:
        head = removed[0][0] - 1 if removed else 0
        head -= unit.old.lines.get(head, "").strip() == "{"
        if matches("handler", unit.old.lines.get(head, "").strip()) and head in lines:
            bodies = (_statements(unit.old, head), _statements(unit.new, lines[head]))
            is_empty = [bool(body) and {*body} <= _EMPTY_BODY for body in bodies]
            if is_empty == [False, True] and bodies[0] and fits(bodies[0][0]):
                event = f"a handler in {unit.subject} no longer does {quote(bodies[0][0])}"
                text = f"{event}, nor anything else: who learns of the error?"
                yield Statement(text, ((False, removed[0][0]),))


RULES: Final = (
    Rule("operator", find_operator),
    Rule("branch", find_branch),
    Rule("handler", find_handler),
)
