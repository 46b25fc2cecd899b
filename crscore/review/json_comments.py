"""Comments in JSON, in the forms that code hosts and their tools write.

Every object with a `body` is a comment, at any level: in a list, in pages of lists, in several
documents one after another (JSON Lines, the pages of `gh api --paginate`), in a review that also
has comments, in the objects of `gh pr view --json comments,reviews`, in GraphQL's `nodes` and
`edges`, in the notes of GitLab's discussions, or in findings, whose titles become headings. JSON
strings that are not in an object, as `jq .body` writes them, are comments too. Two kinds of bodies
are not comments: descriptions of pull requests, and GitLab's system notes. The comments of a thread
inherit its path and lines. A code fence around the whole text is removed.

JSON without comments is an error, whose message lists the keys. It is never scored as prose,
because users often pass an API's error message in place of the comments.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from crscore.diff.paths import strip_workspace
from crscore.errors import InputError
from crscore.records import Comment, Side

_THREAD_KEYS: Final = (
    "path", "line", "start_line", "original_line", "original_start_line", "diff_side",
    "start_diff_side", "subject_type",
)  # fmt: skip
"""Fields that a comment inherits from its thread if it lacks them."""
_LISTS: Final = frozenset(
    {"comments", "reviews", "latest_reviews", "review_threads", "threads", "notes", "discussions",
     "nodes", "edges", "findings"}
)  # fmt: skip
"""Keys of lists of comments, which may be empty."""
# GitHub's lists of files and many bots have `filename`; others have `filePath`.
_PATH_KEYS: Final = ("path", "file", "file_path", "filename", "file_name")
# A finding has a title, like a pull request, but it also has a location or a severity.
_FINDING_KEYS: Final = frozenset({*_PATH_KEYS, "line", "code_location", "severity", "priority"})
_PULL_KEYS: Final = frozenset({"number", "state", "reviews"})
# GitHub writes RIGHT and LEFT (https://docs.github.com/en/rest/pulls/comments), and crscore's
# reports have new and old.
_SIDES: Final = {"RIGHT": Side.NEW, "NEW": Side.NEW, "LEFT": Side.OLD, "OLD": Side.OLD}
# GitHub's errors have up to four keys (message, errors, documentation_url, status):
# https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api
_MAX_ERROR_KEYS: Final = 5
_SUFFIXES: Final = (".json", ".jsonl", ".ndjson")
_LINE_END: Final = re.compile("\r\n?")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
# GraphQL writes `startLine`, the other interfaces `start_line`.
_CAPITAL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BLANK: Final = re.compile(r"\s*+")
# Python's `str(comments)` has single quotes.
_OBJECT_START: Final = re.compile(r"""[\s\[]{0,20}+\{\s{0,20}+["']\w{1,100}+["']\s{0,20}+:""")
# `{"body": ...`, `{"findings": [...`, `{'message': ...`; not `{"a": 1}` in prose
_COMMENT_KEY: Final = re.compile(
    r"""["'](?:body|comments|findings|notes|message|errors)["']\s{0,20}+:"""
)
# https://github.com/openai/codex-plugin-cc/pull/583: models often put a fence around their JSON.
_FENCE: Final = re.compile(r"\s*(`{3,}|~{3,})(?:json\w{0,9})?\s+(?=[\[{])", re.IGNORECASE)
# Control codes of a terminal: colors "\x1b[31m", modes "\x1b[?2004h", links "\x1b]8;;https://x\x07"
_TERMINAL: Final = re.compile(
    r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|\][^\x07\x1b]{0,4096}+(?:\x07|\x1b\\))"
)


def normalize_text(text: str) -> str:
    """Convert line ends to newlines and lone surrogates to U+FFFD; remove terminal codes."""
    return _SURROGATE.sub("\ufffd", _TERMINAL.sub("", _LINE_END.sub("\n", text)))


def read_json(review: str, source: str) -> tuple[Comment, ...] | None:
    """Read the comments of a review in JSON.

    Args:
        review: The review's text.
        source: Name of the text, for messages. If it ends in `.json`, `.jsonl` or `.ndjson`, the
            text must be JSON.

    Returns:
        The comments that are not blank, in input order; None if the review is not JSON.

    Raises:
        InputError: The JSON is damaged, has a field of a wrong type, or has no comments.
    """
    must_be_json = source.lower().endswith(_SUFFIXES)
    # Gerrit writes `)]}'` before its JSON:
    # https://gerrit-review.googlesource.com/Documentation/rest-api.html#output
    review = _strip_fence(review.removeprefix(")]}'"))
    if not must_be_json and not review.lstrip().startswith(("[", "{", '"')):
        return None
    search = _Search(source)
    try:
        values = _decode(review)
        if all(isinstance(value, str) for value in values):
            return tuple(Comment(body=normalize_text(text)) for text in values if text.strip())
        if not must_be_json and not all(map(_has_objects, values)):
            return None  # "[1, 2]" or "[NaN]" can be prose
        for value in values:
            search.read_document(value)
    except json.JSONDecodeError as exc:
        if not must_be_json and not _is_damaged(review, exc):
            return None
        raise InputError(
            f"{source}: not JSON at line {exc.lineno}, column {exc.colno} ({exc.msg}); "
            "expected a list of comments or JSON Lines"
        ) from exc
    # A repeated key raises a plain ValueError, and so does a number of more than 4,300 digits:
    # https://docs.python.org/3/library/stdtypes.html#integer-string-conversion-length-limitation
    except (RecursionError, ValueError) as exc:
        if not must_be_json and isinstance(exc, RecursionError):
            return None  # plain text that starts with many brackets
        raise InputError(
            f"{source}: the JSON cannot be read ({exc}); expected a list of comments"
        ) from exc
    if search.skipped and not search.comments:
        only = " and ".join(sorted(search.skipped))
        raise InputError(f"{source}: JSON without comments; it has only {only}")
    return tuple(comment for comment in search.comments if comment.body.strip())


def _strip_fence(review: str) -> str:
    """Remove a code fence around comments in JSON."""
    fence, end = _FENCE.match(review), review.rstrip()
    is_fenced = fence and end.endswith(fence[1]) and _COMMENT_KEY.search(review)
    return end[fence.end() :].removesuffix(fence[1]) if fence and is_fenced else review


def _is_damaged(review: str, error: json.JSONDecodeError) -> bool:
    """Return whether a text is damaged JSON, not prose such as "{"key": 1} is never read"."""
    return bool(_OBJECT_START.match(review)) and (
        error.pos >= len(review.rstrip())
        or error.msg.startswith("Unterminated string")
        or bool(_COMMENT_KEY.search(review))
    )


def _has_objects(value: Any) -> bool:
    if isinstance(value, list):
        return not value or any(isinstance(entry, dict | list) for entry in value)
    return isinstance(value, dict)


def _decode(text: str) -> list[Any]:
    """Decode consecutive JSON values.

    Raises:
        json.JSONDecodeError: A value is damaged, with its position in the text.
        ValueError: A key occurs twice.
    """
    is_repeated: list[bool] = []

    def make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        is_repeated.append(len(fields) < len(pairs))
        return fields

    # Not strict, because in some shells, `echo` converts "\n" in a string to a line feed.
    decoder = json.JSONDecoder(object_pairs_hook=make_object, strict=False)
    values: list[Any] = []
    position = len(text) - len(text.lstrip())
    while position < len(text) or not values:
        value, end = decoder.raw_decode(text, position)
        values.append(value)
        position = _BLANK.match(text, end).end()  # type: ignore[union-attr]  # it always matches
    # This is checked at the end, because text after an object shows that the input is prose. JSON
    # readers disagree on which of two equal keys to use:
    # https://www.rfc-editor.org/rfc/rfc8259#section-4
    if any(is_repeated):
        raise ValueError("a key occurs twice in one object")
    return values


@dataclass(slots=True)
class _Search:
    """Collects the comments in JSON values."""

    source: str
    """Name of the text, for messages."""
    comments: list[Comment] = field(default_factory=list)
    """Comments found so far, in input order."""
    unique: set[Comment] = field(default_factory=set)
    """The same comments as a set, to find a comment with an id that is listed twice."""
    has_list: bool = False
    """Whether a list of comments, even an empty one, was seen."""
    skipped: set[str] = field(default_factory=set)
    """Kinds of bodies that were skipped, because they are not comments."""

    def read_document(self, value: Any) -> None:
        """Add the comments in one JSON document.

        Raises:
            InputError: The document has no comments, or a comment has a wrong field.
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

    def _check_error(self, value: Any) -> None:
        """Raise an `InputError` if a value is an error that an API sends in place of comments."""
        if not isinstance(value, dict) or value.keys() & {"body", "location", *_PATH_KEYS}:
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
        """Add the comments in a value.

        Args:
            value: Any JSON value.
            thread: Fields that the comments inherit.
            is_entry: Whether the value must contain a comment.
            is_listed: Whether the value is an item of a list.
        """
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
        fields = _normalize_keys(value)
        self._add_explanation(fields, location)
        filled_fields = {key: content for key, content in fields.items() if content is not None}
        if "body" in fields and (is_entry or isinstance(fields["body"], str | None)):
            self._add_comment({**thread, **filled_fields}, is_listed, location)
        inherited = dict(thread)
        inherited.update((key, filled_fields[key]) for key in _THREAD_KEYS if key in filled_fields)
        for key, content in fields.items():
            # These do not contain comments of this review: `reply_to` is the older comment that a
            # reply answers, and `content` of a CodeClimate finding explains the rule.
            if isinstance(content, dict | list) and key not in ("reply_to", "content"):
                is_list = key in _LISTS and isinstance(content, list)
                self.has_list |= is_list
                self._search(content, inherited, is_entry=is_list, is_listed=key == "findings")
        is_found = "body" in fields or len(self.comments) > count
        if is_entry and not is_found and not _LISTS.union({"node"}) & fields.keys():
            self._check_error(value)
            keys = _list_keys(value) or "none"
            raise InputError(f"{location} has no body; its keys are {keys}")

    def _add_explanation(self, fields: Mapping[str, Any], location: str) -> None:
        """Add Codex's summary, which is next to its list of findings."""
        if explanation := _read_text(fields, "overall_explanation", location):
            if not isinstance(findings := fields.get("findings"), list | dict | None):
                raise InputError(f"{location}: findings is {_quote(findings)}; expected a list")
            self.comments.append(Comment(body=explanation))

    def _add_comment(self, fields: Mapping[str, Any], is_listed: bool, location: str) -> None:
        # A system note such as "added 1 commit": https://docs.gitlab.com/api/notes/
        if fields.get("system") is True:
            self.has_list = True
            self.skipped.add("system notes")
        elif _is_description(fields, is_listed):
            # An object with a list of comments is a valid review even if the list is empty, because
            # `gh pr view --json title,body,comments` always writes the list.
            if not _LISTS & fields.keys():
                self.skipped.add("descriptions of pull requests")
            self.has_list = True
        else:
            comment = _read_comment(fields, location)
            # `gh` lists a review in `reviews` and again in `latestReviews`.
            if comment.id is None or comment not in self.unique:
                self.comments.append(comment)
                self.unique.add(comment)


def _is_description(fields: Mapping[str, Any], is_listed: bool) -> bool:
    """Return whether the body of an object is the description of a pull request or an issue."""
    comments = fields.get("comments")
    is_finding = bool(_FINDING_KEYS & fields.keys()) or (is_listed and not _PULL_KEYS & {*fields})
    # `gh pr view` writes pull requests whose comments have `authorAssociation`.
    return (
        ("title" in fields and not is_finding)
        or "reviews" in fields
        or (
            isinstance(comments, list)
            and any(isinstance(entry, dict) and "authorAssociation" in entry for entry in comments)
        )
    )


def _read_comment(fields: Mapping[str, Any], location: str) -> Comment:
    """Make a comment from the fields of an object, without those that are null."""
    if isinstance(fields.get("position"), dict):  # GitLab's; GitHub's old field is a number
        position = _read_object(fields, "position", location)
        path = position.get("new_path") or position.get("old_path")
        lines: dict[str, Any] = {"path": path, "line": position.get("new_line")}
        if lines["line"] is None and position.get("old_line") is not None:
            lines |= {"line": position["old_line"], "side": "LEFT"}
        ends = _read_object(position, "line_range", location)
        start_fields = _read_object(ends, "start", location)
        lines["start_line"] = start_fields.get("old_line" if "side" in lines else "new_line")
        fields = {**lines, **fields}
    fields = {"line": fields.get("end_line"), **fields, **_read_location(fields, location)}
    line, start = _read_line(fields, "line", location), _read_line(fields, "start_line", location)
    original = _read_line(fields, "original_line", location)
    is_outdated = line is None and original is not None
    if is_outdated:
        line, start = original, _read_line(fields, "original_start_line", location)
    name = fields.get("side", fields.get("diff_side", "RIGHT"))
    start_name = fields.get("start_side", fields.get("start_diff_side", name))
    side, start_side = (_SIDES.get(str(end).upper()) for end in (name, start_name))
    if side is None:
        raise InputError(f"{location}: side is {_quote(name)}; expected RIGHT or LEFT")
    if str(fields.get("subject_type")).lower() == "file":
        line, is_outdated = None, False  # GitHub sends line 1 for a comment on a file
    # A comment has one side, so a range across both sides is reduced to its last line.
    if line is None or start is None or start >= line or start_side != side:
        start = None
    title = (_read_text(fields, "title", location) or "").strip()
    body = _read_text(fields, "body", location) or ""
    author = fields.get("author", fields.get("user"))
    if isinstance(author, dict):
        author_location = f"{location}: author"
        names = (_read_text(author, key, author_location) for key in ("login", "username"))
        author = next(filter(None, names), None)
    number = fields.get("id")
    number = str(number) if type(number) is int else number
    return Comment(
        body=f"**{title}**\n\n{body}" if title and body else body or title,
        path=fields["path"] or None,
        line=line,
        start_line=start,
        side=side,
        outdated=is_outdated,
        diff_hunk=_read_text(fields, "diff_hunk", location) or None,
        author=_read_text({"author": author}, "author", location),
        id=_read_text({"id": number}, "id", location),
    )


def _read_location(fields: Mapping[str, Any], location: str) -> dict[str, Any]:
    """Return the path relative to the repository and, for a finding of Codex, the lines."""
    # https://github.com/openai/codex/blob/main/codex-rs/core/review_prompt.md
    codex_location = _read_object(fields, "code_location", location)
    if not codex_location:
        path = next(filter(None, (_read_text(fields, key, location) for key in _PATH_KEYS)), "")
        # Azure DevOps starts paths with a slash.
        return {"path": _make_relative(path).removeprefix("./").lstrip("/")}
    path = _make_relative(_read_text(codex_location, "absolute_file_path", location) or "")
    ends = _read_object(codex_location, "line_range", location)
    return {"path": path, "start_line": ends.get("start"), "line": ends.get("end")}


def _make_relative(path: str) -> str:
    # Tools on Windows write backslashes.
    return strip_workspace(path if "/" in path else path.replace("\\", "/"))


def _normalize_keys(value: Mapping[str, Any]) -> dict[str, Any]:
    return {_CAPITAL.sub("_", key).lower(): content for key, content in value.items()}


def _read_object(fields: Mapping[str, Any], key: str, location: str) -> dict[str, Any]:
    """Return an object with keys in snake case; empty if it is missing or null."""
    value = fields.get(key)
    if value is None or isinstance(value, dict):
        return _normalize_keys(value or {})
    raise InputError(f"{location}: {key} is {_quote(value)}; expected an object or null")


def _read_text(fields: Mapping[str, Any], key: str, location: str) -> str | None:
    """Return a text; None if it is missing or null."""
    value = fields.get(key)
    if value is None or isinstance(value, str):
        return None if value is None else normalize_text(value)
    raise InputError(f"{location}: {key} is {_quote(value)}; expected a string or null")


def _read_line(fields: Mapping[str, Any], key: str, location: str) -> int | None:
    """Return a line number; None if it is missing or null."""
    value = fields.get(key)
    if value is None or (type(value) is int and value > 0):
        return value
    raise InputError(f"{location}: {key} is {_quote(value)}; expected a line number from 1 or null")


def _list_keys(value: Mapping[str, Any]) -> str:
    return ", ".join(map(_quote, list(value)[:10]))


def _quote(value: Any) -> str:
    """Format a value for a message, in at most 60 characters."""
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
