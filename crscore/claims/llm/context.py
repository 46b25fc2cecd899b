"""The functions around changed lines, from the whole new file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crscore.records import ChangedFile, Hunk, LineKind
from crscore.syntax.grammars import language_of
from crscore.syntax.outline import Kind, Outline, Unit
from crscore.syntax.reader import read


def enclosing_functions(file: ChangedFile, hunks: Sequence[Hunk]) -> str:
    """Return the innermost function around each changed line that the hunks do not show whole.

    Args:
        file: Changed file with its new source; without one the result is empty.
        hunks: Hunks that are shown.

    Returns:
        The functions' lines in file order, separated by an empty line; "" when there are none, or
        the language has no grammar.

    Raises:
        DependencyError: The grammar's wheel is not installed.
    """
    language = language_of(file.language)
    changed = sorted(set(_changed(hunks)))
    if file.new_source is None or language is None or not changed:
        return ""
    outline = read(language, file.new_source, lines=[(line, line) for line in changed])
    shown_ranges = [range(hunk.new_start, hunk.new_start + hunk.new_length) for hunk in hunks]
    lines = file.new_source.split("\n")
    functions: dict[tuple[int, int], str] = {}
    for line in changed:
        unit = _innermost(outline, line)
        if unit is None or any(
            unit.start in lines_ and unit.end in lines_ for lines_ in shown_ranges
        ):
            continue
        functions[unit.start, unit.end] = "\n".join(lines[unit.start - 1 : unit.end])
    return "\n\n".join(functions[span] for span in sorted(functions))


def _changed(hunks: Sequence[Hunk]) -> Iterator[int]:
    """Yield added lines, and the lines of the new file before which lines were removed."""
    for hunk in hunks:
        number = hunk.new_start
        for line in hunk.lines:
            if line.kind is not LineKind.CONTEXT:
                yield max(number, 1)
            if line.kind is not LineKind.REMOVED:
                number += 1


def _innermost(outline: Outline, line: int) -> Unit | None:
    holding = (
        unit
        for unit in outline.units
        if unit.kind in {Kind.FUNCTION, Kind.TEST} and unit.start <= line <= unit.end
    )
    return min(holding, key=lambda unit: unit.end - unit.start, default=None)
