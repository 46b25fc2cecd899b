"""CodeBERTScore: precision, recall and F of the best matches between token vectors.

A token of one side is as good as its most similar token of the other side. Where the published
code and this module differ: padding is never matched; an empty side has a defined score; several
references work together with a context; the operators `= < > % ! ^` count (option `punctuation`).

Source:
    Zhou et al., EMNLP 2023, arXiv:2302.05527.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
import numpy as np

from crscore.code.metrics.base import Floats, MeanMetric, Metric
from crscore.code.metrics.codebertscore import alignment, hugging_face
from crscore.code.metrics.codebertscore.embedded import EmbeddedSource
from crscore.code.metrics.codebertscore.hugging_face import HuggingFaceSource
from crscore.code.metrics.codebertscore.tokens import Text, Tokens, TokenSource
from crscore.code.samples import Sample
from crscore.encoders.minilm import MiniLM
from crscore.errors import ConfigError

Frequencies = tuple[dict[int, float], float]

EMBEDDED: Final = "minilm"
BY_LANGUAGE: Final = "auto"
BASELINE: Final = 0.5
"""Score that `rescale` maps to 0; no baselines were measured for the published models."""
MAX_CHARACTERS: Final = 30_000
"""Longest code that is compared; bounds the time."""
MAX_CONTEXT: Final = 10_000
"""Characters of a context that are read, its last ones."""
_BATCH: Final = 500_000
"""Characters whose token vectors are held at once, some 500 MB; at least one sample's."""


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of the metric."""

    model: str = EMBEDDED
    """`minilm`, the embedded encoder of English; `auto`, the published model of each sample's
    language; or a model of the Hugging Face hub, or a folder."""
    value: Literal["precision", "recall", "f1", "f3"] = "f1"
    """In the paper, F1 agrees best with people, F3 (mostly recall) with tests."""
    idf: bool = False
    """Weigh tokens by how few of the references of the samples scored together have them."""
    context: bool = False
    """Read the samples' contexts before their code; the paper does, for people's grades. With the
    embedded encoder it lowers the agreement."""
    punctuation: Literal["operators", "published", "all"] = "operators"
    """Punctuation that is kept; see `alignment.DROPPED`."""
    rescale: bool = False
    """Stretch scores from [0.5, 1] to [0, 1]; lower ones become 0."""
    layer: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """Layer of a Hugging Face model; None for that of the paper, or the last."""
    revision: str | None = None
    """Commit, branch or tag of a model of the hub."""
    offline: bool = False
    """Use only what is on this machine."""
    device: str = "cpu"
    """PyTorch's device for a Hugging Face model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeBERTScore(MeanMetric):
    """CodeBERTScore with any source of token vectors."""

    max_characters = MAX_CHARACTERS
    sources: Mapping[str | None, TokenSource]
    """Source by language; that of None serves all others."""
    options: Options

    @property
    def identity(self) -> str:
        """Name, value, tokens that count, and sources."""
        options = self.options
        parts = [options.value, f"punctuation:{options.punctuation}"]
        parts += [name for name in ("idf", "context", "rescale") if getattr(options, name)]
        sources = {language or "*": source.identity for language, source in self.sources.items()}
        parts += [f"{language}={sources[language]}" for language in sorted(sources)]
        return f"codebertscore[{','.join(parts)}]"

    def scores(self, samples: Sequence[Sample]) -> Floats:
        """Score samples.

        Raises:
            ConfigError: The model has no such layer.
            DependencyError: A package is missing.
            ModelNotFoundError: The model's files are not available.
            EncodingError: The model cannot be loaded or used.
        """
        scores = np.zeros(len(samples))
        languages = [
            sample.language if sample.language in self.sources else None for sample in samples
        ]
        for language, source in self.sources.items():
            rows = [row for row, key in enumerate(languages) if key == language]
            scores[rows] = self._score([samples[row] for row in rows], source)
        if self.options.rescale:
            scores = np.maximum(0.0, (scores - BASELINE) / (1.0 - BASELINE))
        return scores

    def _score(self, samples: Sequence[Sample], source: TokenSource) -> list[float]:
        frequencies = self._frequencies(samples, source) if self.options.idf else None
        value = alignment.VALUES.index(self.options.value)
        scores: list[float] = []
        sides: dict[Text, _Side] = {}
        for batch in _batches(samples):
            sides = self._read(batch, source, frequencies, sides)
            for sample in batch:
                candidate, *references = (sides[text] for text in self._texts(sample))
                scores.append(
                    max(float(_align(candidate, reference)[value]) for reference in references)
                )
        return scores

    def _texts(self, sample: Sample) -> list[Text]:
        # Its end, which is next to the code.
        context = sample.context[-MAX_CONTEXT:] if self.options.context else ""
        return [Text(context, code) for code in (sample.candidate, *sample.references)]

    def _read(
        self,
        samples: Sequence[Sample],
        source: TokenSource,
        frequencies: Frequencies | None,
        previous: dict[Text, _Side],
    ) -> dict[Text, _Side]:
        """Return the tokens of the texts of some samples; `previous` has the last batch's."""
        texts = dict.fromkeys(text for sample in samples for text in self._texts(sample))
        new = [text for text in texts if text not in previous]
        # Neighbouring samples often share references.
        sides = {text: side for text, side in previous.items() if text in texts}
        for text, tokens in zip(new, source.tokens(new), strict=True):
            words = alignment.drop_punctuation(tokens, self.options.punctuation)
            sides[text] = _Side(words, alignment.weights_of(words, frequencies))
        return sides

    def _frequencies(self, samples: Sequence[Sample], source: TokenSource) -> Frequencies:
        references = dict.fromkeys(code for sample in samples for code in sample.references)
        documents = [
            source.tokens([Text("", code)])[0].keys.tolist()  # one by one: vectors are large
            for code in references
        ]
        return alignment.inverse_frequencies(documents)


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    tokens: Tokens
    weights: Floats


