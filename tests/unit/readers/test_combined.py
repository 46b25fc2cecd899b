from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from crscore.readers.combined import join_readings, place_readings
from crscore.readers.readings import ReadRemark
from crscore.records import (
    Aspects,
    Holds,
    Importance,
    LineSpan,
    ParsedComment,
    Remark,
    RemarkReading,
    Sentence,
    Side,
    Stance,
    Verdict,
)
from crscore.usefulness.reading import ReviewReadings

if TYPE_CHECKING:
    from collections.abc import Collection

LINE = LineSpan(path="a.py", side=Side.NEW, start=1, end=1)
ASPECTS = Aspects(relevant=0.5, informative=0.5, clear=0.5)


def reading(worth: float = 3, **changes: Any) -> RemarkReading:
    values: dict[str, Any] = {
        "stance": Stance.PROBLEM,
        "importance": 2,
        "worth": worth,
        "specific": 0.5,
        "acts": 0.5,
        "holds": Holds.OPEN,
        "line": None,
        "why": "It is so.",
    }
    return RemarkReading(**values | changes)


def by_network(*sentences: int, worth: float = 3.0, comment: int = 0, **changes: Any) -> Remark:
    remark = Remark(
        comment=comment, sentences=sentences, stance=Stance.QUESTION, actionable=0.9,
        importance=3.6, level=Importance.CRITICAL, about=0.8, worth=worth, specific=0.1, acts=0.1,
    )  # fmt: skip
    return replace(remark, **changes)


