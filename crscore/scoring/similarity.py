"""Cosine similarity between two sets of unit vectors."""

import numpy as np
import numpy.typing as npt

from crscore.errors import EncodingError


def cosine(
    references: npt.NDArray[np.float32], sentences: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Compare every pseudo-reference with every sentence.

    Args:
        references: Unit rows, shape (R, D).
        sentences: Unit rows, shape (S, D).

    Returns:
        Read-only float32 array of shape (R, S), each value in [-1, 1]. R and S may be 0.

    Raises:
        EncodingError: The two sides differ in D, or a vector holds NaN or infinity.

    Source:
        Naik et al., NAACL 2025, arXiv:2409.19801, section 4: s(p, r) is the cosine.

    Example:
        >>> import numpy as np
        >>> axes = np.eye(2, dtype=np.float32)
        >>> cosine(axes[:1], axes).tolist()
        [[1.0, 0.0]]
    """
    if references.ndim != 2 or sentences.ndim != 2 or references.shape[1] != sentences.shape[1]:
        shapes = f"{references.shape} and {sentences.shape}"
        raise EncodingError(f"vectors of shapes {shapes} cannot be compared")
    # Rounding can leave a product of unit vectors one ulp outside the range.
    products = references @ sentences.T
    matrix: npt.NDArray[np.float32] = np.clip(products, -1.0, 1.0).astype(np.float32, copy=False)
    if not np.isfinite(matrix).all():
        raise EncodingError("the encoder gave a vector with NaN or infinity")
    matrix.setflags(write=False)
    return matrix
