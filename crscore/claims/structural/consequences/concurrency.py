"""Consequences for concurrency: what is no longer awaited, or started in the background."""

import re
from collections.abc import Iterator
from typing import Final

from crscore.claims.structural.consequences.base import Rule
from crscore.claims.structural.english import Statement, fits, quote
from crscore.claims.structural.evidence import Evidence

_AWAITED: Final = re.compile(r"\bawait ([\w$.]+)\(")
_DROPPED: Final = re.compile(r"(?:void )?([\w$.]+)\(")
"""A statement that only calls, without waiting."""
_STARTED: Final = re.compile(
    r"go [\w.]+\(|(?:new )?(?:\w+\.)*"
    r"(?:create_task|ensure_future|runAsync|Task\.Run|StartNew|Thread)\("
)
"""A statement that starts work and keeps nothing of it."""
_WAITING: Final = frozenset({"Wait", "wait", "join", "Join", "wg", "errgroup", "gather"})
"""Words of code that waits for its work."""


def _is_read(unit: Evidence, *states: str) -> bool:
    return bool(unit.change.language) and unit.change.state in {"changed", *states}


def _ask(unit: Evidence, event: str, question: str, line: int) -> Statement:
    inside = f" in {quote(unit.change.short_name)}" if unit.change.short_name else ""
    return Statement(f"{event}{inside}: {question}?", ((True, line),))


def _lines(unit: Evidence, *states: str, new: bool = True) -> list[tuple[int, str]]:
    """Return the changed lines of one version; none of a unit that is not read."""
    version, lines = (unit.new, unit.change.added) if new else (unit.old, unit.change.removed)
    lines = lines if _is_read(unit, *states) else []
    return [(line, version.lines[line].strip().rstrip(";")) for line in lines]


def find_awaited(unit: Evidence) -> Iterator[Statement]:
    """Find a call that is no longer awaited."""
    removed = [text for _, text in _lines(unit, new=False)]
    awaited = {name for text in removed for name in _AWAITED.findall(text)}
    for line, text in _lines(unit):
        call = _DROPPED.match(text)
        # An argument of another call, such as a time limit, may be awaited by that.
        is_alone = not unit.new.lines.get(line - 1, "").rstrip().endswith(("(", ",", "["))
        if call and call[1] in awaited and is_alone and unit.is_gone(f"await {call[1]}("):
            event = f"{quote(call[1])} is no longer awaited"
            yield _ask(unit, event, "who sees its errors, and when is it done", line)


def find_started(unit: Evidence) -> Iterator[Statement]:
    """Find new work in the background that nothing waits for."""
    for line, text in _lines(unit, "new") if not unit.new.words & _WAITING else ():
        if _STARTED.match(text) and unit.is_new(text) and fits(text):
            event = f"{quote(text.rstrip('{ '))} starts work in the background"
            yield _ask(unit, event, "what ends it, and who sees its errors", line)


RULES: Final = (Rule("awaited", find_awaited), Rule("started", find_started))
