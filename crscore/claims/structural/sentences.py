"""Sentences about one changed unit: only what its two versions prove.

A fact that only one version has came or went. A sentence says so only if the text of the other
version does not contain it in another form either.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from crscore.claims.structural.english import counted, fits, listed, plural, quote, quoted
from crscore.claims.structural.sides import spoken, squeeze
from crscore.records import LineKind
from crscore.syntax.outline import Fact, Kind, Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crscore.claims.structural.sides import Part, Version
    from crscore.claims.structural.topics import Change

SMALL = 12
"""Changed lines of a unit up to which lines that nothing else is said about are quoted."""
SAID = 180
"""Characters of a sentence that is quoted from a comment or a document."""
MOST_ENTRIES = 200
"""Bindings up to which a collection is told by its entries."""
LONG = 120
"""Characters of two pieces of code from which only the part that differs is quoted."""
MAX_DETAILS = 4
"""Sentences about one unit, after its plain line."""

_SPACES = re.compile(r"\s+")
_COMMENT = re.compile(
    r"^\s*(?:/\*+|//+[/!]?|#+|\*+/?|\"\"\"|'''|--|<!--)\s*|\s*(?:\*/|\"\"\"|'''|-->)\s*$"
)
_DULL = re.compile(
    r"(?i)(?:^|\.)(?:len|str|int|print\w*|isinstance|append|push|format|get|toString|log|debug|info|"
    r"warn\w*|error|expect|assert\w*|super|sizeof|list|dict|set|map|string|puts|size|length)$"
)
_PROSE = re.compile(r"[A-Za-z][a-z]+[,;:]?(?: [\w'`\"(.-]+){2,}")


_BROAD = re.compile(r"(?:\w+[.:\\]+)*(?:Exception|BaseException|Throwable|StandardError|Error)?")
"""Errors that stand for all others; none named is the broadest."""
_TEXTS = frozenset({Role.CONDITION, Role.RETURN})
_DECLARED = frozenset({Kind.FUNCTION, Kind.TYPE})
_LOOSE = frozenset({"javascript", "jsx", "ruby", "php", "c", "cpp"})
"""Languages where a caller may leave out any argument, or where a default stands elsewhere."""


class Told(NamedTuple):
    """One sentence about a change, unfinished."""

    text: str
    lines: tuple[tuple[bool, int], ...] = ()
    """Lines it is about, each with True for the new version; empty for all of the unit's."""
    implies: bool = False


@dataclass(slots=True)
class Difference:
    """Facts that came and facts that went."""

    came: dict[Role, list[Fact]] = field(default_factory=dict)
    gone: dict[Role, list[Fact]] = field(default_factory=dict)


def difference(old: Part, new: Part) -> Difference:
    """Compare the facts of two versions of a unit; what both have cancels."""
    found = Difference()
    for mine, other, target in (
        (new.facts, old.facts, found.came),
        (old.facts, new.facts, found.gone),
    ):
        left = Counter(_key(fact) for fact in other)
        for fact in mine:
            key = _key(fact)
            if left[key] > 0:
                left[key] -= 1
            else:
                target.setdefault(fact.role, []).append(fact)
    return found


def _key(fact: Fact) -> tuple[str, str, str]:
    """Return what makes two facts the same: white space and quotation marks do not count."""
    return fact.role, fact.name, squeeze(fact.text).rstrip(",;")


def label(change: Change, *, full: bool = False) -> str:
    """Return a unit with its noun: "the method `A.run`"; in full with its file."""
    path = change.file.path or (change.file.old_path or "")
    if not change.name:
        return f"{quote(path, 200)}" if path else "the code"
    if change.noun == "tests":
        where = quote(".".join(change.name.split(".")[-2:]) or path, 200)
        return f"the {len(change.members)} new tests in {where}"
    if change.noun == "section":
        return f"the section “{change.name}” of {quote(path, 200)}"
    return f"the {change.noun} {name_of(change)}" + (
        f" in {quote(path, 200)}" if full and path else ""
    )


def name_of(change: Change) -> str:
    """Return the name of a unit, quoted, with at most one name around it."""
    if change.kind is Kind.TEST and change.unit is not None:
        return f"“{change.unit.name}”"
    pieces = change.name.split(".")
    if pieces[-1] == "default":
        stem = (change.file.path or "").rpartition("/")[2].partition(".")[0]
        return quote(stem or "default")
    return quote(".".join(pieces[-2:]))


