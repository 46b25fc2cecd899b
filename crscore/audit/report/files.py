"""File names of pages from untrusted names: safe on every system, and unique."""

import re
from collections.abc import Iterable
from typing import Final

MAX_CHARS: Final = 80
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9]+")


def file_names(names: Iterable[str]) -> dict[str, str]:
    """Give each name a file name without a suffix: ASCII letters, digits and single dashes.

    Args:
        names: Any texts; duplicates count once.

    Returns:
        File names by name. They differ even if case is ignored, as on some systems; names that
        would collide are numbered in sorted order.

    Example:
        >>> file_names(["a/b", "a.b", "../../etc"])
        {'../../etc': 'etc', 'a.b': 'a-b', 'a/b': 'a-b-2'}
    """
    used_names: set[str] = set()
    files = {}
    for name in sorted(set(names)):
        stem = _UNSAFE.sub("-", name)[:MAX_CHARS].strip("-") or "unnamed"
        file, count = stem, 1
        while file.casefold() in used_names:
            count += 1
            file = f"{stem}-{count}"
        used_names.add(file.casefold())
        files[name] = file
    return files
