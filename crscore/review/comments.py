"""Parser for the comments of a review in text, Markdown or JSON."""

import codecs
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from crscore.errors import InputError, LimitError
from crscore.records import Comment, Side

_SIDES: Final = {"RIGHT": Side.NEW, "NEW": Side.NEW, "LEFT": Side.OLD, "OLD": Side.OLD}
_MAX_INT_DIGITS: Final = 100
_PROBED_BYTES: Final = 8_000
"""Size of the start of a file where a NUL byte means that it is not text, as in git."""
_LINE_END: Final = re.compile("\r\n?")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewLimits:
    """Size limits of a review."""

    max_review_bytes: int = 10_000_000
    """Maximum bytes of the whole input, as UTF-8."""
    max_comments: int = 10_000
    """Maximum number of comments."""
    max_comment_chars: int = 1_000_000
    """Maximum characters of one comment; GitHub allows 65,536."""


DEFAULT_LIMITS: Final = ReviewLimits()
"""Default limits, far above any real review."""


@dataclass(slots=True)
class _Document:
    """Parsed JSON: its entries, and the defects that do not prevent parsing."""

    entries: list[Any]
    defects: list[str] = field(default_factory=list)


def parse_review(
    text: str | bytes, *, source: str = "<review>", limits: ReviewLimits = DEFAULT_LIMITS
) -> tuple[Comment, ...]:
    """Parse a review.

    JSON is an object, a list of objects (or of lists of them, as in paged responses), `{"comments":
    [...]}`, or JSON Lines. An entry's fields are `body`, `path`, `line`, `start_line`, `side`
    (`RIGHT` or `LEFT`), `diff_hunk`, `author`, `id` and GitHub's names for them (`user.login`,
    `original_line`, `original_start_line`), so GitHub's review comments, issue comments and reviews
    can be passed as returned by its REST API; other keys are ignored. `original_line` is used when
    `line` is null (an outdated comment). Entries without any text, such as an approval, are
    dropped.

    Other input is Markdown or plain text and makes one comment, unless `source` ends in
    `.json` or `.jsonl`. Text that merely starts with a bracket is not JSON.

    Args:
        text: The review. Bytes are UTF-8, or UTF-16 with a byte order mark; undecodable bytes
            become U+FFFD.
        source: Name of the source, for messages and for its suffix.
        limits: Size limits.

    Returns:
        The comments in input order; empty for empty text.

    Raises:
        LimitError: The input, the number of comments or one comment is too large.
        InputError: The bytes are not text, or a JSON review has an invalid field or is not a list
            of comments, and the message names the entry, counted from 1, and the field.

    Example:
        >>> parse_review('[{"body": "Leaks.", "path": "a.py", "line": 3}]')[0].line
        3
        >>> parse_review("[nit] Rename it.")[0].body
        '[nit] Rename it.'
    """
    size = len(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    _check("max_review_bytes", limits.max_review_bytes, size, source)
    review = _tidy(
        _decode(text, source) if isinstance(text, bytes) else text.removeprefix("\ufeff")
    )
    if not review.strip():
        return ()
    document = _load(review, source)
    if document is None:
        comments: tuple[Comment, ...] = (Comment(body=review),)
    else:
        _check("max_comments", limits.max_comments, len(document.entries), source)
        comments = tuple(_comments(document, source))
    for comment in comments:
        _check("max_comment_chars", limits.max_comment_chars, len(comment.body), source)
    return comments


def _check(limit: str, allowed: int, actual: int, source: str) -> None:
    if actual > allowed:
        raise LimitError(limit, allowed, actual, source)


def _decode(data: bytes, source: str) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    if b"\0" in data[:_PROBED_BYTES]:
        raise InputError(f"{source}: this is not text; save the review as UTF-8")
    return data.decode("utf-8-sig", "replace")


def _tidy(text: str) -> str:
    """Convert all line ends to newlines, and lone surrogates to U+FFFD."""
    return _SURROGATE.sub("\ufffd", _LINE_END.sub("\n", text))


def _load(review: str, source: str) -> _Document | None:
    """Parse a JSON review; return None for text."""
    must_be_json = source.lower().endswith((".json", ".jsonl", ".ndjson"))
    if not must_be_json and not review.lstrip().startswith(("[", "{")):
        return None
    try:
        document = _parse_json(review)
    except RecursionError as exc:
        if not must_be_json:
            return None  # plain text that starts with many brackets
        raise InputError(
            f"{source}: the JSON is nested too deeply; expected a list of comments"
        ) from exc
    except json.JSONDecodeError as exc:
        if not must_be_json:
            return None
        raise InputError(
            f"{source}: not JSON at line {exc.lineno}, column {exc.colno} ({exc.msg}); "
            "expected a list of comments or JSON Lines"
        ) from exc
    if not must_be_json and not _looks_like_comments(document.entries):
        return None
    if document.defects:
        raise InputError(f"{source}: {document.defects[0]}; correct the JSON")
    return document


def _parse_json(review: str) -> _Document:
    """Parse one JSON document or, failing that, one on each line.

    Defects are recorded, not raised: "[NaN] is not handled" must be recognized as text.
    """
    document = _Document(entries=[])

    def make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if len(fields) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            twice = next(key for key, count in counts.items() if count > 1)
            document.defects.append(f"the key {_quote(twice)} occurs twice in one object")
        return fields

    def make_constant(name: str) -> None:
        document.defects.append(f"{name} is not a JSON value")

    def make_int(digits: str) -> int:
        # int() raises a plain ValueError for thousands of digits.
        if len(digits) <= _MAX_INT_DIGITS:
            return int(digits)
        document.defects.append(f"a number has {len(digits)} digits")
        return 0

    decoder = json.JSONDecoder(
        object_pairs_hook=make_object, parse_constant=make_constant, parse_int=make_int
    )
    try:
        document.entries = _entries(decoder.decode(review))
    except json.JSONDecodeError as exc:
        document.defects.clear()
        lines = [line for line in review.split("\n") if line.strip()]
        if len(lines) < 2 or not lines[0].rstrip().endswith(("}", "]")):
            raise
        document.entries = _decode_lines(decoder, review, exc)
    return document


def _decode_lines(decoder: json.JSONDecoder, review: str, whole: json.JSONDecodeError) -> list[Any]:
    """Read JSON Lines; an error gives the position of the first invalid line in the review."""
    entries: list[Any] = []
    start = 0
    for line in review.split("\n"):
        if line.strip():
            try:
                entries += _entries(decoder.decode(line))
            except json.JSONDecodeError as exc:
                if not entries:
                    raise whole from None
                raise json.JSONDecodeError(exc.msg, review, start + exc.pos) from None
        start += len(line) + 1
    return entries


def _entries(value: Any) -> list[Any]:
    """Return the entries of a document, with pages of entries joined."""
    if isinstance(value, dict) and isinstance(value.get("comments"), list) and "body" not in value:
        value = value["comments"]
    if not isinstance(value, list):
        return [value]
    if value and all(isinstance(page, list) for page in value):
        return [entry for page in value for entry in page]
    return value


def _looks_like_comments(entries: list[Any]) -> bool:
    return all(isinstance(entry, dict) for entry in entries) and (
        not entries or any("body" in entry for entry in entries)
    )


def _comments(document: _Document, source: str) -> Iterator[Comment]:
    for number, entry in enumerate(document.entries, start=1):
        place = f"{source}: comment {number}"
        if not isinstance(entry, dict):
            raise InputError(f"{place} is {_quote(entry)}; expected an object with a body")
        comment = _comment(_Fields(entry, place))
        if comment.body.strip():
            yield comment


@dataclass(frozen=True, slots=True)
class _Fields:
    """Fields of one entry, read with a type check."""

    values: dict[str, Any]
    place: str

    def text(self, key: str) -> str | None:
        """Return a string, or None when it is missing or null."""
        value = self.values.get(key)
        if value is None or isinstance(value, str):
            return None if value is None else _tidy(value)
        raise self.wrong(key, value, "a string or null")

    def number(self, key: str) -> int | None:
        """Return a line number, or None when it is missing or null."""
        value = self.values.get(key)
        if value is None or (type(value) is int and value > 0):
            return value
        raise self.wrong(key, value, "a line number from 1 or null")

    def wrong(self, key: str, value: Any, expected: str) -> InputError:
        """Describe the fault of a field."""
        return InputError(f"{self.place}: {key} is {_quote(value)}; expected {expected}")


def _comment(fields: _Fields) -> Comment:
    if "body" not in fields.values:
        raise InputError(f"{fields.place} has no body; expected a string")
    line, start_line = _lines(fields)
    return Comment(
        body=fields.text("body") or "",
        path=fields.text("path") or None,
        line=line,
        start_line=start_line,
        side=_side(fields, "side") or Side.NEW,
        outdated=line is not None and fields.values.get("line") is None,
        diff_hunk=fields.text("diff_hunk") or None,
        author=_author(fields),
        id=_id(fields),
    )


def _lines(fields: _Fields) -> tuple[int | None, int | None]:
    """Return the last and first line: the current or, on an outdated comment, the original ones."""
    line, start = fields.number("line"), fields.number("start_line")
    if line is None:
        line, start = fields.number("original_line"), fields.number("original_start_line")
    if fields.values.get("subject_type") == "file":
        return None, None  # GitHub gives line 1 for a comment on a whole file
    other_side = _side(fields, "start_side") not in {None, _side(fields, "side") or Side.NEW}
    if line is None or start is None or start > line or other_side:
        start = None  # a range across both sides cannot be expressed on one of them
    return line, start


def _side(fields: _Fields, key: str) -> Side | None:
    value = fields.text(key)
    if value is None:
        return None
    side = _SIDES.get(value.upper())
    if side is None:
        raise fields.wrong(key, value, "RIGHT or LEFT")
    return side


def _author(fields: _Fields) -> str | None:
    """Return `author` or `user.login`; null means a deleted account."""
    for key in ("author", "user"):
        value = fields.values.get(key)
        if isinstance(value, dict):
            return _Fields(value, f"{fields.place}: {key}").text("login")
        if value is not None:
            return fields.text(key)
    return None


def _id(fields: _Fields) -> str | None:
    value = fields.values.get("id")
    if type(value) is int:
        return str(value)
    if value is None or isinstance(value, str):
        return fields.text("id")
    raise fields.wrong("id", value, "a string, a whole number or null")


def _quote(value: Any) -> str:
    """Format a value for a message, truncated to a line."""
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