def prose_of(comment: str) -> list[str]:
    """Return the sentences of a comment that are prose, without markers; long ones are left out."""
    text = " ".join(_COMMENT.sub("", line) for line in comment.split("\n"))
    text = _SPACES.sub(
        " ", re.sub(r"^[\"'rbfu]+(?=[\"'])|\s\*\s|</?\w+/?>|\s///?\s", " ", text)
    ).strip(" \"'*/#-!")
    pieces = re.split(r"(?<=[.!?])\s+(?=[A-Z])|\s@\w+\b|\s:param", text)
    found = [piece.strip(" .\"'*/") for piece in pieces]
    return [one for one in found if len(one) <= SAID and "…" not in one and _PROSE.search(one)]


def plain_line(change: Change) -> str:
    """Return the sentence that can always be said of a unit."""
    what, lines = label(change, full=True), counted(change.size - change.aside, "line")
    if change.state == "renamed":
        before = what.replace(name_of(change), quote(change.before), 1)
        return f"{before} has been renamed to {name_of(change)}"
    if change.state == "replaced":
        return f"{what} takes the place of {_former(change)}"
    if change.state == "moved" and change.origin is not None:
        former, now = quote(change.origin.file.path, 200), quote(change.file.path, 200)
        if change.before == change.name:
            return f"{label(change)} has moved from {former} to {now}"
        return f"{label(change.origin)} has moved from {former} to {name_of(change)} in {now}"
    if change.state in {"layout", "comments"}:
        inside = {Kind.FILE: "functions", Kind.TYPE: "members"}.get(change.kind, "")
        inside = inside if change.new.units or change.old.units else ""
        outside = f" outside of its {inside}" if inside else ""
        if change.state == "layout":
            return f"only the formatting of {what} has changed{outside}"
        return f"only comments have changed in {what}{outside}"
    if change.state == "overload":
        return f"{what} has one more declaration ({lines})" + _contents(change).replace(
            " has been added", ""
        )
    if change.state == "less":
        return f"{what} has one declaration less ({lines} removed)"
    if change.noun == "tests":
        names = listed([f"“{unit.name}”" for unit in change.members], 4)
        return f"{what} ({lines}) are {names}"
    if change.state == "new":
        head = f"the new {what[4:]} ({lines})" if change.name else f"the new file {what} ({lines})"
        return head + _contents(change)
    if change.state == "removed":
        held = quoted([unit.name for unit in change.members if unit.name], 5)
        head = what if change.name else f"the file {what}"
        return f"{head} ({lines}) has been removed" + (f", with {held}" if held else "")
    return f"{what} has changed ({_amount(change)})" + _around(change)


def _former(change: Change) -> str:
    """Return the name or title that a unit had before."""
    return f"“{change.before}”" if change.kind is Kind.TEST else quote(change.before)


def _amount(change: Change) -> str:
    added, removed = len(change.added), len(change.removed)
    if not removed:
        return f"{counted(added, 'line')} added"
    if not added:
        return f"{counted(removed, 'line')} removed"
    return f"{counted(added, 'line')} added, {removed} removed"


def _around(change: Change) -> str:
    """Name what the changed lines mention most, when nothing better is known."""
    held = {True: set(change.added), False: set(change.removed)}
    names = Counter(
        fact.name
        for part, is_new in ((change.new, True), (change.old, False))
        for fact in part.facts
        if fact.line in held[is_new]
        and re.fullmatch(r"[\w$.]{3,40}", fact.name)
        and not _DULL.search(fact.name)
    )
    top = [name for name, _ in names.most_common(3)]
    return f", around {quoted(top)}" if top else ""


def _contents(change: Change) -> str:
    """Say what a new unit consists of."""
    names = [unit.name for unit in change.members if unit.name]
    if names and change.kind is Kind.TEST:
        return f" holds the {'test' if len(names) == 1 else 'tests'} " + listed(
            [f"“{name}”" for name in names], 5
        )
    if names:
        return f" defines {quoted(names, 6)}"
    facts = change.new.facts
    unit = change.unit
    if unit is not None and unit.parameters and change.kind is Kind.FUNCTION:
        return " takes " + quoted([one.name for one in unit.parameters], 5)
    bound = [fact.name for fact in facts if fact.role is Role.ASSIGN and len(fact.name) <= 40]
    if bound and change.kind in {Kind.TYPE, Kind.FILE}:
        return " has " + quoted(bound, 5)
    calls = _calls(facts)
    if calls and change.kind is not Kind.FUNCTION:
        return " calls " + quoted([fact.name for fact in calls])
    return " has been added"


