"""Consistent renaming of code, which its sketch must not notice."""

from __future__ import annotations

import random

from crscore.syntax.sketch import Owner, read_names


def rename(code: str, language: str | None, *, seed: int = 0, context: str = "") -> str:
    """Give random names to the own names of a piece of code, consistently.

    Args:
        code: A file, some statements, or the body of a function.
        language: Language as in `ChangedFile.language`.
        seed: Seed of the names.
        context: Code before it; names that it uses are kept.

    Returns:
        The code, dedented; its behaviour and its sketch are those of the original.
    """
    code_names = read_names(code, language, context)
    of_context = {owner for name, owner in code_names.names if name.start < code_names.start}
    used_names = {name.text for name, _ in code_names.names}
    draw = random.Random(seed)
    new: dict[Owner, str] = {}
    for _, owner in code_names.names:
        is_fixed = owner in new or owner in of_context
        if owner and not is_fixed:
            new[owner] = _random_name(draw, used_names)
    return code_names.rename(new)


def _random_name(draw: random.Random, used_names: set[str]) -> str:
    """Return a name of consonants: no language has such a keyword."""
    while (name := "".join(draw.choices("bcdfghjklmnpqrstvwxz", k=7))) in used_names:
        pass
    used_names.add(name)
    return name
