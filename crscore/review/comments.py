"""Parser for the comments of a review in text, Markdown or JSON."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from msgspec import structs

from crscore.errors import InputError, LimitError
from crscore.records import Comment, Diff
from crscore.review.json_comments import normalize_text, read_json
from crscore.text import decode_text

# git looks at as many bytes for NUL: https://github.com/git/git/blob/master/xdiff-interface.c
_PROBED_CHARS: Final = 8_000
"""Number of characters at the start that are searched for NUL, which no text has."""
# Matches input that is not the text of comments: a saved web page, a report in XML, or a model's
# answer that has comments in JSON below other text.
_NO_TEXT: Final = re.compile(
    r"\s{0,99}<(!doctype html|html|\?xml)\b|[^`]{0,4000}(?:```(?:json\w?)?\s|\n)\s{0,99}[\[{]"
    r"(?=[\s\S]{0,2000}\"line\"\s{0,9}+:)(?=[\s\S]{0,2000}\"(?:path|file\w{0,9})\"\s{0,9}+:)"
    r"(?=[\s\S]{0,2000}\"body\"\s{0,9}+:)",
    re.IGNORECASE,
)


# No longer than PATH_MAX of Linux: all ends of a path are looked up.
_ABSOLUTE: Final = re.compile(r"(?=.{1,4096}\Z)(?:/|[A-Za-z]:/)")
# These limits are far above any real review.
MAX_REVIEW_BYTES: Final = 10_000_000
"""Default maximum size of the whole input, in bytes of UTF-8."""
MAX_COMMENTS: Final = 10_000
"""Maximum number of comments."""
MAX_COMMENT_CHARS: Final = 1_000_000
"""Maximum number of characters of one comment; GitHub allows 65,536."""


def parse_review(
    text: str | bytes, *, source: str = "<review>", max_bytes: int = MAX_REVIEW_BYTES
) -> tuple[Comment, ...]:
    """Parse a review.

    JSON can have any of the forms that hosts and their tools write: see `review.json_comments`.
    Any other input is Markdown or plain text and becomes one comment, unless `source` ends in
    `.json`, `.jsonl` or `.ndjson`.

    Args:
        text: The review. Bytes are UTF-8, UTF-16 with a byte order mark, or Windows-1252;
            undecodable bytes become U+FFFD.
        source: Name of the input, for messages. Its suffix can show that the input is JSON.
        max_bytes: Maximum size of the input, in bytes of UTF-8.

    Returns:
        The comments in input order; empty for an empty text.

    Raises:
        LimitError: The input or one comment is too large, or there are too many comments.
        InputError: The bytes are not text; or JSON is damaged, has an invalid field, or has no
            comments. The message names the comment, counted from 1, and the field or the keys.

    Example:
        >>> parse_review('[{"body": "Leaks.", "path": "a.py", "line": 3}]')[0].line
        3
        >>> parse_review("[nit] Rename it.")[0].body
        '[nit] Rename it.'
    """
    size = len(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    _check_limit("max_review_bytes", max_bytes, size, source)
    if isinstance(text, bytes):
        decoded = decode_text(text)
        if "\0" in decoded[:_PROBED_CHARS]:
            raise InputError(f"{source}: this is not text; save the review as UTF-8")
    else:
        decoded = text.removeprefix("\ufeff")
    review = normalize_text(decoded)
    if not review.strip():
        return ()
    comments = read_json(review, source)
    if comments is None and (match := _NO_TEXT.match(review)):
        content = {"?xml": "XML", None: "JSON below other text"}.get(match[1], "a web page")
        raise InputError(f"{source}: this is {content}; save the comments as text or JSON")
    if comments is None:
        comments = (Comment(body=review),)
    _check_limit("max_comments", MAX_COMMENTS, len(comments), source)
    for comment in comments:
        _check_limit("max_comment_chars", MAX_COMMENT_CHARS, len(comment.body), source)
    return comments


def _check_limit(limit: str, allowed: int, actual: int, source: str) -> None:
    if actual > allowed:
        raise LimitError(limit, allowed, actual, source)


def resolve_absolute_paths(comments: Sequence[Comment], diff: Diff) -> tuple[Comment, ...]:
    """Replace absolute paths, as Codex writes them, by paths from the root of the repository.

    Args:
        comments: Comments of a review.
        diff: The change under review.

    Returns:
        The comments. Their common root is the one with which most of them are on changed files. A
        comment elsewhere is on the whole change.
    """
    # Codex is asked for places in the change alone, so an absolute path ends with a changed one:
    # https://github.com/openai/codex/blob/main/codex-rs/core/review_prompt.md
    # The path of a file at the root is a bare name, which could end any path.
    names = {name for file in diff.files for name in (file.path, file.old_path) if name}
    paths = [comment.path or "" for comment in comments]
    roots = Counter(
        path[: slash.end()]
        for path in filter(_ABSOLUTE.match, paths)
        for slash in re.finditer("/", path)
        if path[slash.end() :] in names and "/" in path[slash.end() :]
    )
    root = max(roots, key=lambda root: (roots[root], -len(root)), default=None)
    located_comments = []
    for comment in comments:
        located, path = comment, comment.path or ""
        if _ABSOLUTE.match(path):
            located = structs.replace(comment, path=None, line=None, start_line=None)
            if root is not None and path.startswith(root):
                located = structs.replace(comment, path=path.removeprefix(root))
        located_comments.append(located)
    return tuple(located_comments)
