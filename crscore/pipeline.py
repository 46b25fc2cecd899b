"""The steps of a run, in order: from changes with their reviews to results.

`cli.py` imports `commands/score.py`, which reads settings and files and makes a `Scorer`. The
scorer makes the `Parts`, parses the diff (`diff/parse.py`) and the review (`review/comments.py`),
and calls `run`. Results go back the same way, to a report (`reports/`).

    diff      claims/, static_analysis/ -> pseudo-references                            |
    review    review/read.py -> sentences, proposed code                                | _read
    both      scoring/cells.py: chosen references, scope of each comment                |
    both      readers/model.py -> readings of a language model, if there is one         | _ask_model
    both      encoders/ -> vectors, scoring/cells.py -> references x sentences          | _encode
    both      usefulness/reader.py -> remarks, readings                                 | run
    both      readers/combined.py -> readings of both combined, if there is a model     | run
    both      matchers/ -> degree of each cell                                          |
    review    verdicts/ -> judged code blocks, receipts of remarks                      | _score
    review    usefulness/headline.py -> worth of remarks and comments                   |
    both      scoring/assembly.py -> result                                             |

Each step is one call, which takes frozen values and returns new ones. No step calls another step or
this module. This module makes no parts and reads no files.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from crscore import progress
from crscore.claims.base import ClaimGenerator
from crscore.diff.windows import list_windows
from crscore.encoders.base import Encoder, Floats, Vectors
from crscore.matchers.base import Matcher
from crscore.readers.combined import read_reviews
from crscore.readers.readings import ModelReadings
from crscore.records import Analysis, Comment, Diff, Result
from crscore.review.read import SplitReview, describe_unread, split_review
from crscore.scoring.assembly import JudgedReview, build_result
from crscore.scoring.cells import Cells, ChosenReferences, choose_references, compare
from crscore.static_analysis.issues import choose_issues
from crscore.static_analysis.suite import Suite
from crscore.syntax.change import ParsedChange
from crscore.usefulness import headline
from crscore.usefulness.reader import Reader
from crscore.usefulness.reading import ReviewReadings
from crscore.verdicts.judge import judge_remarks
from crscore.verdicts.repository import Repository
from crscore.verdicts.suggestions import judge_suggestions

if TYPE_CHECKING:  # most runs have no model
    from crscore.readers.model import ModelReader
    from crscore.readers.requests import Request

NO_ORIGINALS: Final[Mapping[int, Diff]] = MappingProxyType({})


class ReviewedChange(NamedTuple):
    """Change, and a review of it."""

    diff: Diff
    """The change. Its claims are generated once for all pairs that have the same object here."""
    comments: tuple[Comment, ...]
    """The comments of the review."""
    originals: Mapping[int, Diff] = NO_ORIGINALS
    """Index of a comment on an older version of the change -> the part of that version that the
    comment was written on."""
    repository: Repository | None = None
    """Repository that the change belongs to; None if it is not available."""


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a run."""

    generator: ClaimGenerator
    analyzers: Suite
    encoder: Encoder
    matcher: Matcher
    reader: Reader | None
    """Network that judges how useful each sentence is to the author of the change; None if there
    are no weights for the encoder."""
    model: "ModelReader | None" = None
    """Language model that also reads the remarks; None if only `reader` reads them."""
    splitter: str
    """Name of the sentence splitter."""
    english_only: bool = False
    """Whether text in other languages is left out, because the encoder cannot read it."""
    max_claims: int | None
    """Maximum claims and implications that a score counts; None for all."""
    max_issues: int | None
    """Maximum issues of one hunk that a score counts; None for all."""
    threshold: float | None
    """Cosine threshold of the matcher, for the report; None if the matcher has none."""
    signature: Mapping[str, str]
    """Identities of the parts above; after a run, those of the generator and the tools that ran
    replace the ones here."""


class _Review(msgspec.Struct, frozen=True, kw_only=True):
    """Review before encoding: its sentences, and the references that they are compared with."""

    pair: ReviewedChange
    change: ParsedChange
    """The pair's diff, with its parsed files."""
    text: SplitReview
    selection: ChosenReferences
    analysis: Analysis
    notes: tuple[str, ...]


