"""Reading back what `crscore validate --format json` wrote."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from crscore.errors import InputError
from crscore.study._fields import Fields
from crscore.study.study import DIMENSIONS, LIKERT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SCHEMA: Final = "urn:crscore:validation:1"
"""The `$id` of the schema that the document of one run keeps to."""
SEEN: Final = (
    "the matcher was trained on this very data, so it looks better than it is: use --split"
)
"""The note of a run that nothing was held out from; a comparison has to repeat it."""
# A metric is finite, and no more is asked of it here: an outside one has its own unit.
_LARGEST: Final = 1e300


class ReviewKey(NamedTuple):
    """Names a review in every run over the same data."""

    change: str
    """Its change."""
    system: str
    """Who wrote it."""
    occurrence: int
    """0, or higher where a system reviewed the change more than once."""


class SavedReview(NamedTuple):
    """One review of a saved run."""

    human: tuple[float, ...]
    """What people said, Likert: conciseness, comprehensiveness, relevance."""
    scores: tuple[float, ...]
    """What the run's primary metric says, in the same order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedRun:
    """One run over a study."""

    name: str
    """The file's name."""
    metric: str
    """The primary metric's name."""
    signature: str
    """How its score was made."""
    sha256: str
    """Hash of the study."""
    reviews: Mapping[ReviewKey, SavedReview]
    """In the order of the study."""
    seen: bool = False
    """The run says that its matcher was trained on this very study."""


def is_run(path: Path) -> bool:
    """Say whether a file is a run's document rather than a study.

    Args:
        path: A file; one that cannot be read is no run.
    """
    document = _document(path)
    return isinstance(document, dict) and document.get("schema") == SCHEMA


def read_saved_run(path: Path) -> SavedRun:
    """Read a run.

    Args:
        path: What `crscore validate DATA --format json -o PATH` wrote.

    Returns:
        Its reviews with both judgements.

    Raises:
        InputError: There is no such file, or it is no such document; the message names what is
            wrong.
    """
    if not path.exists():
        raise InputError(f"{path} does not exist")
    if not is_run(path):
        raise InputError(
            f"{path} is no result of validate; make one with: "
            "crscore validate DATA --format json -o A.json"
        )
    document = Fields(values=_document(path), place=str(path))
    data = document.values.get("data")
    if not isinstance(data, dict):
        raise document.fault("data", "an object")
    reviews: dict[ReviewKey, SavedReview] = {}
    seen: Counter[tuple[str, str]] = Counter()
    for row in document.objects("reviews"):
        who = row.text("change"), row.text("system")
        reviews[ReviewKey(*who, seen[who])] = SavedReview(
            _three(row, "human", *LIKERT), _three(row, "scores", -_LARGEST, _LARGEST)
        )
        seen[who] += 1
    return SavedRun(
        name=path.name,
        metric=document.text("metric"),
        signature=document.text("signature"),
        sha256=Fields(values=data, place=str(path), path="data.").text("sha256"),
        reviews=reviews,
        seen=SEEN in document.items("notes", str, "a list of strings"),
    )


def _document(path: Path) -> Any:
    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
        return json.loads(content)
    except (OSError, EOFError, ValueError, RecursionError, gzip.BadGzipFile):
        return None


def _three(row: Fields, key: str, low: float, high: float) -> tuple[float, ...]:
    values = row.values.get(key)
    if not isinstance(values, list) or len(values) != len(DIMENSIONS):
        raise row.fault(key, "three numbers")
    named = Fields(
        values=dict(zip(DIMENSIONS, values, strict=True)),
        place=row.place,
        path=f"{row.path}{key}.",
    )
    return tuple(named.number(dimension, low, high) for dimension in DIMENSIONS)
