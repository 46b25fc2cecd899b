"""One finding a function: that it is long, branches and is complex is one defect."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from crscore.static_analysis.pyscent.rules import COMPLEX_CODE, LONG_BRANCH, LONG_METHOD, WARNING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crscore.static_analysis.pyscent.smells import Smell

_SIZES: Final = (LONG_METHOD, LONG_BRANCH, COMPLEX_CODE)  # in the order of the sentence


def merged(smells: Iterable[Smell]) -> list[Smell]:
    """Make one finding of those that measure the size of one function.

    It has the rule of the measure that is furthest over its limit (the largest quotient of
    measure and limit; of equal ones statements, then branches, then paths), that rule's
    measure, and the worst level. Its sentence names all measures that are over.

    Args:
        smells: The findings of one file.

    Returns:
        The findings, the merged ones at the end.

    Example:
        >>> from crscore.static_analysis.pyscent.blocks import Span
        >>> from crscore.static_analysis.pyscent.smells import smell
        >>> parts = [(LONG_BRANCH, 13), (COMPLEX_CODE, 14)]
        >>> (one,) = merged([smell(rule, Span(1, 40), "`f`", n) for rule, n in parts])
        >>> one.rule.id, one.extent
        ('complex-code', '13 branches and 14 independent paths')
    """
    others: list[Smell] = []
    functions: dict[tuple[int, str], list[Smell]] = defaultdict(list)
    for smell in smells:
        if smell.rule in _SIZES:
            functions[smell.line, smell.place].append(smell)
        else:
            others.append(smell)
    return [*others, *map(_one, functions.values())]


def _one(parts: Sequence[Smell]) -> Smell:
    if len(parts) == 1:
        return parts[0]
    ordered = sorted(parts, key=lambda part: _SIZES.index(part.rule))
    worst = max(ordered, key=lambda part: (part.measure or 0) / part.rule.limit)
    *firsts, last = (part.extent for part in ordered)
    extent = f"{', '.join(firsts)} and {last}"
    return replace(
        worst,
        extent=extent,
        text=f"{worst.place} has {extent}; it is hard to follow and to test, so split it up.",
        level=WARNING if any(part.level == WARNING for part in parts) else worst.level,
    )
