"""Makes the requests that ask a language model to read comments, one request for each comment."""

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final, NamedTuple, Self

import msgspec
from msgspec import structs

from crscore.diff.parse import parse_diff
from crscore.errors import InputError
from crscore.llm import prompts
from crscore.llm.base import Message, shorten_line
from crscore.llm.prompt_escaping import Fence
from crscore.llm.prompts import Prompt
from crscore.readers.answers import SCHEMA
from crscore.readers.excerpt import Excerpt, Excerpts
from crscore.readers.quotations import ShownComment, show_comment
from crscore.records import Comment, Diff, Finding, ParsedComment, ScopeKind, Side
from crscore.review.read import find_scope
from crscore.text import clean, shorten

GUIDE: Final = "read.v1"
"""Name of the prompt."""
VERSION: Final = 3
"""Version of the code that chooses the texts of a request; part of the signature."""
# The answer about one remark takes about 120 tokens.
MAX_TOKENS: Final = 2_048
"""Default maximum tokens of an answer."""
# Code has 3 to 3.5 bytes per token, English 4 to 4.5. If the estimate is too low, less code than
# possible is shown; if it is too high, a server rejects the request.
BYTES_PER_TOKEN: Final = 3
"""Low estimate of the UTF-8 bytes per token."""
MAX_REQUEST_BYTES: Final = 18_000
"""Maximum bytes of the texts of one request."""
# With this limit, the requests for 40 comments take fewer than 120,000 tokens, including the guide
# (docs/design/033-readers.md; tests/unit/readers/test_requests.py).
COMMENT_BYTES: Final = 4_300
"""Maximum mean size, in bytes, of the texts of a request in a change of 40 comments or more."""
MIN_COMMENTS: Final = 40
"""Minimum number of comments from which the limit on the total size is computed."""
MIN_CODE_CHARS: Final = 800
"""Number of characters of code that are shown even if the comment is long."""
MAX_SHORT_CHARS: Final = 300
"""Maximum characters of a finding, of a path, of a quoted line, and of a neighbouring comment."""
NEAR_LINES: Final = 15
"""Maximum distance, in lines, of a neighbouring comment that a request also shows."""
MAX_NEIGHBOURS: Final = 3
MAX_FINDINGS: Final = 10


class Guide(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Content of the prompt file, which explains to the model what each text of a request is."""

    instruction: str
    opening: str
    closing: str
    request: str


class AskedComment(NamedTuple):
    """Comment that a request is about."""

    comment_index: int
    """Index of the comment in the review."""
    comment: Comment
    shown: ShownComment


@lru_cache
def read_guide(name: str = GUIDE) -> Prompt[Guide]:
    """Return a guide that comes with crscore."""
    return prompts.read_prompt(name, Guide)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Question to a language model about untrusted texts, each of which is between two marks."""

    texts: Mapping[str, str]
    """Untrusted texts by name, without invisible characters."""
    guide: Prompt[Guide] = field(default_factory=read_guide)
    schema: Mapping[str, Any] = field(default_factory=lambda: SCHEMA)
    """JSON Schema of an answer; all questions of one batch have the same."""
    max_tokens: int = MAX_TOKENS
    """Maximum tokens of an answer."""

    @property
    def id(self) -> str:
        """Hash of the guide and the texts: 32 hexadecimal digits."""
        content = json.dumps([self.guide.identity, self.texts], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:32]

    def chat(self, special_tokens: frozenset[str] = frozenset()) -> tuple[Message, ...]:
        """Return the chat that asks the question.

        Args:
            special_tokens: Texts that are always one token for the model.
        """
        guide = self.guide.content
        # The mark depends on the guide and all texts, so that no author of a comment can predict
        # it, and on nothing else, so that equal questions have equal chats.
        nonce = hashlib.sha256(f"fence {self.id}".encode()).hexdigest()[:16]
        fence = Fence(nonce=nonce, special=special_tokens)
        block = f"{guide.opening}\n{{{{text}}}}\n{guide.closing}"
        blocks = [guide.instruction.strip()]
        for name, text in self.texts.items():
            values = {"mark": nonce, "part": name, "text": fence.text(text)}
            blocks.append(prompts.fill(block, values))
        blocks.append(prompts.fill(guide.request, {"mark": nonce}))
        return (Message(role="user", text="\n\n".join(blocks)),)

    @property
    def tokens(self) -> int:
        """High estimate of the number of tokens of the chat."""
        return sum(len(message.text.encode()) for message in self.chat()) // BYTES_PER_TOKEN

    def document(self) -> dict[str, Any]:
        """Return the question as a JSON object, for a batch service or another program."""
        messages = [{"role": message.role, "content": message.text} for message in self.chat()]
        answer = {"max_tokens": self.max_tokens, "schema": self.schema}
        return {"id": self.id, "messages": messages, **answer}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Question):
    """Request about one comment of one change."""

    entry: AskedComment
    """The comment, which is numbered 1 in the text of the request."""
    excerpt: Excerpt
    """The code that is shown."""

    def about(self, index: int) -> Self:
        """Return the same request with another index of the comment."""
        return replace(self, entry=self.entry._replace(comment_index=index))