def run(pairs: Sequence[ReviewedChange], parts: Parts) -> tuple[Result, ...]:
    """Score each pair.

    Claims are generated once per diff, and the distinct texts of all pairs are encoded together, so
    that the cost grows with the number of distinct texts.

    Args:
        pairs: Any number of changes with their reviews.
        parts: Parts of the run.

    Returns:
        One result per pair, in order.

    Raises:
        CRScoreError: A part failed. No pair is scored then.
    """
    # Each comment on an older version of a change is scored first, as a review of that version.
    older = [
        ReviewedChange(diff, (pair.comments[index],))
        for pair in pairs
        for index, diff in pair.originals.items()
    ]
    with progress.track("reading the change"):
        reviews = _read([*older, *pairs], parts)
    with progress.track("reading the comments"):
        model_readings = _ask_model(reviews, parts.model)
    with progress.track("encoding"):
        encoded = _encode(reviews, parts)
        readings: Sequence[ReviewReadings | None] = [None] * len(encoded)
        texts = [review.text for review in reviews]
        if parts.reader and parts.model:
            readings = read_reviews(parts.reader, encoded, model_readings, texts)
        elif parts.reader:
            readings = parts.reader.read(encoded, [text.authors for text in texts])
    results: list[Result] = []
    # The results of older versions come first, in the order of their comments, so the iterator
    # never overtakes the list that this loop fills.
    older_results = iter(results)
    steps = zip(reviews, model_readings, encoded, readings, strict=True)
    with progress.track("scoring", len(reviews)) as advance:
        for review, by_model, (cells, _), by_reader in steps:
            originals = {index: next(older_results) for index in review.pair.originals}
            results.append(_score(review, cells, by_reader, by_model, parts, originals))
            advance(1)
    return tuple(results[len(older) :])


def _read(pairs: Sequence[ReviewedChange], parts: Parts) -> list[_Review]:
    """Read the changes and the reviews; generate the claims and find the issues of all changes."""
    # The keys are object ids, because to compare or hash a diff would take time for all its lines.
    changes = {id(pair.diff): ParsedChange.of(pair.diff) for pair in pairs}
    # There is one call for all changes, because a model answers a batch faster and a tool starts
    # only once. The tools are processes that run while the claims are generated.
    with parts.analyzers.analyzing([*changes.values()]) as wait:
        claims = dict(zip(changes, parts.generator.generate([*changes.values()]), strict=True))
        analyses = dict(zip(changes, wait(), strict=True))
    issues = {
        key: choose_issues(
            analyses[key],
            change,
            parts.encoder,
            per_hunk=parts.max_issues,
            claims=claims[key].references,
        )
        for key, change in changes.items()
    }
    reviews = []
    for pair in pairs:
        key, diff, comments = id(pair.diff), pair.diff, pair.comments
        text = split_review(comments, diff, parts.splitter, english_only=parts.english_only)
        refs, analysis = issues[key]
        review = _Review(
            pair=pair,
            change=changes[key],
            text=text,
            selection=choose_references(refs, text.scopes, diff, limit=parts.max_claims),
            analysis=analysis,
            notes=(*diff.notes, *claims[key].notes, *analysis.notes, *text.notes),
        )
        reviews.append(review)
    return reviews


def _ask_model(reviews: Sequence[_Review], model: "ModelReader | None") -> list[ModelReadings]:
    """Return a language model's readings of each review's comments, requested in one batch.

    A comment on an older version of the change is read with that version. Its reading is used for
    the review of that version and for the review that the comment belongs to.
    """
    if model is None:
        return [ModelReadings()] * len(reviews)

    def make_requests(review: _Review, **settings: Any) -> "list[Request]":
        return model.make_requests(
            review.change,
            review.pair.comments,
            review.text.parsed,
            review.analysis.findings,
            max_bytes=model.respondent.max_bytes,
            **settings,
        )

    older, requests = iter(reviews), list["list[Request]"]()
    for review in reviews:
        own_requests = make_requests(review, skipped=review.pair.originals)
        for index in review.pair.originals:
            of_original = make_requests(next(older), is_original=True)
            own_requests += [request.about(index) for request in of_original]
        requests.append(own_requests)
    answers = model.read(requests)
    # The first reviews are those of older versions. Each has one comment, with the index 0.
    older_readings = [
        ModelReadings({0: read.remarks[index]} if index in read.remarks else {})
        for review, read in zip(reviews, answers, strict=True)
        for index in review.pair.originals
    ]
    return [*older_readings, *answers[len(older_readings) :]]


