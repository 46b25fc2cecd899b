"""Diff as the page shows it, with the pseudo-references of each line."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from crscore.records import ChangedFile, DiffLine, Hunk, LineKind, Result, Side
from crscore.reports import view
from crscore.reports.escape import code_line, one_line

MAX_LINES = 1_500
"""Lines up to which the whole diff is shown; of a longer one, only the lines with marks."""
MAX_SPAN_LINES = 40
"""Lines of one pseudo-reference that a shortened diff shows."""
CONTEXT_LINES = 3
"""Lines around those, in a shortened diff."""
MAX_MARKS = 50
"""Maximum marks on one line."""
MAX_LINE_CHARS = 1_000
SIGNS = {LineKind.ADDED: "+", LineKind.REMOVED: "\N{MINUS SIGN}", LineKind.CONTEXT: ""}


_Place: TypeAlias = tuple[str, Side, int]
"""Path, side and number of a line."""


class DiffRow(NamedTuple):
    """One row of the diff table; a row without a kind is a gap or a hunk's head."""

    kind: str
    """`added`, `removed`, `context`, `hunk` or `gap`."""
    text: str
    """Cleaned code, or the hunk's section."""
    sign: str = ""
    """Plus, minus or nothing."""
    old: int | None = None
    """Line number in the old file."""
    new: int | None = None
    """Line number in the new file."""
    marks: tuple[str, ...] = ()
    """Names of all marks on this line."""
    first: tuple[str, ...] = ()
    """Names of the marks whose first shown line this is; receipts have no mark to show."""
    anchors: tuple[str, ...] = ()
    """Names of the marks whose anchor this line is: the first line in the page."""
    comments: tuple[int, ...] = ()
    """Indices of the comments whose last line this is."""


class FileDiff(NamedTuple):
    """One file of the diff."""

    path: str
    """Cleaned path."""
    old_path: str | None
    """Cleaned old path when it differs."""
    status: str
    """Its kind of change."""
    lines: tuple[DiffRow, ...]
    """Rows, with hunk heads and gaps."""
    remark: str | None
    """Reason that there are no lines; None otherwise."""


class DiffTable(NamedTuple):
    """Diff with the anchors in it."""

    files: tuple[FileDiff, ...]
    """In the order of the diff."""
    anchored: frozenset[str]
    """Names of the marks that have a line in `files`."""
    shortened: bool
    """True when only some of the lines are shown."""


def make_diff_table(result: Result) -> DiffTable:
    """Lay out the diff of a result.

    Args:
        result: Its diff, pseudo-references and comments are used.

    Returns:
        Every line, or, above `MAX_LINES`, the marked lines with some context.
    """
    shorten = len(result.diff.lines()) > MAX_LINES
    ends: dict[_Place, list[int]] = defaultdict(list)
    for index, item in enumerate(result.comments):
        comment = item.comment
        if comment.path is not None and comment.line is not None and not comment.outdated:
            ends[comment.path, comment.side, comment.line].append(index)
    names = _names(result, MAX_SPAN_LINES if shorten else MAX_LINES)
    layout = _TableBuilder(names=names, ends=ends, shorten=shorten)
    files = tuple(layout.file(file) for file in result.diff.files)
    if shorten:
        files = tuple(file for file in files if file.lines)
    return DiffTable(files, frozenset(layout.anchored), shorten)


def _names(result: Result, max_lines: int) -> dict[_Place, list[str]]:
    """Return the names of the marks on each line, in order; of each mark at most so many lines."""
    numbers: dict[tuple[str, Side], set[int]] = defaultdict(set)
    for file in result.diff.files:
        for line in (line for hunk in file.hunks for line in hunk.lines):
            for path, side, line_number in _places(file, line):
                numbers[path, side].add(line_number)
    ordered = {key: sorted(line_numbers) for key, line_numbers in numbers.items()}
    names: dict[_Place, list[str]] = defaultdict(list)
    for path, side, start, last, name in _marks(result):
        line_numbers = ordered.get((path, side), [])
        first, end = bisect_left(line_numbers, start), bisect_right(line_numbers, last)
        for line_number in line_numbers[first : min(end, first + max_lines)]:
            on_line = names[path, side, line_number]
            if len(on_line) < MAX_MARKS:
                on_line.append(name)
    return names


