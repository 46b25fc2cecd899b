"""Reading a human study: changes, their claims, and reviews that people rated."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crscore.errors import InputError
from crscore.records import Claims, PseudoReference, ReferenceKind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crscore.records import Diff

DIMENSIONS = ("conciseness", "comprehensiveness", "relevance")
GROUND_TRUTH = "ground_truth"
"""The original human comment; correlations leave it out, as the paper does."""
SOURCE = "recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedReview:
    """One review and what people said of it."""

    system: str
    """Who wrote it."""
    text: str
    """The review; may be blank."""
    ratings: tuple[float, float, float]
    """Conciseness, comprehensiveness and relevance, Likert 1 to 5."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyChange:
    """One change of the study."""

    id: str
    """Names the change; the unit of the bootstrap."""
    language: str
    """Programming language."""
    patch: str
    """One hunk, without file header."""
    old_source: str | None
    """The whole file before."""
    new_source: str | None
    """The whole file after."""
    recorded: Claims
    """The study's own pseudo-references: claims of a language model, then tool findings."""
    reviews: tuple[RatedReview, ...]
    """In the order of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A file of rated reviews."""

    changes: tuple[StudyChange, ...]
    """In the order of the file."""
    sha256: str
    """Hash of the unpacked file."""


def read(path: Path) -> Study:
    """Read a study: one JSON object a line, gzip or plain.

    Args:
        path: The file.

    Returns:
        The study.

    Raises:
        InputError: The file cannot be read, or a line lacks a field; the message names it.
    """
    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
        # Not `splitlines`: a JSON string may hold other line separators.
        lines = content.decode("utf-8").split("\n")
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as exc:
        raise InputError(f"{path} cannot be read as a study: {exc}") from exc
    changes = tuple(
        _change(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()
    )
    if not changes:
        raise InputError(f"{path} holds no change; a study has one JSON object a line")
    for what in ("id", "patch"):
        values = [getattr(change, what) for change in changes]
        if len(set(values)) < len(values):
            twice = next(number for number, one in enumerate(values) if one in values[:number])
            raise InputError(f"{path}: change {twice + 1} has the {what} of an earlier one")
    return Study(changes=changes, sha256=hashlib.sha256(content).hexdigest())


def _change(line: str, place: str) -> StudyChange:
    try:
        row = json.loads(line)
        return StudyChange(
            id=str(row["id"]),
            language=str(row["language"]),
            patch=str(row["patch"]),
            old_source=_optional_text(row, "old_source"),
            new_source=_optional_text(row, "new_source"),
            recorded=_recorded(row),
            reviews=tuple(_review(review) for review in row["reviews"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
        raise InputError(f"{place}: not a change of a study: {exc!r}") from exc


def _optional_text(row: dict[str, Any], key: str) -> str | None:
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{key} must be a string or null")
    return value


def _recorded(row: dict[str, Any]) -> Claims:
    texts = [(claim["text"], ReferenceKind.CLAIM) for claim in row.get("llm_claims") or ()]
    texts += [
        (ref["text"], ReferenceKind.ISSUE)
        for ref in row.get("pseudo_references") or ()
        if ref["kind"] == "issue"
    ]
    return Claims(
        references=tuple(
            PseudoReference(text=text, kind=kind, source=SOURCE) for text, kind in texts
        )
    )


def _review(review: dict[str, Any]) -> RatedReview:
    con, comp, rel = (_rating(review[dimension]) for dimension in DIMENSIONS)
    return RatedReview(
        system=str(review["system"]), text=str(review["text"]), ratings=(con, comp, rel)
    )


def _rating(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"a rating is a number, not {value!r}")
    if not 1 <= value <= 5:
        raise ValueError(f"a rating is from 1 to 5, not {value!r}")
    return float(value)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recorded:
    """A claim generator that answers with the study's own claims."""

    by_diff: dict[str, Claims]
    """Diff sha256 -> claims."""
    identity: str
    """`recorded@` and a short hash of the study."""

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Look up each diff of the study.

        Raises:
            KeyError: A diff is not of the study.
        """
        return tuple(self.by_diff[diff.sha256] for diff in diffs)


def recorded(study: Study) -> Recorded:
    """Make the generator of a study's own claims."""
    return Recorded(
        by_diff={
            hashlib.sha256(change.patch.encode("utf-8")).hexdigest(): change.recorded
            for change in study.changes
        },
        identity=f"{SOURCE}@{study.sha256[:8]}",
    )
