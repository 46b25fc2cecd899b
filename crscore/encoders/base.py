"""Interface of encoders."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt


class Encoder(Protocol):
    """Turns texts into unit vectors.

    A plugin module `crscore/encoders/<name>.py` has `Options` and `create(options) -> Encoder`.
    It may have `missing() -> str | None`, which tells `crscore doctor` what it lacks and how to
    get it.
    Creating is cheap; the model loads once, at the first `encode`.
    """

    @property
    def identity(self) -> str:
        """Name, model and revision for the signature: same identity, same vectors."""
        ...

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Encode texts.

        Args:
            texts: Any number of texts, of any length; longer ones are cut at the model's limit.

        Returns:
            Float32 array of shape (N, D): row i is text i's vector, of length 1
            (a text without any token gives the zero vector). N may be 0.

        Raises:
            ModelNotFoundError: The model's files are not here.
            EncodingError: The model refuses a text.
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
    """An encoder that can show the tokens behind a text's vector; not all of them can."""

    def tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Encode the tokens of texts.

        All vectors are held at once, some 100 KB a sentence: call it on a few hundred texts.

        Args:
            texts: Any number of texts, cut as `encode` cuts them.

        Returns:
            One value a text, in the order of `texts`; an empty text has its markers alone.

        Raises:
            ModelNotFoundError: The model's files are not here.
            EncodingError: The model refuses a text.
        """
        ...
