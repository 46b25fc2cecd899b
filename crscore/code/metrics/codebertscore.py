"""CodeBERTScore: precision, recall and F of the best matches between token vectors.

The score of a token is its similarity to the most similar token of the other side. This module
differs from the published code as follows: padding is never matched; an empty side has a defined
score; the operators `= < > % ! ^` count; a token outside the vocabulary is similar only to equal
tokens; and a sample's context is not read.

The vectors come from all-MiniLM-L6-v2, without PyTorch, or from any encoder of the Hugging Face
hub. MiniLM's vocabulary is English and in lower case, so code is first cut into words: the parts of
`camelCase` and `snake_case` names, numbers, and single symbols.

Source:
    Zhou et al., EMNLP 2023, arXiv:2302.05527.
"""

from __future__ import annotations

import itertools
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from crscore.code.hugging_face import load_model, max_tokens
from crscore.code.metrics.metric import Doubles, Metric, mean_metric
from crscore.encoders.minilm import BEGIN, END, UNKNOWN, MiniLM
from crscore.encoders.minilm import MAX_TOKENS as MINILM_TOKENS
from crscore.errors import EncodingError
from crscore.text import replace_surrogates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from crscore.code.samples import Sample

Vectors = npt.NDArray[np.float32]

DEFAULT_MODEL: Final = "minilm"
"""Value of the option `model` for crscore's default encoder."""
BY_LANGUAGE: Final = "auto"
"""Value of the option `model` for the model in `MODELS` of each sample's language."""
MODELS: Final[Mapping[str, str]] = {
    "python": "neulab/codebert-python",
    "java": "neulab/codebert-java",
    "javascript": "neulab/codebert-javascript",
    "c": "neulab/codebert-c",
    "cpp": "neulab/codebert-cpp",
    "*": "microsoft/codebert-base-mlm",
}
"""Published model by language, named as in `ChangedFile.language`; `*` is every other language."""
# These are the paper's layers for HumanEval (https://arxiv.org/abs/2302.05527). The model for C has
# the same layer as the model for C++, and the general model has the paper's layer for CoNaLa (7).
LAYERS: Final[Mapping[str, int]] = {
    "neulab/codebert-python": 9,
    "neulab/codebert-java": 7,
    "neulab/codebert-javascript": 11,
    "neulab/codebert-c": 10,
    "neulab/codebert-cpp": 10,
    "microsoft/codebert-base-mlm": 7,
}
"""Layer whose vectors are used, by model; for any other model it is the last layer."""
VALUES: Final = ("precision", "recall", "f1", "f3")
"""Names of the values that `align` returns, in the same order."""
# Characters of operators are kept, as the paper says ("except arithmetic operators",
# https://arxiv.org/abs/2302.05527), even `= < > % ! ^`, which the paper's code drops.
_DROPPED: Final = frozenset("()[]{},;:.\"'`_@#$\\?")
"""Ignored characters: a token that consists only of these is dropped, like white space."""
MAX_CHARACTERS: Final = 30_000
"""Maximum number of characters of code that is compared, which limits the time."""
OVERLAP: Final = 0.5
"""Share of a window's tokens that serve only as context for the other tokens."""
# Words are cut after 40 letters or digits, because the tokenizer gives all words of more than 100
# characters the same token.
_WORD: Final = re.compile(r"[A-Z]{1,40}(?![a-z])|[A-Z]?[a-z]{1,40}|[0-9]{1,40}|[^\W_]|[^\w\s]")
# The token vectors of this many characters take some 500 MB.
_BATCH_CHARACTERS: Final = 500_000
"""Maximum number of characters whose token vectors are in memory at once; a single sample may have
more."""
_BATCH_TEXTS: Final = 16
"""Number of texts that a Hugging Face model reads at once."""
# This many take 16 MB; all similarities of two pieces of code of 10,000 tokens each would take
# 400 MB.
_BLOCK: Final = 4_194_304
"""Maximum number of similarities that are in memory at once."""


class Tokens(NamedTuple):
    """The L tokens of a piece of code."""

    spelled: tuple[str, ...]
    """Each token as written, without the tokenizer's marks of word boundaries; empty for white
    space."""
    special: npt.NDArray[np.bool_]
    """Shape (L,): True at special tokens, which can be matched but have no weight."""
    vectors: Vectors
    """Shape (L, D), rows of length 1."""


