"""Reads the profiles of bots, `profiles/<bot>.toml`.

The file name is the reviewer's name; there is no other list of bots. msgspec checks the types and
rejects unknown keys.
"""

import importlib.resources
from functools import lru_cache
from typing import Literal

import msgspec

from crscore.hosts.records import MessageKind

Skip = Literal["limit", "skipped", "failed"]
"""Why a bot reviewed nothing: a limit or quota, a property of the pull request, or an error."""


# Profiles list the parts to remove, not the parts to keep. If an unknown heading is kept,
# conciseness decreases only by a sentence; if too much is removed, the review is lost
# (docs/design/019-who-spoke.md).
class Cut(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[cut]`: parts that are removed from the body of a post; the rest is the review."""

    between: tuple[tuple[str, str], ...] = ()
    """Pairs of a start and an end. The text from each start to the next end is removed, with both.
    """
    details: tuple[str, ...] = ()
    """Patterns of the `<summary>` of a folded part (`<details>`) that is removed."""
    sections: tuple[str, ...] = ()
    """Patterns of a heading. The heading is removed, with everything after it up to the next
    heading of the same or a higher level.
    """
    lines: tuple[str, ...] = ()
    """Patterns of an entire line, without asterisks and quote marks (`Line.text`)."""
    keep: tuple[str, ...] = ()
    """Patterns of the `<summary>` of a folded part that is kept, even inside a removed part."""
    unquote: bool = False
    """Whether quotes are text of the bot; in posts of other bots, they are text of others."""
    plain_pre: bool = False
    """Whether `<pre>` contains prose of the bot; in posts of other bots, it contains code."""


class Exclusion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[[not_review]]`: rule for posts of the bot that are not reviews.

    If several rules match a post, the first one counts.
    """

    description: str
    """Description of these posts, for people who read the file."""
    kinds: tuple[MessageKind, ...] = tuple(MessageKind)
    """Kinds of posts to which the rule applies."""
    lines: tuple[str, ...] = ()
    """Patterns, one of which must match a line of the post; empty for all posts of these kinds."""
    skip: Skip | None = None
    """Why the bot reviewed nothing, if these posts say so; None for other posts."""


# Patterns are not regular expressions, which could be slow: only `*` is special.
class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to recognize the posts of one bot, and which text in them is not part of a review."""

    title: str
    """Name of the bot for people."""
    logins: tuple[str, ...] = ()
    """Patterns of the bot's accounts: `x[bot]` matches only the app x, `x` also matches a person's
    account x.
    """
    markers: tuple[str, ...] = ()
    """Texts at the start of a line by which posts of the bot from other accounts are recognized."""
    shared: bool = False
    """Whether many programs post from these accounts, so that markers take precedence over the
    account.
    """
    not_review: tuple[Exclusion, ...] = ()
    """Rules for posts that are not reviews."""
    cut: Cut = Cut()
    """Parts to remove from the posts that are reviews."""
    name: str = ""
    """Name of the file without its suffix; it is not written in the file, but set on reading."""


@lru_cache(maxsize=1)
def profiles() -> tuple[Profile, ...]:
    """Read all built-in profiles, sorted by name."""
    folder = importlib.resources.files("crscore.pull_request.reviewers") / "profiles"
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    return tuple(
        msgspec.structs.replace(
            msgspec.toml.decode(file.read_bytes(), type=Profile),
            name=file.name.removesuffix(".toml"),
        )
        for file in files
        if file.name.endswith(".toml")
    )
