"""Conversion of topics to pseudo-references: order, weight, lines, and the encoder's input."""

import math
import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from crscore.claims.structural.change import Change
from crscore.claims.structural.english import Line, Statement, sentence
from crscore.claims.structural.plain_files import MACHINE_MADE, made_by_machine_name
from crscore.diff.ranges import join_ranges
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
from crscore.syntax.outline import DECLARED, Role
from crscore.text.code_spans import find_code_spans
from crscore.text.words import split_identifier

SOURCE = "structural"
MAX_READING_CHARS = 400
"""Maximum characters of code, in words, that the encoder reads for a topic."""
MAX_DETAIL_CHARS = 240
"""The same for each further claim."""
CENTRAL_SHARE = 0.8
"""Share of the changed code lines that the central topics contain together."""
MIN_LINES_TO_TEST = 5
"""Minimum lines of a new unit that should have a test."""
DETAIL_WEIGHT = 0.8
"""Factor by which each further claim about a topic weighs less than the one before."""
MAX_GAP_LINES = 3
"""Maximum unchanged lines between the changed lines of one span."""
READING_PREFIX = "why does the new code"
"""Beginning of every reading: an encoder of prose finds code nearer to a reviewer's sentence when
the reading is a question about the code."""
CODE = frozenset({"code", "test", "aside"})
"""Roles of the files whose lines the central topics contain."""
MACHINE_NOUNS = frozenset(MACHINE_MADE)

_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_ROLES: dict[str, dict[str, Any]] = _TABLES["roles"]
_STATES: dict[str, dict[str, Any]] = _TABLES["states"]
_PATHS = {role: re.compile(row["path"]) for role, row in _ROLES.items() if "path" in row}


def rank_claims(topics: Sequence[tuple[Change, list[Statement]]]) -> tuple[PseudoReference, ...]:
    """Return the claims of all topics, most informative first.

    The first claims of the fewest topics that hold `CENTRAL_SHARE` of the changed code lines weigh
    0.5 and more, all other claims less, so that a limit on claims leaves out the smallest topics.
    """
    central = _central([change for change, _ in topics])
    claims: list[PseudoReference] = []
    texts: set[str] = set()
    code_of_files: dict[int, dict[Line, str]] = {}
    for index, (change, statements) in enumerate(topics):
        if id(change.file) not in code_of_files:
            code_of_files[id(change.file)] = _code_of(change.file)
        readings = _readings(change, statements, code_of_files[id(change.file)])
        topic_spans, base = spans(change), weight_of(change)
        topic = _topic(change, topic_spans)
        for position, (statement, reading) in enumerate(zip(statements, readings, strict=True)):
            weight = base * DETAIL_WEIGHT**position / 2 + 0.5 * (index in central and position == 0)
            names = [change.name, *find_code_spans(statement.text)]
            claim = PseudoReference(
                text=sentence(statement.text),
                kind=ReferenceKind.IMPLICATION if statement.implies else ReferenceKind.CLAIM,
                source=SOURCE,
                spans=_spans(change, statement) or topic_spans,
                identifiers=tuple(dict.fromkeys(name for name in names if name)),
                # a weight must be above 0, also when rounded
                weight=round(max(weight, 0.001), 4),
                reading=reading,
                topic=topic,
            )
            # The same consequence of several changes is one implication.
            if claim.text not in texts or (position == 0 and not statement.implies):
                claims.append(claim)
            texts.add(claim.text)
    return tuple(sorted(claims, key=lambda claim: -claim.weight))


def role_of(path: str) -> str:
    """Return what a file is for, by its path: a name of `roles` in `ranking.toml`."""
    if made_by_machine_name(path):
        return "machine"
    return next((role for role, pattern in _PATHS.items() if pattern.search(path)), "code")


def weight_of(change: Change) -> float:
    """Return how much of the change a topic carries, in (0, 1]."""
    role = "machine" if change.noun in MACHINE_NOUNS else role_of(change.file.path)
    # A topic of 255 lines or more has the full size; every doubling adds the same amount.
    size = min(1.0, 0.25 + 0.75 * math.log2(1 + change.size) / 8)
    weight: float = _ROLES[role]["weight"] * size * _state(change.state).get("weight", 1.0)
    if change.unit is not None and not change.unit.public:
        weight *= 0.9
    if change.state == "changed" and change.before:
        weight *= _STATES["same"]["weight"]
    roles = {fact.role for part in (change.new, change.old) for fact in part.facts}
    return weight * (0.4 if not change.name and roles == {Role.IMPORT} else 1.0)


def largest_untested(changes: Sequence[Change]) -> Change | None:
    """Return the largest new public unit of a change that touches no test; None otherwise."""
    if any(c.added and "test" in (role_of(c.file.path), c.kind) for c in changes):
        return None
    untested = (change for change in changes if _needs_test(change))
    return max(untested, key=lambda change: change.size, default=None)


def _needs_test(change: Change) -> bool:
    unit, path = change.unit, change.file.path
    is_new = change.state == "new" and change.size >= MIN_LINES_TO_TEST
    is_public = unit is not None and unit.public and change.kind in DECLARED
    return is_new and is_public and path != "" and role_of(path) == "code"


