"""Reading a human study: changes, their claims, and reviews that people rated."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta, Struct

from crscore.errors import InputError
from crscore.records import Claims, PseudoReference, ReferenceKind
from crscore.study import jsonl

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
LIKERT = (1, 5)
"""Lowest and highest rating."""


Correctness = Literal["correct", "incorrect", "unverifiable", "incomplete"]
"""Judgement of a claim by an annotator."""
Rating = Annotated[float, Meta(ge=LIKERT[0], le=LIKERT[1])]


class ReferenceRow(Struct, frozen=True, kw_only=True):
    """One row of the list that the annotators worked with, as a line of the file has it."""

    text: str
    """The claim or finding."""
    kind: ReferenceKind | None = None
    """Claim or implication of a model or a person, or issue found by a tool; null is read as a
    claim."""
    necessary: bool | None = None
    """Whether a review must address it; null when nobody said."""


class StudyReference(ReferenceRow, frozen=True, kw_only=True):
    """One row of the list that the annotators worked with."""

    kind: ReferenceKind
    """Claim, implication or issue."""


class JudgedClaim(Struct, frozen=True, kw_only=True):
    """One claim of the language model and its judgements."""

    text: str
    """The claim."""
    correctness: Correctness | None = None
    """By the annotator whose row counts; null when nobody said."""
    annotator: str | None = None
    """Whose row counts; null when unknown."""
    by_annotator: dict[str, Correctness | None] | None = None
    """Annotator -> correctness, for everyone who judged it. Agreement is measured on these."""


class Ratings(Struct, frozen=True, kw_only=True):
    """Ratings of a review by one annotator."""

    annotator: str | None = None
    """Short name of the annotator; null when unknown."""
    conciseness: Rating
    """Likert scale, 1 (worst) to 5 (best)."""
    comprehensiveness: Rating
    """Likert scale, 1 (worst) to 5 (best)."""
    relevance: Rating
    """Likert scale, 1 (worst) to 5 (best)."""

    @property
    def ratings(self) -> tuple[float, float, float]:
        """Conciseness, comprehensiveness and relevance, Likert 1 to 5."""
        return self.conciseness, self.comprehensiveness, self.relevance


class ReviewRow(Ratings, frozen=True, kw_only=True):
    """One review with its ratings, as a line of the file has it."""

    system: str
    """Who wrote it; `ground_truth` is the original human comment, which no correlation counts."""
    text: str
    """The review; may be blank."""
    addressed: tuple[int, ...] | None = None
    """Indices, from 0, of the rows of `pseudo_references` that it addresses; null or missing when
    nobody said. An index that no row has is not read."""
    other_ratings: tuple[Ratings, ...] | None = None
    """Ratings of further annotators. Agreement is measured on these; scores are compared with the
    ones above alone."""


class ChangeRow(Struct, frozen=True, kw_only=True):
    """One line of a study: a code change, what was claimed of it, and its rated reviews.

    The file is UTF-8, plain or gzip; no two lines share an `id` or a `patch`. Further fields are
    allowed and not read.
    """

    id: str | int
    """Names the change; the unit that is drawn when intervals are made."""
    language: str
    """Programming language, such as `python`, `java` or `javascript`."""
    patch: str
    """One hunk of a unified diff, from its `@@` line on, without file header."""
    old_source: str | None = None
    """The whole file before the change; null or missing when unknown."""
    new_source: str | None = None
    """The whole file after the change; null or missing when unknown."""
    llm_claims: tuple[JudgedClaim, ...] | None = None
    """Claims of a language model about the change, in its order."""
    added_claims: tuple[str, ...] | None = None
    """Claims that the annotators found missing."""
    pseudo_references: tuple[ReferenceRow, ...] | None = None
    """The list that the annotators rated the reviews by: corrected and added claims, then findings
    of tools."""
    reviews: tuple[ReviewRow, ...]
    """Reviews of the change with their ratings."""


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
    other_ratings: tuple[Ratings, ...] = ()
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
    content = jsonl.read_bytes(path, "a study")
    rows = jsonl.read_rows(content, ChangeRow, path, "a study")
    changes = tuple(_change(row) for _, row in rows)
    if not changes:
        raise InputError(f"{path} holds no change; a study has one JSON object a line")
    for what in ("id", "patch"):
        values = [getattr(change, what) for change in changes]
        if len(set(values)) < len(values):
            twice = next(number for number, one in enumerate(values) if one in values[:number])
            raise InputError(f"{path}: change {twice + 1} has the {what} of an earlier one")
    return Study(changes=changes, sha256=hashlib.sha256(content).hexdigest())


def _change(row: ChangeRow) -> StudyChange:
    edited = tuple(
        StudyReference(text=one.text, kind=one.kind or ReferenceKind.CLAIM, necessary=one.necessary)
        for one in row.pseudo_references or ()
    )
    judged = row.llm_claims or ()
    return StudyChange(
        id=str(row.id),
        language=row.language,
        patch=row.patch,
        old_source=row.old_source,
        new_source=row.new_source,
        recorded=_recorded(judged, edited),
        edited=edited,
        judged=judged,
        added=row.added_claims or (),
        reviews=tuple(_review(review, len(edited)) for review in row.reviews),
    )


def _review(row: ReviewRow, references: int) -> RatedReview:
    addressed = None
    if row.addressed is not None:
        # A few reviews of the published study name a row that the edited list does not have.
        addressed = tuple(dict.fromkeys(i for i in row.addressed if 0 <= i < references))
    return RatedReview(
        system=row.system,
        text=row.text,
        ratings=row.ratings,
        addressed=addressed,
        annotator=row.annotator,
        other_ratings=row.other_ratings or (),
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