def make_requests(
    diff: Diff,
    comments: Sequence[Comment],
    parsed: Sequence[ParsedComment],
    findings: Sequence[Finding],
    *,
    max_bytes: int = MAX_REQUEST_BYTES,
    skipped: Collection[int] = (),
    is_original: bool = False,
) -> list[Request]:
    """Make the requests for the comments of one change.

    Args:
        diff: The change, with full files where they are known.
        comments: Its comments.
        parsed: The comments, split into sentences and proposals.
        findings: Findings of analyzers in the change.
        max_bytes: Maximum bytes of the texts of one request.
        skipped: Indices of comments that get no request.
        is_original: Whether `diff` is an older version, on which the comments were made.

    Returns:
        The requests, in the order of the comments. A comment without visible text has no request,
        and no comment has one if the change shows no lines. For a comment on an older version, the
        request shows the hunk that was stored with the comment, unless the change still has it; if
        no hunk was stored, the comment has no request.
    """
    current, paths = Excerpts(diff), {file.path for file in diff.files}
    entries = [
        AskedComment(index, comment, visible)
        for index, (comment, pieces) in enumerate(zip(comments, parsed, strict=True))
        if index not in skipped and (visible := show_comment(pieces, comment.body, paths)).text
    ]
    drafts = [
        (draft, excerpts)
        for entry in entries
        if (excerpts := current if is_original else _find_version(entry.comment, current))
        and (draft := _draft(entry, entries, excerpts, findings, max_bytes)) is not None
    ]
    # If the requests together are too large, the largest of them show less code.
    sizes = [sum(len(text.encode()) for text in draft.texts.values()) for draft, _ in drafts]
    limit = _find_limit(sizes, COMMENT_BYTES * max(len(entries), MIN_COMMENTS))
    return [
        draft if size <= limit else _draft(draft.entry, entries, excerpts, findings, limit) or draft
        for (draft, excerpts), size in zip(drafts, sizes, strict=True)
    ]


def _find_version(comment: Comment, current: Excerpts) -> Excerpts | None:
    """Return the version of the change that a comment is on; None if it is not known."""
    if not comment.is_older:
        return current
    if comment.diff_hunk is None:
        return None
    by_text = find_scope(structs.replace(comment, outdated=True), current.diff)
    if by_text and by_text.kind is ScopeKind.HUNK:
        return current
    try:
        return Excerpts(parse_diff(comment.diff_hunk, path=comment.path))
    except InputError:
        return None


def _find_limit(sizes: Sequence[int], total: int) -> int:
    """Return the size to which the larger sizes must shrink so that the sum is at most `total`."""
    # Each size has an equal share of the total. Smaller sizes are handled first, because
    # the unused part of their share is divided among the larger ones.
    rest = total
    for index, size in enumerate(sorted(sizes)):
        if size * (len(sizes) - index) > rest:
            return rest // (len(sizes) - index)
        rest -= size
    return max(sizes, default=0)


def _is_near(entry: AskedComment, near_entry: AskedComment) -> bool:
    """Return whether two comments are on nearby lines of the same version of a file."""
    comment, near = entry.comment, near_entry.comment
    if comment.line is None or near.line is None or comment.is_older or near.is_older:
        return False
    if comment.path is None or (comment.path, comment.side) != (near.path, near.side):
        return False
    return abs(comment.line - near.line) <= NEAR_LINES


def _draft(
    entry: AskedComment,
    entries: Sequence[AskedComment],
    excerpts: Excerpts,
    findings: Sequence[Finding],
    max_bytes: int,
) -> Request | None:
    """Make a request with as much code as fits into about `max_bytes`; None if there is no code."""
    near = [
        near_entry
        for near_entry in entries
        if near_entry is not entry and _is_near(near_entry, entry)
    ]
    neighbours = [
        f"- {shorten_line(near_entry.shown.text[:MAX_SHORT_CHARS])}"
        for near_entry in near[:MAX_NEIGHBOURS]
    ]
    text = entry.shown.text
    room = max_bytes - len(text.encode()) - sum(map(len, neighbours))
    excerpt = excerpts.find(text, entry.comment, max(room, MIN_CODE_CHARS))
    if excerpt is None:
        return None
    new_lines = {
        (line.span.path, line.span.start): line.text
        for line in excerpt.lines
        if line.span.side is Side.NEW
    }
    facts = [
        f"{shorten_line(finding.text[:MAX_SHORT_CHARS])} "
        f"({finding.tool}, on the line: {shorten_line(at[:MAX_SHORT_CHARS])})"
        for finding in findings
        if (at := new_lines.get((finding.path, finding.line)))
    ]
    texts = {
        "code": excerpt.text,
        "findings": "\n".join(facts[:MAX_FINDINGS]),
        "other comments": "\n".join(neighbours),
        # Each comment has a request of its own, because in a shared request, the author of one
        # comment could sway the reading of the others (docs/design/033-readers.md).
        "comments": f"Comment 1{_describe_location(entry.comment, excerpt)}:\n{text}",
    }
    # Invisible characters are removed, so that a model reads what people see.
    texts = {name: clean(text) for name, text in texts.items() if text}
    return Request(texts=texts, entry=entry, excerpt=excerpt)


def _describe_location(comment: Comment, excerpt: Excerpt) -> str:
    """Describe the line that a comment is on; quote the line if the excerpt shows it."""
    place = "" if comment.path is None else f" on {shorten_line(comment.path[:MAX_SHORT_CHARS])}"
    if not excerpt.is_located:
        return place
    texts = (line.text.strip() for line in excerpt.lines if line.span == excerpt.location)
    at = next(filter(None, texts), "")
    if place and comment.line is not None and not comment.outdated:
        side = "old " if comment.side is Side.OLD else ""
        place = f" on {side}line {comment.line} of{place.removeprefix(' on')}"
    line = f"the line `{shorten(at, MAX_SHORT_CHARS)}`" if at else ""
    return (f"{place}, {line}" if place and line else place) or (line and f" on {line}")
