"""Human study: changes, their claims, and reviews rated by people."""

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
"""Original human comment; correlations leave it out, as the paper does."""
SOURCE = "recorded"
"""Source of the claims of a model and the findings of tools."""
CLAIMS_ALONE = "recorded-claims"
"""Source of the model's claims without the findings of tools."""
EDITED = "edited"
"""Source of the list as edited by the annotators."""
LIKERT = (1, 5)
"""Lowest and highest rating."""
JUNK_BELOW = 1.5
"""Mean human relevance, Likert, below which a system's reviews are junk: nearer to the worst
rating than to any other."""


Correctness = Literal["correct", "incorrect", "unverifiable", "incomplete"]
"""Judgement of a claim by an annotator."""
Rating = Annotated[float, Meta(ge=LIKERT[0], le=LIKERT[1])]


class ReferenceRow(Struct, frozen=True, kw_only=True):
    """Row of the list that the annotators worked with."""

    text: str
    """Claim or finding."""
    kind: ReferenceKind | None = None
    """Claim or implication of a model or a person, or issue found by a tool; null is read as
    claim."""


class JudgedClaim(Struct, frozen=True, kw_only=True):
    """Claim of the language model and its judgements."""

    text: str
    """Text of the claim."""
    correctness: Correctness | None = None
    """Judgement of the annotator whose row counts; null when not annotated."""
    annotator: str | None = None
    """Annotator whose row counts; null when unknown."""
    by_annotator: dict[str, Correctness | None] | None = None
    """Annotator -> correctness, for everyone who judged it; used to measure agreement."""


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


class RatedReview(Ratings, frozen=True, kw_only=True):
    """Review with its human ratings."""

    system: str
    """Author; `ground_truth` is the original human comment, which no correlation counts."""
    text: str
    """Text of the review; may be blank."""
    addressed: tuple[int, ...] | None = None
    """Indices, from 0, of the rows of `pseudo_references` that it addresses; null or missing when
    not annotated. Indices without a row are ignored."""
    other_ratings: tuple[Ratings, ...] | None = None
    """Ratings of further annotators. Agreement is measured on these; scores are compared only with
    the ones above."""


class StudyChange(Struct, frozen=True, kw_only=True):
    """Line of a study: a code change, claims about it, and its rated reviews.

    The file is UTF-8, plain or gzip; no two lines share an `id` or a `patch`. Unknown fields are
    ignored.
    """

    name: Annotated[str | int, Meta(description="Id of the change.")] = field(name="id")
    """Id of the change, the unit of the bootstrap draws."""
    language: str
    """Programming language, such as `python`, `java` or `javascript`."""
    patch: str
    """One hunk of a unified diff, starting at its `@@` line, without file header."""
    old_source: str | None = None
    """Whole file before the change; null or missing when unknown."""
    new_source: str | None = None
    """Whole file after the change; null or missing when unknown."""
    llm_claims: tuple[JudgedClaim, ...] | None = None
    """Claims of a language model about the change, in its order."""
    added_claims: tuple[str, ...] | None = None
    """Claims that the annotators found missing."""
    pseudo_references: tuple[ReferenceRow, ...] | None = None
    """List that the annotators rated the reviews with: corrected and added claims, then findings of
    tools."""
    reviews: tuple[RatedReview, ...]
    """Reviews of the change with their ratings."""

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
        """The list that the annotators worked with; `addressed` has indices into it."""
        return tuple(
            PseudoReference(text=row.text, kind=row.kind or ReferenceKind.CLAIM, source=EDITED)
            for row in self.pseudo_references or ()
        )

    @property
    def claims(self) -> tuple[PseudoReference, ...]:
        """The claims of a language model, without the findings of tools."""
        return tuple(
            PseudoReference(text=claim.text, kind=ReferenceKind.CLAIM, source=SOURCE)
            for claim in self.llm_claims or ()
        )

    @property
    def recorded(self) -> tuple[PseudoReference, ...]:
        """Pseudo-references of the study: claims of a language model, then tool findings."""
        # Tool findings appear only in the annotators' list.
        issues = (
            replace(ref, source=SOURCE) for ref in self.edited if ref.kind is ReferenceKind.ISSUE
        )
        return (*self.claims, *issues)


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """File of rated reviews."""

    changes: tuple[StudyChange, ...]
    """Changes in file order."""
    sha256: str
    """Hash of the unpacked file."""


