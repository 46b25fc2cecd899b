"""Result of one change, built from its judged cells; an empty side gets a reason, not a score."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from crscore.diff import scopes
from crscore.records import (
    Analysis,
    Comment,
    CommentResult,
    Diff,
    Flag,
    LineKind,
    Match,
    Reading,
    Remark,
    Result,
    ReviewResult,
    Scope,
    ScopeKind,
    Scores,
    Sentence,
    Suggestion,
    Usefulness,
)
from crscore.review.language import NOT_READ
from crscore.scoring import baselines, scores, subjects
from crscore.scoring.cells import Cells, Judgement
from crscore.scoring.references import ChosenReferences
from crscore.scoring.signature import render_signature

Floats = npt.NDArray[np.float32]


class Rating(NamedTuple):
    """Usefulness of the comments of one review to the author of its change."""

    readings: tuple[Reading, ...]
    """Reading of each of the S sentences, without the claim that it is about."""
    flags: tuple[Flag | None, ...]
    """Flag of each sentence: the matcher's or, if it only describes the change, the reader's."""
    remarks: tuple[Remark, ...]
    """Remarks, with the columns of their sentences."""
    comments: tuple[Usefulness | None, ...]
    """Usefulness of each comment; None without visible text."""
    reviews: tuple[Usefulness | None, ...]
    """Usefulness of each author's comments together, in order of first appearance."""
    usefulness: Usefulness | None
    """Usefulness of all comments together."""