def _calls(facts: Sequence[Fact]) -> list[Fact]:
    """Return the calls that tell something, one a name."""
    found = {
        fact.name: fact
        for fact in reversed(facts)
        if fact.role is Role.CALL and len(fact.name) <= 50 and not _DULL.search(fact.name)
    }
    return list(reversed(found.values()))


def implied(change: Change, new: Version) -> Iterator[Told]:
    """Yield the consequences of a change for other code that a reviewer would nod at."""
    unit = change.unit
    if change.kind not in _DECLARED or unit is None or not unit.public or unit.noun == "macro":
        return
    name = quote(unit.name.rpartition(".")[2])
    if change.state == "removed" and unit.name.rpartition(".")[2] not in new.words:
        yield Told(f"code that uses {name} has to do without it", implies=True)
    elif change.state == "renamed":
        yield Told(f"code that uses {quote(change.before)} has to use {name}", implies=True)
    if (
        change.state not in {"changed", "renamed"}
        or len(change.old.units) != 1
        or len(change.new.units) != 1
    ):
        return
    before = {one.name: one for one in change.old.units[0].parameters}
    after = change.new.units[0].parameters
    at = ((True, unit.head),)
    must = [one.name for one in after if one.name not in before and not one.optional]
    if (
        must
        and len(after) > len(before)
        and unit.head in change.added
        and change.file.language not in _LOOSE
    ):
        yield Told(f"callers of {name} must pass {quoted(must)}", at, implies=True)
    for one in after:
        was = before.get(one.name)
        if was is not None and was.default and one.default != was.default and fits(one.default):
            yield Told(
                f"callers of {name} that leave out {quote(one.name)} now get {quote(one.default)}",
                at,
                implies=True,
            )
    facts = difference(change.old, change.new)
    broad = [fact for fact in facts.came.get(Role.CATCH, []) if _BROAD.fullmatch(fact.name)]
    narrow = [fact for fact in facts.gone.get(Role.CATCH, []) if not _BROAD.fullmatch(fact.name)]
    if broad and narrow:
        yield Told(
            f"errors other than {quote(narrow[0].name)} are now caught in {name}, too",
            _at(broad, new=True),
            implies=True,
        )


def told(change: Change, old: Version, new: Version) -> list[Told]:
    """Return the sentences about one unit, the most informative first."""
    return [*_claims(change, old, new), *list(implied(change, new))[:2]]


def _claims(change: Change, old: Version, new: Version) -> list[Told]:
    if change.state in {"layout", "moved", "removed", "overload", "less"}:
        return [Told(plain_line(change))]
    if change.noun == "tests":
        return [Told(plain_line(change)), *_inside_new(change)][:2]
    if change.state == "new":
        found = [Told(plain_line(change))]
        found += _documented(change)
        if change.size > 4:
            found += _inside_new(change)
        return found[:MAX_DETAILS]
    writer = _Writer(change, old, new)
    details = list(writer.details())[:MAX_DETAILS]
    if change.state in {"renamed", "replaced"} or not details:
        return [Told(plain_line(change)), *details][:MAX_DETAILS]
    first = details[0]
    full = first.text.replace(label(change), label(change, full=True), 1)
    return [first._replace(text=full), *details[1:]]


def _documented(change: Change) -> list[Told]:
    unit = change.unit
    if unit is None or not unit.name:
        return []
    for fact in change.new.facts:
        if fact.role is not Role.COMMENT or not (unit.start <= fact.line <= unit.end):
            continue
        if fact.line >= unit.head and not fact.text.startswith(('"', "'")):
            continue
        said = prose_of(fact.text)
        if said:
            return [Told(f"{label(change)} is described as “{said[0]}”", _at([fact], new=True))]
    return []


