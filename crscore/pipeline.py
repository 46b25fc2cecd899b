"""Steps of a run, in order.

diff -> claims and findings -> sentences -> vectors -> sentence readings -> matched cells -> comment
readings and scores. The parts are passed in; this module looks up none and reads nothing.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from crscore import progress
from crscore.claims.base import ClaimGenerator
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
    Position,
    PseudoReference,
    Result,
    Scope,
    Sentence,
    Suggestion,
    Topic,
    Usefulness,
)
from crscore.review import proposals, sentences, visibility
from crscore.scoring import assembly, references, scopes, signature, similarity, subjects
from crscore.static_analysis import issues
from crscore.static_analysis.issues import ChosenIssues
from crscore.suggestions import effects
from crscore.syntax.change import ParsedChange
from crscore.usefulness import evidence
from crscore.usefulness.evidence import ChangeEvidence
from crscore.usefulness.reader import CommentReading, Reader, ReviewReading, TextReadings
from crscore.verdicts.judge import judge_statements
from crscore.verdicts.model import ModelVerifier, Verification
from crscore.verdicts.repository import Repository
from crscore.verdicts.statements import Statement

Floats = npt.NDArray[np.float32]
Vectors = Mapping[str, Floats]


MAX_SENTENCES: Final = 20_000
"""Maximum sentences scored of a review: a run takes about 20 KB of memory for each."""
NO_ORIGINALS: Final[Mapping[int, Diff]] = MappingProxyType({})


class Pair(NamedTuple):
    """Change with a review of it."""

    diff: Diff
    """The change. Pairs with the same object also share its claims."""
    comments: tuple[Comment, ...]
    originals: Mapping[int, Diff] = NO_ORIGINALS
    """Index of a comment on an older version of the change -> that version."""
    repository: Repository | None = None
    """Repository around the change; None where it is not at hand."""


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
class _Job:
    """A pair before encoding."""

    pair: Pair
    change: ParsedChange
    """The pair's diff, with what was read of its files."""
    parsed: tuple[ParsedComment, ...]
    sentences: tuple[Sentence, ...]
    """Visible sentences of all comments, then the hidden ones."""
    scopes: tuple[Scope | None, ...]
    references: tuple[PseudoReference, ...]
    small: tuple[Topic, ...]
    """Topics of which nothing counts."""
    analysis: Analysis
    notes: tuple[str, ...]


class Comparison(NamedTuple):
    """Cells of one change, ready for the matcher."""

    cells: Cells
    change: ChangeEvidence | None
    """The change as evidence; None without a reader."""


def run(pairs: Sequence[Pair], parts: Parts) -> tuple[Result, ...]:
    """Score each pair.

    Claims are generated once per diff, and every distinct text is encoded once, in one call, so
    that the cost grows with the number of distinct texts.

    Args:
        pairs: Any number of changes with their reviews.
        parts: Parts of the run.

    Returns:
        One result per pair, in order.

    Raises:
        CRScoreError: A part failed; no pair is scored.
    """
    # A comment on an older version is also a review of that version: a separate pair.
    earlier = [
        (pair_index, index) for pair_index, pair in enumerate(pairs) for index in pair.originals
    ]
    older = [Pair(pairs[n].originals[i], (pairs[n].comments[i],)) for n, i in earlier]
    with progress.track("reading the change"):
        jobs = _prepare_all([*pairs, *older], parts)
    with progress.track("encoding"):
        vectors = _encode(jobs, parts)
        readings = _read_texts(jobs, vectors, parts.reader)
    originals: list[dict[int, Result]] = [{} for _ in pairs]
    results = []
    with progress.track("scoring", len(jobs)) as advance:
        older_jobs = zip(jobs[len(pairs) :], readings[len(pairs) :], strict=True)
        for (pair_index, comment_index), (job, texts) in zip(earlier, older_jobs, strict=True):
            originals[pair_index][comment_index] = _score(job, texts, vectors, parts, {})
            advance(1)
        # Not strict: the jobs after those of the pairs are the older versions, scored above.
        for job, texts, older_results in zip(jobs, readings, originals, strict=False):
            results.append(_score(job, texts, vectors, parts, older_results))
            advance(1)
    return tuple(results)


