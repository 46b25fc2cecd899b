"""The steps of a run, in order: from changes with their reviews to results.

`cli.py` imports `commands/score.py`, which reads settings and files and makes a `Scorer`. The
scorer makes the `Parts`, parses the diff (`diff/parse.py`) and the review (`review/comments.py`),
and calls `run`. Results go back the same way, to a report (`reports/`).

    diff      claims/, static_analysis/ -> pseudo-references                            |
    review    review/read.py -> sentences and proposals of code                         | _read
    both      scoring/cells.py: chosen references, scope of each comment                |
    both      readers/model.py -> readings of a language model, if there is one         | _ask_model
    both      encoders/ -> vectors, scoring/cells.py -> references x sentences          | _encode
    both      usefulness/reader.py -> remarks, readings                                 | run
    both      readers/combined.py -> both readings joined, if there is a model          | run
    both      matchers/ -> degree of each cell                                          |
    review    verdicts/ -> judged code blocks, receipts of remarks                      | _score
    review    usefulness/headline.py -> worth of remarks and comments                   |
    both      scoring/assembly.py -> result                                             |

Each step is one call, which takes frozen values and returns new ones. No step calls another step or
this module, which neither makes parts nor reads files.
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
    """Change with a review of it."""

    diff: Diff
    """The change. Pairs with the same object also share its claims."""
    comments: tuple[Comment, ...]
    originals: Mapping[int, Diff] = NO_ORIGINALS
    """Index of a comment on an older version of the change -> that version."""
    repository: Repository | None = None
    """Repository around the change; None if it is not available."""


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a run."""

    generator: ClaimGenerator
    analyzers: Suite
    encoder: Encoder
    matcher: Matcher
    reader: Reader | None
    """Judges how useful each sentence is to the author; None without weights for the encoder."""
    model: "ModelReader | None" = None
    """Language model that also reads the remarks; None if only `reader` reads them."""
    splitter: str
    """Name of the sentence splitter."""
    english_only: bool = False
    """Whether text in another language is set aside, because the encoder cannot read it."""
    max_claims: int | None
    """Maximum claims and implications that a score counts; None for all."""
    max_issues: int | None
    """Maximum issues of one hunk that a score counts; None for all."""
    threshold: float | None
    """Cosine threshold of the matcher, for the report; None when it has none."""
    signature: Mapping[str, str]
    """Identities of the parts above; the result adds the generator and the tools that ran."""


