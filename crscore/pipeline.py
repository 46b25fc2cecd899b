"""Steps of a run, in order.

diff -> claims and findings -> sentences -> vectors -> sentence readings -> matched cells -> comment
readings and scores. The parts are passed in; this module neither makes parts nor reads files.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from crscore import progress
from crscore.claims.base import ClaimGenerator
from crscore.encoders.base import Encoder
from crscore.matchers.base import Cells, Matcher
from crscore.readers.requests import Request, make_requests
from crscore.records import (
    Analysis,
    Claims,
    Comment,
    Diff,
    Flag,
    PseudoReference,
    Result,
    Sentence,
    Suggestion,
)
from crscore.review.read import ReadReview, read_review
from crscore.scoring import (
    assembly,
    older_versions,
    references,
    signature,
    similarity,
    subjects,
)
from crscore.scoring.references import ChosenReferences
from crscore.static_analysis import issues
from crscore.static_analysis.issues import ChosenIssues
from crscore.suggestions import effects
from crscore.syntax.change import ParsedChange
from crscore.usefulness import evidence
from crscore.usefulness.evidence import ChangeEvidence
from crscore.usefulness.reader import Reader, ReviewReading, TextReadings
from crscore.verdicts.judge import judge_statements
from crscore.verdicts.model import ModelVerifier, Verification
from crscore.verdicts.repository import Repository
from crscore.verdicts.statements import Statement

Floats = npt.NDArray[np.float32]
Vectors = Mapping[str, Floats]


NO_ORIGINALS: Final[Mapping[int, Diff]] = MappingProxyType({})


class ReviewedChange(NamedTuple):
    """Change with a review of it."""

    diff: Diff
    """The change. Pairs with the same object also share its claims."""
    comments: tuple[Comment, ...]
    originals: Mapping[int, Diff] = NO_ORIGINALS
    """Index of a comment on an older version of the change -> that version."""
    repository: Repository | None = None
    """Repository around the change; None if it is not available."""


class Analyzers(Protocol):
    """Interface of static analysis."""

    def analyze(self, diffs: Sequence[Diff]) -> tuple[Analysis, ...]:
        """Return the findings of each change, in order."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of a run."""

    generator: ClaimGenerator
    analyzers: Analyzers
    encoder: Encoder
    matcher: Matcher
    reader: Reader | None
    """Judges how useful each sentence is to the author; None without weights for the encoder."""
    verifier: ModelVerifier | None = None
    """Judges remarks that the code alone does not decide; None to leave them unproven."""
    splitter: str
    """Name of the sentence splitter."""
    max_claims: int | None
    """Maximum claims and implications that a score counts; None for all."""
    max_issues: int | None
    """Maximum issues of one hunk that a score counts; None for all."""
    threshold: float | None
    """Cosine threshold of the matcher, for the report; None when it has none."""
    signature: Mapping[str, str]
    """Identities of the parts above; the result adds the generator and the tools that ran."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Review:
    """Review of a change before encoding: its sentences, and what they are compared with."""

    pair: ReviewedChange
    change: ParsedChange
    """The pair's diff, with its parsed files."""
    text: ReadReview
    chosen: ChosenReferences
    analysis: Analysis
    notes: tuple[str, ...]


class Comparison(NamedTuple):
    """Cells of one change, ready for the matcher."""

    cells: Cells
    change: ChangeEvidence | None
    """The change as evidence; None without a reader."""


def run(pairs: Sequence[ReviewedChange], parts: Parts) -> tuple[Result, ...]:
    """Score each pair.

    Claims are generated once per diff, and the distinct texts of all pairs are encoded in one call,
    so that the cost grows with the number of distinct texts.

    Args:
        pairs: Any number of changes with their reviews.
        parts: Parts of the run.

    Returns:
        One result per pair, in order.

    Raises:
        CRScoreError: A part failed; no pair is scored.
    """
    # A comment on an older version is a review of that version: a pair, which is scored first.
    older = [
        ReviewedChange(diff, (pair.comments[index],))
        for pair in pairs
        for index, diff in pair.originals.items()
    ]
    with progress.track("reading the change"):
        reviews = _prepare([*older, *pairs], parts)
    with progress.track("encoding"):
        vectors = _encode(reviews, parts)
        all_readings = _read_texts(reviews, vectors, parts.reader)
    results: list[Result] = []
    older_results = iter(results)
    with progress.track("scoring", len(reviews)) as advance:
        for review, readings in zip(reviews, all_readings, strict=True):
            originals = {index: next(older_results) for index in review.pair.originals}
            results.append(_score(review, readings, vectors, parts, originals))
            advance(1)
    return tuple(results[len(older) :])


def list_requests(pairs: Sequence[ReviewedChange], parts: Parts) -> list[list[Request]]:
    """Return what a language model is asked about the comments of each pair, in order."""
    changes = {id(pair.diff): ParsedChange.of(pair.diff) for pair in pairs}
    analyses = dict(zip(changes, parts.analyzers.analyze([*changes.values()]), strict=True))
    return [
        make_requests(
            changes[id(pair.diff)],
            pair.comments,
            read_review(pair.comments, pair.diff, parts.splitter).parsed,
            analyses[id(pair.diff)].findings,
        )
        for pair in pairs
    ]


