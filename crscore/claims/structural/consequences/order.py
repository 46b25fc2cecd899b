"""Consequences for concurrency: what is awaited, started in the background, and locked."""

import re
from collections.abc import Iterator
from typing import Final

from crscore.claims.structural.consequences.base import Rule
from crscore.claims.structural.english import Statement, fits, quote
from crscore.claims.structural.evidence import Evidence
from crscore.syntax.outline import Kind

_TEST: Final = re.compile(
    r"(?i:(?:^|[/._-])(?:tests?|specs?|testdata|e2e|docs?|examples?)[/._-])|Tests?\.\w+$"
)
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
_LOCKED: Final = re.compile(
    r"(?i)(?:async )?with ([\w.]*lock)\b|(?:lock|synchronized) ?\(([\w.]+)\)"
    r"|([\w.>-]+?)\.R?lock\(\)|(?:SDL_LockMutex|pthread_mutex_lock)\(&?([\w.>-]+)\)"
)


def _is_read(unit: Evidence, *states: str) -> bool:
    change = unit.change
    is_test = change.kind is Kind.TEST or _TEST.search(change.file.path)
    return bool(change.language) and not is_test and change.state in {"changed", *states}


def _ask(unit: Evidence, event: str, question: str, line: int) -> Statement:
    inside = f" in {quote(unit.change.short_name)}" if unit.change.short_name else ""
    return Statement(f"{event}{inside}: {question}?", ((True, line),))


def _lines(unit: Evidence, *states: str, new: bool = True) -> list[tuple[int, str]]:
    """Return the changed lines of one version; none of a unit that is not read."""
    version, lines = (unit.new, unit.change.added) if new else (unit.old, unit.change.removed)
    lines = lines if _is_read(unit, *states) else []
    return [(line, version.lines[line].strip().rstrip(";")) for line in lines]


def find_awaited(unit: Evidence) -> Iterator[Statement]:
    """Find a call that is awaited now and was not before, or the reverse."""
    removed = [text for _, text in _lines(unit, new=False)]
    awaited = {name for text in removed for name in _AWAITED.findall(text)}
    # A promise that was returned is awaited by the caller.
    before = "\n".join(t for t in removed if "await" not in t and not t.startswith("return"))
    called = set(re.findall(r"[\w$.]++(?=\()", before))
    for line, text in _lines(unit):
        for name in _AWAITED.findall(text):
            if name in called and unit.is_new(f"await {name}("):
                yield _ask(unit, f"{quote(name)} is now awaited", "do all other calls wait", line)
        call = _DROPPED.match(text)
        # An argument of another call, such as a time limit, may be awaited by that.
        is_alone = not unit.new.lines.get(line - 1, "").rstrip().endswith(("(", ",", "["))
        if call and call[1] in awaited and is_alone and unit.is_gone(f"await {call[1]}("):
            event = f"{quote(call[1])} is no longer awaited"
            yield _ask(unit, event, "who sees its errors, and when is it done", line)


def find_asynchronous(unit: Evidence) -> Iterator[Statement]:
    """Find a function whose callers get a promise or a coroutine now."""
    old, new = unit.change.old.units, unit.change.new.units
    # In C#, a method may return a task with and without the modifier.
    if not _is_read(unit) or len(old) != 1 or len(new) != 1 or unit.change.language == "csharp":
        return
    # What returned a promise before does so still; a property is a handler, called by a framework.
    is_other = re.match(r"\s*+\w++ *+:", unit.old.lines.get(old[0].head, "")) or not old[0].head
    is_async = "async" in new[0].head_tokens and "async" not in old[0].head_tokens
    if is_async and not is_other and unit.is_new("Promise"):
        text = (
            f"{quote(unit.change.short_name)} is now asynchronous: do all its callers wait for it?"
        )
        yield Statement(text, ((True, new[0].head),))


def find_started(unit: Evidence) -> Iterator[Statement]:
    """Find new work in the background that nothing waits for."""
    for line, text in _lines(unit, "new") if not unit.new.words & _WAITING else ():
        if _STARTED.match(text) and unit.is_new(text) and fits(text):
            event = f"{quote(text.rstrip('{ '))} starts work in the background"
            yield _ask(unit, event, "what ends it, and who sees its errors", line)


def find_locked(unit: Evidence) -> Iterator[Statement]:
    """Find the first lock of a unit."""
    for line, text in _lines(unit) if unit.is_new("lock") and unit.is_new("Lock") else ():
        if match := _LOCKED.match(text):
            event = f"{quote(next(filter(None, match.groups())))} is now locked"
            yield _ask(
                unit, event, "does all other code that uses the same data lock it, too", line
            )


RULES: Final = (
    Rule("locked", find_locked),
    Rule("awaited", find_awaited),
    Rule("asynchronous", find_asynchronous),
    Rule("started", find_started),
)
