"""Summary of a changed place: its kinds of edits and its most frequent words."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from crscore.claims.structural.english import article, as_words, listed, plural, quote, sentence
from crscore.claims.structural.matching import EditKind
from crscore.claims.structural.places import inside, noun, place
from crscore.claims.structural.statements import SOURCE, Statement, joined
from crscore.records import LineKind, LineSpan, PseudoReference, ReferenceKind, Side
from crscore.syntax.model import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.claims.structural.matching import Edit
    from crscore.claims.structural.regions import Area
    from crscore.records import ChangedFile, DiffLine
    from crscore.syntax.model import Tree, Unit

MAX_TOPICS = 4
"""Names listed for one file."""
MAX_LINE = 2_000
"""Characters of a line that are searched for names."""

_NAME = re.compile(r"[A-Za-z_$][\w$]{2,}")
KEYWORDS = frozenset(
    """
    abstract and as assert async auto await bool boolean break byte case catch char class const
    continue def default defer del delete do double echo elif else elsif end ensure enum except
    export extends extern false False final finally float fn for foreach from func function go
    goto if implements import in include instanceof int interface internal is lambda let long
    map match module namespace native new nil None nonlocal not null nullptr object of operator
    or out override package pass private protected public raise range readonly register require
    rescue return sealed self short signed sizeof static string String struct super switch
    synchronized template then this throw throws trait true True try type typedef typeof
    undefined union unless unsigned until use using var virtual void volatile when where while
    with yield
    """.split()  # noqa: SIM905 - a list of strings would be eighty lines
)
"""Keywords of the languages, which are never the topic of a change."""

_VERBS = {
    EditKind.ADDED: "adds",
    EditKind.REMOVED: "removes",
    EditKind.CHANGED: "changes",
    EditKind.MOVED: "moves",
}
_KINDS = {
    Role.IF: "condition",
    Role.ELSE: "else branch",
    Role.SWITCH: "switch",
    Role.CASE: "case",
    Role.LOOP: "loop",
    Role.RETURN: "return statement",
    Role.YIELD: "yield",
    Role.RAISE: "raised error",
    Role.TRY: "try block",
    Role.CATCH: "error handler",
    Role.FINALLY: "finally block",
    Role.WITH: "context",
    Role.CALL: "call",
    Role.ASSERT: "assertion",
    Role.IMPORT: "import",
    Role.COMMENT: "comment",
    Role.MARKUP: "element",
    Role.LAMBDA: "callback",
    Role.JUMP: "jump",
    Role.DELETE: "deletion",
    Role.OTHER: "line of code",
}


def describe_overview(area: Area, edits: tuple[Edit, ...]) -> Iterator[Statement]:
    """Yield one sentence on the kinds of edits in each place with several."""
    by_place: dict[str, list[Edit]] = {}
    for edit in edits:
        tree, unit = _side(area, edit)
        by_place.setdefault(place(area, tree, unit), []).append(edit)
    for where, group in by_place.items():
        if len(group) > 1:
            yield _kinds(area, where, group)


def _side(area: Area, edit: Edit) -> tuple[Tree, Unit]:
    tree, unit = (area.new, edit.new) if edit.new is not None else (area.old, edit.old)
    assert unit is not None  # noqa: S101 - an edit has a side
    return tree, unit


def _kinds(area: Area, where: str, group: list[Edit]) -> Statement:
    counts: dict[str, Counter[str]] = {}
    for edit in group:
        tree, unit = _side(area, edit)
        counts.setdefault(_VERBS[edit.kind], Counter())[
            _KINDS.get(unit.role) or noun(tree, unit)
        ] += 1
    parts = [
        f"{verb} " + listed([_counted(word, count) for word, count in kinds.items()])
        for verb, kinds in counts.items()
    ]
    return Statement(
        text=f"the code change{inside(where)} {listed(parts)}", weight=0.45, edits=tuple(group)
    )


def _counted(word: str, count: int) -> str:
    return article(word) if count == 1 else f"{count} {plural(word, count)}"


def describe_topic(file: ChangedFile) -> Iterator[PseudoReference]:
    """Name the words that occur most often in a file's changed lines.

    It needs no grammar, so every file of code gets it, except when only white space changed.
    """
    if _bare(file, LineKind.ADDED) == _bare(file, LineKind.REMOVED):
        return
    names = _names(file)
    if len(names) < 2:
        return
    topics = listed([quote(name) for name in names.values()], MAX_TOPICS)
    where = f" in {quote(file.path, 120)}" if file.path else ""
    yield PseudoReference(
        text=sentence(f"the change{where} is mainly about {topics}"),
        reading=sentence(f"the change is mainly about {listed(list(names), MAX_TOPICS)}"),
        kind=ReferenceKind.CLAIM,
        source=SOURCE,
        spans=_lines_with(file, tuple(names.values())),
        identifiers=tuple(names.values()),
        weight=0.54,
    )


def _bare(file: ChangedFile, kind: LineKind) -> str:
    """Return one side's changed lines without blanks."""
    return "".join("".join(line.text.split()) for line in file.lines(kind))


def _names(file: ChangedFile) -> dict[str, str]:
    """Return the most frequent names by their words, in order of frequency."""
    counts: Counter[str] = Counter()
    for line in file.lines(LineKind.ADDED, LineKind.REMOVED):
        found = _NAME.findall(line.text[:MAX_LINE])
        counts.update(name for name in found if name not in KEYWORDS)
    by_words: dict[str, str] = {}
    for name, _ in counts.most_common(4 * MAX_TOPICS):
        words = as_words(name)
        if words and len(by_words) < MAX_TOPICS:
            by_words.setdefault(words, name)
    return by_words


def _lines_with(file: ChangedFile, names: tuple[str, ...]) -> tuple[LineSpan, ...]:
    """Return the changed lines that contain one of the names."""
    return joined(
        _line_span(file, line)
        for line in file.lines(LineKind.ADDED, LineKind.REMOVED)
        if any(name in line.text for name in names)
    )


def _line_span(file: ChangedFile, line: DiffLine) -> LineSpan:
    if line.new is not None:
        return LineSpan(path=file.path, side=Side.NEW, start=line.new, end=line.new)
    return LineSpan(
        path=file.old_path or file.path, side=Side.OLD, start=line.old or 0, end=line.old or 0
    )