def _prepare(pairs: Sequence[ReviewedChange], parts: Parts) -> list[_Review]:
    """Make the claims and find the issues of all distinct changes, in one call each."""
    # By identity: comparing or hashing a diff would visit every line of it.
    changes = {id(pair.diff): ParsedChange.of(pair.diff) for pair in pairs}
    claims = parts.generator.generate([*changes.values()])
    analyses = parts.analyzers.analyze([*changes.values()])
    prepared = {}
    for (key, change), diff_claims, analysis in zip(changes.items(), claims, analyses, strict=True):
        chosen_issues = issues.choose_issues(
            analysis, change, parts.encoder, per_hunk=parts.max_issues
        )
        remaining = issues.drop_repeated(
            diff_claims.references, chosen_issues.references, parts.encoder
        )
        prepared[key] = change, replace(diff_claims, references=remaining), chosen_issues
    return [_prepare_review(pair, *prepared[id(pair.diff)], parts) for pair in pairs]


def _prepare_review(
    pair: ReviewedChange,
    change: ParsedChange,
    claims: Claims,
    chosen_issues: ChosenIssues,
    parts: Parts,
) -> _Review:
    """Split the comments of a pair and select the references that some score uses."""
    analysis, text = chosen_issues.analysis, read_review(pair.comments, pair.diff, parts.splitter)
    return _Review(
        pair=pair,
        change=change,
        text=text,
        chosen=references.choose(
            (*claims.references, *chosen_issues.references),
            pair.comments,
            pair.diff,
            limit=parts.max_claims,
        ),
        analysis=analysis,
        notes=(*pair.diff.notes, *claims.notes, *analysis.notes, *text.notes),
    )


def _encode(reviews: Sequence[_Review], parts: Parts) -> Vectors:
    """Encode every distinct text of all pairs, in one call."""
    texts: dict[str, None] = {}
    for review in reviews:
        texts |= dict.fromkeys(ref.encoded_text for ref in review.chosen.references)
        if parts.reader:
            texts |= dict.fromkeys(evidence.windows(review.pair.diff))
    for review in reviews:
        texts |= dict.fromkeys(sentence.text for sentence in review.text.sentences)
    return dict(zip(texts, parts.encoder.encode([*texts]), strict=True)) if texts else {}


def _read_texts(
    reviews: Sequence[_Review], vectors: Vectors, reader: Reader | None
) -> Sequence[TextReadings | None]:
    """Read the texts of all reviews together; None for each without a reader."""
    if reader is None:
        return [None] * len(reviews)
    return reader.read_texts(
        [
            (review.text.sentences, _stack([unit.text for unit in review.text.sentences], vectors))
            for review in reviews
        ]
    )


def compare(
    diff: Diff,
    refs: tuple[PseudoReference, ...],
    units: tuple[Sentence, ...],
    vectors: Vectors,
    reader: Reader | None,
) -> Comparison:
    """Compare the sentences of a review with the change and with its references.

    Args:
        diff: The change.
        refs: Its R pseudo-references.
        units: The S sentences of the review.
        vectors: Vector of every text: references, sentences and, with a reader, the windows of
            the change.
        reader: Reader that estimates whether a sentence is about the change; None without weights.

    Returns:
        The cells, shape (R, S), and the change.
    """
    rows = _stack([ref.encoded_text for ref in refs], vectors)
    columns = _stack([sentence.text for sentence in units], vectors)
    change = None
    # Without a reader there is no evidence whether a sentence is about the change.
    about = np.full(len(units), 0.5, dtype=np.float32)
    if reader:
        change = evidence.collect_evidence(diff, refs, rows, vectors)
        about = reader.about(units, columns, change)
    cells = Cells(
        diff=diff,
        references=refs,
        sentences=units,
        reference_vectors=rows,
        sentence_vectors=columns,
        similarity=similarity.cosine(rows, columns),
        about=about,
    )
    return Comparison(cells, change)


def _stack(texts: Sequence[str], vectors: Vectors) -> Floats:
    rows = [vectors[text] for text in texts]
    width = len(next(iter(vectors.values()))) if vectors else 0
    return np.stack(rows) if rows else np.zeros((0, width), dtype=np.float32)


