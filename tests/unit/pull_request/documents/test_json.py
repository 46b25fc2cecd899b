import importlib.resources
import json as standard
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from crscore.hosts.records import HostMessage, MessageKind
from crscore.pull_request import overview
from crscore.pull_request.documents import json
from crscore.pull_request.reviewers.identify import ReviewerThread
from crscore.records import ReferenceKind, Result, ScopeKind, Side
from crscore.reports import json as report
from tests.helpers import overviews, results


def schema(name: str) -> Any:
    folder = importlib.resources.files("crscore") / "schemas"
    return standard.loads((folder / name).read_text("utf-8"))


SCHEMA = schema("pull.schema.json")
VALIDATOR = Draft202012Validator(SCHEMA)

MESSAGE = HostMessage(
    id=101, kind=MessageKind.LINE, body="b", login="mira", is_bot=False, resolved=True
)


def thread(message: HostMessage) -> ReviewerThread:
    return ReviewerThread(reviewer="mira", is_bot=False, posts=(message,), body="b", place=message)


def render(result: Result, *spoken: ReviewerThread, **changes: Any) -> dict[str, Any]:
    actual = overview.make_overview(overviews.pull(result, **changes), result, overviews.PEOPLE)
    written = json.render_json(actual, spoken, result)
    document = standard.loads(written)
    VALIDATOR.validate(document)
    return document


def objects(node: object) -> list[dict[str, Any]]:
    if isinstance(node, list):
        return [actual for item in node for actual in objects(item)]
    if not isinstance(node, dict):
        return []
    own = [node] if node.get("type") == "object" else []
    return own + [actual for item in node.values() for actual in objects(item)]


def test_schema_is_itself_valid_and_named_as_the_documents_say() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == overview.SCHEMA


def test_schema_describes_every_field_and_takes_no_other() -> None:
    for item in objects(SCHEMA):
        assert item["additionalProperties"] is False
        assert sorted(item["required"]) == sorted(item["properties"])
        for name, field in item["properties"].items():
            assert field.get("description"), name


def test_schema_knows_the_kinds_and_limits_of_the_types() -> None:
    kinds = SCHEMA["$defs"]
    fields = kinds["PullDocument"]["properties"]
    for kind in (ReferenceKind, Side, MessageKind):
        assert set(kinds[kind.__name__]["enum"]) == set(kind)
    assert fields["reviewers"]["maxItems"] == overview.MAX_REVIEWERS
    assert fields["open"]["maxItems"] == overview.MAX_POINTS
    assert fields["notes"]["maxItems"] == fields["missing"]["maxItems"] == overview.MAX_NOTES
    assert fields["title"]["maxLength"] == overview.MAX_TEXT_CHARS


def test_schema_of_the_result_knows_every_scope() -> None:
    scopes = schema("result.schema.json")["$defs"]["ScopeKind"]["enum"]
    assert set(scopes) == set(ScopeKind)


@pytest.mark.parametrize(
    "make",
    [
        results.small,
        results.review,
        results.abstained,
        results.hostile,
        results.large,
        results.flagged,
        overviews.analysed,
        results.hostile_useful,
        results.decided,
    ],
)
def test_document_keeps_to_the_schema(make) -> None:
    assert render(make())["schema"] == "urn:crscore:pull:4"


@pytest.mark.parametrize(
    "make", [results.review, results.hostile_useful, results.flagged, results.decided]
)
def test_overview_is_read_again_from_the_document(make) -> None:
    result = make()
    actual = overview.make_overview(
        overviews.pull(result, title=results.EVIL, notes=(results.EVIL,)), result, overviews.PEOPLE
    )
    written = json.render_json(actual, (), result)
    assert overview.decode_overview(written.encode(), source="x") == actual


def test_post_names_its_comment() -> None:
    (row,) = render(results.review(), thread(MESSAGE))["comments"]
    assert (row["id"], row["kind"], row["reviewer"], row["resolved"]) == (101, "line", "mira", True)
    assert row["comment"] == 0


def test_result_is_complete() -> None:
    document = render(results.review())
    assert document["result"]["schema"] == report.SCHEMA
    assert len(document["result"]["references"]) == 8


@pytest.mark.parametrize(
    ("field", "value"),
    [("number", 0), ("head", "123"), ("url", "javascript:1"), ("extra", 1), ("reviewers", [{}])],
)
def test_schema_refuses_a_wrong_value(field: str, value: object) -> None:
    assert not VALIDATOR.is_valid(render(results.small()) | {field: value})


def test_schema_refuses_numbers_with_a_reason() -> None:
    document = render(results.review())
    document["together"]["reason"] = "because"
    assert not VALIDATOR.is_valid(document)


def test_document_as_written_cannot_command_terminal_or_runner() -> None:
    actual = overview.make_overview(
        overviews.pull(results.hostile(), title=results.EVIL), results.hostile(), overviews.PEOPLE
    )
    written = json.render_json(actual, (), results.hostile())
    assert not set(written) & set("\x1b\x9b\x07\u202e\u200b\u2028\ud800\n") - {"\n"}
    assert "##[" not in written
    assert written.count("\n") == 1


def test_lone_surrogate_is_replaced_and_a_pair_kept() -> None:
    message = replace(MESSAGE, url="https://h/\ud800\N{RAINBOW}")
    (row,) = render(results.review(), thread(message))["comments"]
    assert row["url"] == "https://h/\ufffd\N{RAINBOW}"
