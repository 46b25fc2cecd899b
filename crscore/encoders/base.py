"""What an encoder promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt


class Encoder(Protocol):
    """Turns texts into unit vectors.

    A plugin module `crscore/encoders/<name>.py` has `create(options) -> Encoder`. It may have
    `missing() -> str | None`, which tells `crscore doctor` what it lacks and how to get it.
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
