"""Steps of a run, in order.

diff -> claims and findings -> sentences -> vectors -> sentence readings -> matched cells -> comment
readings and scores. The parts are passed in; this module looks up none and reads nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from crscore import progress
from crscore.budget import Budget
from crscore.claims.base import ClaimGenerator
from crscore.diff.paths import format_paths
from crscore.encoders.base import Encoder
from crscore.matchers.base import Cells, Judgement, Matcher
from crscore.records import (
    Analysis,
    ChangedFile,
    Claims,
    Comment,
    Diff,
    Flag,
    ParsedComment,
    PseudoReference,
    Result,
    Scope,
    Sentence,
    Suggestion,
    Usefulness,
)
from crscore.review import proposals, sentences
from crscore.scoring import assembly, references, scopes, signature, similarity
from crscore.static_analysis import issues
from crscore.static_analysis.issues import ChosenIssues
from crscore.suggestions import effects
from crscore.usefulness import evidence
from crscore.usefulness.evidence import ChangeEvidence
from crscore.usefulness.reader import CommentReading, Reader, ReviewReading

Floats = npt.NDArray[np.float32]
Vectors = Mapping[str, Floats]


MAX_SENTENCES: Final = 20_000
"""Sentences of a review that are scored: the memory of a run grows with them, some 20 KB each."""
_BATCH: Final = 1024
"""Sentences that are encoded between time checks."""
NO_ORIGINALS: Final[Mapping[int, Diff]] = MappingProxyType({})


class Pair(NamedTuple):
    """Change with a review of it."""

    diff: Diff
    """The change. Pairs that share the object share its claims."""
    comments: tuple[Comment, ...]
    """Review of the change."""
    originals: Mapping[int, Diff] = NO_ORIGINALS
    """For the index of a comment on an older version of the change: what it was written on."""


class Analyzers(Protocol):
    """Interface of static analysis."""

    def analyze(self, diffs: Sequence[Diff]) -> tuple[Analysis, ...]:
        """Return the findings of each change, in order."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The parts of a run."""

    generator: ClaimGenerator
    """Generator of the claims."""
    analyzers: Analyzers
    """Static analysis that finds the issues."""
    encoder: Encoder
    """Encoder of texts as vectors."""
    matcher: Matcher
    """Matcher that judges the cells."""
    reader: Reader | None
    """Reader that judges what each sentence gives the author; None without weights for the
    encoder."""
    splitter: str
    """Splitter of comments into sentences."""
    max_claims: int | None
    """Maximum claims and implications that a score counts; None for all."""
    max_issues: int | None
    """Maximum issues of one hunk that a score counts; None for all."""
    threshold: float | None
    """The matcher's cosine threshold, for the report; None when it has none."""
    time_limit: float | None = None
    """CPU seconds for each pair; None for no limit."""
    signature: Mapping[str, str]
    """Identities of the above; a result adds the generator and the tools that ran."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """A pair before encoding."""

    pair: Pair
    parsed: tuple[ParsedComment | None, ...]
    """Each comment; None for one that was set aside."""
    scopes: tuple[Scope | None, ...]
    references: tuple[PseudoReference, ...]
    analysis: Analysis
    notes: tuple[str, ...]
    unread: tuple[str, ...]
    """Paths of the files that were set aside."""
    crowded_out: int
    """Comments that were set aside because those before them have `MAX_SENTENCES`."""

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """The visible text of the comments, then the hidden text."""
        return _sentences_of(self.parsed)

    def missing(self, time_limit: float | None) -> tuple[str, ...]:
        """Describe what was set aside, one sentence each."""
        out_of_time = self.parsed.count(None) - self.crowded_out
        files = "1 file was" if len(self.unread) == 1 else f"{len(self.unread)} files were"
        reason = "" if time_limit is None else Budget(time_limit).reason
        set_aside = f"of {len(self.parsed)} comments were set aside, as"
        notes = [
            f"{files} set aside, as {reason}: {format_paths(self.unread)}.",
            f"{out_of_time} {set_aside} {reason}.",
            f"{self.crowded_out} {set_aside} a review has at most {MAX_SENTENCES:,} sentences.",
        ]
        return tuple(compress(notes, (self.unread, out_of_time, self.crowded_out)))


class Comparison(NamedTuple):
    """Cells of one change, ready for the matcher."""

    cells: Cells
    change: ChangeEvidence | None
    """The change as evidence; None without a reader."""


def run(pairs: Sequence[Pair], parts: Parts) -> tuple[Result, ...]:
    """Score each pair.

    Claims are made once a diff and every distinct text is encoded once, in one call, so the
    cost grows with the distinct texts.

    Args:
        pairs: Any number of changes with their reviews.
        parts: Parts of the run.

    Returns:
        One result per pair, in order.

    Raises:
        CRScoreError: A part failed; nothing is scored then.
    """
    # A comment on an older version is also a review of that version: a separate pair.
    limit = None if parts.time_limit is None else parts.time_limit * max(1, len(pairs))
    budget = Budget(limit)
    earlier = [(number, index) for number, pair in enumerate(pairs) for index in pair.originals]
    older = [Pair(pairs[n].originals[i], (pairs[n].comments[i],)) for n, i in earlier]
    # Half of the time is for splitting, so that some is left for what was split.
    splitting = Budget(None if limit is None else limit / 2)
    with progress.track("reading the change"):
        jobs = _prepare_all([*pairs, *older], parts, splitting)
    with progress.track("encoding"):
        vectors = _encode(jobs, parts, budget)
    jobs = [_without_late_comments(job, vectors) for job in jobs]
    originals: list[dict[int, Result]] = [{} for _ in pairs]
    results = []
    with progress.track("scoring", len(jobs)) as advance:
        for (number, index), job in zip(earlier, jobs[len(pairs) :], strict=True):
            originals[number][index] = _score(job, vectors, parts, {}, budget)
            advance(1)
        for job, older_results in zip(jobs, originals, strict=False):
            results.append(_score(job, vectors, parts, older_results, budget))
            advance(1)
    return tuple(results)


def _prepare_all(pairs: Sequence[Pair], parts: Parts, budget: Budget) -> list[_Job]:
    """Make the claims and find the issues of all distinct changes, in one call each."""
    distinct = list({id(pair.diff): pair.diff for pair in pairs}.values())
    claims = parts.generator.generate(distinct)
    diffs = [
        _without_files(diff, diff_claims, parts)
        for diff, diff_claims in zip(distinct, claims, strict=True)
    ]
    analyses = parts.analyzers.analyze(diffs)
    prepared = {}
    for key, diff, diff_claims, analysis in zip(
        map(id, distinct), diffs, claims, analyses, strict=True
    ):
        chosen_issues = issues.choose_issues(
            analysis, diff, parts.encoder, per_hunk=parts.max_issues
        )
        remaining = issues.drop_repeated(
            diff_claims.references, chosen_issues.references, parts.encoder
        )
        prepared[key] = diff, replace(diff_claims, references=remaining), chosen_issues
    return [_prepare(pair, *prepared[id(pair.diff)], parts, budget) for pair in pairs]


def _without_files(diff: Diff, claims: Claims, parts: Parts) -> Diff:
    """Set aside the files that did not fit the time limit."""
    if not claims.unread:
        return diff
    reason = Budget(parts.time_limit).reason
    files = tuple(
        replace(file, hunks=(), missing=reason) if index in claims.unread else file
        for index, file in enumerate(diff.files)
    )
    return replace(diff, files=files)


def _prepare(
    pair: Pair,
    diff: Diff,
    claims: Claims,
    chosen_issues: ChosenIssues,
    parts: Parts,
    budget: Budget,
) -> _Job:
    """Split the comments of a pair and select the references that some score uses."""
    selected = references.select(
        (*claims.references, *chosen_issues.references), limit=parts.max_claims
    )
    attached = tuple(
        assembly.widen_scope(scopes.attach(comment, diff), selected, diff)
        for comment in pair.comments
    )
    rows = {i for i, ref in enumerate(selected) if ref.counted}
    for scope in set(attached):
        if scope is not None:
            rows |= set(assembly.select_rows(selected, scope, diff, limit=parts.max_claims))
    parsed: list[ParsedComment | None] = []
    room, crowded_out = MAX_SENTENCES, 0
    for comment in pair.comments:
        split = budget.run(partial(split_comment, comment, diff, parts.splitter))
        length = len(_sentences_of([split]))
        fits = length <= room
        room -= length if fits else 0
        crowded_out += not fits
        parsed.append(split if fits else None)
    return _Job(
        pair=pair._replace(diff=diff),
        parsed=tuple(parsed),
        scopes=attached,
        references=tuple(selected[i] for i in sorted(rows)),
        analysis=chosen_issues.analysis,
        notes=(*diff.notes, *claims.notes, *chosen_issues.analysis.notes),
        unread=tuple(diff.files[index].path for index in claims.unread),
        crowded_out=crowded_out,
    )


def split_comment(comment: Comment, diff: Diff, splitter: str) -> ParsedComment:
    """Split a comment; except as published, also read the code that it proposes."""
    parsed = sentences.split_comment(comment.body, splitter=splitter)
    if splitter == "paper":
        return parsed
    return proposals.read_proposals(parsed, comment, _file_of(comment, diff))


def _judge_suggestions(
    job: _Job, budget: Budget
) -> tuple[list[tuple[Suggestion, ...]], tuple[str, ...]]:
    """Judge the code that each comment proposes; also note what there was no time for."""
    judged: list[tuple[Suggestion, ...]] = []
    out_of_time = 0
    for parsed, comment in zip(job.parsed, job.pair.comments, strict=True):
        suggestions: tuple[Suggestion, ...] | None = ()
        if parsed is not None and parsed.suggestions:
            suggestions = budget.run(partial(_judge, parsed.suggestions, comment, job.pair.diff))
        judged.append(suggestions or ())
        out_of_time += suggestions is None
    if not out_of_time:
        return judged, ()
    note = f"the suggestions of {out_of_time} comments were not judged, as {budget.reason}."
    return judged, (note,)


def _judge(codes: Sequence[str], comment: Comment, diff: Diff) -> tuple[Suggestion, ...]:
    file = _file_of(comment, diff)
    return tuple(effects.judge_in_change(code, comment, file) for code in codes)


def _file_of(comment: Comment, diff: Diff) -> ChangedFile | None:
    if comment.path is not None:
        return scopes.file_at(diff, comment.path, comment.side)
    return diff.files[0] if len(diff.files) == 1 else None


def _encode(jobs: Sequence[_Job], parts: Parts, budget: Budget) -> Vectors:
    """Encode every distinct text, in one call; with a limit, as many sentences as fit it."""
    texts: dict[str, None] = {}
    for job in jobs:
        texts |= dict.fromkeys(ref.encoded_text for ref in job.references)
        if parts.reader:
            texts |= dict.fromkeys(evidence.windows(job.pair.diff))
    review_texts = dict.fromkeys(sentence.text for job in jobs for sentence in job.sentences)
    if budget.left is None:
        return _vectors([*(texts | review_texts)], parts)
    vectors = _vectors([*texts], parts)
    remaining = [text for text in review_texts if text not in vectors]
    for start in range(0, len(remaining), _BATCH):
        if budget.is_spent:
            break
        vectors |= _vectors(remaining[start : start + _BATCH], parts)
    return vectors


def _vectors(texts: Sequence[str], parts: Parts) -> dict[str, Floats]:
    return dict(zip(texts, parts.encoder.encode(texts), strict=True)) if texts else {}


def _without_late_comments(job: _Job, vectors: Vectors) -> _Job:
    """Set aside the comments that have a sentence without a vector."""
    late = {sentence.comment for sentence in job.sentences if sentence.text not in vectors}
    if not late:
        return job
    return replace(
        job,
        parsed=tuple(
            None if index in late else comment for index, comment in enumerate(job.parsed)
        ),
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
        reader: Reader that judges whether a sentence is about the change; None without weights.

    Returns:
        The cells, shape (R, S), and the change.
    """
    rows = _stack([ref.encoded_text for ref in refs], vectors)
    columns = _stack([sentence.text for sentence in units], vectors)
    change = None
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
    job: _Job,
    vectors: Vectors,
    parts: Parts,
    originals: Mapping[int, Result],
    budget: Budget,
) -> Result:
    """Compare, match and score one pair; `originals` has its comments on older versions."""
    reader = parts.reader
    cells, change = compare(job.pair.diff, job.references, job.sentences, vectors, reader)
    sentence_readings = reader.read_sentences(cells) if reader else ()
    judgement = parts.matcher.match(cells)
    review = None
    if reader and change:
        review = reader.read_comments(cells, change, sentence_readings, judgement)
    flags = _merge_flags(judgement, review)
    # In the order of the comments, as a reader meets them.
    columns = sorted(np.flatnonzero(judgement.in_review), key=lambda i: cells.sentences[i].comment)
    units = tuple(cells.sentences[column] for column in columns)
    board = assembly.Board(
        diff=job.pair.diff,
        references=job.references,
        units=units,
        older_degrees=_degrees_elsewhere(units, originals),
        originals={index: older.comments[0] for index, older in originals.items()},
        similarity=_read_only(cells.similarity[:, columns]),
        degrees=_read_only(judgement.degrees[:, columns]),
        flags=tuple(flags[column] for column in columns),
        decision=parts.matcher.decision,
        limit=parts.max_claims,
    )
    suggestions, unjudged = _judge_suggestions(job, budget)
    missing = (*job.missing(parts.time_limit), *unjudged)
    # The generator is known only now: it may have fallen back to another.
    ran = {"claims": parts.generator.identity, "analyzers": job.analysis.identity}
    result = assembly.build_result(
        board,
        comments=job.pair.comments,
        suggestions=suggestions,
        attached=job.scopes,
        threshold=parts.threshold,
        analysis=job.analysis,
        signature=signature.render_signature({**parts.signature, **ran}),
        notes=(*job.notes, *missing),
    )
    result = replace(result, missing=missing)
    if reader is None or review is None:
        return result
    readings = tuple(review.readings[column] for column in columns)
    return _rank(replace(result, readings=readings), review.comments, reader, originals)