def _encode(reviews: Sequence[_Review], parts: Parts) -> list[tuple[Cells, Floats]]:
    """Encode every distinct text of all pairs, and compare references and sentences of each pair.

    Returns:
        The cells of each review, and the vectors of the windows of its change.
    """
    refs = [[ref.encoded_text for ref in review.selection.references] for review in reviews]
    windows = [list_windows(review.pair.diff) if parts.reader else () for review in reviews]
    sentences = [[sentence.text for sentence in review.text.sentences] for review in reviews]
    # The order of the texts decides which texts share a batch, and the batches decide the last
    # digits of the vectors.
    change_texts = chain.from_iterable(chain.from_iterable(zip(refs, windows, strict=True)))
    vectors = Vectors(parts.encoder, change_texts)
    # The sentences are encoded in a second call, so that no other text changes their batches.
    vectors.add(chain(*sentences))
    encoded = []
    for review, *texts in zip(reviews, refs, sentences, windows, strict=True):
        rows, columns, window_vectors = map(vectors.of, texts)
        cells = compare(
            review.pair.diff,
            review.selection.references,
            review.text.sentences,
            rows,
            columns,
            [at for at, scope in enumerate(review.text.scopes) if scope and scope.hunk is not None],
        )
        encoded.append((cells, window_vectors))
    return encoded


def _score(
    review: _Review,
    cells: Cells,
    readings: ReviewReadings | None,
    by_model: ModelReadings,
    parts: Parts,
    originals: Mapping[int, Result],
) -> Result:
    """Match, rate and score one review.

    `originals` has the results of the comments on older versions, by the index of the comment.
    """
    comments, authors, reader = review.pair.comments, review.text.authors, parts.reader
    unread = describe_unread(cells.sentences, readings.remarks if readings else ())
    notes = (*review.notes, *unread, *by_model.notes)
    if readings:
        abouts = [reading.about for reading in readings.sentences]
        cells = replace(cells, about=np.array(abouts, dtype=np.float32))
    judgement = parts.matcher.match(cells)
    suggestions = judge_suggestions(comments, review.text.parsed, review.text.files)
    rating = None
    # A review cannot be about a change that shows no text.
    if reader and readings and review.change.shows_text:
        repository = review.pair.repository
        receipts = judge_remarks(
            [[cells.sentences[at] for at in remark.sentences] for remark in readings.remarks],
            comments,
            suggestions,
            review.change,
            repository,
        )
        notes = (*notes, *(repository.notes if repository else ()), *readings.notes)
        rating = headline.rate(readings, judgement.flags, receipts, authors, reader.weights)
    # The identities are read after the run, because the generator may have used its fallback.
    run_identities = {"claims": parts.generator.identity, "analyzers": review.analysis.identity}
    if parts.model:
        partial = "" if by_model.is_whole else ",partial"
        # The short form of the signature shows only the text before the first comma.
        none_read = "" if by_model.remarks or by_model.is_whole else "none,"
        run_identities["readings"] = f"{none_read}{parts.model.identity}{partial}"
    judged = JudgedReview(
        comments=comments,
        authors=authors,
        suggestions=suggestions,
        selection=review.selection,
        cells=cells,
        judgement=judgement,
        rating=rating,
        idf=reader.weights.rarity.by_stem if reader else None,
        originals=originals,
    )
    return build_result(
        judged,
        threshold=parts.threshold,
        analysis=review.analysis,
        signature={**parts.signature, **run_identities},
        notes=notes,
    )


def list_requests(
    pairs: Sequence[ReviewedChange], parts: Parts, make_requests: "Callable[..., list[Request]]"
) -> "list[list[Request]]":
    """Return, for each pair in order, the requests to a language model about its comments."""
    changes = {id(pair.diff): ParsedChange.of(pair.diff) for pair in pairs}
    with parts.analyzers.analyzing([*changes.values()]) as wait:
        analyses = dict(zip(changes, wait(), strict=True))
    return [
        make_requests(
            changes[id(pair.diff)],
            pair.comments,
            split_review(pair.comments, pair.diff, parts.splitter).parsed,
            analyses[id(pair.diff)].findings,
        )
        for pair in pairs
    ]
