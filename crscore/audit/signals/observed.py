"""Signals from the host: resolved threads, thumbs, claims of bots, and commit messages."""

import importlib.resources
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from crscore.audit.signals import Signal
from crscore.audit.signals.follow import Answer
from crscore.audit.store.rows import Comment, CommentObservation, ThreadObservation, host_id_of
from crscore.pull_request.reviewers.authors import is_app, strip_app_suffix
from crscore.pull_request.reviewers.profile import profiles
from crscore.pull_request.reviewers.wildcards import matches_any

MAX_MESSAGE_LINES: Final = 200
"""Maximum lines read of a commit message."""
_RESOLVED: Final = (
    Signal.RESOLVED_BY_AUTHOR,
    Signal.RESOLVED_BY_PERSON,
    Signal.RESOLVED_BY_BOT,
)
# `<b>`, `**`, `` ` ``: bots write the same sentence with other marks.
_DECORATION: Final = re.compile(r"<[^<>]*>|[*_`]")
# `Co-authored-by: Copilot <...>`, `Generated with [Claude Code]`.
_SIGNATURE: Final = re.compile(r"^co-authored-by:|generated (?:with|by)")
_MIN_NAME_CHARS: Final = 4
"""Minimum length of a bot's name to search for; a shorter one could be part of another word."""


class Patterns(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`patterns.toml`."""

    addressed: tuple[str, ...]
    """Lines with which a bot claims that its comment was addressed."""
    review: tuple[str, ...]
    """Lines of a commit message that name the review as a whole."""


@lru_cache(maxsize=1)
def patterns() -> Patterns:
    """Read the patterns."""
    text = (importlib.resources.files("crscore.audit.signals") / "patterns.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Patterns)


def resolved(
    last: ThreadObservation | None, author: str | None, bots: frozenset[str]
) -> dict[Signal, Answer]:
    """Return who resolved a thread.

    Args:
        last: Last observation of the thread; None outside threads.
        author: Login of the pull request's author.
        bots: Logins of bots that wrote on the pull request, without `[bot]`, in lower case.
    """
    answers = dict.fromkeys(_RESOLVED, Answer(False))
    if last is None or not last.resolved:
        return answers
    if last.resolved_by is None:
        return dict.fromkeys(_RESOLVED, Answer(None, "resolved by an unknown account"))
    login = last.resolved_by.casefold()
    # GraphQL omits `[bot]` from logins, so three sources are compared.
    if is_app(login) or strip_app_suffix(login) in bots or _is_known_bot(login):
        signal = Signal.RESOLVED_BY_BOT
    elif author is not None and login == author.casefold():
        signal = Signal.RESOLVED_BY_AUTHOR
    else:
        signal = Signal.RESOLVED_BY_PERSON
    return answers | {signal: Answer(True, last.resolved_by)}


def thumbs(last: CommentObservation | None) -> dict[Signal, Answer]:
    """Return the thumbs of a comment."""
    up, down = (last.up, last.down) if last else (0, 0)
    return {
        Signal.THUMBS_UP: Answer(up > 0, str(up) if up else None),
        Signal.THUMBS_DOWN: Answer(down > 0, str(down) if down else None),
    }


def claimed(bodies: Iterable[str]) -> Answer:
    """Return whether a bot claims that its comment was addressed.

    Args:
        bodies: Texts of its posts in the thread; lines that quote others do not match.
    """
    for body in bodies:
        for line in body.splitlines():
            text = _DECORATION.sub("", line).strip()
            if matches_any(patterns().addressed, text):
                return Answer(True, text)
    return Answer(False)


def referred(
    comment: Comment, reviewers: Mapping[str, frozenset[str]], commits: Sequence[tuple[str, str]]
) -> Answer:
    """Return whether the message of a later commit names a comment, its reviewer or the review.

    Args:
        comment: The comment.
        reviewers: Names of each bot that wrote on the pull request (`names`).
        commits: Later commits with their messages, by time.
    """
    # `#discussion_r12`, `#pullrequestreview-12`, `#issuecomment-12`; `\b` keeps 12 out of 123.
    address = re.compile(
        rf"(?:discussion_r|#pullrequestreview-|#issuecomment-){host_id_of(comment.key)}\b"
    )
    for commit, message in commits:
        lines = message.casefold().splitlines()[:MAX_MESSAGE_LINES]
        text = "\n".join(lines)
        # A coding assistant signs its own commits, too, so in a signature only the account of an
        # app counts as a mention of the reviewer.
        unsigned = "\n".join(
            line for line in lines if "[bot]" in line or not _SIGNATURE.search(line)
        )
        named_reviewers = {
            reviewer
            for reviewer, names in reviewers.items()
            if any(name in unsigned for name in names)
        }
        # "Address review comments" refers to every reviewer, unless the message names one.
        is_general = any(matches_any(patterns().review, line) for line in lines)
        if (
            address.search(text)
            or comment.reviewer in named_reviewers
            # "Address review comments" names no bot; a message that names one means only that.
            or (is_general and not named_reviewers)
        ):
            return Answer(True, commit[:10])
    return Answer(False)


def names(reviewer: str, logins: Iterable[str | None]) -> frozenset[str]:
    """Return the names of a bot in commit messages, in lower case."""
    title = next((profile.title for profile in profiles() if profile.name == reviewer), reviewer)
    all_names = {
        reviewer,
        title,
        *(strip_app_suffix(login.casefold()) for login in logins if login),
    }
    return frozenset(name.casefold() for name in all_names if len(name) >= _MIN_NAME_CHARS)


def _is_known_bot(login: str) -> bool:
    """Return whether a profile has the account; the host may omit `[bot]`."""
    # Profiles list the login with its suffix.
    return any(
        matches_any(profile.logins, f"{strip_app_suffix(login)}[bot]") for profile in profiles()
    )
