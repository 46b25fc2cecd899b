import pytest

from crscore.records import Comment, Effect, LineSpan, Side, Suggestion, Verdict
from crscore.verdicts.judge import check_suggestions

GOOD = Suggestion(code="a", applies=True, parses=True, effect=Effect.BEHAVIOUR)
BROKEN = Suggestion(code="a(", applies=True, parses=False)
IDLE = Suggestion(code="b", applies=True, effect=Effect.NOTHING)
OUTSIDE = Suggestion(code="a", applies=False, reason="the diff does not show the lines")


COMMENT = Comment(body="", path="a.py", line=4, start_line=3)


@pytest.mark.parametrize("suggestion", [BROKEN, IDLE])
def test_useless_block_is_refuted_on_its_lines(suggestion: Suggestion) -> None:
    receipt = check_suggestions([suggestion], COMMENT)
    assert receipt is not None
    assert receipt.verdict is Verdict.REFUTED
    assert receipt.lines == (LineSpan(path="a.py", side=Side.NEW, start=3, end=4),)


@pytest.mark.parametrize("suggestions", [(), (GOOD,), (OUTSIDE,), (BROKEN, GOOD)])
def test_usable_blocks_decide_nothing(suggestions: tuple[Suggestion, ...]) -> None:
    assert check_suggestions(suggestions, COMMENT) is None
