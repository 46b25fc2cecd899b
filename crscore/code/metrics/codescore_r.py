"""CodeScore-R: how similarly two pieces of code behave, measured by vectors of their sketches.

A sketch is code with its names replaced by numbered ones (`crscore.syntax.sketch`). A candidate
that does not parse scores 0. Otherwise the score is the cosine of the two sketches' vectors.

Source:
    Yang et al., arXiv:2406.06902. The authors trained UniXcoder as `crscore train code` trains an
    encoder, and did not publish its weights, so there is no default encoder. They compiled
    candidates with CPython and the JDK; this module parses them with the grammar and, for Python,
    also with `ast.parse`.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from crscore.code.hugging_face import load_model, max_tokens
from crscore.code.metrics.metric import Metric, mean_metric
from crscore.code.samples import Sample
from crscore.syntax.sketch import sketch
from crscore.syntax.trees import parse_code

MAX_CHARS: Final = 50_000
"""Maximum number of characters of a candidate, reference or context that are read."""
MAX_TOKENS: Final = 512
"""Maximum number of tokens of a sketch; further tokens are cut off."""
_BATCH_SIZE: Final = 16


def _encode(model: str, sketches: Sequence[str]) -> npt.NDArray[np.float32]:
    """Encode sketches as unit vectors, one per row; a zero vector stays zero."""
    tokenizer, encoder = load_model(model)
    import torch  # noqa: PLC0415

    rows = []
    with torch.inference_mode():
        for start in range(0, len(sketches), _BATCH_SIZE):
            texts = sketches[start : start + _BATCH_SIZE]
            batch = tokenize(tokenizer, texts, max_tokens(tokenizer, encoder))
            rows.append(extract(encoder, batch).relu())
        units = torch.nn.functional.normalize(torch.cat(rows), dim=1)
    vectors: npt.NDArray[np.float32] = units.float().numpy()
    return vectors


def tokenize(tokenizer: Any, texts: Sequence[str], limit: int) -> Any:
    """Convert texts to padded tensors of at most `limit` and at most `MAX_TOKENS` tokens."""
    longest = min(limit, MAX_TOKENS)
    return tokenizer(
        list(texts), padding=True, truncation=True, max_length=longest, return_tensors="pt"
    )


def extract(model: Any, batch: Any) -> Any:
    """Return the last layer's vector of the first token of each text, shape (N, width)."""
    return model(**batch, output_hidden_states=True).hidden_states[-1][:, 0]


def _sketch(code: str, sample: Sample) -> str:
    return sketch(code[:MAX_CHARS], sample.language, context=sample.context[-MAX_CHARS:])


def create(*, model: str | None = None) -> Metric:
    """Create the metric.

    Args:
        model: Folder of a Hugging Face encoder, or its name on the hub. Without an encoder, the
            metric cannot score any code.
    """

    def identify() -> str:
        if model is None:
            return "codescore_r:cosine"
        commit = getattr(load_model(model)[1].config, "_commit_hash", None)
        name = f"{model}@{commit[:8]}" if commit else model
        return f"codescore_r:cosine:{name}:cls-relu"

    def scores(samples: Sequence[Sample]) -> npt.NDArray[np.float64]:
        assert model is not None  # noqa: S101 - else the metric refuses all samples
        values = np.zeros(len(samples))
        pairs: list[tuple[int, str, str]] = []
        for index, sample in enumerate(samples):
            references = [text for text in sample.references if text.strip()]
            code, language, context = sample.candidate, sample.language, sample.context
            # Some candidates parse only after their context.
            texts = [code, f"{context}{code}"] if context.strip() else [code]
            if not code.strip():
                # Empty code agrees only with an empty reference.
                values[index] = len(references) < len(sample.references)
            elif any(parse_code(text, language).errors == 0 for text in texts):
                candidate = _sketch(code, sample)
                pairs += [(index, candidate, _sketch(text, sample)) for text in references]
        if pairs:
            sketches = list(dict.fromkeys(text for pair in pairs for text in pair[1:]))
            vectors = dict(zip(sketches, _encode(model, sketches), strict=True))
            for index, candidate, reference in pairs:
                cosine = float(vectors[candidate] @ vectors[reference])
                # The value starts at 0, so a negative cosine counts as 0.
                values[index] = max(values[index], min(cosine, 1.0))
        return values

    refusal = None if model else "it needs an encoder: codescore_r:model=NAME"
    return mean_metric("codescore_r", identify, scores, needs_grammar=True, refusal=refusal)
