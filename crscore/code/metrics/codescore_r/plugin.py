"""CodeScore-R: whether a candidate does what a reference does, by sketches and contrastive vectors.

A candidate that does not parse has 0. Otherwise the score is the cosine of the sketches' vectors;
with `value=binary` 1 where that is above the threshold, else 0.

The default vectors need no PyTorch: a head learned on features of the syntax tree (`head.py`),
whose cosine is raised to a learned power; 0.1 of the score is the cosine of the features. With
`model` they are those of a Hugging Face encoder.

Source:
    CodeScore-R. There the encoder is UniXcoder, trained with masked tokens as well; its weights are
    not published. Candidates are compiled there by CPython and the JDK; here they are parsed by the
    grammar, and those of Python by `ast.parse` as well.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from crscore import jsonl
from crscore.code import limits
from crscore.code.metrics.base import MeanMetric, Metric
from crscore.code.metrics.codescore_r import head, transformer
from crscore.code.samples import Sample
from crscore.suggestions.sketch import sketch
from crscore.suggestions.trees import grammar_of, parse_code

MAX_CHARS = 50_000
"""Most characters that are compared of a code."""


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of the metric."""

    value: Literal["cosine", "binary"] = "cosine"
    threshold: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5
    """A higher cosine is a 1 of the binary answer."""
    weights: str | None = None
    """File of `crscore train code`; None for the shipped head."""
    model: str | None = None
    """Encoder of Hugging Face, in place of a head: a folder or a name."""
    extraction: Literal["last-avg", "first-last-avg", "cls", "cls-relu"] = "cls-relu"
    """How the states of such an encoder become a vector."""


class Encoder(Protocol):
    """Vectors of sketches."""

    @property
    def fingerprint(self) -> str:
        """Name of the weights: the same one gives the same vectors."""
        ...

    def vectors(self, sketches: Sequence[tuple[str, str]]) -> npt.NDArray[np.float32]:
        """Encode sketches, each with its language, as rows of length 1."""
        ...

    def similarity(
        self, left: npt.NDArray[np.float32], right: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """Compare rows, pair by pair; shape (N,), each in [0, 1]."""
        ...


class _Pair(NamedTuple):
    """Sketches of a candidate and a reference."""

    sample: int
    language: str
    candidate: str
    reference: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeScoreR(MeanMetric):
    """Cosine of sketches; the best reference counts."""

    options: Options
    encoder: Encoder

    @property
    def identity(self) -> str:
        """Value, threshold and encoder."""
        options = self.options
        cut = f">{options.threshold:g}" if options.value == "binary" else ""
        return f"codescore_r:{options.value}{cut}:{self.encoder.fingerprint}"

    def inapplicable(self, samples: Sequence[Sample]) -> str | None:
        """Return that a language has no grammar."""
        return limits.no_grammar(samples)

    def scores(self, samples: Sequence[Sample]) -> npt.NDArray[np.float64]:
        """Score samples."""
        scores = np.zeros(len(samples))
        pairs: list[_Pair] = []
        for number, sample in enumerate(samples):
            if not sample.candidate.strip():
                scores[number] = any(not one.strip() for one in sample.references)
            elif compiles(sample.candidate, sample.language, sample.context):
                pairs += _pairs(number, sample)
        if pairs:
            distinct = {(text, one.language): 0 for one in pairs for text in one[2:]}
            rows = self.encoder.vectors(list(distinct))
            for place, key in enumerate(distinct):
                distinct[key] = place
            left = rows[[distinct[one.candidate, one.language] for one in pairs]]
            right = rows[[distinct[one.reference, one.language] for one in pairs]]
            found = self.encoder.similarity(left, right)
            for pair, score in zip(pairs, found, strict=True):
                scores[pair.sample] = max(scores[pair.sample], score)
        if self.options.value == "binary":
            scores = (scores > self.options.threshold).astype(np.float64)
        return scores


def compiles(code: str, language: str | None, context: str = "") -> bool:
    """Return whether code parses, alone or behind its context; Python also by `ast.parse`."""
    texts = [parse_code(code, language)]
    if context.strip():
        texts.append(parse_code(f"{context}{code}", language))
    good = [one for one in texts if one.errors == 0]
    if grammar_of(language).name != "python":
        return bool(good)
    return any(_python_parses(one.source) for one in good)


def _python_parses(source: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _pairs(number: int, sample: Sample) -> list[_Pair]:
    language = sample.language or ""
    candidate = _sketch(sample.candidate, sample)
    return [
        _Pair(number, language, candidate, _sketch(one, sample))
        for one in sample.references
        if one.strip()
    ]


def _sketch(code: str, sample: Sample) -> str:
    return sketch(code[:MAX_CHARS], sample.language, context=sample.context[-MAX_CHARS:])


def create(options: Options) -> Metric:
    """Create the metric.

    Raises:
        DependencyError: `model` is given, and PyTorch or transformers is not installed.
        InputError: The file of `weights` cannot be read.
    """
    if options.model:
        return CodeScoreR(
            options=options, encoder=transformer.load(options.model, options.extraction)
        )
    if options.weights is None:
        return CodeScoreR(options=options, encoder=head.shipped())
    content = jsonl.read_bytes(Path(options.weights), "a head")
    return CodeScoreR(options=options, encoder=head.from_bytes(content))
