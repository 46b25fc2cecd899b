"""From topics to pseudo-references: their order, weight, places, and what the encoder reads."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence

from crscore.claims.structural.change import Change
from crscore.claims.structural.english import Told, sentence
from crscore.claims.structural.plain import MACHINE_MADE, made_by_machine_name
from crscore.records import (
    ChangedFile,
    LineKind,
    LineSpan,
    PseudoReference,
    ReferenceKind,
    Side,
    Topic,
    TopicState,
)
from crscore.syntax.outline import Kind, Role
from crscore.text.code_spans import find_code_spans
from crscore.text.words import split_identifier

SOURCE = "structural"
READING = 400
"""Characters of code, in words, that the encoder reads for a topic."""
READING_OF_DETAIL = 240
"""The same for each further claim."""
COVER = 0.8
"""Share of the changed code lines that the central topics hold."""
UNTESTED = 5
"""Lines from which a new unit is expected to come with a test."""
FURTHER = 0.8
"""Factor of the weight of each further claim about a topic."""
ROLES = {
    "code": 1.0,
    "config": 0.6,
    "test": 0.6,
    "docs": 0.5,
    "aside": 0.5,
    "fixture": 0.3,
    "machine": 0.1,
}
"""Weight by what a file is for."""
CODE = frozenset({"code", "test", "aside"})
"""Files whose lines the central topics hold."""
STATES = {"layout": 0.2, "comments": 0.4, "moved": 0.5, "away": 0.5, "place": 0.2, "same": 0.3}
"""Factor of the weight by what happened; `same`: a member of a type that got another name."""
MACHINE_NOUNS = frozenset(MACHINE_MADE)

# `tests/a.py`, `src/test/java/A.java`, `test_a.py`, `a_test.go`, `a.spec.ts`, `ATest.java`
_TEST_FILE = re.compile(
    r"(?:^|/)(?:tests?|spec|specs|__tests__|e2e)/|(?:^|/)test_[^/]*$|[._-](?:test|spec)s?\.\w+$"
    r"|(?:Tests?|Specs?|IT)\.\w+$|(?:Specs?|Tests)(?:Async)?\.cs$|(?:^|/)[\w.]*(?:\.Tests?|Specs)/"
)
_ASIDE = re.compile(
    r"(?i)(?:^|/)(?:bench(?:marks?)?|examples?|demos?|playgrounds?|samples)(?:/|[^/]*$)"
)
_FIXTURE = re.compile(r"(?:^|/)(?:testdata|fixtures?|__fixtures__|__mocks__|cassettes)/")
_DOCS = re.compile(r"(?i)\.(?:md|mdx|markdown|rst|adoc|txt)$|(?:^|/)(?:docs?|documentation)/")
_CONFIG = re.compile(
    r"(?i)\.(?:json5?|ya?ml|toml|ini|cfg|conf|properties|env|xml|lock|csproj|gradle)$|(?:^|/)\.|file$"
)
GAP = 3
"""Unchanged lines between changed lines of one span."""
ASKING = "why does the new code"
"""Beginning of every reading: an encoder of prose finds code nearer to a reviewer's sentence when
it is asked about."""
VERBS = {
    "new": "add", "removed": "remove", "renamed": "rename", "replaced": "rename", "moved": "move",
    "away": "move", "place": "move",
    "layout": "format", "comments": "comment",
}  # fmt: skip


_STATES = {
    "new": TopicState.NEW, "removed": TopicState.REMOVED, "renamed": TopicState.RENAMED,
    "moved": TopicState.MOVED, "away": TopicState.MOVED, "place": TopicState.MOVED,
    "layout": TopicState.LAYOUT, "comments": TopicState.COMMENTS,
}  # fmt: skip


def in_order(found: Sequence[tuple[Change, list[Told]]]) -> tuple[PseudoReference, ...]:
    """Return the claims of all topics, most informative first.

    The first claims of the fewest topics that hold `COVER` of the changed code lines weigh 0.5 and
    more, all other claims less, so that a limit on claims leaves out the smallest topics.
    """
    places = [spans(change) for change, _ in found]
    topics = [_topic(change, each) for (change, _), each in zip(found, places, strict=True)]
    central = _central([change for change, _ in found])
    rows: list[tuple[float, PseudoReference]] = []
    seen: set[str] = set()
    texts: dict[int, dict[tuple[bool, int], str]] = {}
    for at, (change, said) in enumerate(found):
        base = weight_of(change)
        text = texts.get(id(change.file)) or texts.setdefault(id(change.file), _texts(change.file))
        readings = _readings(change, said, text)
        for position, (one, reading) in enumerate(zip(said, readings, strict=True)):
            worth = base * FURTHER**position / 2 + 0.5 * (at in central and position == 0)
            claim = PseudoReference(
                text=sentence(one.text),
                kind=ReferenceKind.IMPLICATION if one.implies else ReferenceKind.CLAIM,
                source=SOURCE,
                spans=_spans(change, one) or places[at],
                identifiers=_identifiers(change, one),
                weight=round(max(worth, 0.001), 4),
                reading=reading,
                topic=topics[at],
            )
            # The same consequence of several changes is one implication.
            if claim.text not in seen or (position == 0 and not one.implies):
                rows.append((claim.weight, claim))
            seen.add(claim.text)
    return tuple(claim for _, claim in sorted(rows, key=lambda row: -row[0]))


def role_of(path: str) -> str:
    """Return what a file is for, by its path: a key of `ROLES`."""
    if made_by_machine_name(path):
        return "machine"
    if _FIXTURE.search(path):
        return "fixture"
    if _TEST_FILE.search(path):
        return "test"
    if _DOCS.search(path):
        return "docs"
    if _ASIDE.search(path):
        return "aside"
    return "config" if _CONFIG.search(path) else "code"


def weight_of(change: Change) -> float:
    """Return how much of the change a topic carries, in (0, 1]."""
    role = "machine" if change.noun in MACHINE_NOUNS else role_of(change.file.path)
    size = min(1.0, 0.25 + 0.75 * math.log2(1 + change.size) / 8)
    worth = ROLES[role] * size * STATES.get(change.state, 1.0)
    if change.unit is not None and not change.unit.public:
        worth *= 0.9
    if change.state == "changed" and change.before:
        worth *= STATES["same"]
    roles = {fact.role for part in (change.new, change.old) for fact in part.facts}
    return worth * (0.4 if not change.name and roles == {Role.IMPORT} else 1.0)


def without_test(changes: Sequence[Change]) -> Change | None:
    """Return the largest new public unit of a change that touches no test; None otherwise."""
    if any(one.added and ("test" in (role_of(one.file.path), one.kind)) for one in changes):
        return None
    found = [
        one
        for one in changes
        if one.state == "new" and one.size >= UNTESTED
        and one.unit is not None and one.unit.public and one.kind in {Kind.FUNCTION, Kind.TYPE}
        and one.file.path and role_of(one.file.path) == "code"
    ]  # fmt: skip
    return max(found, key=lambda one: one.size, default=None)


def _central(changes: Sequence[Change]) -> frozenset[int]:
    """Return the fewest topics that hold `COVER` of the changed code lines."""
    sizes = [
        one.size + sum(other.size for other in one.alike)
        if role_of(one.file.path) in CODE and one.noun not in MACHINE_NOUNS
        else 0
        for one in changes
    ]
    left = COVER * sum(sizes)
    chosen: set[int] = set()
    for at in sorted(range(len(sizes)), key=lambda index: (-sizes[index], index)):
        if left <= 0:
            break
        chosen.add(at)
        left -= sizes[at]
    return frozenset(chosen)


def _identifiers(change: Change, one: Told) -> tuple[str, ...]:
    names = [change.name, *find_code_spans(one.text)]
    return tuple(dict.fromkeys(name for name in names if name))


def _spans(change: Change, one: Told) -> tuple[LineSpan, ...]:
    """Return the lines that one claim is about."""
    held = {True: set(change.added), False: set(change.removed)}
    lines = sorted({place for place in one.lines if place[1] in held[place[0]]}, reverse=True)
    old_path = change.file.old_path or change.file.path
    return tuple(
        LineSpan(
            path=change.file.path if new else old_path,
            side=Side.NEW if new else Side.OLD,
            start=line,
            end=line,
        )
        for new, line in lines
    )


def _topic(change: Change, places: Sequence[LineSpan]) -> Topic:
    unit = change.unit
    if unit is not None and unit.name and unit.start:
        side = Side.NEW if change.new.units else Side.OLD
        path = change.file.path if side is Side.NEW else change.file.old_path or change.file.path
        place = LineSpan(path=path, side=side, start=unit.start, end=unit.end)
    elif places:
        first = (places[0].side, places[0].path)
        last = [one for one in places if (one.side, one.path) == first][-1]
        place = LineSpan(path=last.path, side=last.side, start=places[0].start, end=last.end)
    else:
        place = LineSpan(path=change.file.path, side=Side.NEW, start=0, end=0)
    return Topic(
        name=change.name or change.file.path,
        noun=change.noun,
        state=_STATES.get(change.state, TopicState.CHANGED),
        lines=change.size - len(change.aside) + sum(one.size for one in change.alike),
        place=place,
    )


def _readings(
    change: Change, said: Sequence[Told], text: Mapping[tuple[bool, int], str]
) -> list[str]:
    """Return what the encoder reads for each claim: the code that it is about, in words."""
    removed = [(False, line) for line in change.removed]
    added = [(True, line) for line in change.added]
    lines = [*removed, *added]
    verb = VERBS.get(change.state) or _verb(lines)
    code = _words((text.get(one, "") for one in lines), READING)
    named = (
        " ".join(unit.name for unit in change.members) if change.noun == "tests" else change.name
    )
    name = _words([named.rpartition(".")[2] or named], READING)
    path = " ".join(split_identifier(change.file.path))
    where = f"{name} in {path}" if path else ""
    found = [" ".join(f"{ASKING} {verb} {where}: {code}".split())]
    shares: list[list[tuple[bool, int]]] = [[] for _ in said[1:]]
    for line, nearest in _nearest(lines, [one.lines for one in said[1:]]):
        shares[nearest].append(line)
    for share in shares:
        code = _words((text.get(item, "") for item in share), READING_OF_DETAIL)
        found.append(f"{ASKING} {_verb(share)}: {code}" if code else "")
    return found


def _nearest(
    lines: Sequence[tuple[bool, int]], places: Sequence[Sequence[tuple[bool, int]]]
) -> Iterator[tuple[tuple[bool, int], int]]:
    """Yield each line with the index of the claim that is about the nearest line of its side."""
    first: dict[bool, dict[int, tuple[int, int]]] = {True: {}, False: {}}
    for at, held in enumerate(places):
        for order, (new, number) in enumerate(held):
            first[new].setdefault(number, (at, order))
    numbers = {new: sorted(first[new]) for new in first}
    for line in lines:
        side = line[0] if numbers[line[0]] else not line[0]
        here = bisect_left(numbers[side], line[1])
        around = numbers[side][max(here - 1, 0) : here + 1]
        if around:
            distances = [(abs(number - line[1]), first[side][number]) for number in around]
            yield line, min(distances)[1][0]


def _verb(lines: Sequence[tuple[bool, int]]) -> str:
    kinds = {new for new, _ in lines}
    return "update" if len(kinds) == 2 else "add" if True in kinds else "remove"


def _texts(file: ChangedFile) -> dict[tuple[bool, int], str]:
    found: dict[tuple[bool, int], str] = {}
    for line in file.lines(LineKind.ADDED, LineKind.REMOVED):
        found[line.kind is LineKind.ADDED, line.new or line.old or 0] = line.text
    return found


def _words(lines: Iterable[str], limit: int) -> str:
    """Return code as words, cut at a word to `limit` characters."""
    found = ""
    for line in lines:
        found += " ".join(["", *split_identifier(line[:limit])])
        if len(found) > limit:
            return found[: limit + 1].rpartition(" ")[0].strip()
    return found.strip()


def spans(change: Change) -> tuple[LineSpan, ...]:
    """Return the changed lines of a topic as spans, the new version's first."""
    found = []
    for side, lines, path in (
        (Side.NEW, change.added, change.file.path),
        (Side.OLD, change.removed, change.file.old_path or change.file.path),
    ):
        start = None
        for at, line in enumerate(lines):
            start = line if start is None else start
            if at + 1 == len(lines) or lines[at + 1] > line + GAP:
                found.append(LineSpan(path=path, side=side, start=start, end=line))
                start = None
    others = [*change.alike, *([change.origin] if change.origin is not None else ())]
    return (*found, *(span for one in others for span in spans(one)))
