"""Removal of text that a reviewer posted more than once."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from crscore.hosts.records import HostMessage, MessageKind
from crscore.pull_request.reviewers.authors import Author
from crscore.pull_request.reviewers.profile import Skip
from crscore.records import Side

# Between paragraphs, also of a quote: "\n\n", "\n>\n", "\n> >\n".
_BLANK: Final = re.compile(r"\n[ \t>]*\n")
# Text with a counterpart elsewhere in the body cannot be removed alone.
_PAIRED: Final = re.compile(r"</?(?:details|summary|table|pre)\b|```|~~~|<!--|-->", re.IGNORECASE)
# Two posts may say "LGTM" or "Same here."
_FEWEST_WORDS: Final = 4


class Message(Struct, frozen=True, kw_only=True):
    """Post with its review text."""

    post: HostMessage
    """Post as stored by the host."""
    author: Author
    """Author of the post."""
    text: str
    """Review text in its body; empty when there is none."""
    skip: Skip | None = None
    """Why its author, a bot, reviewed nothing, for a notice of it."""
    is_review: bool = False
    """Set by `classify.read_posts`: whether the post is review; repetitions of an earlier one are.
    """


def without_repeats(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Drop posts and paragraphs that repeat an earlier one of the same reviewer.

    A post on a line is a repeat when the same reviewer posted the same text on the same side of
    the same file on the same line, or on an outdated line there: bots post again after a push, and
    the current post is kept. The same text on another line, or on the other side, is a separate
    post. The text of a review or a post in the conversation repeats any post with the same text.
    From the remaining ones, paragraphs of at least four words that also occur verbatim in a post
    on a line are removed: bots repeat their posts in a summary.

    Args:
        messages: Messages in order of time.

    Returns:
        The remaining messages, in the same order.
    """
    distinct = _without_reposts(messages)
    paragraphs_by_author: dict[str, set[str]] = {}
    for message in distinct:
        if message.post.kind is MessageKind.LINE:
            paragraphs = paragraphs_by_author.setdefault(message.author.name, set())
            paragraphs.update(_normalize(part) for part in _BLANK.split(message.text))
    shortened = []
    for message in distinct:
        paragraphs = paragraphs_by_author.get(message.author.name, set())
        if message.post.kind is not MessageKind.LINE and paragraphs:
            parts = _BLANK.split(message.text)
            remaining = [
                part
                for part in parts
                if len(part.split()) < _FEWEST_WORDS
                or _PAIRED.search(part)
                or _normalize(part) not in paragraphs
            ]
            if len(remaining) < len(parts):
                message = replace(message, text="\n\n".join(remaining))  # noqa: PLW2901
        if message.text:
            shortened.append(message)
    return tuple(shortened)


def _without_reposts(messages: Sequence[Message]) -> tuple[Message, ...]:
    dropped: set[int] = set()
    # A text alone, with its side of a file, and with its line there.
    posted: set[tuple[object, ...]] = set()
    # Current posts on lines come first, then outdated ones, then the rest.
    order = sorted(
        range(len(messages)),
        key=lambda index: (
            messages[index].post.kind is not MessageKind.LINE,
            messages[index].post.outdated,
        ),
    )
    for index in order:
        post = messages[index].post
        text = (messages[index].author.name, _normalize(messages[index].text))
        keys: list[tuple[object, ...]] = [text]
        if post.kind is MessageKind.LINE:
            file = (*text, post.path, post.side or Side.NEW)
            # Lines move with a push, so an outdated post repeats the same words anywhere on its
            # side of the file, a current one only those on its own line.
            keys += [(*file, post.line), file] if post.outdated else [file, (*file, post.line)]
        if keys[-1] in posted:
            dropped.add(index)
        else:
            posted.update(keys)
    return tuple(message for at, message in enumerate(messages) if at not in dropped)


def _normalize(text: str) -> str:
    return " ".join(text.split()).casefold()
