"""Encodes texts by hashing their words and character trigrams, without a model.

This encoder is for tests and for trying crscore out: texts that share words are similar, whatever
they mean. It is deterministic, and reads nothing from the disk or the network.
"""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
import numpy as np
import numpy.typing as npt

from crscore.encoders._pooling import unit_rows
from crscore.encoders.base import Encoder
from crscore.text import replace_surrogates

# Trigrams match the inflections of a word ("reads", "reading").
TRIGRAM_WEIGHT = 0.25
"""Weight of each trigram, relative to 1 for a word."""

# "read_file(x)" -> read_file, x;  "naïve 日本" -> naïve, 日本;  "..." -> nothing
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hashing:
    """Hashing encoder: each word and trigram adds to one dimension, chosen by its CRC-32."""

    dim: int = 256
    """Width of the vectors, at least 1."""

    @property
    def identity(self) -> str:
        """Name and width: `hashing:256`."""
        return f"hashing:{self.dim}"

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode texts.

        Args:
            texts: Any number of texts of any length.

        Returns:
            Float32, shape (N, dim), values in [0, 1], rows of length 1. A text without a
            letter or digit has no word and the zero vector.

        Example:
            >>> rows = Hashing(dim=64).encode(["Close the file.", "the FILE close", "?"])
            >>> [round(float(value), 3) for value in rows @ rows[0]]
            [1.0, 1.0, 0.0]
        """
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in _WORD.findall(replace_surrogates(text).casefold()):
                # With `<` and `>`, a trigram at the edge of a word differs from one inside a word.
                edged = f"<{word}>"
                trigrams = [edged[start : start + 3] for start in range(len(edged) - 2)]
                weights = [(word, 1.0), *((trigram, TRIGRAM_WEIGHT) for trigram in trigrams)]
                for feature, weight in weights:
                    # Not `hash`, because its values differ between processes.
                    row[zlib.crc32(feature.encode()) % self.dim] += weight
        return unit_rows(rows)


def create(*, model: Annotated[int, msgspec.Meta(ge=1, le=65_536)] = 256) -> Encoder:
    """Create the encoder; `model` is the width of the vectors: 64 for `hashing:64`."""
    return Hashing(dim=model)
