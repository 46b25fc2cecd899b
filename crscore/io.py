"""Inputs and outputs of the command line: files, standard streams, source folders."""

import gzip
import os
import shutil
import sys
import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

from crscore.errors import InputError, LimitError, OutputError
from crscore.records import Diff

DASH = "-"
"""Name of standard input, and of standard output, on the command line."""
_GZIP = b"\x1f\x8b"


def read_input(name: str, *, content: str, limit: str, max_bytes: int) -> tuple[bytes, str]:
    """Read a file, plain or gzip, or standard input for `-`.

    Args:
        name: A path or `-`.
        content: Kind of content that is expected (`diff`, `review`), for messages.
        limit: Name of the size limit, for messages.
        max_bytes: Maximum size in bytes, both of the file and of its unpacked content.

    Returns:
        The bytes, and their name in messages.

    Raises:
        InputError: The input cannot be read.
        LimitError: The input is larger than allowed. No more than `max_bytes` + 1 bytes are read.
    """
    from_stdin = name == DASH
    if from_stdin and sys.stdin is None:
        raise InputError(f"standard input is closed; give a file that holds the {content}")
    if not from_stdin and Path(name).is_dir():
        hint = f"give a file that holds the {content}, or - for stdin"
        raise InputError(f"{name} is a folder; {hint}")
    try:
        if from_stdin:
            data = sys.stdin.buffer.read(max_bytes + 1)
        else:
            with Path(name).open("rb") as stream:
                data = stream.read(max_bytes + 1)
        # A packed file of 10 kB can hold 10 MB of zeros, so the limit is on both sizes.
        if data.startswith(_GZIP) and len(data) <= max_bytes:
            with gzip.open(BytesIO(data)) as unpacked:
                data = unpacked.read(max_bytes + 1)
    except FileNotFoundError as exc:
        raise InputError(f"{name} does not exist; give a file that holds the {content}") from exc
    # ValueError is raised if the name contains a null byte, EOFError and zlib.error if a packed
    # file is truncated or damaged.
    except (OSError, EOFError, ValueError, zlib.error) as exc:
        reason = getattr(exc, "strerror", None) or str(exc)
        origin = "standard input" if from_stdin else name
        raise InputError(f"{origin} cannot be read: {reason}") from exc
    source = "<stdin>" if from_stdin else name
    if len(data) > max_bytes:
        raise LimitError(limit, max_bytes, len(data), source)
    return data, source


def read_sources(
    root: str, diff: Diff, *, max_bytes: int
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Read the changed files from a folder.

    The paths come from the diff, which is untrusted, so a path that leads out of the folder through
    `..` or a link is not read.

    Args:
        root: Folder that holds one version of the code, the old or the new one.
        diff: The change.
        max_bytes: Maximum bytes of one file.

    Returns:
        The texts of the files that could be read, by path, and a note on each file that is too
        large.

    Raises:
        InputError: `root` is not a folder.
    """
    folder = Path(root)
    if not folder.is_dir():
        raise InputError(f"--source-root {root} is not a folder")
    folder = folder.resolve()
    texts: dict[str, str] = {}
    notes: list[str] = []
    for path in {path for file in diff.files for path in (file.path, file.old_path or file.path)}:
        try:
            target = (folder / path).resolve()
            # Opening a named pipe would wait for its writer.
            if not target.is_relative_to(folder) or not target.is_file():
                continue
            with target.open("rb") as stream:
                content = stream.read(max_bytes + 1)
        except (OSError, ValueError, RuntimeError):
            # The name is invalid, links form a loop, or the file cannot be read. The source counts
            # as missing.
            continue
        if len(content) > max_bytes:
            notes.append(f"{path} is larger than max_source_bytes, so only its hunks were read.")
        else:
            texts[path] = content.decode("utf-8", errors="replace")
    return texts, tuple(sorted(notes))


def check_output(output: str | None) -> None:
    """Check that a report can be written, before the work begins.

    Args:
        output: Path of the report; None for stdout.

    Raises:
        OutputError: The report cannot be written.
    """
    if output is None:
        return
    target = Path(output)
    if target.is_dir():
        raise OutputError(output, "it is a folder")
    if not target.parent.is_dir():
        raise OutputError(output, "its folder does not exist")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise OutputError(output, "no permission")


def write_text(text: str, output: str | None) -> None:
    """Write the report to stdout or, atomically, to a file.

    Args:
        text: The report.
        output: A path, or None for stdout.

    Raises:
        OutputError: The report cannot be written.
    """
    if output is not None:
        write_bytes(text.encode("utf-8"), output)
        return
    if sys.stdout is None:
        # If stdout is closed (`>&-`), Python has no `sys.stdout`:
        # https://docs.python.org/3/library/sys.html#sys.__stdout__
        raise OutputError("standard output", "it is closed")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    # `cli` turns a closed pipe (`crscore ... | head`) into a separate exit code.
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as exc:
        raise OutputError("standard output", getattr(exc, "strerror", None) or str(exc)) from exc


def write_bytes(content: bytes, output: str) -> None:
    """Write a file atomically: write a temporary file, then rename it to the target.

    Args:
        content: The content of the file.
        output: A path.

    Raises:
        OutputError: The file cannot be written.
    """
    # If the output is a link, the link is kept and the file that it points to is replaced.
    target = Path(output).resolve()
    try:
        if target.exists() and not target.is_file():  # a device or a pipe cannot be replaced
            target.write_bytes(content)
            return
        # The temporary file is in the same folder, because a rename is atomic only within one file
        # system (POSIX, rename).
        temporary = target.with_name(f".{target.name}.{os.urandom(6).hex()}")
        try:
            with temporary.open("xb") as stream:
                stream.write(content)
            if target.exists():
                shutil.copymode(target, temporary)
            temporary.replace(target)
        finally:
            # Remove an incomplete file, for example if the disk is full.
            temporary.unlink(missing_ok=True)
    except OSError as exc:
        raise OutputError(output, exc.strerror or str(exc)) from exc
