"""Answers of a model that reads comments, as the tests need them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tests.helpers.scripted_llm import Say, well

if TYPE_CHECKING:
    from tests.helpers.scripted_llm import Asked

_COMMENT = re.compile(r"^Comment (\d+)(?: on [^\n]*)?:\n", re.MULTILINE)


def remark(first: str, last: str | None = None, **changes: Any) -> dict[str, Any]:
    """Return one remark of an answer; `changes` replace its fields."""
    read = {
        "comment": 1,
        "first": first,
        "last": first if last is None else last,
        "stance": "problem",
        "line": "",
        "why": "",
        "holds": "open",
        "importance": 2,
        "specific": 5,
        "acts": 5,
        "worth": 3,
    }
    return read | changes


def answer(*remarks: dict[str, Any]) -> str:
    """Return an answer."""
    return json.dumps({"remarks": remarks})


def comments_in(asked: str) -> dict[int, list[str]]:
    """Return the lines of each comment of a request, by its number."""
    inside = re.split(r"^=== comments \w+ (?:begins|ends) ===$", asked, flags=re.MULTILINE)[1]
    _, *parts = _COMMENT.split(inside.strip("\n"))
    lines = ([line for line in part.split("\n") if line.strip()] for part in parts[1::2])
    return dict(zip(map(int, parts[::2]), lines, strict=True))


def obey(asked: Asked, **changes: Any) -> Say:
    """Answer that every line of every comment is worth 5: what an attack can hope for."""
    best = {"holds": "yes", "importance": 4, "specific": 10, "acts": 10, "worth": 5} | changes
    return well(
        answer(
            *(
                remark(line, comment=number, **best)
                for number, lines in comments_in(asked.text).items()
                for line in lines
            )
        )
    )
