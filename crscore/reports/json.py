"""Report for programs: one JSON document that follows `schemas/result.schema.json`.

The document of one result is an object; several results are `{"results": [...]}`. Keys are in the
order of the types below. Texts are never truncated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from msgspec import Meta, Struct

from crscore import records
from crscore.reports import escape, view
from crscore.reports.fields import Count, Share
from crscore.scoring.assembly import ChangePoint
from crscore.version import __version__

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SCHEMA = "urn:crscore:result:8"
"""The `$id` of the document's schema."""
# The number of threads changes vectors by about 1e-7 (`encoders/minilm.py`).
DECIMALS = 6
"""Number of decimals of similarities and degrees."""

# `[`, one number per line, `]`. This never matches within a JSON string, which contains no raw line
# ends.
_NUMBERS = re.compile(r"\[\n\s+([-+\d.e]+(?:,\n\s+[-+\d.e]+)*)\n\s+\]")

Row = TypeVar("Row", bound=Struct)
# A cosine can exceed 1, because the length of a vector of 32-bit numbers is 1 only up to rounding.
Cosine = Annotated[float, Meta(ge=-1.000001, le=1.000001)]


class File(Struct, frozen=True, kw_only=True):
    """One file of the change."""

    path: str
    """Path in the new version; the old path of a deleted file; empty when unknown."""
    old_path: str | None
    """Path in the old version when it differs from `path`."""
    status: records.FileStatus
    """Kind of change."""
    language: str | None
    """Language, from the path or set by the caller; null when unknown."""
    added: Count
    """Lines added."""
    removed: Count
    """Lines removed."""
    is_binary: bool
    """True when the diff states only that binary contents differ."""
    is_submodule: bool
    """True for a submodule."""
    is_missing: bool
    """True when the file's changes are unknown: not shown by the host, or over a limit."""


class Diff(Struct, frozen=True, kw_only=True):
    """Change, without its lines."""

    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    """SHA-256 of the diff as read."""
    files: Sequence[File]
    """The changed files, in the order of the diff."""
    notes: Sequence[str]
    """Notes on parts of the diff that were repaired or omitted when it was parsed."""


class Reference(Struct, frozen=True, kw_only=True):
    """Pseudo-reference: a statement that a good review of the change should address."""

    index: Count
    """Its position in `references`, and its row in `similarity`."""
    text: str
    """One sentence."""
    kind: records.ReferenceKind
    """Claim, implication or issue."""
    source: str
    """Claim generator or analyzer that wrote it."""
    spans: Sequence[records.LineSpan]
    """Lines it refers to; empty when it applies to the whole change."""
    identifiers: Sequence[str]
    """Names of the code it refers to, most informative first."""
    reading: str
    """The statement as the encoder received it; usually the same as `text`."""
    weight: Annotated[float, Meta(gt=0, le=1)]
    """Informativeness, by which pseudo-references are sorted; it does not affect the scores."""
    counted: bool
    """False when it is excluded from the comprehensiveness of the whole change."""
    topic: records.Topic | None
    """Unit of the change that it is about; null if the generator names none."""
    best_sentence: Count | None
    """Index of the sentence that addresses it best, even if it does not count as addressed: the one
    with the highest degree and, of equal ones, the most similar one; null without sentences.
    """
    similarity: Cosine | None
    """Cosine similarity to that sentence; null without sentences."""
    degree: Share | None
    """Degree to which that sentence addresses it; null without sentences."""
    matched: bool
    """True when a sentence addresses it: its degree is high enough, it is the sentence's subject,
    or the sentence names its code.
    """


class Analysis(Struct, frozen=True, kw_only=True):
    """Findings of all tools, counted or not, and the outcome of each tool."""

    coverage: records.Coverage
    """Whether every tool that applies to the change read all of its files."""
    tools: Sequence[records.ToolRun]
    """Tools that apply to the change, in the order of their names."""
    findings: Sequence[records.Finding]
    """Findings in the order of path, line and tool."""


class Sentence(Struct, frozen=True, kw_only=True):
    """One sentence of the review."""

    index: Count
    """Its position in `sentences`, and its column in `similarity`."""
    text: str
    """Plain text; code spans keep their backticks."""
    comment: Count
    """Index in `comments` of the comment that contains it."""
    hidden: bool
    """True for text that is invisible in the rendered comment."""
    proposal: bool
    """True for a paraphrased code proposal, such as a suggestion block."""
    flag: records.Flag | None
    """Reason why the sentence counts less, such as a repetition; usually null."""
    reading: records.Reading | None
    """The network's reading of the sentence; null if the network did not read it."""
    best_reference: Count | None
    """Index of the counted pseudo-reference that it addresses best and, of equal ones, the most
    similar one; null when there is none, or when the comment is on an older version of the change
    and the best one belongs to that version.
    """
    similarity: Cosine | None
    """Cosine similarity to that pseudo-reference; null without its index."""
    degree: Share | None
    """Degree to which it addresses that pseudo-reference; null when there is none."""
    matched: bool
    """True when it addresses a counted pseudo-reference."""


