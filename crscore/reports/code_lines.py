"""Lines of code that comments are about."""

from crscore.records import Comment, Diff, DiffLine

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
    last, first = comment.line, min(comment.start_line or comment.line, comment.line)
    for file in diff.files:
        for hunk in file.hunks if comment.path == file.path_on(comment.side) else ():
            numbers = [line.number_on(comment.side) for line in hunk.lines]
            if last in numbers:
                end = numbers.index(last) + 1
                start = next(at for at, number in enumerate(numbers) if (number or 0) >= first)
                return hunk.lines[max(0, max(start, end - MAX_LINES) - CONTEXT_LINES) : end]
    return ()