def _prepare_all(pairs: Sequence[Pair], parts: Parts) -> list[_Job]:
    """Make the claims and find the issues of all distinct changes, in one call each."""
    # By identity: comparing or hashing a diff would visit every line of it.
    changes = {id(pair.diff): ParsedChange.of(pair.diff) for pair in pairs}
    claims = parts.generator.generate([*changes.values()])
    analyses = parts.analyzers.analyze([*changes.values()])
    prepared = {}
    for (key, diff), diff_claims, analysis in zip(changes.items(), claims, analyses, strict=True):
        chosen_issues = issues.choose_issues(
            analysis, diff, parts.encoder, per_hunk=parts.max_issues
        )
        remaining = issues.drop_repeated(
            diff_claims.references, chosen_issues.references, parts.encoder
        )
        prepared[key] = diff, replace(diff_claims, references=remaining), chosen_issues
    return [_prepare(pair, *prepared[id(pair.diff)], parts) for pair in pairs]


def _prepare(
    pair: Pair, change: ParsedChange, claims: Claims, chosen_issues: ChosenIssues, parts: Parts
) -> _Job:
    """Split the comments of a pair and select the references that some score uses."""
    diff, comments = pair.diff, pair.comments
    selected = references.select(
        (*claims.references, *chosen_issues.references), limit=parts.max_claims
    )
    attached = tuple(
        assembly.widen_scope(scopes.attach(comment, diff), selected, diff) for comment in comments
    )
    # The scores of a single comment may count references that the review's scores do not.
    rows = {i for i, ref in enumerate(selected) if ref.counted}
    for scope in set(attached):
        if scope is not None:
            rows |= set(assembly.select_rows(selected, scope, diff, limit=parts.max_claims))
    parsed = tuple(split_comment(comment, diff, parts.splitter) for comment in comments)
    units, notes = _limit_sentences(sentences_of(parsed), comments)
    return _Job(
        pair=pair,
        change=change,
        parsed=parsed,
        sentences=units,
        scopes=attached,
        references=tuple(selected[i] for i in sorted(rows)),
        small=references.list_small(selected),
        analysis=chosen_issues.analysis,
        notes=(
            *diff.notes,
            *claims.notes,
            *chosen_issues.analysis.notes,
            *_describe_disguised(comments, parts.splitter),
            *notes,
        ),
    )


def _limit_sentences(
    units: tuple[Sentence, ...], comments: Sequence[Comment]
) -> tuple[tuple[Sentence, ...], tuple[str, ...]]:
    """Return at most `MAX_SENTENCES` sentences, and a note when some were left out.

    The sentences of the shortest reviews are kept, so that a long review cannot crowd out another.
    """
    if len(units) <= MAX_SENTENCES:
        return units, ()
    lengths: Counter[str | None] = Counter()
    for comment in comments:
        lengths[comment.author] += len(comment.body)
    # A stable sort: of each review, the first sentences are kept.
    order = sorted(range(len(units)), key=lambda i: lengths[comments[units[i].comment].author])
    columns = sorted(order[:MAX_SENTENCES])
    note = (
        f"{MAX_SENTENCES:,} of {len(units):,} sentences are scored; "
        "the end of the longest review is left out."
    )
    return tuple(units[i] for i in columns), (note,)


def _describe_disguised(comments: Sequence[Comment], splitter: str) -> tuple[str, ...]:
    count = sum(visibility.is_disguised(comment.body) for comment in comments)
    if not count or splitter == "paper":
        return ()
    has = "1 comment has" if count == 1 else f"{count} comments have"
    return (f"{has} look-alike or invisible characters inside words; plain ones were read.",)


def split_comment(comment: Comment, diff: Diff, splitter: str) -> ParsedComment:
    """Split a comment and, unless with the published splitter, read the code that it proposes."""
    parsed = sentences.split_comment(comment.body, splitter=splitter)
    if splitter == "paper":
        return parsed
    return proposals.read_proposals(parsed, comment, _file_of(comment, diff))


