"""Reading what the user named: files, standard input, source folders."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from crscore.errors import InputError, LimitError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crscore.records import Diff

STDIN = "-"


def read(name: str, *, what: str, limit: str, allowed: int) -> tuple[bytes, str]:
    """Read a file, or standard input for `-`.

    Args:
        name: A path or `-`.
        what: What it should hold (`diff`, `review`), for messages.
        limit: Name of the size limit, for messages.
        allowed: Most bytes read.

    Returns:
        The bytes, and the name to call them by in messages.

    Raises:
        InputError: It cannot be read; the message says why.
        LimitError: It is larger than allowed. No more than `allowed` + 1 bytes are read.
    """
    if name == STDIN:
        data, source = _read_stdin(what, allowed + 1), "<stdin>"
    else:
        data, source = _read_file(Path(name), what, allowed + 1), name
    if len(data) > allowed:
        raise LimitError(limit, allowed, len(data), source)
    return data, source


def _read_stdin(what: str, most: int) -> bytes:
    if sys.stdin is None:
        raise InputError(f"standard input is closed; give a file that holds the {what}")
    try:
        return sys.stdin.buffer.read(most)
    except OSError as exc:
        raise InputError(f"standard input cannot be read: {exc.strerror}") from exc


def _read_file(path: Path, what: str, most: int) -> bytes:
    if path.is_dir():
        raise InputError(f"{path} is a folder; give a file that holds the {what}, or - for stdin")
    try:
        with path.open("rb") as stream:
            return stream.read(most)
    except FileNotFoundError as exc:
        raise InputError(f"{path} does not exist; give a file that holds the {what}") from exc
    except (OSError, ValueError) as exc:
        reason = getattr(exc, "strerror", None) or str(exc)
        raise InputError(f"{path} cannot be read: {reason}") from exc


def sources_below(
    root: str, diff: Diff, *, largest: int
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Read the changed files as they are below a folder.

    The paths come from the diff, which is untrusted: a path that leaves the folder, through
    `..` or a link, is not read.

    Args:
        root: Folder that holds one version of the code, the old or the new one.
        diff: The change.
        largest: Most bytes of one file.

    Returns:
        Path -> text for the files that could be read, and a note for each that could not.

    Raises:
        InputError: `root` is no folder.
    """
    folder = Path(root)
    if not folder.is_dir():
        raise InputError(f"--source-root {root} is no folder")
    folder = folder.resolve()
    found: dict[str, str] = {}
    notes: list[str] = []
    for file in diff.files:
        for path in {file.path, file.old_path or file.path}:
            text = _source(folder, path, largest)
            if text is None:
                continue
            if len(text) > largest:
                notes.append(f"{path} is over max_source_bytes; only its hunks were read.")
            else:
                found[path] = text
    return found, tuple(sorted(notes))


def _source(folder: Path, path: str, largest: int) -> str | None:
    try:
        target = (folder / path).resolve()
        if not target.is_relative_to(folder) or not target.is_file():
            return None
        with target.open("rb") as stream:
            return stream.read(largest + 1).decode("utf-8", errors="replace")
    except (OSError, ValueError, RuntimeError):
        # A name the file system refuses, or a loop of links: there is no such source.
        return None
