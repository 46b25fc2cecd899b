"""Converts topics to pseudo-references, with their text, lines and the text for the encoder."""

import tomllib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from crscore.claims.structural.change import UnitChange, code_of
from crscore.claims.structural.quoting import Line, Statement, finish_sentence
from crscore.claims.structural.ranking import RankedTopic
from crscore.diff.ranges import join_ranges
from crscore.records import LineSpan, PseudoReference, ReferenceKind, Side, Topic, TopicState
from crscore.text import find_code_spans, split_identifier

SOURCE = "structural"
MAX_READING_CHARS = 400
"""Maximum characters that the encoder reads of a topic's code, which is rewritten as words."""
MAX_DETAIL_CHARS = 240
"""Maximum characters that the encoder reads of the code of each further claim of a topic."""
MAX_GAP_LINES = 3
"""Maximum unchanged lines between two changed lines that are in one span."""
# The reading of a claim is the text that the encoder reads instead of the claim. For an encoder of
# prose, code is more similar to a reviewer's sentence if the reading asks a question about the code
# (docs/design/003-structural-claims.md).
READING_PREFIX = "why does the new code"
"""Beginning of every reading."""
_STATES: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)


def write_references(topics: Sequence[RankedTopic]) -> tuple[PseudoReference, ...]:
    """Return the claims of all topics; the claim that is most likely to be useful comes first."""
    claims: list[PseudoReference] = []
    index_by_text: dict[str, int] = {}
    # Files are looked up by `id`, because computing a file's hash would visit each of its lines.
    code_of_files: dict[int, dict[Line, str]] = {}
    for change, weighed in topics:
        statements = [statement for statement, _ in weighed]
        if id(change.file) not in code_of_files:
            code_of_files[id(change.file)] = code_of(change.file)
        readings = _write_readings(change, statements, code_of_files[id(change.file)])
        topic = _make_topic(change, spans_of(change))
        for (statement, weight), reading in zip(weighed, readings, strict=True):
            names = [change.name, *find_code_spans(statement.text)]
            claim = PseudoReference(
                text=finish_sentence(statement.text),
                kind=ReferenceKind.IMPLICATION if statement.implies else ReferenceKind.CLAIM,
                source=SOURCE,
                spans=(*claim_spans(change, statement), *statement.similar),
                identifiers=tuple(dict.fromkeys(name for name in names if name)),
                weight=weight,
                reading=reading,
                topic=topic,
            )
            # Topics with the same sentence share one claim, except that every topic keeps its first
            # claim.
            index = index_by_text.setdefault(claim.text, len(claims))
            if index == len(claims) or statement is statements[0]:
                claims.append(claim)
            else:
                shared = dict.fromkeys((*claims[index].spans, *claim.spans))
                claims[index] = replace(claims[index], spans=tuple(shared))
    # `sorted` is stable, so claims of the same weight stay in the order of the change.
    return tuple(sorted(claims, key=lambda claim: -claim.weight))


def claim_spans(change: UnitChange, statement: Statement) -> tuple[LineSpan, ...]:
    """Return the spans of the lines that a claim is about; those of the new version come first.

    If the claim is about no changed line, these are the spans of its topic.
    """
    changed = {True: set(change.added), False: set(change.removed)}
    lines = sorted({line for line in statement.lines if line[1] in changed[line[0]]}, reverse=True)
    return tuple(_span(change, line, line, new=new) for new, line in lines) or spans_of(change)


def _span(change: UnitChange, start: int, end: int, *, new: bool) -> LineSpan:
    side = Side.NEW if new else Side.OLD
    return LineSpan(path=change.file.path_on(side), side=side, start=start, end=end)


