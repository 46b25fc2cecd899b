"""Signals that a review comment was acted on, by rule."""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final

RULES: Final = 3
"""Version of the rules, including those of suggestions; a change of any value raises it."""


class Signal(IntEnum):
    """One signal; the numbers are stored.

    A missing row means: for those of trees (1 to 3 and 11), that the signal does not apply (no
    suggestion, not on lines, not on a file); for the others, no.
    """

    SUGGESTION_APPLIED = 1
    """The suggestion's text is at its place in a later tree, and was not reverted."""
    LINES_CHANGED = 2
    """The commented lines differ in the last tree, by more than white space, commas or quotes."""
    FILE_CHANGED = 3
    """The commented file differs in the last tree."""
    RESOLVED_BY_AUTHOR = 4
    """The author of the pull request resolved the thread."""
    RESOLVED_BY_PERSON = 5
    """Another person resolved the thread."""
    RESOLVED_BY_BOT = 6
    """The reviewing bot or another one resolved the thread."""
    THUMBS_UP = 7
    """The comment has a thumbs up."""
    THUMBS_DOWN = 8
    """The comment has a thumbs down."""
    BOT_SAYS_ADDRESSED = 9
    """The reviewing bot claims so."""
    TRAILER = 10
    """A later commit's message names the comment, its reviewer or the review: weak evidence."""
    ACTED_ON = 11
    """The lines changed, lines came next to them, a suggestion was applied, or words of the comment
    came near them (`follow.Following.acted_on`)."""


OF_TREES: Final = frozenset(
    {Signal.SUGGESTION_APPLIED, Signal.LINES_CHANGED, Signal.FILE_CHANGED, Signal.ACTED_ON}
)
"""Signals that are unknown for a comment without a row; for the others, no row means no."""

TITLES: Final[Mapping[Signal, str]] = MappingProxyType(
    {
        Signal.ACTED_ON: "acted on",
        Signal.SUGGESTION_APPLIED: "suggestion applied",
        Signal.LINES_CHANGED: "lines changed",
        Signal.FILE_CHANGED: "file changed",
        Signal.RESOLVED_BY_AUTHOR: "resolved by the author",
        Signal.RESOLVED_BY_PERSON: "resolved by another person",
        Signal.RESOLVED_BY_BOT: "resolved by a bot",
        Signal.THUMBS_UP: "thumbs up",
        Signal.THUMBS_DOWN: "thumbs down",
        Signal.BOT_SAYS_ADDRESSED: "the bot says it is addressed",
        Signal.TRAILER: "a later commit refers to it",
    }
)
"""Names of the signals in reports."""
