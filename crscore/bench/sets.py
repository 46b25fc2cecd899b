"""Reads public golden sets from a clone or a file that the user has; crscore contains none."""

import tomllib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from crscore.bench.formats import read_golden
from crscore.bench.records import GoldenSet
from crscore.errors import InputError
from crscore.reports import escape

_FILE: Final = Path(__file__).with_name("sets.toml")


class PublicSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Source of a public golden set, and the files in it that list the problems."""

    title: str
    origin: str
    """Address of the set's repository."""
    licence: str
    """SPDX identifier of the set's licence."""
    files: str
    """Glob pattern of the files in the repository that list the problems."""


@lru_cache
def public_sets() -> dict[str, PublicSet]:
    """Return the known public sets, keyed by name."""
    return msgspec.convert(tomllib.loads(_FILE.read_text("utf-8")), dict[str, PublicSet])


def fetch(name: str, source: Path) -> GoldenSet:
    """Read a public set.

    Args:
        name: Name of the set.
        source: Clone of the set's repository, or a file or folder with the set's problems.

    Raises:
        InputError: No known set has this name, or the set cannot be read.
    """
    sets = public_sets()
    if name not in sets:
        raise InputError(f"there is no set {name!r}; the known sets are {', '.join(sets)}")
    pattern = sets[name].files
    is_clone = source.is_dir() and any(source.glob(pattern))
    golden = read_golden(source, pattern=pattern if is_clone else "**/*")
    return replace(golden, name=name)


def to_lines(golden: GoldenSet) -> str:
    """Return a set as JSON Lines that `formats.read_golden` can read."""
    head = {"set": golden.name, "version": golden.version}
    return "".join(escape.write_json(row, indent=None) for row in (head, *golden.changes))


def describe_sets() -> str:
    """List the known sets, one per line, with the licence and the address of each.

    If the current folder has a copy of a set (`NAME.jsonl`), the line has the first digits of the
    copy's hash, otherwise "not fetched".
    """
    lines = []
    for name, row in public_sets().items():
        copy = Path(f"{name}.jsonl")
        state = read_golden(copy).sha256[:12] if copy.is_file() else "not fetched"
        lines.append(f"{name:12} {row.licence:11} {state:12} {row.title}: clone {row.origin}\n")
    return "".join(lines)
