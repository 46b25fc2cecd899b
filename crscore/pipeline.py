"""The order of the steps.

diff -> claims and findings -> sentences -> similarity -> matched cells -> scores. The parts
are passed in; this module looks up none and reads nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import numpy as np

from crscore.matchers.base import Cells
from crscore.records import Sentence
from crscore.review import sentences
from crscore.scoring import assembly, references, scopes, signature, similarity
from crscore.static_analysis import issues

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from crscore.claims.base import ClaimGenerator
    from crscore.encoders.base import Encoder
    from crscore.matchers.base import Matcher
    from crscore.records import (
        Analysis,
        Claims,
        Comment,
        Diff,
        ParsedComment,
        PseudoReference,
        Result,
        Scope,
    )
    from crscore.static_analysis.issues import Chosen

    Vectors = Mapping[str, npt.NDArray[np.float32]]


NO_ORIGINALS: Final[Mapping[int, Diff]] = MappingProxyType({})


class Pair(NamedTuple):
    """One thing to score."""

    diff: Diff
    """The change. Pairs that share the object share its claims."""
    comments: tuple[Comment, ...]
    """The review of it."""
    originals: Mapping[int, Diff] = NO_ORIGINALS
    """For the index of a comment on an older version of the change: what it was written on."""


class Analyzers(Protocol):
    """Looks for issues in changed code."""

    def analyze(self, diffs: Sequence[Diff]) -> tuple[Analysis, ...]:
        """Say what is wrong with the code of each change, in order."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a run is made of."""

    generator: ClaimGenerator
    """Writes the claims."""
    analyzers: Analyzers
    """Finds the issues."""
    encoder: Encoder
    """Turns texts into vectors."""
    matcher: Matcher
    """Judges cells."""
    splitter: str
    """How a comment becomes sentences."""
    max_claims: int | None
    """Most claims and implications a score counts; None for all."""
    max_issues: int | None
    """Most issues of one hunk that a score counts; None for all."""
    threshold: float | None
    """The matcher's cosine threshold, for the report; None when it has none."""
    signature: Mapping[str, str]
    """Names all of the above; a result adds the generator and the tools that spoke."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """A pair before encoding."""

    pair: Pair
    parsed: tuple[ParsedComment, ...]
    scopes: tuple[Scope | None, ...]
    references: tuple[PseudoReference, ...]
    analysis: Analysis
    notes: tuple[str, ...]


def run(pairs: Sequence[Pair], parts: Parts) -> tuple[Result, ...]:
    """Score each pair.

    Claims are made once a diff and every distinct text is encoded once, in one call, so the
    cost grows with the distinct texts.

    Args:
        pairs: Any number of changes with their reviews.
        parts: What to score with.

    Returns:
        One result a pair, in order.

    Raises:
        CRScoreError: A part failed; nothing is scored then.
    """
    # A comment on an older version is a review of that version, too: a pair of its own.
    earlier = [(at, index) for at, pair in enumerate(pairs) for index in pair.originals]
    older = [Pair(pairs[at].originals[i], (pairs[at].comments[i],)) for at, i in earlier]
    works = _prepare_all([*pairs, *older], parts)
    vectors = _encode(works, parts.encoder)
    originals: list[dict[int, Result]] = [{} for _ in pairs]
    for (at, index), work in zip(earlier, works[len(pairs) :], strict=True):
        originals[at][index] = _score(work, vectors, parts, {})
    return tuple(
        _score(work, vectors, parts, own) for work, own in zip(works, originals, strict=False)
    )


def _prepare_all(pairs: Sequence[Pair], parts: Parts) -> list[_Work]:
    """Make the claims and find the issues of all changes, each once and in one call."""
    diffs = list({id(pair.diff): pair.diff for pair in pairs}.values())
    claims = dict(zip(map(id, diffs), parts.generator.generate(diffs), strict=True))
    found = dict(zip(map(id, diffs), _issues(diffs, parts), strict=True))
    for key, chosen in found.items():
        left = issues.unsaid(claims[key].references, chosen.references, parts.encoder)
        claims[key] = replace(claims[key], references=left)
    return [_prepare(pair, claims[id(pair.diff)], found[id(pair.diff)], parts) for pair in pairs]


def _issues(diffs: Sequence[Diff], parts: Parts) -> list[Chosen]:
    return [
        issues.choose_issues(analysis, diff, parts.encoder, per_hunk=parts.max_issues)
        for diff, analysis in zip(diffs, parts.analyzers.analyze(diffs), strict=True)
    ]


def _prepare(pair: Pair, claims: Claims, found: Chosen, parts: Parts) -> _Work:
    everything = (*claims.references, *found.references)
    selected = references.select(everything, limit=parts.max_claims)
    attached = tuple(
        assembly.widen_scope(scopes.attach(comment, pair.diff), selected, pair.diff)
        for comment in pair.comments
    )
    used = {i for i, ref in enumerate(selected) if ref.counted}
    for scope in set(attached):
        if scope is not None:
            used |= set(assembly.select_rows(selected, scope, pair.diff, limit=parts.max_claims))
    return _Work(
        pair=pair,
        parsed=tuple(
            sentences.split_comment(c.body, splitter=parts.splitter) for c in pair.comments
        ),
        scopes=attached,
        references=tuple(ref for i, ref in enumerate(selected) if i in used),
        analysis=found.analysis,
        notes=(*pair.diff.notes, *claims.notes, *found.analysis.notes),
    )


def _read(reference: PseudoReference) -> str:
    return reference.reading or reference.text


def _encode(works: Sequence[_Work], encoder: Encoder) -> Vectors:
    texts: dict[str, None] = {}
    for work in works:
        texts.update(dict.fromkeys(_read(ref) for ref in work.references))
        texts.update(
            dict.fromkeys(text for part in work.parsed for text in (*part.sentences, *part.hidden))
        )
    ordered = list(texts)
    return dict(zip(ordered, encoder.encode(ordered), strict=True)) if ordered else {}


def _stack(texts: Sequence[str], vectors: Vectors) -> npt.NDArray[np.float32]:
    width = len(next(iter(vectors.values()))) if vectors else 0
    rows = [vectors[text] for text in texts]
    return np.stack(rows) if rows else np.zeros((0, width), dtype=np.float32)


def _score(work: _Work, vectors: Vectors, parts: Parts, originals: Mapping[int, Result]) -> Result:
    units = (*_units(work.parsed, hidden=False), *_units(work.parsed, hidden=True))
    rows = _stack([_read(ref) for ref in work.references], vectors)
    columns = _stack([unit.text for unit in units], vectors)
    cells = Cells(
        diff=work.pair.diff,
        references=work.references,
        sentences=units,
        reference_vectors=rows,
        sentence_vectors=columns,
        similarity=similarity.cosine(rows, columns),
    )
    judged = parts.matcher.match(cells)
    # In the order of the comments, as a reader meets them.
    kept = sorted(np.flatnonzero(judged.kept), key=lambda column: units[column].comment)
    shown = tuple(units[column] for column in kept)
    board = assembly.Board(
        diff=work.pair.diff,
        references=work.references,
        units=shown,
        elsewhere=_elsewhere(shown, originals),
        originals={index: older.comments[0] for index, older in originals.items()},
        similarity=_frozen(cells.similarity[:, kept]),
        degrees=_frozen(judged.degrees[:, kept]),
        flags=tuple(judged.flags[column] for column in kept),
        decision=parts.matcher.decision,
        limit=parts.max_claims,
    )
    return assembly.build_result(
        board,
        comments=work.pair.comments,
        parsed=work.parsed,
        attached=work.scopes,
        threshold=parts.threshold,
        analysis=work.analysis,
        signature=signature.render_signature(
            {
                **parts.signature,
                # Only now is it known who wrote: a generator may have fallen back to another.
                "claims": parts.generator.identity,
                "analyzers": work.analysis.identity,
            }
        ),
        notes=work.notes,
    )


def _elsewhere(
    units: Sequence[Sentence], originals: Mapping[int, Result]
) -> npt.NDArray[np.float32]:
    """Look up how far each sentence addresses the older version that its comment is on.

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


def _units(parsed: Sequence[ParsedComment], *, hidden: bool) -> Iterator[Sentence]:
    for index, part in enumerate(parsed):
        for text in part.hidden if hidden else part.sentences:
            yield Sentence(text=text, comment=index, hidden=hidden)


def _frozen(matrix: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    matrix.setflags(write=False)
    return matrix
