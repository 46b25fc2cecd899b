"""An overview in a file that anybody may have written."""

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.errors import InputError, LimitError
from crscore.hosts.host import Head
from crscore.pull_request import overview
from crscore.pull_request.run import check_document
from tests.helpers import overviews


def document() -> dict[str, Any]:
    return msgspec.to_builtins(overviews.review())


def decode(value: object) -> overview.Overview:
    return overview.decode_overview(json.dumps(value).encode(), source="crscore.json")


def put(*path: str | int, value: object) -> Callable[[dict[str, Any]], None]:
    def change(actual: Any) -> None:
        for step in path[:-1]:
            actual = actual[step]
        actual[path[-1]] = value

    return change


@pytest.mark.parametrize(
    "make",
    [
        overviews.review,
        overviews.learned,
        overviews.nobody,
        overviews.largest,
        overviews.decided,
    ],
)
def test_written_overview_is_read_back(make) -> None:
    assert overview.decode_overview(msgspec.json.encode(make()), source="x") == make()


def test_data_other_than_the_overview_is_skipped() -> None:
    assert decode(document() | {"result": {"deep": [1, {}]}, "comments": [None]}) == (
        overviews.review()
    )


USEFUL = msgspec.to_builtins(overviews.useful())


def useful(**value: object) -> Callable[[dict[str, Any]], None]:
    return put("together", "usefulness", value=value)


WRONG = {
    "another schema": (put("schema", value="urn:crscore:result:3"), "$.schema"),
    "no number": (put("number", value="12"), "$.number"),
    "number 0": (put("number", value=0), "$.number"),
    "huge number": (put("number", value=10**30), "number"),
    "another number than the address": (put("number", value=13), "$.url"),
    "repository with a path": (put("repository", value="../../x"), "$.repository"),
    "repository with a line end": (put("repository", value="octo/shop\n"), "$.repository"),
    "address of a script": (put("url", value="javascript:alert(1)//pull/12"), "$.url"),
    "address with a bracket": (put("url", value="https://e.example/x)(/pull/12"), "$.url"),
    "address with a user": (put("url", value="https://github.com@e.example/pull/12"), "$.url"),
    "short commit": (put("head", value="0123456"), "$.head"),
    "commit in capitals": (put("head", value="A" * 40), "$.head"),
    "long text": (put("title", value="x" * 2_001), "$.title"),
    "score above 1": (put("together", "relevance", value=1.01), "$.together.relevance"),
    "score below 0": (put("reviewers", 0, "conciseness", value=-0.1), "$.reviewers[0]"),
    "score as text": (put("together", "relevance", value="1"), "$.together.relevance"),
    "negative count": (put("together", "words", value=-1), "$.together.words"),
    "part of a usefulness": (useful(standing=50), "$.together.usefulness"),
    "standing above 100": (useful(**USEFUL | {"standing": 101}), "$.together.usefulness.standing"),
    "long word": (useful(**USEFUL | {"word": "w" * 101}), "$.together.usefulness.word"),
    "about above 1": (useful(**USEFUL | {"about": 1.5}), "$.together.usefulness.about"),
    "201 reviewers": (
        put("reviewers", value=[msgspec.to_builtins(overviews.reviewer("a"))] * 201),
        "$.reviewers",
    ),
    "501 points": (put("open", value=[msgspec.to_builtins(overviews.point())] * 501), "$.open"),
    "101 notes": (put("notes", value=["x"] * 101), "$.notes"),
    "unknown kind": (put("open", 0, "kind", value="praise"), "$.open[0].kind"),
    "unknown severity": (put("open", 0, "severity", value="fatal"), "$.open[0].severity"),
    "unknown side": (put("open", 0, "side", value="left"), "$.open[0].side"),
    "long path": (put("open", 0, "listed", value="a" * 4_097), "$.open[0].listed"),
    "nameless reviewer": (put("reviewers", 0, "name", value=""), "$.reviewers[0].name"),
}


def test_wrong_value_is_refused_with_its_place() -> None:
    for change, place in WRONG.values():
        value = document()
        change(value)
        with pytest.raises(InputError) as caught:
            decode(value)
        assert place in str(caught.value)
        assert str(caught.value).startswith(
            "crscore.json: this is not a result for a pull request: "
        )


def test_missing_field_is_refused() -> None:
    for field in sorted(set(document()) - {"schema"}):
        value = document()
        del value[field]
        with pytest.raises(InputError, match=field):
            decode(value)


def test_invalid_document_is_refused() -> None:
    for data in [
        b"",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"schema"',
        b'{"x":' * 100_000,
        b"[" * 1_000_000,
        b'{"title":"\xed\xa0\x80"}',
        b'{"number":1e999}',
        b"PK\x03\x04",
    ]:
        with pytest.raises(InputError, match="not a result for a pull request"):
            overview.decode_overview(data, source="x")


def test_document_that_is_too_large_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overview, "MAX_BYTES", 10)
    with pytest.raises(LimitError) as caught:
        overview.decode_overview(b" " * 11, source="x")
    assert (caught.value.allowed, caught.value.actual) == (10, 11)


def test_message_cannot_command_a_terminal() -> None:
    with pytest.raises(InputError) as caught:
        decode(document() | {"schema": "\x1b[31m\u202e"})
    assert not set(str(caught.value)) & set("\x1b\u202e")


@given(st.data())
def test_document_with_anything_changed_is_read_or_refused(data: st.DataObject) -> None:
    value: Any = document()
    at, key = value, data.draw(st.sampled_from(sorted(value)))
    while isinstance(at[key], dict | list) and at[key] and data.draw(st.booleans()):
        at = at[key]
        keys = sorted(at) if isinstance(at, dict) else list(range(len(at)))
        key = data.draw(st.sampled_from(keys))
    at[key] = data.draw(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
    )
    try:
        actual = decode(value)
    except InputError:
        return
    assert isinstance(actual, overview.Overview)


def bound(**changes: Any) -> overview.Overview:
    head = Head("Octo/shop", overviews.HEAD, "https://h/p/12")._replace(**changes)
    host = SimpleNamespace(read_head=lambda repository, number: head)
    data = json.dumps(document()).encode()
    return check_document(host, "octo/shop", [12], data, source="x")  # type: ignore[arg-type]


def test_overview_of_the_pull_request_of_the_event_takes_the_hosts_address() -> None:
    assert bound().url == "https://h/p/12"


@pytest.mark.parametrize("changes", [{"repository": "octo/other"}, {"sha": "f" * 40}])
def test_overview_of_another_pull_request_or_commit_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"the file is about octo/shop#12 at 0123456789ab, not"):
        bound(**changes)


def test_overview_of_a_number_that_the_event_does_not_name_is_refused() -> None:
    host = SimpleNamespace(
        read_head=lambda repository, number: Head(repository, overviews.HEAD, "u")
    )
    data = json.dumps(document()).encode()
    with pytest.raises(InputError, match=r"the file is about octo/shop#12 at .*, not"):
        check_document(host, "octo/shop", [13], data, source="x")  # type: ignore[arg-type]
