"""Diffs made from two texts, as git would print them."""

import difflib
import textwrap

from msgspec.structs import replace

from crscore.claims.structural.plugin import create
from crscore.diff import parse
from crscore.records import Diff, PseudoReference


def change(path: str, old: str, new: str, *, sources: bool = True, context: int = 3) -> Diff:
    """The diff between two versions of a file; their common indentation is dropped."""
    old, new = textwrap.dedent(old).lstrip("\n"), textwrap.dedent(new).lstrip("\n")
    left, right = old.splitlines(keepends=True), new.splitlines(keepends=True)
    mode = "" if old and new else f"{'deleted' if old else 'new'} file mode 100644\n"
    sides = (f"a/{path}" if old else "/dev/null", f"b/{path}" if new else "/dev/null")
    lines = difflib.unified_diff(left, right, *sides, n=context)
    parsed = parse.parse_diff(f"diff --git a/{path} b/{path}\n{mode}" + "".join(lines))
    return parse.with_sources(parsed, {path: (old, new)}) if sources else parsed


def together(*diff: Diff) -> Diff:
    """One change of several files."""
    return replace(diff[0], files=tuple(file for diff in diff for file in diff.files))


def claims(diff: Diff) -> tuple[PseudoReference, ...]:
    return create().generate([diff])[0].references


def texts(diff: Diff) -> list[str]:
    return [reference.text for reference in claims(diff)]
