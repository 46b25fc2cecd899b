"""Who is heard: everybody, or those who were asked for, but for answers and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crscore.github.records import RemarkKind
from crscore.pull_request.reviewers.authors import GHOST, account, bare
from crscore.pull_request.reviewers.wildcards import matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crscore.pull_request.reviewers.authors import Speaker
    from crscore.pull_request.reviewers.repeats import Message


def choose_reviewers(
    messages: Sequence[Message], pull_author: str | None, authors: Sequence[str]
) -> tuple[list[Message], tuple[str, ...]]:
    """Choose whose messages are review.

    Args:
        messages: In order of time.
        pull_author: Login of who opened the pull request; None when the account is deleted.
        authors: Patterns, as of `identify.said`.

    Returns:
        The chosen ones, in the same order, and who was left out, one sentence each.
    """
    wanted = [pattern for pattern in authors if not pattern.startswith("!")]
    unwanted = [pattern[1:] for pattern in authors if pattern.startswith("!")]
    present = [message for message in messages if not _is_named(message.speaker, unwanted)]
    if wanted:
        chosen = [message for message in present if _is_named(message.speaker, wanted)]
        return chosen, _nobody(wanted, messages) if not chosen else ()
    present = [message for message in present if not _is_answer(message, pull_author)]
    reporters = _reporters(present)
    chosen = [message for message in present if not _is_report(message, reporters)]
    reports = _names(message for message in present if _is_report(message, reporters))
    return chosen, (*_reports(sorted(reports)), *_ghosts(messages, pull_author))


def _is_named(who: Speaker, patterns: Sequence[str]) -> bool:
    own = {who.name, who.account, bare(who.account)}
    return any(matches(pattern.strip(), name) for pattern in patterns for name in own)


def _is_answer(message: Message, pull_author: str | None) -> bool:
    """Whether a post is the author's own: answers to the review, no review."""
    who, remark = message.speaker, message.remark
    # Of the author's posts those through a program's account alone are still marked here.
    if who.marked or bare(who.account) != bare(account(pull_author)):
        return False
    # A review bot that also writes code reviews its own change in reviews and new threads.
    reviews_itself = who.profile is not None and not who.profile.shared
    is_start = remark.kind is RemarkKind.REVIEW or remark.thread == remark.id
    return not (reviews_itself and is_start)


def _reporters(messages: Sequence[Message]) -> frozenset[str]:
    """Names of the bots without a profile that only post in the conversation."""
    unknown = [one for one in messages if one.speaker.is_bot and one.speaker.profile is None]
    unmarked = {one.speaker.name for one in unknown if not one.speaker.marked}
    outside = (one for one in unknown if one.remark.kind is not RemarkKind.CONVERSATION)
    return frozenset(unmarked - _names(outside))


def _is_report(message: Message, reporters: frozenset[str]) -> bool:
    profile = message.speaker.profile
    if profile is not None and profile.shared and not message.speaker.marked:
        return message.remark.kind is RemarkKind.CONVERSATION
    return message.speaker.name in reporters


def _names(messages: Iterable[Message]) -> frozenset[str]:
    return frozenset(message.speaker.name for message in messages)


def _reports(names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        return ()
    return (
        f"Not scored, because they look like reports of tools: what {', '.join(names)} posted "
        "in the conversation. To score one, name everybody who is to be scored (authors), or tell "
        "its posts by their text (bot markers).",
    )


def _ghosts(messages: Sequence[Message], pull_author: str | None) -> tuple[str, ...]:
    if pull_author is not None or GHOST not in _names(messages):
        return ()
    return (
        "Not scored: posts of deleted accounts, because the pull request's author is one of "
        f"them. The author pattern {GHOST} scores them.",
    )


def _nobody(wanted: Sequence[str], messages: Sequence[Message]) -> tuple[str, ...]:
    there = ", ".join(sorted(_names(messages))) or "nobody"
    return (f"The author pattern {', '.join(wanted)} matches nobody; there is: {there}.",)
