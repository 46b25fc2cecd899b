"""How a changed condition relates to what it was before."""

from __future__ import annotations

_JOINTS = {"&&": "and", "||": "or", "and": "and", "or": "or"}


def extra_of(before: str, after: str) -> tuple[str, str]:
    """Return the part a condition gained around its old text, with the operator that joins it.

    Args:
        before: The old condition; empty when it is unknown.
        after: The new condition.

    Returns:
        `and` or `or` with the added part; two empty texts when the old condition does not
        stand whole at one end of the new one.

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
    """`and` or `or` when the new condition is the old one joined with another, else empty.

    An old condition that itself has the other operator is left alone: precedence could
    make the new one mean something else.
    """
    word, _ = extra_of(before, after)
    mixed = {"and": ("||", " or "), "or": ("&&", " and ")}.get(word, ())
    return "" if any(mark in before for mark in mixed) else word
