"""Relation of a changed condition to the previous one."""

from __future__ import annotations

_JOINTS = {"&&": "and", "||": "or", "and": "and", "or": "or"}


def extra_of(before: str, after: str) -> tuple[str, str]:
    """Return the part added to a condition, with the operator that joins it.

    Args:
        before: The old condition; empty when unknown.
        after: The new condition.

    Returns:
        `and` or `or` with the added part; two empty texts when the new condition does not begin or
        end with the whole old one.

    Example:
        >>> extra_of("a > 1", "a > 1 && b")
        ('and', 'b')
    """
    if not before or before == after:
        return "", ""
    for rest, at_end in ((after.removeprefix(before), True), (after.removesuffix(before), False)):
        if rest == after:
            continue
        bare = rest.strip()
        for joint, word in _JOINTS.items():
            if at_end and bare.startswith(joint):
                return word, bare.removeprefix(joint).strip()
            if not at_end and bare.endswith(joint):
                return word, bare.removesuffix(joint).strip()
    return "", ""


def joint_of(before: str, after: str) -> str:
    """Return `and` or `or` when the new condition joins the old one with another, else "".

    An old condition with the other operator gives "": precedence could change the meaning of the
    new one.
    """
    word, _ = extra_of(before, after)
    mixed = {"and": ("||", " or "), "or": ("&&", " and ")}.get(word, ())
    return "" if any(mark in before for mark in mixed) else word