def _inside_new(change: Change) -> Iterator[Told]:
    """Say what a new unit checks, raises, catches, calls and returns."""
    facts, subject = change.new.facts, label(change)
    for role, verb in (
        (Role.CONDITION, "checks"),
        (Role.RAISE, "raises"),
        (Role.CATCH, "catches"),
        (Role.CALL, "calls"),
        (Role.RETURN, "returns"),
    ):
        found = [fact for fact in facts if fact.role is role]
        if role is Role.CALL:
            found = _calls(facts) if change.kind is Kind.FUNCTION else []
        names = [fact.name if role not in _TEXTS else fact.text for fact in found]
        kept = [(fact, name) for fact, name in zip(found, names, strict=True) if fits(name)]
        if role is Role.CONDITION:
            shown = listed(list(dict.fromkeys(_condition(fact) for fact, _ in kept)), 3)
        else:
            shown = quoted([name for _, name in kept])
        if shown:
            yield Told(
                f"{subject} {verb if change.noun != 'tests' else verb[:-1]} {shown}",
                _at([fact for fact, _ in kept], new=True),
            )


def _condition(fact: Fact) -> str:
    return f"that not {quote(fact.text)}" if fact.name == "unless" else quote(fact.text)


def _exchange(before: str, after: str) -> str:
    """Return "B instead of A", of long code only the part that differs; "" if it cannot be quoted."""
    if len(before) + len(after) > LONG:
        left, right = (re.findall(r"[\w$.]+|\s+|[^\w\s]", text) for text in (before, after))
        edits = [
            edit
            for edit in SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
            if edit[0] != "equal"
        ]
        if len(edits) == 1:
            _, low, high, start, stop = edits[0]
            gone, came = "".join(left[low:high]).strip(" ,"), "".join(right[start:stop]).strip(" ,")
            names = all(re.fullmatch(r"[\w$.\"' -]{2,60}", piece) for piece in (gone, came))
            if names:
                return f"{quote(came)} instead of {quote(gone)}"
    return f"{quote(after)} instead of {quote(before)}" if fits(before, after) else ""


def _at(facts: Sequence[Fact], *, new: bool) -> tuple[tuple[bool, int], ...]:
    return tuple((new, fact.line) for fact in facts)


