"""Markers: text in a body by which a reviewer behind another account is known.

A marker in a quote or in code is somebody else's words, so it counts nowhere but in what the
writer says.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from crscore.pull_request.reviewers.outline import outline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crscore.pull_request.reviewers.profile import Profile

# It starts where backticks start, so that a long row of them is tried once.
_CODE_SPAN: Final = re.compile(r"(?<!`)`+[^`\n]+`+")


def of_user(body: str, markers: Mapping[str, str]) -> str | None:
    r"""Find whose marker is in a body, anywhere but in quotes and code; comments count.

    Args:
        body: Markdown, any characters.
        markers: Name of a reviewer -> text; a blank text is no marker.

    Returns:
        The first of the names; None when there is none.

    Example:
        >>> of_user("> Hello from Octo\n\nNo.", {"octo": "from Octo"}) is None
        True
    """
    text = body.replace("\r\n", "\n")
    found = {name: mark for name, mark in markers.items() if mark.strip() and mark in text}
    if not found:
        return None
    lines = outline(text).lines
    said = "\n".join(
        "" if line.in_code or line.quoted else text[line.start : line.end] for line in lines
    )
    plain = _CODE_SPAN.sub("``", said)
    return next((name for name, mark in found.items() if _is_in(mark, said, plain)), None)


def of_profiles(body: str, profiles: Sequence[Profile]) -> Profile | None:
    """Find the bot whose marker is in a body: at the start of a line, or on one if it signs.

    Args:
        body: Markdown, any characters.
        profiles: The bots that are known.

    Returns:
        The first of them; None when there is none outside of quotes, code and comments.
    """
    if not any(mark in body for one in profiles for mark in (*one.markers, *one.signed)):
        return None
    lines = [line.content for line in outline(body).lines if line.shown and not line.quoted]
    return next((one for one in profiles if any(_has_mark(line, one) for line in lines)), None)


def _has_mark(line: str, one: Profile) -> bool:
    if line.startswith(one.markers):
        return True
    signed = [mark for mark in one.signed if mark in line]
    plain = _CODE_SPAN.sub("``", line) if signed else line
    return any(_is_in(mark, line, plain) for mark in signed)


def _is_in(mark: str, text: str, plain: str) -> bool:
    """Whether a marker is in a text but not in its code; it may itself have code in it."""
    return mark in (text if "`" in mark else plain)
