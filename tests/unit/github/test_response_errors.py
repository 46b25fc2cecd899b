"""Errors in responses. Statuses, headers and words as GitHub sends them."""

import json

import pytest

from crscore.errors import (
    BadTokenError,
    HostError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitedError,
    UnavailableError,
)
from crscore.github import response_errors
from crscore.github.response_errors import GraphqlError as Fault
from crscore.github.response_errors import Response
from crscore.hosts.retry import TryAgainError

NOW = 1_700_000_000.0
PRIMARY = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW) + 90)}
SECONDARY = (
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
)
BLOCKED = (
    "You have exceeded a secondary rate limit and have been temporarily blocked from content "
    "creation. Please retry your request again later."
)
ABUSE = "You have triggered an abuse detection mechanism. Please wait a few minutes."


def _check(status: int, message: str = "", headers=None, **more) -> None:
    body = json.dumps({"message": message, **more})
    response_errors.check_response(Response(status, headers or {}, body), "GET /x", lambda: NOW)


@pytest.mark.parametrize("status", [200, 201, 204])
def test_success_is_accepted(status: int) -> None:
    _check(status)


def test_refusal_is_final_and_quotes_github() -> None:
    for status, message, kind in [
        (401, "Bad credentials", BadTokenError),
        (403, "Resource not accessible by integration", PermissionDeniedError),
        (403, "Must have admin rights to Repository.", PermissionDeniedError),
        (404, "Not Found", NotFoundError),
        (410, "Issues are disabled for this repo", NotFoundError),
        (422, "Validation Failed", HostError),
        (451, "Repository access blocked", HostError),
        (304, "", UnavailableError),
        (301, "Moved Permanently", UnavailableError),
    ]:
        with pytest.raises(HostError) as caught:
            _check(status, message)
        assert type(caught.value) is kind
        assert message in caught.value.reason or status < 400
        assert caught.value.request == "GET /x"


def test_trouble_of_the_host_is_worth_another_try() -> None:
    for status in [202, 408, 500, 502, 503, 504]:
        with pytest.raises(TryAgainError) as caught:
            _check(status, "Server Error")
        assert type(caught.value.error) is UnavailableError
        assert caught.value.wait_s is None


@pytest.mark.parametrize(
    ("headers", "message", "wait_s", "doubles"),
    [
        (PRIMARY, "API rate limit exceeded for user ID 1.", 91.0, False),
        ({**PRIMARY, "retry-after": "7"}, "API rate limit exceeded", 7.0, False),
        ({**PRIMARY, "x-ratelimit-reset": "1"}, "API rate limit exceeded", 1.0, False),
        (PRIMARY, "", 91.0, False),
        ({"x-ratelimit-remaining": "0"}, "API rate limit exceeded", 60.0, True),
        ({"retry-after": "30"}, SECONDARY, 30.0, False),
        ({"retry-after": "30"}, "", 30.0, False),
        ({}, SECONDARY, 60.0, True),
        ({"x-ratelimit-remaining": "4000", "x-ratelimit-reset": "2"}, BLOCKED, 60.0, True),
        ({}, ABUSE, 60.0, True),
        ({"retry-after": "soon"}, SECONDARY, 60.0, True),
        ({"retry-after": "nan"}, SECONDARY, 60.0, True),
        ({"retry-after": "-5"}, SECONDARY, 60.0, True),
        ({"retry-after": "inf"}, SECONDARY, 60.0, True),
    ],
)
def test_limit_asks_to_wait(headers, message: str, wait_s: float, doubles) -> None:
    for status in (403, 429):
        with pytest.raises(TryAgainError) as caught:
            _check(status, message, headers)
        again = caught.value
        assert (again.wait_s, again.doubles) == (wait_s, doubles)
        assert isinstance(again.error, RateLimitedError)
        assert again.error.retry_after == wait_s


