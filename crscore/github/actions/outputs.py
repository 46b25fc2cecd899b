"""Writes the outputs, the summary and the documents of a step, for later steps and the run's page.

Outputs and the summary are appended to files of the runner, which discards a summary that is too
large.
"""

import os
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from crscore.errors import OutputError

OUTPUTS: Final = (
    "usefulness", "usefulness-low", "usefulness-high", "relevance", "conciseness",
    "comprehensiveness", "reviews-scored", "json-path", "html-path", "sarif-path", "partial",
    "comment-url",
)  # fmt: skip
"""The step's outputs, by their names in `action.yml`; each is always set, possibly to ""."""
# https://docs.github.com/actions/reference/workflow-commands-for-github-actions
MAX_SUMMARY_BYTES: Final = 1024 * 1024
"""Maximum size of one step's summary in bytes; the runner discards a larger one."""
_SPARE_BYTES: Final = 1024
"""Bytes reserved for other summary text of the step."""


def write_document(folder: Path, name: str, text: str) -> Path:
    """Write a document.

    Args:
        folder: Destination folder; created if missing.
        name: File name of the document.
        text: Content of the document.

    Returns:
        The path of the document.

    Raises:
        OutputError: The document cannot be written, or the folder is in the workspace and its path
            contains a symbolic link.
    """
    path = folder / name
    # The workspace may be a checkout of an untrusted branch, with a symbolic link to any folder of
    # the runner.
    workspace = Path.cwd()
    target = Path(os.path.normpath(workspace / folder))
    if target.is_relative_to(workspace) and target.resolve() != target:
        raise OutputError(str(folder), "its path contains a symbolic link")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # An existing file is deleted first, because if it is a link, its target would be
        # overwritten.
        path.unlink(missing_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace", newline="\n")
    except OSError as exc:
        raise OutputError(str(path), exc.strerror or str(exc)) from exc
    return path


def append_outputs(file: Path | None, values: Mapping[str, str]) -> None:
    """Append step outputs.

    Args:
        file: The runner's file; None if the runner has none.
        values: Values by name; a value can be empty or have several lines.

    Raises:
        OutputError: The file cannot be written.
    """
    if file is None or not values:
        return
    # The delimiter is random, because a value that contains the delimiter could set other outputs.
    # In `@actions/core`, it was fixed (CVE-2022-35954):
    # https://github.com/actions/toolkit/security/advisories/GHSA-7r3h-m5j6-3q42
    mark = f"ghadelimiter_{uuid.uuid4()}"
    _append(file, "".join(f"{name}<<{mark}\n{text}\n{mark}\n" for name, text in values.items()))


def free_summary_bytes(file: Path | None) -> int:
    """Return the number of UTF-8 bytes that still fit into the summary.

    Args:
        file: The runner's file; None if the runner has none.

    Returns:
        The number; 0 if the summary is full or there is no file.
    """
    if file is None:
        return 0
    size = file.stat().st_size if file.is_file() else 0
    return max(0, MAX_SUMMARY_BYTES - _SPARE_BYTES - size)


def append_summary(file: Path | None, text: str) -> bool:
    """Append a text to the job summary.

    Args:
        file: The runner's file; None if the runner has none.
        text: Markdown.

    Returns:
        False if there was no file or not enough space, so that nothing was written.

    Raises:
        OutputError: The file cannot be written.
    """
    text = text if text.endswith("\n") else f"{text}\n"
    if file is None or len(text.encode("utf-8", errors="replace")) > free_summary_bytes(file):
        return False
    _append(file, text)
    return True


def _append(file: Path, text: str) -> None:
    try:
        with file.open("a", encoding="utf-8", errors="replace", newline="") as stream:
            stream.write(text)
    except OSError as exc:
        raise OutputError(str(file), exc.strerror or str(exc)) from exc