ReadTokens: TypeAlias = "Callable[[Sequence[str]], list[Tokens]]"
"""Function that returns the tokens of each piece of code."""


def read_minilm(encoder: MiniLM, texts: Sequence[str]) -> list[Tokens]:
    """Return the tokens of each piece of code, with vectors of MiniLM's last layer."""
    split = [_WORD.findall(text) for text in texts]
    vocabulary = sorted({word for words in split for word in words})
    pieces = dict(zip(vocabulary, encoder.pieces(vocabulary), strict=True))
    codes = [[(key, word) for word in words for key in pieces[word]] for words in split]
    rows = [[BEGIN, *(key for key, _ in code), END] for code in codes]
    all_tokens = []
    encoded = encode_windows(rows, MINILM_TOKENS, encoder.encode_pieces)
    for code, vectors in zip(codes, encoded, strict=True):
        special = np.zeros(len(code) + 2, dtype=np.bool_)
        special[[0, -1]] = True
        spelled = ("", *(word for _, word in code), "")
        unknown = np.array([False, *(key == UNKNOWN for key, _ in code), False])
        all_tokens.append(Tokens(spelled, special, tell_apart(spelled, unknown, vectors)))
    return all_tokens


def identify_model(model: str) -> str:
    """Return the name of a model and its layer; a change to the model's files is not noticed."""
    name = Path(model).name if Path(model).is_dir() else model
    return f"hf:{name}@main#{LAYERS.get(model, 'last')}"


def read_hugging_face(model: str, texts: Sequence[str]) -> list[Tokens]:
    """Return the tokens of each piece of code, with vectors of a Hugging Face model.

    Raises:
        EncodingError: The model cannot be loaded, or its tokenizer does not report positions.
    """
    tokenizer, encoder = load_model(model)
    if not tokenizer.is_fast:
        raise EncodingError(f"the tokenizer of {model} does not report the positions of tokens")
    # No tokenizer accepts lone surrogates.
    codes = [replace_surrogates(text).strip() for text in texts]
    encodings = [
        tokenizer(
            code,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
            truncation=False,
            verbose=False,
        )
        for code in codes
    ]
    rows = [encoding["input_ids"] for encoding in encodings]
    encode = partial(_encode, tokenizer, encoder, layer=LAYERS.get(model, -1))
    all_vectors = encode_windows(rows, max_tokens(tokenizer, encoder), encode)
    all_tokens = []
    for encoding, code, vectors in zip(encodings, codes, all_vectors, strict=True):
        special = np.array(encoding["special_tokens_mask"], dtype=np.bool_)
        # A token may begin with the white space before its word.
        spelled = tuple(code[start:end].strip() for start, end in encoding["offset_mapping"])
        unknown = np.array(encoding["input_ids"]) == tokenizer.unk_token_id
        all_tokens.append(Tokens(spelled, special, tell_apart(spelled, unknown, vectors)))
    return all_tokens


def _encode(
    tokenizer: Any, encoder: Any, rows: Sequence[Sequence[int]], *, layer: int
) -> list[Vectors]:
    """Return the vectors of one layer for the tokens of each row, in the order of the rows."""
    import torch  # noqa: PLC0415

    vectors: list[Vectors] = [np.zeros((0, 0), np.float32)] * len(rows)
    # Rows are sorted by length, so that the rows of a batch need little padding.
    order = sorted(range(len(rows)), key=lambda index: -len(rows[index]))
    for start in range(0, len(order), _BATCH_TEXTS):
        batch = order[start : start + _BATCH_TEXTS]
        shape = (len(batch), len(rows[batch[0]]))
        # If the tokenizer has no padding token, any number works, because the mask hides it.
        ids = torch.full(shape, tokenizer.pad_token_id or 0)
        present = torch.zeros(shape, dtype=torch.long)
        for line, index in enumerate(batch):
            ids[line, : len(rows[index])] = torch.tensor(rows[index])
            present[line, : len(rows[index])] = 1
        with torch.inference_mode():
            states = encoder(ids, attention_mask=present, output_hidden_states=True)
        hidden = states.hidden_states[layer].numpy()
        for line, index in enumerate(batch):
            # Padding is cut off here, so that a score does not depend on the rest of the batch.
            vectors[index] = hidden[line, : len(rows[index])]
    return vectors


