"""Reads documents that `crscore validate --format json` wrote."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from crscore import jsonl
from crscore.errors import InputError
from crscore_lab.study.data.study import Rating

SCHEMA: Final = "urn:crscore:validation:1"
"""Schema identifier of the document of one run."""
TRAINED_ON_DATA: Final = (
    "the matcher was trained on this very data, so it looks better than it is: use --split"
)
"""Note of a run that scored its matcher's training data; comparisons warn with the same text."""


class ReviewKey(NamedTuple):
    """Identity of a review, the same in all runs over a study."""

    change: str
    """Id of the change."""
    system: str
    """Name of the system that wrote the review."""
    occurrence: int
    """Index of the review among the system's reviews of the change, from 0."""


class SavedReview(Struct, frozen=True, kw_only=True):
    """Human ratings and scores of one review."""

    change: str
    """Id of the change."""
    system: str
    """Name of the system that wrote the review."""
    human: tuple[Rating, Rating, Rating]
    """Likert ratings, 1 to 5: conciseness, comprehensiveness, relevance."""
    scores: tuple[float, float, float]
    """Values of the primary metric for the same dimensions; 0 for a review without a sentence."""


class _Data(Struct):
    sha256: str


class _Document(Struct):
    metric: str
    signature: str
    data: _Data
    reviews: tuple[SavedReview, ...]
    notes: tuple[str, ...] = ()


class SavedRun(NamedTuple):
    """Saved result of a run over a study."""

    name: str
    """Name of the file."""
    metric: str
    """Name of the primary metric."""
    signature: str
    """Signature of the score."""
    sha256: str
    """Hash of the study."""
    reviews: Mapping[ReviewKey, SavedReview]
    """Reviews in study order."""
    is_trained_on_data: bool = False
    """Whether the run's matcher was trained on the reviews that it scored."""


def is_run(path: Path) -> bool:
    """Return whether a file is a saved run rather than a study.

    Args:
        path: A file; if it cannot be read, the result is False.
    """
    try:
        content = msgspec.json.decode(jsonl.read_bytes(path, "a result"))
    except (InputError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(content, dict) and content.get("schema") == SCHEMA


def read_saved_run(path: Path) -> SavedRun:
    """Read a saved run.

    Args:
        path: A file written by `crscore validate DATA --format json -o PATH`.

    Returns:
        The run with the ratings and scores of its reviews.

    Raises:
        InputError: The file does not exist, or it is not a saved run.
    """
    if not path.exists():
        raise InputError(f"{path} does not exist")
    if not is_run(path):
        raise InputError(
            f"{path} is not a result of crscore validate; make one with: "
            "crscore validate DATA --format json -o A.json"
        )
    content = msgspec.json.decode(jsonl.read_bytes(path, "a result"))
    document = jsonl.convert(content, _Document, str(path))
    reviews: dict[ReviewKey, SavedReview] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for row in document.reviews:
        # A system may have reviewed a change more than once.
        pair = row.change, row.system
        reviews[ReviewKey(*pair, counts[pair])] = row
        counts[pair] += 1
    return SavedRun(
        name=path.name,
        metric=document.metric,
        signature=document.signature,
        sha256=document.data.sha256,
        reviews=reviews,
        # The document has no field for this, only a note.
        is_trained_on_data=TRAINED_ON_DATA in document.notes,
    )
