"""Signature of a score: it lists everything that determines the score of an input."""

import hashlib
import re
from collections.abc import Mapping

from crscore.records import UNCONFINED, Coverage


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
    # A value may be the user's text, such as a path: a `|` in it would begin another part.
    fields = (f"{key}:" + re.sub(r"[\s|]", "_", value) for key, value in parts.items())
    return "|".join(["crscore", *fields])


def read_part(signature: str, key: str) -> str:
    """Return a part of a signature; "" without it.

    Example:
        >>> read_part("crscore|version:0.1.0|tau:0.5", "tau"), read_part("crscore|tau:1", "seed")
        ('0.5', '')
    """
    parts = dict(part.split(":", 1) for part in signature.split("|")[1:])
    return parts.get(key, "")


_NOT_ANALYZERS = frozenset({Coverage.NONE.value, Coverage.PARTIAL.value, UNCONFINED})
"""Words in the `analyzers` part of a signature that are not names of analyzers."""


def shorten_signature(signature: str) -> str:
    """Return the parts of a signature that users choose, and a hash of the whole signature.

    Args:
        signature: As made by `render_signature`.

    Returns:
        Version, encoder, claims, matcher, number of analyzers, then the first 7 hexadecimal digits
        of the signature's SHA-256: scores with the same id were computed in the same way. Missing
        parts are left out.

    Example:
        >>> shorten_signature("crscore|version:0.1.0|encoder:minilm:L6@53|analyzers:ruff@1,partial")
        'crscore 0.1.0 · minilm · 1 analyzer, partial · id c658653'
    """
    name, *fields = signature.split("|")
    parts = {key: value for key, _, value in (field.partition(":") for field in fields)}
    choices = [parts[key] for key in ("encoder", "claims", "matcher") if key in parts]
    words = parts.get("analyzers", "none").split(",")
    tools = len([word for word in words if word not in _NOT_ANALYZERS])
    limitations = [word for word in words if word in _NOT_ANALYZERS - {Coverage.NONE.value}]
    analyzers = f"{tools or 'no'} analyzer{'' if tools == 1 else 's'}"
    # A folder's name may hold bytes that are no UTF-8, which Python has as lone surrogates:
    # https://peps.python.org/pep-0383/
    digest = hashlib.sha256(signature.encode("utf-8", "surrogatepass")).hexdigest()[:7]
    return " · ".join(
        [
            f"{name} {parts.get('version', '')}".strip(),
            *(value.partition("@")[0].partition(":")[0] for value in choices),
            *(f"read by {part.partition(',')[0]}" for part in [parts.get("readings")] if part),
            ", ".join([analyzers, *limitations]),
            f"id {digest}",
        ]
    )
