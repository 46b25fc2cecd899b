"""Excerpt of a change for a remark: its hunks, and the declaration around its line."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from crscore.diff import scopes
from crscore.records import ChangedFile, Comment, Diff, Hunk, LineKind, LineSpan, Side
from crscore.syntax import reader
from crscore.syntax.grammars import language_of

MAX_PASSAGES: Final = 8
"""Maximum hunks of an excerpt."""
_SIGNS: Final = {LineKind.ADDED: "+", LineKind.REMOVED: "-", LineKind.CONTEXT: " "}
_WORD: Final = re.compile(r"[^\W\d]\w{2,}")


class Line(NamedTuple):
    """Line of an excerpt."""

    text: str
    """The line as in its file."""
    sign: str
    """Sign of the diff; "" outside of a hunk."""
    span: LineSpan
    """Its location; for an unchanged line, the one in the new version."""


class Passage(NamedTuple):
    """Adjacent lines with their title."""

    title: str
    lines: tuple[Line, ...]


class Excerpt(NamedTuple):
    """Passages of a change for one remark."""

    passages: tuple[Passage, ...]
    """The most relevant first."""
    location: LineSpan
    """Line that the remark is on; the first added line if the remark is on no line."""

    @property
    def lines(self) -> Iterator[Line]:
        """Lines of all passages; a line may be in two passages."""
        return (line for passage in self.passages for line in passage.lines)


class _Hunk(NamedTuple):
    file: ChangedFile
    number: int
    """Its index in the file."""
    passage: Passage
    words: frozenset[str]

    @property
    def start(self) -> LineSpan:
        """The first added line; the first line without any."""
        lines = self.passage.lines
        return next((line for line in lines if line.sign == "+"), lines[0]).span


class Excerpts:
    """Excerpts of one change.

    Args:
        diff: The change, with full files where they are known.
        max_chars: Maximum characters of an excerpt, without its titles.
    """

    def __init__(self, diff: Diff, max_chars: int) -> None:
        self.diff = diff
        self.max_chars = max_chars
        self._hunks = [
            _read_hunk(file, index, hunk)
            for file in diff.files
            for index, hunk in enumerate(file.hunks)
            if hunk.lines
        ]
        self._uses = Counter(word for hunk in self._hunks for word in hunk.words)

    def find(self, remark: str, comment: Comment) -> Excerpt | None:
        """Choose the lines for a remark.

        Args:
            remark: Text of the remark; hunks that share rare words with it come first.
            comment: Its comment, with the lines that it is on.

        Returns:
            The excerpt; None for a remark on a file that is not in the change.
        """
        scope = scopes.attach(comment, self.diff)
        words = frozenset(_WORD.findall(remark))
        hunks = sorted(
            (
                hunk
                for hunk in self._hunks
                if scope
                and scope.path in (None, hunk.file.path)
                and scope.hunk in (None, hunk.number)
            ),
            key=lambda hunk: -sum(1 / self._uses[word] for word in sorted(hunk.words & words)),
        )
        if not hunks:
            return None
        first, location = hunks[0], hunks[0].start
        if comment.path is not None and comment.line is not None and not comment.outdated:
            path = _path(first.file, comment.side)
            location = LineSpan(path=path, side=comment.side, start=comment.line, end=comment.line)
        near = [(hunk.passage, hunk.start) for hunk in hunks[:MAX_PASSAGES]]
        near[:1] = [(first.passage, location), (_read_surroundings(first.file, location), location)]
        passages: list[Passage] = []
        chars_left = self.max_chars
        for (title, lines), center in near:
            # Half of the rest, so that one long passage leaves space for the others.
            window = _window(lines, center, chars_left // 2)
            spans = {line.span for passage in passages for line in passage.lines}
            if any(line.span not in spans for line in window):
                cut = " (a part of it)" if len(window) < len(lines) else ""
                passages.append(Passage(f"{title}{cut}", window))
                chars_left -= sum(len(line.text) + 1 for line in window)
        return Excerpt(tuple(passages), location) if passages else None


def _path(file: ChangedFile, side: Side) -> str:
    return file.old_path or file.path if side is Side.OLD else file.path


def _line(text: str, sign: str, file: ChangedFile, side: Side, number: int) -> Line:
    span = LineSpan(path=_path(file, side), side=side, start=number, end=number)
    return Line(text, sign, span)


def _read_hunk(file: ChangedFile, index: int, hunk: Hunk) -> _Hunk:
    lines = tuple(
        _line(line.text, _SIGNS[line.kind], file, Side.NEW, line.new)
        if line.new is not None
        else _line(line.text, _SIGNS[line.kind], file, Side.OLD, line.old or 0)
        for line in hunk.lines
    )
    old, new = f"{hunk.old_start},{hunk.old_length}", f"{hunk.new_start},{hunk.new_length}"
    title = f"Diff of {file.path or 'a file'}: @@ -{old} +{new} @@ {hunk.section}".rstrip()
    words = frozenset(word for line in lines for word in _WORD.findall(line.text))
    return _Hunk(file, index, Passage(title, lines), words)


def _read_surroundings(file: ChangedFile, at: LineSpan) -> Passage:
    """Return the innermost declaration around a line, else the file; empty if unknown."""
    source = file.new_source if at.side is Side.NEW else file.old_source
    texts = (source or "").split("\n")
    if source is None or not 0 < at.start <= len(texts):
        return Passage("", ())
    noun, start, end = "file", 1, len(texts)
    language = language_of(file.language)
    if language is not None:
        outline = reader.read(language, source, lines=[(at.start, at.start)])
        unit = outline.units[outline.owners([at.start])[at.start]]
        noun, start, end = unit.noun, unit.start, unit.end
    lines = tuple(
        _line(text.removesuffix("\r"), "", file, at.side, number)
        for number, text in enumerate(texts[start - 1 : end], start)
    )
    return Passage(f"The {noun} around it, in the {at.side} version of {at.path}:", lines)


def _window(lines: Sequence[Line], center: LineSpan, limit: int) -> tuple[Line, ...]:
    """Return the lines nearest to a location, with at most `limit` characters."""
    distances = [distance(line.span, center) for line in lines]
    middle = distances.index(min(distances)) if lines else 0
    nearest = sorted(range(len(lines)), key=lambda index: abs(index - middle))
    fitting = sum(total <= limit for total in accumulate(len(lines[i].text) + 1 for i in nearest))
    return tuple(lines[index] for index in sorted(nearest[:fitting]))


def distance(line: LineSpan, target: LineSpan) -> tuple[bool, int]:
    """Return whether a line is in another file or version than `target`, and their distance."""
    return (line.path, line.side) != (target.path, target.side), abs(line.start - target.start)
