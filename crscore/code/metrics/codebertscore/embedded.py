"""Tokens of code by all-MiniLM-L6-v2, the encoder in use, without PyTorch.

The model's words are English and in lower case, so code is first cut into words: the parts of
`camelCase` and `snake_case` names, numbers, and single signs. The vectors are those of the last
layer, for which alone the network's graph has an output.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from crscore.code.metrics.codebertscore.tokens import Text, Tokens, encode_windows
from crscore.encoders.minilm import BEGIN, END, MiniLM
from crscore.encoders.minilm import MAX_TOKENS as LIMIT

_WORD: Final = re.compile(r"[A-Z]{1,40}(?![a-z])|[A-Z]?[a-z]{1,40}|[0-9]{1,40}|[^\W_]|[^\w\s]")
"""Longer words are cut: the tokenizer takes all words of over 100 characters for the same one."""


@dataclass(frozen=True, slots=True)
class EmbeddedSource:
    """Last layer of the embedded encoder."""

    encoder: MiniLM

    @property
    def identity(self) -> str:
        """Identity of the encoder."""
        return self.encoder.identity

    def tokens(self, texts: Sequence[Text]) -> list[Tokens]:
        """Return the tokens of the code of each text."""
        split = [(words_of(text.context), words_of(text.code)) for text in texts]
        vocabulary = sorted({word for pair in split for words in pair for word in words})
        pieces = dict(zip(vocabulary, self.encoder.pieces(vocabulary), strict=True))
        codes = [[(key, word) for word in code for key in pieces[word]] for _, code in split]
        rows = [
            [
                BEGIN,
                *(key for word in context for key in pieces[word]),
                *(key for key, _ in code),
                END,
            ]
            for (context, _), code in zip(split, codes, strict=True)
        ]
        encoded = encode_windows(rows, LIMIT, self.encoder.encode_pieces)
        return [_tokens(code, vectors) for code, vectors in zip(codes, encoded, strict=True)]


def words_of(text: str) -> list[str]:
    """Cut a text into the words that are encoded.

    Example:
        >>> words_of("maxSize += row_list[10]")
        ['max', 'Size', '+', '=', 'row', 'list', '[', '10', ']']
    """
    return _WORD.findall(text)


def _tokens(code: list[tuple[int, str]], vectors: npt.NDArray[np.float32]) -> Tokens:
    marker = np.zeros(len(code) + 2, dtype=np.bool_)
    marker[[0, -1]] = True
    return Tokens(
        keys=np.array([BEGIN, *(key for key, _ in code), END], dtype=np.int64),
        spelled=("", *(word for _, word in code), ""),
        marker=marker,
        # Between the first special token and the code lies the context.
        vectors=np.concatenate([vectors[:1], vectors[len(vectors) - len(code) - 1 :]]),
    )
