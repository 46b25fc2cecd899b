"""Human study: changes, claims about them, and reviews that people rated."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated, Literal

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from crscore import jsonl
from crscore.diff import parse
from crscore.errors import InputError
from crscore.records import Claims, Diff, PseudoReference, ReferenceKind

DIMENSIONS = ("conciseness", "comprehensiveness", "relevance")
GROUND_TRUTH = "ground_truth"
"""System of the original human comments; correlations leave them out, as the paper does."""
RECORDED = "recorded"
"""Source of pseudo-references: a model's claims and tools' findings, stored in the study."""
CLAIMS_ALONE = "recorded-claims"
"""Identity of the generator of the stored claims, without the findings of tools."""
EDITED = "edited"
"""Source of pseudo-references: the list edited by the annotators."""
LIKERT = (1, 5)
"""Lowest and highest rating."""
JUNK_BELOW = 1.5
"""A system is junk if the mean human relevance of its reviews (1 to 5) is below this value, and so
is nearer to the worst rating than to any other."""


Correctness = Literal["correct", "incorrect", "unverifiable", "incomplete"]
"""Judgement of a claim by an annotator."""
Rating = Annotated[float, Meta(ge=LIKERT[0], le=LIKERT[1])]


class ReferenceRow(Struct, frozen=True, kw_only=True):
    """Row of the list edited by the annotators."""

    text: str
    """Text of the claim or finding."""
    kind: ReferenceKind | None = None
    """Claim or implication by a model or a person, or issue found by a tool; null means claim."""


class JudgedClaim(Struct, frozen=True, kw_only=True):
    """Claim of a language model, with its judgements by annotators."""

    text: str
    """Text of the claim."""
    correctness: Correctness | None = None
    """Judgement that counts; null if the claim was not judged."""
    annotator: str | None = None
    """Annotator whose judgement counts; null if unknown."""
    by_annotator: dict[str, Correctness | None] | None = None
    """Annotator -> judgement, for all who judged the claim; used to measure agreement."""


class Ratings(Struct, frozen=True, kw_only=True):
    """Ratings of a review by one annotator."""

    annotator: str | None = None
    """Short name of the annotator; null if unknown."""
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


class RatedReview(Ratings, frozen=True, kw_only=True):
    """Review with its human ratings."""

    system: str
    """Name of the system that wrote the review; `ground_truth` is the original human comment, which
    correlations leave out."""
    text: str
    """Text of the review; may be blank."""
    addressed: tuple[int, ...] | None = None
    """Indices, from 0, of the rows of `pseudo_references` that the review addresses; null or
    missing if not annotated. Indices without a row are ignored."""
    other_ratings: tuple[Ratings, ...] | None = None
    """Ratings by further annotators, which are used only to measure the agreement of annotators."""


class StudyChange(Struct, frozen=True, kw_only=True):
    """Line of a study: a code change, claims about it, and its rated reviews.

    The file is UTF-8, plain or gzip; no two lines have the same `id` or `patch`. Unknown fields are
    ignored.
    """

    name: Annotated[str | int, Meta(description="Id of the change.")] = field(name="id")
    """Id of the change; the bootstrap resamples changes."""
    language: str
    """Programming language, such as `python`, `java` or `javascript`."""
    patch: str
    """One hunk of a unified diff from its `@@` line on, without a file header."""
    old_source: str | None = None
    """Full file before the change; null or missing if unknown."""
    new_source: str | None = None
    """Full file after the change; null or missing if unknown."""
    llm_claims: tuple[JudgedClaim, ...] | None = None
    """Claims of a language model about the change, in the model's order."""
    added_claims: tuple[str, ...] | None = None
    """Claims that the annotators added, because they were missing."""
    pseudo_references: tuple[ReferenceRow, ...] | None = None
    """List with which the annotators rated the reviews: corrected and added claims, then findings
    of tools."""
    reviews: tuple[RatedReview, ...]
    """Reviews of the change, with their ratings."""

    @property
    def id(self) -> str:
        """Id of the change as text."""
        return str(self.name)

    def read_diff(self) -> Diff:
        """Parse the change, with its full files."""
        diff = parse.parse_diff(self.patch, source=self.id, language=self.language)
        return parse.with_sources(diff, {"": (self.old_source, self.new_source)})

    @property
    def edited(self) -> tuple[PseudoReference, ...]:
        """List edited by the annotators; `RatedReview.addressed` has indices of its items."""
        return tuple(
            PseudoReference(text=row.text, kind=row.kind or ReferenceKind.CLAIM, source=EDITED)
            for row in self.pseudo_references or ()
        )

    @property
    def claims(self) -> tuple[PseudoReference, ...]:
        """Claims of the language model, without the findings of tools."""
        return tuple(
            PseudoReference(text=claim.text, kind=ReferenceKind.CLAIM, source=RECORDED)
            for claim in self.llm_claims or ()
        )

    @property
    def recorded(self) -> tuple[PseudoReference, ...]:
        """Claims of the language model, then findings of tools."""
        # Findings of tools are stored only in the annotators' list.
        issues = (
            replace(ref, source=RECORDED) for ref in self.edited if ref.kind is ReferenceKind.ISSUE
        )
        return (*self.claims, *issues)


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """File of rated reviews."""

    changes: tuple[StudyChange, ...]
    """Changes in file order."""
    sha256: str
    """Hash of the file after decompression."""