def join(
    *remarks: Remark, read: dict[int, list[ReadRemark]], unread: Collection[int] = ()
) -> ReviewReadings:
    """Join readings of two comments of three sentences each."""
    parsed = ParsedComment(sentences=("a", "b", "c"))
    sentences = [
        Sentence(text="x", comment=number // 3, unread=number in unread) for number in range(6)
    ]
    placed = place_readings(read, [parsed, parsed], sentences)
    network = ReviewReadings(
        sentences=(), restates=(), remarks=remarks, aspects=(ASPECTS,) * len(remarks),
        masked=("x",) * len(remarks),
    )  # fmt: skip
    return join_readings(network, placed, sentences)


def worths(read: ReviewReadings) -> list[float]:
    return [remark.worth for remark in read.remarks]


def test_reading_of_the_model_counts_on_the_scale_of_the_network() -> None:
    joined = join(
        by_network(0, 1), by_network(4, comment=1), read={0: [ReadRemark((0, 1), reading(4))]}
    )
    remark, other = joined.remarks
    assert (remark.worth, remark.importance, remark.level) == (4, 2, Importance.MINOR)
    assert (remark.specific, remark.acts) == (0.5, 0.5)
    assert (remark.stance, remark.actionable, remark.about) == (Stance.PROBLEM, 1.0, 0.8)
    assert remark.reading == reading(4)
    assert other == by_network(4, comment=1)
    assert joined.notes == ()


@pytest.mark.parametrize(
    ("changes", "actionable"),
    [
        ({"importance": 1}, 1.0),
        ({"importance": 0}, 0.0),
        ({"stance": Stance.PRAISE}, 0.0),
        ({"stance": Stance.QUESTION}, 1.0),
    ],
)
def test_remark_is_actionable_if_it_asks_for_something_that_matters(
    changes: dict[str, Any], actionable: float
) -> None:
    (remark,) = join(by_network(0), read={0: [ReadRemark((0,), reading(**changes))]}).remarks
    assert remark.actionable == actionable


@pytest.mark.parametrize(
    ("model", "network", "worth", "is_noted"),
    [(5, 3.25, 5, False), (5, 3.2, 4.95, True), (1, 4.6, 1, False), (1, 2.6, 1, False)],
)
def test_worth_is_limited_where_the_model_is_too_far_above_the_network(
    model: float, network: float, worth: float, is_noted: bool
) -> None:
    joined = join(by_network(0, worth=network), read={0: [ReadRemark((0,), reading(model))]})
    assert worths(joined) == [worth]
    assert bool(joined.notes) == is_noted


def test_higher_reading_is_never_worth_less_and_keeps_its_line() -> None:
    found = [
        join(
            by_network(0, worth=2.0),
            read={0: [ReadRemark((0,), reading(worth, line=LINE, holds=Holds.YES))]},
        ).remarks[0]
        for worth in (1, 2, 3, 4, 5)
    ]
    assert [remark.worth for remark in found] == [1, 2, 3, 3.75, 3.75]
    assert all(remark.reading and remark.receipt for remark in found)
    assert [remark.is_limited for remark in found] == [False, False, False, True, True]


@pytest.mark.parametrize(
    ("changes", "worth"),
    [
        ({}, 3.75),
        ({"actionable": 0.4}, 2.0),
        ({"actionable": 0.4, "worth": 1.2}, 1.75),
        ({"about": 0.2, "worth": 1.0}, 1.75),
        ({"level": Importance.NIT}, 3.0),
        ({"level": Importance.NIT, "worth": 1.1}, 2.85),
        ({"level": Importance.NIT, "worth": 3.4}, 3.4),
    ],
)
def test_limit_of_the_worth_depends_on_the_reading_of_the_network(
    changes: dict[str, Any], worth: float
) -> None:
    remark = by_network(0, **{"worth": 2.0} | changes)
    assert worths(join(remark, read={0: [ReadRemark((0,), reading(5))]})) == [pytest.approx(worth)]


def test_no_remark_of_a_comment_with_an_instruction_to_the_model_rises() -> None:
    instruction = by_network(1, worth=1.0, actionable=0.1)
    read = {0: [ReadRemark((0,), reading(5)), ReadRemark((1,), reading(5))]}
    other = {1: [ReadRemark((0,), reading(5))]}
    joined = join(by_network(0), instruction, by_network(3, comment=1), read=read | other)
    assert worths(joined) == [3, 1.75, 4.75]
    assert joined.notes[0].startswith("The language model rates 3 of 3 remarks so much higher")
    harmless = {0: [ReadRemark((0,), reading(4)), ReadRemark((1,), reading(1))]}
    assert worths(join(by_network(0), instruction, read=harmless)) == [4, 1]


def test_no_remark_of_a_comment_with_text_in_another_language_rises() -> None:
    read = {0: [ReadRemark((0, 1), reading(5))]}
    assert worths(join(by_network(0, 1), read=read, unread={2})) == [3]


def test_doubted_remark_is_worth_little() -> None:
    doubted = reading(4, holds=Holds.NO)
    joined = join(by_network(0), read={0: [ReadRemark((0,), doubted)]})
    assert worths(joined) == [2]
    assert joined.remarks[0].receipt is None


@pytest.mark.parametrize(
    ("holds", "verdict"), [(Holds.YES, Verdict.CONFIRMED), (Holds.NO, Verdict.REFUTED)]
)
def test_quoted_line_confirms_or_refutes_the_remark(holds: Holds, verdict: Verdict) -> None:
    read = {0: [ReadRemark((0,), reading(3, holds=holds, line=LINE))]}
    receipt = join(by_network(0), read=read).remarks[0].receipt
    assert receipt is not None
    assert (receipt.verdict, receipt.lines) == (verdict, (LINE,))
    assert receipt.fact == "It is so, as a language model reads it."


def test_remark_without_a_reading_or_with_an_open_one_has_no_receipt() -> None:
    assert by_network(0).receipt is None
    read = {0: [ReadRemark((0,), reading(line=LINE))]}
    assert join(by_network(0), read=read).remarks[0].receipt is None


def test_comment_in_another_language_is_read_by_the_model_alone() -> None:
    read = {0: [ReadRemark((0, 1), reading(5, line=LINE))]}
    joined = join(by_network(0, 1, worth=1.0), read=read, unread={0, 1, 2})
    (remark,) = joined.remarks
    assert (worths(joined), remark.about, joined.notes) == ([5], 1.0, ())
    without_line = {0: [ReadRemark((0, 1), reading(5))]}
    assert worths(join(by_network(0, 1), read=without_line, unread={0, 1, 2})) == [1.75]
    worthless = {0: [ReadRemark((0, 1), reading(1))]}
    assert join(by_network(0, 1), read=worthless, unread={0, 1, 2}).remarks[0].about == 0.0


def test_remark_in_another_language_in_an_english_comment_has_no_reading() -> None:
    read = {0: [ReadRemark((1,), reading(5)), ReadRemark((0, 2), reading(3))]}
    placed = place_readings(
        read,
        [ParsedComment(sentences=("a", "b", "c"))],
        [Sentence(text="x", comment=0, unread=number == 1) for number in range(3)],
    )
    assert [*placed] == [(0, 2)]


def test_comment_that_is_not_read_to_its_end_has_no_reading() -> None:
    parsed = ParsedComment(sentences=("a", "b"))
    placed = place_readings(
        {0: [ReadRemark((0,), reading())]}, [parsed], [Sentence(text="a", comment=0)]
    )
    assert placed == {}
