from __future__ import annotations

import json
from typing import Any

import pytest

from crscore.diff import parse
from crscore.errors import MalformedAnswerError
from crscore.llm.base import Answer
from crscore.readers.answers import SCHEMA, find_line, read_answer
from crscore.readers.excerpt import Excerpts
from crscore.readers.quotations import show_comment
from crscore.records import Comment, Holds, LineSpan, RemarkReading, Side, Stance
from crscore.review.read import parse_comment

DIFF = parse.parse_diff(
    "--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,4 @@\n def load(name):\n-    handle = open(name)\n"
    '+    handle = open(name, "r")\n+    return handle.read("<|im_end|>")\n     handle.close()\n'
)
COMMENT = Comment(body="`handle` is never closed. Nice.\n\nRename `name`.", path="a.py", line=2)
SHOWN = show_comment(parse_comment(COMMENT, DIFF, "markdown"))
EXCERPT = Excerpts(DIFF).find(COMMENT.body, COMMENT, 8_000)
assert EXCERPT is not None
CLOSED: dict[str, Any] = {
    "comment": 1,
    "first": "`handle` is never",
    "last": "Nice.",
    "stance": "problem",
    "line": "    handle.close()",
    "why": "It is closed\nhere.\u200b",
    "holds": "no",
    "importance": 3,
    "specific": 7,
    "acts": 1,
    "worth": 1,
}
READING = RemarkReading(
    stance=Stance.PROBLEM,
    importance=3,
    worth=1,
    specific=0.7,
    acts=0.1,
    holds=Holds.NO,
    line=LineSpan(path="a.py", side=Side.NEW, start=4, end=4),
    why="It is closed here.",
)


def read(text: str, whole: bool = True) -> Any:
    return read_answer(Answer(text=text, whole=whole), SHOWN, EXCERPT)


def said(*remarks: dict[str, Any]) -> str:
    return json.dumps({"remarks": remarks})


def test_answer_is_read_with_its_line_and_its_sentences() -> None:
    assert read(said(CLOSED)) == [((0, 1), READING)]


def test_fields_of_the_schema_are_in_the_order_of_the_guide() -> None:
    assert [*SCHEMA["properties"]["remarks"]["items"]["properties"]] == [*CLOSED]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot.",
        "[]",
        '{"remarks": 3}',
        '{"remarks": [',
        said(CLOSED | {"worth": 6}),
        said(CLOSED | {"worth": 0}),
        said(CLOSED | {"importance": 5}),
        said(CLOSED | {"acts": 80}),
        said(CLOSED | {"holds": "maybe"}),
        said(CLOSED | {"stance": "attack"}),
        said(CLOSED)[:-2],
        '{"remarks": ' * 5_000,
    ],
)
def test_answer_without_the_requested_json_is_malformed(text: str) -> None:
    with pytest.raises(MalformedAnswerError):
        read(text)


def test_draft_of_an_answer_that_was_cut_off_does_not_count() -> None:
    with pytest.raises(MalformedAnswerError):
        read(f"A draft: {said(CLOSED)} but then again", whole=False)


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{said(CLOSED | {'worth': 5})}</think>\n```json\n{said(CLOSED)}\n```",
        f"A draft: {said()}. Better: {said(CLOSED)}",
        said(CLOSED | {"extra": 1}),
    ],
)
def test_last_complete_answer_counts(text: str) -> None:
    assert read(text) == [((0, 1), READING)]


def test_remark_with_a_quotation_that_is_not_in_the_comment_is_not_read() -> None:
    assert read(said(CLOSED | {"first": "`handle` leaks"})) == []


def test_remarks_in_the_same_sentence_become_the_one_with_the_higher_worth() -> None:
    (remark,) = read(said(CLOSED, CLOSED | {"first": "Nice", "worth": 2}))
    assert (remark.indices, remark.reading.worth) == ((0, 1), 2)


def test_remarks_of_other_comments_are_not_read() -> None:
    assert read(said(CLOSED | {"comment": 2})) == []


def span(line: int, side: Side = Side.NEW) -> LineSpan:
    return LineSpan(path="a.py", side=side, start=line, end=line)


@pytest.mark.parametrize(
    ("quote", "place"),
    [
        ('handle  =  open(name,\t"r")', span(2)),
        ('+    handle = open(name, "r")', span(2)),
        ("-    handle = open(name)", span(2, Side.OLD)),
        ("handle = open(name)", span(2, Side.OLD)),
        ('return handle.read("< |im_end|>")', span(3)),
        ("handle.close", None),
        ("    handle.shut()", None),
        ("def load(name):\n    handle = open(name)", None),
        (COMMENT.body, None),
        ("", None),
    ],
)
def test_line_is_a_whole_line_of_the_code_that_was_shown(
    quote: str, place: LineSpan | None
) -> None:
    assert find_line(quote, EXCERPT) == place
