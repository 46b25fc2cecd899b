"""What a diff does, line by line, as facts that a restatement can be written from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING, Final

from crscore.records import LineKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crscore.records import Diff, Hunk

MAX_QUOTE: Final = 80
"""Characters of code quoted in a fact."""
MAX_BLOCK: Final = 40
"""Lines of one side of a run of changes that are read: pairing them takes quadratic time."""
_MAX_LINE: Final = 300
_ALIKE: Final = 0.5
"""Ratio of equal characters from which a removed and an added line are one changed line."""

_TOKEN: Final = re.compile(r"[A-Za-z_$][\w$]*|\d[\w.]*|\"[^\"]*\"|'[^']*'|\S")
_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*")
# A line and what to call it; {0} is the named part. The first that fits counts.
_SORTS: Final = (
    (re.compile(r"(?:#|//|/?\*+)\s*(?P<name>\w.*?)\s*(?:\*/)?$"), "a comment saying “{0}”"),
    (re.compile(r"[rbf]*\"{3}\s*(?P<name>\w.*?)\s*(?:\"{3})?$"), "a docstring “{0}”"),
    (
        re.compile(r"(?:import|from|#include)\b\s*(?P<name>.+?);?$"),
        "an import of `{0}`",
    ),
    (re.compile(r"package\b\s*(?P<name>.+?);?$"), "the package name `{0}`"),
    (re.compile(r"(?:async\s+)?(?:def|function|func)\s+(?P<name>\w+)"), "a function `{0}`"),
    (re.compile(r"(?:[\w@]+\s+)*(?:class|interface|enum)\s+(?P<name>\w+)"), "a class `{0}`"),
    (re.compile(r"@(?P<name>[\w.]+)"), "an annotation `@{0}`"),
    (
        re.compile(
            r"(?:public|private|protected|static)\s[^=]*?\b(?P<name>\w+)\s*\([^;]*\)?\s*"
            r"(?:throws.*)?\{?$"
        ),
        "a method `{0}`",
    ),
    (
        re.compile(r"(?:\}\s*)?(?:else\s+)?(?:if|elif|while)\b\s*(?P<name>.+?)\s*[:{]?$"),
        "a check `{0}`",
    ),
    (re.compile(r"for\b\s*(?P<name>.+?)\s*[:{]?$"), "a loop over `{0}`"),
    (re.compile(r"return\b\s*(?P<name>.+?);?$"), "a return of `{0}`"),
    (re.compile(r"(?:throw|raise)\s+(?P<name>.+?);?$"), "a raised error `{0}`"),
    (re.compile(r"(?P<name>[\w.$\[\]'\" ]+?)\s*[-+*/|&]?=(?![=>])"), "an assignment to `{0}`"),
    (re.compile(r"(?:await\s+|new\s+)?(?P<name>[\w.$]+)\s*\("), "a call of `{0}`"),
)


class Deed(StrEnum):
    """What was done."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    RENAMED = "renamed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One thing that a diff does."""

    deed: Deed
    """What was done."""
    old: str
    """Noun phrase or quoted code before; "" for what was added."""
    new: str
    """Noun phrase or quoted code after; "" for what was removed."""


def facts(diff: Diff) -> tuple[Fact, ...]:
    """Read what a diff does off its lines, in order, without repeats."""
    found = (fact for file in diff.files for hunk in file.hunks for fact in _of_hunk(hunk))
    return tuple(dict.fromkeys(found))


def quoted(code: str) -> str:
    """Code in backticks, on one line, cut to `MAX_QUOTE` characters."""
    text = " ".join(code.replace("`", "'").split()).rstrip(";,{ ")
    return f"`{text if len(text) <= MAX_QUOTE else text[: MAX_QUOTE - 1] + '…'}`"


def _of_hunk(hunk: Hunk) -> Iterator[Fact]:
    for is_context, lines in groupby(hunk.lines, key=lambda line: line.kind is LineKind.CONTEXT):
        if is_context:
            continue
        block = [(line.kind, line.text.strip()) for line in lines if _tells(line.text)]
        removed = [text for kind, text in block if kind is LineKind.REMOVED]
        added = [text for kind, text in block if kind is LineKind.ADDED]
        yield from _of_block(removed[:MAX_BLOCK], added[:MAX_BLOCK])


def _of_block(removed: Sequence[str], added: Sequence[str]) -> Iterator[Fact]:
    rest = list(added)
    for old in removed:
        new = max(rest, key=lambda line: _likeness(old, line), default=None)
        if new is None or _likeness(old, new) < _ALIKE:
            yield Fact(deed=Deed.REMOVED, old=_noun(old), new="")
        else:
            rest.remove(new)
            yield _changed(old, new)
    for new in rest:
        yield Fact(deed=Deed.ADDED, old="", new=_noun(new))


def _changed(old: str, new: str) -> Fact:
    before, after = _TOKEN.findall(old), _TOKEN.findall(new)
    if len(before) == len(after):
        pairs = {(a, b) for a, b in zip(before, after, strict=True) if a != b}
        if len(pairs) == 1:
            ((one, other),) = pairs
            named = _NAME.fullmatch(one) and _NAME.fullmatch(other)
            deed = Deed.RENAMED if named else Deed.CHANGED
            return Fact(deed=deed, old=quoted(one), new=quoted(other))
    if len(old) > MAX_QUOTE < len(new):
        differ = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
        shared = old.rfind(" ", 0, differ) + 1
        old, new = old[shared:], new[shared:]
    return Fact(deed=Deed.CHANGED, old=quoted(old), new=quoted(new))


def _likeness(old: str, new: str) -> float:
    return SequenceMatcher(None, old[:200], new[:200], autojunk=False).ratio()


def _tells(text: str) -> bool:
    return any(map(str.isalnum, text))


def _noun(line: str) -> str:
    for pattern, phrase in _SORTS:
        found = pattern.match(line[:_MAX_LINE])
        if found and found["name"].strip(" ()"):
            name = " ".join(found["name"].replace("`", "'").split())
            return phrase.format(name if len(name) <= MAX_QUOTE else name[: MAX_QUOTE - 1] + "…")
    return f"the line {quoted(line)}"
