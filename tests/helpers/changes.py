"""Diffs made from two texts, as git would print them."""

import difflib
import textwrap

from crscore.claims.structural.plugin import create
from crscore.diff import parse
from crscore.records import Diff, PseudoReference


def change(path: str, old: str, new: str, *, sources: bool = True, context: int = 3) -> Diff:
    """The diff between two versions of a file; their common indentation is dropped."""
    old, new = textwrap.dedent(old).lstrip("\n"), textwrap.dedent(new).lstrip("\n")
    left, right = old.splitlines(keepends=True), new.splitlines(keepends=True)
    lines = difflib.unified_diff(left, right, f"a/{path}", f"b/{path}", n=context)
    parsed = parse.parse_diff(f"diff --git a/{path} b/{path}\n" + "".join(lines))
    return parse.with_sources(parsed, {path: (old, new)}) if sources else parsed


def claims(made: Diff) -> tuple[PseudoReference, ...]:
    return create().generate([made])[0].references


def texts(made: Diff) -> list[str]:
    return [reference.text for reference in claims(made)]


def said(made: Diff, *words: str) -> bool:
    """True when one sentence has all the words, letter case aside."""
    return any(all(word.lower() in text.lower() for word in words) for text in texts(made))