class _Review(msgspec.Struct, frozen=True, kw_only=True):
    """Review of a change before encoding: its sentences, and references to compare them with."""

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
        CRScoreError: A part failed; no pair is scored.
    """
    # Each comment on an older version is scored first, as a review of that version.
    older = [
        ReviewedChange(diff, (pair.comments[index],))
        for pair in pairs
        for index, diff in pair.originals.items()
    ]
    with progress.track("reading the change"):
        reviews = _read([*older, *pairs], parts)
    with progress.track("reading the comments"):
        by_model = _ask_model(reviews, parts.model)
    with progress.track("encoding"):
        encoded = _encode(reviews, parts)
        readings: Sequence[ReviewReadings | None] = [None] * len(encoded)
        texts = [review.text for review in reviews]
        if parts.reader and parts.model:
            readings = read_reviews(parts.reader, encoded, by_model, texts)
        elif parts.reader:
            readings = parts.reader.read(encoded, [text.authors for text in texts])
    results: list[Result] = []
    # Older versions come first, in the order of their comments, so the iterator never overtakes the
    # list that this loop fills.
    older_results = iter(results)
    steps = zip(reviews, by_model, encoded, readings, strict=True)
    with progress.track("scoring", len(reviews)) as advance:
        for review, answers, (cells, _), read in steps:
            originals = {index: next(older_results) for index in review.pair.originals}
            results.append(_score(review, cells, read, answers, parts, originals))
            advance(1)
    return tuple(results[len(older) :])


def _read(pairs: Sequence[ReviewedChange], parts: Parts) -> list[_Review]:
    """Read the changes and the reviews; claims and findings of all changes come from one call."""
    # Keyed by identity, because comparing or hashing a diff would visit all its lines.
    changes = {id(pair.diff): ParsedChange.of(pair.diff) for pair in pairs}
    # One call each: a model answers a batch faster, and a tool starts once for many changes. The
    # tools are processes, which run while the claims are written.
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
            selection=choose_references(refs, text.places, diff, limit=parts.max_claims),
            analysis=analysis,
            notes=(*diff.notes, *claims[key].notes, *analysis.notes, *text.notes),
        )
        reviews.append(review)
    return reviews


def _ask_model(reviews: Sequence[_Review], model: "ModelReader | None") -> list[ModelReadings]:
    """Let a language model read the comments of all reviews, in one batch.

    A comment on an older version of the change is read with that version. Its reading is used for
    the review of that version and for the review that the comment belongs to.
    """
    if model is None:
        return [ModelReadings()] * len(reviews)

    def ask_about(review: _Review, **settings: Any) -> "list[Request]":
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
        own_requests = ask_about(review, skipped=review.pair.originals)
        for index in review.pair.originals:
            of_original = ask_about(next(older), is_original=True)
            own_requests += [request.about(index) for request in of_original]
        requests.append(own_requests)
    answers = model.read(requests)
    # The first reviews are those of older versions. Each has one comment, whose index there is 0.
    of_older = [
        ModelReadings({0: read.remarks[index]} if index in read.remarks else {})
        for review, read in zip(reviews, answers, strict=True)
        for index in review.pair.originals
    ]
    return [*of_older, *answers[len(of_older) :]]


def _encode(reviews: Sequence[_Review], parts: Parts) -> list[tuple[Cells, Floats]]:
    """Encode every distinct text of all pairs, and compare the two sides of each.

    Returns:
        The cells of each review, and the vectors of the windows of its change.
    """
    refs = [[ref.encoded_text for ref in review.selection.references] for review in reviews]
    windows = [list_windows(review.pair.diff) if parts.reader else () for review in reviews]
    sentences = [[sentence.text for sentence in review.text.sentences] for review in reviews]
    # The order of texts decides which of them share a batch, and so the last digits of the vectors.
    of_changes = chain.from_iterable(chain.from_iterable(zip(refs, windows, strict=True)))
    vectors = Vectors(parts.encoder, of_changes)
    vectors.learn(chain(*sentences))  # without other texts, so that the reader's batches are equal
    encoded = []
    for review, rows, columns, lines in zip(reviews, refs, sentences, windows, strict=True):
        text = review.text
        cells = compare(
            review.pair.diff,
            review.selection.references,
            text.sentences,
            vectors.of(rows),
            vectors.of(columns),
            [at for at, place in enumerate(text.places) if place and place.hunk is not None],
        )
        encoded.append((cells, vectors.of(lines)))
    return encoded


def _score(
    review: _Review,
    cells: Cells,
    read: ReviewReadings | None,
    answers: ModelReadings,
    parts: Parts,
    originals: Mapping[int, Result],
) -> Result:
    """Match, rate and score one review.

    `originals` has the results of its comments on older versions, by the comment's index.
    """
    comments, reader = review.pair.comments, parts.reader
    unread = describe_unread(cells.sentences, read.remarks if read else ())
    notes = (*review.notes, *unread, *answers.notes)
    if read:
        abouts = [reading.about for reading in read.sentences]
        cells = replace(cells, about=np.array(abouts, dtype=np.float32))
    judgement = parts.matcher.match(cells)
    suggestions = judge_suggestions(comments, review.text.parsed, review.text.files)
    rating = None
    # A review cannot be about a change that shows no text.
    if reader and read and review.change.shows_text:
        repository = review.pair.repository
        receipts = judge_remarks(
            [[cells.sentences[at] for at in remark.sentences] for remark in read.remarks],
            comments,
            suggestions,
            review.change,
            repository,
        )
        notes = (*notes, *(repository.notes if repository else ()), *read.notes)
        rating = headline.rate(read, judgement.flags, receipts, review.text.authors, reader.weights)
    # Identities are read after the run: the generator may have fallen back to another.
    run_identities = {"claims": parts.generator.identity, "analyzers": review.analysis.identity}
    if parts.model:
        partial = "" if answers.is_whole else ",partial"
        # The short form of the signature has what is before the first comma.
        none_read = "" if answers.remarks or answers.is_whole else "none,"
        run_identities["readings"] = f"{none_read}{parts.model.identity}{partial}"
    judged = JudgedReview(
        comments=comments,
        authors=review.text.authors,
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
    """Return the requests to a language model about the comments of each pair, in order."""
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