def test_429_is_a_limit_without_any_word() -> None:
    with pytest.raises(TryAgainError):
        _check(429)


def test_body_that_is_no_json_still_has_a_status() -> None:
    response = Response(403, {}, "<html>Forbidden</html>")
    with pytest.raises(PermissionDeniedError):
        response_errors.check_response(response, "GET /x", lambda: NOW)


@pytest.mark.parametrize(
    "errors",
    [
        [{"resource": "IssueComment", "field": "data", "message": "Body is too long"}],
        ["Body is too long"],
        "Body is too long",
    ],
)
def test_details_of_a_validation_error_are_told(errors) -> None:
    with pytest.raises(HostError, match=r"Validation Failed; Body is too long"):
        _check(422, "Validation Failed", errors=errors)


@pytest.mark.parametrize("errors", [{"odd": 1}, [1], 7])
def test_odd_details_do_not_hide_the_message(errors) -> None:
    with pytest.raises(HostError, match="Validation Failed"):
        _check(422, "Validation Failed", errors=errors)


def test_field_and_code_stand_in_for_a_missing_message() -> None:
    with pytest.raises(HostError, match="body missing_field"):
        _check(422, "Validation Failed", errors=[{"field": "body", "code": "missing_field"}])


def test_words_of_the_host_are_one_short_line() -> None:
    with pytest.raises(HostError) as caught:
        _check(400, "a\r\n::error::b\x1b[31m\u202ec\u2028" + "d" * 999)
    text = str(caught.value)
    assert text.isprintable()
    assert len(text) < 350
    assert (
        len(response_errors.one_line("e" * 300)) == len(response_errors.one_line("e" * 301)) == 300
    )


# GraphQL, where errors come with status 200


def _faults(*faults: Fault, headers=None) -> None:
    response = Response(200, headers or {}, "")
    response_errors.check_graphql_errors(faults, response, "GraphQL", lambda: NOW)


def test_no_fault_is_fine() -> None:
    _faults()


def test_fault_is_final() -> None:
    for fault, kind in [
        (
            Fault(type="NOT_FOUND", message="Could not resolve to a PullRequest"),
            NotFoundError,
        ),
        (Fault(type="FORBIDDEN", message="Resource not accessible"), PermissionDeniedError),
        (Fault(type="INSUFFICIENT_SCOPES", message="needs repo"), PermissionDeniedError),
        (Fault(type="MAX_NODE_LIMIT_EXCEEDED", message="too many nodes"), HostError),
        (Fault(code="undefinedField", message="Field 'x' doesn't exist"), HostError),
        (Fault(), HostError),
    ]:
        with pytest.raises(HostError) as caught:
            _faults(fault)
        assert type(caught.value) is kind


@pytest.mark.parametrize(
    "fault",
    [
        Fault(message="Something went wrong while executing your query. Please include `1:2`"),
        Fault(type="INTERNAL", message="oops"),
        Fault(type="SERVICE_UNAVAILABLE"),
    ],
)
def test_fault_of_the_host_is_worth_another_try(fault: Fault) -> None:
    with pytest.raises(TryAgainError) as caught:
        _faults(fault)
    assert isinstance(caught.value.error, UnavailableError)


@pytest.mark.parametrize(
    "fault",
    [
        Fault(type="RATE_LIMITED", message="API rate limit exceeded for user ID 1."),
        Fault(type="RATE_LIMIT", code="graphql_rate_limit", message="API rate limit already"),
    ],
)
def test_limit_of_graphql_waits_for_its_reset(fault: Fault) -> None:
    with pytest.raises(TryAgainError) as caught:
        _faults(fault, headers=PRIMARY)
    assert caught.value.wait_s == 91.0


def test_secondary_limit_of_graphql_is_told_by_its_words() -> None:
    with pytest.raises(TryAgainError) as caught:
        _faults(Fault(message=SECONDARY))
    assert caught.value.wait_s == 60.0
