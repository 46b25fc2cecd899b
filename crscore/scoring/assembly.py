"""Builds the result of one change from its judged cells.

If there is no pseudo-reference or no sentence to compare, a score is replaced by the reason.

This module has, in this order, the scores of all parts of a review, the formulas of the scores, the
sentences that address points of the change, two baselines, and the signature.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from crscore.diff.paths import role_of
from crscore.errors import InputError
from crscore.records import (
    ON_TOPIC,
    UNCONFINED,
    Analysis,
    Baselines,
    Comment,
    CommentResult,
    Coverage,
    Diff,
    Flag,
    LineKind,
    Match,
    PseudoReference,
    Reading,
    Remark,
    Result,
    ReviewResult,
    Scope,
    ScopeKind,
    Scores,
    Sentence,
    Subject,
    Suggestion,
    Topic,
    TopicState,
    Usefulness,
)
from crscore.review.read import NOT_READ
from crscore.scoring.cells import Cells, ChosenReferences, Floats, Judgement
from crscore.text import CODE_SPAN, find_code_spans, stem, words

Bools = npt.NDArray[np.bool_]

MIN_NAME_CHARS: Final = 3
"""Minimum characters of a name that identifies code."""
# With this minimum, reviews of other commits name 1.0 % of a change's topics. With single words of
# any frequency they would name 1.5 %, with every changed name 4 % (docs/design/006-reports.md).
MIN_WORD_IDF: Final = 2.5
"""Minimum inverse document frequency of a single word that identifies code, if the change
introduces or removes the word. A word in 8 % of changes has 2.5."""
MAX_SHARING_POINTS: Final = 3
"""Maximum number of points of the change that one shared name can identify."""
SAME_COSINE: Final = 0.5
"""Minimum cosine of a sentence and the claim that it is about."""
NEAR_COSINE: Final = 0.3
"""Minimum cosine of a sentence and its claim if they share a rare word."""
# A word in 5 % of changes has this value.
RARE_IDF: Final = 3.0
"""Minimum inverse document frequency of a rare word."""
MAX_PARTS: Final = 8
"""Maximum number of parts of a qualified name, counted from its end, that are looked up."""
_SEARCHED_FLAGS: Final = (None, Flag.NOT_ENGLISH)
"""Flags of sentences in which names of code are looked up."""
_TEST_NOUNS: Final = frozenset({"test", "tests", "test suite"})
_NAME: Final = re.compile(r"[^\W\d][\w$]*")
_SEPARATOR: Final = re.compile(r"\??\.|::|->|#")
# Matches "a", "a.b", "a::b", "self->b" and "Server#helpers".
_QUALIFIED: Final = re.compile(rf"{_NAME.pattern}(?:(?:{_SEPARATOR.pattern}){_NAME.pattern})*")
# Matches within a name that is not a plain word: "max_tries", "parseUrl", "res.send", "a::b".
_COMPOUND: Final = re.compile(r"[^\W_]_+[^\W_]|[a-z][A-Z]|\w(?:\.|::|->|#)\w")
# Matches the parenthesis of "close()"; not that of "file(s)".
_CALL: Final = re.compile(r"\((?!s\))")
# Matches the single words "parse", "Parse" and "HTTP"; not "parseTree" or "max_tries".
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
# Matches "README.md" and "docs/quick-start/page.md".
_PATH: Final = re.compile(r"(?<![\w@+-])[\w@+-]*(?:[./][\w@+-]+)+")
# Matches the quoted name of a test or a section: “before render”.
_TITLE: Final = re.compile(r"[\"“]([^\"“”]{3,200})[\"”]")
# Matches at least three letters of any script: "user" and "name" in "user_id2name".
_TOKEN: Final = re.compile(r"[^\W\d_]{3,}")
_NOT_ANALYZERS = frozenset({Coverage.NONE.value, Coverage.PARTIAL.value, UNCONFINED})
"""Words in the `analyzers` part of a signature that are not names of analyzers."""


class Rating(NamedTuple):
    """Usefulness of the comments of one review to the author of its change."""

    readings: tuple[Reading, ...]
    """Reading of each of the S sentences, in which the claim is not yet set."""
    flags: tuple[Flag | None, ...]
    """Flag of each sentence by the matcher, or by the reader if the sentence only describes the
    change."""
    remarks: tuple[Remark, ...]
    """Remarks, whose `sentences` are indices of columns of the cells."""
    comments: tuple[Usefulness | None, ...]
    """Usefulness of each comment; None without visible text."""
    reviews: tuple[Usefulness | None, ...]
    """Usefulness of each author's comments together, in order of first appearance."""
    usefulness: Usefulness | None
    """Usefulness of all comments together."""


