"""Leaving a run's reports and outputs where later steps find them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crscore.errors import OutputError
from crscore.github.actions import files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


OUTPUTS: Final = (
    "relevance",
    "conciseness",
    "comprehensiveness",
    "reviews-scored",
    "json-path",
    "html-path",
    "partial",
    "comment-url",
)
"""The step's outputs, by their names in `action.yml`; each is always set, if only to nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What later steps can have of one pull request."""

    number: int
    """Its number."""
    relevance: float | None
    """Of all reviews together, in [0, 1]; None when there is no score."""
    conciseness: float | None
    """As above."""
    comprehensiveness: float | None
    """As above."""
    reviews_scored: int
    """Reviewers that got a score."""
    partial: bool
    """Something could not be read that would change a number."""
    comment_url: str | None = None
    """Page of the comment; None when none was written."""
    json: Path | None = None
    """Where its JSON document is; None when there is none."""
    html: Path | None = None
    """Where its page is; None when there is none."""


def keep(folder: Path, name: str, text: str) -> Path:
    """Write a document.

    Args:
        folder: Where to; made when it is missing.
        name: Its file name.
        text: What it says.

    Returns:
        Its path.

    Raises:
        OutputError: It cannot be written.
    """
    path = folder / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace", newline="\n")
    except OSError as exc:
        raise OutputError(str(path), exc.strerror or str(exc)) from exc
    return path


def write_outputs(file: Path | None, reports: Sequence[Report]) -> None:
    """Set every output of the step.

    Args:
        file: The runner's file for them; None for a runner that has none.
        reports: One for each pull request; empty when there was nothing to do.

    Raises:
        OutputError: The runner's file cannot be written.
    """
    values = _values(reports)
    values["json-path"] = _path([one.json for one in reports])
    values["html-path"] = _path([one.html for one in reports])
    files.write_outputs(file, values)


def _values(reports: Sequence[Report]) -> dict[str, str]:
    values = dict.fromkeys(OUTPUTS, "")
    values["reviews-scored"] = str(sum(one.reviews_scored for one in reports))
    values["partial"] = str(any(one.partial for one in reports)).lower()
    if len(reports) == 1:
        (one,) = reports
        values["relevance"] = _share(one.relevance)
        values["conciseness"] = _share(one.conciseness)
        values["comprehensiveness"] = _share(one.comprehensiveness)
        values["comment-url"] = one.comment_url or ""
    return values


def _share(value: float | None) -> str:
    # Fixed digits: a shell that compares numbers does not read 1e-05.
    return "" if value is None else f"{value:.6f}"


def _path(paths: Sequence[Path | None]) -> str:
    """Name one pull request's document, or the folder with those of several."""
    there = [path for path in paths if path is not None]
    if not there:
        return ""
    return str(there[0].parent if len(paths) > 1 else there[0])
