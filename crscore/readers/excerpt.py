"""Selects the code of a change that a model sees with a comment.

The model sees the code around the comment's line, in both versions, and other hunks. Both versions
of a declaration are merged as in a diff: a line that begins with `-` is only in the old version, a
line that begins with `+` only in the new version.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from itertools import accumulate
from typing import Final, NamedTuple

from crscore.diff.parse import CUT_NOTE
from crscore.records import ChangedFile, Comment, Diff, Hunk, LineKind, LineSpan, Scope, Side
from crscore.review.read import find_scope
from crscore.syntax import outliner
from crscore.syntax.change import ParsedChange, ParsedFile
from crscore.text import code_names

MAX_PASSAGES: Final = 12
"""Maximum number of hunks of which an excerpt has a passage."""
MAX_PATHS: Final = 20
"""Maximum number of changed files that are named."""
MAX_NAMED_LINES: Final = 12
"""Maximum number of lines that are shown because they contain a name in the comment."""
_SIGNS: Final = {LineKind.ADDED: "+", LineKind.REMOVED: "-", LineKind.CONTEXT: " "}
_WORD: Final = re.compile(r"[^\W\d]\w{2,}")


class Line(NamedTuple):
    """Line of an excerpt."""

    text: str
    """The line as in its file."""
    sign: str
    """Prefix of the line in a diff: `+`, `-` or a space."""
    span: LineSpan
    """Location of the line; for an unchanged line, its location in the new version."""


class Passage(NamedTuple):
    """Lines with a title that names their file and, if they are adjacent, where they are."""

    title: str
    lines: tuple[Line, ...]


class Excerpt(NamedTuple):
    """Passages of a change for one comment."""

    files: str
    """Paths of the changed files, separated by commas."""
    passages: tuple[Passage, ...]
    """The passages, the most relevant first."""
    location: LineSpan
    """Line that the comment is on or, if it is on no line, the start of the most relevant hunk."""
    is_located: bool
    """Whether the comment is on a line of this version of the change."""

    @property
    def lines(self) -> Iterator[Line]:
        """Lines of all passages."""
        return (line for passage in self.passages for line in passage.lines)

    @property
    def text(self) -> str:
        """The excerpt as the model sees it."""
        blocks = (
            "\n".join([passage.title, *(line.sign + line.text for line in passage.lines)])
            for passage in self.passages
        )
        return "\n\n".join((*([f"Changed files: {self.files}"] if self.files else ()), *blocks))


class _Hunk(NamedTuple):
    file: ParsedFile
    number: int
    """Index of the hunk in the file."""
    passage: Passage
    words: frozenset[str]

    @property
    def start(self) -> LineSpan:
        """Location of the first added line or, if no line is added, of the first line."""
        lines = self.passage.lines
        return next((line for line in lines if line.sign == "+"), lines[0]).span


class Excerpts:
    """Selects the excerpts of one change.

    Args:
        diff: The change, with full files where they are known.
    """

    def __init__(self, diff: Diff) -> None:
        self.diff = ParsedChange.of(diff)
        paths = [file.path for file in diff.files if file.path]
        more = f" and {len(paths) - MAX_PATHS} more" if len(paths) > MAX_PATHS else ""
        self._files = ", ".join(paths[:MAX_PATHS]) + more
        self._hunks = [
            _read_hunk(file, index, hunk)
            for file in self.diff.parsed_files
            for index, hunk in enumerate(file.file.hunks)
            if hunk.lines
        ]
        self._uses = Counter(word for hunk in self._hunks for word in hunk.words)
        self._merged: dict[int, tuple[Line, ...]] = {}
        self._passages: dict[tuple[int, LineSpan], Passage] = {}

    def find(self, text: str, comment: Comment, max_chars: int) -> Excerpt | None:
        """Select the code that is most relevant to a comment.

        Args:
            text: Text of the comment; hunks that share rare words with it come first.
            comment: The comment, with its lines.
            max_chars: Maximum characters of the lines.

        Returns:
            The excerpt; None if the change shows no line.
        """
        if not self._hunks:
            return None
        scope = find_scope(comment, self.diff)
        words = frozenset(_WORD.findall(text))
        rarity = {
            # Sorted, because the order of a set of strings differs between runs
            # (https://docs.python.org/3/reference/datamodel.html#object.__hash__), and the last
            # digit of a sum depends on the order.
            id(hunk): sum(1 / self._uses[word] for word in sorted(hunk.words & words))
            for hunk in self._hunks
        }

        def in_scope(hunk: _Hunk) -> bool:
            return (
                scope is not None
                and scope.path in (None, hunk.file.file.path)
                and scope.hunk in (None, hunk.number)
            )

        hunks = sorted(self._hunks, key=lambda hunk: (not in_scope(hunk), -rarity[id(hunk)]))
        first = hunks[0]
        located = self._locate(comment, scope, first)
        location = located or first.start
        passages: list[Passage] = []
        seen_spans: set[LineSpan] = set()
        for hunk in [hunk for hunk in hunks if in_scope(hunk) or rarity[id(hunk)]][:MAX_PASSAGES]:
            center = location if hunk is first else hunk.start
            key = id(hunk), center
            if key not in self._passages:
                self._passages[key] = self._show_surroundings(hunk, center)
            title, lines = self._passages[key]
            unseen = tuple(line for line in lines if line.span not in seen_spans)
            # A passage gets only a part of the remaining space, so that a long one leaves some for
            # the others.
            window = _select_nearest(unseen, center, max_chars * 2 // 3)
            if any(line.sign.strip() or hunk is first for line in window):
                cut = " (a part of it)" if len(window) < len(lines) else ""
                passages.append(Passage(f"{title}{cut}", window))
                max_chars -= sum(len(line.text) + 1 for line in window)
                seen_spans |= {line.span for line in window}
        if scope is not None and comment.path is not None:
            passages += self._find_named_lines(first.file, text, seen_spans, max_chars)
        return Excerpt(self._files, tuple(passages), location, located is not None)

    def _locate(self, comment: Comment, scope: Scope | None, hunk: _Hunk) -> LineSpan | None:
        """Return the location of the line that a comment is on; None if it is not known."""
        if scope and comment.path is not None and comment.line is not None and not comment.outdated:
            return _make_line("", "", hunk.file.file, comment.side, comment.line).span
        # GitHub stores a hunk with each comment, and cuts it off after the comment's line.
        lines = hunk.passage.lines
        if comment.diff_hunk and scope and scope.hunk is not None:
            hunk_lines = comment.diff_hunk.rstrip("\n").split("\n")[1:]
            # `\ No newline at end of file` is not a line of the file.
            count = sum(not line.startswith("\\") for line in hunk_lines)
            return lines[min(count, len(lines)) - 1].span
        # A change may also consist of only such a hunk.
        return lines[-1].span if CUT_NOTE in self.diff.notes and len(self._hunks) == 1 else None

    def _merge(self, file: ParsedFile) -> tuple[Line, ...]:
        """Return the lines of both versions of a file; empty if only its hunks are known."""
        # Keyed by identity, because a series of patches may change the same path several times.
        key = id(file)
        if key not in self._merged:
            self._merged[key] = tuple(_merge_versions(file)) if file.new.is_whole else ()
        return self._merged[key]

    def _show_surroundings(self, hunk: _Hunk, at: LineSpan) -> Passage:
        """Return a hunk and, if the file is known, the innermost declaration around line `at`."""
        file, merged = hunk.file, self._merge(hunk.file)
        numbers = [line.span.start for line in merged if line.span.side is Side.NEW]
        if not numbers:
            return hunk.passage
        # A removed line is not in the new version, so the next line of that version is taken.
        index = min(range(len(merged)), key=lambda index: distance(merged[index].span, at))
        follows = (line for line in merged[index:] if line.span.side is Side.NEW)
        number = next((line.span.start for line in follows), numbers[-1])
        noun, name, start, end = "file", "", 1, numbers[-1]
        if file.language is not None:
            source = "\n".join(file.new.lines.values())
            outline = outliner.read_outline(file.language, source, lines=[(number, number)])
            unit = outline.units[outline.owners([number])[number]]
            noun, name, start, end = unit.noun, unit.name, unit.start, unit.end
        hunk_spans = {line.span for line in hunk.passage.lines}
        inside = [
            index
            for index, line in enumerate(merged)
            if line.span in hunk_spans
            or (line.span.side is Side.NEW and start <= line.span.start <= end)
        ]
        title = f"{file.file.path}, {noun} {name}".rstrip()
        first = merged[inside[0]].span.start
        return Passage(f"{title}, from line {first}:", merged[inside[0] : inside[-1] + 1])

    def _find_named_lines(
        self, file: ParsedFile, text: str, seen_spans: Set[LineSpan], max_chars: int
    ) -> Iterator[Passage]:
        """Yield the lines of a file that contain names in a comment and are not shown yet."""
        names = code_names(text)
        lines = [
            line
            for line in self._merge(file)
            if line.span not in seen_spans
            and not names.isdisjoint(map(str.lower, _WORD.findall(line.text)))
        ][:MAX_NAMED_LINES]
        sizes = accumulate(len(line.text) + 1 for line in lines)
        if fitting := tuple(lines[: sum(size <= max_chars for size in sizes)]):
            yield Passage(f"{file.file.path}, other lines with names in the comment:", fitting)


def _make_line(text: str, sign: str, file: ChangedFile, side: Side, number: int) -> Line:
    span = LineSpan(path=file.path_on(side), side=side, start=number, end=number)
    return Line(text.removesuffix("\r"), sign, span)


def _read_lines(file: ChangedFile, hunk: Hunk) -> tuple[Line, ...]:
    lines = []
    for line in hunk.lines:
        side = Side.OLD if line.new is None else Side.NEW
        number = line.number_on(side) or 0
        lines.append(_make_line(line.text, _SIGNS[line.kind], file, side, number))
    return tuple(lines)


def _read_hunk(file: ParsedFile, index: int, hunk: Hunk) -> _Hunk:
    lines = _read_lines(file.file, hunk)
    old, new = f"{hunk.old_start},{hunk.old_length}", f"{hunk.new_start},{hunk.new_length}"
    title = f"{file.file.path or 'a file'}, @@ -{old} +{new} @@ {hunk.section}".rstrip()
    words = frozenset(word for line in lines for word in _WORD.findall(line.text))
    return _Hunk(file, index, Passage(title, lines), words)


def _merge_versions(file: ParsedFile) -> Iterator[Line]:
    """Yield the lines of the new version, with the removed lines where they were."""
    number = 1
    for hunk in sorted(file.file.hunks, key=lambda hunk: hunk.new_start):
        lines = _read_lines(file.file, hunk)
        # If a hunk has no line of the new version, its header has the number of the line before.
        first = hunk.new_start + (hunk.new_length == 0)
        for before in range(number, first):
            yield _make_line(file.new.lines[before], " ", file.file, Side.NEW, before)
        yield from lines
        number = max(number, first + hunk.new_length)
    for after in range(number, len(file.new.lines) + 1):
        yield _make_line(file.new.lines[after], " ", file.file, Side.NEW, after)


def _select_nearest(lines: Sequence[Line], center: LineSpan, limit: int) -> tuple[Line, ...]:
    """Return the lines nearest to a location, with at most `limit` characters."""
    distances = [distance(line.span, center) for line in lines]
    middle = distances.index(min(distances)) if lines else 0
    nearest = sorted(range(len(lines)), key=lambda index: abs(index - middle))
    fitting = sum(total <= limit for total in accumulate(len(lines[i].text) + 1 for i in nearest))
    return tuple(lines[index] for index in sorted(nearest[:fitting]))


def distance(line: LineSpan, target: LineSpan) -> tuple[bool, int]:
    """Return whether a line is in another file or version than `target`, and how far it is away.

    The first line counts.
    """
    return (line.path, line.side) != (target.path, target.side), abs(line.start - target.start)
