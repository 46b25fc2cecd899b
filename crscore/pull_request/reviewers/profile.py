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


# Profiles list parts to cut, not parts to keep: keeping an unknown heading only lowers conciseness
# by a sentence, cutting too much loses the review (docs/design/019-who-spoke.md).
class Cut(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[cut]`: parts removed from a body; the rest is review."""

    between: tuple[tuple[str, str], ...] = ()
    """Two texts: everything from the first to the next second one is removed, both included."""
    details: tuple[str, ...] = ()
    """Patterns of a summary: the folded part is removed with its content."""
    sections: tuple[str, ...] = ()
    """Patterns of a heading that is removed, with everything up to the next heading of its level or
    above.
    """
    lines: tuple[str, ...] = ()
    """Patterns of a whole line, as `Line.text` gives it: without asterisks and quote marks."""
    keep: tuple[str, ...] = ()
    """Patterns of a summary: the folded part is kept, even inside a removed part."""
    unquote: bool = False
    """Whether the bot quotes its own words; quotes are otherwise taken for another author's."""
    plain_pre: bool = False
    """Whether the bot puts prose into `<pre>`, which is otherwise taken for code."""


class Post(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[[not_review]]`: posts of the bot that are not reviews."""

    description: str
    """Description, for readers of the file."""
    kinds: tuple[MessageKind, ...] = tuple(MessageKind)
    """Kinds of these posts."""
    lines: tuple[str, ...] = ()
    """Patterns of a line in such a post; empty for all posts of these kinds."""
    skip: Skip | None = None
    """For a notice that nothing was reviewed: why. The first rule that matches a post counts."""


# Patterns have only `*`: regular expressions could be slow.
class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One bot."""

    title: str
    """Its name for people."""
    logins: tuple[str, ...] = ()
    """Patterns of its accounts; `x[bot]` matches only the app x, `x` also a person's account x."""
    markers: tuple[str, ...] = ()
    """Texts that start a line of the bot's posts through other accounts."""
    shared: bool = False
    """Whether many programs share its accounts, so that markers take precedence."""
    not_review: tuple[Post, ...] = ()
    """Posts to exclude."""
    cut: Cut = Cut()
    """Parts to remove from the other posts."""
    name: str = ""
    """File name without suffix; not in the file."""


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