def _merge_flags(judgement: Judgement, review: ReviewReading | None) -> tuple[Flag | None, ...]:
    """Return the matcher's flags and, where it has none, the reader's."""
    if review is None:
        return judgement.flags
    return tuple(
        flag or (Flag.RESTATES if restates else None)
        for flag, restates in zip(judgement.flags, review.restates, strict=True)
    )


def _rank(
    result: Result,
    readings: Mapping[int, CommentReading],
    reader: Reader,
    originals: Mapping[int, Result],
) -> Result:
    """Add the usefulness of each comment, each review and all of them.

    A comment on an older version of the change is as useful as it was there.
    """
    older = {
        index: original.comments[0].usefulness
        for index, original in originals.items()
        if original.comments[0].usefulness
    }

    def rank(comments: Iterable[int]) -> Usefulness | None:
        return reader.rank(
            [readings[index] for index in comments if index in readings], result.diff
        )

    return replace(
        result,
        comments=tuple(
            replace(comment, usefulness=older.get(index) or rank([index]))
            for index, comment in enumerate(result.comments)
        ),
        reviews=tuple(
            replace(review, usefulness=rank(review.comments)) for review in result.reviews
        ),
        usefulness=rank(range(len(result.comments))),
    )


def _sentences_of(parsed: Sequence[ParsedComment | None]) -> tuple[Sentence, ...]:
    """Return the visible text of the comments, then the hidden text."""
    visible: list[Sentence] = []
    hidden: list[Sentence] = []
    for index, comment in enumerate(parsed):
        if comment is None:
            continue
        visible += (Sentence(text=text, comment=index) for text in comment.sentences)
        visible += (Sentence(text=text, comment=index, proposal=True) for text in comment.proposals)
        hidden += (Sentence(text=text, comment=index, hidden=True) for text in comment.hidden)
    return (*visible, *hidden)


def _degrees_elsewhere(units: Sequence[Sentence], originals: Mapping[int, Result]) -> Floats:
    """Return the degree to which each sentence addresses the older version of its comment.

    Returns:
        Shape (S,), each in [0, 1]; 0 for the sentences of all other comments.
    """
    degrees = {
        (index, sentence.text): match.degree or 0.0
        for index, older in originals.items()
        for sentence, match in zip(older.sentences, older.sentence_matches, strict=True)
    }
    return np.array(
        [degrees.get((sentence.comment, sentence.text), 0.0) for sentence in units],
        dtype=np.float32,
    )


def _read_only(matrix: Floats) -> Floats:
    matrix.setflags(write=False)
    return matrix
