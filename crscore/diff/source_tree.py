"""Whole files for a diff: one version is enough, the hunks give the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crscore.diff import parse
from crscore.errors import InputError
from crscore.records import FileStatus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crscore.records import ChangedFile, Diff


def from_tree(change: Diff, texts: Mapping[str, str], *, notes: Sequence[str] = ()) -> Diff:
    """Add the files of one version of the code, the old or the new one.

    Which version it is shows in each file: the hunks apply to it in one direction only.

    Args:
        change: The change.
        texts: Path -> the file's text; files it lacks are left without sources.
        notes: What the reader of the folder has to say.

    Returns:
        The change with both versions of every file that fits, and a note for each that
        fits neither.
    """
    found: dict[str, tuple[str | None, str | None]] = {}
    misfits: list[str] = []
    for file in change.files:
        text = texts.get(file.path, texts.get(file.old_path or ""))
        if text is None or not file.hunks:
            continue
        both = _both_versions(file, text)
        if both is None:
            misfits.append(
                f"{file.path} in the source folder is neither the old nor the new version; "
                "only its hunks were read."
            )
        else:
            found[file.path] = both
    return _with_notes(parse.with_sources(change, found), (*notes, *misfits))


def _both_versions(file: ChangedFile, text: str) -> tuple[str | None, str | None] | None:
    # A deleted file has no new version, and undoing its deletion fits any text.
    old = None if file.status is FileStatus.DELETED else parse.rebuild_old(file, text)
    if old is not None:
        return old, text
    new = parse.rebuild_new(file, text)
    return None if new is None else (text, new)


def _with_notes(change: Diff, notes: Sequence[str]) -> Diff:
    return replace(change, notes=(*change.notes, *notes))


def from_pair(change: Diff, *, old: str | None, new: str | None) -> Diff:
    """Add the old or the new file, or both, to a change of one file.

    Args:
        change: A change of exactly one file.
        old: The whole old file, or None.
        new: The whole new file, or None.

    Returns:
        The change with both versions.

    Raises:
        InputError: The change has not exactly one file, or the diff does not apply to the
            files given.
    """
    if len(change.files) != 1:
        raise InputError(
            "--old and --new go with a change of one file, and this one has "
            f"{len(change.files)}; use --source-root"
        )
    file = change.files[0]
    rebuilt_old = parse.rebuild_old(file, new) if new is not None else None
    rebuilt_new = parse.rebuild_new(file, old) if old is not None else None
    if new is not None and rebuilt_old is None:
        raise InputError("--new is not the file that this diff leads to; give the right version")
    if old is not None and rebuilt_new is None:
        raise InputError("--old is not the file that this diff starts from; give the right version")
    both = (old if old is not None else rebuilt_old, new if new is not None else rebuilt_new)
    return parse.with_sources(change, {file.path: both})