class _Writer:
    """Details of a unit that both versions have."""

    def __init__(self, change: Change, old: Version, new: Version) -> None:
        self.change = change
        self.old = old
        self.subject = label(change)
        self.seen: set[tuple[bool, int]] = set()
        self.found = difference(change.old, change.new)
        self.before = _text(change.old, old)
        self.after = _text(change.new, new)
        self.before_words = _words(change.old, old)
        self.after_words = _words(change.new, new)

    def details(self) -> Iterator[Told]:
        """Yield what changed, the most telling first; each line is told once."""
        seen: set[tuple[bool, int]] = set()
        texts: set[str] = set()
        for one in self._all():
            self.seen = seen
            if one.text not in texts and not (one.lines and seen.issuperset(one.lines)):
                seen.update(one.lines)
                texts.add(one.text)
                yield one

    def _all(self) -> Iterator[Told]:
        yield from self.signature()
        yield from self.exchanged(Role.RAISE, "raises")
        yield from self.raised()
        yield from self.exchanged(Role.CATCH, "catches")
        yield from self.conditions()
        yield from self.returns()
        yield from self.arguments()
        yield from self.values()
        yield from self.calls()
        yield from self.more_calls()
        yield from self.imports()
        yield from self.strings()
        yield from self.comments()
        if self.change.size <= SMALL:
            yield from self.lines()

    def came(self, role: Role) -> list[Fact]:
        return self.found.came.get(role, [])

    def gone(self, role: Role) -> list[Fact]:
        return self.found.gone.get(role, [])

    def is_new(self, text: str) -> bool:
        """Return True when the old version does not contain a piece of code."""
        return squeeze(text) not in self.before

    def is_gone(self, text: str) -> bool:
        return squeeze(text) not in self.after

    def signature(self) -> Iterator[Told]:
        change = self.change
        if len(change.new.units) > len(change.old.units) > 0 and change.kind is Kind.FUNCTION:
            known = [unit.parameters for unit in change.old.units]
            for unit in change.new.units:
                if unit.parameters not in known and unit.parameters:
                    takes = quoted([one.name for one in unit.parameters])
                    yield Told(
                        f"{self.subject} has a new overload that takes {takes}",
                        ((True, unit.head),),
                    )
            return
        if len(change.old.units) != 1 or len(change.new.units) != 1 or change.kind not in _DECLARED:
            return
        one, two = change.old.units[0], change.new.units[0]
        if not one.head or not two.head:
            return
        at = ((True, two.head),)
        before = {item.name: item for item in one.parameters}
        after = {item.name: item for item in two.parameters}
        came = [item for item in two.parameters if item.name not in before]
        gone = [item for item in one.parameters if item.name not in after]
        if came and gone:
            yield Told(
                f"{self.subject} now takes {quoted([i.name for i in came])} instead of {quoted([i.name for i in gone])}",
                at,
            )
        elif came:
            word = "parameter" if len(came) == 1 else "parameters"
            how = "optional " if all(item.optional for item in came) else ""
            yield Told(
                f"{self.subject} takes the new {how}{word} {quoted([i.name for i in came])}", at
            )
        elif gone:
            word = "parameter" if len(gone) == 1 else "parameters"
            yield Told(
                f"{self.subject} no longer takes the {word} {quoted([i.name for i in gone])}", at
            )
        for item in two.parameters:
            was = before.get(item.name)
            if (
                was is not None
                and was.default != item.default
                and fits(was.default or "x", item.default or "x")
            ):
                if was.default and item.default:
                    yield Told(
                        f"the default of {quote(item.name)} in {self.subject} is now {quote(item.default)} instead of {quote(was.default)}",
                        at,
                    )
            if (
                was is not None
                and was.type != item.type
                and was.type
                and item.type
                and fits(was.type, item.type)
            ):
                yield Told(
                    f"the parameter {quote(item.name)} of {self.subject} now has the type {quote(item.type)} instead of {quote(was.type)}",
                    at,
                )
        if change.file.language in {"c", "cpp"}:  # a prototype may say it, too
            return
        plain = {*before, *after}
        left, right = Counter(one.head_tokens), Counter(two.head_tokens)
        more = [token for token in (right - left) if re.match(r"\w", token) and token not in plain]
        less = [token for token in (left - right) if re.match(r"\w", token) and token not in plain]
        if more and not less and len(more) <= 2:
            yield Told(f"{self.subject} is now declared {quoted(more)}", at)
        elif less and not more and len(less) <= 2:
            yield Told(f"{self.subject} is no longer declared {quoted(less)}", at)

    def exchanged(self, role: Role, verb: str) -> Iterator[Told]:
        came = [fact for fact in self.came(role) if fact.name and self.is_new(fact.name)]
        gone = [fact for fact in self.gone(role) if fact.name and self.is_gone(fact.name)]
        if came and gone:
            yield Told(
                f"{self.subject} now {verb} {quoted([f.name for f in came])} instead of {quoted([f.name for f in gone])}",
                _at(came, new=True),
            )
        elif came:
            message = _message(came[0].text) if role is Role.RAISE else ""
            about = f" with the message “{message}”" if message and len(came) == 1 else ""
            yield Told(
                f"{self.subject} now {verb} {quoted([f.name for f in came])}{about}",
                _at(came, new=True),
            )
        elif gone:
            yield Told(
                f"{self.subject} no longer {verb} {quoted([f.name for f in gone])}",
                _at(gone, new=False),
            )

    def raised(self) -> Iterator[Told]:
        """Tell further errors of a type that was raised before, too."""
        for fact in self.came(Role.RAISE):
            message = _message(fact.text)
            if fact.name and message and self.is_new(message):
                yield Told(
                    f"{self.subject} raises {quote(fact.name)} with the new message “{message}”",
                    _at([fact], new=True),
                )

    def conditions(self) -> Iterator[Told]:
        came = [f for f in self.came(Role.CONDITION) if fits(f.text) and self.is_new(f.text)]
        gone = [f for f in self.gone(Role.CONDITION) if fits(f.text) and self.is_gone(f.text)]
        pairs = _pairs(gone, came, least=0.0 if len(gone) == len(came) == 1 else 0.6)
        for one, two in pairs[:2]:
            yield Told(
                f"the condition {_condition(one)} in {self.subject} is now {_condition(two)}",
                _at([two], new=True),
            )
        paired = {id(fact) for pair in pairs for fact in pair}
        came = [fact for fact in came if id(fact) not in paired]
        gone = [fact for fact in gone if id(fact) not in paired]
        if came:
            texts = list(dict.fromkeys(_condition(fact) for fact in came))
            yield Told(f"{self.subject} now checks {listed(texts, 3)}", _at(came[:3], new=True))
        if gone:
            texts = list(dict.fromkeys(_condition(fact) for fact in gone))
            yield Told(
                f"{self.subject} no longer checks {listed(texts, 3)}", _at(gone[:3], new=False)
            )

    def returns(self) -> Iterator[Told]:
        came = [f for f in self.came(Role.RETURN) if f.text and self.is_new("return" + f.text)]
        gone = [f for f in self.gone(Role.RETURN) if f.text and self.is_gone("return" + f.text)]
        if len(came) == len(gone) == 1:
            exchanged = _exchange(gone[0].text, came[0].text)
            if exchanged:
                whole = quote(came[0].text) in exchanged
                what = "now returns" if whole else "now returns a value with"
                yield Told(f"{self.subject} {what} {exchanged}", _at(came, new=True))
            return
        came, gone = ([f for f in each if fits(f.text)] for each in (came, gone))
        if came:
            yield Told(
                f"{self.subject} now returns {quoted([f.text for f in came], 3)}",
                _at(came, new=True),
            )
        elif gone:
            yield Told(
                f"{self.subject} no longer returns {quoted([f.text for f in gone], 3)}",
                _at(gone, new=False),
            )

    def arguments(self) -> Iterator[Told]:
        """Compare calls that both versions make with other arguments."""
        came, gone = self.came(Role.CALL), self.gone(Role.CALL)
        before = Counter(fact.name for fact in gone)
        after = Counter(fact.name for fact in came)
        for fact in came:
            if before[fact.name] != 1 or after[fact.name] != 1:
                continue
            was = next(one for one in gone if one.name == fact.name)
            more, less = _items(was.text, fact.text)
            if not (more or less) or not fits(*more, *less) or len("".join((*more, *less))) > 160:
                continue
            call = f"the call to {quote(fact.name, 60)} in {self.subject}"
            at = _at([fact], new=True)
            if more and less and len(more) == len(less) == 1:
                exchanged = _exchange(less[0], more[0])
                what = "" if quote(more[0]) in exchanged else "a value with "
                yield Told(f"{call} now passes {what}{exchanged}", at)
            elif more and not less and len(more) < 4:
                yield Told(f"{call} now also passes {quoted(more)}", at)
            elif less and not more and len(less) < 4:
                yield Told(f"{call} no longer passes {quoted(less)}", at)

    def calls(self) -> Iterator[Told]:
        came = _named(self.came(Role.CALL), self.before_words)
        gone = _named(self.gone(Role.CALL), self.after_words)
        if came and gone:
            yield Told(
                f"{self.subject} now calls {quoted([f.name for f in came])} and no longer {quoted([f.name for f in gone])}",
                _at(came[:4], new=True),
            )
        elif came:
            yield Told(
                f"{self.subject} now calls {quoted([f.name for f in came])}",
                _at(came[:4], new=True),
            )
        elif gone:
            yield Told(
                f"{self.subject} no longer calls {quoted([f.name for f in gone])}",
                _at(gone[:4], new=False),
            )

    def more_calls(self) -> Iterator[Told]:
        """Tell calls of what was called before, too."""
        more, less = self.came(Role.CALL), self.gone(Role.CALL)
        names = Counter(fact.name for fact in more) - Counter(fact.name for fact in less)
        for fact in more:
            known = not self.is_new(f"{fact.name}({fact.text})") or not self.is_new(
                f"{fact.name} {fact.text}"
            )
            if (
                names[fact.name]
                and not known
                and fits(fact.text or fact.name)
                and not _DULL.search(fact.name)
            ):
                given = f" with {quote(fact.text)}" if fact.text else ""
                yield Told(
                    f"{self.subject} has a new call of {quote(fact.name)}{given}",
                    _at([fact], new=True),
                )

    def values(self) -> Iterator[Told]:
        came, gone = _innermost(self.came(Role.ASSIGN)), _innermost(self.gone(Role.ASSIGN))
        before = Counter(fact.name for fact in gone)
        after = Counter(fact.name for fact in came)
        changed = 0
        for fact in came:
            if before[fact.name] == 1 and after[fact.name] == 1 and changed < 3:
                was = next(one for one in gone if one.name == fact.name)
                exchanged = _exchange(was.text, fact.text) if was.text and fact.text else ""
                if exchanged and fits(fact.name):
                    changed += 1
                    verb = "is now" if quote(fact.text) in exchanged else "now has"
                    yield Told(
                        f"{quote(fact.name)} in {self.subject} {verb} {exchanged}",
                        _at([fact], new=True),
                    )
        if self.change.kind in {Kind.FUNCTION, Kind.TEST}:
            for fact in came:
                if set(re.findall(r"[\w$]+", fact.name)[-1:]) & self.before_words:
                    continue
                if (
                    fact.text
                    and fits(fact.name, fact.text)
                    and not before[fact.name]
                    and fact.name != fact.text
                ):
                    yield Told(
                        f"{self.subject} now sets {quote(fact.name)} to {quote(fact.text)}",
                        _at([fact], new=True),
                    )
            return
        new = [
            f
            for f in came
            if fits(f.name) and f.name not in self.before_words and self.is_new(f.name)
        ]
        old = [
            f
            for f in gone
            if fits(f.name) and f.name not in self.after_words and self.is_gone(f.name)
        ]
        if new:
            yield Told(
                f"{self.subject} now has {quoted([f.name for f in new], 5)}", _at(new, new=True)
            )
        if old:
            yield Told(
                f"{self.subject} no longer has {quoted([f.name for f in old], 5)}",
                _at(old, new=False),
            )

    def strings(self) -> Iterator[Told]:
        came, gone = self.came(Role.STRING), self.gone(Role.STRING)
        pairs = _pairs(gone, came, least=0.3)
        paired = {id(fact) for pair in pairs for fact in pair}
        for facts, new, verb in ((came, True, "now has"), (gone, False, "no longer has")):
            single = [f for f in facts if id(f) not in paired and fits(f.text) and len(f.text) > 4]
            single = [f for f in single if (self.is_new if new else self.is_gone)(f.text)]
            if single:
                word = "text" if len(single) == 1 else "texts"
                yield Told(
                    f"{self.subject} {verb} the {word} {quoted([f.text for f in single], 3)}",
                    _at(single, new=new),
                )
        for one, two in pairs[:2]:
            if fits(one.text, two.text) and one.text != two.text:
                yield Told(
                    f"the text {quote(one.text)} in {self.subject} is now {quote(two.text)}",
                    _at([two], new=True),
                )

    def imports(self) -> Iterator[Told]:
        for facts, new, verb in (
            (self.came(Role.IMPORT), True, "now imports"),
            (self.gone(Role.IMPORT), False, "no longer imports"),
        ):
            modules: dict[str, list[Fact]] = {}
            for fact in facts:
                if fits(fact.name):
                    modules.setdefault(fact.text, []).append(fact)
            said = [
                quoted([fact.name for fact in each]) + (f" from {quote(module)}" if module else "")
                for module, each in sorted(modules.items(), key=lambda item: not item[0])
            ]
            if said:
                yield Told(f"{self.subject} {verb} {listed(said, 3)}", _at(facts, new=new))

    def lines(self) -> Iterator[Told]:
        """Tell the lines of a small change that no other sentence is about."""
        for gone, came in self.blocks():
            paired = len(gone) == len(came)
            for at, (line, text) in enumerate(came):
                if (True, line) in self.seen or not fits(text) or not self.is_new(text):
                    continue
                if (
                    not re.search(r"[\w$]+\W+[\w$]", text)
                    or _split(text) is None
                    or text[0] in "#/*"
                ):
                    continue
                was = gone[at][1] if paired else ""
                exchanged = _exchange(was, text) if was and self.is_gone(was) else ""
                whole = "the line " if not exchanged or quote(text) in exchanged else ""
                yield Told(
                    f"{self.subject} now has {whole}{exchanged or quote(text)}", ((True, line),)
                )
            for line, text in () if came else gone:
                if (
                    (False, line) not in self.seen
                    and fits(text)
                    and self.is_gone(text)
                    and " " in text
                ):
                    yield Told(
                        f"{self.subject} no longer has the line {quote(text)}", ((False, line),)
                    )

    def blocks(self) -> Iterator[tuple[list[tuple[int, str]], list[tuple[int, str]]]]:
        """Yield the removed and the added lines of the unit between unchanged lines."""
        held = {True: set(self.change.added), False: set(self.change.removed)}
        for hunk in self.change.file.hunks:
            for kept, run in groupby(hunk.lines, key=lambda line: line.kind is LineKind.CONTEXT):
                if kept:
                    continue
                lines = list(run)
                gone, came = (
                    [
                        (number, one.text.strip().rstrip(",;"))
                        for one in lines
                        if (one.old is None) is new
                        and (number := (one.new if new else one.old) or 0) in held[new]
                    ]
                    for new in (False, True)
                )
                yield gone, came

    def comments(self) -> Iterator[Told]:
        for fact in self.came(Role.COMMENT):
            for said in prose_of(fact.text):
                if spoken(said) not in self.old.spoken:
                    yield Told(
                        f"a comment in {self.subject} now says “{said}”", _at([fact], new=True)
                    )
                    return


