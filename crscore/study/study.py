"""Reading a human study: changes, their claims, and reviews that people rated."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crscore.errors import InputError
from crscore.records import Claims, PseudoReference, ReferenceKind
from crscore.study._fields import Fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from crscore.records import Diff

DIMENSIONS = ("conciseness", "comprehensiveness", "relevance")
GROUND_TRUTH = "ground_truth"
"""The original human comment; correlations leave it out, as the paper does."""
SOURCE = "recorded"
"""Source of what a model and the tools said."""
CLAIMS_ALONE = "recorded-claims"
"""Source of what the model said, without the tools."""
EDITED = "edited"
"""Source of what the annotators made of it."""
CORRECTNESS = ("correct", "incorrect", "unverifiable", "incomplete")
"""What an annotator says of a claim."""
LIKERT = (1, 5)
"""Lowest and highest rating."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyReference:
    """One row of the list that the annotators worked with."""

    text: str
    """The claim or finding."""
    kind: ReferenceKind
    """Claim or issue; a row that says neither is a claim that an annotator added."""
    necessary: bool | None
    """Whether a review must address it; None when nobody said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedClaim:
    """One claim of the language model and what people said of it."""

    text: str
    """The claim."""
    correctness: str | None
    """One of `CORRECTNESS`, by the annotator whose row counts; None when nobody said."""
    annotator: str | None
    """Whose row counts; None when unknown."""
    by_annotator: tuple[tuple[str, str | None], ...] = ()
    """(annotator, correctness) of everyone who judged it, when the study tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """What a further annotator said of a review."""

    annotator: str | None
    """Who said it; None when unknown."""
    values: tuple[float, float, float]
    """Conciseness, comprehensiveness and relevance, Likert 1 to 5."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedReview:
    """One review and what people said of it."""

    system: str
    """Who wrote it."""
    text: str
    """The review; may be blank."""
    ratings: tuple[float, float, float]
    """Conciseness, comprehensiveness and relevance, Likert 1 to 5."""
    addressed: tuple[int, ...] | None = None
    """Indices into the change's `edited`; None when the study does not tell."""
    annotator: str | None = None
    """Whose ratings these are; None when unknown."""
    other_ratings: tuple[Rating, ...] = ()
    """Those of further annotators; only agreement reads them."""


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
    edited: tuple[StudyReference, ...] = ()
    """The same after the annotators corrected them; what `addressed` counts in."""
    judged: tuple[JudgedClaim, ...] = ()
    """The language model's claims with their judgements."""
    added: tuple[str, ...] = ()
    """Claims that the annotators found missing."""
    reviews: tuple[RatedReview, ...]
    """In the order of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A file of rated reviews."""

    changes: tuple[StudyChange, ...]
    """In the order of the file."""
    sha256: str
    """Hash of the unpacked file."""


