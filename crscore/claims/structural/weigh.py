"""From topics to pseudo-references: their order, weight, places, and what the encoder reads."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence

from crscore.claims.structural.change import Change
from crscore.claims.structural.english import Statement, sentence
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


def in_order(
    topics_with_statements: Sequence[tuple[Change, list[Statement]]],
) -> tuple[PseudoReference, ...]:
    """Return the claims of all topics, most informative first.

    The first claims of the fewest topics that hold `COVER` of the changed code lines weigh 0.5 and
    more, all other claims less, so that a limit on claims leaves out the smallest topics.
    """
    spans_by_topic = [spans(change) for change, _ in topics_with_statements]
    topics = [
        _topic(change, topic_spans)
        for (change, _), topic_spans in zip(topics_with_statements, spans_by_topic, strict=True)
    ]
    central = _central([change for change, _ in topics_with_statements])
    rows: list[tuple[float, PseudoReference]] = []
    seen_texts: set[str] = set()
    texts: dict[int, dict[tuple[bool, int], str]] = {}
    for index, (change, statements) in enumerate(topics_with_statements):
        base = weight_of(change)
        text = texts.get(id(change.file)) or texts.setdefault(id(change.file), _texts(change.file))
        readings = _readings(change, statements, text)
        for position, (statement, reading) in enumerate(zip(statements, readings, strict=True)):
            weight = base * FURTHER**position / 2 + 0.5 * (index in central and position == 0)
            claim = PseudoReference(
                text=sentence(statement.text),
                kind=ReferenceKind.IMPLICATION if statement.implies else ReferenceKind.CLAIM,
                source=SOURCE,
                spans=_spans(change, statement) or spans_by_topic[index],
                identifiers=_identifiers(change, statement),
                weight=round(max(weight, 0.001), 4),
                reading=reading,
                topic=topics[index],
            )
            # The same consequence of several changes is one implication.
            if claim.text not in seen_texts or (position == 0 and not statement.implies):
                rows.append((claim.weight, claim))
            seen_texts.add(claim.text)
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
    weight = ROLES[role] * size * STATES.get(change.state, 1.0)
    if change.unit is not None and not change.unit.public:
        weight *= 0.9
    if change.state == "changed" and change.before:
        weight *= STATES["same"]
    roles = {fact.role for part in (change.new, change.old) for fact in part.facts}
    return weight * (0.4 if not change.name and roles == {Role.IMPORT} else 1.0)


def without_test(changes: Sequence[Change]) -> Change | None:
    """Return the largest new public unit of a change that touches no test; None otherwise."""
    if any(
        change.added and ("test" in (role_of(change.file.path), change.kind)) for change in changes
    ):
        return None
    untested = [
        change
        for change in changes
        if change.state == "new" and change.size >= UNTESTED
        and change.unit is not None and change.unit.public
        and change.kind in {Kind.FUNCTION, Kind.TYPE}
        and change.file.path and role_of(change.file.path) == "code"
    ]  # fmt: skip
    return max(untested, key=lambda change: change.size, default=None)


def _central(changes: Sequence[Change]) -> frozenset[int]:
    """Return the fewest topics that hold `COVER` of the changed code lines."""
    sizes = [
        change.size + sum(similar.size for similar in change.similar)
        if role_of(change.file.path) in CODE and change.noun not in MACHINE_NOUNS
        else 0
        for change in changes
    ]
    left = COVER * sum(sizes)
    central: set[int] = set()
    for index in sorted(range(len(sizes)), key=lambda index: (-sizes[index], index)):
        if left <= 0:
            break
        central.add(index)
        left -= sizes[index]
    return frozenset(central)


def _identifiers(change: Change, statement: Statement) -> tuple[str, ...]:
    names = [change.name, *find_code_spans(statement.text)]
    return tuple(dict.fromkeys(name for name in names if name))


def _spans(change: Change, statement: Statement) -> tuple[LineSpan, ...]:
    """Return the lines that one claim is about."""
    changed_lines = {True: set(change.added), False: set(change.removed)}
    lines = sorted(
        {place for place in statement.lines if place[1] in changed_lines[place[0]]}, reverse=True
    )
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
        last = [span for span in places if (span.side, span.path) == first][-1]
        place = LineSpan(path=last.path, side=last.side, start=places[0].start, end=last.end)
    else:
        place = LineSpan(path=change.file.path, side=Side.NEW, start=0, end=0)
    return Topic(
        name=change.name or change.file.path,
        noun=change.noun,
        state=_STATES.get(change.state, TopicState.CHANGED),
        lines=change.size
        - len(change.aside)
        + sum(similar_change.size for similar_change in change.similar),
        place=place,
    )


def _readings(
    change: Change, statements: Sequence[Statement], text: Mapping[tuple[bool, int], str]
) -> list[str]:
    """Return what the encoder reads for each claim: the code that it is about, in words."""
    removed = [(False, line) for line in change.removed]
    added = [(True, line) for line in change.added]
    lines = [*removed, *added]
    verb = VERBS.get(change.state) or _verb(lines)
    code = _words((text.get(line, "") for line in lines), READING)
    full_name = (
        " ".join(unit.name for unit in change.members) if change.noun == "tests" else change.name
    )
    name = _words([full_name.rpartition(".")[2] or full_name], READING)
    path = " ".join(split_identifier(change.file.path))
    location = f"{name} in {path}" if path else ""
    readings = [" ".join(f"{ASKING} {verb} {location}: {code}".split())]
    shares: list[list[tuple[bool, int]]] = [[] for _ in statements[1:]]
    for line, nearest in _nearest(lines, [statement.lines for statement in statements[1:]]):
        shares[nearest].append(line)
    for share in shares:
        code = _words((text.get(item, "") for item in share), READING_OF_DETAIL)
        readings.append(f"{ASKING} {_verb(share)}: {code}" if code else "")
    return readings


def _nearest(
    lines: Sequence[tuple[bool, int]], places: Sequence[Sequence[tuple[bool, int]]]
) -> Iterator[tuple[tuple[bool, int], int]]:
    """Yield each line with the index of the claim that is about the nearest line of its side."""
    first: dict[bool, dict[int, tuple[int, int]]] = {True: {}, False: {}}
    for index, lines_of_claim in enumerate(places):
        for order, (new, line_number) in enumerate(lines_of_claim):
            first[new].setdefault(line_number, (index, order))
    numbers = {new: sorted(first[new]) for new in first}
    for line in lines:
        side = line[0] if numbers[line[0]] else not line[0]
        position = bisect_left(numbers[side], line[1])
        around = numbers[side][max(position - 1, 0) : position + 1]
        if around:
            distances = [
                (abs(line_number - line[1]), first[side][line_number]) for line_number in around
            ]
            yield line, min(distances)[1][0]


def _verb(lines: Sequence[tuple[bool, int]]) -> str:
    kinds = {new for new, _ in lines}
    return "update" if len(kinds) == 2 else "add" if True in kinds else "remove"


def _texts(file: ChangedFile) -> dict[tuple[bool, int], str]:
    texts: dict[tuple[bool, int], str] = {}
    for line in file.lines(LineKind.ADDED, LineKind.REMOVED):
        texts[line.kind is LineKind.ADDED, line.new or line.old or 0] = line.text
    return texts


def _words(lines: Iterable[str], limit: int) -> str:
    """Return code as words, cut at a word to `limit` characters."""
    words = ""
    for line in lines:
        words += " ".join(["", *split_identifier(line[:limit])])
        if len(words) > limit:
            return words[: limit + 1].rpartition(" ")[0].strip()
    return words.strip()


def spans(change: Change) -> tuple[LineSpan, ...]:
    """Return the changed lines of a topic as spans, the new version's first."""
    topic_spans = []
    for side, lines, path in (
        (Side.NEW, change.added, change.file.path),
        (Side.OLD, change.removed, change.file.old_path or change.file.path),
    ):
        start = None
        for index, line in enumerate(lines):
            start = line if start is None else start
            if index + 1 == len(lines) or lines[index + 1] > line + GAP:
                topic_spans.append(LineSpan(path=path, side=side, start=start, end=line))
                start = None
    related = [*change.similar, *([change.origin] if change.origin is not None else ())]
    return (*topic_spans, *(span for other_change in related for span in spans(other_change)))