def _spans(part: Part) -> list[tuple[int, int]]:
    """Return the lines of a unit; none for a file, or where git alone names the unit."""
    return [(unit.start, unit.end) for unit in part.units if unit.head and unit.name]


def _text(part: Part, version: Version) -> str:
    spans = _spans(part)
    return version.squeezed(spans) if spans or not version.lines else version.all_squeezed


def _words(part: Part, version: Version) -> frozenset[str]:
    spans = _spans(part)
    return version.words_in(spans) if spans else version.words


def _message(text: str) -> str:
    match = re.search(r"([\"'`])((?:(?!\1).){8,90})\1", text)
    return match[2].replace("“", "").strip() if match and re.search(r"\w \w", match[2]) else ""


def _tokens(text: str) -> Counter[str]:
    return Counter(re.findall(r"[\w$]+|[^\w\s]", text))


def _innermost(facts: Sequence[Fact]) -> list[Fact]:
    """Leave out bindings of a collection of which an entry changed, too."""
    kept: list[Fact] = []
    for fact in facts:
        entries = facts if len(fact.text) > 2 * len(fact.name) and len(facts) < MOST_ENTRIES else ()
        if not any(
            one is not fact and one.text and one.name in fact.text and one.text in fact.text
            for one in entries
        ):
            kept.append(fact)
    return kept


