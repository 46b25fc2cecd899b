"""The files through which a step gives its outputs and its summary to the runner.

Both are appended to, whole or not at all: half an output would be another output's value, and a
summary that is too large is thrown away by the runner.
"""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING, Final

from crscore.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MAX_SUMMARY_BYTES: Final = 1024 * 1024
"""Largest summary of one step; the runner drops a larger one."""
_SPARE_BYTES: Final = 1024
"""Kept free, for what else a step may say in it."""


def write_outputs(file: Path | None, values: Mapping[str, str]) -> None:
    """Append step outputs.

    Args:
        file: The runner's file; None for a runner that has none, when nothing is written.
        values: Values by name. A value may be empty, have several lines and be any text.

    Raises:
        OutputError: The file cannot be written.
    """
    if file is None or not values:
        return
    # A value that had the mark in it could add outputs of its own, so nobody may guess it.
    mark = f"ghadelimiter_{uuid.uuid4()}"
    _append(file, "".join(f"{name}<<{mark}\n{text}\n{mark}\n" for name, text in values.items()))


def summary_room(file: Path | None) -> int:
    """Say how much the summary can still take, in bytes of UTF-8.

    Args:
        file: The runner's file; None for a runner that has none.

    Returns:
        The bytes; 0 when it is full or there is no file.

    Raises:
        OutputError: The file cannot be looked at.
    """
    if file is None:
        return 0
    try:
        there = file.stat().st_size if file.is_file() else 0
    except OSError as exc:
        raise OutputError(str(file), exc.strerror or str(exc)) from exc
    return max(0, MAX_SUMMARY_BYTES - _SPARE_BYTES - there)


def append_summary(file: Path | None, text: str) -> bool:
    """Append to the job summary.

    Args:
        file: The runner's file; None for a runner that has none.
        text: Markdown.

    Returns:
        False when there is no file or no room; nothing was written then.

    Raises:
        OutputError: The file cannot be written.
    """
    text = text if text.endswith("\n") else f"{text}\n"
    if file is None or len(text.encode("utf-8", errors="replace")) > summary_room(file):
        return False
    _append(file, text)
    return True


def _append(file: Path, text: str) -> None:
    content = text.encode("utf-8", errors="replace")
    try:
        with file.open("ab", buffering=0) as stream:
            before = os.fstat(stream.fileno()).st_size
            try:
                written = stream.write(content)
            except OSError:
                stream.truncate(before)
                raise
            if written != len(content):
                stream.truncate(before)
                raise OutputError(str(file), "the disk is full")
    except OSError as exc:
        raise OutputError(str(file), exc.strerror or str(exc)) from exc
