"""Comments on older versions of a change, and the use of their scores for that version."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from crscore.records import Remark, Result, Sentence, Usefulness


def degrees_of(
    units: Sequence[Sentence], originals: Mapping[int, Result]
) -> npt.NDArray[np.float32]:
    """Return the degree to which each sentence addresses the older version of its comment.

    Args:
        units: The S sentences of the review.
        originals: Index of a comment -> its result for the older version.

    Returns:
        Shape (S,), each in [0, 1]; 0 for the sentences of all other comments.
    """
    degrees = {}
    for index, older in originals.items():
        counted = [reference.counted for reference in older.references]
        best = older.degrees[counted].max(axis=0, initial=0.0)
        for sentence, degree in zip(older.sentences, best, strict=True):
            degrees[index, sentence.text] = float(degree)
    return np.array(
        [degrees.get((sentence.comment, sentence.text), 0.0) for sentence in units],
        dtype=np.float32,
    )


def usefulness_of(
    remarks: Sequence[Remark], originals: Mapping[int, Result]
) -> dict[int, Usefulness]:
    """Return the usefulness of comments for their older versions, by the index of the comment.

    Its shares refer to the remarks of the result. A comment that is divided into another number of
    remarks there has no usefulness.

    Args:
        remarks: The remarks of the result.
        originals: Index of a comment -> its result for the older version.
    """
    usefulness_by_comment: dict[int, Usefulness] = {}
    for index, older in originals.items():
        numbers = [number for number, remark in enumerate(remarks) if remark.comment == index]
        usefulness = older.comments[0].usefulness
        if numbers and usefulness is not None and len(older.remarks) == len(numbers):
            shares = tuple(
                replace(share, remark=numbers[share.remark]) for share in usefulness.shares
            )
            usefulness_by_comment[index] = replace(usefulness, shares=shares)
    return usefulness_by_comment
