"""Result of one change, built from its judged cells; an empty side gets a reason, not a score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crscore.diff import scopes
from crscore.records import (
    Analysis,
    ChangedFile,
    Comment,
    CommentResult,
    Diff,
    Flag,
    LineKind,
    Match,
    PseudoReference,
    Result,
    ReviewResult,
    Scope,
    ScopeKind,
    Scores,
    Sentence,
    Suggestion,
)
from crscore.scoring import baselines, references, scores


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedCells:
    """Judged cells of one change, with methods that score parts of them."""

    diff: Diff
    """The change."""
    references: tuple[PseudoReference, ...]
    """Rows: R pseudo-references."""
    units: tuple[Sentence, ...]
    """Columns: S sentences."""
    similarity: npt.NDArray[np.float32]
    """Cosines, shape (R, S), each in [-1, 1]."""
    degrees: npt.NDArray[np.float32]
    """The matcher's judgement, shape (R, S), each in [0, 1]."""
    touched: npt.NDArray[np.bool_]
    """Whether a sentence addresses a pseudo-reference, shape (R, S): by its degree or its subject,
    or because it names the reference's code."""
    flags: tuple[Flag | None, ...]
    """The matcher's flags, one for each of the S sentences."""
    older_degrees: npt.NDArray[np.float32]
    """Degree to which each sentence addresses the older version for which it was written, shape
    (S,), each in [0, 1]; 0 for a sentence on this version."""
    originals: Mapping[int, CommentResult]
    """Index of a comment on an older version -> its result for that version."""
    decision: float
    """Minimum degree at which a cell is shown as matched."""
    limit: int | None
    """Maximum claims and implications that a score counts; None for all."""

    def score_diff(self, columns: Sequence[int]) -> Scores:
        """Score some sentences against the whole diff, or abstain."""
        rows = [i for i, ref in enumerate(self.references) if ref.counted]
        files = self.diff.files
        if all(map(shows_no_text, files)):
            reason = "the diff shows no text: its files are binary or submodules"
            if missing := sorted({file.missing for file in files if file.missing}):
                reason = f"the diff shows no text: {'; '.join(missing)}"
            if not files:
                reason = "the change has no files that could be read"
            return scores.abstain(references=len(rows), sentences=len(columns), reason=reason)
        changed = self.diff.lines(LineKind.ADDED, LineKind.REMOVED)
        subject = "the diff" if changed else "the diff, which shows no changed line"
        return self._score(rows, columns, subject=subject)

    def score_scope(self, scope: Scope, columns: Sequence[int]) -> tuple[list[int], Scores]:
        """Score some sentences against a hunk or a file, or abstain; also return the rows."""
        file = scopes.file_at(self.diff, scope.path or "")
        if file is not None and shows_no_text(file):
            cause = file.missing or "it is binary or a submodule"
            reason = f"the diff does not show the change of {file.path or 'the hunk'}: {cause}"
            return [], scores.abstain(references=0, sentences=len(columns), reason=reason)
        rows = references.select_rows(self.references, scope, self.diff, limit=self.limit)
        return rows, self._score(rows, columns, subject=scope.path or "the file")

    def _score(self, rows: Sequence[int], columns: Sequence[int], *, subject: str) -> Scores:
        if not rows or not columns:
            reason = (
                "no sentence in the review text" if rows else f"no pseudo-references for {subject}"
            )
            return scores.abstain(references=len(rows), sentences=len(columns), reason=reason)
        degrees = self.degrees[np.ix_(list(rows), list(columns))]
        return scores.score(degrees, older_degrees=self.older_degrees[list(columns)])

    def best_of_sentence(self, column: int) -> Match:
        """Return the best reference of a sentence: an addressed one first, then by degree."""
        counted = [i for i, ref in enumerate(self.references) if ref.counted]
        touched = self.touched[:, column]
        match = _best(self.similarity[:, column], self.degrees[:, column], touched, counted)
        degree = float(self.older_degrees[column])
        # On a tie, the current version wins, as it has a reference to show.
        if match.matched or degree <= (match.degree or 0.0):
            return match
        # The reference belongs to the older version, so it has no index and no cosine here.
        return Match(index=None, similarity=None, degree=degree, matched=degree >= self.decision)

    def best_of_reference(self, row: int) -> Match:
        """Return the best sentence for a reference: an addressing one first, then by degree."""
        columns = range(len(self.units))
        return _best(self.similarity[row], self.degrees[row], self.touched[row], columns)


