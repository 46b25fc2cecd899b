"""Interface of encoders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Encoder(Protocol):
    """Encoder of texts as unit vectors.

    A plugin module `crscore/encoders/<name>.py` has `Options` and `create(options) -> Encoder`. It
    may have `missing() -> str | None`, with which `crscore doctor` reports a missing dependency and
    how to install it. Creating an encoder is cheap; the model is loaded at the first `encode`.
    """

    @property
    def identity(self) -> str:
        """Name, model and revision for the signature: the same identity means the same vectors."""
        ...

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode texts.

        Args:
            texts: Any number of texts, of any length; longer texts are cut at the model's limit.

        Returns:
            Float32 array of shape (N, D): row i is text i's vector, of length 1
            (a text without any token has the zero vector). N may be 0.

        Raises:
            ModelNotFoundError: The model's files are not available.
            EncodingError: The model rejects a text.
        """
        ...


class TokenVectors(NamedTuple):
    """Vectors of the tokens of one text."""

    vectors: npt.NDArray[np.float32]
    """Shape (L, D), of any length: the model's last layer."""
    marker: npt.NDArray[np.bool_]
    """Shape (L,): True at the tokens that the tokenizer adds around a text."""


@runtime_checkable
class TokenEncoder(Encoder, Protocol):
    """Encoder that can also return the token vectors of a text."""

    def tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Encode the tokens of texts.

        All vectors are held in memory, about 100 KB per sentence: pass at most a few hundred texts.

        Args:
            texts: Any number of texts, cut as `encode` cuts them.

        Returns:
            One value per text, in the order of `texts`; an empty text has only special tokens.

        Raises:
            ModelNotFoundError: The model's files are not available.
            EncodingError: The model rejects a text.
        """
        ...
