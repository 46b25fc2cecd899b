"""Lines of code that comments are about."""

from crscore.records import Comment, Diff, DiffLine, Hunk

CONTEXT_LINES = 3
"""Number of lines shown above the lines that a comment is about."""
MAX_LINES = 20
"""Maximum number of lines of a comment that are shown; the last ones are kept."""


def lines_of_comment(diff: Diff, comment: Comment) -> tuple[DiffLine, ...]:
    """Return the lines that a comment is about, with some lines above them.

    Args:
        diff: The change.
        comment: A comment on it.

    Returns:
        Lines of one hunk, the comment's last line at the end; empty for a comment that is not on a
        line of the diff, or whose line belongs to an older version.
    """
    if comment.path is None or comment.line is None or comment.outdated:
        return ()
    for file in diff.files:
        if comment.path == file.path_on(comment.side):
            for hunk in file.hunks:
                if lines := _lines_of_hunk(hunk, comment, comment.line):
                    return lines
    return ()


def _lines_of_hunk(hunk: Hunk, comment: Comment, last: int) -> tuple[DiffLine, ...]:
    numbers = [line.number_on(comment.side) for line in hunk.lines]
    if last not in numbers:
        return ()
    end = numbers.index(last) + 1
    first = min(comment.start_line or last, last)
    start = next(at for at, number in enumerate(numbers) if number is not None and number >= first)
    return hunk.lines[max(0, max(start, end - MAX_LINES) - CONTEXT_LINES) : end]