def _make_topic(change: UnitChange, topic_spans: Sequence[LineSpan]) -> Topic:
    """Return a topic's name, size and location for the result."""
    unit = change.unit
    # The start is 0, which means unknown, if only the header of a hunk names the unit.
    if unit is not None and unit.name and unit.start:
        location = _span(change, unit.start, unit.end, new=bool(change.new.units))
    elif topic_spans:
        first = topic_spans[0]
        last = [s for s in topic_spans if (s.side, s.path) == (first.side, first.path)][-1]
        location = LineSpan(path=last.path, side=last.side, start=first.start, end=last.end)
    else:
        location = _span(change, 0, 0, new=True)
    similar = sum(similar.size for similar in change.similar)
    return Topic(
        name=change.name or change.file.path,
        noun=change.noun,
        state=TopicState(_STATES.get(change.state, {}).get("topic", TopicState.CHANGED)),
        lines=change.size - len(change.lines_outside) + similar,
        place=location,
    )


def _write_readings(
    change: UnitChange, statements: Sequence[Statement], code: Mapping[Line, str]
) -> list[str]:
    """Return the reading of each claim, in which code is rewritten as words."""
    lines = [(False, line) for line in change.removed] + [(True, line) for line in change.added]
    verb = _STATES.get(change.state, {}).get("verb") or _verb_of(lines)
    names = [unit.name for unit in change.members] if change.noun == "tests" else [change.name]
    full_name = " ".join(names)
    name = _split_words([full_name.rpartition(".")[2] or full_name], MAX_READING_CHARS)
    path = " ".join(split_identifier(change.file.path))
    location = f"{name} in {path}" if path else ""
    words = _split_words((code.get(line, "") for line in lines), MAX_READING_CHARS)
    readings = [" ".join(f"{READING_PREFIX} {verb} {location}: {words}".split())]
    shares: list[list[Line]] = [[] for _ in statements[1:]]
    for line, nearest in _find_nearest(lines, [statement.lines for statement in statements[1:]]):
        shares[nearest].append(line)
    for share in shares:
        words = _split_words((code.get(line, "") for line in share), MAX_DETAIL_CHARS)
        readings.append(f"{READING_PREFIX} {_verb_of(share)}: {words}" if words else readings[0])
    return readings


def _find_nearest(
    lines: Sequence[Line], lines_by_claim: Sequence[Sequence[Line]]
) -> Iterator[tuple[Line, int]]:
    """Yield each line with the index of the claim that is about the nearest line.

    Lines of the same version are compared, unless the claims are about the other version only.
    """
    claim_of: dict[bool, dict[int, tuple[int, int]]] = {True: {}, False: {}}
    for index, claim_lines in enumerate(lines_by_claim):
        for order, (new, number) in enumerate(claim_lines):
            claim_of[new].setdefault(number, (index, order))
    numbers = {new: sorted(claim_of[new]) for new in claim_of}
    for line in lines:
        side = line[0] if numbers[line[0]] else not line[0]
        position = bisect_left(numbers[side], line[1])
        neighbours = numbers[side][max(position - 1, 0) : position + 1]
        if neighbours:
            nearest = min((abs(number - line[1]), claim_of[side][number]) for number in neighbours)
            yield line, nearest[1][0]


def _verb_of(lines: Sequence[Line]) -> str:
    kinds = {new for new, _ in lines}
    return "update" if len(kinds) == 2 else "add" if True in kinds else "remove"


def _split_words(lines: Iterable[str], limit: int) -> str:
    """Return code as words, truncated at the last word boundary within `limit` characters."""
    words = ""
    for line in lines:
        words += " ".join(["", *split_identifier(line[:limit])])
        if len(words) > limit:
            return words[: limit + 1].rpartition(" ")[0].strip()
    return words.strip()


def spans_of(change: UnitChange) -> tuple[LineSpan, ...]:
    """Return the spans of a topic's changed lines; those of the new version come first."""
    joined: list[LineSpan] = []
    for new, lines in ((True, change.added), (False, change.removed)):
        for start, end in join_ranges(((line, line) for line in lines), gap=MAX_GAP_LINES):
            joined.append(_span(change, start, end, new=new))
    return (*joined, *(() if change.origin is None else spans_of(change.origin)))
