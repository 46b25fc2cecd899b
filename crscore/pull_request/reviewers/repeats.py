"""Words that a reviewer wrote more than once are counted once."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from crscore.github.records import RemarkKind
from crscore.records import Side

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crscore.github.records import Remark
    from crscore.pull_request.reviewers.authors import Author

_BLANK: Final = re.compile(r"\n[ \t>]*\n")
# What has a partner elsewhere in the body cannot be taken out alone.
_PAIRED: Final = re.compile(r"</?(?:details|summary|table|pre)\b|```|~~~|<!--|-->", re.IGNORECASE)
_FEWEST_WORDS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One post with what is review in it."""

    remark: Remark
    """As the host has it."""
    author: Author
    """Who wrote it."""
    text: str
    """The part of its body that is review."""


def without_repeats(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Drop posts and paragraphs that repeat an earlier one of the same reviewer.

    A remark on a line is a repeat when the same reviewer said the same of the same side of the
    same file on the same line, or there on a line that is gone: bots post again after a push,
    and the current one is kept. The same words on another line, or on the line of that number on
    the other side, are another remark. The text of a review or a post in the conversation is a
    repeat of any post with the same words. Of what remains of these, paragraphs of four words
    and more that a remark on a line has word by word go: bots repeat their remarks in a summary.

    Args:
        messages: In order of time.

    Returns:
        The others, in the same order.
    """
    kept = _without_reposts(messages)
    seen: dict[str, set[str]] = {}
    for message in kept:
        if message.remark.kind is RemarkKind.LINE:
            paragraphs = seen.setdefault(message.author.name, set())
            paragraphs.update(_plain(part) for part in _BLANK.split(message.text))
    shortened = (_shortened(message, seen.get(message.author.name)) for message in kept)
    return tuple(message for message in shortened if message.text)


def _without_reposts(messages: Sequence[Message]) -> tuple[Message, ...]:
    dropped: set[int] = set()
    places: set[tuple[str, str, str | None, Side, int | None]] = set()
    files: set[tuple[str, str, str | None, Side]] = set()
    words: set[tuple[str, str]] = set()
    for at in _current_first(messages):
        remark, name = messages[at].remark, messages[at].author.name
        text = _plain(messages[at].text)
        file = (name, text, remark.path, remark.side or Side.NEW)
        place = (*file, remark.line)
        if remark.kind is not RemarkKind.LINE:
            is_repeat = (name, text) in words
        elif remark.outdated:
            is_repeat = file in files
        else:
            is_repeat = place in places
        if is_repeat:
            dropped.add(at)
            continue
        words.add((name, text))
        if remark.kind is RemarkKind.LINE:
            files.add(file)
            places.add(place)
    return tuple(message for at, message in enumerate(messages) if at not in dropped)


def _current_first(messages: Sequence[Message]) -> Iterable[int]:
    """Indices: current remarks on lines, then outdated ones, then the rest."""

    def rank(at: int) -> tuple[bool, bool]:
        remark = messages[at].remark
        return remark.kind is not RemarkKind.LINE, remark.outdated

    return sorted(range(len(messages)), key=rank)


def _shortened(message: Message, seen: set[str] | None) -> Message:
    if message.remark.kind is RemarkKind.LINE or not seen:
        return message
    parts = _BLANK.split(message.text)
    kept = [part for part in parts if not (_is_alone(part) and _plain(part) in seen)]
    return message if len(kept) == len(parts) else replace(message, text="\n\n".join(kept))


def _is_alone(paragraph: str) -> bool:
    return len(paragraph.split()) >= _FEWEST_WORDS and _PAIRED.search(paragraph) is None


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
