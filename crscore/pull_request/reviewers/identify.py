"""Groups the posts of a pull request into threads of each reviewer, which become comments."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from crscore.hosts.records import HostMessage, MessageKind
from crscore.pull_request.reviewers.authors import (
    GHOST,
    Message,
    account,
    is_app,
    strip_app_suffix,
)
from crscore.pull_request.reviewers.classify import (
    NO_MARKERS,
    choose_reviews,
    is_ours,
    names_of,
    read_message,
)
from crscore.pull_request.reviewers.outline import Outline
from crscore.pull_request.reviewers.wildcards import matches
from crscore.records import Comment, Side

TRUSTED: Final = "an owner, member, collaborator or app of the repository"
"""Description, for notes, of those whom the repository chose (`HostMessage.is_trusted`)."""
# A blank line between paragraphs, also in a quote: "\n\n", "\n>\n", "\n> >\n".
_BLANK: Final = re.compile(r"\n[ \t>]*\n")
# Text that belongs to a pair, whose other half would remain if only this half were removed.
_PAIRED: Final = re.compile(r"</?(?:details|summary|table|pre)\b|```|~~~|<!--|-->", re.IGNORECASE)
# A shorter paragraph, such as "LGTM" or "Same here.", may occur twice without being a repetition.
_FEWEST_WORDS: Final = 4
"""Minimum number of words of a paragraph that counts as a repetition."""


class ReviewerThread(Struct, frozen=True, kw_only=True):
    """Posts of one reviewer in a thread, or a single post elsewhere, such as a review's text."""

    reviewer: str
    """Name of the reviewer: a profile's name, a name given by the user, or the login."""
    is_bot: bool
    """Whether the reviewer is a program."""
    posts: tuple[HostMessage, ...]
    """Posts of the thread, oldest first; never empty."""
    body: str
    """Joined review text of the posts; Markdown, never blank."""
    place: HostMessage
    """Post whose location is that of the thread: the thread's first post or, if that is unknown,
    the reviewer's first post.
    """

    @property
    def is_trusted(self) -> bool:
        """False if the repository is known not to have chosen the author of one of the posts."""
        return all(post.is_trusted is not False for post in self.posts)


class ReviewerThreads(Struct, frozen=True, kw_only=True):
    """Threads of all reviewers."""

    threads: tuple[ReviewerThread, ...]
    """Threads, sorted by the time, the kind and the id of their first post."""
    repeats: tuple[ReviewerThread, ...] = ()
    """Threads in which each post repeats another post of the reviewer; not among `threads`."""
    notes: tuple[str, ...] = ()
    """Notes for users: which reviewers are excluded and how to include them, then whose posts count
    as those of another reviewer.
    """


def identify_reviewers(
    posts: Sequence[HostMessage],
    *,
    pull_author: str | None,
    authors: Sequence[str] = (),
    markers: Mapping[str, str] = NO_MARKERS,
) -> ReviewerThreads:
    """Group the posts of a pull request by reviewer and thread.

    Comments of crscore, commands to it, posts that a bot's profile excludes and posts without words
    are left out. Without `authors`, all reviewers are included except the pull request's author and
    unknown bots that only post in the conversation, as reports do. Posts of one reviewer in one
    thread are joined; repeated text counts once (`drop_repeats`).

    Args:
        posts: Posts in any order, which does not affect the result.
        pull_author: Login of the pull request's author; None when the account is deleted.
        authors: Patterns of logins and reviewers' names to include; `*` matches any text, and a
            leading `!` excludes. If all of them exclude, the other reviewers are chosen as without
            `authors`.
        markers: Reviewer's name -> text that identifies the posts of this reviewer. In posts of the
            pull request's author, a marker counts only if `authors` has the reviewer's full name.

    Returns:
        The threads, with notes on the excluded reviewers.
    """
    requested = {pattern.strip().casefold() for pattern in authors}
    read = (
        read_message(post, pull_author=pull_author, markers=markers, requested=requested)
        for post in sorted(posts, key=_sort_key)
    )
    messages = [message for message in read if message.text]
    trusted_names = {
        message.reviewer for message in messages if message.post.is_trusted is not False
    }
    for index, message in enumerate(messages):
        is_known = message.post.is_trusted is not False or message.marked
        # Anyone can register the login of an app, so such a person gets another name.
        if not is_known and message.reviewer in trusted_names:
            messages[index] = replace(message, reviewer=f"@{message.reviewer}")
    reviews, notes = _choose_reviewers(messages, pull_author, authors)
    distinct = drop_repeats(reviews)
    roots = {post.id: post for post in posts if post.kind is MessageKind.LINE}
    remaining_threads = set(map(_thread_key, distinct))
    own_posts = list(filter(is_ours, posts))
    dropped = [message for message in reviews if _thread_key(message) not in remaining_threads]
    return ReviewerThreads(
        threads=tuple(_make_threads(distinct, roots)),
        repeats=tuple(_make_threads(dropped, roots)),
        notes=(*notes, *_make_notes(messages, reviews, own_posts, account(pull_author))),
    )


