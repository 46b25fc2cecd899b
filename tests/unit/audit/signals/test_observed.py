from __future__ import annotations

import pytest

from crscore.audit.signals import Signal
from crscore.audit.signals.observed import claimed, names, referred, resolved, thumbs
from crscore.audit.store.rows import Comment, CommentObservation, ThreadObservation, comment_key
from crscore.hosts.records import RemarkKind

COMMIT = "ab" * 20


def observation(**changes):
    return ThreadObservation(
        thread=4, night="2026-03-01", **({"resolved": 1, "outdated": 0} | changes)
    )


@pytest.mark.parametrize(
    ("by", "signal"),
    [
        ("Ada", Signal.RESOLVED_BY_AUTHOR),
        ("grace", Signal.RESOLVED_BY_PERSON),
        ("otter", Signal.RESOLVED_BY_BOT),
        ("any[bot]", Signal.RESOLVED_BY_BOT),
        ("coderabbitai", Signal.RESOLVED_BY_BOT),
    ],
)
def test_resolved_thread_says_by_whom(by, signal):
    answers = resolved(observation(resolved_by=by), "ada", frozenset({"otter"}))
    assert {signal for signal, answer in answers.items() if answer.value} == {signal}
    assert answers[signal].evidence == by


def test_thread_resolved_by_an_unknown_account_is_unknown_and_an_open_one_is_not_resolved():
    unknown = resolved(observation(), "ada", frozenset())
    is_open = resolved(observation(resolved=0), "ada", frozenset())
    assert {answer.value for answer in unknown.values()} == {None}
    assert {answer.value for answer in is_open.values()} == {False}
    assert {answer.value for answer in resolved(None, "ada", frozenset()).values()} == {False}


def test_thumbs_are_told_with_their_number():
    last = CommentObservation(comment=4, night="2026-03-01", up=2, down=0)
    assert thumbs(last) == {Signal.THUMBS_UP: (True, "2"), Signal.THUMBS_DOWN: (False, None)}


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("Bad.\n\n✅ Addressed in commit abc1234", True),
        ("<sub>✅ Addressed in commits abc1234 to def5678</sub>", True),
        ("> ✅ Addressed in commit abc1234\n\nIt is not.", False),
        ("This is not addressed in commit abc1234", False),
    ],
)
def test_claim_is_a_line_of_the_bots_own(body, value):
    assert claimed([body]).value is value


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ("Fix a leak", False),
        ("Address review comments", True),
        ("Fix it, see https://host/o/r/pull/1#discussion_r77", True),
        ("Fix it, see https://host/o/r/pull/1#discussion_r778", False),
        ("Fix what otter-review found", True),
        ("Address comments of CodeRabbit", False),
        ("Fix\n\nCo-authored-by: otter-review[bot] <o@x>", True),
        ("Fix\n\nCo-authored-by: Otter-Review <o@x>", False),
    ],
)
def test_message_refers_to_a_comment_its_reviewer_or_the_review(message, value):
    comment = Comment(
        key=comment_key(RemarkKind.LINE, 77), repository=1, number=1, is_app=1,
        reviewer="otter-review", is_bot=1, is_review=1, body=b"", created="", updated="", state="",
    )  # fmt: skip
    names_by_bot = {
        "otter-review": names("otter-review", ["otter-review[bot]"]),
        "coderabbit": names("coderabbit", ["coderabbitai[bot]"]),
    }
    answer = referred(comment, names_by_bot, [(COMMIT, message)])
    assert answer == (value, COMMIT[:10] if value else None)