def _best(
    cosines: npt.NDArray[np.float32],
    degrees: npt.NDArray[np.float32],
    touched: npt.NDArray[np.bool_],
    indices: Sequence[int],
) -> Match:
    if not indices:
        return Match(index=None, similarity=None, degree=None, matched=False)
    # Equal degrees are common (0 or 1 with the published matcher). Then the cosine decides, and
    # after it the order.
    index = max(indices, key=lambda i: (touched[i], degrees[i], cosines[i], -i))
    return Match(
        index=index,
        similarity=float(cosines[index]),
        degree=float(degrees[index]),
        matched=bool(touched[index]),
    )


def shows_no_text(file: ChangedFile) -> bool:
    """Return whether a diff does not show the content of a changed file."""
    return file.is_binary or file.is_submodule or file.is_missing


def build_result(
    judged_cells: JudgedCells,
    *,
    comments: Sequence[Comment],
    suggestions: Sequence[tuple[Suggestion, ...]],
    attached: Sequence[Scope | None],
    threshold: float | None,
    analysis: Analysis,
    signature: str,
    notes: tuple[str, ...],
) -> Result:
    """Build one change's result.

    Args:
        judged_cells: The judged cells.
        comments: The review's comments.
        suggestions: Each comment's suggestion blocks.
        attached: Each comment's scope; None if it is on a file that the diff does not change.
        threshold: The matcher's cosine threshold; None if it does not use one.
        analysis: Findings of static analysis in the change.
        signature: Signature of the score.
        notes: Omissions and repairs.

    Returns:
        The result; a score abstains if one of its sides is empty.
    """
    columns = range(len(judged_cells.units))
    return Result(
        diff=judged_cells.diff,
        references=judged_cells.references,
        sentences=judged_cells.units,
        similarity=judged_cells.similarity,
        degrees=judged_cells.degrees,
        sentence_flags=judged_cells.flags,
        sentence_matches=tuple(map(judged_cells.best_of_sentence, columns)),
        reference_matches=tuple(
            map(judged_cells.best_of_reference, range(len(judged_cells.references)))
        ),
        comments=tuple(
            _score_comment(judged_cells, index, comment, attached[index], suggestions[index])
            for index, comment in enumerate(comments)
        ),
        reviews=_score_reviews(judged_cells, comments),
        scores=judged_cells.score_diff(columns),
        baselines=baselines.baselines(judged_cells.diff, [comment.body for comment in comments]),
        threshold=threshold,
        decision=judged_cells.decision,
        analysis=analysis,
        signature=signature,
        notes=notes,
    )


def _score_comment(
    judged_cells: JudgedCells,
    index: int,
    comment: Comment,
    scope: Scope | None,
    suggestions: tuple[Suggestion, ...],
) -> CommentResult:
    columns = tuple(i for i, unit in enumerate(judged_cells.units) if unit.comment == index)
    rows: Sequence[int] = ()
    # Already scored against the older version; the current version does not have its lines.
    if index in judged_cells.originals:
        scope = Scope(kind=ScopeKind.ORIGINAL, path=comment.path)
        outcome = judged_cells.originals[index].scores
    elif scope is None:
        scope = Scope(kind=ScopeKind.FILE, path=comment.path)
        reason = f"the comment is on {comment.path}, which the diff does not change"
        outcome = scores.abstain(references=0, sentences=len(columns), reason=reason)
    elif scope.kind is ScopeKind.DIFF:
        rows = references.select_rows(
            judged_cells.references, scope, judged_cells.diff, limit=judged_cells.limit
        )
        outcome = judged_cells.score_diff(columns)
    else:
        rows, outcome = judged_cells.score_scope(scope, columns)
    return CommentResult(
        comment=comment,
        scope=scope,
        scores=outcome,
        sentences=columns,
        references=tuple(rows),
        suggestions=suggestions,
    )


def group_by_author(comments: Sequence[Comment]) -> dict[str | None, list[int]]:
    """Return the indices of each author's comments, in order of first appearance."""
    by_author: dict[str | None, list[int]] = {}
    for index, comment in enumerate(comments):
        by_author.setdefault(comment.author, []).append(index)
    return by_author


def _score_reviews(
    judged_cells: JudgedCells, comments: Sequence[Comment]
) -> tuple[ReviewResult, ...]:
    # All authors are included; the reviews of authors without a sentence abstain.
    return tuple(
        ReviewResult(
            author=author,
            scores=judged_cells.score_diff(
                [
                    i
                    for i, sentence in enumerate(judged_cells.units)
                    if comments[sentence.comment].author == author
                ]
            ),
            baselines=baselines.baselines(judged_cells.diff, [comments[i].body for i in indices]),
            comments=tuple(indices),
        )
        for author, indices in group_by_author(comments).items()
    )