def read_study(path: Path) -> Study:
    """Read a study: JSON Lines, plain or gzip.

    Args:
        path: The file.

    Raises:
        InputError: The file cannot be read or has no changes, a field is missing or wrong (the
            message names the line and the field), or two changes have the same id or patch.
    """
    content = jsonl.read_bytes(path, "a study")
    rows = jsonl.read_rows(content, StudyChange, path, "a study")
    changes = tuple(_keep_known_rows(row) for _, row in rows)
    if not changes:
        raise InputError(f"{path} has no changes; a study has one JSON object per line")
    # Two changes must not have the same id, by which ratings are found, or the same patch, by which
    # claims are found.
    for key in ("id", "patch"):
        values = [getattr(change, key) for change in changes]
        if len(set(values)) < len(values):
            twice = next(index for index, value in enumerate(values) if value in values[:index])
            raise InputError(f"{path}: change {twice + 1} has the {key} of an earlier change")
    return Study(changes=changes, sha256=hashlib.sha256(content).hexdigest())


def _keep_known_rows(change: StudyChange) -> StudyChange:
    # A few reviews of the published study refer to a row that the edited list does not have.
    known = range(len(change.pseudo_references or ()))
    reviews = list(change.reviews)
    for at, review in enumerate(reviews):
        if review.addressed is not None:
            rows = tuple(row for row in dict.fromkeys(review.addressed) if row in known)
            reviews[at] = replace(review, addressed=rows)
    return replace(change, reviews=tuple(reviews))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recorded:
    """Claim generator that returns pseudo-references stored in a study."""

    by_diff: dict[str, Claims]
    """Hash of a diff -> its pseudo-references."""
    identity: str
    """`recorded@`, `recorded-claims@` or `edited@` with a short hash of the study."""

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Return the pseudo-references of each diff.

        Raises:
            KeyError: The study does not contain a diff.
        """
        return tuple(self.by_diff[diff.sha256] for diff in diffs)


def recorded(study: Study, *, issues: bool = True) -> Recorded:
    """Make a generator that returns the claims of the language model stored in a study.

    Args:
        study: The study.
        issues: Whether to return the stored findings of tools, too.
    """
    if issues:
        return _generator(study, RECORDED, lambda change: change.recorded)
    return _generator(study, CLAIMS_ALONE, lambda change: change.claims)


def edited(study: Study) -> Recorded:
    """Make a generator that returns the lists edited by the annotators.

    The order is that of `StudyChange.edited`, to which the indices in `RatedReview.addressed`
    refer.
    """
    return _generator(study, EDITED, lambda change: change.edited)


def _generator(
    study: Study, source: str, read: Callable[[StudyChange], tuple[PseudoReference, ...]]
) -> Recorded:
    return Recorded(
        by_diff={
            # The hash is that of `Diff.sha256`, by which `generate` finds the claims.
            hashlib.sha256(change.patch.encode()).hexdigest(): Claims(references=read(change))
            for change in study.changes
        },
        identity=f"{source}@{study.sha256[:8]}",
    )


def mean_relevance(systems: Iterable[str], relevance: Iterable[float]) -> dict[str, float]:
    """Average the human relevance of each system's reviews.

    Args:
        systems: Name of the system that wrote each review.
        relevance: Human relevance of each review, Likert 1 to 5.

    Returns:
        System -> mean, sorted by mean, the highest first; equal means by name.
    """
    rated: dict[str, list[float]] = {}
    for system, value in zip(systems, relevance, strict=True):
        rated.setdefault(system, []).append(float(value))
    means = {system: fmean(values) for system, values in rated.items()}
    return dict(sorted(means.items(), key=lambda item: (-item[1], item[0])))


def junk_systems(systems: Iterable[str], relevance: Iterable[float]) -> tuple[str, ...]:
    """Return the systems whose mean human relevance is below `JUNK_BELOW`.

    A metric that only distinguishes their reviews from the others has a high correlation.

    Args:
        systems: Name of the system that wrote each review.
        relevance: Human relevance of each review, Likert 1 to 5.

    Example:
        >>> junk_systems(["a", "b", "b"], [4, 1, 1.5])
        ('b',)
    """
    means = mean_relevance(systems, relevance)
    return tuple(system for system, mean in means.items() if mean < JUNK_BELOW)