class JudgedReview(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Review with all that was judged about it."""

    comments: tuple[Comment, ...]
    """The comments."""
    authors: Mapping[str | None, Sequence[int]]
    """Indices of each author's comments, in order of first appearance."""
    suggestions: Sequence[tuple[Suggestion, ...]]
    """Suggestion blocks of each comment."""
    selection: ChosenReferences
    """Pseudo-references of the change, and the scope of each comment."""
    cells: Cells
    """The cells, of R pseudo-references and S sentences."""
    judgement: Judgement
    """The matcher's judgement."""
    decision: float
    """Minimum degree at which a cell is shown as matched."""
    rating: Rating | None
    """Usefulness of the comments; None without a reader."""
    idf: Callable[[str], float] | None
    """Returns the inverse document frequency of a stem in changes; None without a reader."""
    originals: Mapping[int, Result]
    """Index of a comment on an older version of the change -> its result for that version."""


class _Table(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Judged cells of the sentences that count, with methods that score parts of them."""

    diff: Diff
    counted: list[int]
    """Rows that count for the whole diff."""
    is_read: list[bool]
    """Whether each of the S sentences could be read."""
    similarity: Floats
    """Cosines, shape (R, S), each in [-1, 1]."""
    degrees: Floats
    """The matcher's judgement, shape (R, S), each in [0, 1]."""
    touched: npt.NDArray[np.bool_]
    """Whether a sentence addresses a pseudo-reference, shape (R, S): by its degree or its subject,
    or because it names the reference's code."""
    older_degrees: Floats
    """Degree to which each sentence addresses the older version for which it was written, shape
    (S,), each in [0, 1]; 0 for a sentence on this version."""
    decision: float

    def score_diff(self, columns: Sequence[int]) -> Scores:
        """Score some sentences against the whole diff, or abstain."""
        if not self.diff.shows_text:
            files = self.diff.files
            missing = "; ".join(sorted({file.missing for file in files if file.missing}))
            reason = f"the diff shows no text: {missing or 'its files are binary or submodules'}"
            reason = reason if files else "the change has no files that could be read"
            return scores.abstain(
                references=len(self.counted), sentences=len(columns), reason=reason
            )
        changed = self.diff.lines(LineKind.ADDED, LineKind.REMOVED)
        subject = "the diff" if changed else "the diff, which shows no changed line"
        return self.score(self.counted, columns, subject=subject)

    def score(self, rows: Sequence[int], columns: Sequence[int], *, subject: str) -> Scores:
        """Score some sentences against some pseudo-references, or abstain."""
        read = [column for column in columns if self.is_read[column]]
        # A 0 for an empty side would look like a bad review, and enter means as one.
        if not rows or not read:
            reason = NOT_READ if columns else "no sentence in the review text"
            reason = reason if rows else f"no pseudo-references for {subject}"
            return scores.abstain(references=len(rows), sentences=len(read), reason=reason)
        degrees = self.degrees[np.ix_(list(rows), read)]
        return scores.score(degrees, older_degrees=self.older_degrees[read])

    def best_of_sentence(self, column: int) -> Match:
        """Return the best reference of a sentence."""
        match = self._best((slice(None), column), self.counted)
        degree = float(self.older_degrees[column])
        # On a tie, the current version wins, as it has a reference to show.
        if match.matched or degree <= (match.degree or 0.0):
            return match
        # The reference belongs to the older version, so it has no index and no cosine here.
        return Match(index=None, similarity=None, degree=degree, matched=degree >= self.decision)

    def best_of_reference(self, row: int) -> Match:
        """Return the best sentence for a reference."""
        return self._best(row, range(len(self.older_degrees)))

    def _best(self, at: int | tuple[slice, int], indices: Sequence[int]) -> Match:
        """Return the best partner of a row or a column: an addressed one first, then by degree."""
        if not indices:
            return Match(index=None, similarity=None, degree=None, matched=False)
        cosines, degrees, touched = self.similarity[at], self.degrees[at], self.touched[at]
        # Equal degrees are common (0 or 1 with the published matcher). Then the cosine decides, and
        # after it the order.
        index = max(indices, key=lambda i: (touched[i], degrees[i], cosines[i], -i))
        return Match(
            index=index,
            similarity=float(cosines[index]),
            degree=float(degrees[index]),
            matched=bool(touched[index]),
        )


def build_result(
    review: JudgedReview,
    *,
    threshold: float | None,
    analysis: Analysis,
    signature: Mapping[str, str],
    notes: tuple[str, ...],
) -> Result:
    """Build one change's result.

    Args:
        review: The review.
        threshold: The matcher's cosine threshold; None if it does not use one.
        analysis: Findings of static analysis in the change.
        signature: Parts of the score's signature.
        notes: Omissions and repairs.

    Returns:
        The result; a score abstains if one of its sides is empty.
    """
    cells, judgement, rating = review.cells, review.judgement, review.rating
    touched, readings = subjects.find_touched(
        cells, judgement, review.decision, rating.readings if rating else (), review.idf
    )
    # The columns have hidden sentences last; reports list sentences in the order of the comments.
    columns: list[int] = sorted(
        np.flatnonzero(judgement.in_review).tolist(), key=lambda i: cells.sentences[i].comment
    )
    units = tuple(cells.sentences[column] for column in columns)
    flags = rating.flags if rating else judgement.flags
    result_index = {column: index for index, column in enumerate(columns)}
    remarks = tuple(
        replace(remark, sentences=tuple(result_index[column] for column in remark.sentences))
        for remark in (rating.remarks if rating else ())
    )
    older_degrees: dict[tuple[int, str], float] = {}
    for index, older in review.originals.items():
        counted = [reference.counted for reference in older.references]
        # Without `initial`, the maximum over no reference is a ValueError.
        best = older.degrees[counted].max(axis=0, initial=0.0).tolist()
        for unit, degree in zip(older.sentences, best, strict=True):
            older_degrees[index, unit.text] = degree
    similarity, degrees = cells.similarity[:, columns], judgement.degrees[:, columns]
    # Both are in the result, which its readers share.
    for matrix in (similarity, degrees):
        matrix.setflags(write=False)
    table = _Table(
        diff=cells.diff,
        counted=[row for row, reference in enumerate(cells.references) if reference.counted],
        is_read=[not unit.unread for unit in units],
        similarity=similarity,
        degrees=degrees,
        touched=touched[:, columns],
        older_degrees=np.array(
            [older_degrees.get((unit.comment, unit.text), 0.0) for unit in units], dtype=np.float32
        ),
        decision=review.decision,
    )
    comments = _score_comments(review, units, remarks, table)
    return Result(
        diff=cells.diff,
        references=cells.references,
        sentences=units,
        similarity=table.similarity,
        degrees=table.degrees,
        sentence_flags=tuple(flags[column] for column in columns),
        sentence_matches=tuple(map(table.best_of_sentence, range(len(units)))),
        reference_matches=tuple(map(table.best_of_reference, range(len(cells.references)))),
        readings=tuple(readings[column] for column in columns) if rating else (),
        remarks=remarks,
        comments=comments,
        # All authors are included; the reviews of authors without a sentence abstain.
        reviews=tuple(
            ReviewResult(
                author=author,
                scores=table.score_diff(
                    sorted(column for index in indices for column in comments[index].sentences)
                ),
                baselines=baselines.baselines(
                    cells.diff, [review.comments[index].body for index in indices]
                ),
                comments=tuple(indices),
                usefulness=rating.reviews[number] if rating else None,
            )
            for number, (author, indices) in enumerate(review.authors.items())
        ),
        scores=table.score_diff(range(len(units))),
        baselines=baselines.baselines(cells.diff, [comment.body for comment in review.comments]),
        usefulness=rating.usefulness if rating else None,
        threshold=threshold,
        decision=review.decision,
        small=review.selection.small,
        analysis=analysis,
        signature=render_signature(signature),
        notes=notes,
    )


def _score_comments(
    review: JudgedReview, units: Sequence[Sentence], remarks: Sequence[Remark], table: _Table
) -> tuple[CommentResult, ...]:
    """Score each comment against its scope, or against the older version that it was written on."""
    usefulness = dict(enumerate(review.rating.comments if review.rating else ()))
    if review.rating:
        usefulness |= _original_usefulness(remarks, review.originals)
    columns: list[list[int]] = [[] for _ in review.comments]
    for column, unit in enumerate(units):
        columns[unit.comment].append(column)
    results = []
    for index, comment in enumerate(review.comments):
        scope, rows = review.selection.scopes[index], review.selection.rows[index]
        indices = columns[index]
        file = scope and scopes.file_at(table.diff, scope.path or "")
        reason = ""
        if scope is None:
            reason = f"the comment is on {comment.path}, which the diff does not change"
        elif scope.kind is not ScopeKind.DIFF and file and not file.shows_text:
            cause = file.missing or "it is binary or a submodule"
            reason = f"the diff does not show the change of {file.path or 'the hunk'}: {cause}"
        if indices and not any(table.is_read[column] for column in indices):
            reason = NOT_READ
        if original := review.originals.get(index):
            # The current version does not have its lines.
            scope, rows = Scope(kind=ScopeKind.ORIGINAL, path=comment.path), ()
            outcome = original.comments[0].scores
        elif reason:
            rows = ()
            outcome = scores.abstain(references=0, sentences=len(indices), reason=reason)
        elif scope and scope.kind is ScopeKind.DIFF:
            outcome = table.score_diff(indices)
        else:
            outcome = table.score(rows, indices, subject=(scope and scope.path) or "the file")
        results.append(
            CommentResult(
                comment=comment,
                scope=scope or Scope(kind=ScopeKind.FILE, path=comment.path),
                scores=outcome,
                sentences=tuple(indices),
                references=rows,
                suggestions=review.suggestions[index],
                usefulness=usefulness.get(index),
            )
        )
    return tuple(results)


def _original_usefulness(
    remarks: Sequence[Remark], originals: Mapping[int, Result]
) -> dict[int, Usefulness]:
    """Return the usefulness of comments for their older versions, by the index of the comment.

    Shares refer to the remarks of the result, `remarks`. A comment that has another number of them
    in its older result is left out.
    """
    usefulness_by_comment: dict[int, Usefulness] = {}
    for index, older in originals.items():
        numbers = [number for number, remark in enumerate(remarks) if remark.comment == index]
        usefulness = older.comments[0].usefulness
        if numbers and usefulness is not None and len(older.remarks) == len(numbers):
            shares = tuple(
                replace(share, remark=numbers[share.remark]) for share in usefulness.shares
            )
            usefulness_by_comment[index] = replace(usefulness, shares=shares)
    return usefulness_by_comment