def _marks(result: Result) -> Iterator[tuple[str, Side, int, int, str]]:
    """Yield path, side, first and last line of each mark, and its name.

    Pseudo-references are `r0` and so on, comments `c0`, receipts `v1` by the number of the remark.
    """
    for index, reference in enumerate(result.references):
        for span in reference.spans:
            yield span.path, span.side, span.start, span.end, f"r{index}"
    for index, item in enumerate(result.comments):
        comment = item.comment
        if comment.path is not None and comment.line is not None:
            first = min(comment.start_line or comment.line, comment.line)
            yield comment.path, comment.side, first, comment.line, f"c{index}"
    for ranked in view.rank_remarks(result):
        for span in ranked.remark.receipt.lines if ranked.remark.receipt else ():
            yield span.path, span.side, span.start, span.end, f"v{ranked.number}"


def _places(file: ChangedFile, line: DiffLine) -> Iterator[_Place]:
    if line.new is not None:
        yield file.path, Side.NEW, line.new
    if line.old is not None:
        yield file.old_path or file.path, Side.OLD, line.old


@dataclass(slots=True)
class _TableBuilder:
    """Single walk over the diff that tracks which marks already have their anchor."""

    names: dict[_Place, list[str]]
    ends: dict[_Place, list[int]]
    shorten: bool
    anchored: set[str] = field(default_factory=set)

    def file(self, file: ChangedFile) -> FileDiff:
        lines = tuple(line for hunk in file.hunks for line in self._hunk(file, hunk))
        return FileDiff(
            path=one_line(file.path) or "(unknown file)",
            old_path=None if file.old_path is None else one_line(file.old_path),
            status=file.status.value.replace("_", " "),
            lines=lines,
            remark=None if file.hunks else _remark(file),
        )

    def _hunk(self, file: ChangedFile, hunk: Hunk) -> Iterator[DiffRow]:
        names = [
            [name for place in _places(file, line) for name in self.names.get(place, ())]
            for line in hunk.lines
        ]
        shown_positions = self._shown_positions(names)
        if self.shorten and not shown_positions:
            return
        head = f"@@ \N{MINUS SIGN}{hunk.old_start},{hunk.old_length} "
        head += f"+{hunk.new_start},{hunk.new_length} @@ {one_line(hunk.section, 120)}"
        yield DiffRow("hunk", head.strip())
        skipped = False
        before: frozenset[str] = frozenset()
        for position, line in enumerate(hunk.lines):
            if position not in shown_positions:
                skipped = True
                continue
            if skipped:
                yield DiffRow("gap", "…")
                skipped = False
            row = self._line(line, names[position], before)._replace(
                comments=tuple(
                    index for place in _places(file, line) for index in self.ends.get(place, ())
                )[:MAX_MARKS]
            )
            before = frozenset(row.marks)
            yield row
        if skipped:
            yield DiffRow("gap", "…")

    def _shown_positions(self, names: Sequence[Sequence[str]]) -> frozenset[int]:
        """Return the positions to show: all, or those near a marked line."""
        if not self.shorten:
            return frozenset(range(len(names)))
        return frozenset(
            neighbour
            for position, on_line in enumerate(names)
            if on_line
            for neighbour in range(position - CONTEXT_LINES, position + CONTEXT_LINES + 1)
        )

    def _line(self, line: DiffLine, on_line: Iterable[str], before: frozenset[str]) -> DiffRow:
        names = tuple(dict.fromkeys(on_line))
        anchors = tuple(name for name in names if name not in self.anchored)
        self.anchored.update(anchors)
        return DiffRow(
            kind=line.kind.value,
            text=code_line(line.text, MAX_LINE_CHARS),
            sign=SIGNS[line.kind],
            old=line.old,
            new=line.new,
            marks=names,
            first=tuple(name for name in names if name not in before and name[0] != "v"),
            anchors=anchors,
        )


def _remark(file: ChangedFile) -> str:
    if file.is_submodule:
        return "A submodule."
    if file.is_binary:
        return "Binary contents, not shown."
    if file.is_missing:
        return f"Its lines are not known: {file.missing}."
    return "No line changes."
