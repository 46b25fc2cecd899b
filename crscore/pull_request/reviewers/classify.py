"""Classifies a pull request's posts by their authors, and by whether they are reviews.

If a post is a bot's notice that it reviewed nothing, the reason is also found.
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
    remove_commands,
)
from crscore.review.sentences import split_comment

OWN_MARKER: Final = "<!-- crscore:"
"""Beginning of the comments of crscore. Comments of others may also begin with it."""
NO_MARKERS: Final[Mapping[str, str]] = MappingProxyType({})
# "<br>", "</details>", "<img src=x>"; not "a < b".
_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]*>")


def read_posts(posts: Sequence[HostMessage], *, pull_author: str | None) -> list[Message]:
    """Classify all posts of a pull request, as `identify.identify_reviewers` does by default.

    These posts are not reviews: posts of crscore, commands to it, answers of the pull request's
    author, posts that a bot's profile excludes, reports of unknown bots that only post in the
    conversation, and posts without words.

    Args:
        posts: All posts of the pull request, in any order, which does not affect the result.
        pull_author: Login of the pull request's author; None when the account is deleted.

    Returns:
        A message for each post, in the same order, with `is_review` set.
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
    """Identify the author and the review text of a post.

    The arguments are those of `find_author`. The text is empty if the post has no review text.
    """
    message = find_author(post, pull_author=pull_author, markers=markers, requested=requested)
    if is_ours(post):
        return message
    text = remove_commands(post.body).strip()
    if message.profile is not None:
        if rule := find_exclusion(text, post.kind, message.profile):
            return replace(message, skip=rule.skip)
        text = cut(text, message.profile.cut)
    visible = _TAG.sub(" ", remove_between(text, "<!--", "-->"))
    if not any(map(str.isalnum, visible)):
        return message
    if message.is_bot:  # a bot's post may consist of headings, badges and links
        read = split_comment(text)
        if not (read.sentences or read.suggestions or read.code_blocks or read.diffs):
            return message
    return replace(message, text=text)


def choose_reviews(
    messages: Sequence[Message], pull_author: str | None
) -> tuple[list[Message], frozenset[str]]:
    """Drop answers of the pull request's author and reports of tools.

    Args:
        messages: Messages with review text.
        pull_author: Login of the pull request's author; None when the account is deleted.

    Returns:
        The remaining messages, in the same order, and the names of the bots that posted reports.
    """
    present = [message for message in messages if not _is_answer(message, pull_author)]
    # A bot without a profile that only posts in the conversation probably posts reports, for
    # example on test coverage.
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
    """Return the names of the messages' authors."""
    return frozenset(message.reviewer for message in messages)


def is_ours(post: HostMessage) -> bool:
    """Return whether a post is a report of crscore, whoever posted it."""
    # If such a report were read as a review, it would address everything, because it lists all
    # unaddressed points.
    return post.body.lstrip().startswith(OWN_MARKER)


def _is_answer(message: Message, pull_author: str | None) -> bool:
    """Return whether a post is an answer of the pull request's author, and not a review."""
    post, profile = message.post, message.profile
    author = strip_app_suffix(account(pull_author))
    # A marked post has another author, because `find_author` checked the marker.
    if message.marked or strip_app_suffix(message.account) != author:
        return False
    # A review bot that also writes code can review its own change. Its reviews, and its first posts
    # in threads, are not answers.
    is_review_bot = profile is not None and not profile.shared
    is_start = post.kind is MessageKind.REVIEW or post.thread == post.id
    return not (is_review_bot and is_start)


def _is_report(message: Message, reporters: frozenset[str]) -> bool:
    profile = message.profile
    if profile is not None and profile.shared and not message.marked:
        return message.post.kind is MessageKind.CONVERSATION
    return message.reviewer in reporters
