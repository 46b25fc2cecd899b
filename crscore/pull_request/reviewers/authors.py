"""Finds the author of a post: a person, a known bot, or a bot that uses another account.

A bot that uses another account is identified by a marker, a text in its posts. Markers in quotes
and in code are ignored, because they may be somebody else's text.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct

from crscore.hosts.records import HostMessage
from crscore.pull_request.reviewers.outline import Outline
from crscore.pull_request.reviewers.profile import Profile, Skip, profiles
from crscore.pull_request.reviewers.wildcards import matches_any

# https://github.com/ghost
GHOST: Final = "ghost"
"""GitHub's name for deleted accounts, which all count as one reviewer."""
# GitHub's REST API appends it to the login of an app, but its GraphQL API does not.
_APP: Final = "[bot]"
# A match can only start at the first backtick of a run, so that long runs take linear time.
_CODE_SPAN: Final = re.compile(r"(?<!`)`+[^`\n]+`+")


class Message(Struct, frozen=True, kw_only=True):
    """Post with its author and its review text."""

    post: HostMessage
    """Post as read from the host."""
    reviewer: str
    """Name of the author: a profile's name, a name given by the user, or the login."""
    account: str
    """Account that posted it: a login in lower case, with `[bot]` for an app."""
    is_bot: bool
    """Whether the author is a program."""
    profile: Profile | None = None
    """Profile of the bot; None for people and unknown bots."""
    marked: bool = False
    """Whether the author was identified by a marker in the body, not by the account."""
    denied: str | None = None
    """Reviewer whose marker is in the body but does not count there; None when there is none."""
    text: str = ""
    """Review text in the body; empty when there is none."""
    skip: Skip | None = None
    """Why the bot reviewed nothing, if the post is a notice about this; None for other posts."""
    is_review: bool = False
    """Whether the post is a review, set by `classify.read_posts`; a repeated review is also one."""


def account(login: str | None, *, is_bot: bool = False) -> str:
    """Normalize a login, because GitHub's APIs differ in the suffix of an app's login.

    Example:
        >>> account("Copilot", is_bot=True), account("octo-cat"), account(None)
        ('copilot[bot]', 'octo-cat', 'ghost')
    """
    name = (login or GHOST).casefold()
    return name if not is_bot or name.endswith(_APP) else name + _APP


def strip_app_suffix(name: str) -> str:
    """Remove the suffix of an app's login.

    Example:
        >>> strip_app_suffix("codecov[bot]")
        'codecov'
    """
    return name.removesuffix(_APP)


def is_app(name: str) -> bool:
    """Return whether an account belongs to an app, so that no person can post through it."""
    return name.endswith(_APP)


def find_author(
    post: HostMessage,
    *,
    pull_author: str | None,
    markers: Mapping[str, str],
    requested: Collection[str] = (),
) -> Message:
    """Identify the author of a post.

    The user's markers take precedence, then the account, unless many programs share it, then the
    markers of profiles. Unknown bots and people are identified by their account. Markers do not
    count in posts of people whom the repository did not choose; in posts of the pull request's
    author, they count only for reviewers in `requested`.

    Args:
        post: The post.
        pull_author: Login of the pull request's author; None when the account is deleted.
        markers: Reviewer's name -> marker text in the posts of this reviewer.
        requested: Names of reviewers, in lower case, whose markers also count in the pull request
            author's posts. Patterns have no effect.

    Returns:
        The post with its author; `text` is not yet set. If the login of a person or of an unknown
        bot is the name of a known bot, `reviewer` is the login after an `@`.
    """
    # Anyone can type a marker. If it always counted, outsiders could write as a bot, and so could
    # the author of the pull request, which a gate may judge (docs/design/019-who-spoke.md).
    posted_by = account(post.login, is_bot=post.is_bot)
    is_bot = is_app(posted_by)
    account_profile = next(
        (profile for profile in profiles() if matches_any(profile.logins, posted_by)), None
    )
    may_sign = account_profile is None or account_profile.shared
    marked = signer = _find_signer(post.body, markers, profiles(), may_sign=may_sign)
    if signer and not is_bot and posted_by == account(pull_author):
        marked = _find_signer(
            post.body,
            {name: text for name, text in markers.items() if name.casefold() in requested},
            [profile for profile in profiles() if profile.name.casefold() in requested],
            may_sign=may_sign,
        )
    elif post.is_trusted is False:
        marked = None
    name, profile = marked or (account_profile.name if account_profile else "", account_profile)
    if name:
        return Message(
            post=post,
            reviewer=name,
            account=posted_by,
            is_bot=True,
            profile=profile,
            marked=marked is not None,
        )
    login = strip_app_suffix(post.login or GHOST) if is_bot else post.login or GHOST
    bots = (*(profile.name for profile in profiles()), *map(str.casefold, markers))
    # An account with the name of a known bot is not that bot.
    clashes = login.casefold() in bots
    return Message(
        post=post,
        reviewer=f"@{login}" if clashes else login,
        account=posted_by,
        is_bot=is_bot,
        denied=signer[0] if signer else None,
    )


def _find_signer(
    body: str, markers: Mapping[str, str], bots: Sequence[Profile], *, may_sign: bool
) -> tuple[str, Profile | None] | None:
    """Return the name and the profile of the reviewer whose marker is in a body.

    The profile is None for a name without a profile in `bots`. The result is None without a marker.
    Markers of profiles count only if `may_sign`.
    """
    name = find_user_marker(body, markers)
    if name is not None:
        profile = next((bot for bot in bots if bot.name == name.casefold()), None)
        return (profile.name if profile else name), profile
    signed = _find_profile_marker(body, bots) if may_sign else None
    return (signed.name, signed) if signed else None


def find_user_marker(body: str, markers: Mapping[str, str]) -> str | None:
    r"""Find the reviewer whose marker is in a body, outside of quotes and code.

    A marker may be in an HTML comment.

    Args:
        body: Markdown, any characters.
        markers: Reviewer's name -> marker text; blank texts are ignored.

    Returns:
        The first name with a matching marker; None when there is none.

    Example:
        >>> find_user_marker("> Hello from Octo\n\nNo.", {"octo": "from Octo"}) is None
        True
    """
    # Line ends are unified, because a marker of several lines has only line feeds, but a post may
    # also have carriage returns.
    text = body.replace("\r\n", "\n")
    matches = {name: mark for name, mark in markers.items() if mark.strip() and mark in text}
    if not matches:
        return None
    lines = Outline(text).lines
    unquoted = "\n".join(
        "" if line.in_code or line.quoted else text[line.start : line.end] for line in lines
    )
    without_code = _CODE_SPAN.sub("``", unquoted)
    # A marker that itself contains code is also searched for in code spans.
    return next(
        (
            name
            for name, mark in matches.items()
            if mark in (unquoted if "`" in mark else without_code)
        ),
        None,
    )


def _find_profile_marker(body: str, profiles: Sequence[Profile]) -> Profile | None:
    """Find the bot whose marker is at the start of a line.

    Args:
        body: Markdown, any characters.
        profiles: Profiles of the known bots.

    Returns:
        The first profile with a marker outside of quotes, code and comments; None without a marker.
    """
    if not any(mark in body for profile in profiles for mark in profile.markers):
        return None
    lines = [line.content for line in Outline(body).lines if line.is_visible and not line.quoted]
    return next(
        (
            profile
            for profile in profiles
            if any(line.startswith(profile.markers) for line in lines)
        ),
        None,
    )