def thread_comments(reviewers: ReviewerThreads, head: str) -> tuple[Comment, ...]:
    """Convert the threads to comments, in the same order.

    Args:
        reviewers: Threads to convert.
        head: Hash of the newest commit.

    Returns:
        A comment for each thread, with the thread's location; its author is the reviewer's name.
    """
    return tuple(
        Comment(
            body=thread.body,
            path=thread.place.path,
            line=thread.place.line,
            start_line=thread.place.start_line,
            side=thread.place.side or Side.NEW,
            outdated=thread.place.outdated,
            earlier=thread.place.commit not in (None, head),
            diff_hunk=thread.place.hunk,
            author=thread.reviewer,
            id=str(thread.posts[0].id),
        )
        for thread in reviewers.threads
    )


def _sort_key(post: HostMessage) -> tuple[str, str, int]:
    # A time is not enough, because it is in seconds, and a review has the time of its comments.
    return post.created, post.kind, post.id


def _make_threads(
    messages: Sequence[Message], roots: Mapping[int, HostMessage]
) -> Iterable[ReviewerThread]:
    ordered = sorted(messages, key=_thread_key)
    groups = [tuple(group) for _, group in groupby(ordered, key=_thread_key)]
    for group in sorted(groups, key=lambda group: _sort_key(group[0].post)):
        first = group[0].post
        root = roots.get(first.thread) if first.thread is not None else None
        bodies = []
        for message in group:
            # An unclosed code block is closed, because it would extend into the next post.
            fence = Outline(message.text).open_fence
            bodies.append(f"{message.text}\n{fence}" if fence else message.text)
        yield ReviewerThread(
            reviewer=group[0].reviewer,
            is_bot=group[0].is_bot,
            posts=tuple(message.post for message in group),
            body="\n\n".join(bodies),
            place=root or first,
        )


def _thread_key(message: Message) -> tuple[str, str, int]:
    post = message.post
    thread = post.id if post.thread is None else post.thread
    return message.reviewer, post.kind, thread


def _choose_reviewers(
    messages: Sequence[Message], pull_author: str | None, authors: Sequence[str]
) -> tuple[list[Message], tuple[str, ...]]:
    """Return the messages that are reviews, in order, and notes on the messages left out."""
    included = [pattern for pattern in authors if not pattern.startswith("!")]
    unwanted = [pattern[1:] for pattern in authors if pattern.startswith("!")]
    present = [message for message in messages if not _matches_author(message, unwanted)]
    if included:
        reviews = [message for message in present if _matches_author(message, included)]
        if reviews:
            return reviews, ()
        names = ", ".join(sorted(names_of(messages))) or "none"
        pattern = ", ".join(included)
        return [], (f"The author pattern {pattern} matches no reviewer; present: {names}.",)
    reviews, reporters = choose_reviews(present, pull_author)
    notes = []
    if reporters:
        notes.append(
            f"What {', '.join(sorted(reporters))} posted in the conversation was not scored, "
            "because it looks like reports of tools. To score such posts, name all reviewers to "
            "score (authors), or a text that identifies the posts (bot markers)."
        )
    if pull_author is None and GHOST in names_of(messages):
        notes.append(
            "Posts of deleted accounts were not scored, because the pull request's author is one "
            f"of these accounts. To score them, use the author pattern {GHOST}."
        )
    return reviews, tuple(notes)