def _align(candidate: _Side, reference: _Side) -> Floats:
    return alignment.align(
        candidate.tokens,
        reference.tokens,
        candidate_weights=candidate.weights,
        reference_weights=reference.weights,
    )


def _batches(samples: Sequence[Sample]) -> Iterator[list[Sample]]:
    batch: list[Sample] = []
    characters = 0
    for sample in samples:
        size = len(sample.candidate) + sum(map(len, sample.references)) + len(sample.context)
        if batch and characters + size > _BATCH:
            yield batch
            batch, characters = [], 0
        batch.append(sample)
        characters += size
    if batch:
        yield batch


def create(options: Options) -> Metric:
    """Create the metric.

    Raises:
        ConfigError: An option does not go with the model.
    """
    origin = "metric codebertscore"
    if options.model == EMBEDDED:
        for name in ("layer", "revision"):
            if getattr(options, name) is not None:
                raise ConfigError(name, origin, "goes with a Hugging Face model only")
        source = EmbeddedSource(MiniLM(offline=options.offline))
        return CodeBERTScore(sources={None: source}, options=options)
    if options.revision is not None and Path(options.model).is_dir():
        raise ConfigError("revision", origin, f"the folder {options.model} has no revisions")
    if options.model != BY_LANGUAGE:
        return CodeBERTScore(sources={None: _source(options.model, options)}, options=options)
    if options.revision is not None:
        raise ConfigError("revision", origin, "goes with one model, not with `auto`")
    sources: dict[str | None, TokenSource]
    sources = {language: _source(model, options) for language, model in hugging_face.MODELS.items()}
    sources[None] = _source(hugging_face.GENERAL_MODEL, options)
    return CodeBERTScore(sources=sources, options=options)


def _source(model: str, options: Options) -> HuggingFaceSource:
    return HuggingFaceSource(
        model=model,
        revision=options.revision,
        layer=options.layer,
        offline=options.offline,
        device=options.device,
    )
