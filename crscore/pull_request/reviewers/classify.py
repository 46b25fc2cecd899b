"""Classifies a pull request's posts: who wrote them, and whether they are reviews.

For a bot's notice that it reviewed nothing, it also says why.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from crscore.hosts.records import HostMessage, MessageKind
from crscore.pull_request.reviewers.authors import (
    Message,
    account,
    find_author,
    strip_app_suffix,
)
from crscore.pull_request.reviewers.strip_bot_text import (
    cut,
    find_exclusion,
    remove_between,
    without_commands,
)
from crscore.review.sentences import split_comment

OWN_MARKER: Final = "<!-- crscore:"
"""Start of crscore's own comments; other comments may start with it too."""
NO_MARKERS: Final[Mapping[str, str]] = MappingProxyType({})
# "<br>", "</details>", "<img src=x>"; not "a < b".
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]*>")


def read_posts(posts: Sequence[HostMessage], *, pull_author: str | None) -> list[Message]:
    """Classify all posts of a pull request, as `identify.identify_reviewers` does by default.

    These posts are not reviews: crscore's own posts, commands, answers of the pull request's
    author, posts that a bot's profile excludes, reports of unknown bots that only post in the
    conversation, and posts without words.

    Args:
        posts: All posts of the pull request, in any order, which does not affect the result.
        pull_author: Login of the pull request's author; None when the account is deleted.

    Returns:
        One message for each post, in the same order, with `is_review`.
    """
    messages = [read_message(post, pull_author=pull_author) for post in posts]
    review_messages, _ = choose_reviews(
        [message for message in messages if message.text], pull_author
    )
    reviews = {(message.post.kind, message.post.id) for message in review_messages}
    return [
        replace(message, is_review=(message.post.kind, message.post.id) in reviews)
        for message in messages
    ]


def read_message(
    post: HostMessage,
    *,
    pull_author: str | None,
    markers: Mapping[str, str] = NO_MARKERS,
    requested: Collection[str] = (),
) -> Message:
    """Identify the author and the review text of a post; the text is empty when there is none.

    The arguments are those of `find_author`.
    """
    message = find_author(post, pull_author=pull_author, markers=markers, requested=requested)
    if is_ours(post):
        return message
    text = without_commands(post.body).strip()
    if message.profile is not None:
        if rule := find_exclusion(text, post.kind, message.profile):
            return replace(message, skip=rule.skip)
        text = cut(text, message.profile.cut)
    visible = _TAG.sub(" ", remove_between(text, "<!--", "-->"))
    if not any(map(str.isalnum, visible)):
        return message
    if message.is_bot:  # a bot's post may have nothing but decoration
        read = split_comment(text)
        if not (read.sentences or read.suggestions or read.code_blocks or read.diffs):
            return message
    return replace(message, text=text)


def choose_reviews(
    messages: Sequence[Message], pull_author: str | None
) -> tuple[list[Message], frozenset[str]]:
    """Drop the author's answers and the reports of tools.

    Args:
        messages: Messages with review text.
        pull_author: Login of the pull request's author; None when the account is deleted.

    Returns:
        The remaining messages, in the same order, and the names of those who posted reports.
    """
    present = [message for message in messages if not _is_answer(message, pull_author)]
    # Bots without a profile that only post in the conversation, as reports of coverage do.
    unknown = [message for message in present if message.is_bot and message.profile is None]
    unmarked = {message.reviewer for message in unknown if not message.marked}
    outside = (message for message in unknown if message.post.kind is not MessageKind.CONVERSATION)
    reporters = frozenset(unmarked - names_of(outside))
    reviews: list[Message] = []
    reports: list[Message] = []
    for message in present:
        (reports if _is_report(message, reporters) else reviews).append(message)
    return reviews, names_of(reports)


def names_of(messages: Iterable[Message]) -> frozenset[str]:
    """Return the names of the authors."""
    return frozenset(message.reviewer for message in messages)


def is_ours(post: HostMessage) -> bool:
    """Return whether a post is a report of crscore, whoever posted it."""
    # Such a report lists all unaddressed points, so read as a review it would address everything.
    return post.body.lstrip().startswith(OWN_MARKER)


def _is_answer(message: Message, pull_author: str | None) -> bool:
    """Return whether a post is by the pull request's author: an answer rather than a review."""
    post, profile = message.post, message.profile
    author = strip_app_suffix(account(pull_author))
    # Of the author's posts, only those from a program's account are still marked here.
    if message.marked or strip_app_suffix(message.account) != author:
        return False
    # A review bot that also writes code can review its own change, in reviews and new threads.
    reviews_itself = profile is not None and not profile.shared
    is_start = post.kind is MessageKind.REVIEW or post.thread == post.id
    return not (reviews_itself and is_start)


def _is_report(message: Message, reporters: frozenset[str]) -> bool:
    profile = message.profile
    if profile is not None and profile.shared and not message.marked:
        return message.post.kind is MessageKind.CONVERSATION
    return message.reviewer in reporters
