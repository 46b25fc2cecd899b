"""Signature of a score, which records how it was made: same signature, same score."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def render_signature(parts: Mapping[str, str]) -> str:
    """Join the parts of a signature, in the given order.

    Args:
        parts: Short keys and values, such as `{"version": "0.1.0", "tau": "0.5"}`.

    Returns:
        One line without spaces: `crscore|version:0.1.0|tau:0.5`.

    Example:
        >>> render_signature({"version": "0.1.0", "claims": "a|b c"})
        'crscore|version:0.1.0|claims:a_b_c'
    """
    return "|".join(["crscore", *(f"{key}:{_clean(value)}" for key, value in parts.items())])


def _clean(value: str) -> str:
    return "".join("_" if char.isspace() or char == "|" else char for char in value)