def _pairs(
    gone: Sequence[Fact], came: Sequence[Fact], *, least: float = 0.6
) -> list[tuple[Fact, Fact]]:
    """Pair what went with what came, where they have enough tokens in common."""
    found: list[tuple[Fact, Fact]] = []
    left = list(gone[:20])
    for two in came[:20]:
        counts = _tokens(two.text)

        def alike(one: Fact, counts: Counter[str] = counts) -> float:
            other = _tokens(one.text)
            return 2 * (counts & other).total() / max(1, counts.total() + other.total())

        best = max(left, key=alike, default=None)
        if best is not None and alike(best) >= least:
            left.remove(best)
            found.append((best, two))
    return found


def _items(before: str, after: str) -> tuple[list[str], list[str]]:
    """Return the arguments that came and those that went; none if a list cannot be split."""
    left, right = _split(before), _split(after)
    if left is None or right is None:
        return [], []
    more, less = Counter(right) - Counter(left), Counter(left) - Counter(right)
    return [item for item in dict.fromkeys(right) if item in more], [
        item for item in dict.fromkeys(left) if item in less
    ]


def _split(text: str) -> list[str] | None:
    """Split arguments at the commas that are outside of brackets and quotes."""
    if "…" in text:
        return None
    found, depth, quote_mark, current = [], 0, "", ""
    for char in text:
        if quote_mark:
            quote_mark = "" if char == quote_mark else quote_mark
        elif char in "\"'`":
            quote_mark = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        if char == "," and depth == 0 and not quote_mark:
            found.append(current.strip())
            current = ""
        else:
            current += char
    if depth or quote_mark:
        return None
    return [item for item in (*found, current.strip()) if item]


def _named(facts: Sequence[Fact], other: frozenset[str]) -> list[Fact]:
    """Return the calls whose last name the other version does not have, one a name."""
    found: dict[str, Fact] = {}
    for fact in facts:
        last = re.split(r"\.|->|::", fact.name)[-1].strip("?!")
        if last and last not in other and len(fact.name) <= 60:
            found.setdefault(fact.name, fact)
    return list(found.values())


def noun_of(count: int, noun: str) -> str:
    """Return a noun in the number of a count."""
    return noun if count == 1 else plural(noun)
