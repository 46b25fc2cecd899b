"""Posts of a pull request by hand, opened by `octo-cat`, and what is heard of them."""

from __future__ import annotations

from typing import Any

from crscore.hosts.records import Remark, RemarkKind
from crscore.pull_request.reviewers.identify import ReviewerThreads, identify_reviewers
from crscore.records import Side

RABBIT = "coderabbitai[bot]"


def line(number: int, body: str, login: str | None = "ada", **facts: Any) -> Remark:
    facts = {
        "thread": number,
        "path": "a.py",
        "line": 3,
        "side": Side.NEW,
        "created": when(number),
    } | facts
    return remark(number, RemarkKind.LINE, body, login, **facts)


def review(number: int, body: str, login: str | None = "ada", **facts: Any) -> Remark:
    return remark(number, RemarkKind.REVIEW, body, login, **facts)


def post(number: int, body: str, login: str | None = "ada", **facts: Any) -> Remark:
    return remark(number, RemarkKind.CONVERSATION, body, login, **facts)


def remark(number: int, kind: RemarkKind, body: str, login: str | None, **facts: Any) -> Remark:
    facts.setdefault("created", when(number))
    facts.setdefault("is_bot", (login or "").endswith("[bot]"))
    return Remark(id=number, kind=kind, body=body, login=login, **facts)


def when(number: int) -> str:
    return f"2024-01-01T00:{number:02}:00Z"


def hear(*remarks: Remark, **options: Any) -> ReviewerThreads:
    return identify_reviewers(remarks, **{"pull_author": "octo-cat", **options})


def who(heard: ReviewerThreads) -> list[str]:
    return [one.reviewer for one in heard.threads]


def bodies(heard: ReviewerThreads) -> list[str]:
    return [one.body for one in heard.threads]
