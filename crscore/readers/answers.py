"""Answers of a language model about a comment."""

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
# Shorter lines, such as `else:` or `return x`, occur too often.
MIN_QUOTE_CHARS: Final = 8
"""Minimum characters of a quoted line, without white space."""
STANCES: Final = {stance.name.lower(): stance for stance in Stance}
"""Stances by the words that the guide uses."""
# A model writes the fields in this order. It checks a remark against the code before it names the
# worth: a false severe remark has the highest importance and worth 1 (docs/design/033-readers.md).
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
    # The strict mode of OpenAI wants every property required and no further ones:
    # https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
    required = {"required": [*properties], "additionalProperties": False}
    return {"type": "object", "properties": properties, **required}


# The worth of a remark comes last, after its reasons: a model writes the fields in this order, so
# it checks a severe remark against the code before it values it (docs/design/033-readers.md).
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
    """Read an answer, and look up its quotations of the comment and of the code.

    Args:
        answer: The model's answer.
        shown_comment: The comment in the request.
        excerpt: The code in the request.

    Returns:
        The remarks whose first and last words are in the comment.

    Raises:
        MalformedAnswerError: The answer is incomplete, or has another form than the schema.
    """
    fits = partial(msgspec.convert, type=_Remarks)
    remarks = [
        remark
        for remark in read_object(answer.text, fits, whole=answer.whole).remarks
        # Other comments at the same place are shown, too, but the request is about the first only.
        if remark.comment == 1
    ]
    columns = locate([(remark.first, remark.last) for remark in remarks], shown_comment)
    by_columns: dict[tuple[int, ...], ReadRemark] = {}
    for place, remark in zip(columns, remarks, strict=True):
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
        earlier = by_columns.get(place)
        # Two points in the same sentences are one remark, with the reading of the better point.
        if place and (earlier is None or reading.worth > earlier.reading.worth):
            by_columns[place] = ReadRemark(place, reading)
    return [*by_columns.values()]


def find_line(quote: str, excerpt: Excerpt) -> LineSpan | None:
    """Find a quoted line of code; among equal lines, the nearest to the comment's line.

    Args:
        quote: A whole line, with or without its sign; white space is ignored.
        excerpt: The code.
    """
    dense = _dense(quote)
    spans = [
        line.span
        for line in excerpt.lines
        if dense in (_dense(line.text), _dense(line.sign + line.text))
        and len(_dense(line.text)) >= MIN_QUOTE_CHARS
        # A line of only signs, such as a ruler in a comment, decides nothing.
        and any(map(str.isalnum, line.text))
    ]
    return min(spans, key=lambda span: distance(span, excerpt.location), default=None)


def _dense(line: str) -> str:
    """Return a line without white space, including the spaces that break up control tokens."""
    return "".join(break_control_tokens(line).split())
