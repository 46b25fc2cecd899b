"""Overviews made by hand or condensed from the results of `tests.helpers.results`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crscore.hosts.records import HostMessage, MessageKind, PullRequest
from crscore.pull_request import overview
from crscore.pull_request.overview import (
    Overview,
    Place,
    Point,
    Proof,
    Reviewer,
    ReviewRemark,
    Together,
    Useful,
)  # fmt: skip
from crscore.pull_request.reviewers.identify import ReviewerThread
from crscore.records import (
    Analysis,
    Finding,
    Importance,
    ReferenceKind,
    Severity,
    Side,
    ToolRun,
    ToolState,
    Verdict,
)  # fmt: skip
from tests.helpers import results

if TYPE_CHECKING:
    from crscore.records import Result

HEAD = "0123456789abcdef0123456789abcdef01234567"
URL = "https://github.com/octo/shop/pull/12"


def pull(result: Result, **changes: object) -> PullRequest:
    """The pull request that a result is of."""
    values = {
        "repository": "octo/shop",
        "number": 12,
        "title": "Retry failed requests",
        "url": URL,
        "author": "sam",
        "base": HEAD[::-1],
        "head": HEAD,
        "diff": result.diff,
        "messages": (),
        "originals": {},
    }
    return PullRequest(**{**values, **changes})


def person(
    name: str,
    *,
    is_bot: bool = False,
    comments: int = 1,
    resolved: int | None = 1,
    outdated: int = 0,
) -> tuple[str, list[ReviewerThread]]:
    """A reviewer with threads of one post each."""
    threads = []
    for number in range(comments):
        post = HostMessage(
            id=number,
            kind=MessageKind.LINE,
            body="It leaks.",
            login=name,
            is_bot=is_bot,
            thread=number,
            resolved=None if resolved is None else number < resolved,
            outdated=number < outdated,
        )
        values = {"reviewer": name, "is_bot": is_bot, "body": post.body}
        threads.append(ReviewerThread(**values, posts=(post,), place=post))
    return name, threads


PEOPLE = (
    person("mira", comments=2, resolved=1),
    person("review-bot", is_bot=True, resolved=None, outdated=1),
)


def review() -> Overview:
    """Two reviewers and an unknown author; three points that nobody addressed."""
    result = results.review()
    return overview.make_overview(pull(result), result, PEOPLE)


def useful_review() -> Overview:
    """The review, with how useful it is."""
    result = results.useful(results.review())
    return overview.make_overview(pull(result), result, PEOPLE)


def decided() -> Overview:
    """The useful review; the code confirms one remark and refutes another."""
    result = results.decided()
    return overview.make_overview(pull(result), result, PEOPLE)


def useful(**changes: object) -> Useful:
    values = {"standing": 61, "word": "useful", "about": 0.9, "importance": 0.7}
    values |= {"low": 40, "high": 80, "among_bots": 50}
    return Useful(**{**values, "verdict": "Useful: better than 61 % of them.", **changes})


def topics() -> Overview:
    """Nobody addressed two topics and a point without one."""
    result = results.topics()
    return overview.make_overview(pull(result), result, ())


def learned() -> Overview:
    result = results.flagged()
    return overview.make_overview(pull(result), result, PEOPLE)


def nobody() -> Overview:
    """No review at all."""
    result = results.make(results.diff_of(results.SETTINGS), results.REFERENCES[4:6], (), [[], []])
    return overview.make_overview(pull(result), result, ())


def hostile() -> Overview:
    """Every text that comes from outside carries markup, commands, mentions and terminal codes."""
    evil = results.EVIL
    result = results.hostile()
    matching = overview.make_overview(
        pull(result, title=evil, missing=(evil, f"::error::{evil}"), notes=(evil,)),
        result,
        (person(evil, is_bot=True), person(f"::warning::{evil}", resolved=None)),
        notes=(f"- {evil}",),
    )
    raw = f"src/a,b:c%0A::error::{evil}.py"
    plain = "src/a,b:c%0A|`x`]()<b>@me ::error::##[error].py"
    return replace(
        matching,
        # As an untrusted file may have it: not even cleaned.
        title=evil,
        signature=evil,
        missing=(evil, "# x"),
        notes=(evil, "::set-output name=x::y", "##[error]z"),
        reviewers=(
            reviewer(
                "\x1b[31m\u202e@me #1 ##[error]|`x`<b>[a](b)\u2028\r\n::error::",
                is_bot=True,
                usefulness=useful(word="##[error]|`x`<b>\x1b[31m@me #1 \u202e\r\n::error::"),
            ),
            reviewer(f"::warning::{evil}"[:100]),
            reviewer("|", reason=evil, **NOTHING),
        ),
        remarks=(
            remark(
                evil,
                facts=f"::error::{evil}",
                reviewer=f"@me ##[error] {evil}"[:100],
                receipt=proof(evil, Verdict.REFUTED, place(path=raw, listed=plain)),
            ),
            remark(
                "::error::" + evil * 20,
                path="a`b``c]d(e)|f",
                listed=plain,
                receipt=proof(f"::error::{evil}", Verdict.CONFIRMED),
            ),
        ),
        open=(
            point(evil, path=raw, listed=plain, line=3, end_line=4),
            point(evil, path=plain, line=9),
            point(evil, path="a\n::error::b"),
            point(evil, kind=ReferenceKind.CLAIM, severity=None, source=evil, path=raw),
            point("::error::" + evil * 20, source=evil, path="a`b``c]d(e)|f"),
            point("#" * 300 + "> - 1. + * _ ~ [x]", path=None, listed=None),
        ),
        together=replace(
            matching.together,
            unaddressed=6,
            points=9,
            usefulness=useful(word="|\n::error::<i>", verdict=f"::error::{evil}"),
        ),
    )


NOTHING = {"relevance": None, "conciseness": None, "comprehensiveness": None}


def point(text: str = "`os` is imported and not used.", **changes: object) -> Point:
    path = str(changes.get("path", "src/a.py"))
    values: dict[str, object] = {
        "kind": ReferenceKind.ISSUE,
        "source": "ruff",
        "severity": Severity.WARNING,
        "weight": 0.7,
        "path": "src/a.py",
        "listed": path if overview.is_plain(path) else None,
        "side": Side.NEW,
        "line": 0,
        "end_line": 0,
    }
    return Point(text=text[: overview.MAX_TEXT_CHARS], **{**values, **changes})


def place(**changes: object) -> Place:
    values: dict[str, object] = {"path": "src/a.py", "listed": "src/a.py", "side": Side.NEW}
    return Place(**{**values, "line": 3, "end_line": 4, **changes})


def proof(text: str, verdict: Verdict, *places: Place) -> Proof:
    return Proof(verdict=verdict, says=text, fact=text, lines=places or (place(),))


def remark(text: str = "Please close the file.", **changes: object) -> ReviewRemark:
    values: dict[str, object] = {
        "facts": "major · asks for a change · adds 42 points",
        "level": Importance.MAJOR,
        "reviewer": "mira",
        "receipt": None,
        "path": "src/a.py",
        "listed": "src/a.py",
        "side": Side.NEW,
        "line": 3,
        "end_line": 4,
    }
    return ReviewRemark(text=text[: overview.MAX_TEXT_CHARS], **{**values, **changes})


def reviewer(name: str, **changes: object) -> Reviewer:
    values: dict[str, object] = {
        "usefulness": None,
        "relevance": 0.5,
        "conciseness": 0.6,
        "comprehensiveness": 0.4,
        "reason": None,
        "is_bot": False,
        "is_trusted": True,
        "comments": 3,
        "sentences": 7,
        "words": 90,
        "threads": 2,
        "resolved": 1,
        "outdated": 0,
    }
    return Reviewer(name=name, **{**values, **changes})


def largest(
    text: str = "The call `run_{0}` is new and nothing checks what it returns.",
) -> Overview:
    """As much as an overview may hold, of a change with 5,000 points and 200 reviewers."""
    long = "The call `run` is new and nothing checks what it returns. \N{RAINBOW}" * 60
    return Overview(
        version="1",
        signature=results.SIGNATURE,
        repository="octo/shop",
        number=12,
        title="t" * 2_000,
        url=URL,
        head=HEAD,
        graded=False,
        together=Together(
            usefulness=useful(word="w" * 100, verdict="v" * 2_000),
            relevance=0.5,
            conciseness=0.5,
            comprehensiveness=0.5,
            reason=None,
            sentences=9_000,
            on_topic=4_500,
            words=99_000,
            points=10_000,
            addressed=5_000,
            unaddressed=5_000,
        ),
        trusted=None,
        reviewers=tuple(reviewer(f"reviewer-{i}-{'x' * 80}") for i in range(200)),
        other_reviewers=3,
        remarks=tuple(
            remark(
                f"{i} {long}"[:2_000],
                facts=long[:2_000],
                receipt=proof(
                    long[:2_000], Verdict.REFUTED, *[place()] * overview.MAX_PROOF_PLACES
                ),
            )
            for i in range(50)
        ),
        open=tuple(
            point(f"{i} {long}"[:2_000], path=f"src/{'d' * 200}/{i}.py", line=i + 1, end_line=i + 9)
            for i in range(500)
        ),
        missing=tuple(f"{i} {long}"[:2_000] for i in range(100)),
        notes=tuple(f"{i} {long}"[:2_000] for i in range(100)),
    )


def analysed() -> Result:
    """The review, with what tools say of its change."""
    issue = replace(results.REFERENCES[1], source="pylint+ruff")
    result = results.review()
    references = (result.references[0], issue, *result.references[2:])
    finding = Finding(
        tool="ruff",
        rule="BLE001",
        path="src/shop/client.py",
        line=15,
        end_line=15,
        message="Do not catch blind exception",
        text=issue.text,
        severity=Severity.ERROR,
        in_change=True,
        counted=True,
    )
    tools = (ToolRun(tool="ruff", version="0.17.0", state=ToolState.RAN, files=1),)
    analysis = Analysis(findings=(finding,), tools=tools)
    return replace(result, references=references, analysis=analysis)
