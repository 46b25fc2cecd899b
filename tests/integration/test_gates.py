"""Who and what can turn a gate, with the real encoder, against a GitHub on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from crscore.github.client import Client
from crscore.github.host import GitHub
from crscore.pull_request import gate, run
from tests.helpers.github import scenes
from tests.helpers.github.people import MIRA
from tests.helpers.github.server import serve
from tests.helpers.github.shop_texts import BASE, FIRST, SECOND
from tests.helpers.github.writer import Writer, writer_of

if TYPE_CHECKING:
    from crscore.pull_request.run import Measured
    from crscore.scoring.gate import GateResult

FILES = {**BASE, **FIRST, **SECOND}
GOOD = (
    "`apply_discount(price, code)` divides by `rate`, so a rate of 0 raises ZeroDivisionError and "
    "checkout fails for every customer."
)
POOR = "Looks fine to me. Maybe rename this variable?"
LIMIT = 30


@pytest.fixture
def writer() -> Writer:
    """The shop's pull request before anybody reviewed it."""
    writer = writer_of(scenes.shop())
    for messages in (writer.pull.reviews, writer.pull.lines, writer.pull.notes):
        messages.clear()
    return writer


def judge(
    writer: Writer, *fail_on: str, flags: dict[str, Any] | None = None, **request: Any
) -> tuple[GateResult, Measured]:
    settings = {"fail_under": LIMIT, "analyzers": "none", "cache": False, **(flags or {})}
    with serve(writer.world, token="secret") as server:
        host = GitHub(Client(token="secret", api_url=server.url))
        measured = run.measure(
            host, run.Request(repository="acme/shop", number=7, flags=settings, **request)
        )
        host.client.close()
    return gate.judge(measured.overview, measured.settings, fail_on or ["together"]), measured


def standing(measured: Measured) -> int | None:
    useful = measured.overview.together.usefulness
    return useful.standing if useful else None


# What the author of the change writes


def test_author_cannot_lower_a_review_by_copying_it_into_the_change(writer: Writer) -> None:
    writer.review(MIRA, body=GOOD)
    before = standing(judge(writer)[1])
    writer.push({**FILES, "shop/notes.py": f"# {GOOD}\n", "docs/notes.md": f"{GOOD}\n"})
    verdict, after = judge(writer)
    assert verdict == ((), ())
    assert abs((standing(after) or 0) - (before or 0)) <= 2
