"""Who and what can turn a gate, with the real encoder, against a GitHub on this machine."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from crscore.github.client import Client
from crscore.github.host import GitHub
from crscore.pull_request import gate, overview, run
from crscore.review import read
from crscore.usefulness import evidence
from tests.helpers.github import scenes
from tests.helpers.github.faults import At, Fault, Kind, Places
from tests.helpers.github.people import JONAS, MIRA
from tests.helpers.github.server import serve
from tests.helpers.github.shop_texts import BASE, FIRST, SECOND
from tests.helpers.github.state import User
from tests.helpers.github.writer import Spot, Writer, writer_of
from tests.helpers.gitlab import schedules
from tests.helpers.gitlab import server as gitlab
from tests.helpers.schedules import Clock

if TYPE_CHECKING:
    from crscore.pull_request.run import ScoredPull
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
) -> tuple[GateResult, ScoredPull]:
    settings = {"fail_under": LIMIT, "analyzers": "none", "cache": False, **(flags or {})}
    with serve(writer.world, token="secret") as server:
        host = GitHub(Client(token="secret", api_url=server.url))
        measured = run.read_and_score(
            host, run.Request(repository="acme/shop", number=7, flags=settings, **request)
        )
        host.client.close()
    return gate.judge(measured.overview, measured.settings, fail_on or ["together"]), measured


def standing(measured: ScoredPull) -> int | None:
    useful = measured.overview.together.usefulness
    return useful.standing if useful else None


# What strangers write

STRANGER = User(login="passer-by", id=7_001, association="NONE")
OCTO = User(login="octo-review[bot]", id=7_002, type="Bot", association="NONE")
TEMPLATES = (
    "`codes` is never closed on the error path, so every failed request leaks a handle.",
    GOOD,
    f"<!-- BUGBOT_REVIEW -->\n{GOOD}",
)


@pytest.mark.parametrize(
    ("association", "fail_on"),
    [("NONE", "together"), ("CONTRIBUTOR", "each"), ("FIRST_TIME_CONTRIBUTOR", "*")],
)
def test_stranger_cannot_lift_a_poor_review(writer: Writer, association: str, fail_on: str) -> None:
    writer.review(MIRA, body=POOR)
    for number, text in enumerate(TEMPLATES):
        writer.say(User(login=f"passer-{number}", id=7_100 + number, association=association), text)
    verdict, measured = judge(writer, fail_on)
    assert (standing(measured) or 0) > LIMIT  # as a reader sees it
    assert len(verdict.failed) == 1
    assert "does not count 'passer-0', 'passer-1', 'passer-2': not an owner" in verdict.notices[0]


def test_poor_review_of_a_stranger_fails_nothing(writer: Writer) -> None:
    writer.review(MIRA, body=GOOD)
    writer.say(STRANGER, POOR)
    assert [judge(writer, name)[0].failed for name in ("together", "each", "*")] == [()] * 3


def test_strangers_alone_are_no_review(writer: Writer) -> None:
    writer.say(STRANGER, GOOD)
    verdict, _ = judge(writer, flags={"on_nothing": "fail"})
    assert "no usefulness (no sentence in the review text)" in verdict.failed[0]


def test_reviewer_named_in_full_counts(writer: Writer) -> None:
    writer.review(MIRA, body=POOR)
    writer.say(STRANGER, GOOD)
    assert judge(writer, authors=["passer-by"])[0] == ((), ())
    assert judge(writer, "Passer-By")[0] == ((), ())
    assert judge(writer, authors=["passer-*", "mira-k"])[0].failed


def test_everybody_counts_in_a_private_repository(writer: Writer) -> None:
    writer.repository.private = True
    writer.say(STRANGER, GOOD)
    assert judge(writer)[0] == ((), ())


def test_apps_count(writer: Writer) -> None:
    writer.review(OCTO, body=GOOD)
    assert judge(writer)[0] == ((), ())


def test_login_of_an_app_does_not_make_a_stranger_the_app(writer: Writer) -> None:
    writer.review(OCTO, body=POOR)
    writer.say(User(login="octo-review", id=7_003, association="NONE"), GOOD)
    verdict, measured = judge(writer, "octo-review")
    assert [row.name for row in measured.overview.reviewers] == ["octo-review", "@octo-review"]
    assert len(verdict.failed) == 1


def rounded(value: Any) -> Any:
    """Return records as dictionaries, with six digits."""
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, float):
        return round(value, 6)
    return rounded(msgspec.to_builtins(value)) if isinstance(value, msgspec.Struct) else value


def test_flood_of_a_stranger_changes_nothing(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read, "MAX_SENTENCES", 60)
    monkeypatch.setattr(overview, "MAX_REVIEWERS", 2)
    texts = [f"Line {at} of the cart is odd, as `total` is read {at} times." for at in range(40)]
    alone = Writer(world=writer.world, repository=writer.repository, pull=deepcopy(writer.pull))
    for person in (writer, alone):
        for number in range(6 * (person is writer)):
            stranger = User(login=f"passer-{number}", id=7_100 + number, association="NONE")
            person.say(stranger, " ".join(f"Why {word}?" for word in range(30 + number)))
        person.review(MIRA, body=f"{GOOD}\n\n" + "\n\n".join(texts))
        person.review(JONAS, body=POOR)
    flooded, after = judge(writer, "together", "each", "jonas-w", "mira-k")
    writer.repository.pulls[7] = alone.pull
    quiet, before = judge(writer, "together", "each", "jonas-w", "mira-k")
    assert flooded.failed == quiet.failed
    assert [line.split(" is ")[0] for line in quiet.failed] == [
        "acme/shop#7: usefulness of jonas-w"
    ]
    # Which texts are read in one batch moves the eighth digit.
    assert [rounded(item) for item in after.overview.reviewers] == [
        rounded(item) for item in before.overview.reviewers
    ]
    assert after.overview.trusted is not None
    assert after.overview.trusted.usefulness is not None
    assert after.overview.trusted.usefulness.standing == standing(before)
    assert after.overview.missing == ()


@pytest.mark.parametrize(("association", "passes"), [("NONE", False), ("MEMBER", True)])
def test_members_count_on_gitlab(writer: Writer, association: str, passes: bool) -> None:
    writer.review(MIRA, body=POOR)
    # Anybody can take a name like those of tokens' users.
    author = User(login="project_9_bot_x", id=7_004, association=association)
    writer.review(author, spots=[Spot(path="shop/pricing.py", line=17, body=GOOD)])
    clock = Clock()
    with gitlab.serve(writer.world, clock=clock.now) as server:
        host = schedules.host_of(server, clock, seed=0)
        settings = {"fail_under": LIMIT, "analyzers": "none", "cache": False}
        request = run.Request(repository="acme/shop", number=7, flags=settings)
        measured = run.read_and_score(host, request)
        server.faults = Places([At(pattern="members", fault=Fault(kind=Kind.STATUS, status=403))])
        unknown = run.read_and_score(host, request)
    assert (gate.judge(measured.overview, measured.settings, ["together"]).failed == ()) is passes
    # A token that may not read the members: as before, and the report says so.
    assert gate.judge(unknown.overview, unknown.settings, ["together"]).failed == ()
    assert any("who are not members count too" in note for note in unknown.overview.notes)


# What the author of the change writes


def test_author_cannot_lower_a_review_by_copying_it_into_the_change(writer: Writer) -> None:
    writer.review(MIRA, body=GOOD)
    before = standing(judge(writer)[1])
    writer.push({**FILES, "shop/notes.py": f"# {GOOD}\n", "docs/notes.md": f"{GOOD}\n"})
    verdict, after = judge(writer)
    assert verdict == ((), ())
    assert abs((standing(after) or 0) - (before or 0)) <= 2


@pytest.mark.parametrize(
    "limits", [{"max_line_length": 500}, {"max_diff_bytes": 9_000}, {"max_files": 6}]
)
@pytest.mark.parametrize("name", ["aaa", "zzz"])
def test_author_cannot_drop_the_gate_by_the_size_of_the_change(
    writer: Writer, name: str, limits: dict[str, int]
) -> None:
    writer.review(MIRA, body=POOR)
    files = {f"{name}/{at}.py": f"x = {'[' * 3_000}{']' * 3_000}\n" for at in range(3)}
    writer.push({**FILES, **files})
    verdict, measured = judge(writer, flags=limits)
    assert measured.overview.missing == ()
    assert next(iter(limits)) in " ".join(measured.overview.notes)
    assert (len(verdict.failed), verdict.notices) == (1, ())


def test_padding_of_the_change_does_not_lower_a_review(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "MAX_LINES", 400)
    writer.review(MIRA, body=GOOD)
    before = standing(judge(writer)[1])
    lines = "".join(f"value_{at} = {at}\n" for at in range(400))
    writer.push({**FILES, **{f"aaa/{at}.py": lines for at in range(3)}})
    assert abs((standing(judge(writer)[1]) or 0) - (before or 0)) <= 5