def windows(length: int, limit: int) -> Iterator[tuple[int, int, int, int]]:
    """Cut a sequence into overlapping windows, of which only the centre is used.

    Args:
        length: Number of tokens of the sequence, at least 1.
        limit: Maximum number of tokens that an encoder reads, at least 4.

    Yields:
        For each window four indices: the start and the end of the tokens that the encoder reads,
        and the start and the end of the tokens whose vectors are taken from this window. Every
        token is taken once, and the last window ends with the sequence.

    Source:
        Ivgi et al., TACL 2023, arXiv:2208.00748 (SLED), which CodeBERTScore uses.

    Example:
        >>> list(windows(10, 4))
        [(0, 4, 0, 3), (2, 6, 3, 5), (4, 8, 5, 7), (6, 10, 7, 10)]
    """
    margin = int(limit * OVERLAP / 2)
    first, start = 0, 0
    while start + limit < length:
        end = start + limit - margin
        yield start, start + limit, first, end
        first, start = end, min(start + limit - 2 * margin, length - limit)
    yield start, length, first, length


def encode_windows(
    rows: Sequence[Sequence[int]],
    limit: int,
    encode: Callable[[list[Sequence[int]]], Sequence[Vectors]],
) -> list[Vectors]:
    """Encode sequences of tokens that may be longer than the encoder reads.

    Args:
        rows: Ids of the tokens of each sequence, at least one.
        limit: Maximum number of tokens that `encode` reads.
        encode: Function that returns the vectors of each sequence, shape (L, D).

    Returns:
        For each sequence, the vectors of its tokens, shape (L, D), with rows of length 1.
    """
    cut = [(index, window) for index, row in enumerate(rows) for window in windows(len(row), limit)]
    encoded = encode([rows[index][start:stop] for index, (start, stop, *_) in cut])
    parts: list[list[Vectors]] = [[] for _ in rows]
    for (index, (start, _, first, end)), vectors in zip(cut, encoded, strict=True):
        parts[index].append(vectors[first - start : end - start])
    units = []
    for part in parts:
        sequence = np.concatenate(part)
        # A zero vector stays zero.
        lengths = np.maximum(np.linalg.norm(sequence, axis=1, keepdims=True), 1e-12)
        units.append((sequence / lengths).astype(np.float32))
    return units


def tell_apart(spelled: Sequence[str], unknown: npt.NDArray[np.bool_], vectors: Vectors) -> Vectors:
    """Replace the vectors of tokens outside the vocabulary, so that only equal tokens are similar.

    Args:
        spelled: L tokens as written.
        unknown: Shape (L,): True at tokens outside the vocabulary.
        vectors: Shape (L, D).

    Returns:
        A copy of the vectors, in which an unknown token has a random vector of length 1, with the
        token's spelling as the seed.
    """
    # The model reads all tokens outside the vocabulary as the same token, so any two texts of such
    # tokens would be equal.
    vectors = vectors.copy()
    for index in map(int, np.flatnonzero(unknown)):
        generator = np.random.default_rng(list(spelled[index].encode(errors="replace")))
        vectors[index] = generator.standard_normal(vectors.shape[1])
        vectors[index] /= np.linalg.norm(vectors[index])
    return vectors


def drop_punctuation(tokens: Tokens) -> Tokens:
    """Return the tokens without white space and punctuation; special tokens are kept."""
    is_word = [not _DROPPED.issuperset(word) for word in tokens.spelled]
    mask = np.array(is_word, dtype=np.bool_) | tokens.special
    spelled = tuple(itertools.compress(tokens.spelled, mask))
    return Tokens(spelled, tokens.special[mask], tokens.vectors[mask])


def weights_of(tokens: Tokens) -> Doubles:
    """Return the weights of tokens, shape (L,): 0 for special tokens, equal for all others.

    The sum is 1, or 0 if there are only special tokens.
    """
    equal = (~tokens.special).astype(np.float64)
    weights: Doubles = equal / max(1.0, equal.sum())
    return weights