def _judge_suggestions(job: _Job) -> list[tuple[Suggestion, ...]]:
    """Judge the code that each comment proposes."""
    diff = job.pair.diff
    return [
        tuple(
            effects.judge_in_change(code, comment, _file_of(comment, diff))
            for code in parsed.suggestions
        )
        for parsed, comment in zip(job.parsed, job.pair.comments, strict=True)
    ]


def _file_of(comment: Comment, diff: Diff) -> ChangedFile | None:
    if comment.path is not None:
        return scopes.file_at(diff, comment.path, comment.side)
    # A comment without a path can only be located when the change has a single file.
    return diff.files[0] if len(diff.files) == 1 else None


def _encode(jobs: Sequence[_Job], parts: Parts) -> Vectors:
    """Encode every distinct text, in one call."""
    texts: dict[str, None] = {}
    for job in jobs:
        texts |= dict.fromkeys(ref.encoded_text for ref in job.references)
        if parts.reader:
            texts |= dict.fromkeys(evidence.windows(job.pair.diff))
    for job in jobs:
        texts |= dict.fromkeys(sentence.text for sentence in job.sentences)
    return dict(zip(texts, parts.encoder.encode([*texts]), strict=True)) if texts else {}


def _read_texts(
    jobs: Sequence[_Job], vectors: Vectors, reader: Reader | None
) -> Sequence[TextReadings | None]:
    """Read the texts of all reviews together; None for each without a reader."""
    if reader is None:
        return [None] * len(jobs)
    reviews = [
        (job.sentences, _stack([unit.text for unit in job.sentences], vectors)) for job in jobs
    ]
    return reader.read_texts(reviews)


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
    job: _Job,
    texts: TextReadings | None,
    vectors: Vectors,
    parts: Parts,
    originals: Mapping[int, Result],
) -> Result:
    """Compare, match and score one pair.

    `originals` has the results of its comments on older versions, by the comment's index.
    """
    reader = parts.reader
    cells, change = compare(job.pair.diff, job.references, job.sentences, vectors, reader)
    judgement = parts.matcher.match(cells)
    by_name = subjects.find_named(
        job.pair.diff,
        cells.references,
        cells.sentences,
        cells.similarity,
        judgement.flags,
        reader.weights.rarity.of if reader else None,
    )
    suggestions = _judge_suggestions(job)
    review, verification = None, Verification([], ())
    if reader and change and texts:
        verification = _judge_remarks(job, texts, suggestions, parts.verifier)
        review = reader.read_comments(
            cells, change, texts, judgement, verification.receipts, by_name
        )
    readings = review.readings if review else ()
    touched = subjects.find_touched(judgement.degrees, parts.matcher.decision, by_name, readings)
    flags = _merge_flags(judgement, review)
    # The columns have hidden sentences last; reports list sentences in the order of the comments.
    shown_columns = sorted(
        np.flatnonzero(judgement.in_review), key=lambda i: cells.sentences[i].comment
    )
    units = tuple(cells.sentences[column] for column in shown_columns)
    judged_cells = assembly.JudgedCells(
        diff=job.pair.diff,
        references=job.references,
        units=units,
        older_degrees=_older_degrees(units, originals),
        originals={index: older.comments[0] for index, older in originals.items()},
        similarity=_read_only(cells.similarity[:, shown_columns]),
        degrees=_read_only(judgement.degrees[:, shown_columns]),
        touched=touched[:, shown_columns],
        flags=tuple(flags[column] for column in shown_columns),
        decision=parts.matcher.decision,
        limit=parts.max_claims,
    )
    # Identities are read after the run: the generator may have fallen back to another.
    run_identities = {"claims": parts.generator.identity, "analyzers": job.analysis.identity}
    result = assembly.build_result(
        judged_cells,
        comments=job.pair.comments,
        suggestions=suggestions,
        attached=job.scopes,
        threshold=parts.threshold,
        analysis=job.analysis,
        signature=signature.render_signature({**parts.signature, **run_identities}),
        notes=(*job.notes, *verification.notes),
    )
    result = replace(result, small=job.small)
    # Where no text is shown there is nothing that a review could be about.
    if reader is None or review is None or all(map(assembly.shows_no_text, result.diff.files)):
        return result
    result_index = {int(column): index for index, column in enumerate(shown_columns)}
    result = replace(
        result,
        readings=tuple(review.readings[column] for column in shown_columns),
        remarks=tuple(
            replace(remark, sentences=tuple(result_index[column] for column in remark.sentences))
            for remark in review.remarks
        ),
    )
    return _rank(result, review.comments, reader, originals)


