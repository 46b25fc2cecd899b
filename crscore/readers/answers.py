"""Parses the answers of a language model about a comment."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Final, Literal

import msgspec

from crscore.llm.answers import read_object
from crscore.llm.base import Answer
from crscore.llm.prompt_escaping import break_control_tokens
from crscore.readers.excerpt import Excerpt, distance
from crscore.readers.quotations import ShownComment, locate
from crscore.readers.readings import ReadRemark
from crscore.records import Holds, LineSpan, RemarkReading, Stance
from crscore.text import clean

MAX_SENTENCE_CHARS: Final = 300
"""Maximum characters of the reason that a model gives for a reading."""
# Shorter lines, such as `else:` or `return x`, often occur more than once in a file.
MIN_QUOTE_CHARS: Final = 8
"""Minimum characters of a quoted line, without white space."""
STANCES: Final = {stance.name.lower(): stance for stance in Stance}
"""Word for a stance in the guide (`prompts/read.v1.toml`) -> stance."""
# A model writes the fields in this order, so it checks a remark against the code before it names
# the worth: a severe remark that is wrong has a high importance but a worth of 1
# (docs/design/033-readers.md).
_FIELDS: Final[Mapping[str, Any]] = {
    "comment": {"type": "integer"},
    "first": {"type": "string"},
    "last": {"type": "string"},
    "stance": {"enum": [*STANCES]},
    "line": {"type": "string"},
    "why": {"type": "string"},
    "holds": {"enum": [holds.value for holds in Holds]},
    "importance": {"enum": [*range(5)]},
    "specific": {"enum": [*range(11)]},
    "acts": {"enum": [*range(11)]},
    "worth": {"enum": [*range(1, 6)]},
}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    # OpenAI's strict mode demands that all properties are required and that no others are allowed:
    # https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
    required = {"required": [*properties], "additionalProperties": False}
    return {"type": "object", "properties": properties, **required}


SCHEMA: Final = _object({"remarks": {"type": "array", "items": _object(_FIELDS)}})
"""JSON Schema of an answer."""
_Tenths = Annotated[int, msgspec.Meta(ge=0, le=10)]


class _Remark(msgspec.Struct, frozen=True):
    stance: Literal[
        "request", "problem", "proposal", "question", "explanation", "praise", "description",
        "other",
    ]  # fmt: skip
    holds: Holds
    importance: Annotated[int, msgspec.Meta(ge=0, le=4)]
    specific: _Tenths
    acts: _Tenths
    worth: Annotated[float, msgspec.Meta(ge=1, le=5)]
    comment: int = 1
    first: str = ""
    last: str = ""
    line: str = ""
    why: str = ""


class _Remarks(msgspec.Struct, frozen=True):
    remarks: list[_Remark]


def read_answer(answer: Answer, shown_comment: ShownComment, excerpt: Excerpt) -> list[ReadRemark]:
    """Parse an answer, and find the sentences and the lines of code that it quotes.

    Args:
        answer: The model's answer.
        shown_comment: The comment that the request shows.
        excerpt: The code that the request shows.

    Returns:
        The remarks whose quoted first and last words are in the comment.

    Raises:
        MalformedAnswerError: The answer is incomplete, or does not match the schema.
    """
    convert = partial(msgspec.convert, type=_Remarks)
    remarks = [
        remark
        for remark in read_object(answer.text, convert, whole=answer.whole).remarks
        # The request also shows other comments on nearby lines, but it asks only about comment 1.
        if remark.comment == 1
    ]
    located = locate([(remark.first, remark.last) for remark in remarks], shown_comment)
    by_indices: dict[tuple[int, ...], ReadRemark] = {}
    for indices, remark in zip(located, remarks, strict=True):
        reading = RemarkReading(
            stance=STANCES[remark.stance],
            importance=remark.importance,
            worth=remark.worth,
            specific=remark.specific / 10,
            acts=remark.acts / 10,
            holds=remark.holds,
            line=find_line(remark.line, excerpt),
            why=" ".join(clean(remark.why[:MAX_SENTENCE_CHARS]).split()),
        )
        earlier = by_indices.get(indices)
        # If a model finds two remarks in the same sentences, the one with the higher worth is kept.
        if indices and (earlier is None or reading.worth > earlier.reading.worth):
            by_indices[indices] = ReadRemark(indices, reading)
    return [*by_indices.values()]


def find_line(quote: str, excerpt: Excerpt) -> LineSpan | None:
    """Return the location of a quoted line of code.

    Args:
        quote: A whole line, with or without its `+` or `-`; white space is ignored.
        excerpt: The code to search.

    Returns:
        The location; among equal lines, that of the nearest to the comment's line. None if the
        line is not in the excerpt, has fewer than `MIN_QUOTE_CHARS` characters, or has neither
        letters nor digits.
    """
    dense = _dense(quote)
    spans = [
        line.span
        for line in excerpt.lines
        if dense in (_dense(line.text), _dense(line.sign + line.text))
        and len(_dense(line.text)) >= MIN_QUOTE_CHARS
        # A line without letters and digits, such as `# -----`, proves nothing about the code.
        and any(map(str.isalnum, line.text))
    ]
    return min(spans, key=lambda span: distance(span, excerpt.location), default=None)


def _dense(line: str) -> str:
    """Return a line as the model sees it (see `break_control_tokens`), without white space."""
    return "".join(break_control_tokens(line).split())