def align(candidate: Tokens, reference: Tokens) -> Doubles:
    """Match every token with the most similar one of the other side.

    Args:
        candidate: Tokens to compare.
        reference: Tokens to compare with.

    Returns:
        The four values of `VALUES`, shape (4,), each in [0, 1]. Precision is the weighted mean of
        the best similarities of the candidate's tokens, recall of those of the reference's. If only
        one side has a token with a weight, all values are 0; if neither side has one, all are 1.

    Source:
        Zhou et al., EMNLP 2023, arXiv:2302.05527, section 3.
    """
    candidate_weights, reference_weights = weights_of(candidate), weights_of(reference)
    if not candidate_weights.any() or not reference_weights.any():
        return np.full(4, float(candidate_weights.any() == reference_weights.any()))
    best = np.full(len(reference.vectors), -np.inf)
    precision = 0.0
    step = max(1, _BLOCK // len(reference.vectors))
    for start in range(0, len(candidate.vectors), step):
        similarity = candidate.vectors[start : start + step] @ reference.vectors.T
        precision += float(similarity.max(axis=1) @ candidate_weights[start : start + step])
        best = np.maximum(best, similarity.max(axis=0))
    # Rounding can raise a mean of cosines above 1, and dissimilar vectors have negative cosines.
    p, r = (min(max(mean, 0.0), 1.0) for mean in (precision, float(best @ reference_weights)))
    f1, f3 = ((1 + b * b) * p * r / (b * b * p + r) if p * r > 0 else 0.0 for b in (1, 3))
    return np.array([p, r, f1, f3])


def _score(column: int, read: ReadTokens, samples: Sequence[Sample]) -> list[float]:
    """Score samples by one of `VALUES` (its index), in batches that limit the memory."""
    scores: list[float] = []
    sides: dict[str, Tokens] = {}
    for batch in _batches(samples):
        texts = dict.fromkeys(
            code for sample in batch for code in (sample.candidate, *sample.references)
        )
        new = [text for text in texts if text not in sides]
        # Tokens of the last batch are kept, because neighbouring samples often share references.
        sides = {text: side for text, side in sides.items() if text in texts}
        for text, tokens in zip(new, read(new), strict=True):
            sides[text] = drop_punctuation(tokens)
        for sample in batch:
            alignments = (align(sides[sample.candidate], sides[text]) for text in sample.references)
            scores.append(max(float(values[column]) for values in alignments))
    return scores


def _batches(samples: Sequence[Sample]) -> Iterator[list[Sample]]:
    """Divide samples into batches of at most `_BATCH_CHARACTERS` characters."""
    batch: list[Sample] = []
    characters = 0
    for sample in samples:
        size = len(sample.candidate) + sum(map(len, sample.references))
        if batch and characters + size > _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
        batch.append(sample)
        characters += size
    if batch:
        yield batch


def create(
    *, model: str = DEFAULT_MODEL, value: Literal["precision", "recall", "f1", "f3"] = "f1"
) -> Metric:
    """Create the metric.

    Args:
        model: `minilm` for crscore's default encoder, which was trained on English; `auto` for the
            published model of each sample's language; or else the name of a model on the Hugging
            Face hub, or its folder.
        value: One of `VALUES`. In the paper, F1 agrees best with people's ratings, and F3, which is
            mostly recall, with the results of tests.
    """
    readers: dict[str, ReadTokens]
    if model == DEFAULT_MODEL:
        encoder = MiniLM()
        identities = {"*": encoder.identity}
        readers = {"*": partial(read_minilm, encoder)}
    else:
        models = MODELS if model == BY_LANGUAGE else {"*": model}
        identities = {key: identify_model(name) for key, name in models.items()}
        readers = {key: partial(read_hugging_face, name) for key, name in models.items()}

    def identify() -> str:
        parts = [value, "punctuation:operators", "unknown:apart"]
        parts += [f"{language}={identities[language]}" for language in sorted(identities)]
        return f"codebertscore[{','.join(parts)}]"

    def scores(samples: Sequence[Sample]) -> Doubles:
        values = np.zeros(len(samples))
        keys = [sample.language if sample.language in readers else "*" for sample in samples]
        for language, read in readers.items():
            rows = [row for row, key in enumerate(keys) if key == language]
            values[rows] = _score(VALUES.index(value), read, [samples[row] for row in rows])
        return values

    return mean_metric("codebertscore", identify, scores, max_characters=MAX_CHARACTERS)
