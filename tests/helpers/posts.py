"""Posts of a pull request by hand, opened by `octo-cat`, and the reviewers' threads in them."""

from __future__ import annotations

from typing import Any

from crscore.hosts.records import HostMessage, MessageKind
from crscore.pull_request.reviewers.identify import ReviewerThreads, identify_reviewers
from crscore.records import Side

RABBIT = "coderabbitai[bot]"


def line(number: int, body: str, login: str | None = "ada", **facts: Any) -> HostMessage:
    facts = {
        "thread": number,
        "path": "a.py",
        "line": 3,
        "side": Side.NEW,
        "created": when(number),
    } | facts
    return message(number, MessageKind.LINE, body, login, **facts)


def review(number: int, body: str, login: str | None = "ada", **facts: Any) -> HostMessage:
    return message(number, MessageKind.REVIEW, body, login, **facts)


def post(number: int, body: str, login: str | None = "ada", **facts: Any) -> HostMessage:
    return message(number, MessageKind.CONVERSATION, body, login, **facts)


def message(
    number: int, kind: MessageKind, body: str, login: str | None, **facts: Any
) -> HostMessage:
    facts.setdefault("created", when(number))
    facts.setdefault("is_bot", (login or "").endswith("[bot]"))
    return HostMessage(id=number, kind=kind, body=body, login=login, **facts)


def when(number: int) -> str:
    return f"2024-01-01T00:{number:02}:00Z"


def hear(*messages: HostMessage, **options: Any) -> ReviewerThreads:
    return identify_reviewers(messages, **{"pull_author": "octo-cat", **options})


def who(heard: ReviewerThreads) -> list[str]:
    return [one.reviewer for one in heard.threads]


def bodies(heard: ReviewerThreads) -> list[str]:
    return [one.body for one in heard.threads]