class Result(Struct, frozen=True, kw_only=True):
    """One review of one change."""

    schema: Literal["urn:crscore:result:8"] = "urn:crscore:result:8"
    """Name of this schema; a breaking change gets a new number."""
    version: str = __version__
    """Version of crscore that wrote the document."""
    signature: str
    """Signature of the settings: same signature and inputs, same scores."""
    threshold: Annotated[float, Meta(ge=-1, le=1)] | None
    """Cosine threshold used; null for a matcher without one."""
    decision: Annotated[float, Meta(gt=0, lt=1)]
    """Minimum degree of a matched pair."""
    usefulness: records.Usefulness | None
    """Usefulness of all comments together, the headline; null if nothing was read, or if crscore
    has no usefulness weights for the encoder.
    """
    scores: records.Scores
    """The published scores of all comments together against the whole change."""
    baselines: records.Baselines
    """Baselines of all comments together."""
    diff: Diff
    """The change."""
    references: Sequence[Reference]
    """The R pseudo-references."""
    small: Sequence[records.Topic]
    """Topics of the change without a counted pseudo-reference, the most informative first."""
    points: Sequence[ChangePoint]
    """The points of the change, highest weight first, as all reports count and list them."""
    analysis: Analysis
    """Findings of static analysis."""
    sentences: Sequence[Sentence]
    """The S sentences."""
    remarks: Sequence[records.Remark]
    """The remarks of all comments; empty where the readings are null."""
    similarity: Sequence[Sequence[Cosine]]
    """Cosine similarities, R rows of S numbers with six decimals."""
    degrees: Sequence[Sequence[Share]]
    """The matcher's degree to which each sentence addresses each pseudo-reference: R rows of S
    numbers with six decimals; each is 0 or 1 with a threshold.
    """
    comments: Sequence[records.CommentResult]
    """All comments, in input order."""
    reviews: Sequence[records.ReviewResult]
    """One review for each author, in order of first appearance."""
    notes: Sequence[str]
    """Notes on omitted or repaired parts."""


class Results(Struct, frozen=True, kw_only=True):
    """Several reviews."""

    results: Annotated[Sequence[Result], Meta(min_length=2)]
    """One result for each review, in input order."""


def render(results: Sequence[records.Result]) -> str:
    """Render one result as an object, several as `{"results": [...]}`."""
    documents = [document(result) for result in results]
    value = documents[0] if len(documents) == 1 else Results(results=documents)
    return shorten_arrays(escape.write_json(value))


def shorten_arrays(text: str) -> str:
    """Put each array of numbers of a JSON text on one line."""
    # In an indented document, each number is on its own line.
    return _NUMBERS.sub(lambda match: f"[{' '.join(match[1].split())}]", text)


def document(result: records.Result) -> Result:
    """Make the document of one result."""
    files = [(file, *view.change_size(file)) for file in result.diff.files]
    references = zip(result.references, result.reference_matches, strict=True)
    sentences = zip(result.sentences, result.sentence_flags, result.sentence_matches, strict=True)
    return copy_fields(
        Result,
        result,
        diff=Diff(
            sha256=result.diff.sha256,
            files=[
                copy_fields(File, file, added=added, removed=removed)
                for file, added, removed in files
            ],
            notes=result.diff.notes,
        ),
        references=[
            copy_fields(
                Reference,
                item,
                index=index,
                reading=item.encoded_text,
                best_sentence=match.index,
                **_match_fields(match),
            )
            for index, (item, match) in enumerate(references)
        ],
        points=view.points(result),
        analysis=copy_fields(Analysis, result.analysis),
        sentences=[
            copy_fields(
                Sentence,
                item,
                index=index,
                flag=flag,
                reading=view.reading(result, index),
                best_reference=match.index,
                **_match_fields(match),
            )
            for index, (item, flag, match) in enumerate(sentences)
        ],
        similarity=_round_all(result.similarity),
        degrees=_round_all(result.degrees),
    )


def copy_fields(row: type[Row], source: object, **values: Any) -> Row:
    """Make a row from `values` and, for its other fields, the equally named attributes of `source`.

    A field that is in neither keeps its default.
    """
    fields = {
        name: getattr(source, name) for name in row.__struct_fields__ if hasattr(source, name)
    }
    return row(**fields | values)


def _match_fields(match: records.Match) -> dict[str, Any]:
    return {
        "similarity": _round(match.similarity),
        "degree": _round(match.degree),
        "matched": match.matched,
    }


def _round_all(values: npt.NDArray[np.float32]) -> list[list[float]]:
    return [[round(value, DECIMALS) for value in row] for row in values.tolist()]


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, DECIMALS)


def create() -> Callable[[Sequence[records.Result]], str]:
    """Create the report, which takes no options because programs always get everything."""
    return render
