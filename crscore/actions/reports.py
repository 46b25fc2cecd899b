"""Leaving a run's reports and outputs where later steps find them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crscore.actions import files
from crscore.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from crscore.actions.environment import Environment

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
    json: bytes | None = None
    """The JSON document; None when there is none to leave."""
    html: bytes | None = None
    """The page; None when there is none to leave."""


def leave(environment: Environment, reports: Sequence[Report]) -> None:
    """Write the documents, and set every output.

    One pull request's documents are `crscore.json` and `crscore.html`; those of several have
    their number in the name, and the outputs name the folder.

    Args:
        environment: The step's surroundings.
        reports: One for each pull request; empty when there was nothing to do.

    Raises:
        OutputError: Something cannot be written.
    """
    folder = environment.output_dir
    values = _values(reports)
    values["json-path"] = _write(folder, {one.number: one.json for one in reports}, "json")
    values["html-path"] = _write(folder, {one.number: one.html for one in reports}, "html")
    files.write_outputs(environment.output, values)


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


def _write(folder: Path, documents: Mapping[int, bytes | None], kind: str) -> str:
    """Write the documents there are, and say what the output names: the file or the folder."""
    several = len(documents) > 1
    names = {
        folder / (f"crscore-{number}.{kind}" if several else f"crscore.{kind}"): content
        for number, content in documents.items()
        if content is not None
    }
    for path, content in names.items():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as exc:
            raise OutputError(str(path), exc.strerror or str(exc)) from exc
    return str(folder) if several and names else "".join(map(str, names))
