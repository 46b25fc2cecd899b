"""Equivalent transformations: four families of rules that keep what code does.

Source:
    CodeScore-R, Table 1: loop, expression, permute and condition exchange, combined in the order of
    the authors' helper. The rules are ours: they work on the tree, in both directions where that is
    safe, and skip what might behave otherwise.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import TYPE_CHECKING

from crscore.code.transforms import java, python
from crscore.code.transforms.edits import Variant, edited, parsed_for
from crscore.suggestions.trees import Parsed, grammar_of

if TYPE_CHECKING:
    from crscore.code.transforms.edits import Edit, Site

    Rule = Callable[[Parsed], Iterator[Site]]

FAMILIES: Mapping[str, Mapping[str, Rule]] = {
    "condition": {"python": python.conditions, "java": java.conditions},
    "expression": {"python": python.expressions, "java": java.expressions},
    "permute": {"python": python.branches, "java": java.branches},
    "loop": {"python": python.loops, "java": java.loops},
}
"""The rule of each family by language, in the order in which they are combined."""


def transforms(code: str, language: str | None, *, seed: int | None = None) -> list[Variant]:
    r"""List equivalent forms of a piece of code.

    Args:
        code: A file, some statements, or the body of a function.
        language: `python` or `java`.
        seed: None to apply a rule at every place where it is safe (of nested places the outermost);
            else the seed of a random half of them.

    Returns:
        For each non-empty set of families that changes the code its result, at most 15, without
        duplicates; each parses. Empty for code that does not parse, or longer than
        `MAX_CODE_BYTES`.

    Raises:
        InputError: Another language.
        DependencyError: The grammar's wheel is not installed.

    Example:
        >>> [tuple(variant) for variant in transforms("if a > 1:\n    b += 2", "python")][:1]
        [('condition', 'if 1 < a:\n    b += 2')]
    """
    parsed = parsed_for(code, language)
    if parsed is None:
        return []
    found: dict[str, str] = {}
    for count in range(1, len(FAMILIES) + 1):
        for families in combinations(FAMILIES, count):
            changed = _applied(parsed, families, language, seed)
            if changed is not None:
                found.setdefault(changed.code, "+".join(families))
    found.pop(parsed.code, None)
    return [Variant(rule, text) for text, rule in found.items()]


def _applied(
    parsed: Parsed, families: tuple[str, ...], language: str | None, seed: int | None
) -> Parsed | None:
    """Apply one family after the other; None where one finds no place."""
    draw = None if seed is None else random.Random(seed)
    current: Parsed | None = parsed
    for family in families:
        if current is None:
            return None
        sites = FAMILIES[family][grammar_of(language).name](current)
        edits = list(_edits(sites, current, draw))
        current = edited(current, edits, language) if edits else None
    return current


def _edits(sites: Iterator[Site], parsed: Parsed, draw: random.Random | None) -> Iterator[Edit]:
    """Yield the edits of the sites that lie in the code and do not overlap."""
    at = parsed.start
    for site in sites:
        if site.start >= at and site.end <= parsed.end and (draw is None or draw.random() < 0.5):
            yield from site.edits
            at = site.end
