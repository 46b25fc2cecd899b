import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.errors import InputError
from crscore.github.actions import event
from crscore.github.actions.environment import Environment, Inputs

SHA = "0123456789abcdef0123456789abcdef01234567"


def found(tmp_path: Path, name: str, content: Any, **inputs: Any) -> event.Target:
    file = tmp_path / "event.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return event.find_target(
        Environment(inputs=Inputs(**inputs), event=name, event_path=file, repository="fruit/shop")
    )


def comment(body: str | None, association: str = "MEMBER", **more: Any) -> dict[str, Any]:
    return {
        "action": "created",
        "issue": {"number": 7, "pull_request": {"url": "https://x"}},
        "comment": {"body": body, "author_association": association},
        **more,
    }


def run(**changed: Any) -> dict[str, Any]:
    content = {
        "event": "pull_request",
        "head_sha": SHA,
        "head_branch": "patch-1",
        "head_repository": {"owner": {"login": "stranger"}},
        "pull_requests": [],
    }
    return {"workflow_run": content | changed}


def test_pull_request_events_give_its_number(tmp_path: Path) -> None:
    for name in [
        "pull_request",
        "pull_request_target",
        "pull_request_review",
        "pull_request_review_comment",
    ]:
        content = {"pull_request": {"number": 7, "title": "x"}, "action": "submitted"}

        assert found(tmp_path, name, content) == event.Target(7)


@pytest.mark.parametrize("body", ["/crscore", "/crscore please\nand more", "\ufeff/crscore\r\n"])
def test_comment_of_a_trusted_person_requests_a_run(tmp_path: Path, body: str) -> None:
    for association in ["OWNER", "MEMBER", "COLLABORATOR"]:
        assert found(tmp_path, "issue_comment", comment(body, association)) == event.Target(7)


@pytest.mark.parametrize(
    "content",
    [
        comment("/crscore", "CONTRIBUTOR"),
        comment("/crscore", "FIRST_TIME_CONTRIBUTOR"),
        comment("/crscore", "NONE"),
        comment("/crscore", "owner"),
        comment("please\n/crscore"),
        comment("/crscores"),
        comment("> /crscore"),
        comment(""),
        comment(None),
        comment("/crscore", issue={"number": 7}),
        comment("/crscore", action="edited"),
    ],
)
def test_other_comments_request_no_run(tmp_path: Path, content: dict[str, Any]) -> None:
    for number in [None, 9]:
        assert found(tmp_path, "issue_comment", content, pull_request=number).reason


def test_input_takes_precedence_over_the_event(tmp_path: Path) -> None:
    content = {"pull_request": {"number": 7}}

    assert found(tmp_path, "pull_request", content, pull_request=9) == event.Target(9)
    assert found(tmp_path, "push", {}, pull_request=9) == event.Target(9)
    trusted = comment("/crscore")
    assert found(tmp_path, "issue_comment", trusted, pull_request=9) == event.Target(9)


def test_dispatch_gives_the_number(tmp_path: Path) -> None:
    for value in ["12", "#12", " 12 ", 12, "0" * 20 + "12"]:
        content = {"inputs": {"pull-request": value}}

        assert found(tmp_path, "workflow_dispatch", content) == event.Target(12)


def test_dispatch_without_a_number_requests_no_run(tmp_path: Path) -> None:
    for inputs in [
        None,
        {},
        {"pull-request": ""},
        {"pull-request": "x"},
        {"pull-request": ["1"]},
        {"pull-request": "0"},
        {"pull-request": "9" * 9999},
        {"pull-request": "0" * 10 + "1" + "9" * 9999},
        {"pull-request": "0" * 10 + "1" + "9" * 30},
        {"pull-request": str(2**31)},
        {"pull-request": True},
    ]:
        assert found(tmp_path, "workflow_dispatch", {"inputs": inputs}).reason


def test_schedule_requests_recent_pull_requests(tmp_path: Path) -> None:
    content = {"schedule": "23 3 * * *"}

    assert found(tmp_path, "schedule", content) == event.Target(is_recent=True)


def test_workflow_run_gives_the_head_and_no_number(tmp_path: Path) -> None:
    expected = event.Target(head=("stranger", "patch-1", SHA))

    assert found(tmp_path, "workflow_run", run()) == expected


@pytest.mark.parametrize(
    "changed", [{"event": "push"}, {"head_repository": None}, {"head_branch": None}]
)
def test_workflow_run_of_another_event_requests_no_run(
    tmp_path: Path, changed: dict[str, Any]
) -> None:
    assert found(tmp_path, "workflow_run", run(**changed)).reason


def test_event_of_another_shape_is_refused(tmp_path: Path) -> None:
    for name, content in [
        ("pull_request", {}),
        ("pull_request", []),
        ("pull_request", {"pull_request": {"number": "7"}}),
        ("pull_request", {"pull_request": {"number": 0}}),
        ("pull_request", {"pull_request": {"number": 7.5}}),
        ("pull_request", {"pull_request": {"number": True}}),
        ("issue_comment", {"issue": {"number": 7}}),
        ("workflow_run", run(head_sha="main")),
        ("workflow_run", run(head_sha=SHA + "\n")),
        ("workflow_run", run(head_repository={"owner": {"login": "a&b=c"}})),
        ("workflow_run", run(head_repository={"owner": {"login": "a\n"}})),
    ]:
        with pytest.raises(InputError, match="GitHub's format"):
            found(tmp_path, name, content)


def test_refusal_quotes_nothing_of_the_event(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        found(tmp_path, "pull_request", {"pull_request": {"number": "::error::x"}})
    assert "::error" not in str(caught.value)


def test_unknown_event_requests_no_run_and_is_named_without_special_characters(
    tmp_path: Path,
) -> None:
    asked = found(tmp_path, "push\n::error::x", {})

    assert asked.reason
    assert "\n" not in asked.reason
    assert "::" not in asked.reason


@given(content=st.binary(max_size=300))
def test_any_bytes_give_a_target_or_an_input_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.json"
    file.write_bytes(content)
    here = Environment(inputs=Inputs(), event="", event_path=file, repository="a/b")

    for name in ("pull_request", "issue_comment", "workflow_dispatch", "workflow_run"):
        with pytest.raises(InputError):
            event.find_target(replace(here, event=name))


def test_deep_event_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "event.json"
    file.write_text('{"pull_request":' * 100_000, encoding="utf-8")
    here = Environment(inputs=Inputs(), event="pull_request", event_path=file, repository="a/b")

    with pytest.raises(InputError):
        event.find_target(here)


def test_missing_event_file_is_named(tmp_path: Path) -> None:
    here = Environment(
        inputs=Inputs(), event="pull_request", event_path=tmp_path / "no", repository="a/b"
    )

    with pytest.raises(InputError, match="cannot be read"):
        event.find_target(here)
    with pytest.raises(InputError, match="GITHUB_EVENT_PATH"):
        event.find_target(replace(here, event_path=None))