def _matches_author(message: Message, patterns: Sequence[str]) -> bool:
    names = {message.reviewer, message.account, strip_app_suffix(message.account)}
    return any(matches(pattern.strip(), name) for pattern in patterns for name in names)


def _make_notes(
    messages: Sequence[Message],
    reviews: Sequence[Message],
    own_posts: Sequence[HostMessage],
    pull_author: str,
) -> Iterator[str]:
    """Yield notes on markers: those that count, that do not count, and that hide a post."""
    # These are noted, because anyone can type a marker.
    marked = {(message.reviewer, message.account) for message in reviews if message.marked}
    for name, posted_by in sorted(marked):
        if not is_app(posted_by):
            yield f"Posts of {posted_by} count as {name}'s, because of a marker in them."
    denied = {(message.denied, message.account) for message in messages if message.denied}
    for name, posted_by in sorted(denied):
        reason = (
            f"{posted_by} opened the pull request. To count them, name all reviewers to score "
            f"(authors), including {name}"
            if posted_by == pull_author
            else f"{posted_by} is not {TRUSTED}"
        )
        yield (
            f"Posts of {posted_by} do not count as {name}'s despite a marker in them, because "
            f"{reason}."
        )
    # A note is needed, because anyone can hide a post by the marker of crscore's reports.
    logins = sorted({post.login or GHOST for post in own_posts if post.is_own is False})
    if logins:
        yield f"Posts of {', '.join(logins)} that begin like reports of crscore were not scored."


def drop_repeats(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Drop posts and paragraphs that repeat another post of the same reviewer.

    A post on a line is a repetition if the reviewer posted the same text on the same side of the
    same file, on the same line, or if one of the two posts is outdated. Bots post again after a
    push; the current post is kept. The same text on another line, or on the other side, is not a
    repetition. A review's text or a post in the conversation is a repetition if any post has the
    same text. From the remaining posts of these two kinds, paragraphs of at least four words that
    also occur in a post on a line are removed, because bots repeat their posts in a summary.

    Args:
        messages: Messages in order of time.

    Returns:
        The remaining messages, in the same order.
    """
    distinct = _drop_reposts(messages)
    paragraphs_by_author: dict[str, set[str]] = {}
    for message in distinct:
        if message.post.kind is MessageKind.LINE:
            paragraphs = paragraphs_by_author.setdefault(message.reviewer, set())
            paragraphs.update(_normalize(part) for part in _BLANK.split(message.text))
    shortened = []
    for message in distinct:
        text, paragraphs = message.text, paragraphs_by_author.get(message.reviewer, set())
        if message.post.kind is not MessageKind.LINE and paragraphs:
            parts = _BLANK.split(text)
            remaining = [
                part
                for part in parts
                if len(part.split()) < _FEWEST_WORDS
                or _PAIRED.search(part)
                or _normalize(part) not in paragraphs
            ]
            if len(remaining) < len(parts):
                text = "\n\n".join(remaining)
        if text:
            shortened.append(replace(message, text=text))
    return tuple(shortened)


def _drop_reposts(messages: Sequence[Message]) -> tuple[Message, ...]:
    dropped: set[int] = set()
    # Keys of posts: the text; the text with the side of the file; the text with side and line.
    posted_keys: set[tuple[object, ...]] = set()
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
        text = (messages[index].reviewer, _normalize(messages[index].text))
        keys: list[tuple[object, ...]] = [text]
        if post.kind is MessageKind.LINE:
            file = (*text, post.path, post.side or Side.NEW)
            # Lines move with a push. So an outdated post repeats the same text anywhere on its side
            # of the file, but a current post repeats only the same text on the same line.
            keys += [(*file, post.line), file] if post.outdated else [file, (*file, post.line)]
        if keys[-1] in posted_keys:
            dropped.add(index)
        else:
            posted_keys.update(keys)
    return tuple(message for at, message in enumerate(messages) if at not in dropped)


def _normalize(text: str) -> str:
    return " ".join(text.split()).casefold()