def _central(changes: Sequence[Change]) -> frozenset[int]:
    """Return the fewest topics that hold `CENTRAL_SHARE` of the changed code lines."""
    sizes = [
        change.size + sum(similar.size for similar in change.similar)
        if role_of(change.file.path) in CODE and change.noun not in MACHINE_NOUNS
        else 0
        for change in changes
    ]
    left = CENTRAL_SHARE * sum(sizes)
    central: set[int] = set()
    for index in sorted(range(len(sizes)), key=lambda index: -sizes[index]):
        if left <= 0:
            break
        central.add(index)
        left -= sizes[index]
    return frozenset(central)


def _spans(change: Change, statement: Statement) -> tuple[LineSpan, ...]:
    """Return the lines that one claim is about."""
    changed = {True: set(change.added), False: set(change.removed)}
    lines = sorted({line for line in statement.lines if line[1] in changed[line[0]]}, reverse=True)
    return tuple(_span(change, number, number, new=new) for new, number in lines)


def _span(change: Change, start: int, end: int, *, new: bool) -> LineSpan:
    path = change.file.path if new else change.file.old_path or change.file.path
    return LineSpan(path=path, side=Side.NEW if new else Side.OLD, start=start, end=end)


def _topic(change: Change, topic_spans: Sequence[LineSpan]) -> Topic:
    unit = change.unit
    if unit is not None and unit.name and unit.start:
        place = _span(change, unit.start, unit.end, new=bool(change.new.units))
    elif topic_spans:
        first = topic_spans[0]
        last = [s for s in topic_spans if (s.side, s.path) == (first.side, first.path)][-1]
        place = LineSpan(path=last.path, side=last.side, start=first.start, end=last.end)
    else:
        place = _span(change, 0, 0, new=True)
    similar = sum(similar.size for similar in change.similar)
    return Topic(
        name=change.name or change.file.path,
        noun=change.noun,
        state=TopicState(_state(change.state).get("topic", TopicState.CHANGED)),
        lines=change.size - len(change.aside) + similar,
        place=place,
    )


def _state(name: str) -> Mapping[str, Any]:
    return _STATES.get(name, {})


def _readings(
    change: Change, statements: Sequence[Statement], code: Mapping[Line, str]
) -> list[str]:
    """Return what the encoder reads for each claim: the code that it is about, in words."""
    lines = [(False, line) for line in change.removed] + [(True, line) for line in change.added]
    verb = _state(change.state).get("verb") or _verb(lines)
    names = [unit.name for unit in change.members] if change.noun == "tests" else [change.name]
    full_name = " ".join(names)
    name = _words([full_name.rpartition(".")[2] or full_name], MAX_READING_CHARS)
    path = " ".join(split_identifier(change.file.path))
    location = f"{name} in {path}" if path else ""
    words = _words((code.get(line, "") for line in lines), MAX_READING_CHARS)
    readings = [" ".join(f"{READING_PREFIX} {verb} {location}: {words}".split())]
    shares: list[list[Line]] = [[] for _ in statements[1:]]
    for line, nearest in _nearest(lines, [statement.lines for statement in statements[1:]]):
        shares[nearest].append(line)
    for share in shares:
        words = _words((code.get(line, "") for line in share), MAX_DETAIL_CHARS)
        readings.append(f"{READING_PREFIX} {_verb(share)}: {words}" if words else "")
    return readings


def _nearest(
    lines: Sequence[Line], lines_by_claim: Sequence[Sequence[Line]]
) -> Iterator[tuple[Line, int]]:
    """Yield each line with the index of the claim that is about the nearest line of its side."""
    claim_of: dict[bool, dict[int, tuple[int, int]]] = {True: {}, False: {}}
    for index, claim_lines in enumerate(lines_by_claim):
        for order, (new, number) in enumerate(claim_lines):
            claim_of[new].setdefault(number, (index, order))
    numbers = {new: sorted(claim_of[new]) for new in claim_of}
    for line in lines:
        # The claims may be about lines of one version only.
        side = line[0] if numbers[line[0]] else not line[0]
        position = bisect_left(numbers[side], line[1])
        around = numbers[side][max(position - 1, 0) : position + 1]
        if around:
            nearest = min((abs(number - line[1]), claim_of[side][number]) for number in around)
            yield line, nearest[1][0]


def _verb(lines: Sequence[Line]) -> str:
    kinds = {new for new, _ in lines}
    return "update" if len(kinds) == 2 else "add" if True in kinds else "remove"


def _code_of(file: ChangedFile) -> dict[Line, str]:
    return {
        (line.kind is LineKind.ADDED, line.new or line.old or 0): line.text
        for line in file.lines(LineKind.ADDED, LineKind.REMOVED)
    }


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
    joined: list[LineSpan] = []
    for new, lines in ((True, change.added), (False, change.removed)):
        for start, end in join_ranges(((line, line) for line in lines), gap=MAX_GAP_LINES):
            joined.append(_span(change, start, end, new=new))
    related = [*change.similar, *([change.origin] if change.origin is not None else ())]
    return (*joined, *(span for related_change in related for span in spans(related_change)))