def _judge_remarks(
    job: _Job,
    texts: TextReadings,
    suggestions: Sequence[tuple[Suggestion, ...]],
    verifier: ModelVerifier | None,
) -> Verification:
    """Hold what each remark says against the code; a verifier judges what that leaves open."""
    remarks = [
        tuple(job.sentences[column] for column in remark.columns) for remark in texts.remarks
    ]
    counts = Counter(units[0].comment for units in remarks)
    statements = [
        Statement(
            sentences=units,
            comment=job.pair.comments[units[0].comment],
            # Of several remarks, the one with the proposal has the blocks.
            suggestions=suggestions[units[0].comment]
            if counts[units[0].comment] == 1 or any(unit.proposal for unit in units)
            else (),
        )
        for units in remarks
    ]
    repository = job.pair.repository
    receipts = judge_statements(statements, job.change, repository)
    notes = repository.notes if repository else ()
    if verifier is None:
        return Verification(receipts, notes)
    verification = verifier.verify(statements, job.change, job.analysis.findings, receipts)
    return verification._replace(notes=(*notes, *verification.notes))


def _merge_flags(judgement: Judgement, review: ReviewReading | None) -> tuple[Flag | None, ...]:
    """Return the flag of each sentence: the matcher's or, without one, the reader's."""
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
    """Add the usefulness of each comment, of each review and of all reviews together.

    A comment on an older version of the change has the usefulness that it has for that version.
    """
    older = {
        index: moved
        for index, original in originals.items()
        if index in readings and (moved := _move(original, readings[index].remarks))
    }

    def rank(comments: Iterable[int]) -> Usefulness | None:
        return reader.rank(
            [readings[index] for index in comments if index in readings],
            result.remarks,
            result.diff,
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


def _move(older: Result, remarks: Sequence[int]) -> Usefulness | None:
    """Return the usefulness of an older comment, with the indices of its remarks in the result.

    None if it is not divided into the same number of remarks.
    """
    usefulness = older.comments[0].usefulness
    if usefulness is None or len(older.remarks) != len(remarks):
        return None
    shares = (replace(share, remark=remarks[share.remark]) for share in usefulness.shares)
    return replace(usefulness, shares=tuple(shares))


def sentences_of(parsed: Sequence[ParsedComment]) -> tuple[Sentence, ...]:
    """Return the visible sentences of all comments, then the hidden ones."""
    visible: list[Sentence] = []
    hidden: list[Sentence] = []
    for index, comment in enumerate(parsed):
        positions = comment.positions or repeat(Position(), len(comment.sentences))
        visible += (
            Sentence(text=text, comment=index, position=position)
            for text, position in zip(comment.sentences, positions, strict=True)
        )
        visible += (
            Sentence(text=text, comment=index, proposal=True, position=position)
            for text, position in zip(comment.proposals, comment.proposal_positions, strict=True)
        )
        hidden += (Sentence(text=text, comment=index, hidden=True) for text in comment.hidden)
    return (*visible, *hidden)


def _older_degrees(units: Sequence[Sentence], originals: Mapping[int, Result]) -> Floats:
    """Return the degree to which each sentence addresses the older version of its comment.

    Returns:
        Shape (S,), each in [0, 1]; 0 for the sentences of all other comments.
    """
    degrees = {
        (index, sentence.text): degree
        for index, older in originals.items()
        for sentence, degree in zip(older.sentences, _best_degrees(older), strict=True)
    }
    return np.array(
        [degrees.get((sentence.comment, sentence.text), 0.0) for sentence in units],
        dtype=np.float32,
    )


def _best_degrees(result: Result) -> Sequence[float]:
    """Return the highest degree of each sentence to a counted pseudo-reference."""
    counted = [reference.counted for reference in result.references]
    best: list[float] = result.degrees[counted].max(axis=0, initial=0.0).tolist()
    return best


def _read_only(matrix: Floats) -> Floats:
    matrix.setflags(write=False)
    return matrix
