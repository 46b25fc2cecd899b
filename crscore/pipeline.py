"""Steps of a run, in order.

diff -> claims and findings -> sentences -> similarity -> matched cells -> scores. The parts
are passed in; this module looks up none and reads nothing.
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
from crscore.matchers.base import Cells, Matcher
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
from crscore.usefulness import evidence, reading
from crscore.usefulness.reader import CommentReading, Reader

Floats = npt.NDArray[np.float32]
Vectors = Mapping[str, Floats]


MAX_SENTENCES: Final = 20_000
"""Sentences of a review that are scored: the memory of a run grows with them, some 20 KB each."""
_BATCH: Final = 1024
"""Sentences that are encoded between two looks at the clock."""
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
    """Reader of what the sentences do for the author; None without weights for the encoder."""
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
class _Work:
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
    """Comments that were set aside, as those before them have `MAX_SENTENCES`."""

    @property
    def units(self) -> tuple[Sentence, ...]:
        """The visible text of the comments, then the hidden text."""
        return _units(self.parsed)

    def missing(self, time_limit: float | None) -> tuple[str, ...]:
        """Name what was set aside, one sentence each."""
        late = self.parsed.count(None) - self.crowded_out
        files = "1 file was" if len(self.unread) == 1 else f"{len(self.unread)} files were"
        why = "" if time_limit is None else Budget(time_limit).reason
        among = f"of {len(self.parsed)} comments were set aside, as"
        found = [
            f"{files} set aside, as {why}: {format_paths(self.unread)}.",
            f"{late} {among} {why}.",
            f"{self.crowded_out} {among} a review has at most {MAX_SENTENCES:,} sentences.",
        ]
        return tuple(compress(found, (self.unread, late, self.crowded_out)))


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
    earlier = [(at, index) for at, pair in enumerate(pairs) for index in pair.originals]
    older = [Pair(pairs[at].originals[i], (pairs[at].comments[i],)) for at, i in earlier]
    # Half of the time is for splitting, so that some is left for what was split.
    splitting = Budget(None if limit is None else limit / 2)
    with progress.track("reading the change"):
        works = _prepare_all([*pairs, *older], parts, splitting)
    with progress.track("encoding"):
        vectors = _encode(works, parts, budget)
    works = [_without_late_comments(work, vectors) for work in works]
    originals: list[dict[int, Result]] = [{} for _ in pairs]
    results = []
    with progress.track("scoring", len(works)) as advance:
        for (at, index), work in zip(earlier, works[len(pairs) :], strict=True):
            originals[at][index] = _score(work, vectors, parts, {}, budget)
            advance(1)
        for work, own in zip(works, originals, strict=False):
            results.append(_score(work, vectors, parts, own, budget))
            advance(1)
    return tuple(results)


def _prepare_all(pairs: Sequence[Pair], parts: Parts, budget: Budget) -> list[_Work]:
    """Make the claims and find the issues of all distinct changes, in one call each."""
    given = list({id(pair.diff): pair.diff for pair in pairs}.values())
    claims = parts.generator.generate(given)
    diffs = [_without_files(*one, parts) for one in zip(given, claims, strict=True)]
    analyses = parts.analyzers.analyze(diffs)
    prepared = {}
    for at, diff, made, analysis in zip(map(id, given), diffs, claims, analyses, strict=True):
        found = issues.choose_issues(analysis, diff, parts.encoder, per_hunk=parts.max_issues)
        left = issues.drop_repeated(made.references, found.references, parts.encoder)
        prepared[at] = diff, replace(made, references=left), found
    return [_prepare(pair, *prepared[id(pair.diff)], parts, budget) for pair in pairs]


def _without_files(diff: Diff, claims: Claims, parts: Parts) -> Diff:
    """Set aside the files that did not fit the time limit."""
    if not claims.unread:
        return diff
    why = Budget(parts.time_limit).reason
    files = tuple(
        replace(file, hunks=(), missing=why) if at in claims.unread else file
        for at, file in enumerate(diff.files)
    )
    return replace(diff, files=files)


def _prepare(
    pair: Pair, diff: Diff, claims: Claims, found: ChosenIssues, parts: Parts, budget: Budget
) -> _Work:
    """Split the comments of a pair and choose the references that some score uses."""
    selected = references.select((*claims.references, *found.references), limit=parts.max_claims)
    attached = tuple(
        assembly.widen_scope(scopes.attach(comment, diff), selected, diff)
        for comment in pair.comments
    )
    used = {i for i, ref in enumerate(selected) if ref.counted}
    for scope in set(attached):
        if scope is not None:
            used |= set(assembly.select_rows(selected, scope, diff, limit=parts.max_claims))
    parsed: list[ParsedComment | None] = []
    room, crowded_out = MAX_SENTENCES, 0
    for comment in pair.comments:
        split = budget.run(partial(split_comment, comment, diff, parts.splitter))
        needed = len(_units([split]))
        fits = needed <= room
        room -= needed if fits else 0
        crowded_out += not fits
        parsed.append(split if fits else None)
    return _Work(
        pair=pair._replace(diff=diff),
        parsed=tuple(parsed),
        scopes=attached,
        references=tuple(selected[i] for i in sorted(used)),
        analysis=found.analysis,
        notes=(*diff.notes, *claims.notes, *found.analysis.notes),
        unread=tuple(diff.files[at].path for at in claims.unread),
        crowded_out=crowded_out,
    )


def split_comment(comment: Comment, diff: Diff, splitter: str) -> ParsedComment:
    """Split a comment; except as published, also read the code that it proposes."""
    parsed = sentences.split_comment(comment.body, splitter=splitter)
    if splitter == "paper":
        return parsed
    return proposals.read_proposals(parsed, comment, _file_of(comment, diff))


def _judge_suggestions(
    work: _Work, budget: Budget
) -> tuple[list[tuple[Suggestion, ...]], tuple[str, ...]]:
    """Judge the code that each comment proposes; also say what there was no time for."""
    judged: list[tuple[Suggestion, ...]] = []
    late = 0
    for parsed, comment in zip(work.parsed, work.pair.comments, strict=True):
        found: tuple[Suggestion, ...] | None = ()
        if parsed is not None and parsed.suggestions:
            found = budget.run(partial(_judge, parsed.suggestions, comment, work.pair.diff))
        judged.append(found or ())
        late += found is None
    if not late:
        return judged, ()
    return judged, (f"the suggestions of {late} comments were not judged, as {budget.reason}.",)


def _judge(codes: Sequence[str], comment: Comment, diff: Diff) -> tuple[Suggestion, ...]:
    file = _file_of(comment, diff)
    return tuple(effects.judge_in_change(code, comment, file) for code in codes)


def _file_of(comment: Comment, diff: Diff) -> ChangedFile | None:
    if comment.path is not None:
        return scopes.file_at(diff, comment.path, comment.side)
    return diff.files[0] if len(diff.files) == 1 else None


def _encode(works: Sequence[_Work], parts: Parts, budget: Budget) -> Vectors:
    """Encode every distinct text, in one call; with a limit, as many sentences as fit it."""
    texts: dict[str, None] = {}
    for work in works:
        texts |= dict.fromkeys(map(_reading, work.references))
        if parts.reader:
            texts |= dict.fromkeys(evidence.windows(work.pair.diff))
    said = dict.fromkeys(unit.text for work in works for unit in work.units)
    if budget.left is None:
        return _vectors([*(texts | said)], parts)
    vectors = _vectors([*texts], parts)
    left = [text for text in said if text not in vectors]
    for start in range(0, len(left), _BATCH):
        if budget.is_spent:
            break
        vectors |= _vectors(left[start : start + _BATCH], parts)
    return vectors


def _vectors(texts: Sequence[str], parts: Parts) -> dict[str, Floats]:
    return dict(zip(texts, parts.encoder.encode(texts), strict=True)) if texts else {}


def _without_late_comments(work: _Work, vectors: Vectors) -> _Work:
    """Set aside the comments that have a sentence without a vector."""
    late = {unit.comment for unit in work.units if unit.text not in vectors}
    parsed = (None if at in late else one for at, one in enumerate(work.parsed))
    return replace(work, parsed=tuple(parsed)) if late else work


def _reading(reference: PseudoReference) -> str:
    return reference.reading or reference.text


def _stack(texts: Sequence[str], vectors: Vectors) -> Floats:
    width = len(next(iter(vectors.values()))) if vectors else 0
    rows = [vectors[text] for text in texts]
    return np.stack(rows) if rows else np.zeros((0, width), dtype=np.float32)


def _score(
    work: _Work,
    vectors: Vectors,
    parts: Parts,
    originals: Mapping[int, Result],
    budget: Budget,
) -> Result:
    """Compare, match and score one pair; `originals` has its comments on older versions."""
    units = work.units
    rows = _stack([_reading(ref) for ref in work.references], vectors)
    columns = _stack([unit.text for unit in units], vectors)
    reader = parts.reader
    change = None
    about = np.full(len(units), 0.5, dtype=np.float32)
    if reader:
        change = reading.collect_evidence(work.pair.diff, work.references, rows, vectors)
        about = reader.about(units, columns, change)
    cells = Cells(
        diff=work.pair.diff,
        references=work.references,
        sentences=units,
        reference_vectors=rows,
        sentence_vectors=columns,
        similarity=similarity.cosine(rows, columns),
        about=about,
    )
    judged = parts.matcher.match(cells)
    flags = judged.flags
    said = reader.read(cells, change, judged) if reader and change else None
    if said:
        flags = tuple(
            flag or (Flag.RESTATES if restates else None)
            for flag, restates in zip(flags, said.restates, strict=True)
        )
    # In the order of the comments, as a reader meets them.
    kept = sorted(np.flatnonzero(judged.kept), key=lambda column: units[column].comment)
    shown = tuple(units[column] for column in kept)
    board = assembly.Board(
        diff=work.pair.diff,
        references=work.references,
        units=shown,
        elsewhere=_degrees_elsewhere(shown, originals),
        originals={index: older.comments[0] for index, older in originals.items()},
        similarity=_read_only(cells.similarity[:, kept]),
        degrees=_read_only(judged.degrees[:, kept]),
        flags=tuple(flags[column] for column in kept),
        decision=parts.matcher.decision,
        limit=parts.max_claims,
    )
    suggested, unjudged = _judge_suggestions(work, budget)
    missing = (*work.missing(parts.time_limit), *unjudged)
    # The generator is known only now: it may have fallen back to another.
    spoke = {"claims": parts.generator.identity, "analyzers": work.analysis.identity}
    result = assembly.build_result(
        board,
        comments=work.pair.comments,
        suggestions=suggested,
        attached=work.scopes,
        threshold=parts.threshold,
        analysis=work.analysis,
        signature=signature.render_signature({**parts.signature, **spoke}),
        notes=(*work.notes, *missing),
    )
    result = replace(result, missing=missing)
    if reader is None or said is None:
        return result
    readings = tuple(said.readings[column] for column in kept)
    return _tell(replace(result, readings=readings), said.comments, reader, originals)


def _tell(
    result: Result,
    found: Mapping[int, CommentReading],
    reader: Reader,
    originals: Mapping[int, Result],
) -> Result:
    """Tell how useful each comment, each review and all of them are.

    A comment on an older version of the change is as useful as it was there.
    """
    older = {
        index: one.comments[0].usefulness
        for index, one in originals.items()
        if one.comments[0].usefulness
    }

    def place(comments: Iterable[int]) -> Usefulness | None:
        chosen = [index for index in comments if index in found]
        return reader.rank([found[index] for index in chosen], result.diff)

    return replace(
        result,
        comments=tuple(
            replace(one, usefulness=older.get(index) or place([index]))
            for index, one in enumerate(result.comments)
        ),
        reviews=tuple(replace(one, usefulness=place(one.comments)) for one in result.reviews),
        usefulness=place(range(len(result.comments))),
    )


def _units(parsed: Sequence[ParsedComment | None]) -> tuple[Sentence, ...]:
    """Return the visible text of the comments, then the hidden text."""
    shown: list[Sentence] = []
    read = [(index, one) for index, one in enumerate(parsed) if one is not None]
    for index, one in read:
        shown += (Sentence(text=text, comment=index) for text in one.sentences)
        shown += (Sentence(text=text, comment=index, proposal=True) for text in one.proposals)
    unseen = (
        Sentence(text=text, comment=index, hidden=True)
        for index, one in read
        for text in one.hidden
    )
    return (*shown, *unseen)


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
    found = [degrees.get((unit.comment, unit.text), 0.0) for unit in units]
    return np.array(found, dtype=np.float32)


def _read_only(matrix: Floats) -> Floats:
    matrix.setflags(write=False)
    return matrix
