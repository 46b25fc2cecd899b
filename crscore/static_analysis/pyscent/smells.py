"""What pyscent finds: a smell at its place, and all that it has to say of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crscore.static_analysis.pyscent.blocks import Span
    from crscore.static_analysis.pyscent.rules import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Smell:
    """One finding."""

    rule: Rule
    """What it is."""
    line: int
    """First line of the place, 1-based; -1 for the file as a whole."""
    end_line: int
    """Last line of the place, inclusive; -1 for the file as a whole."""
    place: str
    """The place in words, as in the middle of a sentence."""
    measure: float | None
    """The measure, in the rule's unit; None where nothing is measured."""
    extent: str
    """The measure in words; "" where nothing is measured."""
    text: str
    """The finding as one English sentence."""
    level: str
    """SARIF level: `note` or `warning`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReport:
    """All that was found in one file."""

    path: str
    """As it was given."""
    smells: tuple[Smell, ...] = ()
    """By line."""
    unparsed: str | None = None
    """Why the file, or a part of the work on it, could not be done; None when all was."""


def smell(
    rule: Rule,
    span: Span,
    place: str,
    measure: float | None,
    *,
    level: str | None = None,
    published: bool = False,
    **words: str,
) -> Smell:
    """Make a finding in the rule's words.

    Args:
        rule: What it is.
        span: Where it is.
        place: The place in words, as in the middle of a sentence.
        measure: The measure, in the rule's unit; None where nothing is measured.
        level: SARIF level, when it is not the rule's own.
        published: Put the measure into the words of the published form.
        words: What else the rule's words ask for.

    Returns:
        The finding, with its sentence.

    Example:
        >>> from crscore.static_analysis.pyscent.blocks import Span
        >>> from crscore.static_analysis.pyscent.rules import LONG_LAMBDA
        >>> smell(LONG_LAMBDA, Span(3, 3), "the lambda in `load`", 61).text[:54]
        'The lambda in `load` has 61 characters, more than 60; '
    """
    number = "" if measure is None else f"{measure:.3g}" if measure % 1 else f"{measure:.0f}"
    measured = (rule.published_extent if published else "") or rule.extent
    extent = measured.format(n=number, **words)
    text = rule.text.format(place=place, extent=extent, limit=rule.limit, **words)
    return Smell(
        rule=rule,
        line=span.line,
        end_line=span.end_line,
        place=place,
        measure=measure,
        extent=extent,
        text=text[0].upper() + text[1:],
        level=level or rule.level,
    )