def read_study(path: Path) -> Study:
    """Read a study: one JSON object per line, gzip or plain.

    Args:
        path: The file.

    Returns:
        The study.

    Raises:
        InputError: The file cannot be read, or a field of a line is missing or wrong; the
            message names line and field.
    """
    content = jsonl.read_bytes(path, "a study")
    rows = jsonl.read_rows(content, StudyChange, path, "a study")
    changes = tuple(_keep_known_rows(row) for _, row in rows)
    if not changes:
        raise InputError(f"{path} has no changes; a study has one JSON object per line")
    # Ratings are found by the id of a change, claims by its patch.
    for key in ("id", "patch"):
        values = [getattr(change, key) for change in changes]
        if len(set(values)) < len(values):
            twice = next(index for index, value in enumerate(values) if value in values[:index])
            raise InputError(f"{path}: change {twice + 1} has the {key} of an earlier one")
    return Study(changes=changes, sha256=hashlib.sha256(content).hexdigest())


def _keep_known_rows(change: StudyChange) -> StudyChange:
    # A few reviews of the published study name a row that the edited list does not have.
    known = range(len(change.pseudo_references or ()))
    reviews = list(change.reviews)
    for at, review in enumerate(reviews):
        if review.addressed is not None:
            rows = tuple(row for row in dict.fromkeys(review.addressed) if row in known)
            reviews[at] = replace(review, addressed=rows)
    return replace(change, reviews=tuple(reviews))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recorded:
    """Claim generator that returns the study's own pseudo-references."""

    by_diff: dict[str, Claims]
    """Diff sha256 -> claims."""
    identity: str
    """`recorded@`, `recorded-claims@` or `edited@` with a short hash of the study."""

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        """Look up each diff of the study.

        Raises:
            KeyError: A diff is not part of the study.
        """
        return tuple(self.by_diff[diff.sha256] for diff in diffs)


def recorded(study: Study, *, issues: bool = True) -> Recorded:
    """Make a generator of a study's own claims.

    Args:
        study: The study.
        issues: Whether to include the findings of the study's tools with the model's claims.
    """
    if issues:
        return _generator(study, SOURCE, lambda change: change.recorded)
    return _generator(study, CLAIMS_ALONE, lambda change: change.claims)


def edited(study: Study) -> Recorded:
    """Make a generator of the edited lists, which the annotators judged the reviews with.

    The references keep the order of `StudyChange.edited`, so that the indices in
    `RatedReview.addressed` apply.
    """
    return _generator(study, EDITED, lambda change: change.edited)


def _generator(
    study: Study, source: str, read: Callable[[StudyChange], tuple[PseudoReference, ...]]
) -> Recorded:
    return Recorded(
        by_diff={
            # The same hash as `Diff.sha256`, which is the key of the claims.
            hashlib.sha256(change.patch.encode()).hexdigest(): Claims(references=read(change))
            for change in study.changes
        },
        identity=f"{source}@{study.sha256[:8]}",
    )


def mean_relevance(systems: Iterable[str], relevance: Iterable[float]) -> dict[str, float]:
    """Average the human relevance of each system's reviews.

    Args:
        systems: Author of each review.
        relevance: Human relevance of each review, Likert 1 to 5.

    Returns:
        System -> mean, the best one first; ties by name.
    """
    rated: dict[str, list[float]] = {}
    for system, value in zip(systems, relevance, strict=True):
        rated.setdefault(system, []).append(float(value))
    means = {system: fmean(values) for system, values in rated.items()}
    return dict(sorted(means.items(), key=lambda item: (-item[1], item[0])))


def junk_systems(systems: Iterable[str], relevance: Iterable[float]) -> tuple[str, ...]:
    """Return the systems with a mean human relevance below `JUNK_BELOW`.

    Much of a correlation over all reviews comes from separating them from the others.

    Args:
        systems: Author of each review.
        relevance: Human relevance of each review, Likert 1 to 5.

    Example:
        >>> junk_systems(["a", "b", "b"], [4, 1, 1.5])
        ('b',)
    """
    means = mean_relevance(systems, relevance)
    return tuple(system for system, mean in means.items() if mean < JUNK_BELOW)
