"""Who wrote a post: a person, a bot that is known, or a bot through somebody else's account."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crscore.reviewers.outline import outline
from crscore.reviewers.wildcards import matches_any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crscore.pulls import Remark
    from crscore.reviewers.profile import Profile

GHOST: Final = "ghost"
"""The host's own name for deleted accounts, which are one reviewer."""
_APP: Final = "[bot]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Who wrote one post."""

    name: str
    """The reviewer: a profile's name, a name that the user gave, or the login."""
    account: str
    """The account it was posted through: a login in small letters, `[bot]` after an app's."""
    is_bot: bool
    """Whether a program wrote it."""
    profile: Profile | None = None
    """What is known of the bot."""
    marked: bool = False
    """Whether a marker in the body says so, and not the account."""


def account(login: str | None, *, is_bot: bool = False) -> str:
    """Write a login in one way: the host's interfaces differ in the suffix of an app's.

    Example:
        >>> account("Copilot", is_bot=True), account("octo-cat"), account(None)
        ('copilot[bot]', 'octo-cat', 'ghost')
    """
    name = (login or GHOST).casefold()
    return name if not is_bot or name.endswith(_APP) else name + _APP


def bare(name: str) -> str:
    """Leave out the suffix of an app's login.

    Example:
        >>> bare("codecov[bot]")
        'codecov'
    """
    return name.removesuffix(_APP)


def speaker(remark: Remark, *, markers: Mapping[str, str], profiles: Sequence[Profile]) -> Speaker:
    """Find out who wrote a post.

    The user's markers decide, then the account, unless many programs share it, then the
    profiles' markers. A bot that is not known and a person are who their account says.

    Args:
        remark: The post.
        markers: Name of a reviewer -> text in the body of its posts.
        profiles: The bots that are known.

    Returns:
        The speaker. A person whose login is a profile's name is not that bot: the name gets
        an `@`.
    """
    posted_by = account(remark.login, is_bot=remark.is_bot)
    for name, text in markers.items():
        if text.strip() and text in remark.body:
            known = next((one for one in profiles if one.name == name.casefold()), None)
            shown = known.name if known else name
            return Speaker(name=shown, account=posted_by, is_bot=True, profile=known, marked=True)
    own = next((one for one in profiles if matches_any(one.logins, posted_by)), None)
    marked = _marked(remark.body, profiles)
    found = marked if own is None or own.shared else own
    found = found or own
    if found is not None:
        return Speaker(
            name=found.name,
            account=posted_by,
            is_bot=True,
            profile=found,
            marked=found is marked,
        )
    is_bot = posted_by.endswith(_APP)
    login = bare(remark.login or GHOST) if is_bot else remark.login or GHOST
    clashes = any(one.name == login.casefold() for one in profiles)
    return Speaker(name=f"@{login}" if clashes else login, account=posted_by, is_bot=is_bot)


def _marked(body: str, profiles: Sequence[Profile]) -> Profile | None:
    """Find the bot whose marker is in a body, outside of code and quotes."""
    if not any(mark in body for one in profiles for mark in (*one.markers, *one.signed)):
        return None
    lines = [line.content for line in outline(body).lines if line.shown and not line.quoted]
    return next((one for one in profiles if any(_has_mark(line, one) for line in lines)), None)


def _has_mark(line: str, one: Profile) -> bool:
    return line.startswith(one.markers) or any(text in line for text in one.signed)