class JudgedReview(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Review with all judgements about it."""

    comments: tuple[Comment, ...]
    """All comments of the review, in input order."""
    authors: Mapping[str | None, Sequence[int]]
    """Author -> indices of the author's comments, in order of first appearance."""
    suggestions: Sequence[tuple[Suggestion, ...]]
    """Suggestion blocks of each comment."""
    selection: ChosenReferences
    """Pseudo-references of the change, and the scope of each comment."""
    cells: Cells
    """Cells, with a row for each of R pseudo-references and a column for each of S sentences."""
    judgement: Judgement
    """The matcher's judgement."""
    rating: Rating | None
    """Usefulness of the comments; None without a reader."""
    idf: Mapping[str, float] | None
    """Stem -> inverse document frequency in changes; a stem that is not here is rarer than all
    others. None without a reader."""
    originals: Mapping[int, Result]
    """Index of a comment on an older version of the change -> its result for that version."""


class _Table(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Judged cells of a review, and methods that score some of its sentences.

    In their arguments, rows are indices of pseudo-references and columns are indices of sentences.
    """

    diff: Diff
    counted: list[int]
    """Rows of the references that the score of the whole diff counts."""
    is_read: list[bool]
    """Whether the encoder could read each of the S sentences."""
    similarity: Floats
    """Cosines, shape (R, S), each in [-1, 1]."""
    degrees: Floats
    """The matcher's judgement, shape (R, S), each in [0, 1]."""
    addressed: npt.NDArray[np.bool_]
    """Whether each sentence addresses each pseudo-reference, shape (R, S): the degree is high
    enough, the pseudo-reference is the subject of the sentence, or the sentence names its code."""
    older_degrees: Floats
    """Degree to which each sentence addresses the older version of the change that it was written
    on, shape (S,), each in [0, 1]; 0 for a sentence on this version."""
    decision: float
    """Minimum degree at which a sentence addresses a pseudo-reference, in (0, 1)."""

    def score_diff(self, columns: Sequence[int]) -> Scores:
        """Score sentences against the whole diff, or state why there is no score."""
        if not self.diff.shows_text:
            files = self.diff.files
            missing = "; ".join(sorted({file.missing for file in files if file.missing}))
            reason = f"the diff shows no text: {missing or 'its files are binary or submodules'}"
            reason = reason if files else "the change has no files that could be read"
            return abstain(references=len(self.counted), sentences=len(columns), reason=reason)
        changed = self.diff.lines(LineKind.ADDED, LineKind.REMOVED)
        subject = "the diff" if changed else "the diff, which shows no changed line"
        return self.score(self.counted, columns, subject=subject)

    def score(self, rows: Sequence[int], columns: Sequence[int], *, subject: str) -> Scores:
        """Score sentences against pseudo-references, or state why there is no score."""
        readable = [column for column in columns if self.is_read[column]]
        # If there is nothing to compare, a score of 0 would look like that of a bad review, also in
        # averages.
        if not rows or not readable:
            reason = NOT_READ if columns else "no sentence in the review text"
            reason = reason if rows else f"no pseudo-references for {subject}"
            return abstain(references=len(rows), sentences=len(readable), reason=reason)
        degrees = self.degrees[np.ix_(list(rows), readable)]
        return score_cells(degrees, older_degrees=self.older_degrees[readable])

    def find_best_reference(self, column: int) -> Match:
        """Return the best counted reference for a sentence."""
        match = self._find_best((slice(None), column), self.counted)
        older = float(self.older_degrees[column])
        # If the degrees are equal, the current version wins, because it has a reference to show.
        if match.matched or older <= (match.degree or 0.0):
            return match
        # The best reference is one of the older version, so it has no index and no cosine here.
        return Match(index=None, similarity=None, degree=older, matched=older >= self.decision)

    def find_best_sentence(self, row: int) -> Match:
        """Return the best sentence for a reference."""
        return self._find_best(row, range(len(self.older_degrees)))

    def _find_best(self, at: int | tuple[slice, int], indices: Sequence[int]) -> Match:
        """Return the best partner of a row or column; pairs that address each other come first."""
        if not indices:
            return Match(index=None, similarity=None, degree=None, matched=False)
        cosines, degrees, addressed = self.similarity[at], self.degrees[at], self.addressed[at]
        # Equal degrees are common (the published matcher gives 0 or 1). Then the cosine decides,
        # and then the order.
        index = max(indices, key=lambda i: (addressed[i], degrees[i], cosines[i], -i))
        return Match(
            index=index,
            similarity=float(cosines[index]),
            degree=float(degrees[index]),
            matched=bool(addressed[index]),
        )


def build_result(
    review: JudgedReview,
    *,
    threshold: float | None,
    analysis: Analysis,
    signature: Mapping[str, str],
    notes: tuple[str, ...],
) -> Result:
    """Build the result of one review.

    Args:
        review: The review and the judgements about it.
        threshold: Cosine threshold of the matcher; None if the matcher has none.
        analysis: Static analysis of the change.
        signature: Parts of the signature of the scores.
        notes: What was left out or repaired, one sentence each.

    Returns:
        The result. Without any pseudo-reference or sentence, scores have a reason instead of
        values.
    """
    cells, judgement, rating = review.cells, review.judgement, review.rating
    addressed, readings = find_addressed(
        cells, judgement, rating.readings if rating else (), review.idf
    )
    # The columns of hidden sentences are the last ones, but reports list sentences in the order of
    # the comments.
    columns: list[int] = sorted(
        np.flatnonzero(judgement.in_review).tolist(), key=lambda i: cells.sentences[i].comment
    )
    sentences = tuple(cells.sentences[column] for column in columns)
    flags = rating.flags if rating else judgement.flags
    result_index = {column: index for index, column in enumerate(columns)}
    remarks = tuple(
        replace(remark, sentences=tuple(result_index[column] for column in remark.sentences))
        for remark in (rating.remarks if rating else ())
    )
    older_degrees: dict[tuple[int, str], float] = {}
    for index, older in review.originals.items():
        counted = [reference.counted for reference in older.references]
        # `initial`, because the maximum over no references would raise a ValueError.
        best = older.degrees[counted].max(axis=0, initial=0.0).tolist()
        for sentence, degree in zip(older.sentences, best, strict=True):
            older_degrees[index, sentence.text] = degree
    similarity, degrees = cells.similarity[:, columns], judgement.degrees[:, columns]
    # Read-only, because all users of the result share these matrices.
    for matrix in (similarity, degrees):
        matrix.setflags(write=False)
    table = _Table(
        diff=cells.diff,
        counted=[row for row, reference in enumerate(cells.references) if reference.counted],
        is_read=[not sentence.unread for sentence in sentences],
        similarity=similarity,
        degrees=degrees,
        addressed=addressed[:, columns],
        older_degrees=np.array(
            [older_degrees.get((s.comment, s.text), 0.0) for s in sentences], dtype=np.float32
        ),
        decision=judgement.decision,
    )
    comments = _score_comments(review, sentences, remarks, table)
    return Result(
        diff=cells.diff,
        references=cells.references,
        sentences=sentences,
        similarity=table.similarity,
        degrees=table.degrees,
        sentence_flags=tuple(flags[column] for column in columns),
        sentence_matches=tuple(map(table.find_best_reference, range(len(sentences)))),
        reference_matches=tuple(map(table.find_best_sentence, range(len(cells.references)))),
        readings=tuple(readings[column] for column in columns) if rating else (),
        remarks=remarks,
        comments=comments,
        # An author without a sentence also has a result, with a reason instead of scores.
        reviews=tuple(
            ReviewResult(
                author=author,
                scores=table.score_diff(
                    sorted(column for index in indices for column in comments[index].sentences)
                ),
                baselines=measure_baselines(
                    cells.diff, [review.comments[index].body for index in indices]
                ),
                comments=tuple(indices),
                usefulness=rating.reviews[number] if rating else None,
            )
            for number, (author, indices) in enumerate(review.authors.items())
        ),
        scores=table.score_diff(range(len(sentences))),
        baselines=measure_baselines(cells.diff, [comment.body for comment in review.comments]),
        usefulness=rating.usefulness if rating else None,
        threshold=threshold,
        decision=judgement.decision,
        small=review.selection.small,
        analysis=analysis,
        signature=render_signature(signature),
        notes=notes,
    )


def _score_comments(
    review: JudgedReview, sentences: Sequence[Sentence], remarks: Sequence[Remark], table: _Table
) -> tuple[CommentResult, ...]:
    """Score each comment against its scope, or against the older version that it was written on."""
    usefulness = dict(enumerate(review.rating.comments if review.rating else ()))
    if review.rating:
        usefulness |= _find_original_usefulness(remarks, review.originals)
    columns: list[list[int]] = [[] for _ in review.comments]
    for column, sentence in enumerate(sentences):
        columns[sentence.comment].append(column)
    results = []
    for index, comment in enumerate(review.comments):
        scope, rows = review.selection.scopes[index], review.selection.rows[index]
        indices = columns[index]
        file = scope and table.diff.file_at(scope.path or "")
        reason = ""
        if scope is None:
            reason = f"the comment is on {comment.path}, which the diff does not change"
        elif scope.kind is not ScopeKind.DIFF and file and not file.shows_text:
            cause = file.missing or "it is binary or a submodule"
            reason = f"the diff does not show the change of {file.path or 'the hunk'}: {cause}"
        if indices and not any(table.is_read[column] for column in indices):
            reason = NOT_READ
        if original := review.originals.get(index):
            # The references of the older version have no rows in this result.
            scope, rows = Scope(kind=ScopeKind.ORIGINAL, path=comment.path), ()
            scores = original.comments[0].scores
        elif reason:
            rows = ()
            scores = abstain(references=0, sentences=len(indices), reason=reason)
        elif scope and scope.kind is ScopeKind.DIFF:
            scores = table.score_diff(indices)
        else:
            scores = table.score(rows, indices, subject=(scope and scope.path) or "the file")
        results.append(
            CommentResult(
                comment=comment,
                scope=scope or Scope(kind=ScopeKind.FILE, path=comment.path),
                scores=scores,
                sentences=tuple(indices),
                references=rows,
                suggestions=review.suggestions[index],
                usefulness=usefulness.get(index),
            )
        )
    return tuple(results)


def _find_original_usefulness(
    remarks: Sequence[Remark], originals: Mapping[int, Result]
) -> dict[int, Usefulness]:
    """Return index of a comment on an older version -> its usefulness for that version.

    The shares refer to `remarks`, the remarks of the new result. A comment is left out if it has
    another number of remarks in the result of the older version.
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


def score_cells(
    degrees: npt.NDArray[np.float32], *, older_degrees: npt.NDArray[np.float32] | None = None
) -> Scores:
    """Score one text from the degrees to which its sentences address the pseudo-references.

    Args:
        degrees: Shape (R, S), each in [0, 1]; row r is pseudo-reference r, column s is sentence s.
            The published matcher gives 1 if the similarity is strictly above the threshold, else
            0.
        older_degrees: Shape (S,), each in [0, 1]: the degree to which each sentence addresses the
            older version of the change that it was written on, whose references have no row here.
            This degree can raise the value of the sentence, not the value of a reference. In the
            paper there are no such degrees, because each change has one version.

    Returns:
        Conciseness is the mean of the best cell of each of the S sentences, comprehensiveness the
        mean of the best cell of each of the R pseudo-references, and relevance the harmonic mean of
        the two (0 if both are 0); each in [0, 1].

    Raises:
        InputError: `degrees` is not two-dimensional, or R or S is 0. There is no score then, and
            the caller decides what to report.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801, equations 1 to 3.

    Example:
        Two references, three sentences; the last sentence matches nothing.

        >>> import numpy as np
        >>> s = score_cells(np.array([[1, 1, 0], [0, 0, 0]], dtype=np.float32))
        >>> round(s.conciseness, 3), s.comprehensiveness, round(s.relevance, 3)
        (0.667, 0.5, 0.571)
    """
    if degrees.ndim != 2 or 0 in degrees.shape:
        raise InputError(f"cannot score a matrix of shape {degrees.shape}")
    by_sentence = degrees.max(axis=0).astype(np.float64)
    if older_degrees is not None:
        by_sentence = np.maximum(by_sentence, older_degrees)
    by_reference = degrees.max(axis=1).astype(np.float64)
    conciseness = float(by_sentence.mean())
    comprehensiveness = float(by_reference.mean())
    return Scores(
        conciseness=conciseness,
        comprehensiveness=comprehensiveness,
        relevance=harmonic_mean(conciseness, comprehensiveness),
        matched_sentences=float(by_sentence.sum()),
        sentences=degrees.shape[1],
        matched_references=float(by_reference.sum()),
        references=degrees.shape[0],
    )


def harmonic_mean(conciseness: float, comprehensiveness: float) -> float:
    """Combine conciseness and comprehensiveness into relevance.

    Args:
        conciseness: In [0, 1].
        comprehensiveness: In [0, 1].

    Returns:
        2ab / (a + b) in [0, 1]; 0 if both are 0.

    Example:
        >>> harmonic_mean(1.0, 0.5), harmonic_mean(0.0, 0.0)
        (0.6666666666666666, 0.0)
    """
    total = conciseness + comprehensiveness
    return 2 * conciseness * comprehensiveness / total if total else 0.0


def abstain(*, references: int, sentences: int, reason: str) -> Scores:
    """Return scores without values.

    Args:
        references: Number of pseudo-references.
        sentences: Number of sentences.
        reason: Reason why there is no score, as a clause.

    Returns:
        Scores whose three values are None.
    """
    return Scores(
        conciseness=None,
        comprehensiveness=None,
        relevance=None,
        matched_sentences=0.0,
        sentences=sentences,
        matched_references=0.0,
        references=references,
        reason=reason,
    )


class ChangePoint(msgspec.Struct, frozen=True):
    """Topic that a review of the change should address, or pseudo-reference without a topic."""

    references: tuple[int, ...]
    """Indices of the counted pseudo-references of the point, highest weight first."""
    addressed: bool
    """Whether a sentence addresses one of these pseudo-references."""


def list_points(
    references: Sequence[PseudoReference], matches: Sequence[Match]
) -> tuple[ChangePoint, ...]:
    """Return the points of a change, highest weight first.

    New tests are points only if the change has no other points.

    Args:
        references: The pseudo-references.
        matches: The best sentence for each pseudo-reference.
    """
    all_points = _group_rows(references)
    without_new_tests = []
    for rows in all_points:
        topic = references[rows[0]].topic
        is_new_test = (
            topic is not None
            and topic.state is TopicState.NEW
            and (topic.noun in _TEST_NOUNS or role_of(topic.place.path) == "test")
        )
        # A review of new code need not also mention the new test of this code.
        if not is_new_test:
            without_new_tests.append(rows)
    return tuple(
        ChangePoint(tuple(rows), any(matches[row].matched for row in rows))
        # If the change adds nothing but tests, the tests are its points.
        for rows in without_new_tests or all_points
    )


def _group_rows(references: Sequence[PseudoReference]) -> list[list[int]]:
    """Return the counted references of each point; points and references are sorted by weight."""
    points: dict[Topic | int, list[int]] = {}
    for row in sorted(range(len(references)), key=lambda row: -references[row].weight):
        if references[row].counted:
            points.setdefault(references[row].topic or row, []).append(row)
    return list(points.values())


def find_addressed(
    cells: Cells,
    judgement: Judgement,
    readings: Sequence[Reading] = (),
    idf: Mapping[str, float] | None = None,
) -> tuple[Bools, tuple[Reading, ...]]:
    """Decide which sentences address which pseudo-references, and which claim each is about.

    Args:
        cells: The cells of R pseudo-references and S sentences.
        judgement: The matcher's judgement.
        readings: Reading of each sentence, in which the claim is not yet set; empty without a
            reader.
        idf: Stem -> inverse document frequency in changes; None without a reader.

    Returns:
        An array of shape (R, S), which is True if the degree is high enough, if the sentence names
        the reference's code, or if the reference is the claim that the sentence is about; and the
        readings, in which this claim is set.
    """
    naming = find_named_points(cells, judgement.flags, idf)
    addressed, with_claims = naming | (judgement.degrees >= judgement.decision), list(readings)
    for column, reading in enumerate(readings):
        cosines = cells.similarity[:, column].tolist()
        row = max(np.flatnonzero(naming[:, column]).tolist(), key=cosines.__getitem__, default=None)
        if row is None and reading.about >= ON_TOPIC and idf is not None and cosines:
            # A sentence may also be about a reference that is not counted. If cosines are equal,
            # `argmax` takes the first reference, which is the most informative one.
            best = int(np.argmax(cosines))
            shared = words(cells.sentences[column].text).stems
            shared &= words(cells.references[best].text).stems
            # In a small change, every sentence is similar to some claim. With a low cosine, the
            # sentence and the claim must therefore share a rare word, too.
            if cosines[best] >= SAME_COSINE or (
                cosines[best] >= NEAR_COSINE
                and any(idf.get(stem, RARE_IDF) >= RARE_IDF for stem in shared)
            ):
                row = best
        if row is not None:
            addressed[row, column] = True
            with_claims[column] = replace(reading, subject=Subject.CLAIM, reference=row)
    return addressed, tuple(with_claims)


def find_named_points(
    cells: Cells, flags: Sequence[Flag | None], idf: Mapping[str, float] | None = None
) -> Bools:
    """Find the points whose code each sentence names explicitly.

    A point is named by the name of its topic, and by each name that its pseudo-references quote and
    that the change introduces or removes. A name that more than `MAX_SHARING_POINTS` points share
    is ignored. A name that several points share is also ignored if the sentence identifies one of
    these points by another name.

    Args:
        cells: The cells of R pseudo-references and S sentences.
        flags: The matcher's flags. Names in a flagged sentence are ignored, unless the flag is
            `NOT_ENGLISH`.
        idf: Stem -> inverse document frequency in changes. If it is None, a single word identifies
            code only as the name of a topic.

    Returns:
        An array of shape (R, S), which is True for one reference of each point that a sentence
        names: the reference that is most similar to the sentence.
    """
    references, similarity = cells.references, cells.similarity
    # Names are looked up, because otherwise 97 of 298 texts that name a topic's code would not
    # address the topic.
    by_name = np.zeros(similarity.shape, dtype=np.bool_)
    points = _group_rows(references)
    names = _list_names([[references[row] for row in rows] for rows in points], cells.diff, idf)
    for column, (sentence, flag) in enumerate(zip(cells.sentences, flags, strict=True)):
        candidates: list[frozenset[int]] = []  # for each name, the points that share it
        for parts in _read_code(sentence.text) if flag in _SEARCHED_FLAGS else ():
            # Of a qualified name `a.b.c`, the longest part that is a known name counts: `b.c`
            # before `c`.
            for size in range(len(parts), 0, -1):
                pieces = [".".join(parts[at : at + size]) for at in range(len(parts) - size + 1)]
                if matches := [names[piece] for piece in pieces if piece in names]:
                    candidates += matches
                    break
        identified = set(chain.from_iterable(group for group in candidates if len(group) == 1))
        shared = [group for group in candidates if len(group) <= MAX_SHARING_POINTS]
        # A shared name identifies all its points, unless another name identifies one of these
        # points.
        identified.update(*(group for group in shared if group.isdisjoint(identified)))
        for point in identified:
            by_name[max(points[point], key=lambda row: similarity[row, column]), column] = True
    return by_name


def _read_code(text: str) -> Iterator[list[str]]:
    """Yield the parts of each name in a text; a path, code span or quoted title is one part."""
    prose, spans = CODE_SPAN.sub(" ` ", text), find_code_spans(text)
    for match in _QUALIFIED.finditer(prose):
        if _COMPOUND.search(match[0]) or _CALL.match(prose, match.end()):
            yield _split_name(match[0])
    for code in spans:
        yield from map(_split_name, _QUALIFIED.findall(code))
    paths = (path for code in (prose, *spans) for path in _PATH.findall(code))
    for whole in (*spans, *_TITLE.findall(prose), *paths):
        yield [whole.removeprefix("./")]


def _split_name(name: str) -> list[str]:
    return _SEPARATOR.split(name)[-MAX_PARTS:]


def _list_names(
    points: Sequence[Sequence[PseudoReference]], diff: Diff, idf: Mapping[str, float] | None
) -> dict[str, frozenset[int]]:
    """Map each name to the points whose topic has it or, if there are none, those that quote it."""
    added, removed, context = (
        {name for line in diff.lines(kind) for name in _NAME.findall(line.text)}
        for kind in (LineKind.ADDED, LineKind.REMOVED, LineKind.CONTEXT)
    )
    # A name on both sides, or on an unchanged line, is neither introduced nor removed.
    changed = {name for name in (added ^ removed) - context if len(name) >= MIN_NAME_CHARS}
    by_topic, by_quote = defaultdict[str, set[int]](set), defaultdict[str, set[int]](set)
    for index, references in enumerate(points):
        code = " ".join(chain.from_iterable(find_code_spans(item.text) for item in references))
        quoted = changed.intersection(_NAME.findall(code))
        if topic := references[0].topic:
            mark = "/" if topic.name == topic.place.path else "."
            parts = topic.name.split(mark)
            # The last part of the topic's name is also a name of the topic, and so are its last two
            # parts, and so on.
            for name in (mark.join(parts[at:]) for at in range(len(parts))):
                if len(name) >= MIN_NAME_CHARS:
                    by_topic[name].add(index)
            quoted.difference_update(_NAME.findall(f"{topic.name} {topic.place.path}"))
        # Common words such as `value` and `data` name nothing, because reviews of any change use
        # them.
        for name in quoted:
            is_rare = idf is not None and idf.get(stem(name.lower()), MIN_WORD_IDF) >= MIN_WORD_IDF
            if is_rare or not _WORD.fullmatch(name):
                by_quote[name].add(index)
    return {name: frozenset(sharing) for name, sharing in (by_quote | by_topic).items()}


def measure_baselines(diff: Diff, texts: Sequence[str]) -> Baselines:
    """Count a review's words, and compute the share of the diff's tokens that the review repeats.

    A word is text between white space that has at least one letter or digit. A token is a run of at
    least three letters, case-folded, so that identifiers are split at digits and underscores but
    not at capitals. The tokens of the diff are those of its added, removed and context lines, not
    those of paths and section titles.

    Args:
        diff: The change.
        texts: The comments of the review with their Markdown and code; may be empty.

    Returns:
        The number of words, and the share of the diff's distinct tokens that occur in the
        texts, in [0, 1]; the share is None if the diff has no token.

    Source:
        These measures are not in the paper. They follow people's judgement of relevance so closely
        that no score should be shown without them.

    Example:
        >>> from crscore.records import Diff
        >>> measure_baselines(Diff(files=(), sha256=""), ["Looks good - to me."])
        Baselines(words=4, repeated_tokens=None)
    """
    # On the human study, the correlation with people's ratings of relevance is 0.366 and 0.478 for
    # these measures, and 0.625 for the score (benchmarks/README.md, "Agreement with people").
    diff_tokens = _distinct_tokens(line.text for line in diff.lines())
    repeated = diff_tokens & _distinct_tokens(texts)
    return Baselines(
        words=sum(any(map(str.isalnum, word)) for text in texts for word in text.split()),
        repeated_tokens=len(repeated) / len(diff_tokens) if diff_tokens else None,
    )


def _distinct_tokens(texts: Iterable[str]) -> frozenset[str]:
    # One search in the joined texts is faster, and no token contains a line end.
    return frozenset(map(str.casefold, set(_TOKEN.findall("\n".join(texts)))))


def render_signature(parts: Mapping[str, str]) -> str:
    """Join the parts of a signature, in the given order.

    Args:
        parts: Key -> value, such as `{"version": "0.1.0", "tau": "0.5"}`.

    Returns:
        One line without spaces: `crscore|version:0.1.0|tau:0.5`.

    Example:
        >>> render_signature({"version": "0.1.0", "claims": "a|b c"})
        'crscore|version:0.1.0|claims:a_b_c'
    """
    # A value may come from the user, such as a path, in which a `|` would begin another part.
    fields = (f"{key}:" + re.sub(r"[\s|]", "_", value) for key, value in parts.items())
    return "|".join(["crscore", *fields])


def read_part(signature: str, key: str) -> str:
    """Return the value of a part of a signature; "" if the signature has no such part.

    Example:
        >>> read_part("crscore|version:0.1.0|tau:0.5", "tau"), read_part("crscore|tau:1", "seed")
        ('0.5', '')
    """
    parts = dict(part.split(":", 1) for part in signature.split("|")[1:])
    return parts.get(key, "")


def shorten_signature(signature: str) -> str:
    """Return a short form of a signature: the parts that users choose, and a hash of all parts.

    Args:
        signature: As made by `render_signature`.

    Returns:
        Version, encoder, claims, matcher, language model and number of analyzers, without missing
        parts, and an id. The id is the first 7 hexadecimal digits of the signature's SHA-256;
        scores with the same id were computed in the same way.

    Example:
        >>> shorten_signature("crscore|version:0.1.0|encoder:minilm:L6@53|analyzers:ruff@1,partial")
        'crscore 0.1.0 · minilm · 1 analyzer, partial · id c658653'
    """
    name, *fields = signature.split("|")
    parts = {key: value for key, _, value in (field.partition(":") for field in fields)}
    choices = [parts[key] for key in ("encoder", "claims", "matcher") if key in parts]
    terms = parts.get("analyzers", "none").split(",")
    tools = len([word for word in terms if word not in _NOT_ANALYZERS])
    limitations = [word for word in terms if word in _NOT_ANALYZERS - {Coverage.NONE.value}]
    analyzers = f"{tools or 'no'} analyzer{'' if tools == 1 else 's'}"
    # The name of a folder may contain bytes that are not UTF-8, which Python decodes as surrogates:
    # https://peps.python.org/pep-0383/
    digest = hashlib.sha256(signature.encode("utf-8", "surrogatepass")).hexdigest()[:7]
    return " · ".join(
        [
            f"{name} {parts.get('version', '')}".strip(),
            *(value.partition("@")[0].partition(":")[0] for value in choices),
            *(f"read by {part.partition(',')[0]}" for part in [parts.get("readings")] if part),
            ", ".join([analyzers, *limitations]),
            f"id {digest}",
        ]
    )
