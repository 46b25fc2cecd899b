"""Profiles of bots: the schema of `profiles/<bot>.toml`, and the functions that read it.

The file name is the reviewer's name; there is no other list. msgspec checks the types and rejects
unknown keys.
"""

import importlib.resources
from functools import lru_cache
from typing import Literal

import msgspec

from crscore.hosts.records import MessageKind

Skip = Literal["limit", "skipped", "failed"]
"""Why a bot reviewed nothing: a rate limit or quota, the pull request itself, or an error."""


# Profiles list the parts to remove, not the parts to keep. An unknown heading that is kept lowers
# conciseness by only a sentence, but if too much is removed, the review is lost
# (docs/design/019-who-spoke.md).
class Cut(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[cut]`: parts that are removed from the body of a post; the rest is the review."""

    between: tuple[tuple[str, str], ...] = ()
    """A start and an end: the text from each start to the next end is removed, with both."""
    details: tuple[str, ...] = ()
    """Patterns of the `<summary>` of a folded part (`<details>`), which is removed as a whole."""
    sections: tuple[str, ...] = ()
    """Patterns of a heading. The heading is removed, and everything after it up to the next heading
    of the same level or of a higher one.
    """
    lines: tuple[str, ...] = ()
    """Patterns of a whole line, as `Line.text` gives it: without asterisks and quote marks."""
    keep: tuple[str, ...] = ()
    """Patterns of the `<summary>` of a folded part that is kept, even inside a removed part."""
    unquote: bool = False
    """Whether the bot quotes its own words; quotes are otherwise taken for another author's."""
    plain_pre: bool = False
    """Whether the bot puts prose into `<pre>`, which is otherwise taken for code."""


class Post(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[[not_review]]`: rule by which posts of the bot are not reviews.

    Of several rules, the first one that matches a post counts.
    """

    description: str
    """What these posts are, for people who read the file."""
    kinds: tuple[MessageKind, ...] = tuple(MessageKind)
    """Kinds of message to which the rule applies."""
    lines: tuple[str, ...] = ()
    """Patterns, one of which must match a line of the post; empty for all posts of these kinds."""
    skip: Skip | None = None
    """Why the bot reviewed nothing, if such a post says so; None for other posts."""


# In a pattern, only `*` is special; regular expressions could be slow.
class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to recognize the posts of one bot, and what in them is not review."""

    title: str
    """Name of the bot for people."""
    logins: tuple[str, ...] = ()
    """Patterns of the bot's accounts: `x[bot]` matches only the app x, `x` also a person's account
    x."""
    markers: tuple[str, ...] = ()
    """Texts that start a line in those posts of the bot that come from other accounts."""
    shared: bool = False
    """Whether many programs post from the bot's accounts, so that markers count more than them."""
    not_review: tuple[Post, ...] = ()
    """Rules for posts that are not reviews."""
    cut: Cut = Cut()
    """Parts to remove from the posts that are reviews."""
    name: str = ""
    """Name of the file without its suffix; it is set on reading, not written in the file."""


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
