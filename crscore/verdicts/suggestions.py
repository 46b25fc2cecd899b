"""Judges suggestion blocks: whether they apply and parse, and what they change."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

from msgspec.structs import replace

from crscore.records import ChangedFile, Comment, LineKind, ParsedComment, Side, Suggestion
from crscore.review.read import find_replaced_lines
from crscore.syntax.replacement import find_effect

NO_LOCATION: Final = "its location is unknown"
NOT_SHOWN: Final = "the diff does not show the lines"


def judge_suggestions(
    comments: Sequence[Comment],
    parsed: Sequence[ParsedComment],
    files: Sequence[ChangedFile | None],
) -> list[tuple[Suggestion, ...]]:
    """Judge the suggestion blocks of comments on a change.

    Args:
        comments: The comments, with the lines that they are on.
        parsed: The parts of each comment, including its suggestion blocks.
        files: The changed file of each comment; None if it is unknown.

    Returns:
        For each comment, the judgements of its blocks, in order.
    """
    return [
        tuple(
            judge_in_change(code, comment, file, offsets)
            for code, offsets in zip_longest(parts.suggestions, parts.suggestion_offsets)
        )
        for comment, parts, file in zip(comments, parsed, files, strict=True)
    ]


def judge_in_change(
    code: str, comment: Comment, file: ChangedFile | None, offsets: tuple[int, int] | None = None
) -> Suggestion:
    """Judge a suggestion block of a comment on a change.

    Args:
        code: Content of the block; empty for a block that removes the lines.
        comment: The comment, with the lines that it is on.
        file: The changed file of the comment; None if it is unknown.
        offsets: Number of lines above and below the comment's line that the block also replaces;
            None if it replaces exactly the comment's lines.

    Returns:
        The judgement. If the comment has no line, the replaced lines are guessed from the words of
        the block. `applies` is None if the comment has neither a path nor a line, or if GitLab may
        apply the block to lines that the diff does not show.
    """
    # GitLab applies a block even to lines that the diff does not show, but the comment's own line
    # must be in the diff. Without the whole file, such a block cannot be judged here.
    problem = _find_problem(comment if offsets is None else replace(comment, start_line=None), file)
    comment = comment.spanning(offsets)
    if offsets and not problem and file and not file.new_source and _find_problem(comment, file):
        return Suggestion(code=code, reason=NOT_SHOWN)
    language = file.language if file else None
    location = _locate(code, comment, file)
    if location is None:
        applies = None if problem == NO_LOCATION else False
        return Suggestion(code=code, applies=applies, reason=problem or NO_LOCATION)
    lines, span, is_whole = location
    parses, effect, reason = find_effect(lines, span, code, language, is_whole=is_whole)
    applies = None if problem == NO_LOCATION else not problem
    return Suggestion(
        code=code, applies=applies, parses=parses, effect=effect, reason=problem or reason
    )


def _find_problem(comment: Comment, file: ChangedFile | None) -> str | None:
    """Return the reason why the host cannot apply a suggestion; None if it can.

    `NO_LOCATION` means that it is not known whether the host can.
    """
    line = comment.line
    rows = file.lines(LineKind.ADDED, LineKind.CONTEXT) if file else ()
    last = line or 0
    first = comment.start_line or last
    shown_numbers = {row.new for row in rows if first <= (row.new or 0) <= last}
    # The first reason that applies is reported, so the most basic one comes first.
    problems = {
        NO_LOCATION: comment.path is None and line is None,
        "the change does not have the file": file is None,
        "the lines have changed since": comment.outdated,
        "the comment has no line": line is None,
        "the comment is on removed lines": comment.side is Side.OLD,
        NOT_SHOWN: len(shown_numbers) != last - first + 1,
    }
    return next((reason for reason, holds in problems.items() if holds), None)


def _locate(
    code: str, comment: Comment, file: ChangedFile | None
) -> tuple[Sequence[str], range, bool] | None:
    """Find the lines that a suggestion replaces.

    Returns:
        The lines of a text, the indices of those that are replaced, and whether the text is a whole
        file; None if the lines are not found.
    """
    line = comment.line
    if file and line and comment.side is Side.NEW and not comment.outdated:
        start = comment.start_line or line
        # The whole file shows all uses of a name and the blocks around the lines; a hunk may lack
        # some.
        if file.new_source is not None:
            whole = file.new_source.split("\n")
            if start <= line <= len(whole):
                return whole, range(start - 1, line), True
        for hunk in file.hunks:
            numbered = [(row.new, row.text) for row in hunk.lines if row.new is not None]
            numbers = [number for number, _ in numbered]
            if start in numbers and line in numbers:
                span = range(numbers.index(start), numbers.index(line) + 1)
                return [text for _, text in numbered], span, False
    replaced = find_replaced_lines(comment, file, code.split("\n"))
    return (replaced, range(len(replaced)), False) if replaced else None
