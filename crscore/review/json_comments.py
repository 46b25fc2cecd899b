"""Comments in JSON, in the forms that code hosts and their tools write.

Every object with a `body` is a comment, at any level: in a list, in pages of lists, in
several documents one after another (JSON Lines, the pages of `gh api --paginate`), in a review
beside its own comments, in the objects of `gh pr view --json comments,reviews`, in GraphQL's
`nodes` and `edges`, in the notes of GitLab's discussions, or in the findings of a model, whose
titles become headings. Two bodies are not comments: a pull request's description and GitLab's
system notes. Comments of a thread take its path and lines. A code fence around the whole is
removed, and texts that are only quoted, as `jq .body` writes them, are comments.

JSON without comments is an error that lists its keys; it is never scored as prose, because an API's
error message in place of the comments is a common input.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from crscore.diff.paths import strip_workspace
from crscore.errors import InputError
from crscore.records import Comment, Side
from crscore.text import count_noun

_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "path": (
        "path",
        "position.new_path",
        "position.old_path",
        "file",
        "code_location.absolute_file_path",
    ),
    "line": ("line", "position.new_line", "code_location.line_range.end"),
    "old_line": ("position.old_line",),
    "start_line": ("start_line", "startLine", "code_location.line_range.start"),
    "original_line": ("original_line", "originalLine"),
    "original_start_line": ("original_start_line", "originalStartLine"),
    "side": ("side", "diffSide"),
    "start_side": ("start_side", "startDiffSide"),
    "diff_hunk": ("diff_hunk", "diffHunk"),
    "subject_type": ("subject_type", "subjectType"),
}
"""Names of a field in the APIs of GitHub and GitLab and in the findings of Codex; the first one
with a value is used: https://github.com/openai/codex/blob/main/codex-rs/core/review_prompt.md.
"""
_THREAD_KEYS: Final = (
    "path", "line", "startLine", "originalLine", "originalStartLine", "diffSide", "startDiffSide",
    "subjectType",
)  # fmt: skip
"""Fields that a comment without them inherits from its thread."""
_LISTS: Final = frozenset(
    {"comments", "reviews", "latestReviews", "reviewThreads", "threads", "notes", "discussions",
     "nodes", "edges", "findings"}
)  # fmt: skip
"""Keys of lists of comments, which may be empty."""
_SKIPPED: Final = frozenset({"changes", "replyTo"})
"""Keys of earlier texts: the changes of an event, and the comment that a reply answers."""
# A finding of a model has a title, as a pull request has, but also a place or a severity.
_OF_FINDING: Final = frozenset({"path", "file", "line", "code_location", "severity", "priority"})
_OF_PULL: Final = frozenset({"number", "state", "reviews"})
# GitHub has RIGHT and LEFT (https://docs.github.com/en/rest/pulls/comments), reports of crscore
# have new and old.
_SIDES: Final = {"RIGHT": Side.NEW, "NEW": Side.NEW, "LEFT": Side.OLD, "OLD": Side.OLD}
# int() raises a plain ValueError for over 4,300 digits:
# https://docs.python.org/3/library/stdtypes.html#integer-string-conversion-length-limitation
_MAX_INT_DIGITS: Final = 100
# GitHub's errors have up to four keys (message, errors, documentation_url, status):
# https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api
_MAX_ERROR_KEYS: Final = 5
_SUFFIXES: Final = (".json", ".jsonl", ".ndjson")
_LINE_END: Final = re.compile("\r\n?")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_BLANK: Final = re.compile(r"\s*+")
# Python's `str(comments)` has single quotes.
_OBJECT_START: Final = re.compile(r"""[\s\[]{0,20}+\{\s{0,20}+["']\w{1,100}+["']\s{0,20}+:""")
# `{"body": ...`, `{"findings": [...`, `{'message': ...`; not `{"a": 1}` in prose
_COMMENT_KEY: Final = re.compile(
    r"""["'](?:body|comments|findings|notes|message|errors)["']\s{0,20}+:"""
)
# https://github.com/openai/codex-plugin-cc/pull/583: models often put a fence around their JSON.
_FENCE: Final = re.compile(r"\s*(`{3,}|~{3,})(?:json\w{0,9})?\s+(?=[\[{])", re.IGNORECASE)
# Colors, cursor modes and links of a terminal: "\x1b[31m", "\x1b[?2004h", "\x1b]8;;https://x\x07"
_TERMINAL: Final = re.compile(
    r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]{0,4096}+(?:\x07|\x1b\\))"
)


def tidy(text: str) -> str:
    """Convert line ends to newlines and lone surrogates to U+FFFD; remove codes of terminals."""
    return _SURROGATE.sub("\ufffd", _TERMINAL.sub("", _LINE_END.sub("\n", text)))


def read_json(review: str, source: str) -> tuple[Comment, ...] | None:
    """Read the comments of a review in JSON.

    Args:
        review: The text.
        source: Its name, for messages. With a suffix of JSON, the text must be JSON.

    Returns:
        The comments with text, in input order; None if the review is not JSON.

    Raises:
        InputError: The JSON is damaged, has a field of a wrong type, or holds no comments.
    """
    must_be_json = source.lower().endswith(_SUFFIXES)
    review = _without_fence(review)
    if not must_be_json and not review.lstrip().startswith(("[", "{", '"')):
        return None
    search = _Search(source)
    try:
        values, defects = _decode(review)
        if all(isinstance(value, str) for value in values):
            return tuple(Comment(body=tidy(text)) for text in values if text.strip())
        if not must_be_json and not all(map(_holds_objects, values)):
            return None  # "[1, 2]", "[NaN]" as prose
        if defects:
            raise InputError(f"{source}: {defects[0]}; correct the JSON")
        for value in values:
            search.read_document(value)
    except RecursionError as exc:
        if not must_be_json:
            return None  # plain text that starts with many brackets
        raise InputError(
            f"{source}: the JSON is nested too deeply; expected a list of comments"
        ) from exc
    except json.JSONDecodeError as exc:
        if not must_be_json and not _is_damaged(review, exc):
            return None
        raise InputError(
            f"{source}: not JSON at line {exc.lineno}, column {exc.colno} ({exc.msg}); "
            "expected a list of comments or JSON Lines"
        ) from exc
    search.check_skipped()
    return tuple(comment for comment in search.comments if comment.body.strip())


def _without_fence(review: str) -> str:
    """Remove a code fence around comments in JSON."""
    fence, end = _FENCE.match(review), review.rstrip()
    is_fenced = fence and end.endswith(fence[1]) and _COMMENT_KEY.search(review)
    return end[fence.end() :].removesuffix(fence[1]) if fence and is_fenced else review


def _is_damaged(review: str, error: json.JSONDecodeError) -> bool:
    """Tell JSON that was cut or edited from prose such as "{"key": 1} is never read"."""
    return bool(_OBJECT_START.match(review)) and (
        error.pos >= len(review.rstrip())
        or error.msg.startswith("Unterminated string")
        or bool(_COMMENT_KEY.search(review))
    )


def _holds_objects(value: Any) -> bool:
    if isinstance(value, list):
        return not value or any(isinstance(entry, dict | list) for entry in value)
    return isinstance(value, dict)


def _decode(text: str) -> tuple[list[Any], list[str]]:
    """Decode consecutive JSON values.

    Returns:
        The values, and the defects that do not prevent parsing. These are not raised:
        "[NaN] is not handled" must be recognized as text.

    Raises:
        json.JSONDecodeError: A value is damaged, with its position in the text.
    """
    values: list[Any] = []
    defects: list[str] = []

    def make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if len(fields) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            repeated = next(key for key, count in counts.items() if count > 1)
            # Readers differ in which of the two counts:
            # https://www.rfc-editor.org/rfc/rfc8259#section-4
            defects.append(f"the key {_quote(repeated)} occurs twice in one object")
        return fields

    def make_int(digits: str) -> int:
        if len(digits) <= _MAX_INT_DIGITS:
            return int(digits)
        defects.append(f"a number has {len(digits)} digits")
        return 0

    decoder = json.JSONDecoder(
        object_pairs_hook=make_object,
        # Python reads NaN and Infinity, which JSON does not have:
        # https://docs.python.org/3/library/json.html#infinite-and-nan-number-values
        parse_constant=lambda name: defects.append(f"{name} is not a JSON value"),
        parse_int=make_int,
        strict=False,  # `echo` of some shells makes line feeds of the escapes in strings
    )
    position = _BLANK.match(text).end()  # type: ignore[union-attr]  # it always matches
    while position < len(text) or not values:
        value, end = decoder.raw_decode(text, position)
        values.append(value)
        position = _BLANK.match(text, end).end()  # type: ignore[union-attr]
    return values, defects


@dataclass(slots=True)
class _Search:
    """Search for the comments of JSON values."""

    source: str
    comments: list[Comment] = field(default_factory=list)
    identified: set[Comment] = field(default_factory=set)
    """Comments that have an identifier."""
    has_list: bool = False
    """Whether a list of comments, even an empty one, was seen."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Numbers of bodies that are not comments, by their kind."""

    def read_document(self, value: Any) -> None:
        """Add the comments of one value.

        Raises:
            InputError: It holds no comments, or one has a wrong field.
        """
        count, self.has_list = len(self.comments), isinstance(value, list)
        self._check_error(value)
        self._search(value, {}, is_entry=not isinstance(value, dict) or "body" in value)
        if len(self.comments) == count and not self.has_list:
            keys = _list_keys(value) if isinstance(value, dict) else ""
            raise InputError(
                f"{self.source}: JSON without comments; "
                + (f"its keys are {keys}" if keys else f"it is {_quote(value)}")
            )

    def check_skipped(self) -> None:
        """Raise an error if all bodies were skipped."""
        text = " and ".join(count_noun(count, noun) for noun, count in self.skipped.items())
        if text and not self.comments:
            raise InputError(f"{self.source}: JSON without comments; it has only {text}")

    def _check_error(self, value: Any) -> None:
        """Raise the error that an API writes in place of comments."""
        if not isinstance(value, dict) or value.keys() & {"body", "path", "file"}:
            return
        errors = value.get("errors")
        first = errors[0] if isinstance(errors, list) and errors else None
        text = value.get("message") or value.get("error") or first
        if text and (first or len(value) <= _MAX_ERROR_KEYS):
            keys = f"{_quote(text)} (its keys are {_list_keys(value)})"
            raise InputError(f"{self.source}: an API's error: {keys}; check the request's token")

    def _search(
        self, value: Any, thread: Mapping[str, Any], *, is_entry: bool, is_listed: bool = False
    ) -> None:
        """Add the comments in a value; every entry of a list of comments must contain one."""
        if isinstance(value, list):
            # GraphQL lists null in place of an object that the token may not see.
            for entry in filter(lambda entry: entry is not None, value):
                self._search(entry, thread, is_entry=is_entry, is_listed=True)
            return
        location = f"{self.source}: comment {len(self.comments) + 1}"
        if not isinstance(value, dict):
            if is_entry:
                raise InputError(f"{location} is {_quote(value)}; expected an object with a body")
            return
        count = len(self.comments)
        if "body" in value and (is_entry or isinstance(value["body"], str | None)):
            own_fields = {key: content for key, content in value.items() if content is not None}
            self._add(_Fields({**thread, **own_fields}, location), value, is_listed)
        inherited = {**thread, **{key: value[key] for key in _THREAD_KEYS if value.get(key)}}
        for key, content in value.items():
            if isinstance(content, dict | list) and key not in _SKIPPED:
                is_list = key in _LISTS and isinstance(content, list)
                self.has_list |= is_list
                self._search(content, inherited, is_entry=is_list)
        if (
            is_entry
            and "body" not in value
            and len(self.comments) == count
            and not self._has_list_key(value)
        ):
            self._check_error(value)
            keys = _list_keys(value) or "none"
            raise InputError(f"{location} has no body; its keys are {keys}")

    @staticmethod
    def _has_list_key(value: Mapping[str, Any]) -> bool:
        return any(key in _LISTS or key == "node" for key in value)

    def _add(self, fields: "_Fields", value: Mapping[str, Any], is_listed: bool) -> None:
        # "added 1 commit": https://docs.gitlab.com/api/notes/
        if value.get("system") is True:
            self.has_list = True
            self.skipped["system note"] += 1
            return
        if _is_description(value, is_listed):
            # Without comments yet, `gh pr view --json title,body,comments` has an empty list.
            if not self._has_list_key(value):
                self.skipped["pull request description"] += 1
            self.has_list = True
            return
        comment = _comment(fields)
        # `gh` lists a review in `reviews` and again in `latestReviews`.
        if comment.id is None or comment not in self.identified:
            self.comments.append(comment)
            self.identified.add(comment)


def _is_description(value: Mapping[str, Any], is_listed: bool) -> bool:
    """Recognize a pull request or an issue, whose body describes it; findings have titles, too."""
    comments = value.get("comments")
    is_finding = bool(_OF_FINDING & value.keys()) or (is_listed and not _OF_PULL & value.keys())
    # `gh pr view` writes a pull request with comments that have `authorAssociation`.
    return (
        ("title" in value and not is_finding)
        or "reviews" in value
        or (
            isinstance(comments, list)
            and any(isinstance(entry, dict) and "authorAssociation" in entry for entry in comments)
        )
    )


@dataclass(frozen=True, slots=True)
class _Fields:
    """Fields of one comment, read with a type check."""

    values: Mapping[str, Any]
    location: str

    def get(self, name: str) -> tuple[str, Any]:
        """Return the key of a field and its value; None if no name of the field has one."""
        for key in _NAMES.get(name, (name,)):
            value: Any = self.values
            for part in key.split("."):
                value = value.get(part) if isinstance(value, Mapping) else None
            if value is not None:
                return key, value
        return name, None

    def text(self, name: str) -> str | None:
        """Return a string, or None when it is missing or null."""
        key, value = self.get(name)
        if value is None or isinstance(value, str):
            return None if value is None else tidy(value)
        raise self.wrong(key, value, "a string or null")

    def number(self, name: str) -> int | None:
        """Return a line number, or None when it is missing or null."""
        key, value = self.get(name)
        if value is None or (type(value) is int and value > 0):
            return value
        raise self.wrong(key, value, "a line number from 1 or null")

    def wrong(self, key: str, value: Any, expected: str) -> InputError:
        """Return the error for an invalid field."""
        return InputError(f"{self.location}: {key} is {_quote(value)}; expected {expected}")


def _comment(fields: _Fields) -> Comment:
    line, start_line = _lines(fields)
    side = _side(fields, "side") or Side.NEW
    if line is None and (old_line := fields.number("old_line")):
        line, side = old_line, Side.OLD
    title, body = (fields.text("title") or "").strip(), fields.text("body") or ""
    path = fields.text("path") or ""
    # Tools on Windows write backslashes.
    path = path.replace("\\", "/") if "/" not in path else path.removeprefix("./")
    path = strip_workspace(path)
    if path.startswith("/") or path[1:3] == ":/":
        # Azure DevOps starts paths with a slash. Codex's are absolute; in an unknown folder, the
        # comment is about the whole change, since only the end of the path could be compared.
        path = path.lstrip("/")
        if fields.get("path")[0] == "code_location.absolute_file_path":
            path, line, start_line = "", None, None
    return Comment(
        body=f"**{title}**\n\n{body}" if title and body else body or title,
        path=path or None,
        line=line,
        start_line=start_line,
        side=side,
        outdated=line is not None
        and fields.get("original_line")[1] is not None
        and fields.get("line")[1] is None,
        diff_hunk=fields.text("diff_hunk") or None,
        author=_author(fields),
        id=_id(fields),
    )


def _lines(fields: _Fields) -> tuple[int | None, int | None]:
    """Return the last and first line: the current or, on an outdated comment, the original ones."""
    line, start = fields.number("line"), fields.number("start_line")
    if line is None:
        line, start = fields.number("original_line"), fields.number("original_start_line")
    if str(fields.get("subject_type")[1]).lower() == "file":
        return None, None  # GitHub sends line 1 for a comment on a file
    other_side = _side(fields, "start_side") not in {None, _side(fields, "side") or Side.NEW}
    if line is None or start is None or start >= line or other_side:
        start = None  # a range across both sides cannot be expressed on one of them
    return line, start


def _side(fields: _Fields, name: str) -> Side | None:
    value = fields.text(name)
    if value is None:
        return None
    side = _SIDES.get(value.upper())
    if side is None:
        raise fields.wrong(fields.get(name)[0], value, "RIGHT or LEFT")
    return side


def _author(fields: _Fields) -> str | None:
    """Return the author's login, or GitLab's user name; None for a deleted account."""
    for key in ("author", "user"):
        value = fields.values.get(key)
        if isinstance(value, dict):
            account = _Fields(value, f"{fields.location}: {key}")
            return account.text("login") or account.text("username")
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


def _list_keys(value: Mapping[str, Any]) -> str:
    return ", ".join(map(_quote, list(value)[:10]))


def _quote(value: Any) -> str:
    """Format a value for a message, truncated to a line."""
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
