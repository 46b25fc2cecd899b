"""Claims about whole files: added, removed, moved or binary."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from crscore.claims.structural.english import quote, sentence
from crscore.claims.structural.statements import SOURCE
from crscore.records import (
    FileStatus,
    LineKind,
    LineSpan,
    PseudoReference,
    ReferenceKind,
    Side,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crscore.records import ChangedFile

_EXECUTABLE = "100755"
_LINK = "120000"
_PLAIN = "100644"


def describe_file(file: ChangedFile) -> Iterator[PseudoReference]:
    """Describe a change of the file itself; nothing when only its lines changed."""
    for text, weight, implies in _sentences(file):
        yield PseudoReference(
            text=sentence(text),
            kind=ReferenceKind.IMPLICATION if implies else ReferenceKind.CLAIM,
            source=SOURCE,
            spans=_spans(file),
            identifiers=tuple(name for name in (file.path, file.old_path) if name),
            weight=weight,
        )


def _spans(file: ChangedFile) -> tuple[LineSpan, ...]:
    """Return all of the file's hunks on the side that has it; without hunks, the whole file."""
    if file.status is FileStatus.DELETED:
        side, path = Side.OLD, file.old_path or file.path
        ranges = [(hunk.old_start, hunk.old_length) for hunk in file.hunks]
    else:
        side, path = Side.NEW, file.path
        ranges = [(hunk.new_start, hunk.new_length) for hunk in file.hunks]
    spans = [
        LineSpan(path=path, side=side, start=start, end=start + length - 1)
        for start, length in ranges
        if length
    ]
    return tuple(spans) or (LineSpan(path=path, side=side, start=0, end=0),)


def _sentences(file: ChangedFile) -> Iterator[tuple[str, float, bool]]:
    name = quote(file.path, 120)
    if file.is_submodule:
        yield f"the submodule {name} {_submodule(file)}", 0.9, False
        return
    if file.is_binary:
        verb = {FileStatus.ADDED: "has been added", FileStatus.DELETED: "has been deleted"}
        yield f"the binary file {name} {verb.get(file.status, 'has changed')}", 0.8, False
    elif file.status is FileStatus.ADDED and file.path:
        count = len(file.lines(LineKind.ADDED))
        size = f" with {count} lines" if count > 1 else ("" if count else ", which is empty,")
        yield f"a new file {name}{size} has been added", 0.7, False
    elif file.status is FileStatus.DELETED:
        yield f"the file {name} has been deleted", 0.9, False
        yield f"code that still refers to {name} will no longer find it", 0.5, True
    yield from _names(file, name)
    yield from _modes(file, name)


def _submodule(file: ChangedFile) -> str:
    if file.status is FileStatus.ADDED:
        return "has been added"
    if file.status is FileStatus.DELETED:
        return "has been removed"
    return "now points to another commit"


def _names(file: ChangedFile, name: str) -> Iterator[tuple[str, float, bool]]:
    if not file.old_path:
        return
    old = quote(file.old_path, 120)
    if file.status is FileStatus.COPIED:
        yield f"the file {name} has been made as a copy of {old}", 0.8, False
        return
    before, after = PurePosixPath(file.old_path), PurePosixPath(file.path)
    if before.name == after.name:
        yield f"the file {quote(after.name)} has been moved from {old} to {name}", 0.85, False
    else:
        yield f"the file {old} has been renamed to {name}", 0.85, False
    yield f"imports and links that still use {old} have to be updated", 0.55, True


def _modes(file: ChangedFile, name: str) -> Iterator[tuple[str, float, bool]]:
    old, new = file.old_mode, file.new_mode
    if file.status in {FileStatus.ADDED, FileStatus.DELETED} or not old or not new or old == new:
        return
    if new == _EXECUTABLE:
        yield f"the file {name} is now executable", 0.7, False
    elif old == _EXECUTABLE and new == _PLAIN:
        yield f"the file {name} is no longer executable", 0.7, False
    elif _LINK in {old, new}:
        what = "a symbolic link" if new == _LINK else "a plain file"
        yield f"{name} is now {what}", 0.7, False
    else:
        yield f"the mode of the file {name} has changed from {old} to {new}", 0.6, False
