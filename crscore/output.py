"""Writing a report to a file or to standard output."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from crscore.errors import OutputError


def check(output: str | None) -> None:
    """Fail before the work, not after it.

    Args:
        output: Where the report is to go; None for stdout.

    Raises:
        OutputError: It cannot be written there.
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


def write(text: str, output: str | None) -> None:
    """Write the whole report or nothing: into a file beside the target, then renamed.

    Args:
        text: The report.
        output: A path, or None for stdout.

    Raises:
        OutputError: It cannot be written there.
    """
    if output is None:
        _to_stdout(text)
        return
    write_bytes(text.encode("utf-8"), output)


def write_bytes(content: bytes, output: str) -> None:
    """Write a whole file or nothing: into a file beside the target, then renamed.

    Args:
        content: What the file is to hold.
        output: A path.

    Raises:
        OutputError: It cannot be written there.
    """
    # A link stays a link: what it points to is replaced.
    target = Path(output).resolve()
    try:
        if target.exists() and not target.is_file():  # a device or a pipe cannot be replaced
            target.write_bytes(content)
            return
        with tempfile.NamedTemporaryFile(
            "wb", dir=target.parent, prefix=f".{target.name}.", delete=False
        ) as stream:
            stream.write(content)
        _publish(Path(stream.name), target)
    except OSError as exc:
        raise OutputError(output, exc.strerror or str(exc)) from exc


def _to_stdout(text: str) -> None:
    if sys.stdout is None:
        raise OutputError("standard output", "it is closed")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as exc:
        raise OutputError("standard output", getattr(exc, "strerror", None) or str(exc)) from exc


def _publish(written: Path, target: Path) -> None:
    try:
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        written.chmod(mode)
        written.replace(target)
    except OSError:
        written.unlink(missing_ok=True)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