def _score(
    review: _Review,
    readings: TextReadings | None,
    vectors: Vectors,
    parts: Parts,
    originals: Mapping[int, Result],
) -> Result:
    """Compare, match and score one review.

    `originals` has the results of its comments on older versions, by the comment's index.
    """
    diff, reader = review.pair.diff, parts.reader
    cells, change = compare(diff, review.chosen.references, review.text.sentences, vectors, reader)
    judgement = parts.matcher.match(cells)
    by_name = subjects.find_named(
        diff,
        cells.references,
        cells.sentences,
        cells.similarity,
        judgement.flags,
        reader.weights.rarity.of if reader else None,
    )
    suggestions = _judge_suggestions(review)
    reading, notes, flags = None, review.notes, judgement.flags
    # A review cannot be about a change that shows no text.
    if reader and change and readings and not all(map(assembly.shows_no_text, diff.files)):
        verification = _judge_remarks(review, readings, suggestions, parts.verifier)
        notes = (*notes, *verification.notes)
        reading = reader.read_comments(
            cells, change, readings, judgement, verification.receipts, by_name, review.pair.comments
        )
        flags = tuple(
            flag or (Flag.RESTATES if restates else None)
            for flag, restates in zip(flags, reading.restates, strict=True)
        )
    touched = subjects.find_touched(
        judgement.degrees, parts.matcher.decision, by_name, reading.readings if reading else ()
    )
    # The columns have hidden sentences last; reports list sentences in the order of the comments.
    columns: list[int] = sorted(
        np.flatnonzero(judgement.in_review).tolist(), key=lambda i: cells.sentences[i].comment
    )
    units = tuple(cells.sentences[column] for column in columns)
    judged_cells = assembly.JudgedCells(
        diff=diff,
        references=review.chosen.references,
        units=units,
        older_degrees=older_versions.degrees_of(units, originals),
        originals={index: older.comments[0] for index, older in originals.items()},
        similarity=_read_only(cells.similarity[:, columns]),
        degrees=_read_only(judgement.degrees[:, columns]),
        touched=touched[:, columns],
        flags=tuple(flags[column] for column in columns),
        decision=parts.matcher.decision,
        limit=parts.max_claims,
    )
    # Identities are read after the run: the generator may have fallen back to another.
    run_identities = {"claims": parts.generator.identity, "analyzers": review.analysis.identity}
    result = assembly.build_result(
        judged_cells,
        comments=review.pair.comments,
        suggestions=suggestions,
        attached=review.chosen.scopes,
        threshold=parts.threshold,
        analysis=review.analysis,
        signature=signature.render_signature({**parts.signature, **run_identities}),
        notes=notes,
    )
    result = replace(result, small=review.chosen.small)
    return result if reading is None else _add_reading(result, reading, columns, originals)


def _judge_suggestions(review: _Review) -> list[tuple[Suggestion, ...]]:
    """Judge the code that each comment proposes."""
    return [
        tuple(
            effects.judge_in_change(code, comment, file, offsets)
            for code, offsets in zip_longest(parsed.suggestions, parsed.suggestion_offsets)
        )
        for comment, parsed, file in zip(
            review.pair.comments, review.text.parsed, review.text.files, strict=True
        )
    ]


def _judge_remarks(
    review: _Review,
    readings: TextReadings,
    suggestions: Sequence[tuple[Suggestion, ...]],
    verifier: ModelVerifier | None,
) -> Verification:
    """Check each remark against the code; a verifier judges the remarks that stay undecided."""
    remarks = [
        tuple(review.text.sentences[column] for column in remark.columns)
        for remark in readings.remarks
    ]
    counts = Counter(units[0].comment for units in remarks)
    statements = [
        Statement(
            sentences=units,
            comment=review.pair.comments[units[0].comment],
            # If the comment has several remarks, the one with the proposal has the blocks.
            suggestions=suggestions[units[0].comment]
            if counts[units[0].comment] == 1 or any(unit.proposal for unit in units)
            else (),
        )
        for units in remarks
    ]
    repository = review.pair.repository
    receipts = judge_statements(statements, review.change, repository)
    notes = repository.notes if repository else ()
    if verifier is None:
        return Verification(receipts, notes)
    verification = verifier.verify(statements, review.change, review.analysis.findings, receipts)
    return verification._replace(notes=(*notes, *verification.notes))


def _add_reading(
    result: Result,
    reading: ReviewReading,
    columns: Sequence[int],
    originals: Mapping[int, Result],
) -> Result:
    """Add the reader's view: readings of the shown columns, remarks, and usefulness."""
    result_index = {column: index for index, column in enumerate(columns)}
    remarks = tuple(
        replace(remark, sentences=tuple(result_index[column] for column in remark.sentences))
        for remark in reading.remarks
    )
    older = older_versions.usefulness_of(remarks, originals)
    return replace(
        result,
        readings=tuple(reading.readings[column] for column in columns),
        remarks=remarks,
        comments=tuple(
            replace(comment, usefulness=older.get(index) or usefulness)
            for index, (comment, usefulness) in enumerate(
                zip(result.comments, reading.comments, strict=True)
            )
        ),
        reviews=tuple(
            replace(review, usefulness=usefulness)
            for review, usefulness in zip(result.reviews, reading.reviews, strict=True)
        ),
        usefulness=reading.usefulness,
    )


def _read_only(matrix: Floats) -> Floats:
    matrix.setflags(write=False)
    return matrix
