"""Signals that a review comment was acted on, by rule."""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final

RULES: Final = 4
"""Version of the rules; a change of any value raises it."""


class Signal(IntEnum):
    """One signal; the numbers are stored.

    Without a row, a signal of trees does not apply (no suggestion, or not on lines); the others are
    no.
    """

    ACTED_ON = 1
    """Lines near the commented ones changed later, or a suggestion was applied."""
    SUGGESTION_APPLIED = 2
    """The suggested code is in its place in the last tree."""
    RESOLVED = 3
    """A person resolved the thread."""
    THUMBS_UP = 4
    """The comment has a thumbs up."""
    THUMBS_DOWN = 5
    """The comment has a thumbs down."""


OF_TREES: Final = frozenset({Signal.ACTED_ON, Signal.SUGGESTION_APPLIED})
"""Signals that are unknown for a comment without a row; for the others, no row means no."""

TITLES: Final[Mapping[Signal, str]] = MappingProxyType(
    {
        Signal.ACTED_ON: "acted on",
        Signal.SUGGESTION_APPLIED: "suggestion applied",
        Signal.RESOLVED: "resolved by a person",
        Signal.THUMBS_UP: "thumbs up",
        Signal.THUMBS_DOWN: "thumbs down",
    }
)
"""Names of the signals in reports."""
