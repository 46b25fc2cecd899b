"""Remarks that try to break the checks."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.records import Comment, Receipt
from crscore.review.read import parse_comment, sentences_of
from crscore.syntax.change import ParsedChange
from crscore.verdicts.judge import MAX_CHARS, judge_remarks
from tests.helpers.changes import change
from tests.helpers.growth import slowness

OLD = "def load(path):\r\n    return open(path)\r\n"
NEW = "def load(path, retries=3):\r\n    return open(path, 'rb')\r\n"
DIFF = change("app/load.py", OLD, NEW)
PIECES = [
    "`load`", "`open(path)`", "`path, retries`", "load.py:2", "§0§", "§9§", "§", "`", "line 2",
    "never calls", "still uses", "is called twice", "is missing", "does not check", "should call",
    "instead of", "renames", "to", "`a` -> `b`", "not", "in", "the", ",", ".", "'rb'", "(", "\r\n",
]  # fmt: skip
MAX_SECONDS = 2.0


def judge(text: str) -> list[Receipt | None]:
    comment = Comment(body=text)
    units = sentences_of([parse_comment(comment, DIFF, "markdown")])
    return judge_remarks([units] * bool(units), [comment], [()], ParsedChange.of(DIFF))


@given(st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join))
def test_any_remark_is_read(text: str) -> None:
    for receipt in judge(text):
        assert receipt is None or (receipt.fact and receipt.says)


@pytest.mark.growth
@pytest.mark.parametrize(
    "part",
    ["`a` ", "`load` still ", "not `a` in ", "never calls `b`, ", "x.y ", "`a` to `b` ", "a b c "],
)
def test_long_sentences_take_little_time(part: str) -> None:
    text = part * (MAX_CHARS // len(part))
    before = time.process_time()
    judge(text)

    assert time.process_time() - before < MAX_SECONDS * slowness()
