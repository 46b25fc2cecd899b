"""Writes the names of changed units, and for any unit a sentence that describes its change."""

import re
from collections import Counter
from collections.abc import Sequence

from crscore.claims.structural.change import UnitChange
from crscore.claims.structural.quoting import format_count, join_items, join_quoted
from crscore.records import LineKind, Side
from crscore.syntax.outline import Fact, Kind, Role
from crscore.text import quote

MAX_PATH = 200
"""Maximum characters of a path in a sentence; longer paths are cut."""
MAX_NAME = 50
"""Maximum characters of a name in a list of names; longer names are left out."""

# Calls that any function may have: "len(x)", "log.info(x)", "items.append(x)", "assertEqual(a, b)"
_DULL = re.compile(
    r"(?i)(?:^|\.)(?:len|str|int|print\w*|isinstance|append|push|format|get|toString|log|debug|info|"
    r"warn\w*|error|expect|assert\w*|super|sizeof|list|dict|set|map|string|puts|size|length)$"
)


def is_dull(name: str) -> bool:
    """Return whether a call is so common that it does not characterize a change."""
    return bool(_DULL.search(name))


def label(change: UnitChange, *, full: bool = False) -> str:
    """Return the noun and name of a unit, "the method `A.run`"; if `full`, with its file's path."""
    path = quote(change.file.path or change.file.old_path or "", MAX_PATH)
    if not change.name and change.noun != "tests":
        return path or "the code"
    if change.noun == "tests":
        suite = quote(".".join(change.name.split(".")[-2:]))
        return f"{suite} in {path}" if suite and full and path else suite or path
    if change.noun == "section":
        return f"the section “{change.name}” of {path}"
    return f"the {change.noun} {name_of(change)}" + (f" in {path}" if full and path else "")


def name_of(change: UnitChange) -> str:
    """Return the quoted name of a unit, with at most one enclosing name."""
    if change.kind is Kind.TEST and change.unit is not None:
        return f"“{change.unit.name}”"
    names = change.name.split(".")
    if names[-1] == "default":  # an export without a name gets that of its file
        return quote(change.file.path.rpartition("/")[2].partition(".")[0] or "default")
    return quote(".".join(names[-2:]))


def summarize(change: UnitChange) -> str:
    """Return the summary of a unit's change: a sentence that can be written for every unit."""
    subject, lines = label(change, full=True), format_count(change.displayed_size, "line")
    size = "" if _is_cut(change) else f" ({lines})"
    if change.noun == "tests":
        return f"{subject} has {len(change.members)} new tests{size}: {_list_titles(change, 4)}"
    if change.state == "new":
        # The slice removes "the " from "the method `f`".
        head = f"the new {subject[4:]}" if change.name else f"the new file {subject}"
        whole = change.name or change.size == len(change.file.lines(LineKind.ADDED))
        contents = _describe_contents(change) or " has been added"
        return f"{head}{size}{contents}" if whole else f"{head}{contents}"
    if change.state == "removed":
        member_names = join_quoted([unit.name for unit in change.members if unit.name], 5)
        head = subject if change.name else f"the file {subject}"
        return f"{head}{size} has been removed" + (f", with {member_names}" if member_names else "")
    if change.state == "overload":
        # If the contents are unknown, " that" is removed again.
        contents = f" that{_describe_contents(change)}".removesuffix(" that")
        return f"{subject} has one more declaration{size}{contents}"
    if change.state == "less":
        return f"{subject} has one declaration less ({lines} removed)"
    added = sum((True, line) not in change.lines_outside for line in change.added)
    removed = sum((False, line) not in change.lines_outside for line in change.removed)
    amount = f"{format_count(added, 'line')} added" + (f", {removed} removed" if removed else "")
    if removed and not added:
        amount = f"{format_count(removed, 'line')} removed"
    return _renaming(change) or _change_around_code(change) or f"{subject} has changed ({amount})"


