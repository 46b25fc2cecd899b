"""Decisions on a real change with the shipped weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from crscore import Scorer
from crscore.agents.triage import Action, Triage, triage
from crscore.errors import ConfigError
from crscore.records import Comment, Stance, Verdict
from tests.helpers.changes import change
from tests.helpers.languages import REMARKS

DIFF = (Path(__file__).parents[3] / "examples" / "change.diff").read_text("utf-8")
CLIENT = "payments/client.py"
BREAKS = Comment(
    body="`timeout` has no default in `GatewayClient.__init__`, so every caller breaks.",
    path=CLIENT,
    line=18,
    author="mira",
)
NONE = Comment(
    body="When all attempts fail, `charge` returns None and an unpaid order looks paid.",
    path=CLIENT,
    line=34,
    author="jonas",
)
PRAISE = Comment(body="Nice work, the loop in `charge` is easy to follow!", path=CLIENT)


@pytest.fixture(scope="module")
def scorer() -> Scorer:
    return Scorer(analyzers="none")


def decide(scorer: Scorer, *comments: Comment, **options: object) -> Triage:
    return triage(scorer, scorer.read_diff(DIFF), comments, **options)  # type: ignore[arg-type]


def test_problem_is_to_fix_and_praise_to_skip(scorer: Scorer) -> None:
    problem, praise = decide(scorer, BREAKS, PRAISE).remarks
    assert (problem.action, praise.action) == (Action.FIX, Action.SKIP)
    assert "critical" in problem.reason
    assert problem.place is not None
    assert (problem.place.path, problem.place.line, problem.author) == (CLIENT, 18, "mira")
    assert (problem.post, praise.post) == (True, False)


def test_question_is_to_answer(scorer: Scorer) -> None:
    asked = Comment(body="Why was the null check of `customerId` removed in `openOrders`?")
    (question,) = decide(scorer, asked).remarks
    assert (question.action, question.stance) == (Action.ANSWER, Stance.QUESTION)
    assert question.place is not None
    assert question.place.path == "service/OrderService.java"


def test_refuted_remark_is_answered_with_its_receipt_and_not_posted(scorer: Scorer) -> None:
    code = "def send(amounts, limit):\n    post(amounts, retries=3)\n    print(amounts)\n"
    diff = change("shop/pay.py", "", code)
    body = "`post` may be called twice.\n```suggestion\n    post(amounts,, retries=1\n```"
    (remark,) = triage(scorer, diff, [Comment(body=body, path="shop/pay.py", line=2)]).remarks
    assert remark.verdict is Verdict.REFUTED
    assert remark.receipt is not None
    assert remark.action is Action.ANSWER
    assert remark.receipt.fact in remark.reason
    assert not remark.post


def test_same_point_of_another_reviewer_is_a_duplicate_of_the_better_one(scorer: Scorer) -> None:
    again = Comment(
        body="Every caller of `GatewayClient.__init__` breaks, as `timeout` has no default.",
        path=CLIENT,
        author="jonas",
    )
    first, second, other = decide(scorer, BREAKS, again, NONE).remarks
    better, worse = sorted((first, second), key=lambda remark: -remark.worth)
    assert (better.duplicate_of, worse.duplicate_of) == (None, better.index)
    assert worse.action is Action.SKIP
    assert other.duplicate_of is None


def test_same_words_on_another_file_are_no_duplicate(scorer: Scorer) -> None:
    texts = [Comment(body=BREAKS.body, path=path) for path in (CLIENT, "web/cart.js")]
    assert [remark.duplicate_of for remark in decide(scorer, *texts).remarks] == [None, None]


@pytest.mark.parametrize(
    ("lines", "authors", "is_repeated"),
    [
        ((18, 34), (None, None), False),
        ((18, 34), ("bot", "bot"), False),
        ((18, 34), ("bot", "mira"), True),
        ((18, 18), ("bot", "bot"), True),
        ((18, None), ("bot", "bot"), True),
    ],
)
def test_same_words_of_one_reviewer_on_other_lines_are_no_duplicate(
    scorer: Scorer, lines: tuple[int, ...], authors: tuple[str, ...], is_repeated: bool
) -> None:
    texts = [
        Comment(body=BREAKS.body, path=CLIENT, line=line, author=author)
        for line, author in zip(lines, authors, strict=True)
    ]
    duplicates = [remark.duplicate_of for remark in decide(scorer, *texts).remarks]
    assert (duplicates != [None, None]) is is_repeated


def test_what_others_posted_is_not_posted_again(scorer: Scorer) -> None:
    decided = decide(scorer, BREAKS, NONE, posted=[BREAKS])
    assert [remark.post for remark in decided.remarks] == [False, True, False]
    assert {remark.comment for remark in decided.remarks if remark.post} == {1}


def test_review_without_text_has_no_remarks(scorer: Scorer) -> None:
    assert decide(scorer).remarks == ()


def test_encoder_without_weights_is_refused() -> None:
    with pytest.raises(ConfigError, match="minilm"):
        decide(Scorer(encoder="hashing", analyzers="none"), BREAKS)


@pytest.mark.parametrize("name", ["de", "ru", "ja"])
def test_text_in_another_language_is_left_to_the_reader(scorer: Scorer, name: str) -> None:
    comments = [Comment(body=text, path=CLIENT, line=18) for text in REMARKS[name]]
    read, *unread = decide(scorer, *comments, BREAKS).remarks
    assert (read.comment, read.action) == (len(comments), Action.FIX)
    assert [remark.comment for remark in unread] == list(range(len(comments)))
    assert {(r.action, r.worth, r.duplicate_of, r.post) for r in unread} == {
        (Action.ANSWER, None, None, True)
    }
    assert {remark.reason for remark in unread} == {
        "the text is not in English, so it was not read"
    }


def test_repetition_in_another_language_is_an_equal_text(scorer: Scorer) -> None:
    bodies = [
        ("`charge` gibt `lock` nicht frei, alle Threads warten.", CLIENT, 30),
        ("`charge` gibt die Verbindung nicht frei.", CLIENT, 30),
        ("`charge` gibt `lock` nicht frei, alle Threads warten.", CLIENT, 30),
        ("`charge` gibt `lock` nicht frei, alle Threads warten.", "web/cart.js", 30),
    ]
    comments = [
        Comment(body=body, path=path, line=line, author=f"reviewer {number}")
        for number, (body, path, line) in enumerate(bodies)
    ]
    decided = decide(scorer, *comments).remarks
    assert [remark.duplicate_of for remark in decided] == [None, None, 0, None]
    assert decided[2].reason == "remark 0 makes the same point"
    posted = decide(scorer, comments[0], posted=comments[:1]).remarks
    assert {remark.comment: remark.post for remark in posted} == {0: False, 1: False}
