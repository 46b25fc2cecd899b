"""Which line breaks of a paragraph were meant."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

_STARTS_REMARK: Final = re.compile(r"(?:[^\w\s]|_|\s)*(?:nits?\b|([^\W_]))")
_WRAP_COLUMNS: Final = 72
_LONGEST_WRAP: Final = 100


def lines_are_remarks(content: str) -> bool:
    r"""Whether the line breaks of a paragraph are meant: one remark a line, not wrapped prose.

    They are when every further line starts like a remark (capital, digit, code, "nit") and
    every break came early (the next word still fitted into 72 columns) or far too late to
    be a wrap (after column 100). Otherwise a line break is a space.

    Args:
        content: Of one paragraph, as written.

    Example:
        >>> lines_are_remarks("Rename this\nDrop that"), lines_are_remarks("Rename\nthis")
        (True, False)
    """
    lines = [line.strip() for line in content.split("\n")]
    return len(lines) > 1 and all(
        _starts_remark(after) and _breaks_on_purpose(before, after)
        for before, after in pairwise(lines)
    )


def _starts_remark(line: str) -> bool:
    if line.startswith("`"):
        return True
    found = _STARTS_REMARK.match(line)
    return found is not None and (found[1] is None or not found[1].islower())


def _breaks_on_purpose(before: str, after: str) -> bool:
    if before.endswith((",", "(", "-", "/", "&")):
        return False
    fits = len(before) + 1 + len(after.split(" ", 1)[0]) <= _WRAP_COLUMNS
    return fits or len(before) > _LONGEST_WRAP
