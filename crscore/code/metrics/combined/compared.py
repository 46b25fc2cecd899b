"""Samples as rows of features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from crscore.code.metrics.codebertscore.tokens import TokenSource
from crscore.code.metrics.combined.features import NAMES, Seen, features, look
from crscore.code.metrics.combined.pieces import take_apart
from crscore.code.metrics.combined.vectors import Vectors, compare, read_pieces, read_prose
from crscore.code.samples import Sample

Floats = npt.NDArray[np.float64]
Code = tuple[str, str | None, str]

MAX_CONTEXT: Final = 4_000
"""Characters of a context that are encoded, its last ones."""
_CODE_ENDS: Final = (":", "{", "}", ";", '"""', "'''", "*/")
_BATCH: Final = 250
"""Samples whose vectors are held at once."""


class Compared(NamedTuple):
    """A candidate beside each of its R references."""

    rows: Floats
    """Features, shape (R, F)."""
    fixed: Floats
    """Shape (R,): score that needs no features, NaN elsewhere: 0 where one side has no token, 1
    where both have none or are the same but for names, comments and layout."""


def compare_samples(samples: Sequence[Sample], source: TokenSource) -> Iterator[Compared]:
    """Compare the candidates of samples with their references.

    Raises:
        InputError: There is no grammar for a sample's language.
        DependencyError: A package is missing.
        ModelNotFoundError: The encoder's files are not available.
    """
    for start in range(0, len(samples), _BATCH):
        batch = samples[start : start + _BATCH]
        codes: dict[Code, Seen] = {
            code: look(take_apart(*code))
            for code in dict.fromkeys(code for sample in batch for code in _codes(sample))
        }
        texts = {seen.piece.text: seen.piece for seen in codes.values()}
        vectors = dict(zip(texts, read_pieces(source, list(texts.values())), strict=True))
        told = list(dict.fromkeys(sample.context[-MAX_CONTEXT:] for sample in batch))
        contexts = dict(zip(told, read_prose(source, told), strict=True))
        for sample in batch:
            candidate, *references = (
                (codes[code], vectors[codes[code].piece.text]) for code in _codes(sample)
            )
            context = contexts[sample.context[-MAX_CONTEXT:]]
            is_prose = _is_prose(sample.context)
            cosine = float(candidate[1].mean @ context.mean) if is_prose else 0.0
            yield _compared(candidate, references, cosine)


def _is_prose(context: str) -> bool:
    """Tell an intent in words from a prompt in code, which ends as code does."""
    return bool(context.strip()) and not context.rstrip().endswith(_CODE_ENDS)


def _codes(sample: Sample) -> list[Code]:
    return [
        (code, sample.language, sample.context) for code in (sample.candidate, *sample.references)
    ]


def _compared(
    candidate: tuple[Seen, Vectors], references: Sequence[tuple[Seen, Vectors]], cosine: float
) -> Compared:
    rows = np.zeros((len(references), len(NAMES)))
    fixed = np.full(len(references), np.nan)
    for at, (reference, vectors) in enumerate(references):
        mine, theirs = candidate[0].piece, reference.piece
        if mine.numbered == theirs.numbered and mine.subtrees == theirs.subtrees:
            fixed[at] = 1.0
        elif not mine.tokens or not theirs.tokens:
            fixed[at] = 0.0
        rows[at] = features(candidate[0], reference, compare(candidate[1], vectors), cosine)
    return Compared(rows, fixed)
