"""Selects the full files that a change needs, within limits, and adds them to the change.

A checkout and the host provide the same files under the same limits. One version of each file is
sufficient, because the hunks determine the other version.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from crscore.diff import parse
from crscore.diff.parse import DiffLimits
from crscore.diff.paths import format_paths
from crscore.records import ChangedFile, Diff, FileStatus
from crscore.text import count_noun


def list_needed(change: Diff, limits: DiffLimits) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List the files that the hunks do not show completely.

    The hunk of an added or deleted file is the whole file. Binary files, submodules and files
    without hunks have nothing to read.

    Args:
        change: The change.
        limits: Limits on the number of files.

    Returns:
        The paths up to the limit, and a note on the other paths, if there are any.
    """
    paths = _list_incomplete(change)
    kept_paths, left_paths = paths[: limits.max_sources], paths[limits.max_sources :]
    reason = f"comes after max_sources ({limits.max_sources:,}) was reached"
    return tuple(kept_paths), (_note_left_out(reason, left_paths),) if left_paths else ()


def choose(
    sizes: Mapping[str, int | None], order: Sequence[str], limits: DiffLimits
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Choose files in the given order, as many as the limits allow.

    Args:
        sizes: Path -> size in bytes; None for a file that is binary or too large for the host to
            provide. Paths without an entry are skipped.
        order: Paths in the order in which they are chosen.
        limits: Limits on the files.

    Returns:
        The chosen paths, and a note for each reason why other paths are left out.
    """
    kept_paths: list[str] = []
    left: dict[str, list[str]] = {}
    total = 0
    for path in order:
        if path not in sizes:
            continue
        size = sizes[path]
        if size is None:
            left.setdefault("is binary or too large to be provided", []).append(path)
        elif size > limits.max_source_bytes:
            reason = f"is over max_source_bytes ({limits.max_source_bytes:,})"
            left.setdefault(reason, []).append(path)
        elif total + size > limits.max_sources_bytes:
            reason = f"comes after max_sources_bytes ({limits.max_sources_bytes:,}) was reached"
            left.setdefault(reason, []).append(path)
        else:
            kept_paths.append(path)
            total += size
    notes = tuple(_note_left_out(reason, paths) for reason, paths in sorted(left.items()))
    return tuple(kept_paths), notes


def add(change: Diff, texts: Mapping[str, str]) -> Diff:
    """Add whole files to a change.

    Args:
        change: The change.
        texts: Path -> text at the head, for files from `list_needed`.

    Returns:
        The change with both versions of these files, and of the files that the change adds or
        deletes.
    """
    versions: dict[str, tuple[str | None, str | None]] = {
        path: (None, text) for path, text in texts.items()
    }
    for file in change.files:
        if not _has_text(file):
            continue
        # The hunk of an added or deleted file is the whole file.
        if file.status is FileStatus.ADDED:
            versions[file.path] = ("", None)
        elif file.status is FileStatus.DELETED:
            versions[file.path] = (None, "")
    return parse.with_sources(change, versions)


def _list_incomplete(change: Diff) -> list[str]:
    """List the files whose hunks do not show the whole file."""
    whole = (FileStatus.ADDED, FileStatus.DELETED)
    return [file.path for file in change.files if _has_text(file) and file.status not in whole]


def _has_text(file: ChangedFile) -> bool:
    return bool(file.hunks) and not (file.is_binary or file.is_submodule or file.is_missing)


def _note_left_out(reason: str, paths: Sequence[str]) -> str:
    names = format_paths(paths)
    files = count_noun(len(paths), "file")
    return f"For {files}, only the hunks were read, because each {reason}: {names}."


def from_tree(change: Diff, texts: Mapping[str, str], *, notes: Sequence[str] = ()) -> Diff:
    """Add the files of a source folder, which has the old or the new version of the code.

    The version is determined for each file: its hunks can be applied to the old version and undone
    in the new version.

    Args:
        change: The change.
        texts: Path -> text of the file; files without an entry are not added.
        notes: Notes from reading the folder.

    Returns:
        The change with both versions of every file that matches one of them, and a note for each
        file that matches neither. If no file matches at all, there is one note.
    """
    versions: dict[str, tuple[str | None, str | None]] = {}
    mismatches: list[str] = []
    for file in change.files:
        # A folder with the old version contains a renamed file under its old name.
        text = texts.get(file.path, texts.get(file.old_path or ""))
        if text is None or not file.hunks:
            continue
        # A deleted file has no new version, and undoing its deletion would accept any text.
        old = None if file.status is FileStatus.DELETED else parse.rebuild_old(file, text)
        if old is not None:
            versions[file.path] = old, text
        elif (new := parse.rebuild_new(file, text)) is not None:
            versions[file.path] = text, new
        else:
            mismatches.append(
                f"{file.path} in the source folder is neither the old nor the new version; "
                "only its hunks were read."
            )
    incomplete = _list_incomplete(change)
    if incomplete and not versions and not notes:
        reason = f"{len(mismatches)} of its files are in another version" if mismatches else ""
        mismatches = [
            f"--source-root matches no file in the diff: {reason or 'it has none of the files'}. "
            f"Only the hunks were read: {format_paths(incomplete)}."
        ]
    added = parse.with_sources(change, versions)
    return replace(added, notes=(*added.notes, *notes, *mismatches))
