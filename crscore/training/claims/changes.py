"""The changes to be labelled: which there are, and which are asked about."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crscore.claims.llm import chunks
from crscore.diff import parse
from crscore.errors import InputError
from crscore.training.claims import rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from crscore.records import Diff

SUFFIXES: Final = (".diff", ".patch")
"""Files of a folder that are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which changes to label.

    Source:
        Naik et al., NAACL 2025, appendix C.3: 1,000 changes of 10 to 1,000 characters, drawn
        with the seed 42.
    """

    min_chars: int = 10
    """Characters of a patch, at least."""
    max_chars: int = 1000
    """Characters of a patch, at most."""
    limit: int | None = None
    """How many of them; None for all."""
    seed: int = 42
    """Draws them. With a higher limit the same ones and more are drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change to be labelled."""

    patch: str
    """As it was given."""
    parsed: Diff
    """As the generator takes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What there is to label."""

    chosen: tuple[Change, ...]
    """Each once, in the order they are to be asked about."""
    copies: int
    """Patches that are there twice."""
    unfit: int
    """Shorter or longer than wanted."""
    several: int
    """Asked about in several parts: no row could be made of them."""
    unreadable: tuple[str, ...]
    """Where a text is no diff, and why."""


def read_changes(path: Path, wanted: Wanted) -> Changes:
    """Read changes and choose among them.

    Args:
        path: A folder of `.diff` and `.patch` files, or JSON Lines, plain or gzip, with `patch`
            or `diff` in each object.
        wanted: Which.

    Returns:
        The changes.

    Raises:
        InputError: There is nothing to read, or a line is no object with a patch.
    """
    known: dict[str, Change] = {}
    counts = {"copies": 0, "unfit": 0, "several": 0}
    unreadable: list[str] = []
    for place, patch in _patches(path):
        name = hashlib.sha256(patch.encode("utf-8", "surrogatepass")).hexdigest()
        if name in known:
            counts["copies"] += 1
            continue
        if not wanted.min_chars <= len(patch) <= wanted.max_chars:
            counts["unfit"] += 1
            continue
        try:
            parsed = parse.parse_diff(patch, source=place)
        except InputError as exc:
            unreadable.append(str(exc))
            continue
        parts = chunks.chunk_diff(parsed)
        if len(parts.chunks) != 1 or parts.notes:
            counts["several"] += 1
        else:
            known[name] = Change(patch=patch, parsed=parsed)
    chosen = _drawn(list(known.values()), wanted)
    return Changes(chosen=tuple(chosen), unreadable=tuple(unreadable), **counts)


def _drawn(found: Sequence[Change], wanted: Wanted) -> Sequence[Change]:
    if wanted.limit is None:
        return found
    return sorted(
        found,
        key=lambda one: hashlib.sha256(f"{wanted.seed} {one.parsed.sha256}".encode()).digest(),
    )[: wanted.limit]


def _patches(path: Path) -> Iterator[tuple[str, str]]:
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
        if not files:
            raise InputError(f"{path} has no {' or '.join(SUFFIXES)} file")
        for file in files:
            yield str(file), rows.unpacked(file).decode("utf-8", "replace")
        return
    lines = rows.unpacked(path).split(b"\n")
    if not any(line.strip() for line in lines):
        raise InputError(f"{path} is empty")
    for number, line in enumerate(lines, start=1):
        if line.strip():
            place = f"{path}:{number}"
            yield place, rows.patch_of(rows.entry_of(line, place), place)