def _renaming(change: UnitChange) -> str:
    """Return a sentence if a unit was renamed, moved or replaced; otherwise ""."""
    subject = label(change, full=True)
    if change.state == "renamed":
        before = subject.replace(name_of(change), quote(change.before), 1)
        return f"{before} has been renamed to {quote(change.short_name)}"
    if change.state == "replaced" or (change.state == "changed" and change.before):
        former = f"“{change.before}”" if change.kind is Kind.TEST else quote(change.before)
        return f"{subject} takes the place of {former}"
    if change.state != "moved" or change.origin is None:
        return ""
    former, target = (quote(unit.file.path, MAX_PATH) for unit in (change.origin, change))
    is_same = change.before == change.name
    end = " and changed" if is_same and change.origin.old.tokens != change.new.tokens else ""
    target = target if is_same else f"{name_of(change)} in {target}"
    return f"{label(change.origin)} has moved from {former} to {target}{end}"


def _change_around_code(change: UnitChange) -> str:
    """Return a sentence if only the place, layout or comments of a unit changed; otherwise ""."""
    if change.state == "place":
        return f"only the place of {label(change, full=True)} has changed"
    if change.state not in {"layout", "comments"}:
        return ""
    inside = {Kind.FILE: "functions", Kind.TYPE: "members"}.get(change.kind, "")
    subject, units = label(change, full=True), [*change.old.units, *change.new.units]
    if change.name and not all(unit.head for unit in units):
        # Only the header of a hunk names the unit, so the lines may belong to one of its members.
        subject, inside = f"some lines of {subject}", ""
    outside = f" outside of its {inside}" if inside and units else ""
    if change.state == "layout":
        return f"only the formatting of {subject} has changed{outside}"
    return f"only comments have changed in {subject}{outside}"


def _is_cut(change: UnitChange) -> bool:
    """Return whether the diff shows only a part of a new or removed unit."""
    # If the content of the file is known, the unit is known, too.
    file, unit, is_new = change.file, change.unit, bool(change.new.units)
    if unit is None or not change.name or (file.new_source or file.old_source) is not None:
        return False
    ranges = (hunk.range_of(Side.NEW if is_new else Side.OLD) for hunk in file.hunks)
    return not any(start <= unit.end < start + length for start, length in ranges)


def mentioned_names(change: UnitChange) -> str:
    """Return a phrase with the three names that are most frequent in changed lines; "" if none."""
    changed_lines = {True: set(change.added), False: set(change.removed)}
    names = Counter(
        fact.name
        for part, is_new in ((change.new, True), (change.old, False))
        for fact in part.facts
        if fact.line in changed_lines[is_new]
        and re.fullmatch(r"[\w$.]{3,40}", fact.name)
        and not is_dull(fact.name)
    )
    top = [name for name, _ in names.most_common(3)]
    return f", around {join_quoted(top)}" if top else ""


def _list_titles(change: UnitChange, limit: int) -> str:
    titles = [f"“{unit.name}”" for unit in change.members if unit.kind is Kind.TEST]
    return join_items(titles, limit)


def _describe_contents(change: UnitChange) -> str:
    """Return a phrase about the contents of a new unit, such as " defines `f`"; "" if unknown."""
    names = [unit.name for unit in change.members if unit.name]
    tests = sum(unit.kind is Kind.TEST for unit in change.members)
    if tests and change.kind is Kind.TEST:
        return f" holds the {'test' if tests == 1 else 'tests'} {_list_titles(change, 5)}"
    if names and change.kind is not Kind.TEST:
        return f" defines {join_quoted(names, 6)}"
    facts, unit = change.new.facts, change.unit
    if unit is not None and unit.parameters and change.kind is Kind.FUNCTION:
        return " takes " + join_quoted([parameter.name for parameter in unit.parameters], 5)
    bound = [fact.name for fact in facts if fact.role is Role.ASSIGN and len(fact.name) <= MAX_NAME]
    if bound and change.kind in {Kind.TYPE, Kind.FILE}:
        return " has " + join_quoted(bound, 5)
    return ""


def informative_calls(facts: Sequence[Fact]) -> list[Fact]:
    """Return the calls that characterize a unit, one of each name."""
    # The calls are reversed twice, so that the first call of each name is kept.
    calls = {
        fact.name: fact
        for fact in reversed(facts)
        if fact.role is Role.CALL and len(fact.name) <= MAX_NAME and not is_dull(fact.name)
    }
    return list(reversed(calls.values()))
