"""Signals that a review comment was acted on, by rule."""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final

RULES: Final = 5
"""Version of the rules; increased whenever a signal can change its value."""


class Signal(IntEnum):
    """Signal that a comment was acted on; its number is stored.

    Without a row, a signal from files does not apply (no suggestion, or no lines); any other signal
    counts as no.
    """

    ACTED_ON = 1
    """Lines near the commented ones changed later, or a suggestion was applied."""
    SUGGESTION_APPLIED = 2
    """The last commit has the suggested code in place of the commented lines."""
    RESOLVED = 3
    """A person resolved the thread."""
    THUMBS_UP = 4
    """The comment has a thumbs up."""
    THUMBS_DOWN = 5
    """The comment has a thumbs down."""


FILE_SIGNALS: Final = frozenset({Signal.ACTED_ON, Signal.SUGGESTION_APPLIED})
"""Signals that are read from files; without a row they do not apply to a comment."""

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