def read_study(path: Path) -> Study:
    """Read a study: one JSON object a line, gzip or plain.

    Args:
        path: The file.

    Returns:
        The study.

    Raises:
        InputError: The file cannot be read, or a field of a line is missing or wrong; the
            message names line and field.
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
        values = json.loads(line)
    except (ValueError, RecursionError) as exc:
        raise InputError(f"{place}: not a line of JSON: {exc}") from exc
    if not isinstance(values, dict):
        raise InputError(f"{place}: not a change of a study; a line is one JSON object")
    if type(values.get("id")) is int:
        values["id"] = str(values["id"])
    row = Fields(values=values, place=place)
    edited = tuple(_reference(item) for item in row.objects("pseudo_references"))
    judged = tuple(_judged(item) for item in row.objects("llm_claims"))
    if values.get("reviews") is None:
        raise row.fault("reviews", "a list of objects")
    return StudyChange(
        id=row.text("id"),
        language=row.text("language"),
        patch=row.text("patch"),
        old_source=row.optional_text("old_source"),
        new_source=row.optional_text("new_source"),
        recorded=_recorded(judged, edited),
        edited=edited,
        judged=judged,
        added=row.items("added_claims", str, "a list of strings"),
        reviews=tuple(_review(item, len(edited)) for item in row.objects("reviews")),
    )


def _reference(row: Fields) -> StudyReference:
    kind = row.choice("kind", tuple(ReferenceKind))
    return StudyReference(
        text=row.text("text"),
        kind=ReferenceKind.CLAIM if kind is None else ReferenceKind(kind),
        necessary=row.flag("necessary"),
    )


def _judged(row: Fields) -> JudgedClaim:
    answers: tuple[tuple[str, str | None], ...] = ()
    if row.values.get("by_annotator") is not None:
        if not isinstance(row.values["by_annotator"], dict):
            raise row.fault("by_annotator", "an object")
        each = Fields(
            values=row.values["by_annotator"], place=row.place, path=f"{row.path}by_annotator."
        )
        answers = tuple((name, each.choice(name, CORRECTNESS)) for name in each.values)
    return JudgedClaim(
        text=row.text("text"),
        correctness=row.choice("correctness", CORRECTNESS),
        annotator=row.optional_text("annotator"),
        by_annotator=answers,
    )


def _recorded(judged: Sequence[JudgedClaim], edited: Sequence[StudyReference]) -> Claims:
    texts = [(claim.text, ReferenceKind.CLAIM) for claim in judged]
    texts += [(ref.text, ref.kind) for ref in edited if ref.kind is ReferenceKind.ISSUE]
    return _claims(texts, SOURCE)


def _claims(texts: Iterable[tuple[str, ReferenceKind]], source: str) -> Claims:
    return Claims(
        references=tuple(
            PseudoReference(text=text, kind=kind, source=source) for text, kind in texts
        )
    )


def _review(row: Fields, references: int) -> RatedReview:
    addressed = None
    if row.values.get("addressed") is not None:
        indices = row.items("addressed", int, "a list of integers or null")
        # A few reviews of the published study name a row that the edited list does not have.
        addressed = tuple(dict.fromkeys(i for i in indices if 0 <= i < references))
    return RatedReview(
        system=row.text("system"),
        text=row.text("text"),
        ratings=_ratings(row),
        addressed=addressed,
        annotator=row.optional_text("annotator"),
        other_ratings=tuple(
            Rating(annotator=other.optional_text("annotator"), values=_ratings(other))
            for other in row.objects("other_ratings")
        ),
    )


def _ratings(row: Fields) -> tuple[float, float, float]:
    con, comp, rel = (row.number(dimension, *LIKERT) for dimension in DIMENSIONS)
    return con, comp, rel


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recorded:
    """A claim generator that answers with the study's own pseudo-references."""

    by_diff: dict[str, Claims]
    """Diff sha256 -> claims."""
    identity: str
    """`recorded@`, `recorded-claims@` or `edited@` and a short hash of the study."""

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Look up each diff of the study.

        Raises:
            KeyError: A diff is not of the study.
        """
        return tuple(self.by_diff[diff.sha256] for diff in diffs)


def recorded(study: Study, *, issues: bool = True) -> Recorded:
    """Make the generator of a study's own claims.

    Args:
        study: The study.
        issues: Give what the study's tools said beside what the model said.
    """
    lists = [change.recorded for change in study.changes]
    if issues:
        return _generator(study, SOURCE, lists)
    return _generator(study, CLAIMS_ALONE, [_without_issues(claims) for claims in lists])


def _without_issues(claims: Claims) -> Claims:
    kept = tuple(ref for ref in claims.references if ref.kind is not ReferenceKind.ISSUE)
    return replace(claims, references=kept)


def edited(study: Study) -> Recorded:
    """Make the generator of the edited lists: what the annotators judged reviews by.

    The references keep the order of `StudyChange.edited`, so that `RatedReview.addressed`
    counts in them.
    """
    lists = [
        _claims(((ref.text, ref.kind) for ref in change.edited), EDITED) for change in study.changes
    ]
    return _generator(study, EDITED, lists)


def _generator(study: Study, source: str, claims: Sequence[Claims]) -> Recorded:
    return Recorded(
        by_diff={
            hashlib.sha256(change.patch.encode("utf-8")).hexdigest(): made
            for change, made in zip(study.changes, claims, strict=True)
        },
        identity=f"{source}@{study.sha256[:8]}",
    )
