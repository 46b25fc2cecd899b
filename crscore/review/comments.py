"""Parser for the comments of a review in text, Markdown or JSON."""

import re
from typing import Final

from crscore.errors import InputError, LimitError
from crscore.records import Comment
from crscore.review.json_comments import read_json, tidy
from crscore.text import decode_text

# `buffer_is_binary` in https://github.com/git/git/blob/master/xdiff-interface.c
_PROBED_BYTES: Final = 8_000
"""Number of first bytes that are searched for a NUL byte, which no text has, as in git."""
# Matches a page saved in the browser in place of the comments' text, a report in XML, or a model's
# answer that has comments with their places in JSON below other text.
_NO_TEXT: Final = re.compile(
    r"\s{0,99}<(!doctype html|html|\?xml)\b|[^`]{0,4000}(?:```(?:json\w?)?\s|\n)\s{0,99}[\[{]"
    r"(?=[\s\S]{0,2000}\"line\"\s{0,9}+:)(?=[\s\S]{0,2000}\"(?:path|file\w{0,9})\"\s{0,9}+:)"
    r"(?=[\s\S]{0,2000}\"body\"\s{0,9}+:)",
    re.IGNORECASE,
)


# Far above any real review.
MAX_REVIEW_BYTES: Final = 10_000_000
"""Default of the maximum bytes of the whole input, as UTF-8."""
MAX_COMMENTS: Final = 10_000
"""Maximum number of comments."""
MAX_COMMENT_CHARS: Final = 1_000_000
"""Maximum characters of one comment; GitHub allows 65,536."""


def parse_review(
    text: str | bytes, *, source: str = "<review>", max_bytes: int = MAX_REVIEW_BYTES
) -> tuple[Comment, ...]:
    """Parse a review.

    JSON holds comments in any of the forms that hosts and their tools write, see
    `review.json_comments`. Other input is Markdown or plain text and becomes one comment, unless
    `source` ends in `.json` or `.jsonl`.

    Args:
        text: The review. Bytes are UTF-8, or UTF-16 with a byte order mark; undecodable bytes
            become U+FFFD.
        source: Name of the source, for messages and for its suffix.
        max_bytes: Maximum bytes of the input, as UTF-8.

    Returns:
        The comments in input order; empty for empty text.

    Raises:
        LimitError: The input, the number of comments or one comment is too large.
        InputError: The bytes are not text; or JSON is damaged, has an invalid field, or has no
            comments. The message names the entry, counted from 1, and the field or the keys.

    Example:
        >>> parse_review('[{"body": "Leaks.", "path": "a.py", "line": 3}]')[0].line
        3
        >>> parse_review("[nit] Rename it.")[0].body
        '[nit] Rename it.'
    """
    size = len(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    _check("max_review_bytes", max_bytes, size, source)
    if isinstance(text, bytes):
        decoded = decode_text(text)
        if "\0" in decoded[:_PROBED_BYTES]:
            raise InputError(f"{source}: this is not text; save the review as UTF-8")
    else:
        decoded = text.removeprefix("\ufeff")
    review = tidy(decoded)
    if not review.strip():
        return ()
    comments = read_json(review, source)
    if comments is None and (match := _NO_TEXT.match(review)):
        content = {"?xml": "XML", None: "JSON below other text"}.get(match[1], "a web page")
        raise InputError(f"{source}: this is {content}; save the comments as text or JSON")
    if comments is None:
        comments = (Comment(body=review),)
    _check("max_comments", MAX_COMMENTS, len(comments), source)
    for comment in comments:
        _check("max_comment_chars", MAX_COMMENT_CHARS, len(comment.body), source)
    return comments


def _check(limit: str, allowed: int, actual: int, source: str) -> None:
    if actual > allowed:
        raise LimitError(limit, allowed, actual, source)
